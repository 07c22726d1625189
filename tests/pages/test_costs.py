"""The arithmetic of the page about costs follows from its table of measured costs."""

from __future__ import annotations

import math
import re

import pytest

from dev.costs import read_costs, write_sizes

NUMBER = re.compile(r"[\d.,]+(?:e\+\d+)?")
UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


def read(text: str) -> float:
    """The number that a text begins with."""
    found = NUMBER.match(text)
    assert found is not None, text
    return float(found[0].replace(",", ""))


def read_bytes(text: str) -> float:
    """A number of bytes with its unit."""
    return read(text) * UNITS[text.rsplit(maxsplit=1)[-1]]


def test_sizes_follow_from_costs() -> None:
    costs = read_costs()
    _, _, *rows = write_sizes().splitlines()
    assert len(rows) == len(costs["sizes"]) >= 5
    for row, size in zip(rows, costs["sizes"], strict=True):
        _, rankings, setup, time, cores, disk, days, _ = (each.strip() for each in row.split("|"))
        count = size["rankings"]
        assert rankings == f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[len(str(count)) - 1]}"
        assert setup == size["setup"]
        stages = [costs["stages"][name] for name in size["stages"]]
        micro = sum(stage["seconds"] for stage in stages)
        terms = time.partition("×")[2].partition("µs")[0].strip(" ()")
        assert sum(map(float, terms.split(" + "))) == micro
        seconds = read(time.partition("= ")[2])
        assert seconds == pytest.approx(count * micro / 10**6, abs=0.5)
        plan = costs["plan"]
        exact = seconds / (24 * 60 * 60) * plan["busy"] / plan["full"]
        assert read(cores.partition("= ")[2]) == pytest.approx(exact, rel=0.06)
        assert read(cores.partition("→ ")[2]) == max(math.ceil(exact), 1)
        if not size["keeps"]:
            assert (disk, days) == (size["disk"], "–")
            continue
        kept = count * costs["stages"][size["keeps"]]["bytes"]
        assert read_bytes(disk.partition("= ")[2]) == pytest.approx(kept, rel=0.006)
        assert read_bytes(days) == pytest.approx(kept * plan["days"], rel=0.006)

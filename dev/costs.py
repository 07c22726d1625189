"""Tables of what each stage costs, and of what follows from that for some sizes.

All figures are in `costs.toml`; everything else is derived from them.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

COSTS = Path(__file__).with_suffix(".toml")
DAY = 86_400
MILLION = 1_000_000
POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def read_costs() -> dict[str, Any]:
    """Read the figures."""
    return tomllib.loads(COSTS.read_text(encoding="utf-8"))


def write_stages() -> str:
    """Return the table of what each stage costs."""
    lines = [
        "| stage | CPU seconds per million | bytes per ranking | peak memory | measured with |",
        "| --- | --: | --: | --: | --- |",
    ]
    for one in read_costs()["stages"].values():
        size = f"{one['bytes']:,}" if one["bytes"] else "–"
        seconds = f"{one['seconds']:g}" if one["seconds"] else "not measured"
        peak = f"{one['peak']:g} GB" if one["peak"] else "not measured"
        lines.append(
            f"| [{one['name']}]({one['where']}) | {seconds} | {size} | {peak} | {one['of']} |"
        )
    return "\n".join(lines)


def write_limits() -> str:
    """Return the table of what limits each stage, and what ten times as much needs."""
    lines = ["| stage | limited by | ten times as much needs |", "| --- | --- | --- |"]
    lines += [
        f"| {one['name']} | {one['limit']} | {one['more']} |"
        for one in read_costs()["stages"].values()
    ]
    return "\n".join(lines)


def find_seconds(costs: dict[str, Any], size: dict[str, Any]) -> float:
    """Return the CPU seconds that a size needs per day."""
    each = sum(costs["stages"][name]["seconds"] for name in size["stages"])
    return float(size["rankings"] * each / MILLION)


def find_cores(costs: dict[str, Any], size: dict[str, Any]) -> float:
    """Return how many cores a size needs in its busiest hour, not to be used to the full."""
    plan = costs["plan"]
    return find_seconds(costs, size) / DAY * float(plan["busy"]) / float(plan["full"])


def find_bytes(costs: dict[str, Any], size: dict[str, Any]) -> int:
    """Return how many bytes a size adds to the disk per day."""
    each = costs["stages"][size["keeps"]]["bytes"] if size["keeps"] else 0
    return int(size["rankings"] * each)


def write_sizes() -> str:
    """Return the table of some numbers of rankings a day, with the arithmetic."""
    costs = read_costs()
    plan = costs["plan"]
    lines = [
        f"| rankings per day | setup | CPU per day | cores | disk per day | {plan['days']} days |",
        "| --: | --- | --- | --- | --- | --: |",
    ]
    for size in costs["sizes"]:
        power = f"10{str(round(math.log10(size['rankings']))).translate(POWERS)}"
        parts = [costs["stages"][name]["seconds"] for name in size["stages"]]
        each = (
            f"({' + '.join(f'{part:g}' for part in parts)}) µs" if parts[1:] else f"{parts[0]:g} µs"
        )
        seconds, cores = find_seconds(costs, size), find_cores(costs, size)
        disk, days = size.get("disk", "–"), "–"
        if size["keeps"]:
            kept = find_bytes(costs, size)
            disk = f"{power} × {costs['stages'][size['keeps']]['bytes']:,} B = {write_bytes(kept)}"
            days = write_bytes(kept * plan["days"])
        lines.append(
            f"| {power} | {size['setup']} | {power} × {each} = {seconds:,.0f} s "
            f"| {seconds:,.0f} s ÷ {DAY:,} s × {plan['busy']} ÷ {plan['full']} = {cores:.2g} "
            f"→ {max(math.ceil(cores), 1)} | {disk} | {days} |"
        )
    return "\n".join(lines)


def write_bytes(count: int) -> str:
    """Return a number of bytes with its unit."""
    for unit, size in (("TB", 10**12), ("GB", 10**9)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count / 10**6:.3g} MB"


def write_machine() -> str:
    """Return the machine on which costs were measured."""
    return f"Measured on {read_costs()['machine']}."


WRITERS = {
    "stages": write_stages,
    "limits": write_limits,
    "sizes": write_sizes,
    "machine": write_machine,
}

"""The cases of the page about click logs: how often intervals cover, and when there are none."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import rankscope as rs

from dev.simulate.case import Case, Row
from dev.simulate.clicks.worlds import make_bandit
from dev.simulate.compare.chance import is_below, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEVEL = 0.95
LOGS = 2000
FEWEST = 100
"""With fewer intervals, a row shows no share: the few logs that have one are unlike the others."""
METHODS = ("ips", "snips", "dr")


def list_cases() -> Iterator[Case]:
    """Return the cases, in the order of the page."""
    for shape, share in product(("few", "greedy", "wide"), (0.5, 0.1, 0.034)):
        rows = partial(_evaluate, shape, share)
        yield Case(f"policy: {shape}, {share:g}", LOGS, 20, rows)
    for shape, share in (("rare", 0.05), ("wide", 0.034)):
        yield Case(f"limit: {shape}", LOGS, 20, partial(_limit, shape, share))


def _evaluate(shape: str, share: float, logs: int) -> list[Row]:
    rows = []
    for rate, n in product((0.004, 0.05, 0.3), (1000, 10_000)):
        bandit = make_bandit(shape, share, rate)
        target = dict(enumerate(bandit.target.tolist()))
        covered: dict[str, list[bool]] = {method: [] for method in METHODS}
        values = []
        for log in range(logs):
            random = np.random.default_rng([7, n, log])
            found = rs.clicks.evaluate_off_policy(bandit.draw(n, random), target=target)
            for row in found.to_dict().items():
                _add(covered, row, bandit.value)
            values.append(found.value)
        names = (shape, f"{100 * bandit.share:.1f}", f"{rate:g}", f"{n:,}")
        bias = float(np.nanmean(values)) / bandit.value - 1
        error = float(np.nanstd(values)) / bandit.value / math.sqrt(logs)
        shown = [_show(covered[method], logs) for method in METHODS]
        answered = f"{len(covered['dr']) / logs:.0%}"
        cells = (*names, answered, *shown, f"{100 * bias:+.1f} ± {100 * error:.1f}")
        problem = "; ".join(
            f"{method} covers {np.mean(each):.1%}"
            for method, each in covered.items()
            if _tells(each, logs) and is_below(float(np.mean(each)), LEVEL, len(each))
        )
        rows.append(Row("policies", cells, problem and f"{', '.join(names)}: {problem}"))
    return rows


def _add(
    covered: dict[str, list[bool]], row: tuple[str, Mapping[str, object]], value: float
) -> None:
    method, cells = row
    low, high = cells["lower"], cells["upper"]
    if method not in covered or not (isinstance(low, float) and isinstance(high, float)):
        return
    if not math.isnan(low):
        covered[method].append(low <= value <= high)


def _limit(shape: str, share: float, logs: int) -> list[Row]:
    rows = []
    for rate, n in product((0.05, 0.2), (1000, 10_000)):
        bandit = make_bandit(shape, share, rate)
        target = dict(enumerate(bandit.target.tolist()))
        refused, lower, better = 0, [], []
        for log in range(logs):
            random = np.random.default_rng([12, n, log])
            found = rs.clicks.evaluate_off_policy(bandit.draw(n, random), target=target).to_dict()
            if not all(found[method]["refused"] for method in METHODS):
                continue
            refused += 1
            limit, change = found["clipped"]["lower"], found["clipped"]["change lower"]
            if isinstance(limit, float) and isinstance(change, float) and not math.isnan(limit):
                lower.append(limit / bandit.value)
                better.append(change > 0)
        names = (shape, f"{100 * bandit.share:.1f}", f"{rate:g}", f"{n:,}")
        holds = [each <= 1 for each in lower]
        is_enough = _tells(holds, logs)
        cells = (
            *names,
            f"{refused / logs:.0%}",
            f"{len(lower) / logs:.0%}",
            _show(holds, logs),
            f"{np.mean(lower):.0%}" if is_enough else "–",
            f"{np.mean(better):.0%}" if is_enough else "–",
        )
        problem = ""
        if is_enough and is_below(float(np.mean(holds)), LEVEL, len(holds)):
            problem = f"{', '.join(names)}: the lower limit holds in {np.mean(holds):.1%}"
        rows.append(Row("limits", cells, problem))
    return rows


def _tells(covered: list[bool], asked: int) -> bool:
    """Whether the logs that have an interval are many, or like the others."""
    return len(covered) >= min(FEWEST, asked / 2) > 0


def _show(covered: list[bool], asked: int) -> str:
    if not _tells(covered, asked):
        return "–"
    return show(float(np.mean(covered)), len(covered))

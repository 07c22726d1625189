"""The cases of the page about click logs: how often intervals cover, and when there are none."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import rankscope as rs

from dev.simulate.case import Case, Row
from dev.simulate.clicks.worlds import LOOKS, draw_rankings, draw_ranks, make_bandit
from dev.simulate.compare.chance import is_below, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEVEL = 0.95
LOGS = 2000
FEWEST = 100
"""With fewer intervals, a row shows no share: the few logs that have one are unlike the others."""
METHODS = ("ips", "snips", "dr")
SKILLS = (0.0, 0.6, 1.2, 1.5, 1.9, 2.4)


def list_cases() -> Iterator[Case]:
    """Return the cases, in the order of the page."""
    for shape, share in product(("few", "greedy", "wide"), (0.5, 0.1, 0.034)):
        rows = partial(_evaluate, shape, share)
        yield Case(f"policy: {shape}, {share:g}", LOGS, 20, rows)
    for shape, share in (("rare", 0.05), ("wide", 0.034)):
        yield Case(f"limit: {shape}", LOGS, 20, partial(_limit, shape, share))
    for skill in SKILLS:
        yield Case(f"examination: skill {skill:g}", LOGS // 2, 20, partial(_examine, skill))
    for rate in (0.1, 0.3):
        yield Case(f"harvest: {rate:g}", LOGS // 4, 20, partial(_harvest, rate))
        yield Case(f"dcg: {rate:g}", LOGS // 2, 20, partial(_rerank, rate))


def _evaluate(shape: str, share: float, logs: int) -> list[Row]:
    rows = []
    for rate, n in product((0.004, 0.05, 0.3), (1000, 10_000)):
        bandit = make_bandit(shape, share, rate)
        target = dict(enumerate(bandit.target.tolist()))
        covered: dict[str, list[bool]] = {method: [] for method in METHODS}
        values = []
        for log in range(logs):
            random = np.random.default_rng([7, n, log])
            found = rs.evaluate_off_policy(bandit.draw(n, random), target=target)
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
            found = rs.evaluate_off_policy(bandit.draw(n, random), target=target).to_dict()
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


def _examine(skill: float, logs: int) -> list[Row]:
    rows = []
    for n in (3000, 10_000, 30_000):
        covered, shares = [], []
        for log in range(logs):
            random = np.random.default_rng([8, n, log])
            curve = rs.estimate_examination(draw_ranks(n, skill, random), propensity="propensity")
            shares.append(float((curve.array("effective") / curve.array("impressions")).min()))
            covered += [
                curve.lower[at] <= LOOKS[at] <= curve.upper[at]
                for at in (1, 2)
                if at + 1 not in curve.refused
            ]
        names = (f"{skill:g}", f"{100 * np.mean(shares):.1f}", f"{n:,}")
        rows.append(_describe("examination", names, covered, 2 * logs))
    return rows


def _harvest(rate: float, logs: int) -> list[Row]:
    rows = []
    for searches, queries in ((2000, 100), (5000, 500), (20_000, 5000)):
        covered = []
        for log in range(logs):
            made, _ = draw_rankings(
                searches, queries, rate, np.random.default_rng([9, searches, log])
            )
            curve = rs.estimate_examination(made, method="harvest", query="query")
            covered += [
                curve.lower[at] <= LOOKS[at] <= curve.upper[at]
                for at in (1, 2, 3)
                if at + 1 not in curve.refused
            ]
        names = (f"{rate:g}", f"{searches:,}", f"{queries:,}")
        rows.append(_describe("harvesting", names, covered, 3 * logs))
    return rows


def _rerank(rate: float, logs: int) -> list[Row]:
    rows = []
    for searches in (200, 1000, 5000):
        # Searches are a sample of all that there might be: each has a query of its own.
        _, dcg = draw_rankings(1, 1_000_000, rate, np.random.default_rng(10))
        value = float(dcg.mean())
        covered = []
        for log in range(logs):
            random = np.random.default_rng([11, searches, log])
            made, _ = draw_rankings(searches, 20 * searches, rate, random)
            found = rs.dcg_from_clicks(made, examination=LOOKS.tolist(), query="search")
            if not found.reason:
                covered.append(found.lower <= value <= found.upper)
        rows.append(_describe("dcg", (f"{rate:g}", f"{searches:,}"), covered, logs))
    return rows


def _describe(table: str, names: tuple[str, ...], covered: list[bool], asked: int) -> Row:
    problem = ""
    if _tells(covered, asked) and is_below(float(np.mean(covered)), LEVEL, len(covered)):
        problem = f"{', '.join(names)}: covers {np.mean(covered):.1%}"
    return Row(table, (*names, f"{len(covered) / asked:.0%}", _show(covered, asked)), problem)


def _tells(covered: list[bool], asked: int) -> bool:
    """Whether the logs that have an interval are many, or like the others."""
    return len(covered) >= min(FEWEST, asked / 2) > 0


def _show(covered: list[bool], asked: int) -> str:
    if not _tells(covered, asked):
        return "–"
    return show(float(np.mean(covered)), len(covered))

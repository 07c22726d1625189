"""The cases of comparisons: what is simulated, how often, and what is required."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from rankscope.compare.gate import Budget
from rankscope.data.interval import Interval

from dev.simulate.case import Case, Row
from dev.simulate.compare import gates, judges
from dev.simulate.compare.chance import ENOUGH, is_above, is_below, show
from dev.simulate.compare.corrections import find_errors
from dev.simulate.compare.sizes import PER_CLUSTER, WORLDS, find_sizes
from dev.simulate.compare.worlds import PAIRS, RESAMPLES, SINGLES, UNBOUNDED, measure_coverage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dev.simulate.compare.worlds import World

FEW_SAMPLES, SAMPLES, MANY_SAMPLES = 2000, 3000, 4000
LEVEL = 0.05
COVERED = 0.95
SIZES = (5, 10, 25, 50, 250)
CLUSTERED_SIZES = (*SIZES, 1250)
MOST_REFUSED = 10
"""With so many queries or clusters or fewer, an interval of values with limits may be refused."""
BUDGET = 0.02
QUERIES = 1000
"""The number of queries that a model judged, some of which people judged too."""
TESTS = ("t", "permutation", "bootstrap", "wilcoxon", "sign", "tukey")
FEW_FOR_BOOTSTRAP = 25
"""With fewer queries or clusters, the bootstrap-shift test warns."""


def list_cases() -> Iterator[Case]:
    """Return the cases, in the order of the tables."""
    for world in (*SINGLES, *PAIRS, *UNBOUNDED):
        yield Case(f"interval, {world.name}", SAMPLES, 200, partial(_cover, world, 1))
        yield Case(f"interval, {world.name}, clustered", SAMPLES, 100, partial(_cover, world, 5))
    for name in WORLDS:
        yield Case(f"test, {name}", SAMPLES, 100, partial(_test, name))
    for n, is_clustered in ((25, False), (50, False), (250, False), (250, True)):
        name = f"correction, {n} queries{', clustered' if is_clustered else ''}"
        yield Case(name, MANY_SAMPLES, 200, partial(_correct, n, is_clustered=is_clustered))
    for world in PAIRS:
        yield Case(f"gate, {world.name}", MANY_SAMPLES, 100, partial(_gate, world))
    for model in judges.MODELS:
        yield Case(f"judge, {model}", MANY_SAMPLES, 100, partial(_judge, model))
        if model != "erratic":
            yield Case(f"judge, {model}, dense", MANY_SAMPLES, 100, partial(_judge_densely, model))
    for model in ("good", "biased", "weak", "sparse"):
        yield Case(
            f"judge of documents, {model}", FEW_SAMPLES, 30, partial(_judge_documents, model)
        )
    yield Case("several judges", MANY_SAMPLES, 200, _judge_together)


def _choose_resamples(trials: int) -> int:
    """Return the number that users get, or fewer if the simulation only has a short time."""
    return Interval().resamples if trials >= ENOUGH else RESAMPLES


def _cover(world: World, per_cluster: int, trials: int) -> list[Row]:
    rows = []
    for n in SIZES if per_cluster == 1 else CLUSTERED_SIZES:
        found = measure_coverage(
            world,
            n,
            "auto",
            per_cluster=per_cluster,
            trials=trials,
            resamples=_choose_resamples(trials),
        )
        units = math.ceil(n / per_cluster)
        given = round(found.given * trials)
        covers, problem = show(found.covered, given), ""
        if math.isinf(world.high):
            covers = f"*{covers}*" if given else covers
        elif given and is_below(found.covered, COVERED, given):
            problem = f"covers {found.covered:.1%} of {given:,} samples with n = {n}"
        elif given < trials and units > MOST_REFUSED:
            problem = f"refused in {1 - found.given:.1%} of the samples with n = {n}"
        cells = (
            world.name,
            f"{n:,}",
            "" if per_cluster == 1 else str(units),
            _mix(found.used),
            covers,
            _width(found.width),
            show(found.t_covered, trials),
            _width(found.t_width),
            "" if given == trials else f"{1 - found.given:.0%}",
        )
        rows.append(Row("intervals", cells, problem))
    return rows


def _mix(used: dict[str, float]) -> str:
    """Return the methods that were used; with their shares where there are several."""
    if len(used) < 2:
        return "".join(used) or "–"
    return ", ".join(f"{name} {share:.0%}" for name, share in sorted(used.items()))


def _width(width: float) -> str:
    return "–" if math.isnan(width) else f"{width:.3f}"


def _test(world: str, trials: int) -> list[Row]:
    rows = []
    per_cluster = PER_CLUSTER if world == "clustered" else 1
    for n in CLUSTERED_SIZES if per_cluster > 1 else SIZES:
        units = n // per_cluster
        if units < 2:
            continue
        rates = find_sizes(world, n, samples=trials)
        problems = []
        cells = [world, f"{n:,}", "" if per_cluster == 1 else str(units)]
        for test in TESTS:
            if test not in rates:
                cells.append("–")
                continue
            shown = f"{100 * rates[test]:.1f}"
            is_promised = _promises(test, world, units)
            if is_promised and is_above(rates[test], LEVEL, trials):
                problems.append(f"{test} rejects {shown} % with n = {n}")
            cells.append(shown if is_promised else f"*{shown}*")
        rows.append(Row("tests", tuple(cells), "; ".join(problems)))
    return rows


def _promises(test: str, world: str, units: int) -> bool:
    """Whether a test says that it rejects equal means in at most 5 % of such samples."""
    return world != "skewed" and (test != "bootstrap" or units >= FEW_FOR_BOOTSTRAP)


def _correct(n: int, samples: int, *, is_clustered: bool) -> list[Row]:
    rows = []
    equal = find_errors(n, is_clustered=is_clustered, samples=samples)
    mixed = find_errors(n, better=5, is_clustered=is_clustered, samples=samples)
    for name, all_equal in equal.items():
        half = mixed[name]
        problems = []
        if name in ("Holm", "max-T"):
            wrong = {"20 equal": all_equal.any_false, "10 equal": half.any_false}
        else:
            wrong = {"20 equal": all_equal.false_share, "10 equal": half.false_share}
        for case, rate in wrong.items():
            if name != "none" and is_above(rate, LEVEL, samples):
                problems.append(f"{name}, {case}: wrong in {rate:.1%}")
        cells = (
            name,
            str(n),
            str(n // PER_CLUSTER) if is_clustered else "",
            show(all_equal.any_false, samples),
            show(half.any_false, samples),
            show(half.false_share, samples),
            f"{half.found:.0%}",
        )
        rows.append(Row("corrections", cells, "; ".join(problems)))
    return rows


def _gate(world: World, trials: int) -> list[Row]:
    rows = []
    for n, per_cluster in ((25, 1), (50, 1), (250, 1), (250, 5), (1250, 5)):
        broken, holds = [], []
        for drop in (0.0, BUDGET, 2 * BUDGET):
            found = gates.find_rates(
                world,
                n,
                -drop,
                Budget("value", max_drop=BUDGET),
                per_cluster=per_cluster,
                trials=trials,
                resamples=_choose_resamples(trials),
            )
            broken.append(found.broken)
            holds.append(found.holds)
        problem = ""
        if is_above(broken[1], LEVEL / 2, trials):
            problem = f"broken in {broken[1]:.1%} with n = {n}, {per_cluster} per cluster"
        cells = (
            world.name,
            f"{n:,}",
            "" if per_cluster == 1 else str(n // per_cluster),
            show(broken[1], trials),
            show(holds[1], trials),
            f"{broken[2]:.0%}",
            f"{holds[0]:.0%}",
        )
        rows.append(Row("gates", cells, problem))
    return rows


def _judge(model: str, trials: int) -> list[Row]:
    rows = []
    for world in (*judges.WORLDS, *judges.CHANGED):
        for drawn in ("all", "changed") if world in judges.CHANGED else ("all",):
            for n in (20, 50, 100):
                found = judges.cover_queries(
                    world, model, n, total=QUERIES, drawn=drawn, samples=trials
                )
                values = world if drawn == "all" else f"{world}, drawn from these"
                rows.append(_describe("judges", (model, values, str(n), f"{QUERIES:,}"), found))
    return rows


def _judge_densely(model: str, trials: int) -> list[Row]:
    rows = []
    for world in ("even", "zeros", "ones"):
        for n in (20, 50, 100):
            found = judges.cover_queries(
                world, model, n, total=QUERIES, method="dense", samples=trials
            )
            names = (f"{model}, dense", world, str(n), f"{QUERIES:,}")
            rows.append(_describe("judges", names, found))
    return rows


def _judge_documents(model: str, trials: int) -> list[Row]:
    documents = f"{400 * len(judges.DISCOUNTS):,}"
    return [
        _describe(
            "judges",
            (f"{model}, DCG@10", "documents", str(n), documents),
            judges.cover_documents(model, n, samples=trials),
        )
        for n in (40, 150, 400)
    ]


def _judge_together(trials: int) -> list[Row]:
    rows = []
    for count, queries in ((3, 50), (3, 250), (5, 250), (10, 250)):
        found = judges.cover_judges(count, queries, samples=trials)
        rows.append(_describe("several", (str(count), str(queries)), found))
    return rows


def _describe(table: str, names: tuple[str, ...], found: judges.Coverage) -> Row:
    problem = ""
    if is_below(found.covered, COVERED, found.samples):
        problem = f"{', '.join(names)}: covers {found.covered:.1%}"
    cells = (
        *names,
        show(found.covered, found.samples),
        _width(found.width),
        show(found.covered_alone, found.samples),
        _width(found.width_alone),
        f"{found.width / found.width_alone:.2f}",
    )
    return Row(table, cells, problem)

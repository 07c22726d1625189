"""The cases of comparisons: what is simulated, how often, and what is required."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from rankscope._compare.gate.budget import Budget

from dev.simulate.case import Case, Row
from dev.simulate.compare import gates, judges
from dev.simulate.compare.chance import ENOUGH, is_above, is_below, show
from dev.simulate.compare.corrections import PER_CLUSTER, find_errors
from dev.simulate.compare.gates import tilt
from dev.simulate.compare.margins import find_verdicts
from dev.simulate.compare.sizes import CLUSTERED, WORLDS, find_sizes
from dev.simulate.compare.worlds import LAYOUTS, PAIRS, SINGLES, UNBOUNDED, measure_coverage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dev.simulate.compare.worlds import Coverage, World

FEW_SAMPLES, SAMPLES, MANY_SAMPLES, TEST_SAMPLES = 2000, 3000, 4000, 12_000
LEVEL = 0.05
COVERED = 0.95
DENSE_COVERED = 0.935
"""So often dense intervals have to cover where the world has what they assume."""
SIZES = (6, 10, 20, 30, 60, 200)
CLUSTERED_SIZES = (10, 20, 60, 200)
FLIPS = 1999
FEW_FLIPS = 199
DENSE_WIDTHS = {20: 1.3, 30: 1.15, 60: 1.15, 200: 1.15}
"""By number of queries, how many times as wide as an oracle's a dense interval may be."""
BOUNDED_WIDTHS = {60: 2.6, 200: 2.0}
"""The same of bounded intervals, of differences that hardly vary."""
STEADY = PAIRS[0]
BUDGET = 0.02
QUERIES = 1000
"""The number of queries that a model judged, some of which people judged too."""
TESTS = ("t", "permutation", "wilcoxon")
MARGIN_SIZES = (5, 10, 20, 60, 200)
FEWEST_DENSE, FEWEST_ONE_SIDED, RUNS_OF_FAMILY = 6, 20, 8
ONE_SIDED, FURTHER_OUT = 2, 7
"""How many times as many queries one end of an interval needs, and that of eight runs: the error of
a tail grows with the third power of its quantile, and shrinks with the root of n (Edgeworth)."""
FOUND = 0.7
"""So often a gate of 200 queries finds a drop far beyond its budget, and passes a gain."""
POWER = 0.8
POWER_OFF = 0.05
"""How far a plan may be off the power that it names."""


def list_cases() -> Iterator[Case]:
    """Return the cases, in the order of the tables."""
    for world in (*SINGLES, *PAIRS, *UNBOUNDED):
        yield Case(f"interval, {world.name}", SAMPLES, 25, partial(_cover, world, "queries"))
    for layout in LAYOUTS[1:]:
        for world in (SINGLES[0], *PAIRS[:4], UNBOUNDED[0]):
            name = f"interval, {world.name}, {layout}"
            yield Case(name, SAMPLES, 10, partial(_cover, world, layout))
    for world in PAIRS:
        yield Case(f"margin, {world.name}", SAMPLES, 15, partial(_margin, world))
    for name in WORLDS:
        yield Case(f"test, {name}", TEST_SAMPLES, 100, partial(_test, name))
    for n, is_clustered in ((25, False), (50, False), (250, False), (250, True)):
        name = f"correction, {n} queries{', clustered' if is_clustered else ''}"
        yield Case(name, MANY_SAMPLES, 200, partial(_correct, n, is_clustered=is_clustered))
    for world in PAIRS:
        yield Case(f"gate, {world.name}", MANY_SAMPLES, 15, partial(_gate, world))
        yield Case(f"plan, {world.name}", FEW_SAMPLES, 5, partial(_plan, world))
    for model in judges.MODELS:
        yield Case(f"judge, {model}", FEW_SAMPLES, 30, partial(_judge, model))
    for model in ("good", "biased", "weak", "sparse"):
        yield Case(
            f"judge of documents, {model}", FEW_SAMPLES // 2, 30, partial(_judge_documents, model)
        )


def _cover(world: World, layout: str, trials: int) -> list[Row]:
    rows = []
    for units in SIZES if layout == "queries" else CLUSTERED_SIZES:
        found = measure_coverage(
            world,
            units,
            layout=layout,
            trials=trials,
            flips=FLIPS if trials >= ENOUGH else FEW_FLIPS,
        )
        cells = [world.name, layout, f"{units:,}"]
        for method in ("bounded", "dense", "t"):
            promise = found.methods.get(method)
            if promise is None or not promise.given:
                cells += ["–", "–"]
                continue
            covers = show(promise.covered, promise.given)
            is_promised = method == "bounded" or (method == "dense" and found.is_dense)
            cells += [
                covers if is_promised else f"*{covers}*",
                f"{promise.width / found.oracle:.2f}" if found.oracle else "–",
            ]
        refused = found.refused["t"] / trials
        cells.append(f"{refused:.0%}" if refused else "")
        rows.append(Row("intervals", tuple(cells), "; ".join(_check(found))))
    return rows


def _check(found: Coverage) -> Iterator[str]:
    """Yield what is wrong with intervals."""
    where = f"{found.layout}, {found.units}"
    for method, promise in found.methods.items():
        least = COVERED if method == "bounded" else DENSE_COVERED
        is_promised = method == "bounded" or (method == "dense" and found.is_dense)
        if is_promised and is_below(promise.covered, least, promise.given):
            yield f"{method} covers {promise.covered:.1%} of {promise.given:,}: {where}"
    if found.layout != "queries" or found.trials < ENOUGH:
        return
    limits = {"dense": DENSE_WIDTHS if found.is_dense else {}}
    limits["bounded"] = BOUNDED_WIDTHS if found.world is STEADY else {}
    for method, widths in limits.items():
        most = widths.get(found.units, math.inf)
        wide = found.methods[method].width / found.oracle if method in found.methods else 0.0
        if wide > most:
            yield f"{method} is {wide:.2f} times as wide as an oracle's: {where}"


def _margin(world: World, trials: int) -> list[Row]:
    rows = []
    for n, runs in [*product(MARGIN_SIZES, (1,)), *product((60, 200), (RUNS_OF_FAMILY,))]:
        several = f", {runs} runs" if runs > 1 else ""
        cells, problems = [f"{world.name}{several}", f"{n:,}"], []
        for margin in (BUDGET, 5 * BUDGET):
            if not world.reaches(-margin):
                cells += ["–"] * 3
                continue
            wrong = find_verdicts(world, n, -margin, margin, runs=runs, trials=trials)
            right = find_verdicts(world, n, 0.0, margin, runs=runs, trials=trials)
            # With fewer than six queries, bounded intervals decide.
            units = n if runs == 1 else n / FURTHER_OUT
            is_enough = tilt(world, -margin).is_dense(units / ONE_SIDED)
            is_enough &= units >= FEWEST_ONE_SIDED
            is_promised = n < FEWEST_DENSE or is_enough
            for name, rate in (("not worse", wrong.not_worse), ("equivalent", wrong.equivalent)):
                shown = show(rate, trials)
                cells.append(shown if is_promised else f"*{shown}*")
                if is_promised and is_above(rate, LEVEL / 2, trials):
                    problems.append(f"wrongly {name} in {rate:.1%} with n = {n}")
            cells.append(f"{right.not_worse:.0%}")
        rows.append(Row("margins", tuple(cells), "; ".join(problems)))
    return rows


def _width(width: float) -> str:
    return "–" if math.isnan(width) else f"{width:.3f}"


def _test(world: str, trials: int) -> list[Row]:
    rows = []
    is_clustered = world in CLUSTERED
    for n in CLUSTERED_SIZES if is_clustered else SIZES:
        rates = find_sizes(world, n, samples=trials)
        problems = []
        cells = [world, f"{n:,}"]
        for test in TESTS:
            if test not in rates:
                cells.append("–")
                continue
            shown = f"{100 * rates[test]:.1f}"
            # The t and the permutation test hold approximately there, and Wilcoxon's says so.
            is_promised = world != "skewed"
            if is_promised and is_above(rates[test], LEVEL, trials):
                problems.append(f"{test} rejects {shown} % with n = {n}")
            cells.append(shown if is_promised else f"*{shown}*")
        rows.append(Row("tests", tuple(cells), "; ".join(problems)))
    return rows


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
    cases = [("queries", units, 1) for units in (20, 60, 200, 1000)]
    cases += [(layout, 200, 1) for layout in ("users", "unequal users", "one heavy user")]
    for layout, units, slices in (*cases, ("queries", 50, 8)):
        budget = Budget("value", max_drop=BUDGET)
        broken, holds = [], []
        for difference in (-BUDGET, -4 * BUDGET, 2 * BUDGET):
            if not world.reaches(difference):
                broken.append(math.nan)
                holds.append(math.nan)
                continue
            found = gates.find_rates(
                world, units, difference, budget, layout=layout, slices=slices, trials=trials
            )
            broken.append(found.broken)
            holds.append(found.holds)
        problems = [
            f"{name} in {rate:.1%}: {layout}, {units}, {slices} slices"
            for name, rate in (("broken", broken[0]), ("holds", holds[0]))
            if is_above(rate, LEVEL / 2, trials)
        ]
        is_required = world is STEADY and (layout, units) == ("queries", 200)
        if is_required and is_below(min(broken[1], holds[2]), FOUND, trials):
            problems.append(f"finds {broken[1]:.0%}, passes {holds[2]:.0%}")
        cells = (
            world.name,
            layout if slices == 1 else f"{slices} slices",
            f"{units:,}",
            show(broken[0], trials),
            show(holds[0], trials),
            "–" if math.isnan(broken[1]) else f"{broken[1]:.0%}",
            "–" if math.isnan(holds[2]) else f"{holds[2]:.0%}",
        )
        rows.append(Row("gates", cells, "; ".join(problems)))
    return rows


def _plan(world: World, trials: int) -> list[Row]:
    rows = []
    for n in (30, 100):
        found = gates.follow_plans(world, n, Budget("value", max_drop=BUDGET), trials=trials)
        problems = []
        if found.plans >= ENOUGH:
            _, middle, most = found.held
            if abs(middle - POWER) > POWER_OFF and world is STEADY:
                problems.append(f"a plan for {POWER:.0%} holds in {middle:.1%} with n = {n}")
            if is_below(most, POWER, found.plans):
                problems.append(f"the most that a plan says holds in {most:.1%} with n = {n}")
        ends = (
            cell
            for number, held in zip(found.middle, found.held, strict=True)
            for cell in (f"{number:,}" if found.plans else "–", show(held, found.plans))
        )
        rows.append(Row("plans", (world.name, f"{n:,}", *ends), "; ".join(problems)))
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
    # Its rare errors are what a dense interval assumes away.
    return rows if model == "erratic" else rows + _judge_densely(model, trials)


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

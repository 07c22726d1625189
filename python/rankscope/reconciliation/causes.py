"""Searches the commonest reasons for another number: level, cutoff, queries and depth."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from shlex import quote

from rankscope.conventions.rules import Rules
from rankscope.deferred import np
from rankscope.errors import RankscopeError
from rankscope.reconciliation.result import Cause, Deviation
from rankscope.reconciliation.target import TargetNumber
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.measures import Measure
    from rankscope.measures.domains import Value
    from rankscope.reconciliation.target import Target
    from rankscope.reconciliation.workbench import RuleOutcome, Workbench

CUTOFFS = (5, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
DEPTHS = (10, 20, 50, 100, 200, 500, 1000)
MOST_LEVELS = 10
"""Judgments with more grades than this are no levels but scores."""

NEIGHBORS = 20
"""How many of the nearest values tell how dense values are around the given number."""

SAME = 12
"""Decimal places to which two values are one."""


@record(frozen=True, slots=True)
class _Candidate:
    """What else the measure could be, and whether it gives the number.

    Args:
        cause: It as a cause, without how many were tried.
        is_met: Whether it gives the number.
        rank: Its place in the order of simplicity.
    """

    cause: Cause
    is_met: bool
    rank: int


def list_levels(measure: Measure, grades: Sequence[float]) -> list[float]:
    """Return the other relevance levels that a measure can have."""
    if "rel" not in measure.parameters:
        return []
    levels = sorted(grade for grade in grades if grade > 0)[:MOST_LEVELS]
    now = measure.parameters["rel"]
    # Without one, or below the lowest grade, all positive grades are relevant.
    lowest = isinstance(now, float) and bool(levels) and now <= levels[0]
    return [level for level in levels[1 if lowest or now is None else 0 :] if level != now]


def list_cutoffs(measure: Measure) -> list[int | None]:
    """Return the other cutoffs of a measure that are common: none, then the nearest first."""
    if "k" not in measure.parameters or measure.row.at != "k":
        return []
    now = measure.k
    near = [] if now is None else [now - 1, now + 1]
    cutoffs = {k for k in (*CUTOFFS, *near) if k > 0 and k != now}
    whole = [] if now is None or measure.row.parameter("k").required else [None]
    return [*whole, *sorted(cutoffs, key=lambda k: (abs(k - (now or k)), k))]


def find_causes(
    bench: Workbench,
    asked: Measure,
    wanted: Target,
    deviations: Sequence[tuple[Deviation, Rules]],
    values: set[float],
    *,
    names: Mapping[Rules, Sequence[str]],
) -> list[Cause]:
    """Find what else would give the number, the simplest first.

    One of the commonest reasons comes first, then one changed setting of a convention, then two
    reasons together, then another number of queries.
    """
    candidates = sorted(_list_candidates(bench, asked, wanted, names), key=lambda each: each.rank)
    tried = {round(value, SAME) for value in values if value == value}  # noqa: PLR0124 - NaN alone differs
    found = []
    seen: set[float] = set()
    for each in candidates:
        place = round(each.cause.value, SAME)
        if each.is_met and place not in seen:
            found.append((each.rank, each.cause))
            seen.add(place)
    for deviation, rules in deviations:
        if round(deviation.value, SAME) not in seen:
            found.append((_SETTING, _of_deviation(bench, deviation, rules)))
    found.sort(key=lambda pair: pair[0])
    by_rank = {
        rank: tried | {round(each.cause.value, SAME) for each in candidates if each.rank <= rank}
        for rank in {rank for rank, _ in found}
    }
    return [
        replace(cause, tried=len(by_rank[rank]), by_chance=_expect(by_rank[rank], wanted))
        for rank, cause in found
    ]


_ONE, _SETTING, _TWO, _OTHER_COUNT = range(4)


def _expect(values: set[float], wanted: Target) -> float:
    """Return how many of the values would match by chance, from their density near the number."""
    if not isinstance(wanted, TargetNumber):
        return 0.0  # that all queries match by chance is not to be expected
    distances = sorted(abs(value - wanted.value) for value in values)
    others = [distance for distance in distances if not distance <= wanted.half * (1 + 1e-9)]
    near = others[:NEIGHBORS]
    if not near:
        return 0.0
    return len(near) * wanted.half / max(near[-1] - wanted.half, wanted.half)


def _list_candidates(
    bench: Workbench, asked: Measure, wanted: Target, names: Mapping[Rules, Sequence[str]]
) -> Iterator[_Candidate]:
    levels, cutoffs = list_levels(asked, bench.grades), list_cutoffs(asked)
    changed: list[tuple[tuple[str, ...], Measure]] = [((), asked)]
    for level, cutoff in product([None, *levels], [asked.k, *cutoffs]):
        said, settings = [], dict[str, object]()
        if level is not None:
            settings["rel"] = level
            said.append(f"documents are relevant from grade {level:g}")
        if cutoff != asked.k:
            settings["k"] = cutoff
            said.append(_say_cutoff(cutoff, asked.k))
        if settings:
            try:
                changed.append((tuple(said), asked(**settings)))
            except RankscopeError:  # the measure needs what was changed
                continue
    yield from _evaluate(bench, changed, wanted, ())
    single = [pair for pair in changed if len(pair[0]) < 2]
    for says, varied in _list_variants(bench, asked):
        yield from _evaluate(varied, single, wanted, (says,))
        yield from _convene(varied, says, wanted, names)
    if bench.cut is None:
        return
    longest = _longest(bench, asked)
    for depth in DEPTHS:
        if depth < longest:
            says = f"the run ends after {depth} documents for each query"
            yield from _evaluate(bench.cut(depth), single, wanted, (says,))


def _convene(
    bench: Workbench, says: str, wanted: Target, names: Mapping[Rules, Sequence[str]]
) -> Iterator[_Candidate]:
    """Evaluate changed grades or scores under all conventions."""
    bench.evaluate(names)
    for rules, of in names.items():
        outcome = bench.outcome(rules)
        if not isinstance(outcome, RankscopeError):
            clauses = (says, f"the convention is that of {_say_names(of)}")
            value, queries = outcome.value, outcome.queries
            cause = _make_cause(bench, clauses, value, queries, measure=rules.measure)
            yield _Candidate(cause, wanted.is_met(outcome), _rank(clauses))


def _list_variants(bench: Workbench, asked: Measure) -> Iterator[tuple[str, Workbench]]:
    """Yield the input with other grades or scores, as other tools may have read it."""
    yield "scores are reversed: the lowest ranks first", bench.vary(lambda grade: grade, -1)
    yield "grades are lower by 1", bench.vary(lambda grade: grade - (grade >= 1), 1)
    yield "grades are higher by 1", bench.vary(lambda grade: grade + 1, 1)
    if "rel" not in asked.parameters:
        for level in sorted(grade for grade in bench.grades if grade > 0)[:MOST_LEVELS]:
            says = f"grades are 1 from grade {level:g} on, and 0 below"
            yield says, bench.vary(partial(_reach, level), 1)


def _reach(level: float, grade: float) -> float:
    """Return whether a grade reaches a level, as a grade; unjudged stays unjudged."""
    return grade if math.isnan(grade) else float(grade >= level)


def _say_cutoff(cutoff: Value, now: int | None) -> str:
    if cutoff is None:
        return f"the measure has no cutoff, instead of {now}"
    return f"the cutoff is {cutoff}" + ("" if now is None else f" instead of {now}")


def _longest(bench: Workbench, asked: Measure) -> int:

    lengths = np.diff(bench.rank(Rules(asked, bench.policy, "float64")).offsets)
    return int(lengths.max(initial=0))


def _evaluate(
    bench: Workbench,
    changed: Sequence[tuple[tuple[str, ...], Measure]],
    wanted: Target,
    before: tuple[str, ...],
) -> Iterator[_Candidate]:
    """Evaluate measures, for all sets of queries that means are taken over."""
    policy = bench.policy
    undefined = replace(policy, empty="nan")
    rules = {measure: Rules(measure, undefined, "float64") for _, measure in changed}
    plain = {measure: Rules(measure, policy, "float64") for _, measure in changed}
    bench.evaluate([*rules.values(), *plain.values()])
    rankings = bench.rank(next(iter(plain.values())))
    is_run = np.diff(rankings.offsets) > 0
    for said, measure in changed:
        outcome, whole = bench.outcome(rules[measure]), bench.outcome(plain[measure])
        if isinstance(outcome, RankscopeError) or isinstance(whole, RankscopeError):
            continue
        clauses = (*before, *said)
        # No command cuts a run.
        known = None if before else plain[measure]
        if clauses:
            cause = _make_cause(
                bench, clauses, whole.value, whole.queries, measure=measure, rules=known
            )
            yield _Candidate(cause, wanted.is_met(whole), _rank(clauses))
        # With the value of each query, the set of queries that the mean is over doesn't matter.
        if measure.row.mean == "mean" and len(clauses) < 2 and isinstance(wanted, TargetNumber):
            for cause, rank in _change_queries(
                bench, clauses, outcome, measure=measure, rules=known, is_run=is_run
            ):
                yield _Candidate(cause, wanted.is_near(cause.value), rank)


def _rank(clauses: tuple[str, ...]) -> int:
    return _ONE if len(clauses) == 1 else _TWO


def _change_queries(
    bench: Workbench,
    clauses: tuple[str, ...],
    outcome: RuleOutcome,
    *,
    measure: Measure,
    rules: Rules | None,
    is_run: NDArray[np.bool_],
) -> Iterator[tuple[Cause, int]]:
    """Divide the sum of the queries by the numbers of queries that others divide by."""
    values = outcome.values
    is_defined = ~np.isnan(values)
    total = float(np.nansum(values))
    judged, in_run = len(values), int(is_run.sum())
    relevant, both = int(is_defined.sum()), int((is_defined & is_run).sum())
    run_only = outcome.evaluation.counts.run_only
    # A query that is not in the run has the value 0, so that only the divisor changes.
    sets: list[tuple[int, str, dict[str, str] | None]] = [
        (in_run, f"{in_run} judged queries of the run", {"missing": "skip"}),
        (relevant, f"{relevant} queries with relevant documents", {"empty": "skip"}),
        (
            both,
            f"{both} queries of the run that have relevant documents",
            {"missing": "skip", "empty": "skip"},
        ),
        (in_run + run_only, f"{in_run + run_only} queries of the run, judged or not", None),
        (judged + run_only, f"{judged + run_only} queries of the judgments or the run", None),
    ]
    counts = {0, judged}
    for count, says, fields in sets:
        if count not in counts:
            counts.add(count)
            every = (*clauses, f"the mean is over the {says}")
            known = None
            if rules is not None and fields is not None:
                known = replace(rules, policy=replace(rules.policy, **fields))  # type: ignore[arg-type]  # fields of a policy
            cause = _make_cause(bench, every, total / count, count, measure=measure, rules=known)
            yield cause, _rank(every)
    if clauses:
        return
    for count in range(max(judged * 4 // 5, 1), judged * 5 // 4 + 1):
        if count not in counts:
            says = f"the sum of {judged} queries is divided by {count}"
            cause = _make_cause(bench, (says,), total / count, count, measure=measure)
            yield cause, _OTHER_COUNT


def _make_cause(
    bench: Workbench,
    clauses: tuple[str, ...],
    value: float,
    queries: int,
    *,
    measure: Measure,
    rules: Rules | None = None,
) -> Cause:
    """Return a cause, with the command if rules alone give the value."""
    return Cause(
        changes=clauses,
        value=value,
        queries=queries,
        measure=measure.name,
        command="" if rules is None else _write_command(bench, rules),
        tried=0,
        by_chance=0.0,
    )


def _of_deviation(bench: Workbench, deviation: Deviation, rules: Rules) -> Cause:
    outcome = bench.outcome(rules)
    queries = 0 if isinstance(outcome, RankscopeError) else outcome.queries
    names = _say_names(deviation.names)
    says = f"{deviation.rule}={deviation.setting} is set in the convention of {names}"
    return _make_cause(bench, (says,), deviation.value, queries, measure=rules.measure, rules=rules)


def _say_names(names: Sequence[str]) -> str:
    nearest, *others = names
    return f"{nearest} (and of {len(others)} more)" if others else nearest


def _write_command(bench: Workbench, rules: Rules) -> str:
    defaults = bench.policy.to_dict()
    fields = rules.policy.to_dict()
    policy = ",".join(f"{name}={word}" for name, word in fields.items() if word != defaults[name])
    words = ["rankscope eval", bench.files, "-m", quote(rules.measure.name)]
    words += ["--policy", quote(policy)] if policy else []
    words += ["--score-type", rules.score_type] if rules.score_type != "float64" else []
    return " ".join(words)

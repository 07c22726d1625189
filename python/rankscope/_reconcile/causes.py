"""Searches for what else gives a number: one changed rule, or another level, cutoff or input."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from shlex import quote
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._conventions.spec import Rule, Rules, write
from rankscope._reconcile.result import Cause, Deviation
from rankscope._reconcile.target import Target
from rankscope._reconcile.workbench import Outcome, Workbench
from rankscope._settings import CHOICES, FIELDS, Policy
from rankscope.errors import MeasureError
from rankscope.measures import Measure
from rankscope.measures.domains import DISCOUNTS, Value

Names: TypeAlias = Mapping[Rules, Sequence[str]]
"""The conventions that have each set of rules."""
Trial: TypeAlias = tuple[int, Cause, bool]
"""How simple a cause is, what it is, and whether it gives the number."""
Changed: TypeAlias = Sequence[tuple[tuple[str, ...], Measure]]
"""Measures, and what changed in each."""

CUTOFFS = (5, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
DEPTHS = (10, 20, 50, 100, 200, 500, 1000)
MOST_LEVELS = 10
"""Judgments with more grades than this are no levels but scores."""
NEIGHBORS = 20
"""How many of the nearest values tell how dense values are around the given number."""
SAME = 12
"""Decimal places to which two values are one."""
UNTRIED = ("error", "nan", "minmax")
"""Words of the policy that are not tried: they hide a value, or change what it is a share of."""
ONE, SETTING, TWO, OTHER_COUNT = range(4)
"""How simple a cause is: one change, a setting of a convention, two changes, any divisor."""
RANKS = {1: ONE, 2: TWO}
"""How simple a cause is by the number of its clauses."""


def list_levels(measure: Measure, grades: Sequence[float]) -> list[float]:
    """Return the other relevance levels that a measure can have."""
    if "rel" not in measure.parameters:
        return []
    levels = _list_positive(grades)
    now = measure.parameters["rel"]
    # Without one, or below the lowest grade, all positive grades are relevant.
    lowest = isinstance(now, float) and bool(levels) and now <= levels[0]
    return [level for level in levels[1 if lowest or now is None else 0 :] if level != now]


def _list_positive(grades: Sequence[float]) -> list[float]:
    return sorted(grade for grade in grades if grade > 0)[:MOST_LEVELS]


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
    bench: Workbench, measure: Measure, target: Target, names: Names
) -> tuple[tuple[Deviation, ...], tuple[Cause, ...]]:
    """Find what else would give the number: single changed settings, and all causes.

    The simplest cause comes first: one of the commonest reasons, then one changed setting of a
    convention, then two reasons together, then another number of queries.
    """
    deviations, values = _find_deviations(bench, target, names)
    trials = sorted(_Search(target).try_all(bench, measure, names), key=lambda trial: trial[0])
    causes: list[tuple[int, Cause]] = []
    seen: set[float] = set()
    for rank, cause, is_met in trials:
        if is_met and round(cause.value, SAME) not in seen:
            causes.append((rank, cause))
            seen.add(round(cause.value, SAME))
    for deviation, rules in deviations:
        if round(deviation.value, SAME) not in seen:
            says = f"{deviation.rule}={deviation.setting} is set in the convention of "
            clauses = (says + _say(deviation.names),)
            causes.append((SETTING, _make_cause(bench, clauses, rules)))
    simpler = {
        rank: _places([*values, *(cause.value for at, cause, _ in trials if at <= rank)])
        for rank in {rank for rank, _ in causes}
    }
    return tuple(deviation for deviation, _ in deviations), tuple(
        replace(cause, tried=len(simpler[rank]), by_chance=_expect(simpler[rank], target))
        for rank, cause in sorted(causes, key=lambda pair: pair[0])
    )


def _places(values: Iterable[float]) -> set[float]:
    """Return the different ones of values."""
    return {round(value, SAME) for value in values if not math.isnan(value)}


def _expect(values: set[float], target: Target) -> float:
    """Return how many of the values would match by chance, from their density near the number."""
    if target.queries is not None:
        return 0.0  # that all queries match by chance is not to be expected
    distances = sorted(abs(value - target.value) for value in values)
    others = [distance for distance in distances if not distance <= target.half * (1 + 1e-9)]
    near = others[:NEIGHBORS]
    if not near:
        return 0.0
    return len(near) * target.half / max(near[-1] - target.half, target.half)


def _find_deviations(
    bench: Workbench, target: Target, names: Names
) -> tuple[list[tuple[Deviation, Rules]], set[float]]:
    """Change one rule at a time in all conventions, those with the nearest values first.

    Returns those that give the number, and all values.
    """
    values = {rules: bench.outcome(rules).value for rules in names}
    # A convention that refuses this input may be what is looked for, with one other rule.
    nearest_first = sorted(
        names, key=lambda rules: (math.isnan(values[rules]), abs(values[rules] - target.value))
    )
    trials = [
        (base, rule, changed)
        for base in nearest_first
        for rule in _list_alternatives(base, bench)
        if (changed := base.take(rule))
    ]
    bench.evaluate(changed for *_, changed in trials)
    matching: dict[tuple[str, str], tuple[float, list[str], Rules]] = {}
    for base, rule, changed in trials:
        outcome = bench.outcome(changed)
        if outcome.error is None:
            values[changed] = outcome.value
            if target.is_met(outcome):
                key = next(iter(rule)), write(rule)
                matching.setdefault(key, (outcome.value, [], changed))[1].extend(names[base])
    deviations = [
        (Deviation(name, setting, value, tuple(of)), changed)
        for (name, setting), (value, of, changed) in matching.items()
    ]
    return deviations, {*values.values()}


def _list_alternatives(rules: Rules, bench: Workbench) -> Iterator[Rule]:
    """List the alternatives to each rule, one rule at a time."""
    choices = {name: CHOICES[name] for name in (*FIELDS, "score_type") if name in CHOICES}
    choices |= {
        parameter.name: parameter.domain.choices
        for parameter in rules.measure.row.parameters
        if parameter.name not in {"k", "discount"}
    }
    for name, words in choices.items():
        for word in words:
            if name not in FIELDS or word not in UNTRIED:
                yield {name: word}
    if "discount" in rules.measure.parameters:
        for discount in DISCOUNTS:
            yield {"discount": discount, "base": 2.0, "s": 1.0}
    for level in list_levels(rules.measure, bench.grades):
        yield {"rel": level}
    for cutoff in list_cutoffs(rules.measure):
        yield {"k": cutoff}


class _Search:
    """Tries the commonest reasons, each alone and two together.

    Args:
        target: The number.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.trials: list[Trial] = []

    def try_all(self, bench: Workbench, measure: Measure, names: Names) -> list[Trial]:
        """Try other levels and cutoffs, also with other grades, scores or a shorter run."""
        changed = _list_measures(measure, bench.grades)
        self._evaluate(bench, changed)
        single = [pair for pair in changed if len(pair[0]) < 2]
        for says, varied in _list_variants(bench, measure):
            self._evaluate(varied, single, says)
            varied.evaluate(names)
            for rules, conventions in names.items():
                self._add(varied, (says, f"the convention is that of {_say(conventions)}"), rules)
        if bench.qrels is not None:
            longest = int(bench.sizes.max(initial=0))
            for depth in (depth for depth in DEPTHS if depth < longest):
                says = f"the run ends after {depth} documents for each query"
                self._evaluate(bench.vary(depth=depth), single, says)
        return self.trials

    def _evaluate(self, bench: Workbench, changed: Changed, *before: str) -> None:
        """Evaluate measures, for all sets of queries that means are taken over."""
        undefined = replace(bench.policy, empty="nan")
        bench.evaluate(
            Rules(measure, policy) for policy in (undefined, bench.policy) for _, measure in changed
        )
        is_run = bench.sizes > 0
        for changes, measure in changed:
            clauses = (*before, *changes)
            if clauses:
                self._add(bench, clauses, Rules(measure, bench.policy))
            outcome = bench.outcome(Rules(measure, undefined))
            # With the value of each query, the queries that the mean is over don't matter.
            if self.target.queries is None and measure.row.mean == "mean" and len(clauses) < 2:
                for rank, cause in _change_queries(bench, clauses, measure, outcome, is_run):
                    self.trials.append((rank, cause, self.target.is_near(cause.value)))

    def _add(self, bench: Workbench, clauses: tuple[str, ...], rules: Rules) -> None:
        outcome = bench.outcome(rules)
        if outcome.error is None:
            cause = _make_cause(bench, clauses, rules)
            self.trials.append((RANKS[len(clauses)], cause, self.target.is_met(outcome)))


def _list_measures(measure: Measure, grades: Sequence[float]) -> Changed:
    """List a measure with other levels and cutoffs, and what each changes."""
    changed = []
    levels = [None, *list_levels(measure, grades)]
    for level, cutoff in product(levels, [measure.k, *list_cutoffs(measure)]):
        clauses, settings = [], dict[str, object]()
        if level is not None:
            settings["rel"] = level
            clauses.append(f"documents are relevant from grade {level:g}")
        if cutoff != measure.k:
            settings["k"] = cutoff
            clauses.append(_say_cutoff(cutoff, measure.k))
        with suppress(MeasureError):  # the measure may need what was changed
            changed.append((tuple(clauses), measure(**settings)))
    return changed


def _list_variants(bench: Workbench, measure: Measure) -> Iterator[tuple[str, Workbench]]:
    """Yield the input with other grades or scores, as other tools may have read it."""
    yield "scores are reversed: the lowest ranks first", bench.vary(sign=-1)
    yield "grades are lower by 1", bench.vary(lambda grade: grade - (grade >= 1))
    yield "grades are higher by 1", bench.vary(lambda grade: grade + 1)
    if "rel" not in measure.parameters:
        for level in _list_positive(bench.grades):
            says = f"grades are 1 from grade {level:g} on, and 0 below"
            yield says, bench.vary(partial(_reach, level))


def _reach(level: float, grade: float) -> float:
    """Return whether a grade reaches a level, as a grade; unjudged stays unjudged."""
    return grade if math.isnan(grade) else float(grade >= level)


def _say_cutoff(cutoff: Value, now: int | None) -> str:
    if cutoff is None:
        return f"the measure has no cutoff, instead of {now}"
    return f"the cutoff is {cutoff}" + ("" if now is None else f" instead of {now}")


def _change_queries(
    bench: Workbench,
    clauses: tuple[str, ...],
    measure: Measure,
    outcome: Outcome,
    is_run: NDArray[np.bool_],
) -> Iterator[tuple[int, Cause]]:
    """Divide the sum of the queries by the numbers of queries that others divide by."""
    if outcome.evaluation is None:
        return
    is_defined = ~np.isnan(outcome.values)
    total, run_only = float(np.nansum(outcome.values)), outcome.evaluation.counts.run_only
    judged, in_run = len(is_run), int(is_run.sum())
    relevant, both = int(is_defined.sum()), int((is_defined & is_run).sum())
    # A query that is not in the run has the value 0, so that only the divisor changes.
    sets = [
        (in_run, "judged queries of the run", "missing=skip"),
        (relevant, "queries with relevant documents", "empty=skip"),
        (both, "queries of the run that have relevant documents", "empty=skip,missing=skip"),
        (in_run + run_only, "queries of the run, judged or not", ""),
        (judged + run_only, "queries of the judgments or the run", ""),
    ]
    counts = {0, judged}
    for count, says, policy in sets:
        if count not in counts:
            counts.add(count)
            every = (*clauses, f"the mean is over the {count} {says}")
            rules = Rules(measure, Policy.parse(policy, bench.policy))
            command = _write_command(bench, rules) if policy else ""
            yield RANKS[len(every)], Cause(every, total / count, count, measure.name, command)
    for count in range(max(judged * 4 // 5, 1), judged * 5 // 4 + 1):
        if count not in counts and not clauses:
            says = f"the sum of {judged} queries is divided by {count}"
            yield OTHER_COUNT, Cause((says,), total / count, count, measure.name)


def _make_cause(bench: Workbench, clauses: tuple[str, ...], rules: Rules) -> Cause:
    outcome, command = bench.outcome(rules), _write_command(bench, rules)
    return Cause(clauses, outcome.value, outcome.queries, rules.measure.name, command)


def _write_command(bench: Workbench, rules: Rules) -> str:
    """Return the command that evaluates by rules; empty if none reads this input."""
    if not bench.files:
        return ""
    defaults = bench.policy.to_dict()
    fields = rules.policy.to_dict()
    policy = ",".join(f"{name}={word}" for name, word in fields.items() if word != defaults[name])
    words = ["rankscope eval", bench.files, "-m", quote(rules.measure.name)]
    words += ["--policy", quote(policy)] if policy else []
    words += ["--score-type", rules.score_type] if rules.score_type != "float64" else []
    return " ".join(words)


def _say(names: Sequence[str]) -> str:
    nearest, *others = names
    return f"{nearest} (and of {len(others)} more)" if others else nearest

"""Evaluates a measure under every convention, and searches the values for a given number."""

from __future__ import annotations

import math

from rankscope.conventions import TABLE, adapt, find
from rankscope.conventions.rules import Rules, write
from rankscope.errors import RankscopeError, UsageError
from rankscope.measures.domains import DISCOUNTS
from rankscope.measures.reading import read_measure
from rankscope.reconciliation.causes import find_causes, list_cutoffs, list_levels
from rankscope.reconciliation.explanations import differ
from rankscope.reconciliation.result import Cause, Deviation, Reckoning, Reconciliation
from rankscope.reconciliation.target import read_target
from rankscope.records import record
from rankscope.settings.policy import CHOICES, FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankscope.conventions import Convention
    from rankscope.conventions.rules import Settings
    from rankscope.measures import Measure
    from rankscope.reconciliation.target import Given, Target
    from rankscope.reconciliation.workbench import RuleOutcome, Workbench

OURS = "rankscope"
"""The name under which the measure stands as it was asked for, with our defaults."""


UNTRIED = ("error", "nan", "minmax")
"""Words of the policy that are not tried: they hide a value, or change what it is a share of."""


@record(frozen=True, slots=True)
class ConventionCandidate:
    """A convention with the choices made beside it, and the resulting rules.

    Args:
        name: What it is called here.
        row: The convention; none for our own defaults.
        option: What the library calls the choice.
        rules: The rules, or why there are none.
    """

    name: str
    row: Convention | None
    option: str
    rules: Rules | RankscopeError


@record(frozen=True, slots=True)
class Question:
    """The question to answer about an input.

    Args:
        measure: The measure.
        wanted: The number from elsewhere, if any.
        rows: The conventions.
    """

    measure: Measure
    wanted: Target | None
    rows: Sequence[Convention]

    @classmethod
    def read(
        cls,
        measure: Measure | str,
        got: Given | None,
        conventions: Iterable[Convention | str] | None,
    ) -> Question:
        """Read and check the arguments before reading any input."""
        rows = TABLE if conventions is None else tuple(find(each) for each in conventions)
        asked = read_measure(measure)
        highest = float(asked.row.value_range[1])
        return cls(asked, None if got is None else read_target(got, highest), rows)


def reckon(bench: Workbench, question: Question) -> Reconciliation:
    """Evaluate a measure under conventions."""
    asked, wanted = question.measure, question.wanted
    candidates = list(_list_candidates(question.rows, asked, bench))
    bench.evaluate(each.rules for each in candidates if not isinstance(each.rules, Exception))
    reckonings = [_reckon(each, bench, asked, wanted) for each in candidates]
    deviations: list[Deviation] = []
    causes: list[Cause] = []
    if wanted is not None and not any(each.is_match for each in reckonings):
        names: dict[Rules, list[str]] = {}
        for each in candidates:
            if not isinstance(each.rules, RankscopeError):
                names.setdefault(each.rules, []).append(each.name)
        changed, values = _find_deviations(names, bench, wanted)
        deviations = [each for each, _ in changed]
        values |= {each.value for each in reckonings}
        causes = find_causes(bench, asked, wanted, changed, values, names=names)
    known = {each.name: each for each in candidates}
    return Reconciliation(
        measure=asked,
        got=None if wanted is None else wanted.text,
        reckonings=tuple(sorted(reckonings, key=lambda each: bool(each.refusal))),
        deviations=tuple(deviations),
        causes=tuple(causes),
        compare=lambda one, other, limit: differ(
            bench, _pick(known, one), _pick(known, other), limit=limit
        ),
    )


def _list_candidates(
    rows: Iterable[Convention], asked: Measure, bench: Workbench
) -> Iterator[ConventionCandidate]:
    yield ConventionCandidate(OURS, None, "", Rules(asked, bench.policy, "float64"))
    for row in rows:
        choices = [
            (option.name, f"{option.field}={value}")
            for option in row.options
            if option.field in FIELDS
            for value in option.values
            if value != "error"
        ]
        for option, policy in [("", ""), *choices]:
            name = f"{_call(row)} {policy}".rstrip()
            try:
                adapted = adapt(row, [asked], policy=policy or None, grades=bench.grades)
            except RankscopeError as error:
                if not option:
                    yield ConventionCandidate(name, row, option, error)
                break
            rules = Rules(adapted.measures[0], adapted.policy, adapted.score_type)
            yield ConventionCandidate(name, row, option, rules)


def _reckon(
    candidate: ConventionCandidate, bench: Workbench, asked: Measure, wanted: Target | None
) -> Reckoning:
    row, rules = candidate.row, candidate.rules
    outcome = rules if isinstance(rules, RankscopeError) else bench.outcome(rules)
    value, queries, refusal = math.nan, 0, ""
    if isinstance(outcome, RankscopeError):
        is_lacking = outcome.code == "convention_measure"
        refusal = f"no {asked} there, as far as we know" if is_lacking else outcome.message
    else:
        value, queries = outcome.value, outcome.queries
    computed_in = row.computes_in if row else "float64"
    measure, policy = asked.name, ""
    if not isinstance(rules, RankscopeError):
        measure, policy = rules.measure.name, str(rules.policy)
    return Reckoning(
        name=candidate.name,
        version=row.version if row else "",
        tool=row.tool if row else OURS,
        verified=row.verified if row else "run",
        option=candidate.option,
        measure=measure,
        policy=policy,
        value=value,
        queries=queries,
        refusal=refusal,
        is_match=wanted is not None
        and not isinstance(outcome, RankscopeError)
        and wanted.is_met(outcome, computed_in),
    )


def _find_deviations(
    names: Mapping[Rules, list[str]], bench: Workbench, wanted: Target
) -> tuple[list[tuple[Deviation, Rules]], set[float]]:
    """Change one rule at a time in all conventions, those with the nearest values first."""
    distances = {rules: abs(_value(bench.outcome(rules)) - wanted.value) for rules in names}
    # A convention that refuses this input may be what is looked for, with one other rule.
    nearest_first = sorted(
        names, key=lambda rules: (math.isnan(distances[rules]), distances[rules])
    )
    tried = [
        (base, rule, settings, _take(base, rule, settings))
        for base in nearest_first
        for rule, settings in _list_alternatives(base, bench)
    ]
    bench.evaluate(changed for *_, changed in tried)
    found: dict[tuple[str, Settings], tuple[float, list[str], Rules]] = {}
    values = set()
    for base, rule, settings, changed in tried:
        outcome = bench.outcome(changed)
        if isinstance(outcome, RankscopeError):
            continue
        value = outcome.value
        values.add(value)
        if wanted.is_met(outcome):
            found.setdefault((rule, settings), (value, [], changed))[1].extend(names[base])
    deviations = [
        (Deviation(rule, write(settings), value, tuple(of)), changed)
        for (rule, settings), (value, of, changed) in found.items()
    ]
    return deviations, values


def _value(outcome: RuleOutcome | RankscopeError) -> float:
    return math.nan if isinstance(outcome, RankscopeError) else outcome.value


def _list_alternatives(rules: Rules, bench: Workbench) -> Iterator[tuple[str, Settings]]:
    """List the alternatives to each rule, one rule at a time."""
    words: dict[str, tuple[str, ...]] = {
        field: tuple(word for word in CHOICES[field] if word not in UNTRIED)
        for field in (*FIELDS, "score_type")
        if field in CHOICES
    }
    for parameter in rules.measure.row.parameters:
        if parameter.name not in {"k", "discount"} and parameter.domain.choices:
            words[parameter.name] = parameter.domain.choices
    for name, values in words.items():
        for value in values:
            yield name, ((name, value),)
    if "discount" in rules.measure.parameters:
        for discount in DISCOUNTS:
            yield "discount", (("discount", discount), ("base", 2.0), ("s", 1.0))
    for level in list_levels(rules.measure, bench.grades):
        yield "rel", (("rel", level),)
    for cutoff in list_cutoffs(rules.measure):
        yield "k", (("k", cutoff),)


def _take(rules: Rules, name: str, settings: Settings) -> Rules:
    try:
        return rules.take(name, settings)
    except RankscopeError:  # it does not fit the others, which stay as they are
        return rules


def _call(row: Convention) -> str:
    """Return the name of a convention, with its version if the bare name means another one."""
    return row.name if find(row.name) is row else row.address


def _pick(known: dict[str, ConventionCandidate], name: str) -> tuple[str, Rules]:
    stem, _, choice = name.partition(" ")
    called = stem if stem == OURS else _call(find(stem))
    candidate = known.get(f"{called} {choice}" if choice else called)
    if candidate is None:
        raise UsageError(
            f"expected a convention that was evaluated, found {name!r}",
            hint=f"there are {', '.join(known)}",
            code="not_evaluated",
        )
    if isinstance(candidate.rules, RankscopeError):
        raise candidate.rules
    return candidate.name, candidate.rules

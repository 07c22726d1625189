"""Policies, means, denominators and counts are those of a plain definition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import rankscope
from hypothesis import assume, example, given
from hypothesis import strategies as st
from rankscope import Policy
from rankscope.errors import RankscopeError
from rankscope.settings.policy import CHOICES, FIELDS

from tests.generated import examples
from tests.invariance.lists import Judged, judged_queries
from tests.invariance.variants import VARIANTS
from tests.reference import mean
from tests.refusals import refuses

if TYPE_CHECKING:
    from rankscope import Measure

MEASURES = VARIANTS[::7]
CUTOFFS = sorted({variant.k for variant in MEASURES if variant.k is not None})

batches = st.lists(
    st.tuples(judged_queries(), st.sampled_from(["both", "both", "missing", "run only"])),
    max_size=5,
)
# Averages over ties, gains between the worst and the best order, and other aggregates than the mean
# are tested against definitions of their own.
PLAIN = {
    name: [value for value in values if value not in {"average", "minmax"}]
    for name, values in CHOICES.items()
    if name in FIELDS and name != "aggregate"
}
policies = st.builds(Policy, **{name: st.sampled_from(values) for name, values in PLAIN.items()})
FIRST = Judged({"a": 1.0, "b": 1.0}, {"a": 1.0})


class Batch:
    """Queries that are judged, retrieved, or both; the first is always both."""

    def __init__(self, entries: list[tuple[Judged, str]]) -> None:
        named = {f"q{number}": entry for number, entry in enumerate([(FIRST, "both"), *entries])}
        self.judged = {q: one for q, (one, side) in named.items() if side != "run only"}
        self.missing = {q for q, (_, side) in named.items() if side == "missing"}
        self.run = {q: one.scores for q, (one, side) in named.items() if side != "missing"}

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        return {query: one.grades for query, one in self.judged.items()}

    def present(self) -> list[Judged]:
        return [one for query, one in self.judged.items() if query not in self.missing]


class Refused(Exception):  # noqa: N818 - it says what is expected, not what went wrong
    """A policy asks for an error of this code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def check(batch: Batch, policy: Policy) -> None:
    """Refuse what the policy refuses before any value is made."""
    grades = [grade for one in batch.judged.values() for grade in one.grades.values()]
    if policy.negative == "error" and min(grades) < 0:
        raise Refused("negative_gain")
    if policy.missing == "error" and batch.missing:
        raise Refused("missing_query")


def values_of(batch: Batch, policy: Policy) -> dict[Measure, list[float | None]]:
    """The value of each judged query by measure, `None` where it takes no part."""
    rows = []
    for query, one in batch.judged.items():
        if query not in batch.missing:
            rows.append(one.values(MEASURES, policy))
        elif policy.missing == "zero":
            rows.append(Judged({}, one.grades).values(MEASURES, policy))
        else:
            rows.append([])
    table: dict[Measure, list[float | None]] = {}
    for at, measure in enumerate(MEASURES):
        table[measure] = [fill(row[at], policy) if row else None for row in rows]
    return table


def fill(value: float, policy: Policy) -> float | None:
    """What a query counts as, by its value."""
    if not math.isnan(value):
        return value
    if policy.empty == "error":
        raise Refused("empty_query")
    return {"zero": 0.0, "one": 1.0, "nan": math.nan, "skip": None}[policy.empty]


def define(batch: Batch, policy: Policy) -> tuple[str, dict[Measure, list[float | None]]]:
    """The code of the error that is due, or the values."""
    try:
        check(batch, policy)
        return "", values_of(batch, policy)
    except Refused as refused:
        return refused.code, {}


@given(entries=batches, policy=policies)
@examples(30)
@example(entries=[], policy=Policy(empty="skip"))
def test_values_means_and_denominators_are_those_of_the_definition(
    entries: list[tuple[Judged, str]], policy: Policy
) -> None:
    batch = Batch(entries)
    refused, expected = define(batch, policy)
    if refused:
        with refuses(RankscopeError, refused):
            rankscope.evaluate(batch.qrels, batch.run, MEASURES, policy=policy)
        return
    evaluation = rankscope.evaluate(batch.qrels, batch.run, MEASURES, policy=policy)
    assert evaluation.query_ids == list(batch.judged)
    for measure, values in expected.items():
        found = evaluation.per_query_list(measure)
        shown = [math.nan if value is None else value for value in values]
        assert list(map(repr, found)) == list(map(repr, shown)), measure
        taking_part = [value for value in values if value is not None]
        assert evaluation.denominators[measure.name] == len(taking_part), measure
        assert repr(evaluation[measure]) == repr(mean(taking_part, measure.row.mean)), measure


@given(entries=batches, policy=policies)
@examples(30)
def test_counts_are_those_of_the_definition(
    entries: list[tuple[Judged, str]], policy: Policy
) -> None:
    batch = Batch(entries)
    refused, _ = define(batch, policy)
    assume(not refused)
    counts = rankscope.evaluate(batch.qrels, batch.run, MEASURES, policy=policy).counts
    judged = batch.judged.values()
    assert counts.queries == len(judged)
    assert counts.missing == len(batch.missing)
    assert counts.run_only == len(batch.run.keys() - batch.judged.keys())
    assert counts.empty == sum(max(one.grades.values()) <= 0 for one in judged)
    assert counts.tied == sum(map(is_tied, batch.present()))
    left_out = len(batch.missing) if policy.missing == "skip" else 0
    assert counts.evaluated == len(judged) - left_out
    rankings = [one.ranking(policy.ties) for one in batch.present()]
    assert list(counts.retrieved_at_k) == list(counts.unjudged_at_k) == [*CUTOFFS, None]
    for k in (*CUTOFFS, None):
        shown = [grade for ranking in rankings for grade in ranking[:k]]
        assert counts.retrieved_at_k[k] == len(shown)
        assert counts.unjudged_at_k[k] == shown.count(None)


def is_tied(one: Judged) -> bool:
    """Whether a judged document shares its score with another."""
    scores = list(one.scores.values())
    return any(
        scores.count(one.scores[document]) > 1 for document in one.scores.keys() & one.grades
    )


@given(queries=st.lists(judged_queries(), min_size=1, max_size=3), policy=policies)
@examples(30)
def test_rankings_count_as_an_evaluation_does(queries: list[Judged], policy: Policy) -> None:
    batch = Batch([(one, "both") for one in queries])
    allowed = Policy(ties=policy.ties, missing=policy.missing, unjudged=policy.unjudged)
    direct = rankscope.evaluate(batch.qrels, batch.run, MEASURES, policy=allowed)
    rankings = rankscope.Rankings.from_run(batch.qrels, batch.run, ties=policy.ties)
    held = rankings.evaluate(MEASURES, policy=allowed)
    assert held.counts == direct.counts
    assert dict(held) == dict(direct)
    assert held.to_dict() == direct.to_dict()

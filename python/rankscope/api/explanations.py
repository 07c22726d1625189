"""Says what the rules that make a difference do to the documents of a query."""

from __future__ import annotations

import math

from rankscope.records import record
from rankscope.reference.gain import discounted, gain_of, ideal_gains
from rankscope.reference.query import Query
from rankscope.results.difference import DocumentDifference, QueryDifference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankscope.api.rankings import Rankings
    from rankscope.api.workbench import Workbench
    from rankscope.conventions.rules import Rules

MOST_DOCUMENTS = 12
"""How many documents a rule shows at most."""


@record(frozen=True, slots=True)
class Listed:
    """One query as rules have it.

    Args:
        rules: The rules.
        docs: The retrieved documents in rank order.
        grades: Their grades, NaN where unjudged.
        scores: Their scores.
        judged: The grades of all judged documents, largest first.
    """

    rules: Rules
    docs: list[str]
    grades: list[float]
    scores: list[float]
    judged: list[float]

    @property
    def cutoff(self) -> int:
        """How many documents count."""
        k = self.rules.measure.k
        return len(self.docs) if k is None else min(k, len(self.docs))

    @property
    def query(self) -> Query:
        """The query as the reference takes it."""
        ranking = [None if math.isnan(grade) else grade for grade in self.grades]
        negative = self.rules.policy.negative in {"gain", "minmax"}
        return Query(ranking, self.judged, negative)

    def parameter(self, name: str) -> object:
        """Give a parameter of the kernel."""
        _, parameters = self.rules.measure.kernel_spec(
            grades={*self.judged, *(grade for grade in self.grades if not math.isnan(grade))},
            depth=max(len(self.docs), len(self.judged)),
        )
        return parameters[name]

    def places(self) -> dict[str, tuple[int, int]]:
        """Give the first and the last rank that each document may have."""
        places = {}
        is_averaged = self.rules.policy.ties == "average"
        start = 0
        for end in range(1, len(self.docs) + 1):
            if end < len(self.docs) and self.scores[end] == self.scores[start]:
                continue
            for index in range(start, end):
                place = (start + 1, end) if is_averaged else (index + 1, index + 1)
                places[self.docs[index]] = place
            start = end
        return places


def explain(
    bench: Workbench, rules: tuple[Rules, Rules], queries: Sequence[QueryDifference]
) -> list[QueryDifference]:
    """Say of each query what the rules that make its difference do.

    Args:
        bench: The input.
        rules: The two sets of rules.
        queries: The queries, with the rules that make their difference.
    """
    if not queries:
        return []
    rankings = [bench.rank(each) for each in rules]
    index = {query: number for number, query in enumerate(rankings[0].query_ids)}
    explained = []
    for query in queries:
        number = index[query.query_id]
        one, other = (_list(made, each, number) for made, each in zip(rankings, rules, strict=True))
        documents: list[DocumentDifference] = []
        remarks: list[str] = []
        for rule in query.rules:
            if rule in DOCUMENTS:
                documents += [*DOCUMENTS[rule](rule, one, other)][:MOST_DOCUMENTS]
            if rule in REMARKS:
                remarks += REMARKS[rule](one, other)
        explained.append(
            QueryDifference(
                query.query_id,
                query.one,
                query.other,
                query.rules,
                tuple(documents),
                tuple(remarks),
            )
        )
    return explained


def _list(rankings: Rankings, rules: Rules, number: int) -> Listed:
    start, stop = rankings.offsets[number : number + 2].tolist()
    first, last = rankings.ideal_offsets[number : number + 2].tolist()
    return Listed(
        rules,
        rankings.doc_ids(rankings.query_ids[number]),
        rankings.relevance[start:stop].tolist(),
        rankings.scores[start:stop].tolist(),
        rankings.ideal[first:last].tolist(),
    )


def _tied(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """Documents that have other ranks, where ranks matter."""
    mine, theirs = one.places(), other.places()
    grades = dict(zip(one.docs, one.grades, strict=True))
    for doc, place in mine.items():
        reaches = min(place[0], theirs[doc][0]) <= max(one.cutoff, other.cutoff)
        if place != theirs[doc] and reaches:
            yield DocumentDifference(
                rule, doc, grades[doc], _say_place(place), _say_place(theirs[doc])
            )


def _say_place(place: tuple[int, int]) -> str:
    first, last = place
    return f"rank {first}" if first == last else f"any of ranks {first} to {last}"


def _regained(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """Documents whose grade has another gain, and grades of the ideal that have."""
    seen = set()
    for doc, grade in zip(one.docs[: one.cutoff], one.grades, strict=False):
        gains = [_gain(each, grade) for each in (one, other)]
        seen.add(grade)
        if gains[0] != gains[1]:
            yield DocumentDifference(rule, doc, grade, *(f"gain {gain:g}" for gain in gains))
    for grade in dict.fromkeys(one.judged):
        gains = [_gain(each, grade) for each in (one, other)]
        if grade not in seen and gains[0] != gains[1]:
            yield DocumentDifference(rule, "", grade, *(f"gain {gain:g}" for gain in gains))


def _gain(listed: Listed, grade: float) -> float:
    return gain_of(listed.query, None if math.isnan(grade) else grade, listed.parameter("gain"))  # type: ignore[arg-type]  # as kernels take it


def _discounted(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """Documents with a gain whose rank has another weight."""
    for rank, (doc, grade) in enumerate(
        zip(one.docs[: one.cutoff], one.grades, strict=False), start=1
    ):
        weights = [discounted(1.0, rank, each.parameter("discount")) for each in (one, other)]  # type: ignore[arg-type]  # as kernels take it
        if weights[0] != weights[1] and _gain(one, grade) != 0:
            yield DocumentDifference(
                rule, doc, grade, *(f"rank {rank} weighs {weight:.4f}" for weight in weights)
            )


def _unjudged(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """Documents without a judgment."""
    for doc, grade in zip(one.docs[: one.cutoff], one.grades, strict=False):
        if math.isnan(grade):
            says = [str(each.rules.policy.unjudged) for each in (one, other)]
            yield DocumentDifference(rule, doc, grade, says[0], says[1])


def _negative(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """Documents with a grade below 0."""
    for doc, grade in zip(one.docs[: one.cutoff], one.grades, strict=False):
        if grade < 0:
            says = [each.rules.policy.negative for each in (one, other)]
            yield DocumentDifference(rule, doc, grade, says[0], says[1])


def _ideal(one: Listed, other: Listed) -> list[str]:
    gains = [
        ideal_gains(each.query, each.rules.measure.k, each.parameter("gain"), str(ideal))  # type: ignore[arg-type]  # as kernels take it
        for each in (one, other)
        for ideal in [each.rules.measure.parameters["ideal"]]
    ]
    shown = [" ".join(f"{gain:g}" for gain in each[:MOST_DOCUMENTS]) or "none" for each in gains]
    return [f"ideal: the gains of the ideal list are {shown[0]} / {shown[1]}"]


def _empty(one: Listed, other: Listed) -> list[str]:
    values = [each.rules.policy.empty for each in (one, other)]
    return [f"empty: it has no relevant document: {values[0]} / {values[1]}"]


def _missing(one: Listed, other: Listed) -> list[str]:
    values = [each.rules.policy.missing for each in (one, other)]
    return [f"missing: it is not in the run: {values[0]} / {values[1]}"]


def _denominator(one: Listed, other: Listed) -> list[str]:
    words = [each.rules.measure.parameters["denominator"] for each in (one, other)]
    rel = one.rules.measure.parameters.get("rel")
    level = rel if isinstance(rel, float) else 1.0
    relevant = sum(grade >= level for grade in one.judged)
    numbers = f"{relevant} relevant, {len(one.docs)} retrieved, cutoff {one.rules.measure.k}"
    return [f"denominator: {words[0]} / {words[1]}; {numbers}"]


DOCUMENTS: dict[str, Callable[[str, Listed, Listed], Iterator[DocumentDifference]]] = {
    "ties": _tied,
    "score_type": _tied,
    "gain": _regained,
    "discount": _discounted,
    "unjudged": _unjudged,
    "negative": _negative,
}
"""By rule, what it does to documents."""

REMARKS: dict[str, Callable[[Listed, Listed], list[str]]] = {
    "ideal": _ideal,
    "empty": _empty,
    "missing": _missing,
    "denominator": _denominator,
}
"""By rule, what else there is to say."""

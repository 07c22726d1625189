"""Compares two sets of rules on one input, by rule, query and document."""

from __future__ import annotations

import math

from rankscope.conventions.rules import write
from rankscope.deferred import np
from rankscope.errors import RankscopeError
from rankscope.reconciliation.difference import (
    Difference,
    DocumentDifference,
    QueryDifference,
    RuleDifference,
)
from rankscope.reconciliation.gains import gain_of, list_ideal_gains, weigh
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.rankings import Rankings
    from rankscope.conventions.rules import Rules
    from rankscope.reconciliation.workbench import RuleOutcome, Workbench

    Places = dict[str, tuple[int, int]]


@record(frozen=True, slots=True)
class Listed:
    """One query under a set of rules.

    Args:
        rules: The rules.
        docs: The retrieved documents in rank order.
        scores: Their scores.
        grade_of: The grade of each judged document, retrieved or not.
        judged: The grades of the documents that count, retrieved or not.
        parameters: The parameters of the measure as kernels take them.
    """

    rules: Rules
    docs: list[str]
    scores: list[float]
    grade_of: dict[str, float]
    judged: list[float]
    parameters: Mapping[str, object]

    @classmethod
    def of_query(
        cls,
        rankings: Rankings,
        rules: Rules,
        query_id: str,
        number: int,
        grade_of: dict[str, float],
    ) -> Listed:
        """Extract a query from rankings."""
        start, stop = rankings.offsets[number : number + 2].tolist()
        docs = rankings.doc_texts(query_id)
        _, parameters = rules.measure.kernel_spec(
            grades=set(grade_of.values()), depth=max(len(docs), len(grade_of))
        )
        is_known = set(docs if rules.policy.unretrieved == "ignore" else grade_of)
        judged = [grade for doc, grade in grade_of.items() if doc in is_known]
        scores = rankings.scores[start:stop].tolist()
        return cls(rules, docs, scores, grade_of, judged, parameters)

    @property
    def shown(self) -> list[str]:
        """The documents down to the cutoff."""
        return self.docs[: self.rules.measure.k]

    def grade(self, doc: str) -> float:
        """Return the grade of a document, NaN if it is unjudged."""
        return self.grade_of.get(doc, math.nan)

    def gain(self, doc: str) -> float:
        """Return the gain of a document."""
        return self._gain_of(self.grade_of.get(doc))

    def _gain_of(self, grade: float | None) -> float:
        gain: Any = self.parameters["gain"]
        negative_gain = self.rules.policy.negative in {"gain", "minmax"}
        return gain_of(grade, gain, negative_gain=negative_gain)

    def weight(self, rank: int) -> float:
        """Return the discount of a rank."""
        discount: Any = self.parameters["discount"]
        return weigh(rank, discount)

    def ideal_gains(self) -> list[float]:
        """List the gains of the ideal list."""
        ideal = str(self.parameters["ideal"])
        shown = [self.grade_of.get(doc) for doc in self.docs]
        grades = shown if ideal == "retrieved" else self.judged
        return list_ideal_gains([*map(self._gain_of, grades)], self.rules.measure.k, ideal)

    def ideal_docs(self) -> list[str]:
        """List the documents of the ideal list. Of equal gains, retrieved ones come first."""
        ideal = self.parameters.get("ideal")
        known = {doc: self.gain(doc) for doc in self.docs if doc in self.grade_of}
        if ideal != "retrieved" and self.rules.policy.unretrieved == "count":
            known |= {doc: self.gain(doc) for doc in sorted(self.grade_of) if doc not in known}
        ordered = sorted(known, key=lambda doc: -known[doc])
        positive = [doc for doc in ordered if known[doc] > 0]
        return positive if ideal == "whole" else positive[: self.rules.measure.k]

    def places(self) -> Places:
        """Return the first and the last rank that each document may have."""
        places: Places = {}
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


MOST_DOCUMENTS = 12
"""How many documents a rule shows at most."""


def explain(
    bench: Workbench, rules: tuple[Rules, Rules], queries: Sequence[QueryDifference]
) -> list[QueryDifference]:
    """Explain for each query what the differing rules do."""
    if not queries:
        return []
    rankings = [bench.rank(each) for each in rules]
    numbers = {query_id: number for number, query_id in enumerate(rankings[0].query_texts)}
    explained = []
    for query in queries:
        number = numbers[query.query_id]
        grade_of = bench.judged(rankings[0], number)
        one, other = (
            Listed.of_query(made, each, query.query_id, number, grade_of)
            for made, each in zip(rankings, rules, strict=True)
        )
        if len(one.docs) < len(one.scores):  # rows without ids can't be distinguished
            explained.append(query)
            continue
        documents: list[DocumentDifference] = []
        remarks: list[str] = []
        for rule in query.rules:
            if rule in DOCUMENTS:
                documents += [*DOCUMENTS[rule](rule, one, other)][:MOST_DOCUMENTS]
            if rule in REMARKS:
                remarks.append(f"{rule}: {REMARKS[rule](one, other)}")
        explained.append(replace(query, documents=tuple(documents), remarks=tuple(remarks)))
    return explained


def _tied(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """List documents whose ranks differ, those with larger grades first."""
    mine, theirs = one.places(), other.places()
    # Single precision ties all that double precision does, and more.
    coarse = other if other.rules.score_type == "float32" else one
    score_of = dict(zip(coarse.docs, coarse.scores, strict=True))
    grades: dict[float, set[float]] = {}
    for doc, score in score_of.items():
        grades.setdefault(score, set()).add(one.grade_of.get(doc, 0.0))
    moved = [
        doc
        for doc, place in mine.items()
        if place != theirs[doc]
        and min(place[0], theirs[doc][0]) <= len(one.shown)
        and len(grades[score_of[doc]]) > 1  # else any order of them is worth the same
    ]
    for doc in sorted(moved, key=lambda doc: -one.grade_of.get(doc, 0.0)):
        yield DocumentDifference(
            rule, doc, one.grade(doc), _say_place(mine[doc]), _say_place(theirs[doc])
        )


def _say_place(place: tuple[int, int]) -> str:
    first, last = place
    return f"rank {first}" if first == last else f"any of ranks {first} to {last}"


def _regained(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """List documents whose gains differ, in the list and in the ideal list."""
    for doc in dict.fromkeys([*one.shown, *one.ideal_docs(), *other.ideal_docs()]):
        gains = one.gain(doc), other.gain(doc)
        if gains[0] != gains[1]:
            yield DocumentDifference(
                rule, doc, one.grade(doc), f"gain {gains[0]:g}", f"gain {gains[1]:g}"
            )


def _discounted(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """List documents with a gain whose ranks have different weights."""
    for rank, doc in enumerate(one.shown, start=1):
        weights = [each.weight(rank) for each in (one, other)]
        if weights[0] != weights[1] and one.gain(doc) != 0:
            says = [f"rank {rank} weighs {weight:.4f}" for weight in weights]
            yield DocumentDifference(rule, doc, one.grade(doc), says[0], says[1])


def _idealised(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """List documents that are in only one of the ideal lists."""
    if "slots" in {one.parameters["ideal"], other.parameters["ideal"]}:
        return  # whose ideal list is of no documents
    mine, theirs = one.ideal_docs(), other.ideal_docs()
    for doc in dict.fromkeys([*mine, *theirs]):
        if (doc in mine) != (doc in theirs):
            says = ["in the ideal list" if doc in each else "not in it" for each in (mine, theirs)]
            yield DocumentDifference(rule, doc, one.grade(doc), says[0], says[1])


def _unjudged(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """List documents without a judgment."""
    for doc in one.shown:
        if doc not in one.grade_of:
            says = [str(each.rules.policy.unjudged) for each in (one, other)]
            yield DocumentDifference(rule, doc, one.grade(doc), says[0], says[1])


def _unretrieved(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """List judged documents that aren't in the list, those with larger grades first."""
    retrieved = set(one.docs)
    says = [each.rules.policy.unretrieved for each in (one, other)]
    for doc in sorted(one.grade_of, key=lambda doc: (-one.grade_of[doc], doc)):
        if doc not in retrieved:
            yield DocumentDifference(rule, doc, one.grade(doc), says[0], says[1])


def _negative(rule: str, one: Listed, other: Listed) -> Iterator[DocumentDifference]:
    """List documents with a grade below 0."""
    for doc in one.shown:
        if one.grade(doc) < 0:
            says = [each.rules.policy.negative for each in (one, other)]
            yield DocumentDifference(rule, doc, one.grade(doc), says[0], says[1])


def _say_ideals(one: Listed, other: Listed) -> str:
    lists = [each.ideal_gains()[:MOST_DOCUMENTS] for each in (one, other)]
    shown = [" ".join(f"{gain:g}" for gain in gains) or "none" for gains in lists]
    return f"the gains of the ideal list are {shown[0]} / {shown[1]}"


def _say_empty(one: Listed, other: Listed) -> str:
    return f"it has no relevant document: {one.rules.policy.empty} / {other.rules.policy.empty}"


def _say_missing(one: Listed, other: Listed) -> str:
    return f"it is not in the run: {one.rules.policy.missing} / {other.rules.policy.missing}"


def _say_denominators(one: Listed, other: Listed) -> str:
    words = [each.rules.measure.parameters["denominator"] for each in (one, other)]
    rel = one.rules.measure.parameters.get("rel")
    relevant = sum(grade >= (rel if isinstance(rel, float) else 1.0) for grade in one.judged)
    return (
        f"{words[0]} / {words[1]}; {relevant} relevant, {len(one.docs)} retrieved, cutoff "
        f"{one.rules.measure.k}"
    )


DOCUMENTS: dict[str, Callable[[str, Listed, Listed], Iterator[DocumentDifference]]] = {
    "ties": _tied,
    "score_type": _tied,
    "gain": _regained,
    "discount": _discounted,
    "ideal": _idealised,
    "unjudged": _unjudged,
    "unretrieved": _unretrieved,
    "negative": _negative,
}
"""By rule, what it does to documents."""


REMARKS: dict[str, Callable[[Listed, Listed], str]] = {
    "ideal": _say_ideals,
    "empty": _say_empty,
    "missing": _say_missing,
    "denominator": _say_denominators,
}
"""By rule, what else there is to say."""


CLOSE = 1e-12
"""Values of a query that differ by less are one value."""


def differ(
    bench: Workbench, one: tuple[str, Rules], other: tuple[str, Rules], *, limit: int
) -> Difference:
    """Return what causes the difference between two sets of rules."""
    (name, rules), (other_name, others) = one, other
    first, second = _evaluated(bench, rules), _evaluated(bench, others)
    mine, theirs = first.values, second.values
    ours, other_ours = rules.to_dict(), others.to_dict()
    responsible: dict[str, NDArray[np.bool_]] = {}
    changes = []
    for rule in rules.differ(others):
        exchanged = _exchange(bench, rules, rule, others)
        changed = _unlike(mine, exchanged.values) if exchanged else None
        returned = _exchange(bench, others, rule, rules)
        back = _unlike(theirs, returned.values) if returned else None
        masks = [mask for mask in (changed, back) if mask is not None]
        if masks:
            responsible[rule] = masks[0] if len(masks) == 1 else masks[0] | masks[1]
        changes.append(
            RuleDifference(
                rule,
                write(ours[rule]),
                write(other_ours[rule]),
                0 if changed is None else int(changed.sum()),
                exchanged.value if exchanged else math.nan,
            )
        )
    queries = _list_queries(first.evaluation, mine, theirs, responsible)
    explained = explain(bench, (rules, others), queries[:limit])
    return Difference(
        one=name,
        other=other_name,
        measures=(rules.measure.name, others.measure.name),
        values=(first.value, second.value),
        rules=tuple(changes),
        queries=(*explained, *queries[limit:]),
        explained=len(explained),
    )


def _evaluated(bench: Workbench, rules: Rules) -> RuleOutcome:
    outcome = bench.outcome(rules)
    if isinstance(outcome, RankscopeError):
        raise outcome
    return outcome


def _exchange(bench: Workbench, rules: Rules, rule: str, others: Rules) -> RuleOutcome | None:
    """Evaluate by rules with one of them exchanged, if they fit together."""
    try:
        return _evaluated(bench, rules.take(rule, others.to_dict()[rule]))
    except RankscopeError:
        return None


def _unlike(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:

    unlike: NDArray[np.bool_] = ~np.isclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True)
    return unlike


def _list_queries(
    evaluation: Evaluation,
    mine: NDArray[np.float64],
    theirs: NDArray[np.float64],
    responsible: dict[str, NDArray[np.bool_]],
) -> list[QueryDifference]:
    """List the queries with two values, the largest difference first."""
    # A query that only one of them counts differs by as much as can be.
    sizes = np.nan_to_num(np.abs(mine - theirs), nan=np.inf)
    places = np.flatnonzero(_unlike(mine, theirs)).tolist()
    ids = evaluation.query_texts
    return [
        QueryDifference(
            ids[place],
            float(mine[place]),
            float(theirs[place]),
            tuple(rule for rule, mask in responsible.items() if mask[place]),
        )
        for place in sorted(places, key=lambda place: (-sizes[place], ids[place]))
    ]

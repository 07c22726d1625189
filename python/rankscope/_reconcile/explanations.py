"""Compares two sets of rules on one input, by rule, query and document."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankscope._conventions.spec import DISCOUNT, Rules, write
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.settings import Request
from rankscope._reconcile.workbench import (
    Difference,
    DocumentDifference,
    Outcome,
    QueryDifference,
    RuleDifference,
    Workbench,
)
from rankscope.measures import DCG

MOST_DOCUMENTS = 12
"""How many documents a rule shows at most."""

CLOSE = 1e-12
"""Values of a query that differ by less are one value."""


@dataclass(frozen=True, slots=True)
class RuledQuery:
    """One query under a set of rules.

    Args:
        rules: The rules.
        scores: The score of each retrieved document, in rank order.
        grade_of: The grade of each judged document, retrieved or not.
        gain_of: The gain of each document.
        weights: The discount of each rank.
    """

    rules: Rules
    scores: dict[str, float]
    grade_of: dict[str, float]
    gain_of: dict[str, float]
    weights: list[float]

    @classmethod
    def read(
        cls, rankings: Rankings, rules: Rules, number: int, grade_of: dict[str, float]
    ) -> RuledQuery:
        """Extract a query from rankings."""
        start, stop = rankings.offsets[number : number + 2].tolist()
        docs = rankings.doc_texts(rankings.query_texts[number])
        # Whatever the measure, its gains and weights are those of DCG.
        settings = rules.measure.settings.items()
        dcg = DCG(**{name: value for name, value in settings if name in {"k", "gain", *DISCOUNT}})
        grades = {doc: grade_of.get(doc, math.nan) for doc in [*docs, *grade_of]}
        request = Request(measures=[dcg], policy=rules.policy, grades=[*grade_of.values()])
        plan, ranks = request.plan(), range(1, len(docs[: dcg.k]) + 1)
        gains = plan.gains(0, [*grades.values()]) or []
        weights = plan.discounted(0, [1.0] * len(ranks), [*ranks]) or []
        scores = dict(zip(docs, rankings.scores[start:stop].tolist(), strict=True))
        return cls(rules, scores, grade_of, dict(zip(grades, gains, strict=True)), weights)

    @property
    def shown(self) -> list[str]:
        """The documents down to the cutoff."""
        return [*self.scores][: self.rules.measure.k]

    @property
    def judged(self) -> list[str]:
        """The judged documents that count; of equal gains, retrieved ones come first."""
        counted = [doc for doc in self.scores if doc in self.grade_of]
        if self.rules.policy.unretrieved == "count":
            counted += sorted(self.grade_of.keys() - self.scores.keys())
        return counted

    @property
    def ideal(self) -> list[str]:
        """The documents of the ideal list."""
        kind = self.rules.measure.value_of("ideal")
        docs = [doc for doc in self.judged if kind != "retrieved" or doc in self.scores]
        best = sorted(docs, key=lambda doc: -self.gain_of[doc])
        positive = [doc for doc in best if self.gain_of[doc] > 0]
        return positive if kind == "whole" else positive[: self.rules.measure.k]

    def describe(self, rule: str, docs: Sequence[str]) -> list[str]:
        """Return what a rule does to documents."""
        match rule:
            case "ties" | "score_type":
                spans = self.spans()
                return [_say_span(*spans[doc]) for doc in docs]
            case "gain":
                return [f"gain {self.gain_of[doc]:g}" for doc in docs]
            case "discount":
                ranks = enumerate(self.weights, start=1)  # the documents are a whole list
                return [f"rank {rank} weighs {weight:.4f}" for rank, weight in ranks]
            case "ideal":
                ideal = {*self.ideal}
                return ["in the ideal list" if doc in ideal else "not in it" for doc in docs]
        return [str(getattr(self.rules.policy, rule)) for _ in docs]

    def spans(self) -> dict[str, tuple[int, int]]:
        """Return the first and the last rank that each document may have."""
        ranks = {doc: (rank, rank) for rank, doc in enumerate(self.scores, start=1)}
        if self.rules.policy.ties == "average":
            tied: dict[float, list[int]] = {}
            for rank, score in enumerate(self.scores.values(), start=1):
                tied.setdefault(score, []).append(rank)
            ranks = {doc: (tied[score][0], tied[score][-1]) for doc, score in self.scores.items()}
        return ranks


def _say_span(first: int, last: int) -> str:
    return f"rank {first}" if first == last else f"any of ranks {first} to {last}"


def _list_documents(rule: str, one: RuledQuery, other: RuledQuery) -> Sequence[str]:
    """List the documents to which a rule may do something else, the most important first."""
    grade_of = one.grade_of
    match rule:
        case "ties" | "score_type":
            return _list_moved(one, other)
        case "gain":
            return [*one.shown, *one.ideal, *other.ideal]
        case "discount":
            return one.shown
        case "ideal":
            kinds = {each.rules.measure.value_of("ideal") for each in (one, other)}
            # That of slots has no documents.
            return [] if "slots" in kinds else [*one.ideal, *other.ideal]
        case "unjudged":
            return [doc for doc in one.shown if doc not in grade_of]
        case "unretrieved":
            unretrieved = grade_of.keys() - one.scores.keys()
            return sorted(unretrieved, key=lambda doc: (-grade_of[doc], doc))
        case "negative":
            return [doc for doc in one.shown if grade_of.get(doc, 0.0) < 0]
    return []


def _list_moved(one: RuledQuery, other: RuledQuery) -> list[str]:
    """List documents in ties whose order matters, those with larger grades first."""
    mine, theirs = one.spans(), other.spans()
    # Single precision ties all that double precision does, and more.
    coarse = other if other.rules.score_type == "float32" else one
    grades: dict[float, set[float]] = {}
    for doc, score in coarse.scores.items():
        grades.setdefault(score, set()).add(one.grade_of.get(doc, 0.0))
    moved = [
        doc
        for doc in mine
        if min(mine[doc][0], theirs[doc][0]) <= len(one.shown)
        and len(grades[coarse.scores[doc]]) > 1  # else any order of them is worth the same
    ]
    return sorted(moved, key=lambda doc: -one.grade_of.get(doc, 0.0))


def _remark(rule: str, one: RuledQuery, other: RuledQuery) -> list[str]:
    """Return what else there is to say of a rule."""
    measure, sides = one.rules.measure, (one, other)
    match rule:
        case "ideal":
            lists = []
            for side in sides:
                gains = [side.gain_of[doc] for doc in side.ideal]
                if side.rules.measure.value_of("ideal") == "slots":
                    gains = [1.0] * (measure.k or 0)
                lists.append(" ".join(f"{gain:g}" for gain in gains[:MOST_DOCUMENTS]) or "none")
            return [f"ideal: the gains of the ideal list are {lists[0]} / {lists[1]}"]
        case "empty" | "missing":
            what = "has no relevant document" if rule == "empty" else "is not in the run"
            words = [getattr(side.rules.policy, rule) for side in sides]
            return [f"{rule}: it {what}: {words[0]} / {words[1]}"]
        case "denominator":
            words = [side.rules.measure.value_of("denominator") for side in sides]
            rel = measure.value_of("rel")
            least = rel if isinstance(rel, float) else 1.0
            relevant = sum(one.grade_of[doc] >= least for doc in one.judged)
            counts = f"{relevant} relevant, {len(one.scores)} retrieved, cutoff {measure.k}"
            return [f"denominator: {words[0]} / {words[1]}; {counts}"]
    return []


def explain(
    bench: Workbench, rules: tuple[Rules, Rules], queries: Sequence[QueryDifference]
) -> list[QueryDifference]:
    """Explain for each query what the differing rules do."""
    if not queries:
        return []
    rankings = [bench.rank(each) for each in rules]
    if bench.qrels is None and not rankings[0].has_doc_ids:
        return [*queries]  # rows without ids can't be distinguished
    numbers = {query_id: number for number, query_id in enumerate(rankings[0].query_texts)}
    explained = []
    for query in queries:
        number = numbers[query.query_id]
        grade_of = bench.judged(rankings[0], number)
        one, other = (
            RuledQuery.read(ranked, each, number, grade_of)
            for ranked, each in zip(rankings, rules, strict=True)
        )
        documents: list[DocumentDifference] = []
        remarks: list[str] = []
        for rule in query.rules:
            documents += _compare_documents(rule, one, other)[:MOST_DOCUMENTS]
            remarks += _remark(rule, one, other)
        explained.append(replace(query, documents=tuple(documents), remarks=tuple(remarks)))
    return explained


def _compare_documents(rule: str, one: RuledQuery, other: RuledQuery) -> list[DocumentDifference]:
    docs = [*dict.fromkeys(_list_documents(rule, one, other))]
    rows = zip(docs, one.describe(rule, docs), other.describe(rule, docs), strict=True)
    return [
        DocumentDifference(rule, doc, one.grade_of.get(doc, math.nan), says, other_says)
        for doc, says, other_says in rows
        if says != other_says and (rule != "discount" or one.gain_of[doc] != 0)
    ]


def differ(
    bench: Workbench, one: tuple[str, Rules], other: tuple[str, Rules], *, limit: int
) -> Difference:
    """Return what causes the difference between two sets of rules."""
    (name, rules), (other_name, others) = one, other
    first, second = bench.outcome(rules), bench.outcome(others)
    for outcome in (first, second):
        if outcome.error:
            raise outcome.error
    ours, theirs = rules.to_dict(), others.to_dict()
    responsible: dict[str, NDArray[np.bool_]] = {}
    changes = []
    # Policy fields stand first.
    for rule in [name for name in ours if ours[name] != theirs.get(name)]:
        exchanged = _exchange(bench, rules, theirs[rule])
        returned = _exchange(bench, others, ours[rule])
        changed = _unlike(first, exchanged)
        responsible[rule] = changed | _unlike(second, returned)
        texts = write(ours[rule]), write(theirs[rule])
        changes.append(RuleDifference(rule, *texts, int(changed.sum()), exchanged.value))
    queries = _list_queries(first, second, responsible)
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


def _exchange(bench: Workbench, rules: Rules, rule: Mapping[str, object]) -> Outcome:
    """Evaluate by rules with one of them exchanged, if they fit together."""
    exchanged = rules.take(rule)
    return bench.outcome(exchanged) if exchanged else Outcome()


def _unlike(one: Outcome, other: Outcome) -> NDArray[np.bool_]:
    """Return which queries have other values; none where there is no other outcome."""
    if other.evaluation is None:
        return np.zeros(len(one.values), dtype=bool)
    unlike: NDArray[np.bool_] = ~np.isclose(
        one.values, other.values, rtol=CLOSE, atol=CLOSE, equal_nan=True
    )
    return unlike


def _list_queries(
    one: Outcome, other: Outcome, responsible: Mapping[str, NDArray[np.bool_]]
) -> list[QueryDifference]:
    """List the queries with two values, the largest difference first."""
    mine, theirs, ids = one.values, other.values, [*one.by_query]
    # A query that only one of them counts differs by as much as can be.
    sizes = np.nan_to_num(np.abs(mine - theirs), nan=np.inf)
    places = np.flatnonzero(_unlike(one, other)).tolist()
    return [
        QueryDifference(
            ids[place],
            float(mine[place]),
            float(theirs[place]),
            tuple(rule for rule, mask in responsible.items() if mask[place]),
        )
        for place in sorted(places, key=lambda place: (-sizes[place], ids[place]))
    ]

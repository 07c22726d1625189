"""Explains what differing rules do to the documents of a query."""

from __future__ import annotations

from rankscope.reconciliation.convention_difference import DocumentDifference, QueryDifference
from rankscope.reconciliation.lists import Listed
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankscope.conventions.rules import Rules
    from rankscope.reconciliation.workbench import Workbench

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
    relevant = one.query.relevant(rel if isinstance(rel, float) else 1.0)
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

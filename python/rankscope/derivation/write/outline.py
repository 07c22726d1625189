"""The blocks that every explanation has: heading, documents, other orders, policy."""

from __future__ import annotations

import math

from rankscope._core import EMPTY_VALUES
from rankscope.derivation.write.blocks import (
    Aside,
    Column,
    Equation,
    Grid,
    Heading,
    Id,
    Note,
    Sentence,
    Term,
)
from rankscope.derivation.write.terms import write_fixed, write_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from rankscope.derivation.explanation import (
        Document,
        Documents,
        Explanation,
        Gap,
        Order,
        RelevanceExplanation,
    )
    from rankscope.derivation.write.blocks import Block, Inline

    Explained: TypeAlias = Explanation | RelevanceExplanation


MOST_NAMED = 10
"""So many documents are named in a sentence."""

MOST_GRADES = 24
"""So many grades of an order are shown."""


class Outline:
    """The blocks of one explanation.

    Args:
        explained: The explanation.
        digits: Places after the point.
    """

    gain = "gain"
    """What a rank may have."""

    def __init__(self, explained: Explained, digits: int) -> None:
        self.explained = explained
        self.digits = digits
        self.kind = explained.measure.row.name
        self.k = explained.measure.k

    def number(self, value: float) -> str:
        """Write a value with all its decimals, a dash if it is undefined."""
        return write_fixed(value, self.digits)

    def term(self, value: float) -> Term:
        """Return a value as the only term of a sum."""
        text = self.number(value)
        return Term(text, text)

    def name(self, kind: str) -> str:
        """Return the name of another measure with the same cutoff."""
        return kind if self.k is None else f"{kind}@{self.k}"

    def _head(self) -> Heading:
        explained = self.explained
        query: tuple[Inline, ...] = ()
        if explained.query_id is not None:
            query = (" for query ", Id(explained.query_id))
        if math.isnan(explained.value):
            return Heading((f"{explained.measure} has no value", *query))
        return Heading((f"{explained.measure} = {self.number(explained.value)}", *query))

    def _undefined(self, why: str) -> Iterator[Block]:
        policy = self.explained.policy
        if self.explained.is_missing:
            what = MISSING[policy.missing]
            yield Sentence((f"The query is not in the run: {what} (missing={policy.missing}).",))
        if self.explained.is_undefined:
            what = EMPTY[policy.empty]
            name = self.name(self.kind)
            yield Sentence((f"{name} is undefined: {why}. It {what} (empty={policy.empty}).",))

    def _table(
        self,
        columns: Sequence[Column],
        rows: Sequence[tuple[Inline, ...]],
        ranks: Sequence[int],
    ) -> Iterator[Block]:
        """Make the table of the list, with remarks in place of ranks that aren't shown."""
        merged: list[tuple[Inline, ...] | Aside] = [*rows]
        for gap in reversed(self.explained.gaps):
            at = sum(rank < gap.first for rank in ranks)
            merged.insert(at, Aside(self._say_gap(gap)))
        if merged:
            yield Grid("The list, rank by rank", tuple(columns), tuple(merged))
        elif not self.explained.is_missing:
            yield Sentence(("The list is empty.",))

    def _say_gap(self, gap: Gap) -> str:
        ranks = f"ranks {gap.first} to {gap.last}" if gap.last > gap.first else f"rank {gap.first}"
        if not gap.gains:
            return f"{ranks}: no {self.gain}"
        return f"{ranks}: not shown, {gap.gains} with a {self.gain}"

    def _ties(self, share: str) -> Iterator[Block]:
        rows = self.explained.rows
        if any(row.tie for row in rows):
            words = (
                "= marks documents of one score: each order of them is as likely as any other, so "
                f"that each of their ranks has {share}."
            )
            first, last = rows[-1].tie or (0, 0)
            if last > rows[-1].rank:
                words += f" Ranks {first} to {last} have one score, across the cutoff."
            yield Sentence((words,))

    def _others(self, below: str) -> Iterator[Block]:
        yield from self._documents(
            "Without a rank, for they are unjudged or have a negative grade: ",
            self.explained.removed,
        )
        yield from self._documents(below, self.explained.below)

    def _documents(self, words: str, documents: Documents) -> Iterator[Block]:
        if not documents.count:
            return
        named = documents.shown[:MOST_NAMED]
        parts: list[Inline] = [words]
        for at, document in enumerate(named):
            parts += [", "] * (at > 0) + self._describe(document)
        more = documents.count - len(named)
        yield Sentence((*parts, f", and {more} more." if more else "."))

    def _describe(self, document: Document) -> list[Inline]:
        grade = "unjudged" if math.isnan(document.grade) else f"grade {self._grade(document.grade)}"
        where = [] if document.rank is None else [f"rank {document.rank}"]
        if document.doc_id is None:
            return [", ".join([*where, grade]) if not where else f"{where[0]} ({grade})"]
        return [Id(document.doc_id), f" ({', '.join([grade, *where])})"]

    def _grade(self, grade: float) -> str:
        return "–" if math.isnan(grade) else write_number(grade, self.digits)

    def _orders(self) -> Iterator[Block]:
        explained = self.explained
        if explained.best is None or explained.worst is None:
            return
        columns = (
            Column("order", is_text=True),
            Column("grades", is_text=True),
            Column(self.name(self.kind)),
        )
        orders = {"this list": explained.order, "best": explained.best, "worst": explained.worst}
        rows = [
            (name, self._grades(order), self.number(order.value))
            for name, order in orders.items()
            if order is not None
        ]
        yield Grid("The retrieved documents in other orders", columns, tuple(rows))

    def _grades(self, order: Order) -> str:
        shown = [self._grade(grade) for grade in order.grades[:MOST_GRADES]]
        return " ".join([*shown, *(["…"] if len(order.grades) > MOST_GRADES else [])])

    def _equation(self, kind: str, steps: Sequence[tuple[Term, ...]]) -> Equation:
        name = self.name(kind)
        return Equation(name, rf"\mathrm{{{name}}}", tuple(steps))

    def _policy(self) -> Note:
        return Note(f"policy: {self.explained.policy}")


MISSING = {
    "zero": "that counts as an empty list",
    "skip": "the mean leaves it out",
    "error": "an evaluation refuses it",
}
EMPTY = {word: f"counts as {value:g}" for word, value in EMPTY_VALUES.items()} | {
    "skip": "is left out of the mean",
    "nan": "is NaN, and so is the mean",
    "error": "is refused by an evaluation",
}


def name_document(doc_id: str | None) -> Inline:
    """Return the cell of a document, empty if ids aren't known."""
    return "" if doc_id is None else Id(doc_id)

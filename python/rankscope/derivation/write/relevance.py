"""Turns an explanation of AP, RR, P or R into blocks."""

from __future__ import annotations

import math

from rankscope.derivation.write.blocks import Column, Equation, Sentence, Term
from rankscope.derivation.write.outline import Outline, name_document
from rankscope.derivation.write.terms import cut, list_relevant, list_values, write_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.derivation.explanation import RelevanceExplanation, RelevanceRow
    from rankscope.derivation.write.blocks import Block, Inline

ADDS = {
    "AP": "Each relevant document adds the precision at its rank, those not in the list add 0.",
    "RR": "The first relevant document counts, by one divided by its rank.",
    "P": "Each relevant document down to the cutoff counts 1.",
    "R": "Each relevant document down to the cutoff counts 1.",
}
SUMS = {"AP": "sum of precisions", "P": "relevant found", "R": "relevant found"}
DIVIDES = {
    "relevant": "relevant documents",
    "reachable": "relevant documents that have room down to the cutoff",
    "cutoff": "ranks down to the cutoff",
    "retrieved": "documents retrieved down to the cutoff",
    "found": "relevant documents found",
}


class RelevanceOutline(Outline):
    """The blocks of an explanation of AP, RR, P or R."""

    gain = "relevant document"

    explained: RelevanceExplanation

    def blocks(self) -> Iterator[Block]:
        """Return the blocks, in order."""
        yield self._head()
        yield self._define()
        if not self.explained.is_undefined:
            yield from self._equations()
        yield from self._undefined("no judged document is relevant")
        yield from self._list()
        yield from self._documents(
            "Judged as relevant, but never retrieved: ", self.explained.unretrieved
        )
        yield from self._orders()
        yield self._policy()

    def _define(self) -> Sentence:
        explained = self.explained
        rel = write_number(explained.rel, self.digits)
        known = {0: "no judged document is", 1: "one judged document is"}
        count = explained.relevant
        are = known.get(count, f"{count} judged documents are")
        return Sentence((f"A document is relevant from grade {rel} on; {are}. {ADDS[self.kind]}",))

    def _equations(self) -> Iterator[Block]:
        explained = self.explained
        terms = list_relevant(explained.measure, explained.rows, self.digits)
        is_whole = not any(gap.gains for gap in explained.gaps)
        if self.kind == "RR":
            steps = [tuple(terms)] if terms else []
            yield self._equation("RR", [*steps, (self.term(explained.value),)])
            return
        total = self.term(explained.total)
        if self.kind != "AP":
            written = write_number(explained.total, self.digits)
            total = Term(written, written)
        steps = [cut(terms, is_whole=is_whole)] if terms else []
        if self.kind == "AP" and len(terms) > 1:
            values = list_values([row.contribution for row in explained.rows], self.digits)
            steps.append(cut(values, is_whole=is_whole))
        name = SUMS[self.kind]
        if self.kind == "AP" or steps != [(total,)]:
            steps.append((total,))
        yield Equation(name, rf"\text{{{name}}}", tuple(steps))
        below = str(explained.denominator)
        divides = DIVIDES[str(explained.measure.parameters["denominator"])]
        words = Term(f"{name} / {divides}", rf"\frac{{\text{{{name}}}}}{{\text{{{divides}}}}}")
        numbers = Term(f"{total.text} / {below}", rf"\frac{{{total.latex}}}{{{below}}}")
        value = self.term(explained.value)
        yield self._equation(self.kind, [(words,), (numbers,), (value,)])

    def _list(self) -> Iterator[Block]:
        explained = self.explained
        rows = explained.rows
        has_ids = any(row.doc_id is not None for row in rows)
        columns = [
            Column("rank"),
            *([Column("document", is_text=True)] if has_ids else []),
            Column("grade"),
            Column("relevant"),
            Column("P"),
            Column("R"),
            *([] if self.kind in {"P", "R"} else [Column("adds")]),
        ]
        cells = [self._row(row, has_ids=has_ids) for row in rows]
        yield from self._table(columns, cells, [row.rank for row in rows])
        yield from self._ties("the share of the relevant ones among them")
        if any(math.isnan(row.grade) for row in rows):
            yield Sentence(("– stands for a document without a judgment: it is not relevant.",))
        yield from self._others("Relevant, but below the cutoff: ")

    def _row(self, row: RelevanceRow, *, has_ids: bool) -> tuple[Inline, ...]:
        cells: list[Inline] = [f"{row.rank}{'=' if row.tie else ''}"]
        if has_ids:
            cells.append(name_document(row.doc_id))
        relevant = {0.0: "no", 1.0: "yes"}.get(row.relevant, self.number(row.relevant))
        cells += [self._grade(row.grade), relevant]
        cells += [self.number(row.precision), self.number(row.recall)]
        if self.kind in {"AP", "RR"}:
            cells.append(self.number(row.contribution) if row.contribution else "")
        return tuple(cells)

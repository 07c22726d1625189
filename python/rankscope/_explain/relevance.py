"""The explanation of AP, RR, P and R, which count documents as relevant or not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rankscope._explain.explanation import DIGITS, Outline, QueryDerivation, Ranked, name_columns
from rankscope._explain.terms import (
    Block,
    Equation,
    Inline,
    Sentence,
    Term,
    cut,
    list_values,
    write_number,
    write_sum,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceRow(Ranked):
    """A rank of the list.

    Args:
        rank: The rank, from 1.
        doc_id: The document at it; `None` if ids aren't known.
        grade: Its grade, NaN if it is unjudged.
        relevant: 1 if the document is relevant, else 0; the share of the relevant documents among
            those tied here, if ties are averaged.
        precision: P down to this rank.
        recall: R down to this rank, NaN if it is undefined.
        contribution: What the rank adds to the sum that is divided.
        tie: The first and the last rank of the documents with this score, if ties are averaged and
            there are several.
    """

    grade: float
    relevant: float
    precision: float
    recall: float
    contribution: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RelevanceExplanation(QueryDerivation):
    """The derivation of AP, RR, P or R for one query, as `Rankings.explain` returns it.

    Args:
        measure: The measure.
        policy: The policy of the value.
        query_id: The query, or `None`.
        value: The value, NaN if the policy leaves the query out or refuses it.
        is_undefined: Whether the measure is undefined here, so that the policy sets the value.
        is_missing: Whether the query is not in the run.
        retrieved: The number of retrieved documents.
        relevant: The number of judged documents that are relevant.
        rel: The smallest grade that is relevant.
        total: The sum that is divided.
        denominator: What it is divided by; 0 if there is nothing to divide.
        rows: The ranks of the list.
        gaps: The ranks above the cutoff that aren't among them.
        below: Relevant documents that were retrieved below the cutoff.
        unretrieved: Relevant documents that were not retrieved.
        removed: Documents that the policy removes from the list first.
        order: The order of the list.
        best: The best order of the retrieved documents.
        worst: The worst one.
    """

    relevant: int
    rel: float
    total: float
    denominator: int
    rows: tuple[RelevanceRow, ...]

    @property
    def formula(self) -> str:
        """The value as a formula with numbers, such as `(1/1 + 2/3) / 4`."""
        if self.is_undefined:
            return "0 / 0"
        total = write_sum(_list_terms(self, None), is_whole=self.is_whole)
        return total if self.measure.row.name == "RR" else f"({total}) / {self.denominator}"

    def lay_out(self, digits: int = DIGITS) -> list[Block]:
        """Return the explanation as headings, sentences, equations and tables.

        Args:
            digits: The number of decimal places.
        """
        return list(_RelevanceOutline(self, digits).blocks())


def _list_terms(explained: RelevanceExplanation, digits: int | None) -> list[Term]:
    """Write the terms of relevant documents: precisions for AP, the first rank for RR, else 1."""
    kind, terms = explained.measure.row.name, []
    for row in explained.rows:
        if row.contribution == 0:
            continue
        if kind in {"AP", "RR"}:
            # The precision also counts relevant documents that are not shown.
            count = "1" if kind == "RR" else str(round(row.precision * row.rank))
            terms.append(Term(f"{count}/{row.rank}", rf"\frac{{{count}}}{{{row.rank}}}"))
        else:
            text = write_number(row.contribution, digits)
            terms.append(Term(text, text))
    return terms


ADDS = {
    "AP": "Each relevant document adds the precision at its rank, those not in the list add 0.",
    "RR": "The first relevant document counts, by one divided by its rank.",
    "P": "Each relevant document down to the cutoff counts 1.",
    "R": "Each relevant document down to the cutoff counts 1.",
}
DIVIDES = {
    "relevant": "relevant documents",
    "reachable": "relevant documents that have room down to the cutoff",
    "cutoff": "ranks down to the cutoff",
    "retrieved": "documents retrieved down to the cutoff",
    "found": "relevant documents found",
}


class _RelevanceOutline(Outline):
    """The blocks of an explanation of AP, RR, P or R."""

    gain = "relevant document"

    explained: RelevanceExplanation

    def blocks(self) -> Iterator[Block]:
        """Return the blocks, in order."""
        yield self.head()
        yield self._define()
        if not self.explained.is_undefined:
            yield from self._equations()
        yield from self.undefined("no judged document is relevant")
        yield from self._list()
        never = "Judged as relevant, but never retrieved: "
        yield from self.documents(never, self.explained.unretrieved)
        yield from self.orders()
        yield self.policy()

    def _define(self) -> Sentence:
        rel, count = write_number(self.explained.rel, self.digits), self.explained.relevant
        numbers = {0: "no judged document is", 1: "one judged document is"}
        are = numbers.get(count, f"{count} judged documents are")
        return Sentence((f"A document is relevant from grade {rel} on; {are}. {ADDS[self.kind]}",))

    def _equations(self) -> Iterator[Block]:
        explained = self.explained
        terms = _list_terms(explained, self.digits)
        value = (self.term(explained.value),)
        if self.kind == "RR":
            yield self.equation("RR", [*([tuple(terms)] if terms else []), value])
            return
        steps = [cut(terms, is_whole=explained.is_whole)] if terms else []
        if self.kind == "AP":
            name, total = "sum of precisions", self.term(explained.total)
            if len(terms) > 1:
                values = list_values([row.contribution for row in explained.rows], self.digits)
                steps.append(cut(values, is_whole=explained.is_whole))
        else:
            name, written = "relevant found", write_number(explained.total, self.digits)
            total = Term(written, written)
        if self.kind == "AP" or steps != [(total,)]:
            steps.append((total,))
        yield Equation(name, rf"\text{{{name}}}", tuple(steps))
        below = str(explained.denominator)
        divides = DIVIDES[str(explained.measure.parameters["denominator"])]
        words = Term(f"{name} / {divides}", rf"\frac{{\text{{{name}}}}}{{\text{{{divides}}}}}")
        numbers = Term(f"{total.text} / {below}", rf"\frac{{{total.latex}}}{{{below}}}")
        yield self.equation(self.kind, [(words,), (numbers,), value])

    def _list(self) -> Iterator[Block]:
        rows = self.explained.rows
        has_ids = any(row.doc_id is not None for row in rows)
        names = ["rank", "grade", "relevant", "P", "R", *["adds"] * (self.kind in {"AP", "RR"})]
        cells = [self._row(row, has_ids=has_ids) for row in rows]
        yield from self.table(name_columns(*names, has_ids=has_ids), cells)
        yield from self.ties("the share of the relevant ones among them")
        if any(math.isnan(row.grade) for row in rows):
            yield Sentence(("– stands for a document without a judgment: it is not relevant.",))
        yield from self.others("Relevant, but below the cutoff: ")

    def _row(self, row: RelevanceRow, *, has_ids: bool) -> tuple[Inline, ...]:
        relevant = {0.0: "no", 1.0: "yes"}.get(row.relevant, self.number(row.relevant))
        cells = [*self.start_row(row, has_ids=has_ids), self.grade(row.grade), relevant]
        cells += map(self.number, (row.precision, row.recall))
        if self.kind in {"AP", "RR"}:
            cells.append(self.number(row.contribution) if row.contribution else "")
        return tuple(cells)

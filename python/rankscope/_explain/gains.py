"""The explanation of a measure of cumulated gain: its terms, and how it reads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rankscope._explain.explanation import (
    DIGITS,
    Document,
    Outline,
    QueryDerivation,
    Ranked,
    name_columns,
    name_document,
)
from rankscope._explain.terms import (
    Aside,
    Block,
    Column,
    Equation,
    Grid,
    Inline,
    Math,
    Sentence,
    Term,
    cut,
    list_values,
    write_number,
    write_sum,
)
from rankscope.measures import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Ranked):
    """A rank of the list.

    Args:
        rank: The rank, from 1.
        doc_id: The document at it; `None` if there is none, or if ids aren't known.
        grade: Its grade; NaN if it is unjudged, `None` if there is no document.
        gain: The gain at this rank: of the grade, or the mean of the documents tied here.
        discount: What a gain of 1 is worth at this rank.
        contribution: What the gain is worth.
        cg: CG down to this rank.
        dcg: DCG down to this rank.
        idcg: IDCG down to this rank.
        ndcg: nDCG down to this rank, NaN if it is undefined.
        tie: The first and the last rank of the documents with this score, if ties are averaged and
            there are several.
    """

    grade: float | None
    gain: float
    discount: float
    contribution: float
    cg: float
    dcg: float
    idcg: float
    ndcg: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IdealRow:
    """A rank of the ideal list.

    Args:
        rank: The rank, from 1.
        doc_id: A document at it; `None` if there is none, or if ids aren't known.
        grade: Its grade, `None` if there is no document.
        gain: Its gain.
        discount: What a gain of 1 is worth at this rank.
        contribution: What the gain is worth.
        idcg: The sum down to this rank.
        found_at: The rank of the document in the list, or `None`.
    """

    rank: int
    doc_id: str | None
    grade: float | None
    gain: float
    discount: float
    contribution: float
    idcg: float
    found_at: int | None


@dataclass(frozen=True, slots=True)
class LossSplit:
    """The sources of the loss. The three add up to 1 - nDCG.

    Args:
        retrieval: For relevant documents that were never retrieved.
        truncation: For those that were retrieved below the cutoff.
        ordering: For the order above the cutoff.
    """

    retrieval: float
    truncation: float
    ordering: float


@dataclass(frozen=True, slots=True)
class BestSwap:
    """The two documents that gain most by changing places.

    Args:
        upper: The one that ranks too high.
        lower: The one that ranks too low.
        value: The value after the swap.
        gain: By how much that is larger.
    """

    upper: Document
    lower: Document
    value: float
    gain: float


@dataclass(frozen=True, slots=True)
class Between:
    """The sums of the worst and the best order, between which minmax normalizes."""

    worst: float
    best: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation(QueryDerivation):
    """The derivation of a measure of cumulated gain for one query, as `explain` returns it.

    Args:
        measure: The measure.
        policy: The policy of the value.
        query_id: The query, or `None`.
        value: The value, NaN if the policy leaves the query out or refuses it.
        is_undefined: Whether the measure is undefined here, so that the policy sets the value.
        is_missing: Whether the query is not in the run.
        retrieved: The number of retrieved documents.
        cg: CG of the list.
        dcg: DCG of the list.
        idcg: IDCG.
        gains: Each grade above the cutoff or in the ideal list, with its gain.
        rows: The ranks of the list.
        gaps: The ranks above the cutoff that aren't among them.
        ideal_rows: The ranks of the ideal list.
        ideal_size: The number of those, shown or not.
        below: Documents with a gain that were retrieved below the cutoff.
        unretrieved: Judged documents with a gain that were not retrieved.
        removed: Documents that the policy removes from the list first.
        order: The order of the list; an ideal has none.
        best: The best order of the retrieved documents.
        worst: The worst one.
        losses: The sources of the loss, if the measure is nDCG and defined.
        observes_retrieval: Whether the ideal may have documents that were not retrieved.
        swap: The swap that would gain most, if any does.
        between: The sums between which minmax normalizes, under that policy.
    """

    cg: float
    dcg: float
    idcg: float
    gains: tuple[tuple[float, float], ...]
    rows: tuple[Row, ...]
    ideal_rows: tuple[IdealRow, ...]
    ideal_size: int
    losses: LossSplit | None
    observes_retrieval: bool
    swap: BestSwap | None
    between: Between | None

    @property
    def is_ideal_whole(self) -> bool:
        """Whether every rank of the ideal list is among its rows."""
        return len(self.ideal_rows) == self.ideal_size

    @property
    def formula(self) -> str:
        """The value as a formula with numbers, such as `(4/log2(2)) / (5/log2(2))`."""
        measure = self.measure
        ideal_terms = _list_terms(measure, self.ideal_rows, None)
        ideal = write_sum(ideal_terms, is_whole=self.is_ideal_whole)
        if measure.row.name == "IDCG":
            return ideal
        own = write_sum(_list_terms(measure, self.rows, None), is_whole=self.is_whole)
        if measure.row.name != "nDCG":
            return own
        if self.between is None:
            return f"({own}) / ({ideal})"
        worst, best = (write_number(of, None) for of in (self.between.worst, self.between.best))
        return f"({own} - {worst}) / ({best} - {worst})"

    def lay_out(self, digits: int = DIGITS) -> list[Block]:
        """Return the explanation as headings, sentences, equations and tables.

        Args:
            digits: The number of decimal places.
        """
        return list(_GainOutline(self, digits).blocks())


def _list_terms(measure: Measure, rows: Iterable[Row | IdealRow], digits: int | None) -> list[Term]:
    """Write the discounted gains at ranks, without those that are 0."""
    return [_term(measure, row, digits) for row in rows if row.gain != 0]


def _term(measure: Measure, row: Row | IdealRow, digits: int | None) -> Term:
    gain, is_negative = write_number(abs(row.gain), digits), row.gain < 0
    if measure.row.name == "CG":
        return Term(gain, gain, is_negative)
    divisor = _write_divisor(measure, str(row.rank), str(row.rank + 1))
    if divisor is None:
        weight = write_number(row.discount, digits)
        sign = "*" if digits is None else "×"
        return Term(f"{gain} {sign} {weight}", rf"{gain} \cdot {weight}", is_negative)
    return Term(f"{gain}/{divisor.text}", rf"\frac{{{gain}}}{{{divisor.latex}}}", is_negative)


def _write_divisor(measure: Measure, rank: str, after: str) -> Math | None:
    """Write what a gain at a rank is divided by, `None` if ranks have weights."""
    discount, base, s = (measure.parameters.get(name) for name in ("discount", "base", "s"))
    if discount in {"log2", "log", "jk"}:
        log = _write_logarithm(base if isinstance(base, float) else 2.0)
        if discount == "jk":
            return Math(f"max(1, {log.text}({rank}))", rf"\max(1, {log.latex}({rank}))")
        return Math(f"{log.text}({after})", f"{log.latex}({after})")
    if discount == "zipf":
        power = write_number(s, None) if isinstance(s, float) else ""
        return Math(f"{rank}^{power}", f"{rank}^{{{power}}}")
    text = {"reciprocal": rank, "linear": after}.get(str(discount))
    return None if text is None else Math(text, text)


def _write_logarithm(base: float) -> Math:
    if base == math.e:
        return Math("ln", r"\ln")
    written = write_number(base, None)
    return Math(f"log{written}" if base in {2, 10} else f"log_{written}", rf"\log_{{{written}}}")


MOST_GAINS = 12
"""The most grades that are listed with their gains."""
RUNNING = ("CG", "DCG", "IDCG", "nDCG")
IDEALS = {
    "judged": "the judged documents in the best order",
    "retrieved": "the retrieved documents in the best order",
    "whole": "all judged documents in the best order, cut nowhere",
    "slots": "a gain of 1 at each rank",
}


class _GainOutline(Outline):
    """The blocks of an explanation of cumulated gain."""

    explained: Explanation

    def blocks(self) -> Iterator[Block]:
        """Return the blocks, in order."""
        yield self.head()
        yield self._define()
        yield from self._equations()
        yield from self.undefined(
            f"no judged document has a gain above 0, and {self.name('IDCG')} is 0"
            if self.explained.between is None
            else "the best order of what is judged is worth no more than the worst"
        )
        if self.kind != "IDCG":
            yield from self._list()
        if self.kind in {"nDCG", "IDCG"}:
            yield from self._ideal()
        yield from self.orders()
        yield from self._losses()
        yield from self._swap()
        yield self.policy()

    def _define(self) -> Sentence:
        parts = [*self._define_gain(), "."]
        if self.kind != "CG":
            share = Math("g × w(r)", r"g \cdot w_r")
            divisor = _write_divisor(self.explained.measure, "r", "r + 1")
            if divisor is not None:
                text = f"({divisor.text})" if divisor.text == "r + 1" else divisor.text
                share = Math(f"g/{text}", rf"\frac{{g}}{{{divisor.latex}}}")
            parts += [" A gain g at rank r counts ", share, "."]
        return Sentence(tuple(parts))

    def _define_gain(self) -> list[Inline]:
        gain = self.explained.measure.parameters["gain"]
        if gain == "linear":
            return ["The gain of a document is its grade"]
        if gain == "binary":
            return ["The gain of a document is 1 where its grade is above 0"]
        listed = [
            f"{write_number(worth, self.digits)} for grade {write_number(grade, self.digits)}"
            for grade, worth in self.explained.gains[:MOST_GAINS]
        ]
        listed += ["…"] * (len(self.explained.gains) > MOST_GAINS)
        values = f": {', '.join(listed)}" if listed else ""
        if gain == "exp2":
            power = Math("2^grade - 1", r"2^{\mathrm{grade}} - 1")
            return ["The gain of a document is ", power, values]
        return ["The gain of a document is given by its grade", values]

    def _equations(self) -> Iterator[Block]:
        explained = self.explained
        if self.kind in {"CG", "DCG", "nDCG"}:
            kind, total = ("CG", explained.cg) if self.kind == "CG" else ("DCG", explained.dcg)
            yield self._sum(kind, explained.rows, total, is_whole=explained.is_whole)
        if self.kind in {"IDCG", "nDCG"}:
            is_whole = explained.is_ideal_whole
            yield self._sum("IDCG", explained.ideal_rows, explained.idcg, is_whole=is_whole)
        if self.kind == "nDCG" and not explained.is_undefined:
            yield self._quotient()

    def _sum(
        self, kind: str, rows: Sequence[Row | IdealRow], total: float, *, is_whole: bool
    ) -> Equation:
        terms = _list_terms(self.explained.measure, rows, self.digits)
        steps = [cut(terms, is_whole=is_whole)] if terms else []
        values = list_values([row.contribution for row in rows], self.digits)
        if len(values) > 1 and kind != "CG":
            steps.append(cut(values, is_whole=is_whole))
        steps.append((self.term(total),))
        return self.equation(kind, steps)

    def _quotient(self) -> Equation:
        explained, between = self.explained, self.explained.between
        name, ideal = self.name("DCG"), self.name("IDCG")
        dcg, idcg = self.number(explained.dcg), self.number(explained.idcg)
        words, numbers = (name, ideal), (dcg, idcg)
        if between is not None:
            worst, best = self.number(between.worst), self.number(between.best)
            words = f"{name} - worst", "best - worst"
            numbers = f"{dcg} - {_bracket(worst)}", f"{best} - {_bracket(worst)}"
        upright = [re.sub(r"[A-Za-z]+(?:@\d+)?", r"\\mathrm{\g<0>}", word) for word in words]
        steps = [
            (Term(" / ".join(map(_bracket, texts)), rf"\frac{{{above}}}{{{below}}}"),)
            for texts, (above, below) in ((words, upright), (numbers, numbers))
        ]
        return self.equation(self.kind, [*steps, (self.term(explained.value),)])

    def _list(self) -> Iterator[Block]:
        explained, rows = self.explained, self.explained.rows
        has_ids = any(row.doc_id is not None for row in rows)
        running = {"CG": ("CG",), "DCG": ("CG", "DCG")}.get(self.kind, RUNNING)
        discounted = () if self.kind == "CG" else ("discount", "gain × discount")
        columns = name_columns("rank", "grade", "gain", *discounted, *running, has_ids=has_ids)
        yield from self.table(columns, [self._row(row, running, has_ids=has_ids) for row in rows])
        yield from self.ties("their mean gain")
        grades = [math.nan if row.grade is None else row.grade for row in rows]
        policy, has_ended = explained.policy, any(row.grade is None for row in rows)
        if any(row.grade is not None and math.isnan(row.grade) for row in rows):
            worth = policy.unjudged
            what = (
                "it has no gain"
                if isinstance(worth, str)
                else f"the policy gives it a gain of {write_number(float(worth), self.digits)}"
            )
            yield Sentence((f"– stands for a document without a judgment: {what}.",))
        if policy.negative == "nonrelevant" and any(grade < 0 for grade in grades):
            yield Sentence(("A negative grade has no gain (negative=nonrelevant).",))
        if has_ended and policy.missing_gain:
            gain = write_number(float(policy.missing_gain), self.digits)
            ending = f"each rank after its end has a gain of {gain}"
            yield Sentence((f"The list ends before the cutoff; {ending}.",))
        yield from self.others("With a gain, but below the cutoff: ")

    def _row(self, row: Row, running: Sequence[str], *, has_ids: bool) -> tuple[Inline, ...]:
        document = "(no document)" if row.grade is None else ""
        cells = self.start_row(row, has_ids=has_ids, document=document)
        cells.append("" if row.grade is None else self.grade(row.grade))
        cells.append(write_number(row.gain, self.digits))
        if self.kind != "CG":
            cells += [self.number(row.discount), self.number(row.contribution)]
        return (*cells, *(self.number(getattr(row, name.lower())) for name in running))

    def _ideal(self) -> Iterator[Block]:
        explained, shown = self.explained, self.explained.ideal_rows
        if not shown:
            return
        has_ids = any(row.doc_id is not None for row in shown)
        ideal = str(explained.measure.parameters["ideal"])
        has_docs = ideal != "slots"
        names = ["rank", *["grade"] * has_docs, "gain", "discount", "gain × discount", "IDCG"]
        names += ["retrieved at rank"] * has_docs
        rows: list[tuple[Inline, ...] | Aside] = []
        for row in shown:
            cells: list[Inline] = [str(row.rank)]
            cells += [name_document(row.doc_id)] * has_ids
            cells += [] if row.grade is None else [self.grade(row.grade)]
            cells.append(write_number(row.gain, self.digits))
            cells += map(self.number, (row.discount, row.contribution, row.idcg))
            cells += ["never" if row.found_at is None else str(row.found_at)] * has_docs
            rows.append(tuple(cells))
        if not explained.is_ideal_whole:
            rows.append(Aside(f"ranks {len(shown) + 1} to {explained.ideal_size}: not shown"))
        columns = name_columns(*names, has_ids=has_ids)
        yield Grid(f"The ideal list: {IDEALS[ideal]}", tuple(columns), tuple(rows))
        never = "Judged with a gain, but never retrieved: "
        yield from self.documents(never, explained.unretrieved)

    def _losses(self) -> Iterator[Block]:
        losses = self.explained.losses
        if losses is None:
            return
        retrieval = ("–", "not observable: only what was shown is judged")
        if self.explained.observes_retrieval:
            retrieval = (
                self.number(losses.retrieval),
                "relevant documents that were never retrieved",
            )
        rows = (
            retrieval,
            (self.number(losses.truncation), "relevant documents below the cutoff"),
            (self.number(losses.ordering), "the order above the cutoff"),
            (self.number(1 - self.explained.value), f"1 - {self.name(self.kind)}"),
        )
        columns = Column("loss"), Column("for", is_text=True)
        yield Grid("Where the loss comes from", columns, rows)

    def _swap(self) -> Iterator[Block]:
        swap = self.explained.swap
        if swap is not None:
            upper, lower = self.describe(swap.upper), self.describe(swap.lower)
            value, gain = self.number(swap.value), self.number(swap.gain)
            ending = f" makes {self.name(self.kind)} {value}, which is {gain} more."
            yield Sentence(("The swap that gains most: ", *upper, " with ", *lower, ending))
        elif self.explained.best is not None:
            yield Sentence(("No two documents would raise the value by changing places.",))


def _bracket(text: str) -> str:
    return f"({text})" if " " in text or text.startswith("-") else text

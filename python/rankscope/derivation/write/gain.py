"""Turns an explanation of cumulated gain into blocks."""

from __future__ import annotations

import math
import re

from rankscope.derivation.write.blocks import Aside, Column, Equation, Grid, Math, Sentence, Term
from rankscope.derivation.write.outline import Outline, name_document
from rankscope.derivation.write.terms import cut, list_terms, list_values, write_number, write_share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankscope.derivation.explanation import Explanation, IdealRow, Row
    from rankscope.derivation.write.blocks import Block, Inline

MOST_GAINS = 12
"""So many grades are listed with their gains."""


class GainOutline(Outline):
    """The blocks of an explanation of cumulated gain."""

    explained: Explanation

    def blocks(self) -> Iterator[Block]:
        """Return the blocks, in order."""
        yield self._head()
        yield from self._definitions()
        yield from self._equations()
        yield from self._undefined(
            f"no judged document has a gain above 0, and {self.name('IDCG')} is 0"
            if self.explained.between is None
            else "the best order of what is judged is worth no more than the worst"
        )
        if self.kind != "IDCG":
            yield from self._list()
        if self.kind in {"nDCG", "IDCG"}:
            yield from self._ideal()
        yield from self._orders()
        yield from self._losses()
        yield from self._swap()
        yield self._policy()

    def _definitions(self) -> Iterator[Block]:
        measure = self.explained.measure
        parts = [*self._define_gain(), "."]
        if self.kind != "CG":
            share = Math(write_share(measure), write_share(measure, is_latex=True))
            parts += [" A gain g at rank r counts ", share, "."]
        yield Sentence(tuple(parts))

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
        more = ["…"] if len(self.explained.gains) > MOST_GAINS else []
        values = f": {', '.join([*listed, *more])}" if listed else ""
        if gain == "exp2":
            power = Math("2^grade - 1", r"2^{\mathrm{grade}} - 1")
            return ["The gain of a document is ", power, values]
        return ["The gain of a document is given by its grade", values]

    def _equations(self) -> Iterator[Block]:
        explained = self.explained
        if self.kind == "CG":
            yield self._sum("CG", explained.rows, [], explained.cg, is_whole=self._is_whole())
            return
        if self.kind != "IDCG":
            values = [row.contribution for row in explained.rows]
            yield self._sum("DCG", explained.rows, values, explained.dcg, is_whole=self._is_whole())
        if self.kind == "DCG":
            return
        values = [row.contribution for row in explained.ideal_rows]
        is_whole = len(values) == explained.ideal_size
        yield self._sum("IDCG", explained.ideal_rows, values, explained.idcg, is_whole=is_whole)
        if self.kind == "nDCG" and not explained.is_undefined:
            yield self._quotient()

    def _is_whole(self) -> bool:
        """Check whether every rank with a gain is among the rows."""
        return not any(gap.gains for gap in self.explained.gaps)

    def _sum(
        self,
        kind: str,
        rows: Sequence[Row | IdealRow],
        values: Sequence[float],
        total: float,
        *,
        is_whole: bool,
    ) -> Equation:
        terms = list_terms(self.explained.measure, rows, self.digits)
        steps = [cut(terms, is_whole=is_whole)] if terms else []
        written = list_values(values, self.digits)
        if len(written) > 1:
            steps.append(cut(written, is_whole=is_whole))
        steps.append((self.term(total),))
        return self._equation(kind, steps)

    def _quotient(self) -> Equation:
        explained = self.explained
        value = explained.value
        between = explained.between
        steps = []
        if between is None:
            above, below = self.name("DCG"), self.name("IDCG")
            pairs = [
                (above, below, True),
                (self.number(explained.dcg), self.number(explained.idcg), False),
            ]
        else:
            above = f"{self.name('DCG')} - worst"
            dcg, worst = self.number(explained.dcg), self.number(between.worst)
            best = self.number(between.best)
            pairs = [
                (above, "best - worst", True),
                (f"{dcg} - {_bracket(worst)}", f"{best} - {_bracket(worst)}", False),
            ]
        for above, below, is_words in pairs:
            text = f"{_bracket(above)} / {_bracket(below)}"
            latex = rf"\frac{{{_words(above, is_words)}}}{{{_words(below, is_words)}}}"
            steps.append((Term(text, latex),))
        return self._equation(self.kind, [*steps, (self.term(value),)])

    def _list(self) -> Iterator[Block]:
        explained = self.explained
        has_ids = any(row.doc_id is not None for row in explained.rows)
        columns = [Column("rank"), *([Column("document", is_text=True)] if has_ids else [])]
        columns += [Column("grade"), Column("gain")]
        if self.kind != "CG":
            columns += [Column("discount"), Column("gain × discount")]
        running = {"CG": ("CG",), "DCG": ("CG", "DCG")}.get(self.kind, RUNNING)
        columns += [Column(name) for name in running]
        rows = [self._row(row, running, has_ids=has_ids) for row in explained.rows]
        yield from self._table(columns, rows, [row.rank for row in explained.rows])
        yield from self._notes_on_list()

    def _row(self, row: Row, running: Sequence[str], *, has_ids: bool) -> tuple[Inline, ...]:
        cells: list[Inline] = [f"{row.rank}{'=' if row.tie else ''}"]
        if has_ids:
            cells.append(name_document(row.doc_id) if row.grade is not None else "(no document)")
        grade = "" if row.grade is None else self._grade(row.grade)
        cells += [grade, write_number(row.gain, self.digits)]
        if self.kind != "CG":
            cells += [self.number(row.discount), self.number(row.contribution)]
        values = {"CG": row.cg, "DCG": row.dcg, "IDCG": row.idcg, "nDCG": row.ndcg}
        return (*cells, *(self.number(values[name]) for name in running))

    def _notes_on_list(self) -> Iterator[Block]:
        explained = self.explained
        rows = explained.rows
        yield from self._ties("their mean gain")
        if any(row.grade is not None and math.isnan(row.grade) for row in rows):
            worth = explained.policy.unjudged
            what = (
                f"the policy gives it a gain of {write_number(float(worth), self.digits)}"
                if not isinstance(worth, str)
                else "it has no gain"
            )
            yield Sentence((f"– stands for a document without a judgment: {what}.",))
        if explained.policy.negative == "nonrelevant" and any(
            row.grade is not None and row.grade < 0 for row in rows
        ):
            yield Sentence(("A negative grade has no gain (negative=nonrelevant).",))
        if any(row.grade is None for row in rows) and explained.policy.missing_gain:
            gain = write_number(float(explained.policy.missing_gain), self.digits)
            yield Sentence(
                (f"The list ends before the cutoff; each rank after its end has a gain of {gain}.",)
            )
        yield from self._others("With a gain, but below the cutoff: ")

    def _ideal(self) -> Iterator[Block]:
        explained = self.explained
        if not explained.ideal_rows:
            return
        has_ids = any(row.doc_id is not None for row in explained.ideal_rows)
        is_slot = explained.measure.parameters["ideal"] == "slots"
        columns = [
            Column("rank"),
            *([Column("document", is_text=True)] if has_ids else []),
            *([] if is_slot else [Column("grade")]),
            Column("gain"),
            Column("discount"),
            Column("gain × discount"),
            Column("IDCG"),
            *([] if is_slot else [Column("retrieved at rank")]),
        ]
        rows: list[tuple[Inline, ...] | Aside] = [
            (
                str(row.rank),
                *([name_document(row.doc_id)] if has_ids else []),
                *([] if row.grade is None else [self._grade(row.grade)]),
                write_number(row.gain, self.digits),
                self.number(row.discount),
                self.number(row.contribution),
                self.number(row.idcg),
                *([] if is_slot else ["never" if row.found_at is None else str(row.found_at)]),
            )
            for row in explained.ideal_rows
        ]
        shown = len(explained.ideal_rows)
        if shown < explained.ideal_size:
            rows.append(Aside(f"ranks {shown + 1} to {explained.ideal_size}: not shown"))
        ideal = str(explained.measure.parameters["ideal"])
        yield Grid(f"The ideal list: {IDEALS[ideal]}", tuple(columns), tuple(rows))
        yield from self._documents(
            "Judged with a gain, but never retrieved: ", explained.unretrieved
        )

    def _losses(self) -> Iterator[Block]:
        losses = self.explained.losses
        if losses is None:
            return
        columns = (Column("loss"), Column("for", is_text=True))
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
        yield Grid("Where the loss comes from", columns, rows)

    def _swap(self) -> Iterator[Block]:
        explained = self.explained
        swap = explained.swap
        if swap is None:
            if explained.best is not None:
                yield Sentence(("No two documents would raise the value by changing places.",))
            return
        name = self.name(self.kind)
        yield Sentence(
            (
                "The swap that gains most: ",
                *self._describe(swap.upper),
                " with ",
                *self._describe(swap.lower),
                f" makes {name} {self.number(swap.value)}, which is {self.number(swap.gain)} more.",
            )
        )


RUNNING = ("CG", "DCG", "IDCG", "nDCG")

IDEALS = {
    "judged": "the judged documents in the best order",
    "retrieved": "the retrieved documents in the best order",
    "whole": "all judged documents in the best order, cut nowhere",
    "slots": "a gain of 1 at each rank",
}


def _bracket(text: str) -> str:
    return f"({text})" if " " in text or text.startswith("-") else text


def _words(text: str, is_words: bool) -> str:
    if not is_words:
        return text
    return re.sub(r"[A-Za-z]+(?:@\d+)?", lambda match: rf"\mathrm{{{match[0]}}}", text)

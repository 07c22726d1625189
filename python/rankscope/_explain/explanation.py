"""What all explanations of values share: how they are written, and the parts of their layout."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from rankscope._core import EMPTY_VALUES
from rankscope._explain import html, latex, markdown, text
from rankscope._explain.terms import (
    Aside,
    Block,
    Column,
    Equation,
    Grid,
    Heading,
    Id,
    Inline,
    Note,
    Sentence,
    Term,
    write_fixed,
    write_number,
)
from rankscope._settings import Policy
from rankscope.measures import Measure

DIGITS = 4
"""The number of decimal places (default)."""
LIMIT = 50
"""The number of ranks to show (default)."""


class Derivation(ABC):
    """A value with the terms it is made of: the base of all explanations."""

    __slots__ = ()

    @property
    @abstractmethod
    def formula(self) -> str:
        """The value as a formula with the numbers filled in."""

    @abstractmethod
    def lay_out(self, digits: int = DIGITS) -> list[Block]:
        """Return the explanation as headings, sentences, equations and tables.

        Args:
            digits: The number of decimal places.
        """

    def to_text(self, digits: int = DIGITS) -> str:
        """Return the explanation as plain text.

        Args:
            digits: The number of decimal places.
        """
        return text.render(self.lay_out(digits))

    def to_markdown(self, digits: int = DIGITS) -> str:
        """Return the explanation as Markdown with tables.

        Args:
            digits: The number of decimal places.
        """
        return markdown.render(self.lay_out(digits))

    def to_latex(self, digits: int = DIGITS) -> str:
        """Return the explanation as LaTeX, for a document that uses amsmath.

        Args:
            digits: The number of decimal places.
        """
        return latex.render(self.lay_out(digits))

    def to_html(self, digits: int = DIGITS, *, is_page: bool = False) -> str:
        """Return the explanation as a self-contained piece of HTML with its own style.

        Args:
            digits: The number of decimal places.
            is_page: Whether to write a whole page, and not a piece of one.
        """
        write = html.render_page if is_page else html.render
        return write(self.lay_out(digits))

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as values that JSON can hold. NaN becomes `None`."""
        return {**_to_plain(self), "formula": self.formula}  # type: ignore[dict-item]  # a record is a dict

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def _to_plain(value: object) -> object:
    """Return a record as a mapping. Measures become names, and NaN becomes `None`."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple | list):
        return [_to_plain(item) for item in value]
    if isinstance(value, Measure):
        return value.name
    if isinstance(value, Policy):
        return value.to_dict()
    return {field.name: _to_plain(getattr(value, field.name)) for field in fields(value)}  # type: ignore[arg-type]  # a record


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A rank of a list, with its document and the first and last rank of its tie."""

    rank: int
    doc_id: str | None
    tie: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document that isn't part of the sums.

    Args:
        doc_id: Its id, or `None` if ids aren't known.
        grade: Its grade, NaN if it is unjudged.
        gain: Its gain.
        rank: The rank at which it was retrieved, or `None`.
    """

    doc_id: str | None
    grade: float
    gain: float
    rank: int | None


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents that aren't part of the sums: those with the largest gains, and how many in all."""

    shown: tuple[Document, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the retrieved documents: its value, and its grades down to the cutoff."""

    value: float
    grades: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """A range of ranks that aren't shown, and how many of them have a gain."""

    first: int
    last: int
    gains: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDerivation(Derivation):
    """The derivation of a measure for one query."""

    measure: Measure
    policy: Policy
    query_id: str | None
    value: float
    is_undefined: bool
    is_missing: bool
    retrieved: int
    rows: tuple[Ranked, ...]
    gaps: tuple[Gap, ...]
    below: Documents
    unretrieved: Documents
    removed: Documents
    order: Order | None
    best: Order | None
    worst: Order | None

    @property
    def is_whole(self) -> bool:
        """Whether every rank with a gain is among the rows."""
        return not any(gap.gains for gap in self.gaps)

    def __repr__(self) -> str:
        where = "" if self.query_id is None else f", query {self.query_id!r}"
        return f"{type(self).__name__}({self.measure}{where}, value {self.value:.{DIGITS}f})"


MOST_NAMED = 10
"""The most documents that are named in a sentence."""
MOST_GRADES = 24
"""The most grades of an order that are shown."""
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


class Outline:
    """The blocks that the explanations of all measures have."""

    gain = "gain"
    """What a rank may have."""

    def __init__(self, explained: QueryDerivation, digits: int) -> None:
        self.explained = explained
        self.digits = digits
        self.kind = explained.measure.row.name

    def number(self, value: float) -> str:
        """Write a value with all its decimals, a dash if it is undefined."""
        return write_fixed(value, self.digits)

    def term(self, value: float) -> Term:
        """Return a value as the only term of a sum."""
        return Term(self.number(value), self.number(value))

    def name(self, kind: str) -> str:
        """Return the name of another measure with the same cutoff."""
        k = self.explained.measure.k
        return kind if k is None else f"{kind}@{k}"

    def head(self) -> Heading:
        """Return the measure, its value and the query."""
        explained = self.explained
        query: tuple[Inline, ...] = ()
        if explained.query_id is not None:
            query = (" for query ", Id(explained.query_id))
        if math.isnan(explained.value):
            return Heading((f"{explained.measure} has no value", *query))
        return Heading((f"{explained.measure} = {self.number(explained.value)}", *query))

    def undefined(self, why: str) -> Iterator[Block]:
        """Say what the policy makes of a missing query, and of an undefined value."""
        policy = self.explained.policy
        if self.explained.is_missing:
            what = MISSING[policy.missing]
            yield Sentence((f"The query is not in the run: {what} (missing={policy.missing}).",))
        if self.explained.is_undefined:
            what = EMPTY[policy.empty]
            name = self.name(self.kind)
            yield Sentence((f"{name} is undefined: {why}. It {what} (empty={policy.empty}).",))

    def table(
        self, columns: Sequence[Column], cells: Sequence[tuple[Inline, ...]]
    ) -> Iterator[Block]:
        """Return the table of the list, with remarks in place of ranks that aren't shown."""
        rows = self.explained.rows
        merged: list[tuple[Inline, ...] | Aside] = [*cells]
        for gap in reversed(self.explained.gaps):
            at = sum(row.rank < gap.first for row in rows)
            merged.insert(at, Aside(self._describe_gap(gap)))
        if merged:
            yield Grid("The list, rank by rank", tuple(columns), tuple(merged))
        elif not self.explained.is_missing:
            yield Sentence(("The list is empty.",))

    def _describe_gap(self, gap: Gap) -> str:
        ranks = f"ranks {gap.first} to {gap.last}" if gap.last > gap.first else f"rank {gap.first}"
        if not gap.gains:
            return f"{ranks}: no {self.gain}"
        return f"{ranks}: not shown, {gap.gains} with a {self.gain}"

    def start_row(self, row: Ranked, *, has_ids: bool, document: str = "") -> list[Inline]:
        """Return the cells of a rank, marked if it is tied, and of its document."""
        rank = f"{row.rank}{'=' if row.tie else ''}"
        return [rank, document or name_document(row.doc_id)] if has_ids else [rank]

    def ties(self, share: str) -> Iterator[Block]:
        """Explain the mark of tied documents."""
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

    def others(self, below: str) -> Iterator[Block]:
        """Name the retrieved documents that aren't in the table."""
        removed = "Without a rank, for they are unjudged or have a negative grade: "
        yield from self.documents(removed, self.explained.removed)
        yield from self.documents(below, self.explained.below)

    def documents(self, words: str, documents: Documents) -> Iterator[Block]:
        """Name documents, if there are any."""
        if not documents.count:
            return
        named = documents.shown[:MOST_NAMED]
        parts: list[Inline] = [words]
        for at, document in enumerate(named):
            parts += [", "] * (at > 0) + self.describe(document)
        more = documents.count - len(named)
        yield Sentence((*parts, f", and {more} more." if more else "."))

    def describe(self, document: Document) -> list[Inline]:
        """Return a document with its grade and its rank."""
        grade = "unjudged" if math.isnan(document.grade) else f"grade {self.grade(document.grade)}"
        rank = "" if document.rank is None else f"rank {document.rank}"
        if document.doc_id is None:
            return [f"{rank} ({grade})" if rank else grade]
        return [Id(document.doc_id), f" ({grade}, {rank})" if rank else f" ({grade})"]

    def grade(self, grade: float) -> str:
        """Write a grade, a dash if there is none."""
        return "–" if math.isnan(grade) else write_number(grade, self.digits)

    def orders(self) -> Iterator[Block]:
        """Compare the list with the best and the worst order of its documents."""
        explained = self.explained
        if explained.best is None or explained.worst is None:
            return
        names = ("order", "grades")
        columns = (*(Column(name, is_text=True) for name in names), Column(self.name(self.kind)))
        orders = {"this list": explained.order, "best": explained.best, "worst": explained.worst}
        rows = []
        for name, order in orders.items():
            if order is not None:
                grades = [*map(self.grade, order.grades[:MOST_GRADES])]
                grades += ["…"] * (len(order.grades) > MOST_GRADES)
                rows.append((name, " ".join(grades), self.number(order.value)))
        yield Grid("The retrieved documents in other orders", columns, tuple(rows))

    def equation(self, kind: str, steps: Sequence[tuple[Term, ...]]) -> Equation:
        """Return what a measure equals, step by step."""
        name = self.name(kind)
        return Equation(name, rf"\mathrm{{{name}}}", tuple(steps))

    def policy(self) -> Note:
        """Return the policy."""
        return Note(f"policy: {self.explained.policy}")


def name_document(doc_id: str | None) -> Inline:
    """Return the cell of a document, empty if ids aren't known."""
    return "" if doc_id is None else Id(doc_id)


def name_columns(*names: str, has_ids: bool) -> list[Column]:
    """Return columns of numbers, with that of documents in second place if ids are known."""
    columns = [Column(name) for name in names]
    return [columns[0], Column("document", is_text=True), *columns[1:]] if has_ids else columns

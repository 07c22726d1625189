"""The explanations of values, as records that write themselves in four formats."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from rankscope.measures import Measure
from rankscope.records import record
from rankscope.settings.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.derivation.write.blocks import Block


DIGITS = 4
"""Places after the point, unless others are asked for."""


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
            digits: Places after the point.
        """

    def to_text(self, digits: int = DIGITS) -> str:
        """Return the explanation as plain text.

        Args:
            digits: Places after the point.
        """
        from rankscope.derivation.write import text  # noqa: PLC0415 - only where asked for

        return text.render(self.lay_out(digits))

    def to_markdown(self, digits: int = DIGITS) -> str:
        """Return the explanation as Markdown with tables.

        Args:
            digits: Places after the point.
        """
        from rankscope.derivation.write import markdown  # noqa: PLC0415 - only where asked for

        return markdown.render(self.lay_out(digits))

    def to_latex(self, digits: int = DIGITS) -> str:
        """Return the explanation as LaTeX, for a document that uses amsmath.

        Args:
            digits: Places after the point.
        """
        from rankscope.derivation.write import latex  # noqa: PLC0415 - only where asked for

        return latex.render(self.lay_out(digits))

    def to_html(self, digits: int = DIGITS, *, is_page: bool = False) -> str:
        """Return the explanation as a self-contained piece of HTML with its own style.

        Args:
            digits: Places after the point.
            is_page: Whether to write a whole page, and not a piece of one.
        """
        from rankscope.derivation.write import html  # noqa: PLC0415 - only where asked for

        write = html.render_page if is_page else html.render
        return write(self.lay_out(digits))

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as values that JSON can hold. NaN becomes `None`."""
        return {**to_plain(self), "formula": self.formula}  # type: ignore[dict-item]  # a record is a dict

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def to_plain(value: object) -> object:
    """Return a record as a mapping. Measures become names, and NaN becomes `None`."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, Measure):
        return value.name
    if isinstance(value, Policy):
        return value.to_dict()
    names: tuple[str, ...] = getattr(type(value), "__match_args__", ())
    return {name: to_plain(getattr(value, name)) for name in names}


LIMIT = 50
"""So many ranks are shown, unless others are asked for."""


@record(frozen=True, slots=True, kw_only=True)
class Row:
    """A rank of the list.

    Args:
        rank: The rank, from 1.
        doc_id: The document at it; `None` where there is none, or where ids are not known.
        grade: Its grade; NaN where unjudged, `None` where there is no document.
        gain: The gain at this rank: of the grade, or the mean of the documents tied here.
        discount: What a gain of 1 is worth at this rank.
        contribution: What the gain is worth.
        cg: CG down to this rank.
        dcg: DCG down to this rank.
        idcg: IDCG down to this rank.
        ndcg: nDCG down to this rank, NaN where undefined.
        tie: The first and the last rank of the documents of this score, where ties are averaged
            and there are several.
    """

    rank: int
    doc_id: str | None
    grade: float | None
    gain: float
    discount: float
    contribution: float
    cg: float
    dcg: float
    idcg: float
    ndcg: float
    tie: tuple[int, int] | None = None


@record(frozen=True, slots=True, kw_only=True)
class IdealRow:
    """A rank of the ideal list.

    Args:
        rank: The rank, from 1.
        doc_id: A document at it; `None` where there is none, or where ids are not known.
        grade: Its grade; NaN where unjudged, `None` where there is no document.
        gain: Its gain.
        discount: What a gain of 1 is worth at this rank.
        contribution: What the gain is worth.
        idcg: The sum down to this rank.
        found_at: Where the list has the document, or `None`.
    """

    rank: int
    doc_id: str | None
    grade: float | None
    gain: float
    discount: float
    contribution: float
    idcg: float
    found_at: int | None


@record(frozen=True, slots=True)
class Document:
    """A document that isn't part of the sums.

    Args:
        doc_id: What it is called, or `None`.
        grade: Its grade, NaN where unjudged.
        gain: Its gain.
        rank: Where it was retrieved, or `None`.
    """

    doc_id: str | None
    grade: float
    gain: float
    rank: int | None


@record(frozen=True, slots=True)
class Documents:
    """Documents that aren't part of the sums, as many as are shown.

    Args:
        shown: Those of the largest gains.
        count: How many there are in all.
    """

    shown: tuple[Document, ...]
    count: int


@record(frozen=True, slots=True)
class Order:
    """An order of the retrieved documents.

    Args:
        value: Its value.
        grades: Its grades down to the cutoff, best rank first.
    """

    value: float
    grades: tuple[float, ...]


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class BestSwap:
    """The two documents that gain most by changing places.

    Args:
        upper: The one that stands too high.
        lower: The one that stands too low.
        value: The value after the swap.
        gain: By how much that is larger.
    """

    upper: Document
    lower: Document
    value: float
    gain: float


@record(frozen=True, slots=True)
class Gap:
    """A range of ranks that aren't shown.

    Args:
        first: The first of them.
        last: The last of them.
        gains: How many of them have a gain.
    """

    first: int
    last: int
    gains: int


@record(frozen=True, slots=True)
class Between:
    """The bounds between which minmax normalizes the sum.

    Args:
        worst: The sum of the worst order of what is judged.
        best: That of the best order.
    """

    worst: float
    best: float


@record(frozen=True, slots=True, kw_only=True)
class Explanation(Derivation):
    """The derivation of a measure of cumulated gain for one query, as `explain` returns it.

    Args:
        measure: The measure.
        policy: The policy under which the value was made.
        query_id: The query, or `None`.
        value: The value, NaN where the policy leaves the query out or refuses it.
        is_undefined: Whether the measure is undefined here, so that the policy makes the value.
        is_missing: Whether the query is not in the run.
        retrieved: How many documents were retrieved.
        cg: CG of the list.
        dcg: DCG of the list.
        idcg: IDCG.
        gains: Each grade above the cutoff or in the ideal list, with its gain.
        rows: The ranks of the list.
        gaps: The ranks above the cutoff that are not among them.
        ideal_rows: The ranks of the ideal list.
        ideal_size: How many of those there are, shown or not.
        below: Documents with a gain that were retrieved below the cutoff.
        unretrieved: Judged documents with a gain that were not retrieved.
        removed: Documents that the policy takes out of the list first.
        order: The order of the list; of an ideal there is none.
        best: The best order of the retrieved documents.
        worst: The worst one.
        losses: Where the loss comes from, if the measure is nDCG and defined.
        observes_retrieval: Whether the ideal may have documents that were not retrieved.
        swap: The swap that would gain most, if one would.
        between: What minmax puts the sum between, if the policy says so.
    """

    measure: Measure
    policy: Policy
    query_id: str | None
    value: float
    is_undefined: bool
    is_missing: bool
    retrieved: int
    cg: float
    dcg: float
    idcg: float
    gains: tuple[tuple[float, float], ...]
    rows: tuple[Row, ...]
    gaps: tuple[Gap, ...]
    ideal_rows: tuple[IdealRow, ...]
    ideal_size: int
    below: Documents
    unretrieved: Documents
    removed: Documents
    order: Order | None
    best: Order | None
    worst: Order | None
    losses: LossSplit | None
    observes_retrieval: bool
    swap: BestSwap | None
    between: Between | None

    @property
    def formula(self) -> str:
        """The value as a formula with numbers, such as `(4/log2(2)) / (5/log2(2))`."""
        from rankscope.derivation.write.terms import write_formula  # noqa: PLC0415 - only where asked for

        return write_formula(self)

    def lay_out(self, digits: int = DIGITS) -> list[Block]:
        """Return the explanation as headings, sentences, equations and tables.

        Args:
            digits: Places after the point.
        """
        from rankscope.derivation.write import gain as gain_outline  # noqa: PLC0415 - only where asked for

        return list(gain_outline.GainOutline(self, digits).blocks())

    def __repr__(self) -> str:
        where = "" if self.query_id is None else f", query {self.query_id!r}"
        return f"Explanation({self.measure}{where}, value {self.value:.{DIGITS}f})"


@record(frozen=True, slots=True, kw_only=True)
class RelevanceRow:
    """A rank of the list.

    Args:
        rank: The rank, from 1.
        doc_id: The document at it; `None` where ids are not known.
        grade: Its grade, NaN where unjudged.
        relevant: 1 where the document is relevant, else 0; the share of the relevant documents
            among those tied here, where ties are averaged.
        precision: P down to this rank.
        recall: R down to this rank, NaN where undefined.
        contribution: What the rank adds to the sum that is divided.
        tie: The first and the last rank of the documents of this score, where ties are averaged
            and there are several.
    """

    rank: int
    doc_id: str | None
    grade: float
    relevant: float
    precision: float
    recall: float
    contribution: float
    tie: tuple[int, int] | None = None


@record(frozen=True, slots=True, kw_only=True)
class RelevanceExplanation(Derivation):
    """The derivation of AP, RR, P or R for one query, as `Rankings.explain` returns it.

    Args:
        measure: The measure.
        policy: The policy under which the value was made.
        query_id: The query, or `None`.
        value: The value, NaN where the policy leaves the query out or refuses it.
        is_undefined: Whether the measure is undefined here, so that the policy makes the value.
        is_missing: Whether the query is not in the run.
        retrieved: How many documents were retrieved.
        relevant: How many judged documents are relevant.
        rel: The smallest grade that is relevant.
        total: The sum that is divided.
        denominator: What it is divided by; 0 where there is nothing to divide.
        rows: The ranks of the list.
        gaps: The ranks above the cutoff that are not among them.
        below: Relevant documents that were retrieved below the cutoff.
        unretrieved: Relevant documents that were not retrieved.
        removed: Documents that the policy takes out of the list first.
        order: The order of the list.
        best: The best order of the retrieved documents.
        worst: The worst one.
    """

    measure: Measure
    policy: Policy
    query_id: str | None
    value: float
    is_undefined: bool
    is_missing: bool
    retrieved: int
    relevant: int
    rel: float
    total: float
    denominator: int
    rows: tuple[RelevanceRow, ...]
    gaps: tuple[Gap, ...]
    below: Documents
    unretrieved: Documents
    removed: Documents
    order: Order | None
    best: Order | None
    worst: Order | None

    @property
    def formula(self) -> str:
        """The value as a formula with numbers, such as `(1/1 + 2/3) / 4`."""
        from rankscope.derivation.write.terms import write_relevance  # noqa: PLC0415 - only where asked for

        return write_relevance(self)

    def lay_out(self, digits: int = DIGITS) -> list[Block]:
        """Return the explanation as headings, sentences, equations and tables.

        Args:
            digits: Places after the point.
        """
        from rankscope.derivation.write import relevance as relevance_outline  # noqa: PLC0415 - only where asked for

        return list(relevance_outline.RelevanceOutline(self, digits).blocks())

    def __repr__(self) -> str:
        where = "" if self.query_id is None else f", query {self.query_id!r}"
        return f"RelevanceExplanation({self.measure}{where}, value {self.value:.{DIGITS}f})"

"""The explanation of a value of cumulated gain, as records."""

from __future__ import annotations

from rankscope.derivation.derivation import DIGITS, Derivation
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.derivation.write.blocks import Block
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy

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

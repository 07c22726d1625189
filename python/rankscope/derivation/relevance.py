"""The explanation of a value of AP, RR, P or R, as records."""

from __future__ import annotations

from rankscope.derivation.derivation import DIGITS, Derivation
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.derivation.explanation import Documents, Gap, Order
    from rankscope.derivation.write.blocks import Block
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy


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

"""One ranked query as plain data, the input of a derivation."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.settings.policy import Ties


@record(frozen=True, slots=True, kw_only=True)
class RankedQuery:
    """One query in rank order, with its judgments.

    Args:
        query_id: What it is called, or `None`.
        docs: What the retrieved documents are called, in rank order, or `None`.
        grades: Their grades, NaN where unjudged.
        scores: Their scores; equal ones are tied where `ties` is `"average"`.
        ties: What decided between equal scores.
        judged: The grades of all judged documents, retrieved or not.
        judged_docs: What those are called, or `None`.
        sees_all: Whether documents are judged that were not retrieved, as far as there are any.
        is_missing: Whether the query is not in the run.
    """

    query_id: str | None
    docs: Sequence[str] | None
    grades: Sequence[float]
    scores: Sequence[float]
    ties: Ties
    judged: Sequence[float]
    judged_docs: Sequence[str] | None
    sees_all: bool
    is_missing: bool = False

    def name(self, row: int) -> str | None:
        """Return the id of the document of a row, if it is known."""
        return None if self.docs is None else self.docs[row]

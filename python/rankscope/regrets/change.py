"""The regrets of documents before and after, by an attribute of the documents."""

from __future__ import annotations

from rankscope.output.table import name_rows
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.output.table import Table

COLUMNS = (
    "value",
    "documents before",
    "documents after",
    "regret before",
    "regret after",
    "adds",
)


@record(frozen=True, slots=True, kw_only=True)
class RegretChange:
    """The regrets of documents before and after, by an attribute of the documents.

    The regret of a document is what its gain contributes in the ideal order minus what it
    contributes at its rank, as a share of the ideal. The regrets of a query add up to its
    truncation and ordering losses.

    Args:
        attribute: The attribute of the documents.
        slice: The queries: `all`, or a slice that is a cause.
        total: The sum of `adds`: the contribution of truncation and ordering to the change, as in
            `Decomposition.losses` or, for a slice, `SliceChange.losses`.
        table: One row per value of the attribute, largest contribution to a drop first: the number
            of `documents` with a gain, their mean `regret` per query before and after, and the
            contribution to the change (`adds`).
    """

    attribute: str
    slice: str
    total: float
    table: Table

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "attribute": self.attribute,
            "slice": self.slice,
            "total": self.total,
            "values": name_rows(self.table),
        }

"""What documents cost before and after, by one of their attributes."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.results.table import Table

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
    """What documents cost by where they stand, before and after.

    The regret of a document is what its gain is worth in the ideal order less what it is worth
    where it stands, as a share of the ideal. The regrets of a query add up to what it loses by
    truncation and by ordering.

    Args:
        attribute: What documents are told apart by.
        slice: Whose documents: `all`, or those of a slice that is a cause.
        total: What `adds` adds up to: what truncation and ordering add to the change but for the
            mix of slices, as in `Decomposition.losses` or, of a slice, `SliceChange.losses`.
        table: One row a value, those first that add most to a fall: how many `documents` have a
            gain, their mean `regret` by query before and after, and what that `adds` to the change.
    """

    attribute: str
    slice: str
    total: float
    table: Table

    def to_dict(self) -> dict[str, object]:
        """Give all of it as dicts and lists."""
        names = self.table.names
        return {
            "attribute": self.attribute,
            "slice": self.slice,
            "total": self.total,
            "values": [dict(zip(names, row, strict=True)) for row in self.table.rows()],
        }

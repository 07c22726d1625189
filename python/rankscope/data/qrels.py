"""Judgments held in memory, read once and used for many runs."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope._core import Judgments


@record(frozen=True, slots=True)
class Qrels:
    """The judgments of many queries; `read_qrels` makes it, `evaluate` takes it.

    Args:
        judgments: The core's tables.
        name: What messages call it.
        duplicates: What was done with documents judged twice.
    """

    judgments: Judgments
    name: str
    duplicates: str = "error"

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}, {len(self.query_ids)} queries)"

    @property
    def query_ids(self) -> list[str]:
        """The identifiers of the queries, in first-seen order."""
        return self.judgments.query_ids()

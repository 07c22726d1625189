"""Judgments held in memory, read once and used for many runs."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rankscope._core import Judgments


@record(frozen=True, slots=True)
class Queries:
    """The judged queries of an evaluation, as results need them.

    Args:
        name: What messages call the judgments.
        duplicates: What was done with documents judged twice.
        read_ids: Gives the identifiers, in first-seen order.
        notes: Code, count and first line of what was suspicious in the judgments.
    """

    name: str
    duplicates: str
    read_ids: Callable[[], list[str]]
    notes: tuple[tuple[str, int, int], ...] = ()


@record(frozen=True, slots=True)
class Qrels:
    """The judgments of many queries; `read_qrels` makes it, `evaluate` takes it.

    Args:
        judgments: The core's tables.
        name: What messages call it.
        duplicates: What was done with documents judged twice.
        notes: Code, count and first line of what was suspicious in them.
    """

    judgments: Judgments
    name: str
    duplicates: str = "error"
    notes: tuple[tuple[str, int, int], ...] = ()

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}, {len(self.query_ids)} queries)"

    @property
    def query_ids(self) -> list[str]:
        """The identifiers of the queries, in first-seen order."""
        return self.judgments.query_ids()

    @property
    def queries(self) -> Queries:
        """The queries, as results need them."""
        return Queries(self.name, self.duplicates, self.judgments.query_ids, self.notes)

"""Judgments held in memory, read once and used for many runs."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope._core import Judgments


@dataclass(frozen=True, slots=True)
class Qrels:
    """The judgments of many queries; `read_qrels` makes it, `evaluate` takes it.

    Args:
        judgments: The core's tables.
        name: What messages call it.
        duplicates: What was done with documents judged twice.
    """

    judgments: Judgments = field(repr=False)
    name: str
    duplicates: str = "error"

    @property
    def query_ids(self) -> list[str]:
        """The identifiers of the queries, in first-seen order."""
        return self.judgments.query_ids()

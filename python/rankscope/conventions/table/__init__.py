"""The table of conventions, in the order in which they are listed."""

from __future__ import annotations

from rankscope.conventions.table import learning, recommending, trec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.conventions.spec import Convention

TABLE: tuple[Convention, ...] = (*trec.ROWS, *learning.ROWS, *recommending.ROWS)
"""Of several versions, the newest one that was run comes first: its name alone means it."""

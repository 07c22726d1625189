"""The table of conventions, in the order in which they are listed."""

from __future__ import annotations

from rankscope.conventions.table import (
    boosting,
    learning,
    recommending,
    serving,
    toolkits,
    trec,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.conventions.spec import Convention

TABLE: tuple[Convention, ...] = (
    *trec.ROWS,
    *toolkits.ROWS,
    *learning.ROWS,
    *boosting.ROWS,
    *recommending.ROWS,
    *serving.ROWS,
)

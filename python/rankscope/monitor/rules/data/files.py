"""Watches for files of a data lake that can't be read."""

from __future__ import annotations

from rankscope.monitor.rules.data.counts import TOTAL
from rankscope.monitor.rules.data.progress import Anomaly
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.store.records import LeftOut

MOST_NAMED = 3


def watch_files(left_out: Sequence[LeftOut], moment: int, known: Anomaly | None) -> Anomaly | None:
    """Report the files that can't be read, all together."""
    if not left_out:
        return None
    began = min(moment, *(one.seen for one in left_out))
    return Anomaly(
        kind="files",
        segment=TOTAL,
        began=began if known is None else min(began, known.began),
        found=moment if known is None else known.found,
        ratio=0.0,
        reason=_describe(left_out),
        evidence={"files": [one.path for one in left_out[:MOST_NAMED]], "count": len(left_out)},
    )


def _describe(left_out: Sequence[LeftOut]) -> str:
    if len(left_out) == 1:
        [file] = left_out
        return f"The file {show(file.path)} of the data lake can't be read: {file.message}."
    named = ", ".join(show(one.path) for one in left_out[:MOST_NAMED])
    more = len(left_out) - MOST_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return f"{len(left_out):,} files of the data lake can't be read: {named}{rest}."

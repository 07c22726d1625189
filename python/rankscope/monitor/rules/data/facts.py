"""Watches on names and files, which need no history: what matches nothing, or can't be read."""

from __future__ import annotations

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import TOTAL, Segment
from rankscope.monitor.rules.data.progress import Anomaly
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.events.mismatch import Expected, Mismatch
    from rankscope.monitor.rules.data.counts import Counts
    from rankscope.monitor.store.records import LeftOut

LEAST_SHARE = 0.02
"""The share of labels or rankings from which on a name that looks like a configured one matters."""
MOST_NAMED = 3


def is_due(reader: Counts, moment: int, *, is_first: bool) -> bool:
    """Return whether another day is over since the hour of the first ranking."""
    if reader.first is None:
        return False
    since = moment - reader.first // HOUR * HOUR
    return since >= DAY and (is_first or since % DAY == 0)


def watch_names(reader: Counts, moment: int) -> list[Anomaly]:
    """Look for names of the last day that match nothing, by what they are probably meant to be."""
    found: dict[Segment, Mismatch] = {}
    expected = reader.configuration.expected
    mismatches = reader.find_mismatches(moment - DAY, moment)
    unknown = sum(mismatch.count for mismatch in mismatches if mismatch.kind == "unknown_label")
    for mismatch in mismatches:
        segment = _find_segment(mismatch, expected, is_alone=unknown >= mismatch.of)
        if segment is not None:
            found.setdefault(segment, mismatch)
    return [
        Anomaly(
            kind="names",
            segment=segment,
            began=moment - DAY,
            found=moment,
            ratio=1.0,
            reason=f"In the last day, {one}.",
            evidence={"found": one.name, "looks_like": one.like} if one.like else {},
        )
        for segment, one in found.items()
    ]


def _find_segment(one: Mismatch, expected: Expected, *, is_alone: bool) -> Segment | None:
    """Return the stream that a mismatch is reported for, `None` if it may be intended.

    Senders may log more labels and attributes than count. They lack something if a name looks like
    one that counts, if an attribute is never there, or if no label counts.
    """
    is_near = bool(one.like) and one.count >= LEAST_SHARE * one.of
    if one.kind == "unmatched_label":
        return TOTAL
    if one.kind == "unknown_label":
        meant = one.like if is_near else expected.labels[0] if is_alone and expected.labels else ""
        return Segment(slice=(("label", meant),)) if meant else None
    if one.kind == "missing_attribute":
        return Segment(slice=(("attribute", one.name),))
    return Segment(slice=(("attribute", one.like),)) if is_near else None


def watch_files(left_out: Sequence[LeftOut], moment: int, known: Anomaly | None) -> Anomaly | None:
    """Report the files that can't be read, all together."""
    if not left_out:
        return None
    began = min(moment, *(file.seen for file in left_out))
    return Anomaly(
        kind="files",
        segment=TOTAL,
        began=began if known is None else min(began, known.began),
        found=moment if known is None else known.found,
        ratio=0.0,
        reason=_describe(left_out),
        evidence={"files": [file.path for file in left_out[:MOST_NAMED]], "count": len(left_out)},
    )


def _describe(left_out: Sequence[LeftOut]) -> str:
    if len(left_out) == 1:
        [file] = left_out
        return f"The file {show(file.path)} of the data lake can't be read: {file.message}."
    named = ", ".join(show(one.path) for one in left_out[:MOST_NAMED])
    more = len(left_out) - MOST_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return f"{len(left_out):,} files of the data lake can't be read: {named}{rest}."

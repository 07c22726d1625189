"""The watch on names: labels and attributes that match nothing, from the first day on."""

from __future__ import annotations

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import TOTAL, Segment
from rankscope.monitor.rules.data.progress import Anomaly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.mismatch import Expected, Mismatch
    from rankscope.monitor.rules.data.counts import Counts

LEAST_SHARE = 0.02
"""The share of labels or rankings from which on a name that looks like a configured one matters."""


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
    unknown = sum(one.count for one in mismatches if one.kind == "unknown_label")
    for one in mismatches:
        segment = _find_segment(one, expected, is_alone=unknown >= one.of)
        if segment is not None:
            found.setdefault(segment, one)
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

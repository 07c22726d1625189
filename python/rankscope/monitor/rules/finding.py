"""Findings: what a check has concluded about one stream at one moment."""

from __future__ import annotations

from typing import Literal, TypeAlias

from rankscope.monitor.definition.slices import Slice
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

# One of `rankscope.monitor.rules.kinds.PROBLEMS`.
Kind: TypeAlias = str
Verdict: TypeAlias = Literal["bad", "good", "gone", "unknown"]
StreamKey: TypeAlias = tuple[Kind, str, str, Slice]

LOST_LABELS: frozenset[Kind] = frozenset({"labels", "label_freshness"})
"""The kinds that are about labels that are missing."""


@record(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check has concluded about one stream at one moment.

    A stream is what a rule watches on its own: a kind of problem, a model, a version and a slice.

    Args:
        kind: What the check is about.
        model: The model; empty where the check is about all of them.
        version: Its version; empty where the check is about all of them.
        slice: Pairs of an attribute and its value; empty for all rankings.
        verdict: `bad` if there is a problem, `good` if there is none, `gone` if what it is about is
            no longer served, `unknown` if the data doesn't tell; this changes nothing.
        began: When the problem seems to have begun, in UTC.
        reason: The reason, in one sentence.
        evidence: What it is based on, as JSON holds it.

    Examples:
        >>> Finding(kind="volume", model="gbdt", verdict="bad", reason="No rankings.").key
        ('volume', 'gbdt', '', ())
    """

    kind: Kind
    model: str = ""
    version: str = ""
    slice: Slice = ()
    verdict: Verdict
    began: datetime | None = None
    reason: str = ""
    evidence: Mapping[str, object] = {}

    @property
    def key(self) -> StreamKey:
        """What tells the stream apart from the others of its rule."""
        return self.kind, self.model, self.version, self.slice

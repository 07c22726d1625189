"""What missing judgments and ties could still change."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from rankscope.bounds.result import Bounds
    from rankscope.ties.result import TieAudit, TieSummary

    Found = TypeVar("Found")


@record(frozen=True, slots=True, kw_only=True)
class Bound:
    """A mean, and its lowest and highest possible value.

    Args:
        value: The mean.
        lower: The smallest that it could be, whatever grades the unjudged documents have.
        upper: The largest.
        unjudged: How many documents of the lists are unjudged.
        open: How many queries have such documents.
        certain: How many queries have one value, whatever these are.
    """

    value: float
    lower: float
    upper: float
    unjudged: int
    open: int
    certain: int


@record(frozen=True, slots=True, kw_only=True)
class BoundTable:
    """The table of what unjudged documents could still change.

    Args:
        measure: Of which measure.
        scale: The grades that they may have.
        rows: The bounds of each run; none where `refusal` says why.
        refusal: Why there are no bounds; empty where there are.
    """

    measure: str
    scale: tuple[float, ...]
    rows: tuple[Bound, ...]
    refusal: str


@record(frozen=True, slots=True, kw_only=True)
class TieTable:
    """The table of what the order of ties could still change.

    Args:
        measure: Of which measure.
        rows: That of each run; none where `refusal` says why.
        refusal: Why there are none; empty where there are.
    """

    measure: str
    rows: tuple[TieSummary, ...]
    refusal: str


def split_refusals(outcomes: Sequence[Found | str]) -> tuple[str, list[Found]]:
    """Return why the first result is missing, or else all results."""
    refusal = next((each for each in outcomes if isinstance(each, str)), "")
    return refusal, [each for each in outcomes if not (refusal or isinstance(each, str))]


def read_bounds(measure: str, outcomes: Sequence[Bounds | str]) -> BoundTable:
    """Return the table of bounds from those of each run, or why a run has none."""
    refusal, bounded = split_refusals(outcomes)
    return BoundTable(
        measure=measure,
        scale=bounded[0].scale if bounded else (),
        rows=tuple(map(_read_bound, bounded)),
        refusal=refusal,
    )


def _read_bound(bounds: Bounds) -> Bound:
    return Bound(
        value=bounds.mean.value,
        lower=bounds.mean.lower,
        upper=bounds.mean.upper,
        unjudged=bounds.openness.unjudged,
        open=bounds.openness.open,
        certain=bounds.openness.certain,
    )


def read_ties(measure: str, outcomes: Sequence[TieAudit | str]) -> TieTable:
    """Return the table of ties from those of each run, or why a run has none."""
    refusal, audited = split_refusals(outcomes)
    return TieTable(measure=measure, rows=tuple(each.summary for each in audited), refusal=refusal)

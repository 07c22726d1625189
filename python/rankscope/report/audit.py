"""What missing judgments and ties could still change."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.bounds.result import Bounds
    from rankscope.ties.result import TieAudit


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
class TieSpread:
    """A mean, and its range over other orders of equal scores.

    Args:
        value: The mean.
        expected: Its expected value over all orders; NaN where that is not known.
        lower: The smallest that it could be.
        upper: The largest.
        tied: How many queries have equal scores.
        touched: How many of their values depend on the order of equal scores.
        precision: The narrowest type of numbers that holds every score.
    """

    value: float
    expected: float
    lower: float
    upper: float
    tied: int
    touched: int
    precision: str


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
    rows: tuple[TieSpread, ...]
    refusal: str


def read_bounds(measure: str, found: Sequence[Bounds | str]) -> BoundTable:
    """Read the bounds of a measure."""
    refusals = [each for each in found if isinstance(each, str)]
    bounded = [each for each in found if not isinstance(each, str)]
    return BoundTable(
        measure=measure,
        scale=bounded[0].scale if bounded else (),
        rows=() if refusals else tuple(map(_read_bound, bounded)),
        refusal=refusals[0] if refusals else "",
    )


def read_ties(measure: str, found: Sequence[TieAudit | str]) -> TieTable:
    """Read the audits of ties of a measure."""
    refusals = [each for each in found if isinstance(each, str)]
    audited = [each for each in found if not isinstance(each, str)]
    return TieTable(
        measure=measure,
        rows=() if refusals else tuple(map(_read_spread, audited)),
        refusal=refusals[0] if refusals else "",
    )


def _read_bound(found: Bounds) -> Bound:
    return Bound(
        value=found.mean.value,
        lower=found.mean.lower,
        upper=found.mean.upper,
        unjudged=found.openness.unjudged,
        open=found.openness.open,
        certain=found.openness.certain,
    )


def _read_spread(found: TieAudit) -> TieSpread:
    summary = found.summary
    return TieSpread(
        value=summary.value,
        expected=summary.expected,
        lower=summary.lower,
        upper=summary.upper,
        tied=summary.tied,
        touched=summary.touched,
        precision=summary.precision,
    )

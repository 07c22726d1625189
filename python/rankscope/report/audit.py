"""What judgments that are not there, and ties, could still change."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.results import Bounds, TieAudit


@record(frozen=True, slots=True, kw_only=True)
class Bound:
    """A mean, and what it could be.

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
    """A mean, and what it could be in other orders of equal scores.

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
class Pair:
    """Two runs, and whether one is better whatever the unjudged documents are.

    Args:
        first: The name of the one.
        second: The name of the other.
        value: By how much the mean of the first is larger.
        lower: The least that this could be.
        upper: The most.
        verdict: `first`, `second`, `equal` or `open`.
    """

    first: str
    second: str
    value: float
    lower: float
    upper: float
    verdict: str


@record(frozen=True, slots=True, kw_only=True)
class MeasureAudit:
    """The audit of a measure.

    Args:
        measure: Its name.
        scale: The grades that unjudged documents may have.
        bounds: Of each run; none where `bounds_refusal` says why.
        bounds_refusal: Why there are no bounds; empty where there are.
        ties: Of each run; none where `ties_refusal` says why.
        ties_refusal: Why there are none; empty where there are.
        pairs: The runs, two at a time.
    """

    measure: str
    scale: tuple[float, ...]
    bounds: tuple[Bound, ...]
    bounds_refusal: str
    ties: tuple[TieSpread, ...]
    ties_refusal: str
    pairs: tuple[Pair, ...]


def read_audit(
    measure: str,
    bounds: Sequence[Bounds | str],
    ties: Sequence[TieAudit | str],
    pairs: Sequence[tuple[str, str, Bounds]],
) -> MeasureAudit:
    """Read the audit of a measure.

    Args:
        measure: Its name.
        bounds: Of each run, its bounds, or why there are none.
        ties: Of each run, the audit of its ties, or why there is none.
        pairs: The names of two runs, and the bounds of their difference.
    """
    bounded = [each for each in bounds if not isinstance(each, str)]
    audited = [each for each in ties if not isinstance(each, str)]
    no_bounds = [each for each in bounds if isinstance(each, str)]
    no_ties = [each for each in ties if isinstance(each, str)]
    return MeasureAudit(
        measure=measure,
        scale=bounded[0].scale if bounded else (),
        bounds=() if no_bounds else tuple(map(_read_bound, bounded)),
        bounds_refusal=no_bounds[0] if no_bounds else "",
        ties=() if no_ties else tuple(map(_read_ties, audited)),
        ties_refusal=no_ties[0] if no_ties else "",
        pairs=tuple(
            Pair(
                first=first,
                second=second,
                value=found.mean.value,
                lower=found.mean.lower,
                upper=found.mean.upper,
                verdict=found.verdict,
            )
            for first, second, found in pairs
        ),
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


def _read_ties(found: TieAudit) -> TieSpread:
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

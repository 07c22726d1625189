"""The data of a plot of discounts."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.clicks.examination_result import ExaminationCurve
    from rankscope.discounts.result import Curve, Discounts


@record(frozen=True, slots=True)
class DiscountLine:
    """The line of a discount.

    Args:
        names: The names of the discount; several if discounts only differ by a constant factor.
        weights: The weight of each rank, divided by that of rank 1.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]


@record(frozen=True, slots=True)
class Examined:
    """How often users look at a rank, estimated from clicks.

    Args:
        rank: The rank.
        value: The estimate, relative to rank 1.
        lower: The lower end of its interval.
        upper: The upper end of its interval.
    """

    rank: int
    value: float
    lower: float
    upper: float


@record(frozen=True, slots=True)
class DiscountCurves:
    """The data of a plot of discounts, with attention and an estimate from clicks.

    Args:
        ranks: The number of ranks.
        lines: The line of each discount.
        attention: The ranks of the table of attention, with their weights relative to rank 1.
        examined: The estimates from clicks; empty without them.
        level: The confidence level of their intervals.
    """

    ranks: int
    lines: tuple[DiscountLine, ...]
    attention: tuple[tuple[int, float], ...] = ()
    examined: tuple[Examined, ...] = ()
    level: float | None = None

    @classmethod
    def of(
        cls, discounts: Discounts, examination: ExaminationCurve | None = None
    ) -> DiscountCurves:
        """Return the data from a table of discounts.

        Args:
            discounts: The result of `tabulate_discounts`.
            examination: The result of `estimate_examination`, to add an estimate from clicks.
        """
        ranks = len(discounts)
        alike = {names[0]: names for names in discounts.alike}
        again = {name for names in discounts.alike for name in names[1:]}
        lines = tuple(
            DiscountLine(alike.get(curve.name, (curve.name,)), curve.weights[:ranks])
            for curve in discounts.curves
            if curve.name not in again and not _is_of(curve, examination)
        )
        attention = tuple(pair for pair in discounts.attention.items() if pair[0] <= ranks)
        if examination is None:
            return cls(ranks, lines, attention)
        examined = tuple(
            Examined(*row)
            for row in zip(
                examination.ranks,
                examination.weights,
                examination.lower,
                examination.upper,
                strict=True,
            )
            if row[0] <= ranks
        )
        return cls(ranks, lines, attention, examined, examination.level)


def _is_of(curve: Curve, examination: ExaminationCurve | None) -> bool:
    """Return whether a discount is the estimate from clicks, which is drawn with intervals."""
    return examination is not None and curve.settings["discount"] == examination.weights

"""Discount curves: the weight of each rank, with what is known of the attention that it gets."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.results.discounts import Curve, Discounts
    from rankscope.results.examination import ExaminationCurve


@record(frozen=True, slots=True)
class DiscountLine:
    """A discount.

    Args:
        names: What it is called; several names where discounts are one but for a factor.
        weights: The weight of each rank from 1 on, divided by that of rank 1.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]


@record(frozen=True, slots=True)
class Examined:
    """How much a rank was looked at, as estimated from clicks.

    Args:
        rank: The rank.
        value: How much, divided by that of rank 1.
        lower: The lower end of its interval.
        upper: The upper end.
    """

    rank: int
    value: float
    lower: float
    upper: float


@record(frozen=True, slots=True)
class DiscountCurves:
    """Discounts over ranks, with the table of attention, and with an examination curve.

    Args:
        ranks: How many ranks there are.
        lines: The discounts.
        attention: Ranks of the table of attention, each with its share of rank 1.
        examined: An examination curve, if there is one.
        level: The probability with which its intervals cover.
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
        """Take them from a result.

        Args:
            discounts: What `tabulate_discounts` gives.
            examination: What `estimate_examination` gives, to lay it over them.
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
    """Whether a discount is the examination curve itself, which is drawn with its intervals."""
    return examination is not None and curve.settings["discount"] == examination.weights

"""The power of a comparison: what it can detect, and how many queries an effect needs."""

from __future__ import annotations

from rankscope.output.printed import Printed
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@record(frozen=True, slots=True, kw_only=True)
class Power(Printed):
    """The power of a t test of two systems.

    Args:
        n: The number of queries, of each sample if unpaired; `None` if unknown.
        standard_deviations: The standard deviation of the differences, or those of the values of
            both systems if unpaired.
        is_paired: Whether both systems answer the same queries.
        level: The significance level of the two-sided test.
        power: The probability of detecting an effect.
        minimum_detectable: The smallest difference that the test detects with this power at `n`
            queries; `None` if `n` is unknown.
        queries_needed: By effect, the smallest number of queries with which the test detects it, of
            each sample if unpaired.
    """

    n: int | None
    standard_deviations: tuple[float, ...]
    is_paired: bool
    level: float
    power: float
    minimum_detectable: float | None
    queries_needed: Mapping[float, int]

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "n": self.n,
            "standard_deviations": list(self.standard_deviations),
            "paired": self.is_paired,
            "level": self.level,
            "power": self.power,
            "minimum_detectable": self.minimum_detectable,
            "queries_needed": [
                {"effect": effect, "n": count} for effect, count in self.queries_needed.items()
            ],
        }

    def _parts(self) -> list[str]:
        each = "" if self.is_paired else " of each system"
        deviations = " and ".join(f"{deviation:.4f}" for deviation in self.standard_deviations)
        of = "of the differences" if self.is_paired else "of the values"
        kind = "paired" if self.is_paired else "unpaired"
        lines = [
            f"{kind} t test, two-sided, level {self.level:g}, power {self.power:g}",
            f"standard deviation {of}: {deviations}",
        ]
        if self.n is not None and self.minimum_detectable is not None:
            lines.append(
                f"{self.n:,} queries{each} detect a difference of {self.minimum_detectable:.4f}"
            )
        lines += [
            f"a difference of {effect:g} needs {count:,} queries{each}"
            for effect, count in self.queries_needed.items()
        ]
        return lines

    __repr__ = Printed.__str__

"""The power of a comparison of two systems."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.names import quote
from rankscope.output.printed import Printed
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


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
            queries; `None` if `n` is unknown, or if no difference that there can be is detected.
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
        if self.n is not None:
            size = self.minimum_detectable
            what = (
                "no difference that there can be" if size is None else f"a difference of {size:.4f}"
            )
            lines.append(f"{self.n:,} queries{each} detect {what}")
        lines += [
            f"a difference of {effect:g} needs {count:,} queries{each}"
            for effect, count in self.queries_needed.items()
        ]
        return lines

    __repr__ = Printed.__str__


def power(
    values_a: Sequence[float] | NDArray[np.float64] | None = None,
    values_b: Sequence[float] | NDArray[np.float64] | None = None,
    *,
    standard_deviation: float | tuple[float, float] | None = None,
    n: int | None = None,
    effect: float | Sequence[float] = (),
    level: float = 0.05,
    power: float = 0.8,
    paired: bool = True,
    largest: float = math.inf,
) -> Power:
    """Find which difference a comparison can detect, and how many queries an effect needs.

    The numbers are those of a two-sided t test (Sakai, *Topic set size design*, Information
    Retrieval Journal, 2016).

    Args:
        values_a: The value of each query for the first system.
        values_b: The values of the second system, of the same queries in the same order if paired.
            A query that is NaN for one of the systems is left out.
        standard_deviation: Instead of values, the standard deviation of the differences; if
            unpaired, that of the values, or one for each system.
        n: With `standard_deviation`, the number of queries, of each system if unpaired.
        effect: Differences of means for which the number of queries is computed.
        level: The significance level, between 0 and 1.
        power: The probability of detecting the difference, above `level` and below 1.
        paired: Whether both systems answer the same queries.
        largest: The largest difference that there can be, such as 1 for nDCG.

    Returns:
        The smallest difference that the test detects with the queries at hand, and the number of
        queries that each effect needs. For unpaired samples of different sizes, the first is that
        of the smaller size.

    Raises:
        UsageError: The values don't fit, or a number is outside its range.

    Examples:
        >>> print(power(standard_deviation=0.2, n=250, effect=[0.01, 0.05]))
        paired t test, two-sided, level 0.05, power 0.8
        standard deviation of the differences: 0.2000
        250 queries detect a difference of 0.0356
        a difference of 0.01 needs 3,142 queries
        a difference of 0.05 needs 128 queries
        >>> power([0.2, 0.5, 0.9, 0.4], [0.4, 0.5, 0.9, 0.8]).minimum_detectable
        0.407...
    """
    from rankscope.stats.estimate import power as planned  # noqa: PLC0415 - only power needs it

    given = values_a is not None or values_b is not None
    if given == (standard_deviation is not None) or (values_a is None) != (values_b is None):
        raise UsageError(
            "expected the values of two systems, or standard_deviation",
            hint="write power(a.per_query('AP'), b.per_query('AP')) with two evaluations, or "
            "power(standard_deviation=0.2, n=250)",
            code="bad_parameter",
        )
    if values_a is not None and values_b is not None:
        n, deviations = _measure(values_a, values_b, paired=paired)
    else:
        deviations = _read_deviations(standard_deviation, paired=paired)
    effects = [effect] if isinstance(effect, int | float) else list(effect)
    if any(isinstance(each, str) for each in effects):
        raise UsageError(
            f"expected effect as a number or several, found {quote(effect)}",
            hint="write effect=0.05, or effect=[0.01, 0.05]",
            code="bad_parameter",
        )
    detectable = None
    if n is not None:
        detectable = planned.minimum_detectable(deviations, n, level=level, power=power)
        detectable = detectable if detectable <= largest else None
    needed = {
        each: planned.queries_needed(each, deviations, level=level, power=power) for each in effects
    }
    return Power(
        n=n,
        standard_deviations=deviations,
        is_paired=paired,
        level=level,
        power=power,
        minimum_detectable=detectable,
        queries_needed=needed,
    )


def _measure(
    values_a: Sequence[float] | NDArray[np.float64],
    values_b: Sequence[float] | NDArray[np.float64],
    *,
    paired: bool,
) -> tuple[int, tuple[float, ...]]:
    """Return the number of queries and the standard deviations of values."""
    try:
        one, other = (np.asarray(each, dtype=np.float64).ravel() for each in (values_a, values_b))
    except (TypeError, ValueError):
        raise UsageError(
            "expected the value of each query for two systems, found "
            f"{type(values_a).__name__} and {type(values_b).__name__}",
            hint="write power(a.per_query('AP'), b.per_query('AP')) with two evaluations",
            code="bad_parameter",
        ) from None
    if paired and len(one) != len(other):
        raise UsageError(
            f"expected the values of the same queries, found {len(one)} and {len(other)} values",
            hint="pass paired=False if the systems answered different queries",
            code="bad_parameter",
        )
    if np.isinf(one).any() or np.isinf(other).any():
        raise UsageError(
            "expected values of queries, found one that is infinite",
            hint="leave such queries out; NaN stands for a query without a value",
            code="bad_parameter",
        )
    samples = [other - one] if paired else [one, other]
    # Sorted, so that rounded sums don't depend on the order of the queries.
    samples = [np.sort(sample[~np.isnan(sample)]) for sample in samples]
    n = min(map(len, samples))
    if n < 2:
        raise UsageError(
            f"expected two or more queries, found {n}",
            hint="pass standard_deviation= to plan without values",
            code="bad_parameter",
        )
    return n, tuple(float(sample.std(ddof=1)) for sample in samples)


def _read_deviations(
    given: float | tuple[float, float] | None, *, paired: bool
) -> tuple[float, ...]:
    deviations = given if isinstance(given, tuple) else (given,) if paired else (given, given)
    if len(deviations) != (1 if paired else 2):
        raise UsageError(
            f"expected one standard deviation, found {len(deviations)}",
            hint="pass paired=False to give one for each system",
            code="bad_parameter",
        )
    return tuple(float(each) for each in deviations if each is not None)

"""How many queries a comparison needs."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import rankscope as rs
from rankscope._cli.options import (
    add_file_options,
    add_measure_option,
    add_policy_option,
    add_reading_options,
    name_file,
    refuse_stdin_twice,
)
from rankscope._cli.parser import OnceFlag, Parser, print_json, print_notes, read_number
from rankscope._evaluate.options import list_reading
from rankscope._evaluate.query_values import bad_parameter
from rankscope._names import quote
from rankscope._show import Printed
from rankscope._show.diagnostics import gather
from rankscope._stats.power import minimum_detectable, queries_needed
from rankscope.measures.parse import split_measures


@dataclass(frozen=True, slots=True, kw_only=True)
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
        needed = [{"effect": effect, "n": count} for effect, count in self.queries_needed.items()]
        return {
            "n": self.n,
            "standard_deviations": list(self.standard_deviations),
            "paired": self.is_paired,
            "level": self.level,
            "power": self.power,
            "minimum_detectable": self.minimum_detectable,
            "queries_needed": needed,
        }

    def _parts(self) -> list[str]:
        kind, what, of = "unpaired", "values", " of each system"
        if self.is_paired:
            kind, what, of = "paired", "differences", ""
        deviations = " and ".join(f"{deviation:.4f}" for deviation in self.standard_deviations)
        lines = [
            f"{kind} t test, two-sided, level {self.level:g}, power {self.power:g}",
            f"standard deviation of the {what}: {deviations}",
        ]
        if self.n is not None:
            size = self.minimum_detectable
            effect = "no difference that there can be"
            if size is not None:
                effect = f"a difference of {size:.4f}"
            lines.append(f"{self.n:,} queries{of} detect {effect}")
        return lines + [
            f"a difference of {effect:g} needs {count:,} queries{of}"
            for effect, count in self.queries_needed.items()
        ]

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
    has_values = values_a is not None or values_b is not None
    if has_values == (standard_deviation is not None) or (values_a is None) != (values_b is None):
        raise bad_parameter(
            "expected the values of two systems, or standard_deviation",
            f"{FROM_VALUES}, or power(standard_deviation=0.2, n=250)",
        )
    effects = [effect] if isinstance(effect, int | float) else [*effect]
    if any(isinstance(size, str) for size in effects):
        raise bad_parameter(
            f"expected effect as a number or several, found {quote(effect)}",
            "write effect=0.05, or effect=[0.01, 0.05]",
        )
    if values_a is not None and values_b is not None:
        n, deviations = _measure(values_a, values_b, paired=paired)
    else:
        deviations = _read_deviations(standard_deviation, paired=paired)
    detectable = None
    if n is not None:
        size = minimum_detectable(deviations, n, level=level, power=power)
        detectable = size if size <= largest else None
    return Power(
        n=n,
        standard_deviations=deviations,
        is_paired=paired,
        level=level,
        power=power,
        minimum_detectable=detectable,
        queries_needed={
            size: queries_needed(size, deviations, level=level, power=power) for size in effects
        },
    )


FROM_VALUES = "write power(a.per_query('AP'), b.per_query('AP')) with two evaluations"


def _measure(
    values_a: Sequence[float] | NDArray[np.float64],
    values_b: Sequence[float] | NDArray[np.float64],
    *,
    paired: bool,
) -> tuple[int, tuple[float, ...]]:
    """Return the number of queries and the standard deviations of values."""
    try:
        a, b = (np.asarray(values, dtype=np.float64).ravel() for values in (values_a, values_b))
    except (TypeError, ValueError):
        raise bad_parameter(
            "expected the value of each query for two systems, found "
            f"{type(values_a).__name__} and {type(values_b).__name__}",
            FROM_VALUES,
        ) from None
    if paired and len(a) != len(b):
        raise bad_parameter(
            f"expected the values of the same queries, found {len(a)} and {len(b)} values",
            "pass paired=False if the systems answered different queries",
        )
    if np.isinf(a).any() or np.isinf(b).any():
        raise bad_parameter(
            "expected values of queries, found one that is infinite",
            "leave such queries out; NaN stands for a query without a value",
        )
    samples = [b - a] if paired else [a, b]
    # Sorted, so that rounded sums don't depend on the order of the queries.
    samples = [np.sort(sample[~np.isnan(sample)]) for sample in samples]
    n = min(map(len, samples))
    if n < 2:
        raise bad_parameter(
            f"expected two or more queries, found {n}",
            "pass standard_deviation= to plan without values",
        )
    return n, tuple(float(sample.std(ddof=1)) for sample in samples)


def _read_deviations(
    deviation: float | tuple[float, float] | None, *, paired: bool
) -> tuple[float, ...]:
    values = deviation if isinstance(deviation, tuple) else (deviation,) * (1 if paired else 2)
    if len(values) != (1 if paired else 2):
        raise bad_parameter(
            f"expected one standard deviation, found {len(values)}",
            "pass paired=False to give one for each system",
        )
    return tuple(float(value) for value in values if value is not None)


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments; - reads standard input")
    parser.add_argument("a", metavar="RUN_A", help="the first run, such as the baseline")
    parser.add_argument("b", metavar="RUN_B", help="the second run")
    about = "measure to plan for; `rankscope measures` lists them"
    add_measure_option(parser, about, "nDCG@10")
    parser.add_argument(
        "--effect",
        nargs="+",
        type=read_number,
        default=[],
        metavar="X",
        help="differences for which to compute the number of queries",
    )
    parser.add_argument(
        "--level",
        type=read_number,
        default=0.05,
        metavar="LEVEL",
        help="significance level (default: 0.05)",
    )
    parser.add_argument(
        "--power",
        type=read_number,
        default=0.8,
        metavar="POWER",
        help="probability of detecting the difference (default: 0.8)",
    )
    parser.add_argument(
        "--unpaired",
        action=OnceFlag,
        help="plan for runs with different queries, as in an A/B test",
    )
    parser.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    add_policy_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope power qrels.txt bm25.run dense.run -m nDCG@10 --effect 0.01 0.02",
        "rankscope power qrels.txt bm25.run dense.run -m AP --power 0.9 --json",
    )
    parser.set_defaults(run=run, convention=None)


def run(options: Namespace) -> int:
    """Print the smallest detectable difference, and the queries that each effect needs."""
    refuse_stdin_twice([options.qrels, options.a, options.b])
    evaluations = rs.evaluate(
        name_file(options.qrels, "qrels", options),
        {name: name_file(getattr(options, name), "run", options) for name in "ab"},
        split_measures([options.measure]),
        policy=rs.Policy.parse(options.policy),
        **list_reading(options),
    )
    print_notes(gather({name: run.notes for name, run in evaluations.items()}))
    [measure] = evaluations["a"].measures
    low, high = measure.row.value_range
    result = rs.power(
        *(run.per_query(measure) for run in evaluations.values()),
        effect=options.effect,
        level=options.level,
        power=options.power,
        paired=not options.unpaired,
        largest=high - low,
    )
    if options.json:
        print_json({"measure": measure.name, **result.to_dict()})
    else:
        print(measure)
        print(result)
    return 0

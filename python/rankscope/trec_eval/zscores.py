"""The file of means and deviations for `-Z`."""

from __future__ import annotations

from array import array

from rankscope.errors import FormatError
from rankscope.inputs.files.opening import open_binary
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    Moments: TypeAlias = Mapping[tuple[str, str], tuple[float, float]]

FIELDS = 4
WITHOUT_MEAN = -1_000_000.0
"""What trec_eval prints if the file has no mean, or a deviation of 0 and another mean."""


def read_moments(path: str) -> Moments:
    """Return the mean and the standard deviation by query and measure."""
    moments = {}
    with open_binary(path, path) as file:
        for number, line in enumerate(file.read().decode("utf-8", "replace").split("\n"), start=1):
            fields = line.split()
            if not fields:
                continue
            try:
                query, measure, mean, deviation = fields
                moments[query, measure] = float(mean), float(deviation)
            except ValueError:
                raise FormatError(
                    f"expected a query, a measure, a mean and a deviation, found {quote(line)}",
                    hint="each line has four fields",
                    code="field_count" if len(fields) != FIELDS else "not_a_number",
                    file=path,
                    line=number,
                ) from None
    return moments


def standardize(
    values: Sequence[float], measure: str, queries: Sequence[str], moments: Moments
) -> array[float]:
    """Return values as deviations from their means, in standard deviations.

    Examples:
        >>> standardize([0.5, 0.5], "map", ["q1", "q2"], {("q1", "map"): (0.25, 0.5)}).tolist()
        [0.5, -1000000.0]
    """
    known = (moments.get((query, measure)) for query in queries)
    return array("d", map(_standardize, values, known))


def _standardize(value: float, moment: tuple[float, float] | None) -> float:
    if moment is None:
        return WITHOUT_MEAN
    mean, deviation = moment
    if deviation != 0:
        return (value - mean) / deviation
    return 0.0 if value == mean else WITHOUT_MEAN

"""Slices: the means of measures by group of queries, and their intervals."""

from __future__ import annotations

from collections import Counter

from rankscope._evaluate.query_values import join_groups
from rankscope.errors import LimitError, UsageError
from rankscope.output.estimate import read_estimate
from rankscope.output.table import Table
from rankscope.settings.interval import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeAlias

    from rankscope._core import Evaluation
    from rankscope._evaluate.query_values import Groups
    from rankscope.measures import Measure
    from rankscope.output.estimate import Estimate
    from rankscope.output.ids import AttributeColumn, SourceIds
    from rankscope.output.table import Cell, Column, ColumnValues
    from rankscope.settings.interval import Interval

    Estimator: TypeAlias = Callable[[list[int], int], list[list[Estimate]]]
    """Estimates each measure by group, from the group of each query and their number."""


class Slices(Table):
    """A table with one row per slice, largest slice first.

    The first columns are the attributes. They have the types of the input, and `None` for queries
    without a value, which are printed as `<missing>`.

    Examples:
        >>> import rankscope as rs
        >>> log = {"qid": [1, 2, 3], "label": [1, 1, 0], "score": [3, 2, 1]}
        >>> log |= {"country": ["de", "de", "at"], "is_new": [True, True, None]}
        >>> slices = rs.evaluate(log, "P@1", by=["country", "is_new"]).slices
        >>> print(slices)
        country  is_new     queries     P@1  P@1 n
        de       true             2  1.0000      2
        at       <missing>        1  0.0000      1
        >>> slices.column("is_new")
        (True, None)
    """

    def __init__(
        self, attributes: Sequence[AttributeColumn], columns: Mapping[str, Column]
    ) -> None:
        super().__init__(columns)
        self._attributes = tuple(attributes)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(each.name for each in self._attributes)

    @property
    def labels(self) -> tuple[str, ...]:
        """The values of each slice as one text, such as `de, true`."""
        return tuple(map(", ".join, self.texts()))

    def texts(self) -> list[tuple[str, ...]]:
        """Return the values of each slice as texts, one for each attribute."""
        columns = (map(str, self._read(name)) for name in self.attributes)
        return list(zip(*columns, strict=True))

    def to_dict(self) -> dict[Any, dict[str, Cell]]:
        """Return the other columns of each row by the value of its slice.

        The value is a text, or a tuple of texts if there are several attributes.
        """
        keys = [text if len(text) > 1 else text[0] for text in self.texts()]
        names = self.names[len(self.attributes) :]
        rows = (row[len(self.attributes) :] for row in self.rows())
        pairs = zip(keys, rows, strict=True)
        return {key: dict(zip(names, row, strict=True)) for key, row in pairs}

    def describe(self, columns: Mapping[str, Column]) -> Slices:
        """Return a table of the same slices with other columns."""
        texts = {name: self._read(name) for name in self.attributes}
        return Slices(self._attributes, {**texts, **columns})

    def keep(self, names: Sequence[str]) -> Slices:
        """Return the slices with some of the columns, among them the attributes."""
        return Slices(self._attributes, {name: self._read(name) for name in names})

    def _give(self, name: str) -> ColumnValues:
        for attribute in self._attributes:
            if attribute.name == name:
                return attribute.restore_column([str(cell) for cell in self._read(name)])
        return super()._give(name)


MOST_SLICES = 100_000


def make_slices(
    answer: Evaluation,
    measures: list[Measure],
    attributes: Sequence[Groups],
    estimate: Estimator | None,
    source: SourceIds,
) -> Slices | None:
    """Make the table of measures by group, the largest group first."""
    groups = join_groups(attributes)
    if groups is None:
        return None
    _, values, codes = groups
    sizes = Counter(codes)
    queries = dict(zip(reversed(codes), reversed(range(len(codes))), strict=True))
    keys = [
        tuple(words[numbers[queries[group]]] for _, words, numbers in attributes)
        for group in range(len(values))
    ]
    return tabulate_slices(
        [source.attribute(name) for name, *_ in attributes],
        measures,
        keys,
        [sizes[group] for group in range(len(values))],
        means=answer.over(codes, len(values)),
        estimates=estimate and estimate(codes, len(values)),
    )


def tabulate_slices(
    attributes: Sequence[AttributeColumn],
    measures: Sequence[Measure],
    keys: Sequence[tuple[str, ...]],
    sizes: Sequence[int],
    *,
    means: Sequence[Sequence[tuple[float, int]]],
    estimates: Sequence[Sequence[Estimate]] | None = None,
) -> Slices:
    """Make the table of slices from their values, sizes, and means and counts by measure.

    Raises:
        LimitError: There are too many slices.
        UsageError: An attribute has the name of another column.
    """
    names = [attribute.name for attribute in attributes]
    if len(keys) > MOST_SLICES:
        raise LimitError(
            f"expected at most {MOST_SLICES} slices, found {len(keys)} values of "
            f"{', '.join(names)}",
            hint="slice by something with fewer values",
            code="slices",
        )
    largest_first = sorted(range(len(keys)), key=lambda group: (-sizes[group], keys[group]))
    columns: dict[str, list[str | int | float]] = {
        "queries": [sizes[group] for group in largest_first]
    }
    for index, measure in enumerate(measures):
        columns[measure.name] = [means[index][group][0] for group in largest_first]
        columns[f"{measure.name} n"] = [means[index][group][1] for group in largest_first]
        if estimates:
            ends = [estimates[index][group] for group in largest_first]
            columns[f"{measure.name} lower"] = [each.lower for each in ends]
            columns[f"{measure.name} upper"] = [each.upper for each in ends]
    doubled = [name for name in names if name in columns]
    if doubled:
        raise UsageError(
            f"expected an attribute with a name of its own, found {doubled[0]!r}",
            hint="rename the attribute: the table of slices has a column of this name",
            code="bad_parameter",
        )
    shown = {name: [keys[group][at] for group in largest_first] for at, name in enumerate(names)}
    return Slices(attributes, {**shown, **columns})


def make_estimates(
    answer: Evaluation,
    measures: list[Measure],
    codes: list[int],
    count: int,
    *,
    interval: Interval,
    order: Sequence[int],
    clusters: Sequence[int] | None,
    threads: int,
) -> list[list[Estimate]]:
    """Estimate each measure over the queries of each group, resampled in an order."""
    made = answer.intervals(
        order,
        codes,
        count,
        clusters,
        [(measure.row.value_range, stream_of(interval.seed, measure.name)) for measure in measures],
        interval.level,
        interval.method,
        interval.resamples,
        threads,
    )
    is_clustered = clusters is not None
    return [
        [read_estimate(row, interval.level, is_clustered=is_clustered) for row in rows]
        for rows in made
    ]

"""Tables of results: the means of slices, and what a measure has for each query."""

from __future__ import annotations

from rankscope.output.ids import TEXT
from rankscope.output.printed import Printed
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rankscope.measures import Measure
    from rankscope.output.ids import AttributeColumn, SourceIds
    from rankscope.output.table import Cell, Column, ColumnValues
    from rankscope.settings.policy import Policy


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


class MeasuredTable(Printed, Table):
    """A table about one measure under one policy, which prints with what belongs to it."""

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        measure: Measure,
        policy: Policy,
        source: SourceIds = TEXT,
    ) -> None:
        super().__init__(columns, source=source)
        self._measure = measure
        self._policy = policy

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self._measure

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self._policy

    __repr__ = Printed.__str__

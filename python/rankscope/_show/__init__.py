"""What results share: printing, JSON, CSV, data frames, and the tables of papers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

from rankscope._names import hint_arguments
from rankscope.errors import UsageError

Format: TypeAlias = Literal["text", "markdown", "html", "latex"]
FORMATS: tuple[Format, ...] = ("text", "markdown", "html", "latex")

if TYPE_CHECKING:
    from types import ModuleType

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from rankscope._show.layout import Layout, Paper
    from rankscope._show.table import Table
    from rankscope.measures import Measure

    ColumnValues: TypeAlias = Sequence[Any] | NDArray[Any]


class Documented:
    """A result that leaves as JSON, with the same fields as on the command line."""

    __slots__ = ()

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the result as a JSON document, with null for NaN, as `--json` prints it.

        Args:
            indent: The number of blanks by which each level is indented; `None` for one line.
        """
        return write_json(self._document(), indent=indent)

    def _document(self) -> Mapping[str, object]:
        document: Mapping[str, object] = self.to_dict()  # type: ignore[attr-defined]  # all have it
        return document


class Tabular(ABC):
    """A result that leaves as a table of pandas, Polars or Arrow."""

    __slots__ = ()

    @abstractmethod
    def _tabulate(self) -> Mapping[str, ColumnValues]:
        """Return the columns of the table, by name."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas data frame.

        Raises:
            UsageError: pandas is not installed.
        """
        return to_pandas(self._tabulate())

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a Polars data frame.

        Raises:
            UsageError: Polars is not installed.
        """
        return to_polars(self._tabulate())

    def to_arrow(self) -> pa.Table:
        """Return the table as an Arrow table.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return to_arrow(self._tabulate())

    def to_csv(self) -> str:
        """Return the table as CSV, with a ' before text that a spreadsheet would run."""
        from io import StringIO

        columns = self._tabulate()
        stream = StringIO()
        write_rows([columns, *map(_empty_nan, zip(*columns.values(), strict=True))], stream)
        return stream.getvalue()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Printed(ABC):
    """A result that prints as lines and tables, and that a notebook shows with the same content."""

    __slots__ = ()

    @abstractmethod
    def _parts(self) -> Sequence[str | Table]:
        """Return the lines and tables, from top to bottom; empty lines separate."""

    def __str__(self) -> str:
        return "\n".join(map(str, self._parts()))

    def _repr_html_(self) -> str:
        from rankscope._show.html import write_lines, write_result

        pieces: list[str] = []
        has_table = False
        for is_line, parts in groupby(self._parts(), lambda part: isinstance(part, str)):
            if is_line:
                # What follows on the first table is about it.
                pieces.append(write_lines(map(str, parts), are_notes=has_table))
            else:
                pieces += [part.write_html() for part in parts if not isinstance(part, str)]
                has_table = True
        return write_result(*pieces)


class Written(ABC):
    """A result with a table for papers, which is the same in each format."""

    __slots__ = ()

    @abstractmethod
    def _describe_paper(self, paper: Paper) -> Layout:
        """Return the table."""

    @hint_arguments
    def to_latex(
        self,
        *,
        caption: str = "",
        label: str = "",
        digits: int | None = None,
        sort: Measure | str | None = None,
        baseline: str | Sequence[str] | None = None,
        names: Mapping[str, str] | None = None,
        percent: bool = False,
        relative: bool = False,
    ) -> str:
        r"""Return the table for a paper in LaTeX: a `table` in the style of booktabs.

        The best value of each measure is bold and the second best underlined, as printed. Where
        neither higher nor lower values are better, none is. Notes below say how many queries the
        means are over and, if there are marks, the test, the correction and the level. The first
        line names the packages that the table needs. Names are escaped.

        Args:
            caption: The caption (default: what the table shows).
            label: The label, such as `"tab:runs"`.
            digits: The number of decimal places (default: 4, or 2 in percent).
            sort: For several runs, the measure by which they are sorted, best first.
            baseline: For a comparison, the runs that the others are tested against, marked † for
                the first, ‡ for the second, and so on.
            names: New names of runs and measures: `{"bm25.run": "BM25", "AP": "MAP"}`.
            percent: Whether to multiply values by 100; counts and other values without a limit stay
                as they are.
            relative: Whether each measure has a second column: the change from the first baseline,
                in percent of its value.

        Raises:
            UsageError: A choice is unknown or invalid.
        """
        from rankscope._show.layout import Paper

        paper = Paper(caption, label, digits, sort, baseline, names or {}, percent, relative)
        return write(self._describe_paper(paper), "latex")

    @hint_arguments
    def to_markdown(
        self,
        *,
        caption: str = "",
        label: str = "",
        digits: int | None = None,
        sort: Measure | str | None = None,
        baseline: str | Sequence[str] | None = None,
        names: Mapping[str, str] | None = None,
        percent: bool = False,
        relative: bool = False,
    ) -> str:
        """Return the table for a paper in Markdown; see `to_latex`."""
        from rankscope._show.layout import Paper

        paper = Paper(caption, label, digits, sort, baseline, names or {}, percent, relative)
        return write(self._describe_paper(paper), "markdown")


def write(layout: Layout, form: Format) -> str:
    """Return a layout in a format."""
    if form not in FORMATS:
        raise UsageError(
            f"unknown format {form!r}",
            hint=f"use one of: {', '.join(FORMATS)}",
            code="bad_parameter",
        )
    text: str = import_module(f"rankscope._show.{form}").write(layout)
    return text


def write_json(document: Mapping[str, object] | Sequence[object], *, indent: int | None = 2) -> str:
    """Return a JSON document, with null for NaN and text for UUIDs, which JSON does not have."""
    import json

    return json.dumps(without_nan(document), allow_nan=False, indent=indent, default=str)


def without_nan(value: object) -> object:
    """Replace NaN by `None` at every depth.

    Examples:
        >>> without_nan({"values": [{"a": float("nan")}], "b": (1.0, float("nan"))})
        {'values': [{'a': None}], 'b': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {
            name if isinstance(name, str | int) else str(name): without_nan(item)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def write_rows(rows: Iterable[Iterable[str | float | None]], stream: TextIO) -> None:
    """Write rows as CSV, with a ' before text that a spreadsheet would run as a formula."""
    import csv

    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow([f"'{cell}" if _is_formula(cell) else cell for cell in row])


def _is_formula(cell: object) -> bool:
    return isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def _empty_nan(row: Iterable[Any]) -> list[Any]:
    return [None if cell != cell else cell for cell in row]  # noqa: PLR0124 - NaN alone differs


def to_pandas(columns: Mapping[str, ColumnValues]) -> pd.DataFrame:
    """Return a pandas data frame."""
    frame: pd.DataFrame = _load("pandas").DataFrame(dict(columns))
    return frame


def to_polars(columns: Mapping[str, ColumnValues]) -> pl.DataFrame:
    """Return a Polars data frame, with UUIDs as texts: Polars can't join on objects."""
    from rankscope._show.table import are_uuids

    frame: pl.DataFrame = _load("polars").DataFrame(
        {
            name: [cell and str(cell) for cell in cells]
            if are_uuids({type(cell) for cell in cells[:1]})
            else cells
            for name, cells in columns.items()
        }
    )
    return frame


def to_arrow(columns: Mapping[str, ColumnValues]) -> pa.Table:
    """Return an Arrow table."""
    table: pa.Table = _load("pyarrow").table(
        # Arrays are passed on; pyarrow would read a tuple as a single value.
        {name: cells if hasattr(cells, "dtype") else list(cells) for name, cells in columns.items()}
    )
    return table


def _load(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"this table needs {module}, which is not installed",
            hint=f"install it: pip install {module}",
            code="missing_extra",
        ) from error

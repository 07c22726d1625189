"""Tables of any library, with columns found by role."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import join
from rankscope._inputs.batches import Batches
from rankscope._inputs.column_names import (
    BESIDE,
    ITEMS,
    ROLES,
    SYNONYMS,
    check_names,
    find_column,
    find_grades,
    no_column,
    no_role,
)
from rankscope._inputs.columns import (
    as_arrow,
    count_ids,
    id_type,
    ids_of,
    is_list,
    list_cells,
    numbers_of,
    read_numbers,
    read_typed_values,
    simplify,
)
from rankscope._inputs.doubles import code_of
from rankscope._inputs.labels import read_grades
from rankscope._inputs.recognition import describe_value, is_arrow_dataset, is_dataset, is_table
from rankscope.deferred import pa
from rankscope.errors import FormatError, OutOfMemoryError
from rankscope.names import quote
from rankscope.output.ids import AttributeColumn, SourceIds
from rankscope.output.ids import IdColumn as SourceColumn
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.qrels import Attributed

    Foreign: TypeAlias = Any  # of a library
    CoreColumns: TypeAlias = tuple[
        IdColumn,
        IdColumn | None,
        NDArray[Any],
        NDArray[Any],
        bool,
        NDArray[Any] | None,
        list[tuple[str, IdColumn]],
    ]

IN_LISTS = ("doc", "relevance", "score", "rank")
"""What a row has many of, if it holds a whole ranking."""
ELSEWHERE = {
    "pyspark": "use the function of the same name in rankscope.spark, or .toPandas() first",
    "dask": "bring it here first: .compute()",
    "modin": "bring it here first: .modin.to_pandas()",
    "cudf": "bring it here first: .to_pandas()",
    "duckdb": "give a relation, as connection.sql(…) makes it",
    "_duckdb": "give a relation, as connection.sql(…) makes it",
}
"""What brings here a table that a library holds elsewhere, by its module."""


class NamedColumns:
    """A table in memory, as names and columns.

    Args:
        names: The names of the columns.
        columns: The columns by name.
        what: What errors call the table.
        is_checked: Whether the columns are valid arrays of Arrow.
    """

    def __init__(
        self,
        names: Sequence[str],
        columns: Mapping[str, object],
        what: str = "",
        *,
        is_checked: bool = False,
    ) -> None:
        self.names = list(names)
        self.columns = columns
        self.what = what
        self._is_checked = is_checked
        self._arrays: dict[str, Foreign] = {}
        check_names(self.names)

    def find(self, name: str, role: str) -> object:
        """Return the column of a name."""
        if name not in self.columns:
            raise no_column(self.names, f"the column {quote(name)} of {role}", name)
        return self.columns[name]

    def array(self, name: str) -> Foreign:
        """Return a column as an array of Arrow."""
        if name not in self._arrays:
            column = self.columns[name]
            made = simplify(join(column)) if self._is_checked else as_arrow(column, name)
            self._arrays[name] = made
        return self._arrays[name]


def open_table(table: Foreign) -> NamedColumns:
    """Return a table of any library as names and columns."""
    if isinstance(table, NamedColumns):
        return table
    what = describe_value(table)
    if isinstance(table, Mapping):
        return NamedColumns([str(name) for name in table], dict(table), what)
    narwhals, polars, pandas = map(sys.modules.get, ("narwhals", "polars", "pandas"))
    if narwhals is not None and isinstance(table, narwhals.DataFrame | narwhals.LazyFrame):
        table = table.to_native()
    if polars is not None and isinstance(table, polars.LazyFrame):
        table = table.collect()
    if polars is not None and isinstance(table, polars.DataFrame):
        columns = {name: table.get_column(name) for name in table.columns}
        return NamedColumns(table.columns, columns, what)
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return _open_pandas(table, what)
    if is_dataset(table):
        table = table.with_format("arrow")[:]
    if is_arrow_dataset(table):
        table = table.to_table()
    if not is_table(table):
        raise _no_table(table)
    arrow = _read_arrow(table)
    columns = dict(zip(arrow.column_names, arrow.columns, strict=True))
    return NamedColumns(arrow.column_names, columns, what)


def _open_pandas(frame: Foreign, what: str) -> NamedColumns:
    if frame.columns.nlevels > 1:
        raise FormatError(
            "expected one level of column names, found several",
            hint="flatten the columns",
            code="columns",
        )
    names = [str(name) for name in frame.columns]
    columns = {name: frame.iloc[:, at] for at, name in enumerate(names)}
    levels = _name_levels(frame.index, names)
    return NamedColumns([*names, *levels], {**columns, **levels}, what)


def _name_levels(index: Foreign, names: Sequence[str]) -> dict[str, object]:
    """Return the levels of an index that are queries or documents, and that no column is.

    Two levels without names are query and document.
    """
    levels = list(index.names)
    roles = {name: role for role in ("query", "doc") for name in SYNONYMS[role]}
    if index.nlevels == 2 and levels == [None, None] and not any(name in roles for name in names):
        levels = ["query_id", "doc_id"]

    def is_free(level: str) -> bool:
        """Return whether no column has the role of a level, or only one that means less there."""
        role = roles.get(level)
        weak = BESIDE[role][1] if role else ()
        columns = [name for name in names if role and roles.get(name) == role]
        return all(name in weak and level not in weak for name in columns)

    return {
        name: index.get_level_values(at)
        for at, name in enumerate(levels)
        if isinstance(name, str)
        and name not in names
        and (name in roles or index.nlevels > 1)
        and is_free(name)
    }


def _read_arrow(table: Foreign) -> Foreign:
    """Read the table that an object exports through Arrow."""
    try:
        if isinstance(table, pa.Table):
            return table
        if hasattr(table, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(table).read_all()
        return pa.record_batch(table)
    except (TypeError, ValueError, NotImplementedError) as error:  # Arrow's errors are of these
        raise _no_table(table) from error
    except MemoryError as error:
        raise OutOfMemoryError(
            f"not enough memory to read the {type(table).__name__}",
            hint="pass only the columns that are needed, or write the table to a Parquet file",
            code="memory",
        ) from error


def _no_table(table: object) -> FormatError:
    module = type(table).__module__.partition(".")[0]
    return FormatError(
        f"expected a table, found {describe_value(table)}",
        hint=ELSEWHERE.get(module, "give a data frame, or an Arrow table"),
        code="input_type",
    )


def find_lists(
    table: NamedColumns, names: Mapping[str, str | None], besides: Collection[str | None] = ()
) -> Batches | None:
    """Return a table as batches if its rows hold whole rankings; `None` if each is a document.

    Lists in the columns besides are values of one row, such as labels.
    """
    usual = {*ITEMS, *(name for role in IN_LISTS for name in (*ROLES[role], names.get(role)))}
    likely = [name for name in table.names if name in usual and name not in besides]
    lists = {name for name in likely if _holds_lists(table, name)}
    docs = find_column(table.names, "doc", names.get("doc")) if lists else None
    if not lists or (docs is not None and docs not in lists):
        return None
    arrays = {}
    for name in table.names:
        try:
            arrays[name] = table.array(name)
        except FormatError:
            if name in likely:
                raise
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        one, other = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise FormatError(
            f"expected columns of one length, found {lengths[one]} rows in {one} and "
            f"{lengths[other]} in {other}",
            hint="every query needs a value in every column",
            code="length_mismatch",
        )
    rows = pa.table(arrays)

    def read(wanted: list[str]) -> Iterator[Foreign]:
        return iter(rows.select(wanted).to_batches())

    return Batches(rows.schema, read, is_once=False)


def _holds_lists(table: NamedColumns, name: str) -> bool:
    try:
        return is_list(table.array(name).type)
    except FormatError as error:
        if error.code == "column_damaged":
            raise
        cells = list_cells(table.columns[name])
        return cells is not None and isinstance(next(iter(cells), None), list)


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table that hold rankings and judgments.

    Args:
        queries: Integers, or the offsets of texts and the texts end to end.
        docs: The same, if there are documents.
        relevance: Grades, NaN where unjudged.
        scores: Scores, larger ones first; or ranks below zero.
        are_ranks: Whether scores are ranks below zero.
        ranks: Ranks, where there are scores as well.
        attributes: Names and columns of what belongs to the query.
        source: The columns of ids as the caller has them.
    """

    queries: IdColumn
    docs: IdColumn | None
    relevance: NDArray[Any]
    scores: NDArray[Any]
    are_ranks: bool
    ranks: NDArray[Any] | None
    attributes: list[tuple[str, IdColumn]]
    source: SourceIds

    def to_core(self) -> CoreColumns:
        """Return the columns in the order of the core's arguments."""
        return (
            self.queries,
            self.docs,
            self.relevance,
            self.scores,
            self.are_ranks,
            self.ranks,
            self.attributes,
        )


def read_table(
    table: object,
    names: Mapping[str, str | None],
    attributes: Sequence[str] = (),
    attribution: Attributed | None = None,
    *,
    ids: SourceIds | None = None,
) -> TableColumns:
    """Read a table whose rows hold a score, or a rank, and a grade."""
    found = FoundColumns(open_table(table), names, attributes)
    has_ranks, has_scores = (found.seek(role) is not None for role in ("rank", "score"))
    if not has_ranks:
        found.require("score")
    ranks = found.read_numbers("rank") if has_ranks else None
    scores = found.read_numbers("score") if has_scores or ranks is None else -ranks
    if attribution is None:
        relevance = found.read_numbers("relevance", allows_null=True)
    else:
        relevance = _read_labels(found.table, attribution)
    values = {
        name: read_typed_values(found.table.find(name, "attributes"), name) for name in attributes
    }
    types = (AttributeColumn(name, dtype) for name, (_, dtype) in values.items())
    return TableColumns(
        found.read_ids("query"),
        None if found.seek("doc") is None else found.read_ids("doc"),
        relevance,
        scores,
        not has_scores,
        ranks if has_scores else None,
        [(name, column) for name, (column, _) in values.items()],
        replace(ids or found.describe_ids(), attributes=tuple(types)),
    )


def _read_labels(table: NamedColumns, attributed: Attributed) -> NDArray[np.float64]:
    """Read the labels of a table as grades."""
    labels, name = table.find(attributed.labels, "labels"), attributed.predicted
    predicted = None if name is None else table.find(name, "predicted")
    return read_grades(labels, predicted, positive=attributed.positive, **attributed.settings)


def read_judged(
    table: object, names: Mapping[str, str | None], ids: SourceIds | None = None
) -> tuple[IdColumn, IdColumn, NDArray[Any], bool, SourceIds]:
    """Read a table whose rows hold a query, a document and its grade."""
    source = open_table(table)
    grade = find_grades(source.names, names)
    found = FoundColumns(source, {**names, "relevance": grade})
    queries, docs = found.read_ids("query"), found.read_ids("doc")
    ids = ids or found.describe_ids()
    if grade is None:
        return queries, docs, np.ones(count_ids(docs), dtype=np.int32), True, ids
    return queries, docs, found.read_numbers("relevance"), False, ids


def find_subtopics(table: object, names: Mapping[str, str | None]) -> str | None:
    """Find the column of subtopics in a table of judgments, if there is one."""
    return find_column(open_table(table).names, "subtopic", names.get("subtopic"))


def read_second(table: object, names: Mapping[str, str | None], second: str) -> IdColumn:
    """Read the column of subtopics or strata in a table of judgments."""
    return FoundColumns(open_table(table), names).read_ids(second)


def read_retrieved(
    table: object, names: Mapping[str, str | None]
) -> tuple[IdColumn, IdColumn, NDArray[Any], bool]:
    """Read a table whose rows hold a query, a document and its score; or its rank, if that is all.

    Scores are ranks below zero then, as is said last.
    """
    found = FoundColumns(open_table(table), names)
    # IDs first: a row that holds a whole list has no score, but that isn't what is wrong.
    queries, docs = found.read_ids("query"), found.read_ids("doc")
    if found.seek("score") is None and found.seek("rank") is not None:
        return queries, docs, -found.read_numbers("rank"), True
    return queries, docs, found.read_numbers("score"), False


class FoundColumns:
    """The columns of a table by their roles."""

    def __init__(
        self,
        table: NamedColumns,
        names: Mapping[str, str | None],
        attributes: Sequence[str] = (),
    ) -> None:
        self.table = table
        self.names = names
        self.attributes = attributes

    def seek(self, role: str) -> str | None:
        """Return the column of a role, `None` if there is none."""
        return find_column(self.table.names, role, self.names.get(role), self.attributes)

    def require(self, role: str) -> str:
        """Return the column of a role."""
        name = self.seek(role)
        if name is None:
            raise no_role(self.table.names, role)
        return name

    def read_ids(self, role: str) -> IdColumn:
        """Read the identifiers of a role."""
        name = self.require(role)
        return ids_of(self._array(name, "id_type"), name)

    def read_numbers(self, role: str, *, allows_null: bool = False) -> NDArray[Any]:
        """Read the numbers of a role."""
        name = self.require(role)
        if list_cells(self.table.columns[name]) is not None:
            return read_numbers(self.table.columns[name], name, role, allows_null=allows_null)
        values = self._array(name, code_of("text", role))
        return numbers_of(values, name, role, allows_null=allows_null)

    def _array(self, name: str, code: str) -> Foreign:
        try:
            return self.table.array(name)
        except FormatError as error:
            error.code = code if error.code == "column_type" else error.code
            raise

    def describe_ids(self) -> SourceIds:
        """Return the columns of ids as the caller has them."""
        return SourceIds(self._describe("query", "query_id"), self._describe("doc", "doc_id"))

    def _describe(self, role: str, default: str) -> SourceColumn:
        name = self.seek(role)
        return (
            SourceColumn(default)
            if name is None
            else SourceColumn(name, id_type(self.table.columns[name]))
        )

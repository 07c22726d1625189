"""Tables of any library in memory: their columns by name, and in place of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from rankscope._inputs.column_names import (
    BESIDE,
    CHECKS,
    ID_ROLES,
    ITEMS,
    NUMBER_ROLES,
    check_names,
    list_usual,
)
from rankscope._inputs.columnar import names_of, regroup, rows_of_batch
from rankscope._inputs.columns import (
    as_arrow,
    id_type,
    is_list,
    is_null_type,
    list_cells,
    read_numbers,
)
from rankscope._inputs.labels import as_labels
from rankscope._inputs.numbers import Foreign, code_of
from rankscope._inputs.recognition import (
    describe_value,
    is_of,
    is_table,
    library_of,
)
from rankscope._inputs.text import COMPUTED, Lines, Reader
from rankscope._names import fold
from rankscope.errors import FormatError, OutOfMemoryError

# What a whole ranking is in a column of Python objects.
LISTS = {list, tuple, np.ndarray}
# What brings here a table that a library holds elsewhere, by its module.
ELSEWHERE = {
    "pyspark": "use the function of the same name in rankscope.spark, or .toPandas() first",
    "dask": "bring it here first: .compute()",
    "modin": "bring it here first: .modin.to_pandas()",
    "cudf": "bring it here first: .to_pandas()",
    "duckdb": "give a relation, as connection.sql(…) makes it",
}


def open_table(table: Foreign) -> dict[str, Foreign]:
    """Return the columns of a table of any library by their names."""
    if isinstance(table, Mapping):
        return _name_columns(map(str, table), table.values())
    if is_of(table, "narwhals", "DataFrame") or is_of(table, "narwhals", "LazyFrame"):
        table = table.to_native()
    if is_of(table, "polars", "LazyFrame"):
        table = table.collect()
    if is_of(table, "polars", "DataFrame"):
        return {name: table.get_column(name) for name in table.columns}
    if is_of(table, "pandas", "DataFrame"):
        return _open_pandas(table)
    if is_of(table, "datasets", "Dataset"):
        table = table.with_format("arrow")[:]
    if is_of(table, "pyarrow.dataset", "Dataset"):
        table = table.to_table()
    if not is_table(table):
        raise _no_table(table)
    arrow = _read_arrow(table)
    return _name_columns(arrow.column_names, arrow.columns)


def _name_columns(names: Iterable[str], columns: Iterable[Foreign]) -> dict[str, Foreign]:
    """Return columns by their names, which differ."""
    listed = list(names)
    check_names(listed)
    return dict(zip(listed, columns, strict=True))


def _open_pandas(frame: Foreign) -> dict[str, Foreign]:
    if frame.columns.nlevels > 1:
        message = "expected one level of column names, found several"
        raise FormatError(message, hint="flatten the columns", code="columns")
    names = [str(name) for name in frame.columns]
    columns = _name_columns(names, (frame.iloc[:, at] for at in range(len(names))))
    return columns | _name_levels(frame.index, names)


def _name_levels(index: Foreign, names: Sequence[str]) -> dict[str, object]:
    """Return the levels of an index that are queries or documents, and that no column is.

    Two levels without names are query and document.
    """
    levels = list(index.names)
    of_both = [*names, *levels]
    roles = {name: role for role in ("query", "doc") for name in list_usual(of_both, role)}
    if index.nlevels == 2 and levels == [None, None] and not any(name in roles for name in names):
        levels = ["query_id", "doc_id"]

    def is_free(level: str) -> bool:
        """Return whether no column has the role of a level, or only one that means less there."""
        role = roles.get(level)
        weak = BESIDE[role][1] if role else ()
        columns = [name for name in names if role and roles.get(name) == role]
        return all(fold(name) in weak and fold(level) not in weak for name in columns)

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
    import pyarrow as pa

    try:
        if isinstance(table, pa.Table):
            return table
        if hasattr(table, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(table).read_all()
        return pa.record_batch(table)
    except (TypeError, ValueError, NotImplementedError) as error:  # Arrow's errors are of these
        raise _no_table(table) from error
    except MemoryError as error:
        message = f"not enough memory to read the {type(table).__name__}"
        hint = "pass only the columns that are needed, or write the table to a Parquet file"
        raise OutOfMemoryError(message, hint=hint, code="memory") from error


def _no_table(table: object) -> FormatError:
    hint = ELSEWHERE.get(library_of(table).strip("_"), "give a data frame, or an Arrow table")
    message = f"expected a table, found {describe_value(table)}"
    return FormatError(message, hint=hint, code="input_type")


class MemoryTable(Reader):
    """A table in memory in place of a file, as one batch of the wanted columns."""

    code, hint = COMPUTED

    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names of the columns."""
        import pyarrow as pa

        self._table = open_table(self.opened.source)
        self._lists = _read_lists(self._table)
        _, inside = names_of(pa.schema((name, array.type) for name, array in self._lists.items()))
        return [*self._table], inside

    def infer_schema(self, names: Sequence[str]) -> Foreign:  # noqa: ARG002 - by their roles
        """Convert the wanted columns, and return their types."""
        import pyarrow as pa

        table, arrays, self.id_types = self._table, {}, {}
        for role, column in [*self.columns.items()]:
            outer = column if column in table else column.rpartition(".")[0]
            kind = "labels" if role in self.opened.selection.labels else role
            try:
                arrays[outer] = self._lists.get(outer) or _convert(table[outer], outer, kind)
            except FormatError:
                if not role.startswith(CHECKS):
                    raise
                del self.columns[role]
            if role in ID_ROLES and outer == column:
                self.id_types[role] = id_type(table[column], arrays[column])
        rows = {column: len(array) for column, array in arrays.items()}
        if len(set(rows.values())) > 1:
            short, long = min(rows, key=rows.__getitem__), max(rows, key=rows.__getitem__)
            counts = f"{rows[short]} rows in {short} and {rows[long]} in {long}"
            hint = "every row needs a value in every column"
            message = f"expected columns of one length, found {counts}"
            raise FormatError(message, hint=hint, code="length_mismatch")
        self._rows = pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))
        return self._rows.schema

    def read_batches(self) -> Iterator[tuple[Foreign, Lines]]:
        """Return all rows, those that hold lists in parts."""
        has_lists = any(map(is_list, self.inner.types))
        return regroup(
            [self._rows.select(self.inner.names)],
            rows_of_batch(self.inner) if has_lists else sys.maxsize,
        )


def _read_lists(table: Mapping[str, Foreign]) -> dict[str, Foreign]:
    """Read the columns that have the name and the type of a list of objects."""
    arrays = {}
    for name in filter(table.__contains__, ITEMS):
        try:
            arrays[name] = as_arrow(table[name], name)
        except FormatError as error:
            cells = list_cells(table[name])
            if error.code == "column_damaged" or (cells and isinstance(cells[0], list)):
                raise
    return {name: array for name, array in arrays.items() if is_list(array.type)}


def _convert(column: object, name: str, role: str) -> Foreign:
    """Convert a column for a role to Arrow."""
    import pyarrow as pa

    cells = list_cells(column)
    try:
        if role == "labels":
            return as_labels(column, name)
        if cells is None or role not in NUMBER_ROLES or LISTS & set(map(type, cells)):
            array = as_arrow(column, name)
            return array if len(array) else pa.nulls(0)
        is_missing = np.array([is_null_type(type(cell)) for cell in cells], dtype=bool)
        return pa.array(read_numbers(cells, name, role, allows_null=True), mask=is_missing)
    except FormatError as error:
        if error.code == "column_type":
            others = "id_type" if role in ID_ROLES else "attribute_type"
            error.code = code_of("text", role) if role in NUMBER_ROLES else others
        raise

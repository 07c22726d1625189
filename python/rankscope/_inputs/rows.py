"""The rows of a table of any library, or in files, by the roles of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rankscope._inputs.column_names import Selection
from rankscope._inputs.columns import (
    as_arrow,
    count_ids,
    ids_of,
    join,
    list_texts,
    numbers_of,
    read_ids,
    read_numbers,
    read_typed_values,
    simplify,
    to_array,
)
from rankscope._inputs.files import Progress
from rankscope._inputs.labels import read_grades
from rankscope._inputs.recognition import Input, recognise_table
from rankscope._inputs.table_files import TableFile
from rankscope._inputs.tables import open_table
from rankscope._inputs.text import parse_numbers
from rankscope._settings import Reading
from rankscope._show.table import AttributeColumn, SourceIds
from rankscope.errors import DuplicateError, FormatError, InputError, RankscopeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.reading import Attributed, Note

    Retrieved: TypeAlias = tuple[IdColumn, IdColumn, NDArray[Any], bool, NDArray[Any] | None]


class JoinedRows(NamedTuple):
    """The columns of a table that hold rankings and judgments, as the core takes them.

    Args:
        queries: Integers, or the offsets of texts and the texts end to end; or which of the queries
            each row has, and each of them once.
        docs: Integers or texts, if there are documents.
        relevance: Grades, NaN where unjudged.
        scores: Scores, larger ones first; or ranks below zero.
        are_ranks: Whether scores are ranks below zero.
        ranks: Ranks, where there are scores as well.
        attributes: Names and columns of what belongs to the query.
    """

    queries: IdColumn | tuple[NDArray[np.int32], IdColumn]
    docs: IdColumn | None
    relevance: NDArray[Any]
    scores: NDArray[Any]
    are_ranks: bool
    ranks: NDArray[Any] | None
    attributes: list[tuple[str, IdColumn]]


class Columns:
    """Some columns of a table.

    Attributes:
        names: The names of all its columns.
        columns: The name of the column of each role; further columns by their own names.
        is_text: Whether the table is delimited text, in which every further column is text.
        source: The columns of IDs as the caller has them.
    """

    def __init__(
        self,
        table: Mapping[str, Any],
        columns: Mapping[str, str],
        names: Sequence[str],
        source: SourceIds | None = None,
        *,
        is_text: bool = False,
    ) -> None:
        self.names = list(names)
        self.columns = columns
        self.is_text = is_text
        self.source = source or SourceIds()
        self._table = table
        self._is_checked = source is not None

    def ids(self, role: str) -> IdColumn:
        """Return the IDs of a role."""
        name = self.columns[role]
        if not self._is_checked:
            return read_ids(self._table[name], name)
        return ids_of(simplify(join(self._table[name])), name)

    def texts(self, role: str) -> list[str]:
        """Return the IDs of a role as text."""
        return list_texts(self.ids(role))

    def numbers(self, role: str, *, kind: str = "", allows_null: bool = False) -> NDArray[Any]:
        """Return the numbers of a role or a column, read as those of `kind`; NaN for no number."""
        import pyarrow as pa

        name, kind = self.columns.get(role, role), kind or role
        column = self.typed(name)
        if not self._is_checked:
            return read_numbers(column, name, kind, allows_null=allows_null)
        values = simplify(join(column))
        if self.is_text and pa.types.is_string(values.type):
            values = parse_numbers(values, kind)
        return numbers_of(values, name, kind, allows_null=allows_null)

    def values(self, name: str) -> tuple[IdColumn, str]:
        """Return any values as texts or integers, and their type."""
        return read_typed_values(self.column(name), name)

    def column(self, name: str) -> Any:  # noqa: ANN401 - of a library
        """Return a column as the table has it, or a field of the objects in its lists."""
        return self._table[name if name in self._table else self.columns[name]]

    def typed(self, name: str) -> Any:  # noqa: ANN401 - as above
        """Return a column; delimited text as numbers or truth values if it holds nothing else."""
        import pyarrow as pa

        column = self.column(name)
        if self.is_text and pa.types.is_string(column.type):
            for kind in (pa.float64(), pa.bool_()):
                with suppress(pa.ArrowInvalid):
                    return column.cast(kind)
        return column

    def retrieved(self) -> Retrieved:
        """Return queries, documents, scores or ranks below zero, which it is, and ranks beside."""
        queries, docs = self.ids("query"), self.ids("doc")
        return queries, docs, *self._ordered()

    def _ordered(self) -> tuple[NDArray[Any], bool, NDArray[Any] | None]:
        ranks = self.numbers("rank") if "rank" in self.columns else None
        if ranks is None or "score" in self.columns:
            return self.numbers("score"), False, ranks
        return -ranks, True, None

    def judged(self) -> tuple[IdColumn, IdColumn, NDArray[Any]]:
        """Return queries, documents and grades, which are all 1 where there is no such column."""
        import numpy as np

        queries, docs = self.ids("query"), self.ids("doc")
        if "relevance" not in self.columns:
            return queries, docs, np.ones(count_ids(docs), dtype=np.int32)
        return queries, docs, self.numbers("relevance")

    def joined(
        self, attributes: Sequence[str] = (), attributed: Attributed | None = None
    ) -> tuple[JoinedRows, SourceIds]:
        """Return rankings, their grades or labels, and attributes of queries, and their types."""
        scores, are_ranks, ranks = self._ordered()
        if attributed is None:
            relevance = self.numbers("relevance", allows_null=True)
        else:
            name = attributed.predicted
            predicted = None if name is None else self.column(name)
            rules, labels = attributed.settings, self.column(attributed.labels)
            relevance = read_grades(labels, predicted, positive=attributed.positive, **rules)
        values = {name: self.values(name) for name in attributes}
        types = (AttributeColumn(name, dtype) for name, (_, dtype) in values.items())
        rows = JoinedRows(
            self._read_queries(),
            self.ids("doc") if "doc" in self.columns else None,
            relevance,
            scores,
            are_ranks,
            ranks,
            [(name, column) for name, (column, _) in values.items()],
        )
        return rows, self.source._replace(attributes=tuple(types))

    def _read_queries(self) -> IdColumn | tuple[NDArray[np.int32], IdColumn]:
        """Return the query of each row; of rows in parts, their places in each query once."""
        import pyarrow as pa

        name = self.columns["query"]
        column = join(self._table[name]) if self._is_checked else None
        if column is None or not pa.types.is_dictionary(column.type) or column.null_count:
            return self.ids("query")
        if column.type.value_type == pa.uint64():  # a mistake in which has a row
            return self.ids("query")
        return to_array(column.indices), ids_of(column.dictionary, name)


def columns_of(rows: Any, file: TableFile) -> Columns:  # noqa: ANN401 - as above
    """Return all rows of some queries of a file, whose arrays were checked when they were read."""
    file.checks.note_splits(rows, file.columns)
    table = dict(zip(rows.column_names, rows.columns, strict=True))
    return Columns(table, file.columns, file.names, file.describe_ids(), is_text=file.is_text)


@contextmanager
def read_whole(file: TableFile, notes: list[Note] | None = None) -> Iterator[Columns]:
    """Read a table into memory, and place what is found wrong with it in the block."""
    import pyarrow as pa

    with file:
        rows = pa.Table.from_batches(list(file), file.schema)
        try:
            columns = columns_of(rows, file)
            if notes is not None:
                notes += file.notes
            yield columns
        except RankscopeError as error:
            raise file.place(error) from None


def read_pair(table: object, reading: Reading) -> tuple[Any, Any] | None:
    """Read the lists of relevant and of retrieved documents of each query; `None` for others."""
    roles = {"query": reading.columns.get("query"), "relevant": None, "retrieved": None}
    try:
        with open_columns(table, reading, roles, required=("relevant", "retrieved")) as columns:
            cells = {
                role: as_arrow(columns.column(name), name).to_pylist()
                for role, name in columns.columns.items()
            }
    except InputError:
        return None
    lists = (cells["relevant"], cells["retrieved"])
    if not all(isinstance(docs, list) for side in lists for docs in side):
        return None
    queries = cells.get("query", range(len(lists[0])))
    if len({*queries}) < len(queries):
        hint = "leave the column of queries out if each row is a query of its own"
        message = "expected one row for each query, found a query again"
        raise DuplicateError(message, hint=hint, code="duplicate_query", file="table")
    relevant, retrieved = (dict(zip(queries, side, strict=True)) for side in lists)
    return relevant, retrieved


@contextmanager
def open_columns(
    table: object,
    reading: Reading,
    roles: Mapping[str, str | None],
    others: Sequence[str] | None = (),
    *,
    required: Sequence[str] = (),
    besides: Sequence[str] = (),
    progress: Progress = None,
) -> Iterator[Columns]:
    """Open a table, and place what is found wrong with it in the block.

    The table can be recognised already. `others` are further columns, `None` for all that have no
    role; those of a table in memory are as it has them. `besides` aren't taken for a query if there
    is another column.
    """
    source = table if isinstance(table, Input) else recognise_table(table)
    needed = [[role] for role in required]
    try:
        if not source.format and others != ():
            columns_by_name = open_table(source.value)
            selection = Selection(roles, others or (), needed, besides)
            columns = selection.choose([*columns_by_name], {}, source.name)
            selection.require(columns, [*columns_by_name], source.name)
            yield Columns(columns_by_name, columns, [*columns_by_name])
            return
        named = {**roles, **source.columns}
        if others is None:
            selection = Selection(named, (), needed, besides, is_flat=True)
            with TableFile(source, selection, reading) as file:
                others = [name for name in file.names if name not in file.columns.values()]
        make = partial(Selection, named, others, needed, besides, is_flat=others != ())
        # Whole numbers of JSON keep all digits, unless others of their column aren't whole.
        is_known = source.format != "jsonl" or source.is_once
        with ExitStack() as stack:

            def enter(*, is_real: bool) -> Columns:
                file = TableFile(source, make(has_real_numbers=is_real), reading, progress)
                return stack.enter_context(read_whole(file))

            try:
                rows = enter(is_real=is_known)
            except FormatError:
                if is_known:
                    raise
                rows = enter(is_real=True)
            yield rows
    except InputError as error:
        error.file = error.file or source.name
        raise

"""The columns of a table of any library, or in files, by the roles and names that are wanted."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from rankscope._inputs.columns import list_texts, read_ids, read_numbers, read_typed_values
from rankscope._inputs.letor_file import parse_numbers
from rankscope._inputs.recognition import Input, recognise_table
from rankscope._inputs.roles import Wanted
from rankscope._inputs.table_files import TableFile
from rankscope._inputs.tables import open_table
from rankscope.deferred import pa
from rankscope.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.files import Progress
    from rankscope.settings.reading import Reading


class Columns:
    """Some columns of a table.

    Attributes:
        name: What messages call the table.
        names: The names of all its columns.
        columns: The name of the column of each role; further columns by their own names.
        is_text: Whether the table is delimited text, in which every further column is text.
    """

    def __init__(
        self,
        name: str,
        names: list[str],
        columns: Mapping[str, str],
        table: Mapping[str, Any],
        *,
        is_text: bool,
    ) -> None:
        self.name = name
        self.names = names
        self.columns = columns
        self.is_text = is_text
        self._table = table

    def ids(self, role: str) -> IdColumn:
        """Return the IDs of a role."""
        name = self.columns[role]
        return read_ids(self._table[name], name)

    def texts(self, role: str) -> list[str]:
        """Return the IDs of a role as text."""
        return list_texts(self.ids(role))

    def numbers(self, role: str, *, kind: str = "", allows_null: bool = False) -> NDArray[Any]:
        """Return the numbers of a role or a column, read as those of `kind`; NaN for no number."""
        name, kind = self.columns.get(role, role), kind or role
        column = self.typed(name)
        if self.is_text and pa.types.is_string(column.type):
            column = parse_numbers(column.combine_chunks(), kind)
        return read_numbers(column, name, kind, allows_null=allows_null)

    def values(self, name: str) -> tuple[IdColumn, str]:
        """Return any values as texts or integers, and their type."""
        return read_typed_values(self._table[name], name)

    def column(self, name: str) -> Any:  # noqa: ANN401 - of a library
        """Return a column as the table has it."""
        return self._table[name]

    def typed(self, name: str) -> Any:  # noqa: ANN401 - as above
        """Return a column; delimited text as numbers or truth values if it holds nothing else."""
        column = self._table[name]
        if self.is_text and pa.types.is_string(column.type):
            for kind in (pa.float64(), pa.bool_()):
                with suppress(pa.ArrowInvalid):
                    return column.cast(kind)
        return column


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

    Args:
        table: A table of any library, or in files; or one that was recognised.
        reading: How files are read.
        roles: By role, the name of its column, or `None` to find it by its usual names.
        others: The names of further columns, `None` for all that have no role.
        required: The roles of which there must be a column.
        besides: Columns that aren't taken for a query if there is another one.
        progress: A function that is called with the bytes of files read so far.
    """
    given = table if isinstance(table, Input) else recognise_table(table)
    try:
        if not given.format:
            source = open_table(given.value)
            wanted = Wanted(roles, others or (), [[role] for role in required], besides)
            columns = wanted.choose(source.names, {}, given.name)
            wanted.require(columns, source.names, given.name)
            columns = _add_others(columns, source.names, others)
            yield Columns(given.name, source.names, columns, source.columns, is_text=False)
            return
        named = {**roles, **given.columns}
        needed = [[role] for role in required]
        if others is None:
            with TableFile(given, Wanted(named, (), needed, besides), reading) as file:
                others = [name for name in file.names if name not in file.columns.values()]
        # Whole numbers of JSON keep all digits, unless others of their column aren't whole.
        is_real = given.format != "jsonl" or given.is_once
        wanted = Wanted(named, others, needed, besides, has_real_numbers=is_real)
        with ExitStack() as stack:
            try:
                file, rows = _read(stack, given, wanted, reading, progress)
            except FormatError:
                if is_real:
                    raise
                wanted = replace(wanted, has_real_numbers=True)
                file, rows = _read(stack, given, wanted, reading, progress)
            held = dict(zip(rows.column_names, rows.columns, strict=True))
            is_text = given.format in {"csv", "tsv"}
            try:
                yield Columns(given.name, file.names, file.columns, held, is_text=is_text)
            except InputError as error:
                raise file.place(error) from None
    except InputError as error:
        error.file = error.file or given.name
        raise


def _read(
    stack: ExitStack, given: Input, wanted: Wanted, reading: Reading, progress: Progress
) -> tuple[TableFile, Any]:
    file = stack.enter_context(TableFile(given, wanted, reading, progress))
    return file, pa.Table.from_batches(list(file), file.schema)


def _add_others(
    columns: dict[str, str], names: Sequence[str], others: Sequence[str] | None
) -> dict[str, str]:
    if others is not None:
        return columns
    return {name: name for name in names if name not in columns.values()} | columns

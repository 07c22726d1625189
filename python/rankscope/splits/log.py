"""The log of a split: its users, items and times as codes, and some of its rows as a table."""

from __future__ import annotations

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.column_names import TIMES, guess_column, list_names
from rankscope._inputs.item_tables import QUERIES, TEXT_FORMATS, type_cells
from rankscope._inputs.recognition import recognise_table
from rankscope._inputs.rows import hold_table, spell_rows, take_rows
from rankscope._inputs.tables import FoundColumns, open_table
from rankscope._inputs.times import read_times
from rankscope.deferred import np
from rankscope.errors import FormatError, InputError
from rankscope.records import record
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.recognition import Input
    from rankscope._inputs.rows import Foreign, Rows
    from rankscope._inputs.times import Times

WHO = {"query": "users", "doc": "items"}
"""What the columns of these roles hold here."""


@record(frozen=True, slots=True)
class Log:
    """A log of interactions, one per row.

    Args:
        table: The log as a mapping, a data frame or an Arrow table.
        users: The user of each row, as a code from 0.
        items: The item of each row, as a code from 0.
        times: The time of each row.
        grades: The grade of each row; `None` if there are no grades.
        time: The name of the column of times.
        others: The names of columns without a role.
    """

    table: Foreign
    users: Rows
    items: Rows
    times: Times
    grades: NDArray[np.float64] | None
    time: str
    others: tuple[str, ...]

    def pairs(self, rows: Rows) -> Rows:
        """Return one number for each pair of user and item."""
        width = int(self.items.max()) + 1
        return self.users[rows] * width + self.items[rows]

    def take(self, rows: Rows, *, without: str = "") -> Foreign:
        """Return some of the rows as the same kind of table, in the order of the log."""
        return take_rows(self.table, rows, without=without)

    def spell(self, rows: Rows) -> list[str]:
        """Return the columns without a role as one text for each row."""
        columns = open_table(self.table).columns
        return spell_rows([columns[name] for name in self.others], rows)


def read_log(given: object, names: Mapping[str, str | None], time: str | None) -> Log:
    """Read a log, given the columns by role."""
    found = recognise_table(given)
    try:
        if found.format:
            return _read_files(found, {**names, **found.columns}, time)
        return _read(hold_table(found.value), names, time)
    except InputError as error:
        error.file = error.file or found.name
        raise


def _read(table: Foreign, names: Mapping[str, str | None], time: str | None) -> Log:
    source = open_table(table)
    columns = FoundColumns(source, names, QUERIES)
    for role, what in WHO.items():
        if columns.seek(role) is None:
            raise FormatError(
                f"expected a column of {what}, such as {what[:-1]}_id, found "
                f"{list_names(source.names)}",
                hint=f"name it: {role}={guess_column(source.names, role)!r}",
                code="columns",
            )
    users, items = _encode(columns.read_ids("query")), _encode(columns.read_ids("doc"))
    moment = _find_time(source.names, time)
    grade = columns.seek("relevance")
    grades = None
    if grade is not None:
        grades = np.asarray(columns.read_numbers("relevance", allows_null=True), dtype=np.float64)
    known = {columns.seek("query"), columns.seek("doc"), moment, grade}
    return Log(
        table,
        users,
        items,
        read_times(source.columns[moment], moment),
        grades,
        moment,
        tuple(name for name in source.names if name not in known),
    )


def _find_time(names: Sequence[str], given: str | None) -> str:
    if given is not None and given in names:
        return given
    found = [name for name in names if name in TIMES] if given is None else []
    if len(found) == 1:
        return found[0]
    wanted = f"the column {given!r} of times" if given else "a column of times"
    raise FormatError(
        f"expected one column of times, found {' and '.join(found)}"
        if found
        else f"expected {wanted}, found {list_names(names)}",
        hint=f"name it: time={(found or ['played_at'])[0]!r}",
        code="columns",
    )


def _read_files(found: Input, names: Mapping[str, str | None], time: str | None) -> Log:
    """Read files with all of their columns."""
    from rankscope._inputs.roles import Wanted  # noqa: PLC0415 - only files need it
    from rankscope._inputs.table_files import TableFile  # noqa: PLC0415 - as above

    reading = Reading.read()
    with TableFile(found, Wanted(names, besides=QUERIES), reading) as file:
        roles = {**names, **file.columns}
        others = [name for name in file.names if name not in {*file.columns.values()}]
    with TableFile(found, Wanted(roles, others, besides=QUERIES), reading) as file:
        table = load_arrow().Table.from_batches(list(file), file.schema)
        if found.format in TEXT_FORMATS:
            table = type_cells(table, others)
        try:
            return _read(table, names, time)
        except InputError as error:
            raise file.place(error) from None


def _encode(ids: IdColumn) -> Rows:
    """Return ids as codes from 0."""
    if not isinstance(ids, tuple):
        return np.unique(ids, return_inverse=True)[1]
    pa = load_arrow()
    offsets, texts = ids
    held = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(texts)
    )
    return np.asarray(held.dictionary_encode().indices.to_numpy(), dtype=np.int64)

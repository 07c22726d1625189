"""Logs of impressions as columns of numbers and of codes."""

from __future__ import annotations

import math

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.columns import read_numbers, read_values
from rankscope._inputs.files.roles import Wanted
from rankscope._inputs.files.table import TableFile
from rankscope._inputs.open_column import open_column
from rankscope._inputs.columns import list_texts as decode
from rankscope._inputs.recognition import recognise_table
from rankscope._inputs.tables import FoundColumns, open_table
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError, InputError
from rankscope.names import quote
from rankscope.output.ids import MISSING
from rankscope.records import record
from rankscope.stats.scatter import scatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.settings.reading import Reading

    Foreign: TypeAlias = Any  # a column of another library


def order_rows(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the places of rows in an order of their contents in which rounded sums are added."""
    mixed = np.zeros(1, dtype=np.uint64)
    for column in columns:
        # Zeros of both signs are equal, and so is all that is missing.
        numbers = np.where(np.isnan(column), np.nan, column + 0.0)
        mixed = scatter(mixed ^ np.ascontiguousarray(numbers).view(np.uint64), 0)
    return np.argsort(mixed, kind="stable")


USUAL = {
    "reward": ("reward", "rewards", "clicked", "clicks", "is_clicked", "conversion", "purchase"),
    "propensity": ("propensity_score", "propensities", "pscore", "action_prob", "p"),
}
"""Names that columns often have, to suggest one of them."""


USERS = ("user_id", "user")
"""Columns that can be those of queries, but are clusters beside another one."""


MOST_SHOWN = 20
"""How many names of columns an error lists."""


@record(frozen=True, slots=True, kw_only=True)
class Values:
    """A column of ids or other values, as codes.

    Args:
        codes: The number of the value of each row, from 0 in the order of the texts.
        texts: The values as text, by number.
    """

    codes: NDArray[np.int64]
    texts: tuple[str, ...]

    def take(self, rows: NDArray[np.int64]) -> Values:
        """Return the values of some rows."""
        return Values(codes=self.codes[rows], texts=self.texts)

    def separate(self) -> NDArray[np.int64]:
        """Return the codes as clusters, from 0: each row without a value is one of its own."""
        codes = self.codes
        if MISSING in self.texts:
            is_missing = codes == self.texts.index(MISSING)
            alone = np.arange(int(is_missing.sum())) + len(self.texts)
            codes = codes.copy()
            codes[is_missing] = alone
        made: NDArray[np.int64] = np.unique(codes, return_inverse=True)[1]
        return made


@record(frozen=True, slots=True, kw_only=True)
class Log:
    """The columns of a log.

    Args:
        numbers: Columns of float64 by role.
        values: Columns of ids by role.
    """

    numbers: Mapping[str, NDArray[np.float64]]
    values: Mapping[str, Values]

    def __len__(self) -> int:
        return next((len(column) for column in self.numbers.values()), 0)

    @property
    def columns(self) -> list[NDArray[Any]]:
        """All columns, those of ids as codes."""
        return [*self.numbers.values(), *(each.codes for each in self.values.values())]

    def take(self, rows: NDArray[np.int64]) -> Log:
        """Return some rows."""
        return Log(
            numbers={role: column[rows] for role, column in self.numbers.items()},
            values={role: column.take(rows) for role, column in self.values.items()},
        )


def read_log(
    log: object,
    reading: Reading,
    *,
    numbers: Mapping[str, str],
    values: Mapping[str, str],
    found: Mapping[str, str | None] | None = None,
    called: Mapping[str, str] | None = None,
) -> Log:
    """Read columns of a log whose rows are documents that were shown."""
    given = recognise_table(log)
    found = found or {}
    named = {**numbers, **values}
    besides = (*USERS, *values.values())
    try:
        if not given.format:
            table, roles = given.value, found
        else:
            roles = {role: given.columns.get(role, name) for role, name in found.items()}
            others = list(dict.fromkeys(named.values()))
            with TableFile(given, Wanted(roles, others, besides=besides), reading) as file:
                table = load_arrow().Table.from_batches(list(file), file.schema)
                roles = {role: file.columns.get(role) for role in found}
                has = file.names
        source = open_table(table)
        has = source.names if not given.format else has
        _refuse_missing(named, has)
        columns = FoundColumns(source, roles, besides)
        names = {role: columns.seek(role) for role in found}
        _refuse_unfound(names, has, called or {})
        held = {role: source.columns[name] for role, name in named.items()}
        held |= {role: source.columns[name] for role, name in names.items() if name}
        read = Log(
            numbers={
                role: _read_numbers(held[role], named.get(role, role))
                for role in [*numbers, *(role for role in found if role == "rank")]
            },
            values={
                role: _read_codes(held[role], named.get(role, role))
                for role in [*values, *(role for role in found if role != "rank")]
            },
        )
    except InputError as error:
        error.file = error.file or given.name
        raise
    _check_lengths(read, named)
    if not len(read):
        raise EmptyError(
            "the log has no rows",
            hint="pass one row for each document that was shown, clicked or not",
            code="empty_input",
        )
    return read


def _refuse_missing(named: Mapping[str, str], has: Sequence[str]) -> None:
    for role, name in named.items():
        if name not in has:
            likely = [each for each in USUAL.get(role, ()) if each in has]
            raise FormatError(
                f"expected the column {quote(name)} of {role}, found {_list_names(has)}",
                hint=f"name it: {role}={likely[0] if likely else f'my_{role}'!r}",
                code="columns",
            )


def _refuse_unfound(
    names: Mapping[str, str | None], has: Sequence[str], called: Mapping[str, str]
) -> None:
    for role, name in names.items():
        if name is None:
            what = called.get(role, role)
            raise FormatError(
                f"expected a column of {what}, found {_list_names(has)}",
                hint=f"name it: {what}='my_{what}'",
                code="columns",
            )


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(map(quote, names[:MOST_SHOWN]))
    return f"{shown} and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else shown


def _check_lengths(read: Log, named: Mapping[str, str]) -> None:
    lengths = {role: len(column) for role, column in read.numbers.items()}
    lengths |= {role: len(column.codes) for role, column in read.values.items()}
    (first, count), *others = lengths.items()
    for role, length in others:
        if length != count:
            raise FormatError(
                f"expected columns of one length, found {count} rows of {named.get(first, first)} "
                f"and {length} of {named.get(role, role)}",
                hint="pass a table with one row for each document shown",
                code="column_length",
            )


def _read_numbers(column: Foreign, name: str) -> NDArray[np.float64]:
    """Read numbers, also truth values, and texts as files without types have them."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if isinstance(column, list | tuple) and column and all(type(each) is bool for each in column):
        return np.array(column, dtype=np.float64)
    if kind.startswith("bool"):
        column = open_column(column, name, lambda found: FormatError(found, code="not_numeric"))
        column = column.cast("int8") if hasattr(column, "cast") else column.astype("int8")
    elif "string" in kind and hasattr(column, "to_pylist"):
        return np.array(list(_parse(column.to_pylist(), name)))
    numbers = np.asarray(read_numbers(column, name, name), dtype=np.float64)
    is_bad = ~np.isfinite(numbers)
    if is_bad.any():
        at = int(np.argmax(is_bad))
        raise _not_a_number(name, f"{numbers[at]:g}", at + 1)
    return numbers


def _parse(texts: Sequence[str | None], name: str) -> Iterator[float]:
    words = {"true": 1.0, "false": 0.0}
    for at, text in enumerate(texts, start=1):
        try:
            number = words[text.lower()] if text and text.lower() in words else float(text or "")
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise _not_a_number(name, f"{text or 'nothing'!r:.120}", at)
        yield number


def _not_a_number(name: str, found: str, row: int) -> FormatError:
    return FormatError(
        f"expected numbers in {name}, found {found} in row {row:,}",
        hint="name another column, or drop such rows",
        code="not_numeric",
    )


def _read_codes(column: Foreign, name: str) -> Values:

    read = read_values(column, name)
    if not isinstance(read, tuple):
        kinds, codes = np.unique(read, return_inverse=True)
        names = [str(kind) for kind in kinds.tolist()]
    else:
        known: dict[str, int] = {}
        found = (known.setdefault(text, len(known)) for text in decode(read))
        codes, names = np.fromiter(found, dtype=np.int64), [*known]
    places = {text: place for place, text in enumerate(sorted(names))}
    return Values(codes=np.array([places[text] for text in names])[codes], texts=tuple(places))


MOST_RANKS = 10_000

"""Logs of impressions as columns of numbers and of codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.columns import to_arrow
from rankscope._inputs.rows import open_columns
from rankscope.errors import EmptyError, FormatError
from rankscope.names import quote
from rankscope.output.ids import MISSING
from rankscope.stats.scatter import scatter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.rows import Columns
    from rankscope.settings.reading import Reading


def order_rows(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the places of rows in an order of their contents in which rounded sums are added."""
    mixed = np.zeros(1, dtype=np.uint64)
    for column in columns:
        # Zeros of both signs are equal, and so is all that is missing.
        numbers = np.where(np.isnan(column), np.nan, column + 0.0)
        mixed = scatter(mixed ^ np.ascontiguousarray(numbers).view(np.uint64), 0)
    return np.argsort(mixed, kind="stable")


USERS = ("user_id", "user")
"""Columns that can be those of queries, but are clusters beside another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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
    roles, called = found or {}, called or {}
    named = {**numbers, **values}
    others = list(dict.fromkeys(named.values()))
    besides = (*USERS, *values.values())
    try:
        with open_columns(
            log, reading, roles, others, required=list(roles), besides=besides
        ) as columns:
            named |= {role: columns.columns[role] for role in roles}
            read = Log(
                numbers={
                    role: _read_numbers(columns, named[role])
                    for role in named
                    if role in numbers or role == "rank"
                },
                values={
                    role: _read_codes(columns.values(named[role])[0])
                    for role in named
                    if role not in numbers and role != "rank"
                },
            )
    except FormatError as error:
        if error.code == "columns":
            texts = {called.get(role, role): name for role, name in {**roles, **named}.items()}
            choices = ", ".join(f"{role}={name or f'my_{role}'!r}" for role, name in texts.items())
            error.hint = f"name the columns: {choices}"
        raise
    lengths = {named[role]: len(column) for role, column in read.numbers.items()}
    lengths |= {named[role]: len(column.codes) for role, column in read.values.items()}
    if len(set(lengths.values())) > 1:
        rows = ", ".join(f"{count} of {quote(name)}" for name, count in lengths.items())
        raise FormatError(
            f"expected columns of one length, found {rows}",
            hint="pass a table with one row for each document shown",
            code="column_length",
        )
    if not len(read):
        raise EmptyError(
            "the log has no rows",
            hint="pass one row for each document that was shown, clicked or not",
            code="empty_input",
        )
    return read


def _read_numbers(columns: Columns, name: str) -> NDArray[np.float64]:
    """Read numbers, also truth values."""
    try:
        numbers = np.asarray(columns.numbers(name, kind="relevance"), dtype=np.float64)
    except FormatError as error:
        error.code = "not_numeric"
        raise
    for at in np.flatnonzero(~np.isfinite(numbers))[:1].tolist():
        raise FormatError(
            f"expected numbers in {name}, found {numbers[at]:g} in row {at + 1:,}",
            hint="name another column, or drop such rows",
            code="not_numeric",
        )
    return numbers


def _read_codes(values: IdColumn) -> Values:
    encoded = to_arrow(values).cast("large_string").dictionary_encode()
    names = np.array(encoded.dictionary.to_pylist(), dtype=object)
    texts, places = np.unique(names, return_inverse=True)
    return Values(codes=places[np.asarray(encoded.indices)], texts=tuple(texts.tolist()))


MOST_RANKS = 10_000

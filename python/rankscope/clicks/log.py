"""Reads the log of a policy: numbers such as rewards, and ids such as items and users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankscope._inputs.columns import to_arrow
from rankscope._inputs.rows import Columns, open_columns
from rankscope._names import quote
from rankscope._settings import Reading
from rankscope._show.table import MISSING
from rankscope._stats.sums import scatter
from rankscope.errors import EmptyError, FormatError

if TYPE_CHECKING:
    from rankscope._inputs.columns import IdColumn

USERS = ("user_id", "user")
"""Columns that can be those of queries, but are clusters beside another one."""


@dataclass(frozen=True, slots=True)
class Values:
    """A column of ids or other values: texts in order, and the number of the text of each row."""

    codes: NDArray[np.int64]
    texts: tuple[str, ...]

    def separate(self) -> NDArray[np.int64]:
        """Return the codes as clusters, from 0: each row without a value is one of its own."""
        codes = self.codes
        if MISSING in self.texts:
            is_missing = codes == self.texts.index(MISSING)
            codes = codes.copy()
            codes[is_missing] = np.arange(int(is_missing.sum())) + len(self.texts)
        clusters: NDArray[np.int64] = np.unique(codes, return_inverse=True)[1]
        return clusters


@dataclass(frozen=True, slots=True)
class Log:
    """The columns of a log by role."""

    numbers: Mapping[str, NDArray[np.float64]]
    values: Mapping[str, Values]

    def __len__(self) -> int:
        return len(self.numbers["reward"])

    def sort(self) -> Log:
        """Return the rows in an order of their contents, in which rounded sums are added."""
        mixed = np.zeros(1, dtype=np.uint64)
        columns: list[NDArray[Any]] = [*self.numbers.values()]
        for column in (*columns, *(values.codes for values in self.values.values())):
            # Zeros of both signs are equal, and so is all that is missing.
            numbers = np.where(np.isnan(column), np.nan, column + 0.0)
            mixed = scatter(mixed ^ np.ascontiguousarray(numbers).view(np.uint64), 0)
        rows = np.argsort(mixed, kind="stable")
        return Log(
            {role: column[rows] for role, column in self.numbers.items()},
            {
                role: Values(column.codes[rows], column.texts)
                for role, column in self.values.items()
            },
        )


def read_log(
    log: object,
    reading: Reading,
    *,
    ids: Mapping[str, str | None],
    numbers: Mapping[str, str | None],
    values: Mapping[str, str | None],
) -> Log:
    """Read columns of a log; those of `ids` are found by their usual names if they have none."""
    named = {role: name for role, name in {**numbers, **values}.items() if name is not None}
    others, besides = [*dict.fromkeys(named.values())], [*USERS, *filter(None, values.values())]
    try:
        with open_columns(log, reading, ids, others, required=[*ids], besides=besides) as columns:
            named |= {role: columns.columns[role] for role in ids}
            read = Log(
                {
                    role: _read_numbers(columns, name)
                    for role, name in named.items()
                    if role in numbers or role == "rank"
                },
                {
                    role: _read_codes(columns.values(name)[0])
                    for role, name in named.items()
                    if role in values or role == "doc"
                },
            )
    except FormatError as error:
        if error.code == "columns":
            arguments = {
                "item" if role == "doc" else role: n for role, n in {**ids, **named}.items()
            }
            choices = (f"{role}={name or f'my_{role}'!r}" for role, name in arguments.items())
            error.hint = f"name the columns: {', '.join(choices)}"
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
    return Values(places[np.asarray(encoded.indices)], tuple(texts.tolist()))

"""What is known of items besides judgments: the history, the catalogue, and what items are like."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankscope._core import Items as CoreItems
from rankscope._core import Judgments
from rankscope._inputs.column_names import SYNONYMS, USERS, list_usual
from rankscope._inputs.columns import count_ids, read_ids
from rankscope._inputs.item_attributes import describe_columns, describe_mapping
from rankscope._inputs.reading import read_judgments, read_lines, refuse_unnamed_columns
from rankscope._inputs.recognition import is_single_column, is_table, recognise
from rankscope._inputs.rows import open_columns
from rankscope.errors import EmptyError, FormatError, InputError
from rankscope.file import File
from rankscope.names import MOST_NAMES, quote
from rankscope.records import replace

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.item_attributes import Described
    from rankscope._inputs.rows import Columns
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.reading import Reading
    from rankscope.typing import HistoryLike

    Parts: TypeAlias = tuple[IdColumn | None, Judgments | None, Described | None]
    """The catalogue, the history, and the items that are described."""

QUERIES = tuple(name for name in SYNONYMS["query"] if name not in USERS)
"""Names of queries, which aren't taken for the user of a history that has a column of users."""
FILES = (str, bytes, os.PathLike, File)
PAIR = (tuple, list)


@dataclass(frozen=True, slots=True)
class Items:
    """What is known of items, from `read_items`, to pass to `evaluate`.

    Args:
        known: The history, the attributes and the catalogue in the core.
        parts: What the core was given.
        given: What was passed to `read_items`.
        notes: What was suspicious but legal in the attributes.
    """

    known: CoreItems
    parts: Parts
    given: frozenset[str]
    notes: tuple[Diagnostic, ...] = ()

    @property
    def attributes(self) -> Literal["", "vectors", "categories"]:
        """Whether items have `"vectors"` of numbers, or `"categories"`; empty if neither."""
        has_categories = self.known.has_categories()
        return "" if has_categories is None else "categories" if has_categories else "vectors"

    def __repr__(self) -> str:
        return f"Items({', '.join(sorted(self.given))}; {self.known.offered()} items)"

    def __reduce__(self) -> tuple[object, ...]:
        return make_items, (self.parts, self.given, self.notes)


def make_items(parts: Parts, given: frozenset[str], notes: tuple[Diagnostic, ...] = ()) -> Items:
    """Bring the parts together in the core."""
    return Items(CoreItems(*parts), parts, given, notes)


def read_history(history: HistoryLike, reading: Reading) -> Judgments:
    """Read the interactions of users with items; each pair counts once, whatever its grade."""
    try:
        rows = recognise(_name_pairs(history), "history", reading.columns)
        if rows.kind != "table":
            refuse_unnamed_columns(rows, "history")
            return read_judgments(rows, replace(reading, duplicates="max"), notes=[])[0]
        roles = {role: reading.columns.get(role) for role in ("query", "doc")}
        with open_columns(rows, reading, roles, required=list(roles), besides=QUERIES) as table:
            users, items = table.ids("query"), table.ids("doc")
            ones = np.ones(count_ids(items), dtype=np.int32)
            return Judgments.from_columns(users, items, ones, "max")
    except InputError as error:
        if error.file in {None, "qrels"}:
            error.file = "history"
        if error.code == "row_shape":
            error.message = "expected rows that are all (user, item), or all (user, item, grade)"
        if isinstance(error, EmptyError):
            error.message = "expected interactions of users with items, found none"
            error.hint = "is the history empty, or the download cut off?"
        raise


def _name_pairs(history: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return pairs of user and item as rows with a grade, and an array of them as columns."""
    rows: Any = list(history) if isinstance(history, Iterator) else history
    if hasattr(rows, "dtype") and rows.shape[1:] == (2,):
        return dict(zip(("user_id", "item_id"), rows.T, strict=True))
    if isinstance(rows, PAIR) and rows and isinstance(rows[0], PAIR) and len(rows[0]) == 2:
        return [(*row, 1) if isinstance(row, PAIR) else row for row in rows]
    return rows


def read_catalogue(catalogue: Any, reading: Reading) -> IdColumn:  # noqa: ANN401 - of any kind
    """Read the items that can be recommended: ids, a table with a column of items, or lines."""
    if isinstance(catalogue, FILES):
        file = recognise(catalogue, "catalogue", reading.columns)
        if file.kind == "file":
            lines = read_lines(file, reading.encoding)
            has_header = bool(list_usual(lines[:1], "doc"))
            return read_ids(lines[has_header:], "catalogue")
    elif is_single_column(catalogue) or hasattr(catalogue, "dtype"):
        return read_ids(catalogue, "catalogue")
    elif isinstance(catalogue, Iterable) and not is_table(catalogue):
        catalogue = list(catalogue)
        if not catalogue or not isinstance(catalogue[0], Mapping):
            return read_ids(catalogue, "catalogue")
    with _open_items(catalogue, reading) as table:
        return table.ids("doc")


def describe_items(items: Any, reading: Reading) -> tuple[Described, tuple[Diagnostic, ...]]:  # noqa: ANN401 - of any kind
    """Read what items are like, and note what is suspicious but legal."""
    notes: list[Diagnostic] = []
    try:
        if isinstance(items, Mapping):
            named = [items[name] for name in list_usual(islice(items, MOST_NAMES), "doc")]
            if not any(isinstance(ids, Sized) and not isinstance(ids, str) for ids in named):
                return describe_mapping(items, notes), tuple(notes)
        with _open_items(items, reading) as table:
            item = table.columns["doc"]
            columns = {name: table.typed(name) for name in table.names if name != item}
            return describe_columns(table.ids("doc"), columns, notes), tuple(notes)
    except InputError as error:
        if error.code == "unknown_format":
            refuse_unnamed_columns(recognise(items, "items"), "items")
        if error.code == "columns" and hasattr(items, "reset_index"):
            error.hint = f"{error.hint}; if they are the index of the frame, .reset_index()"
        error.file = "items" if error.file in {None, "table"} else error.file
        raise


@contextmanager
def _open_items(items: object, reading: Reading) -> Iterator[Columns]:
    """Open a table of items with all of its columns."""
    roles = {"doc": reading.columns.get("doc")}
    with open_columns(items, reading, roles, None, required=["doc"]) as table:
        for user in list_usual(table.names, "user"):
            message = f"expected what items are like, found a column of users, {quote(user)}"
            hint = "if these are the interactions of users with items, write history="
            raise FormatError(message, hint=hint, code="columns")
        yield table

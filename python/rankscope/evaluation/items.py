"""Read what is known of items, to evaluate recommendations."""

from __future__ import annotations

from rankscope.engine.items import load_items
from rankscope.engine.requests import read_columns
from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from rankscope.inputs.items import Items
    from rankscope.typing import HistoryLike


def read_items(
    items: object = None,
    *,
    history: HistoryLike | None = None,
    catalogue: object = None,
    columns: Mapping[str, str] | None = None,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> Items:
    """Read the history, the attributes and the catalogue of items once, to evaluate many runs.

    Args:
        items: What items are like. A table (a data frame, an Arrow table, or a CSV or Parquet
            file) with a column of items and at least one other column; or a mapping of item to a
            category, several categories, or a vector of numbers. Columns of text, or of lists of
            texts, are categories; columns of numbers, or one column of lists of numbers, are a
            vector. Rows of the same item bring their categories together. An item without a
            category, or with a missing number, has no attributes.
        history: The interactions of users with items before the recommendations, in any form of the
            judgments of `evaluate`. A table needs no grades: each row is an interaction, whatever
            other columns there are. A pair of user and item counts once.
        catalogue: The items that can be recommended: a list, a set, or a column of ids; or a table
            with a column of items (default: those of `items`, or else those of the history).
        columns: As in `evaluate`; `query` is the column of users, and `doc` that of items.
        encoding: The encoding of text files.

    Returns:
        What to pass to `evaluate` as `items`.

    Raises:
        UsageError: Nothing is given.
        InputError: Something doesn't have the expected format, or the catalogue is empty.
        FileError: A file can't be read.

    Examples:
        >>> history = {"ann": ["a", "b"], "bob": ["a"]}
        >>> genres = {"a": "pop", "b": "rock", "c": ["pop", "folk"]}
        >>> known = read_items(genres, history=history)
        >>> known
        Items(history, items; 3 items)
        >>> from rankscope import evaluate
        >>> ev = evaluate({"ann": ["c"]}, {"ann": ["c", "b"]}, ["Novelty", "ILD"], items=known)
        >>> ev["Novelty"], ev["ILD"]
        (1.0, 1.0)
    """
    if history is None and items is None and catalogue is None:
        raise UsageError(
            "expected a history, items or a catalogue, found none of them",
            hint="write read_items(history=train)",
            code="bad_parameter",
        )
    return load_items(
        history=history,
        items=items,
        catalogue=catalogue,
        columns=read_columns(columns),
        encoding=encoding,
    )

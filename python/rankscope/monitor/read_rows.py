"""Tables with one document a row, or one label a row, as the objects that events are read from."""

from __future__ import annotations

import math

from rankscope.adapters.arrow import load_arrow
from rankscope.adapters.open_column import is_null, open_column
from rankscope.adapters.tables import open_table
from rankscope.errors import FormatError
from rankscope.monitor.aliases import ITEM_NAMES, RANKING_NAMES
from rankscope.monitor.refusal import RefusedError, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from rankscope.monitor.aliases import Aliases

MANY = tuple(role for role in ITEM_NAMES if role != "labels")
"""What differs from row to row of a ranking."""


def list_rows(table: object) -> list[dict[str, Any]]:
    """Give the rows of a table, each as an object of what is neither null nor NaN.

    Args:
        table: A data frame of pandas or Polars, an Arrow table, or a mapping of names to columns.

    Raises:
        FormatError: It is no table.
    """
    source = open_table(table)
    columns = [list_values(source.columns[name], name) for name in source.names]
    return [
        {
            name: value
            for name, value in zip(source.names, row, strict=True)
            if value is not None and not _is_nan(value)
        }
        for row in zip(*columns, strict=True)
    ]


def group_rows(
    table: object, aliases: Aliases, attributes: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Give the rankings of a table whose rows are documents, wherever its rows are.

    Args:
        table: As in `list_rows`.
        aliases: Finds its columns.
        attributes: The columns of what belongs to the ranking, such as its country.

    Yields:
        By role, the values of the rows of a ranking, and by `attributes` those of its attributes.

    Raises:
        FormatError: It is no table, or lacks a column.
    """
    source = open_table(table)
    roles = aliases.find([name for name in source.names if name not in attributes]).roles
    for needed in (("ranking_id",), ("doc_id",), ("time",), ("rank", "score")):
        if not any(role in roles for role in needed):
            usual = (RANKING_NAMES | ITEM_NAMES)[needed[0]]
            raise FormatError(
                f"expected a column of {' or '.join(needed)} ({', '.join(usual)}), "
                f"found {', '.join(source.names) or 'no columns'}",
                hint=f"name it: names={{{needed[0]!r}: …}}",
                code="columns",
            )
    columns = {role: list_values(source.columns[name], name) for role, name in roles.items()}
    if "relevance" in columns:
        columns["relevance"] = [None if _is_nan(one) else one for one in columns["relevance"]]
    facts = {name: list_values(source.find(name, "attributes"), name) for name in attributes}
    places: dict[object, list[int]] = {}
    for at, ranking_id in enumerate(columns["ranking_id"]):
        places.setdefault(ranking_id, []).append(at)
    for rows in places.values():
        group = {role: [column[at] for at in rows] for role, column in columns.items()}
        group["attributes"] = {  # type: ignore[assignment]  # by name
            name: [column[at] for at in rows] for name, column in facts.items()
        }
        yield group


def see_ranking(group: Mapping[str, Any]) -> dict[str, Any]:
    """See what the rows of a ranking say as one object; by score, where there are no ranks.

    Equal scores go by document, descending by bytes, as trec_eval has them: no order of the rows
    tells which came first.

    Raises:
        RefusedError: Rows differ in what belongs to the ranking.
    """
    said: dict[str, Any] = {
        role: values if role in MANY else _agree(values, role)
        for role, values in group.items()
        if role != "attributes"
    }
    said["attributes"] = {
        name: _agree(values, name) for name, values in group["attributes"].items()
    }
    if "rank" not in said:
        order = _order_by_score(said["doc_id"], said["score"])
        said |= {role: [said[role][at] for at in order] for role in MANY if role in said}
    return said


def _order_by_score(doc_ids: Sequence[object], scores: Sequence[object]) -> list[int]:
    for at, score in enumerate(scores):
        if not isinstance(score, int | float) or _is_nan(score):
            raise RefusedError(f"items[{at}].score", "a number", show(score), code="missing_score")
    ids = [str(doc_id).encode(errors="surrogatepass") for doc_id in doc_ids]
    keys = list(zip(scores, ids, strict=True))
    return sorted(range(len(keys)), key=lambda at: keys[at], reverse=True)


def _agree(values: Sequence[object], name: str) -> object:
    """Give the one value that all rows of a ranking have."""
    first = values[0]
    for value in values:
        if value != first:
            raise RefusedError(
                name,
                f"one value in all rows of a ranking, as {show(first)}",
                show(value),
                code="attribute_conflict",
            )
    return first


def list_values(column: object, name: str) -> list[Any]:
    """Give the values of a column as Python has them, null as `None`."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    values = open_column(column, name, lambda found: no_column(name, found))
    if isinstance(values, list):
        return [None if is_null(value) else value for value in values]
    if isinstance(values, np.ndarray):
        # Nanoseconds would become integers, which are read as milliseconds.
        listed = values.astype("datetime64[us]") if values.dtype.kind == "M" else values
        return list(listed.tolist())
    arrow = load_arrow()
    if arrow.types.is_timestamp(values.type):
        values = values.cast(arrow.timestamp("us", values.type.tz), safe=False)
    return list(values.to_pylist())


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def no_column(name: str, found: str) -> FormatError:
    """Say that something is no column."""
    return FormatError(
        f"expected a column of values in {name}, found {found}",
        hint="convert the column first",
        code="input_type",
    )

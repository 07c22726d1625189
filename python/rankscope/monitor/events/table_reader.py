"""Reads rankings from rows of tables, one row a document, into events."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import ge
from typing import Any

import pyarrow as pa

from rankscope._inputs.column_names import find_column
from rankscope.errors import FormatError
from rankscope.monitor.arrays import to_micros, to_python
from rankscope.monitor.events.event import Items, unless_all_none
from rankscope.monitor.events.fields import read_id, read_number
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.names import ITEM_NAMES, RANKING_NAMES, Aliases
from rankscope.monitor.events.rejection import RefusedError, show

MANY = tuple(role for role in ITEM_NAMES if role != "labels")
"""What differs from row to row of a ranking."""


def list_rows(table: object) -> list[dict[str, Any]]:
    """Return the rows of a table as objects, without nulls and NaN."""
    from rankscope._inputs.tables import open_table

    source = open_table(table)
    columns = [list_values(column, name) for name, column in source.items()]
    return [
        {
            name: value
            for name, value in zip(source, row, strict=True)
            if value is not None and not _is_nan(value)
        }
        for row in zip(*columns, strict=True)
    ]


def group_rows(
    table: object, aliases: Aliases, attributes: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Return the rankings of a table with one document per row, in any order."""
    from rankscope._inputs.tables import open_table

    source = open_table(table)
    for name in attributes:
        find_column([*source], name, name)  # or there is none
    roles = aliases.find([name for name in source if name not in attributes]).roles
    for needed in (("ranking_id",), ("doc_id",), ("time",), ("rank", "score")):
        if not any(role in roles for role in needed):
            usual = (RANKING_NAMES | ITEM_NAMES)[needed[0]]
            raise FormatError(
                f"expected a column of {' or '.join(needed)} ({', '.join(usual)}), "
                f"found {', '.join(source) or 'no columns'}",
                hint=f"name it: names={{{needed[0]!r}: …}}, or --col {needed[0]}=…",
                code="columns",
            )
    columns = {role: list_values(source[name], name) for role, name in roles.items()}
    if "relevance" in columns:
        columns["relevance"] = [None if _is_nan(value) else value for value in columns["relevance"]]
    facts = {name: list_values(source[name], name) for name in attributes}
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
    """Combine the rows of a ranking into one object, sorted by score if there are no ranks.

    Equal scores go by document, descending by bytes, as trec_eval has them: no order of the rows
    tells which came first.
    """
    ranking: dict[str, Any] = {
        role: values if role in MANY else _agree(values, role)
        for role, values in group.items()
        if role != "attributes"
    }
    ranking["attributes"] = {
        name: _agree(values, name) for name, values in group["attributes"].items()
    }
    if "rank" not in ranking:
        order = _order_by_score(ranking["doc_id"], ranking["score"])
        ranking |= {role: [ranking[role][at] for at in order] for role in MANY if role in ranking}
    return ranking


def _order_by_score(doc_ids: Sequence[object], scores: Sequence[object]) -> list[int]:
    for at, score in enumerate(scores):
        if not isinstance(score, int | float) or _is_nan(score):
            raise RefusedError(f"items[{at}].score", "a number", show(score), code="missing_score")
    ids = [str(doc_id).encode(errors="surrogatepass") for doc_id in doc_ids]
    keys = list(zip(scores, ids, strict=True))
    return sorted(range(len(keys)), key=lambda at: keys[at], reverse=True)


def _agree(values: Sequence[object], name: str) -> object:
    """Return the value that all rows of a ranking share."""
    first = values[0]
    for value in values:
        # What is no number is refused as such, not for being unlike itself.
        if value != first and not show(value) == show(first) == "nan":
            raise RefusedError(
                name,
                f"one value in all rows of a ranking, as {show(first)}",
                show(value),
                code="attribute_conflict",
            )
    return first


def list_values(column: object, name: str) -> list[Any]:
    """Return the values of a column as Python objects, null as `None`."""
    from rankscope._inputs.columns import as_arrow, decode, is_null, list_cells

    objects = list_cells(column)
    if objects is not None:
        return [None if is_null(value) else value for value in objects]
    # Arrays of Arrow were checked where they came in.
    is_checked = isinstance(column, pa.Array)
    values = decode(column if is_checked else as_arrow(column, name))
    return to_python(to_micros(values) if pa.types.is_timestamp(values.type) else values)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def no_column(name: str, type_name: str) -> FormatError:
    """Return the error for a missing column."""
    return FormatError(
        f"expected a column of values in {name}, found {type_name}",
        hint="convert the column first",
        code="input_type",
    )


def read_items(
    doc_ids: Sequence[object],
    ranks: Sequence[object] | None,
    scores: Sequence[object] | None,
    relevance: Sequence[object] | None,
    limits: Limits,
) -> tuple[Items, list[str]]:
    """Read the documents of a ranking."""
    count = len(doc_ids)
    if count > limits.items:
        raise RefusedError(
            "items", f"at most {limits.items} documents", str(count), code="max_group"
        )
    notes = [] if count else ["empty_ranking"]
    ids = _read_ids(doc_ids, limits, notes)
    places = None if ranks is None else _read_ranks(ranks, limits, notes)
    columns = (
        _read_numbers(scores, "score", "score_not_number"),
        _read_numbers(relevance, "relevance", "rel_not_number"),
    )
    if places is None:
        return Items(ids, tuple(range(1, count + 1)), *columns), notes
    if any(map(ge, places, places[1:])):
        order = sorted(range(count), key=places.__getitem__)
        places = tuple(places[at] for at in order)
        ids = tuple(ids[at] for at in order)
        columns = tuple(tuple(column[at] for at in order) if column else () for column in columns)  # type: ignore[assignment]
    if places and places[-1] != count:
        notes.append("rank_gaps")
    scored = [score for score in columns[0] if score is not None]
    if scored != sorted(scored, reverse=True):
        notes.append("rank_score_disagree")
    return Items(ids, places, *columns), notes


def _read_ids(doc_ids: Sequence[object], limits: Limits, notes: list[str]) -> tuple[str, ...]:
    # Whole columns are looked at first, for most of them are good.
    is_text = set(map(type, doc_ids)) <= {str}
    joined = "".join(doc_ids) if is_text else "\0"  # type: ignore[arg-type]  # as was just seen
    is_plain = joined.isascii() and "\0" not in joined
    sizes = list(map(len, doc_ids)) if is_plain else []  # type: ignore[arg-type]  # likewise
    if is_plain and min(sizes, default=1) > 0 and max(sizes, default=1) <= limits.id_bytes:
        ids: tuple[str, ...] = tuple(doc_ids)  # type: ignore[arg-type]  # likewise
    else:
        ids = tuple(
            read_id(doc_id, f"items[{at}].doc_id", limits.id_bytes)
            for at, doc_id in enumerate(doc_ids)
        )
        if not is_text:
            notes.append("int_ids")
    if len(set(ids)) < len(ids):
        seen: dict[str, int] = {}
        for at, doc_id in enumerate(ids):
            if doc_id in seen:
                raise RefusedError(
                    f"items[{at}].doc_id",
                    "each document once",
                    f"{show(doc_id)} again, as at items[{seen[doc_id]}]",
                    code="duplicate_doc",
                )
            seen[doc_id] = at
    return ids


def _read_ranks(ranks: Sequence[object], limits: Limits, notes: list[str]) -> tuple[int, ...]:
    if set(map(type, ranks)) == {int} and list(ranks) == list(range(1, len(ranks) + 1)):
        return tuple(ranks)  # type: ignore[arg-type]  # as was just seen
    for at, rank in enumerate(ranks):
        is_whole = type(rank) is int or (isinstance(rank, float) and rank.is_integer())
        if not is_whole or not 0 <= rank <= limits.rank:  # type: ignore[operator]  # it is a number
            raise RefusedError(
                f"items[{at}].rank",
                f"a whole number from 1 to {limits.rank}",
                show(rank),
                code="bad_rank",
            )
    places = tuple(map(int, ranks))  # type: ignore[arg-type]  # as was just seen
    if len(set(places)) < len(places):
        at = next(at for at, rank in enumerate(places) if rank in places[:at])
        raise RefusedError(
            f"items[{at}].rank",
            "each rank once",
            f"{places[at]} again, as at items[{places.index(places[at])}]",
            code="duplicate_rank",
        )
    if 0 in places:
        notes.append("zero_based_ranks")
        return tuple(rank + 1 for rank in places)
    return places


def _read_numbers(
    values: Sequence[object] | None, name: str, code: str
) -> tuple[float | None, ...]:
    if values is None:
        return ()
    if set(map(type, values)) <= {float} and all(map(math.isfinite, values)):  # type: ignore[arg-type]
        return tuple(values)  # type: ignore[arg-type]  # as was just seen
    return unless_all_none(
        None if value is None else read_number(value, f"items[{at}].{name}", code)
        for at, value in enumerate(values)
    )

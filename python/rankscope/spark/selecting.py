"""Finds the columns of data frames by role."""

from __future__ import annotations

from contextlib import suppress

from rankscope._inputs.column_names import (
    SYNONYMS,
    check_names,
    find_column,
    find_grades,
    no_column,
    no_role,
)
from rankscope._inputs.columns import INTEGER_TYPES, read_typed_values
from rankscope._inputs.roles import find_checks
from rankscope.deferred import pa
from rankscope.names import quote
from rankscope.output.ids import AttributeColumn, IdColumn, SourceIds
from rankscope.spark.packing import Rows

ROLES_OF_RUN = ("query", "doc", "score", "rank")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def check_columns(names: Sequence[str], attributes: Sequence[str]) -> None:
    """Raise an error unless names of columns differ, and attributes are among them.

    Raises:
        FormatError: A column of attributes is missing, or two columns have one name.
    """
    check_names(names)
    for name in attributes:
        if name not in names:
            raise no_column(names, f"the column {quote(name)} of attributes", name)


def spell_names(
    names: Sequence[str], given: Mapping[str, str | None], attributes: Sequence[str]
) -> list[str]:
    """Return the names of columns as they were given, or usually are: Spark ignores their case."""
    usual = [name for of in SYNONYMS.values() for name in of]
    spelled = {name.lower(): name for name in (*usual, *filter(None, given.values()), *attributes)}
    return [spelled.get(name.lower(), name) for name in names]


def select_columns(
    side: str,
    columns: Sequence[str],
    convert: Callable[[list[str]], Any],
    given: Mapping[str, str | None],
    attributes: Sequence[str],
) -> tuple[Rows, SourceIds]:
    """Select the columns that are needed.

    Args:
        side: What rows are, as in `Rows`.
        columns: The names of all columns.
        convert: Returns the schema of some of them in Arrow.
        given: By role, the names of columns that were given.
        attributes: The columns of what belongs to the query.

    Raises:
        FormatError: A column is missing, or there are two candidates.
    """
    attributes = list(dict.fromkeys(attributes))
    found, needed = _find_roles(side, columns, given, attributes)
    for role in needed:
        if found.get(role) is None:
            raise no_role(columns, role)
    names = {role: name for role, name in found.items() if name is not None}
    used = list(dict.fromkeys([*names.values(), *attributes]))
    checks = {} if side == "judged" else _find_checks(columns, convert, used, given)
    schema = convert([*used, *checks.values()])
    kinds = {role: str(schema.field(name).type) for role, name in names.items()}
    empty = pa.Table.from_batches([], schema)
    held = tuple(
        AttributeColumn(name, read_typed_values(empty.column(name), name)[1]) for name in attributes
    )
    query, doc = (
        IdColumn(names.get(role, default), kinds.get(role, "") * (kinds.get(role) in INTEGER_TYPES))
        for role, default in (("query", "query_id"), ("doc", "doc_id"))
    )
    rows = Rows(
        side=side,
        schema=schema,
        names=names,
        has_integer_queries=bool(query.dtype),
        attributes=tuple(attributes),
        checks=checks,
    )
    return rows, SourceIds(query, doc, held)


def _find_checks(
    columns: Sequence[str],
    convert: Callable[[list[str]], Any],
    used: Sequence[str],
    given: Mapping[str, str | None],
) -> dict[str, str]:
    """Return the columns that only checks need, but those that have no plain values."""
    checks = find_checks(columns, used, finds_query=given.get("query") is None)
    with suppress(TypeError):  # where Arrow has no type for one of them
        kinds = zip(checks.items(), convert([*checks.values()]).types, strict=True)
        return {role: name for (role, name), kind in kinds if not pa.types.is_nested(kind)}
    return {}


def _find_roles(
    side: str,
    names: Sequence[str],
    given: Mapping[str, str | None],
    attributes: Sequence[str],
) -> tuple[dict[str, str | None], list[str]]:
    """Return the column of each role, and the roles that have to have one."""
    if side == "judged":
        others = [name for name in names if name not in attributes]
        found = {role: find_column(others, role, given.get(role)) for role in ("query", "doc")}
        named = {role: name for role, name in given.items() if name is not None}
        return found | {"relevance": find_grades(others, named)}, ["query", "doc"]
    joined = side == "joined"
    roles = ("query", "doc", "relevance", "score", "rank") if joined else ROLES_OF_RUN
    found = {role: find_column(names, role, given.get(role), attributes) for role in roles}
    if not joined and found["score"] is not None:
        found["rank"] = None
    needed = ["query", "relevance"] if joined else ["query", "doc"]
    return found, needed if found["rank"] is not None else [*needed, "score"]

"""Which files of an hour can be read together: those whose columns hold values of one kind.

A column of integers and one of floats have a common type, but an id is an integer in one of them
only. So the types of a file never change what another file says.
"""

from __future__ import annotations

from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.files.lists import is_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from rankscope.monitor.store.lake.events import Foreign, Plan

    Kind: TypeAlias = object
    """Compared with others; `None` of a column without any value."""

NUMBERS = frozenset({"rank", "score", "relevance"})


def find_kinds(table: Foreign, plan: Plan) -> dict[str, Kind]:
    """Return by column what it holds, `None` for a column without any value."""
    roles = (plan.roles | plan.fields).items()
    numbers = {name for role, name in roles if role in NUMBERS}
    return {field.name: _name_kind(field.name, field.type, numbers) for field in table.schema}


def _name_kind(name: str, kind: Foreign, numbers: Collection[str]) -> Kind:
    types = load_arrow().types
    if is_list(kind):
        inner = kind.value_type
        is_odd = types.is_dictionary(inner) or types.is_string_view(inner)
        return "list", str(inner) if is_odd else _name_kind(name, inner, numbers)
    if types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        return tuple((field.name, _name_kind(field.name, field.type, numbers)) for field in fields)
    if types.is_null(kind):
        return None
    if _is_texts(kind):
        return "text"
    if types.is_integer(kind) and not types.is_uint64(kind):
        return "number" if name in numbers else "integer"
    return "number" if name in numbers and types.is_floating(kind) else str(kind)


def join_kinds(first: Mapping[str, Kind], second: Mapping[str, Kind]) -> dict[str, Kind] | None:
    """Return what the columns of two tables hold together; `None` if they have to be read apart."""
    joined = {**first}
    for name, kind in second.items():
        if joined.get(name) is None:
            joined[name] = kind
        elif kind is not None and kind != joined[name]:
            return None
    return joined


def join_tables(tables: Sequence[Foreign]) -> Foreign:
    """Put tables whose columns hold values of one kind one after another."""
    arrow = load_arrow()
    if len(tables) == 1:
        return tables[0]
    if any(table.schema != tables[0].schema for table in tables):
        tables = [_write_texts(table) for table in tables]
    return arrow.concat_tables(tables, promote_options="permissive")


def _write_texts(table: Foreign) -> Foreign:
    """Convert all columns of texts to one type."""
    arrow = load_arrow()
    fields: Iterable[Foreign] = (
        field.with_type(arrow.large_string()) if _is_texts(field.type) else field
        for field in table.schema
    )
    return table.cast(arrow.schema(fields))


def _is_texts(kind: Foreign) -> bool:
    types = load_arrow().types
    if types.is_dictionary(kind):
        return _is_texts(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))

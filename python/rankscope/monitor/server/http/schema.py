"""Holds what was sent against the schema that describes it, as far as ours go."""

from __future__ import annotations

from rankscope.monitor.events.fields import check_text
from rankscope.monitor.events.rejection import RefusedError, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LONGEST = 1 << 18
"""Bytes of a text: as many as the body may have that it stands in."""

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def check_fit(value: object, schema: Mapping[str, Any], where: str = "") -> object:
    """Refuse what does not fit a schema, and texts that cannot be stored.

    Args:
        value: What was read of JSON.
        schema: The schema. `oneOf`, `const`, `enum`, `type`, `properties`, `required`,
            `additionalProperties`, `items`, `minItems`, `maxItems`, `minimum` and `maximum` are
            checked; the others are left to what reads the value, which says more about it.
        where: The place of the value.

    Returns:
        The value. Where the schema says integer, `1.0` has become `1`, in lists and objects in
        place: for JSON Schema they are the same.

    Raises:
        RefusedError: It does not fit.

    Examples:
        >>> check_fit(
        ...     {"name": ["a"]}, {"type": "object", "properties": {"name": {"type": "string"}}}
        ... )
        Traceback (most recent call last):
          ...
        rankscope.monitor.events.rejection.RefusedError: name: expected string, found a list of 1
    """
    if "oneOf" in schema:
        return _check_one_of(value, schema["oneOf"], where)
    _check_kind(value, schema, where)
    if isinstance(value, float) and "number" not in _types_of(schema):
        value = int(value)
    if isinstance(value, str):
        check_text(value, where, LONGEST)
    elif isinstance(value, dict):
        _check_fields(value, schema, where)
    elif isinstance(value, list):
        _check_items(value, schema, where)
    elif isinstance(value, int | float):
        if value < schema.get("minimum", value):
            raise _refuse(where, f"{schema['minimum']} or more", value)
        if value > schema.get("maximum", value):
            raise _refuse(where, f"{schema['maximum']} or less", value)
    return value


def _check_kind(value: object, schema: Mapping[str, Any], where: str) -> None:
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if choices is not None and value not in choices:
        raise _refuse(where, " or ".join(map(str, choices)), value)
    if "type" in schema:
        names = _types_of(schema)
        if not any(_is_of(value, name) for name in names):
            raise _refuse(where, " or ".join(names), value)


def _check_items(value: list[Any], schema: Mapping[str, Any], where: str) -> None:
    fewest, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not fewest <= len(value) <= most:
        raise _refuse(where, f"{fewest} to {most} of them", value)
    for at, item in enumerate(value):
        value[at] = check_fit(item, schema.get("items", {}), f"{where}[{at}]")


def _types_of(schema: Mapping[str, Any]) -> list[str]:
    said = schema.get("type", "number")
    return said if isinstance(said, list) else [said]


def _check_one_of(value: object, schemas: list[Mapping[str, Any]], where: str) -> object:
    refused = None
    meant = [schema for schema in schemas if _is_meant(value, schema)]
    for schema in meant or schemas:
        try:
            return check_fit(value, schema, where)
        except RefusedError as error:
            refused = error
    # The last is the one that says most.
    raise refused or _refuse(where, "nothing", value)


def _is_meant(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether an object has what sets one alternative apart from others, such as its kind."""
    fields = schema.get("properties", {})
    marks = {name: one["const"] for name, one in fields.items() if "const" in one}
    return isinstance(value, dict) and any(marks) and _has_marks(value, marks)


def _has_marks(value: Mapping[str, Any], marks: Mapping[str, Any]) -> bool:
    return all(name in value and value[name] == mark for name, mark in marks.items())


def _check_fields(value: dict[str, Any], schema: Mapping[str, Any], where: str) -> None:
    fields = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise _refuse(_join(where, name), "a value", None)
    others = schema.get("additionalProperties", True)
    for name, one in value.items():
        check_text(name, where, LONGEST)
        if name in fields:
            value[name] = check_fit(one, fields[name], _join(where, name))
        elif others is False:
            known = ", ".join(fields)
            raise RefusedError(where, f"no fields but {known}", show(name), code="unknown_field")
        elif others is not True:
            value[name] = check_fit(one, others, _join(where, show(name)))


def _is_of(value: object, name: str) -> bool:
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _refuse(where: str, expected: str, value: object) -> RefusedError:
    return RefusedError(where, expected, show(value), code="json_type")

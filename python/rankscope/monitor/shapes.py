"""Validates what clients send against its type, and describes types as JSON Schema, by Pydantic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import (
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    WrapValidator,
    with_config,
)
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import CoreSchema, literal_schema
from typing_extensions import TypedDict

from rankscope.errors import RankscopeError
from rankscope.monitor.events.fields import check_text
from rankscope.monitor.events.rejection import RefusedError, show

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


T = TypeVar("T", bound=type)

LONGEST = 1 << 18
"""Bytes of a text: as many as the body may have that it stands in."""

REFS = "#/components/schemas/{model}"


def extensible(record: T) -> T:
    """Decorate a `TypedDict` that may have other fields; those that aren't decorated may not."""
    return with_config(ConfigDict(extra="allow"))(record)


def _read_whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _keep_integer(value: object, read: Any) -> object:  # noqa: ANN401 - of Pydantic
    number = read(value)
    return value if isinstance(value, int) else number


class OneOf:
    """The type of a value that is one of some, which another module lists."""

    def __init__(self, *values: object) -> None:
        self._values = list(values)

    def __get_pydantic_core_schema__(self, _source: object, _handler: object) -> CoreSchema:
        """Return a literal type."""
        return literal_schema(self._values)


def make_record(name: str, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a type
    """Return a `TypedDict` of fields that are optional, by their names; it may have others."""
    return extensible(TypedDict(name, fields, total=False))  # type: ignore[operator]  # they vary


WHOLE = BeforeValidator(_read_whole)
"""For integers, after their limits: 1.0 is one, as in JSON Schema."""
KEEP_INTEGER = WrapValidator(_keep_integer)
Number = Annotated[float, KEEP_INTEGER]


class Schemas(GenerateJsonSchema):
    """Describes types without titles, and records as closed unless they are extensible."""

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 - of Pydantic
        """Close records that aren't extensible."""
        return {"additionalProperties": False} | super().typed_dict_schema(schema)

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002 - of Pydantic
        """Say that no field has a title."""
        return False


@cache
def find_adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any type
    """Return what validates values of a type."""
    return TypeAdapter(kind)


@cache
def describe_type(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - any type
    """Return the JSON Schema of a type, with the records it refers to under `$defs`."""
    return find_adapter(kind).json_schema(ref_template=REFS, schema_generator=Schemas)


def validate(value: object, kind: Any) -> Any:  # noqa: ANN401 - of that type
    """Validate JSON against a type.

    Examples:
        >>> validate({"a": [1, "b"]}, dict[str, list[int]])
        Traceback (most recent call last):
          ...
        rankscope.monitor.events.rejection.RefusedError: a[1]: expected a valid integer, found 'b'
    """
    _check_texts(value)
    try:
        return find_adapter(kind).validate_python(value, strict=True, extra="forbid")
    except ValidationError as error:
        raise as_refused(error) from None


def as_refused(error: ValidationError) -> RankscopeError:
    """Return the first problem of a value, with its place and a stable code."""
    problem = error.errors(include_url=False)[0]
    raised = problem.get("ctx", {}).get("error")
    if isinstance(raised, RankscopeError):
        return raised
    where, code = place(problem["loc"]), "json_type"
    if problem["type"] == "extra_forbidden":
        name = str(problem["loc"][-1])
        where, code = place(problem["loc"][:-1]), "unknown_field"
        return RefusedError(
            where, "no other fields than those that are known", show(name), code=code
        )
    if problem["type"] == "missing":
        return RefusedError(where, "a value", show(None), code=code)
    return RefusedError(where, _expected(problem), show(problem["input"]), code=code)


def _expected(problem: ErrorDetails) -> str:
    return problem["msg"].removeprefix("Input should be ").removeprefix("expected ")


def place(location: Sequence[str | int]) -> str:
    """Write where a value stands, as in `items[3].rank`; tags of unions are in parentheses."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not part.startswith("("):
            text += f".{part}" if text else part
    return text


def _check_texts(value: object) -> None:
    """Refuse texts that cannot be stored, however deep they stand."""
    waiting = [(value, "")]
    while waiting:
        one, where = waiting.pop()
        if isinstance(one, str):
            check_text(one, where, LONGEST)
        elif isinstance(one, list):
            waiting += [(each, f"{where}[{at}]") for at, each in enumerate(one)][::-1]
        elif isinstance(one, dict):
            for name in one:
                check_text(name, where, LONGEST)
            waiting += [(one[name], f"{where}.{name}" if where else name) for name in one][::-1]

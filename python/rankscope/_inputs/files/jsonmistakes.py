"""Explains what is wrong with lines of JSON: a slow pass over blocks that may be invalid."""

from __future__ import annotations

import json
import math

from rankscope._inputs.doubles import code_of
from rankscope._inputs.files.cells import NOT_FINITE
from rankscope._inputs.files.roles import ID_ROLES, NUMBER_ROLES
from rankscope.errors import FormatError, InputError, LimitError
from rankscope.records import record
from rankscope.strict_json import Flaw, JSONMistake, StrictJSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DEEPEST = 32
SHOWN = 120
INTEGERS = range(-(2**63), 2**63)
ONE_A_LINE = "write one object a line: jq -c ."


@record(frozen=True, slots=True)
class Kind:
    """The type of the values of a key.

    Args:
        type: Of which type; that of those in the list, if it is one. Numbers may be of any.
        is_list: Whether they are lists.
        is_inside: Whether they are within the objects of a list.
    """

    type: type
    is_list: bool = False
    is_inside: bool = False


def read_object(text: bytes, names: Iterable[str], *, is_cut: bool = False) -> dict[str, object]:
    """Read one line of JSON strictly."""
    reader = StrictJSON(frozenset(names), is_bounded=True)
    try:
        value = reader.load(text)
    except JSONMistake as mistake:
        if mistake.flaw.code == "depth":
            raise _too_deep() from mistake
        raise _say_syntax(text, mistake, is_cut=is_cut) from mistake
    flaw = reader.find_flaw(value, "duplicate_key")
    if flaw is not None:
        raise FormatError(
            f"expected each key once, found {flaw.found}",
            hint="which of them counts? keep one",
            code=flaw.code,
        )
    if isinstance(value, list):
        raise FormatError(
            "expected an object a line, found a list",
            hint="write one object a line: jq -c '.[]'",
            code="json_syntax",
        )
    if not isinstance(value, dict):
        raise FormatError(
            f"expected an object a line, found {_name(value)}",
            hint=ONE_A_LINE,
            code="json_syntax",
        )
    if _is_deeper_than(DEEPEST, value):
        raise _too_deep()
    try:
        json.dumps(value, ensure_ascii=False, default=lambda token: token.text).encode()
    except UnicodeEncodeError as error:
        raise FormatError(
            "expected text, found a lone surrogate, which is no character",
            hint="write characters beyond U+FFFF as a pair of surrogates, or as they are",
            code="surrogate",
        ) from error
    return value


def check_value(value: object, role: str) -> None:
    """Raise an error for a value that a column can't hold, except nulls."""
    if isinstance(value, list):
        for one in value:
            check_value(one, role)
    elif role in ID_ROLES and _is_beyond_64_bits(value):
        raise FormatError(
            f"expected integers of 64 bits, found {_name(value)}",
            hint="write large ids as text",
            code="integer_range",
        )
    elif role in ID_ROLES and not (value is None or isinstance(value, str) or _is_integer(value)):
        raise FormatError(
            f"expected an id as text or an integer, found {_name(value)}",
            hint="ids are text or integers; floats lose digits",
            code="id_type",
        )
    elif role in NUMBER_ROLES:
        _check_number(value, role)


def _check_number(value: object, role: str) -> None:
    wanted = {"relevance": "grade"}.get(role, role)
    number = float(value.text) if isinstance(value, Flaw) else value
    if isinstance(number, float) and not math.isfinite(number):
        mistake = "nan" if math.isnan(number) else "infinite"
        message = f"expected a finite {wanted}, found {_name(value)}"
        hint = NOT_FINITE[mistake]
    elif not (number is None or isinstance(number, float) or _is_integer(number)):
        mistake, message = "text", f"expected a {wanted}, found {_name(value)}"
        hint = 'numbers are written plainly, as in {"score": 0.5}'
        if isinstance(value, bool) and role == "relevance":
            hint = "write all grades as true and false, or all as numbers"
    elif _is_rounded(value):
        mistake = "rounded"
        message = f"expected a {wanted} that double precision holds exactly, found {_name(value)}"
        hint = "round it first"
    else:
        return
    raise FormatError(message, hint=hint, code=code_of(mistake, role))


def _is_rounded(value: object) -> bool:
    integer = int(value.text) if isinstance(value, Flaw) else value
    return isinstance(integer, int) and int(float(integer)) != integer


def find_mistake(
    text: bytes, line: int, roles: Mapping[str, str], kinds: Mapping[str, Kind], *, is_last: bool
) -> InputError | None:
    """Find the first line that isn't a valid object."""
    names = {part for name in roles for part in (name, name.rpartition(".")[2])}
    rows = text.split(b"\n")
    for number, row in enumerate(rows):
        if not row.strip():
            continue
        is_cut = is_last and number == len(rows) - 1
        try:
            found = read_object(row, names, is_cut=is_cut)
            for name, role in roles.items():
                _check_column(found, name, role, kinds[name])
        except InputError as error:
            error.line = line + number
            return error
    return None


def _check_column(found: Mapping[str, object], name: str, role: str, kind: Kind) -> None:
    outer, _, inner = name.rpartition(".")
    value = found.get(name)
    if kind.is_inside:
        items = found.get(outer)
        objects = items if isinstance(items, list) else []
        if not (items is None or isinstance(items, list)):
            raise _another_type(outer, "a list", items)
        for one in objects:
            if not isinstance(one, dict):
                raise _another_type(outer, "a list of objects", one)
        value = [one.get(inner) for one in objects]
    check_value(value, role)
    if value is None:
        return
    if kind.is_list != isinstance(value, list):
        raise _another_type(name, "lists in every row, or in none", value)
    for one in value if isinstance(value, list) else [value]:
        is_fit = type(one) is kind.type or (kind.type is float and type(one) is int)
        if not (one is None or role in NUMBER_ROLES or is_fit):
            raise _another_type(name, f"what the rows before have, {kind.type.__name__}", one)


def _another_type(name: str, wanted: str, found: object) -> FormatError:
    return FormatError(
        f"expected {name} to hold {wanted}, found {_name(found)}",
        hint="a column has one type, that of its first row",
        code="json_type",
    )


def _say_syntax(text: bytes, mistake: JSONMistake, *, is_cut: bool) -> FormatError:
    if is_cut:
        return FormatError(
            "expected the last line to be whole, found it cut off",
            hint="its writer stopped in the middle: write the file again, or remove the line",
            code="truncated_last_line",
        )
    start = text.strip()
    if start.startswith(b"["):
        hint = "write one object a line: jq -c '.[]'"
    elif start.startswith(b"{") and not start.endswith(b"}"):
        hint = ONE_A_LINE
    else:
        hint = "names and texts stand in double quotes; there are no comments and no further commas"
    return FormatError(
        f"expected an object of JSON a line, found something else ({mistake.message})",
        hint=hint,
        code="json_syntax",
        column=mistake.column,
    )


def _is_deeper_than(depth: int, value: object) -> bool:
    level: list[object] = [value]
    for _ in range(depth):
        inner: list[object] = []
        for one in level:
            if isinstance(one, dict | list):
                inner += one.values() if isinstance(one, dict) else one
        level = [one for one in inner if isinstance(one, dict | list)]
        if not level:
            return False
    return True


def _too_deep() -> LimitError:
    return LimitError(
        f"expected lists and objects nested at most {DEEPEST} deep, found more",
        hint="write them flatter",
        code="depth",
    )


def _is_beyond_64_bits(value: object) -> bool:
    if isinstance(value, Flaw):
        return value.text.lstrip("-").isdigit()
    return _is_integer(value) and value not in INTEGERS


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _name(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = value.text if isinstance(value, Flaw) else json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"

"""Reads single fields of events: ids, text, numbers, labels and attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from rankscope.monitor.events.bins import Bins, find_bin
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.rejection import RefusedError, show

INTEGERS = range(-(2**63), 2**63)


def read_text(value: object, where: str, most: int) -> str:
    """Read text, which may be empty. An integer becomes its decimal text."""
    if type(value) is int:
        value = write_integer(value, where)
    if not isinstance(value, str):
        raise RefusedError(where, "text", show(value), code="id_type")
    check_text(value, where, most)
    return value


def write_integer(value: int, where: str) -> str:
    """Return an integer as decimal text."""
    if value not in INTEGERS:
        raise RefusedError(where, "integers of 64 bits", show(value), code="integer_range")
    return str(value)


def read_id(value: object, where: str, most: int) -> str:
    """Read an id."""
    text = read_text(value, where, most)
    if not text:
        raise RefusedError(where, "an id", "empty text", code="missing_id")
    return text


def read_name(value: object, where: str, most: int) -> str:
    """Read a name: an id on one line."""
    text = read_id(value, where, most)
    if not text.isprintable():
        raise RefusedError(where, "a line of text", show(text), code="bad_name")
    return text


NAME_BYTES = 100
TAKEN = frozenset({"new", ".", ".."})
"""Words that stand for something else where a name stands in an address."""


def is_label(name: str) -> bool:
    """Check whether the name of a rule can stand on one line and in an address.

    Examples:
        >>> is_label("low quality"), is_label("tv/de"), is_label("new")
        (True, False, False)
    """
    is_line = 0 < len(name.encode(errors="replace")) <= NAME_BYTES and name.isprintable()
    is_part = "/" not in name and "\\" not in name and name not in TAKEN
    return is_line and name == name.strip() and is_part


def check_text(text: str, where: str, most: int) -> None:
    """Raise an error for text that is too long or can't be stored."""
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise RefusedError(where, "text", show(text), code="surrogate") from None
    if size > most:
        raise RefusedError(
            where, f"at most {most} bytes", f"{size} bytes: {show(text[:40])}", code="id_length"
        )
    if "\0" in text:
        raise RefusedError(where, "text without NUL", show(text), code="nul_byte")


def can_be_stored(text: object, most: int) -> bool:
    r"""Check whether something is text that can be stored and isn't too long.

    Examples:
        >>> [can_be_stored(text, 3) for text in ("tv", "\ud800", "\0", "phone", None)]
        [True, False, False, False, False]
    """
    if not isinstance(text, str):
        return False
    try:
        check_text(text, "", most)
    except RefusedError:
        return False
    return True


def read_number(value: object, where: str, code: str) -> float:
    """Read a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusedError(where, "a number", show(value), code=code)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RefusedError(where, "a finite number", show(value), code=code)
    if number != value:
        raise RefusedError(
            where, "a number that double precision holds", show(value), code="inexact_number"
        )
    return number


def read_labels(value: object, where: str, limits: Limits) -> tuple[str, ...]:
    """Read one or more labels."""
    labels = [value] if isinstance(value, str) else value
    if not isinstance(labels, list | tuple) or not all(type(label) is str for label in labels):
        raise RefusedError(where, "a label, or a list of them", show(value), code="label_type")
    if len(labels) > limits.labels:
        raise RefusedError(
            where, f"at most {limits.labels} labels", str(len(labels)), code="label_count"
        )
    for label in labels:
        read_id(label, where, limits.name_bytes)
    return tuple(labels)


def read_attributes(
    values: Iterable[tuple[str, object]], limits: Limits, bins: Bins | None = None
) -> tuple[tuple[str, str], ...]:
    """Read attributes: objects of names and values. Null means that the attribute is missing.

    Those that have bins are numbers.

    Examples:
        >>> from rankscope.monitor.events.limits import Limits
        >>> read_attributes([("tags", {"tv": True, "country": "de", "age": None})], Limits())
        (('country', 'de'), ('tv', 'true'))
    """
    attributes: dict[str, str] = {}
    for where, mapping in values:
        if not isinstance(mapping, Mapping):
            raise RefusedError(
                where, "an object of names and values", show(mapping), code="attribute_type"
            )
        for name, value in mapping.items():
            place = f"{where}.{show(name)[1:-1][:40]}"
            key = read_id(name, place, limits.name_bytes)
            if value is None:
                continue
            text = _read_attribute(value, place, limits)
            if bins and key in bins and find_bin(text, bins[key]) is None:
                raise RefusedError(place, "a finite number", show(value), code="attribute_number")
            if attributes.setdefault(key, text) != text:
                raise RefusedError(
                    place, show(attributes[key]), show(text), code="attribute_conflict"
                )
    if len(attributes) > limits.attributes:
        raise RefusedError(
            "attributes",
            f"at most {limits.attributes} attributes",
            str(len(attributes)),
            code="attribute_count",
        )
    return tuple(sorted(attributes.items()))


def _read_attribute(value: object, where: str, limits: Limits) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if not isinstance(value, str | int):
        raise RefusedError(
            where, "a text, a number or a truth value", show(value), code="attribute_type"
        )
    text = write_integer(value, where) if isinstance(value, int) else value
    check_text(text, where, limits.value_bytes)
    return text


def check_depth(value: object, where: str, most: int) -> None:
    """Raise an error for lists and objects that are nested too deeply."""
    layer = [value]
    for _ in range(most):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, Mapping | list | tuple)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
        ]
        if not layer:
            return
    raise RefusedError(
        where, f"at most {most} lists and objects in each other", "more", code="depth"
    )

"""Writes projects as a file of TOML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rankscope.monitor.setup.project import Project, write_project

BARE = re.compile(r"[A-Za-z0-9_-]+")
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def write_setup(projects: Iterable[Project]) -> str:
    """Write projects as a file that `read_setup` reads."""
    lines = [
        line
        for project in projects
        for line in _write_table(("projects", project.name), write_project(project))
    ]
    return "\n".join(lines[1:] if lines else lines) + "\n"


def _write_table(keys: Sequence[str], table: Mapping[str, Any]) -> Iterator[str]:
    """Write a table: its values first, then the tables in it."""
    values = {name: value for name, value in table.items() if not isinstance(value, dict)}
    if values or not table:
        yield ""
        yield f"[{'.'.join(map(write_key, keys))}]"
        for name, value in values.items():
            yield f"{write_key(name)} = {write_value(value)}"
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _write_table((*keys, name), value)


def write_key(name: str) -> str:
    """Write a part of a key.

    Examples:
        >>> print(write_key("music"), write_key("a.b"))
        music "a.b"
    """
    return name if BARE.fullmatch(name) else write_text(name)


def write_value(value: object) -> str:
    """Write a value in a line.

    Examples:
        >>> print(write_value([True, 1, 0.5, "a"]), write_value([{"a": "b"}]))
        [true, 1, 0.5, "a"] [{ a = "b" }]
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, dict):
        pairs = [f"{write_key(name)} = {write_value(each)}" for name, each in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        parts = [*map(write_value, value)]
        if len(parts) > 1 and all(isinstance(each, dict) for each in value):
            return "\n".join(["[", *(f"    {part}," for part in parts), "]"])
        return f"[{', '.join(parts)}]"
    raise TypeError(f"{type(value).__name__} is no value of TOML")


def write_text(text: str) -> str:
    r"""Write a text, in which everything is visible.

    Examples:
        >>> print(write_text('a "b" \u202e'))
        "a \"b\" \u202e"
    """
    return f'"{"".join(map(_write_character, text))}"'


def _write_character(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"

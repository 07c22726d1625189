"""JSON Lines: one object a line."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.columns import FAILURES, are_finite, is_list
from rankscope._inputs.doubles import code_of
from rankscope._inputs.roles import ID_ROLES, ITEMS, role_of
from rankscope._inputs.text import (
    NUMBER_ROLES,
    Lines,
    Text,
    add_note,
    find_first,
    read_blocks,
)
from rankscope.deferred import arrow_json, pa
from rankscope.errors import EmptyError, FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.files import OpenFile

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

SHOWN = 120


class JsonLinesFile:
    """A file of JSON objects, as batches of the wanted columns.

    Args:
        opened: The file.

    Raises:
        InputError: Its first line is no object with the columns.
    """

    def __init__(self, opened: OpenFile) -> None:
        self.name = opened.name
        self.notes: dict[str, tuple[int, int]] = {}
        self._opened = opened
        self._first_line = 0
        self._has_real_numbers = opened.wanted.has_real_numbers
        example = self._read_example()
        inside = {name: _list_fields(example.get(name)) for name in ITEMS}
        self.names = [*example, *(field for of in inside.values() for field in of)]
        self.columns = opened.wanted.choose(list(example), inside, self.name)
        self.schema = self._infer_types(example)

    def _read_example(self) -> dict[str, Any]:
        """Read the first lines until each key of the first object has a value."""
        example: dict[str, Any] = {}
        empty: set[str] = set()
        try:
            for line, value in _parse_lines(self._read_lines()):
                if not example:
                    self._first_line, example, empty = line, dict(value), {*value}
                filled = {name for name in empty & value.keys() if value[name] not in (None, [])}
                example |= {name: value[name] for name in filled}
                empty -= filled
                if not empty:
                    break
        except FormatError as error:
            if not example:
                error.file = self.name
                raise
        if not example:
            raise EmptyError(
                "expected objects, found none",
                hint="is the file empty?",
                code="empty_input",
                file=self.name,
            )
        return example

    def _read_lines(self) -> Iterator[tuple[int, str]]:
        """Read lines one by one, but skip what is blank as fast as it can be read."""
        for block, line in read_blocks(self._opened, Text(self._opened, has_quoted_lines=False)):
            if block.strip():
                yield from enumerate(block.decode().split("\n"), line)

    def _infer_types(self, example: dict[str, Any]) -> Foreign:
        columns = [*self.columns.values()]
        outer = (name if name in example else name.rpartition(".")[0] for name in columns)
        fields = []
        for name in dict.fromkeys(outer):
            try:
                kind = pa.array([example[name]]).type
            except (pa.ArrowException, *FAILURES) as error:
                wrong = _other_type(name, example[name], role_of(name, self.columns))
                wrong.file, wrong.line = self.name, self._first_line
                raise wrong from error
            fields.append((name, self._choose_type(kind, name)))
        return pa.schema(fields)

    def _choose_type(self, kind: Foreign, name: str, *, is_inside: bool = False) -> Foreign:
        """Return the type of a column where PyArrow takes the first value for this type."""
        role, types = role_of(name, self.columns), pa.types
        if is_list(kind):
            return pa.list_(self._choose_type(kind.value_type, name, is_inside=True))
        if types.is_struct(kind):
            paths = [f"{name}.{field.name}" for field in kind]
            return pa.struct(
                (field.name, self._choose_type(field.type, path, is_inside=True))
                for field, path in zip(kind, paths, strict=True)
                if path in self.columns.values()
            )
        if role in ID_ROLES:
            return pa.int64() if types.is_integer(kind) else pa.string()
        if role in NUMBER_ROLES:
            return kind if types.is_boolean(kind) and role == "relevance" else pa.float64()
        if types.is_integer(kind) and (is_inside or self._has_real_numbers):
            return pa.float64()  # others of its kind needn't be whole
        return pa.string() if types.is_null(kind) else kind

    def __iter__(self) -> Iterator[tuple[Foreign, Lines]]:
        text = Text(self._opened, has_quoted_lines=False)
        for block, line in read_blocks(self._opened, text):
            rows = block.strip()
            if not rows:
                continue
            find = partial(self._find_mistake, block, line)
            # PyArrow would end the process at a null in place of the first object.
            if not rows.startswith(b"{") or b"\nnull" in rows:
                raise find_first(self._opened, find, ValueError("no object"), "json_syntax")
            try:
                table = arrow_json.read_json(
                    pa.BufferReader(block),
                    read_options=arrow_json.ReadOptions(
                        block_size=len(block) + 1, use_threads=False
                    ),
                    parse_options=arrow_json.ParseOptions(
                        explicit_schema=self.schema, unexpected_field_behavior="ignore"
                    ),
                )
            except pa.ArrowInvalid as error:
                raise find_first(self._opened, find, error, "json_syntax") from error
            if not all(map(are_finite, table.columns)):
                raise find_first(self._opened, find, ValueError("NaN"), "json_syntax")
            lines = Lines(line)
            if table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
                if table.num_rows != sum(map(bool, map(bytes.strip, block.split(b"\n")))):
                    several = ValueError("other than one object a line")
                    raise find_first(self._opened, find, several, "json_syntax")
                lines = Lines(line, partial(_find_lines, block, line))
            for batch in table.combine_chunks().to_batches():
                yield batch, lines
        for code, (count, first) in text.notes.items():
            add_note(self.notes, code, count, first)

    def _find_mistake(self, block: bytes, line: int) -> InputError | None:
        """Find the first line that is wrong, one by one."""
        texts = block.decode().split("\n")
        last = 0 if block.endswith(b"\n") else line + len(texts) - 1
        for number, value in _parse_lines(enumerate(texts, line), last):
            for field in self.schema:
                given = value.get(field.name)
                try:
                    is_fit = are_finite(pa.array([given], field.type)) and (
                        not isinstance(given, bool) or pa.types.is_boolean(field.type)
                    )
                except (pa.ArrowException, *FAILURES):
                    is_fit = False
                if not is_fit:
                    roles = (role for role, name in self.columns.items() if name == field.name)
                    error = _other_type(field.name, given, next(roles, ""))
                    error.line = number
                    return error
        return None


def _parse_lines(
    lines: Iterable[tuple[int, str]], cut: int = 0
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the lines that aren't blank with Python, each with its number; one may be cut off."""
    for line, text in lines:
        if not text.strip():
            continue
        try:
            value = json.loads(text, object_pairs_hook=_read_pairs)
        except (ValueError, RecursionError) as error:
            found = str(error)
        else:
            if isinstance(value, dict):
                yield line, value
                continue
            found = _show(value)
        raise FormatError(
            f"expected an object of JSON a line, found something else ({found})",
            hint="write one object a line: jq -c . (or jq -c '.[]' for a list); if the last line "
            "is cut off, write the file again",
            code="truncated_last_line" if line == cut else "json_syntax",
            line=line,
        )


def _read_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key that comes twice")
    return made


def _list_fields(value: object) -> list[str]:
    """Return the keys of a list of objects, none for anything else."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return []
    return list(dict.fromkeys(name for each in value for name in each))


def _find_lines(block: bytes, line: int, count: int) -> NDArray[np.int64]:
    """Find the lines of rows in a block that has blank lines."""
    rows = enumerate(block.split(b"\n"), line)
    return np.array([number for number, row in rows if row.strip()][:count], np.int64)


def _other_type(name: str, value: object, role: str) -> FormatError:
    kind = "text"
    if type(value) in {int, float}:
        kind = "nan" if value != value else "infinite"  # noqa: PLR0124 - only NaN differs from itself
    return FormatError(
        f"expected {name} to hold what the first rows have, found {_show(value)}",
        hint="a column has one type: IDs are text or integers, and numbers are written plainly, as "
        'in {"score": 0.5}',
        code="id_type"
        if role in ID_ROLES
        else code_of(kind, role)
        if role in NUMBER_ROLES
        else "json_type",
    )


def _show(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"

"""JSON Lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as arrow_json

from rankscope._inputs.column_names import CHECKS, ID_ROLES, ITEMS, NUMBER_ROLES, role_of
from rankscope._inputs.columns import FAILURES, are_finite, is_list
from rankscope._inputs.numbers import Foreign, code_of
from rankscope._inputs.text import (
    Lines,
    Reader,
    Text,
    decode,
    no_rows,
    raise_first,
    read_blocks,
    shorten,
)
from rankscope.errors import FormatError, InputError


class JsonLinesFile(Reader):
    """A file of JSON objects."""

    code = "json_syntax"

    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the keys of the first object, and read on until each of them has a value."""
        self._first_line = 0
        self._example: dict[str, Any] = {}
        empty: set[str] = set()
        try:
            for line, value in _parse_lines(self._read_lines()):
                if not self._example:
                    self._first_line, self._example, empty = line, dict(value), {*value}
                filled = {name for name in empty & value.keys() if value[name] not in (None, [])}
                self._example |= {name: value[name] for name in filled}
                empty -= filled
                if not empty:
                    break
        except FormatError:
            if not self._example:
                raise
        if not self._example:
            raise no_rows("objects")
        return [*self._example], {name: _list_fields(self._example.get(name)) for name in ITEMS}

    def _read_lines(self) -> Iterator[tuple[int, str]]:
        """Read lines one by one, but skip what is blank as fast as it can be read."""
        for block, line in read_blocks(Text(self.opened, {})):
            if block.strip():
                yield from enumerate(decode(block, line).split("\n"), line)

    def infer_schema(self, names: Sequence[str]) -> Foreign:
        """Return the types that the first values have."""
        outer = (name if name in self._example else name.rpartition(".")[0] for name in names)
        fields = []
        for name in dict.fromkeys(outer):
            try:
                kind = pa.array([self._example[name]]).type
            except (pa.ArrowException, *FAILURES) as error:
                role = role_of(name, self.columns)
                if role.startswith(CHECKS):
                    del self.columns[role]
                    continue
                wrong = self._other_type(name, self._example[name])
                wrong.line = self._first_line
                raise wrong from error
            fields.append((name, self._choose_type(kind, name)))
        return pa.schema(fields)

    def _choose_type(self, kind: Foreign, name: str, *, is_inside: bool = False) -> Foreign:
        """Return the type of a column where PyArrow takes the first value for this type."""
        role = role_of(name, self.columns)
        if is_list(kind):
            return pa.list_(self._choose_type(kind.value_type, name, is_inside=True))
        if pa.types.is_struct(kind):
            paths = [f"{name}.{field.name}" for field in kind]
            return pa.struct(
                (field.name, self._choose_type(field.type, path, is_inside=True))
                for field, path in zip(kind, paths, strict=True)
                if path in self.columns.values() or self.opened.selection.is_flat
            )
        if role in ID_ROLES:
            return pa.int64() if pa.types.is_integer(kind) else pa.string()
        if role in NUMBER_ROLES:
            return kind if pa.types.is_boolean(kind) and role == "relevance" else pa.float64()
        if pa.types.is_integer(kind) and (is_inside or self.opened.selection.has_real_numbers):
            return pa.float64()  # others of its kind needn't be whole
        return pa.string() if pa.types.is_null(kind) else kind

    def read_batches(self) -> Iterator[tuple[Foreign, Lines]]:
        """Read a batch from each block of lines.

        Columns that only checks need are null where they are of several types.
        """
        roles = {name: role for role, name in self.columns.items()}
        needed = pa.schema(
            field for field in self.inner if not roles.get(field.name, "").startswith(CHECKS)
        )
        for block, line in read_blocks(Text(self.opened, self.notes)):
            text = decode(block, line)
            if block.isspace():
                continue
            try:
                batches, lines = self._read_block(block, line, self.inner)
            except pa.ArrowInvalid:
                texts = text.split("\n")
                objects = _parse_lines(enumerate(texts, line), line + len(texts) - 1)
                raise_first(objects, partial(self._check_object, needed))
                batches, lines = self._read_block(block, line, needed)
            for batch in batches:
                yield batch, lines

    def _read_block(self, block: bytes, line: int, schema: Foreign) -> tuple[Foreign, Lines]:
        # PyArrow would end the process at a null in place of the first object.
        if not block.lstrip().startswith(b"{") or b"\nnull" in block:
            raise pa.ArrowInvalid("no object")
        table = arrow_json.read_json(
            pa.BufferReader(block),
            read_options=arrow_json.ReadOptions(block_size=len(block) + 1, use_threads=False),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )
        if not all(map(are_finite, table.columns)):
            raise pa.ArrowInvalid("NaN")
        lines = Lines(line)
        if table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
            rows = enumerate(block.split(b"\n"), line)
            places = np.array([number for number, text in rows if text.strip()])
            if table.num_rows != len(places):
                raise pa.ArrowInvalid("other than one object a line")
            lines = Lines(line, lambda count: places[:count])
        for field in self.inner:
            if field.name not in schema.names:
                table = table.append_column(field, pa.nulls(len(table), field.type))
        return table.select(self.inner.names).combine_chunks().to_batches(), lines

    def _check_object(self, schema: Foreign, value: dict[str, Any]) -> InputError | None:
        for field in schema:
            cell = value.get(field.name)
            try:
                is_fit = are_finite(pa.array([cell], field.type))
            except (pa.ArrowException, *FAILURES):
                is_fit = False
            # PyArrow takes truth values of Python for numbers.
            if not is_fit or (isinstance(cell, bool) and not pa.types.is_boolean(field.type)):
                return self._other_type(field.name, cell)
        return None

    def _other_type(self, name: str, value: object) -> FormatError:
        kind, role = "text", role_of(name, self.columns)
        if type(value) in {int, float}:
            kind = "nan" if value != value else "infinite"  # noqa: PLR0124 - only NaN differs from itself
        code = code_of(kind, role) if role in NUMBER_ROLES else "json_type"
        if role in ID_ROLES and type(value) is int and abs(value) >> 63:
            message = (
                f"expected {name} as signed 64-bit integers, found {shorten(json.dumps(value))}"
            )
            return FormatError(message, hint="write all IDs of this column as text", code="id_type")
        return FormatError(
            f"expected {name} to hold what the first rows have, found {shorten(json.dumps(value))}",
            hint="a column has one type: IDs are text or integers, and numbers are written "
            'plainly, as in {"score": 0.5}',
            code="id_type" if role in ID_ROLES else code,
        )


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
            problem = str(error)
        else:
            if isinstance(value, dict):
                yield line, value
                continue
            problem = shorten(json.dumps(value))
        raise FormatError(
            f"expected an object of JSON a line, found something else ({problem})",
            hint="write one object a line: jq -c . (or jq -c '.[]' for a list); if the last line "
            "is cut off, write the file again",
            code="truncated_last_line" if line == cut else "json_syntax",
            line=line,
        )


def _read_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key that comes twice")
    return fields


def _list_fields(value: object) -> list[str]:
    """Return the keys of a list of objects, none for anything else."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return []
    return list(dict.fromkeys(name for item in value for name in item))

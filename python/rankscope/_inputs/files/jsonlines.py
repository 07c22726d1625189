"""JSON Lines: one object per line."""

from __future__ import annotations

import re
from itertools import chain

from rankscope._inputs.arrow import load_arrow, open_text
from rankscope._inputs.files.blocks import Block, Blocks, Lines, add_note, find_line
from rankscope._inputs.files.jsonmistakes import DEEPEST, Kind, find_mistake, read_object
from rankscope._inputs.files.roles import ID_ROLES, ITEMS, NUMBER_ROLES, role_of
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from rankscope._inputs.paths import OpenFile

LONGEST_ROW = 128 << 20
LARGEST_EXACT = 2.0**53
# PyArrow takes several values on a line for several rows, and ends the process at a null.
NULL_ROW = re.compile(rb"[}\]][ \t\r\n]*null")
LONG_INTEGER = re.compile(rb"[:,\[]\s*-?[0-9]{16,}\s*[,}\]]")


class JsonLinesFile:
    """A file of JSON objects, as batches of the wanted columns.

    Args:
        opened: The file.

    Raises:
        InputError: Its first line is no object with the columns.
    """

    def __init__(self, opened: OpenFile) -> None:
        self.name = opened.name
        blocks = Blocks(opened.read_text(), LONGEST_ROW)
        self.notes = blocks.notes
        self._pieces = iter(blocks)
        self._first, example = self._read_example()
        inside = {name: _fields_of(example.get(name)) for name in ITEMS}
        self.names = [*example, *(field for of in inside.values() for field in of)]
        self.columns = opened.wanted.choose(list(example), inside, self.name)
        self._roles = {name: role_of(name, self.columns) for name in self.columns.values()}
        self._kinds = {
            name: _kind_of(name, role, example, has_real_numbers=opened.wanted.has_real_numbers)
            for name, role in self._roles.items()
        }
        self.schema = _schema_of(self._kinds)

    def _read_example(self) -> tuple[Block, dict[str, object]]:
        """Read the first lines until each key of the first object has a value."""
        for block in self._pieces:
            example: dict[str, object] = {}
            missing: set[str] = set()
            rows = block.text.split(b"\n")
            for number, row in enumerate(rows):
                if not row.strip():
                    continue
                is_cut = block.is_last and number == len(rows) - 1
                try:
                    found = read_object(row, (), is_cut=is_cut)
                except InputError as error:
                    if example:
                        break  # its turn comes when the lines before it are read
                    error.file, error.line = self.name, block.first_line + number
                    raise
                if not example:
                    example = dict(found)
                    missing = {name for name, value in found.items() if _is_empty(value)}
                _fill_missing(example, missing, found)
                if not missing:
                    break
            if example:
                return block, example
        raise EmptyError(
            "expected objects, found no line",
            hint="is the file empty?",
            code="empty_input",
            file=self.name,
        )

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        for block in chain([self._first], self._pieces):
            yield from self._read(block)

    def _read(self, block: Block) -> Iterator[tuple[Any, Lines]]:
        text = block.text
        if not text.strip():
            add_note(self.notes, "blank_lines", text.count(b"\n"), block.first_line)
            return
        lines = _find_lines(block)
        is_odd = lines is None or self._is_odd(text)
        error = self._find_mistake(block) if is_odd else None
        table = None if error is not None else self._parse(text)
        lines = lines or _find_lines_one_by_one(block)
        rows = _count_lines(text) if lines.starts is None else len(lines.starts)
        is_doubtful = table is None or table.num_rows != rows or self._has_odd_numbers(table, text)
        if is_doubtful and not is_odd:
            error = self._find_mistake(block)
        if table is not None and table.num_rows != rows:
            error = error or self._another_shape(block)
        if error is not None or table is None:
            error = error or self._another_shape(block)
            # What comes first is refused first.
            before = block.text[: find_line(block.text, error, block.first_line)]
            yield from self._read(Block(before, block.first_line, is_last=False))
            raise error
        if lines.starts is not None and (blank := _count_lines(text) - rows):
            add_note(self.notes, "blank_lines", blank, block.first_line)
        for batch in table.combine_chunks().to_batches():
            yield batch, lines

    def _parse(self, text: bytes) -> Any:  # noqa: ANN401 - PyArrow has no types
        arrow, reader = load_arrow(), load_arrow("pyarrow.json")
        try:
            return reader.read_json(
                open_text(text),
                read_options=reader.ReadOptions(block_size=len(text) + 1),
                parse_options=reader.ParseOptions(
                    explicit_schema=self.schema, unexpected_field_behavior="ignore"
                ),
            )
        except arrow.ArrowInvalid:
            return None

    def _is_odd(self, text: bytes) -> bool:
        """Check whether a block may hold something that only PyArrow accepts."""
        if b"NaN" in text or b"Infinity" in text:
            return True
        return (b"null" in text and NULL_ROW.search(text) is not None) or _is_deep(text)

    def _has_odd_numbers(self, table: Any, text: bytes) -> bool:  # noqa: ANN401 - PyArrow has no types
        """Check whether an integer may have been rounded."""
        compute = load_arrow("pyarrow.compute")
        for name, role in self._roles.items():
            if role in NUMBER_ROLES and self._kinds[name].type is not bool:
                for chunk in flatten(table, name):
                    largest = compute.max(compute.abs(chunk)).as_py()
                    if largest is not None and largest >= LARGEST_EXACT:
                        return LONG_INTEGER.search(text) is not None
        return False

    def _find_mistake(self, block: Block) -> InputError | None:
        """Find the first invalid line, by a slow pass over all of them."""
        error = find_mistake(
            block.text, block.first_line, self._roles, self._kinds, is_last=block.is_last
        )
        if error is not None:
            error.file = self.name
        return error

    def _another_shape(self, block: Block) -> FormatError:
        """Find the line that PyArrow rejects because of a key that isn't read."""
        rows = enumerate(block.text.split(b"\n"))
        line = next((at for at, row in rows if row.strip() and self._parse(row) is None), 0)
        return FormatError(
            "expected an object of JSON a line, found something else",
            hint="write one object a line: jq -c .",
            code="json_syntax",
            file=self.name,
            line=block.first_line + line,
        )


def _fill_missing(
    example: dict[str, object], missing: set[str], found: Mapping[str, object]
) -> None:
    """Fill in missing example values from a later line."""
    # Only what the line has is looked at: there may be many lines, and many keys.
    for name in missing.intersection(found):
        example[name] = found[name]
        if not _is_empty(found[name]):
            missing.remove(name)


def _find_lines(block: Block) -> Lines | None:
    """Return the line numbers of the rows, `None` unless each line starts with an object."""
    text = block.text
    if text.count(b"\n{") + text.startswith(b"{") == _count_lines(text):
        return Lines(block.first_line)
    return None


def _find_lines_one_by_one(block: Block) -> Lines:
    rows = block.text.split(b"\n")
    starts = [number for number, row in enumerate(rows) if row.strip()]
    return Lines(block.first_line, np.array(starts, dtype=np.int64))


def _is_deep(text: bytes) -> bool:
    """Check whether nesting may exceed the limit, counting brackets inside quotes, too."""
    # Each line opens one object at least, and one that is too deep as many more as are too many.
    opens = text.count(b"{") + text.count(b"[")
    if opens < _count_lines(text) + DEEPEST:
        return False
    characters = np.frombuffer(text, dtype=np.uint8)
    # In ASCII, [ and { differ by one bit from each other, and so do ] and }.
    steps = (characters & 0xDF == ord("[")).astype(np.int8) - (characters & 0xDF == ord("]"))
    depths = np.cumsum(steps, dtype=np.int32)
    ends = np.flatnonzero(characters == ord("\n"))
    starts = np.concatenate([[0], ends + 1])
    starts = starts[starts < len(text)]
    before = np.concatenate([[0], depths[starts[1:] - 1]]) if len(starts) > 1 else np.zeros(1)
    return bool((np.maximum.reduceat(depths, starts) - before > DEEPEST).any())


def flatten(table: Any, name: str) -> Iterator[Any]:  # noqa: ANN401 - as above
    """Flatten a column to the values of its lists."""
    arrow = load_arrow()
    outer, _, inner = name.rpartition(".")
    is_inside = bool(outer) and name not in table.schema.names
    for chunk in table.column(outer if is_inside else name).chunks:
        values = chunk
        while arrow.types.is_list(values.type):
            values = values.flatten()
        yield values.field(inner) if is_inside else values


def _kind_of(
    name: str, role: str, example: Mapping[str, object], *, has_real_numbers: bool
) -> Kind:
    if name in example:
        value = example[name]
        of = _type_of(_first_of(value), role)
        may_be_real = isinstance(value, list) or has_real_numbers
        if may_be_real and of is int and role not in ID_ROLES:
            of = float  # such as the first numbers of vectors, of which others need not be whole
        return Kind(of, is_list=isinstance(value, list))
    outer, _, inner = name.rpartition(".")
    values = [one.get(inner) for one in _objects_of(example[outer])]
    return Kind(_type_of(_first_of(values), role), is_list=True, is_inside=True)


def _type_of(value: object, role: str) -> type:
    if role in NUMBER_ROLES:
        return bool if isinstance(value, bool) and role == "relevance" else float
    if isinstance(value, bool | float) and role not in ID_ROLES:
        return type(value)
    return int if isinstance(value, int) and not isinstance(value, bool) else str


def _schema_of(kinds: Mapping[str, Kind]) -> Any:  # noqa: ANN401 - as above
    arrow = load_arrow()
    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    fields: dict[str, Any] = {}
    objects: dict[str, list[tuple[str, Any]]] = {}
    for name, kind in kinds.items():
        if kind.is_inside:
            outer, _, inner = name.rpartition(".")
            objects.setdefault(outer, []).append((inner, types[kind.type]))
        else:
            fields[name] = arrow.list_(types[kind.type]) if kind.is_list else types[kind.type]
    for outer, of in objects.items():
        fields[outer] = arrow.list_(arrow.struct(of))
    return arrow.schema(fields.items())


def _is_empty(value: object) -> bool:
    return value is None or value == []


def _first_of(value: object) -> object:
    """Return the first non-null value of a list, or the value itself if it isn't a list."""
    if not isinstance(value, list):
        return value
    return next((one for one in value if one is not None), None)


def _objects_of(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list of objects, none for anything else."""
    is_list = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return value if is_list else []  # type: ignore[return-value]  # as was looked


def _fields_of(value: object) -> list[str]:
    return list(dict.fromkeys(name for one in _objects_of(value) for name in one))


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n"))

"""Reads files of events in pieces, with the line or row of each object.

JSON holds an object an event. A table holds a document or a label a row; or a ranking a row, where
its documents are lists.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from zoneinfo import available_timezones

from rankscope._file import EVENT_FORMATS, EventFormat, tell_format
from rankscope._inputs.files import (
    OpenFile,
    Progress,
    TextSource,
    copy_pipe,
    list_files,
    open_file,
    refuse_binary,
)
from rankscope._inputs.text import Lines
from rankscope.errors import EmptyError, FormatError, LimitError, UsageError
from rankscope.monitor.events.decoding import BOM, parse_text
from rankscope.monitor.events.json import EventJSON
from rankscope.monitor.events.rejection import RefusedError

T = TypeVar("T")

PIECE = 1 << 20
LONGEST_LINE = 8 << 20
LONGEST_JSON = 64 << 20
AT_ONCE = 1000
BLANKS = b" \t\r"


@dataclass(frozen=True, slots=True)
class Objects(Generic[T]):
    """A batch of objects of a file, parsed or as texts.

    Args:
        objects: The objects; in the place of what is none, a `RefusedError` that says why.
        places: Their lines or rows, from 1.
    """

    objects: list[T]
    places: list[int]


@dataclass(frozen=True, slots=True)
class EventFile:
    """A file of events.

    Args:
        path: The path; `-` is standard input.
        format: Its format, where its name does not tell it.
        encoding: How its text is encoded, `utf-8` or `latin-1`.
        progress: A function that is called with the bytes read so far.
        timezone: The time zone of times in a table that have none.
    """

    path: str
    format: EventFormat | None = None
    encoding: str = "utf-8"
    progress: Progress = None
    timezone: str | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "<stdin>" if self.path == "-" else self.path

    @property
    def size(self) -> int:
        """The size in bytes, 0 if unknown."""
        return 0 if self.is_stream else os.path.getsize(self.path)  # noqa: PTH202 - pathlib loads slowly

    @property
    def is_stream(self) -> bool:
        """Whether the file can be read only once."""
        return self.path == "-" or not os.path.isfile(self.path)  # noqa: PTH113 - pathlib loads slowly

    def check(self) -> None:
        """Raise an error unless the format is known, and has times that can lack a time zone."""
        is_json, zone = self.tell_format() in {"jsonl", "json"}, self.timezone
        if zone is not None and (is_json or zone not in available_timezones()):
            raise UsageError(
                f"expected a table and the name of a time zone, found {self.name} and {zone!r}",
                hint="name it as in Europe/Berlin; in JSON, append Z to times in UTC, or +01:00",
                code="bad_parameter",
            )

    def tell_format(self) -> str:
        """Return the format."""
        if self.format is not None:
            if self.format not in EVENT_FORMATS:
                raise _bad_format(self.format)
            return self.format
        form = tell_format(self.path, EVENT_FORMATS)
        if form is not None:
            return form
        refuse_binary(self.name)
        raise _bad_format(self.name)

    def read_objects(self) -> Iterator[Objects[object]]:
        """Read a file of JSON."""
        if self.tell_format() == "json":
            yield self.parse_body(self.read_body())
            return
        for lines in self.read_lines():
            yield Objects(list(map(parse_text, lines.objects)), lines.places)

    def read_lines(self) -> Iterator[Objects[bytes | RefusedError]]:
        """Read the lines of a file that has an object on each."""
        with self._open() as opened:
            yield from _gather(_split_lines(TextSource(opened)))

    def read_tables(self, only: Sequence[str] | None = None) -> Iterator[tuple[Any, Lines]]:
        """Read a file as tables. Numbers in CSV stay text."""
        from rankscope._inputs.table_files import open_reader

        wanted: Any = _Columns(only)
        form = self.tell_format()
        try:
            list_files(self.path)
        except FormatError as error:  # a file of a lakehouse table, in which deleted rows still are
            error.hint = "write its current rows to a Parquet file elsewhere, with Spark or DuckDB"
            raise
        # One row of Parquet whose text isn't UTF-8 is rejected.
        with self._open(form=form, selection=wanted, checks_text=form != "parquet") as opened:
            if opened.file.seekable():
                yield from open_reader(opened)
                return
            with copy_pipe(opened.file) as copy:
                yield from open_reader(opened._replace(file=copy, source=copy.name))

    def _open(self, **options: Any) -> AbstractContextManager[OpenFile]:  # noqa: ANN401 - see `open_file`
        return open_file(
            self.path, self.name, encoding=self.encoding, progress=self.progress, **options
        )

    def read_body(self) -> bytes:
        """Read a file of one JSON text at once."""
        text = bytearray()
        with self._open() as opened:
            source = TextSource(opened)
            while piece := source.read(PIECE):
                text += piece
                if len(text) > LONGEST_JSON:
                    raise LimitError(
                        f"expected at most {LONGEST_JSON} bytes of one JSON text, found more",
                        hint="write one object a line: jq -c '.[]'",
                        code="line_length",
                        file=self.name,
                    )
        plain = bytes(text).removeprefix(BOM)
        if not plain.strip():
            raise EmptyError(
                "expected JSON, found nothing",
                hint="is the file empty?",
                code="empty_input",
                file=self.name,
            )
        return plain

    def parse_body(self, body: bytes) -> Objects[object]:
        """Parse what `read_body` read: one object, or a list of them."""
        reader = EventJSON()
        try:
            value = reader.load(body)
        except RefusedError as error:
            raise FormatError(
                error.message,
                hint="one object a line is read as --format jsonl",
                code=error.code,
                file=self.name,
            ) from None
        objects = value if isinstance(value, list) else [value]
        return Objects([reader.settle(each) for each in objects], list(range(1, len(objects) + 1)))


@dataclass(frozen=True, slots=True)
class _Columns:
    """Selects columns by name, in place of `Selection`."""

    only: Sequence[str] | None
    is_flat: bool = True

    def choose(
        self, names: Sequence[str], _inside: Mapping[str, Sequence[str]], file: str
    ) -> dict[str, str]:
        """Choose columns. Their keys aren't roles, so values aren't converted."""
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise FormatError(
                f"expected columns with a name each, found {twice!r} twice",
                hint="rename one of them",
                code="columns",
                file=file,
                line=1,
            )
        return {f"column {name}": name for name in names if self.only is None or name in self.only}


def _split_lines(source: TextSource) -> Iterator[tuple[int, bytes | RefusedError]]:
    """Yield the non-blank lines of text, and an error in place of one that is too long."""
    line, rest, is_skipping = 1, b"", False
    while True:
        piece = source.read(PIECE)
        *whole, rest = (rest + piece).split(b"\n")
        for text in whole if piece else [*whole, rest]:
            if is_skipping or len(text) > LONGEST_LINE:
                yield line, _too_long()
            elif text.strip(BLANKS):
                yield line, text.removeprefix(BOM) if line == 1 else text
            line, is_skipping = line + 1, False
        if not piece:
            return
        if is_skipping or len(rest) > LONGEST_LINE:
            rest, is_skipping = b"", True


def _gather(
    lines: Iterator[tuple[int, bytes | RefusedError]],
) -> Iterator[Objects[bytes | RefusedError]]:
    batch: Objects[bytes | RefusedError] = Objects([], [])
    size = 0
    for line, text in lines:
        batch.places.append(line)
        batch.objects.append(text)
        size += 0 if isinstance(text, RefusedError) else len(text)
        if len(batch.objects) == AT_ONCE or size > LONGEST_LINE:
            yield batch
            batch, size = Objects([], []), 0
    if batch.objects:
        yield batch


def _too_long() -> RefusedError:
    return RefusedError("", f"at most {LONGEST_LINE} bytes a line", "more", code="line_length")


def _bad_format(form: str) -> UsageError:
    return UsageError(
        f"expected a file of {', '.join(EVENT_FORMATS)}, found {form!r}",
        hint="say which it is: --format jsonl",
        code="bad_format",
    )

"""Reads a stream of Arrow that anybody may have sent, and decodes its rows as events."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from rankscope._inputs.text import Lines
from rankscope.errors import FormatError
from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import Decoded, count_unknown
from rankscope.monitor.events.table_decoder import TableDecoder
from rankscope.monitor.events.tables import (
    Rows,
    are_together,
    check_ids,
    cut_rows,
    holds_rankings,
)

Foreign: TypeAlias = Any  # of PyArrow, which has no types


HEADER, COMPRESSION = 2, 3
"""The places of fields in the tables `Message` and `RecordBatch` of Arrow's format."""


def read_stream(body: bytes, most: int) -> list[Rows]:
    """Read the rows of a stream.

    Nothing in it becomes larger than the stream itself: compressed buffers, dictionaries, and types
    whose values take no room are refused.
    """
    try:
        for message in pa.ipc.MessageReader.open_stream(_open_text(body)):
            if message.type == "dictionary" or _is_compressed(bytes(message.metadata)):
                raise _refuse("plain columns", "dictionaries or compressed buffers")
        reader = pa.ipc.open_stream(_open_text(body))
        for field in reader.schema:
            if not _is_plain(field.type):
                raise _refuse("texts, numbers, times, and lists of them", str(field.type)[:100])
        names = reader.schema.names
        if len(set(names)) < len(names):
            raise _refuse("columns with a name each", "one twice")
        count = 0
        batches = []
        for batch in reader:
            batch.validate(full=True)
            count += batch.num_rows
            if count > most:
                raise _refuse(f"at most {most} rows", "more")
            batches.append((batch, Lines(count - batch.num_rows + 1)))
        return list(cut_rows(batches))
    except (pa.ArrowException, struct.error, OSError, OverflowError, UnicodeDecodeError):
        raise _refuse("a stream of Arrow", "a damaged one, or something else") from None


def decode_stream(body: bytes, kind: str, reader: EventReader, *, most: int, now: int) -> Decoded:
    """Decode a stream of rankings or labels."""
    rows = _read_rows(body, most if kind == "labels" else most * reader.limits.items)
    if kind == "labels":
        _check_count(len(rows.places), most)
        return TableDecoder(reader).decode_labels(rows, {}, now=now)
    if holds_rankings(rows):
        _check_count(len(rows.places), most)
        read = partial(reader.read_rankings, now=now)
        return TableDecoder(reader).decode_lists(rows, read, now=now)
    names = list(rows.columns)
    roles = reader.find_roles(names, kind)
    unknown = set(names).difference(roles.values())
    name = roles.get("ranking_id")
    if name is not None:
        check_ids(rows, name)
        _check_count(len(rows.columns[name].unique()), most)
        if are_together([rows.columns[name]]):
            decoded, _ = TableDecoder(reader).decode_documents(rows, name, roles, now=now)
            return count_unknown(decoded, unknown)
    return pack_reading(count_unknown(reader.read_ranking_rows(rows.columns, now=now), unknown))


def _open_text(text: bytes) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Copy text into memory of Arrow's own, for one of its readers.

    The reader's threads may outlive the call. One that dropped a buffer of Python's while the
    interpreter ends would abort the process.
    """
    buffer = pa.allocate_buffer(len(text))
    memoryview(buffer).cast("B")[:] = text
    return pa.BufferReader(buffer)


def _read_rows(body: bytes, most: int) -> Rows:
    parts = read_stream(body, most)
    if not parts:
        raise FormatError("expected an event, found none", code="empty_body")
    columns = {
        name: pa.concat_arrays([part.columns[name] for part in parts]) for name in parts[0].columns
    }
    return Rows(columns, np.concatenate([part.places for part in parts]))


def _check_count(count: int, most: int) -> None:
    if count > most:
        raise FormatError(f"expected at most {most} events, found more", code="batch_too_large")


def _refuse(expected: str, found: str) -> FormatError:
    return FormatError(f"expected {expected}, found {found}", code="bad_arrow")


def _is_plain(kind: Foreign) -> bool:
    """Check whether each value of a type takes room in a stream, and takes it once."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        parts = [kind.key_type, kind.item_type] if pa.types.is_map(kind) else [kind.value_type]
        return all(map(_is_plain, parts))
    if pa.types.is_struct(kind):
        return kind.num_fields > 0 and all(_is_plain(field.type) for field in kind)
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_integer,
            pa.types.is_float32,
            pa.types.is_float64,
            pa.types.is_boolean,
            pa.types.is_timestamp,
        )
    )


def _is_compressed(metadata: bytes) -> bool:
    """Check whether the buffers of a message are compressed, by its flat buffer."""
    message = struct.unpack_from("<I", metadata)[0]
    header = _find_field(metadata, message, HEADER)
    return header is not None and _find_field(metadata, header, COMPRESSION) is not None


def _find_field(metadata: bytes, table: int, place: int) -> int | None:
    """Find the table that a field of a table refers to."""
    fields = table - struct.unpack_from("<i", metadata, table)[0]
    if fields < 0:
        raise struct.error
    size = struct.unpack_from("<H", metadata, fields)[0]
    if 4 + 2 * place >= size:
        return None
    offset = struct.unpack_from("<H", metadata, fields + 4 + 2 * place)[0]
    if offset == 0:
        return None
    at = table + offset
    return int(at + struct.unpack_from("<I", metadata, at)[0])

"""Packs the documents of a ranking into bytes, and unpacks those of many rankings into columns.

A packed ranking is, little-endian: one byte of version, one of flags, two with the length of the
ids if all have the same and otherwise 0, four with the number of documents, four with a checksum of
everything else; then ranks (4 bytes each, omitted where they are 1, 2, 3, …), scores and grades
(8 bytes each, or 4 where that loses nothing; omitted where there are none; NaN for none), lengths
of ids (2 bytes each, omitted where all are the same), and the ids in UTF-8, end to end.

The core unpacks many rankings at once.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from zlib import crc32

from rankscope import _core
from rankscope.deferred import np
from rankscope.errors import FileError
from rankscope.monitor.events.event import Items
from rankscope.monitor.store.records import ItemColumns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

VERSION = 1
SHAPE = struct.Struct("<BBHI")
CHECKSUM = struct.Struct("<I")
HEAD = SHAPE.size + CHECKSUM.size
HAS_RANKS = 1
HAS_SCORES = 2
SCORES_ARE_SHORT = 4
HAS_GRADES = 8
GRADES_ARE_SHORT = 16
NAN = float("nan")


def pack(items: Items) -> bytes:
    """Pack the documents of a ranking.

    Examples:
        >>> unpack(pack(Items(("a", "b"), (1, 2), (0.5, None)))).scores
        (0.5, None)
        >>> len(pack(Items(tuple(f"item{number:08}" for number in range(50)), tuple(range(1, 51)))))
        612
    """
    count = len(items)
    joined = "".join(items.doc_ids)
    ids = joined.encode()
    # In ASCII each character is one byte.
    texts = items.doc_ids if joined.isascii() else [doc_id.encode() for doc_id in items.doc_ids]
    sizes = list(map(len, texts))
    alike = sizes[0] if count and min(sizes) == max(sizes) else 0
    flags = 0
    parts = []
    if items.ranks != tuple(range(1, count + 1)):
        flags |= HAS_RANKS
        parts.append(struct.pack(f"<{count}I", *items.ranks))
    for values, has, is_short in (
        (items.scores, HAS_SCORES, SCORES_ARE_SHORT),
        (items.relevance, HAS_GRADES, GRADES_ARE_SHORT),
    ):
        if values:
            packed, short = _pack_numbers(values)
            flags |= has | (is_short if short else 0)
            parts.append(packed)
    if not alike:
        parts.append(struct.pack(f"<{count}H", *sizes))
    shape = SHAPE.pack(VERSION, flags, alike, count)
    body = b"".join((*parts, ids))
    return b"".join((shape, CHECKSUM.pack(crc32(body, crc32(shape))), body))


def _pack_numbers(values: tuple[float | None, ...]) -> tuple[bytes, bool]:
    numbers = [NAN if value is None else value for value in values]
    long = struct.pack(f"<{len(numbers)}d", *numbers)
    try:
        short = struct.pack(f"<{len(numbers)}f", *numbers)
    except OverflowError:
        return long, False
    is_same = struct.pack(f"<{len(numbers)}d", *struct.unpack(f"<{len(numbers)}f", short)) == long
    return (short, True) if is_same else (long, False)


def unpack(piece: bytes) -> Items:
    """Unpack the documents of a ranking."""
    columns = unpack_columns([piece])
    starts, text = columns.doc_ids
    whole = text.tobytes()
    bounds = starts.tolist()
    has_scores, has_grades = (piece[1] & flag for flag in (HAS_SCORES, HAS_GRADES))
    return Items(
        tuple(whole[start:end].decode() for start, end in pairwise(bounds)),
        tuple(columns.ranks.tolist()),
        _none_for_nan(columns.scores) if has_scores else (),
        _none_for_nan(columns.relevance) if has_grades else (),
    )


def unpack_ids(piece: bytes) -> tuple[str, ...]:
    """Unpack the ids of the documents of a ranking alone, without NumPy.

    Examples:
        >>> unpack_ids(pack(Items(("a", "bc"), (1, 2))))
        ('a', 'bc')
    """
    found = _core.unpack_pieces([piece])
    if found is None:
        raise _find_fault([piece])
    bounds = memoryview(found[1]).cast("q").tolist()
    text = bytes(memoryview(found[2]))
    return tuple(text[start:end].decode() for start, end in pairwise(bounds))


def _none_for_nan(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    return tuple(None if value != value else value for value in values.tolist())  # noqa: PLR0124 - NaN alone differs from itself


def unpack_columns(pieces: Sequence[bytes]) -> ItemColumns:
    """Unpack the documents of many rankings."""
    found = _core.unpack_pieces(pieces)
    if found is None:
        raise _find_fault(pieces)
    kinds = (np.int64, np.int64, np.uint8, np.int64, np.float64, np.float64)
    offsets, starts, ids, ranks, scores, relevance = (
        np.frombuffer(memoryview(column), kind) for column, kind in zip(found, kinds, strict=True)
    )
    return ItemColumns(offsets, (starts, ids), ranks, scores, relevance)


def _find_fault(pieces: Sequence[bytes]) -> FileError:
    """Find the piece that cannot be unpacked."""
    damaged = None
    for place, piece in enumerate(pieces, start=1):
        if _check(piece) != piece[8:HEAD]:
            damaged = place
            break
        if piece[0] != VERSION:
            return FileError(
                f"a stored ranking has version {piece[0]}; this release reads version {VERSION}",
                hint="the store was written by a later version of rankscope",
                code="store_version",
                line=place,
            )
    return FileError(
        "the documents of a stored ranking are damaged",
        hint="restore a backup of the store",
        code="store_damaged",
        line=damaged,
    )


def _check(piece: bytes) -> bytes:
    return CHECKSUM.pack(crc32(memoryview(piece)[HEAD:], crc32(piece[: SHAPE.size])))


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of runs of some sizes, and the end of the last."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets

"""Reads whole columns of events at once, and marks the cells that need a closer look.

A marked cell isn't necessarily wrong: the event reader judges its row, so that verdicts are those
of events that were sent.
"""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.inputs.arrow import check_whole, load_arrow
from rankscope.inputs.open_column import decode
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import FAR, YEARS, read_time
from rankscope.monitor.store.tables.documents import offsets_of
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.store.records import Texts

    Foreign: TypeAlias = Any  # of PyArrow, which has no types
    Marks: TypeAlias = NDArray[np.bool_]

# What RFC 3339 allows and Arrow reads in the same way.
LOCAL_TIME = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:[0-5]\d(\.\d{1,6})?"
PLAIN_TIME = LOCAL_TIME + r"(Z|[+-]\d\d:\d\d)$"
EXACT = 2**53
"""All integers below are doubles. From here on, some are not, and are rounded to others."""
MIXING = 0x9E3779B97F4A7C15
"""An odd number with as many ones as zeros, so that a product depends on all bits."""


def join_chunks(column: Foreign, name: str) -> Foreign:
    """Return a column as one decoded array whose texts are UTF-8."""
    arrow = load_arrow()
    pieces = column.chunks if isinstance(column, arrow.ChunkedArray) else [column]
    decoded = [decode(piece) for piece in pieces] or [decode(arrow.array([], column.type))]
    joined = decoded[0] if len(decoded) == 1 else arrow.concat_arrays(decoded)
    check_whole(joined, name)
    return joined


def read_texts(column: Foreign, most: int, *, fewest: int = 0) -> tuple[Foreign, Marks]:
    """Read a column of texts or integers."""
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    kinds, kind, count = arrow.types, column.type, len(column)
    if kinds.is_large_string(kind):
        texts = column
    elif kinds.is_integer(kind) and not kinds.is_uint64(kind):
        texts = column.cast(arrow.large_string())
    else:
        empty = arrow.array([""], arrow.large_string())
        texts = empty.take(arrow.array(np.zeros(count, dtype=np.int64)))
        return texts, to_marks(column.is_valid()) | (fewest > 0)
    if texts.null_count:
        texts = compute.fill_null(texts, "")
    sizes = np.diff(to_texts(texts)[0])
    marks: Marks = (sizes > most) | (sizes < fewest)
    if (to_texts(texts)[1] == 0).any():
        marks |= to_marks(compute.match_substring(texts, "\0"))
    return texts, marks


def to_texts(texts: Foreign) -> Texts:
    """Return the offsets of texts without nulls, from 0, and the texts in UTF-8, end to end."""
    count, start = len(texts), texts.offset
    _, bounds, held = texts.buffers()
    if not count:
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    offsets = np.frombuffer(bounds, dtype=np.int64)[start : start + count + 1]
    found = np.frombuffer(held or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    return offsets - offsets[0] if offsets[0] else offsets, found


def make_keys(texts: Foreign) -> NDArray[np.uint64]:
    """Return a number for each text, the same for the same text; others rarely share one."""
    offsets, held = to_texts(texts)
    sizes = np.diff(offsets)
    padded = np.zeros(len(held) + 16, dtype=np.uint8)
    padded[8:-8] = held
    words = np.ndarray((len(held) + 9,), dtype="<u8", buffer=padded.data, strides=(1,))
    missing = (8 * (8 - np.minimum(sizes, 8))).astype(np.uint64)
    # The first eight bytes and the last eight, without those of the texts beside.
    first = words[offsets[:-1] + 8] << missing
    last = words[offsets[1:]] >> missing
    whole = np.where(missing < 64, (first * np.uint64(MIXING)) ^ last, np.uint64(0))
    keys: NDArray[np.uint64] = _mix(whole) ^ sizes.astype(np.uint64)
    for at in range(8, int(sizes.max(initial=0)) - 8, 8):  # what is between them
        rows = np.flatnonzero(sizes > at + 8)
        keys[rows] = _mix(keys[rows] ^ words[offsets[rows] + 8 + at])
    return keys


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Let each bit of numbers depend on all of theirs."""
    mixed = (numbers ^ (numbers >> np.uint64(29))) * np.uint64(MIXING)
    return np.asarray(mixed ^ (mixed >> np.uint64(32)))


def read_times(
    column: Foreign, name: str, zone: str | None = None
) -> tuple[NDArray[np.int64], dict[int, RefusedError]]:
    """Read a column of times."""
    compute = load_arrow("pyarrow.compute")
    found = _find_times(column, name, zone)
    times = np.array(compute.fill_null(found, 0).to_numpy(zero_copy_only=False), dtype=np.int64)
    is_known = to_marks(found.is_valid()) & (times >= YEARS.start) & (times < YEARS.stop)
    refused: dict[int, RefusedError] = {}
    for place in np.flatnonzero(~is_known).tolist():
        value = column[place].as_py()
        try:
            if value is None or value != value:  # noqa: PLR0124 - NaN alone differs from itself
                raise RefusedError(name, "a time", "none", code="missing_field")  # noqa: TRY301 - kept
            times[place], _ = read_time(value, name)
        except RefusedError as error:
            refused[place] = error
    return times, refused


def _find_times(column: Foreign, name: str, zone: str | None) -> Foreign:
    """Return the microseconds of all plain times of a column, null for others."""
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    kinds, kind = arrow.types, column.type
    if kinds.is_timestamp(kind):
        times = column.cast(arrow.timestamp("us", kind.tz), safe=False)
        if kind.tz is None and len(column) > column.null_count:
            if zone is None:
                raise FormatError(
                    f"column {name!r} has times without a time zone",
                    hint="say which zone they are in: --timezone Europe/Berlin, or timezone= in "
                    "Python; or write them as timestamps in UTC",
                    code="time_zone",
                )
            times = _place(times, zone)
        return times.cast(arrow.int64())
    if kinds.is_large_string(kind):
        plain = compute.fill_null(compute.match_substring_regex(column, PLAIN_TIME), False)
        found = _read_plain(compute.if_else(plain, column, None), "UTC")
        if zone is not None:
            # Digits after microseconds are cut, as they are from times with a zone.
            cut = compute.replace_substring_regex(column, r"(\.\d{6})\d+$", r"\1")
            local = compute.fill_null(compute.match_substring_regex(cut, LOCAL_TIME + "$"), False)
            texts = _read_plain(compute.if_else(local, cut, None), None)
            found = compute.coalesce(found, _place(texts, zone))
        return found.cast(arrow.int64())
    if kinds.is_integer(kind) or kinds.is_floating(kind):
        return _read_milliseconds(column)
    if kinds.is_null(kind):
        return column.cast(arrow.int64())
    raise FormatError(
        f"column {name!r} has no times, but {kind}",
        hint="write them as timestamps in UTC, or as milliseconds since 1970",
        code="time_format",
    )


def _read_plain(texts: Foreign, zone: str | None) -> Foreign:
    """Return the timestamps of texts."""
    arrow = load_arrow()
    try:
        return texts.cast(arrow.timestamp("us", zone))
    except arrow.ArrowInvalid:  # such as 30 February: each text is read by itself
        return arrow.nulls(len(texts), arrow.timestamp("us", zone))


def _place(times: Foreign, zone: str) -> Foreign:
    """Return the moments of local times.

    Where clocks are set back, a time that comes twice is the first of the two. Where they are set
    forward, a time that does not exist is the moment of the change.
    """
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    try:
        return compute.assume_timezone(times, zone, ambiguous="earliest", nonexistent="latest")
    except arrow.ArrowInvalid as error:
        raise UsageError(
            f"there is no time zone {show(zone)}",
            hint="write a name such as Europe/Berlin; names come from the time zones of the system",
            code="time_zone",
        ) from error


def check_zone(zone: str) -> None:
    """Raise an error for a time zone that is not known."""
    arrow = load_arrow()
    _place(arrow.array([0], arrow.timestamp("us")), zone)


def _read_milliseconds(column: Foreign) -> Foreign:

    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    wide = column.cast(arrow.float64(), safe=False)
    is_near = compute.fill_null(compute.less(compute.abs(wide), float(FAR)), False)
    if arrow.types.is_integer(column.type):
        near = compute.if_else(is_near, column, arrow.scalar(None, column.type))
        return compute.multiply(near.cast(arrow.int64()), 1000)
    near = compute.if_else(is_near, wide, None).to_numpy(zero_copy_only=False)
    return arrow.array(np.rint(near * 1000), from_pandas=True).cast(arrow.int64())


def read_numbers(column: Foreign) -> tuple[NDArray[np.float64], Marks]:
    """Read a column of numbers."""
    arrow = load_arrow()
    kinds, kind = arrow.types, column.type
    is_given = to_marks(column.is_valid())
    if not (kinds.is_integer(kind) or kinds.is_floating(kind)):
        return np.full(len(column), np.nan), is_given
    wide = column.cast(arrow.float64(), safe=False)
    numbers = np.array(wide.to_numpy(zero_copy_only=False), dtype=np.float64)
    marks = is_given & ~np.isfinite(numbers)
    if kinds.is_integer(kind):
        marks |= is_given & (np.abs(numbers) >= EXACT)
    return numbers, marks


def to_marks(column: Foreign) -> Marks:
    """Return a column of truth values as marks; null is false."""
    filled = load_arrow("pyarrow.compute").fill_null(column, False)
    return np.array(filled.to_numpy(zero_copy_only=False), dtype=np.bool_)


def code_values(column: Foreign) -> tuple[NDArray[np.int64], list[Any]]:
    """Number the different values of a column; null is a value."""
    arrow = load_arrow()
    try:
        coded = column.dictionary_encode(null_encoding="encode")
    except arrow.ArrowNotImplementedError:  # of lists and the like, which no field can be
        is_there = to_marks(column.is_valid())
        some = next((value.as_py() for value in column if value.is_valid), None)
        return is_there.astype(np.int64), [None, some]
    codes = coded.indices.cast(arrow.int64()).to_numpy(zero_copy_only=False)
    return np.asarray(codes, dtype=np.int64), coded.dictionary.to_pylist()


def join_codes(columns: Iterable[tuple[NDArray[np.int64], int]]) -> NDArray[np.int64]:
    """Number the different rows of columns of codes."""
    joined: NDArray[np.int64] | None = None
    count = 1
    for codes, size in columns:
        if joined is None:
            joined, count = codes, size
            continue
        joined, count = joined * size + codes, count * size
        if count > 2 * len(joined) + 1000:
            # Small numbers again, so that they don't overflow.
            used, joined = np.unique(joined, return_inverse=True)
            count = len(used)
    if joined is None:
        raise ValueError("no columns")
    return joined


def spread(offsets: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of all elements of some lists, list by list."""
    sizes = np.diff(offsets)[chosen]
    ends = offsets_of(sizes)
    return np.arange(ends[-1]) + np.repeat(offsets[:-1][chosen] - ends[:-1], sizes)


def take(column: Foreign, places: NDArray[np.int64]) -> Foreign:
    """Return some elements of an array of Arrow."""
    return column.take(load_arrow().array(places))


def join_texts(columns: Sequence[Foreign]) -> Foreign:
    """Put columns of texts one after another."""
    arrow = load_arrow()
    return arrow.concat_arrays(columns) if columns else arrow.array([], arrow.large_string())

"""Reads columns of times, in any of the ways in which tables have them."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.inputs.arrow import fill_nulls, load_arrow, to_array
from rankscope.monitor.arrays import see_value, to_micros
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import FAR, YEARS, read_time
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

# What RFC 3339 allows and Arrow reads in the same way.
LOCAL_TIME = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:[0-5]\d(\.\d{1,6})?"
PLAIN_TIME = LOCAL_TIME + r"(Z|[+-]\d\d:\d\d)$"


def read_times(
    column: Foreign, name: str, zone: str | None = None
) -> tuple[NDArray[np.int64], dict[int, RefusedError]]:
    """Read a column of times."""
    plain = _find_times(column, name, zone)
    times = np.array(fill_nulls(plain, 0), dtype=np.int64)
    is_given = to_array(plain.is_valid())
    is_known = is_given & (times >= YEARS.start) & (times < YEARS.stop)
    refused: dict[int, RefusedError] = {}
    for place in np.flatnonzero(~is_known).tolist():
        value = see_value(column[place])
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
        times = to_micros(column)
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
        stamps = _read_plain(compute.if_else(plain, column, None), "UTC")
        if zone is not None:
            # Digits after microseconds are cut, as they are from times with a zone.
            cut = compute.replace_substring_regex(column, r"(\.\d{6})\d+$", r"\1")
            local = compute.fill_null(compute.match_substring_regex(cut, LOCAL_TIME + "$"), False)
            texts = _read_plain(compute.if_else(local, cut, None), None)
            stamps = compute.coalesce(stamps, _place(texts, zone))
        return stamps.cast(arrow.int64())
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

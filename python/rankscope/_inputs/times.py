"""Reads a column of times: dates, timestamps with or without a zone, ISO text, or numbers."""

from __future__ import annotations

from datetime import datetime

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.open_column import is_null, open_column
from rankscope.deferred import np
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

UTC = "UTC"


@record(frozen=True, slots=True)
class Times:
    """A column of times.

    Args:
        values: Numbers, or `datetime64`: of UTC if the times have a zone.
        has_zone: Whether they have a zone.
    """

    values: NDArray[Any]
    has_zone: bool = False

    @property
    def are_numbers(self) -> bool:
        """Whether the times are numbers, whose unit is unknown."""
        return self.values.dtype.kind != "M"


def read_times(column: object, name: str) -> Times:
    """Read a column of times."""
    pa = load_arrow()
    if not len(column):  # type: ignore[arg-type]  # a column
        return Times(np.zeros(0))
    values: Any = open_column(column, name, lambda found: _no_times(name, found))
    if not isinstance(values, pa.Array):
        _refuse_half_zones(values, name)
        try:
            values = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise _no_times(name, "a mixture of types") from error
    if values.null_count:
        raise FormatError(
            f"expected a time in every row of {name}, found none",
            hint="drop the rows without one",
            code="missing_time",
            line=values.is_null().index(True).as_py() + 1,
        )
    kinds = pa.types
    if kinds.is_string(values.type) or kinds.is_large_string(values.type):
        values = _parse(values, name)
    kind = values.type
    if kinds.is_timestamp(kind) or kinds.is_date(kind):
        has_zone = kinds.is_timestamp(kind) and kind.tz is not None
        values = values.cast(pa.timestamp(kind.unit)) if has_zone else values
        return Times(values.to_numpy(zero_copy_only=False), has_zone)
    if kinds.is_integer(kind):
        return Times(values.to_numpy(zero_copy_only=False))
    if not kinds.is_floating(kind):
        raise _no_times(name, "no value" if kinds.is_null(kind) else str(kind))
    numbers = values.to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        at = int(np.argmin(np.isfinite(numbers)))
        raise _no_times(name, f"{numbers[at]}", at)
    return Times(numbers)


def _refuse_half_zones(values: object, name: str) -> None:
    """Raise an error for times of which some have a zone, which can't be ordered."""
    if not isinstance(values, list):
        return
    moments = (value for value in values if isinstance(value, datetime) and not is_null(value))
    if len({moment.tzinfo is None for moment in moments}) > 1:
        raise _half_zones(name)


def _parse(texts: Any, name: str) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Read text such as 2026-11-21, or 2026-11-21T18:00:00Z, as timestamps."""
    pa = load_arrow()
    for unit in ("us", "ns"):
        for zone in (None, UTC):
            try:
                return texts.cast(pa.timestamp(unit, zone))
            except pa.ArrowInvalid:
                continue
    for at, text in enumerate(texts.to_pylist()):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            raise _no_times(name, quote(text), at) from None
    raise _half_zones(name)


def _half_zones(name: str) -> FormatError:
    return FormatError(
        f"expected all times of {name} with a zone, or all without, found both",
        hint="write each as 2026-11-21T18:00:00Z",
        code="time_zone",
    )


def _no_times(name: str, found: str, at: int | None = None) -> FormatError:
    return FormatError(
        f"expected times in {name}, found {found}",
        hint="times are dates, timestamps, numbers, or text such as 2026-11-21T18:00:00Z",
        code="time_format",
        line=None if at is None else at + 1,
    )

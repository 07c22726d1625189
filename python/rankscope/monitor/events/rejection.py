"""Why an object was rejected, and what a batch of objects was read as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from rankscope.errors import FormatError
from rankscope.monitor.events.event import Event

Read: TypeAlias = Callable[[Mapping[str, Any]], tuple[Event, ...]]

if TYPE_CHECKING:
    from rankscope import _core


CODES = frozenset(
    {
        "ambiguous_field",
        "attribute_conflict",
        "attribute_count",
        "attribute_number",
        "attribute_type",
        "bad_rank",
        "columns",
        "depth",
        "duplicate_doc",
        "duplicate_rank",
        "environment",
        "event_conflict",
        "future_time",
        "id_length",
        "id_type",
        "inexact_number",
        "input_type",
        "integer_range",
        "json_syntax",
        "json_type",
        "label_count",
        "label_kind",
        "label_type",
        "length_mismatch",
        "line_length",
        "max_group",
        "missing_field",
        "missing_id",
        "missing_score",
        "nul_byte",
        "other_set",
        "rel_not_number",
        "score_not_number",
        "set_size",
        "surrogate",
        "time_format",
        "time_zone",
        "too_old",
    }
)
"""Why events are rejected. A client may count these for what it doesn't send."""

HINTS = {
    "attribute_number": "write a number such as 12.5, or leave the attribute out",
    "bad_name": "remove line breaks and control characters",
    "future_time": "look at the clock of the sender",
    "id_length": "shorten it",
    "id_type": "turn it into text first",
    "inexact_number": "round it first",
    "integer_range": "write large ids as text",
    "label_type": "labels are texts; a grade is the field value",
    "missing_id": "name it",
    "nul_byte": "remove it",
    "surrogate": "write it as UTF-8",
    "time_format": "write it as 2026-11-21T18:00:00Z, or as milliseconds since 1970",
    "time_zone": "append Z for UTC, or an offset such as +01:00; for tables, say --timezone UTC",
    "too_old": "numbers are milliseconds since 1970, not seconds",
}
"""How to fix what is wrong, by code. Other codes have hints of their own, or none."""

SHOWN = 120
MOST_BITS = 256


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why one event of a batch was rejected.

    Args:
        index: Its place in the batch, from 0.
        code: A stable name for programs, such as `duplicate_doc`.
        where: The field, such as `items[3].rank`; empty for the whole event.
        expected: What was expected there.
        found: What was found, escaped and cut.
        hint: How to mend it, or empty.
    """

    index: int
    code: str
    where: str
    expected: str
    found: str
    hint: str = ""

    @property
    def message(self) -> str:
        """What was expected and found, and where."""
        where = f"{self.where}: " if self.where else ""
        return f"{where}expected {self.expected}, found {self.found}"

    def __str__(self) -> str:
        place = f"{self.index}.{self.where}" if self.where else str(self.index)
        return f"{place}: expected {self.expected}, found {self.found} [{self.code}]"


class RefusedError(FormatError):
    """An event that can't be accepted. Readers turn it into a `Rejection`.

    Attributes:
        where: The field.
        expected: What was expected there.
        found: What was found, escaped and cut.
    """

    def __init__(
        self, where: str, expected: str, found: str, *, code: str, hint: str | None = None
    ) -> None:
        place = f"{where}: " if where else ""
        hint = HINTS.get(code, "") if hint is None else hint
        super().__init__(f"{place}expected {expected}, found {found}", hint=hint, code=code)
        self.where = where
        self.expected = expected
        self.found = found

    def at(self, index: int) -> Rejection:
        """Return the rejection of the event at a position of a batch."""
        return Rejection(index, self.code, self.where, self.expected, self.found, self.hint)


def show(value: object) -> str:
    """Write a value for messages: short, in ASCII, without control characters."""
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"an integer of {value.bit_length()} bits"
    if value is not None and not isinstance(value, str | bytes | int | float):
        value = str(value)  # such as times
    shown = ascii(value if not isinstance(value, str) else value[: SHOWN + 1])
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


def refuse_text(text: str) -> RefusedError:
    """Return the error of a text with half a character or a NUL, which no database takes."""
    if "\0" in text:
        return RefusedError("", "text without NUL", show(text), code="nul_byte")
    return RefusedError("", "text", show(text), code="surrogate")


MOST_UNKNOWN = 100
OTHER = "<other>"


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a batch of objects as events.

    Args:
        answers: For each object its events, or why it was not taken. A ranking whose documents
            came with labels is followed by those.
        notes: By code, in how many objects something is suspicious but legal.
        unknown: By name, in how many objects there is a field that means nothing here; names
            beyond the first hundred are `<other>`.
    """

    answers: tuple[tuple[Event, ...] | Rejection, ...]
    notes: dict[str, int]
    unknown: dict[str, int]

    @property
    def events(self) -> list[Event]:
        """The accepted events, in order."""
        taken = (answer for answer in self.answers if not isinstance(answer, Rejection))
        return [event for events in taken for event in events]

    @property
    def rejections(self) -> list[Rejection]:
        """The rejections, in order."""
        return [answer for answer in self.answers if isinstance(answer, Rejection)]

    @property
    def objects(self) -> int:
        """The number of objects."""
        return len(self.answers)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The result of decoding a batch of objects as events that are ready to be stored.

    Args:
        batch: The events; an object that was not taken has none.
        rejections: The rejections, in order.
        notes: As in `Reading`.
        unknown: As in `Reading`.
    """

    batch: _core.EventBatch
    rejections: list[Rejection]
    notes: dict[str, int]
    unknown: dict[str, int]

    @property
    def objects(self) -> int:
        """The number of objects."""
        return self.batch.objects


def count_unknown(reading: R, names: Iterable[str]) -> R:
    """Add columns that mean nothing here; every ranking that was taken has them."""
    taken = reading.objects - len(reading.rejections)
    return replace(reading, unknown=reading.unknown | dict.fromkeys(names, taken))


class Batch:
    """The part of a batch read so far. Notes on an object count only if it is accepted."""

    def __init__(self) -> None:
        self._answers: list[tuple[Event, ...] | Rejection] = []
        self._notes: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._pending: set[tuple[bool, str]] = set()

    def add(self, value: object, read: Read) -> None:
        """Read one more object, or record the `RefusedError` in its place."""
        self._pending.clear()
        try:
            self._answers.append(read(_see_object(value)))
        except RefusedError as error:
            self._answers.append(error.at(len(self._answers)))
            return
        for is_unknown, name in self._pending:
            if not is_unknown:
                self._notes[name] += 1
            elif name in self._unknown or len(self._unknown) < MOST_UNKNOWN:
                self._unknown[name] += 1
            else:
                self._unknown[OTHER] += 1

    def note(self, codes: Iterable[str]) -> None:
        """Note something suspicious about the current object."""
        self._pending.update((False, code) for code in codes)

    def unknown(self, name: str) -> None:
        """Note an unknown field of the current object."""
        self._pending.add((True, name))

    def finish(self) -> Reading:
        """Return what was read."""
        return Reading(tuple(self._answers), dict(self._notes), dict(self._unknown))


def _see_object(value: object) -> Mapping[str, Any]:
    if isinstance(value, RefusedError):  # the parser has rejected it already
        raise value
    if isinstance(value, Mapping) and all(type(name) is str for name in value):
        return value
    raise RefusedError("", "an object", show(value), code="json_type")


R = TypeVar("R", "Reading", "Decoded")

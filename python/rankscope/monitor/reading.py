"""What a batch of objects was read as: events, rejections, and what is to be noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rankscope.monitor.refusal import RefusedError, Rejection, show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from rankscope.monitor.events import Event

    Read: TypeAlias = Callable[[Mapping[str, Any]], tuple[Event, ...]]

MOST_UNKNOWN = 100
OTHER = "<other>"


@record(frozen=True, slots=True)
class Reading:
    """What a batch of objects was read as.

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
        """All that was taken, in order."""
        taken = (answer for answer in self.answers if not isinstance(answer, Rejection))
        return [event for events in taken for event in events]

    @property
    def rejections(self) -> list[Rejection]:
        """All that was not taken, in order."""
        return [answer for answer in self.answers if isinstance(answer, Rejection)]


class Batch:
    """What has been read of a batch so far; notes of an object count only if it is taken."""

    def __init__(self) -> None:
        self._answers: list[tuple[Event, ...] | Rejection] = []
        self._notes: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._pending: set[tuple[bool, str]] = set()

    def add(self, given: object, read: Read) -> None:
        """Read one more object; a `RefusedError` in its place is why there is none."""
        self._pending.clear()
        try:
            self._answers.append(read(_see_object(given)))
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
        """Note what is suspicious about the object that is being read."""
        self._pending.update((False, code) for code in codes)

    def unknown(self, name: str) -> None:
        """Note a field of that object that means nothing here."""
        self._pending.add((True, name))

    def finish(self) -> Reading:
        """Give what was read."""
        return Reading(tuple(self._answers), dict(self._notes), dict(self._unknown))


def _see_object(given: object) -> Mapping[str, Any]:
    if isinstance(given, RefusedError):  # whoever parsed it has refused it already
        raise given
    if isinstance(given, Mapping) and all(type(name) is str for name in given):
        return given
    raise RefusedError("", "an object", show(given), code="json_type")

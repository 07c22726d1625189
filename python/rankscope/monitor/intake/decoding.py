"""Decodes JSON and columns as events that are ready to be stored.

The core decodes the objects that are plain, nearly all of them: it accepts them, and finds what is
to be noted about them. `EventReader` reads the others, and says what is wrong with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from rankscope import _core
from rankscope.monitor.events.json import EventJSON
from rankscope.monitor.events.names import RANKING_NAMES
from rankscope.monitor.events.rejection import (
    MOST_UNKNOWN,
    OTHER,
    Reading,
    RefusedError,
    Rejection,
)
from rankscope.monitor.store.log.events import PreparedLabel, PreparedRanking, prepare
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeAlias

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.events.reader import EventReader
    from rankscope.monitor.intake.columns import Columns
    from rankscope.monitor.intake.label_columns import LabelColumns
    from rankscope.monitor.store.log.events import PreparedEvent

    Found: TypeAlias = tuple[int, tuple[tuple[Any, ...], ...]] | None
    """The place of the remarks on an object, and its events; `None` where it is not plain."""
    Decoded: TypeAlias = tuple[list[Found], list[tuple[tuple[str, ...], tuple[str, ...]]]]
    """The objects; and by place the codes of notes and the names of unknown fields."""

DEEPEST = 16
"""Lists and objects in each other, in a field that is not known, that the core looks into."""
AROUND = 4
"""The event, the list of documents and the document lie around a field, and a value in it."""
BOM = b"\xef\xbb\xbf"


class EventDecoder:
    """Decodes texts of JSON as events.

    Args:
        reader: Reads what is not plain. Everything that is decoded is as it would read it.
        attributes: The fields of rankings that are attributes, such as their country, where they
            are not in a field of attributes.

    Examples:
        >>> from rankscope.monitor.events.reader import EventReader
        >>> click = b'{"ranking_id": "r", "doc_id": "a", "time": 0, "labels": "click"}'
        >>> reading = EventDecoder(EventReader()).decode([click, b"{}"], "labels", now=0)
        >>> reading.events[0].labels, reading.notes
        ('["click"]', {'made_event_ids': 1})
        >>> print(reading.rejections[0])
        1.ranking_id: expected an id, found none [missing_field]
    """

    def __init__(self, reader: EventReader, attributes: Sequence[str] = ()) -> None:
        limits = reader.limits
        self._reader = reader
        self._attributes = attributes
        # A field with a name that is no UTF-8 can't come.
        moved = [name for name in attributes if name == name.encode(errors="ignore").decode()]
        lists = dict.fromkeys(RANKING_NAMES["items"], "items")
        self._core = _core.EventDecoder(
            [list(names.items()) for names in (*reader.names, lists)],
            [
                limits.items,
                limits.id_bytes,
                limits.attributes,
                limits.name_bytes,
                limits.value_bytes,
                limits.labels,
                limits.rank,
                max(0, min(DEEPEST, limits.depth - AROUND)),
            ],
            moved,
        )

    @classmethod
    def can_move(cls, reader: EventReader) -> bool:
        """Check whether attributes are in a field that has one of its usual names."""
        roles = reader.names[0]
        return all(roles.get(name) == "attributes" for name in RANKING_NAMES["attributes"])

    def decode_body(
        self,
        body: bytes,
        kind: str,
        *,
        is_lines: bool,
        most: int,
        now: int,
        is_plain: bool = False,
    ) -> Reading[PreparedEvent] | None:
        """Decode a body that holds an object, a list of them, or one on each line."""
        texts = _cut_body(body, most, is_lines=is_lines)
        if not 0 < len(texts) <= most:
            return None
        decoded = self._decode(texts, kind, now)
        if is_plain and (None in decoded[0] or _are_many(_list_unknown(decoded[1]))):
            return None
        objects = []
        for text, one in zip(texts, decoded[0], strict=True):
            if one is None:
                value = _parse(text)
                if isinstance(value, _BrokenTextError) and not is_lines:
                    return None
                objects.append(value)
        return self._merge(texts, decoded, objects, kind, now)

    def decode(
        self, texts: Sequence[bytes | RefusedError], kind: str, *, now: int
    ) -> Reading[PreparedEvent]:
        """Decode texts of JSON, an object each."""
        given = [b"" if isinstance(text, RefusedError) else text for text in texts]
        decoded = self._decode(given, kind, now)
        rest = [text for text, one in zip(texts, decoded[0], strict=True) if one is None]
        return self._merge(texts, decoded, list(map(_parse, rest)), kind, now)

    def _decode(self, texts: list[bytes], kind: str, now: int) -> Decoded:
        read = self._core.read_labels if kind == "labels" else self._core.read_rankings
        return read(texts, self._find_span(now))

    def decode_columns(
        self, columns: Columns, rest: Callable[[Sequence[int]], Reading[Event]], *, now: int
    ) -> Reading[PreparedEvent]:
        """Decode rankings from columns."""

        def decode(span: tuple[int, int]) -> Decoded:
            return _core.decode_columns(self._core, columns.heads, columns.documents, span)

        return self._decode_rows(decode, (columns.count, columns.places), "rankings", rest, now)

    def decode_label_columns(
        self, columns: LabelColumns, rest: Callable[[Sequence[int]], Reading[Event]], *, now: int
    ) -> Reading[PreparedEvent]:
        """Decode labels from columns, as `decode_columns` does rankings."""

        def decode(span: tuple[int, int]) -> Decoded:
            return _core.decode_label_columns(self._core, columns, span)

        count = len(columns[0])
        return self._decode_rows(decode, (count, range(count)), "labels", rest, now)

    def _decode_rows(
        self,
        decode: Callable[[tuple[int, int]], Decoded],
        extent: tuple[int, Sequence[int]],
        kind: str,
        rest: Callable[[Sequence[int]], Reading[Event]],
        now: int,
    ) -> Reading[PreparedEvent]:
        """Decode rows: how many there are, and the places of those that columns hold."""
        count, places = extent
        try:
            found, said = decode(self._find_span(now))
        except ValueError:  # a text is not UTF-8, which reading it says
            found, said = [None] * len(places), []
        if len(places) < count:
            placed = dict(zip(places, found, strict=True))
            found = [placed.get(place) for place in range(count)]
        left = [place for place, one in enumerate(found) if one is None]
        read = rest(left) if left else Reading((), {}, {})
        return merge((found, said), read, kind, partial(rest, range(count)))

    def _find_span(self, now: int) -> tuple[int, int]:
        limits = self._reader.limits
        return now - limits.age, now + limits.ahead

    def _merge(
        self,
        texts: Sequence[bytes | RefusedError],
        decoded: Decoded,
        rest: list[object],
        kind: str,
        now: int,
    ) -> Reading[PreparedEvent]:
        def read(objects: Iterable[object]) -> Reading[Event]:
            if kind == "labels":
                return self._reader.read_labels(objects, now=now)
            moved = [move_attributes(one, self._attributes) for one in objects]
            return self._reader.read_rankings(moved, now=now)

        return merge(decoded, read(rest), kind, lambda: read(map(_parse, texts)))


def merge(
    decoded: Decoded, rest: Reading[Event], kind: str, read_all: Callable[[], Reading[Event]]
) -> Reading[PreparedEvent]:
    """Put together the objects that the core decoded, and the others."""
    found, said = decoded
    if said and _are_many(_list_unknown(said).union(rest.unknown)):
        # Which names are counted depends on the order of all objects.
        rest = read_all()
        found, said = [None] * len(found), []
    notes, unknown_fields = Counter(rest.notes), Counter(rest.unknown)
    for at, count in Counter(one[0] for one in found if one is not None).items():
        codes, unknown = said[at]
        notes.update(dict.fromkeys(codes, count))
        unknown_fields.update(dict.fromkeys(unknown, count))
    others = iter(rest.answers)
    answers: list[tuple[PreparedEvent, ...] | Rejection] = []
    for one in found:
        if one is not None:
            answers.append(_name_rows(one[1], kind))
            continue
        answer = next(others)
        if isinstance(answer, Rejection):
            answers.append(replace(answer, index=len(answers)))
        else:
            answers.append(tuple(prepare(answer)))
    return Reading(tuple(answers), dict(notes), dict(unknown_fields))


def _list_unknown(said: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]) -> set[str]:
    """List the fields that are not known."""
    return {name for _, unknown in said for name in unknown}


def _are_many(unknown: set[str]) -> bool:
    """Return whether not all fields that are not known can be counted by their names."""
    return len(unknown) > MOST_UNKNOWN or OTHER in unknown


def _cut_body(body: bytes, most: int, *, is_lines: bool) -> list[bytes]:
    """Cut a body into its objects; none where only a parser that reads it at once can."""
    if body.startswith(BOM):
        return []
    if is_lines:
        return [line for line in body.split(b"\n") if line.strip()]
    if body.lstrip(b" \t\r\n").startswith(b"{"):
        return [body]
    return _core.split_json(body, most) or []


def move_attributes(given: object, attributes: Sequence[str]) -> object:
    """Move fields of an object into its attributes."""
    if not attributes or not isinstance(given, Mapping):
        return given
    moved = {name: given[name] for name in attributes if name in given}
    place = next((name for name in RANKING_NAMES["attributes"] if name in given), "attributes")
    there = given.get(place) or {}
    if not moved or not isinstance(there, Mapping):
        return given
    rest = {name: value for name, value in given.items() if name not in moved}
    return rest | {place: {**there, **moved}}


def _name_rows(rows: tuple[tuple[Any, ...], ...], kind: str) -> tuple[PreparedEvent, ...]:
    if kind == "labels":
        return tuple(map(PreparedLabel._make, rows))
    ranking, *labels = rows
    return PreparedRanking._make(ranking), *map(PreparedLabel._make, labels)


class _BrokenTextError(RefusedError):
    """A text that is not JSON."""


def _parse(text: bytes | RefusedError) -> object:
    """Parse a text of JSON. What is refused is a `RefusedError`."""
    if isinstance(text, RefusedError):
        return text
    json = EventJSON()
    try:
        return json.settle(json.load(text))
    except RefusedError as error:
        return _BrokenTextError(
            error.where, error.expected, error.found, code=error.code, hint=error.hint
        )

"""Decodes JSON and columns as events that are ready to be stored.

The core decodes the objects that are plain, nearly all of them: it accepts them, and finds what is
to be noted about them. `EventReader` reads the others, and says what is wrong with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from rankscope import _core
from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.bins import find_bin
from rankscope.monitor.events.columns import Columns, LabelColumns
from rankscope.monitor.events.json import EventJSON
from rankscope.monitor.events.names import RANKING_NAMES
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import (
    MOST_UNKNOWN,
    OTHER,
    Decoded,
    Reading,
    RefusedError,
)

Remarks: TypeAlias = list[tuple[tuple[str, ...], tuple[str, ...], int]]
"""The codes of notes and the names of unknown fields, and how many objects have them."""
Plain: TypeAlias = tuple[_core.EventBatch, list[int], Remarks]
"""The objects that are plain, the places of the others, and remarks on the plain ones."""


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
        >>> len(reading.batch), reading.notes
        (1, {'made_event_ids': 1})
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
    ) -> Decoded | None:
        """Decode a body that holds an object, a list of them, or one on each line."""
        texts = _cut_body(body, most, is_lines=is_lines)
        if not 0 < len(texts) <= most:
            return None
        plain = self._decode(texts, kind, now)
        _, left, remarks = plain
        if is_plain and (left or _are_many(_list_unknown(remarks))):
            return None
        objects = []
        for place in left:
            value = parse_text(texts[place])
            if isinstance(value, _BrokenTextError) and not is_lines:
                return None
            objects.append(value)
        return self._merge(texts, plain, objects, kind, now)

    def decode(self, texts: Sequence[bytes | RefusedError], kind: str, *, now: int) -> Decoded:
        """Decode texts of JSON, an object each."""
        bodies = [b"" if isinstance(text, RefusedError) else text for text in texts]
        plain = self._decode(bodies, kind, now)
        rest = [parse_text(texts[place]) for place in plain[1]]
        return self._merge(texts, plain, rest, kind, now)

    def _decode(self, texts: list[bytes], kind: str, now: int) -> Plain:
        read = self._core.read_labels if kind == "labels" else self._core.read_rankings
        return self._check_numbers(read(texts, self._find_span(now)), len(texts))

    def decode_columns(
        self, columns: Columns, rest: Callable[[Sequence[int]], Reading], *, now: int
    ) -> Decoded:
        """Decode rankings from columns."""
        decode = partial(_core.decode_columns, self._core, columns.heads, columns.documents)
        return self._decode_rows(decode, columns.count, columns.places, rest, now)

    def decode_label_columns(
        self, columns: LabelColumns, rest: Callable[[Sequence[int]], Reading], *, now: int
    ) -> Decoded:
        """Decode labels from columns, as `decode_columns` does rankings."""
        decode = partial(_core.decode_label_columns, self._core, columns)
        count = len(columns[0])
        return self._decode_rows(decode, count, range(count), rest, now)

    def _decode_rows(
        self,
        decode: Callable[[tuple[int, int]], Plain],
        count: int,
        places: Sequence[int],
        rest: Callable[[Sequence[int]], Reading],
        now: int,
    ) -> Decoded:
        """Decode rows, of which the columns hold those at some places."""
        try:
            plain = decode(self._find_span(now))
            batch, left, remarks = self._check_numbers(plain, len(places))
        except ValueError:  # a text is not UTF-8, which reading it says
            batch, left, remarks = _leave_all(len(places))
        left = [places[place] for place in left]
        if len(places) < count:
            left = sorted({*range(count)}.difference(places).union(left))
        reading = rest(left) if left else Reading((), {}, {})
        return _merge((batch, left, remarks), reading, partial(rest, range(count)))

    def _find_span(self, now: int) -> tuple[int, int]:
        limits = self._reader.limits
        return now - limits.age, now + limits.ahead

    def _merge(
        self,
        texts: Sequence[bytes | RefusedError],
        plain: Plain,
        rest: list[object],
        kind: str,
        now: int,
    ) -> Decoded:
        def read(objects: Iterable[object]) -> Reading:
            if kind == "labels":
                return self._reader.read_labels(objects, now=now)
            moved = [move_attributes(value, self._attributes) for value in objects]
            return self._reader.read_rankings(moved, now=now)

        return _merge(plain, read(rest), lambda: read(map(parse_text, texts)))

    def _check_numbers(self, plain: Plain, count: int) -> Plain:
        """Leave all objects to the reader if an attribute that has bins is no number in one."""
        bins, batch = self._reader.bins, plain[0]
        contexts = batch.hash_ids(0).settle([], 1).contexts() if bins and len(batch) else ()
        are_numbers = all(
            name not in bins or find_bin(value, bins[name]) is not None
            for context in contexts
            if context is not None
            for name, value in context[3]
        )
        return plain if are_numbers else _leave_all(count)


def _leave_all(count: int) -> Plain:
    """Return that none of some objects is plain."""
    return _core.BatchBuilder().finish(), list(range(count)), []


def _merge(plain: Plain, rest: Reading, read_all: Callable[[], Reading]) -> Decoded:
    """Put together the objects that the core decoded, and the others."""
    batch, left, remarks = plain
    if remarks and _are_many(_list_unknown(remarks).union(rest.unknown)):
        # Which names are counted depends on the order of all objects.
        return pack_reading(read_all())
    notes, unknown_fields = Counter(rest.notes), Counter(rest.unknown)
    for codes, unknown, count in remarks:
        notes.update(dict.fromkeys(codes, count))
        unknown_fields.update(dict.fromkeys(unknown, count))
    rejections = []
    if left:
        packed = pack_reading(rest)
        batch = batch.merge(packed.batch, left)
        rejections = [
            replace(rejection, index=left[rejection.index]) for rejection in packed.rejections
        ]
    return Decoded(batch, rejections, dict(notes), dict(unknown_fields))


def _list_unknown(remarks: Remarks) -> set[str]:
    """List the fields that are not known."""
    return {name for _, unknown, _ in remarks for name in unknown}


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


def move_attributes(
    value: object,
    attributes: Sequence[str],
    names: Iterable[str] = RANKING_NAMES["attributes"],
) -> object:
    """Move fields of an object into its attributes, which have one of some names."""
    if not attributes or not isinstance(value, Mapping):
        return value
    moved = {name: value[name] for name in attributes if name in value}
    place = next((name for name in names if name in value), next(iter(names)))
    earlier = value.get(place) or {}
    if not moved or not isinstance(earlier, Mapping):
        return value
    rest = {name: field for name, field in value.items() if name not in moved}
    return rest | {place: {**earlier, **moved}}


class _BrokenTextError(RefusedError):
    """A text that is not JSON."""


def parse_text(text: bytes | RefusedError) -> object:
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

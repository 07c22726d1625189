"""Ingests events from files, data frames and objects in batches, and counts outcomes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Literal, Protocol, TypeAlias

from rankscope import _core
from rankscope._inputs.recognition import is_table
from rankscope._names import as_dict
from rankscope._show.table import show
from rankscope.errors import FileError, InputError, UsageError
from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.decoding import EventDecoder, move_attributes
from rankscope.monitor.events.event import Event
from rankscope.monitor.events.mismatch import Expected, Mismatch, NameCounts
from rankscope.monitor.events.outcome import STATUSES, count_rejections
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import Decoded, Reading, Rejection, count_unknown
from rankscope.monitor.events.tables import Rows
from rankscope.monitor.intake.files import AT_ONCE, EventFile
from rankscope.monitor.store.store import Store, StoreReader

Kind: TypeAlias = Literal["rankings", "labels"]
FileBatch: TypeAlias = tuple[Reading | Decoded, str, Sequence[int]]
"""A batch, the file it is from, and the places of its objects there."""


class Sink(Protocol):
    """Where events go."""

    @property
    def takes_prepared(self) -> bool:
        """Whether it takes `Decoded` batches; others take what is a `Reading`."""

    def take(self, reading: Any) -> Sequence[str | Rejection]:  # noqa: ANN401 - as it says
        """Store the events of a batch, and return the status of each object, in order."""


MOST_SHOWN = 20
LOOKED_UP = 20
"""So many labels of a batch are looked up, which finds ids that never match."""
MOST_EVENTS = 20_000
"""Events of a file that are stored in one transaction. Ids in no order are all over an index, so
that each transaction writes most of its pages: the fewer, the better."""
GOOD = {"accepted", "duplicate"}
"""The statuses that aren't reported object by object."""
CONFLICT = (
    "event_conflict",
    "this id was sent before with different content; the first version stays",
    "give a new event a new id; the rows of a ranking are sent together",
)


@dataclass(frozen=True, slots=True)
class Refused:
    """An object that wasn't stored, and why.

    Args:
        file: Where it is; empty for objects and frames.
        place: Its line, row or number, from 1.
        code: A stable name for programs, such as `duplicate_doc`.
        message: What was expected and found, escaped and cut.
        hint: How to mend it, or empty.
    """

    file: str
    place: int
    code: str
    message: str
    hint: str = ""

    def to_dict(self) -> dict[str, str | int]:
        """Return the fields by name."""
        return as_dict(self)

    def __str__(self) -> str:
        place = f"{show(self.file)}:{self.place}" if self.file else str(self.place)
        return f"{place}: {show(self.message)} [{self.code}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """The outcome of an ingestion.

    Args:
        accepted: Objects that were stored.
        duplicate: Objects that were stored before.
        conflict: Objects that were not stored, for their ids had other content before.
        rejected: Objects that were not stored, for something is wrong with them.
        reasons: By code, how many were not stored.
        notes: By code, how many are suspicious but legal.
        unknown: By name, how many have a field that means nothing here.
        refused: The first of those that were not stored.
        mismatches: Names of labels and attributes that don't match the configuration.
    """

    accepted: int
    duplicate: int
    conflict: int
    rejected: int
    reasons: Mapping[str, int]
    notes: Mapping[str, int]
    unknown: Mapping[str, int]
    refused: tuple[Refused, ...]
    mismatches: tuple[Mismatch, ...] = ()

    @property
    def objects(self) -> int:
        """The number of objects."""
        return self.accepted + self.duplicate + self.conflict + self.rejected

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            **{status: getattr(self, status) for status in STATUSES},
            "reasons": dict(self.reasons),
            "notes": dict(self.notes),
            "unknown_fields": dict(self.unknown),
            "mismatches": [mismatch.to_dict() for mismatch in self.mismatches],
            "refused": [refused.to_dict() for refused in self.refused],
        }

    def __str__(self) -> str:
        lines = [f"{status}\t{getattr(self, status)}" for status in STATUSES]
        for word, counts in (
            ("reason", self.reasons),
            ("note", self.notes),
            ("unknown field", self.unknown),
        ):
            lines += [f"{word} {show(name)}\t{count}" for name, count in sorted(counts.items())]
        return "\n".join(lines)


class StoreSink:
    """Writes events to an open store.

    Args:
        store: The store.
        project: Whose they are.
    """

    def __init__(self, store: Store, project: str) -> None:
        self._store = store
        self._project = project

    @property
    def takes_prepared(self) -> bool:
        """It stores them as they are."""
        return True

    def take(self, reading: Decoded) -> Sequence[str | Rejection]:
        """Store the events of a batch."""
        return self.begin([reading])()

    def begin(self, readings: Sequence[Decoded]) -> Callable[[], Sequence[str | Rejection]]:
        """Begin to store the events of batches in one transaction."""
        batch = _core.EventBatch.join([reading.batch for reading in readings])
        rejected: Counter[str] = sum(map(count_rejections, readings), Counter())
        stored = None
        if len(batch) or rejected:
            stored = self._store.submit(self._project, batch, rejected)

        def finish() -> Sequence[str | Rejection]:
            statuses = stored.result().statuses if stored is not None else b""
            return [STATUSES[status] for status in batch.tell(statuses)]

        return finish

    def count_unshown(self, batch: _core.EventBatch) -> tuple[int, int]:
        """Count labels, and those for documents that weren't shown."""
        return count_unshown(self._store, self._project, batch)

    def replace_set(
        self, environment: str, events: Sequence[Event], rejected: Mapping[str, int]
    ) -> int:
        """Replace a validation or training set, and return how many rankings it had."""
        return self._store.replace_set(self._project, environment, events, rejected).rankings


def count_unshown(store: StoreReader, project: str, batch: _core.EventBatch) -> tuple[int, int]:
    """Count the first labels of a batch whose rankings are stored, and those not of a document.

    Labels whose rankings come later are left out.
    """
    labels = batch.first_labels(LOOKED_UP)
    if not labels:
        return 0, 0
    names = list({ranking for ranking, _ in labels})
    try:
        documents = store.list_documents(project, names)
    except FileError:  # the labels are stored: what cannot be read is not their sender's concern
        return 0, 0
    are_shown = [doc in documents[ranking] for ranking, doc in labels if ranking in documents]
    return len(are_shown), are_shown.count(False)


class Ingestion:
    """Ingests objects of one kind from any input.

    Args:
        sink: Where events go.
        kind: Whether they are rankings or labels.
        now: Gives the time, in microseconds since 1970 in UTC.
        names: As in `EventReader`.
        attributes: The fields or columns of what belongs to a ranking, such as its country, where
            they are not in a field of attributes.
        is_strict: Whether each of `attributes` must be a column of a table with a row a document.
        ignored: Fields or columns that are known to mean nothing here, and are not counted.
        expected: The names of labels and attributes that the project is configured with, and which
            of them are numbers. Names are compared where the sink takes decoded batches.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from rankscope.monitor.store.sqlite.store import SQLiteStore
        >>> click = {"ranking_id": "r", "doc_id": "a", "time": 0, "labels": "click"}
        >>> with TemporaryDirectory() as folder, SQLiteStore(f"{folder}/events.db") as store:
        ...     ingestion = Ingestion(StoreSink(store, "music"), "labels", now=lambda: 0)
        ...     ingestion.take_objects([click, click, {"doc_id": "a"}])
        >>> done = ingestion.ingested
        >>> done.accepted, done.duplicate, done.reasons, done.notes
        (1, 1, {'missing_field': 1}, {'made_event_ids': 2})
        >>> print(done.refused[0])
        3: ranking_id: expected an id, found none [missing_field]
    """

    def __init__(
        self,
        sink: Sink,
        kind: Kind,
        *,
        now: Callable[[], int],
        names: Mapping[str, str] | None = None,
        attributes: Sequence[str] = (),
        is_strict: bool = True,
        ignored: Collection[str] = (),
        expected: Expected | None = None,
    ) -> None:
        self._sink = sink
        self._expected = expected
        self._names = NameCounts()
        self._ignored = frozenset(ignored)
        self._kind = kind
        self._now = now
        self._reader = EventReader(names, bins=None if expected is None else expected.bins)
        self._attributes = tuple(attributes)
        self._is_strict = is_strict
        self._zone: str | None = None
        self._statuses: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._refused: list[Refused] = []
        self._objects = 0
        self._batches: list[FileBatch] = []
        self._batched_events = 0
        self._most_events = MOST_EVENTS
        self._sent: tuple[list[FileBatch], Callable[[], Sequence[str | Rejection]]] | None = None

    @property
    def ingested(self) -> Ingested:
        """The outcome so far."""
        statuses = self._statuses
        return Ingested(
            accepted=statuses["accepted"],
            duplicate=statuses["duplicate"],
            conflict=statuses["conflict"],
            rejected=statuses["rejected"],
            reasons=dict(self._reasons),
            notes=dict(self._notes),
            unknown=dict(self._unknown),
            refused=tuple(self._refused),
            mismatches=() if self._expected is None else self._names.compare(self._expected),
        )

    def take(self, events: object) -> None:
        """Ingest objects, a data frame, or the file at a path."""
        if isinstance(events, str | os.PathLike):
            self.take_file(EventFile(os.fspath(events)))
        elif isinstance(events, Mapping) or is_table(events):
            self.take_table(events)
        elif isinstance(events, Iterable):
            self.take_objects(events)
        else:
            raise UsageError(
                f"expected {self._kind} as objects, a frame or a path, "
                f"found {type(events).__name__}",
                hint=f"monitor.log_{self._kind}([{{...}}])",
                code="input_type",
            )

    def take_objects(self, objects: Iterable[object]) -> None:
        """Ingest objects as the HTTP API accepts them."""
        rest = iter(objects)
        while batch := list(islice(rest, AT_ONCE)):
            first = self._objects + 1
            self._objects += len(batch)
            self._take(self._read_objects(batch), "", range(first, first + len(batch)))
            self._settle()

    def take_file(self, file: EventFile) -> None:
        """Ingest the events of a file."""
        # What comes slowly, such as the log of a process that runs, is stored as it comes.
        self._most_events = 0 if file.is_stream else MOST_EVENTS
        try:
            if self._sink.takes_prepared and self._take_json(file):
                return
            if file.tell_format() in {"jsonl", "json"}:
                for batch in file.read_objects():
                    self._take(self._read_objects(batch.objects), file.name, batch.places)
                return
            from rankscope.monitor.events import tables as event_rows

            parts = event_rows.cut_rows(file.read_tables())
            together = None if file.is_stream else lambda name: self._are_together(file, name)
            is_text = file.tell_format() in {"csv", "tsv"}
            self._zone = file.timezone
            self._take_rows(parts, file.name, are_together=together, is_text=is_text)
        except InputError as error:
            error.file = error.file or file.name
            raise
        finally:
            self._settle()

    def _take_json(self, file: EventFile) -> bool:
        """Ingest a file of JSON that the core can decode, or return that it can't."""
        attributes = self._attributes if self._kind == "rankings" else ()
        form = file.tell_format()
        if form not in {"jsonl", "json"}:
            return False
        if attributes and not EventDecoder.can_move(self._reader):
            return False
        decoder = EventDecoder(self._reader, attributes)
        if form == "jsonl":
            for texts in file.read_lines():
                reading = decoder.decode(texts.objects, self._kind, now=self._now())
                self._take(reading, file.name, texts.places)
            return True
        body = file.read_body()
        decoded = decoder.decode_body(
            body, self._kind, is_lines=False, most=len(body), now=self._now()
        )
        # Reading it at once says why nothing was decoded.
        whole = decoded or self._read_objects(file.parse_body(body).objects)
        self._take(whole, file.name, range(1, whole.objects + 1))
        return True

    def take_table(self, table: object) -> None:
        """Ingest the events of a data frame."""
        from rankscope.monitor.events.tables import cut_frame

        try:
            parts = cut_frame(table)
            if parts is not None:
                self._take_rows(parts, "", are_together=None, is_text=False)
            else:
                reading = self._read_table(table)
                self._take(reading, "", range(1, reading.objects + 1))
        finally:
            self._settle()

    def _read_table(self, table: object) -> Reading:
        """Read a data frame with a column of mixed types."""
        if self._kind == "labels":
            return self._reader.read_label_rows(table, now=self._now())
        from rankscope._inputs.tables import open_table

        names = [*open_table(table)]
        roles = self._reader.find_roles(names, self._kind, self._attributes)
        attributes = self._choose_attributes(names)
        reading = self._reader.read_ranking_rows(table, now=self._now(), attributes=attributes)
        return count_unknown(reading, set(names).difference(roles.values(), attributes))

    def _take_rows(
        self,
        parts: Iterator[Rows],
        file: str,
        *,
        are_together: Callable[[str], bool] | None,
        is_text: bool,
    ) -> None:
        """Ingest rows, after grouping them by ranking if necessary."""
        from rankscope.monitor.events import tables as event_rows

        first = next(parts, None)
        if first is None:
            return
        parts = chain([first], parts)
        if self._kind == "rankings" and event_rows.holds_rankings(first):
            known = {**self._reader.names[1], **self._reader.names[0]}
            of_lists = {known[name]: name for name in first.columns if name in known}
            for rows in parts:
                settled = event_rows.settle_cells(rows, of_lists, self._zone, is_text=False)
                self._take(self._read_lists(settled), file, rows.places.tolist())
            return
        roles = self._reader.find_roles(list(first.columns), self._kind, self._attributes)
        if self._kind == "labels":
            for rows in parts:
                settled = event_rows.settle_cells(rows, roles, self._zone, is_text=is_text)
                reading = self._read_labels(settled, roles, is_text=is_text)
                self._take(reading, file, rows.places.tolist())
            return
        name = roles.get("ranking_id")
        if name is not None:
            event_rows.check_ids(first, name)
            is_sorted = are_together is not None and are_together(name)
            whole = parts if is_sorted else event_rows.sort_rows(parts, name, file)
            parts = event_rows.join_runs(whole, name, self._reader.limits.items)
        for rows in parts:
            settled = event_rows.settle_cells(rows, roles, self._zone, is_text=is_text)
            self._take_ranking_rows(settled, name, roles, file, is_text=is_text)

    def _read_labels(
        self, rows: Rows, roles: Mapping[str, str], *, is_text: bool
    ) -> Reading | Decoded:
        """Read labels in rows."""
        from rankscope.monitor.events.table_decoder import TableDecoder
        from rankscope.monitor.events.tables import read_cells

        if self._sink.takes_prepared:
            decoder = TableDecoder(self._reader, is_text=is_text)
            return decoder.decode_labels(rows, roles, now=self._now())
        cells = read_cells(rows, roles) if is_text else rows
        return self._reader.read_label_rows(cells.columns, now=self._now())

    def _take_ranking_rows(
        self,
        rows: Rows,
        name: str | None,
        roles: Mapping[str, str],
        file: str,
        *,
        is_text: bool,
    ) -> None:
        from rankscope.monitor.events.table_decoder import TableDecoder
        from rankscope.monitor.events.tables import first_places, read_cells

        attributes = self._choose_attributes(rows.columns)
        unknown = set(rows.columns).difference(roles.values(), attributes)
        if name is not None and self._sink.takes_prepared:
            decoder = TableDecoder(self._reader, attributes, is_text=is_text)
            decoded, places = decoder.decode_documents(rows, name, roles, now=self._now())
            self._take(count_unknown(decoded, unknown), file, places)
            return
        cells = (read_cells(rows, roles) if is_text else rows).columns
        reading = self._reader.read_ranking_rows(cells, now=self._now(), attributes=attributes)
        places = first_places(rows, name) if name else []
        self._take(count_unknown(reading, unknown), file, places)

    def _read_lists(self, rows: Rows) -> Reading | Decoded:
        """Read rankings in rows with lists of documents."""
        from rankscope.monitor.events.table_decoder import TableDecoder
        from rankscope.monitor.events.tables import list_objects

        if self._sink.takes_prepared:
            decoder = TableDecoder(self._reader, self._attributes)
            return decoder.decode_lists(rows, self._read_objects, now=self._now())
        return self._read_objects(list_objects(rows))

    def _choose_attributes(self, names: Collection[str]) -> list[str]:
        """Choose the columns of a table that are attributes."""
        return [
            attribute for attribute in self._attributes if self._is_strict or attribute in names
        ]

    def _are_together(self, file: EventFile, name: str) -> bool:
        from rankscope._inputs.columns import decode
        from rankscope.monitor.events.tables import are_together

        return are_together(decode(batch.column(name)) for batch, _ in file.read_tables([name]))

    def _read_objects(self, objects: Sequence[object]) -> Reading:
        if self._kind == "labels":
            return self._reader.read_labels(objects, now=self._now())
        moved = [move_attributes(value, self._attributes) for value in objects]
        return self._reader.read_rankings(moved, now=self._now())

    def _take(self, reading: Reading | Decoded, file: str, places: Sequence[int]) -> None:
        """Store a batch, or keep it until there are more to store with it."""
        if self._sink.takes_prepared and isinstance(reading, Reading):
            reading = pack_reading(reading)
        if self._ignored:
            unknown = {
                name: count for name, count in reading.unknown.items() if name not in self._ignored
            }
            reading = replace(reading, unknown=unknown)
        self._batches.append((reading, file, places))
        self._batched_events += reading.objects
        if not isinstance(self._sink, StoreSink) or self._batched_events >= self._most_events:
            self._send()

    def _send(self) -> None:
        """Send the batches, once what was sent before is stored: two transactions never wait."""
        self._finish()
        batches, self._batches, self._batched_events = self._batches, [], 0
        if isinstance(self._sink, StoreSink):
            decoded = [reading for reading, _, _ in batches if isinstance(reading, Decoded)]
            self._sent = batches, self._sink.begin(decoded)
            return
        for batch in batches:
            self._count([batch], self._sink.take(batch[0]))

    def _settle(self) -> None:
        """Wait until all that was taken is stored."""
        try:
            self._finish()
        finally:
            if self._batches:
                self._send()
                self._finish()

    def _finish(self) -> None:
        """Wait until what was sent is stored."""
        if self._sent is not None:
            (batches, finish), self._sent = self._sent, None
            self._count(batches, finish())

    def _count(self, batches: Sequence[FileBatch], statuses: Iterable[str | Rejection]) -> None:
        """Count the outcomes of batches."""
        rest = iter(statuses)
        for reading, file, places in batches:
            if self._expected is not None and isinstance(reading, Decoded):
                self._names.add_batch(reading.batch)
                if self._kind == "labels" and isinstance(self._sink, StoreSink):
                    self._names.add_placed(*self._sink.count_unshown(reading.batch))
            self._notes.update(reading.notes)
            self._unknown.update(reading.unknown)
            rejections = {rejection.index: rejection for rejection in reading.rejections}
            own = list(islice(rest, reading.objects))
            counts = Counter(own)
            if counts.keys() <= GOOD:
                self._statuses.update({str(word): count for word, count in counts.items()})
                continue
            for at, (status, place) in enumerate(zip(own, places, strict=True)):
                reason = rejections.get(at, status)
                word = "rejected" if isinstance(reason, Rejection) else reason
                self._statuses[word] += 1
                if isinstance(reason, Rejection):
                    self._refuse(Refused(file, place, reason.code, reason.message, reason.hint))
                elif word == "conflict":
                    self._refuse(Refused(file, place, *CONFLICT))

    def _refuse(self, refused: Refused) -> None:
        self._reasons[refused.code] += 1
        if len(self._refused) < MOST_SHOWN:
            self._refused.append(refused)

"""Connects a project with a data lake, and finds which of its files are new or have changed."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from rankscope.errors import FileError, InputError, UsageError
from rankscope.inputs.buckets import check_url
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import MICROSECOND, read_clock, read_length
from rankscope.monitor.store.lake.address import LAYOUTS, Lake, TableAddress
from rankscope.monitor.store.records import LeftOut
from rankscope.output.text import show
from rankscope.records import record, replace
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from rankscope.errors import RankscopeError
    from rankscope.inputs.buckets import DataFile
    from rankscope.inputs.lakehouse import Layout
    from rankscope.monitor.events.times import Duration
    from rankscope.monitor.store.lake.address import Kind
    from rankscope.monitor.store.lake.reader import LakeReader, LookedAt
    from rankscope.monitor.store.lake.state import KnownFile, KnownHour, SeenHour
    from rankscope.monitor.store.store import Store

EARLY = HOUR
"""Labels are looked for from so long before their ranking on: the clocks of senders differ."""
LATE = DAY
"""Labels are looked for until so long after the attribution window, so that late ones count."""
DAMAGED = "lake_damaged"
SECONDS = 60.0
"""A service lists files at most this often."""


@record(frozen=True, slots=True, kw_only=True)
class Scan:
    """What was found in a lake.

    Args:
        files: How many files it has.
        new: How many of them are new.
        changed: How many were written again.
        removed: How many files are gone.
        hours: How many hours of rankings have changed with them.
        rankings: How many rankings these hours have now.
        notes: By code, how many of these rankings have something suspicious but legal; those of
            hours to which only labels came are not looked at again.
        unused: The columns of new files that are not used.
        examples: By code, what is wrong with the first row that was rejected, and where it is.
        left_out: The files that are left out, with the reason: those that are damaged, lack a
            column that is needed, or have times without a time zone.
    """

    files: int
    new: int = 0
    changed: int = 0
    removed: int = 0
    hours: int = 0
    rankings: int = 0
    notes: Mapping[str, int]
    unused: Mapping[str, Sequence[str]]
    examples: Mapping[str, str]
    left_out: Sequence[LeftOut] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "files": self.files,
            "new": self.new,
            "changed": self.changed,
            "removed": self.removed,
            "hours": self.hours,
            "rankings": self.rankings,
            "notes": dict(self.notes),
            "unused_columns": {kind: list(names) for kind, names in self.unused.items()},
            "left_out": [each.to_dict() for each in self.left_out],
        }


def connect_lake(
    store: Store,
    project: str,
    *,
    rankings: str,
    labels: str | None,
    layout: str | None,
    names: Mapping[str, str],
    label_names: Mapping[str, str],
    attributes: Sequence[str],
    window: int,
    within: Duration,
    timezone: str | None,
    now: int,
    actor: str,
) -> bool:
    """Connect a project with a lake, or change its lake."""
    from rankscope.inputs.lakehouse import find_layout  # noqa: PLC0415 - needs Arrow
    from rankscope.monitor.store.lake.times import check_zone  # noqa: PLC0415 - needs Arrow

    if layout is not None and layout not in LAYOUTS:
        raise UsageError(
            f"expected {' or '.join(LAYOUTS)}, found {layout!r}",
            hint="omit it to detect the layout",
            code="usage",
        )
    if timezone is not None:
        check_zone(timezone)

    def address(url: str, roles: Mapping[str, str], described: Sequence[str]) -> TableAddress:
        checked = check_url(url)
        chosen: Layout = layout or find_layout(checked)  # type: ignore[assignment]  # as checked
        return TableAddress(
            url=checked,
            layout=chosen,
            names=tuple(sorted(roles.items())),
            attributes=tuple(described),
        )

    lake = Lake(
        rankings=address(rankings, names, attributes),
        labels=None if labels is None else address(labels, label_names, ()),
        reach=window + LATE,
        early=EARLY,
        within=_read_within(within),
        timezone=timezone,
    )
    _check_new(lake, store.lake(project), now)
    return store.set_lake(project, lake, now, actor)


def _check_new(lake: Lake, before: Lake | None, now: int) -> None:
    """Check that tables that are new to a project have files, and look at the last one of each.

    An address with a mistake in it must not replace one that works. Files that cannot be read are
    left out as long as there is another one.
    """
    sources = {} if before is None else before.sources
    fresh = [kind for kind, source in lake.sources.items() if sources.get(kind) != source]
    if not fresh:
        return
    from rankscope.monitor.store.lake.reader import LakeReader  # noqa: PLC0415 - needs Arrow

    reader = LakeReader(lake)
    for kind in fresh:
        first: RankscopeError | None = None
        for file in reversed(reader.list_files(kind)):
            try:
                reader.look_at(kind, file, max(now, read_clock()))
                break
            except (FileError, InputError) as error:
                if not _concerns(error, file):
                    raise
                first = first or error
        else:
            if first is not None:
                raise first


def _concerns(error: FileError | InputError, file: DataFile) -> bool:
    """Return whether a file cannot be read because of what it contains."""
    return error.file == file.path and (isinstance(error, InputError) or error.code == DAMAGED)


def _read_within(value: Duration) -> int:
    within = read_length(value, "duplicates_within") // MICROSECOND
    if within < 0:
        raise UsageError(
            f"duplicates_within: expected 0 or more, found {show(str(value))}",
            hint="write 0s to compare rankings within their hour only",
            code="usage",
        )
    return within


def scan_lake(
    store: Store,
    project: str,
    *,
    window: int,
    now: int,
    threads: int | None = None,
    is_thorough: bool = True,
) -> Scan | None:
    """Read the files of a lake that are new or have changed, and the hours that have their rows."""
    reader = store.open_lake(project)
    if reader is None:
        return None
    if reader.lake.reach < window + LATE:
        # The definition has changed since.
        store.set_lake(project, replace(reader.lake, reach=window + LATE), now, "evaluation")
        reader = store.open_lake(project) or reader
    if not is_thorough and time.monotonic() - reader.scanned < SECONDS:
        return None
    reader.reopen()
    # Rows that are in the past by the clock of this computer are never from the future.
    scanned = _Scanner(store, project, reader, max(now, read_clock()), threads).scan()
    reader.scanned = time.monotonic()
    reader.trim()
    return scanned


class _Scanner:
    """Scans a lake once."""

    def __init__(
        self, store: Store, project: str, reader: LakeReader, now: int, threads: int | None
    ) -> None:
        self._store = store
        self._project = project
        self._reader = reader
        self._now = now
        self._threads = count_threads(threads)
        self._looked: dict[tuple[Kind, DataFile], LookedAt] = {}
        self._errors: dict[tuple[Kind, DataFile], FileError | InputError] = {}

    def scan(self) -> Scan:
        listed = {kind: self._reader.list_files(kind) for kind in self._reader.tables}
        while True:
            try:
                return self._scan(listed)
            except (FileError, InputError) as error:
                faulty = [
                    (kind, file)
                    for kind, files in listed.items()
                    for file in files
                    if _concerns(error, file) and (kind, file) not in self._errors
                ]
                if not faulty:
                    raise
                # The others are read again without it.
                self._errors.update(dict.fromkeys(faulty, error))

    def _scan(self, listed: Mapping[Kind, Sequence[DataFile]]) -> Scan:
        known = {
            (file.kind, file.file.path): file for file in self._store.lake_files(self._project)
        }
        present = {(kind, file.path) for kind, files in listed.items() for file in files}
        removed = [file for key, file in known.items() if key not in present]
        fresh: list[tuple[Kind, DataFile]] = [
            (kind, file)
            for kind, files in listed.items()
            for file in files
            if (kind, file.path) not in known
            or known[kind, file.path].file != file
            or (kind, file) in self._errors
        ]
        if not fresh and not removed:
            left_out = _list_left_out(known.values())
            return Scan(files=len(present), notes={}, unused={}, examples={}, left_out=left_out)
        with ThreadPoolExecutor(self._threads, "rankscope-lake") as pool:
            looked_at = list(pool.map(self._look_at, fresh))
        files = [looked.known for looked in looked_at]
        read = {(file.kind, file.file.path): file for file in files}
        replaced = [known[key] for key in read if key in known]
        kept = {key: file for key, file in known.items() if key in present}
        current = sorted((kept | read).values(), key=lambda file: file.file.path)
        self._check_some(current)
        before = {hour.start: hour for hour in self._store.lake_hours(self._project)}
        gone = [*removed, *replaced]
        moved = {start for looked in looked_at for start in looked.hours}
        hours = moved | self._list_affected(before, gone)
        moved |= self._list_affected(before, [file for file in gone if file.kind == "rankings"])
        earlier = self._find_earlier(moved, before, current)
        # Where these hours have changed, other rankings may be repeated than before.
        hours.update(start for start, others in earlier.items() if moved.intersection(others))
        hours.update(hour.start for hour in before.values() if moved.intersection(hour.earlier))
        new_labels = [file for file in files if file.kind == "labels" and file.fault is None]
        labelled = self._find_labelled(new_labels, current, set(before) - hours)
        again = {start: before[start] for start in labelled}
        seen, notes, examples = self._read_hours(sorted(hours | labelled), current, again, earlier)
        self._store.store_scan(
            self._project,
            files=files,
            removed=[(file.kind, file.file.path) for file in removed],
            hours=seen,
        )
        unused: dict[str, set[str]] = {}
        for looked in looked_at:
            unused.setdefault(looked.known.kind, set()).update(looked.unused)
        return Scan(
            files=len(present),
            new=len(fresh) - len(replaced),
            changed=len(replaced),
            removed=len(removed),
            hours=len(seen),
            rankings=sum(span[0] for hour in seen for span in hour.spans.values()),
            notes=dict(notes),
            unused={kind: sorted(names) for kind, names in unused.items() if names},
            examples=examples
            | {code: text for each in reversed(looked_at) for code, text in each.examples.items()},
            left_out=_list_left_out(current),
        )

    def _look_at(self, fresh: tuple[Kind, DataFile]) -> LookedAt:
        if fresh not in self._errors and fresh not in self._looked:
            try:
                self._looked[fresh] = self._reader.look_at(*fresh, self._now)
            except (FileError, InputError) as error:
                if not _concerns(error, fresh[1]):
                    raise
                self._errors[fresh] = error
        if fresh in self._errors:
            return _leave_out(*fresh, self._errors[fresh], self._now)
        return self._looked[fresh]

    def _check_some(self, files: Sequence[KnownFile]) -> None:
        """Raise an error if all files of rankings or of labels are left out: values are kept."""
        for kind in self._reader.tables:
            faults = [file.fault for file in files if file.kind == kind]
            if None in faults:
                continue
            for (of, _), error in self._errors.items():
                if of == kind:
                    raise error
            [fault, *_] = filter(None, faults)
            raise FileError(fault.message, hint=fault.hint, code=fault.code, file=fault.path)

    def _list_affected(self, starts: Iterable[int], files: Sequence[KnownFile]) -> set[int]:
        """List the hours that may have rows of files, by their starts."""
        return {start for start in starts if any(self._may_hold(file, start) for file in files)}

    def _may_hold(self, file: KnownFile, start: int) -> bool:
        lake = self._reader.lake
        if file.kind == "rankings":
            return file.overlaps(start, start + HOUR)
        return file.overlaps(start - lake.early, start + HOUR + lake.reach)

    def _find_earlier(
        self, moved: set[int], before: Mapping[int, KnownHour], files: Sequence[KnownFile]
    ) -> dict[int, set[int]]:
        """Return the earlier hours that may have rankings of an hour, by its start."""
        earlier = {
            start: set(hour.earlier) - moved
            for start, hour in before.items()
            if hour.earlier and start not in moved
        }
        within = self._reader.lake.within
        if not within or not moved:
            return earlier
        from rankscope.monitor.store.lake.repeats import RepeatFinder  # noqa: PLC0415 - needs Arrow

        rankings = [file for file in files if file.kind == "rankings"]
        finder = RepeatFinder(self._reader, rankings, before.keys() | moved, within, self._threads)
        for start, others in finder.find(moved).items():
            earlier.setdefault(start, set()).update(others)
        return earlier

    def _find_labelled(
        self, labels: Sequence[KnownFile], files: Sequence[KnownFile], hours: set[int]
    ) -> set[int]:
        """Return the hours that have rankings of new labels."""
        near = self._list_affected(hours, labels)
        if not near:
            return set()
        ids = self._reader.label_ids(labels)
        near_files = [
            file
            for file in files
            if file.kind == "rankings" and any(file.overlaps(at, at + HOUR) for at in near)
        ]
        with ThreadPoolExecutor(self._threads, "rankscope-lake") as pool:
            starts = pool.map(partial(self._reader.find_hours, ids=ids), near_files)
            return near.intersection(*[set().union(*starts)])

    def _read_hours(
        self,
        starts: Sequence[int],
        files: Sequence[KnownFile],
        again: Mapping[int, KnownHour],
        earlier: Mapping[int, Collection[int]],
    ) -> tuple[list[SeenHour], Counter[str], dict[str, str]]:
        """Read hours; of those in `again`, nothing has changed but labels.

        The rankings of hours that are in `earlier` may be in earlier hours, too.
        """
        from rankscope.monitor.store.lake.state import (  # noqa: PLC0415 - loads SQLAlchemy
            SeenHour,
            list_contents,
        )

        rankings = [file for file in files if file.kind == "rankings"]
        labels = [file for file in files if file.kind == "labels"]
        contents = dict(list_contents(self._store.contexts(self._project)))
        bins = self._store.bins(self._project)

        def read(start: int) -> tuple[SeenHour, Counter[str], dict[str, str]]:
            known = again.get(start)
            if known is not None:
                matches = self._reader.match_again(known, rankings, labels)
                if matches is not None:
                    counts, matched = matches
                    spans = {contents[number]: span for number, span in known.spans.items()}
                    seen = SeenHour(start=start, spans=spans, counts=counts, matched=matched)
                    return seen, Counter(), {}
            hour = self._reader.read_hour(start, rankings, labels, earlier.get(start, ()))
            seen = SeenHour(
                start=start,
                spans=hour.settled.find_spans(bins),
                counts=hour.counts,
                matched=hour.settled.count_matched(),
                earlier=hour.earlier,
            )
            return seen, hour.notes, hour.examples

        hours: list[SeenHour] = []
        notes: Counter[str] = Counter()
        examples: dict[str, str] = {}
        with ThreadPoolExecutor(self._threads, "rankscope-lake") as pool:
            for seen, hour_notes, hour_examples in pool.map(read, starts):
                hours.append(seen)
                notes += hour_notes
                examples = hour_examples | examples
        return hours, notes, examples


def _list_left_out(files: Iterable[KnownFile]) -> tuple[LeftOut, ...]:
    return tuple(file.fault for file in files if file.fault is not None)


def _leave_out(kind: Kind, file: DataFile, error: FileError | InputError, now: int) -> LookedAt:
    """Return what is known of a file that cannot be read."""
    from rankscope.monitor.store.lake.reader import LookedAt  # noqa: PLC0415 - needs Arrow
    from rankscope.monitor.store.lake.state import KnownFile  # noqa: PLC0415 - loads SQLAlchemy

    fault = LeftOut(
        kind=kind,
        path=file.path,
        seen=now,
        code=error.code,
        message=error.message,
        hint=error.hint,
    )
    known = KnownFile(
        kind=kind, file=file, seen=now, rows=0, first=None, last=None, counts={}, fault=fault
    )
    return LookedAt(known, frozenset(), (), {})

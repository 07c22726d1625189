"""Connects a project with a data lake, and finds which of its files are new or have changed."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from rankscope.errors import FileError, InputError, UsageError
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import MICROSECOND, read_clock, read_length
from rankscope.monitor.store.lake.address import LAYOUTS, Lake, TableAddress, check_url
from rankscope.monitor.store.records import LeftOut
from rankscope.output.text import show
from rankscope.records import record, replace
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from rankscope.errors import RankscopeError
    from rankscope.monitor.events.times import Duration
    from rankscope.monitor.store.lake.address import Kind, Layout
    from rankscope.monitor.store.lake.files import DataFile
    from rankscope.monitor.store.lake.reader import LakeHour, LakeReader, LookedAt
    from rankscope.monitor.store.lake.state import KnownFile, KnownHour, SeenHour
    from rankscope.monitor.store.records import Context
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
            "left_out": [one.to_dict() for one in self.left_out],
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
    from rankscope.monitor.store.lake.formats import find_layout  # noqa: PLC0415 - needs Arrow
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
    known = {} if before is None else before.sources
    fresh = [kind for kind, source in lake.sources.items() if known.get(kind) != source]
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


def _read_within(given: Duration) -> int:
    within = read_length(given, "duplicates_within") // MICROSECOND
    if within < 0:
        raise UsageError(
            f"duplicates_within: expected 0 or more, found {show(str(given))}",
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
                found = [
                    (kind, file)
                    for kind, files in listed.items()
                    for file in files
                    if _concerns(error, file) and (kind, file) not in self._errors
                ]
                if not found:
                    raise
                # The others are read again without it.
                self._errors.update(dict.fromkeys(found, error))

    def _scan(self, listed: Mapping[Kind, Sequence[DataFile]]) -> Scan:
        known = {
            (file.kind, file.file.path): file for file in self._store.lake_files(self._project)
        }
        present = {(kind, file.path) for kind, files in listed.items() for file in files}
        removed = [one for key, one in known.items() if key not in present]
        fresh: list[tuple[Kind, DataFile]] = [
            (kind, file)
            for kind, files in listed.items()
            for file in files
            if (kind, file.path) not in known
            or known[kind, file.path].file != file
            or (kind, file) in self._errors
        ]
        if not fresh and not removed:
            left_out = tuple(one.fault for one in known.values() if one.fault is not None)
            return Scan(files=len(present), notes={}, unused={}, examples={}, left_out=left_out)
        with ThreadPoolExecutor(self._threads, "rankscope-lake") as pool:
            read = list(pool.map(self._look_at, fresh))
        files = [one.known for one in read]
        replaced = [known[key] for kind, one in fresh if (key := (kind, one.path)) in known]
        kept = [
            one
            for key, one in known.items()
            if key in present and key not in {(each.kind, each.file.path) for each in files}
        ]
        now_there = sorted([*kept, *files], key=lambda one: one.file.path)
        self._check_some(now_there)
        hours = {start for one in read for start in one.hours}
        before = {one.start: one for one in self._store.lake_hours(self._project)}
        gone = [*removed, *replaced]
        hours.update(start for start in before if self._had_rows(start, gone))
        new_labels = [file for file in files if file.kind == "labels" and file.fault is None]
        moved = {start for one in read for start in one.hours}
        gone_rankings = [one for one in gone if one.kind == "rankings"]
        moved.update(start for start in before if self._had_rows(start, gone_rankings))
        earlier = self._find_earlier(moved, before, now_there)
        # Where these hours have changed, other rankings may be repeated than before.
        hours.update(start for start, others in earlier.items() if moved.intersection(others))
        hours.update(one.start for one in before.values() if moved.intersection(one.earlier))
        labelled = self._find_labelled(new_labels, now_there, set(before) - hours)
        again = {start: before[start] for start in labelled}
        seen, notes, examples = self._read_hours(
            sorted(hours | labelled),
            now_there,
            again,
            earlier,
        )
        self._store.store_scan(
            self._project,
            files=files,
            removed=[(one.kind, one.file.path) for one in removed],
            hours=seen,
        )
        unused: dict[str, set[str]] = {}
        for one in read:
            unused.setdefault(one.known.kind, set()).update(one.unused)
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
            | {code: text for one in reversed(read) for code, text in one.examples.items()},
            left_out=tuple(one.fault for one in now_there if one.fault is not None),
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

    def _had_rows(self, start: int, gone: Iterable[KnownFile]) -> bool:
        """Return whether an hour may have had rows of files that are gone."""
        lake = self._reader.lake
        return any(
            one.overlaps(start, start + HOUR)
            if one.kind == "rankings"
            else one.overlaps(start - lake.early, start + HOUR + lake.reach)
            for one in gone
        )

    def _find_earlier(
        self, moved: set[int], before: Mapping[int, KnownHour], files: Sequence[KnownFile]
    ) -> dict[int, set[int]]:
        """Return the earlier hours that may have rankings of an hour, by its start."""
        found = {start: set(one.earlier) - moved for start, one in before.items() if one.earlier}
        for start in moved:
            found.pop(start, None)
        within = self._reader.lake.within
        if not within or not moved:
            return found
        from rankscope.monitor.store.lake.repeats import RepeatFinder  # noqa: PLC0415 - needs Arrow

        rankings = [file for file in files if file.kind == "rankings"]
        finder = RepeatFinder(self._reader, rankings, before.keys() | moved, within, self._threads)
        for start, others in finder.find(moved).items():
            found.setdefault(start, set()).update(others)
        return found

    def _find_labelled(
        self, labels: Sequence[KnownFile], files: Sequence[KnownFile], hours: set[int]
    ) -> set[int]:
        """Return the hours that have rankings of new labels."""
        lake = self._reader.lake
        near = {
            start
            for start in hours
            if any(file.overlaps(start - lake.early, start + HOUR + lake.reach) for file in labels)
        }
        if not near:
            return set()
        ids = self._reader.label_ids(labels)
        there = [
            file
            for file in files
            if file.kind == "rankings" and any(file.overlaps(at, at + HOUR) for at in near)
        ]
        with ThreadPoolExecutor(self._threads, "rankscope-lake") as pool:
            found = pool.map(partial(self._reader.find_hours, ids=ids), there)
            return near.intersection(*[set().union(*found)])

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
        rankings = [file for file in files if file.kind == "rankings"]
        labels = [file for file in files if file.kind == "labels"]
        contexts = self._store.contexts(self._project)
        notes: Counter[str] = Counter()

        examples: dict[str, str] = {}

        def read(start: int) -> tuple[SeenHour, Counter[str], Mapping[str, str]]:
            known = again.get(start)
            if known is not None:
                found = self._reader.match_again(known, rankings, labels)
                if found is not None:
                    return _see_again(known, contexts, *found), Counter(), {}
            hour = self._reader.read_hour(start, rankings, labels, earlier.get(start, ()))
            return *_see(start, hour), hour.examples

        seen = []
        with ThreadPoolExecutor(self._threads, "rankscope-lake") as pool:
            for hour, noted, wrong in pool.map(read, starts):
                seen.append(hour)
                notes += noted
                examples = {**wrong, **examples}
        return seen, notes, examples


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


def _see_again(
    hour: KnownHour, contexts: Mapping[int, Context], counts: Counter[str], matched: int
) -> SeenHour:
    """Return what an hour has whose rankings are known."""
    from rankscope.monitor.store.lake.state import (  # noqa: PLC0415 - loads SQLAlchemy
        SeenHour,
        find_contents,
    )

    contents = {number: content for content, number in find_contents(contexts).items()}
    spans = {contents[number]: span for number, span in hour.spans.items()}
    return SeenHour(start=hour.start, spans=spans, counts=counts, matched=matched)


def _see(start: int, hour: LakeHour) -> tuple[SeenHour, Counter[str]]:
    """Count what an hour has."""
    from rankscope.monitor.store.lake.state import SeenHour  # noqa: PLC0415 - loads SQLAlchemy

    return (
        SeenHour(
            start=start,
            spans=hour.settled.find_spans(),
            counts=hour.counts,
            matched=hour.settled.count_matched(),
            earlier=hour.earlier,
        ),
        hour.notes,
    )

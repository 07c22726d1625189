"""Reads the hours of a lake: its rankings and their labels, from the files that have them."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from math import inf
from typing import NamedTuple

from rankscope.adapters.arrow import load_arrow
from rankscope.engine import count_threads
from rankscope.errors import FormatError, InputError
from rankscope.monitor.events.limits import HOUR, Limits
from rankscope.monitor.events.reader import check_time
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.lake.cells import join_chunks, join_texts, read_times, take
from rankscope.monitor.store.lake.formats import open_lake_table
from rankscope.monitor.store.lake.joining import KeyedLabels, join_labels
from rankscope.monitor.store.lake.labels import LabelReader, make_given
from rankscope.monitor.store.lake.rankings import Plan, RankingReader, Read
from rankscope.monitor.store.lake.shown import Shown, drop_repeated, join_shown, make_shown
from rankscope.monitor.store.lake.state import KnownFile
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.store.lake.address import Kind, Lake
    from rankscope.monitor.store.lake.cells import Foreign
    from rankscope.monitor.store.lake.files import DataFile
    from rankscope.monitor.store.lake.formats import LakeTable
    from rankscope.monitor.store.lake.joining import Joined
    from rankscope.monitor.store.lake.labels import Given
    from rankscope.monitor.store.lake.state import KnownHour

HOURS_AT_ONCE = 4
LIMITS = Limits()
TECHNICAL = frozenset({"date", "day", "hour", "dt"})
"""Names of folders that divide files by time, which need not be used."""
MOST_KEPT = 192 << 20
"""The bytes of files that are kept in memory: consecutive hours share those of labels."""
MOST_IDLE = 96 << 20
"""The bytes of them after a scan, when other processes may evaluate days and keep files, too."""
ROW = 1 << 32
"""The places of the rows of a file follow one another from here times its number on."""


class RankingFile(NamedTuple):
    """The rankings of a file whose time is good.

    Args:
        plan: What its columns hold.
        table: Its rows, whose times are timestamps in UTC.
        times: Microseconds since 1970 in UTC.
        refused: By code, how many rankings have a bad time.
    """

    plan: Plan
    table: Foreign
    times: NDArray[np.int64]
    refused: Counter[str]

    @property
    def nbytes(self) -> int:
        """Its memory."""
        return int(self.table.nbytes + self.times.nbytes)


class LabelFile(NamedTuple):
    """The labels of a file, and by code how many were refused and what is to be noted."""

    labels: KeyedLabels
    refused: Counter[str]

    @property
    def given(self) -> Given:
        """The labels."""
        return self.labels.given

    @property
    def nbytes(self) -> int:
        """Its memory."""
        return self.labels.nbytes


@record(frozen=True, slots=True)
class LakeHour:
    """The rankings of an hour with their labels.

    Args:
        shown: The rankings by time, then by `ranking_id`.
        joined: Their labels.
        counts: By code, how many rankings and labels were accepted, repeated and rejected; labels
            are only counted where they are repeated.
        notes: By code, how many rankings have something suspicious but legal.
    """

    shown: Shown
    joined: Joined
    counts: Counter[str]
    notes: Counter[str]


class LookedAt(NamedTuple):
    """A file that was looked at for the first time.

    Args:
        known: What is kept of it.
        hours: The starts of the hours that have rankings of it.
        unused: The columns that are not used.
    """

    known: KnownFile
    hours: frozenset[int]
    unused: tuple[str, ...]


class LakeReader:
    """Reads the files of a lake.

    Args:
        lake: The lake.
        threads: How many hours are read at once to evaluate them (default: all cores, at most 4,
            because each hour takes memory).
    """

    def __init__(self, lake: Lake, threads: int | None = None) -> None:
        self.lake = lake
        self.threads = min(count_threads(threads), HOURS_AT_ONCE)
        self.tables: dict[Kind, LakeTable] = {
            kind: open_lake_table(one) for kind, one in lake.sources.items()
        }
        self._rankings = RankingReader(dict(lake.rankings.names), lake.rankings.attributes)
        self._labels = LabelReader(dict(lake.labels.names) if lake.labels else {})
        self._kept: OrderedDict[tuple[str, DataFile, int], RankingFile | LabelFile] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self.scanned = -inf

    def reopen(self) -> None:
        """Open the tables again, to see their newest versions."""
        self.tables = {kind: open_lake_table(one) for kind, one in self.lake.sources.items()}

    def look_at(self, kind: Kind, file: DataFile, now: int) -> LookedAt:
        """Find out which times a file has, and count what is wrong with its rows.

        Args:
            kind: Whether it has rankings or labels.
            file: The file.
            now: The current time, in microseconds since 1970 in UTC.

        Raises:
            FileError: It cannot be read, or has changed.
            InputError: It does not have the columns that are needed.
        """
        import numpy as np  # noqa: PLC0415 - loads with the first array

        try:
            schema = self.tables[kind].read_schema(file)
            if kind == "rankings":
                plan = self._rankings.plan(schema)
                used = plan.columns
                name = plan.roles["time"]
                table = self.tables[kind].read(file, [name])
                _, times, refused = _read_own_times(table, name, now)
                counts: Counter[str] = Counter()
                if refused:
                    loaded = self.load_rankings(file, now)
                    times, counts = loaded.times, loaded.refused
            else:
                used = list(self._labels.plan(schema).values())
                found = self.load_labels(file, now)
                times = found.given.times
                counts = found.refused + Counter(accepted=len(times))
        except InputError as error:
            error.file = error.file or file.path
            raise
        starts = np.unique(times - times % HOUR).tolist() if kind == "rankings" else []
        known = KnownFile(
            kind=kind,
            file=file,
            seen=now,
            rows=len(times),
            first=int(times.min()) if len(times) else None,
            last=int(times.max()) if len(times) else None,
            counts=dict(counts),
        )
        unused = tuple(name for name in schema.names if name not in used and name not in TECHNICAL)
        return LookedAt(known, frozenset(starts), unused)

    def label_ids(self, files: Sequence[KnownFile]) -> Foreign:
        """Return the ids of the rankings of labels, each once."""
        compute = load_arrow("pyarrow.compute")
        ids = [self.load_labels(one.file, one.seen).given.ranking_ids for one in files]
        return compute.unique(load_arrow().chunked_array(ids))

    def find_hours(self, known: KnownFile, ids: Foreign) -> set[int]:
        """Find the starts of the hours of a file that have some rankings.

        Args:
            known: The file.
            ids: The ids of the rankings.

        Raises:
            FileError: It cannot be read, or has changed.
        """
        import numpy as np  # noqa: PLC0415 - loads with the first array

        ids_here, times = self._read_ids(known)
        is_in = load_arrow("pyarrow.compute").is_in(ids_here, value_set=ids)
        times = times[is_in.to_numpy(zero_copy_only=False)]
        starts: list[int] = np.unique(times - times % HOUR).tolist()
        return set(starts)

    def read_hour(
        self,
        start: int,
        rankings: Sequence[KnownFile],
        labels: Sequence[KnownFile],
        *,
        event_ids: bool = False,
    ) -> LakeHour:
        """Read an hour.

        Args:
            start: When it begins, in microseconds since 1970 in UTC.
            rankings: All files of rankings, in order.
            labels: All files of labels, in order.
            event_ids: Whether labels need the ids of their events.

        Raises:
            FileError: A file cannot be read, or has changed.
            InputError: A file does not have the columns that are needed.
        """
        found = self.read_rankings(start, start + HOUR, rankings)
        shown, counts = drop_repeated(found.shown)
        shown = shown.sort()
        since, until = start - self.lake.early, start + HOUR + self.lake.reach
        own = [KeyedLabels.of(make_given(shown.labels))] if shown.labels else []
        files = self._load_near(labels, since, until)
        joined = join_labels(shown.ranking_ids, [*own, *files], since, until, event_ids=event_ids)
        counted = found.rejected + Counter(counts) + Counter(joined.counts)
        # Repeated labels are rows of files that were counted as accepted.
        counted["accepted"] += len(shown) + len(shown.labels)
        for number in joined.counts.values():
            counted["accepted"] -= number
        return LakeHour(shown, joined, counted, found.notes)

    def _load_near(self, labels: Sequence[KnownFile], since: int, until: int) -> list[KeyedLabels]:
        """Load the files of labels that may have some of a span."""
        return [
            self.load_labels(one.file, one.seen).labels
            for one in labels
            if one.overlaps(since, until)
        ]

    def match_again(
        self, hour: KnownHour, rankings: Sequence[KnownFile], labels: Sequence[KnownFile]
    ) -> tuple[Counter[str], int] | None:
        """Count the labels of an hour whose rankings are those of the last run.

        Only the ids of its rankings are read, not their documents.

        Args:
            hour: What is known of the hour.
            rankings: All files of rankings, in order. Those of the hour have not changed.
            labels: All files of labels, in order.

        Returns:
            The counts of the hour and how many rows of labels are of its rankings, as in
            `SeenHour`; `None` if some of its rows were not accepted, so that it takes all columns
            to know which.

        Raises:
            FileError: A file cannot be read, or has changed.
        """
        found = self.match(hour, rankings, labels)
        if found is None:
            return None
        times, joined = found
        counts = Counter(joined.counts)
        counts["accepted"] = len(times) - sum(joined.counts.values())
        return counts, joined.matched

    def match(
        self, hour: KnownHour, rankings: Sequence[KnownFile], labels: Sequence[KnownFile]
    ) -> tuple[NDArray[np.int64], Joined] | None:
        """Return the times of the rankings of an hour, and their labels; see `match_again`."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        count = sum(span[0] for span in hour.spans.values())
        start = hour.start
        files = [one for one in rankings if one.overlaps(start, start + HOUR)]
        if hour.counts != {"accepted": count} or any(one.counts for one in files):
            return None
        parts = [self._read_ids(one) for one in files]
        times = np.concatenate([each for _, each in parts])
        rows = np.flatnonzero((times >= start) & (times < start + HOUR))
        ids = join_texts([each for each, _ in parts])
        if len(rows) < len(times):
            ids, times = take(ids, rows), times[rows]
        # Rows of documents have the ids and times of their rankings, in the order of first rows.
        different = ids.unique()
        if len(different) != count:
            return None
        if count < len(ids):
            codes = ids.dictionary_encode().indices.to_numpy()
            times = times[np.unique(codes, return_index=True)[1]]
        since, until = start - self.lake.early, start + HOUR + self.lake.reach
        near = self._load_near(labels, since, until)
        return times, join_labels(different, near, since, until, event_ids=False)

    def _read_ids(self, known: KnownFile) -> tuple[Foreign, NDArray[np.int64]]:
        """Read the ids of the rankings of a file, as texts of Arrow, and their times."""
        roles = self._rankings.plan(self.tables["rankings"].read_schema(known.file)).roles
        name = roles["ranking_id"]
        table = self.tables["rankings"].read(known.file, [name, roles["time"]])
        ids = join_chunks(table[name], name).cast(load_arrow().large_string())
        _, times, _ = _read_own_times(table, roles["time"], known.seen)
        return ids, times

    def read_rankings(self, since: int, until: int, files: Sequence[KnownFile]) -> Read:
        """Read the rankings of a span from their files.

        Raises:
            FileError: A file cannot be read, or has changed.
            InputError: A file does not have the columns that are needed.
        """
        import numpy as np  # noqa: PLC0415 - loads with the first array

        arrow = load_arrow()
        parts: list[tuple[Plan, Foreign, NDArray[np.int64]]] = []
        for number, known in enumerate(files):
            if not known.overlaps(since, until):
                continue
            check_deadline()
            loaded = self.load_rankings(known.file, known.seen)
            rows = np.flatnonzero((loaded.times >= since) & (loaded.times < until))
            if not len(rows):
                continue
            is_whole = len(rows) == len(loaded.times)
            table = loaded.table if is_whole else loaded.table.take(arrow.array(rows))
            parts.append((loaded.plan, table, number * ROW + rows))
        plans = []
        for plan, _, _ in parts:
            if plan not in plans:
                plans.append(plan)
        reads = []
        for plan in plans:
            some = [part for part in parts if part[0] == plan]
            reads.append(self._read_together(plan, some))
        return Read(
            join_shown([one.shown for one in reads]) if reads else make_shown([], []),
            sum((one.rejected for one in reads), Counter()),
            sum((one.notes for one in reads), Counter()),
        )

    def _read_together(
        self, plan: Plan, parts: Sequence[tuple[Plan, Foreign, NDArray[np.int64]]]
    ) -> Read:
        """Read rows of several files, which may have rows of one ranking."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        arrow = load_arrow()
        tables = [table for _, table, _ in parts]
        try:
            whole = (
                tables[0]
                if len(tables) == 1
                else arrow.concat_tables(tables, promote_options="permissive")
            )
        except arrow.ArrowException as error:
            raise FormatError(
                "files of one hour have columns of different types: "
                f"{str(error).splitlines()[0]:.200}",
                hint="write the files again with one schema",
                code="lake_schema",
            ) from error
        return self._rankings.read(whole, plan, np.concatenate([places for _, _, places in parts]))

    def load_rankings(self, file: DataFile, seen: int) -> RankingFile:
        """Load a file of rankings, or return it if it is kept.

        Args:
            file: The file.
            seen: When it was first read: its times are checked as of then.

        Raises:
            FileError: It cannot be read, or has changed.
            InputError: It does not have the columns that are needed.
        """
        kept = self._find("rankings", file, seen)
        if isinstance(kept, RankingFile):
            return kept
        try:
            loaded = self._load_rankings(file, seen)
        except InputError as error:
            error.file = file.path
            raise
        if len(loaded.times) and loaded.times.min() // HOUR != loaded.times.max() // HOUR:
            # The file of one hour is read once in a run, and would only take memory.
            self._keep("rankings", file, seen, loaded)
        return loaded

    def _load_rankings(self, file: DataFile, seen: int) -> RankingFile:
        import numpy as np  # noqa: PLC0415 - loads with the first array

        arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
        opened = self.tables["rankings"]
        plan = self._rankings.plan(opened.read_schema(file))
        table = opened.read(file, plan.columns)
        table, times, refused = _read_own_times(table, plan.roles["time"], seen)
        if not refused:
            return RankingFile(plan, table, times, Counter())
        bad = np.array(sorted(refused), dtype=np.int64)
        drops = np.zeros(len(times), dtype=np.bool_)
        drops[bad] = True
        counts = Counter(error.code for error in refused.values())
        if not plan.is_grouped:
            # All rows of a ranking share its time, so that none of them is good.
            ids = join_chunks(table[plan.roles["ranking_id"]], "ranking_id")
            theirs = compute.unique(ids.take(arrow.array(bad)))
            drops |= compute.is_in(ids, value_set=theirs).to_numpy(zero_copy_only=False)
            said = {ids[place].as_py(): refused[place].code for place in reversed(bad.tolist())}
            counts = Counter(said.values())
        good = np.flatnonzero(~drops)
        return RankingFile(plan, table.take(arrow.array(good)), times[good], counts)

    def load_labels(self, file: DataFile, seen: int) -> LabelFile:
        """Load a file of labels, or return it if it is kept; see `load_rankings`."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        kept = self._find("labels", file, seen)
        if isinstance(kept, LabelFile):
            return kept
        opened = self.tables["labels"]
        try:
            roles = self._labels.plan(opened.read_schema(file))
            table = opened.read(file, list(roles.values()))
            table, times, refused = _read_own_times(table, roles["time"], seen)
            if refused:
                good = np.setdiff1d(np.arange(len(times)), sorted(refused))
                table = table.take(load_arrow().array(good))
            found = self._labels.read(table, roles)
        except InputError as error:
            error.file = file.path
            raise
        counts = found.rejected + Counter(error.code for error in refused.values())
        loaded = LabelFile(KeyedLabels.of(found.given), counts)
        self._keep("labels", file, seen, loaded)
        return loaded

    def read_ids(self, file: DataFile) -> Foreign:
        """Read the ids of the rankings of a file, as texts of Arrow.

        Raises:
            FileError: It cannot be read, or has changed.
        """
        opened = self.tables["rankings"]
        name = self._rankings.plan(opened.read_schema(file)).roles["ranking_id"]
        column = join_chunks(opened.read(file, [name])[name], name)
        return column.cast(load_arrow().large_string())

    def _find(self, kind: Kind, file: DataFile, seen: int) -> RankingFile | LabelFile | None:
        with self._lock:
            kept = self._kept.get((kind, file, seen))
            if kept is not None:
                self._kept.move_to_end((kind, file, seen))
            return kept

    def _keep(self, kind: Kind, file: DataFile, seen: int, loaded: RankingFile | LabelFile) -> None:
        with self._lock:
            if (kind, file, seen) not in self._kept:
                self._kept[kind, file, seen] = loaded
                self._bytes += loaded.nbytes
            self._drop(MOST_KEPT)

    def trim(self) -> None:
        """Release most of the memory that a scan used."""
        with self._lock:
            self._drop(MOST_IDLE)
        load_arrow().default_memory_pool().release_unused()

    def _drop(self, most: int) -> None:
        """Drop the files that were used least recently, down to some bytes."""
        while self._bytes > most and len(self._kept) > 1:
            _, old = self._kept.popitem(last=False)
            self._bytes -= old.nbytes


def _read_own_times(
    table: Foreign, name: str, seen: int
) -> tuple[Foreign, NDArray[np.int64], dict[int, RefusedError]]:
    """Read the times of a table, and put timestamps in UTC in their place."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    arrow = load_arrow()
    times, refused = read_times(join_chunks(table[name], name), name)
    far = np.flatnonzero((times > seen + LIMITS.ahead) | (times < seen - LIMITS.age))
    for place in far.tolist():
        if place not in refused:
            try:
                check_time(int(times[place]), name, seen, LIMITS)
            except RefusedError as error:
                refused[place] = error
    stamps = arrow.array(times).cast(arrow.timestamp("us", "UTC"))
    return table.set_column(table.column_names.index(name), name, stamps), times, refused

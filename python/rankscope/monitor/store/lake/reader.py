"""Reads the hours of a lake: its rankings and their labels, from the files that have them."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import NamedTuple

from rankscope.deferred import np
from rankscope.errors import FileError, FormatError
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.lake.cells import join_chunks
from rankscope.monitor.store.lake.joining import (
    KeyedLabels,
    choose_labels,
    find_labels,
    join_labels,
)
from rankscope.monitor.store.lake.kinds import find_kinds, join_kinds, join_tables
from rankscope.monitor.store.lake.labels import make_given
from rankscope.monitor.store.lake.loading import FileLoader, IdPiece, join_ids, locate, named
from rankscope.monitor.store.lake.pieces import WHOLE
from rankscope.monitor.store.lake.rankings import Read, join_examples
from rankscope.monitor.store.lake.shown import Shown, drop_repeated, join_shown, make_shown
from rankscope.monitor.store.lake.state import KnownFile
from rankscope.records import record
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.store.lake.address import Kind, Lake
    from rankscope.monitor.store.lake.cells import Foreign
    from rankscope.monitor.store.lake.files import DataFile
    from rankscope.monitor.store.lake.formats import LakeTable
    from rankscope.monitor.store.lake.joining import Joined
    from rankscope.monitor.store.lake.rankings import Plan
    from rankscope.monitor.store.lake.state import KnownHour

HOURS_AT_ONCE = 4
TECHNICAL = frozenset({"date", "dt", "ds", "year", "month", "day", "hour", "hr"})
"""Names of folders that divide files by time, which need not be used."""
MOST_IDLE = 48 << 20
"""The bytes of files that are kept after a scan, when other processes may evaluate days, too."""
ROW = 1 << 32
"""The places of the rows of a file follow one another from here times its number on."""
ALWAYS = (-(2**63), 2**63 - 1)


@record(frozen=True, slots=True)
class LakeHour:
    """The rankings of an hour with their labels.

    Args:
        shown: The rankings by time, then by `ranking_id`.
        joined: Their labels.
        counts: By code, how many rankings and labels were accepted, repeated and rejected; labels
            are only counted where they are repeated.
        notes: By code, how many rankings have something suspicious but legal.
        earlier: The starts of earlier hours that have rankings of this hour, which were left out.
        examples: By code, what is wrong with the first ranking that was rejected, and where it is.
    """

    shown: Shown
    joined: Joined
    counts: Counter[str]
    notes: Counter[str]
    earlier: tuple[int, ...]
    examples: dict[str, str]


class LookedAt(NamedTuple):
    """A file that was looked at for the first time.

    Args:
        known: What is kept of it.
        hours: The starts of the hours that have rankings of it.
        unused: The columns that are not used.
        examples: By code, what is wrong with the first row that was rejected, and where it is.
    """

    known: KnownFile
    hours: frozenset[int]
    unused: tuple[str, ...]
    examples: dict[str, str]


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
        self._loader = FileLoader(lake)
        self.scanned = -inf

    @property
    def tables(self) -> Mapping[Kind, LakeTable]:
        """The tables by kind."""
        return self._loader.tables

    def reopen(self) -> None:
        """Open the tables again, to see their newest versions."""
        self._loader.reopen()

    def trim(self, most: int = MOST_IDLE) -> None:
        """Keep no more than some bytes of what was read, and release the memory of the rest."""
        self._loader.trim(most)

    def list_files(self, kind: Kind) -> list[DataFile]:
        """List the files of rankings or labels."""
        files = self.tables[kind].list_files()
        if not files:
            # An empty listing is more often a mistake than a lake that lost everything.
            raise FileError(
                f"there are no Parquet files of {kind}",
                hint="check the path or the pattern; values that are there already are kept",
                code="lake_empty",
                file=self.lake.sources[kind].url,
            )
        return files

    def look_at(self, kind: Kind, file: DataFile, now: int) -> LookedAt:
        """Find out which times a file has, and count what is wrong with its rows."""
        if kind == "rankings":
            used = self._loader.plan_rankings(file).columns
            parts, counts, examples = self._look_at_rankings(file, now)
        else:
            used = list(self._loader.plan_labels(file).values())
            parts, counts, examples = self._look_at_labels(file, now)
        some = [part for part in parts if len(part)]
        starts = [np.unique(part - part % HOUR).tolist() for part in some]
        known = KnownFile(
            kind=kind,
            file=file,
            seen=now,
            rows=sum(map(len, some)),
            first=min((int(part.min()) for part in some), default=None),
            last=max((int(part.max()) for part in some), default=None),
            counts=dict(counts),
        )
        names = self.tables[kind].read_schema(file).names
        unused = tuple(name for name in names if name not in used and name not in TECHNICAL)
        hours = frozenset().union(*starts) if kind == "rankings" else frozenset()
        return LookedAt(known, hours, unused, examples)

    def _look_at_rankings(
        self, file: DataFile, now: int
    ) -> tuple[list[NDArray[np.int64]], Counter[str], dict[str, str]]:
        parts = []
        for piece in self._loader.list_pieces("rankings", file):
            times, refused = self._loader.read_times(file, piece, now)
            if refused:
                [whole] = WHOLE
                loaded = self._loader.load_ranking_piece(file, whole, now)
                return [loaded.times], loaded.refused, loaded.examples
            parts.append(times)
        return parts, Counter(), {}

    def _look_at_labels(
        self, file: DataFile, now: int
    ) -> tuple[list[NDArray[np.int64]], Counter[str], dict[str, str]]:
        parts, counts = [], Counter[str]()
        examples: dict[str, str] = {}
        for piece in self._loader.list_pieces("labels", file):
            found = self._loader.load_label_piece(file, piece, now)
            times = found.labels.given.times
            parts.append(times)
            counts += found.refused + Counter(accepted=len(times))
            examples = found.examples | examples
        return parts, counts, examples

    def label_ids(self, files: Sequence[KnownFile]) -> Foreign:
        """Return the ids of the rankings of labels, each once."""
        compute = load_arrow("pyarrow.compute")
        ids = [
            piece.labels.given.ranking_ids
            for one in files
            for piece in self._loader.load_labels(one, *ALWAYS)
        ]
        return compute.unique(load_arrow().chunked_array(ids))

    def find_hours(self, known: KnownFile, ids: Foreign) -> set[int]:
        """Find the starts of the hours of a file that have some rankings."""
        starts: set[int] = set()
        for piece in self._loader.load_ids(known, *ALWAYS):
            is_in = load_arrow("pyarrow.compute").is_in(piece.ranking_ids, value_set=ids)
            times = piece.times[is_in.to_numpy(zero_copy_only=False)]
            starts.update(np.unique(times - times % HOUR).tolist())
        return starts

    def holds(self, known: KnownFile, ranking_id: str) -> bool:
        """Return whether a file has rows of a ranking."""
        compute = load_arrow("pyarrow.compute")
        return any(
            compute.index(piece.ranking_ids, ranking_id).as_py() >= 0
            for piece in self._loader.load_ids(known, *ALWAYS)
        )

    def read_ids(self, start: int, rankings: Sequence[KnownFile]) -> IdPiece:
        """Read the ids of the rankings of an hour, also of rows that are rejected."""
        since, until = start, start + HOUR
        return join_ids(
            [
                piece.within(since, until)
                for file in rankings
                if file.overlaps(since, until)
                for piece in self._loader.load_ids(file, since, until)
            ]
        )

    def read_hour(
        self,
        start: int,
        rankings: Sequence[KnownFile],
        labels: Sequence[KnownFile],
        *,
        earlier: Mapping[int, bool] | None = None,
        is_plain: bool = False,
        event_ids: bool = False,
    ) -> LakeHour:
        """Read an hour."""
        found = self.read_rankings(start, start + HOUR, rankings, is_plain=is_plain)
        first, left_out, used = self._drop_earlier(found.shown, earlier or {}, rankings)
        shown, counts = (first, {}) if is_plain else drop_repeated(first)
        shown = shown.sort()
        since, until = start - self.lake.early, start + HOUR + self.lake.reach
        own = [KeyedLabels.of(make_given(shown.labels))] if shown.labels else []
        kept = None if own else self._loader.find_kept_labels(self._name(start, rankings, labels))
        files = self._load_near(labels, since, until) if kept is None else [kept]
        joined = join_labels(shown.ranking_ids, [*own, *files], since, until, event_ids=event_ids)
        counted = found.rejected + Counter(counts) + Counter(joined.counts)
        if left_out:
            counted["conflict"] += left_out
        # Repeated labels are rows of files that were counted as accepted.
        counted["accepted"] += len(shown) + len(shown.labels)
        for number in joined.counts.values():
            counted["accepted"] -= number
        examples = {}
        for code, (place, said) in found.examples.items():
            known = rankings[place // ROW]
            # Rows with bad times were left out before the others were numbered.
            row = None if known.counts else place % ROW
            examples[code] = locate(known.file, row, said)
        return LakeHour(shown, joined, counted, found.notes, used, examples)

    def _drop_earlier(
        self, shown: Shown, earlier: Mapping[int, bool], rankings: Sequence[KnownFile]
    ) -> tuple[Shown, int, tuple[int, ...]]:
        """Leave out the rankings that earlier hours have.

        Their times differ, so that each is in conflict with the first, as if it had been sent.
        """
        compute = load_arrow("pyarrow.compute")
        drops = np.zeros(len(shown), dtype=np.bool_)
        used = []
        for start, is_clean in sorted(earlier.items()):
            there = self._read_accepted(start, rankings, is_clean=is_clean)
            is_there = np.zeros(len(shown), dtype=np.bool_)
            for ids, theirs in (
                (shown.ranking_ids, there.ranking_ids),
                (shown.event_ids, there.event_ids),
            ):
                is_there |= compute.is_in(ids, value_set=theirs).to_numpy(zero_copy_only=False)
            if is_there.any():
                used.append(start)
                drops |= is_there
        if not used:
            return shown, 0, ()
        return shown.choose(np.flatnonzero(~drops)), int(drops.sum()), tuple(used)

    def _read_accepted(
        self, start: int, rankings: Sequence[KnownFile], *, is_clean: bool
    ) -> IdPiece:
        """Read the ids of the rankings of an hour that are accepted, be they repeated or not."""
        since, until = start, start + HOUR
        if is_clean and not any(file.counts for file in rankings if file.overlaps(since, until)):
            return self.read_ids(start, rankings)
        shown = self.read_rankings(since, until, rankings).shown
        return IdPiece(shown.ranking_ids, shown.event_ids, shown.times)

    def _load_near(self, labels: Sequence[KnownFile], since: int, until: int) -> list[KeyedLabels]:
        """Load the labels that may be in a span."""
        return [
            piece.labels
            for file in labels
            if file.overlaps(since, until)
            for piece in self._loader.load_labels(file, since, until)
        ]

    def _name(
        self, start: int, rankings: Sequence[KnownFile], labels: Sequence[KnownFile]
    ) -> Hashable:
        """Name the labels of an hour as they are in some files."""
        since, until = start - self.lake.early, start + HOUR + self.lake.reach
        return (
            "labels of an hour",
            start,
            tuple(
                (file.file, file.seen) for file in rankings if file.overlaps(start, start + HOUR)
            ),
            tuple((file.file, file.seen) for file in labels if file.overlaps(since, until)),
        )

    def match_again(
        self, hour: KnownHour, rankings: Sequence[KnownFile], labels: Sequence[KnownFile]
    ) -> tuple[Counter[str], int] | None:
        """Count the labels of an hour whose rankings are those of the last run.

        Only the ids of its rankings are read, not their documents.
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
        count, start = hour.rankings, hour.start
        files = [file for file in rankings if file.overlaps(start, start + HOUR)]
        if not hour.is_plain or any(one.counts for one in files):
            return None
        ids, _, times = self.read_ids(start, files)
        # Rows of documents have the ids and times of their rankings, in the order of first rows.
        different = ids.unique()
        if len(different) != count:
            return None
        if count < len(ids):
            codes = ids.dictionary_encode().indices.to_numpy()
            times = times[np.unique(codes, return_index=True)[1]]
        since, until = start - self.lake.early, start + HOUR + self.lake.reach
        name = self._name(start, rankings, labels)
        kept = self._loader.find_kept_labels(name)
        near = self._load_near(labels, since, until) if kept is None else [kept]
        found = find_labels(different, near, since, until)
        if kept is None:
            # They are joined again when the hour is evaluated.
            self._loader.keep_labels(name, KeyedLabels.of(found.given))
        return times, choose_labels(found, event_ids=False)

    def read_rankings(
        self, since: int, until: int, files: Sequence[KnownFile], *, is_plain: bool = False
    ) -> Read:
        """Read the rankings of a span from their files; see `read_hour`."""
        arrow = load_arrow()
        groups: list[tuple[dict[str, object], list[_Part]]] = []
        for number, known in enumerate(files):
            if not known.overlaps(since, until):
                continue
            check_deadline()
            for first, loaded in self._loader.load_rankings(known, since, until):
                rows = np.flatnonzero((loaded.times >= since) & (loaded.times < until))
                if not len(rows):
                    continue
                is_whole = len(rows) == len(loaded.times)
                table = loaded.table if is_whole else loaded.table.take(arrow.array(rows))
                part = _Part(known.file, loaded.plan, table, number * ROW + first + rows)
                _add_part(groups, part)
        reads = [self._read_together(parts, is_plain=is_plain) for _, parts in groups]
        return Read(
            join_shown([one.shown for one in reads]) if reads else make_shown([], []),
            sum((one.rejected for one in reads), Counter()),
            sum((one.notes for one in reads), Counter()),
            join_examples(one.examples for one in reads),
        )

    def _read_together(self, parts: Sequence[_Part], *, is_plain: bool) -> Read:
        """Read rows of several files, which may have rows of one ranking."""
        plan = parts[0].plan
        try:
            return self._loader.ranking_reader.read(
                join_tables([part.table for part in parts]),
                plan,
                np.concatenate([part.places for part in parts]),
                is_plain=is_plain,
            )
        except FormatError:
            for part in parts:  # to name the file with the damaged column
                with named(part.file):
                    for name in plan.columns:
                        join_chunks(part.table[name], name)
            raise


class _Part(NamedTuple):
    """Rows of rankings of a file, what its columns hold, and the places of the rows."""

    file: DataFile
    plan: Plan
    table: Foreign
    places: NDArray[np.int64]


def _add_part(groups: list[tuple[dict[str, object], list[_Part]]], part: _Part) -> None:
    """Add rows to those that they can be read with."""
    kinds = find_kinds(part.table, part.plan)
    for at, (known, parts) in enumerate(groups):
        joined = join_kinds(known, kinds) if parts[0].plan == part.plan else None
        if joined is not None:
            groups[at] = (joined, [*parts, part])
            return
    groups.append((kinds, [part]))

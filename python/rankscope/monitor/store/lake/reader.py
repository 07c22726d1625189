"""Reads the hours of a lake: its rankings and their labels, from the files that have them."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import NamedTuple

from rankscope import _core
from rankscope.deferred import np
from rankscope.errors import FileError, FormatError
from rankscope.inputs.arrow import load_arrow, to_array
from rankscope.monitor.arrays import read_texts, write_texts
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.chunks import buffer_texts
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.lake.events import DecodedTable, join_chunks, join_decoded
from rankscope.monitor.store.lake.hour import PROJECT, Settled, settle
from rankscope.monitor.store.lake.kinds import find_kinds, join_kinds, join_tables
from rankscope.monitor.store.lake.loading import (
    Extent,
    FileLoader,
    IdPiece,
    join_ids,
    locate,
    measure,
    named,
)
from rankscope.monitor.store.lake.pieces import WHOLE
from rankscope.monitor.store.lake.state import KnownFile
from rankscope.records import record
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.inputs.buckets import DataFile
    from rankscope.monitor.arrays import Texts
    from rankscope.monitor.store.lake.address import Kind, Lake
    from rankscope.monitor.store.lake.events import Foreign, Plan
    from rankscope.monitor.store.lake.formats import LakeTable
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
        settled: The rankings that count, with their labels.
        counts: By code, how many rankings and labels were accepted, repeated and rejected; labels
            of files are only counted where they are repeated.
        notes: By code, how many rankings have something suspicious but legal.
        earlier: The starts of earlier hours that have rankings of this hour, which were left out.
        examples: By code, what is wrong with the first ranking that was rejected, and where it is.
    """

    settled: Settled
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
        filled = [part for part in parts if part.rows]
        known = KnownFile(
            kind=kind,
            file=file,
            seen=now,
            rows=sum(part.rows for part in filled),
            first=min((part.first for part in filled), default=None),
            last=max((part.last for part in filled), default=None),
            counts=dict(counts),
        )
        names = self.tables[kind].read_schema(file).names
        unused = tuple(name for name in names if name not in used and name not in TECHNICAL)
        hours = frozenset[int]().union(*(part.hours for part in filled if kind == "rankings"))
        return LookedAt(known, hours, unused, examples)

    def _look_at_rankings(
        self, file: DataFile, now: int
    ) -> tuple[list[Extent], Counter[str], dict[str, str]]:
        extents = []
        for piece in self._loader.list_pieces("rankings", file):
            times, refused = self._loader.read_times(file, piece, now)
            if refused:
                [whole] = WHOLE
                loaded = self._loader.load_ranking_piece(file, whole, now)
                return [measure(loaded.times)], loaded.refused, loaded.examples
            extents.append(measure(times))
        return extents, Counter(), {}

    def _look_at_labels(
        self, file: DataFile, now: int
    ) -> tuple[list[Extent], Counter[str], dict[str, str]]:
        extents, counts = [], Counter[str]()
        examples: dict[str, str] = {}
        for piece in self._loader.list_pieces("labels", file):
            loaded = self._loader.load_label_piece(file, piece, now)
            extents.append(loaded.extent)
            counts += loaded.refused + Counter(accepted=len(loaded.labels))
            examples = loaded.examples | examples
        return extents, counts, examples

    def label_ids(self, files: Sequence[KnownFile]) -> Foreign:
        """Return the ids of the rankings of labels, each once."""
        compute = load_arrow("pyarrow.compute")
        ids = [
            write_texts(buffer_texts(index.unique_ids()))
            for index in self._list_labels(files, *ALWAYS)
        ]
        return compute.unique(load_arrow().chunked_array(ids, load_arrow().large_string()))

    def find_hours(self, known: KnownFile, ids: Foreign) -> set[int]:
        """Find the starts of the hours of a file that have some rankings."""
        starts: set[int] = set()
        for piece in self._loader.load_ids(known, *ALWAYS):
            is_in = load_arrow("pyarrow.compute").is_in(piece.ranking_ids, value_set=ids)
            times = piece.times[to_array(is_in)]
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
        earlier: Collection[int] = (),
    ) -> LakeHour:
        """Read an hour; its rankings may be in earlier ones, too."""
        decoded = self.read_rankings(start, start + HOUR, rankings)
        earlier_ids, used = self._find_earlier(decoded.batch, earlier, rankings)
        chosen = self._choose_labels(start, buffer_texts(decoded.batch.ranking_ids()), labels)
        settled = settle(start, decoded.batch, chosen, earlier_ids)
        # Repeated labels are rows of files that were counted as accepted.
        repeated = settled.labels - Counter(accepted=settled.labels["accepted"])
        counts = decoded.rejected + settled.own + repeated
        counts["accepted"] -= repeated.total()  # below 0 where there are more than rankings
        examples = {}
        for code, (place, message) in decoded.examples.items():
            file = rankings[place // ROW]
            # Rows with bad times were left out before the others were numbered.
            row = None if file.counts else place % ROW
            examples[code] = locate(file.file, row, message)
        return LakeHour(settled, counts, decoded.notes, used, examples)

    def _find_earlier(
        self, batch: _core.EventBatch, earlier: Collection[int], rankings: Sequence[KnownFile]
    ) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
        """Find the ids that earlier hours have, and these hours.

        The times of their rankings differ, so that each is in conflict with the first, as if it
        had been sent.
        """
        if not earlier:
            return [], ()
        own = set(batch.hash_ids(PROJECT).highs())
        ids, used = [], []
        for start in sorted(earlier):
            other = self.read_rankings(start, start + HOUR, rankings).batch
            rows = other.hash_ids(PROJECT).settle([], 1).ids()
            shared = [row for row in rows if row[0] in own]
            if shared:
                ids += shared
                used.append(start)
        return ids, tuple(used)

    def _list_labels(
        self, files: Sequence[KnownFile], since: int, until: int
    ) -> list[_core.LabelIndex]:
        """Load the labels that may be in a span."""
        return [
            piece.labels
            for file in files
            if file.overlaps(since, until)
            for piece in self._loader.load_labels(file, since, until)
        ]

    def _choose_labels(
        self, start: int, ids: Texts, labels: Sequence[KnownFile], until: int | None = None
    ) -> _core.EventBatch:
        """Return the labels of files that are of some rankings of an hour."""
        since, end = start - self.lake.early, start + HOUR + self.lake.reach
        end = end if until is None else min(end, until)
        return _core.choose_labels(self._list_labels(labels, since, end), ids, since, end)

    def has_labels(
        self, start: int, rankings: Sequence[KnownFile], labels: Sequence[KnownFile], before: int
    ) -> bool:
        """Return whether a ranking of an hour has a label from before a time."""
        ids = read_texts(self.read_ids(start, rankings).ranking_ids, "ids")
        return len(self._choose_labels(start, ids, labels, before)) > 0

    def match_again(
        self, hour: KnownHour, rankings: Sequence[KnownFile], labels: Sequence[KnownFile]
    ) -> tuple[Counter[str], int] | None:
        """Count the labels of an hour whose rankings are those of the last run.

        Only the ids of its rankings are read, not their documents.
        """
        start = hour.start
        files = [file for file in rankings if file.overlaps(start, start + HOUR)]
        if not hour.is_plain or any(file.counts for file in files):
            return None
        # Rows of documents have the ids of their rankings.
        ids = self.read_ids(start, files).ranking_ids.unique()
        if len(ids) != hour.rankings:
            return None
        nothing = _core.BatchBuilder().finish()
        counts = settle(
            start, nothing, self._choose_labels(start, read_texts(ids, "ids"), labels), []
        ).labels
        matched = counts.total()
        counts["accepted"] = hour.rankings + counts["accepted"] - matched
        return counts, matched

    def read_rankings(self, since: int, until: int, files: Sequence[KnownFile]) -> DecodedTable:
        """Read the rankings of a span from their files."""
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
        return join_decoded([self._decode_together(parts) for _, parts in groups])

    def _decode_together(self, parts: Sequence[_Part]) -> DecodedTable:
        """Decode rows of several files, which may have rows of one ranking."""
        plan = parts[0].plan
        try:
            return self._loader.rankings.decode(
                join_tables([part.table for part in parts]),
                plan,
                np.concatenate([part.places for part in parts]),
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
    for at, (known_kinds, parts) in enumerate(groups):
        joined = join_kinds(known_kinds, kinds) if parts[0].plan == part.plan else None
        if joined is not None:
            groups[at] = (joined, [*parts, part])
            return
    groups.append((kinds, [part]))

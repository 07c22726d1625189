"""Loads the files of a lake, piece by piece, and keeps some of them in memory."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from contextlib import contextmanager
from typing import NamedTuple, TypeVar, cast

from rankscope import _core
from rankscope.deferred import np
from rankscope.errors import InputError
from rankscope.inputs.arrow import load_arrow, to_array
from rankscope.monitor.arrays import see_value
from rankscope.monitor.events.limits import HOUR, Limits
from rankscope.monitor.events.reader import check_time
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.store.lake.events import LabelDecoder, RankingDecoder, join_chunks
from rankscope.monitor.store.lake.formats import ParquetFiles, open_lake_table
from rankscope.monitor.store.lake.pieces import WHOLE
from rankscope.monitor.store.lake.times import read_times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from numpy.typing import NDArray

    from rankscope.inputs.buckets import DataFile
    from rankscope.monitor.store.lake.address import Kind, Lake
    from rankscope.monitor.store.lake.events import Foreign, Plan
    from rankscope.monitor.store.lake.formats import LakeTable
    from rankscope.monitor.store.lake.pieces import Piece
    from rankscope.monitor.store.lake.state import KnownFile

T = TypeVar("T", "RankingPiece", "LabelPiece", "IdPiece")

LIMITS = Limits()
MOST_KEPT = 128 << 20
"""The bytes of files that are kept in memory: consecutive hours share those of labels."""
FILES = 4096
"""The pieces of so many files are kept in mind."""


class Extent(NamedTuple):
    """How many rows have a good time, the first and last time, and the starts of their hours."""

    rows: int
    first: int
    last: int
    hours: frozenset[int]


def measure(times: NDArray[np.int64]) -> Extent:
    """Return the extent of rows by their times."""
    if not len(times):
        return Extent(0, 0, 0, frozenset())
    hours = frozenset(np.unique(times - times % HOUR).tolist())
    return Extent(len(times), int(times.min()), int(times.max()), hours)


class RankingPiece(NamedTuple):
    """Rankings of a file whose time is good.

    Args:
        plan: What its columns hold.
        table: Its rows, whose times are timestamps in UTC.
        times: Microseconds since 1970 in UTC.
        refused: By code, how many rankings have a bad time.
        examples: By code, what is wrong with the first of them.
    """

    plan: Plan
    table: Foreign
    times: NDArray[np.int64]
    refused: Counter[str]
    examples: dict[str, str]

    @property
    def nbytes(self) -> int:
        """Its memory."""
        return int(self.table.nbytes + self.times.nbytes)


class LabelPiece(NamedTuple):
    """Labels of a file whose time is good.

    Args:
        labels: Those that were accepted.
        extent: How many labels have a good time, and which times they have.
        refused: By code, how many were rejected.
        examples: By code, what is wrong with the first of them.
    """

    labels: _core.LabelIndex
    extent: Extent
    refused: Counter[str]
    examples: dict[str, str]

    @property
    def nbytes(self) -> int:
        """Its memory."""
        return self.labels.nbytes


class IdPiece(NamedTuple):
    """The ids of rankings of a file, whatever else their rows have.

    Args:
        ranking_ids: Texts of Arrow.
        event_ids: Likewise; the same where events have no ids of their own.
        times: Microseconds since 1970 in UTC.
    """

    ranking_ids: Foreign
    event_ids: Foreign
    times: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Its memory."""
        own = 0 if self.event_ids is self.ranking_ids else self.event_ids.nbytes
        return int(self.ranking_ids.nbytes + own + self.times.nbytes)

    def within(self, since: int, until: int) -> IdPiece:
        """Return those of a span."""
        rows = np.flatnonzero((self.times >= since) & (self.times < until))
        if len(rows) == len(self.times):
            return self
        places = load_arrow().array(rows)
        ranking_ids = self.ranking_ids.take(places)
        is_same = self.event_ids is self.ranking_ids
        event_ids = ranking_ids if is_same else self.event_ids.take(places)
        return IdPiece(ranking_ids, event_ids, self.times[rows])


def join_ids(parts: list[IdPiece]) -> IdPiece:
    """Put the ids of pieces together."""
    if len(parts) == 1:
        return parts[0]
    ranking_ids = _join_texts([part.ranking_ids for part in parts])
    is_same = all(part.event_ids is part.ranking_ids for part in parts)
    return IdPiece(
        ranking_ids,
        ranking_ids if is_same else _join_texts([part.event_ids for part in parts]),
        np.concatenate([part.times for part in parts] or [np.zeros(0, dtype=np.int64)]),
    )


def _join_texts(columns: list[Foreign]) -> Foreign:
    arrow = load_arrow()
    return arrow.concat_arrays(columns) if columns else arrow.array([], arrow.large_string())


class FileLoader:
    """Loads the files of a lake.

    Args:
        lake: The lake.
    """

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self.reopen()
        self.rankings = RankingDecoder(dict(lake.rankings.names), lake.rankings.attributes)
        self._labels = LabelDecoder(dict(lake.labels.names) if lake.labels else {})
        self._kept: OrderedDict[Hashable, RankingPiece | LabelPiece | IdPiece] = OrderedDict()
        self._bytes = 0
        self._pieces: dict[tuple[Kind, DataFile], tuple[Piece, ...]] = {}
        self._lock = threading.Lock()
        self._loading: dict[Hashable, threading.Lock] = {}

    def reopen(self) -> None:
        """Open the tables again, to see their newest versions."""
        self.tables: dict[Kind, LakeTable] = {
            kind: open_lake_table(address) for kind, address in self._lake.sources.items()
        }

    def plan_rankings(self, file: DataFile) -> Plan:
        """Return what the columns of a file of rankings hold."""
        with named(file):
            return self.rankings.plan(self.tables["rankings"].read_schema(file))

    def plan_labels(self, file: DataFile) -> dict[str, str]:
        """Return what the columns of a file of labels hold, by role."""
        with named(file):
            return self._labels.plan(self.tables["labels"].read_schema(file))

    def list_pieces(self, kind: Kind, file: DataFile) -> tuple[Piece, ...]:
        """List the pieces of a file."""
        pieces = self._pieces.get((kind, file))
        if pieces is None:
            roles = self.plan_labels(file) if kind == "labels" else self.plan_rankings(file).roles
            table = self.tables[kind]
            # The files of a table of another library are no larger than their writer wants.
            pieces = (
                table.list_pieces(file, roles["time"]) if isinstance(table, ParquetFiles) else WHOLE
            )
            with self._lock:
                while len(self._pieces) >= FILES:
                    del self._pieces[next(iter(self._pieces))]
                self._pieces[kind, file] = pieces
        return pieces

    def read_times(
        self, file: DataFile, piece: Piece, seen: int
    ) -> tuple[NDArray[np.int64], dict[int, RefusedError]]:
        """Read the times of rankings, and by row why some are bad."""
        with named(file):
            name = self.plan_rankings(file).roles["time"]
            table = self.tables["rankings"].read(file, [name], piece.groups)
            return self._read_own_times(table, name, seen)[1:]

    def load_rankings(
        self, known: KnownFile, since: int, until: int
    ) -> Iterator[tuple[int, RankingPiece]]:
        """Load the rankings of a file that may be in a span."""
        # Rows of one ranking may be in several pieces, and a bad time concerns all of them.
        pieces = WHOLE if known.counts else self.list_pieces("rankings", known.file)
        for piece in pieces:
            if piece.overlaps(since, until):
                yield piece.first, self.load_ranking_piece(known.file, piece, known.seen)

    def load_ranking_piece(self, file: DataFile, piece: Piece, seen: int) -> RankingPiece:
        """Load rankings, or return them if they are kept."""
        return self._find("rankings", self._load_rankings, file, piece, seen)

    def _load_rankings(self, file: DataFile, piece: Piece, seen: int) -> RankingPiece:
        arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
        plan = self.plan_rankings(file)
        table = self.tables["rankings"].read(file, plan.columns, piece.groups)
        table, times, refused = self._read_own_times(table, plan.roles["time"], seen)
        if not refused:
            return RankingPiece(plan, table, times, Counter(), {})
        bad = np.array(sorted(refused), dtype=np.int64)
        drops = np.zeros(len(times), dtype=np.bool_)
        drops[bad] = True
        counts = Counter(error.code for error in refused.values())
        if not plan.is_grouped:
            # All rows of a ranking share its time, so that none of them is good.
            ids = join_chunks(table[plan.roles["ranking_id"]], "ranking_id")
            refused_ids = compute.unique(ids.take(arrow.array(bad)))
            drops |= to_array(compute.is_in(ids, value_set=refused_ids))
            code_of = {
                see_value(ids[place]): refused[place].code for place in reversed(bad.tolist())
            }
            counts = Counter(code_of.values())
        good = np.flatnonzero(~drops)
        kept = table.take(arrow.array(good))
        examples = _choose_examples(refused, file, piece.first)
        return RankingPiece(plan, kept, times[good], counts, examples)

    def load_labels(self, known: KnownFile, since: int, until: int) -> Iterator[LabelPiece]:
        """Load the labels of a file that may be in a span; see `load_rankings`."""
        for piece in self.list_pieces("labels", known.file):
            if piece.overlaps(since, until):
                yield self.load_label_piece(known.file, piece, known.seen)

    def load_label_piece(self, file: DataFile, piece: Piece, seen: int) -> LabelPiece:
        """Load labels, or return them if they are kept."""
        return self._find("labels", self._load_labels, file, piece, seen)

    def _load_labels(self, file: DataFile, piece: Piece, seen: int) -> LabelPiece:
        roles = self.plan_labels(file)
        table = self.tables["labels"].read(file, list(roles.values()), piece.groups)
        table, times, refused = self._read_own_times(table, roles["time"], seen)
        good = np.arange(len(times))
        if refused:
            good = np.setdiff1d(np.arange(len(times)), sorted(refused))
            table = table.take(load_arrow().array(good))
        times, places = times[good], piece.first + good
        decoded = self._labels.decode(table, roles, places)
        counts = decoded.rejected + Counter(error.code for error in refused.values())
        examples = {
            code: locate(file, place, message)
            for code, (place, message) in decoded.examples.items()
        } | _choose_examples(refused, file, piece.first)
        return LabelPiece(_core.LabelIndex(decoded.batch), measure(times), counts, examples)

    def load_ids(self, known: KnownFile, since: int, until: int) -> Iterator[IdPiece]:
        """Load the ids of the rankings of a file that may be in a span; see `load_rankings`."""
        for piece in self.list_pieces("rankings", known.file):
            if piece.overlaps(since, until):
                yield self._find("ids", self._load_ids, known.file, piece, known.seen)

    def _load_ids(self, file: DataFile, piece: Piece, seen: int) -> IdPiece:
        roles = self.plan_rankings(file).roles
        names = [roles[role] for role in ("ranking_id", "time", "event_id") if role in roles]
        table = self.tables["rankings"].read(file, names, piece.groups)
        ranking_ids = self._read_texts(table, roles["ranking_id"])
        event_ids = ranking_ids
        if "event_id" in roles:
            own = self._read_texts(table, roles["event_id"])
            compute = load_arrow("pyarrow.compute")
            event_ids = compute.if_else(table[roles["event_id"]].is_valid(), own, ranking_ids)
            event_ids = join_chunks(event_ids, roles["event_id"])
        _, times, _ = self._read_own_times(table, roles["time"], seen)
        return IdPiece(ranking_ids, event_ids, times)

    @staticmethod
    def _read_texts(table: Foreign, name: str) -> Foreign:
        """Read ids; those of another type are empty, and rejected when their rows are read."""
        arrow = load_arrow()
        column = join_chunks(table[name], name)
        kinds, kind = arrow.types, column.type
        if kinds.is_large_string(kind) or (kinds.is_integer(kind) and not kinds.is_uint64(kind)):
            return column.cast(arrow.large_string()).fill_null("")
        return arrow.repeat("", len(column)).cast(arrow.large_string())

    def _read_own_times(
        self, table: Foreign, name: str, seen: int
    ) -> tuple[Foreign, NDArray[np.int64], dict[int, RefusedError]]:
        """Read the times of a table, and put timestamps in UTC in their place."""
        arrow = load_arrow()
        times, refused = read_times(join_chunks(table[name], name), name, self._lake.timezone)
        far = np.flatnonzero((times > seen + LIMITS.ahead) | (times < seen - LIMITS.age))
        for place in far.tolist():
            if place not in refused:
                try:
                    check_time(int(times[place]), name, seen, LIMITS)
                except RefusedError as error:
                    refused[place] = error
        stamps = arrow.array(times).cast(arrow.timestamp("us", "UTC"))
        return table.set_column(table.column_names.index(name), name, stamps), times, refused

    def _find(
        self,
        kind: str,
        load: Callable[[DataFile, Piece, int], T],
        file: DataFile,
        piece: Piece,
        seen: int,
    ) -> T:
        """Return a piece that is kept, or load it, in one thread at a time."""
        name = kind, file, piece, seen
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None:
                self._kept.move_to_end(name)
                return cast("T", kept)
            loading = self._loading.setdefault(name, threading.Lock())
        try:
            with loading:
                with self._lock:
                    kept = self._kept.get(name)
                if kept is not None:
                    return cast("T", kept)
                with named(file):
                    loaded = load(file, piece, seen)
                self._keep(name, loaded)
                return loaded
        finally:
            with self._lock:
                self._loading.pop(name, None)

    def _keep(self, name: Hashable, loaded: RankingPiece | LabelPiece | IdPiece) -> None:
        if isinstance(loaded, RankingPiece) and not _has_hours(loaded.times):
            # The rankings of one hour are read once in a run, and would only take memory.
            return
        with self._lock:
            if name not in self._kept:
                self._kept[name] = loaded
                self._bytes += loaded.nbytes
            self._drop(MOST_KEPT)

    def trim(self, most: int) -> None:
        """Keep no more than some bytes."""
        with self._lock:
            self._drop(most)
        load_arrow().default_memory_pool().release_unused()

    def _drop(self, most: int) -> None:
        """Drop what was used least recently, down to some bytes."""
        while self._bytes > most and len(self._kept) > 1:
            _, old = self._kept.popitem(last=False)
            self._bytes -= old.nbytes


@contextmanager
def named(file: DataFile) -> Iterator[None]:
    """Say in errors of the input which file it is."""
    try:
        yield
    except InputError as error:
        error.file = error.file or file.path
        raise


def locate(file: DataFile, row: int | None, message: str) -> str:
    """Return what is wrong with a row, from 0, and in which file it is."""
    return f"{file.path}{'' if row is None else f', row {row + 1:,}'}: {message}"


def _choose_examples(
    refused: dict[int, RefusedError], file: DataFile, first: int
) -> dict[str, str]:
    """Return by code what is wrong with the first row, and where it is."""
    examples: dict[str, str] = {}
    for place in sorted(refused):
        examples.setdefault(
            refused[place].code, locate(file, first + place, refused[place].message)
        )
    return examples


def _has_hours(times: NDArray[np.int64]) -> bool:
    """Return whether times are of more than one hour."""
    return bool(len(times)) and int(times.min()) // HOUR != int(times.max()) // HOUR

"""Evaluates a run of any kind and size: in memory, while it is read, or in parts on disk."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from rankscope._core import RunParts, SpilledColumns, evaluate_dict, evaluate_path, evaluate_run
from rankscope._inputs import tables
from rankscope._inputs.id_texts import spell_key_ids
from rankscope._inputs.reading import RETRIEVED, open_retrieved, rank_run, read_run, see_table
from rankscope._inputs.recognition import find_stream, recognise
from rankscope.engine.batches import (
    DECODED,
    HELD,
    count_rows_at_once,
    evaluate_parts,
    push_batches,
    whole_queries,
)
from rankscope.engine.memory import Room, SpillNotice
from rankscope.engine.progress import watch
from rankscope.errors import InputError, RankscopeError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Judgments, ParquetRows, Plan
    from rankscope._inputs.files.table import TableFile
    from rankscope._inputs.reading import Note, Tell
    from rankscope._inputs.recognition import Input
    from rankscope.engine.memory import Memory
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike


KINDS = {"query": "ids", "doc": "ids", "score": "scores"}
"""What columns hold that the core decodes itself."""


def recognise_run(run: InputLike, reading: Reading, *, is_held: bool) -> Input:
    """Recognize a run, which is held in memory or read as it comes.

    Raises:
        UsageError: There is a memory limit, and all rows are held in memory.
    """
    found = recognise(run, "run", reading.columns)
    if not is_held:
        found = find_stream(found)
    if is_held or not found.is_in_files:
        _refuse_limit(found, reading)
    return found


def _refuse_limit(found: Input, reading: Reading) -> None:
    named = [name for name in ("memory", "spill_folder") if getattr(reading, name) is not None]
    if named:
        kind = "a table" if found.kind == "table" else "a run in memory"
        if found.is_in_files:
            kind = "a run that is evaluated by measures of items"
        raise UsageError(
            f"{named[0]} has no effect on {kind}, which needs all rows in memory",
            hint=f"remove {named[0]}" + ("" if found.is_in_files else ", or pass a run in a file"),
            code="bad_memory",
        )


def evaluate_input(
    judgments: Judgments, given: Input, plan: Plan, ties: str, reading: Reading, *, is_held: bool
) -> tuple[CoreEvaluation, list[Note]]:
    """Evaluate a run: in memory, while it is read, or in parts on disk.

    Also returns code, count and first line of what was suspicious but legal in the files.
    """
    notes: list[Note] = []
    with watch(given, reading.progress) as tell:
        if is_held:
            ranked = rank_run(judgments, given, ties, reading, notes=notes, tell=tell)
            return ranked.evaluate(plan, reading.threads), notes
        if given.kind == "table" and not given.is_in_files:
            run = ColumnRun(given, judgments, plan, reading, tell=tell)
            return run.hold(), run.notes
        if given.kind == "mapping":
            return evaluate_dict(judgments, plan, spell_key_ids(given.value)), notes
        if not given.is_in_files:
            return evaluate_run(judgments, plan, read_run(given, reading), reading.threads), notes
        room = Room(reading.memory, reading.spill_folder)
        if given.kind != "file":
            run = ColumnRun(given, judgments, plan, reading, tell=tell)
            return run.evaluate(room), run.notes
        with given.placed():
            answer, written = evaluate_path(
                judgments,
                plan,
                given.source,
                reading.encoding,
                (room.unasked, room.find),
                reading.threads,
                tell,
            )
        if written > 0:
            SpillNotice(given.name, room.memory).finish(written)
        return answer, notes


class ColumnRun:
    """A run in columns of memory or of files, such as Parquet or CSV, and how it is evaluated."""

    def __init__(
        self,
        given: Input,
        judgments: Judgments,
        plan: Plan,
        reading: Reading,
        *,
        tell: Tell,
    ) -> None:
        self._given = given
        self._judgments = judgments
        self._plan = plan
        self._reading = reading
        self._tell = tell
        self.notes: list[Note] = []

    def evaluate(self, room: Room) -> CoreEvaluation:
        """Evaluate a run in files: while reading it, in memory, or in parts on disk.

        Rows that take little memory are held. Others are evaluated while they are read. If rows
        of a query aren't contiguous, all rows are partitioned by query, and written to temporary
        files where they exceed the memory limit. All ways give the same values, notes and errors.
        """
        file = self._open()
        # What can be read only once is kept, for a query may come back.
        if not self._given.is_once:
            size = file.estimate_memory()
            if 0 < size <= room.unasked:
                return self.hold(file)
            file.close()
            answer = self._stream(count_rows_at_once(room.memory.limit))
            if answer is not None:
                return answer
            file = self._open()
        if file.exceeds(min(room.memory.limit, HELD)):
            return self._spill(file, room)
        return self.hold(file)

    def hold(self, source: TableFile | None = None) -> CoreEvaluation:
        """Evaluate all rows at once; the source is the open table, if it is open already."""
        given, reading, notes = self._given, self._reading, self.notes
        parts = RunParts(self._judgments)
        seen = see_table(given, RETRIEVED, reading, notes=notes, tell=self._tell, source=source)
        with seen as (table, found, *_):
            columns = tables.view_retrieved(table, found)
            try:
                parts.push(self._plan, columns, reading.threads)
            except InputError:
                tables.read_retrieved(table, found)
                raise
        try:
            return parts.finish(self._plan)
        except RankscopeError as error:
            raise self._place(error) from None

    def _open(self) -> TableFile:
        return open_retrieved(self._given, self._reading, self._tell)

    def _stream(self, rows_at_once: int) -> CoreEvaluation | None:
        """Evaluate the run while reading it; `None` if rows aren't contiguous, or invalid.

        The first mistake of a run is known when all of it was read, so others look for it.
        """
        parts, threads = RunParts(self._judgments), self._reading.threads
        is_new: bool | None = None

        def take(rows: ParquetRows) -> bool | None:
            nonlocal is_new
            is_new = rows.evaluate_run(parts, self._plan, threads)
            return is_new

        with self._open() as file:
            names = file.columns
            at_once = min(rows_at_once, DECODED * max(1, threads - 1))
            try:
                decoded = file.read_plain(KINDS, at_once, take)
            except (InputError, OSError):
                return None
            if is_new is False:
                return None
            for table in () if decoded else whole_queries(file, names.get("query"), rows_at_once):
                try:
                    columns = tables.view_retrieved(table, names)
                    is_new = parts.push(self._plan, columns, self._reading.threads)
                except InputError:
                    return None
                if not is_new:
                    return None
            notes = file.notes
        try:
            answer = parts.finish(self._plan)
        except RankscopeError as error:
            raise self._place(error) from None
        self.notes += notes
        return answer

    def _spill(self, opened: TableFile, room: Room) -> CoreEvaluation:
        memory = room.memory
        with opened as file:
            notice = SpillNotice(file.name, memory)
            spilled = self._partition(file, memory, notice)
            self.notes += file.notes
            try:
                evaluate_parts(
                    spilled,
                    lambda: spilled.evaluate_next(self._plan, self._reading.threads),
                    notice,
                    self._reading.progress,
                )
                spilled.check()
            except RankscopeError as error:
                raise file.place(error) from None
        try:
            return spilled.finish(self._plan)
        except RankscopeError as error:
            raise self._place(error) from None

    def _partition(self, file: TableFile, memory: Memory, notice: SpillNotice) -> SpilledColumns:
        """Partition all rows by query."""

        def begin() -> SpilledColumns:
            expected = file.estimate_memory() or None
            return SpilledColumns(self._judgments, memory.folder, memory.limit, expected)

        def take(rows: ParquetRows) -> bool:
            notice.begin(spilled.written())
            return rows.spill_run(spilled, self._reading.threads)

        spilled, names = begin(), file.columns
        with suppress(RankscopeError, OSError):  # what is wrong, and where, is found below
            if file.read_plain(KINDS, DECODED, take, in_any_order=True):
                return spilled
        spilled = begin()
        read = partial(tables.read_retrieved, names=names)
        push_batches(file, read, spilled.push, spilled, notice)
        return spilled

    def _place(self, error: RankscopeError) -> RankscopeError:
        error.file = self._given.name
        return error

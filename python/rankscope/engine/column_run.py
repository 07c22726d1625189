"""Evaluates a run in columns: in memory, while it is read, or in parts on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope._core import RunParts
from rankscope._inputs.arrow import to_array
from rankscope._inputs.rows import columns_of, read_whole
from rankscope._inputs.tabular import open_retrieved
from rankscope.engine.batches import HELD, count_rows_at_once, read_ahead, whole_queries
from rankscope.engine.memory import Room
from rankscope.engine.partitions import NUMBER, evaluate_parts, number, rows_of_file
from rankscope.errors import InputError, RankscopeError

if TYPE_CHECKING:
    from typing import Any

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Judgments, Plan
    from rankscope._inputs.reading import Note, Tell
    from rankscope._inputs.recognition import Input
    from rankscope._inputs.table_files import TableFile
    from rankscope.engine.memory import Memory
    from rankscope.settings.reading import Reading


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

    def evaluate(self) -> CoreEvaluation:
        """Evaluate a run: a table at once, and files while reading them, or in parts on disk.

        Rows that take little memory are held. Others are evaluated while they are read. If rows
        of a query aren't contiguous, all rows are partitioned by query, and written to temporary
        files where they exceed the memory limit. All ways give the same values, notes and errors.
        """
        if not self._given.is_in_files:
            return self._hold()
        room = Room(self._reading.memory, self._reading.spill_folder)
        file = self._open()
        # What can be read only once is kept, for a query may come back.
        if not self._given.is_once:
            size = file.estimate_memory()
            if 0 < size <= room.unasked:
                return self._hold(file)
            file.close()
            answer = self._stream(count_rows_at_once(room.memory.limit))
            if answer is not None:
                return answer
            file = self._open()
        if file.exceeds(min(room.memory.limit, HELD)):
            return self._spill(file, room.memory)
        return self._hold(file)

    def _hold(self, source: TableFile | None = None) -> CoreEvaluation:
        """Evaluate all rows at once; the source is the open table, if it is open already."""
        parts = RunParts(self._judgments)
        with read_whole(source or self._open(), self.notes) as rows:
            parts.push(self._plan, rows.retrieved(), self._reading.threads, None)
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
        with self._open() as file:
            try:
                for rows in read_ahead(whole_queries(file, rows_at_once)):
                    columns = columns_of(rows, file).retrieved()
                    if not parts.push(self._plan, columns, threads, None):
                        return None
            except InputError:
                return None
            notes = file.notes
        try:
            answer = parts.finish(self._plan)
        except RankscopeError as error:
            raise self._place(error) from None
        self.notes += notes
        return answer

    def _spill(self, opened: TableFile, memory: Memory) -> CoreEvaluation:
        parts = RunParts(self._judgments)

        def push(rows: Any, to: RunParts = parts) -> None:  # noqa: ANN401 - of PyArrow
            columns, numbers = columns_of(rows, file).retrieved(), to_array(rows.column(NUMBER))
            to.push(self._plan, columns, self._reading.threads, numbers)

        def check(rows: Any) -> None:  # noqa: ANN401 - as above
            with rows_of_file(rows):
                push(rows, RunParts(self._judgments))

        with opened as file:
            progress = self._reading.progress
            evaluate_parts(number(file), file, memory, push=push, check=check, progress=progress)
            self.notes += file.notes
        try:
            return parts.finish(self._plan)
        except RankscopeError as error:
            raise self._place(error) from None

    def _place(self, error: RankscopeError) -> RankscopeError:
        error.file = self._given.name
        return error

"""Evaluates runs in files of columns, such as Parquet or CSV, without holding all of their rows."""

from __future__ import annotations

from rankscope._core import RunParts, SpilledColumns
from rankscope.engine.batches import (
    count_rows_at_once,
    evaluate_parts,
    push_batches,
    whole_queries,
)
from rankscope.engine.memory import SpillNotice
from rankscope.errors import InputError, RankscopeError
from rankscope.inputs import tables
from rankscope.inputs.reading import open_retrieved, rank_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Judgments, Plan
    from rankscope.engine.memory import Memory, Room
    from rankscope.inputs.files.table import TableFile
    from rankscope.inputs.recognition import Input
    from rankscope.typing import Progress

    Note = tuple[str, int, int]


class ColumnRun:
    """A run in files of columns, beside the plan of its evaluation.

    Args:
        given: The run.
        judgments: The judgments.
        plan: What to evaluate.
        ties: What decides between equal scores.
        duplicates: What to do with a document that occurs twice in a query.
        score_type: How scores are compared.
        columns: By role, the names of columns that are given.
        encoding: How text is encoded.
        threads: How many threads to use.
        watch: A function that is called with the bytes read so far.
    """

    def __init__(
        self,
        given: Input,
        judgments: Judgments,
        plan: Plan,
        *,
        ties: str,
        duplicates: str,
        score_type: str,
        columns: Mapping[str, str],
        encoding: str,
        threads: int,
        watch: Callable[[int], None] | None,
    ) -> None:
        self._given = given
        self._judgments = judgments
        self._plan = plan
        self._ties = ties
        self._duplicates = duplicates
        self._score_type = score_type
        self._columns = columns
        self._encoding = encoding
        self._threads = threads
        self._watch = watch
        self.notes: list[Note] = []
        """Code, count and first line of what was suspicious but legal in the files."""

    def evaluate(self, room: Room, progress: Progress) -> CoreEvaluation:
        """Evaluate the run: while reading it, in memory, or in parts on disk.

        Rows that take little memory are held. Others are evaluated while they are read. If rows
        of a query aren't contiguous, all rows are held, or written to temporary files where they
        exceed the memory limit. All ways give the same values, notes and errors.
        """
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
        if file.exceeds(room.memory.limit):
            return self._spill(file, room.memory, progress)
        return self._hold(file)

    def _open(self) -> TableFile:
        return open_retrieved(
            self._given, self._columns, encoding=self._encoding, progress=self._watch
        )

    def _hold(self, source: TableFile | None = None) -> CoreEvaluation:
        ranked = rank_run(
            self._judgments,
            self._given,
            ties=self._ties,
            duplicates=self._duplicates,
            encoding=self._encoding,
            score_type=self._score_type,
            columns=self._columns,
            threads=self._threads,
            notes=self.notes,
            progress=self._watch,
            source=source,
        )
        try:
            return ranked.evaluate(self._plan, self._threads)
        except RankscopeError as error:
            raise self._place(error) from None

    def _stream(self, rows_at_once: int) -> CoreEvaluation | None:
        """Evaluate the run while reading it; `None` if rows aren't contiguous, or invalid.

        The first mistake of a run is known when all of it was read, so others look for it.
        """
        parts = RunParts(self._judgments)
        with self._open() as file:
            names = file.columns
            for table in whole_queries(file, names.get("query"), rows_at_once):
                try:
                    columns = tables.read_retrieved(table, names)
                    is_new = parts.push(self._plan, columns, self._threads)
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

    def _spill(self, opened: TableFile, memory: Memory, progress: Progress) -> CoreEvaluation:
        with opened as file:
            names = file.columns
            expected = file.estimate_memory() or None
            spilled = SpilledColumns(self._judgments, memory.folder, memory.limit, expected)
            notice = SpillNotice(file.name, memory)
            push_batches(
                file,
                lambda table: tables.read_retrieved(table, names),
                spilled.push,
                spilled,
                notice,
            )
            self.notes += file.notes
            try:
                evaluate_parts(
                    spilled,
                    lambda: spilled.evaluate_next(self._plan, self._threads),
                    notice,
                    progress,
                )
                spilled.check()
            except RankscopeError as error:
                raise file.place(error) from None
        try:
            return spilled.finish(self._plan)
        except RankscopeError as error:
            raise self._place(error) from None

    def _place(self, error: RankscopeError) -> RankscopeError:
        error.file = self._given.name
        return error

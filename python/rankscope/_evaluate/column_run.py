"""Evaluates a run in columns: at once, while it is read, or in parts on disk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rankscope._core import RunParts
from rankscope._evaluate.memory import Memory
from rankscope._evaluate.partitions import NUMBER, rows_of_file
from rankscope._evaluate.streaming import evaluate_file
from rankscope._inputs.arrow import to_array
from rankscope._inputs.rows import columns_of, read_whole
from rankscope._inputs.tabular import open_retrieved
from rankscope.errors import InputError, RankscopeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Judgments, Plan
    from rankscope._inputs.reading import Note, Tell
    from rankscope._inputs.recognition import Input
    from rankscope._inputs.table_files import TableFile
    from rankscope.settings.reading import Reading


class RunEvaluator:
    """Evaluates the rows of a run."""

    def __init__(self, file: TableFile, judgments: Judgments, plan: Plan, threads: int) -> None:
        self._file, self._arguments = file, (judgments, plan, threads)
        self._parts = RunParts(judgments)

    def push(self, rows: Any) -> bool:  # noqa: ANN401 - of PyArrow
        """Evaluate all rows of some queries; return whether none of the queries came before."""
        _, plan, threads = self._arguments
        is_part = NUMBER in rows.column_names
        numbers = to_array(rows.column(NUMBER)) if is_part else None
        try:
            columns = columns_of(rows, self._file).retrieved()
            return self._parts.push(plan, columns, threads, numbers)
        except InputError:
            if is_part:
                raise
            return False  # the first mistake of a run is known when all of it was read

    def check(self, rows: Any) -> None:  # noqa: ANN401 - as above
        """Evaluate rows alone, to find the first mistake in them."""
        with rows_of_file(rows):
            RunEvaluator(self._file, *self._arguments).push(rows)

    def hold(self) -> None:
        """Evaluate all rows of the file at once."""
        _, plan, threads = self._arguments
        with read_whole(self._file) as rows:
            self._parts.push(plan, rows.retrieved(), threads, None)

    def finish(self, _: object = None) -> tuple[CoreEvaluation, list[Note], Mapping[str, str]]:
        """Return the evaluation, what was noticed, and the columns with usual names."""
        try:
            made = self._parts.finish(self._arguments[1])
            return made, self._file.notes, self._file.describe_ids().usual
        except RankscopeError as error:
            error.file = self._file.name
            raise


def evaluate_columns(
    judgments: Judgments, plan: Plan, given: Input, reading: Reading, tell: Tell
) -> tuple[CoreEvaluation, list[Note], Mapping[str, str]]:
    """Evaluate a run in columns of memory or of files, such as Parquet or CSV."""
    open_file = partial(open_retrieved, given, reading, tell)
    begin = partial(RunEvaluator, judgments=judgments, plan=plan, threads=reading.threads)
    if given.is_in_files:
        memory = Memory(reading.memory, reading.spill_folder)
        found = evaluate_file(open_file, begin, memory, reading.progress, is_once=given.is_once)
        if isinstance(found, tuple):
            return found
    else:
        found = open_file()
    evaluator = begin(found)
    evaluator.hold()
    return evaluator.finish()

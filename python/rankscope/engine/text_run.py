"""Evaluates a run in TREC format: while it is read, in memory, or in parts on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope._core import Run, RunParts, RunText, evaluate_run
from rankscope.engine.memory import SHARE_HELD, Room
from rankscope.errors import RankscopeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from rankscope._core import Column, Judgments, Plan
    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._inputs.reading import Tell
    from rankscope._inputs.recognition import Input
    from rankscope.engine.memory import Memory
    from rankscope.settings.reading import Reading

AT_ONCE = 1 << 22
"""So many bytes of rows are taken at once."""


def evaluate_text(
    judgments: Judgments, plan: Plan, given: Input, reading: Reading, tell: Tell
) -> CoreEvaluation:
    """Evaluate a run whose rows come in any order; all ways give the same values and errors."""
    room = Room(reading.memory, reading.spill_folder)
    with given.opened() as source:
        text = RunText(source, reading.encoding, plan)
        answer = text.evaluate(judgments, reading.threads, tell)
        if answer is not None:
            return answer
        if text.read(room.unasked, tell) and text.read(room.memory.limit // SHARE_HELD, tell):
            rows = TextRows(text, given.name, tell)
            return _evaluate_parts(judgments, plan, rows, reading, room.memory)
        return evaluate_run(judgments, plan, text.finish(), reading.threads)


def _evaluate_parts(
    judgments: Judgments, plan: Plan, rows: TextRows, reading: Reading, memory: Memory
) -> CoreEvaluation:
    from rankscope._inputs.arrow import join, to_array  # noqa: PLC0415 - only what exceeds memory
    from rankscope._inputs.columns import texts_of  # noqa: PLC0415 - needs PyArrow
    from rankscope.engine.partitions import NUMBER, evaluate_parts  # noqa: PLC0415

    parts, threads = RunParts(judgments), reading.threads

    def columns_of(part: Any) -> Any:  # noqa: ANN401 - of PyArrow
        query, doc = (texts_of(join(part.column(role))) for role in ("query", "doc"))
        return query, doc, to_array(part.column("score")), False

    def push(part: Any) -> None:  # noqa: ANN401 - as above
        parts.push(plan, columns_of(part), threads, to_array(part.column(NUMBER)))

    def check(part: Any) -> None:  # noqa: ANN401 - as above
        # The first mistake of a run is that of its first line.
        lines = to_array(part.column(NUMBER))
        run = Run.from_columns(columns_of(part), reading.scores_as, lines)
        evaluate_run(judgments, plan, run, threads)

    evaluate_parts(rows, rows, memory, push=push, check=check, progress=reading.progress)
    try:
        return rows.text.finish_parts(parts)
    except RankscopeError as error:
        raise rows.place(error) from None


class TextRows:
    """The rows of a run of which the first were read, as a table with the numbers of lines."""

    columns = {"query": "query", "doc": "doc", "score": "score"}  # noqa: RUF012 - never changed

    def __init__(self, text: RunText, name: str, tell: Tell) -> None:
        self.name = name
        self.text, self._tell = text, tell

    def __iter__(self) -> Iterator[Any]:
        from rankscope.deferred import pa  # noqa: PLC0415 - as above
        from rankscope.engine.partitions import NUMBER  # noqa: PLC0415 - as above

        def texts(column: tuple[Column, Column]) -> Any:  # noqa: ANN401 - as above
            return pa.LargeStringArray.from_buffers(count, *map(pa.py_buffer, column))

        def numbers(column: Column, kind: Any) -> Any:  # noqa: ANN401 - as above
            return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(column)])

        has_more = True
        while True:
            queries, docs, scores, lines = self.text.take_rows()
            count = memoryview(lines).nbytes // 8
            columns = {"query": texts(queries), "doc": texts(docs)}
            columns["score"] = numbers(scores, pa.float64())
            columns[NUMBER] = numbers(lines, pa.int64())
            yield pa.record_batch(columns)
            if not has_more:
                return
            has_more = self.text.read(AT_ONCE, self._tell)

    def estimate_memory(self) -> int:
        """Return 0: nobody knows how many rows there are."""
        return 0

    def place(self, error: RankscopeError) -> RankscopeError:
        """Name the run in an error."""
        error.file = self.text.name
        return error

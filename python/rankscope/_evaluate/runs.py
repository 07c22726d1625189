"""Evaluates a run of any kind and size: in memory, while it is read, or in parts on disk."""

from __future__ import annotations

from rankscope._core import Run, RunParts, RunText, evaluate_dict, evaluate_run
from rankscope._evaluate.memory import SHARE_HELD, Memory
from rankscope._inputs.reading import rank_run, read_run
from rankscope._inputs.recognition import find_stream, recognise
from rankscope.errors import RankscopeError
from rankscope.output.progress import watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from rankscope._core import Column, Judgments, Plan, Rankings
    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._inputs.reading import Note, Tell
    from rankscope._inputs.recognition import Input
    from rankscope.measures import Measure
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike

AT_ONCE = 1 << 22
"""So many bytes of rows of text are taken at once."""


def evaluate_input(
    judgments: Judgments,
    run: InputLike,
    plan: Plan,
    ties: str,
    reading: Reading,
    *,
    measures: Sequence[Measure],
) -> tuple[CoreEvaluation, str, list[Note], Mapping[str, str]]:
    """Evaluate a run, which is held in memory or read as it comes.

    Also returns its name, code, count and first line of what was suspicious but legal, and by role
    the columns that were found by their usual names, unless it is held.

    Raises:
        UsageError: There is a memory limit, and all rows are held in memory.
    """
    given = recognise(run, "run", reading.columns)
    is_held = any(each.row.of_items or each.row.of_rows for each in measures)
    is_held = is_held or (reading.ignore_same and given.kind != "table")
    if not is_held:
        given = find_stream(given)
    if is_held and given.is_in_files:
        reading.refuse_limits(
            "a function, measures of items or ignore_same, which need all rows in memory"
        )
    elif not given.is_in_files:
        reading.refuse_limits("a run in memory, which needs all rows there")
    notes: list[Note] = []
    usual: Mapping[str, str] = {}
    with watch(given.name, given.find_size, reading.progress) as tell:
        if is_held:
            ranked = rank_run(judgments, given, ties, reading, notes=notes, tell=tell)
            answer = evaluate_held(ranked, plan, measures, reading.threads)
        elif given.kind == "table":
            from rankscope._evaluate.column_run import evaluate_columns  # noqa: PLC0415 - needs PyArrow

            answer, notes, usual = evaluate_columns(judgments, plan, given, reading, tell)
        elif given.kind == "mapping":
            answer = evaluate_dict(judgments, plan, given.value)
        elif given.is_in_files:
            answer = evaluate_text(judgments, plan, given, reading, tell)
        else:
            answer = evaluate_run(judgments, plan, read_run(given, reading), reading.threads)
    return answer, given.name, notes, usual


def evaluate_held(
    ranked: Rankings, plan: Plan, measures: Sequence[Measure], threads: int
) -> CoreEvaluation:
    """Evaluate rankings in memory."""
    if not any(each.row.of_rows for each in measures):
        return ranked.evaluate(plan, threads)
    from rankscope.measures.function import evaluate_rows  # noqa: PLC0415 - the module is loaded

    return evaluate_rows(ranked, plan)


def evaluate_text(
    judgments: Judgments, plan: Plan, given: Input, reading: Reading, tell: Tell
) -> CoreEvaluation:
    """Evaluate a run in TREC format whose rows come in any order."""
    memory = Memory(reading.memory, reading.spill_folder)
    with given.opened() as source:
        text = RunText(source, reading.encoding, plan)
        answer = text.evaluate(judgments, reading.threads, tell)
        if answer is not None:
            return answer
        if text.read(memory.harmless, tell) and text.read(memory.limit // SHARE_HELD, tell):
            from rankscope._evaluate.partitions import evaluate_parts  # noqa: PLC0415 - as above

            rows = TextRows(text, judgments, plan, reading, tell)
            evaluate_parts(rows, rows, rows, memory, reading.progress)
            return rows.finish()
        return evaluate_run(judgments, plan, text.finish(), reading.threads)


class TextRows:
    """The rows of a run of which the first were read, as a table with the numbers of lines."""

    columns = {"query": "query", "doc": "doc", "score": "score"}  # noqa: RUF012 - never changed

    def __init__(
        self, text: RunText, judgments: Judgments, plan: Plan, reading: Reading, tell: Tell
    ) -> None:
        self.name = text.name
        self._text, self._tell, self._reading = text, tell, reading
        self._judgments, self._plan, self._parts = judgments, plan, RunParts(judgments)

    def __iter__(self) -> Iterator[Any]:
        from rankscope._evaluate.partitions import NUMBER  # noqa: PLC0415 - as above
        from rankscope.deferred import pa  # noqa: PLC0415 - as above

        def texts(column: tuple[Column, Column]) -> Any:  # noqa: ANN401 - of PyArrow
            return pa.LargeStringArray.from_buffers(count, *map(pa.py_buffer, column))

        def numbers(column: Column, kind: Any) -> Any:  # noqa: ANN401 - as above
            return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(column)])

        has_more = True
        while True:
            queries, docs, scores, lines = self._text.take_rows()
            count = memoryview(lines).nbytes // 8
            columns = {"query": texts(queries), "doc": texts(docs)}
            columns["score"] = numbers(scores, pa.float64())
            columns[NUMBER] = numbers(lines, pa.int64())
            yield pa.table(columns)
            if not has_more:
                return
            has_more = self._text.read(AT_ONCE, self._tell)

    def estimate_memory(self) -> int:
        """Return 0: nobody knows how many rows there are."""
        return 0

    def push(self, rows: Any) -> bool:  # noqa: ANN401 - as above
        """Evaluate all rows of some queries, beside those before."""
        columns, lines = _columns_of(rows)
        return self._parts.push(self._plan, columns, self._reading.threads, lines)

    def check(self, rows: Any) -> None:  # noqa: ANN401 - as above
        """Evaluate rows alone: the first mistake of a run is that of its first line."""
        columns, lines = _columns_of(rows)
        run = Run.from_columns(columns, self._reading.scores_as, lines)
        evaluate_run(self._judgments, self._plan, run, self._reading.threads)

    def finish(self) -> CoreEvaluation:
        """Return the evaluation of all rows."""
        try:
            return self._text.finish_parts(self._parts)
        except RankscopeError as error:
            raise self.place(error) from None

    def place(self, error: RankscopeError) -> RankscopeError:
        """Name the run in an error."""
        error.file = self.name
        return error


def _columns_of(rows: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as above
    """Return the columns that the core reads, and the numbers of their lines."""
    from rankscope._evaluate.partitions import NUMBER  # noqa: PLC0415 - as above
    from rankscope._inputs.arrow import join, to_array  # noqa: PLC0415 - as above
    from rankscope._inputs.columns import texts_of  # noqa: PLC0415 - as above

    query, doc = (texts_of(join(rows.column(role))) for role in ("query", "doc"))
    return (query, doc, to_array(rows.column("score")), False, None), to_array(rows.column(NUMBER))

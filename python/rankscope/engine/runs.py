"""Evaluates a run of any kind and size: in memory, while it is read, or in parts on disk."""

from __future__ import annotations

from rankscope._core import evaluate_dict, evaluate_run
from rankscope._inputs.reading import rank_run, read_run
from rankscope._inputs.recognition import find_stream, recognise
from rankscope.engine.progress import watch
from rankscope.engine.text_run import evaluate_text
from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Judgments, Plan
    from rankscope._inputs.reading import Note
    from rankscope._inputs.recognition import Input
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike


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
        if given.kind == "table":
            from rankscope.engine.column_run import ColumnRun  # noqa: PLC0415 - needs PyArrow

            run = ColumnRun(given, judgments, plan, reading, tell=tell)
            return run.evaluate(), run.notes
        if given.kind == "mapping":
            return evaluate_dict(judgments, plan, given.value), notes
        if not given.is_in_files:
            return evaluate_run(judgments, plan, read_run(given, reading), reading.threads), notes
        return evaluate_text(judgments, plan, given, reading, tell), notes

"""Reads the lists of a run of any kind into memory, without judgments."""

from __future__ import annotations

from rankscope.engine.requests import read_columns
from rankscope.errors import UsageError
from rankscope.evaluation.rankings import Rankings
from rankscope.fusion.run import FusedRun
from rankscope.inputs.reading import read_lists
from rankscope.inputs.recognition import recognise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope._core import Rankings as CoreRankings
    from rankscope._core import Run
    from rankscope.output.ids import SourceIds
    from rankscope.typing import InputLike


def read_run_lists(
    run: InputLike | Rankings,
    columns: Mapping[str, str] | None,
    *,
    score_type: str,
    encoding: str,
) -> tuple[Run | CoreRankings, SourceIds]:
    """Return the lists of a run, and the columns of its ids."""
    if isinstance(run, FusedRun) and score_type == "float64":
        return run.core, run.source
    if isinstance(run, Rankings):
        if not run.has_doc_ids:
            raise UsageError(
                "expected rankings whose documents have ids, found rankings without",
                hint="pass a column of documents where the rankings are made",
                code="ids_needed",
            )
        return run._core, run.source  # noqa: SLF001 - rankings are made of it
    named = read_columns(columns)
    return read_lists(
        recognise(run, "run", named),
        columns=named,
        score_type=score_type,
        encoding=encoding,
    )

"""Reads judgments, with what the measures need of them."""

from __future__ import annotations

from rankscope.engine.progress import watch
from rankscope.engine.requests import (
    DUPLICATES,
    ENCODINGS,
    find_second,
    read_columns,
    refuse_one_stdin_for_both,
)
from rankscope.inputs.qrels import Qrels
from rankscope.inputs.reading import read_judgments
from rankscope.inputs.recognition import recognise
from rankscope.settings.policy import check_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankscope.engine.requests import Measures
    from rankscope.typing import InputLike, Progress, Second


def load_qrels(
    given: InputLike,
    *,
    duplicates: str,
    encoding: str,
    columns: Mapping[str, str] | None = None,
    second: Second = "",
    progress: Progress = None,
) -> Qrels:
    """Read judgments."""
    check_choice("duplicates", duplicates, DUPLICATES)
    check_choice("encoding", encoding, ENCODINGS)
    named = read_columns(columns)
    found = recognise(given, "qrels", named)
    notes: list[tuple[str, int, int]] = []
    with watch(found, progress) as told:
        judgments, source = read_judgments(
            found,
            duplicates=duplicates,
            encoding=encoding,
            columns=named,
            notes=notes,
            second=second,
            progress=told,
        )
    return Qrels(judgments, found.name, duplicates, tuple(notes), source)


def load_qrels_for(
    qrels: InputLike | Qrels,
    runs: Iterable[InputLike],
    measures: Measures,
    *,
    columns: Mapping[str, str] | None,
    duplicates: str,
    encoding: str,
    subtopics: bool | None = None,
    progress: Progress = None,
) -> Qrels:
    """Read judgments with what measures need of them, unless they were read before."""
    if isinstance(qrels, Qrels):
        return qrels
    for run in runs:
        refuse_one_stdin_for_both(qrels, run)
    return load_qrels(
        qrels,
        columns=columns,
        second=find_second(measures, subtopics=subtopics),
        duplicates=duplicates,
        encoding=encoding,
        progress=progress,
    )

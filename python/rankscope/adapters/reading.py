"""Reads judgments and runs into the core, whatever they come as."""

from __future__ import annotations

from rankscope import _core
from rankscope.adapters.tables import read_judged, read_retrieved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from rankscope.adapters.inputs import Input

    Progress: TypeAlias = Callable[[int], None] | None


def read_judgments(
    given: Input,
    *,
    duplicates: str,
    encoding: str,
    columns: Mapping[str, str],
    progress: Progress = None,
) -> _core.Judgments:
    """Read judgments.

    Raises:
        InputError: They are not of the format.
        FileError: The file cannot be read.
    """
    if given.kind == "file":
        return _core.Judgments.from_path(given.source, encoding, duplicates, progress)
    if given.kind == "table":
        return _core.Judgments.from_columns(*read_judged(given.value, columns), duplicates)
    if given.kind == "mapping":
        return _core.Judgments.from_dict(given.value, duplicates)
    return _core.Judgments.from_rows(given.value, duplicates)


def read_run(
    given: Input, *, duplicates: str, encoding: str, score_type: str, progress: Progress = None
) -> _core.Run:
    """Read a run that is no table into memory.

    Raises:
        InputError: It is not of the format.
        FileError: The file cannot be read.
    """
    if given.kind == "file":
        return _core.Run.from_path(given.source, encoding, score_type, duplicates, progress)
    if given.kind == "mapping":
        return _core.Run.from_dict(given.value, score_type)
    return _core.Run.from_rows(given.value, score_type)


def rank_run(
    judgments: _core.Judgments,
    given: Input,
    *,
    ties: str,
    duplicates: str,
    encoding: str,
    score_type: str,
    columns: Mapping[str, str],
    threads: int,
) -> _core.Rankings:
    """Read a run into memory, join it with its judgments, and rank it.

    Raises:
        InputError: It is not of the format.
        FileError: The file cannot be read.
    """
    if given.kind == "table":
        retrieved = read_retrieved(given.value, columns)
        return _core.Rankings.from_pairs(
            judgments, *retrieved, ties, duplicates, score_type, threads
        )
    run = read_run(given, duplicates=duplicates, encoding=encoding, score_type=score_type)
    return _core.Rankings(judgments, run, ties, duplicates)

"""The runs to fuse: their names, their lists, and what errors say of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from os import PathLike

from rankscope._evaluate.evaluate import read_named_runs
from rankscope._evaluate.rankings import Rankings
from rankscope._inputs.files import list_runs
from rankscope._inputs.reading import read_lists
from rankscope._inputs.recognition import recognise, shorten_names
from rankscope.errors import EmptyError, InputError, UsageError
from rankscope.file import File
from rankscope.fusion.run import FusedRun
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import TypeAlias

    from rankscope._core import Rankings as CoreRankings
    from rankscope._core import Run
    from rankscope._inputs.reading import Note
    from rankscope.output.ids import SourceIds
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike

    Given: TypeAlias = Sequence[InputLike | Rankings] | Mapping[str, InputLike | Rankings]


def name_runs(runs: object) -> dict[str, InputLike | Rankings]:
    """Return the runs to fuse by their names."""
    named: Mapping[str, InputLike | Rankings] | None = None
    if isinstance(runs, str | PathLike | File):
        runs = list_runs(runs, are_several=True) or [runs]
    if isinstance(runs, Mapping):
        filled = {name: run for name, run in runs.items() if not _is_empty(run)}
        if len(filled) < len(runs) and (not filled or read_named_runs(filled) is not None):
            _refuse_empty(runs.items())
        named = read_named_runs(runs)
        if named is None and runs and all(hasattr(run, "has_doc_ids") for run in runs.values()):
            named = {str(name): run for name, run in runs.items()}
    elif isinstance(runs, list | tuple):
        paths = [path_of(run) for run in runs]
        if all(path is not None for path in paths) and len({*paths}) == len(paths):
            names = shorten_names([str(path) for path in paths])
        else:
            names = [_letter(place) for place in range(len(runs))]
        named = dict(zip(names, runs, strict=True))
        _refuse_empty(named.items())
    if named is None or len(named) < 2:
        found = "one" if named is None or named else "none"
        raise UsageError(
            f"expected at least two runs, found {found}",
            hint="pass a list of runs, or a mapping of names to runs: {'bm25': a, 'dense': b}; or "
            "write rankscope fuse a.run b.run",
            code="bad_parameter",
        )
    if [run for run in named.values() if path_of(run) == "-"][1:]:
        raise UsageError(
            "only one run can be read from standard input (-)",
            hint="write the other runs to files",
            code="stdin_twice",
        )
    return dict(named)


def _refuse_empty(named: Collection[tuple[object, object]]) -> None:
    """Refuse runs without queries."""
    for name, run in named:
        if len(named) > 1 and _is_empty(run):
            raise EmptyError(
                f"expected runs with queries, but {quote(name)} is empty",
                hint="remove it, or check where it is made",
                code="empty_input",
            )


def _is_empty(run: object) -> bool:
    return isinstance(run, Mapping | list | tuple) and not run


def path_of(run: object) -> str | None:
    """Return the path of a run in a file."""
    path = run.path if isinstance(run, File) else run
    return str(path) if isinstance(path, str | PathLike) else None


def _letter(place: int) -> str:
    """Return a, b, …, z, a2, b2, …."""
    round_of, letter = divmod(place, 26)
    return chr(ord("a") + letter) + (str(round_of + 1) if round_of else "")


@contextmanager
def explaining(name: str = "") -> Iterator[None]:
    """Let errors say which run they are about, and how to fix duplicates without an argument."""
    try:
        yield
    except InputError as error:
        place = error.file or ""
        if name and (place == "run" or place.startswith("run[")):
            error.file = name + place.removeprefix("run")
        if error.code == "duplicate_doc":
            error.hint = "keep one row for each document of a query"
        raise


def read_run_lists(
    run: InputLike | Rankings, reading: Reading, notes: list[Note]
) -> tuple[Run | CoreRankings, SourceIds]:
    """Return the lists of a run, and the columns of its ids."""
    if isinstance(run, FusedRun) and reading.scores_as == "float64" and not reading.ignore_same:
        return run.core, run.source
    if isinstance(run, Rankings):
        if not run.has_doc_ids:
            raise UsageError(
                "expected rankings whose documents have ids, found rankings without",
                hint="pass a column of documents where the rankings are made",
                code="ids_needed",
            )
        return run._core, run.source  # noqa: SLF001 - rankings are made of it
    return read_lists(recognise(run, "run", reading.columns), reading, notes)

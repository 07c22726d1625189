"""A run that was fused from others, and the runs that can be fused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, TypeAlias

from rankscope._core import Rankings as CoreRankings
from rankscope._core import Run
from rankscope._evaluate.evaluate import read_named_runs
from rankscope._evaluate.query_values import bad_parameter
from rankscope._evaluate.rankings import Rankings
from rankscope._file import COMPRESSIONS, File, tell_format
from rankscope._inputs.files import list_runs
from rankscope._inputs.reading import read_lists
from rankscope._inputs.recognition import recognise, shorten_names
from rankscope._inputs.run import RunInMemory, list_columns
from rankscope._names import as_dict, quote
from rankscope._settings import Reading
from rankscope._show.diagnostics import Diagnostic
from rankscope._show.table import SourceIds, show
from rankscope._writing import replacing
from rankscope.errors import EmptyError, InputError, UsageError
from rankscope.typing import InputLike

Runs: TypeAlias = Sequence[InputLike | Rankings] | Mapping[str, InputLike | Rankings]

if TYPE_CHECKING:
    from rankscope._inputs.reading import Note


AT_ONCE = 200
"""How many queries are written at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedRun(RunInMemory):
    """A run that was fused from others. `evaluate` and all other functions take it as a run.

    Args:
        names: The names of the runs.
        method: The method.
        parameters: Its parameter, if it has one.
        scale: How scores were scaled; empty for a method that goes by ranks.
        weights: The weight of each run.
        missing: For each run, the number of queries that others have and it doesn't.
        notes: The notes about the runs.
        source: The types of ids in the first run that has documents.
        core: The run in the core.

    Examples:
        >>> import rankscope as rs
        >>> words = {"q1": {"d1": 12.0, "d2": 9.0}}
        >>> vectors = {"q1": {"d2": 0.9, "d3": 0.7}}
        >>> fused = rs.fuse([words, vectors])
        >>> fused
        rrf(k=60) of a and b: 1 query, 3 documents
        >>> fused.to_dict()
        {'q1': {'d2': 0.03252247488101534, 'd1': 0.01639344262295082, 'd3': 0.016129032258064516}}
        >>> rs.evaluate({"q1": {"d2": 1}}, fused, "RR")["RR"]
        1.0
    """

    names: tuple[str, ...]
    method: str
    parameters: Mapping[str, float]
    scale: str
    weights: tuple[float, ...]
    missing: tuple[int, ...]
    notes: tuple[Diagnostic, ...]
    source: SourceIds
    core: Run

    @property
    def label(self) -> str:
        """The method with its parameter and scale, such as `rrf(k=60)`."""
        settings = [f"{name}={value:g}" for name, value in self.parameters.items()]
        if self.scale:
            settings.append(f"normalize={self.scale}")
        return f"{self.method}({', '.join(settings)})" if settings else self.method

    def write(self, path: str | os.PathLike[str], *, tag: str | None = None) -> None:
        """Write a run file in TREC format: query, `Q0`, document, rank, score, and a tag.

        Scores have as many digits as it takes to read the same numbers back.

        Args:
            path: The file, which is replaced as a whole.
            tag: The name of the run in the last column (default: the method).

        Raises:
            UsageError: The tag is empty or has blanks, or the name says another format.
            FileError: The file can't be written.
        """
        check_run_path(path)
        with replacing(path) as part, part.open("wb") as file:
            file.writelines(self.lines(tag=tag))

    def lines(self, *, tag: str | None = None) -> Iterator[bytes]:
        """Yield the lines of a run file in TREC format, many at a time; see `write`.

        Raises:
            UsageError: The tag is empty or has blanks.
        """
        word = self.method if tag is None else check_tag(tag)
        for first in range(0, self.queries, AT_ONCE):
            yield self.core.lines(first, first + AT_ONCE, word)

    def __reduce__(self) -> tuple[Callable[..., FusedRun], tuple[object, ...]]:
        fields = as_dict(self)
        del fields["core"]
        return _restore, (fields, *list_columns(self.core))

    def __repr__(self) -> str:
        *names, last = map(show, self.names)
        return self._describe(f"{self.label} of {', '.join(names)} and {last}")


def _restore(
    fields: Mapping[str, Any], queries: list[str], docs: list[str], scores: list[float]
) -> FusedRun:
    """Return a run that was pickled."""
    core = Run.from_rows(zip(queries, docs, scores, strict=True), "float64")
    return FusedRun(**fields, core=core)


def check_run_path(path: str | os.PathLike[str]) -> None:
    """Check that a run file is read as the text that it is."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(
            f"expected the path of a file to write, found {type(path).__name__}",
            hint="pass a path, such as fused.run",
            code="input_type",
        )
    name = os.fsdecode(path)
    is_compressed = name.lower().endswith(tuple(ending for ending, _, _ in COMPRESSIONS))
    # A TSV file without a header is read as TREC.
    if is_compressed or tell_format(name) not in {None, "trec", "tsv"}:
        raise UsageError(
            f"expected a name for text in TREC format that isn't compressed, found {quote(name)}",
            hint="name it fused.run, and compress it later; for other formats, write a data frame "
            "of what rs.fuse returns",
            code="bad_format",
        )


def check_tag(tag: str) -> str:
    """Return the tag of a run file."""
    if tag.split() != [tag] or not tag.isprintable():
        raise bad_parameter(
            f"expected a printable tag without blanks, found {quote(tag)}",
            "use one word, such as fused",
        )
    return tag


def name_runs(runs: object) -> dict[str, InputLike | Rankings]:
    """Return the runs to fuse by their names."""
    named: Mapping[str, InputLike | Rankings] | None = None
    if isinstance(runs, str | os.PathLike | File):
        runs = list_runs(runs, are_several=True) or [runs]
    if isinstance(runs, Mapping):
        filled = {name: run for name, run in runs.items() if not _is_empty(run)}
        if len(filled) < len(runs) and (not filled or read_named_runs(filled) is not None):
            _refuse_empty(runs)
        named = read_named_runs(runs)
        if named is None and runs and all(hasattr(run, "has_doc_ids") for run in runs.values()):
            named = {str(name): run for name, run in runs.items()}
    elif isinstance(runs, list | tuple):
        paths = [path for run in runs if (path := _find_path(run)) is not None]
        if len({*paths}) == len(runs):
            names = shorten_names(paths)
        else:  # a, b, …, z, a2, b2, …
            rounds = (divmod(place, 26) for place in range(len(runs)))
            names = [ascii_lowercase[letter] + str(n + 1) * (n > 0) for n, letter in rounds]
        named = dict(zip(names, runs, strict=True))
        _refuse_empty(named)
    if named is None or len(named) < 2:
        count = "one" if named is None or named else "none"
        raise bad_parameter(
            f"expected at least two runs, found {count}",
            "pass a list of runs, or a mapping of names to runs: {'bm25': a, 'dense': b}; or "
            "write rankscope fuse a.run b.run",
        )
    if [*map(_find_path, named.values())].count("-") > 1:
        raise UsageError(
            "only one run can be read from standard input (-)",
            hint="write the other runs to files",
            code="stdin_twice",
        )
    return dict(named)


def _refuse_empty(named: Mapping[Any, object]) -> None:
    """Refuse runs without queries."""
    for name, run in named.items():
        if len(named) > 1 and _is_empty(run):
            raise EmptyError(
                f"expected runs with queries, but {quote(name)} is empty",
                hint="remove it, or check where it is made",
                code="empty_input",
            )


def _is_empty(run: object) -> bool:
    return isinstance(run, Mapping | list | tuple) and not run


def _find_path(run: object) -> str | None:
    path = run.path if isinstance(run, File) else run
    return str(path) if isinstance(path, str | os.PathLike) else None


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

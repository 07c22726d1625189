"""Runs in memory: what `read_run` returns, and what it shares with fused runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

from rankscope._core import Run as CoreRun
from rankscope._inputs.reading import read_lists
from rankscope._inputs.recognition import recognise
from rankscope._settings import Reading
from rankscope._show import Tabular
from rankscope._show.diagnostics import Diagnostic, describe_note
from rankscope._show.progress import watch
from rankscope._show.table import SourceIds, show

if TYPE_CHECKING:
    from rankscope._inputs.reading import Note
    from rankscope._settings import ReadingOptions
    from rankscope._show.table import ColumnValues
    from rankscope.typing import InputLike


class RunInMemory(Tabular):
    """The lists of a run that the core holds."""

    __slots__ = ()
    core: CoreRun
    source: SourceIds
    notes: tuple[Diagnostic, ...]

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.core)

    @property
    def documents(self) -> int:
        """The number of documents in all lists."""
        return self.core.rows()

    def to_dict(self) -> dict[Any, dict[Any, float]]:
        """Return the score of each document by query, in the order of the run."""
        lists: dict[Any, dict[Any, Any]] = {}
        columns = self._tabulate().values()
        cells = (getattr(column, "tolist", lambda column=column: column)() for column in columns)
        for query, doc, score in zip(*cells, strict=True):
            lists.setdefault(query, {})[doc] = score
        return lists

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        queries, docs, scores = list_columns(self.core)
        return {
            "query_id": self.source.query.restore_column(queries),
            "doc_id": self.source.doc.restore_column(docs),
            "score": scores,
        }

    def _describe(self, name: str) -> str:
        """Return the name, the numbers of queries and documents, and the notes, on lines."""
        queries = "query" if self.queries == 1 else "queries"
        documents = f"{self.documents:,} document{'s' * (self.documents != 1)}"
        notes = (f"note: {show(str(note))}" for note in self.notes)
        return "\n".join([f"{name}: {self.queries:,} {queries}, {documents}", *notes])


def list_columns(core: CoreRun) -> tuple[list[str], list[str], list[float]]:
    """Return the query, the document and the score of each row of a run."""
    queries, codes, docs, scores = core.columns()
    texts = _split(*queries)
    of_rows = [texts[code] for code in memoryview(codes).cast("B").cast("q")]
    values: list[float] = memoryview(scores).cast("B").cast("d").tolist()  # type: ignore[assignment]  # doubles
    return of_rows, _split(*docs), values


def _split(ends: object, text: object) -> list[str]:
    """Return texts that are stored end to end."""
    places = memoryview(ends).cast("B").cast("q").tolist()  # type: ignore[arg-type]  # a column of the core
    whole = bytes(memoryview(text))  # type: ignore[arg-type]  # as above
    return [whole[start:end].decode(errors="replace") for start, end in pairwise(places)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(RunInMemory):
    """A run in memory, from `read_run`. `evaluate` and all other functions take it as a run.

    Args:
        name: The name of the run in messages.
        notes: The notes about the run.
        source: The types of ids as the caller has them.
        core: The run in the core.
    """

    name: str
    notes: tuple[Diagnostic, ...]
    source: SourceIds
    core: CoreRun

    def __repr__(self) -> str:
        return self._describe(show(self.name))

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.name, self.notes, self.source, *list_columns(self.core))


def _restore(
    name: str, notes: tuple[Diagnostic, ...], source: SourceIds, *columns: Iterable[object]
) -> Run:
    """Return a run that was pickled."""
    core = CoreRun.from_rows(zip(*columns, strict=True), "float64")
    return Run(name=name, notes=notes, source=source, core=core)


def read_run(run: InputLike, *, name: str | None = None, **options: Unpack[ReadingOptions]) -> Run:
    """Read a run once, to evaluate or compare it several times.

    Args:
        run: As in `evaluate`: one run, in a file, a table, a mapping, or rows.
        name: The name of the run in messages (default: the path, or `run`).
        **options: How it is read, as in `evaluate`.

    Returns:
        The run in memory, which all functions take as a run.

    Raises:
        InputError: The input doesn't hold a run.
        FileError: The file can't be read.

    Examples:
        >>> import rankscope as rs
        >>> run = read_run({"q1": {"d1": 0.9, "d2": 0.4}, "q2": ["d3"]}, name="bm25")
        >>> run
        bm25: 2 queries, 3 documents
        >>> rs.evaluate({"q1": {"d2": 1}}, run, "RR")["RR"]
        0.5
        >>> run.to_dict()["q1"]
        {'d1': 0.9, 'd2': 0.4}
    """
    reading = Reading.of("read_run", options)
    reading.refuse_limits("read_run, which reads all rows into memory")
    source = recognise(run, "run", reading.columns)
    notes: list[Note] = []
    with watch(source.name, source.find_size, reading.progress) as tell:
        core, ids = read_lists(source, reading, notes, tell)
    described = tuple(describe_note(note, {}, source.name) for note in notes)
    return Run(name=name or source.name, notes=described, source=ids, core=core)

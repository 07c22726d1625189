"""A run that was fused from others."""

from __future__ import annotations

import itertools

from rankscope._core import Run
from rankscope.errors import UsageError
from rankscope.file import COMPRESSIONS, tell_format
from rankscope.names import quote
from rankscope.output.exports import Tabular
from rankscope.output.text import show
from rankscope.records import as_dict, record
from rankscope.writing import replacing

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.exports import ColumnValues
    from rankscope.output.ids import SourceIds

AT_ONCE = 200
"""How many queries are written at a time."""


@record(frozen=True, slots=True, kw_only=True)
class FusedRun(Tabular):
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
    def queries(self) -> int:
        """The number of queries."""
        return len(self.core)

    @property
    def documents(self) -> int:
        """The number of documents in all lists."""
        return self.core.rows()

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

    def to_dict(self) -> dict[Any, dict[Any, float]]:
        """Return the score of each document by query, the best documents first."""
        lists: dict[Any, dict[Any, Any]] = {}
        columns = (
            column.tolist() if hasattr(column, "tolist") else column
            for column in self._tabulate().values()
        )
        for query, doc, score in zip(*columns, strict=True):
            lists.setdefault(query, {})[doc] = score
        return lists

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        queries, docs, scores = self._read_columns()
        return {
            "query_id": self.source.query.restore_column(queries),
            "doc_id": self.source.doc.restore_column(docs),
            "score": scores,
        }

    def _read_columns(self) -> tuple[list[str], list[str], list[float]]:
        """Return the query, the document and the score of each row."""
        (query_ends, query_text), codes, (doc_ends, doc_text), scores = self.core.columns()
        queries = _split(query_ends, query_text)
        of_rows = [queries[code] for code in memoryview(codes).cast("B").cast("q")]
        values: list[float] = memoryview(scores).cast("B").cast("d").tolist()  # type: ignore[assignment]  # doubles
        return of_rows, _split(doc_ends, doc_text), values

    def __reduce__(self) -> tuple[Callable[..., FusedRun], tuple[object, ...]]:
        fields = as_dict(self)
        del fields["core"]
        return _restore, (fields, *self._read_columns())

    def __repr__(self) -> str:
        names = [show(name) for name in self.names]
        line = (
            f"{self.label} of {', '.join(names[:-1])} and {names[-1]}: "
            f"{_count(self.queries, 'query', 'queries')}, "
            f"{_count(self.documents, 'document', 'documents')}"
        )
        return "\n".join([line, *(f"note: {show(str(note))}" for note in self.notes)])


def _restore(
    fields: Mapping[str, Any], queries: list[str], docs: list[str], scores: list[float]
) -> FusedRun:
    """Return a run that was pickled."""
    core = Run.from_rows(zip(queries, docs, scores, strict=True), "float64")
    return FusedRun(**fields, core=core)


def check_run_path(path: str | os.PathLike[str]) -> None:
    """Check that a run file is read as the text that it is."""
    import os  # noqa: PLC0415 - only where a file is written

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
        raise UsageError(
            f"expected a printable tag without blanks, found {quote(tag)}",
            hint="use one word, such as fused",
            code="bad_parameter",
        )
    return tag


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _split(ends: object, text: object) -> list[str]:
    """Return texts that are stored end to end."""
    places = memoryview(ends).cast("B").cast("q").tolist()  # type: ignore[arg-type]  # a column of the core
    whole = bytes(memoryview(text))  # type: ignore[arg-type]  # as above
    return [whole[start:end].decode(errors="replace") for start, end in itertools.pairwise(places)]

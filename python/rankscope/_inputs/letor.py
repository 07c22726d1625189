"""Read the labels of a learning-to-rank data set, alone or with the scores of a ranker."""

from __future__ import annotations

import os

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.letor_file import find_sizes, read_numbers_of
from rankscope._inputs.recognition import recognise
from rankscope._inputs.roles import Wanted
from rankscope._inputs.table_files import TableFile
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError
from rankscope.file import File
from rankscope.records import record
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from numpy.typing import NDArray

    from rankscope._inputs.files import Progress
    from rankscope.typing import Path


@record(frozen=True, slots=True)
class Letor:
    """The labels of a learning-to-rank data set, one query after another.

    Args:
        relevance: The grade of each row, shape (rows,).
        group_sizes: The number of rows of each query, shape (queries,).
        query_ids: The ids of the queries.
        doc_ids: The document of each row, if comments name it.
    """

    relevance: NDArray[np.float64]
    group_sizes: NDArray[np.int64]
    query_ids: list[str]
    doc_ids: list[str] | None


def read_letor(path: Path | bytes, *, encoding: Literal["utf-8", "latin-1"] = "utf-8") -> Letor:
    r"""Read labels and queries of SVMlight text, such as LETOR, LightGBM and RankLib read.

    Args:
        path: A file, or its bytes, of rows such as `2 qid:7 1:0.5 2:0.25 # docid = d1`, which can
            be compressed. Features are skipped. If rows have no `qid:`, a file with the same name
            plus `.query` or `.group` must give the number of rows of each query.
        encoding: The encoding of the file.

    Returns:
        The arguments of `Rankings.from_groups`, except the scores of a ranker.

    Raises:
        InputError: The file doesn't have the format, or the rows of a query aren't contiguous.
        FileError: The file can't be read.

    Examples:
        >>> from rankscope import Rankings
        >>> letor = read_letor(b"2 qid:7 1:0.5\n0 qid:7 1:0.1\n1 qid:8 1:0.3\n")
        >>> letor.query_ids, letor.group_sizes.tolist()
        (['7', '8'], [2, 1])
        >>> scores = [0.2, 0.9, 0.4]
        >>> Rankings.from_groups(letor.relevance, scores, letor.group_sizes).evaluate("RR")["RR"]
        0.75
    """
    given = path if isinstance(path, bytes) else os.fsdecode(path)
    with _open(given, Reading.read(encoding=encoding)) as table:
        rows = load_arrow().Table.from_batches(list(table), table.schema)
        if rows.num_rows == 0:
            raise EmptyError(
                "expected rows, found none",
                hint="is the file empty?",
                code="empty_input",
                file=table.name,
            )
        docs = table.columns.get("doc")
        relevance = np.asarray(rows.column(table.columns["relevance"]))
        doc_ids = None if docs is None else rows.column(docs).to_pylist()
        sizes = find_sizes(given) if isinstance(given, str) else None
        if sizes is not None:
            return Letor(relevance, sizes, [str(number) for number in range(len(sizes))], doc_ids)
        coded = rows.column(table.columns["query"]).combine_chunks().dictionary_encode()
        codes = np.asarray(coded.indices)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        queries = coded.dictionary.to_pylist()
        if len(starts) > len(queries):
            # Codes are in first-seen order, so the first that is smaller has been closed.
            again = int(starts[np.flatnonzero(np.diff(codes[starts]) < 0)[0] + 1])
            file, line = table.find_line(again + 1)
            raise FormatError(
                f"expected the rows of a query together, found {queries[codes[again]]!r} again",
                hint="sort the rows by qid, or evaluate them as a table",
                code="query_returns",
                file=file,
                line=line,
            )
    return Letor(relevance, np.diff(starts, append=len(codes)), queries, doc_ids)


def read_scored(labels: str, scores: str, reading: Reading, progress: Progress = None) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Read the rows of SVMlight text, and one score per row, as a table of Arrow."""
    with _open(labels, reading, progress) as source:
        rows = load_arrow().Table.from_batches(list(source), source.schema)
    called = "<stdin>" if scores == "-" else scores
    numbers = read_numbers_of(scores, called, "score")
    if len(numbers) != rows.num_rows:
        raise FormatError(
            f"expected as many scores as {source.name} has rows, {rows.num_rows}; "
            f"found {len(numbers)}",
            hint="are these the scores of another file?",
            code="length_mismatch",
            file=called,
        )
    return rows.append_column("score", load_arrow().array(numbers))


def _open(given: str | bytes, reading: Reading, progress: Progress = None) -> TableFile:
    wanted = Wanted(dict.fromkeys(("query", "doc", "relevance")))
    return TableFile(recognise(File(given, "letor"), "<bytes>"), wanted, reading, progress)

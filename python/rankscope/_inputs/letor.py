"""Read the labels of a learning-to-rank data set, alone or with the scores of a ranker."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.columns import list_texts, to_arrow
from rankscope._inputs.letor_file import find_sizes, read_numbers_of
from rankscope._inputs.open_columns import open_columns
from rankscope._inputs.recognition import recognise
from rankscope._inputs.text import no_rows
from rankscope.deferred import pa
from rankscope.errors import FormatError
from rankscope.file import File
from rankscope.settings.reading import Reading

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any, Literal

    from numpy.typing import NDArray

    from rankscope._inputs.files import Progress
    from rankscope._inputs.open_columns import Columns
    from rankscope.typing import Path


ROLES = dict.fromkeys(("query", "doc", "relevance"))


@dataclass(frozen=True, slots=True)
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
    sizes = find_sizes(given) if isinstance(given, str) else None
    with _open(given, Reading.read(encoding=encoding)) as rows:
        relevance = rows.numbers("relevance")
        doc_ids = rows.texts("doc") if "doc" in rows.columns else None
        if not len(relevance):
            raise no_rows("rows")
        if sizes is not None:
            return Letor(relevance, sizes, [str(number) for number in range(len(sizes))], doc_ids)
        coded = to_arrow(rows.ids("query")).dictionary_encode()
        codes = np.asarray(coded.indices)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        queries = list_texts(rows.ids("query"))
        # Codes are in first-seen order, so the first that is smaller has been closed.
        for again in (np.flatnonzero(np.diff(codes[starts]) < 0)[:1] + 1).tolist():
            row = int(starts[again])
            raise FormatError(
                f"expected the rows of a query together, found {queries[row]!r} again",
                hint="sort the rows by qid, or evaluate them as a table",
                code="query_returns",
                line=row + 1,
            )
    query_ids = [queries[row] for row in starts.tolist()]
    return Letor(relevance, np.diff(starts, append=len(codes)), query_ids, doc_ids)


def read_scored(labels: str, scores: str, reading: Reading, progress: Progress = None) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Read the rows of SVMlight text, and one score per row, as a table of Arrow."""
    with _open(labels, reading, progress) as rows:
        columns = {name: rows.column(name) for name in rows.columns.values()}
        grades = rows.numbers("relevance")
    called = "<stdin>" if scores == "-" else scores
    numbers = read_numbers_of(scores, called, "score")
    if len(numbers) != len(grades):
        raise FormatError(
            f"expected as many scores as {rows.name} has rows, {len(grades)}; found {len(numbers)}",
            hint="are these the scores of another file?",
            code="length_mismatch",
            file=called,
        )
    return pa.table({**columns, "score": numbers})


def _open(
    data: str | bytes, reading: Reading, progress: Progress = None
) -> AbstractContextManager[Columns]:
    file = recognise(File(data, "letor"), "<bytes>")
    return open_columns(file, reading, ROLES, progress=progress)

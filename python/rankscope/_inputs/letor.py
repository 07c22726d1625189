"""Read the labels of a learning-to-rank data set, alone or with the scores of a ranker."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import to_array
from rankscope._inputs.columns import to_arrow
from rankscope._inputs.letor_file import find_sizes, read_numbers_of
from rankscope._inputs.recognition import recognise
from rankscope._inputs.rows import open_columns
from rankscope._inputs.text import no_rows
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError
from rankscope.file import File
from rankscope.settings.reading import Reading

if TYPE_CHECKING:
    from typing import Any, Literal

    from numpy.typing import NDArray

    from rankscope._inputs.files import Progress
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
    file, reading = recognise(File(given, "letor"), "<bytes>"), Reading.read(encoding=encoding)
    with open_columns(file, reading, ROLES) as rows:
        relevance = rows.numbers("relevance")
        doc_ids = rows.texts("doc") if "doc" in rows.columns else None
        if not len(relevance):
            raise no_rows("rows")
        if sizes is not None:
            return Letor(relevance, sizes, [str(number) for number in range(len(sizes))], doc_ids)
        runs = pc.run_end_encode(to_arrow(rows.ids("query")), run_end_type=pa.int64())
        ends, query_ids = to_array(runs.run_ends), runs.values.to_pylist()
        codes = to_array(runs.values.dictionary_encode().indices)
        for again in np.flatnonzero(codes != np.arange(len(codes)))[:1].tolist():
            message = f"expected the rows of a query together, found {query_ids[again]!r} again"
            hint, line = "sort the rows by qid, or evaluate them as a table", ends[again - 1] + 1
            raise FormatError(message, hint=hint, code="query_returns", line=int(line))
    return Letor(relevance, np.diff(ends, prepend=0), query_ids, doc_ids)


def read_scored(labels: str, scores: str, reading: Reading, progress: Progress = None) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Read the rows of SVMlight text, and one score per row, as a table of Arrow."""
    with open_columns(File(labels, "letor"), reading, ROLES, progress=progress) as rows:
        columns = {name: rows.column(name) for name in rows.columns.values()}
        grades = rows.numbers("relevance")
    given, called = ("<stdin>" if path == "-" else path for path in (labels, scores))
    numbers = read_numbers_of(scores, called, "score")
    if len(numbers) != len(grades):
        message = f"expected {len(grades)} scores, as {given} has rows, found {len(numbers)}"
        hint = "are these the scores of another file?"
        raise FormatError(message, hint=hint, code="length_mismatch", file=called)
    return pa.table({**columns, "score": numbers})

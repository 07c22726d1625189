"""Read the labels of a learning-to-rank data set."""

from __future__ import annotations

import os

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    import numpy as np
    from numpy.typing import NDArray

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
    from rankscope.inputs.files.groups import read_groups  # noqa: PLC0415 - loads PyArrow

    given = path if isinstance(path, bytes) else os.fsdecode(path)
    return Letor(*read_groups(given, encoding))

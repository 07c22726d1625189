"""Reads a whole SVMlight file as groups of rows."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.files.letor import find_sizes
from rankscope.inputs.files.table import open_batches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_groups(
    given: str | bytes, encoding: str
) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str], list[str] | None]:
    """Read grades, group sizes, queries, and the documents that comments name."""
    wanted = dict.fromkeys(("query", "doc", "relevance"))
    with open_batches(given, wanted=wanted, format="letor", encoding=encoding) as table:
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
            return relevance, sizes, [str(number) for number in range(len(sizes))], doc_ids
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
    return relevance, np.diff(starts, append=len(codes)), queries, doc_ids

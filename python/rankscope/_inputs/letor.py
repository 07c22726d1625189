"""SVMlight text: the labels of a learning-to-rank data set, alone or with scores of a ranker."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankscope._file import File
from rankscope._inputs.columns import to_array, to_arrow
from rankscope._inputs.files import Progress, open_file
from rankscope._inputs.numbers import Foreign
from rankscope._inputs.recognition import recognise
from rankscope._inputs.rows import open_columns
from rankscope._inputs.text import (
    Lines,
    Reader,
    Text,
    add_note,
    decode,
    no_rows,
    parse_numbers,
    read_blocks,
    read_lines,
)
from rankscope._settings import Reading
from rankscope.errors import FormatError, InputError
from rankscope.typing import Path

ROLES = dict.fromkeys(("query", "doc", "relevance"))
QUERY, DOC, RELEVANCE = "query_id", "doc_id", "relevance"
ROW = r"^[ \t]*(?P<relevance>[^ \t\r\n#]+)(?:[ \t]+qid:(?P<query_id>[^ \t\r\n#]+))?(?:[ \t\r\n]|$)"
DOC_COMMENT = r"#.*\b(?:docid|docno|doc_id)[ \t]*=[ \t]*(?P<doc>[^ \t\r\n]+)"
DOC_WORD = r"#[ \t]*(?P<doc>[^ \t\r\n]+)"
# A row without features, as lists of judgments have it: its comment begins with the document.
JUDGMENT = r"[ \t]*[^ \t#]+[ \t]+qid:[^ \t#]+[ \t]+#[ \t]*[^ \t\r\n]"
# What stands beside a file without `qid:` and says how many rows each query has.
SIDECARS = (".query", ".group")


class LetorFile(Reader):
    """An SVMlight file, as batches of queries, grades and, if comments name them, documents."""

    code = "row_shape"

    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names that its columns have here."""
        source = self.opened.source
        self._sizes = find_sizes(source) if isinstance(source, str) else None
        texts = (text for _, text in read_lines(self.opened))
        lines = (text for text in texts if text.strip() and not text.lstrip().startswith("#"))
        first = next(lines, "")
        has_docs = any(name in first.partition("#")[2] for name in ("docid", "docno", "doc_id"))
        self._doc = DOC_COMMENT if has_docs else DOC_WORD
        has_docs = has_docs or all(map(re.compile(JUDGMENT).match, chain([first], lines)))
        return [QUERY, RELEVANCE, *[DOC] * has_docs], {}

    def read_batches(self) -> Iterator[tuple[Foreign, Lines]]:
        """Read a batch from each block of lines."""
        rows = 0
        for block, line in read_blocks(Text(self.opened, self.notes)):
            whole = pa.array([decode(block, line)], pa.large_string())
            texts = pc.split_pattern(whole, "\n").flatten()
            is_row = pc.invert(pc.match_substring_regex(texts, r"^[ \t\r]*(#.*)?$"))
            places = line + np.flatnonzero(np.from_dlpack(is_row.cast("uint8")))
            comments = pc.and_not(pc.match_substring_regex(texts, r"^[ \t]*#"), is_row)
            if count := pc.sum(comments).as_py():
                add_note(self.notes, "comments", count, line + comments.index(True).as_py())
            try:
                batch = self._read(texts.filter(is_row), rows)
            except InputError as error:
                error.line = int(places[(error.line or 1) - 1])
                raise
            rows += batch.num_rows
            yield batch, Lines(line, lambda count, places=places: places[:count])  # type: ignore[misc]
        if self._sizes is not None and rows != int(self._sizes.sum()):
            counts = f"{rows} for groups of {int(self._sizes.sum())} in all"
            message = f"expected as many rows as the groups have, found {counts}"
            hint = "are these the sizes of another file?"
            raise FormatError(message, hint=hint, code="length_mismatch")

    def _read(self, rows: Foreign, before: int) -> Foreign:
        fields = pc.extract_regex(rows, ROW)
        is_wrong = fields.is_null()
        grades, queries = (fields.field(name) for name in (RELEVANCE, QUERY))
        if self._sizes is not None:
            places = np.arange(before, before + len(rows))
            numbers = np.cumsum(self._sizes).searchsorted(places, side="right")
            queries = pa.array(numbers.tolist(), pa.int64()).cast(pa.string())
        else:
            is_wrong = pc.or_kleene(is_wrong, pc.equal(queries, ""))
        columns = {QUERY: queries}
        if DOC in self.inner.names:
            comments = pc.extract_regex(rows, self._doc)
            columns[DOC] = comments.field("doc")
            is_wrong = pc.or_kleene(is_wrong, comments.is_null())
        if (wrong := is_wrong.index(True).as_py()) >= 0:
            raise FormatError(
                "expected a label, qid: and features, and a docid in the comment where the first "
                f"row has one, found {rows[wrong].as_py()!r:.120}",
                hint="write rows as: 2 qid:7 1:0.5 2:0.25 # docid = d1",
                code="row_shape" if fields[wrong].as_py() is None else "missing_id",
                line=wrong + 1,
            )
        columns[RELEVANCE] = parse_numbers(grades, RELEVANCE)
        return pa.RecordBatch.from_pydict(columns, self.inner)


def find_sizes(path: str) -> NDArray[np.int64] | None:
    """Read group sizes from the file beside the data, as LightGBM does."""
    for beside in filter(os.path.isfile, (f"{path}{end}" for end in SIDECARS)):
        sizes = read_numbers_of(beside, beside, "group size")
        if (sizes < 0).any() or (sizes != np.floor(sizes)).any():
            message = "expected group sizes that are whole numbers, 0 or more"
            hint = "a line says how many rows a query has"
            raise FormatError(message, hint=hint, code="group_sizes", file=beside)
        return sizes.astype(np.int64)
    return None


def read_numbers_of(source: str | bytes, name: str, role: str) -> NDArray[np.float64]:
    """Read a file with one number per line."""
    with open_file(source, name) as opened:
        cells = pa.array([text.strip() for _, text in read_lines(opened)], pa.string())
        if not len(cells):
            raise no_rows(f"a {role} a line")
        return to_array(parse_numbers(cells, role))


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
    source = path if isinstance(path, bytes) else os.fsdecode(path)
    sizes = find_sizes(source) if isinstance(source, str) else None
    file, reading = recognise(File(source, "letor"), "<bytes>"), Reading(encoding=encoding)
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
    file, beside = ("<stdin>" if path == "-" else path for path in (labels, scores))
    numbers = read_numbers_of(scores, beside, "score")
    if len(numbers) != len(grades):
        message = f"expected {len(grades)} scores, as {file} has rows, found {len(numbers)}"
        hint = "are these the scores of another file?"
        raise FormatError(message, hint=hint, code="length_mismatch", file=beside)
    return pa.table({**columns, "score": numbers})

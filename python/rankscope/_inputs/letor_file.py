"""SVMlight text with `qid:`, the learning-to-rank format: label, query, features, comment."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import to_array
from rankscope._inputs.columns import are_finite
from rankscope._inputs.files import open_file
from rankscope._inputs.text import (
    Lines,
    Reader,
    Text,
    add_note,
    decode,
    name_mistake,
    no_rows,
    read_blocks,
    read_lines,
)
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankscope._inputs.doubles import Foreign

QUERY, DOC, RELEVANCE = "query_id", "doc_id", "relevance"
ROW = r"^[ \t]*(?P<relevance>[^ \t\r\n#]+)(?:[ \t]+qid:(?P<query_id>[^ \t\r\n#]+))?(?:[ \t\r\n]|$)"
DOC_COMMENT = r"#.*\b(?:docid|docno|doc_id)[ \t]*=[ \t]*(?P<doc>[^ \t\r\n]+)"
DOC_WORD = r"#[ \t]*(?P<doc>[^ \t\r\n]+)"
JUDGMENT = r"[ \t]*[^ \t#]+[ \t]+qid:[^ \t#]+[ \t]+#[ \t]*[^ \t\r\n]"
"""A row without features, as lists of judgments have it: its comment begins with the document."""
SIDECARS = (".query", ".group")
"""What stands beside a file without `qid:` and says how many rows each query has."""


class LetorFile(Reader):
    """An SVMlight file, as batches of queries, grades and, if comments name them, documents."""

    code = "row_shape"

    def read_names(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names that its columns have here."""
        given = self.opened.given
        self._sizes = find_sizes(given) if isinstance(given, str) else None
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
            raise FormatError(
                f"expected as many rows as the groups have, found {rows} for groups of "
                f"{int(self._sizes.sum())} in all",
                hint="are these the sizes of another file?",
                code="length_mismatch",
            )

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
        made = {QUERY: queries}
        if DOC in self.inner.names:
            comments = pc.extract_regex(rows, self._doc)
            made[DOC] = comments.field("doc")
            is_wrong = pc.or_kleene(is_wrong, comments.is_null())
        if (wrong := is_wrong.index(True).as_py()) >= 0:
            raise FormatError(
                "expected a label, qid: and features, and a docid in the comment where the first "
                f"row has one, found {rows[wrong].as_py()!r:.120}",
                hint="write rows as: 2 qid:7 1:0.5 2:0.25 # docid = d1",
                code="row_shape" if fields[wrong].as_py() is None else "missing_id",
                line=wrong + 1,
            )
        made[RELEVANCE] = parse_numbers(grades, RELEVANCE)
        return pa.RecordBatch.from_pydict(made, self.inner)


def find_sizes(path: str) -> NDArray[np.int64] | None:
    """Read group sizes from the file beside the data, as LightGBM does."""
    for beside in filter(os.path.isfile, (f"{path}{end}" for end in SIDECARS)):
        sizes = read_numbers_of(beside, beside, "group size")
        if (sizes < 0).any() or (sizes != np.floor(sizes)).any():
            raise FormatError(
                "expected group sizes that are whole numbers, 0 or more",
                hint="a line says how many rows a query has",
                code="group_sizes",
                file=beside,
            )
        return sizes.astype(np.int64)
    return None


def read_numbers_of(given: str | bytes, name: str, role: str) -> NDArray[np.float64]:
    """Read a file with one number per line."""
    with open_file(given, name) as opened:
        cells = pa.array([text.strip() for _, text in read_lines(opened)], pa.string())
        if not len(cells):
            raise no_rows(f"a {role} a line")
        return to_array(parse_numbers(cells, role))


def parse_numbers(cells: Foreign, role: str) -> Foreign:
    """Read texts as finite numbers; an error has the row as its line."""
    with suppress(pa.ArrowInvalid):
        numbers = cells.cast(pa.float64())
        if are_finite(numbers):
            return numbers
    for row, text in enumerate(cells.to_pylist(), start=1):
        if text is not None and (error := name_mistake(text, role)) is not None:
            error.line = row
            raise error
    return pa.array(
        [None if text is None else float(text) for text in cells.to_pylist()], pa.float64()
    )

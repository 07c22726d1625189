"""SVMlight text with `qid:`, the learning-to-rank format: label, query, features, comment."""

from __future__ import annotations

import os

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.files.blocks import Blocks, Lines, add_note
from rankscope._inputs.files.cells import read_numbers
from rankscope._inputs.files.text_lines import read_numbers_of, split_lines
from rankscope.deferred import np
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.files.blocks import Block
    from rankscope._inputs.paths import OpenFile

    Read: TypeAlias = tuple[Any, tuple[int, FormatError] | None]

LONGEST_ROW = 1 << 20
QUERY, DOC, RELEVANCE = "query_id", "doc_id", "relevance"
ROW = r"^[ \t]*(?P<relevance>[^ \t\r\n#]+)(?:[ \t]+qid:(?P<query>[^ \t\r\n#]+))?(?:[ \t\r\n]|$)"
DOC_COMMENT = r"#.*\b(?:docid|docno|doc_id)[ \t]*=[ \t]*(?P<doc>[^ \t\r\n]+)"
SIDECARS = (".query", ".group")
"""What stands beside a file without `qid:` and says how many rows each query has."""


class LetorFile:
    """An SVMlight file, as batches of queries, grades and, if comments name them, documents.

    Args:
        opened: The file; its columns are called `query_id`, `doc_id`, `relevance`.

    Raises:
        InputError: Its first row is none.
    """

    def __init__(self, opened: OpenFile) -> None:
        self.name = opened.name
        blocks = Blocks(opened.read_text(), LONGEST_ROW)
        self.notes = blocks.notes
        self._pieces = iter(blocks)
        self._first = next(self._pieces, None)
        self._sizes = find_sizes(opened.given) if isinstance(opened.given, str) else None
        self._rows = 0
        arrow = load_arrow()
        kinds = {QUERY: arrow.large_string(), RELEVANCE: arrow.float64()}
        if self._first is not None and self._has_docs(self._first.text):
            kinds[DOC] = arrow.large_string()
        self.names = list(kinds)
        self.columns = opened.wanted.choose(self.names, {}, self.name)
        self.schema = arrow.schema((name, kinds[name]) for name in self.columns.values())

    def _has_docs(self, text: bytes) -> bool:
        head = text.partition(b"\n")[0].partition(b"#")[2]
        return any(word in head for word in (b"docid", b"docno", b"doc_id"))

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        if self._first is not None:
            yield from self._read(self._first)
        for block in self._pieces:
            yield from self._read(block)
        if self._sizes is not None and self._rows != int(self._sizes.sum()):
            raise FormatError(
                f"expected as many rows as the groups have, found {self._rows} for groups of "
                f"{int(self._sizes.sum())} in all",
                hint="are these the sizes of another file?",
                code="length_mismatch",
                file=self.name,
            )

    def _read(self, block: Block) -> Iterator[tuple[Any, Lines]]:
        arrow = load_arrow()
        compute = load_arrow("pyarrow.compute")
        rows = split_lines(block.text)
        fields = compute.extract_regex(rows, ROW)
        is_row = compute.is_valid(fields)
        lines = Lines(block.first_line)
        mistakes: list[tuple[int, FormatError]] = []
        if fields.null_count:
            mistakes += self._look_at_others(rows, is_row, block.first_line)
            rows, fields = rows.filter(is_row), fields.filter(is_row)
            lines = Lines(block.first_line, np.flatnonzero(np.asarray(is_row)))
        made = {}
        for name, read in (
            (QUERY, self._read_queries),
            (RELEVANCE, self._read_grades),
            (DOC, self._read_docs),
        ):
            if name in self.schema.names:
                made[name], mistake = read(fields, rows)
                if mistake is not None:
                    row, error = mistake
                    mistakes.append((lines.of_row(row), error))
        if mistakes:
            line, error = min(mistakes, key=lambda mistake: mistake[0])
            error.file, error.line = self.name, line
            raise error
        self._rows += len(rows)
        if len(rows):
            columns = [made[name] for name in self.schema.names]
            yield arrow.RecordBatch.from_arrays(columns, schema=self.schema), lines

    def _look_at_others(self, rows: Any, is_row: Any, line: int) -> list[tuple[int, FormatError]]:  # noqa: ANN401 - PyArrow has no types
        """Check that the other lines are blank or comments."""
        compute = load_arrow("pyarrow.compute")
        is_blank = compute.match_substring_regex(rows, r"^[ \t\r]*\n?$")
        is_comment = compute.match_substring_regex(rows, r"^[ \t]*#")
        is_known = compute.or_(compute.or_(is_blank, is_comment), is_row)
        for code, found in (("blank_lines", is_blank), ("comments", is_comment)):
            count = compute.sum(found).as_py()
            if count:
                add_note(self.notes, code, count, line + found.index(True).as_py())
        wrong = is_known.index(False).as_py()
        return [(line + wrong, _mistake("expected a label, qid: and features", "row_shape"))] * (
            wrong >= 0
        )

    def _read_queries(self, fields: Any, rows: Any) -> Read:  # noqa: ANN401 - as above
        arrow = load_arrow()
        compute = load_arrow("pyarrow.compute")
        if self._sizes is not None:
            places = np.arange(self._rows, self._rows + len(rows))
            numbers = np.cumsum(self._sizes).searchsorted(places, side="right")
            return arrow.array(numbers).cast(arrow.large_string()), None
        queries = fields.field("query")
        row = compute.equal(queries, "").index(True).as_py()
        if row >= 0:
            return None, (row, _mistake("expected qid: after the label, found none", "missing_id"))
        return queries.cast(arrow.large_string()), None

    def _read_grades(self, fields: Any, _: Any) -> Read:  # noqa: ANN401 - as above
        return read_numbers(fields.field("relevance"), "relevance")

    def _read_docs(self, _: Any, rows: Any) -> Read:  # noqa: ANN401 - as above
        compute = load_arrow("pyarrow.compute")
        found = compute.extract_regex(rows, DOC_COMMENT)
        if found.null_count:
            message = "expected docid = in the comment, as in the first row, found none"
            row = found.is_null().index(True).as_py()
            return None, (row, _mistake(message, "missing_id"))
        return found.field("doc").cast(load_arrow().large_string()), None


def _mistake(message: str, code: str) -> FormatError:
    return FormatError(message, hint="write rows as: 2 qid:7 1:0.5 2:0.25 # docid = d1", code=code)


def find_sizes(path: str) -> NDArray[np.int64] | None:
    """Read group sizes from the file beside the data, as LightGBM does."""
    beside = next((f"{path}{end}" for end in SIDECARS if os.path.isfile(f"{path}{end}")), None)  # noqa: PTH113 - pathlib loads slowly
    if beside is None:
        return None
    sizes = read_numbers_of(beside, beside, "group size")
    if (sizes < 0).any() or (sizes != np.floor(sizes)).any():
        raise FormatError(
            "expected group sizes that are whole numbers, 0 or more",
            hint="a line says how many rows a query has",
            code="group_sizes",
            file=beside,
        )
    return sizes.astype(np.int64)

"""Text without names of columns: one id or number a line, and tables that name none."""

from __future__ import annotations

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.files.blocks import Blocks
from rankscope._inputs.files.cells import read_numbers
from rankscope._inputs.paths import open_source, read_first_line, read_whole
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.recognition import Input

OLDEST = 100_000_000
"""The smallest whole number that is taken for seconds since 1970: of the year 1973."""
TABS = 4
BARS = 3

NAMES = {
    "history": "['user_id', 'item_id', 'rating', 'timestamp']",
    "qrels": "['user_id', 'item_id', 'rating', 'timestamp']",
    "items": "['item_id', 'title', 'genres']",
}
"""By argument, the columns of MovieLens."""


def read_lines(found: Input, encoding: str) -> list[str]:
    """Return the lines of a file of text, without blank ones."""
    given = "-" if found.source is None else found.source
    try:
        lines = read_whole(given, found.name, encoding).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FormatError(
            "expected lines of text in UTF-8, found other bytes",
            hint="say encoding='latin-1' or --encoding latin-1, or save it as UTF-8",
            code="not_utf8",
            file=found.name,
        ) from None
    for number, line in enumerate(lines, 1):
        if len(line.split()) > 1:
            raise FormatError(
                f"expected one ID in each line, found {len(line.split())} words",
                hint="say what it is: --format csv, or File(path, 'csv')",
                code="columns",
                file=found.name,
                line=number,
            )
    return [line.strip() for line in lines if line.strip()]


def refuse_unnamed_columns(found: Input, role: str) -> None:
    """Raise an error for a file of MovieLens that doesn't name its columns."""
    if found.kind != "file" or not isinstance(found.value, str):
        return
    line = read_first_line(found.value)
    tabs = line.split("\t")
    names = f"names={NAMES[role]}"
    if role == "qrels" and (len(tabs) != TABS or tabs[1] == "0"):
        return  # other lines of TREC can hold :: and |, and the second column is 0 in most
    if role != "qrels" and "::" in line:
        what, sign = "columns with :: between", "'::', engine='python'"
    elif role != "qrels" and line.count("|") >= BARS:
        what, sign, names = "columns with | between", "'|'", "header=None"
    elif len(tabs) == TABS and tabs[-1].isdecimal() and int(tabs[-1]) >= OLDEST:
        what, sign = "four columns with tabs between, the last of which is a time", r"'\t'"
    else:
        return
    named = ", and name its columns" if names == "header=None" else ""
    raise FormatError(
        f"expected a first line that names the columns, found {what}",
        hint=f"pass {role}=pandas.read_csv(path, sep={sign}, {names}, encoding='latin-1'){named}; "
        "or write that to a CSV file",
        code="columns",
        file=found.name,
        line=1,
    )


LONGEST_ROW = 4096


def split_lines(text: bytes) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Return the lines of text as an Arrow array that shares its memory."""
    arrow = load_arrow()
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n")) + 1
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    return arrow.StringArray.from_buffers(
        len(ends), arrow.py_buffer(offsets), arrow.py_buffer(text)
    )


def read_numbers_of(given: str | bytes, name: str, role: str) -> NDArray[np.float64]:
    """Read a file with one number per line."""
    compute = load_arrow("pyarrow.compute")
    parts = []
    with open_source(given, name) as source:
        for block in Blocks(source, LONGEST_ROW):
            rows = compute.utf8_trim(split_lines(block.text), characters=" \t\r\n")
            numbers, mistake = read_numbers(rows, role)
            if mistake is not None:
                row, error = mistake
                error.file, error.line = name, block.first_line + row
                raise error
            parts.append(np.asarray(numbers))
    if not parts:
        raise EmptyError(
            f"expected a {role} a line, found none",
            hint="is the file empty?",
            code="empty_input",
            file=name,
        )
    return np.concatenate(parts)

"""Files with one number per line: scores of a ranker, or group sizes."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import EmptyError
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.files.blocks import Blocks
from rankscope.inputs.files.cells import read_numbers
from rankscope.inputs.files.opening import TextSource, close, open_binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

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
    file = open_binary(given, name)
    try:
        source = TextSource(file, name, encoding="utf-8")
        for block in Blocks(source, LONGEST_ROW):
            rows = compute.utf8_trim(split_lines(block.text), characters=" \t\r\n")
            numbers, mistake = read_numbers(rows, role)
            if mistake is not None:
                row, error = mistake
                error.file, error.line = name, block.first_line + row
                raise error
            parts.append(np.asarray(numbers))
    finally:
        close(file)
    if not parts:
        raise EmptyError(
            f"expected a {role} a line, found none",
            hint="is the file empty?",
            code="empty_input",
            file=name,
        )
    return np.concatenate(parts)

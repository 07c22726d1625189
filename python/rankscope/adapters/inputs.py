"""Tells what an argument is: a file, a mapping, or rows."""

from __future__ import annotations

import os

from rankscope.adapters.tables import is_table
from rankscope.errors import FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from rankscope.typing import InputLike


@record(frozen=True, slots=True)
class Input:
    """Something to read, and what it is.

    Args:
        kind: `file` (a path, `-` for standard input, or bytes), `table` (of any library), `mapping`
            or `rows`.
        value: The thing itself.
        name: What messages call it.
    """

    kind: Literal["file", "table", "mapping", "rows"]
    value: object
    name: str

    @property
    def is_stdin(self) -> bool:
        """Whether it is standard input."""
        return self.kind == "file" and self.value == "-"

    @property
    def source(self) -> str | bytes | None:
        """What the core opens; nothing for standard input."""
        if self.is_stdin:
            return None
        if isinstance(self.value, str | bytes):
            return self.value
        raise TypeError(self.value)

    @property
    def size(self) -> int | None:
        """The size of the file in bytes, where it has one."""
        if isinstance(self.value, bytes):
            return len(self.value)
        if self.is_stdin or not isinstance(self.value, str):
            return None
        try:
            # pathlib would take as long to load as all the rest.
            return os.stat(self.value).st_size or None  # noqa: PTH116
        except OSError:
            return None  # reading it will say why


def recognise(value: InputLike, role: str) -> Input:
    """Tell what an argument is.

    Args:
        value: The argument.
        role: `qrels` or `run`.

    Raises:
        FormatError: It is nothing that can be read.
    """
    if isinstance(value, str | os.PathLike):
        path = os.fsdecode(value)
        return Input("file", path, "<stdin>" if path == "-" else name_path(path, role))
    if isinstance(value, bytes):
        return Input("file", value, role)
    if isinstance(value, dict) or (hasattr(value, "items") and not hasattr(value, "columns")):
        return Input("mapping", value, role)
    if is_table(value):
        return Input("table", value, role)
    if _is_iterable_of_rows(value):
        return Input("rows", value, role)
    number = "grade" if role == "qrels" else "score"
    raise FormatError(
        f"expected {role} as a path, a dict of dicts, a data frame, or rows of "
        f"(query, document, {number}); found {type(value).__name__}",
        hint="a path may be '-' for standard input; rows are tuples of three",
        code="input_type",
        file=role,
    )


def name_path(path: str, role: str) -> str:
    """Read the bytes of a path as UTF-8, which gives the same text in every locale.

    Raises:
        FormatError: The text has no bytes, so it is no path.
    """
    try:
        return os.fsencode(path).decode("utf-8", errors="surrogateescape")
    except UnicodeEncodeError:
        raise FormatError(
            f"expected a path for {role}, found text that no path can be: {path!a}",
            hint="it has a lone surrogate, which is no character",
            code="input_type",
            file=role,
        ) from None


def _is_iterable_of_rows(value: object) -> bool:
    is_other = isinstance(value, set | frozenset | bytearray | memoryview)
    # Arrays and open files are iterables too, but not of rows.
    is_other = is_other or any(hasattr(value, name) for name in ("dtype", "readline"))
    return hasattr(value, "__iter__") and not is_other

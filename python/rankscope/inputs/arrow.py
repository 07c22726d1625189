"""PyArrow, imported with the first table that needs it."""

from __future__ import annotations

import sys
from importlib import import_module

from rankscope.errors import FormatError, hint_extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_arrow(module: str = "pyarrow") -> Any:  # noqa: ANN401 - PyArrow has no types
    """Import PyArrow, or one of its modules.

    Raises:
        FormatError: It is not installed.
    """
    try:
        # Importing what is loaded costs more than many of the calls that need it. What another
        # thread is loading has not all of its names yet, and `import_module` waits for them.
        found = sys.modules.get(module)
        is_loaded = found is not None and not getattr(found.__spec__, "_initializing", False)
        return found if is_loaded else import_module(module)
    except ModuleNotFoundError as error:
        raise FormatError(
            "reading tables and compressed text needs pyarrow, which is not installed",
            hint=hint_extra("tables"),
            code="missing_extra",
        ) from error


def open_text(text: bytes) -> Any:  # noqa: ANN401 - as above
    """Copy text into memory of Arrow's own, for one of its readers.

    The reader's threads may outlive the call. One that dropped a buffer of Python's while the
    interpreter ends would abort the process.
    """
    arrow = load_arrow()
    buffer = arrow.allocate_buffer(len(text))
    memoryview(buffer).cast("B")[:] = text
    return arrow.BufferReader(buffer)


def check_whole(values: Any, name: str) -> None:  # noqa: ANN401 - as above
    """Raise an error for an Arrow array whose offsets, views or indices point outside its buffers.

    PyArrow follows them wherever they point, and ends the process.
    """
    pa = load_arrow()
    try:
        values.validate(full=True)
    except (pa.ArrowException, LookupError, OverflowError) as error:
        raise FormatError(
            f"expected a valid Arrow column in {name}, found a damaged one "
            f"({str(error).splitlines()[0]:.200})",
            hint="the library that made the column describes its memory wrongly: make it again",
            code="column_damaged",
            file=name,
        ) from error


def check_inside(values: object, name: str) -> None:
    """Check a PyArrow column, or a pandas column that wraps one, with `check_whole`."""
    pa = sys.modules.get("pyarrow")
    if pa is None:
        return
    inner = getattr(values, "array", values)
    if "Arrow" in type(inner).__name__ and hasattr(inner, "__arrow_array__"):
        inner = inner.__arrow_array__()
    if isinstance(inner, pa.Array | pa.ChunkedArray):
        check_whole(inner, name)

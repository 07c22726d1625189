"""One column of any library as an array of Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope._inputs.columns import as_arrow, decode, is_null
from rankscope.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["decode", "is_null", "open_column"]


def open_column(column: Any, name: str, refuse: Callable[[str], FormatError]) -> Any:  # noqa: ANN401 - of a library
    """Convert a column to an array of Arrow."""
    try:
        return as_arrow(column, name)
    except FormatError as error:
        if error.code != "column_type":
            raise
        raise refuse(str(getattr(column, "dtype", type(column).__name__))) from error

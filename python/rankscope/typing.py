"""Names for the types of arguments, for those who annotate code that calls rankscope."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from rankscope.file import File

Path: TypeAlias = str | os.PathLike[str]
"""A path; `-` is standard input."""

Lists: TypeAlias = Mapping[str, Mapping[str, float]]
"""By query and document, a grade or a score."""

Rows: TypeAlias = Iterable[tuple[str, str, float]]
"""Query, document, and a grade or a score."""


class Frame(Protocol):
    """A data frame of pandas, Polars, PyArrow, DuckDB, narwhals or the like."""

    @property
    def columns(self) -> Any:  # noqa: ANN401 - each library has a type of its own for them
        """Its columns, or their names."""


class ArrowStream(Protocol):
    """Whatever gives its rows through the PyCapsule interface of Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:  # noqa: ANN401 - a capsule
        """Give a capsule of the rows."""


InputLike: TypeAlias = Path | bytes | File | Lists | Rows | Frame | ArrowStream
"""What judgments and runs may come as."""

Progress: TypeAlias = Callable[[int, int | None], None] | None
"""Called with the bytes read so far, and with their total where it is known."""

"""Types for annotating code that calls rankscope."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Literal, Protocol, TypeAlias

from rankscope._file import File

Path: TypeAlias = str | os.PathLike[str]
"""A path, or `-` for standard input."""

Lists: TypeAlias = (
    Mapping[str, Mapping[str, float]]
    | Mapping[int, Mapping[int, float]]
    | Mapping[str, list[str] | tuple[str, ...]]
    | Mapping[int, list[int] | tuple[int, ...]]
    | Mapping[str, AbstractSet[str]]
    | Mapping[int, AbstractSet[int]]
)
"""The documents of each query: with their grades or scores, or only their ids."""

Rows: TypeAlias = Iterable[tuple[str, str, float]]
"""Tuples of query, document, and grade or score."""


class Frame(Protocol):
    """A data frame, for example of pandas, Polars, PyArrow, DuckDB or narwhals."""

    @property
    def columns(self) -> Any:  # noqa: ANN401 - each library has a type of its own for them
        """The columns, or their names."""


class ArrowStream(Protocol):
    """An object that exports its rows through the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:  # noqa: ANN401 - a capsule
        """Return a capsule with the rows."""


Records: TypeAlias = Iterable[Mapping[str, object]]
"""Dictionaries with the names of columns: `{"query_id": "q1", "doc_id": "d1", "score": 0.5}`."""

InputLike: TypeAlias = Path | bytes | File | Lists | Rows | Records | Frame | ArrowStream
"""The types that are accepted as judgments and runs."""

HistoryLike: TypeAlias = InputLike | Iterable[tuple[object, object]]
"""The types that are accepted as a history: also pairs of user and item, and objects."""

Progress: TypeAlias = Callable[[int, int | None], None] | bool | None
"""Whether to show a bar; or a function of the bytes read so far, and their total if known."""

Second: TypeAlias = Literal["", "subtopic", "stratum"]
"""What judgments have beside query, document and grade."""

"""Names for the types of arguments, for those who annotate code that calls rankscope."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from rankscope.file import File

Path: TypeAlias = str | os.PathLike[str]
"""A path; `-` is standard input."""

Lists: TypeAlias = Mapping[str, Mapping[str, float]]
"""By query and document, a grade or a score."""

Rows: TypeAlias = Iterable[tuple[str, str, float]]
"""Query, document, and a grade or a score."""

InputLike: TypeAlias = Path | bytes | File | Lists | Rows
"""What judgments and runs may come as."""

Progress: TypeAlias = Callable[[int, int | None], None] | None
"""Called with the bytes read so far, and with their total where it is known."""

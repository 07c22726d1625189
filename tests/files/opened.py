"""A table in files, as the engine opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rankscope as rs
from rankscope._inputs.recognition import recognise
from rankscope._inputs.roles import Wanted
from rankscope._inputs.table_files import TableFile
from rankscope.file import tell_format
from rankscope.settings.reading import Reading

if TYPE_CHECKING:
    from rankscope._inputs.files import Progress

WANTED = Wanted(dict.fromkeys(("query", "doc", "relevance", "score", "rank")))


def open_table(given: str | bytes, form: str | None = None, progress: Progress = None) -> TableFile:
    """Open a file, a folder or a pattern, or the bytes of a file."""
    form = form or (tell_format(given) if isinstance(given, str) else None)
    found = recognise(rs.File(given, form), "<bytes>")  # type: ignore[arg-type]  # a name of a format
    return TableFile(found, WANTED, Reading.read(), progress)

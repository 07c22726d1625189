"""Where a store can be: a path that a file can have, with nothing else there."""

from __future__ import annotations

import os
import stat

from rankscope.errors import FileError

MAGIC = b"SQLite format 3\0"


def check_place(path: str) -> None:
    """Refuse a path at which no store can be, before anything is opened or made beside it.

    Args:
        path: The path; there may be nothing yet.

    Raises:
        FileError: No file can have this path, or something else than a store is there.
    """
    try:
        facts = os.stat(path)  # noqa: PTH116 - pathlib changes what the path says
        is_file = stat.S_ISREG(facts.st_mode)
        head = _read_head(path) if is_file and facts.st_size else MAGIC
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # a ValueError is about a text that no path can be
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            f"expected the path of a store, found one that cannot be opened: {reason}",
            hint="check the path and its permissions",
            code="io",
            file=path,
        ) from error
    if not is_file:
        kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "a pipe or a device"
        raise FileError(
            f"expected a store, found {kind}",
            hint="name the file of the store",
            code="io",
            file=path,
        )
    if head != MAGIC:
        raise FileError(
            "expected a store, found a file that is none, or whose first bytes are damaged",
            hint="check the path, or restore a backup",
            code="store_damaged",
            file=path,
        )


def _read_head(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file.read(len(MAGIC))

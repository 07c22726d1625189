"""Writes files whole or not at all: beside their place first, and moved there when complete."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rankscope._names import quote
from rankscope.errors import FileError, RankscopeError, UsageError

HINTS = {
    errno.ENOENT: "create the folder first, or check the path",
    errno.ENOTDIR: "create the folder first, or check the path",
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some space, or write to another disk",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
}


@contextmanager
def replacing(path: str | os.PathLike[str], *, mode: int = 0o666) -> Iterator[Path]:
    """Let a block write a file that replaces the one at `path` when the block ends.

    The block writes to an empty file in the same folder. If it fails, that file is removed and
    whatever was at `path` stays as it was. Links are followed, and a file that is replaced keeps
    its permissions. Pipes and devices cannot be replaced: what the block wrote is copied to them.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with replacing(Path(folder) / "page.html") as part:
        ...         _ = part.write_text("<p>whole</p>")
        ...     [path.name for path in Path(folder).iterdir()]
        ['page.html']
    """
    name = os.fsdecode(path)
    try:
        place, part = _open_beside(name, mode)
    except (OSError, ValueError) as error:  # a ValueError is about a text that no path can be
        raise _cannot_write(name, error) from error
    try:
        yield part
        if place.exists() and not place.is_file():
            _copy(part, place)
        else:
            part.replace(place)
    except RankscopeError:
        raise
    except OSError as error:
        raise _cannot_write(name, error) from error
    finally:
        part.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, whole or not at all."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def refuse_overwriting(
    output: str, inputs: Sequence[str], hint: str = "choose another file with -o"
) -> None:
    """Refuse to write over a file that is read."""
    for path in inputs:
        try:
            is_same = os.path.samefile(path, output)  # noqa: PTH121 - pathlib loads slowly
        except (OSError, ValueError):  # one of the two does not exist, or is standard input
            continue
        # A device, such as /dev/null, can be read and written.
        if is_same and os.path.isfile(path):  # noqa: PTH113 - as above
            raise UsageError(
                f"the output {quote(output)} is also an input, and would be overwritten",
                hint=hint,
                code="usage",
            )


def make_folder(path: str | os.PathLike[str], *, mode: int = 0o777) -> bool:
    """Make a folder, and those above it, where there is none."""
    folder = Path(path)
    try:
        is_new = not folder.exists()
        folder.mkdir(mode, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # as above
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            f"cannot make this folder: {reason}",
            hint=HINTS.get(getattr(error, "errno", None) or 0, "check the path"),
            code="io",
            file=os.fsdecode(path),
        ) from error
    return is_new


def _open_beside(name: str, mode: int) -> tuple[Path, Path]:
    """Find the file that a path leads to, and make an empty one in its folder."""
    from secrets import token_hex
    from tempfile import gettempdir

    with suppress(FileNotFoundError):
        Path(name).stat()  # refuses links in a loop, which `realpath` takes as they are
    place = Path(os.path.realpath(name))
    if place.is_dir() or name.endswith(os.sep):
        raise IsADirectoryError(errno.EISDIR, "expected a file, found a directory")
    is_replaced = place.is_file()
    folder = place.parent if is_replaced or not place.exists() else Path(gettempdir())
    part = folder / f".rankscope-{token_hex(8)}.part"
    opened = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
    try:
        if is_replaced:
            os.fchmod(opened, place.stat().st_mode & 0o777)
    finally:
        os.close(opened)
    return place, part


def _copy(part: Path, place: Path) -> None:
    from shutil import copyfileobj

    with part.open("rb") as source, place.open("wb") as target:
        copyfileobj(source, target)


def _cannot_write(name: str, error: OSError | ValueError) -> FileError:
    number = getattr(error, "errno", None)
    reason = getattr(error, "strerror", None) or str(error)
    return FileError(
        f"cannot write this file: {reason}",
        hint=HINTS.get(number or 0, "check the path"),
        code="io",
        file=name,
    )

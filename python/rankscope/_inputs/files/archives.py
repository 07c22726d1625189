"""Files in archives of zip and tar, which are read without unpacking them to disk.

A file in an archive has the path of the archive and its own: `runs.zip/bm25.run`.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from rankscope._core import MAX_RATIO, RATIO_FROM
from rankscope._inputs.files.formats import ARCHIVES, is_address
from rankscope.errors import FormatError, LimitError, RankscopeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, BinaryIO
    from zipfile import ZipFile

ENDINGS = tuple(ending for archive in ARCHIVES for ending in archive.endings)
MEMBER = re.compile(
    rf"(.*?(?:{'|'.join(re.escape(ending) for ending in ENDINGS)}))/(.+)", re.IGNORECASE | re.DOTALL
)
MOST_MEMBERS = 10_000
HIDDEN = (".", "_")
PIECE = 1 << 20


def is_archive(path: str) -> bool:
    """Check by its name whether a file is an archive."""
    if not path.lower().endswith(ENDINGS):
        return False
    return is_address(path) or os.path.isfile(path)  # noqa: PTH113 - pathlib loads slowly


def split_member(path: str) -> tuple[str, str] | None:
    """Return the archive and the file in it that a path names, `None` if it names another file."""
    found = MEMBER.fullmatch(path)
    return (found[1], found[2]) if found is not None and is_archive(found[1]) else None


def list_members(path: str) -> list[str]:
    """Return the paths of the files in an archive, in its order, without hidden ones."""
    names = _list_zip(path) if path.lower().endswith(".zip") else list(_read_tar(*_stamp(path)))
    return [
        f"{path}/{name}"
        for name in names
        if not any(part.startswith(HIDDEN) for part in name.split("/"))
    ]


def choose_member(path: str) -> str:
    """Return the path of the only file in an archive."""
    members = list_members(path)
    if len(members) == 1:
        return members[0]
    shown = ", ".join(name.removeprefix(f"{path}/") for name in members[:5])
    more = ", …" if len(members) > 5 else ""
    raise FormatError(
        f"expected one file, found an archive of {len(members)}: {shown}{more}"
        if members
        else "expected one file, found an archive without files",
        hint=f"name one: {members[0]!r}; as several runs, pass the archive to compare or evaluate"
        if members
        else "make the archive again",
        code="several_files",
        file=path,
    )


def read_member(path: str, archive: str, name: str) -> bytes:
    """Read a file in an archive."""
    if archive.lower().endswith(".zip"):
        return _read_zip(path, archive, name)
    members = _read_tar(*_stamp(archive))
    if name not in members:
        raise _missing(path, archive)
    return members[name]


def _missing(path: str, archive: str) -> FormatError:
    return FormatError(
        f"there is no such file in {archive}",
        hint=f"list them: {'unzip -l' if archive.lower().endswith('.zip') else 'tar -tf'}",
        code="io",
        file=path,
    )


def _list_zip(path: str) -> list[str]:
    from rankscope._inputs.files.opening import close, open_binary  # noqa: PLC0415 - it imports this

    file = open_binary(path, path)
    try:
        with _open_zip(file, path) as opened:
            infos = [info for info in opened.infolist() if not info.is_dir()]
            _check_count(len(infos), path)
            return [info.filename for info in infos]
    finally:
        close(file)


def _open_zip(file: BinaryIO, path: str) -> ZipFile:
    import struct  # noqa: PLC0415 - few inputs are archives
    from zipfile import BadZipFile, ZipFile  # noqa: PLC0415 - as above

    try:
        return ZipFile(file)
    except (BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
        raise _damaged(path, error) from error


def _read_zip(path: str, archive: str, name: str) -> bytes:
    import zlib  # noqa: PLC0415 - few inputs are archives
    from zipfile import BadZipFile  # noqa: PLC0415 - as above

    from rankscope._inputs.files.opening import close, open_binary  # noqa: PLC0415 - it imports this

    file = open_binary(archive, archive)
    try:
        with _open_zip(file, archive) as opened:
            try:
                info = opened.getinfo(name)
            except KeyError:
                raise _missing(path, archive) from None
            most = max(RATIO_FROM, MAX_RATIO * info.compress_size)
            try:
                with opened.open(info) as member:
                    return _read_at_most(member, most, path)
            except RuntimeError as error:  # it needs a password
                raise FormatError(
                    f"expected a file that can be read, found one that can't ({error})",
                    hint="unpack it first, with its password",
                    code="encrypted",
                    file=path,
                ) from error
            except (BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
                if isinstance(error, RankscopeError):
                    raise
                raise _damaged(path, error) from error
    finally:
        close(file)


def _read_at_most(file: IO[bytes], most: int, path: str) -> bytes:
    parts = []
    size = 0
    while part := file.read(PIECE):
        size += len(part)
        if size > most:
            raise LimitError(
                f"expected at most {MAX_RATIO} bytes from one packed byte, found more",
                hint="unpack the archive first, if it can be trusted",
                code="decompressed_bytes",
                file=path,
            )
        parts.append(part)
    return b"".join(parts)


def _stamp(path: str) -> tuple[str, int, int]:
    """Return what tells an archive from a later one at its path."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - pathlib loads slowly
    except (OSError, ValueError):
        return path, 0, 0  # opening it will say why, or it is in a bucket
    return path, facts.st_size, facts.st_mtime_ns


@lru_cache(maxsize=1)  # the files of an archive are read one after another, and it has no index
def _read_tar(path: str, *_: int) -> dict[str, bytes]:
    return dict(_iterate_tar(path))


def _iterate_tar(path: str) -> Iterator[tuple[str, bytes]]:
    import tarfile  # noqa: PLC0415 - few inputs are archives

    from rankscope._inputs.files.opening import open_source  # noqa: PLC0415 - it imports this

    count = 0
    with open_source(path, path, is_archive=True) as source:
        try:
            with tarfile.open(fileobj=source, mode="r|") as opened:  # type: ignore[call-overload]  # it reads
                for member in opened:
                    if not member.isreg():
                        continue  # folders, links and devices
                    count += 1
                    _check_count(count, path)
                    if member.issparse():
                        raise FormatError(
                            f"expected whole files, found one with holes: {member.name}",
                            hint="make the archive again, without --sparse",
                            code="unsupported_format",
                            file=path,
                        )
                    content = opened.extractfile(member)
                    yield member.name.removeprefix("./"), b"" if content is None else content.read()
        except (tarfile.TarError, EOFError, ValueError) as error:
            if isinstance(error, RankscopeError):
                raise
            raise _damaged(path, error) from error


def _check_count(count: int, path: str) -> None:
    if count > MOST_MEMBERS:
        raise LimitError(
            f"expected at most {MOST_MEMBERS:,} files in an archive, found more",
            hint="unpack it first, if it can be trusted",
            code="archive_members",
            file=path,
        )


def _damaged(path: str, error: Exception) -> FormatError:
    return FormatError(
        f"expected a whole archive, found it cut or damaged ({error})",
        hint="fetch it again; nothing was taken from it",
        code="compressed_truncated",
        file=path,
    )

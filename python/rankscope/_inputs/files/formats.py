"""Recognizes the format of a file by its name and its first bytes."""

from __future__ import annotations

import os
import stat

from rankscope import file
from rankscope._inputs.files.lakehouse import refuse_lakehouse
from rankscope.errors import FormatError, UsageError
from rankscope.file import FORMATS, TABLE_FORMATS
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from rankscope.file import Format

LONGEST_HEADER = 1 << 16


@record(frozen=True, slots=True)
class Archive:
    """A kind of archive, which has to be unpacked before its files can be read.

    Args:
        name: The name of the kind.
        endings: How the names of such archives end.
        magic: The bytes by which it is recognised.
        at: Where these stand in it, after decompression.
        command: The command that unpacks it.
    """

    name: str
    endings: tuple[str, ...]
    magic: bytes
    at: int
    command: str

    def refuse(self, file: str) -> FormatError:
        """Return the error for a file that is such an archive."""
        return FormatError(
            f"expected a file to read, found a {self.name} archive",
            hint=f"unpack it with {self.command}, and read its files",
            code="not_text",
            file=file,
        )


ARCHIVES = (
    Archive("zip", (".zip",), b"PK\x03\x04", 0, "unzip"),
    Archive(
        "tar",
        (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tbz2"),
        b"ustar",
        257,
        "tar -xf",
    ),
)


def refuse_archive_name(path: str, name: str) -> None:
    """Raise an error for a path with the ending of an archive."""
    for archive in ARCHIVES:
        if path.lower().endswith(archive.endings):
            raise archive.refuse(name)


def check_format(given: str | None) -> None:
    """Raise an error for an unknown format."""
    if given is not None and given not in TABLE_FORMATS:
        raise UsageError(
            f"expected one of {', '.join(TABLE_FORMATS)} as the format, found {given!r}",
            hint="omit it to choose the format by the name of the file",
            code="bad_format",
        )


def tell_format(path: str) -> Format:
    """Return the format that the name of a file says: TREC text unless it has a known ending.

    Examples:
        >>> [tell_format(name) for name in ("a.CSV", "a.jsonl.gz", "a.parquet.gz", "csv")]
        ['csv', 'jsonl', 'trec', 'trec']
    """
    return file.tell_format(path) or "trec"  # type: ignore[return-value]  # a name of the table


def list_files(path: str) -> list[str]:
    """Return the table files that a folder or pattern matches, sorted by name.

    Of the folders in a folder, those count that are called as partitions are: `day=2026-11-21`.
    """
    # pathlib and glob take long to load; a path of one file needs neither.
    if is_address(path):
        from rankscope._inputs.buckets import list_addresses  # noqa: PLC0415 - it needs Arrow

        found = list_addresses(path)
    elif os.path.isdir(path):  # noqa: PTH112
        refuse_lakehouse(path, [path])
        found = _list_folder(path)
    elif is_pattern(path):
        from glob import glob  # noqa: PLC0415 - as above

        found = glob(path, recursive=True)  # noqa: PTH207
    else:
        if tell_format(path) == "parquet":
            refuse_lakehouse(path, [os.path.dirname(path)])  # noqa: PTH120 - as above
        return []
    files = sorted(name for name in found if tell_format(name) != "trec")
    if not is_address(path):
        refuse_lakehouse(path, map(os.path.dirname, files))
    formats: dict[str, str] = {}
    for name in files:
        formats.setdefault(tell_format(name), name)
    if len(formats) > 1:
        (one, first), (other, second) = list(formats.items())[:2]
        raise FormatError(
            f"expected files of one format, found {first} ({one}) and {second} ({other})",
            hint="name the files of one of them: 'folder/*.parquet'",
            code="schema_mismatch",
            file=path,
        )
    return files


def is_address(path: str) -> bool:
    """Check whether a path is the address of something in a bucket or on a server."""
    return "://" in path


def _list_folder(path: str) -> list[str]:
    found: list[str] = []
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return []  # reading it will say why
    for entry in entries:
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_file():
            found.append(entry.path)
        elif "=" in entry.name and entry.is_dir():
            found += _list_folder(entry.path)
    return found


def is_pattern(path: str) -> bool:
    """Check whether a path is a pattern, and no file is called so."""
    return any(sign in path for sign in "*?[") and not os.path.lexists(path)


def recognise_path(path: str, is_known: Callable[[list[str]], bool]) -> Format:
    """Return the format of a file, folder or pattern."""
    files = list_files(path)
    if files:
        return tell_format(files[0])
    form = tell_format(path)
    if form == "tsv" and not is_known(_read_header(path)):
        form = "trec"
    if FORMATS[form].is_text:
        refuse_binary(path)
    return form


def _read_header(path: str) -> list[str]:
    """Return the fields of the first line, none if the file can't be peeked into."""
    return [name.strip().strip('"') for name in read_first_line(path).split("\t")]


def read_first_line(path: str) -> str:
    """Return the first line of a file, nothing if it can't be peeked into."""
    from rankscope._inputs.files.archives import split_member  # noqa: PLC0415 - it imports this
    from rankscope._inputs.files.opening import close, open_binary  # noqa: PLC0415 - as above

    try:
        is_inside = is_address(path) or split_member(path) is not None
        if not is_inside and not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - pathlib loads slowly
            return ""
        file = open_binary(path, path)
        try:
            line = _unpack(file, path).read(LONGEST_HEADER).partition(b"\n")[0]
        finally:
            close(file)
    except (OSError, ValueError, EOFError):  # as all errors of input are
        return ""  # reading it will say why
    return line.decode(errors="replace").removeprefix("\ufeff").rstrip("\r\n")


def _unpack(file: BinaryIO, path: str) -> BinaryIO:
    # These load only for what is packed so.
    if path.lower().endswith(".gz"):
        import gzip  # noqa: PLC0415 - see above

        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]  # it reads bytes
    if path.lower().endswith(".bz2"):
        import bz2  # noqa: PLC0415 - see above

        return bz2.BZ2File(file)  # type: ignore[return-value]  # as above
    return file


def refuse_binary(path: str) -> None:
    """Raise an error for a file whose name says text and whose first bytes say Parquet or Arrow."""
    try:
        # Looking into a pipe would take from it what is to be read.
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - as above
            return
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            head = file.read(8)
    except (OSError, ValueError):
        return  # reading it will say why
    for row in FORMATS.values():
        if row.magic and head.startswith(row.magic):
            raise FormatError(
                f"expected lines of text, found {row.noun}",
                hint=f"say what it is: --format {row.name}, or File(path, {row.name!r})",
                code="not_text",
                file=path,
                line=1,
            )


def size_of(given: object) -> int:
    """Return the size in bytes of a file, or of all files of a folder or pattern, 0 if unknown."""
    if not isinstance(given, str):
        return len(given) if isinstance(given, bytes) else 0
    if is_address(given):
        from rankscope._inputs.buckets import measure_address  # noqa: PLC0415 - it needs Arrow

        return measure_address(given)
    is_file = os.path.isfile(given)  # noqa: PTH113 - as above
    files = [given] if is_file else list_files(given) or [given]
    try:
        return sum(os.stat(file).st_size for file in files)  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return 0  # reading it will say why


def is_pipe(path: str) -> bool:
    """Check whether a path is a pipe or a device, which can be read only once."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return False  # reading it will say why, or it is a pattern
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_scores(path: str) -> bool:
    """Check whether the first non-blank line of a file is one word, as in a file of scores."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib loads slowly
            line = next((line for line in file if line.strip()), b"")
    except (OSError, ValueError):
        return False  # reading it will say why
    return len(line.split()) == 1

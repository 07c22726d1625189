"""Files by their paths: those that a path stands for, their format, and what is in them."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from rankscope._core import MAX_RATIO, RATIO_FROM
from rankscope._file import COMPRESSIONS, FORMATS, TABLE_FORMATS, File, Format
from rankscope._file import tell_format as tell_known_format
from rankscope._names import fold
from rankscope.errors import FileError, FormatError, LimitError, RankscopeError, UsageError

# This module loads with every command: importing `pathlib` or `glob` would take longer than reading
# a small file.
Progress: TypeAlias = Callable[[int], None] | None

if TYPE_CHECKING:
    from rankscope.typing import Path


HEAD = 512
LONGEST_HEADER = 1 << 16
PIECE = 1 << 20
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
FETCH_AGAIN = "fetch or write it again; nothing was taken from it"
# How names of TREC runs often end. Other files beside table files are taken for notes.
RUN = re.compile(r".*\.(run|trec|res)(\.gz|\.zst|\.bz2)?", re.IGNORECASE | re.DOTALL)
TAR_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tbz2")
# What can't be read as text: a noun, how to read it, its first bytes and where they stand, and how
# the names of such files end.
BINARIES = (
    ("a zip archive", "unpack it with unzip, and read its files", b"PK\x03\x04", 0, (".zip",)),
    ("a tar archive", "unpack it with tar -xf, and read its files", b"ustar", 257, TAR_ENDINGS),
    *(
        (form.noun, f"say what it is: --format {name}, or File(path, {name!r})", form.magic, 0, ())
        for name, form in FORMATS.items()
        if form.magic
    ),
)


def is_address(path: str) -> bool:
    """Check whether a path is an address in a bucket or on a server."""
    return "://" in path


def is_pipe(path: str) -> bool:
    """Check whether a path is a pipe or a device, which can be read only once."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))  # noqa: PTH110, PTH112, PTH113 - see above


def is_scores(path: str) -> bool:
    """Check whether the first non-blank line of a file is one word, as in a file of scores."""
    return len(read_first_line(path).split()) == 1


def tell_format(path: str) -> Format:
    """Return the format that the name of a file says: TREC text unless it has a known ending.

    Examples:
        >>> [tell_format(name) for name in ("a.CSV", "a.jsonl.gz", "a.parquet.gz", "csv")]
        ['csv', 'jsonl', 'trec', 'trec']
    """
    return tell_known_format(path) or "trec"  # type: ignore[return-value]  # a name of the table


def check_format(name: str | None) -> None:
    """Raise an error for an unknown format."""
    if name is not None and name not in TABLE_FORMATS:
        raise UsageError(
            f"expected one of {', '.join(TABLE_FORMATS)} as the format, found {name!r}",
            hint="omit it to choose the format by the name of the file",
            code="bad_format",
        )


def refuse_binary(name: str, head: bytes | None = None) -> None:
    """Raise an error for what is no text by its first bytes, or for an archive by its name."""
    for noun, hint, magic, at, endings in BINARIES:
        if name.lower().endswith(endings) if head is None else head.startswith(magic, at):
            message, line = f"expected lines of text, found {noun}", None if head is None else 1
            raise FormatError(message, hint=hint, code="not_text", file=name, line=line)


def list_paths(path: str) -> list[str]:
    """Return the files of a folder or a pattern, by name; none for a single file.

    Hidden files are left out. Of the folders in a folder, those count that are called as partitions
    are: `day=2026-11-21`.
    """
    names: Iterable[str] = ()
    if is_address(path):
        from rankscope._inputs.remote import check_url, list_addresses

        path = check_url(path)
        names = list_addresses(path) if is_address(path) else list_paths(path)
    elif any(sign in path for sign in "*?[") and not os.path.lexists(path):
        from glob import glob

        names = filter(os.path.isfile, glob(path, recursive=True))  # noqa: PTH207 - see above
    elif os.path.isdir(path):  # noqa: PTH112 - see above
        names = _walk(path)
    # What the path itself names isn't hidden.
    hidden = re.compile(r"(?<![^/\\])[._][^/\\]*")
    return sorted(name for name in names if all(part in path for part in hidden.findall(name)))


def _walk(folder: str) -> Iterator[str]:
    for at, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if "=" in name]
        yield from filter(os.path.isfile, (os.path.join(at, name) for name in names))  # noqa: PTH118 - see above


def list_files(path: str) -> list[str]:
    """Return the table files of a folder or a pattern, by name; none for a single file."""
    files = [name for name in list_paths(path) if tell_format(name) != "trec"]
    is_folder = os.path.isdir(path)  # noqa: PTH112 - see above
    if not is_address(path) and (files or is_folder or tell_format(path) == "parquet"):
        from rankscope._inputs.remote import refuse_parts

        refuse_parts(path, [path] if is_folder else map(os.path.dirname, files or [path]))
    formats = {tell_format(name): name for name in reversed(files)}
    if len(formats) > 1:
        raise FormatError(
            f"expected files of one format, found {' and '.join(sorted(formats.values())[:2])}",
            hint="name the files of one of them: 'folder/*.parquet'",
            code="schema_mismatch",
            file=path,
        )
    return files


def list_runs(run: Path | File, *, are_several: bool = False) -> list[Path | File]:
    """Return the runs that a path stands for: the files of a folder or a pattern; none for one run.

    Table files are one run, unless several are asked for.
    """
    location = run.path if isinstance(run, File) else run
    if isinstance(location, bytes):
        return []
    path = os.fsdecode(location)
    files = list_paths(path)
    tables = [] if are_several else [name for name in files if tell_format(name) != "trec"]
    texts = [name for name in files if RUN.fullmatch(name)]
    if tables and texts:
        raise FormatError(
            f"expected table files or TREC runs, found {tables[0]} and {texts[0]}",
            hint="name those that are meant: 'folder/*.run'. Table files are one run, and TREC "
            "files are several; in compare, each file is a run",
            code="schema_mismatch",
            file=path,
        )
    runs = [] if tables else files
    return [replace(run, path=name) if isinstance(run, File) else name for name in runs]


def expand_paths(paths: Iterable[str], *, are_several: bool = False) -> list[str]:
    """Return paths with those of several runs in place of a path that stands for them."""
    return [
        str(run) for path in paths for run in list_runs(path, are_several=are_several) or [path]
    ]


def recognise_path(path: str, usual: AbstractSet[str]) -> Format:
    """Return the format of a file, folder or pattern; TSV has a usual name in its first line."""
    files = list_files(path)
    if files:
        return tell_format(files[0])
    refuse_binary(path)
    form = tell_format(path)
    if form == "tsv":
        header = read_first_line(path).split("\t")
        is_table = any(fold(name.strip().strip('"')) in usual for name in header)
        form = "tsv" if is_table else "trec"
    # Looking into a pipe would take from it what is to be read.
    if FORMATS[form].is_text and os.path.isfile(path):  # noqa: PTH113 - see above
        with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123 - reading it will say why
            head = file.read(HEAD)
            refuse_binary(path, head)
            form = tell_text(head) if form == "trec" else form
    return form


def tell_text(head: bytes) -> Format:
    r"""Return the format of text without a known ending, by its first bytes.

    Examples:
        >>> tell_text(b"4 qid:1 # 7555 Title\n"), tell_text(b"1 0 7555 4\n")
        ('letor', 'trec')
    """
    return "letor" if re.match(rb"([ \t\r]*(#[^\n]*)?\n)*[ \t]*[^\s#]+[ \t]+qid:", head) else "trec"


def size_of(value: object) -> int:
    """Return the size in bytes of a file, or of all files of a folder or pattern, 0 if unknown."""
    if not isinstance(value, str):
        return len(value) if isinstance(value, bytes) else 0
    with suppress(OSError, ValueError):  # reading it will say why
        files = [value] if os.path.isfile(value) else list_files(value) or [value]  # noqa: PTH113 - see above
        if not is_address(value):
            return sum(map(os.path.getsize, files))
        from rankscope._inputs.remote import find_infos

        return sum(info.size or 0 for info in find_infos(files))
    return 0


def open_binary(source: str | bytes, name: str) -> BinaryIO:
    """Open a path, an address, `-` for standard input, or bytes."""
    if isinstance(source, bytes):
        return io.BytesIO(source)
    if source == "-":
        return sys.stdin.buffer
    if is_address(source):
        from rankscope._inputs.remote import open_address

        return open_address(source)
    try:
        return open(source, "rb")  # noqa: PTH123 - the caller closes it
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error


def copy_pipe(file: BinaryIO) -> BinaryIO:
    """Copy what is in a pipe, so that it can be read again."""
    import shutil
    import tempfile

    copy: Any = tempfile.NamedTemporaryFile()  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(file, copy, PIECE)
    copy.flush()
    copy.seek(0)
    return copy  # type: ignore[no-any-return]


def close(file: BinaryIO) -> None:
    """Close a file, unless it is standard input."""
    if file is not sys.stdin.buffer:
        file.close()


def _unreadable(name: str, error: Exception) -> FileError:
    reason = getattr(error, "strerror", None) or str(error)
    return FileError(reason, hint="check the path and its permissions", code="io", file=name)


def damaged(
    what: str, error: BaseException, code: str, file: str, hint: str = FETCH_AGAIN
) -> FormatError:
    """Return the error for what PyArrow or another library can't read."""
    message = f"expected a whole {what}, found something else ({first_line(error)})"
    return FormatError(message, hint=hint, code=code, file=file)


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def check_ratio(unpacked: int, stored: int, most: int) -> None:
    """Raise an error for more bytes than so many stored ones can be expected to hold."""
    if unpacked > max(RATIO_FROM, most * stored):
        hint = "if you trust the file, unpack it first, or write it without compression"
        sizes = f"{unpacked} from {stored}"
        message = f"expected at most {most} bytes from one stored byte, found {sizes}"
        raise LimitError(message, hint=hint, code="decompressed_bytes")


class OpenFile(NamedTuple):
    """An open file, and what the reader of its format needs: see `rankscope._file.FORMATS`.

    Its `source` is the path, the bytes of a file, or the table in its place; `facts` are the size
    and modification time that it has to keep; `selection` says which columns are read, and
    `partitions` has those that its folders name. `checks_text` is off where text in Parquet that
    isn't UTF-8 is no error of the file.
    """

    file: BinaryIO
    source: Any
    name: str
    facts: tuple[int, int] | None
    form: str = ""
    selection: Any = None
    encoding: str = "utf-8"
    progress: Progress = None
    partitions: Mapping[str, str | None] = {}
    checks_text: bool = True

    def check_unchanged(self) -> None:
        """Raise an error if the file has changed since it was opened first."""
        if self.facts is not None and facts_of(self.file) != self.facts:
            raise FileError(
                f"expected {self.facts[0]} bytes throughout, but the file changed meanwhile",
                hint="read it again once nobody writes to it",
                code="changed_while_reading",
            )


@contextmanager
def open_file(source: str | bytes, name: str, **options: Any) -> Iterator[OpenFile]:  # noqa: ANN401 - fields of `OpenFile`
    """Open a path, an address, `-` for standard input, or bytes, and name it in errors."""
    file = open_binary(source, name)
    try:
        yield OpenFile(file, source, name, facts_of(file), **options)
    except RankscopeError as error:
        error.file = error.file or name
        raise
    finally:
        close(file)


def facts_of(file: BinaryIO) -> tuple[int, int] | None:
    """Return the size and modification time of a regular file, `None` for anything else."""
    try:
        facts = os.fstat(file.fileno())
    except (OSError, NotImplementedError):
        return None
    return (facts.st_size, facts.st_mtime_ns) if stat.S_ISREG(facts.st_mode) else None


class _Stream(io.RawIOBase):
    def readable(self) -> bool:
        return True


class _Counted(_Stream):
    """A file that counts the bytes read, and knows its first ones."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.head = self._rest = file.read(4)
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        text = self._rest + self._file.read(max(size - len(self._rest), 0))
        self._rest = b""
        self.count += len(text)
        return text


class TextSource(_Stream):
    """The text of a file: decompressed, and converted to UTF-8."""

    def __init__(self, opened: OpenFile) -> None:
        self.opened = opened
        self._size = 0
        self._raw = _Counted(opened.file)
        self._packed: Any = None
        for _, magic, packing in COMPRESSIONS:
            if self._raw.head.startswith(magic):
                import pyarrow as pa

                raw = pa.PythonFile(self._raw, mode="r")
                self._packed = pa.CompressedInputStream(raw, packing)

    def read(self, size: int = -1) -> bytes:
        """Return about `size` bytes, none at the end."""
        try:
            text: bytes = (self._packed or self._raw).read(size)
        except OSError as error:
            if self._packed is None:
                raise _unreadable(self.opened.name, error) from error
            code = "compressed_truncated"
            raise damaged("compressed file", error, code, self.opened.name) from error
        if self._size == 0:
            refuse_binary(self.opened.name, text)
        self._size += len(text)
        if self.opened.progress is not None:
            self.opened.progress(self._raw.count)
        if not text:
            self.opened.check_unchanged()
        if self._packed:
            check_ratio(self._size, self._raw.count, MAX_RATIO)
        return text.decode("latin-1").encode() if self.opened.encoding == "latin-1" else text


def read_whole(source: str | bytes, name: str, encoding: str = "utf-8") -> bytes:
    """Read a whole text, unpacked."""
    with open_file(source, name, encoding=encoding) as opened:
        text = TextSource(opened)
        return b"".join(iter(lambda: text.read(PIECE), b""))


def read_first_line(path: str) -> str:
    """Return the first non-blank line of a file, nothing if it can't be peeked into."""
    if path == "-" or is_pipe(path):
        return ""
    try:
        with open_file(path, path) as opened:
            text = TextSource(opened).read(LONGEST_HEADER)
    except (OSError, ValueError, EOFError):  # as all errors of input are
        return ""  # reading it will say why
    line = next(filter(bytes.strip, text.splitlines()), b"")
    return line.decode(errors="replace").removeprefix("\ufeff")


def read_partitions(path: str) -> dict[str, str | None]:
    """Read the columns that the folders of a path name, as Hive does.

    Examples:
        >>> read_partitions("log/date=2026-11-21/country=%C3%A9/part-0.parquet")
        {'date': '2026-11-21', 'country': 'é'}
    """
    from urllib.parse import unquote

    pairs = (part.partition("=") for part in path.split("/")[:-1])
    cells = {unquote(name): unquote(text) for name, sign, text in pairs if name and sign}
    return {name: None if text == DEFAULT_PARTITION else text for name, text in cells.items()}

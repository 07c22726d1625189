"""Files by their paths: those that a path stands for, their format, and what is in them."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from contextlib import contextmanager, suppress

from rankscope._core import MAX_RATIO, RATIO_FROM
from rankscope.deferred import pa
from rankscope.errors import FileError, FormatError, LimitError, UsageError
from rankscope.file import COMPRESSIONS, FORMATS, TABLE_FORMATS, File
from rankscope.file import tell_format as tell_known_format
from rankscope.records import record, replace

# These modules load with every command: importing `typing`, `pathlib` or `glob` would take longer
# than reading a small file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, BinaryIO, Protocol, TypeAlias

    from rankscope._inputs.roles import Wanted
    from rankscope._inputs.text import Lines
    from rankscope.file import Format
    from rankscope.typing import Path

    Progress: TypeAlias = Callable[[int], None] | None

    class Rows(Protocol):
        """A file of rows, read batch by batch.

        Attributes:
            name: The name for messages.
            names: The names of its columns.
            columns: The columns that are wanted, by role.
            schema: The schema of its batches.
            notes: What was suspicious but legal: count and first line, by code.
        """

        name: str
        names: list[str]
        columns: dict[str, str]
        schema: Any
        notes: dict[str, tuple[int, int]]

        def __iter__(self) -> Iterator[tuple[Any, Lines]]:
            """Read batches, and the lines of their rows."""


HEAD = 512
LONGEST_HEADER = 1 << 16
PIECE = 1 << 20
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
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
    """Check whether a path is the address of something in a bucket or on a server."""
    return "://" in path


def is_pattern(path: str) -> bool:
    """Check whether a path is a pattern, and no file is called so."""
    return any(sign in path for sign in "*?[") and not os.path.lexists(path)


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
            raise FormatError(
                f"expected lines of text, found {noun}",
                hint=hint,
                code="not_text",
                file=name,
                line=None if head is None else 1,
            )


def list_paths(path: str) -> list[str]:
    """Return the files of a folder or a pattern, by name; none for a single file.

    Hidden files are left out. Of the folders in a folder, those count that are called as partitions
    are: `day=2026-11-21`.
    """
    found: Iterable[str] = ()
    if is_address(path):
        from rankscope._inputs.buckets import check_url, list_addresses  # noqa: PLC0415 - needs Arrow

        path = check_url(path)
        found = list_addresses(path) if is_address(path) else list_paths(path)
    elif is_pattern(path):
        from glob import glob  # noqa: PLC0415 - see above

        found = filter(os.path.isfile, glob(path, recursive=True))  # noqa: PTH207 - see above
    elif os.path.isdir(path):  # noqa: PTH112 - see above
        found = _walk(path)
    # What the path itself names isn't hidden.
    hidden = re.compile(r"(?<![^/\\])[._][^/\\]*")
    return sorted(name for name in found if all(part in path for part in hidden.findall(name)))


def _walk(folder: str) -> Iterator[str]:
    for at, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if "=" in name]
        yield from filter(os.path.isfile, (os.path.join(at, name) for name in names))  # noqa: PTH118 - see above


def list_files(path: str) -> list[str]:
    """Return the table files of a folder or a pattern, by name; none for a single file."""
    files = [name for name in list_paths(path) if tell_format(name) != "trec"]
    is_folder = os.path.isdir(path)  # noqa: PTH112 - see above
    if not is_address(path) and (files or is_folder or tell_format(path) == "parquet"):
        from rankscope._inputs.lakes import refuse_parts  # noqa: PLC0415 - it imports this

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


def recognise_path(path: str, is_known: Callable[[list[str]], bool]) -> Format:
    """Return the format of a file, folder or pattern."""
    files = list_files(path)
    if files:
        return tell_format(files[0])
    refuse_binary(path)
    form = tell_format(path)
    if form == "tsv":
        header = read_first_line(path).split("\t")
        is_table = is_known([name.strip().strip('"') for name in header])
        form = "tsv" if is_table else "trec"
    # Looking into a pipe would take from it what is to be read.
    if FORMATS[form].is_text and os.path.isfile(path):  # noqa: PTH113 - see above
        with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123 - reading it will say why
            refuse_binary(path, file.read(HEAD))
    return form


def size_of(value: object) -> int:
    """Return the size in bytes of a file, or of all files of a folder or pattern, 0 if unknown."""
    if not isinstance(value, str):
        return len(value) if isinstance(value, bytes) else 0
    with suppress(OSError, ValueError):  # reading it will say why
        is_file = os.path.isfile(value)  # noqa: PTH113 - see above
        files = [value] if is_file else list_files(value) or [value]
        if not is_address(value):
            return sum(map(os.path.getsize, files))
        from rankscope._inputs.buckets import find_infos  # noqa: PLC0415 - it needs Arrow

        return sum(info.size or 0 for info in find_infos(files))
    return 0


def open_binary(source: str | bytes, name: str) -> BinaryIO:
    """Open a path, an address, `-` for standard input, or bytes."""
    if isinstance(source, bytes):
        return io.BytesIO(source)
    if source == "-":
        return sys.stdin.buffer
    if is_address(source):
        from rankscope._inputs.buckets import open_address  # noqa: PLC0415 - it needs Arrow

        remote: BinaryIO = open_address(source)
        return remote
    try:
        return open(source, "rb")  # noqa: PTH123 - the caller closes it
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error


def close(file: BinaryIO) -> None:
    """Close a file, unless it is standard input."""
    if file is not sys.stdin.buffer:
        file.close()


def _unreadable(name: str, error: Exception) -> FileError:
    reason = getattr(error, "strerror", None) or str(error)
    return FileError(reason, hint="check the path and its permissions", code="io", file=name)


class TextSource:
    """The bytes of text: decompressed, and converted to UTF-8.

    Args:
        file: Where they are.
        name: The name for messages.
        encoding: `utf-8` or `latin-1`.
        progress: A function that is called with the bytes of the file read so far.
        facts: The size and modification time that it has to keep (default: those it has now).
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        *,
        encoding: str,
        progress: Progress = None,
        facts: tuple[int, int] | None = None,
    ) -> None:
        self.name = name
        self._encoding = encoding
        self._progress = progress
        self._size = 0
        self._file = file
        self._facts = facts or facts_of(file)
        self._raw = _Counted(file)
        self._packed: Any = None
        for _, magic, packing in COMPRESSIONS:
            if self._raw.head.startswith(magic):
                raw = pa.PythonFile(self._raw, mode="r")
                self._packed = pa.CompressedInputStream(raw, packing)

    def read(self, size: int) -> bytes:
        """Return about `size` bytes, none at the end."""
        try:
            text: bytes = (self._packed or self._raw).read(size)
        except OSError as error:
            if self._packed is None:
                raise _unreadable(self.name, error) from error
            raise FormatError(
                f"expected whole compressed data, found it cut or damaged ({error})",
                hint="fetch the file again; nothing was taken from it",
                code="compressed_truncated",
                file=self.name,
            ) from error
        if self._size == 0:
            refuse_binary(self.name, text)
        self._size += len(text)
        if self._progress is not None:
            self._progress(self._raw.count)
        if not text:
            check_unchanged(self._file, self._facts, self.name)
        if self._packed and self._size > max(RATIO_FROM, MAX_RATIO * self._raw.count):
            raise LimitError(
                f"expected at most {MAX_RATIO} bytes from one packed byte, found more",
                hint="unpack the file first, if it can be trusted",
                code="decompressed_bytes",
                file=self.name,
            )
        return text.decode("latin-1").encode() if self._encoding == "latin-1" else text


class _Counted(io.RawIOBase):
    """A file that counts the bytes read, and knows its first ones."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.head = self._rest = file.read(4)
        self.count = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        text = self._rest + self._file.read(max(size - len(self._rest), 0))
        self._rest = b""
        self.count += len(text)
        return text


@contextmanager
def open_source(source: str | bytes, name: str, encoding: str = "utf-8") -> Iterator[TextSource]:
    """Open a text, unpacked."""
    file = open_binary(source, name)
    try:
        yield TextSource(file, name, encoding=encoding)
    finally:
        close(file)


def read_whole(given: str | bytes, name: str, encoding: str = "utf-8") -> bytes:
    """Read a whole text, unpacked."""
    with open_source(given, name, encoding) as source:
        return b"".join(iter(lambda: source.read(PIECE), b""))


def read_first_line(path: str) -> str:
    """Return the first non-blank line of a file, nothing if it can't be peeked into."""
    if path == "-" or is_pipe(path):
        return ""
    try:
        with open_source(path, path) as source:
            text = source.read(LONGEST_HEADER)
    except (OSError, ValueError, EOFError):  # as all errors of input are
        return ""  # reading it will say why
    line = next(filter(bytes.strip, text.splitlines()), b"")
    return line.decode(errors="replace").removeprefix("\ufeff")


@record(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """An open file, and what the reader of its format needs: see `rankscope.file.FORMATS`.

    Args:
        file: Where its bytes are.
        given: The path, or the bytes of a file.
        name: The name for messages.
        form: Its format.
        wanted: The columns that are wanted.
        encoding: How text is encoded.
        progress: A function that is called with the bytes read so far.
        facts: The size and modification time that the file has to keep.
        checks_text: Whether text in Parquet that isn't UTF-8 is an error of the file.
    """

    file: BinaryIO
    given: str | bytes
    name: str
    form: str
    wanted: Any = None
    encoding: str = "utf-8"
    progress: Progress = None
    facts: tuple[int, int] | None = None
    checks_text: bool = True

    def read_text(self, file: BinaryIO | None = None) -> TextSource:
        """Return the text from its beginning, decompressed and in UTF-8."""
        file = file or self.file
        file.seek(0)
        return TextSource(
            file, self.name, encoding=self.encoding, progress=self.progress, facts=self.facts
        )

    @contextmanager
    def open_again(self) -> Iterator[BinaryIO]:
        """Open the file once more, or give the copy of what was in a pipe."""
        if isinstance(self.given, str) and (self.given == "-" or is_pipe(self.given)):
            yield self.file
            return
        with open_binary(self.given, self.name) as file:
            yield file


def facts_of(file: BinaryIO) -> tuple[int, int] | None:
    """Return the size and modification time of a regular file, `None` for anything else."""
    try:
        facts = os.fstat(file.fileno())
    except (OSError, NotImplementedError):
        return None
    return (facts.st_size, facts.st_mtime_ns) if stat.S_ISREG(facts.st_mode) else None


def check_unchanged(file: BinaryIO, facts: tuple[int, int] | None, name: str) -> None:
    """Raise an error if a file has changed since its facts were taken."""
    if facts is not None and facts_of(file) != facts:
        raise FileError(
            f"expected {facts[0]} bytes throughout, but the file changed while it was read",
            hint="read it again once nobody writes to it",
            code="changed_while_reading",
            file=name,
        )


def read_partitions(path: str) -> dict[str, str | None]:
    """Read the columns that the folders of a path name, as Hive does.

    Examples:
        >>> read_partitions("log/date=2026-11-21/country=%C3%A9/part-0.parquet")
        {'date': '2026-11-21', 'country': 'é'}
    """
    from urllib.parse import unquote  # noqa: PLC0415 - see above

    pairs = (part.partition("=") for part in path.split("/")[:-1])
    cells = {unquote(name): unquote(text) for name, sign, text in pairs if name and sign}
    return {name: None if text == DEFAULT_PARTITION else text for name, text in cells.items()}


class WantedBeside:
    """What is wanted of a file, some of which its folders name.

    Args:
        wanted: What is wanted.
        partitions: The columns that the folders of the file name.
        varying: Those of them that differ among the files that are read together. Others are only
            found by the names that the caller gives: a file in `rank=1/` has no ranks.
    """

    def __init__(
        self, wanted: Wanted, partitions: Mapping[str, str | None], varying: Sequence[str]
    ) -> None:
        usable = {*wanted.others, *wanted.roles.values(), *varying}
        self._wanted = wanted
        self._offered = [name for name in partitions if name in usable]
        self.has_real_numbers = wanted.has_real_numbers

    def choose(
        self, names: Sequence[str], inside: Mapping[str, Sequence[str]], file: str
    ) -> dict[str, str]:
        """Choose the columns by role, and return those that are in the file: see `Wanted`."""
        self.beside = [name for name in self._offered if name not in names]
        self.columns = self._wanted.choose([*names, *self.beside], inside, file)
        return {role: name for role, name in self.columns.items() if name not in self.beside}


class PartitionedFile:
    """A file of rows, with the columns that its folders name. A column in the file comes first."""

    def __init__(
        self, file: Rows, wanted: WantedBeside, partitions: Mapping[str, str | None]
    ) -> None:
        text = pa.large_string()
        self.name, self.notes = file.name, file.notes
        self.names = [*file.names, *wanted.beside]
        self.columns = wanted.columns
        self.estimate = getattr(file, "estimate", None)
        self._file = file
        chosen = [name for name in wanted.beside if name in wanted.columns.values()]
        self._cells = [pa.scalar(partitions[name], text) for name in chosen]
        fields = (pa.field(name, text) for name in chosen)
        self.schema = pa.schema([*file.schema, *fields])

    def __iter__(self) -> Iterator[tuple[Any, Lines]]:
        for batch, lines in self._file:
            cells = (pa.repeat(cell, batch.num_rows) for cell in self._cells)
            columns = [*batch.columns, *cells]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema), lines

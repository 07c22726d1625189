"""Opens files, compressed or not, and words the errors of the operating system."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import contextmanager

from rankscope._core import MAX_RATIO, RATIO_FROM
from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.files.archives import read_member, split_member
from rankscope._inputs.files.formats import ARCHIVES, is_address
from rankscope.errors import FileError, FormatError, LimitError
from rankscope.file import COMPRESSIONS
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO, Protocol, TypeAlias

    from rankscope._inputs.text import Lines

    Progress: TypeAlias = Callable[[int], None] | None

    class File(Protocol):
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


HEAD = 8
PIECE = 1 << 20


def open_binary(given: str | bytes, name: str) -> BinaryIO:
    """Open a path, an address, a file in an archive, `-` for standard input, or bytes."""
    if isinstance(given, bytes):
        return io.BytesIO(given)
    if given == "-":
        return sys.stdin.buffer
    member = split_member(given)
    if member is not None:
        return io.BytesIO(read_member(given, *member))
    if is_address(given):
        from rankscope._inputs.buckets import open_address  # noqa: PLC0415 - it needs Arrow

        remote: BinaryIO = open_address(given)
        return remote
    try:
        return open(given, "rb")  # noqa: PTH123 - pathlib loads slowly; the caller closes it
    except (OSError, ValueError) as error:
        raise _say_why(given, name, error) from error


def close(file: BinaryIO) -> None:
    """Close a file, unless it is standard input."""
    if file is not sys.stdin.buffer:
        file.close()


def _say_why(path: str, name: str, error: OSError | ValueError) -> FileError:
    number = getattr(error, "errno", None)
    message = getattr(error, "strerror", None) or str(error)
    hint = "the operating system says so: see that it can be read at all"
    if number == errno.ENOENT and os.path.islink(path):  # noqa: PTH114 - as above
        message = "the link leads to no file"
        hint = "make the link anew, or name the file itself"
    elif number == errno.ENOENT:
        message, hint = "no such file", "check the path"
    elif number == errno.EACCES:
        message, hint = "no permission to read it", "check its mode and owner"
    elif number == errno.EISDIR:
        message, hint = "expected a file, found a directory", "name the files in it"
    return FileError(message, hint=hint, code="io", file=name)


class TextSource:
    """The bytes of text: decompressed, and converted to UTF-8.

    Args:
        file: Where they are.
        name: The name for messages.
        encoding: `utf-8` or `latin-1`.
        progress: A function that is called with the bytes of the file read so far.
        is_archive: Whether the text is that of an archive.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        *,
        encoding: str,
        progress: Progress = None,
        is_archive: bool = False,
    ) -> None:
        self.name = name
        self._archives = () if is_archive else ARCHIVES
        self._encoding = encoding
        self._progress = progress
        self._given = 0
        self._file = file
        self._facts = facts_of(self._file)
        self._raw = _Counted(self._file)
        self._packed = self._unpack()

    def _unpack(self) -> Any:  # noqa: ANN401 - a stream of PyArrow, which has no types
        head = self._raw.peek(HEAD)
        for _, magic, packing in COMPRESSIONS:
            if head.startswith(magic):
                arrow = load_arrow()
                return arrow.CompressedInputStream(arrow.PythonFile(self._raw, mode="r"), packing)
        return None

    def read(self, size: int) -> bytes:
        """Return about `size` bytes, none at the end."""
        try:
            text: bytes = (self._packed or self._raw).read(size)
        except OSError as error:
            if self._packed is not None:
                raise self._damaged(error) from error
            raise _say_why("", self.name, error) from error
        for archive in self._archives if self._given == 0 else ():
            if text.startswith(archive.magic, archive.at):
                raise archive.refuse(self.name)
        self._given += len(text)
        if self._progress is not None:
            self._progress(self._raw.count)
        if not text:
            check_unchanged(self._file, self._facts, self.name)
        elif self._packed is not None and self._given > RATIO_FROM:
            self._check_ratio()
        return text.decode("latin-1").encode() if self._encoding == "latin-1" else text

    def _damaged(self, error: OSError) -> FormatError:
        return FormatError(
            f"expected whole compressed data, found it cut or damaged ({error})",
            hint="fetch the file again; nothing was taken from it",
            code="compressed_truncated",
            file=self.name,
        )

    def _check_ratio(self) -> None:
        if self._given > MAX_RATIO * self._raw.count:
            raise LimitError(
                f"expected at most {MAX_RATIO} bytes from one packed byte, found more",
                hint="unpack the file first, if it can be trusted",
                code="decompressed_bytes",
                file=self.name,
            )


@contextmanager
def open_source(
    given: str | bytes, name: str, encoding: str = "utf-8", *, is_archive: bool = False
) -> Iterator[TextSource]:
    """Open a text, unpacked."""
    file = open_binary(given, name)
    try:
        yield TextSource(file, name, encoding=encoding, is_archive=is_archive)
    finally:
        close(file)


def read_whole(given: str | bytes, name: str, encoding: str = "utf-8") -> bytes:
    """Read a whole text, unpacked."""
    with open_source(given, name, encoding) as source:
        return b"".join(iter(lambda: source.read(PIECE), b""))


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
    """

    file: BinaryIO
    given: str | bytes
    name: str
    form: str
    wanted: Any = None
    encoding: str = "utf-8"
    progress: Progress = None

    def read_text(self) -> TextSource:
        """Return the text from its beginning, decompressed and in UTF-8."""
        # Who asks again, for the line of a row, may do so after all was read.
        file = open_binary(self.given, self.name) if self.file.closed else self.file
        file.seek(0)
        return TextSource(file, self.name, encoding=self.encoding, progress=self.progress)


class _Counted(io.RawIOBase):
    """A file that counts the bytes read, and lets callers peek at its start."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._head = b""
        self.count = 0

    def peek(self, size: int) -> bytes:
        """Return the first bytes without consuming them."""
        while len(self._head) < size and (more := self._file.read(size - len(self._head))):
            self._head += more
        return self._head

    def readable(self) -> bool:
        """Return that the file is readable."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        head, self._head = self._head, b""
        text = head + self._file.read(max(size - len(head), 0))
        self.count += len(text)
        return text


def facts_of(file: BinaryIO) -> tuple[int, int] | None:
    """Return the size and modification time of a regular file, `None` for anything else."""
    import stat  # noqa: PLC0415 - only tables need it

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

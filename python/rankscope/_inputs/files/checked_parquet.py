"""Opens Parquet files with PyArrow, which gets a checked copy of their metadata.

PyArrow ends the process for some damage of it, so that no other module opens a file.
"""

from __future__ import annotations

import io
from contextlib import contextmanager

from rankscope._core import ParquetFooter
from rankscope._inputs.arrow import load_arrow
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from typing import Any, BinaryIO, TypeAlias

    Foreign: TypeAlias = Any  # of PyArrow, which has no types


def read_footer(file: BinaryIO, name: str) -> ParquetFooter:
    """Check the metadata of a file."""
    try:
        return ParquetFooter(read_from(file), file.seek(0, io.SEEK_END))
    except FormatError as error:
        error.file = name
        raise


def read_from(file: BinaryIO) -> Callable[[int, int], bytes]:
    """Return a function that reads bytes of a file from an offset."""

    def read(offset: int, count: int) -> bytes:
        file.seek(offset)
        return file.read(count)

    return read


def read_metadata(footer: ParquetFooter) -> Foreign:
    """Return checked metadata as PyArrow has it."""
    copy = load_arrow().BufferReader(footer.copy)
    return load_arrow("pyarrow.parquet").read_metadata(copy)


def open_file(file: BinaryIO, name: str, **settings: object) -> Foreign:
    """Open a file with PyArrow, with settings of `pyarrow.parquet.ParquetFile`."""
    metadata = read_metadata(read_footer(file, name))
    return load_arrow("pyarrow.parquet").ParquetFile(file, metadata=metadata, **settings)


@contextmanager
def open_path(path: str | PathLike[str], **settings: object) -> Iterator[Foreign]:
    """Open the file at a path as `open_file` does, until the block ends."""
    with load_arrow().OSFile(str(path)) as file, open_file(file, str(path), **settings) as opened:
        yield opened

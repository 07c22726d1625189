"""The ways in which an input reaches the library."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import os
import threading
from contextlib import contextmanager, suppress

import pyarrow as pa


def pack_zstd(text):
    return pa.Codec("zstd").compress(text, asbytes=True)


PACKINGS = {
    "file": bytes,
    "gzip": lambda text: gzip.compress(text, 1),
    "zstd": pack_zstd,
    "bzip2": lambda text: bz2.compress(text, 1),
}


@contextmanager
def pipe_of(pieces, folder):
    """Return a named pipe that a thread writes the pieces to, as long as somebody reads."""
    path = folder / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=_write, args=(path, pieces))
    writer.start()
    try:
        yield path
    finally:
        writer.join()
        path.unlink()


@contextmanager
def meanwhile(act):
    """Do something again and again in another thread."""
    is_over = threading.Event()

    def repeat():
        while not is_over.is_set():
            act()

    other = threading.Thread(target=repeat)
    other.start()
    try:
        yield
    finally:
        is_over.set()
        other.join()


def _write(path, pieces):
    with suppress(BrokenPipeError), path.open("wb", buffering=0) as pipe:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)
        for piece in pieces:
            pipe.write(piece)

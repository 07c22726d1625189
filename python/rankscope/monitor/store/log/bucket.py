"""The archived hours of a store in a bucket, through the file systems of Arrow.

A file is read from a copy in a temporary folder, whose checksum was compared when it was fetched.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import weakref
from collections import OrderedDict
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex

from rankscope.errors import FileError
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.buckets import caught_errors, open_filesystem, split_url
from rankscope.monitor.store.log.files import (
    KEPT_SECONDS,
    KINDS,
    OWNER,
    PART,
    PRIVATE_FOLDER,
    Published,
    check_owner,
    compute_checksum,
    damaged,
    missing,
    name_file,
    name_hour,
    occupied,
    open_local_part,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any, TypeAlias

    from rankscope.monitor.store.log.files import FileKind, HistoryPlace, Listed

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

RETIRED = ".retired"
"""What the name of an empty object ends with that says since when a file is not needed."""
PIECE = 16 << 20
"""How much is asked for at once."""
CACHED_BYTES = 4 << 30
"""How much the copies may take: those that were not used for the longest time are removed."""
USED_SECONDS = 60.0
"""A copy that was used within this time stays: somebody may be about to open it."""


class HistoryBucket:
    """The archived hours of a store in a bucket, such as `s3://bucket/folder`.

    Args:
        url: The folder.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._place, self._base = split_url(self._url)
        self._base = self._base.rstrip("/")
        self._copies = _Copies()

    def locate(self, path: str) -> str:
        """Return the URL of a file."""
        return f"{self._url}/{path}"

    def check(self, listed: Listed, *, is_forced: bool = False) -> Path:
        """Return the path of a copy of a file, which is fetched if there is none."""
        copy = None if is_forced else self._copies.find(listed)
        if copy is None:
            copy = self._copies.folder() / token_hex(16)
            stored = None
            try:
                stored = self._fetch(listed.path, copy)
            finally:
                if stored != (listed.size, listed.checksum):
                    copy.unlink(missing_ok=True)
            if stored != (listed.size, listed.checksum):
                raise damaged(self.locate(listed.path), "it is not the file that was written")
            self._copies.add(listed, copy)
        return copy

    @contextmanager
    def open_part(self, project: str, start: int, kind: FileKind = "rankings") -> Iterator[Path]:
        """Let a block write a file in a temporary folder."""
        with tempfile.TemporaryDirectory(prefix="rankscope-") as made:
            folder = Path(made) / name_hour(project, start, kind)
            folder.mkdir(PRIVATE_FOLDER, parents=True)
            with open_local_part(folder) as part:
                yield part

    def publish(self, part: Path) -> Published:
        """Upload a file, compare what is stored, and give it its name."""
        return self.put(part, "/".join((*part.parts[-5:-1], name_file(compute_checksum(part)))))

    def put_copy(self, listed: Listed, place: HistoryPlace) -> None:
        """Copy a file from another place under the same path."""
        if self.put(place.check(listed), listed.path).checksum != listed.checksum:
            self.remove(listed.path)
            raise damaged(place.locate(listed.path), "it has changed while it was copied")

    def put(self, part: Path, path: str) -> Published:
        """Upload any file to a path, and compare what is stored before it has its name."""
        checksum, size = compute_checksum(part), part.stat().st_size
        temporary = f"{path}{PART}"
        with self._errors(path):
            files = self._open()
            try:
                with (
                    part.open("rb") as source,
                    files.open_output_stream(self._key(temporary)) as target,
                ):
                    shutil.copyfileobj(source, target, PIECE)
                with tempfile.NamedTemporaryFile() as copy:
                    stored = self._fetch(temporary, Path(copy.name))
                if stored == (size, checksum):
                    files.move(self._key(temporary), self._key(path))
                    stored = files.get_file_info(self._key(path)).size, checksum
            finally:
                with suppress(OSError):
                    files.delete_file(self._key(temporary))
        if stored != (size, checksum):
            raise damaged(self.locate(path), "the bucket has not stored what was sent")
        return Published(path, size, checksum)

    def retire(self, path: str) -> None:
        """Note with an empty object that a file was replaced just now."""
        with suppress(FileError), self._errors(path):
            self._write(f"{path}{RETIRED}", b"")

    def remove(self, path: str) -> None:
        """Remove a file, and the note that it was replaced."""
        for name in (path, f"{path}{RETIRED}"):
            with self._errors(path), suppress(FileNotFoundError):
                self._open().delete_file(self._key(name))
        self._copies.drop(path)

    def list_hour(self, project: str, start: int) -> list[str]:
        """List the paths of all files of an hour, also of those that were replaced."""
        listed = [path for kind in KINDS for path in self._list(name_hour(project, start, kind))]
        return sorted(path for path in listed if path.endswith(".parquet"))

    def clean(self, known: Collection[str], *, kept_seconds: float = KEPT_SECONDS) -> int:
        """Remove files that are not listed.

        A file that is found without a note when it was replaced is noted first: it may be read.
        """
        before = datetime.now(UTC).timestamp() - kept_seconds
        listed = self._list("")
        count = 0
        for path, written in listed.items():
            if path in known or written > before:
                continue
            if path.endswith(".parquet"):
                noted = listed.get(f"{path}{RETIRED}")
                if noted is None and kept_seconds:
                    self.retire(path)
                elif noted is None or noted <= before:
                    self.remove(path)
                    count += 1
            elif path.endswith(PART) or (
                path.endswith(RETIRED) and path.removesuffix(RETIRED) not in listed
            ):
                self.remove(path)
                count += path.endswith(PART)
        return count

    def list_files(self) -> list[str]:
        """List the paths of all files, complete or not, by name."""
        return sorted(self._list(""))

    def list_open(self) -> list[Path]:
        """Return nothing: who may read a bucket is not said in the files."""
        return []

    def claim(self, store: str) -> None:
        """Take the folder in the bucket for a store."""
        with self._errors(OWNER):
            try:
                with self._open().open_input_stream(self._key(OWNER)) as source:
                    owner: str | None = source.read().decode()
            except FileNotFoundError:
                owner = None
        if owner is not None:
            check_owner(self._url, owner, store)
        elif self._list(""):
            raise occupied(self._url)
        else:
            with self._errors(OWNER):
                self._write(OWNER, store.encode())

    def _key(self, path: str) -> str:
        return f"{self._base}/{path}" if path else self._base

    def _open(self) -> Foreign:
        return open_filesystem(self._place)

    def _write(self, path: str, content: bytes) -> None:
        with self._open().open_output_stream(self._key(path)) as target:
            target.write(content)

    def _list(self, folder: str) -> dict[str, float]:
        """Return when the files in a folder were written, in seconds since 1970, by their paths."""
        filesystems = load_arrow("pyarrow.fs")
        selector = filesystems.FileSelector(self._key(folder), allow_not_found=True, recursive=True)
        with self._errors(folder):
            infos = self._open().get_file_info(selector)
        start = len(self._base) + 1
        return {
            info.path[start:]: info.mtime.timestamp()
            for info in infos
            if info.type == filesystems.FileType.File
        }

    def _fetch(self, path: str, target: Path) -> tuple[int, bytes]:
        """Copy a file to one here, and return its size and checksum."""
        checksum, size = blake2b(digest_size=16), 0
        with self._errors(path):
            try:
                opened = self._open().open_input_stream(self._key(path))
            except FileNotFoundError as error:
                raise missing(self.locate(path), error) from error
            with opened as source, target.open("wb") as copy:
                while piece := source.read(PIECE):
                    checksum.update(piece)
                    size += copy.write(piece)
        return size, checksum.digest()

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        """Turn the errors of the bucket into those of a place that cannot be reached now."""

        def describe(reason: str) -> FileError:
            return FileError(
                f"the place of the history files cannot be reached: {reason}",
                hint="check the network, the rights, and the credentials in the environment; "
                "nothing is lost, and what failed is tried again",
                code="history_unreachable",
                file=self.locate(path),
            )

        with caught_errors(describe):
            yield


class _Copies:
    """Copies of files in a temporary folder of this process, which is removed when it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, bytes], tuple[Path, int, float]] = OrderedDict()
        self._folder: Path | None = None
        self._process = 0
        self._removal: weakref.finalize[..., _Copies] | None = None

    def folder(self) -> Path:
        """Return the folder, which a child process doesn't share with its parent."""
        with self._lock:
            if self._folder is None or self._process != os.getpid():
                if self._removal is not None:
                    self._removal.detach()
                self._found.clear()
                self._process = os.getpid()
                self._folder = Path(tempfile.mkdtemp(prefix="rankscope-history-"))
                self._removal = weakref.finalize(self, shutil.rmtree, self._folder, True)
            return self._folder

    def find(self, listed: Listed) -> Path | None:
        """Find the copy of a file."""
        self.folder()
        with self._lock:
            key = (listed.path, listed.checksum)
            path, size, _ = self._found.pop(key, (None, 0, 0.0))
            if path is None or not path.exists():
                return None
            self._found[key] = path, size, time.monotonic()
            return path

    def add(self, listed: Listed, path: Path) -> None:
        """Add a copy, and remove others if there is no room for all of them."""
        with self._lock:
            now = time.monotonic()
            self._found[listed.path, listed.checksum] = path, listed.size, now
            total = sum(size for _, size, _ in self._found.values())
            for key, (other, size, used) in list(self._found.items())[:-1]:
                if total <= CACHED_BYTES or now - used < USED_SECONDS:
                    break
                del self._found[key]
                other.unlink(missing_ok=True)
                total -= size

    def drop(self, path: str) -> None:
        """Remove the copy of a file."""
        with self._lock:
            for key in [key for key in self._found if key[0] == path]:
                self._found.pop(key)[0].unlink(missing_ok=True)

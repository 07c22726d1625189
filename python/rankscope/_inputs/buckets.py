"""Files in buckets, through the file systems of PyArrow and fsspec."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rankscope._inputs.files import first_line
from rankscope.deferred import arrow_fs
from rankscope.errors import FileError, RankscopeError, UsageError, hint_extra
from rankscope.output.text import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from rankscope._inputs.doubles import Foreign


CHECK = "check the path, the permissions and the credentials in the environment"
INSTALL = f"install that package; for deltalake, pyiceberg or fsspec, {hint_extra('lake')}"
WILD = re.compile(r"[*?\[]")
# Without a limit, PyArrow repeats a request that has no credentials for 15 minutes.
ARROW = {"s3": "", "gs": "?retry_limit_seconds=30", "abfs": "", "abfss": ""}


def check_url(text: str) -> str:
    """Return the URL of files, without credentials; a path on this computer becomes absolute.

    Examples:
        >>> check_url("s3://log/impressions/*.parquet"), check_url("file:///data/a%20b")
        ('s3://log/impressions/*.parquet', '/data/a b')
        >>> check_url("s3://key:secret@log/impressions")
        Traceback (most recent call last):
          ...
        rankscope.errors.UsageError: the URL s3://log/impressions contains credentials
        <BLANKLINE>
        Hint: put them into the environment, as for the tools of the provider
    """
    if text and "://" not in text:
        return os.path.abspath(text)  # noqa: PTH100 - Path removes a slash at the end, too
    scheme, _, rest = text.partition("://")
    place, _, path = rest.partition("/")
    user, has_user, host = place.rpartition("@")
    plain, _, query = path.partition("?")
    shown = show(f"{scheme}://{host}/{plain}" if text else text)
    is_local = scheme == "file" and place in {"", "localhost"}
    problem, hint = "", "put them into the environment, as for the tools of the provider"
    if scheme in {"", "http", "https", "ftp", "hf"} or (scheme == "file" and not is_local):
        problem = f"cannot read from {shown}"
        hint = "pass a path or an address such as s3://bucket/folder; download other files first"
    elif "=" in query or (has_user and (":" in user or not scheme.startswith("abfs"))):
        problem = f"the URL {shown} contains credentials"
    if problem:
        raise UsageError(problem, hint=hint, code="lake_url")
    return f"/{unquote(path)}" if is_local else text


@contextmanager
def converted_errors(
    file: str, problem: str = "cannot read it", code: str = "lake_read"
) -> Iterator[None]:
    """Turn the errors of file systems and of table formats into errors of a file."""
    try:
        yield
    except RankscopeError:
        raise
    except Exception as error:
        hint = CHECK
        if isinstance(error, ImportError):
            hint, code = INSTALL, "missing_extra"
        reason = hide_secrets(first_line(error))
        raise FileError(f"{problem}: {reason:.300}", hint=hint, code=code, file=file) from error


def hide_secrets(text: str) -> str:
    """Remove what may be credentials from the message of another library.

    Examples:
        >>> hide_secrets("GET https://me:secret@host/x?X-Amz-Signature=abc failed")
        'GET https://host/x?... failed'
    """
    without_users = re.sub(r"://[^/\s@]*@", "://", text)
    return re.sub(r"\?\S*", lambda query: "?..." if "=" in query[0] else query[0], without_users)


@lru_cache(maxsize=16)
def open_filesystem(place: str) -> Foreign:
    """Open a bucket, such as `s3://log`, as a file system of PyArrow with the paths in it."""
    scheme = place.partition("://")[0]
    with converted_errors(place):
        if scheme in ARROW:
            opened, root = arrow_fs.FileSystem.from_uri(f"{place}/{ARROW[scheme]}")
            return arrow_fs.SubTreeFileSystem(root.rstrip("/"), opened)
        from fsspec.core import url_to_fs  # noqa: PLC0415 - most addresses don't need it
        from fsspec.implementations.dirfs import DirFileSystem  # noqa: PLC0415 - as above

        opened, root = url_to_fs(place)
        return arrow_fs.PyFileSystem(arrow_fs.FSSpecHandler(DirFileSystem(root, opened)))


def split_url(url: str) -> tuple[str, str]:
    """Return the bucket of a URL, and the path in it.

    Examples:
        >>> split_url("s3://log/a/**/*.parquet"), split_url("s3://log/a/")
        (('s3://log', 'a/**/*.parquet'), ('s3://log', 'a'))
    """
    scheme, _, rest = url.partition("://")
    bucket, _, path = rest.partition("/")
    return f"{scheme}://{bucket}", path.rstrip("/")


def find_infos(urls: Sequence[str]) -> Foreign:
    """Return what PyArrow knows of each address in a bucket, such as its type and size."""
    places, paths = zip(*map(split_url, urls), strict=True)
    with converted_errors(urls[0]):
        return open_filesystem(places[0]).get_file_info([*paths])


def list_folder(url: str, *, is_recursive: bool = False) -> Foreign:
    """Return what is in a folder; nothing if there is no such folder."""
    place, path = split_url(url)
    selector = arrow_fs.FileSelector(path, True, is_recursive)
    return open_filesystem(place).get_file_info(selector)


def list_addresses(url: str) -> list[str]:
    """Return the addresses of the files in a folder, or that match a pattern; none for a file."""
    place, path = split_url(url)
    with converted_errors(url):
        if find_infos([url])[0].is_file:
            return []
        if WILD.search(path) is None:
            infos = list_folder(url, is_recursive=True)
            # Of the folders in a folder, those count that are called as partitions are.
            plain = re.compile(re.escape(path) + r"/?([^/]*=[^/]*/)*[^/]*").fullmatch
            names = [info.path for info in infos if info.is_file and plain(info.path)]
        else:
            from fsspec.implementations.arrow import ArrowFSWrapper  # noqa: PLC0415 - as above

            infos = ArrowFSWrapper(open_filesystem(place)).glob(path, detail=True)
            names = [name for name, info in infos.items() if info["type"] == "file"]
    return [f"{place}/{name}" for name in names]


def open_address(url: str) -> BinaryIO:
    """Open a file in a bucket."""
    place, path = split_url(url)
    with converted_errors(url):
        return open_filesystem(place).open_input_file(path)  # type: ignore[no-any-return]

"""Lists and opens files, here and in buckets, through the file systems of Arrow."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rankscope._inputs.arrow import load_arrow
from rankscope.errors import FileError, FormatError, UsageError
from rankscope.output.text import show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

SCHEMES = ("file", "s3", "gs", "az", "abfs", "abfss")
WILD = re.compile(r"[*?\[]")
HIDDEN = ("_", ".")
RETRIES = 30.0
"""For so many seconds a request to Google Cloud Storage is repeated."""


@record(frozen=True, slots=True)
class DataFile:
    """A file with rows of a table.

    Args:
        path: Where it is.
        size: Its size in bytes.
        stamp: Changes with its content, such as when it was written.
    """

    path: str
    size: int
    stamp: str


def check_url(text: str) -> str:
    """Return the URL of a table or a pattern of files; a path here becomes absolute.

    Examples:
        >>> check_url("s3://log/impressions/**.parquet")
        's3://log/impressions/**.parquet'
        >>> check_url("s3://key:secret@log/impressions")
        Traceback (most recent call last):
          ...
        rankscope.errors.UsageError: the URL s3://log/impressions contains credentials
        <BLANKLINE>
        Hint: put them into the environment, as for the tools of the provider
    """
    if "://" not in text:
        if not text:
            raise UsageError(
                "expected a path or a URL, found empty text",
                hint="use a folder or a pattern such as 'impressions/**.parquet'",
                code="lake_url",
            )
        return os.path.abspath(text)  # noqa: PTH100 - Path removes a slash at the end, too
    scheme, _, rest = text.partition("://")
    place, _, path = rest.partition("/")
    user, has_user, host = place.rpartition("@")
    if scheme not in SCHEMES:
        raise UsageError(
            f"cannot read from {show(scheme[:40])}://",
            hint="download the file first, and pass its path"
            if scheme in {"http", "https", "ftp", "hf"}
            else "use a local path, s3://, gs://, az:// or abfs://",
            code="lake_url",
        )
    is_container = scheme.startswith("abfs") and ":" not in user
    is_signed = "?" in path and "=" in path.partition("?")[2]
    if (has_user and not is_container) or is_signed:
        shown = f"{scheme}://{host}/{path.partition('?')[0]}"
        raise UsageError(
            f"the URL {show(shown)} contains credentials",
            hint="put them into the environment, as for the tools of the provider",
            code="lake_url",
        )
    if scheme == "file":
        split = urlsplit(text)
        if split.netloc not in {"", "localhost"}:
            raise UsageError(
                f"the URL {show(text)} names another computer",
                hint="write file:///folder with three slashes, or the path alone",
                code="lake_url",
            )
        return str(Path(unquote(text.removeprefix("file://").removeprefix("localhost"))))
    return text


@contextmanager
def converted_errors(path: str) -> Iterator[None]:
    """Turn the errors of Arrow, of file systems and of table formats into errors of files."""

    def describe(reason: str) -> FileError:
        return FileError(
            f"cannot read it: {reason}",
            hint="check the path, the permissions and the credentials in the environment",
            code="lake_read",
            file=path,
        )

    with caught_errors(describe):
        yield


@contextmanager
def caught_errors(describe: Callable[[str], FileError]) -> Iterator[None]:
    """Turn the errors of Arrow and of file systems into those that a function returns."""
    arrow = load_arrow()
    try:
        yield
    except FileError:
        raise
    except (OSError, FormatError, arrow.ArrowException) as error:
        raise describe(find_reason(error)) from error


def find_reason(error: Exception) -> str:
    """Return the first line of what another library says, without what may be credentials."""
    text = error.message if isinstance(error, FormatError) else str(error)
    return f"{hide_secrets(text.splitlines()[0] if text else type(error).__name__):.300}"


def hide_secrets(text: str) -> str:
    """Remove what may be credentials from the message of another library.

    Examples:
        >>> hide_secrets("GET https://me:secret@host/x?X-Amz-Signature=abc failed")
        'GET https://host/x?... failed'
    """
    without_users = re.sub(r"://[^/\s@]*@", "://", text)
    return re.sub(r"\?\S*", lambda found: "?..." if "=" in found[0] else found[0], without_users)


@lru_cache(maxsize=16)
def open_filesystem(place: str) -> Foreign:
    """Open a file system: that of this computer, or of a bucket."""
    filesystems = load_arrow("pyarrow.fs")
    if not place:
        return filesystems.LocalFileSystem()
    scheme, _, bucket = place.partition("://")
    with converted_errors(place):
        if scheme == "s3":
            return _open_s3(bucket)
        if not hasattr(filesystems, "GcsFileSystem" if scheme == "gs" else "AzureFileSystem"):
            raise UsageError(
                f"this PyArrow cannot read from {scheme}://",
                hint="install PyArrow from its wheels",
                code="lake_url",
            )
        if scheme == "gs":
            # Without a limit, a request without credentials is repeated for 15 minutes.
            return filesystems.GcsFileSystem(retry_time_limit=timedelta(seconds=RETRIES))
        if scheme == "az":
            return _open_azure(place)
        return filesystems.FileSystem.from_uri(f"{place}/")[0]


def _open_azure(place: str) -> Foreign:
    """Open a container of the storage account of the environment, as the tools of Azure do."""
    names = ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")
    account = next((os.environ[name] for name in names if os.environ.get(name)), None)
    if account is None:
        raise UsageError(
            f"{show(place)} doesn't say which storage account it is in",
            hint=f"set {names[0]}, or write abfs://container@account.dfs.core.windows.net/path",
            code="lake_url",
        )
    key = os.environ.get("AZURE_STORAGE_KEY") or os.environ.get("AZURE_STORAGE_ACCOUNT_KEY")
    return load_arrow("pyarrow.fs").AzureFileSystem(account, account_key=key)


def _open_s3(bucket: str) -> Foreign:
    """Open S3 with the region and the endpoint of the environment, as the tools of AWS do."""
    filesystems = load_arrow("pyarrow.fs")
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None and endpoint is None:
        region = filesystems.resolve_s3_region(bucket)
    return filesystems.S3FileSystem(region=region or "us-east-1", endpoint_override=endpoint)


def split_url(url: str) -> tuple[str, str]:
    """Return the scheme and bucket of a URL, and the path within its file system.

    Examples:
        >>> split_url("s3://log/a/**.parquet"), split_url("/data/a")
        (('s3://log', 'log/a/**.parquet'), ('', '/data/a'))
    """
    if "://" not in url:
        return "", url
    scheme, _, rest = url.partition("://")
    bucket, _, path = rest.partition("/")
    container = bucket.partition("@")[0]
    return f"{scheme}://{bucket}", f"{container}/{path}"


def write_url(place: str, path: str) -> str:
    """Return the URL of a path within the file system of a place: see `split_url`.

    Examples:
        >>> write_url("s3://log", "log/a/b.parquet"), write_url("abfs://log@host", "log/a")
        ('s3://log/a/b.parquet', 'abfs://log@host/a')
    """
    container = place.partition("://")[2].partition("@")[0]
    return f"{place}{path.removeprefix(container)}"


def list_files(url: str, ending: str = ".parquet") -> list[DataFile]:
    """List the files of a folder or a pattern, by path.

    `*` stands for a part of a name, `**` also for folders. Files and folders whose names begin with
    `_` or `.` are left out: writers put what is not finished there.
    """
    place, pattern = split_url(url)
    filesystems = load_arrow("pyarrow.fs")
    base = find_base(pattern)
    opened = open_filesystem(place)
    with converted_errors(url):
        if base == pattern.rstrip("/"):
            info = opened.get_file_info(base)
            if info.type == filesystems.FileType.File:
                return [_to_file(info)]
        selector = filesystems.FileSelector(base, allow_not_found=True, recursive=True)
        infos = opened.get_file_info(selector)
    whole = pattern if WILD.search(pattern) else f"{pattern.rstrip('/')}/**{ending}"
    matches = re.compile(write_regex(whole)).fullmatch
    files = [
        _to_file(info)
        for info in infos
        if info.type == filesystems.FileType.File
        and not any(part.startswith(HIDDEN) for part in info.path[len(base) :].split("/"))
        and matches(info.path)
    ]
    return sorted(files, key=lambda file: file.path)


def list_addresses(url: str) -> list[str]:
    """Return the addresses of the files that a folder or a pattern matches; none for a file.

    Of the folders in a folder, those count that are called as partitions are: `day=2026-11-21`.
    """
    place, path = split_url(url)
    found = list_files(url, "")
    if [file.path for file in found] == [path]:
        return []
    if not WILD.search(path):
        start = len(path.rstrip("/")) + 1
        found = [
            file for file in found if all("=" in part for part in file.path[start:].split("/")[:-1])
        ]
    return [write_url(place, file.path) for file in found]


def measure_address(url: str) -> int:
    """Return the size in bytes of a file, or of all files of a folder or pattern, 0 if unknown."""
    try:
        return sum(file.size for file in list_files(url, ""))
    except FileError:
        return 0  # reading it will say why


def open_address(url: str) -> Any:  # noqa: ANN401 - of PyArrow, as a file of Python's
    """Open a file in a bucket."""
    place, path = split_url(url)
    with converted_errors(url):
        return open_filesystem(place).open_input_file(path)


def _to_file(info: Foreign) -> DataFile:
    return DataFile(info.path, info.size or 0, str(info.mtime_ns))


def find_base(pattern: str) -> str:
    """Return the folder that contains everything a pattern may match.

    Examples:
        >>> find_base("log/impressions/date=*/**.parquet"), find_base("/data/log/")
        ('log/impressions', '/data/log')
    """
    wild = WILD.search(pattern)
    if wild is None:
        return pattern.rstrip("/") or "/"
    return pattern[: wild.start()].rpartition("/")[0] or "/"


def write_regex(pattern: str) -> str:
    """Write a pattern of paths as a regular expression.

    Examples:
        >>> import re
        >>> found = re.compile(write_regex("a/**.parquet")).fullmatch
        >>> [bool(found(path)) for path in ("a/x.parquet", "a/b/x.parquet", "ab/x.parquet")]
        [True, True, False]
        >>> bool(re.fullmatch(write_regex("a/**/x?.pq"), "a/x1.pq"))
        True
    """
    parts = []
    rest = pattern
    while rest:
        if rest.startswith("**/"):
            parts.append("(?:.*/)?")
            rest = rest[3:]
        elif rest.startswith("**"):
            parts.append(".*")
            rest = rest[2:]
        elif rest[0] in "*?":
            parts.append("[^/]*" if rest[0] == "*" else "[^/]")
            rest = rest[1:]
        elif rest[0] == "[" and "]" in rest[2:]:
            inner, _, after = rest[1:].partition("]")
            sign = "^" if inner[:1] in "!^" else ""
            parts.append(f"[{sign}{re.escape(inner[len(sign) :]).replace(chr(92) + '-', '-')}]")
            rest = after
        else:
            parts.append(re.escape(rest[0]))
            rest = rest[1:]
    return "".join(parts)

"""Files in buckets, through the file systems of PyArrow and fsspec."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, BinaryIO
from urllib.parse import unquote

import pyarrow.fs as arrow_fs

from rankscope._inputs.columnar import Batches
from rankscope._inputs.files import first_line, is_address
from rankscope._inputs.numbers import Foreign
from rankscope._show.table import show
from rankscope.errors import FileError, FormatError, RankscopeError, UsageError, hint_extra

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
        from fsspec.core import url_to_fs
        from fsspec.implementations.dirfs import DirFileSystem

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
            from fsspec.implementations.arrow import ArrowFSWrapper

            infos = ArrowFSWrapper(open_filesystem(place)).glob(path, detail=True)
            names = [name for name, info in infos.items() if info["type"] == "file"]
    return [f"{place}/{name}" for name in names]


def open_address(url: str) -> BinaryIO:
    """Open a file in a bucket."""
    place, path = split_url(url)
    with converted_errors(url):
        return open_filesystem(place).open_input_file(path)  # type: ignore[no-any-return]


DELTA, HUDI, ICEBERG = "Delta Lake", "Apache Hudi", "Apache Iceberg"
EVIDENCE = {"_delta_log": DELTA, ".hoodie": HUDI, "metadata": ICEBERG}
METADATA = ".metadata.json"
# Other programs, too, have a folder called metadata.
ICEBERG_METADATA = re.compile(r"version-hint\.text|.+\.metadata\.json(\.gz)?")
# So many folders above a file can be those of partitions.
MOST_LEVELS = 8


def find_table(start: str) -> tuple[str, str] | None:
    """Return the kind of the table that a path is, or is in, and what tells so in its folder."""
    parts = (start.rstrip("/") if is_address(start) else os.path.realpath(start)).split("/")
    top = 3 if is_address(start) else 1  # a bucket, or the root of this computer
    roots = ["/".join(parts[:end]) for end in range(len(parts), top - 1, -1)][:MOST_LEVELS]
    folders = [
        f"{root}/{name}"
        for root in roots
        for name, kind in EVIDENCE.items()
        if kind != ICEBERG or root == roots[0] or f"{roots[0]}/".startswith(f"{root}/data/")
    ]
    if is_address(start):
        pairs = zip(folders, find_infos(folders), strict=True)
        folders = [folder for folder, info in pairs if info.type.name == "Directory"]
    else:
        folders = [*filter(os.path.isdir, folders)]
    for folder in folders:
        kind = EVIDENCE[os.path.basename(folder)]  # noqa: PTH119 - as above
        if kind != ICEBERG or any(map(ICEBERG_METADATA.fullmatch, _list_names(folder))):
            return kind, folder
    return None


def _list_names(folder: str) -> list[str]:
    if is_address(folder):
        with converted_errors(folder):
            return [info.base_name for info in list_folder(folder)]
    return os.listdir(folder)  # noqa: PTH208 - names are enough


def refuse_parts(path: str, parts: Iterable[str]) -> None:
    """Raise an error if files or folders are in a table of a lakehouse."""
    for table in filter(None, map(find_table, dict.fromkeys(parts))):
        raise _refuse(path, *table)


def _refuse(path: str, kind: str, evidence: str) -> FormatError:
    root, _, name = evidence.rpartition("/")
    hint = f"pass the folder of the table, whose current rows are read: {root}"
    if kind == HUDI:
        hint = "read it with Spark or the package hudi, and pass the Arrow table or data frame"
    message = (
        f"expected plain files, found a table of {kind}: {root} contains {name}. Rows that were "
        "deleted or overwritten are still in its files, and would count"
    )
    return FormatError(message, hint=hint, code="lakehouse_table", file=path)


def find_current(path: str) -> Batches | None:
    """Return the current rows of a Delta or Iceberg table; `None` if the path is no such table."""
    if path.endswith(METADATA):
        return _read_iceberg(path)
    kind, evidence = find_table(WILD.split(path)[0] if is_address(path) else path) or ("", "")
    if not kind:
        return None
    whole = path.rstrip("/") if is_address(path) else os.path.realpath(path)
    if kind == HUDI or os.path.dirname(evidence) != whole:  # noqa: PTH120 - as above
        raise _refuse(path, kind, evidence)
    return _read_delta(path) if kind == DELTA else _read_iceberg(path, evidence)


def find_batches(table: Any) -> Batches | None:  # noqa: ANN401 - of a library
    """Return the current rows of a table of `deltalake` or `pyiceberg`; `None` for others."""
    delta, iceberg = map(sys.modules.get, ("deltalake", "pyiceberg.table"))
    if delta is not None and isinstance(table, delta.DeltaTable):
        return _read_delta(str(table.table_uri), table)
    if iceberg is not None and isinstance(table, iceberg.Table):
        return _read_iceberg(table.location(), table=table)
    return None


def _read_delta(url: str, table: Any = None) -> Batches:  # noqa: ANN401 - of a library
    with converted_errors(url, "cannot read the table"):
        if table is None:
            from deltalake import DeltaTable

            table = DeltaTable(url)
        _refuse_features(url, table)
        rows = table.to_pyarrow_dataset()
    return _to_batches(url, rows.schema, lambda names: rows.to_batches(columns=names))


def _refuse_features(url: str, table: Any) -> None:  # noqa: ANN401 - of a library
    """Raise an error for a Delta table that `deltalake` refuses, or reads by the wrong names."""
    refused = []
    if "deletionVectors" in (table.protocol().reader_features or ()):
        refused.append("deletion vectors, which name rows of its files that are deleted")

    def look(field: dict[str, Any]) -> dict[str, Any]:
        stored = (field.get("metadata") or {}).get("delta.columnMapping.physicalName")
        if stored not in {None, field.get("name")}:
            refused.append(f"the column {field['name']} as {stored} in its files")
        return field

    json.loads(table.schema().to_json(), object_hook=look)
    if refused:
        problems = " and ".join(refused)[:200]
        message = f"expected a Delta table that the package deltalake can read, found {problems}"
        hint = "read it with Spark, or with DuckDB's extension delta, and pass the data frame"
        raise FormatError(message, hint=hint, code="lakehouse_table", file=url)


def _read_iceberg(url: str, metadata: str = "", table: Any = None) -> Batches:  # noqa: ANN401 - of a library
    with converted_errors(url, "cannot read the table"):
        if table is None:
            from pyiceberg.table import StaticTable

            table = StaticTable.from_metadata(_find_newest(metadata) if metadata else url)
        schema = table.schema().as_arrow()

    def read(names: list[str]) -> Iterable[Any]:
        return table.scan(selected_fields=tuple(names)).to_arrow_batch_reader()  # type: ignore[no-any-return]

    return _to_batches(url, schema, read)


def _find_newest(folder: str) -> str:
    """Return the newest file of metadata: `v3.metadata.json` or `00003-….metadata.json`."""
    names = [name for name in _list_names(folder) if name.endswith(METADATA)]
    if not names:
        raise FileNotFoundError("it has no metadata")
    newest = max(names, key=lambda name: (int(re.sub(r"v?(\d*).*", r"\1", name) or -1), name))
    return f"{folder}/{newest}"


def _to_batches(url: str, schema: Any, read: Callable[[list[str]], Iterable[Any]]) -> Batches:  # noqa: ANN401 - of a library
    def read_all(names: list[str]) -> Iterator[Any]:
        with converted_errors(url):
            yield from read(names)

    return Batches(lambda: schema, read_all)

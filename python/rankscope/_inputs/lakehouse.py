"""Tables of Delta Lake and Apache Iceberg: their current rows, through their own libraries."""

from __future__ import annotations

import sys
from importlib import import_module

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.batches import Batches
from rankscope._inputs.buckets import (
    converted_errors,
    find_base,
    find_reason,
    list_files,
    open_filesystem,
    split_url,
    write_url,
)
from rankscope._inputs.files.formats import is_address, tell_format
from rankscope._inputs.files.lakehouse import (
    DELTA,
    HUDI,
    ICEBERG,
    ICEBERG_DATA,
    MOST_LEVELS,
    find_local_layout,
    refuse_files,
)
from rankscope.errors import FileError, FormatError, hint_extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Literal, TypeAlias

    Foreign: TypeAlias = Any  # of PyArrow, which has no types
    Layout: TypeAlias = Literal["parquet", "delta", "iceberg"]

METADATA = ".metadata.json"


def find_current(path: str) -> Batches | None:
    """Return the current rows of a Delta or Iceberg table; `None` if the path is no such table."""
    if path.endswith(METADATA):
        return _to_batches(IcebergTable(path))
    layout = _find_remote_layout(path) if is_address(path) else find_local_layout(path)
    if layout == "parquet":
        return None
    return _to_batches(DeltaTable(path) if layout == "delta" else IcebergTable(path))


def _find_remote_layout(url: str) -> Layout:
    """Tell how a table in a bucket is stored, and refuse a path within one of a lakehouse."""
    place, path = split_url(url)
    folder = find_base(path)
    opened = open_filesystem(place)
    kinds = load_arrow("pyarrow.fs").FileType
    is_whole = folder == path.rstrip("/")
    with converted_errors(url):
        if is_whole and opened.get_file_info(folder).type == kinds.File:
            if tell_format(folder) != "parquet":
                return "parquet"
            folder, is_whole = folder.rpartition("/")[0], False
        parts = folder.split("/")
        folders = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)][:MOST_LEVELS]
        found = [(DELTA, each) for each in folders] + [(HUDI, each) for each in folders]
        found += [
            (ICEBERG, each)
            for each in folders
            if each == folder or folder.startswith(f"{each}/{ICEBERG_DATA}")
        ]
        infos = opened.get_file_info([f"{each}/{layout.evidence}" for layout, each in found])
    for info, (layout, root) in zip(infos, found, strict=True):
        address = write_url(place, root)
        if info.type != kinds.Directory:
            continue
        if layout == ICEBERG and not list_files(f"{address}/{layout.evidence}", ".json"):
            continue
        if not layout.key or not is_whole or root != folder:
            raise refuse_files(url, layout, address)
        return layout.key
    return "parquet"


def find_batches(table: Any) -> Batches | None:  # noqa: ANN401 - of a library
    """Return the current rows of a table of `deltalake` or `pyiceberg`; `None` for others."""
    delta, iceberg = map(sys.modules.get, ("deltalake", "pyiceberg.table"))
    if delta is not None and isinstance(table, delta.DeltaTable):
        return _to_batches(DeltaTable(str(table.table_uri), table))
    if iceberg is not None and isinstance(table, iceberg.Table):
        return _to_batches(IcebergTable(table.location(), table))
    return None


def _to_batches(table: DeltaTable | IcebergTable) -> Batches:
    return Batches(table.schema, table.read_batches, is_once=False)


class DeltaTable:
    """The newest version of a table of Delta Lake, through the package `deltalake`.

    Args:
        url: The folder of the table.
        opened: The table, if it is open; it is read at its own version.
    """

    def __init__(self, url: str, opened: Any = None) -> None:  # noqa: ANN401 - of a library
        self._url = url
        self._opened = opened
        self._dataset: Any = None

    @property
    def schema(self) -> Foreign:
        """The schema of the table."""
        self._open_dataset()
        return self._dataset.schema

    def read_batches(self, columns: Sequence[str]) -> Iterator[Foreign]:
        """Read all rows."""
        self._open_dataset()
        with converted_errors(self._url):
            yield from self._dataset.to_batches(columns=list(columns))

    def _open(self) -> Any:  # noqa: ANN401 - of a library without types
        if self._opened is not None:
            return self._opened
        library = _load("deltalake", "delta")
        try:
            return library.DeltaTable(self._url)
        except Exception as error:
            raise _unreadable(self._url, error) from error

    def _open_dataset(self) -> None:
        if self._dataset is None:
            opened = self._open()
            try:
                self._dataset = opened.to_pyarrow_dataset()
            except Exception as error:
                raise _unreadable(self._url, error) from error


class IcebergTable:
    """The newest snapshot of a table of Apache Iceberg, through the package `pyiceberg`.

    Args:
        url: The folder of the table, or one of its files of metadata.
        opened: The table, if it is open; it is read at its own snapshot.
    """

    def __init__(self, url: str, opened: Any = None) -> None:  # noqa: ANN401 - of a library
        self._url = url
        self._table: Any = opened

    @property
    def schema(self) -> Foreign:
        """The schema of the table."""
        self._open()
        return self._table.schema().as_arrow()

    def read_batches(self, columns: Sequence[str]) -> Iterator[Foreign]:
        """Read all rows that are not deleted."""
        self._open()
        with converted_errors(self._url):
            yield from self._table.scan(selected_fields=tuple(columns)).to_arrow_batch_reader()

    def _open(self) -> None:
        if self._table is not None:
            return
        library = _load("pyiceberg.table", "iceberg")
        place, _ = split_url(self._url)
        url = self._url
        if not url.endswith(METADATA):
            metadata = list_files(f"{url.rstrip('/')}/metadata", METADATA)
            if not metadata:
                raise FileError(
                    "there is no Iceberg table: it has no metadata",
                    hint="name the folder that contains the folder metadata",
                    code="lake_read",
                    file=url,
                )
            newest = max(metadata, key=lambda file: (int(file.stamp), file.path))
            scheme = place.partition("://")[0]
            url = f"{scheme}://{newest.path}" if scheme else newest.path
        try:
            self._table = library.StaticTable.from_metadata(url)
        except Exception as error:
            raise _unreadable(self._url, error) from error


def _load(module: str, extra: str) -> Any:  # noqa: ANN401 - as above
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = {"delta": "deltalake", "iceberg": "pyiceberg"}[extra]
        raise FormatError(
            f"reading this table needs {package}, which is not installed",
            hint=hint_extra(extra),
            code="missing_extra",
        ) from error


def _unreadable(url: str, error: Exception) -> FileError:
    return FileError(
        f"cannot read the table: {find_reason(error)}",
        hint="check the path, the permissions and the credentials in the environment",
        code="lake_read",
        file=url,
    )

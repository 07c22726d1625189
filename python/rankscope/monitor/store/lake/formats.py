"""Tables of a lake: folders of Parquet files, and tables of Delta Lake and Apache Iceberg."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from importlib import import_module

from rankscope.errors import FileError, FormatError, hint_extra
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.files.checked_parquet import open_file
from rankscope.inputs.files.partitions import read_partitions
from rankscope.monitor.store.lake.files import (
    WILD,
    DataFile,
    converted_errors,
    find_reason,
    list_files,
    open_filesystem,
    split_url,
    stat_file,
)
from rankscope.monitor.store.lake.pieces import WHOLE, list_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from rankscope.monitor.store.lake.address import Layout, TableAddress
    from rankscope.monitor.store.lake.events import Foreign
    from rankscope.monitor.store.lake.pieces import Piece

    LakeTable: TypeAlias = "ParquetFiles | DeltaTable | IcebergTable"
    """A table whose rows are in files."""


BLOCK = 8 << 20
FOOTERS = 256
"""The footers of so many files are kept."""


def find_layout(url: str) -> Layout:
    """Tell how a table is stored by what is in its folder."""
    if WILD.search(url):
        return "parquet"
    if url.endswith(".metadata.json"):
        return "iceberg"
    place, path = split_url(url)
    opened = open_filesystem(place)
    folder = path.rstrip("/")
    with converted_errors(url):
        infos = opened.get_file_info([f"{folder}/_delta_log", f"{folder}/metadata"])
    kind = load_arrow("pyarrow.fs").FileType
    if infos[0].type == kind.Directory:
        return "delta"
    if infos[1].type == kind.Directory and list_files(f"{url.rstrip('/')}/metadata", ".json"):
        return "iceberg"
    return "parquet"


def open_lake_table(source: TableAddress) -> LakeTable:
    """Open a table of a lake."""
    if source.layout == "delta":
        return DeltaTable(source.url)
    if source.layout == "iceberg":
        return IcebergTable(source.url)
    return ParquetFiles(source.url)


class ParquetFiles:
    """Parquet files of a folder or a pattern; folders such as `country=de` are columns.

    Args:
        url: The folder or the pattern.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._place, _ = split_url(url)
        self._footers: OrderedDict[DataFile, tuple[Foreign, Foreign]] = OrderedDict()

    def list_files(self) -> list[DataFile]:
        """List the files."""
        return list_files(self._url)

    def read_schema(self, file: DataFile) -> Foreign:
        """Read the schema of a file, with the columns that its folders name."""
        arrow = load_arrow()
        _, schema = self._read_footer(file)
        for name in read_partitions(file.path):
            if name not in schema.names:
                schema = schema.append(arrow.field(name, arrow.large_string()))
        return schema

    def list_pieces(self, file: DataFile, time: str) -> tuple[Piece, ...]:
        """List the pieces of a file by the times of its row groups."""
        footer, _ = self._read_footer(file)
        return list_pieces(footer, time)

    def _read_footer(self, file: DataFile) -> tuple[Foreign, Foreign]:
        """Return what the footer of a file says, and its schema."""
        kept = self._footers.get(file)
        if kept is not None:
            return kept
        try:
            with (
                converted_errors(file.path),
                open_filesystem(self._place).open_input_file(file.path) as opened,
                open_file(opened, file.path) as reader,
            ):
                footer = reader.metadata, _place_old_times(reader.metadata, reader.schema_arrow)
        except FileError as error:
            raise self._judge(file, error) from error
        self._footers[file] = footer
        while len(self._footers) > FOOTERS:
            with suppress(KeyError):  # another thread was faster
                self._footers.popitem(last=False)
        return footer

    def _judge(self, file: DataFile, error: FileError) -> FileError:
        """Return why a file could not be read."""
        if stat_file(self._place, file.path) != file:
            return changed(file.path)
        return judge(error, lambda: open_filesystem(self._place).open_input_stream(file.path))

    def read(
        self, file: DataFile, columns: Sequence[str], groups: Sequence[int] | None = None
    ) -> Foreign:
        """Read the rows of a file, or those of some of its row groups."""
        arrow, parquet = load_arrow(), load_arrow("pyarrow.parquet")
        partitions = read_partitions(file.path)
        footer, schema = self._read_footer(file)
        if stat_file(self._place, file.path) != file:
            raise changed(file.path)
        existing = schema.names
        wanted = [name for name in columns if name in existing]
        try:
            with (
                converted_errors(file.path),
                open_filesystem(self._place).open_input_file(file.path) as opened,
                parquet.ParquetFile(
                    opened,
                    metadata=footer,
                    pre_buffer=bool(self._place),
                    coerce_int96_timestamp_unit="us",
                ) as reader,
            ):
                table = (
                    reader.read(wanted)
                    if groups is None
                    else reader.read_row_groups(list(groups), wanted)
                )
                named = arrow.schema([schema.field(name) for name in table.column_names])
                table = table if table.schema.equals(named) else table.cast(named)
        except FileError as error:
            raise self._judge(file, error) from error
        numbers = range(footer.num_row_groups) if groups is None else groups
        count = sum(footer.row_group(group).num_rows for group in numbers)
        if not table.num_columns:
            # Without columns, Arrow has no rows either.
            table = arrow.table({"": arrow.nulls(count)}).select([])
        for name in columns:
            if name not in existing and name in partitions:
                value = arrow.scalar(partitions[name], arrow.large_string())
                table = table.append_column(name, arrow.repeat(value, count))
        return table


def _place_old_times(footer: Foreign, schema: Foreign) -> Foreign:
    """Return a schema whose times of 96 bits are in UTC, as Hive and Spark write them.

    Their type cannot say a time zone.
    """
    arrow = load_arrow()
    for at in range(footer.num_columns):
        column = footer.schema.column(at)
        if column.physical_type == "INT96" and column.path in schema.names:
            place = schema.get_field_index(column.path)
            field = schema.field(place).with_type(arrow.timestamp("us", "UTC"))
            schema = schema.set(place, field)
    return schema


class DeltaTable:
    """The newest version of a table of Delta Lake, through the package `deltalake`.

    Args:
        url: The folder of the table.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._dataset: Any = None
        self._fragments: dict[str, Any] = {}

    def list_files(self) -> list[DataFile]:
        """List the files of the newest version."""
        opened = self._open()
        actions = load_arrow().table(opened.get_add_actions(flatten=True))
        columns = (actions[name].to_pylist() for name in ("path", "size_bytes"))
        stamps = map(str, actions["modification_time"].to_pylist())
        return sorted(
            (
                DataFile(path, size, stamp)
                for path, size, stamp in zip(*columns, stamps, strict=True)
            ),
            key=lambda file: file.path,
        )

    def read_schema(self, file: DataFile) -> Foreign:
        """Return the schema of the table."""
        del file  # all files have one schema
        self._open_dataset()
        return self._dataset.schema

    def list_pieces(self, file: DataFile, time: str) -> tuple[Piece, ...]:
        """Return the whole file: those of a table are no larger than its writer wants."""
        del file, time
        return WHOLE

    def read(
        self,
        file: DataFile,
        columns: Sequence[str],
        groups: Sequence[int] | None = None,  # noqa: ARG002 - all of them
    ) -> Foreign:
        """Read the rows of a file."""
        self._open_dataset()
        fragment = self._fragments.get(file.path)
        if fragment is None:
            raise changed(file.path)
        try:
            with converted_errors(file.path):
                return fragment.to_table(schema=self._dataset.schema, columns=list(columns))
        except FileError as error:
            place = fragment.filesystem
            raise judge(error, lambda: place.open_input_stream(fragment.path)) from error

    def _open(self) -> Any:  # noqa: ANN401 - of a library without types
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
            self._fragments = {
                fragment.path: fragment for fragment in self._dataset.get_fragments()
            }


class IcebergTable:
    """The newest snapshot of a table of Apache Iceberg, through the package `pyiceberg`.

    Args:
        url: The folder of the table, or one of its files of metadata.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._table: Any = None
        self._tasks: dict[str, Any] = {}

    def list_files(self) -> list[DataFile]:
        """List the files of the newest snapshot."""
        self._open()
        files = [
            DataFile(path, task.file.file_size_in_bytes, self._stamp(task))
            for path, task in self._tasks.items()
        ]
        return sorted(files, key=lambda file: file.path)

    @staticmethod
    def _stamp(task: Any) -> str:  # noqa: ANN401 - as above
        """Name the files that delete rows of a file: they change what it contains."""
        return " ".join(sorted(file.file_path for file in task.delete_files))

    def read_schema(self, file: DataFile) -> Foreign:
        """Return the schema of the table."""
        del file  # all files have one schema
        self._open()
        return self._table.schema().as_arrow()

    def list_pieces(self, file: DataFile, time: str) -> tuple[Piece, ...]:
        """Return the whole file, as of a table of Delta Lake."""
        del file, time
        return WHOLE

    def read(
        self,
        file: DataFile,
        columns: Sequence[str],
        groups: Sequence[int] | None = None,  # noqa: ARG002 - all of them
    ) -> Foreign:
        """Read the rows of a file that are not deleted."""
        self._open()
        task = self._tasks.get(file.path)
        if task is None or self._stamp(task) != file.stamp:
            raise changed(file.path)
        scans = _load("pyiceberg.io.pyarrow", "iceberg")
        always = _load("pyiceberg.expressions", "iceberg").AlwaysTrue()
        schema = self._table.schema().select(*columns)
        try:
            with converted_errors(file.path):
                scan = scans.ArrowScan(self._table.metadata, self._table.io, schema, always, True)
                return scan.to_table([task]).select(list(columns))
        except FileError as error:
            place = self._table.io
            raise judge(error, lambda: place.new_input(file.path).open()) from error

    def _open(self) -> None:
        if self._table is not None:
            return
        library = _load("pyiceberg.table", "iceberg")
        place, _ = split_url(self._url)
        url = self._url
        if not url.endswith(".metadata.json"):
            metadata = list_files(f"{url.rstrip('/')}/metadata", ".metadata.json")
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
            self._tasks = {file.file.file_path: file for file in self._table.scan().plan_files()}
        except Exception as error:
            raise _unreadable(self._url, error) from error


def judge(error: FileError, open_bytes: Callable[[], Foreign]) -> FileError:
    """Return why a file could not be read: it is damaged if all of its bytes can be read."""
    path = error.file or ""
    with converted_errors(path), open_bytes() as opened:
        while opened.read(BLOCK):
            pass
    reason = error.message.removeprefix("cannot read the lake: ")
    return FileError(
        f"the file is damaged, or no Parquet file: {reason}",
        hint="a lake consists of Parquet files: write this one again, or remove it",
        code="lake_damaged",
        file=path,
    )


def changed(path: str) -> FileError:
    """Return the error for a file that changed after it was listed."""
    return FileError(
        "the file was changed or removed while the lake was read",
        hint="run it again: files that change are read again",
        code="lake_changed",
        file=path,
    )


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

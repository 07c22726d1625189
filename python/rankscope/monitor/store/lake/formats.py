"""Tables of a lake: folders of Parquet files, and tables of other libraries."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress

from rankscope.errors import FileError
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.buckets import (
    DataFile,
    converted_errors,
    list_files,
    open_filesystem,
    split_url,
    stat_file,
)
from rankscope.inputs.files.checked_parquet import open_file
from rankscope.inputs.files.partitions import read_partitions
from rankscope.inputs.lakehouse import DeltaTable, IcebergTable, changed, judge
from rankscope.monitor.store.lake.pieces import list_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from rankscope.monitor.store.lake.address import TableAddress
    from rankscope.monitor.store.lake.events import Foreign
    from rankscope.monitor.store.lake.pieces import Piece

    LakeTable: TypeAlias = "ParquetFiles | DeltaTable | IcebergTable"
    """A table whose rows are in files."""


FOOTERS = 256
"""The footers of so many files are kept."""


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

"""Tables of Delta Lake and Apache Iceberg: their current rows, through their own libraries.

A file within such a table is refused: rows that were deleted or overwritten are still in it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING

from rankscope._inputs.buckets import WILD, converted_errors, find_infos, list_folder
from rankscope._inputs.files import is_address
from rankscope.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from rankscope._inputs.batches import Batches

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
    return FormatError(
        f"expected plain files, found a table of {kind}: {root} contains {name}. Rows that were "
        "deleted or overwritten are still in its files, and would count",
        hint=hint,
        code="lakehouse_table",
        file=path,
    )


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
            from deltalake import DeltaTable  # noqa: PLC0415 - with the first such table

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
        raise FormatError(
            "expected a Delta table that the package deltalake can read, found "
            f"{' and '.join(refused):.200}",
            hint="read it with Spark, or with DuckDB's extension delta, and pass the data frame",
            code="lakehouse_table",
            file=url,
        )


def _read_iceberg(url: str, metadata: str = "", table: Any = None) -> Batches:  # noqa: ANN401 - of a library
    with converted_errors(url, "cannot read the table"):
        if table is None:
            from pyiceberg.table import StaticTable  # noqa: PLC0415 - as above

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
    from rankscope._inputs.batches import Batches  # noqa: PLC0415 - most paths are no tables

    def read_all(names: list[str]) -> Iterator[Any]:
        with converted_errors(url):
            yield from read(names)

    return Batches(lambda: schema, read_all)

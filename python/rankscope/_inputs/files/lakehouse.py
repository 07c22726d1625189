"""Tells tables of lakehouses from plain files, and refuses files within such a table.

Rows that were deleted or overwritten are still among them.
"""

from __future__ import annotations

import os
import re

from rankscope.errors import FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

MOST_LEVELS = 8
"""So many folders above a file can be those of partitions."""
ICEBERG_METADATA = re.compile(r"version-hint\.text|.+\.metadata\.json(\.gz)?")
ICEBERG_DATA = "data"
"""The folder of an Iceberg table in which its data files are."""


@record(frozen=True, slots=True)
class Layout:
    """A kind of lakehouse table.

    Args:
        name: Its name.
        evidence: What its folder contains.
        key: What `find_local_layout` calls it, if its current rows can be read.
    """

    name: str
    evidence: str
    key: Literal["", "delta", "iceberg"] = ""


DELTA = Layout("Delta Lake", "_delta_log", "delta")
ICEBERG = Layout("Apache Iceberg", "metadata", "iceberg")
HUDI = Layout("Apache Hudi", ".hoodie")


def find_local_layout(path: str) -> Literal["parquet", "delta", "iceberg"]:
    """Tell whether a folder is a table of Delta Lake or Apache Iceberg, or holds plain files."""
    if not os.path.isdir(path):  # noqa: PTH112 - pathlib loads slowly
        return "parquet"
    layout, root = _find_table(path) or (None, "")
    if root != os.path.realpath(path) or layout is None or not layout.key:
        return "parquet"
    return layout.key


def refuse_lakehouse(path: str, folders: Iterable[str]) -> None:
    """Raise an error if folders are in a table of Delta Lake, Apache Iceberg or Apache Hudi."""
    for folder in dict.fromkeys(folders):
        found = _find_table(folder)
        if found is not None:
            raise refuse_files(path, *found)


def refuse_files(path: str, layout: Layout, root: str) -> FormatError:
    """Return the error for files within a table of a lakehouse."""
    return FormatError(
        f"expected plain files, found a table of {layout.name}: {root} contains "
        f"{layout.evidence}. Rows that were deleted or overwritten are still in its files, "
        "and would count",
        hint=f"pass the folder of the table, whose current rows are read: {root}"
        if layout.key
        else "read the current rows with Spark's spark.read.format('hudi') or the package "
        "hudi, and pass the Arrow table or data frame",
        code="lakehouse_table",
        file=path,
    )


def _find_table(folder: str) -> tuple[Layout, str] | None:
    """Return the table that a folder is, or that contains it, with the table's folder."""
    below = ""
    at = os.path.realpath(folder)
    for _ in range(MOST_LEVELS):
        if os.path.isdir(os.path.join(at, DELTA.evidence)):  # noqa: PTH112, PTH118 - loads slowly
            return DELTA, at
        if os.path.isdir(os.path.join(at, HUDI.evidence)):  # noqa: PTH112, PTH118 - as above
            return HUDI, at
        # Other programs, too, have a folder of this name beside their files.
        if below in {"", ICEBERG_DATA} and _has_iceberg_metadata(at):
            return ICEBERG, at
        at, below = os.path.split(at)
        if not below:
            return None
    return None


def _has_iceberg_metadata(folder: str) -> bool:
    try:
        names = os.listdir(os.path.join(folder, ICEBERG.evidence))  # noqa: PTH118, PTH208 - as above
    except OSError:
        return False  # there is no such folder
    return any(map(ICEBERG_METADATA.fullmatch, names))

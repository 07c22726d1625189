"""Several runs that one path stands for: a folder, a pattern, or an archive."""

from __future__ import annotations

import os

from rankscope._inputs.files.archives import is_archive, list_members
from rankscope._inputs.files.formats import is_address, is_pattern, list_files
from rankscope._inputs.files.lakehouse import find_local_layout
from rankscope.errors import FormatError
from rankscope.file import COMPRESSIONS, File
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope.typing import Path

HIDDEN = (".", "_")
RUN_ENDINGS = tuple(
    ending + packed
    for ending in (".run", ".trec", ".res")
    for packed in ("", *(packed for packed, *_ in COMPRESSIONS))
)
"""How names of TREC runs often end. Other files beside table files are taken for notes."""


def list_runs(given: Path | File, *, are_several: bool = False) -> list[Path | File]:
    """Return the runs that a path stands for: the files in an archive, a folder, or of a pattern.

    Table files in a folder or of a pattern are one run, unless several are asked for, and so is
    the only file in an archive. None are returned for one run.
    """
    if isinstance(given, File):
        if isinstance(given.path, bytes):
            return []
        paths = _list_paths(os.fsdecode(given.path), are_several=are_several)
        return [replace(given, path=path) for path in paths]
    return [*_list_paths(os.fsdecode(given), are_several=are_several)]


def _list_paths(path: str, *, are_several: bool) -> list[str]:
    if is_archive(path):
        members = list_members(path)
        return members if are_several or len(members) > 1 else []
    files = _list_files(path)
    tables = [] if are_several or not files else list_files(path)
    if not tables:
        return files
    run = next((file for file in files if file.lower().endswith(RUN_ENDINGS)), None)
    if run is None:
        return []
    raise FormatError(
        f"expected table files or TREC runs, found {tables[0]} and {run}",
        hint="name those that are meant: 'folder/*.run'. Table files are one run, and TREC files "
        "are several; in compare, each file is a run",
        code="schema_mismatch",
        file=path,
    )


def expand_paths(paths: Iterable[str], *, are_several: bool = False) -> list[str]:
    """Return paths with those of several runs in place of a path that stands for them."""
    return [
        str(run) for path in paths for run in list_runs(path, are_several=are_several) or [path]
    ]


def _list_files(path: str) -> list[str]:
    if is_address(path):
        from rankscope._inputs.buckets import check_url, list_addresses  # noqa: PLC0415 - needs Arrow

        return list_addresses(check_url(path))
    if os.path.isdir(path):  # noqa: PTH112 - pathlib loads slowly
        if find_local_layout(path) != "parquet":
            return []
        found = [os.path.join(path, name) for name in os.listdir(path)]  # noqa: PTH118, PTH208 - as above
    elif is_pattern(path):
        from glob import glob  # noqa: PLC0415 - as above

        found = glob(path, recursive=True)  # noqa: PTH207 - as above
    else:
        return []
    return sorted(
        name
        for name in found
        if os.path.isfile(name) and not os.path.basename(name).startswith(HIDDEN)  # noqa: PTH113, PTH119 - as above
    )

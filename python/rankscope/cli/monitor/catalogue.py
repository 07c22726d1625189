"""Reads a file of documents and what is known of them, such as their brand."""

from __future__ import annotations

from rankscope.errors import FormatError, LimitError
from rankscope.monitor.events.rejection import show
from rankscope.monitor.intake.files import EventFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 5_000_000


def read_documents(path: str) -> dict[str, list[Any]]:
    """Read the columns of a table, or the fields of objects of JSON, by name.

    Args:
        path: Its path, whose end tells its format.

    Raises:
        UsageError: The name tells no format.
        InputError: It is not of the format, or too large.
        FileError: It cannot be read.
    """
    file = EventFile(path)
    columns: dict[str, list[Any]] = {}
    if file.tell_format() in {"jsonl", "json"}:
        _read_objects(file, columns)
        return columns
    for batch, _ in file.read_tables():
        for name in batch.schema.names:
            columns.setdefault(name, []).extend(batch.column(name).to_pylist())
        _check_size(max(map(len, columns.values()), default=0), file)
    return columns


def _read_objects(file: EventFile, columns: dict[str, list[Any]]) -> None:
    count = 0
    for some in file.read_objects():
        for given, place in zip(some.objects, some.places, strict=True):
            if not isinstance(given, dict):
                raise FormatError(
                    f"expected an object a document, found {show(given)}",
                    hint='write {"doc_id": "d1", "brand": "acme"}',
                    code="json_type",
                    file=file.name,
                    line=place,
                )
            for name in given.keys() - columns.keys():
                columns[name] = [None] * count
            for name, column in columns.items():
                column.append(given.get(name))
            count += 1
        _check_size(count, file)


def _check_size(count: int, file: EventFile) -> None:
    if count > MOST:
        raise LimitError(
            f"expected at most {MOST} documents, found more",
            hint="keep those that were shown",
            code="max_group",
            file=file.name,
        )

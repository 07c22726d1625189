"""Reads a file of documents and their attributes, such as the brand."""

from __future__ import annotations

from rankscope.errors import FormatError, LimitError
from rankscope.monitor.events.rejection import show
from rankscope.monitor.intake.files import EventFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 5_000_000


def read_documents(path: str) -> dict[str, list[Any]]:
    """Return the columns of a table, or the fields of JSON objects, by name."""
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
                    f"expected one JSON object per document, found {show(given)}",
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
            f"the file has more than {MOST:,} documents",
            hint="keep only documents that were shown",
            code="max_group",
            file=file.name,
        )

"""Records of Python as columns: dictionaries, named tuples, data classes, datasets of others."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice

from rankscope._inputs.column_names import ROLES
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

USUAL = {name for of in ROLES.values() for name in of}
"""The names that say what the fields of a record are."""
FIELDS = ("_fields", "__dataclass_fields__", "__attrs_attrs__", "model_fields")
"""Where types list their fields: named tuples, data classes, attrs, Pydantic."""


def is_record(value: object, columns: Mapping[str, str] | None = None) -> bool:
    """Check whether a value has fields by name, which say what they are.

    A named tuple none of whose names is known is a tuple.
    """
    if isinstance(value, Mapping):
        return True
    names = _list_names(value)
    if not isinstance(value, tuple):
        return bool(names)
    return not (USUAL | set((columns or {}).values())).isdisjoint(names)


def name_records(
    rows: Iterable[object], role: str, columns: Mapping[str, str] | None = None
) -> Iterable[object] | dict[str, list[Any]]:
    """Return records as columns by name, and other rows as they are."""
    start = list(islice(rows, 1))
    if hasattr(rows, "__next__"):
        rows = chain(start, rows)
    return _to_columns(rows, role) if start and is_record(start[0], columns) else rows


def _to_columns(rows: Iterable[Any], role: str) -> dict[str, list[Any]]:
    held = list(rows)
    kind = Mapping if isinstance(held[0], Mapping) else type(held[0])
    odd = next((at for at, row in enumerate(held) if not isinstance(row, kind)), None)
    if odd is not None:
        raise FormatError(
            f"expected each row as {type(held[0]).__name__}, as the first one, found "
            f"{type(held[odd]).__name__}",
            hint="write all rows in one form: {'query_id': 'q1', 'doc_id': 'd1', 'score': 0.5}",
            code="mixed_rows",
            file=role,
            line=odd + 1,
        )
    if kind is Mapping:
        names = dict.fromkeys(chain.from_iterable(held))
        return {str(name): [row.get(name) for row in held] for name in names}
    if hasattr(kind, "keys"):
        return {name: [row[name] for row in held] for name in held[0].keys()}  # noqa: SIM118 - no mapping
    return {name: [getattr(row, name) for row in held] for name in _list_names(held[0])}


def _list_names(value: Any) -> list[str]:  # noqa: ANN401 - what a caller has
    """Return the names of the fields of a record, none for anything else."""
    kind = type(value)
    if kind.__name__ == "Row" and hasattr(kind, "keys"):  # of sqlite3
        return list(value.keys())
    for attribute in FIELDS:
        fields = getattr(kind, attribute, None)
        if isinstance(fields, property):  # of SQLAlchemy
            fields = getattr(value, attribute)
        if fields:
            return [str(getattr(field, "name", field)) for field in fields]
    return []


def open_dataset(value: Any, role: str) -> Iterable[object] | None:  # noqa: ANN401 - of a library
    """Return the rows of a dataset of `ir_datasets`; `None` for anything else."""
    asked, other = ("qrels", "scoreddocs") if role == "qrels" else ("scoreddocs", "qrels")
    if not hasattr(value, "qrels_iter") and not hasattr(value, "scoreddocs_iter"):
        return None
    if not hasattr(value, f"{asked}_iter"):
        raise FormatError(
            f"expected a dataset with {asked}, found one with {other}",
            hint="are judgments and run swapped?"
            if role == "qrels"
            else "a dataset with judgments alone is no run: pass the run as a file or a table",
            code="input_type",
            file=role,
        )
    rows: Iterable[object] = getattr(value, f"{asked}_iter")()
    return rows


def refuse_splits(value: object, role: str) -> None:
    """Raise an error for the splits of a dataset of Hugging Face, of which one is to be chosen."""
    kind = type(value)
    if kind.__name__ not in {"DatasetDict", "IterableDatasetDict"} or not isinstance(value, dict):
        return
    splits = [str(name) for name in value]
    chosen = "test" if "test" in splits else splits[0] if splits else "test"
    raise FormatError(
        f"expected one split of a dataset, found {kind.__name__} of {', '.join(splits) or 'none'}",
        hint=f"choose one: dataset[{chosen!r}]",
        code="input_type",
        file=role,
    )

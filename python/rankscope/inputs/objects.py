"""Records of Python as columns: dictionaries, named tuples, data classes, datasets of others."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice

from rankscope.errors import FormatError
from rankscope.inputs.column_names import ROLES
from rankscope.inputs.tables import NamedColumns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
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
    rows: Iterable[object], columns: Mapping[str, str] | None = None
) -> Iterable[object] | NamedColumns:
    """Return records as columns by name, and other rows as they are."""
    start = list(islice(rows, 1))
    if hasattr(rows, "__next__"):
        rows = chain(start, rows)
    return _to_columns(rows) if start and is_record(start[0], columns) else rows


def _to_columns(rows: Iterable[Any]) -> NamedColumns:
    held = list(rows)
    kind = type(held[0])
    if isinstance(held[0], Mapping):
        odd = next((at for at, row in enumerate(held) if not isinstance(row, Mapping)), None)
        names: Sequence[str] = list(dict.fromkeys(chain.from_iterable(held if odd is None else [])))
        read: Callable[[Any, str], object] = lambda row, name: row.get(name)  # noqa: E731 - short
    else:
        odd = next((at for at, row in enumerate(held) if type(row) is not kind), None)
        names, read = _list_names(held[0]), getattr
    if odd is not None:
        raise FormatError(
            f"expected each row as {kind.__name__}, as the first one, found "
            f"{type(held[odd]).__name__}",
            hint="write all rows in one form: {'query_id': 'q1', 'doc_id': 'd1', 'score': 0.5}",
            code="mixed_rows",
            line=odd + 1,
        )
    if isinstance(held[0], tuple):
        made = dict(zip(names, map(list, zip(*held, strict=True)), strict=True))
    else:
        made = {str(name): [read(row, name) for row in held] for name in names}
    return NamedColumns(list(made), made, "records")


def _list_names(value: object) -> list[str]:
    """Return the names of the fields of a record, none for anything else."""
    for attribute in FIELDS:
        fields = getattr(type(value), attribute, None)
        if fields:
            return [str(getattr(field, "name", field)) for field in fields]
    return (
        list(value._fields) if type(value).__name__ == "Row" and hasattr(value, "_fields") else []
    )


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

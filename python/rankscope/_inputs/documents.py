"""Objects of Python: records as columns, the documents of a query, and IDs of many types as text.

Dates and times are written as in ISO 8601, times with a zone in UTC, and fractions without zeros at
the end. Equal decimals are one ID: `1.50` is `1.5`, and `2.00` is `2`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from operator import getitem

from rankscope._inputs.column_names import FOLDED, find_column, list_usual, no_role
from rankscope.errors import FormatError, LimitError
from rankscope.names import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

USUAL = {name for of in FOLDED.values() for name in of}
"""The names that say what the fields of a record are."""
FIELDS = ("_fields", "__dataclass_fields__", "__attrs_attrs__", "model_fields")
"""Where types list their fields: named tuples, data classes, attrs, Pydantic."""
ID_TYPES = {"datetime": "date", "decimal": "Decimal", "numpy": "datetime64", "uuid": "UUID"}
"""The types of IDs that are spelled as text, by module. A datetime is a date."""
MISSING = ("NaT", "NaN", "sNaN", "Inf")
"""How the text of a missing one begins."""
LONGEST = 4096
"""The most characters of an ID."""
MEMBERS = (Mapping, list, tuple, set, frozenset)
"""What holds the documents of a query in Python itself."""


def is_of(value: object, module: str, name: str) -> bool:
    """Check whether an object is of a type whose module may not be loaded, or not be installed."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, getattr(loaded, name))


def library_of(value: object) -> str:
    """Return the top module of the type of a value."""
    return type(value).__module__.partition(".")[0]


def is_record(value: object, columns: Mapping[str, str]) -> bool:
    """Check whether a value has fields by name, which say what they are.

    A named tuple none of whose names is known is a tuple.
    """
    names = _list_fields(value)
    is_named = not isinstance(value, tuple) or not USUAL.union(
        map(fold, columns.values())
    ).isdisjoint(map(fold, names))
    return isinstance(value, Mapping) or (bool(names) and is_named)


def has_query(value: object, columns: Mapping[str, str]) -> bool:
    """Check whether a value is a record that says of which query it is."""
    names = [*value] if isinstance(value, Mapping) else _list_fields(value)
    is_query = columns.get("query") in names or bool(list_usual(names, "query"))
    return is_query and is_record(value, columns)


def name_records(rows: Iterable[Any], role: str, columns: Mapping[str, str]) -> Any:  # noqa: ANN401 - see below
    """Return records as columns by name, and other rows as they are."""
    first = list(islice(rows, 1))
    rows = chain(first, rows) if hasattr(rows, "__next__") else rows
    if not first or not is_record(first[0], columns):
        return rows
    records = list(rows)
    kind = Mapping if isinstance(first[0], Mapping) else type(first[0])
    for line, row in enumerate(records, 1):
        if not isinstance(row, kind):
            message = f"expected {type(first[0]).__name__} as in row 1, found {type(row).__name__}"
            hint = "write all rows in one form: {'query_id': 'q1', 'doc_id': 'd1', 'score': 0.5}"
            raise FormatError(message, hint=hint, code="mixed_rows", file=role, line=line)
    if kind is Mapping:
        names = dict.fromkeys(chain.from_iterable(records))
        return {str(name): [row.get(name) for row in records] for name in names}
    read = getitem if hasattr(kind, "keys") else getattr
    return {name: [read(row, name) for row in records] for name in _list_fields(first[0])}


def _list_fields(value: Any) -> list[str]:  # noqa: ANN401 - what a caller has
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


def open_documents(docs: Any, is_judged: bool, place: str) -> tuple[str, object]:  # noqa: ANN401 - what a caller has
    """Return the documents of a query, and what they are: `mapping`, `pairs` or `ids`."""
    is_mapping = all(hasattr(docs, name) for name in ("keys", "items"))
    if is_of(docs, "pandas", "Series"):
        is_mapping = all(isinstance(value, int | float) for value in docs.tolist())
    number, ids = ("grade", "ids") if is_judged else ("score", "ids in rank order")
    hint = _find_mistake(docs, number, ids, is_mapping=is_mapping)
    if hint:
        wanted = f"a mapping of document to {number}, or a list of {ids}"
        message = f"expected {wanted}, found {type(docs).__name__}"
        raise FormatError(message, hint=hint, code="not_a_mapping", file=place)
    if is_mapping:
        return "mapping", docs
    if isinstance(docs, AbstractSet):
        # The order of a set differs between processes, and errors name the first mistake.
        return "ids", sorted(docs, key=lambda doc: (type(doc).__name__, repr(doc)))
    # Scalars of Arrow are no objects of Python.
    listed = docs.to_pylist() if hasattr(docs, "to_pylist") else list(docs)
    if listed and all(isinstance(doc, tuple | list) and len(doc) == 2 for doc in listed):
        return "pairs", list(map(tuple, listed))
    if not listed or isinstance(listed[0], str | int | tuple):
        return "ids", listed
    named = name_records(listed, place, {})
    return _open_records(named, is_judged, place) if isinstance(named, dict) else ("ids", listed)


def _open_records(columns: Mapping[str, list[Any]], is_judged: bool, place: str) -> Any:  # noqa: ANN401 - as above
    """Return the documents of a query that are records, with their grades, scores or ranks."""
    role, names = "relevance" if is_judged else "score", [*columns]
    doc, number, rank = (find_column(names, of, None) for of in ("doc", role, "rank"))
    # What isn't in a usual field could be a grade; documents without scores are in rank order.
    if doc is None or (number is None and is_judged and len(names) > 1):
        error = no_role(names, role if doc else "doc")
        error.hint, error.file = f"write {{'doc_id': 'd1', {role!r}: 1}}", place
        raise error
    if number is not None:
        return "pairs", [*zip(columns[doc], columns[number], strict=True)]
    if rank is not None and not is_judged:
        return "pairs", [(name, -at) for name, at in zip(columns[doc], columns[rank], strict=True)]
    return "ids", columns[doc]


def _find_mistake(docs: Any, number: str, ids: str, *, is_mapping: bool) -> str:  # noqa: ANN401 - as above
    """Return what to write instead of what can't stand for the documents of a query."""
    if isinstance(docs, str | bytes | bytearray | memoryview):
        return f"write [{docs!r:.40}] for a single document"
    if hasattr(docs, "__next__"):
        return "it can be read only once: make it a list with list(…)"
    if isinstance(docs, AbstractSet) and number == "score":
        return "a set has no order: pass a list, best first"
    if hasattr(docs, "columns") or getattr(docs, "ndim", 1) != 1 or not hasattr(docs, "__iter__"):
        return f"write {{'d1': 2, 'd2': 1}}, or ['d1', 'd2'] for {ids}, or [] for none"
    # A column that was cut out of a frame has the numbers of the frame's rows as its index.
    is_cut = is_mapping and is_of(docs, "pandas", "Series") and docs.index.name is None
    if not is_cut or docs.empty or any(isinstance(key, str) for key in docs.index):
        return ""
    return f"write .tolist() if they are ids, or .set_axis(ids).to_dict() if they are {number}s"


def spell(value: Any) -> Any:  # noqa: ANN401 - what a caller has
    """Return the text of an ID, `None` for a missing one, and what is no ID as it is."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise FormatError(
                f"expected IDs in UTF-8, found {value!r:.99}", hint="decode them", code="encoding"
            ) from error
    if not any(is_of(value, *kind) for kind in ID_TYPES.items()):
        return value
    text, zone = str(value), ""
    if text.lstrip("-").startswith(MISSING):
        return None
    if hasattr(value, "utcoffset"):
        text, offset = value.isoformat(), value.utcoffset()
        if offset is not None:
            text, zone = (value.replace(tzinfo=None) - offset).isoformat(), "Z"
    elif hasattr(value, "adjusted"):  # a decimal
        if abs(value.adjusted()) > LONGEST:
            found = f"expected IDs of at most {LONGEST:,} digits, found {value:.3E}"
            raise LimitError(found, hint="turn them into text", code="id_length")
        text = f"{value:f}" if value else "0"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + zone

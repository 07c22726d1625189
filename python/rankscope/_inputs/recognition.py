"""Objects of Python: records as columns, the documents of a query, and IDs of many types as text.

Dates and times are written as in ISO 8601, times with a zone in UTC, and fractions without zeros at
the end. Equal decimals are one ID: `1.50` is `1.5`, and `2.00` is `2`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from operator import getitem
from typing import Any, Literal

from rankscope._core import Run
from rankscope._file import File
from rankscope._inputs import files as paths
from rankscope._inputs.column_names import FOLDED, ITEMS, SYNONYMS, find_column, list_usual, no_role
from rankscope._names import fold
from rankscope._show.table import SourceIds
from rankscope.errors import FormatError, LimitError, RankscopeError

# The names that say what the fields of a record are.
USUAL = {name for of in FOLDED.values() for name in of}
# Where types list their fields: named tuples, data classes, attrs, Pydantic.
FIELDS = ("_fields", "__dataclass_fields__", "__attrs_attrs__", "model_fields")
# The types of IDs that are spelled as text, by module. A datetime is a date.
ID_TYPES = {"datetime": "date", "decimal": "Decimal", "numpy": "datetime64", "uuid": "UUID"}
# How the text of a missing one begins.
MISSING = ("NaT", "NaN", "sNaN", "Inf")
# The most characters of an ID.
LONGEST = 4096
# What holds the documents of a query in Python itself.
MEMBERS = (Mapping, list, tuple, set, frozenset)


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
    if isinstance(value, Mapping) or not isinstance(value, tuple):
        return isinstance(value, Mapping) or bool(_list_fields(value))
    return not USUAL.union(map(fold, columns.values())).isdisjoint(map(fold, _list_fields(value)))


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
        expected = f"a mapping of document to {number}, or a list of {ids}"
        message = f"expected {expected}, found {type(docs).__name__}"
        raise _refuse(message, hint, place, "not_a_mapping")
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
            message = f"expected IDs of at most {LONGEST:,} digits, found {value:.3E}"
            raise LimitError(message, hint="turn them into text", code="id_length")
        text = f"{value:f}" if value else "0"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + zone


# What the core calls the bytes of a file.
BYTES = "<bytes>"
REMOTE = {"s3", "gs", "az", "abfs", "abfss", "http", "https"}
# How many values a row has without names, with a subtopic or without one.
ROW = (3, 4)
# So many keys of a mapping are compared with the names of columns in any spelling.
MOST_COLUMNS = 100
LIBRARIES = {"_duckdb", "datasets", "duckdb", "narwhals", "numpy", "pandas", "polars", "pyarrow"}


def describe_value(value: object) -> str:
    """Return what a value is, for the message of an error.

    Examples:
        >>> describe_value(5), describe_value([{}]), describe_value(())
        ('int', 'list of dict', 'empty tuple')
    """
    name = type(value).__name__
    if isinstance(value, list | tuple) and name in {"list", "tuple"}:
        return f"{name} of {type(value[0]).__name__}" if value else f"empty {name}"
    library = library_of(value)
    return f"a {library.strip('_')} {name}" if library in LIBRARIES else name


NO_TYPES = SourceIds()


@dataclass(frozen=True, slots=True)
class Input:
    """An input, and what kind it is.

    A `file` is TREC text (a path, `-` for standard input, or bytes), a `table` is one of any
    library or in files (then with a format), and the core holds a `run` already.
    """

    kind: Literal["file", "table", "mapping", "rows", "run"]
    value: Any
    name: str
    format: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    ids: SourceIds = NO_TYPES

    @property
    def is_in_files(self) -> bool:
        """Whether the input is read from files, standard input or bytes."""
        return self.kind == "file" or bool(self.format)

    @property
    def is_stdin(self) -> bool:
        """Whether the input is standard input."""
        return self.is_in_files and self.value == "-"

    @property
    def is_once(self) -> bool:
        """Whether the input can be read only once: standard input, a pipe, or such batches."""
        is_pipe = isinstance(self.value, str) and (self.is_stdin or paths.is_pipe(self.value))
        return is_pipe or getattr(self.value, "is_once", False)

    def find_size(self) -> int | None:
        """Return the size of the files in bytes, if known."""
        return None if self.is_stdin else paths.size_of(self.value) or None

    @contextmanager
    def opened(self) -> Iterator[str | bytes | None]:
        """Yield what the core opens, `None` for standard input, and name the file in its errors.

        The core gets the bytes of a file that it can't open.
        """
        source = None if self.is_stdin else self.value
        if isinstance(source, str) and paths.is_address(source):
            with closing(paths.open_binary(source, self.name)) as file:
                source = file.read()
        try:
            yield source
        except RankscopeError as error:
            if error.file == BYTES and isinstance(self.value, str):
                error.file = self.name
            raise


def recognise(value: Any, role: str, columns: Mapping[str, str] | None = None) -> Input:  # noqa: ANN401 - what a caller has
    """Recognize what an argument is."""
    columns = columns or {}
    core = getattr(value, "core", value)
    if isinstance(core, Run):
        ids = getattr(value, "source", SourceIds())
        return Input("run", core, getattr(value, "name", role), ids=ids)
    if isinstance(value, str | bytes | os.PathLike | File):
        return _recognise_file(value, role, columns)
    if is_of_ranx(value):
        return Input("mapping", value.to_dict(), role)
    refuse_splits(value, role)
    if library_of(value) in {"deltalake", "pyiceberg"}:
        from rankscope._inputs.remote import find_batches

        if (batches := find_batches(value)) is not None:
            return Input("table", batches, role, "arrow")
    value = name_series(value, role)
    if isinstance(value, dict) or (hasattr(value, "items") and not hasattr(value, "columns")):
        return Input("table" if _has_columns(value, columns) else "mapping", value, role)
    if is_table(value):
        return Input("table", value, role)
    rows = value if role == "table" else _open_dataset(value, role)
    # Sets have no order; arrays and open files are iterables too, but not of rows.
    is_other = isinstance(value, set | frozenset | bytearray | memoryview) or any(
        hasattr(value, name) for name in ("dtype", "readline")
    )
    if is_other or not hasattr(rows, "__iter__"):
        kind = describe_value(value)
        message = f"expected a path, a data frame, a mapping, or rows, found {kind}"
        hint = "a path may be '-' for standard input; rows are tuples of query, document and number"
        raise _refuse(message, hint, role)
    if role in {"qrels", "run"} and are_lists(rows):
        return Input("mapping", dict(enumerate(rows)), role)
    rows = name_records(rows, role, columns)
    return Input("table" if isinstance(rows, dict) else "rows", rows, role)


def recognise_table(value: object) -> Input:
    """Recognize a table of rankings, in files or of a library."""
    source = recognise(value, "table")
    if source.kind == "file":
        hint = "say what it is: --format csv, or File(path, 'csv')"
        message = "expected a table, found a file that is none by its name"
        raise _refuse(message, hint, source.name, "unknown_format")
    return replace(source, kind="table")


def find_stream(source: Input) -> Input:
    """Return a table of another library as batches, if it can be read batch by batch."""
    if source.kind != "table" or source.is_in_files or isinstance(source.value, Mapping):
        return source
    from rankscope._inputs.columnar import find_batches

    batches = find_batches(source.value)
    return source if batches is None else Input("table", batches, source.name, "arrow")


def _recognise_file(file: Any, role: str, columns: Mapping[str, str]) -> Input:  # noqa: ANN401 - a path, bytes or a `File`
    form = None
    if isinstance(file, File):
        paths.check_format(file.format)
        file, form, columns = file.path, file.format, {**columns, **file.columns}
    path, name = file if isinstance(file, bytes) else os.fsdecode(file), role
    if isinstance(path, str):
        name, scheme = "<stdin>" if path == "-" else name_path(path, role), path.partition(":/")[0]
        if paths.is_address(path):
            from rankscope._inputs.remote import check_url

            path = check_url(path)
        elif scheme in REMOTE:
            hint = f"write the address as text: a Path turns {scheme}:// into {scheme}:/"
            raise _refuse(f"expected a path or an address, found {path}", hint, role)
        may_be_parquet = paths.is_address(path) and paths.tell_format(path) in {"trec", "parquet"}
        is_folder = path.endswith(".metadata.json") or os.path.isdir(path)  # noqa: PTH112 - pathlib loads slowly
        if form in {None, "parquet"} and (may_be_parquet or is_folder):
            from rankscope._inputs.remote import find_current

            if (current := find_current(path)) is not None:
                return Input("table", current, name, "arrow", columns)
        usual = {name for of in SYNONYMS for name in FOLDED[of]}.union(map(fold, columns.values()))
        form = form or paths.recognise_path(path, usual)
    else:
        form = form or paths.tell_text(path[: paths.HEAD])
    if form == "trec":
        return Input("file", path, name)
    return Input("table", path, name, form, columns)


def name_path(path: str, role: str) -> str:
    """Decode a path as UTF-8, for the same text in every locale."""
    try:
        return os.fsencode(path).decode("utf-8", errors="surrogateescape")
    except UnicodeEncodeError:
        hint = "a lone surrogate is no character"
        raise _refuse(f"expected a path, found {path!a}", hint, role) from None


def shorten_names(names: Sequence[str]) -> list[str]:
    """Return the file name of each path, or the whole paths if file names aren't unique.

    Examples:
        >>> shorten_names(["runs/bm25.run", "runs/bert.run"])
        ['bm25.run', 'bert.run']
        >>> shorten_names(["old/bm25.run", "new/bm25.run"])
        ['old/bm25.run', 'new/bm25.run']
    """
    short = [os.path.basename(name) or name for name in names]  # noqa: PTH119 - a text
    return short if len(set(short)) == len(short) else [*names]


def _has_columns(value: object, columns: Mapping[str, str]) -> bool:
    """Check whether a mapping has the columns of a table by name, and not documents by query."""
    if not isinstance(value, Mapping) or isinstance(
        next(iter(value.values()), None), Mapping | AbstractSet
    ):
        return False
    for role in ("query", "doc"):
        names = [name for name in (columns.get(role), *SYNONYMS[role]) if name in value]
        names += list_usual(islice(value, MOST_COLUMNS), role)
        if role == "doc":
            names += [name for name in ITEMS if name in value and _has_objects(value[name])]
        if not names or isinstance(value[names[0]], Mapping | AbstractSet):
            return False
    return True


def _has_objects(column: object) -> bool:
    """Check whether a column has lists of objects, each a document with its score or grade."""
    rows = next((row for row in column if row), None) if isinstance(column, list | tuple) else None
    return isinstance(rows, list | tuple) and isinstance(rows[0], Mapping)


def has_documents(value: object) -> bool:
    """Check whether a value can stand for the documents of a query, as no number does."""
    is_text = isinstance(value, str | bytes | bytearray | memoryview)
    is_list = isinstance(value, Mapping | AbstractSet | Sequence) or is_single_column(value)
    return not is_text and (is_list or getattr(value, "ndim", 0) == 1)


def refuse_unpaired(judged: Any, retrieved: Any) -> None:  # noqa: ANN401 - what a caller has
    """Raise an error for parallel lists with the documents of different numbers of queries."""
    if are_lists(judged) and are_lists(retrieved) and len(judged) != len(retrieved):
        message = f"expected two lists of one length, found {len(judged)} and {len(retrieved)}"
        hint = "write one list of relevant and one of retrieved documents for each query"
        raise _refuse(message, hint, "run", "length_mismatch")


def are_lists(value: object) -> bool:
    """Check whether a list has lists of IDs, and not rows of query, document and number."""
    if not isinstance(value, list | tuple) or not all(
        isinstance(docs, list | set | frozenset) and {*map(type, docs)} in ({str}, {int}, set())
        for docs in value
    ):
        return False
    lists = [list(docs) for docs in value if docs]
    numbers = [str(docs[-1]).lstrip("-").replace(".", "", 1) for docs in lists if len(docs) in ROW]
    return len(numbers) < len(lists) or not all(map(str.isdecimal, numbers))


def is_of_ranx(value: object) -> bool:
    """Check whether a value is a `Qrels` or a `Run` of ranx, which needn't be installed."""
    return library_of(value) == "ranx" and hasattr(value, "to_dict")


def is_table(value: object) -> bool:
    """Check by its attributes whether an object is a data frame or an Arrow table."""
    # The type is asked, for a lazy frame would have to look its columns up.
    is_dataset = is_of(value, "datasets", "Dataset") or is_of(value, "pyarrow.dataset", "Dataset")
    return is_dataset or _is_arrow(value) or hasattr(type(value), "columns")


def is_single_column(value: object) -> bool:
    """Check whether an object is a single column of a library, such as a Series."""
    has_type = hasattr(value, "dtype") or hasattr(value, "type")
    return _is_arrow(value) and has_type and not hasattr(value, "columns")


def _is_arrow(value: object) -> bool:
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def name_series(value: Any, role: str) -> Any:  # noqa: ANN401 - what a caller has
    """Return a column of pandas whose index has queries and documents as a table."""
    if not is_of(value, "pandas", "Series") or value.index.nlevels == 1:
        return value
    is_named = any(list_usual([value.name], of) for of in ("relevance", "score", "rank"))
    name = "relevance" if role == "qrels" else "score"
    return value.to_frame(value.name if is_named else name)


def _open_dataset(value: Any, role: str) -> Any:  # noqa: ANN401 - of a library
    """Return the rows of a dataset of `ir_datasets`, and anything else as it is."""
    part, other = ("qrels", "scoreddocs") if role == "qrels" else ("scoreddocs", "qrels")
    if hasattr(value, f"{part}_iter"):
        return getattr(value, f"{part}_iter")()
    if hasattr(value, f"{other}_iter"):
        hint = f"are judgments and run swapped? If not, pass {role} as a file or a table"
        raise _refuse(f"expected a dataset with {part}, found one with {other}", hint, role)
    return value


def refuse_splits(value: object, role: str) -> None:
    """Raise an error for the splits of a dataset of Hugging Face, of which one is to be chosen."""
    kind = type(value).__name__
    if kind in {"DatasetDict", "IterableDatasetDict"} and isinstance(value, dict):
        names = ", ".join(map(str, value)) or "none"
        hint = f"choose one: dataset[{'test' if 'test' in value else next(iter(value), 'test')!r}]"
        raise _refuse(f"expected one split of a dataset, found {kind} of {names}", hint, role)


def _refuse(message: str, hint: str, place: str, code: str = "input_type") -> FormatError:
    return FormatError(message, hint=hint, code=code, file=place)

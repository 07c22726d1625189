"""Recognizes what an argument is: a file, a table, a mapping, or rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from itertools import islice

from rankscope._core import Run
from rankscope._inputs import files as paths
from rankscope._inputs.column_names import FOLDED, ITEMS, SYNONYMS, list_usual
from rankscope._inputs.documents import is_of, library_of, name_records
from rankscope.errors import FormatError, RankscopeError
from rankscope.file import File
from rankscope.names import fold
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal


BYTES = "<bytes>"
"""What the core calls the bytes of a file."""
REMOTE = {"s3", "gs", "az", "abfs", "abfss", "http", "https"}
ROW = (3, 4)
"""How many values a row has without names, with a subtopic or without one."""
MOST_COLUMNS = 100
"""So many keys of a mapping are compared with the names of columns in any spelling."""
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


@record(frozen=True, slots=True)
class Input:
    """An input, and what kind it is.

    Args:
        kind: `file` (TREC text: a path, `-` for standard input, or bytes), `table` (of any library,
            or in files), `mapping`, `rows`, or `run` (one that the core holds already).
        value: The thing itself.
        name: The name for messages.
        format: The format of a table in files; empty for one of a library.
        columns: By role, the names of its columns, where they are given with it.
    """

    kind: Literal["file", "table", "mapping", "rows", "run"]
    value: Any
    name: str
    format: str = ""
    columns: Mapping[str, str] = {}

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
    if isinstance(value, Run):
        return Input("run", value, role)
    if isinstance(value, str | bytes | os.PathLike | File):
        return _recognise_file(value, role, columns)
    if is_of_ranx(value):
        return Input("mapping", value.to_dict(), role)
    refuse_splits(value, role)
    if library_of(value) in {"deltalake", "pyiceberg"}:
        from rankscope._inputs.lakes import find_batches  # noqa: PLC0415 - few inputs are such

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
    found = recognise(value, "table")
    if found.kind == "file":
        hint = "say what it is: --format csv, or File(path, 'csv')"
        message = "expected a table, found a file that is none by its name"
        raise _refuse(message, hint, found.name, "unknown_format")
    return replace(found, kind="table")


def find_stream(found: Input) -> Input:
    """Return a table of another library as batches, if it can be read batch by batch."""
    if found.kind != "table" or found.is_in_files or isinstance(found.value, Mapping):
        return found
    from rankscope._inputs.batches import find_batches  # noqa: PLC0415 - not for files

    batches = find_batches(found.value)
    return found if batches is None else Input("table", batches, found.name, "arrow")


def _recognise_file(given: Any, role: str, columns: Mapping[str, str]) -> Input:  # noqa: ANN401 - a path, bytes or a `File`
    form = None
    if isinstance(given, File):
        paths.check_format(given.format)
        given, form, columns = given.path, given.format, {**columns, **given.columns}
    path = given if isinstance(given, bytes) else os.fsdecode(given)
    name = role
    if isinstance(path, str):
        name = "<stdin>" if path == "-" else name_path(path, role)
        scheme = path.partition(":/")[0]
        if paths.is_address(path):
            from rankscope._inputs.buckets import check_url  # noqa: PLC0415 - few paths are

            path = check_url(path)
        elif scheme in REMOTE:
            hint = f"write the address as text: a Path turns {scheme}:// into {scheme}:/"
            raise _refuse(f"expected a path or an address, found {path}", hint, role)
        may_be_parquet = paths.is_address(path) and paths.tell_format(path) in {"trec", "parquet"}
        is_folder = path.endswith(".metadata.json") or os.path.isdir(path)  # noqa: PTH112 - pathlib loads slowly
        if form in {None, "parquet"} and (may_be_parquet or is_folder):
            from rankscope._inputs.lakes import find_current  # noqa: PLC0415 - loads late

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
    has_columns = _is_arrow(value) or hasattr(type(value), "columns")
    return has_columns or is_dataset(value) or is_arrow_dataset(value)


def is_single_column(value: object) -> bool:
    """Check whether an object is a single column of a library, such as a Series."""
    has_type = hasattr(value, "dtype") or hasattr(value, "type")
    return _is_arrow(value) and has_type and not hasattr(value, "columns")


def _is_arrow(value: object) -> bool:
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def is_dataset(value: object) -> bool:
    """Check whether an object is a Dataset of Hugging Face."""
    return is_of(value, "datasets", "Dataset")


def is_arrow_dataset(value: object) -> bool:
    """Check whether an object is a dataset of PyArrow."""
    return is_of(value, "pyarrow.dataset", "Dataset")


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

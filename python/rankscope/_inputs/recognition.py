"""Recognizes what an argument is: a file, a table, a mapping, or rows."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager

from rankscope._core import Run
from rankscope._inputs import files as paths
from rankscope._inputs.column_names import ITEMS, SYNONYMS
from rankscope._inputs.descriptions import describe_value
from rankscope._inputs.objects import name_records, open_dataset, refuse_splits
from rankscope.errors import FormatError, RankscopeError
from rankscope.file import File
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Literal, Protocol, TypeGuard

    from rankscope._inputs.batches import Batches
    from rankscope.typing import InputLike, Path

    class HasDict(Protocol):
        """What can turn itself into dictionaries."""

        def to_dict(self) -> Mapping[str, Mapping[str, float]]:
            """Return the grades or scores by query and document."""


BYTES = "<bytes>"
"""What the core calls the bytes of a file."""


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
    value: object
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
        if isinstance(self.value, str):
            return self.is_stdin or paths.is_pipe(self.value)
        return bool(getattr(self.value, "is_once", False))

    @property
    def source(self) -> str | bytes | None:
        """What the core opens, `None` for standard input."""
        if self.is_stdin:
            return None
        if isinstance(self.value, str) and not self.is_plain:
            file = paths.open_binary(self.value, self.name)
            with closing(file):
                return b"".join(iter(lambda: file.read(paths.PIECE), b""))
        if isinstance(self.value, str | bytes):
            return self.value
        raise TypeError(self.value)

    @property
    def is_plain(self) -> bool:
        """Whether the path is that of a file here, and not in a bucket."""
        return isinstance(self.value, str) and not paths.is_address(self.value)

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Name the file in errors of the core, which gets the bytes of one that it can't open."""
        try:
            yield
        except RankscopeError as error:
            if error.file == BYTES and isinstance(self.value, str):
                error.file = self.name
            raise

    @property
    def location(self) -> str | bytes | Batches:
        """The path, `-` for standard input, the bytes, or the batches of another library."""
        return self.value  # type: ignore[return-value]  # as `is_in_files` says

    @property
    def size(self) -> int | None:
        """The size of the files in bytes, if known."""
        if not self.is_in_files or self.is_stdin:
            return None
        return paths.size_of(self.location) or None


def recognise(value: InputLike, role: str, columns: Mapping[str, str] | None = None) -> Input:
    """Recognize what an argument is."""
    if isinstance(value, Run):
        return Input("run", value, role)
    if isinstance(value, File):
        paths.check_format(value.format)
        return _recognise_file(value.path, role, value.format, {**(columns or {}), **value.columns})
    if isinstance(value, str | bytes | os.PathLike):
        return _recognise_file(value, role, None, columns or {})
    if is_of_ranx(value):
        return Input("mapping", value.to_dict(), role)
    refuse_splits(value, role)
    value = name_series(value, role)  # type: ignore[assignment]  # a table
    if isinstance(value, dict) or (hasattr(value, "items") and not hasattr(value, "columns")):
        kind: Literal["table", "mapping"] = "mapping"
        if _holds_columns(value, columns or {}):
            kind = "table"
        return Input(kind, value, role)
    current = _find_current(value, role)
    if current is not None:
        return current
    if is_table(value):
        return Input("table", value, role)
    return _recognise_rows(value, role, columns)


def _recognise_rows(value: object, role: str, columns: Mapping[str, str] | None) -> Input:
    rows: object = open_dataset(value, role)
    if rows is None and _is_iterable_of_rows(value):
        rows = value
    if rows is not None:
        if not hasattr(value, "__next__"):
            rows = name_records(rows, role, columns)  # type: ignore[arg-type]  # as checked
        return Input("table" if isinstance(rows, dict) else "rows", rows, role)
    number = "grade" if role == "qrels" else "score"
    raise FormatError(
        f"expected {role} as a path, a dict of dicts, a data frame, or rows of "
        f"(query, document, {number}); found {describe_value(value)}",
        hint="a path may be '-' for standard input; rows are tuples of three",
        code="input_type",
        file=role,
    )


def recognise_table(value: object) -> Input:
    """Recognize a table of rankings, in files or of a library."""
    if isinstance(value, str | bytes | os.PathLike | File):
        found = recognise(value, "table")
        if found.kind == "table":
            return found
        raise FormatError(
            "expected a table, found a file that is none by its name",
            hint="say what it is: --format csv, or File(path, 'csv')",
            code="unknown_format",
            file=found.name,
        )
    current = _find_current(value, "table")
    if current is not None:
        return current
    refuse_splits(value, "table")
    value = name_series(value, "table")
    if not is_table(value) and not isinstance(value, Mapping) and _is_iterable_of_rows(value):
        value = name_records(value, "table")  # type: ignore[arg-type]  # as checked
    return Input("table", value, "table")


def name_rows(found: Input, columns: Mapping[str, str]) -> Input:
    """Return rows that can be read only once as a table, if they are records."""
    if found.kind != "rows" or not hasattr(found.value, "__next__"):
        return found
    rows = name_records(found.value, found.name, columns)  # type: ignore[arg-type]  # as its kind says
    return replace(found, kind="table" if isinstance(rows, dict) else "rows", value=rows)


def find_stream(found: Input) -> Input:
    """Return a table of another library as batches, if it can be read batch by batch."""
    if found.kind != "table" or found.is_in_files or isinstance(found.value, Mapping):
        return found
    from rankscope._inputs.batches import find_batches  # noqa: PLC0415 - not for files

    batches = find_batches(found.value)
    return found if batches is None else Input("table", batches, found.name, "arrow")


def _find_current(value: object, role: str) -> Input | None:
    """Return a table of Delta Lake or Apache Iceberg that another library has opened as batches."""
    if type(value).__module__.partition(".")[0] not in {"deltalake", "pyiceberg"}:
        return None
    from rankscope._inputs.lakes import find_batches  # noqa: PLC0415 - few inputs are such

    batches = find_batches(value)
    return None if batches is None else Input("table", batches, role, "arrow")


def _recognise_file(
    given: Path | bytes, role: str, form: str | None, columns: Mapping[str, str]
) -> Input:
    if isinstance(given, bytes):
        path: str | bytes = given
        name = role
    else:
        path = os.fsdecode(given)
        name = "<stdin>" if path == "-" else name_path(path, role)
        if paths.is_address(path):
            from rankscope._inputs.buckets import check_url  # noqa: PLC0415 - few paths are

            path = check_url(path)
        elif path.partition(":/")[0] in {"s3", "gs", "az", "abfs", "abfss", "http", "https"}:
            raise FormatError(
                f"expected a path or an address, found {path}",
                hint=f"write the address as text: a Path turns the two slashes of "
                f"{path.partition(':/')[0]}:// into one",
                code="input_type",
                file=role,
            )
        if form in {None, "parquet"} and _may_be_lakehouse(path):
            from rankscope._inputs.lakes import find_current  # noqa: PLC0415 - loads late

            current = find_current(path)
            if current is not None:
                return Input("table", current, name, "arrow", columns)
        form = form or paths.recognise_path(path, lambda names: _is_known(names, columns))
    if form is None or form == "trec":
        return Input("file", path, name)
    return Input("table", path, name, form, columns)


def _may_be_lakehouse(path: str) -> bool:
    if path.endswith(".metadata.json"):
        return True
    if paths.is_address(path):
        return paths.tell_format(path) in {"trec", "parquet"}
    return os.path.isdir(path)  # noqa: PTH112 - pathlib loads slowly


def _is_known(names: list[str], columns: Mapping[str, str]) -> bool:
    """Check whether any name is a known column name."""
    usual = {name for of in SYNONYMS.values() for name in of}
    return not (usual | set(columns.values())).isdisjoint(names)


def name_path(path: str, role: str) -> str:
    """Decode a path as UTF-8, for the same text in every locale."""
    try:
        return os.fsencode(path).decode("utf-8", errors="surrogateescape")
    except UnicodeEncodeError:
        raise FormatError(
            f"expected a path for {role}, found text that no path can be: {path!a}",
            hint="it has a lone surrogate, which is no character",
            code="input_type",
            file=role,
        ) from None


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


def _holds_columns(value: object, columns: Mapping[str, str]) -> bool:
    """Check whether a mapping has the columns of a table by name, and not documents by query."""
    if not isinstance(value, Mapping):
        return False
    for role in ("query", "doc"):
        names = [name for name in (columns.get(role), *SYNONYMS[role]) if name in value]
        if role == "doc" and not names:
            names = [name for name in ITEMS if name in value and _holds_objects(value[name])]
        if not names or isinstance(value[names[0]], Mapping | AbstractSet):
            return False
    return True


def is_of_ranx(value: object) -> TypeGuard[HasDict]:
    """Check whether a value is a `Qrels` or a `Run` of ranx, which needn't be installed."""
    return type(value).__module__.partition(".")[0] == "ranx" and hasattr(value, "to_dict")


def _holds_objects(column: object) -> bool:
    """Check whether a column has lists of objects, each a document with its score or grade."""
    rows = next((row for row in column if row), None) if isinstance(column, list | tuple) else None
    return isinstance(rows, list | tuple) and isinstance(rows[0], Mapping)


def _is_iterable_of_rows(value: object) -> bool:
    is_other = isinstance(value, set | frozenset | bytearray | memoryview)
    # Arrays and open files are iterables too, but not of rows.
    is_other = is_other or any(hasattr(value, name) for name in ("dtype", "readline"))
    return hasattr(value, "__iter__") and not is_other


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
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(value, datasets.Dataset)


def is_arrow_dataset(value: object) -> bool:
    """Check whether an object is a dataset of PyArrow."""
    dataset = sys.modules.get("pyarrow.dataset")
    return dataset is not None and isinstance(value, dataset.Dataset)


def name_series(value: Any, role: str) -> object:  # noqa: ANN401 - what a caller has
    """Return a column of pandas whose index has queries and documents as a table."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, pandas.Series) or value.index.nlevels == 1:
        return value
    usual = {name for each in ("relevance", "score", "rank") for name in SYNONYMS[each]}
    if value.name in usual:
        return value.to_frame()
    return value.to_frame("relevance" if role == "qrels" else "score")

"""Tables of any library: finds columns by their names, and reads ids and numbers."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from rankscope.errors import EmptyError, FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Foreign: TypeAlias = Any  # a column of another library
    IdColumn: TypeAlias = NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.uint8]]

SYNONYMS: dict[str, tuple[str, ...]] = {
    "query": (
        "query_id",
        "qid",
        "q_id",
        "query",
        "topic",
        "topic_id",
        "user_id",
        "search_group_id",
        "group_id",
        "ranking_id",
    ),
    "doc": ("doc_id", "docno", "docid", "doc", "item_id", "item", "document_id", "product_id"),
    "relevance": ("relevance", "rel", "label", "grade", "gains", "gain", "target"),
    "score": ("score", "prediction", "pred", "y_score", "similarity"),
    "rank": ("rank", "ranks", "position"),
}
"""The names under which a column is found that is not named."""


@record(frozen=True, slots=True)
class Columns:
    """The columns of a table that hold rankings and judgments.

    Args:
        queries: Integers, or the offsets of texts and the texts end to end.
        docs: The same, if there are documents.
        relevance: Grades, NaN where unjudged.
        scores: Scores, larger ones first.
        ranks: Ranks, where there are scores as well.
    """

    queries: IdColumn
    docs: IdColumn | None
    relevance: NDArray[np.float64]
    scores: NDArray[np.float64]
    ranks: NDArray[np.float64] | None


def read_table(table: object, names: Mapping[str, str | None]) -> Columns:
    """Read a table whose rows hold a score, or a rank, and a grade.

    Args:
        table: The table.
        names: By role, the name of the column, or `None` to find it.

    Raises:
        InputError: A column is missing, or holds what cannot be read.
    """
    source = open_table(table)
    found = {role: find_column(source, role, name) for role, name in names.items()}
    for role in ("query", "relevance"):
        _require(source, found, role)
    if found["score"] is None and found["rank"] is None:
        _require(source, found, "score")
    ranks = None if found["rank"] is None else read_numbers(source, found["rank"])
    if found["score"] is None and ranks is not None:
        scores, ranks = -ranks, None
    else:
        scores = read_numbers(source, found["score"] or "")
    return Columns(
        read_ids(source, found["query"] or ""),
        None if found["doc"] is None else read_ids(source, found["doc"]),
        read_numbers(source, found["relevance"] or "", allows_null=True),
        scores,
        ranks,
    )


class Table:
    """A table of any library, as names and columns."""

    def __init__(self, names: Sequence[str], columns: Mapping[str, object]) -> None:
        self.names = list(names)
        self.columns = columns
        doubled = sorted({name for name in self.names if self.names.count(name) > 1})
        if doubled:
            raise FormatError(
                f"expected different column names, found {', '.join(doubled)} more than once",
                hint="rename one of them",
                code="columns",
                file="table",
            )


def open_table(table: object) -> Table:
    """See a table of any library as names and columns.

    Raises:
        FormatError: It is no table.
    """
    if isinstance(table, Mapping):
        return Table([str(name) for name in table], dict(table))
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(table, polars.LazyFrame):
        table = table.collect()
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        if table.columns.nlevels > 1:
            raise FormatError(
                "expected one level of column names, found several",
                hint="flatten the columns",
                code="columns",
                file="table",
            )
        names = [str(name) for name in table.columns]
        return Table(names, {name: table.iloc[:, at] for at, name in enumerate(names)})
    if hasattr(table, "__arrow_c_stream__"):
        arrow = _arrow().table(table)
        return Table(arrow.column_names, {name: arrow.column(name) for name in arrow.column_names})
    module = type(table).__module__.partition(".")[0]
    hint = "collect it first: .toPandas()" if module == "pyspark" else "give a data frame"
    raise FormatError(
        f"expected a table, found {type(table).__name__}",
        hint=hint,
        code="input_type",
        file="table",
    )


def find_column(table: Table, role: str, name: str | None) -> str | None:
    """Find the column of a role by the name given, or by its usual names.

    Raises:
        FormatError: The column named is not there, or two have usual names.
    """
    if name is not None:
        if name in table.names:
            return name
        raise _no_column(table, f"the column {name!r} of {role}", name)
    found = [column for column in table.names if column in SYNONYMS[role]]
    if len(found) > 1:
        raise FormatError(
            f"expected one column of {role}, found {' and '.join(found)}",
            hint=f"say which: {role}={found[0]!r}",
            code="columns",
            file="table",
        )
    return found[0] if found else None


def _require(table: Table, found: Mapping[str, str | None], role: str) -> None:
    if found[role] is None:
        usual = ", ".join(SYNONYMS[role])
        raise _no_column(table, f"a column of {role} ({usual})", role)


def _no_column(table: Table, wanted: str, name: str) -> FormatError:
    from difflib import get_close_matches  # noqa: PLC0415 - slow to load; only errors need it

    close = get_close_matches(name, table.names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "name it, as in query='search_group_id'"
    return FormatError(
        f"expected {wanted}, found {', '.join(table.names) or 'no columns'}",
        hint=hint,
        code="columns",
        file="table",
    )


def read_ids(table: Table, name: str) -> IdColumn:
    """Read a column of identifiers: integers, or texts.

    Raises:
        InputError: There are none, or they are something else.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    column = _plain(table.columns[name])
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        if column.dtype == np.uint64 and (column > np.iinfo(np.int64).max).any():
            raise _bad_ids(name, "integers of 64 bits with a sign", "larger ones")
        return np.ascontiguousarray(column, dtype=np.int64)
    if isinstance(column, np.ndarray) and column.dtype.kind not in "OUT":
        raise _bad_ids(name, "texts or integers", str(column.dtype))
    return _read_texts(column, name)


def _read_texts(column: Foreign, name: str) -> IdColumn:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = _arrow()
    try:
        values = column if hasattr(column, "null_count") else pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise _bad_ids(name, "texts, or integers", "a mixture") from error
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        row = values.is_null().index(True).as_py()
        raise FormatError(
            f"expected an id in every row of {name}, found none",
            hint="drop the rows without one",
            code="missing_id",
            file="table",
            line=row + 1,
        )
    if pa.types.is_integer(values.type):
        integers: NDArray[np.int64] = values.cast(pa.int64()).to_numpy()
        return integers
    if not (
        pa.types.is_string(values.type)
        or pa.types.is_large_string(values.type)
        or pa.types.is_string_view(values.type)
    ):
        raise _bad_ids(name, "texts or integers", str(values.type))
    values = values.cast(pa.large_string())
    _, offsets, texts = values.buffers()
    starts = np.frombuffer(offsets, dtype=np.int64)[values.offset :][: len(values) + 1]
    return starts, np.frombuffer(texts or b"", dtype=np.uint8)


def read_numbers(table: Table, name: str, *, allows_null: bool = False) -> NDArray[np.float64]:
    """Read a column of numbers as float64, exactly.

    Args:
        table: The table.
        name: The column.
        allows_null: Whether nulls become NaN; else they are refused.

    Raises:
        InputError: They are something else, or missing.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    from rankscope.adapters.numbers import to_numbers  # noqa: PLC0415 - as NumPy

    column = _plain(table.columns[name])
    if not isinstance(column, np.ndarray) or column.dtype == object:
        column = _numbers_of_arrow(column, name, allows_null=allows_null)
    numbers = to_numbers(column, name, dimensions=(1,))
    if len(numbers) == 0:
        raise EmptyError(
            "expected rows, found none", hint="is the table empty?", code="empty_input"
        )
    return numbers


def _numbers_of_arrow(column: Foreign, name: str, *, allows_null: bool) -> NDArray[Any]:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = _arrow()
    try:
        values = column if hasattr(column, "null_count") else pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise _bad_numbers(name, "a mixture") from error
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = values.type
    if pa.types.is_null(kind):
        values = values.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise _bad_numbers(name, str(kind))
    if values.null_count and not allows_null:
        row = values.is_null().index(True).as_py()
        raise FormatError(
            f"expected a number in every row of {name}, found none",
            hint="drop the rows without one",
            code="missing_score",
            file="table",
            line=row + 1,
        )
    if values.null_count or pa.types.is_decimal(kind):
        numbers = values.cast(pa.float64(), safe=not pa.types.is_decimal(kind)).to_numpy(
            zero_copy_only=False
        )
        return np.asarray(numbers, dtype=np.float64)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _plain(column: Foreign) -> Foreign:
    """A NumPy array where the column is one already; an Arrow array or the column itself else."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if isinstance(column, np.ndarray) or (
        hasattr(column, "null_count") and hasattr(column, "type")
    ):
        return column
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind != "O":  # a pandas Series of NumPy's types
        return np.asarray(column)
    if hasattr(column, "array") and hasattr(column.array, "__arrow_array__"):
        return column.array.__arrow_array__()
    if isinstance(column, list | tuple | range):
        array = np.asarray(column)
        return array if array.dtype.kind in "iuf" and array.ndim == 1 else list(column)
    return column


def _arrow() -> ModuleType:
    from importlib import import_module  # noqa: PLC0415 - only tables need it

    try:
        return import_module("pyarrow")
    except ModuleNotFoundError as error:
        raise FormatError(
            "expected pyarrow to be installed, which reads columns of text",
            hint="pip install 'rankscope[tables]'",
            code="missing_extra",
        ) from error


def _bad_ids(name: str, wanted: str, found: str) -> FormatError:
    return FormatError(
        f"expected {name} to hold {wanted}, found {found}",
        hint="ids are text or integers; floats lose digits",
        code="id_type",
        file="table",
    )


def _bad_numbers(name: str, found: str) -> FormatError:
    return FormatError(
        f"expected {name} to hold numbers, found {found}",
        hint="convert the column first",
        code="not_numeric",
        file="table",
    )

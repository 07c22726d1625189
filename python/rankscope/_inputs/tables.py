"""Tables of any library, with columns found by role."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.column_names import (
    BESIDE,
    SYNONYMS,
    check_names,
    find_column,
    find_grades,
    no_column,
    no_role,
)
from rankscope._inputs.columns import (
    count_ids,
    id_type,
    read_ids,
    read_numbers,
    read_typed_values,
    view_ids,
)
from rankscope._inputs.descriptions import describe_value
from rankscope.deferred import np
from rankscope.errors import FormatError, OutOfMemoryError
from rankscope.names import quote
from rankscope.output.ids import AttributeColumn, SourceIds
from rankscope.output.ids import IdColumn as SourceColumn
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn, IdView
    from rankscope.settings.attribution import Positive, Settings

    CoreColumns: TypeAlias = tuple[
        IdColumn,
        IdColumn | None,
        NDArray[Any],
        NDArray[Any],
        bool,
        NDArray[Any] | None,
        list[tuple[str, IdColumn]],
    ]


@record(frozen=True, slots=True)
class TableColumns:
    """The columns of a table that hold rankings and judgments.

    Args:
        queries: Integers, or the offsets of texts and the texts end to end.
        docs: The same, if there are documents.
        relevance: Grades, NaN where unjudged.
        scores: Scores, larger ones first; or ranks below zero.
        are_ranks: Whether scores are ranks below zero.
        ranks: Ranks, where there are scores as well.
        attributes: Names and columns of what belongs to the query.
        source: The columns of ids as the caller has them.
    """

    queries: IdColumn
    docs: IdColumn | None
    relevance: NDArray[Any]
    scores: NDArray[Any]
    are_ranks: bool
    ranks: NDArray[Any] | None
    attributes: list[tuple[str, IdColumn]]
    source: SourceIds

    def to_core(self) -> CoreColumns:
        """Return the columns in the order of the core's arguments."""
        return (
            self.queries,
            self.docs,
            self.relevance,
            self.scores,
            self.are_ranks,
            self.ranks,
            self.attributes,
        )


def read_table(
    table: object,
    names: Mapping[str, str | None],
    attributes: Sequence[str] = (),
    attribution: Attributed | None = None,
    *,
    ids: SourceIds | None = None,
) -> TableColumns:
    """Read a table whose rows hold a score, or a rank, and a grade."""
    source = open_table(table)
    found = FoundColumns(source, names, attributes)
    rank = found.seek("rank")
    score = found.seek("score") if rank is not None else found.require("score")
    ranks = None if rank is None else found.read_numbers("rank")
    are_ranks = score is None
    if score is None and ranks is not None:
        scores, ranks = _negate(ranks), None
    else:
        scores = found.read_numbers("score")
    if attribution is None:
        relevance = found.read_numbers("relevance", allows_null=True)
    else:
        relevance = attribution.read_grades(source)
    held = {name: read_typed_values(source.find(name, "attributes"), name) for name in attributes}
    types = (AttributeColumn(name, dtype) for name, (_, dtype) in held.items())
    return TableColumns(
        found.read_ids("query"),
        None if found.seek("doc") is None else found.read_ids("doc"),
        relevance,
        scores,
        are_ranks,
        ranks,
        [(name, values) for name, (values, _) in held.items()],
        replace(ids or found.describe_ids(), attributes=tuple(types)),
    )


@record(frozen=True, slots=True)
class Attributed:
    """The columns of a table that hold labels in place of grades, and what they are worth.

    Args:
        labels: The column of labels.
        predicted: The column of predicted labels, if there is one.
        positive: The positive classes.
        settings: What `attribute` takes besides.
    """

    labels: str
    predicted: str | None
    positive: Positive | None
    settings: Settings

    def read_grades(self, table: NamedColumns) -> NDArray[np.float64]:
        """Read the labels of a table as grades."""
        from rankscope._inputs.labels import read_grades  # noqa: PLC0415 - few tables have labels

        labels = table.find(self.labels, "labels")
        name = self.predicted
        predicted = None if name is None else table.find(name, "predicted")
        return read_grades(labels, predicted, positive=self.positive, **self.settings)


@record(frozen=True, slots=True)
class JoinedColumns:
    """What is read of a table whose rows hold a score, or a rank, and a grade.

    Args:
        names: By role, the names of columns that are given.
        attributes: The columns of what belongs to the query.
        attributed: The labels in place of grades, if any.
    """

    names: Mapping[str, str | None]
    attributes: Sequence[str] = ()
    attributed: Attributed | None = None


def read_judged(
    table: object, names: Mapping[str, str | None], ids: SourceIds | None = None
) -> tuple[IdColumn, IdColumn, NDArray[Any], bool, SourceIds]:
    """Read a table whose rows hold a query, a document and its grade."""
    source = open_table(table)
    grade = find_grades(source.names, names)
    found = FoundColumns(source, {**names, "relevance": grade})
    queries, docs = found.read_ids("query"), found.read_ids("doc")
    ids = ids or found.describe_ids()
    if grade is None:
        return queries, docs, np.ones(count_ids(docs), dtype=np.int32), True, ids
    return queries, docs, found.read_numbers("relevance"), False, ids


def find_subtopics(table: object, names: Mapping[str, str | None]) -> str | None:
    """Find the column of subtopics in a table of judgments, if there is one."""
    return find_column(open_table(table).names, "subtopic", names.get("subtopic"))


def read_second(table: object, names: Mapping[str, str | None], second: str) -> IdColumn:
    """Read the column of subtopics or strata in a table of judgments."""
    source = open_table(table)
    name = find_column(source.names, second, names.get(second))
    if name is None:
        raise no_role(source.names, second)
    return FoundColumns(source, {second: name}).read_ids(second)


def read_retrieved(
    table: object, names: Mapping[str, str | None]
) -> tuple[IdColumn, IdColumn, NDArray[Any], bool]:
    """Read a table whose rows hold a query, a document and its score; or its rank, if that is all.

    Scores are ranks below zero then, as is said last.
    """
    found = FoundColumns(open_table(table), names)
    # Ids first: a row that holds a whole list has no score, but that isn't what is wrong.
    queries, docs = found.read_ids("query"), found.read_ids("doc")
    return queries, docs, *_read_scores(found)


def view_retrieved(
    table: object, names: Mapping[str, str | None]
) -> tuple[IdView, IdView, NDArray[Any], bool]:
    """Read a table as `read_retrieved` does, but leave text of Arrow where it is, unchecked.

    The core checks it. Where that refuses the text, `read_retrieved` says what is wrong.
    """
    found = FoundColumns(open_table(table), names)
    queries, docs = found.view_ids("query"), found.view_ids("doc")
    return queries, docs, *_read_scores(found)


def _read_scores(found: FoundColumns) -> tuple[NDArray[Any], bool]:
    """Read scores, or ranks below zero, and say whether they are ranks."""
    if found.seek("score") is None and found.seek("rank") is not None:
        return _negate(found.read_numbers("rank")), True
    return found.read_numbers("score"), False


def _negate(ranks: NDArray[Any]) -> NDArray[np.float64]:
    """Convert ranks to scores, safely for the smallest integer of a type."""
    return np.asarray(np.negative(ranks, dtype=np.float64))


class FoundColumns:
    """The columns of a table by their roles."""

    def __init__(
        self,
        table: NamedColumns,
        names: Mapping[str, str | None],
        attributes: Sequence[str] = (),
    ) -> None:
        self.table = table
        self.names = names
        self.attributes = attributes

    def seek(self, role: str) -> str | None:
        """Return the column of a role, `None` if there is none."""
        return find_column(self.table.names, role, self.names.get(role), self.attributes)

    def require(self, role: str) -> str:
        """Return the column of a role."""
        name = self.seek(role)
        if name is None:
            raise no_role(self.table.names, role)
        return name

    def read_ids(self, role: str) -> IdColumn:
        """Read the identifiers of a role."""
        name = self.require(role)
        return read_ids(self.table.columns[name], name)

    def view_ids(self, role: str) -> IdView:
        """Read the identifiers of a role, and leave text where it is."""
        name = self.require(role)
        return view_ids(self.table.columns[name], name)

    def describe_ids(self) -> SourceIds:
        """Return the columns of ids as the caller has them."""
        return SourceIds(self._describe("query", "query_id"), self._describe("doc", "doc_id"))

    def _describe(self, role: str, default: str) -> SourceColumn:
        name = self.seek(role)
        if name is None:
            return SourceColumn(default)
        return SourceColumn(name, id_type(self.table.columns[name]))

    def read_numbers(self, role: str, *, allows_null: bool = False) -> NDArray[Any]:
        """Read the numbers of a role."""
        name = self.require(role)
        return read_numbers(self.table.columns[name], name, role, allows_null=allows_null)


class NamedColumns:
    """A table of any library, as names and columns.

    Args:
        names: The names of the columns.
        columns: The columns by name.
        what: What errors call the table.
    """

    def __init__(self, names: Sequence[str], columns: Mapping[str, object], what: str = "") -> None:
        self.names = list(names)
        self.columns = columns
        self.what = what
        check_names(self.names)

    def find(self, name: str, role: str) -> object:
        """Return the column of a name."""
        if name not in self.columns:
            raise no_column(self.names, f"the column {quote(name)} of {role}", name)
        return self.columns[name]


ELSEWHERE = {
    "pyspark": "use the function of the same name in rankscope.spark, or .toPandas() first",
    "dask": "bring it here first: .compute()",
    "modin": "bring it here first: .modin.to_pandas()",
    "cudf": "bring it here first: .to_pandas()",
    "duckdb": "give a relation, as connection.sql(…) makes it",
    "_duckdb": "give a relation, as connection.sql(…) makes it",
}
"""What brings here a table that a library holds elsewhere, by its module."""


def is_table(value: object) -> bool:
    """Check by its attributes whether an object is a data frame or an Arrow table."""
    # The type is asked, for a lazy frame would have to look its columns up.
    is_arrow = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")
    has_columns = is_arrow or hasattr(type(value), "columns")
    return has_columns or _is_dataset(value) or _is_arrow_dataset(value)


def _is_dataset(value: object) -> bool:
    """Check whether an object is a Dataset of Hugging Face."""
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(value, datasets.Dataset)


def _is_arrow_dataset(value: object) -> bool:
    """Check whether an object is a dataset of PyArrow."""
    dataset = sys.modules.get("pyarrow.dataset")
    return dataset is not None and isinstance(value, dataset.Dataset)


def is_single_column(value: object) -> bool:
    """Check whether an object is a single column of a library, such as a Series."""
    is_arrow = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")
    has_type = hasattr(value, "dtype") or hasattr(value, "type")
    return is_arrow and has_type and not hasattr(value, "columns")


def open_table(table: object) -> NamedColumns:
    """Return a table of any library as names and columns."""
    if isinstance(table, NamedColumns):
        return table
    if isinstance(table, Mapping):
        return NamedColumns([str(name) for name in table], dict(table), describe_value(table))
    narwhals, polars, pandas = map(sys.modules.get, ("narwhals", "polars", "pandas"))
    what = describe_value(table)
    if narwhals is not None and isinstance(table, narwhals.DataFrame | narwhals.LazyFrame):
        table = table.to_native()
    if polars is not None and isinstance(table, polars.LazyFrame):
        table = table.collect()
    if polars is not None and isinstance(table, polars.DataFrame):
        held = {name: table.get_column(name) for name in table.columns}
        return NamedColumns(table.columns, held, what)
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return _open_pandas(table)
    if _is_dataset(table):
        table = table.with_format("arrow")[:]  # type: ignore[attr-defined]  # see above
    if _is_arrow_dataset(table):
        table = table.to_table()  # type: ignore[attr-defined]  # see above
    if is_table(table):
        arrow = _read_arrow(table)
        held = dict(zip(arrow.column_names, arrow.columns, strict=True))
        return NamedColumns(arrow.column_names, held, what)
    raise _no_table(table)


def _open_pandas(frame: Any) -> NamedColumns:  # noqa: ANN401 - of pandas
    if frame.columns.nlevels > 1:
        raise FormatError(
            "expected one level of column names, found several",
            hint="flatten the columns",
            code="columns",
        )
    names = [str(name) for name in frame.columns]
    held = {name: frame.iloc[:, at] for at, name in enumerate(names)}
    levels = _name_levels(frame.index, names)
    return NamedColumns([*names, *levels], {**held, **levels}, describe_value(frame))


def _name_levels(index: Any, names: Sequence[str]) -> dict[str, object]:  # noqa: ANN401 - of pandas
    """Return the levels of an index that are queries or documents, and that no column is.

    Two levels without names are query and document.
    """
    levels = list(index.names)
    roles = {name: role for role in ("query", "doc") for name in SYNONYMS[role]}
    if index.nlevels == 2 and levels == [None, None] and not any(name in roles for name in names):
        levels = ["query_id", "doc_id"]

    def is_free(level: str) -> bool:
        """Return whether no column has the role of a level, or only one that means less there."""
        role = roles.get(level)
        weak = BESIDE[role][1] if role else ()
        columns = [name for name in names if role and roles.get(name) == role]
        return all(name in weak and level not in weak for name in columns)

    return {
        name: index.get_level_values(at)
        for at, name in enumerate(levels)
        if isinstance(name, str)
        and name not in names
        and (name in roles or index.nlevels > 1)
        and is_free(name)
    }


def name_series(value: Any, role: str) -> object:  # noqa: ANN401 - what a caller has
    """Return a column of pandas whose index has queries and documents as a table."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(value, pandas.Series) or value.index.nlevels == 1:
        return value
    usual = {name for each in ("relevance", "score", "rank") for name in SYNONYMS[each]}
    if value.name in usual:
        return value.to_frame()
    return value.to_frame("relevance" if role == "qrels" else "score")


def _read_arrow(table: object) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Read the table that an object exports through Arrow."""
    pa = load_arrow()
    try:
        if hasattr(table, "__arrow_c_stream__"):
            # `pa.table` loads pandas.
            return (
                table
                if isinstance(table, pa.Table)
                else pa.RecordBatchReader.from_stream(table).read_all()
            )
        if hasattr(table, "__arrow_c_array__"):
            return pa.record_batch(table)
    except (TypeError, ValueError, NotImplementedError) as error:  # Arrow's errors are of these
        raise _no_table(table) from error
    except MemoryError as error:
        raise OutOfMemoryError(
            f"not enough memory to read the {type(table).__name__}",
            hint="pass only the columns that are needed, or write the table to a Parquet file",
            code="memory",
        ) from error
    raise _no_table(table)


def _no_table(table: object) -> FormatError:
    module = type(table).__module__.partition(".")[0]
    return FormatError(
        f"expected a table, found {describe_value(table)}",
        hint=ELSEWHERE.get(module, "give a data frame, or an Arrow table"),
        code="input_type",
    )

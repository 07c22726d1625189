"""What the rows of data frames hold: which column has which role."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from typing import Any

import pyarrow as pa

from rankscope._inputs.column_names import CHECKS, SYNONYMS, check_names, find_column
from rankscope._inputs.columns import INTEGER_TYPES, read_typed_values
from rankscope._inputs.rows import Columns
from rankscope._inputs.tabular import JOINED, JUDGED, RETRIEVED, make_selection
from rankscope._show.table import AttributeColumn, IdColumn, SourceIds
from rankscope.errors import UsageError
from rankscope.spark.files import Frame, Piece, Table, find_pieces

NEEDED = {"judged": JUDGED, "retrieved": RETRIEVED, "joined": JOINED}
"""The roles of which there must be a column, by what rows are."""
FILES = {"judged": "qrels", "retrieved": "run", "joined": "table"}
"""What messages call a data frame, by what its rows are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What the rows of a data frame hold.

    They are `judged`, `retrieved`, or `joined` for both. `schema` has all columns, in order;
    `names` and `checks` have columns by role, the latter those that only `ListChecks` needs.
    """

    side: str
    schema: Any
    names: Mapping[str, str]
    ids: SourceIds
    checks: Mapping[str, str]

    @property
    def attributes(self) -> list[str]:
        """The columns of what belongs to the query."""
        return [attribute.name for attribute in self.ids.attributes]

    def read(self, table: Table) -> Columns:
        """Return the columns of an Arrow table by their roles, as the local engine has them."""
        columns = dict(zip(table.column_names, table.columns, strict=True))
        return Columns(columns, self.names, table.column_names)


def select_columns(
    side: str,
    columns: Sequence[str],
    convert: Callable[[Sequence[str]], Any],
    named: Mapping[str, str | None],
    attributes: Sequence[str] = (),
) -> Rows:
    """Select the columns that are needed; `convert` returns the schema of some of them in Arrow.

    Raises:
        FormatError: A column is missing, or there are two candidates.
    """
    check_names(columns)
    for name in attributes:
        find_column(columns, name, name)  # or there is none
    is_judged = side == "judged"
    # A column that is named as an attribute is no grade.
    columns = [name for name in columns if not is_judged or name not in attributes]
    others = () if is_judged else attributes
    requested = make_selection(NEEDED[side], named, others=others, is_judged=is_judged)
    by_role = requested.choose(columns, {}, FILES[side])
    requested.require(by_role, columns, FILES[side])
    names = {role: by_role[role] for role in (*requested.roles, "relevance") if role in by_role}
    checks = {role: name for role, name in by_role.items() if role.startswith(CHECKS)}
    # Columns of lists and objects divide nothing, and Arrow has no type for some.
    kinds: list[Any] = []
    with suppress(TypeError):
        kinds = convert([*checks.values()]).types
    pairs = zip(checks.items(), kinds, strict=False)
    checks = {role: name for (role, name), kind in pairs if not pa.types.is_nested(kind)}
    schema = convert(list(dict.fromkeys([*names.values(), *attributes, *checks.values()])))
    empty = schema.empty_table()
    types = {role: str(schema.field(name).type) for role, name in names.items()}
    query, doc = (
        IdColumn(names.get(role, usual), types[role] if types.get(role) in INTEGER_TYPES else "")
        for role, usual in (("query", "query_id"), ("doc", "doc_id"))
    )
    described = (
        AttributeColumn(name, read_typed_values(empty[name], name)[1]) for name in attributes
    )
    ids = SourceIds(query, doc, tuple(described))
    return Rows(side=side, schema=schema, names=names, ids=ids, checks=checks)


@dataclass(frozen=True, slots=True)
class Source:
    """A data frame with the columns that are needed, what its rows hold, and all of its columns."""

    frame: Frame
    rows: Rows
    whole: Frame

    def select(self, role: str) -> Any:  # noqa: ANN401 - of Spark
        """Return the column of a role."""
        return self.frame[f"c{self.rows.schema.names.index(self.rows.names[role])}"]

    def find_pieces(self) -> list[list[Piece]]:
        """Return the pieces of files that each task reads, or nothing if Spark has to read."""
        return find_pieces(self.whole, self.rows.schema.names)

    def run(self, tasks: Sequence[Sequence[Piece]], work: Any, schema: str) -> Frame:  # noqa: ANN401 - a function
        """Return the rows that a function makes of the data frame, or of pieces of its files."""
        # A row with the number of each task that reads files, or else the rows themselves.
        count = len(tasks)
        frame = self.frame.sparkSession.range(0, count, 1, count) if tasks else self.frame
        return frame.mapInArrow(work, schema)


def check_frame(frame: object, name: str) -> None:
    """Raise an error unless an argument is a data frame of Spark."""
    if not hasattr(frame, "mapInArrow"):
        raise UsageError(
            f"expected {name} as a Spark DataFrame, found {type(frame).__name__}",
            hint="make one with spark.read.parquet or spark.createDataFrame; for other tables, use "
            "the function of the same name in rankscope",
            code="bad_parameter",
        )


def read_source(
    side: str,
    frame: Frame,
    names: Mapping[str, str | None],
    attributes: Sequence[str] = (),
) -> Source:
    """Read the columns of a data frame."""
    check_frame(frame, "qrels" if side == "judged" else f"the {FILES[side]}")
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    # Spark ignores the case of names: they are spelled as they were named, or usually are.
    usual = [name for synonyms in SYNONYMS.values() for name in synonyms]
    names_used = [*usual, *filter(None, names.values()), *attributes]
    spellings = {name.lower(): name for name in names_used}
    spelled = [spellings.get(name.lower(), name) for name in frame.columns]
    frame = frame if spelled == frame.columns else frame.toDF(*spelled)
    # Before 4.3, times are in UTC without being asked.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}

    def convert(columns: Sequence[str]) -> Table:
        return to_arrow_schema(StructType([frame.schema[name] for name in columns]), **zone)

    rows = select_columns(side, spelled, convert, names, attributes)
    # Spark looks columns up again by names, in which dots would mean fields.
    quoted = ("`" + name.replace("`", "``") + "`" for name in rows.schema.names)
    columns = [frame[name].alias(f"c{at}") for at, name in enumerate(quoted)]
    return Source(frame.select(*columns), rows, frame)


def list_grades(source: Source) -> list[float]:
    """Return the different grades of a data frame, ascending, by a query of Spark."""
    if "relevance" not in source.rows.names:
        return [1.0]
    rows = source.frame.select(source.select("relevance")).distinct().collect()
    grades = {float(row[0]) for row in rows if row[0] is not None}
    return sorted(grade for grade in grades if grade == grade)  # noqa: PLR0124 - NaN alone differs


def are_judged(source: Source, docs: Sequence[str]) -> bool:
    """Check whether judgments have any of some documents, by a query of Spark."""
    column = source.select("doc").cast("string")
    return bool(source.frame.where(column.isin(*docs)).limit(1).count())

"""The tables that a statement reads: judgments and a run, or one table with both.

Names are written as quoted identifiers, and are the only text of the caller in a statement.
"""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.names import quote
from rankscope.records import record
from rankscope.warehouse.dialects import TEXTS, default_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    from rankscope.warehouse.dialects import Dialect

    TableName: TypeAlias = str | tuple[str, ...]

ROLES = {"query": "query_id", "doc": "doc_id", "relevance": "relevance", "score": "score"}
"""The columns of tables, and what they are called by default."""

ESCAPED = {"bigquery": "`\\"}
"""Characters that a quoted name of a dialect can't have."""

EXACT_UP_TO = "CAST('9007199254740992' AS DOUBLE PRECISION)"
LARGEST_BIGINT = "CAST('9223372036854774784' AS DOUBLE PRECISION)"
LONGEST_NAME = 300
NO_DOCUMENT = "CAST(NULL AS TEXT)"
SIGNS = '"`()[];'
"""Signs of SQL that are no part of a usual name."""
SHARED = ("query", "doc")
"""The roles of columns that both tables have, possibly under different names."""


@record(frozen=True, slots=True)
class QrelsAndRun:
    """A table of judgments and a table of retrieved documents.

    Args:
        qrels: The name of the table of judgments.
        run: The name of the table of retrieved documents.
        columns: The names of the columns by role; those of one table have a role such as
            `run.query`.
        by: Columns of the judgments with attributes of the query.
        keep_larger: Whether of repeated documents the one with the larger grade or score counts.
    """

    qrels: TableName
    run: TableName
    columns: Mapping[str, str]
    by: Sequence[str]
    keep_larger: bool

    @property
    def is_ranked(self) -> bool:
        """Whether there are ranks in place of scores."""
        return "rank" in self.columns

    @property
    def has_documents(self) -> bool:
        """Whether there are document IDs."""
        return True

    def tables(self, dialect: Dialect) -> dict[str, str]:
        """Return the tables that the others are made from."""
        score = _read_number(self.columns["rank" if self.is_ranked else "score"], "score")
        attributes = _read_attributes(self.by, dialect)
        best = f"{'MIN' if self.is_ranked else 'MAX'}(score)"
        once = (
            f"SELECT query_id, doc_id, {best} AS score FROM rs_given_run GROUP BY query_id, doc_id"
        )
        run = f"({once})" if self.keep_larger else "rs_given_run"
        return {
            "rs_given_qrels": f"SELECT {self._keys('qrels', dialect)}, "
            f"{_read_number(self.columns['relevance'], 'grade')}{attributes} "
            f"FROM {name_table(self.qrels)} AS given",
            "rs_given_run": f"SELECT {self._keys('run', dialect)}, "
            f"{score} FROM {name_table(self.run)} AS given",
            "rs_judged": "SELECT query_id, doc_id, MAX(grade) AS grade FROM rs_given_qrels "
            "GROUP BY query_id, doc_id",
            "rs_queries": f"SELECT query_id{_attributes(self.by)} FROM rs_given_qrels "
            "GROUP BY query_id",
            "rs_retrieved": "SELECT run.query_id, run.doc_id, "
            "CASE WHEN run.score = 0 THEN 0 ELSE run.score END AS score, rs_judged.grade "
            f"FROM {run} AS run "
            "JOIN rs_queries ON rs_queries.query_id = run.query_id "
            "LEFT JOIN rs_judged ON rs_judged.query_id = run.query_id "
            "AND rs_judged.doc_id = run.doc_id",
        }

    def _keys(self, table: str, dialect: Dialect) -> str:
        """Return the columns of IDs of one of the tables."""
        names = (self.columns.get(f"{table}.{role}", self.columns[role]) for role in SHARED)
        query, doc = (TEXTS[dialect].format(name_column(name)) for name in names)
        return f"{query} AS query_id, {doc} AS doc_id"

    @property
    def rows_with_attributes(self) -> str:
        """The table whose rows have the attributes."""
        return "rs_given_qrels"

    def problems(self) -> list[str]:
        """Return the queries for rows that can't be evaluated."""
        problems = [
            _count_none("rs_given_qrels"),
            _count_none("rs_given_run"),
            _count_rows("missing_id", "rs_given_qrels", _no_id()),
            _count_rows("missing_id", "rs_given_run", _no_id()),
            _count_rows("rel_not_number", "rs_given_qrels", "grade IS NULL OR " + _is_nan("grade")),
            _count_rows("rel_out_of_range", "rs_given_qrels", _is_infinite("grade")),
            _count_rows("inexact_number", "rs_given_qrels", "grade_lost <> 0"),
            *_score_problems("rs_given_run"),
            _count_none("rs_retrieved", "no_common_queries"),
        ]
        if not self.keep_larger:
            problems += [
                _count_groups("duplicate_conflict", "rs_given_qrels", "MIN(grade) < MAX(grade)"),
                _count_groups("duplicate_doc", "rs_given_run", "COUNT(*) > 1"),
            ]
        return problems


@record(frozen=True, slots=True)
class JoinedTable:
    """A table whose rows hold a score or a rank, and a grade.

    Args:
        table: Its name.
        columns: The names of the columns by role; there may be no documents.
        by: Columns with attributes of the query.
    """

    table: TableName
    columns: Mapping[str, str]
    by: Sequence[str]

    @property
    def is_ranked(self) -> bool:
        """Whether there are ranks in place of scores."""
        return "rank" in self.columns

    @property
    def has_documents(self) -> bool:
        """Whether there are document IDs."""
        return "doc" in self.columns

    def tables(self, dialect: Dialect) -> dict[str, str]:
        """Return the tables that the others are made from."""
        query = TEXTS[dialect].format(name_column(self.columns["query"]))
        named = name_column(self.columns["doc"]) if self.has_documents else "NULL"
        doc = TEXTS[dialect].format(named)
        score = _read_number(self.columns["rank" if self.is_ranked else "score"], "score")
        attributes = _read_attributes(self.by, dialect)
        grade = "CASE WHEN NOT " + _is_nan("grade") + " THEN grade END"
        return {
            "rs_given": f"SELECT {query} AS query_id, {doc} AS doc_id, "
            f"{_read_number(self.columns['relevance'], 'grade')}, {score}{attributes} "
            f"FROM {name_table(self.table)} AS given",
            "rs_queries": f"SELECT query_id{_attributes(self.by)} FROM rs_given GROUP BY query_id",
            "rs_retrieved": "SELECT query_id, doc_id, "
            f"CASE WHEN score = 0 THEN 0 ELSE score END AS score, {grade} AS grade FROM rs_given",
            "rs_judged": "SELECT query_id, doc_id, grade FROM rs_retrieved WHERE grade IS NOT NULL",
        }

    @property
    def rows_with_attributes(self) -> str:
        """The table whose rows have the attributes."""
        return "rs_given"

    def problems(self) -> list[str]:
        """Return the queries for rows that can't be evaluated."""
        no_id = _no_id() if self.has_documents else "query_id IS NULL OR query_id = ''"
        problems = [
            _count_none("rs_given"),
            _count_none("rs_judged"),
            _count_rows("missing_id", "rs_given", no_id),
            _count_rows("rel_out_of_range", "rs_given", _is_infinite("grade")),
            _count_rows("inexact_number", "rs_given", "grade_lost <> 0"),
            *_score_problems("rs_given"),
        ]
        if self.has_documents:
            problems.append(_count_groups("duplicate_doc", "rs_given", "COUNT(*) > 1"))
        return problems


def attribute_problems(given: QrelsAndRun | JoinedTable) -> list[str]:
    """Return the queries for queries with different values of one attribute."""
    rows = given.rows_with_attributes
    return [
        count_problem(
            "attribute_conflict",
            f"(SELECT query_id FROM {rows} GROUP BY query_id HAVING MIN({column}) < MAX({column}) "
            f"OR (COUNT({column}) > 0 AND COUNT({column}) < COUNT(*))) AS conflicts",
            doc=NO_DOCUMENT,
        )
        for column in (f"by_{number}" for number in range(len(given.by)))
    ]


def read_columns(given: Mapping[str, Any], dialect: Dialect) -> dict[str, str]:
    """Return the names of the columns by role, with the defaults of the dialect.

    A pair names the column in the judgments and in the run, whose roles are then `qrels.query` and
    `run.query`.
    """
    named: dict[str, str] = {}
    for role, name in given.items():
        is_pair = role in SHARED and isinstance(name, tuple | list) and len(name) == 2
        parts = zip(("qrels", "run"), name, strict=True) if is_pair else [("", name)]
        for table, text in parts:
            check_name(text, f"the column for {role}", dialect)
            named[f"{table}.{role}" if table else role] = text
    if "rank" in named and "score" in named:
        raise UsageError(
            "expected a column of scores or of ranks, found both",
            hint="keep one of them",
            code="bad_parameter",
        )
    columns = {role: default_name(name, dialect) for role, name in ROLES.items()} | named
    if "rank" in named:
        del columns["score"]
    return columns


def read_attributes(given: Sequence[str], dialect: Dialect) -> list[str]:
    """Return the names of columns with attributes."""
    for name in given:
        check_name(name, "an attribute", dialect)
    return [*given]


def read_table(given: TableName, what: str, dialect: Dialect) -> TableName:
    """Return the name of a table, whose parts are checked."""
    if isinstance(given, str) and set(given) & set(SIGNS):
        raise UsageError(
            f"expected {what} as the name of a table, found {quote(given)}",
            hint='names are quoted for you: write "schema.table"; for a part of a table, create a '
            "view",
            code="bad_parameter",
        )
    parts = split_name(given)
    for part in parts:
        check_name(part, what, dialect)
    if not parts or len(parts) > 4:
        raise UsageError(
            f"expected {what} as a name such as 'schema.table', found {quote(given)}",
            hint="a name that contains dots is a tuple: ('my.table',)",
            code="bad_parameter",
        )
    return given


def split_name(given: object) -> tuple[str, ...]:
    """Return the parts of the name of a table, which dots separate."""
    if isinstance(given, str):
        return tuple(given.split("."))
    return tuple(given) if isinstance(given, list | tuple) else ()


def check_name(name: object, what: str, dialect: Dialect) -> None:
    """Raise an error unless a text can be a quoted name."""
    if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME:
        is_quotable = not set(ESCAPED.get(dialect, "")) & set(name)
        if is_quotable and name.isprintable():
            return
    raise UsageError(
        f"expected {what} as a name, found {quote(name)}",
        hint="write it as the warehouse shows it",
        code="bad_parameter",
    )


def name_column(name: str) -> str:
    """Quote the name of a column of the caller, which databases report if there is none."""
    return f"given.{identify(name)}"


def identify(name: str) -> str:
    """Quote a name."""
    return '"' + name.replace('"', '""') + '"'


def name_table(name: TableName) -> str:
    """Quote the name of a table."""
    return ".".join(map(identify, split_name(name)))


def _read_number(column: str, name: str) -> str:
    """Select a number as a double, and what an integer or decimal loses by that.

    The difference also makes the database refuse text and truth values.
    """
    number = name_column(column)
    double = f"CAST({number} AS DOUBLE PRECISION)"
    return (
        f"{double} AS {name}, CASE WHEN ABS({double}) BETWEEN {EXACT_UP_TO} AND {LARGEST_BIGINT} "
        f"THEN {number} - CAST({double} AS BIGINT) ELSE 0 END AS {name}_lost"
    )


def _read_attributes(by: Sequence[str], dialect: Dialect) -> str:
    texts = (TEXTS[dialect].format(name_column(name)) for name in by)
    return "".join(f", {text} AS by_{number}" for number, text in enumerate(texts))


def _attributes(by: Sequence[str]) -> str:
    return "".join(f", MIN(by_{number}) AS by_{number}" for number in range(len(by)))


def _no_id() -> str:
    return "query_id IS NULL OR query_id = '' OR doc_id IS NULL OR doc_id = ''"


def _is_nan(column: str) -> str:
    # NaN is larger than every number in some dialects, and compares as false in the others.
    return f"({column} IS NOT NULL AND NOT ({column} <= CAST('inf' AS DOUBLE PRECISION)))"


def _is_infinite(column: str) -> str:
    return (
        f"{column} = CAST('inf' AS DOUBLE PRECISION) OR {column} = CAST('-inf' AS DOUBLE PRECISION)"
    )


def _score_problems(table: str) -> list[str]:
    return [
        _count_rows("score_nan", table, "score IS NULL OR " + _is_nan("score")),
        _count_rows("score_overflow", table, _is_infinite("score")),
        _count_rows("inexact_number", table, "score_lost <> 0"),
    ]


def _count_none(table: str, problem: str = "empty_input") -> str:
    return (
        f"SELECT '{problem}' AS problem, CASE WHEN COUNT(*) = 0 THEN 1 ELSE 0 END AS found, "
        f"CAST(NULL AS TEXT) AS query_id, {NO_DOCUMENT} AS doc_id FROM {table}"
    )


def _count_rows(problem: str, table: str, condition: str) -> str:
    return count_problem(problem, f"{table} WHERE {condition}")


def _count_groups(problem: str, table: str, condition: str) -> str:
    groups = f"SELECT query_id, doc_id FROM {table} GROUP BY query_id, doc_id HAVING {condition}"
    return count_problem(problem, f"({groups}) AS repeated")


def count_problem(problem: str, source: str, doc: str = "MIN(doc_id)") -> str:
    """Return the query that counts the rows of a source, and names one of them."""
    return (
        f"SELECT '{problem}' AS problem, COUNT(*) AS found, MIN(query_id) AS query_id, "
        f"{doc} AS doc_id FROM {source}"
    )

"""The tables that are evaluated, the dialects of SQL, and how names are quoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rankscope._names import find_closest, quote
from rankscope.errors import UsageError, hint_extra

Dialect: TypeAlias = Literal["duckdb", "postgres", "bigquery", "snowflake"]
TableName: TypeAlias = str | tuple[str, ...]


WRITTEN = "postgres"
"""The dialect in which this package writes SQL; SQLGlot translates it to the others."""
TEXTS = {
    "duckdb": 'CAST({} AS TEXT) COLLATE "C"',
    "postgres": 'CAST({} AS TEXT) COLLATE "C"',
    "bigquery": "COLLATE(CAST({} AS TEXT), '')",
    "snowflake": "COLLATE(CAST({} AS TEXT), 'utf8')",
}
"""A column as text that is compared byte by byte, whatever the collation of the column is."""
ORDERED_SUMS = {"duckdb", "postgres"}
"""The dialects in which `SUM` adds up in a given order."""
ROLES = {"query": "query_id", "doc": "doc_id", "relevance": "relevance", "score": "score"}
"""The columns of tables, and what they are called by default."""
SHARED = ("query", "doc")
"""The roles of columns that both tables have, possibly under different names."""
ESCAPED = {"bigquery": "`\\"}
"""Characters that a quoted name of a dialect can't have."""
SIGNS = '"`()[];'
"""Signs of SQL that are no part of a usual name."""
LONGEST_NAME = 300
EXACT_UP_TO = "CAST('9007199254740992' AS DOUBLE PRECISION)"
LARGEST_BIGINT = "CAST('9223372036854774784' AS DOUBLE PRECISION)"
NO_DOCUMENT = "CAST(NULL AS TEXT)"


def read_dialect(value: object) -> Dialect:
    """Return the dialect with a name."""
    name = {"postgresql": "postgres"}.get(value, value) if isinstance(value, str) else ""
    if name in TEXTS:
        return name  # type: ignore[return-value]  # one of the keys
    closest = find_closest(name, TEXTS)
    raise UsageError(
        f"expected dialect to be one of {', '.join(TEXTS)}; found {quote(value)}",
        hint=f"did you mean {closest}?" if closest else "duckdb is the default",
        code="bad_parameter",
    )


def translate(text: str, dialect: Dialect) -> str:
    """Translate a statement, and lay it out."""
    try:
        import sqlglot
        from sqlglot import exp
    except ImportError:
        raise UsageError(
            "writing SQL needs sqlglot, which is not installed",
            hint=hint_extra("sql"),
            code="missing_extra",
        ) from None
    tree = sqlglot.parse_one(text, read=WRITTEN)
    null_ordering = sqlglot.Dialect.get_or_raise(dialect).NULL_ORDERING
    # Nothing that is sorted here is null, so each dialect can sort as it does by default.
    for ordered in tree.find_all(exp.Ordered):
        is_descending = bool(ordered.args.get("desc"))
        nulls_first = {
            "nulls_are_large": is_descending,
            "nulls_are_small": not is_descending,
            "nulls_are_last": False,
        }[null_ordering]
        ordered.set("nulls_first", nulls_first)
    if dialect not in ORDERED_SUMS:
        for summed in tree.find_all(exp.Sum):
            if isinstance(summed.this, exp.Order):
                summed.set("this", summed.this.this)
    return tree.sql(dialect=dialect, pretty=True)


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables to evaluate: the dialect, the names of columns by role, and of attributes."""

    dialect: Dialect
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

    @property
    def attributes(self) -> list[str]:
        """What the columns with attributes of the query are called in the statements."""
        return [f"by_{number}" for number in range(len(self.by))]

    def _text(self, column: str) -> str:
        return TEXTS[self.dialect].format(column)

    def _score(self) -> str:
        return _read_number(self.columns["rank" if self.is_ranked else "score"], "score")

    def _grade(self) -> str:
        return _read_number(self.columns["relevance"], "grade")

    def _read_attributes(self) -> str:
        pairs = zip(self.by, self.attributes, strict=True)
        return "".join(f", {self._text(_column(name))} AS {column}" for name, column in pairs)

    def _select_queries(self, table: str) -> str:
        attributes = "".join(f", MIN({column}) AS {column}" for column in self.attributes)
        return f"SELECT query_id{attributes} FROM {table} GROUP BY query_id"

    def _find_conflicts(self, table: str) -> list[str]:
        """Return the queries for queries with different values of one attribute."""
        return [
            count_problem(
                "attribute_conflict",
                f"(SELECT query_id FROM {table} GROUP BY query_id "
                f"HAVING MIN({column}) < MAX({column}) "
                f"OR (COUNT({column}) > 0 AND COUNT({column}) < COUNT(*))) AS conflicts",
                doc=NO_DOCUMENT,
            )
            for column in self.attributes
        ]


@dataclass(frozen=True, slots=True)
class QrelsAndRun(Tables):
    """A table of judgments and a table of retrieved documents.

    Columns that only one of them has have a role such as `run.query`. Of repeated documents, the
    one with the larger grade or score counts if `keep_larger` is set.
    """

    qrels: TableName
    run: TableName
    keep_larger: bool

    def select(self) -> dict[str, str]:
        """Return the tables that the others are made from."""
        best = f"{'MIN' if self.is_ranked else 'MAX'}(score)"
        once = f"SELECT query_id, doc_id, {best} AS score FROM rs_run GROUP BY query_id, doc_id"
        run = f"({once})" if self.keep_larger else "rs_run"
        return {
            "rs_qrels": f"SELECT {self._ids('qrels')}, {self._grade()}"
            f"{self._read_attributes()} FROM {_table(self.qrels)} AS source",
            "rs_run": f"SELECT {self._ids('run')}, {self._score()} "
            f"FROM {_table(self.run)} AS source",
            "rs_judged": "SELECT query_id, doc_id, MAX(grade) AS grade FROM rs_qrels "
            "GROUP BY query_id, doc_id",
            "rs_queries": self._select_queries("rs_qrels"),
            "rs_retrieved": "SELECT run.query_id, run.doc_id, "
            "CASE WHEN run.score = 0 THEN 0 ELSE run.score END AS score, rs_judged.grade "
            f"FROM {run} AS run "
            "JOIN rs_queries ON rs_queries.query_id = run.query_id "
            "LEFT JOIN rs_judged ON rs_judged.query_id = run.query_id "
            "AND rs_judged.doc_id = run.doc_id",
        }

    def _ids(self, table: str) -> str:
        names = (self.columns.get(f"{table}.{role}", self.columns[role]) for role in SHARED)
        query, doc = (self._text(_column(name)) for name in names)
        return f"{query} AS query_id, {doc} AS doc_id"

    def problems(self) -> list[str]:
        """Return the queries for rows that can't be evaluated."""
        problems = [
            _count_none("rs_qrels"),
            _count_none("rs_run"),
            _count_rows("missing_id", "rs_qrels", NO_ID),
            _count_rows("missing_id", "rs_run", NO_ID),
            _count_rows("rel_not_number", "rs_qrels", "grade IS NULL OR " + _is_nan("grade")),
            _count_rows("rel_out_of_range", "rs_qrels", _is_infinite("grade")),
            _count_rows("inexact_number", "rs_qrels", "grade_lost <> 0"),
            *_score_problems("rs_run"),
            _count_none("rs_retrieved", "no_common_queries"),
        ]
        if not self.keep_larger:
            problems += [
                _count_groups("duplicate_conflict", "rs_qrels", "MIN(grade) < MAX(grade)"),
                _count_groups("duplicate_doc", "rs_run", "COUNT(*) > 1"),
            ]
        return problems + self._find_conflicts("rs_qrels")


@dataclass(frozen=True, slots=True)
class JoinedTable(Tables):
    """A table whose rows hold a score or a rank, and a grade; there may be no documents."""

    table: TableName

    def select(self) -> dict[str, str]:
        """Return the tables that the others are made from."""
        doc = _column(self.columns["doc"]) if self.has_documents else "NULL"
        grade = "CASE WHEN NOT " + _is_nan("grade") + " THEN grade END"
        return {
            "rs_rows": f"SELECT {self._text(_column(self.columns['query']))} AS query_id, "
            f"{self._text(doc)} AS doc_id, {self._grade()}, {self._score()}"
            f"{self._read_attributes()} FROM {_table(self.table)} AS source",
            "rs_queries": self._select_queries("rs_rows"),
            "rs_retrieved": "SELECT query_id, doc_id, "
            f"CASE WHEN score = 0 THEN 0 ELSE score END AS score, {grade} AS grade FROM rs_rows",
            "rs_judged": "SELECT query_id, doc_id, grade FROM rs_retrieved WHERE grade IS NOT NULL",
        }

    def problems(self) -> list[str]:
        """Return the queries for rows that can't be evaluated."""
        no_id = NO_ID if self.has_documents else "query_id IS NULL OR query_id = ''"
        problems = [
            _count_none("rs_rows"),
            _count_none("rs_judged"),
            _count_rows("missing_id", "rs_rows", no_id),
            _count_rows("rel_out_of_range", "rs_rows", _is_infinite("grade")),
            _count_rows("inexact_number", "rs_rows", "grade_lost <> 0"),
            *_score_problems("rs_rows"),
        ]
        if self.has_documents:
            problems.append(_count_groups("duplicate_doc", "rs_rows", "COUNT(*) > 1"))
        return problems + self._find_conflicts("rs_rows")


def read_columns(columns: Mapping[str, Any], dialect: Dialect) -> dict[str, str]:
    """Return the names of the columns by role, with the defaults of the dialect.

    A pair names the column in the judgments and in the run, whose roles are then `qrels.query` and
    `run.query`.
    """
    named: dict[str, str] = {}
    for role, name in columns.items():
        if name is None:
            continue
        is_pair = role in SHARED and isinstance(name, tuple | list) and len(name) == 2
        parts = zip(("qrels.", "run."), name, strict=True) if is_pair else [("", name)]
        for table, text in parts:
            check_name(text, f"the column for {role}", dialect)
            named[f"{table}{role}"] = text
    if "rank" in named and "score" in named:
        raise UsageError(
            "expected a column of scores or of ranks, found both",
            hint="keep one of them",
            code="bad_parameter",
        )
    is_upper = dialect == "snowflake"  # which stores names so that were created without quotes
    usual = {role: name.upper() if is_upper else name for role, name in ROLES.items()}
    if "rank" in named:
        del usual["score"]
    return usual | named


def read_table(name: TableName, what: str, dialect: Dialect) -> TableName:
    """Return the name of a table, whose parts are checked."""
    if isinstance(name, str) and set(name) & set(SIGNS):
        raise UsageError(
            f"expected {what} as the name of a table, found {quote(name)}",
            hint='names are quoted for you: write "schema.table"; for a part of a table, create a '
            "view",
            code="bad_parameter",
        )
    parts = _split_name(name)
    for part in parts:
        check_name(part, what, dialect)
    if not parts or len(parts) > 4:
        raise UsageError(
            f"expected {what} as a name such as 'schema.table', found {quote(name)}",
            hint="a name that contains dots is a tuple: ('my.table',)",
            code="bad_parameter",
        )
    return name


def check_name(name: object, what: str, dialect: Dialect) -> None:
    """Raise an error unless a text can be a quoted name."""
    is_name = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    if is_name and not set(ESCAPED.get(dialect, "")) & set(str(name)):
        return
    raise UsageError(
        f"expected {what} as a name, found {quote(name)}",
        hint="write it as the warehouse shows it",
        code="bad_parameter",
    )


def identify(name: str) -> str:
    """Quote a name."""
    return '"' + name.replace('"', '""') + '"'


def _column(name: str) -> str:
    # Qualified, so that a database reports a column that there isn't.
    return f"source.{identify(name)}"


def _table(name: TableName) -> str:
    return ".".join(map(identify, _split_name(name)))


def _split_name(name: object) -> tuple[str, ...]:
    if isinstance(name, str):
        return tuple(name.split("."))
    return tuple(name) if isinstance(name, list | tuple) else ()


def _read_number(name: str, role: str) -> str:
    """Select a number as a double, and what an integer or decimal loses by that.

    The difference also makes the database refuse text and truth values.
    """
    number = _column(name)
    double = f"CAST({number} AS DOUBLE PRECISION)"
    return (
        f"{double} AS {role}, CASE WHEN ABS({double}) BETWEEN {EXACT_UP_TO} AND {LARGEST_BIGINT} "
        f"THEN {number} - CAST({double} AS BIGINT) ELSE 0 END AS {role}_lost"
    )


NO_ID = "query_id IS NULL OR query_id = '' OR doc_id IS NULL OR doc_id = ''"


def _is_nan(column: str) -> str:
    # NaN is larger than every number in some dialects, and compares as false in the others.
    return f"({column} IS NOT NULL AND NOT ({column} <= CAST('inf' AS DOUBLE PRECISION)))"


def _is_infinite(column: str) -> str:
    infinities = (f"CAST('{sign}inf' AS DOUBLE PRECISION)" for sign in ("", "-"))
    return " OR ".join(f"{column} = {infinity}" for infinity in infinities)


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

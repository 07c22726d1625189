"""The statements that compute the values of measures, their means, and the checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import indent

from rankscope._names import quote
from rankscope._settings import Policy
from rankscope.errors import UsageError
from rankscope.measures import Measure
from rankscope.sql.inputs import (
    NO_DOCUMENT,
    JoinedTable,
    QrelsAndRun,
    count_problem,
    identify,
    translate,
)
from rankscope.sql.kernels import write_value
from rankscope.sql.plan import MOST_RANKS, Lists, Plan, refuse_policy

MEANINGS = {
    "attribute_conflict": "queries whose rows have different values of an attribute",
    "duplicate_conflict": "documents that are judged with different grades",
    "duplicate_doc": "documents that occur more than once in a query",
    "empty_input": "tables without rows, or without a grade",
    "empty_query": "queries for which a measure is undefined, under empty=error",
    "gain_missing": "grades without an entry in the table of gains",
    "gain_overflow": "queries whose gains are beyond double precision",
    "inexact_number": "grades, scores or ranks that double precision would round",
    "missing_id": "rows without an ID of the query or the document",
    "missing_query": "judged queries that are not in the run, under missing=error",
    "negative_gain": "negative grades, under negative=error",
    "no_common_queries": "no query is both judged and in the run",
    "rel_not_number": "judgments without a grade",
    "rel_out_of_range": "grades that are infinite",
    "score_nan": "retrieved documents without a score or rank",
    "score_overflow": "scores or ranks that are infinite",
    "tied_documents": "groups of documents with equal scores and different grades, whose order "
    "ties=average leaves open",
    "too_deep": "queries with gains below the last rank that has a discount; raise depth",
}
"""What each check counts. Most codes are those of the errors that rankscope raises."""
LARGEST = "CAST('1.7976931348623157e308' AS DOUBLE PRECISION)"
LONGEST_COLUMN = 56
"""PostgreSQL cuts names after 63 bytes; `_n` and a number still fit."""


@dataclass(frozen=True, slots=True)
class SqlStatements:
    """SQL that computes measures where the tables are. `str()` is that of the means.

    Args:
        dialect: The dialect of the statements.
        columns: The column of each measure in the results, by its name.
        means: A `SELECT` with one row, or one row for each slice: the number of queries
            (`queries`), the mean of each measure, how many queries it is over (its column with
            `_n`), and how many problems the checks found (`problems`). If there are problems, the
            values are null.
        per_query: A `SELECT` with one row for each query. A value is null if the query is left out
            of the mean, or if there are problems.
        checks: A `SELECT` with one row for each kind of problem: its code, how many there are, a
            query and a document that have it, and what it means. No rows means no problems.

    Examples:
        >>> from rankscope.sql import write_sql
        >>> statements = write_sql("qrels", "run", ["nDCG@10", "RR"])
        >>> statements.columns
        {'nDCG@10': 'ndcg_at_10', 'RR': 'rr'}
        >>> str(statements) == statements.means
        True
    """

    dialect: str
    columns: Mapping[str, str]
    means: str
    per_query: str
    checks: str

    def __str__(self) -> str:
        return self.means


def write_statements(
    measures: Sequence[Measure], tables: QrelsAndRun | JoinedTable, policy: Policy, depth: int
) -> SqlStatements:
    """Write the statements for some measures.

    Raises:
        MeasureError: SQL can't compute a measure.
        PolicyError: SQL can't follow the policy.
        UsageError: Columns of the result would have the same name, or SQLGlot isn't installed.
    """
    _check_policy(policy, tables)
    if type(depth) is not int or not 1 <= depth <= MOST_RANKS:
        raise UsageError(
            f"expected depth as a number of ranks from 1 to {MOST_RANKS}, found {quote(depth)}",
            hint="1000 is the default",
            code="bad_parameter",
        )
    columns = _name_columns(measures)
    _check_attributes(tables.by, columns)
    plan = Plan(policy, depth)
    values = {columns[measure.name]: write_value(plan, measure) for measure in measures}
    queries = _select_tables(plan, tables, values)
    cutoffs = [measure.k for measure in measures]
    deepest = None if None in cutoffs else max(k for k in cutoffs if k is not None)
    queries["rs_problems"] = _select_problems(_list_problems(plan, tables, [*values], deepest))
    queries["rs_verdict"] = "SELECT CAST(SUM(found) AS BIGINT) AS problems FROM rs_problems"
    guarded = ", ".join(f"{_guard(policy, column)} AS {column}" for column in values)
    queries["rs_values"] = (
        f"SELECT {', '.join(['query_id', *tables.attributes])}, {guarded}, problems "
        "FROM rs_results CROSS JOIN rs_verdict"
    )
    names = zip(tables.attributes, tables.by, strict=True)
    attributes = "".join(f"{column} AS {identify(name)}, " for column, name in names)
    means = ", ".join(
        f"{_mean(measure, column)} AS {column}, COUNT({column}) AS {column}_n"
        for measure, column in zip(measures, values, strict=True)
    )
    grouping = ", ".join(tables.attributes)
    ending = f" GROUP BY {grouping} ORDER BY queries DESC, {grouping}" if grouping else ""
    translated = {
        name: indent(translate(text, tables.dialect), "  ") for name, text in queries.items()
    }

    def write(selected: str) -> str:
        """Return a statement with the tables that it needs."""
        needed: list[str] = []
        text = selected
        for name in reversed([*queries]):
            if re.search(rf"\b{name}\b", text):
                needed.append(name)
                text += f" {queries[name]}"
        with_tables = ", ".join(f"{name} AS (\n{translated[name]}\n)" for name in reversed(needed))
        return f"WITH {with_tables}\n{translate(selected, tables.dialect)}"

    return SqlStatements(
        tables.dialect,
        columns,
        means=write(
            f"SELECT {attributes}COUNT(*) AS queries, {means}, "
            f"COALESCE(MAX(problems), 1) AS problems FROM rs_values{ending}",
        ),
        per_query=write(
            f"SELECT query_id, {attributes}{', '.join(values)}, problems FROM rs_values "
            "ORDER BY query_id",
        ),
        checks=write(
            "SELECT problem, found, query_id, doc_id, meaning FROM rs_problems WHERE found > 0 "
            "ORDER BY problem",
        ),
    )


def _check_policy(policy: Policy, tables: QrelsAndRun | JoinedTable) -> None:
    """Raise an error for what SQL can't say, or can't say exactly."""
    if policy.ties == "input":
        why = "the rows of a table have no order"
        raise refuse_policy("ties", "input", why, 'set policy="ties=doc_id", or add ranks')
    if policy.ties == "average" and isinstance(tables, QrelsAndRun):
        why = "an average over orders is not a sum over ranks"
        raise refuse_policy("ties", "average", why, 'set policy="ties=doc_id"')
    if policy.ties != "average" and not tables.has_documents:
        why = "it compares document IDs, and there are none"
        raise refuse_policy("ties", policy.ties, why, "name the column of documents")
    if policy.negative == "minmax":
        why = "the worst order of the documents is not part of the statements"
        raise refuse_policy("negative", "minmax", why, 'set policy="negative=gain"')
    if policy.unjudged not in ("nonrelevant", "remove"):
        why = "unjudged documents have no gain"
        raise refuse_policy("unjudged", policy.unjudged, why, 'set policy="unjudged=remove"')
    if policy.missing_gain:
        why = "a table has no rows for documents that are not there"
        raise refuse_policy("missing_gain", policy.missing_gain, why, "leave it out")
    if policy.aggregate != "mean":
        why = "only means are written"
        hint = "leave it out, and aggregate the values of per_query as you need them"
        raise refuse_policy("aggregate", policy.aggregate, why, hint)


def _name_columns(measures: Sequence[Measure]) -> dict[str, str]:
    """Return a column for each measure, whose name is cut if it is long."""
    columns: dict[str, str] = {}
    for measure in measures:
        stem = column = measure.plain_name[:LONGEST_COLUMN]
        while column in columns.values():
            column = f"{stem}_{len(columns) + 1}"
        columns[measure.name] = column
    return columns


def _check_attributes(by: Sequence[str], columns: Mapping[str, str]) -> None:
    taken = {"queries", "problems", "query_id", *columns.values()}
    taken |= {f"{column}_n" for column in columns.values()}
    for name in by:
        if name.casefold() in taken:
            raise UsageError(
                f"expected attributes with names of their own, found {quote(name)}",
                hint="the result has a column of this name; pass a view that renames the attribute",
                code="bad_parameter",
            )
        taken.add(name.casefold())


def _select_tables(
    plan: Plan, tables: QrelsAndRun | JoinedTable, values: Mapping[str, str]
) -> dict[str, str]:
    """Return the queries of the tables up to `rs_results`, which has the value of each measure."""
    policy, queries = plan.policy, tables.select()
    judged = "rs_judged"
    if policy.unretrieved == "ignore":
        judged = "rs_seen"
        queries[judged] = "SELECT query_id, doc_id, grade FROM rs_retrieved WHERE grade IS NOT NULL"
    order = f"score {'ASC' if tables.is_ranked else 'DESC'}"
    grade = "CASE WHEN grade IS NULL THEN 0 ELSE grade END"
    order += {"best": f", {grade} DESC", "worst": f", {grade}"}.get(str(policy.ties), "")
    if policy.ties != "average":
        order += f", doc_id {'ASC' if policy.ties == 'doc_id_asc' else 'DESC'}"
    ranking = f"ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY {order})"
    ranked = f"SELECT query_id, doc_id, score, grade, {ranking} AS list_rank FROM rs_retrieved"
    queries["rs_list"] = ranked
    queries["rs_judged_list"] = f"{ranked} WHERE grade >= 0"
    if plan.discounts:
        queries["rs_discounts"] = _select_discounts(plan.discounts)
    joined = ["rs_list_sums"]
    if plan.totals.names:
        queries["rs_totals"] = (
            f"SELECT query_id, {plan.totals.select()} FROM {judged} GROUP BY query_id"
        )
        joined.append("rs_totals")
    queries |= _sum_lists(plan.all, "COUNT(*) AS documents")
    if plan.judged_only.sums.names:
        queries |= _sum_lists(plan.judged_only)
        joined.append("rs_judged_list_sums")
    for number, ((table, gain), sums) in enumerate(plan.ideals.items(), start=1):
        name = f"rs_ideal_{number}"
        queries[name] = (
            f"SELECT query_id, gain, ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY gain DESC) "
            f"AS ideal_rank FROM (SELECT query_id, {gain} AS gain FROM {table}) AS gains "
            "WHERE gain > 0"
        )
        queries[f"{name}_sums"] = (
            f"SELECT query_id, {sums.select()} FROM {name} "
            f"LEFT JOIN rs_discounts ON rs_discounts.rank_number = {name}.ideal_rank "
            "GROUP BY query_id"
        )
        joined.append(f"{name}_sums")
    joins = "".join(
        f" LEFT JOIN {name} ON {name}.query_id = rs_queries.query_id" for name in joined
    )
    sums_of_queries = [plan.totals, plan.all.sums, plan.judged_only.sums, *plan.ideals.values()]
    names = [name for columns in sums_of_queries for name in columns.names.values()]
    queries["rs_sums"] = "SELECT " + ", ".join(
        [
            *(f"rs_queries.{column}" for column in ("query_id", *tables.attributes)),
            "CASE WHEN rs_list_sums.documents > 0 THEN 0 ELSE 1 END AS is_missing",
            *(f"COALESCE({name}, 0) AS {name}" for name in names),
        ]
    )
    queries["rs_sums"] += f" FROM rs_queries{joins}"
    raw = [f"{expression} AS raw_{column}" for column, expression in values.items()]
    selected = ", ".join(["query_id", *tables.attributes, "is_missing", *raw])
    queries["rs_results"] = f"SELECT {selected} FROM rs_sums"
    return queries


def _sum_lists(lists: Lists, documents: str = "") -> dict[str, str]:
    """Return the tables with counts down to each rank, and with sums over each list."""
    queries = {}
    source = lists.table
    if lists.running.names:
        source = f"{lists.table}_counts"
        queries[source] = (
            f"SELECT query_id, doc_id, grade, list_rank, {lists.running.select()} "
            f"FROM {lists.table}"
        )
    joins = ""
    if lists.needs_discounts:
        joins += f" LEFT JOIN rs_discounts ON rs_discounts.rank_number = {source}.list_rank"
    if lists.needs_totals:
        joins += f" LEFT JOIN rs_totals ON rs_totals.query_id = {source}.query_id"
    sums = ", ".join(filter(None, [documents, lists.sums.select()]))
    queries[f"{lists.table}_sums"] = (
        f"SELECT {source}.query_id, {sums} FROM {source}{joins} GROUP BY {source}.query_id"
    )
    return queries


def _select_discounts(discounts: Mapping[str, Sequence[float]]) -> str:
    """Return the table of discounts, whose numbers are text so that every digit is read."""
    rows = []
    for rank, numbers in enumerate(zip_longest(*discounts.values()), start=1):
        cells = ("CAST(NULL AS TEXT)" if number is None else f"'{number!r}'" for number in numbers)
        rows.append(f"({', '.join([str(rank), *cells])})")
    cast = ", ".join(f"CAST({name} AS DOUBLE PRECISION) AS {name}" for name in discounts)
    header = ", ".join(["rank_number", *discounts])
    return f"SELECT rank_number, {cast} FROM (VALUES {', '.join(rows)}) AS discounts({header})"


def _list_problems(
    plan: Plan, tables: QrelsAndRun | JoinedTable, columns: Sequence[str], deepest: int | None
) -> list[str]:
    """Return a query for each check."""
    policy = plan.policy
    problems = tables.problems()
    if policy.ties == "average":
        # Tied documents whose order changes a value.
        differ = "(MIN(grade) < MAX(grade) OR (COUNT(grade) > 0 AND COUNT(grade) < COUNT(*)))"
        seen = "" if deepest is None else f" AND MIN(list_rank) <= {deepest}"
        groups = (
            "SELECT query_id, MIN(doc_id) AS doc_id FROM rs_list GROUP BY query_id, score "
            f"HAVING {differ}{seen}"
        )
        problems.append(count_problem("tied_documents", f"({groups}) AS tied"))
    if policy.negative == "error":
        problems.append(count_problem("negative_gain", "rs_judged WHERE grade < 0"))
    for gain in plan.gain_tables:
        problems.append(count_problem("gain_missing", f"rs_judged WHERE ({gain}) IS NULL"))
    of_queries = [
        ("gain_overflow", f"rs_sums WHERE NOT ({column} BETWEEN -{LARGEST} AND {LARGEST})")
        for column in plan.overflows
    ]
    of_queries += [
        ("too_deep", f"rs_sums WHERE {column} > {reach}") for column, reach in plan.depths
    ]
    if policy.missing == "error":
        of_queries.append(("missing_query", "rs_sums WHERE is_missing = 1"))
    if policy.empty == "error" and columns:
        undefined = " OR ".join(f"raw_{column} IS NULL" for column in columns)
        left_out = " AND is_missing = 0" if policy.missing == "skip" else ""
        of_queries.append(("empty_query", f"rs_results WHERE ({undefined}){left_out}"))
    problems += [count_problem(*problem, doc=NO_DOCUMENT) for problem in of_queries]
    return list(dict.fromkeys(problems))


def _select_problems(problems: Sequence[str]) -> str:
    """Return the query that lists the problems by their codes."""
    union = " UNION ALL ".join(problems)
    meanings = " ".join(
        f"WHEN '{code}' THEN '{meaning}'"
        for code, meaning in MEANINGS.items()
        if f"'{code}' AS problem" in union
    )
    return (
        "SELECT problem, CAST(SUM(found) AS BIGINT) AS found, MIN(query_id) AS query_id, "
        "MIN(doc_id) AS doc_id, "
        f"CASE problem {meanings} END AS meaning FROM ({union}) AS counted GROUP BY problem"
    )


def _guard(policy: Policy, column: str) -> str:
    """Return the value of a query as it counts in the mean: null if it doesn't."""
    is_counted = "problems = 0" + (" AND is_missing = 0" if policy.missing == "skip" else "")
    value = {
        "zero": f"COALESCE(raw_{column}, 0)",
        "one": f"COALESCE(raw_{column}, 1)",
        "nan": f"COALESCE(raw_{column}, CAST('nan' AS DOUBLE PRECISION))",
    }.get(policy.empty, f"raw_{column}")
    return f"CASE WHEN {is_counted} THEN {value} END"


def _mean(measure: Measure, column: str) -> str:
    total = f"SUM({column} ORDER BY query_id)"
    if measure.row.mean == "sum":
        return f"CASE WHEN MAX(problems) = 0 THEN COALESCE({total}, 0) END"
    return f"CASE WHEN COUNT({column}) > 0 THEN {total} / COUNT({column}) END"

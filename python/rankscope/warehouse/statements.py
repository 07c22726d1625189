"""Statements that compute measures: values of queries, means, and checks of the tables."""

from __future__ import annotations

import re
from functools import partial
from itertools import zip_longest
from textwrap import indent

from rankscope.errors import UsageError
from rankscope.names import quote
from rankscope.warehouse.dialects import translate
from rankscope.warehouse.inputs import QrelsAndRun, identify
from rankscope.warehouse.kernels import write_value
from rankscope.warehouse.plan import MOST_RANKS, Plan, refuse_policy
from rankscope.warehouse.problems import gather_problems, list_problems
from rankscope.warehouse.result import SqlStatements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy
    from rankscope.warehouse.dialects import Dialect
    from rankscope.warehouse.inputs import JoinedTable
    from rankscope.warehouse.plan import Discounts, Lists

LONGEST_NAME = 56
"""PostgreSQL cuts names after 63 bytes; `_n` and a number still fit."""


def write_statements(
    measures: Sequence[Measure],
    given: QrelsAndRun | JoinedTable,
    policy: Policy,
    *,
    dialect: Dialect,
    depth: int,
) -> SqlStatements:
    """Write the statements for some measures.

    Args:
        measures: The measures, each once.
        given: The tables.
        policy: What to do where tools differ.
        dialect: The dialect to write.
        depth: How many documents a list or an ideal can have where a measure has no cutoff.

    Raises:
        MeasureError: SQL can't compute a measure.
        PolicyError: SQL can't follow the policy.
        UsageError: Columns of the result would have the same name, or SQLGlot isn't installed.
    """
    check_policy(policy, given)
    if type(depth) is not int or not 1 <= depth <= MOST_RANKS:
        raise UsageError(
            f"expected depth as a number of ranks from 1 to {MOST_RANKS}, found {quote(depth)}",
            hint="1000 is the default",
            code="bad_parameter",
        )
    columns = name_columns(measures)
    _check_attributes(given.by, columns)
    plan = Plan(policy, depth)
    expressions = [write_value(plan, measure) for measure in measures]
    tables = write_tables(plan, given, expressions, columns.values(), dialect)
    cutoffs = [measure.k for measure in measures]
    deepest = None if None in cutoffs else max(k for k in cutoffs if k is not None)
    problems = list_problems(plan, given, [f"raw_{column}" for column in columns.values()], deepest)
    tables["rs_problems"] = gather_problems(problems)
    tables["rs_verdict"] = "SELECT CAST(SUM(found) AS BIGINT) AS problems FROM rs_problems"
    shown = ", ".join(f"{_guard(policy, column)} AS {column}" for column in columns.values())
    shown = f"query_id{select_attributes(given)}, {shown}, problems"
    tables["rs_values"] = f"SELECT {shown} FROM rs_results CROSS JOIN rs_verdict"
    attributes = "".join(
        f"by_{number} AS {identify(name)}, " for number, name in enumerate(given.by)
    )
    means = ", ".join(
        f"{_mean(measure, columns[measure.name])} AS {columns[measure.name]}, "
        f"COUNT({columns[measure.name]}) AS {columns[measure.name]}_n"
        for measure in measures
    )
    grouping = ", ".join(f"by_{number}" for number in range(len(given.by)))
    ending = f" GROUP BY {grouping} ORDER BY queries DESC, {grouping}" if grouping else ""
    translated = {name: indent(translate(text, dialect), "  ") for name, text in tables.items()}
    write = partial(_write, tables=tables, translated=translated, dialect=dialect)
    return SqlStatements(
        dialect,
        columns,
        means=write(
            f"SELECT {attributes}COUNT(*) AS queries, {means}, "
            f"COALESCE(MAX(problems), 1) AS problems FROM rs_values{ending}",
        ),
        per_query=write(
            f"SELECT query_id, {attributes}{', '.join(columns.values())}, problems FROM rs_values "
            "ORDER BY query_id",
        ),
        checks=write(
            "SELECT problem, found, query_id, doc_id, meaning FROM rs_problems WHERE found > 0 "
            "ORDER BY problem",
        ),
    )


def check_policy(policy: Policy, given: QrelsAndRun | JoinedTable) -> None:
    """Raise an error for what SQL can't say, or can't say exactly."""
    if policy.ties == "input":
        why = "the rows of a table have no order"
        raise refuse_policy("ties", "input", why, 'set policy="ties=doc_id", or add ranks')
    if policy.ties == "average" and isinstance(given, QrelsAndRun):
        why = "an average over orders is not a sum over ranks"
        raise refuse_policy("ties", "average", why, 'set policy="ties=doc_id"')
    if policy.ties != "average" and not given.has_documents:
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


def name_columns(measures: Iterable[Measure]) -> dict[str, str]:
    """Return a column for each measure, whose name is cut if it is long."""
    columns: dict[str, str] = {}
    for measure in measures:
        stem = column = measure.plain_name[:LONGEST_NAME]
        while column in columns.values():
            column = f"{stem}_{len(columns) + 1}"
        columns[measure.name] = column
    return columns


def _check_attributes(by: Sequence[str], columns: Mapping[str, str]) -> None:
    taken = {"queries", "problems", "query_id", *columns.values()}
    taken |= {f"{column}_n" for column in columns.values()}
    for at, name in enumerate(by):
        if name.casefold() in taken or name.casefold() in {one.casefold() for one in by[:at]}:
            raise UsageError(
                f"expected attributes with names of their own, found {quote(name)}",
                hint="the result has a column of this name; pass a view that renames the attribute",
                code="bad_parameter",
            )


def _guard(policy: Policy, column: str) -> str:
    """Return the value of a query as it counts in the mean: null if it doesn't."""
    conditions = ["problems = 0"]
    if policy.missing == "skip":
        conditions.append("is_missing = 0")
    value = {
        "zero": f"COALESCE(raw_{column}, 0)",
        "one": f"COALESCE(raw_{column}, 1)",
        "nan": f"COALESCE(raw_{column}, CAST('nan' AS DOUBLE PRECISION))",
    }.get(policy.empty, f"raw_{column}")
    return f"CASE WHEN {' AND '.join(conditions)} THEN {value} END"


def _mean(measure: Measure, column: str) -> str:
    total = f"SUM({column} ORDER BY query_id)"
    if measure.row.mean == "sum":
        return f"CASE WHEN MAX(problems) = 0 THEN COALESCE({total}, 0) END"
    return f"CASE WHEN COUNT({column}) > 0 THEN {total} / COUNT({column}) END"


def _write(
    selected: str, tables: Mapping[str, str], translated: Mapping[str, str], dialect: Dialect
) -> str:
    """Return a statement with the tables that it needs."""
    needed: list[str] = []
    text = selected
    for name in reversed([*tables]):
        if re.search(rf"\b{name}\b", text):
            needed.append(name)
            text += f" {tables[name]}"
    named = ", ".join(f"{name} AS (\n{translated[name]}\n)" for name in reversed(needed))
    return f"WITH {named}\n{translate(selected, dialect)}"


def write_tables(
    plan: Plan,
    given: QrelsAndRun | JoinedTable,
    expressions: Sequence[str],
    columns: Iterable[str],
    dialect: Dialect,
) -> dict[str, str]:
    """Return the tables up to `rs_results`, which has the value of each measure."""
    policy = plan.policy
    tables = given.tables(dialect)
    known = "rs_judged"
    if policy.unretrieved == "ignore":
        known = "rs_seen"
        tables[known] = "SELECT query_id, doc_id, grade FROM rs_retrieved WHERE grade IS NOT NULL"
    order = _order(policy, given)
    tables["rs_list"] = _rank("rs_retrieved", order)
    tables["rs_judged_list"] = _rank("rs_retrieved WHERE grade >= 0", order)
    if plan.discounts:
        tables["rs_discounts"] = _tabulate([*plan.discounts.values()])
    joined = "LEFT JOIN rs_list_sums ON rs_list_sums.query_id = rs_queries.query_id"
    if plan.totals.names:
        totals = ", ".join(plan.totals.select())
        tables["rs_totals"] = f"SELECT query_id, {totals} FROM {known} GROUP BY query_id"
        joined += " LEFT JOIN rs_totals ON rs_totals.query_id = rs_queries.query_id"
    for lists in (plan.all, plan.judged_only):
        tables |= _sum_lists(lists, plan)
    if plan.judged_only.sums.names:
        joined += (
            " LEFT JOIN rs_judged_list_sums ON rs_judged_list_sums.query_id = rs_queries.query_id"
        )
    for number, ((source, gain), sums) in enumerate(plan.ideals.items(), start=1):
        name = f"rs_ideal_{number}"
        tables[name] = (
            f"SELECT query_id, gain, ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY gain DESC) "
            f"AS ideal_rank FROM (SELECT query_id, {gain} AS gain FROM {source}) AS gains "
            "WHERE gain > 0"
        )
        tables[f"{name}_sums"] = (
            f"SELECT query_id, {', '.join(sums.select())} FROM {name} "
            f"LEFT JOIN rs_discounts ON rs_discounts.rank_number = {name}.ideal_rank "
            "GROUP BY query_id"
        )
        joined += f" LEFT JOIN {name}_sums ON {name}_sums.query_id = rs_queries.query_id"
    names = [*plan.totals.names.values(), *plan.all.sums.names.values()]
    names += plan.judged_only.sums.names.values()
    names += [name for sums in plan.ideals.values() for name in sums.names.values()]
    summed = "".join(f", COALESCE({name}, 0) AS {name}" for name in names)
    attributes = "".join(f", rs_queries.by_{number}" for number in range(len(given.by)))
    tables["rs_sums"] = (
        f"SELECT rs_queries.query_id{attributes}, "
        "CASE WHEN rs_list_sums.documents > 0 THEN 0 ELSE 1 END AS is_missing"
        f"{summed} FROM rs_queries {joined}"
    )
    raw = ", ".join(
        f"{expression} AS raw_{column}"
        for expression, column in zip(expressions, columns, strict=True)
    )
    shown = f"query_id{select_attributes(given)}, is_missing, {raw}"
    tables["rs_results"] = f"SELECT {shown} FROM rs_sums"
    return tables


def _order(policy: Policy, given: QrelsAndRun | JoinedTable) -> str:
    """Return what sorts the documents of a query."""
    order = f"score {'ASC' if given.is_ranked else 'DESC'}"
    grade = "CASE WHEN grade IS NULL THEN 0 ELSE grade END"
    order += {"best": f", {grade} DESC", "worst": f", {grade}"}.get(str(policy.ties), "")
    if policy.ties == "average":
        return order
    return f"{order}, doc_id {'ASC' if policy.ties == 'doc_id_asc' else 'DESC'}"


def _rank(source: str, order: str) -> str:
    ranking = f"ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY {order})"
    return f"SELECT query_id, doc_id, score, grade, {ranking} AS list_rank FROM {source}"


def _sum_lists(lists: Lists, plan: Plan) -> dict[str, str]:
    """Return the tables with counts down to each rank, and with sums over each list."""
    is_full = lists is plan.all
    if not is_full and not lists.sums.names:
        return {}
    tables = {}
    source = lists.prefix
    if lists.running.names:
        running = ", ".join(lists.running.select())
        tables[f"{source}_counts"] = (
            f"SELECT query_id, doc_id, grade, list_rank, {running} FROM {source}"
        )
        source = f"{source}_counts"
    joins = ""
    if lists.needs_discounts:
        joins += f" LEFT JOIN rs_discounts ON rs_discounts.rank_number = {source}.list_rank"
    if lists.needs_totals:
        joins += f" LEFT JOIN rs_totals ON rs_totals.query_id = {source}.query_id"
    documents = ["COUNT(*) AS documents"] if is_full else []
    sums = ", ".join([*documents, *lists.sums.select()])
    tables[f"{lists.prefix}_sums"] = (
        f"SELECT {source}.query_id, {sums} FROM {source}{joins} GROUP BY {source}.query_id"
    )
    return tables


def _tabulate(discounts: Sequence[Discounts]) -> str:
    """Return the table of discounts, whose numbers are text so that every digit is read."""
    columns = [column.numbers for column in discounts]
    rows = []
    for rank, numbers in enumerate(zip_longest(*columns), start=1):
        cells = ("CAST(NULL AS TEXT)" if number is None else f"'{number!r}'" for number in numbers)
        rows.append(f"({', '.join([str(rank), *cells])})")
    names = [column.name for column in discounts]
    cast = ", ".join(f"CAST({name} AS DOUBLE PRECISION) AS {name}" for name in names)
    header = ", ".join(["rank_number", *names])
    return f"SELECT rank_number, {cast} FROM (VALUES {', '.join(rows)}) AS discounts({header})"


def select_attributes(given: QrelsAndRun | JoinedTable) -> str:
    """Return the attributes of queries, as they follow other columns in a `SELECT`."""
    return "".join(f", by_{number}" for number in range(len(given.by)))

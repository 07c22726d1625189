"""The tables of a statement: lists, sums over them, and the value of each measure by query."""

from __future__ import annotations

from itertools import zip_longest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankscope.settings.policy import Policy
    from rankscope.warehouse.dialects import Dialect
    from rankscope.warehouse.inputs import JoinedTable, QrelsAndRun
    from rankscope.warehouse.plan import Discounts, Lists, Plan


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

"""What the statements check, since SQL can't raise errors: each check counts what is wrong."""

from __future__ import annotations

from rankscope.warehouse.inputs import NO_DOCUMENT, attribute_problems, count_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.warehouse.inputs import JoinedTable, QrelsAndRun
    from rankscope.warehouse.plan import Plan

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


def list_problems(
    plan: Plan, given: QrelsAndRun | JoinedTable, values: list[str], deepest: int | None
) -> list[str]:
    """Return a query for each check."""
    policy = plan.policy
    problems = given.problems() + attribute_problems(given)
    if policy.ties == "average":
        problems.append(_count_ties(deepest))
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
    if policy.empty == "error" and values:
        undefined = " OR ".join(f"{column} IS NULL" for column in values)
        left_out = " AND is_missing = 0" if policy.missing == "skip" else ""
        of_queries.append(("empty_query", f"rs_results WHERE ({undefined}){left_out}"))
    problems += [count_problem(*each, doc=NO_DOCUMENT) for each in of_queries]
    return list(dict.fromkeys(problems))


def gather_problems(problems: list[str]) -> str:
    """Return the query that lists the problems by their codes."""
    every = " UNION ALL ".join(problems)
    meanings = " ".join(
        f"WHEN '{code}' THEN '{meaning}'"
        for code, meaning in MEANINGS.items()
        if any(f"'{code}' AS problem" in problem for problem in problems)
    )
    return (
        "SELECT problem, CAST(SUM(found) AS BIGINT) AS found, MIN(query_id) AS query_id, "
        "MIN(doc_id) AS doc_id, "
        f"CASE problem {meanings} END AS meaning FROM ({every}) AS counted GROUP BY problem"
    )


def _count_ties(deepest: int | None) -> str:
    """Count the groups of tied documents whose order changes a value."""
    differ = "(MIN(grade) < MAX(grade) OR (COUNT(grade) > 0 AND COUNT(grade) < COUNT(*)))"
    shown = "" if deepest is None else f" AND MIN(list_rank) <= {deepest}"
    groups = (
        "SELECT query_id, MIN(doc_id) AS doc_id FROM rs_list GROUP BY query_id, score "
        f"HAVING {differ}{shown}"
    )
    return count_problem("tied_documents", f"({groups}) AS tied")

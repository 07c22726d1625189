"""What is an error in rankscope is a problem that the checks find, and never a value."""

from __future__ import annotations

import math
import re
from itertools import chain
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope as rs
from rankscope.errors import RankscopeError, UsageError
from rankscope.warehouse.inputs import check_name
from rankscope.warehouse.plan import Plan
from rankscope.warehouse.problems import MEANINGS
from rankscope.warehouse.statements import name_columns

from tests.refusals import refuses
from tests.warehouse.databases import QRELS, RUN, evaluate, frame, run_duckdb

if TYPE_CHECKING:
    from typing import Any


GOOD_QRELS = [("1", "a", 1.0), ("1", "b", 0.0), ("2", "a", 2.0)]
GOOD_RUN = [("1", "b", 0.5), ("1", "a", 0.4), ("2", "a", 0.3)]
EXP2 = "nDCG(dcg='exp-log2')@10"

CASES = {
    "a document judged differently": ("duplicate_conflict", [("1", "a", 2.0)], [], "", "RR"),
    "a document retrieved twice": ("duplicate_doc", [], [("2", "a", 0.9)], "", "RR"),
    "one twice in a query without judgments": (
        "duplicate_doc",
        [],
        [("9", "a", 1.0), ("9", "a", 2.0)],
        "",
        "RR",
    ),
    "no grade": ("rel_not_number", [("1", "z", None)], [], "", "RR"),
    "an infinite grade": ("rel_out_of_range", [("1", "z", math.inf)], [], "", "RR"),
    "no score": ("score_nan", [], [("1", "z", None)], "", "RR"),
    "an infinite score": ("score_overflow", [], [("1", "z", -math.inf)], "", "RR"),
    "no document": ("missing_id", [("1", None, 1.0)], [], "", "RR"),
    "an empty query": ("missing_id", [], [("", "z", 1.0)], "", "RR"),
    "a negative grade": ("negative_gain", [("1", "z", -1.0)], [], "negative=error", "RR"),
    "a query that is not in the run": ("missing_query", [("3", "a", 1)], [], "missing=error", "RR"),
    "a query without relevant documents": (
        "empty_query",
        [("3", "a", 0)],
        [("3", "a", 1)],
        "empty=error",
        "RR",
    ),
    "a sum of gains that overflows": (
        "gain_overflow",
        [("1", "y", 1e308), ("1", "z", 1e308)],
        [],
        "",
        "CG",
    ),
    "an ideal that overflows": (
        "gain_overflow",
        [("1", "y", 1.5e308), ("1", "z", 1.5e308)],
        [],
        "",
        "nDCG",
    ),
    "a grade without a gain": ("gain_missing", [("1", "z", 7)], [], "", "DCG(gain=[0,1,2])@5"),
}


@pytest.mark.parametrize(
    ("code", "judged", "retrieved", "policy", "measure"), CASES.values(), ids=CASES
)
def test_what_evaluate_refuses_is_a_problem_and_no_value(
    code: str,
    judged: list[tuple[object, ...]],
    retrieved: list[tuple[object, ...]],
    policy: str,
    measure: str,
) -> None:
    qrels, run = frame([*GOOD_QRELS, *judged], QRELS), frame([*GOOD_RUN, *retrieved], RUN)
    if judged and judged[0][2] == 1e308:
        run = frame([*GOOD_RUN, ("1", "y", 1.0), ("1", "z", 1.0)], RUN)
    with refuses(RankscopeError, code):
        rs.evaluate(qrels, run, measure, policy=policy)
    statements = rs.sql("qrels", "run", [measure, "Judged@10"], policy=policy)
    values, (means,), problems = evaluate(statements, qrels, run)
    assert [problem["problem"] for problem in problems] == [code]
    assert problems[0]["meaning"] == MEANINGS[code]
    columns = statements.columns.values()
    assert {row[column] for row in values for column in columns} == {None}
    assert {means[column] for column in columns} == {None}
    assert {means[f"{column}_n"] for column in columns} == {0}
    assert means["problems"] == problems[0]["found"] > 0


def test_a_problem_names_a_query_and_a_document() -> None:
    run = frame([*GOOD_RUN, ("2", "a", 0.9)], RUN)
    _, _, problems = evaluate(rs.sql("qrels", "run", "RR"), frame(GOOD_QRELS, QRELS), run)
    assert problems == [
        {
            "problem": "duplicate_doc",
            "found": 1,
            "query_id": "2",
            "doc_id": "a",
            "meaning": MEANINGS["duplicate_doc"],
        }
    ]


@pytest.mark.parametrize(
    ("qrels", "run", "codes"),
    [
        ([], GOOD_RUN, ["empty_input", "no_common_queries"]),
        (GOOD_QRELS, [], ["empty_input", "no_common_queries"]),
        (GOOD_QRELS, [("7", "a", 1.0)], ["no_common_queries"]),
    ],
)
def test_tables_with_nothing_in_common_are_a_problem(
    qrels: list[tuple[object, ...]], run: list[tuple[object, ...]], codes: list[str]
) -> None:
    tables = frame(qrels, QRELS), frame(run, RUN)
    with pytest.raises(RankscopeError) as raised:
        rs.evaluate(*tables, "RR")
    assert raised.value.code in codes
    _, (means,), problems = evaluate(rs.sql("qrels", "run", "RR"), *tables)
    assert [problem["problem"] for problem in problems] == codes
    assert means["rr"] is None
    assert means["problems"]  # more than 0


def test_a_list_deeper_than_the_discounts_is_a_problem() -> None:
    qrels = frame([("1", name, 1) for name in "abc"], QRELS)
    run = frame([("1", name, -at) for at, name in enumerate("xyabc")], RUN)
    for depth, codes in ((5, []), (4, ["too_deep"]), (2, ["too_deep"])):
        _, (means,), problems = evaluate(rs.sql("qrels", "run", "nDCG", depth=depth), qrels, run)
        assert [problem["problem"] for problem in problems] == codes
        assert (means["ndcg"] is None) == bool(codes)
    _, (means,), _ = evaluate(rs.sql("qrels", "run", "nDCG@3", depth=1), qrels, run)
    assert means["ndcg_at_3"] == rs.evaluate(qrels, run, "nDCG@3")["nDCG@3"]


def test_a_query_with_two_values_of_an_attribute_is_a_problem() -> None:
    rows = [("1", "a", "de", 1.0, 0.5), ("1", "b", None, 1.0, 0.4)]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "country", "relevance", "score"])
    with refuses(RankscopeError, "attribute_conflict"):
        rs.evaluate(table, "RR", by="country")
    problems = run_duckdb(rs.sql("shown", "RR", by="country").checks, shown=table)
    assert [problem["problem"] for problem in problems] == ["attribute_conflict"]


def test_every_problem_that_a_statement_can_find_has_a_meaning() -> None:
    measures = ["nDCG", "DCG(gain=[0,1,2])@5"]
    checks = rs.sql(
        "qrels", "run", measures, by="country", policy="negative=error,empty=error,missing=error"
    )
    ties = rs.sql("shown", "RR", doc=False, by="country")
    texts = chain(*(re.findall(r"'(\w+)' AS problem", one.checks) for one in (checks, ties)))
    assert set(texts) == MEANINGS.keys()


def test_a_column_has_56_characters_at_most() -> None:
    for count in (55, 56, 57):
        measure: Any = SimpleNamespace(plain_name="x" * count, name="X")
        assert name_columns([measure]) == {"X": "x" * min(count, 56)}


def test_a_name_has_300_characters_at_most() -> None:
    for count in (1, 299, 300):
        check_name("x" * count, "a table", "postgres")
    for count in (0, 301):
        with pytest.raises(UsageError, match="expected a table as a name"):
            check_name("x" * count, "a table", "postgres")


def test_lists_have_10_000_ranks_at_most() -> None:
    for depth in (0, 1, 9_999, 10_000, 10_001):
        # No attribute has this name, which is refused after a depth that is none.
        with pytest.raises(UsageError) as refused:
            rs.sql("qrels", "run", "RR", depth=depth, by="queries")
        assert ("from 1 to 10000" in refused.value.message) == (not 1 <= depth <= 10_000)


def test_a_cutoff_beyond_10_000_is_none() -> None:
    plan: Any = SimpleNamespace(depth=1000)
    assert [Plan.reach(plan, k) for k in (9_999, 10_000, 10_001)] == [9_999, 10_000, 1000]

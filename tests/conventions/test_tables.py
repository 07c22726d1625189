"""Conventions on tables whose rows hold both scores and grades."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope import AP, Rankings, nDCG

from tests.conventions.test_reconcile import command
from tests.refusals import refuses
from tests.tabular import write_table

if TYPE_CHECKING:
    from pathlib import Path

LOG = {
    "qid": [1, 1, 1, 1, 2, 2, 3],
    "doc": ["c", "d", "a", "b", "x", "y", "m"],
    "label": [1, 0, 3, 2, 0, 0, 1],
    "score": [2.0, 2.0, 1.0, 0.5, 2.0, 1.0, 1.0],
}
QRELS = [(str(q), d, g) for q, d, g in zip(LOG["qid"], LOG["doc"], LOG["label"], strict=True)]
RUN = [(str(q), d, s) for q, d, s in zip(LOG["qid"], LOG["doc"], LOG["score"], strict=True)]


def test_a_table_has_the_values_of_its_judgments_and_its_run() -> None:
    joined = rs.reconcile(LOG, nDCG @ 3)
    apart = rs.reconcile(QRELS, RUN, nDCG @ 3)
    for one, other in zip(joined.reckonings, apart.reckonings, strict=True):
        if one.name != "rankscope":  # whose ties are averaged in tables
            assert (one.name, one.value, one.queries) == (other.name, other.value, other.queries)
    assert joined["rankscope"] == rs.evaluate(LOG, nDCG @ 3)["nDCG@3"]


def test_differences_are_explained_as_they_are_apart() -> None:
    joined = rs.reconcile(LOG, nDCG @ 3).differ("trec_eval", "lightgbm")
    apart = rs.reconcile(QRELS, RUN, nDCG @ 3).differ("trec_eval", "lightgbm")
    assert joined.queries == apart.queries
    assert joined.rules == apart.rules


def test_without_ids_no_order_of_ties_goes_by_them() -> None:
    log = {name: column for name, column in LOG.items() if name != "doc"}
    found = rs.reconcile(log, nDCG @ 3)
    by_name = {each.name: each for each in found.reckonings}
    assert math.isnan(found["trec_eval"])
    assert "ids" in by_name["trec_eval"].refusal
    assert found["catboost"] == rs.reconcile(LOG, nDCG @ 3)["catboost"]
    difference = found.differ("sklearn", "lightgbm")
    assert [query.query_id for query in difference.queries] == ["2", "1"]
    assert all(not query.documents for query in difference.queries)


def test_scores_that_single_precision_merges_are_said_to_be_merged() -> None:
    log = {"qid": [1, 1], "doc": ["a", "b"], "label": [1, 0], "score": [1.00000001, 1.0]}
    found = rs.reconcile(log, nDCG)
    by_name = {each.name: each for each in found.reckonings}
    assert "single precision" in by_name["trec_eval"].refusal
    assert found["trec_eval@10.0"] == 1.0


@pytest.mark.parametrize("convention", ["sklearn", "lightgbm", "catboost", "trec_eval"])
def test_a_table_is_evaluated_under_a_convention(convention: str, tmp_path: Path) -> None:
    expected = rs.evaluate(QRELS, RUN, [nDCG @ 3], convention=convention)
    for table in (LOG, write_table(LOG, tmp_path / "log.csv")):
        found = rs.evaluate(table, nDCG @ 3, convention=convention)
        assert dict(found) == dict(expected)
        assert found.policy == expected.policy
        assert found.convention == expected.convention


def test_ties_beside_a_convention_must_be_its_own() -> None:
    ties = rs.evaluate(LOG, nDCG @ 3, policy="ties=worst", convention="tie_aware").policy.ties
    assert ties == "worst"
    with refuses(rs.PolicyError, "convention_conflict"):
        rs.evaluate(LOG, nDCG @ 3, policy="ties=average", convention="lightgbm")


def test_a_table_of_grades_that_the_library_refuses_is_refused() -> None:
    with refuses(rs.FormatError, "convention_grades"):
        rs.evaluate({**LOG, "label": [0.5] * 7}, AP, convention="lightgbm")


def test_readers_of_batches_are_read_once() -> None:
    arrow = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    table = arrow.table(LOG)
    reader = arrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert str(rs.reconcile(reader, nDCG @ 3)) == str(rs.reconcile(LOG, nDCG @ 3))


def test_rankings_say_how_they_were_ordered() -> None:
    rankings = Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}}, score_type="float32")
    assert (rankings.tie_policy, rankings.score_type) == ("doc_id", "float32")
    assert rankings.grades == [1.0]


def test_the_command_takes_tables(tmp_path: Path) -> None:
    log = write_table(LOG, tmp_path / "log.csv")
    renamed = {"worth" if name == "label" else name: column for name, column in LOG.items()}
    named = write_table(renamed, tmp_path / "log.txt")
    found = rs.reconcile(LOG, nDCG @ 3)
    assert command(str(log), "-m", "nDCG@3") == (0, f"{found}\n", "")
    words = (str(named), "-m", "nDCG@3", "--format", "csv", "--col", "relevance=worth", "--json")
    document = json.loads(command(*words)[1])
    assert document["conventions"]["sklearn"]["value"] == found["sklearn"]
    assert command("-", "-m", "nDCG@3", "--format", "csv", stdin=log.read_text())[1] == f"{found}\n"
    status, _, errors = command("sklearn", "-m", "nDCG@3")
    assert (status, "[usage]" in errors) == (2, True)

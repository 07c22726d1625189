"""What people type first: a researcher, an engineer of models, and one of recommenders."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import AP, nDCG

from tests.trec import write_qrels, write_run

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d4": 0}}
OLD = {"q1": {"d2": 3.0, "d1": 2.0, "d3": 1.0}, "q2": {"d4": 2.0, "d1": 1.0}}
NEW = {"q1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}, "q2": {"d1": 2.0, "d4": 2.0}}
RUNS = {"old": OLD, "new": NEW}
MEASURES = [nDCG @ 10, AP, "RR@10"]

ROWS = [
    (query, doc, grade, OLD[query][doc], NEW[query][doc], country, user)
    for (query, docs), country, user in zip(
        QRELS.items(), ("de", "fr"), ("ann", "bob"), strict=True
    )
    for doc, grade in docs.items()
]
NAMES = ["query_id", "doc_id", "relevance", "old", "new", "country", "user_id"]
LOG = pd.DataFrame(ROWS, columns=NAMES)


def write_trec(folder):
    write_qrels(folder / "qrels.txt", QRELS)
    (folder / "runs").mkdir()
    for name, run in RUNS.items():
        write_run(folder / "runs" / f"{name}.run", run)
    return folder


# The researcher: files and dictionaries.


def test_every_form_of_judgments_and_runs_has_one_value(tmp_path):
    folder = write_trec(tmp_path)
    expected = dict(rs.evaluate(QRELS, NEW, MEASURES))
    qrels, run = folder / "qrels.txt", folder / "runs" / "new.run"
    named = rs.evaluate(str(qrels), str(folder / "runs"), MEASURES)
    for found in (
        rs.evaluate(str(qrels), str(run), MEASURES),
        rs.evaluate(qrels, run, MEASURES),
        rs.evaluate(rs.read_qrels(qrels), run, measures=MEASURES),
        rs.evaluate(judgments=qrels, run=run, measures=MEASURES),
        rs.evaluate(qrels, run, iter(MEASURES)),
        rs.Rankings.from_run(qrels, run).evaluate(iter(MEASURES)),
        rs.evaluate(LOG, LOG.rename(columns={"new": "score"}), MEASURES),
        rs.evaluate(LOG, MEASURES, score="new"),
        rs.evaluate(pl.DataFrame(LOG), MEASURES, score="new"),
        rs.evaluate(pa.Table.from_pandas(LOG), measures=MEASURES, score="new"),
        rs.evaluate(rs.Rankings.from_run(qrels, run), MEASURES),
        rs.evaluate({"it": rs.Rankings.from_table(LOG, score="new")}, MEASURES)["it"],
        named["new.run"],
    ):
        assert dict(found) == expected


def test_one_word_asks_each_question_of_files_and_of_a_table(tmp_path):
    folder = write_trec(tmp_path)
    qrels = folder / "qrels.txt"
    runs = {name: folder / "runs" / f"{name}.run" for name in RUNS}
    scores = ["old", "new"]
    one = rs.compare(qrels, runs, "nDCG@10")["nDCG@10", "new"]
    assert rs.compare(LOG, "nDCG@10", scores=scores)["nDCG@10", "new"] == one
    assert rs.compare(QRELS, RUNS, "nDCG@10")["nDCG@10", "new"] == one
    ranked = {name: rs.Rankings.from_run(qrels, run) for name, run in runs.items()}
    assert rs.compare(ranked, "nDCG@10")["nDCG@10", "new"] == one
    # This one is of means, and not the mean of differences.
    difference = pytest.approx(one.difference, abs=1e-15)
    assert rs.diff(LOG, "nDCG@10", scores=scores).difference == difference
    assert rs.diff(qrels, runs["old"], runs["new"], "nDCG@10").difference == difference
    assert rs.diff(ranked, "nDCG@10").difference == difference
    budgets = {"nDCG@10": 0.5}
    by_run = rs.gate(qrels, runs["old"], runs["new"], budgets)
    by_table = rs.gate(LOG, scores=scores, budgets=budgets)
    assert [each.value for each in by_table] == [each.value for each in by_run]
    lost = rs.losses(qrels, runs["old"], "nDCG@10")
    assert rs.losses(LOG, "nDCG@10", score="old").means == lost.means
    assert rs.bounds(LOG, "nDCG@10", score="old").mean == rs.bounds(QRELS, OLD, "nDCG@10").mean
    explained = rs.explain(qrels, runs["old"], "nDCG@10", query_id="q1")
    assert rs.explain(LOG, "nDCG@10", query_id="q1", score="old").formula == explained.formula
    assert explained.value == rs.evaluate(QRELS, OLD, "nDCG@10").to_dict()["q1"]["nDCG@10"]
    assert [*rs.report(LOG, "nDCG@10", score="old").runs] == ["table"]
    assert rs.fuse(LOG, scores=scores).to_dict() == rs.fuse(RUNS).to_dict()
    got = rs.reconcile(LOG, "nDCG@10", score="old")
    assert got["trec_eval@10.0"] == rs.reconcile(QRELS, OLD, "nDCG@10")["trec_eval@10.0"]


@pytest.mark.parametrize(
    "given",
    [
        {"by": "country", "attributes": LOG},
        {"by": {"q1": "de", "q2": "fr"}},
        {"by": pd.Series({"q1": "de", "q2": "fr"})},
    ],
    ids=["column", "mapping", "series"],
)
def test_slices_are_a_column_a_mapping_or_a_series(given):
    expected = {"de": 1.0, "fr": rs.evaluate(QRELS, NEW, "RR").to_dict()["q2"]["RR"]}
    beside = {"by": given["by"]}
    for found in (
        rs.evaluate(QRELS, NEW, "RR", **given),
        rs.evaluate(LOG, "RR", score="new", **beside),
    ):
        assert found.slices is not None
        assert {name: row["RR"] for name, row in found.slices.to_dict().items()} == expected
    for compared in (
        rs.compare(QRELS, RUNS, "RR", **given),
        rs.compare(LOG, "RR", scores=["old", "new"], **beside),
    ):
        assert {each.slice for each in compared} == {None, "de", "fr"}


@pytest.mark.parametrize("name", ["cluster", "weights"])
def test_clusters_and_weights_are_given_like_slices(name):
    values = {"q1": 2.0, "q2": 1.0}
    table = LOG.assign(w=LOG["query_id"].map(values))
    settings = {"interval": 0.95, "score": "new"}
    expected = rs.evaluate(LOG, "RR", **settings, **{name: values})
    for given in ("w", pd.Series(values), list(values.values())):
        found = rs.evaluate(table, "RR", **settings, **{name: given})
        assert (dict(found), found.intervals) == (dict(expected), expected.intervals)
    found = rs.evaluate(QRELS, NEW, "RR", interval=0.95, attributes=table, **{name: "w"})
    assert dict(found) == dict(expected)


# The engineer of models: frames, arrays, columns with names of their own.


def test_columns_have_any_name_in_every_function():
    names = {"query": "session", "doc": "item", "relevance": "bought", "score": "logit"}
    columns = {"query_id": "session", "doc_id": "item", "relevance": "bought", "new": "logit"}
    table = LOG.rename(columns=columns)
    expected = rs.evaluate(QRELS, NEW, "nDCG@10")["nDCG@10"]
    assert rs.evaluate(table, "nDCG@10", **names)["nDCG@10"] == expected
    assert rs.evaluate(table, table, "nDCG@10", **names)["nDCG@10"] == expected
    assert rs.losses(table, "nDCG@10", **names).means["value"] == expected
    assert rs.Rankings.from_table(table, **names).evaluate("nDCG@10")["nDCG@10"] == expected


def test_a_table_and_its_judgments_and_run_order_ties_alike():
    tied = LOG.assign(score=1.0)
    constant = {query: dict.fromkeys(docs, 1.0) for query, docs in QRELS.items()}
    expected = rs.evaluate(QRELS, constant, "RR")
    assert rs.evaluate(tied, "RR").to_dict() == expected.to_dict()
    assert rs.evaluate(tied, "RR").policy == expected.policy
    averaged = rs.evaluate(tied.drop(columns="doc_id"), "RR")
    assert averaged.policy.ties == "average"
    # q1: one of three places for two relevant documents; q2: one of two for one.
    assert averaged.to_dict() == {"q1": {"RR": pytest.approx(2 / 3 + 1 / 6)}, "q2": {"RR": 0.75}}
    assert dict(rs.evaluate(QRELS, constant, "RR", policy="ties=average")) == dict(averaged)


MATRICES = np.array([[1, 0]]), np.array([[0.1, 0.2]])
RANKED = {name: rs.Rankings.from_run(QRELS, run) for name, run in RUNS.items()}
EVALUATED = dict(rs.evaluate(QRELS, RUNS, "RR"))
VALUES = {"query_id": ["q1", "q2", "q3"], "old": [0.1, 0.2, 0.3], "new": [0.2, 0.3, 0.1]}
SCORES = ["old", "new"]
UNUSED = {
    "duplicates": [
        lambda: rs.evaluate(RANKED["old"], "RR", duplicates="first"),
        lambda: rs.evaluate(RANKED, "RR", duplicates="first"),
        lambda: rs.evaluate(*MATRICES, "RR", duplicates="first"),
        lambda: rs.compare(RANKED, "RR", duplicates="first"),
        lambda: rs.compare(EVALUATED, duplicates="first"),
        lambda: rs.gate(RANKED, budgets={"RR": 0.1}, duplicates="first"),
        lambda: rs.diff(RANKED, "RR", duplicates="first"),
        lambda: rs.losses(RANKED["old"], "nDCG", duplicates="first"),
    ],
    "score_type": [lambda: rs.evaluate(RANKED["old"], "RR", score_type="float32")],
    "query": [lambda: rs.evaluate(*MATRICES, "RR", query="x")],
    "labels": [
        lambda: rs.evaluate(RANKED["old"], "RR", labels="x"),
        lambda: rs.evaluate(QRELS, OLD, "RR", labels="x"),
        lambda: rs.report(QRELS, OLD, "RR", labels="x"),
        lambda: rs.losses(QRELS, OLD, "nDCG", labels="x"),
        lambda: rs.explain(QRELS, OLD, "nDCG", query_id="q1", labels="x"),
    ],
    "attributes": [
        lambda: rs.evaluate(*MATRICES, "RR", attributes=LOG),
        lambda: rs.report(LOG, "RR", score="old", attributes=LOG),
        lambda: rs.losses(LOG, "nDCG", score="old", attributes=LOG),
    ],
    "subtopics": [
        lambda: rs.evaluate(*MATRICES, "RR", subtopics=True),
        lambda: rs.evaluate(LOG, "RR", score="old", subtopics=True),
    ],
    "scores": [
        lambda: rs.compare(QRELS, RUNS, "RR", scores=SCORES),
        lambda: rs.compare(RANKED, "RR", scores=SCORES),
        lambda: rs.compare(VALUES, "RR", values=True, scores=SCORES),
        lambda: rs.gate(RANKED, budgets={"RR": 0.1}, scores=SCORES),
        lambda: rs.diff(QRELS, OLD, NEW, "RR", scores=SCORES),
        lambda: rs.diff(RANKED, "RR", scores=SCORES),
    ],
    "policy": [
        lambda: rs.compare(EVALUATED, policy="empty=skip"),
        lambda: rs.compare(VALUES, "RR", values=True, policy="empty=skip"),
    ],
    "convention": [lambda: rs.compare(VALUES, "RR", values=True, convention="lightgbm")],
    "bounds": [lambda: rs.compare(EVALUATED, bounds=True)],
    "better": [lambda: rs.compare(LOG, "RR", scores=SCORES, better="lower")],
    "range": [lambda: rs.compare(QRELS, RUNS, "RR", range=(0, 5))],
}


@pytest.mark.parametrize("name", UNUSED)
def test_an_argument_without_effect_is_an_error(name):
    for call in UNUSED[name]:
        with pytest.raises(rs.UsageError, match=f"{name} has no effect on "):
            call()


def test_attributes_of_queries_reach_losses_and_reports():
    table = {"query_id": ["q1", "q2"], "country": ["de", "fr"], "w": [2, 1]}
    for settings in ({"by": "country"}, {"weights": "w"}):
        lost = rs.losses(QRELS, OLD, "nDCG@2", attributes=table, **settings)
        same = rs.losses(LOG.assign(w=[2, 2, 2, 1, 1]), "nDCG@2", score="old", **settings)
        assert lost.means == same.means
        assert (lost.slices is None) == (same.slices is None)
    report = rs.report(QRELS, OLD, "RR", weights="w", attributes=table)
    expected = rs.evaluate(QRELS, OLD, "RR", weights={"q1": 2, "q2": 1})["RR"]
    assert [run.evaluation["RR"] for run in report.runs.values()] == [expected]


# The engineer of recommenders: a log of interactions.


def test_a_log_is_split_recommended_and_evaluated():
    log = pd.DataFrame(
        {
            "user_id": np.repeat([1, 2, 3], 4),
            "item_id": [10, 11, 12, 13, 10, 12, 11, 13, 13, 10, 11, 12],
            "timestamp": pd.date_range("2026-01-01", periods=12, freq="D").tolist(),
        }
    )
    train, test = rs.split(log, last_per_user=1)
    popular = train["item_id"].value_counts().index.tolist()
    lists = dict.fromkeys(test["user_id"], popular)
    found = rs.evaluate(test, lists, ["R@4", "Coverage@4", "Novelty@4"], history=train)
    assert found["R@4"] == 1.0
    assert found["Coverage@4"] == 1.0
    budget = rs.Budget("Coverage@4", tolerance=0.1)
    fewer = dict.fromkeys(lists, popular[:2])
    assert not rs.gate(test, lists, fewer, budget, history=train).passed


def test_matrices_are_judgments_and_a_run():
    grades, scores = np.array([[3, 0, 1], [0, 1, 0]]), np.array([[0.1, 0.9, 0.4], [0.5, 0.5, 0.1]])
    expected = rs.Rankings.from_arrays(grades, scores).evaluate(["nDCG@2", "RR"])
    found = rs.evaluate(grades, scores, ["nDCG@2", "RR"])
    assert (found.to_dict(), found.policy) == (expected.to_dict(), expected.policy)
    assert found.per_query("nDCG@2").mean() == pytest.approx(rs.ndcg_score(grades, scores, k=2))
    worst = rs.evaluate(grades, scores, "RR", policy="ties=worst")
    assert worst.to_dict()["1"] == {"RR": 0.5}
    with pytest.raises(rs.UsageError, match="memory has no effect on arrays"):
        rs.evaluate(grades, scores, "RR", memory="1GiB")


def test_a_report_says_how_to_compute_its_values(tmp_path):
    folder = write_trec(tmp_path)
    qrels, run = str(folder / "qrels.txt"), str(folder / "runs" / "old.run")
    LOG.to_csv(tmp_path / "log.csv")
    log = str(tmp_path / "log.csv")
    table = {"query_id": ["q1", "q2"], "w": [2, 1]}
    reports = [
        rs.report(log, "RR", score="old", by="country"),
        rs.report(LOG, "RR", score="old", weights={"q1": 2, "q2": 1}),
        rs.report(qrels, run, "RR", weights="w", attributes=table),
    ]
    texts = [report.commands["Compute these values"] for report in reports]
    assert texts[0] == f"rankscope eval {log} -m RR --by country --interval 0.95 --col score=old"
    assert texts[1].startswith("rs.evaluate(table, ['RR'], interval=")
    assert texts[1].endswith(", score='old', weights=weights)")
    assert texts[2].startswith("rs.evaluate(qrels, run, ['RR'], attributes=attributes, interval=")
    assert texts[2].endswith(", weights='w')")


QUERIES = [7, 3, 9, 5]


def make_log():
    return pd.DataFrame(
        {
            "query_id": [query for query in QUERIES for _ in range(2)],
            "user_id": ["ann"] * 4 + ["bob"] * 4,
            "item_id": [1, 2] * 4,
            "gains": [1, 0] * 4,
            "score": [2.0, 1.0, 1.0, 2.0] * 2,
            "other": [2.0, 1.0] * 4,
        }
    )


def test_a_user_beside_a_query_id_is_not_taken_for_the_query(tmp_path):
    log = make_log()
    log.to_csv(tmp_path / "log.csv", index=False)
    log.to_parquet(tmp_path / "log.parquet", index=False)
    for table in (log, tmp_path / "log.csv", tmp_path / "log.parquet"):
        assert rs.evaluate(table, "RR").query_texts == ["7", "3", "9", "5"]
    assert len(rs.compare(log, "RR", scores=["score", "other"]).comparisons) == 1
    with pytest.raises(rs.errors.FormatError, match="topic and user_id"):
        rs.evaluate(log.rename(columns={"query_id": "topic"}), "RR")


def test_an_attribute_with_the_name_of_a_role_does_not_take_its_place(tmp_path):
    frame = pd.DataFrame({"user": ["a", "b"], "query": ["x", "x"], "score": [1, 2]})
    frame["relevance"] = [1, 0]
    frame.to_csv(path := tmp_path / "rows.csv", index=False)
    for table in (frame, path):
        assert list(rs.evaluate(table, "RR", query="user", by="query").query_ids) == ["a", "b"]


def test_a_missing_score_is_named_as_such_in_the_hint():
    with pytest.raises(rs.errors.FormatError) as caught:
        rs.evaluate(make_log().drop(columns="score"), "RR")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("name it: score=")


def test_weights_are_a_list_a_mapping_a_series_or_a_column():
    weights = {query: float(at + 1) for at, query in enumerate(QUERIES)}
    log = make_log()
    log["w"] = log["query_id"].map(weights)
    expected = (1 + 0.5 * 2 + 3 + 0.5 * 4) / 10
    for given in (
        list(weights.values()),
        weights,
        {str(query): weight for query, weight in weights.items()},
        pd.Series(weights).sort_index(),  # lined up by its index
        pd.Series([*weights.values()]),
        "w",
    ):
        assert rs.evaluate(log, "RR", weights=given)["RR"] == expected
    with pytest.raises(rs.errors.FormatError, match="expected the column 'w'"):
        rs.evaluate(make_log(), "RR", weights="w")
    with pytest.raises(rs.errors.FormatError, match="expected weights of 0 or more"):
        rs.evaluate(log.assign(w="heavy"), "RR", weights="w")


def test_clusters_are_a_column_or_a_mapping():
    users = dict(zip(QUERIES, ["ann", "ann", "bob", "cat"], strict=True))
    log = make_log()
    log["who"] = log["query_id"].map(users)
    scores = ["score", "other"]
    by_column = rs.evaluate(log, "RR", interval=0.95, cluster="who")
    pair = rs.compare(log, "RR", scores=scores, cluster="who")["RR", "other"]
    for given in (users, pd.Series(users).sort_index(), pd.Series([*users.values()])):
        assert rs.evaluate(log, "RR", interval=0.95, cluster=given).intervals == by_column.intervals
        assert rs.compare(log, "RR", scores=scores, cluster=given)["RR", "other"] == pair


def test_slices_by_integer_queries_are_found():
    rankings = rs.Rankings.from_table(make_log())
    countries = dict(zip(QUERIES, ["de", "de", "at", "at"], strict=True))
    for by in (countries, pd.Series(countries).sort_index()):
        slices = rankings.evaluate("RR", by=by).slices
        assert slices is not None
        assert slices.to_dict()["de"]["queries"] == 2
    with pytest.raises(rs.UsageError, match="a slice for none of the queries"):
        rankings.evaluate("RR", by={"x": "de"})


def test_ranks_are_not_compared_as_scores():
    log = make_log().rename(columns={"score": "old_rank", "other": "new_rank"})
    with pytest.raises(rs.UsageError, match="'old_rank' has ranks, but larger scores"):
        rs.compare(log, "RR", scores=["old_rank", "new_rank"])
    log["old_rank"], log["new_rank"] = -log["old_rank"], -log["new_rank"]
    found = rs.compare(log, "RR", scores=["old_rank", "new_rank"])
    assert found.means["old_rank"]["RR"] == 0.75

"""Results are logged to a local MLflow, and rows of `mlflow.genai` get values of rankscope."""

from __future__ import annotations

import datetime as dt
import json
import math

import pytest
import rankscope as rs
from rankscope.errors import UsageError
from rankscope.integrations.mlflow import log_result, make_scorer

mlflow = pytest.importorskip("mlflow")


# MLflow and what it is built on warn about each other.
pytestmark = pytest.mark.filterwarnings("ignore")

QRELS = {f"q{n}": {"a": 2, "b": n % 2, "c": 0} for n in range(12)}
OLD = {query: {"c": 3.0, "b": 2.0, "a": 1.0} for query in QRELS}
NEW = {query: {"a": 3.0, "c": 2.0, "b": 1.0} for query in QRELS}


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.create_experiment("tests", artifact_location=f"file://{folder}/artifacts")
    mlflow.set_experiment("tests")
    yield
    mlflow.set_tracking_uri(before)


class Logged:
    """What a run of MLflow contains."""

    def __init__(self, run):
        self.id = run.info.run_id
        data = mlflow.get_run(self.id).data
        self.metrics = data.metrics
        self.tags = data.tags

    def files(self, folder="rankscope"):
        found = mlflow.artifacts.list_artifacts(run_id=self.id, artifact_path=folder)
        return {each.path.removeprefix("rankscope/") for each in found if not each.is_dir}

    def text(self, name):
        return str(mlflow.artifacts.load_text(f"runs:/{self.id}/rankscope/{name}"))

    def table(self, name):
        frame = mlflow.load_table(f"rankscope/{name}", run_ids=[self.id])
        return {column: frame[column].tolist() for column in frame}


def log(result, **settings):
    with mlflow.start_run() as run:
        log_result(result, **settings)
    return Logged(run)


def test_an_evaluation_is_logged_under_plain_names():
    ev = rs.evaluate(QRELS, NEW, ["nDCG@3", "nDCG@1", "AP"], interval=0.9)
    logged = log(ev)
    expected = {name: ev[name] for name in ev}
    ends = {"lower": 0, "upper": 1}
    assert logged.metrics == {
        "ndcg_at_3": expected["nDCG@3"],
        "ndcg_at_1": expected["nDCG@1"],
        "ap": expected["AP"],
        **{
            f"{rs.parse(name).plain_name}_{end}": ev.intervals[name][at]
            for name in ev
            for end, at in ends.items()
        },
        "queries": 12,
    }
    assert logged.tags["rankscope.policy"] == str(ev.policy)
    assert logged.tags["rankscope.version"] == rs.__version__
    assert "rankscope.convention" not in logged.tags
    assert logged.files() == {"queries.json", "cutoffs_ndcg.png"}
    table = logged.table("queries.json")
    assert table["query_id"] == [*QRELS]
    assert table["ndcg_at_3"] == pytest.approx(ev.per_query("nDCG@3"))


def test_a_convention_is_a_tag():
    logged = log(rs.evaluate(QRELS, NEW, "nDCG@3", convention="sklearn"), figures=False)
    assert logged.tags["rankscope.convention"] == rs.conventions.find("sklearn").address
    assert logged.files() == {"queries.json"}


def test_steps_and_prefixes_keep_results_apart():
    with mlflow.start_run() as run:
        for step, each in enumerate((OLD, NEW)):
            log_result(rs.evaluate(QRELS, each, "nDCG@3"), prefix="valid/", step=step)
    logged = Logged(run)
    history = mlflow.MlflowClient().get_metric_history(logged.id, "valid/ndcg_at_3")
    assert [(each.step, each.value) for each in history] == [
        (0, rs.evaluate(QRELS, OLD, "nDCG@3")["nDCG@3"]),
        (1, rs.evaluate(QRELS, NEW, "nDCG@3")["nDCG@3"]),
    ]
    assert logged.files("rankscope/valid") == {"valid/queries-0.json", "valid/queries-1.json"}
    assert "valid/rankscope.policy" in logged.tags


def test_logging_again_replaces_the_table():
    with mlflow.start_run() as run:
        for each in (OLD, NEW):
            ev = rs.evaluate(QRELS, each, "nDCG@3")
            log_result(ev)
    assert Logged(run).table("queries.json")["ndcg_at_3"] == pytest.approx(ev.per_query("nDCG@3"))


def test_without_tables_and_figures_only_numbers_are_logged():
    logged = log(rs.evaluate(QRELS, NEW, ["nDCG@1", "nDCG@3"]), tables=False, figures=False)
    assert logged.metrics.keys() == {"ndcg_at_1", "ndcg_at_3", "queries"}
    assert logged.files() == set()


def test_tables_have_the_names_and_types_of_the_input():
    day = dt.date(2026, 11, 20)
    table = {"group": [7, 7, 9], "label": [1, 0, 1], "score": [1, 2, 1]}
    table |= {"is_new": [True, True, False], "day": [day] * 3}
    logged = log(rs.evaluate(table, "RR", query="group", by=["is_new", "day"]))
    assert logged.table("queries.json")["group"] == [7, 9]
    slices = logged.table("slices.json")
    assert slices["is_new"] == [False, True]
    assert slices["day"] == ["2026-11-20"] * 2


def test_several_runs_are_logged_by_their_names():
    found = rs.evaluate(QRELS, {"old/1": OLD, "new": NEW}, ["nDCG@1", "nDCG@3"])
    logged = log(found)
    assert logged.metrics["new/ndcg_at_3"] == found["new"]["nDCG@3"]
    assert logged.metrics["old_1/ndcg_at_3"] == found["old/1"]["nDCG@3"]
    assert logged.files() == {
        "cutoffs_ndcg.png",
        "queries_ndcg_at_1.png",
        "queries_ndcg_at_3.png",
    }
    assert logged.table("new/queries.json")["query_id"] == [*QRELS]


def test_a_comparison_is_logged_with_its_verdict():
    found = rs.compare(QRELS, {"old": OLD, "new": NEW}, ["nDCG@3", "AP"], baseline="old")
    logged = log(found)
    compared = found["nDCG@3", "new"]
    assert logged.metrics["old/ndcg_at_3"] == compared.baseline_mean
    assert logged.metrics["new/ndcg_at_3"] == compared.run_mean
    for name in ("difference", "lower", "upper", "p_corrected"):
        assert logged.metrics[f"new vs old/ndcg_at_3_{name}"] == getattr(compared, name)
    assert logged.files() == {
        "comparison.json",
        "comparison.txt",
        "differences_ndcg_at_3.png",
        "differences_ap.png",
    }
    assert logged.text("comparison.txt") == str(found)
    assert logged.table("comparison.json")["difference"] == [
        pytest.approx(each.difference) for each in found
    ]


def test_values_of_other_measures_are_logged_under_names_that_mlflow_allows():
    values = {"query_id": [*QRELS], "old": [0.1, 0.2] * 6, "new": [0.2, 0.2] * 6}
    logged = log(rs.compare(values, "answers (%)", values=True))
    assert logged.metrics["old/answers ___"] == pytest.approx(0.15)
    assert "rankscope.policy" not in logged.tags


def test_the_report_is_an_artifact():
    report = rs.report(QRELS, {"new": NEW}, "nDCG@3")
    logged = log(rs.evaluate(QRELS, NEW, "nDCG@3"), report=report, tables=False)
    assert logged.files() == {"report.html"}
    assert logged.text("report.html") == report.to_html()


def test_what_cannot_be_logged_is_an_error_before_anything_is_logged():
    with mlflow.start_run() as run:
        with pytest.raises(UsageError, match="found dict"):
            log_result({"nDCG@10": 0.5})
        with pytest.raises(UsageError, match="the runs 'a#' and 'a%' have the same name"):
            log_result(rs.evaluate(QRELS, {"a#": OLD, "a%": NEW}, "AP"))
    logged = Logged(run)
    assert (logged.metrics, logged.files()) == ({}, set())


def test_rows_of_an_evaluation_of_answers_get_the_value_of_their_ranking():
    rows = [
        {
            "inputs": {"question": "graded"},
            "outputs": {"a": 0.5, "b": 0.9},
            "expectations": {"relevant": {"a": 3, "b": 1}},
        },
        {
            "inputs": {"question": "listed"},
            "outputs": ["a", "b", "c"],
            "expectations": {"relevant": ["c"]},
        },
        {
            "inputs": {"question": "nothing found"},
            "outputs": [],
            "expectations": {"relevant": ["c"]},
        },
    ]
    scorers = [make_scorer("nDCG@2"), make_scorer("RR", name="first hit")]
    found = mlflow.genai.evaluate(data=rows, scorers=scorers)
    discount = math.log2(3)
    graded = (1 + 3 / discount) / (3 + 1 / discount)
    assert found.metrics["ndcg_at_2/mean"] == pytest.approx(graded / 3)
    assert found.metrics["first hit/mean"] == pytest.approx((1 + 1 / 3) / 3)


def test_a_question_without_relevant_documents_follows_the_policy():
    row = {"outputs": ["a"], "expectations": {"relevant": []}}
    assert make_scorer("RR")(**row) == 0
    assert make_scorer("RR", policy="empty=one")(**row) == 1


def test_a_row_without_judgments_is_an_error_that_names_the_key():
    with pytest.raises(UsageError, match="no expectation 'relevant'"):
        make_scorer("RR")(outputs=["a"], expectations={"answer": "42"})
    scorer = make_scorer("RR", expectation="chunks")
    assert scorer(outputs=["a"], expectations=json.loads('{"chunks": ["a"]}')) == 1


def test_an_answer_is_no_ranking_and_no_path(tmp_path):
    file = tmp_path / "answer.run"
    file.write_text("q Q0 a 1 1.0 mine\n")
    for outputs in (str(file), None, 3):
        with pytest.raises(UsageError, match="expected ranked ids as the outputs of a row"):
            make_scorer("RR")(outputs=outputs, expectations={"relevant": ["a"]})

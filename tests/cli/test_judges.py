"""`rankscope judges` prints agreement, and estimates with the judgments of a model."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import rankscope as rs

from tests.cli.command import check_error, run
from tests.tabular import write_table

RATINGS = "query,doc,llm,human\nq1,a,3,3\nq1,b,1,0\nq1,c,2,1\nq2,d,2,2\nq2,e,,1\n"


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    """A table of two judges."""
    path = tmp_path / "ratings.csv"
    path.write_text(RATINGS, encoding="utf-8")
    return str(path)


@pytest.fixture
def judged(tmp_path: Path) -> list[str]:
    """Human judgments of 20 queries, those of a model of 50, and two runs."""
    rows: dict[str, list[str]] = {"human": [], "model": [], "a.run": [], "b.run": []}
    for query in range(50):
        for doc in range(3):
            grade = (query * (doc + 2) + doc) % 3
            if query < 20:
                rows["human"].append(f"q{query} 0 d{doc} {grade}")
            rows["model"].append(f"q{query} 0 d{doc} {min(grade + query % 2, 2)}")
            rows["a.run"].append(f"q{query} Q0 d{doc} 1 {(query + doc) % 4} a")
            rows["b.run"].append(f"q{query} Q0 d{doc} 1 {(query + 2 * doc) % 5} b")
    for name, lines in rows.items():
        (tmp_path / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return [str(tmp_path / name) for name in rows]


def test_agreement_is_printed_as_the_function_says(ratings: str) -> None:
    expected = rs.judge_agreement(ratings, judges=["llm", "human"])
    done = run("judges", ratings, "--judges", "llm", "human")
    assert done.stdout.decode() == f"{expected}\n"
    done = run("judges", ratings, "--judges", "llm,human", "--json")
    assert json.loads(done.stdout) == json.loads(json.dumps(expected.to_dict()))
    done = run("judges", ratings, "--judges", "llm", "human", "--csv")
    rows = list(csv.DictReader(done.stdout.decode().splitlines()))
    assert [float(row["kappa"]) for row in rows] == [expected.pairs[0].kappa]


def test_rows_of_judgments_name_their_judge(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("query,doc,who,grade_given\nq,a,x,1\nq,a,y,1\nq,b,x,0\nq,b,y,2\n")
    done = run("judges", str(path), "--judge", "who", "--col", "relevance=grade_given", "--json")
    document = json.loads(done.stdout)
    assert document["judges"] == ["x", "y"]
    assert document["pairs"][0]["exact"] == 0.5


def test_a_run_is_evaluated_with_both_kinds_of_judgments(judged: list[str]) -> None:
    human, model, one, other = judged
    words = ["judges", human, model, "--run", one, "--baseline", other, "-m", "nDCG@3,RR"]
    done = run(*words, "--interval", "0.9", "--json")
    expected = rs.evaluate_with_model_judge(
        human, model, one, ["nDCG@3", "RR"], baseline=other, interval=0.9
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(expected.to_dict()))
    assert run(*words, "--interval", "0.9").stdout.decode() == f"{expected}\n"


def test_probabilities_of_queries_are_a_table(judged: list[str], tmp_path: Path) -> None:
    human, model, one, other = judged
    words = ["--run", one, "--baseline", other, "-m", "nDCG@2"]
    rows = Path(human).read_text(encoding="utf-8").splitlines()
    queries = list(dict.fromkeys(row.split()[0] for row in rows))
    chances = {query: (1 + at % 3) / 4 for at, query in enumerate(queries)}
    table = {"query": [*chances], "probability": [*chances.values()]}
    drawn = write_table(table, tmp_path / "drawn.csv")
    found = run("judges", human, model, *words, "--probabilities", str(drawn), "--json")
    mean = rs.evaluate_with_model_judge(
        human, model, one, "nDCG@2", baseline=other, probabilities=chances
    )
    assert json.loads(found.stdout) == json.loads(json.dumps(mean.to_dict()))


def test_a_method_of_intervals_can_be_chosen(judged: list[str]) -> None:
    human, model, one, _ = judged
    dense = run("judges", human, model, "--run", one, "-m", "RR", "--method", "dense", "--json")
    assert json.loads(dense.stdout)["measures"]["RR"]["method"] == "dense"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--judges", "llm", "human", "--judge", "llm"],
        ["--judges", "llm", "human", "--run", "a.run"],
        ["--judges", "llm", "human", "--interval", "0.9"],
    ],
)
def test_options_that_do_not_fit_a_table_are_refused(ratings: str, words: list[str]) -> None:
    check_error(run("judges", ratings, *words), 2, "usage")


def test_two_files_need_a_run(judged: list[str]) -> None:
    human, model, one, _ = judged
    assert "--run" not in check_error(run("judges", human, model), 2, "usage")
    check_error(run("judges", human, model, "--run", one, "--judges", "a", "b"), 2, "usage")
    check_error(run("judges", human, model, one), 2, "usage")


def test_too_few_human_queries_are_bad_input(judged: list[str]) -> None:
    _, model, one, _ = judged
    few = model.replace("model", "few")
    Path(few).write_text("q1 0 d1 1\n", encoding="utf-8")
    check_error(run("judges", few, model, "--run", one, "-m", "DCG@3"), 3, "too_few_queries")

"""`rankscope compare`, and `rankscope diff` of two runs: text, CSV, JSON, and what is refused."""

from __future__ import annotations

import csv
import json

import pytest
import rankscope as rs

from tests.cli.command import check_error, run, write_files, write_runs

NAMES = (
    "measure",
    "baseline",
    "run",
    "slice",
    "n",
    "difference",
    "lower",
    "upper",
    "level",
    "test",
    "p",
    "correction",
    "p_corrected",
    "wins",
    "ties",
    "losses",
    "minimum_detectable",
)
"""The fields of a comparison that scripts can rely on."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("compare"))


def paths(folder, *runs):
    return [str(folder / "qrels.txt"), *(str(folder / f"{name}.run") for name in runs)]


def test_the_json_has_the_fields_that_scripts_rely_on(folder):
    done = run("compare", *paths(folder, "old", "new", "best"), "-m", "nDCG@10,AP", "--json")
    document = json.loads(done.stdout)
    assert set(document) >= {"runs", "comparisons", "policy"}
    assert document["runs"]["new.run"].keys() == {"nDCG@10", "AP"}
    assert len(document["comparisons"]) == 6
    for each in document["comparisons"]:
        assert set(each) >= set(NAMES)
        assert each["slice"] is None
        assert (each["test"], each["correction"], each["level"]) == ("permutation", "holm", 0.95)
        assert each["lower"] <= each["difference"] <= each["upper"]
        assert each["wins"] + each["ties"] + each["losses"] == each["n"] == 30
    qrels, *runs = paths(folder, "old", "new", "best")
    found = rs.compare(qrels, runs, ["nDCG@10", "AP"])
    assert [each["p"] for each in document["comparisons"]] == [each.p for each in found]
    assert done.returncode == 0


def test_slices_and_clusters_come_from_a_table_of_attributes(folder):
    words = ["--attributes", str(folder / "queries.csv"), "--by", "country", "--cluster", "user_id"]
    done = run("compare", *paths(folder, "old", "new"), *words, "--json")
    compared = json.loads(done.stdout)["comparisons"]
    assert [each["slice"] for each in compared] == [None, "at", "de"]
    assert [each["n"] for each in compared] == [30, 15, 15]
    assert compared[0]["clusters"] == 7
    done = run("compare", *paths(folder, "old", "new"), *words)
    assert "7 clusters" in done.stdout.decode()


@pytest.mark.parametrize("name", ["new", "new.run", "{folder}/new.run"])
def test_a_baseline_is_named_by_its_path_or_its_file(folder, name):
    words = ["--baseline", name.format(folder=folder), "--json", "--no-bounds"]
    done = run("compare", *paths(folder, "old", "new", "best"), *words)
    compared = json.loads(done.stdout)["comparisons"]
    pairs = [(each["baseline"], each["run"]) for each in compared]
    assert pairs == [("new.run", "old.run"), ("new.run", "best.run")]


def test_names_make_runs_short(folder):
    words = ["--names", "A,B", "--baseline", "B", "--json"]
    done = run("compare", *paths(folder, "old", "new"), *words)
    document = json.loads(done.stdout)
    assert [*document["runs"]] == ["A", "B"]
    assert (document["comparisons"][0]["baseline"], document["comparisons"][0]["run"]) == ("B", "A")


@pytest.mark.parametrize(
    ("option", "start"), [("--markdown", "old"), ("--latex", "%"), ("--html", "<div")]
)
def test_tables_for_papers_and_reviews(folder, option, start):
    done = run("compare", *paths(folder, "old", "new"), option, "--names", "old,new")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert "paired permutation test" in text
    assert text.startswith((start, "new"))


def test_csv_has_one_row_per_comparison(folder):
    done = run("compare", *paths(folder, "old", "new", "best"), "--csv")
    rows = list(csv.DictReader(done.stdout.decode().splitlines()))
    assert [row["run"] for row in rows] == ["new.run", "best.run", "best.run"]
    assert rows[0]["winner_certain_despite_unjudged"] in {"True", "False"}


def test_columns_of_scores_of_a_table_are_runs(folder):
    rows = [
        f"q{number},{grade},{(number + grade) % 3},{grade}\n"
        for number in range(12)
        for grade in range(3)
    ]
    table = folder / "log.csv"
    table.write_text("query_id,gains,old,new\n" + "".join(rows))
    done = run("compare", str(table), "--scores", "old,new", "--json")
    document = json.loads(done.stdout)
    assert document["runs"]["new"]["nDCG@10"] == 1
    assert document["comparisons"][0]["wins"] == 8


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--by", "country"], 2, "add --attributes FILE"),
        (["--names", "A"], 2, "1 name for 2 runs"),
        (["--attributes", "{folder}/queries.csv", "--cluster", "user"], 3, "user_id"),
        (["--scores", "old,new"], 2, "one table"),
        (["--confidence", "95"], 2, "between 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, words, code, message):
    given = [word.format(folder=folder) for word in words]
    done = run("compare", *paths(folder, "old", "new"), *given)
    assert done.returncode == code
    assert message in done.stderr.decode()
    assert done.stdout == b""


def test_eval_reads_the_clusters_of_intervals_from_a_table_of_attributes(folder):
    given = [*paths(folder, "old"), "--interval", "--attributes", str(folder / "queries.csv")]
    done = run("eval", *given, "--cluster", "user_id")
    assert "over 7 clusters" in done.stderr.decode()
    assert "add --by COLUMN or --cluster COLUMN" in run("eval", *given).stderr.decode()
    alone = run("eval", *paths(folder, "old"), "--interval", "--cluster", "user_id")
    assert "add --attributes FILE" in alone.stderr.decode()


def test_a_name_or_a_run_that_is_given_twice_is_named(folder):
    given = paths(folder, "old", "new")
    assert "the name 'A' twice" in run("compare", *given, "--names", "A,A").stderr.decode()
    assert "is given twice" in run("compare", *given[:2], given[1]).stderr.decode()


QRELS = "q1 0 a 3\nq1 0 b 1\nq2 0 c 1\nq3 0 d 1\n"
OLD = "q1 Q0 x 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\nq3 Q0 d 1 1 t\n"
NEW = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\nq3 Q0 e 1 2 t\nq3 Q0 d 2 1 t\n"
SCOPE = (
    "This range is not a confidence interval: it covers unjudged documents, not the choice of "
    "queries."
)


@pytest.fixture
def files(tmp_path):
    return write_files(tmp_path, {"qrels": QRELS, "old.run": OLD, "new.run": NEW})


def test_means_the_queries_that_moved_and_the_counts_are_printed(files):
    done = run("diff", *files, "-m", "nDCG@3")
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    head = ["measure", "query", "old.run", "new.run", "difference"]
    assert lines[0] == [*head, "retrieval", "truncation", "ordering"]
    found = rs.diff(*files, "nDCG@3")
    assert lines[1][:5] == ["nDCG@3", "all", *(f"{each:.4f}" for each in found.values), "0.1524"]
    assert [line[1] for line in lines[2:4]] == ["q1", "q3"]
    assert lines[4:7] == [["wins", "1"], ["ties", "1"], ["losses", "1"]]
    tested, unjudged = found.comparison, found.unjudged
    ends = f"{unjudged.lowest:+.4f} to {unjudged.highest:+.4f}"
    assert lines[7:] == [
        ["95% confidence interval", f"{tested.lower:.4f} to +{tested.upper:.4f} (bounded)"],
        # Of the two queries that differ, signs can be flipped in four ways.
        ["p (bounded test)", "1.000"],
        [f"unjudged documents: 2; if judged: {ends}; winner certain: no"],
        [SCOPE],
    ]
    assert done.returncode == 0


def test_the_documents_of_a_query_are_printed_with_what_they_gained(files):
    done = run("diff", *files, "-m", "nDCG@3", "--query", "q3")
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert lines[0] == ["document", "grade", "old.run", "new.run", "move", "gained"]
    assert lines[1] == ["d", "1", "1", "2", "down", "-0.3691"]
    assert lines[2] == ["e", "–", "–", "1", "entered", "0.0000"]
    assert lines[3] == ["nDCG@3", "", "1.0000", "0.6309", "", "-0.3691"]


def test_what_the_limit_leaves_out_is_added_up(files):
    done = run("diff", *files, "--query", "q1", "--limit", "0")
    assert done.stdout.decode().splitlines()[1] == "2 others\t\t\t\t\t0.8262"
    done = run("diff", *files, "--limit", "1")
    assert [line.split("\t")[1] for line in done.stdout.decode().splitlines()[1:3]] == ["all", "q1"]


def test_json_has_all_of_it(files):
    document = json.loads(run("diff", *files, "--json").stdout)
    found = rs.diff(*files, "nDCG@10")
    assert document["difference"] == found.difference
    assert document["terms"] == found.terms
    assert document["if_unjudged_lowest"] == found.unjudged.lowest
    assert document["if_ties_highest"] == found.tied.highest
    assert document["winner_certain_despite_ties"] is found.tied.is_certain
    assert "bounds" not in document
    assert [query["query_id"] for query in document["queries"]] == ["q1", "q3", "q2"]
    of_query = json.loads(run("diff", *files, "--json", "--query", "q1").stdout)["query"]
    assert sum(row["gained"] for row in of_query["documents"]) == of_query["difference"]
    assert of_query["documents"][0]["rank_a"] is None


def test_a_mean_that_is_none_is_null(files, tmp_path):
    qrels = write_files(tmp_path, {"empty": "q1 0 a 0\n"})
    words = ("diff", *qrels, *files[1:], "--json", "--policy", "empty=nan")
    assert json.loads(run(*words).stdout)["difference"] is None


def test_csv_is_a_table(files):
    lines = run("diff", *files, "--csv").stdout.decode().splitlines()
    assert lines[0] == "query_id,old.run,new.run,difference,retrieval,truncation,ordering,undefined"
    assert len(lines) == 4
    lines = run("diff", *files, "--csv", "--query", "q1").stdout.decode().splitlines()
    assert lines[0] == "doc_id,grade,rank_a,rank_b,move,gained"
    assert lines[2] == "x,,1,,left,0.0"


def test_other_measures_have_no_losses(files):
    done = run("diff", *files, "-m", "RR", "--query", "q3")
    assert done.stdout.decode().splitlines()[-1] == "RR\t\t1.0000\t0.5000\t\t-0.5000"


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["--policy", "ties=coin"], 2, "bad_policy"),
        (["-m", "nDCG@10,AP"], 2, "bad_parameter"),
        (["--query", "nobody"], 2, "unknown_query"),
        (["--limit", "-1"], 2, "usage"),
    ],
)
def test_what_cannot_be_meant_is_refused(files, words, status, code):
    check_error(run("diff", *files, *words), status, code)


def test_scores_of_the_rows_of_svmlight_text_are_compared(tmp_path):
    texts = {
        "test.svm": "0 qid:1 1:1\n2 qid:1 1:2\n1 qid:2 1:3\n",
        "old.txt": "0.9\n0.1\n0.5\n",
        "new.txt": "0.1\n0.9\n0.5\n",
    }
    words = write_files(tmp_path, texts)
    lines = [line.split("\t") for line in run("diff", *words).stdout.decode().splitlines()]
    assert lines[0][5:] == ["truncation", "ordering"]
    assert lines[1][2:5] == ["0.8155", "1.0000", "0.1845"]
    done = run("diff", *words, "--query", "1")
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert lines[1] == ["row 2", "2", "2", "1", "up", "0.3691"]
    assert lines[2] == ["row 1", "0", "1", "2", "down", "0.0000"]

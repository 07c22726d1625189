"""`rankscope explain`, `judges`, `leaderboard` and `power`: what they print and refuse."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
import rankscope as rs
from rankscope.errors import UsageError
from statsmodels.stats.power import TTestPower

from tests.cli.command import check_error, run, write_files, write_runs
from tests.tabular import write_table

GRADES = ["--grades", "4", "2", "5", "3", "5", "--k", "3"]


def test_grades_are_explained_as_by_the_function(program):
    done = program.run("explain", *GRADES)
    assert done.stdout.decode() == f"{rs.explain([4, 2, 5, 3, 5], k=3)}\n"
    assert (done.returncode, done.stderr) == (0, b"")


def test_grades_may_have_names_and_be_unknown(program):
    done = program.run("explain", "--grades", "A=4", "b=c=-2", "C=?", "D=-", "-m", "DCG")
    explanation = rs.explain(
        {"A": 4, "b=c": -2, "C": float("nan"), "D": float("nan")}, measure="DCG"
    )
    assert done.stdout.decode() == f"{explanation}\n"


@pytest.mark.parametrize(
    ("words", "measure"),
    [
        (["--gain", "exp2"], "nDCG(gain='exp2')"),
        (["--gain", "[0,1,3,7,15,31]"], "nDCG(gain=[0,1,3,7,15,31])"),
        (["--gain", "{0:0, 2:1, 3:1, 4:2, 5:9}"], "nDCG(gain={0:0, 2:1, 3:1, 4:2, 5:9})"),
        (["--discount", "log", "--base", "e"], "nDCG(discount='log', base=2.718281828459045)"),
        (["--discount", "zipf", "--s", "0.5"], "nDCG(discount='zipf', s=0.5)"),
        (["--discount", "[1,0.5,0.25]", "--k", "3"], "nDCG(discount=[1,0.5,0.25])@3"),
        (["-m", "CG", "--gain", "binary", "--k", "2"], "CG(gain='binary')@2"),
        (["-m", "ndcg_cut_2"], "nDCG@2"),
    ],
    ids=str,
)
def test_settings_are_those_of_measures(words, measure, program):
    done = program.run("explain", "--grades", "4", "2", "5", *words)
    assert done.stdout.decode() == f"{rs.explain([4, 2, 5], measure=measure)}\n"


def test_an_ideal_and_a_policy_are_taken(program):
    policy = "negative=gain,missing_gain=-1,unjudged=0.5,empty=one"
    words = ["--ideal", "3", "3", "2", "--policy", policy, "--k", "5"]
    done = program.run("explain", "--grades", "2", "?", "3", *words)
    explanation = rs.explain(
        [2, float("nan"), 3],
        k=5,
        ideal=[3, 3, 2],
        negative="gain",
        missing_gain=-1.0,
        unjudged=0.5,
        empty="one",
    )
    assert done.stdout.decode() == f"{explanation}\n"


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "json"])
def test_every_format_is_written(form, program):
    done = program.run("explain", *GRADES, "--format", form, "--digits", "6")
    explanation = rs.explain([4, 2, 5, 3, 5], k=3)
    written = done.stdout.decode()
    if form == "json":
        assert json.loads(written) == explanation.to_dict()
    elif form == "html":
        assert written == explanation.to_html(6, is_page=True)
    else:
        assert written.rstrip("\n") == getattr(explanation, f"to_{form}")(6).rstrip("\n")
    assert written.endswith("\n")


@pytest.fixture
def files(tmp_path):
    texts = {
        "qrels": "301 0 a 3\n301 0 b 1\n302 0 a 1\n",
        "run": "301 Q0 b 1 2 t\n301 Q0 x 2 2 t\n301 Q0 a 3 1 t\n",
    }
    return write_files(tmp_path, texts)


@pytest.mark.parametrize(
    ("words", "ties", "measure"),
    [
        ([], "doc_id", "nDCG@10"),
        (["-m", "DCG@2"], "doc_id", "DCG@2"),
        (["--k", "2"], "doc_id", "nDCG@2"),
        (["--policy", "ties=average"], "average", "nDCG@10"),
    ],
)
def test_a_query_of_files_is_explained(words, ties, measure, program, files):
    done = program.run("explain", *files, "--query", "301", *words)
    rankings = rs.Rankings.from_run(*files, ties=ties)
    assert done.stdout.decode() == f"{rankings.explain('301', measure)}\n"
    assert done.stderr == b""


def test_a_convention_is_explained(program, files):
    words = ["--convention", "sklearn", "-m", "nDCG@2", "--format", "json"]
    done = program.run("explain", *files, "--query", "301", *words)
    document = json.loads(done.stdout)
    evaluation = rs.evaluate(*files, "nDCG@2", convention="sklearn")
    assert document["value"] == evaluation.per_query("nDCG@2")[0]
    assert document["policy"]["ties"] == "average"


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_other_formats_and_one_table_are_read(form, program, tmp_path):
    table = {"query_id": [*"qqq"], "doc_id": [*"abc"], "relevance": [3, 0, 1], "rank": [1, 2, 3]}
    path = write_table(table, tmp_path / f"table.{form}")
    done = program.run("explain", str(path), "--query", "q", "-m", "nDCG@2", "--format", "json")
    document = json.loads(done.stdout)
    assert [row["doc_id"] for row in document["rows"]] == ["a", "b"]
    plain = tmp_path / "table"
    plain.write_bytes(path.read_bytes())
    words = ["--query", "q", "-m", "nDCG@2", "--format", "json", "--format", form]
    assert json.loads(program.run("explain", str(plain), *words).stdout) == document


def test_labels_and_scores_by_row_are_read(program, tmp_path):
    texts = {"test.svm": "0 qid:1 1:0.2\n2 qid:1 1:0.9\n", "scores.txt": "0.7\n0.1\n"}
    names = write_files(tmp_path, texts)
    done = program.run("explain", *names, "--query", "1", "--format", "json")
    assert [row["grade"] for row in json.loads(done.stdout)["rows"]] == [0.0, 2.0]


def test_what_is_piped_is_read(program, files, tmp_path):
    given = (tmp_path / "run").read_bytes()
    done = program.run("explain", files[0], "-", "--query", "301", given=given)
    assert done.stdout == program.run("explain", *files, "--query", "301").stdout


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        ([], 2, "usage"),
        (["--grades", "x"], 2, "usage"),
        (["--grades", "inf"], 2, "usage"),
        (["--grades", "=4"], 2, "usage"),
        (["--grades", "A=4", "2"], 2, "usage"),
        (["--grades", "4", "--query", "q"], 2, "usage"),
        (["--grades", "4", "--convention", "sklearn"], 2, "usage"),
        (["--grades", "4", "--format", "csv"], 2, "usage"),
        (["--grades", "4", "--format", "html", "--format", "text"], 2, "usage"),
        (["--grades", "4", "--digits", "40"], 2, "usage"),
        (["--grades", "4", "-m", "nDCG@2", "--k", "3"], 2, "usage"),
        (["--grades", "4", "-m", "nDCG@2,DCG@2"], 2, "usage"),
        (["--grades", "4", "-m", "Bpref"], 2, "not_explained"),
        (["--grades", "4", "--gain", "linaer"], 2, "bad_parameter"),
        (["--grades", "?"], 3, "empty_input"),
        (["--grades", "3", "--ideal", "1"], 3, "ideal_mismatch"),
        (["QRELS", "RUN"], 2, "usage"),
        (["QRELS", "RUN", "RUN", "--query", "301"], 2, "usage"),
        (["QRELS", "RUN", "--query", "301", "--ideal", "3"], 2, "usage"),
        (["QRELS", "RUN", "--query", "301", "--by", "country"], 2, "usage"),
        (["QRELS", "RUN", "--query", "7"], 2, "unknown_query"),
        (["-", "-", "--query", "7"], 2, "stdin_twice"),
        (["QRELS", "nowhere", "--query", "301"], 4, "io"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(words, status, code, program, files):
    names = dict(zip(("QRELS", "RUN"), files, strict=True))
    done = program.run("explain", *(names.get(word, word) for word in words))
    check_error(done, status, code)


RATINGS = "query,doc,llm,human\nq1,a,3,3\nq1,b,1,0\nq1,c,2,1\nq2,d,2,2\nq2,e,,1\n"


@pytest.fixture
def ratings(tmp_path):
    """A table of two judges."""
    path = tmp_path / "ratings.csv"
    path.write_text(RATINGS, encoding="utf-8")
    return str(path)


@pytest.fixture
def judged(tmp_path):
    """Human judgments of 20 queries, those of a model of 50, and two runs."""
    rows = {"human": [], "model": [], "a.run": [], "b.run": []}
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


def test_agreement_is_printed_as_the_function_says(ratings):
    expected = rs.judges.agreement(ratings, judges=["llm", "human"])
    done = run("judges", ratings, "--judges", "llm", "human")
    assert done.stdout.decode() == f"{expected}\n"
    done = run("judges", ratings, "--judges", "llm,human", "--json")
    assert json.loads(done.stdout) == json.loads(json.dumps(expected.to_dict()))
    done = run("judges", ratings, "--judges", "llm", "human", "--csv")
    rows = list(csv.DictReader(done.stdout.decode().splitlines()))
    assert [float(row["kappa"]) for row in rows] == [expected.pairs[0].kappa]


def test_rows_of_judgments_name_their_judge(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("query,doc,who,grade_given\nq,a,x,1\nq,a,y,1\nq,b,x,0\nq,b,y,2\n")
    done = run("judges", str(path), "--judge", "who", "--col", "relevance=grade_given", "--json")
    document = json.loads(done.stdout)
    assert document["judges"] == ["x", "y"]
    assert document["pairs"][0]["exact"] == 0.5


def test_a_run_is_evaluated_with_both_kinds_of_judgments(judged):
    human, model, one, other = judged
    words = ["judges", human, model, "--run", one, "--baseline", other, "-m", "nDCG@3,RR"]
    done = run(*words, "--interval", "0.9", "--json")
    expected = rs.judges.evaluate(human, model, one, ["nDCG@3", "RR"], baseline=other, interval=0.9)
    assert json.loads(done.stdout) == json.loads(json.dumps(expected.to_dict()))
    assert run(*words, "--interval", "0.9").stdout.decode() == f"{expected}\n"


def test_a_method_of_intervals_can_be_chosen(judged):
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
def test_options_that_do_not_fit_a_table_are_refused(ratings, words):
    check_error(run("judges", ratings, *words), 2, "usage")


def test_two_files_are_two_judges(judged):
    human, model, one, _ = judged
    expected = rs.judges.agreement({"human": human, "model": model})
    assert run("judges", human, model).stdout.decode() == f"{expected}\n"
    check_error(run("judges", human, model, "-m", "RR"), 2, "usage")
    check_error(run("judges", human, model, "--baseline", one), 2, "usage")
    check_error(run("judges", human, model, "--run", one, "--judges", "a", "b"), 2, "usage")
    check_error(run("judges", human, model, one), 2, "usage")
    twice = check_error(run("judges", human, human), 2, "usage")
    assert "found the same file twice" in twice


def test_too_few_human_queries_are_bad_input(judged):
    _, model, one, _ = judged
    few = model.replace("model", "few")
    Path(few).write_text("q1 0 d1 1\n", encoding="utf-8")
    check_error(run("judges", few, model, "--run", one, "-m", "DCG@3"), 3, "too_few_queries")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("leaderboard"), "runs")


def board(folder, *words):
    done = run("leaderboard", str(folder / "qrels.txt"), *words)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_files_a_folder_and_a_pattern_are_the_same_runs(folder):
    files = [str(folder / "runs" / f"{name}.run") for name in ("best", "new", "old")]
    status, text, _ = board(folder, *files)
    assert status == 0
    for given in (str(folder / "runs"), str(folder / "runs") + "/", str(folder / "runs" / "*.run")):
        assert board(folder, given) == (0, text, "")
    lines = text.splitlines()
    assert [line.split()[1] for line in lines[:4]] == ["run", "best.run", "new.run", "old.run"]
    assert lines[0].split()[3:] == ["nDCG@10", "AP", "RR"]
    assert len(lines) == 4 + 1 + 2


def test_each_format_is_that_of_the_function(folder):
    runs = str(folder / "runs")
    made = rs.leaderboard(
        folder / "qrels.txt", runs, ["nDCG@10", "AP"], baseline=["old.run", "new.run"], top=1
    )
    words = [runs, "-m", "nDCG@10,AP", "--baseline", "old", "--baseline", "new.run", "--top", "1"]
    expected = {
        "--json": made.to_json(),
        "--markdown": made.to_markdown(),
        "--html": made.to_html(),
        "--latex": made.to_latex(),
    }
    for option, text in expected.items():
        assert board(folder, *words, option) == (0, f"{text}\n", "")
    assert board(folder, *words, "--csv") == (0, made.to_csv(), "")
    assert board(folder, *words) == (0, f"{made}\n", "")
    small = board(folder, *words, "--small-print")[1]
    assert all(sentence in " ".join(small.split()) for sentence in made.small_print)


def test_caption_and_label_are_those_of_the_table(folder):
    words = [str(folder / "runs"), "--latex", "--caption", "50% & more", "--label", "tab:x"]
    text = board(folder, *words)[1]
    assert r"\caption{50\% \& more}" in text
    assert r"\label{tab:x}" in text


def test_clusters_come_from_a_table_of_attributes(folder):
    words = ["--attributes", str(folder / "queries.csv"), "--cluster", "user_id", "--json"]
    document = json.loads(board(folder, str(folder / "runs"), *words)[1])
    assert document["groups"]["cluster"] == "user_id"
    assert document["groups"]["exact"]


def test_a_picture_is_written_beside_the_table(folder, tmp_path):
    status, text, _ = board(folder, str(folder / "runs"), "--plot", str(tmp_path / "board.svg"))
    assert status == 0
    assert "best.run" in text
    assert "<svg" in (tmp_path / "board.svg").read_text()


def test_a_picture_does_not_replace_a_run_of_a_folder(folder):
    run_file = folder / "runs" / "best.run"
    content = run_file.read_bytes()
    status, text, _ = board(folder, str(folder / "runs"), "--plot", str(run_file))
    assert (status, text) == (2, "")
    assert run_file.read_bytes() == content


def test_csv_defuses_names_that_a_spreadsheet_would_run(folder):
    names = "=HYPERLINK(1),+1,@x"
    text = board(folder, str(folder / "runs"), "--names", names, "--csv")[1]
    assert {row["run"] for row in csv.DictReader(text.splitlines())} == {
        f"'{name}" for name in names.split(",")
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{runs}", "--baseline", "nwe"], "there is no run 'nwe' to be the baseline"),
        (["{runs}", "--top", "0"], "expected top as a whole number above 0"),
        (["{runs}", "--caption", "x"], "--caption and --label need --latex"),
        (["{runs}", "--cluster", "user_id"], "--cluster needs a table with one row per query"),
        (["{runs}", "--names", "a,b"], "--names gives 2 names for 3 runs"),
        (["{runs}", "{runs}/old.run"], "old.run' is given twice"),
        (["{runs}", "--sort", "P@5"], "P@5 was not evaluated"),
        (["{runs}", "--latex", "--csv"], "not allowed with argument"),
        (["-", "-"], "only one input can be read from standard input"),
        (["{runs}/nothing*"], "no such file"),
    ],
)
def test_a_board_that_cannot_be_meant_is_refused(folder, words, message):
    given = [word.format(runs=folder / "runs") for word in words]
    status, text, errors = board(folder, *given)
    assert status in {2, 3, 4}
    assert text == ""
    assert message in errors


DEVIATION = math.sqrt(2 / 3 * (1 / 2) ** 2 * 3 / 2)
"""Of RR differences 0, 1/2 and -1/2."""


@pytest.fixture
def two_runs(tmp_path):
    """Judgments and two runs, whose RR differs by 0, 1/2 and -1/2."""
    texts = {
        "qrels": "q1 0 a 1\nq2 0 b 1\nq3 0 c 1\n",
        "a.run": "q1 Q0 a 1 1 t\nq2 Q0 x 1 2 t\nq2 Q0 b 2 1 t\nq3 Q0 c 1 1 t\n",
        "b.run": "q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\nq3 Q0 x 1 2 t\nq3 Q0 c 2 1 t\n",
    }
    return write_files(tmp_path, texts)


def test_the_queries_that_effects_need_are_printed(two_runs):
    done = run("power", *two_runs, "-m", "RR", "--effect", "0.1", "0.3")
    needed = [
        math.ceil(TTestPower().solve_power(each / DEVIATION, None, 0.05, 0.8))
        for each in (0.1, 0.3)
    ]
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "RR"
    assert lines[2] == f"standard deviation of the differences: {DEVIATION:.4f}"
    assert lines[3] == "3 queries detect no difference that there can be"
    assert lines[4:] == [
        f"a difference of 0.1 needs {needed[0]} queries",
        f"a difference of 0.3 needs {needed[1]} queries",
    ]


def test_json_has_every_number(two_runs):
    done = run("power", *two_runs, "-m", "RR", "--effect", "0.3", "--unpaired", "--json")
    found = json.loads(done.stdout)
    expected = rs.power([1, 0.5, 1], [1, 1, 0.5], effect=0.3, paired=False, largest=1)
    assert found == {"measure": "RR", **expected.to_dict()}
    assert found["paired"] is False


def test_a_power_below_the_level_is_a_usage_error(two_runs):
    said = check_error(run("power", *two_runs, "--power", "0.01"), 2, "bad_parameter")
    assert "expected power to be above the level of 0.05" in said


def test_values_and_their_standard_deviation_give_the_same():
    random = np.random.default_rng(1)
    one, other = random.random((2, 40))
    by_values = rs.power(one, other, effect=[0.1])
    # Sums are rounded in the order of the values, from the lowest to the highest.
    deviation = float(np.sort(other - one).std(ddof=1))
    assert by_values == rs.power(standard_deviation=deviation, n=40, effect=0.1)
    size = by_values.minimum_detectable
    for largest, detected in ((np.nextafter(size, 0), None), (size, size), (1, size)):
        assert rs.power(one, other, largest=largest).minimum_detectable == detected
    deviations = (float(np.sort(one).std(ddof=1)), float(np.sort(other).std(ddof=1)))
    unpaired = rs.power(one, other[:30], paired=False)
    assert unpaired.n == 30
    assert rs.power(one, other, paired=False) == rs.power(
        standard_deviation=deviations, n=40, paired=False
    )


def test_without_n_there_is_no_detectable_difference():
    found = rs.power(standard_deviation=0.2, effect=0.05)
    assert (found.n, found.minimum_detectable) == (None, None)
    assert found.queries_needed == {0.05: 128}


def test_values_that_do_not_fit_are_refused():
    for wrong, message in (
        (rs.power, "values of two systems, or standard_deviation"),
        (lambda: rs.power([1.0]), "values of two systems, or standard_deviation"),
        (lambda: rs.power([1.0, 2.0], [1.0]), "same queries"),
        (lambda: rs.power([1.0, math.nan], [1.0, 0.0]), "two or more queries"),
        (lambda: rs.power(standard_deviation=(0.1, 0.2)), "one standard deviation"),
    ):
        with pytest.raises(UsageError, match=message):
            wrong()


@pytest.mark.parametrize("paired", [True, False])
def test_infinite_values_are_refused(*, paired):
    with pytest.raises(UsageError, match="found one that is infinite"):
        rs.power([0.1, math.inf, 0.3], [0.2, 0.4, 0.1], paired=paired)

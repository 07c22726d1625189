"""The file of a gate, tolerances of measures of all lists together, and what a gate prints."""

from __future__ import annotations

import html
import json
import math
import random
import re
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
import rankscope as rs
from rankscope._compare.gate.file import GateFile, read_gate_file
from rankscope._compare.gate.result import Check, GateResult
from rankscope._compare.gate.summary import MOST_ROWS

from tests.cli.command import run, write_files
from tests.refusals import refused
from tests.trec import write_qrels, write_run

WHOLE = """
qrels = "data/qrels.txt"
baseline = "old.run"
candidate = "/tmp/new.run"
attributes = "queries.csv"
cluster = "user_id"
policy = "ties=average"
convention = "lightgbm"
confidence = 0.9
interval-method = "dense"
on-inconclusive = "pass"

[[budget]]
measure = "nDCG@10"
max-drop = 0.005

[[budget]]
measure = "AP"
max-drop = "2%"
by = ["country", "device"]
confidence = 0.99
on-inconclusive = "fail"

[[budget]]
measure = "nDCG@10"
max-loss = 0.3
quantile = 0.9

[[budget]]
measure = "RR"
min = 0.4
by = "country"
"""
BUDGET = '[[budget]]\nmeasure = "AP"\nmax-drop = 0.01\n'


def write(folder, text):
    path = folder / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_is_read(tmp_path):
    found = read_gate_file(write(tmp_path, WHOLE))
    assert found == GateFile(
        budgets=(
            rs.Budget("nDCG@10", max_drop=0.005),
            rs.Budget(
                "AP",
                max_drop="2%",
                by=("country", "device"),
                confidence=0.99,
                on_inconclusive="fail",
            ),
            rs.Budget("nDCG@10", max_loss=0.3, quantile=0.9),
            rs.Budget("RR", minimum=0.4, by="country"),
        ),
        qrels=str(tmp_path / "data" / "qrels.txt"),
        baseline=str(tmp_path / "old.run"),
        candidate="/tmp/new.run",  # noqa: S108 - only a name
        attributes=str(tmp_path / "queries.csv"),
        cluster="user_id",
        policy="ties=average",
        convention="lightgbm",
        confidence=0.9,
        interval_method="dense",
        on_inconclusive="pass",
    )


def test_budgets_are_enough(tmp_path):
    only = rs.Budget("AP", max_drop=0.01)
    assert read_gate_file(write(tmp_path, BUDGET)) == GateFile(budgets=(only,))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("on_inconclusive = 'pass'\n" + BUDGET, "unknown key 'on_inconclusive'", "on-inconclusive"),
        ("zzz = 'red'\n" + BUDGET, "unknown key 'zzz'", "the keys are qrels, baseline"),
        (BUDGET + "max_loss = 1", "[[budget]] 1: unknown key 'max_loss'", "did you mean max-loss?"),
        ("", "one or more tables [[budget]]", "[[budget]]"),
        ("budget = []", "one or more tables [[budget]]", "[[budget]]"),
        ("budget = [1]", "one or more tables [[budget]]", "[[budget]]"),
        ("[budget]\nmeasure = 'AP'", "one or more tables [[budget]]", "[[budget]]"),
        ("[[budget]]\nmax-drop = 1", "[[budget]] 1: expected a measure", "measure ="),
        ("[[budget]]\nmeasure = 'AP'", "[[budget]] 1: the budget of AP needs", "a minimum"),
        (BUDGET + "min = 1", "[[budget]] 1: the budget of AP needs exactly one limit", "set"),
        (BUDGET + "[[budget]]\nmeasure = 'APP'\nmin = 1", "[[budget]] 2: unknown measure", "AP"),
        ("[[budget]]\nmeasure = 'AP'\nmax-drop = -1", "0 or more, found -1", "0.005"),
        ("[[budget]]\nmeasure = 'AP'\nmax-drop = '1'", "0 or more, found '1'", "0.005"),
        ("[[budget]]\nmeasure = 5\nmin = 1", "expected text for measure, found 5", "quotes"),
        (BUDGET + "by = []", "the name of an attribute", "by ="),
        (BUDGET + "quantile = 0.9", "quantile has no effect", "remove"),
        (BUDGET + "confidence = 95", "[[budget]] 1: expected a confidence", "0.95"),
        ("confidence = true\n" + BUDGET, "expected a confidence", "0.95"),
        ("on-inconclusive = 'past'\n" + BUDGET, "unknown value 'past'", "did you mean pass?"),
        ("interval-method = 'dens'\n" + BUDGET, "found 'dens'", "did you mean dense?"),
        ("qrels = 1\n" + BUDGET, "expected text for qrels, found 1", "quotes"),
        ("qrels = ''\n" + BUDGET, "expected text for qrels, found ''", "quotes"),
        ("policy = 'ties=coin'\n" + BUDGET, "coin", "doc_id"),
        ("qrels = \n" + BUDGET, "invalid TOML: Invalid value", "quotes"),
        ("a = " + "[" * 3000, "invalid TOML", ""),
    ],
)
def test_errors_name_the_file_and_the_key(tmp_path, text, message, hint):
    path = write(tmp_path, text)
    with pytest.raises(rs.FormatError) as caught:
        read_gate_file(path)
    assert caught.value.file == str(path)
    assert caught.value.exit_status == 3
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_invalid_toml_names_the_line(tmp_path):
    with pytest.raises(rs.FormatError) as caught:
        read_gate_file(write(tmp_path, BUDGET + "by = x\n"))
    assert caught.value.line == 4
    assert "at line" not in caught.value.message


def test_other_encodings_are_refused(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(rs.FormatError, match="expected UTF-8"):
        read_gate_file(path)


@pytest.mark.parametrize("name", ["absent.toml", "", "\0"])
def test_a_file_that_is_not_there_cannot_be_read(tmp_path, name):
    with pytest.raises(rs.FileError) as caught:
        read_gate_file(f"{tmp_path}/{name}")
    assert caught.value.exit_status == 4


HOSTILE = (
    "@team|`x`",
    "</testcase><b>&amp;",
    "a\nb | c\r\n# d",
    "[x](http://x)",
    "```",
    "\x00\x1b[31m\ud800\uffff",
    "",
    "x" * 500,
)


def make_check(verdict, slice=None, **changes):  # noqa: A002 - the field
    lower, upper = {"holds": (-0.004, 0.01), "broken": (-0.03, -0.01)}.get(verdict, (-0.03, 0.01))
    fields = {
        "budget": rs.Budget("nDCG@10", max_drop=0.005),
        "measure": "nDCG@10",
        "by": "" if slice is None else "country",
        "slice": slice,
        "n": 1234,
        "clusters": None,
        "baseline_mean": 0.5,
        "candidate_mean": 0.49,
        "value": (lower + upper) / 2,
        "lower": lower,
        "upper": upper,
        "level": 0.95,
        "corrected_for": 1,
        "interval_method": "t",
        "threshold": -0.005,
        "verdict": verdict,
        "passed": verdict in {"holds", "unchanged"},
        "queries_needed": 5678 if verdict == "inconclusive" else None,
        "queries_needed_lower": 4999 if verdict == "inconclusive" else None,
        "queries_needed_upper": 12_001 if verdict == "inconclusive" else None,
    }
    return Check(**(fields | changes))


def make_result(*checks, baseline="old.run", candidate="new.run"):
    return GateResult(baseline=baseline, candidate=candidate, checks=checks)


THREE = make_result(*(make_check(verdict) for verdict in ("holds", "broken", "inconclusive")))


def test_text_begins_with_the_verdict_and_lists_what_is_broken_first():
    lines = str(THREE).splitlines()
    assert lines[:2] == [
        "Gate failed: 1 of 3 checks is broken, 1 is inconclusive",
        "new.run against old.run",
    ]
    first = [line.split()[0] for line in lines[3:7]]
    assert first == ["verdict", "BROKEN", "inconclusive", "holds"]
    assert max(map(len, lines)) <= 80
    plan = (
        "about 5,700 queries (4,900 to 13,000, as far as these 1,234 tell) show with a probability"
    )
    decide = "If it is exactly as good, 13,000 queries decide; if it is worse, it takes more."
    assert lines[-2] == decide
    assert f"{plan} of 80% that the budget holds." in " ".join(THREE.small_print)
    assert "An inconclusive check fails here" in " ".join(THREE.small_print)


@pytest.mark.parametrize(
    ("verdicts", "head"),
    [
        (["holds"], "Gate passed: the check holds"),
        (["holds"] * 3, "Gate passed: all 3 checks hold"),
        (["unchanged"] * 2, "Gate passed: no list changed"),
        (["holds", "unchanged"], "Gate passed: all 2 checks hold or are unchanged"),
        (["broken"], "Gate failed: 1 of 1 check is broken"),
        (["broken"] * 2 + ["holds"], "Gate failed: 2 of 3 checks are broken"),
        (["inconclusive"] * 2, "Gate failed: 2 of 2 checks are inconclusive"),
    ],
)
def test_the_first_line_counts(verdicts, head):
    assert str(make_result(*map(make_check, verdicts))).splitlines()[0] == head


def test_an_inconclusive_check_that_passes_is_said_to_pass():
    result = make_result(make_check("inconclusive", passed=True))
    assert str(result).startswith("Gate passed: 1 of 1 check is inconclusive\n")
    assert "An inconclusive check passes here" in " ".join(result.small_print)


def test_markdown_has_the_verdict_a_table_and_reasons():
    lines = THREE.markdown().splitlines()
    assert lines[0] == "### ❌ Gate failed: 1 of 3 checks is broken, 1 is inconclusive"
    assert lines[2] == "`new.run` against `old.run`"
    rows = [line for line in lines if line.startswith("|")]
    assert rows[2] == ("| ❌ | `nDCG@10: max drop 0.005` | -0.0200 | -0.0300 to -0.0100 | 1,234 |")
    assert len(rows) == 5
    assert sum(line.startswith("- ") for line in lines) == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_changes_what_markdown_means(name):
    result = make_result(make_check("broken", name), baseline=name, candidate=name)
    plain = make_result(make_check("broken", "x"), baseline="x", candidate="x")
    lines, expected = result.markdown().splitlines(), plain.markdown().splitlines()
    assert len(lines) == len(expected)
    for line, other in zip(lines, expected, strict=True):
        # As GitHub does, take table cells apart first, and then code: ``…`` with equal fences.
        cells, others = (re.split(r"(?<!\\)\|", each) for each in (line, other))
        assert len(cells) == len(others)
        for cell, one in zip(cells, others, strict=True):
            bare, wanted = (re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", each) for each in (cell, one))
            assert bare == wanted
    assert result.markdown().encode()
    assert len(max(lines, key=len)) < 600


def test_many_checks_are_cut_and_counted():
    checks = [make_check("broken", f"s{number}") for number in range(MOST_ROWS + 30)]
    checks += [make_check("holds", f"t{number}") for number in range(MOST_ROWS + 1)]
    result = make_result(*checks)
    for text in (" ".join(str(result).split()), result.markdown()):
        assert "30 more checks that are broken are not listed." in text
        assert "1 more check that holds is not listed." in text
    assert len(result.markdown()) < 65_536  # the longest comment that GitHub takes
    assert len(ET.fromstring(result.junit()).findall(".//testcase")) == len(checks)  # noqa: S314 - our own


def test_junit_has_a_case_for_each_check():
    root = ET.fromstring(THREE.junit())  # noqa: S314 - our own
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    counts = {"tests": "3", "failures": "1", "errors": "1", "skipped": "0", "time": "0"}
    assert suite.attrib == {"name": "rankscope gate: new.run against old.run"} | counts
    cases = list(suite)
    # What the schemas of Jenkins and GitLab require of a test case.
    assert all({"name", "classname", "time"} <= case.attrib.keys() for case in cases)
    children = [[child.tag for child in case] for case in cases]
    assert children == [["system-out"], ["failure"], ["error"]]
    failure = cases[1][0]
    assert failure.attrib == {"type": "broken", "message": THREE.checks[1].message}
    assert failure.text == THREE.checks[1].message
    assert cases[2][0].get("type") == "inconclusive"


def test_an_inconclusive_check_that_passes_is_skipped():
    root = ET.fromstring(make_result(make_check("inconclusive", passed=True)).junit())  # noqa: S314 - our own
    assert [child.tag for child in root[0][0]] == ["skipped"]
    assert (root[0].get("errors"), root[0].get("skipped")) == ("0", "1")


@pytest.mark.parametrize("name", HOSTILE)
def test_junit_stays_xml_whatever_the_names_are(name):
    result = make_result(make_check("broken", name), baseline=name, candidate=name)
    root = ET.fromstring(result.junit())  # noqa: S314 - our own
    (case,) = root.findall(".//testcase")
    assert case.attrib["name"].startswith("nDCG@10: max drop 0.005 (country = ")
    if name.isprintable():
        assert case.attrib["name"].endswith(f"= {name})")


def test_the_message_of_a_check_without_an_interval_says_why():
    nan = float("nan")
    ends = {"lower": nan, "upper": nan, "queries_needed": None}
    check = make_check("inconclusive", note="Too few queries.", n=1, **ends)
    said = "The difference is -0.0100 over 1 query, without an interval. Too few queries."
    assert check.message == said
    assert "none" in str(make_result(check))


def test_the_dict_is_json_with_the_fields_of_the_contract():
    budget = rs.Budget("DCG@10", max_loss=1.0)
    infinite = make_check("inconclusive", budget=budget, upper=float("inf"))
    document = make_result(make_check("broken", "de"), infinite).to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert list(document) == [
        "verdict",
        "passed",
        "baseline",
        "candidate",
        "checks",
        "on_inconclusive",
        "cluster",
        "policy",
        "diagnostics",
    ]
    first, second = document["checks"]
    assert list(first) == [
        "measure",
        "kind",
        "limit",
        "relative",
        "quantile",
        "by",
        "slice",
        "n",
        "clusters",
        "baseline_mean",
        "candidate_mean",
        "value",
        "lower",
        "upper",
        "level",
        "corrected_for",
        "interval_method",
        "threshold",
        "verdict",
        "passed",
        "queries_needed",
        "queries_needed_lower",
        "queries_needed_upper",
        "note",
        "message",
    ]
    assert (first["kind"], first["quantile"], first["by"]) == ("max-drop", None, "country")
    assert (second["kind"], second["quantile"], second["upper"]) == ("max-loss", 0.95, None)


def test_notebooks_show_markdown():
    assert THREE._repr_markdown_() == THREE.markdown()
    assert html.unescape(repr(THREE)) == str(THREE)


CATALOGUE = [f"d{number}" for number in range(100)]
QUERIES = [f"q{number}" for number in range(40)]
QRELS = {query: {f"d{number}": 1} for number, query in enumerate(QUERIES)}
WHY = "no values of queries to resample"
MISNAMED = {"AP": rs.Budget("Coverage@1", tolerance=0.1)}


def make_lists(items):
    """Return one recommendation for each query, with so many different ones in all."""
    return {query: {f"d{number % items}": 1.0} for number, query in enumerate(QUERIES)}


def gate(old, new, *budgets, **settings):
    return rs.gate(
        QRELS, make_lists(old), make_lists(new), budgets, catalogue=CATALOGUE, **settings
    )


@pytest.mark.parametrize(
    ("new", "verdict"), [(29, "broken"), (30, "holds"), (32, "holds"), (40, "holds")]
)
def test_coverage_may_drop_by_the_tolerance_and_no_more(new, verdict):
    # 32 of 100 items, and 30: as doubles, 0.32 − 0.3 is above 0.02.
    [check] = gate(32, new, rs.Budget("Coverage@1", tolerance=0.02))
    assert 0.32 - 0.3 > 0.02
    assert (check.verdict, check.passed) == (verdict, verdict == "holds")
    assert (check.baseline_mean, check.candidate_mean) == (0.32, new / 100)
    assert check.value == new / 100 - 0.32
    assert check.threshold == -0.02
    assert check.n == 40
    assert all(map(math.isnan, (check.lower, check.upper, check.level)))
    assert check.interval_method == ""


@pytest.mark.parametrize(("new", "verdict"), [(40, "holds"), (20, "holds"), (10, "broken")])
def test_a_lower_gini_is_better(new, verdict):
    # Of 40 recommendations of m items equally often, Gini is 1 − m / 100.
    [check] = gate(20, new, rs.Budget("Gini@1", tolerance=0.05))
    assert check.value == pytest.approx((20 - new) / 100, abs=1e-12)
    assert check.threshold == 0.05
    assert check.verdict == verdict
    assert "at most 0.05 higher" in check.message


@pytest.mark.parametrize(("new", "verdict"), [(30, "holds"), (29, "broken")])
def test_a_tolerance_can_be_a_share_of_the_baselines_value(new, verdict):
    [check] = gate(40, new, rs.Budget("Coverage@1", tolerance="25%"))
    assert check.verdict == verdict
    assert check.threshold == -0.1
    assert check.name == "Coverage@1: tolerance 25%"
    assert "at most 25% of 0.4000 lower" in check.message


def test_budgets_of_queries_beside_it_are_as_without_it():
    drop = rs.Budget("nDCG@1", max_drop=0.3)
    both = gate(40, 30, rs.Budget("Coverage@1", tolerance=0.1), drop)
    assert both.checks[1] == gate(40, 30, drop).checks[0]
    assert both.checks[0].verdict == "holds"


def test_a_value_that_is_undefined_is_inconclusive():
    # Personalization compares the lists of two users.
    one = {"q0": {"d0": 1.0}}
    budget = rs.Budget("Personalization@1", tolerance=0.1)
    result = rs.gate({"q0": {"d0": 1}}, one, one, budget)
    assert (result.verdict, result.passed) == ("inconclusive", False)
    assert "no difference to compare" in result.checks[0].message
    passing = rs.Budget("Personalization@1", tolerance=0.1, on_inconclusive="pass")
    assert rs.gate({"q0": {"d0": 1}}, one, one, passing).passed


def test_a_mapping_can_hold_budgets():
    budgets = {"nDCG@1": 0.9, "Coverage@1": rs.Budget("Coverage@1", tolerance=0.1)}
    result = rs.gate(QRELS, make_lists(40), make_lists(35), budgets, catalogue=CATALOGUE)
    assert [check.budget.kind for check in result] == ["max-drop", "tolerance"]
    assert [check.verdict for check in result] == ["holds", "holds"]


def test_slices_of_the_gate_leave_it_alone():
    attributes = {"query_id": QUERIES, "country": ["de", "fr"] * 20}
    budget = rs.Budget("Coverage@1", tolerance=0.1)
    result = gate(40, 40, budget, by="country", attributes=attributes)
    assert [check.slice for check in result] == [None]


def test_every_summary_says_that_there_is_no_interval_and_why():
    for new in (40, 10):
        result = gate(40, new, rs.Budget("Coverage@1", tolerance=0.02))
        text, markdown = " ".join(result.small_print), result.markdown()
        assert "Coverage@1: tolerance 0.02" in str(result)
        assert text.count(WHY) == markdown.count(WHY) == 1
        assert "Two-sided intervals" not in text + markdown
        assert "| none | 40 |" in markdown
        [case] = ET.fromstring(result.junit()).iter("testcase")  # noqa: S314 - our own
        assert WHY in "".join(case.itertext())
        [check] = result.to_dict()["checks"]
        assert check["kind"] == "tolerance"
        assert WHY in check["note"]
    assert "The value is 0.1000 against 0.4000, a difference of -0.3000, which is beyond" in text


def test_a_gate_file_and_the_command_line_have_tolerances(tmp_path):
    texts = {
        "gate.toml": '[[budget]]\nmeasure = "Coverage@1"\ntolerance = 0.01\n',
        "items.txt": "\n".join([*CATALOGUE, ""]),
    }
    file, items = write_files(tmp_path, texts)
    qrels = write_qrels(tmp_path / "qrels.txt", QRELS)
    runs = [write_run(tmp_path / f"{count}.run", make_lists(count)) for count in (40, 38)]
    words = ["--catalogue", items, "--tolerance", "Gini@1=10%", "--json"]
    done = run("gate", file, qrels, *runs, *words)
    assert done.returncode == 1
    found = json.loads(done.stdout)["checks"]
    assert [check["kind"] for check in found] == ["tolerance"] * 2
    assert [check["verdict"] for check in found] == ["broken", "holds"]
    assert found[0]["lower"] is found[0]["upper"] is found[0]["level"] is None


@pytest.mark.parametrize(
    ("budget", "code", "text"),
    [
        (rs.Budget("nDCG@1", tolerance=0.1), "bad_budget", "each query has a value of it"),
        (rs.Budget("Coverage@1", max_drop=0.1), "no_query_values", "of all lists together"),
        (rs.Budget("Coverage@1", minimum=0.1), "no_query_values", "of all lists together"),
        (rs.Budget("Coverage@1", max_loss=0.1), "no_query_values", "of all lists together"),
        (rs.Budget("Coverage@1", tolerance=1), "bad_budget", "checks nothing"),
        (rs.Budget("Coverage@1", tolerance=5), "bad_budget", "checks nothing"),
        (rs.Budget("Coverage@1", tolerance="100%"), "bad_budget", "can't drop by more than itself"),
    ],
)
def test_a_limit_that_a_measure_cannot_have_is_refused(budget, code, text):
    refused(lambda: gate(40, 40, budget), code, text)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: rs.Budget("Coverage@1", tolerance=-0.1), "tolerance to be a number of 0 or more"),
        (lambda: rs.Budget("Coverage@1", tolerance=math.nan), "a number of 0 or more"),
        (lambda: rs.Budget("Coverage@1", tolerance=0.1, max_drop=0.1), "exactly one limit"),
        (lambda: rs.Budget("Coverage@1", tolerance=0.1, by="country"), "no slices"),
        (lambda: rs.Budget("Coverage@1", tolerance=0.1, confidence=0.9), "no confidence"),
        (lambda: gate(40, 40, MISNAMED), "expected budgets"),
        (lambda: rs.gate(QRELS, {}, {}, MISNAMED), "a budget of AP, found one of Coverage@1"),
    ],
)
def test_a_tolerance_that_says_nothing_is_refused(make, text):
    refused(make, "bad_budget", text)


def test_a_table_with_the_scores_of_both_is_gated_as_in_python(tmp_path):
    draw = random.Random(3)
    rows = [
        (f"q{query}", f"d{doc}", grade, grade + draw.gauss(0, 1), grade + draw.gauss(0, 0.9))
        for query in range(80)
        for doc in range(6)
        for grade in [draw.choice([0, 0, 1, 2])]
    ]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "old", "new"])
    table["country"] = table["query_id"].str[-1]
    table.to_csv(tmp_path / "log.csv", index=False)
    (tmp_path / "gate.toml").write_text(
        'table = "log.csv"\nscores = ["old", "new"]\n[[budget]]\nmeasure = "nDCG@5"\n'
        'max-drop = 0.1\n[[budget]]\nmeasure = "nDCG@5"\nmax-drop = 0.3\nby = "country"\n'
    )
    budgets = [rs.Budget("nDCG@5", max_drop=0.1), rs.Budget("nDCG@5", max_drop=0.3, by="country")]
    expected = rs.gate(table, budgets=budgets, scores=["old", "new"]).to_dict()
    found = run("gate", tmp_path / "gate.toml", "--json")
    assert json.loads(found.stdout)["checks"] == expected["checks"]
    options = ("--scores", "old,new", "--max-drop", "nDCG@5=0.1", "--json")
    alone = run("gate", tmp_path / "log.csv", *options)
    assert json.loads(alone.stdout)["checks"] == expected["checks"][:1]
    refused = run("gate", tmp_path / "log.csv", "--max-drop", "nDCG@5=0.1")
    assert refused.returncode == 2
    assert b"--scores old,new" in refused.stderr

"""The file of a gate, tolerances of measures of all lists together, and what a gate prints."""

from __future__ import annotations

import json
import math
import random
import re
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
import rankscope as rs
from rankscope._compare.gate.command import read_gate_file
from rankscope._compare.gate.result import Check, GateResult
from rankscope._compare.gate.summary import MOST_ROWS

from tests.cli.command import run, write_files
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
    assert read_gate_file(write(tmp_path, WHOLE)) == {
        "budgets": [
            rs.Budget("nDCG@10", max_drop=0.005),
            rs.Budget(
                "AP",
                max_drop="2%",
                by=["country", "device"],
                confidence=0.99,
                on_inconclusive="fail",
            ),
            rs.Budget("nDCG@10", max_loss=0.3, quantile=0.9),
            rs.Budget("RR", minimum=0.4, by="country"),
        ],
        "qrels": str(tmp_path / "data" / "qrels.txt"),
        "baseline": str(tmp_path / "old.run"),
        "candidate": "/tmp/new.run",  # noqa: S108 - only a name
        "attributes": str(tmp_path / "queries.csv"),
        "cluster": "user_id",
        "policy": "ties=average",
        "convention": "lightgbm",
        "confidence": 0.9,
        "interval_method": "dense",
        "on_inconclusive": "pass",
    }
    only = {"budgets": [rs.Budget("AP", max_drop=0.01)]}
    assert read_gate_file(write(tmp_path, BUDGET)) == only


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
        (BUDGET + "by = []", "[[budget]] 1: expected text for by, found []", "quotes"),
        (BUDGET + "by = [1]", "[[budget]] 1: expected text for by, found [1]", "quotes"),
        (BUDGET + "quantile = 0.9", "quantile has no effect", "remove"),
        (BUDGET + "confidence = 95", "[[budget]] 1: expected a confidence", "0.95"),
        ("confidence = true\n" + BUDGET, "expected a confidence", "0.95"),
        ("on-inconclusive = 'past'\n" + BUDGET, "unknown value 'past'", "'pass'"),
        ("scores = 'a,b'\n" + BUDGET, "two columns of scores, found 'a,b'", '["old", "new"]'),
        ("scores = ['a', 1]\n" + BUDGET, "two columns of scores", '["old", "new"]'),
        ("interval-method = 'dens'\n" + BUDGET, "found 'dens'", "did you mean dense?"),
        ("interval-method = 'percentile'\n" + BUDGET, "found 'percentile'", "auto is the default"),
        ("qrels = 1\n" + BUDGET, "expected text for qrels, found 1", "quotes"),
        ("qrels = ''\n" + BUDGET, "expected text for qrels, found ''", "quotes"),
        ("policy = 'ties=coin'\n" + BUDGET, "coin", "doc_id"),
        ("qrels = \n" + BUDGET, "invalid TOML: Invalid value", "quotes"),
        ("a = " + "[" * 3000, "invalid TOML", ""),
    ],
)
def test_errors_name_the_file_and_the_key(tmp_path, text, message, hint):
    path = write(tmp_path, text)
    with pytest.raises(rs.errors.FormatError) as caught:
        read_gate_file(path)
    assert caught.value.file == str(path)
    assert caught.value.exit_status == 3
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_what_is_no_toml_is_refused(tmp_path):
    path = write(tmp_path, BUDGET + "by = x\n")
    with pytest.raises(rs.errors.FormatError) as caught:
        read_gate_file(path)
    assert (caught.value.line, caught.value.column) == (4, 6)
    assert "at line" not in caught.value.message
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(rs.errors.FormatError, match="expected UTF-8"):
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
        "baseline_mean": 0.5,
        "candidate_mean": 0.49,
        "value": (lower + upper) / 2,
        "lower": lower,
        "upper": upper,
        "level": 0.95,
        "interval_method": "t",
        "threshold": -0.005,
        "verdict": verdict,
        "passed": verdict in {"holds", "unchanged"},
    }
    if verdict == "inconclusive":
        needed = (5678, 4999, 12_001)
        names = ("queries_needed", "queries_needed_lower", "queries_needed_upper")
        fields |= dict(zip(names, needed, strict=True))
    return Check(**fields | changes)


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
    decide = "Needed to decide: 13,000 queries if the candidate is as good, more if worse."
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
    root = ET.fromstring(result.junit())  # noqa: S314 - our own
    assert [child.tag for child in root[0][0]] == ["skipped"]
    assert (root[0].get("errors"), root[0].get("skipped")) == ("0", "1")


def test_markdown_has_the_verdict_a_table_and_reasons():
    lines = THREE.markdown().splitlines()
    assert lines[0] == "### ❌ Gate failed: 1 of 3 checks is broken, 1 is inconclusive"
    assert lines[2] == "`new.run` against `old.run`"
    rows = [line for line in lines if line.startswith("|")]
    cells = "`nDCG@10: max drop 0.005` | 1,234 | -0.0200 | -0.0300 to -0.0100"
    assert rows[2] == f"| ❌ broken | {cells} |"
    assert len(rows) == 5
    assert [line[2:] for line in lines if line.startswith("- ")] == [
        each.replace("nDCG@10: max drop 0.005:", "`nDCG@10: max drop 0.005`:")
        for each in THREE.small_print
    ]
    assert THREE._repr_markdown_() == THREE.markdown()


def test_a_slice_has_a_column_of_its_own():
    result = make_result(make_check("holds"), make_check("broken", "de"))
    assert str(result).splitlines()[3].split()[:3] == ["verdict", "budget", "slice"]
    assert max(map(len, str(result).splitlines())) <= 80
    assert "`nDCG@10: max drop 0.005` | `de` | 1,234" in result.markdown()
    assert "- `nDCG@10: max drop 0.005` in `country = de`: The difference" in result.markdown()
    other = make_check("holds", "web", by="device")
    assert "| `country = de` |" in make_result(*result, other).markdown()


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
        assert "Checks that are not listed: 30 broken, 1 holds." in text
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
    keys = "verdict passed baseline candidate checks on_inconclusive cluster weighted policy"
    assert " ".join(document) == f"{keys} diagnostics"
    first, second = document["checks"]
    assert " ".join(first) == (
        "measure kind limit relative quantile by slice n clusters baseline_mean candidate_mean "
        "value lower upper level corrected_for interval_method threshold verdict passed "
        "queries_needed queries_needed_lower queries_needed_upper note message"
    )
    assert (first["kind"], first["quantile"], first["by"]) == ("max-drop", None, "country")
    assert (second["kind"], second["quantile"], second["upper"]) == ("max-loss", 0.95, None)


CATALOGUE = [f"d{number}" for number in range(100)]
QUERIES = [f"q{number}" for number in range(40)]
QRELS = {query: {f"d{number}": 1} for number, query in enumerate(QUERIES)}
WHY = "no values of queries to resample"


def make_lists(items):
    """Return one recommendation for each query, with so many different ones in all."""
    return {query: {f"d{number % items}": 1.0} for number, query in enumerate(QUERIES)}


def gate(old, new, *budgets, **settings):
    return rs.gate(
        QRELS, make_lists(old), make_lists(new), budgets, catalogue=CATALOGUE, **settings
    )


@pytest.mark.parametrize(
    "case",
    [
        # 32 of 100 items, and 30: as doubles, 0.32 − 0.3 is above 0.02.
        ("Coverage@1", 32, 0.02, 29, "broken", -0.03, -0.02),
        ("Coverage@1", 32, 0.02, 30, "holds", -0.02, -0.02),
        ("Coverage@1", 32, 0.02, 32, "holds", 0, -0.02),
        ("Coverage@1", 32, 0.02, 40, "holds", 0.08, -0.02),
        ("Coverage@1", 40, "25%", 30, "holds", -0.1, -0.1),
        ("Coverage@1", 40, "25%", 29, "broken", -0.11, -0.1),
        # Lower is better. Of 40 recommendations of m items equally often, it is 1 − m / 100.
        ("Gini@1", 20, 0.05, 40, "holds", -0.2, 0.05),
        ("Gini@1", 20, 0.05, 20, "holds", 0, 0.05),
        ("Gini@1", 20, 0.05, 10, "broken", 0.1, 0.05),
    ],
)
def test_a_value_may_be_worse_by_the_tolerance_and_no_more(case):
    measure, old, tolerance, new, verdict, value, threshold = case
    assert 0.32 - 0.3 > 0.02
    [check] = gate(old, new, rs.Budget(measure, tolerance=tolerance))
    assert (check.verdict, check.passed, check.n) == (verdict, verdict == "holds", 40)
    assert check.candidate_mean - check.baseline_mean == check.value
    assert (check.value, check.threshold) == (pytest.approx(value, abs=1e-12), threshold)
    side = ("above" if measure == "Gini@1" else "below") if verdict == "broken" else "not "
    share = " (25% of 0.4000)." if tolerance == "25%" else "."
    assert f"), {side}" in check.message
    assert f"the limit of {threshold:+.4f}{share}" in check.message
    assert all(map(math.isnan, (check.lower, check.upper, check.level)))
    assert (check.interval_method, check.name) == (
        "",
        f"{measure}: tolerance {tolerance}",
    )


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
    assert "is nan (from nan to nan), without an interval" in result.checks[0].message
    passing = rs.Budget("Personalization@1", tolerance=0.1, on_inconclusive="pass")
    assert rs.gate({"q0": {"d0": 1}}, one, one, passing).passed


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
        assert "| 40 | " in markdown
        assert " | none |" in markdown
        [case] = ET.fromstring(result.junit()).iter("testcase")  # noqa: S314 - our own
        assert WHY in "".join(case.itertext())
        [check] = result.to_dict()["checks"]
        assert check["kind"] == "tolerance"
        assert WHY in check["note"]
    assert "The difference is -0.3000 (from 0.4000 to 0.1000), below the limit of -0.0200." in text


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


def test_a_table_with_the_scores_of_both_is_gated_as_in_python(tmp_path):
    draw = random.Random(3)
    grades = [draw.choice([0, 0, 1, 2]) for _ in range(480)]
    table = pd.DataFrame({"query_id": [f"q{at // 6}" for at in range(480)], "relevance": grades})
    table["doc_id"] = [f"d{at % 6}" for at in range(480)]
    for name, noise in (("old", 1), ("new", 0.9)):
        table[name] = [grade + draw.gauss(0, noise) for grade in grades]
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
    long = table.melt(["query_id", "doc_id", "relevance", "country"], var_name="model")
    long.rename(columns={"value": "score"}).to_csv(tmp_path / "long.csv", index=False)
    by_run = run("gate", tmp_path / "long.csv", "--runs", "model", *options[2:])
    assert by_run.stdout == alone.stdout
    refused = run("gate", tmp_path / "log.csv", "--max-drop", "nDCG@5=0.1")
    assert refused.returncode == 2
    assert b"--scores old,new" in refused.stderr

"""Measures of all lists together: two values, a declared tolerance, and no interval."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
import rankscope as rs

from tests.cli.command import run, write_files
from tests.refusals import refused
from tests.trec import write_qrels, write_run

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

CATALOGUE = [f"d{number}" for number in range(100)]
QUERIES = [f"q{number}" for number in range(40)]
QRELS = {query: {f"d{number}": 1} for number, query in enumerate(QUERIES)}
WHY = "no values of queries to resample"


def make_lists(items: int) -> dict[str, dict[str, float]]:
    """Return one recommendation for each query, with so many different ones in all."""
    return {query: {f"d{number % items}": 1.0} for number, query in enumerate(QUERIES)}


def gate(old: int, new: int, *budgets: rs.Budget, **settings: Any) -> rs.GateResult:  # noqa: ANN401
    return rs.gate(
        QRELS, make_lists(old), make_lists(new), budgets, catalogue=CATALOGUE, **settings
    )


@pytest.mark.parametrize(
    ("new", "verdict"), [(29, "broken"), (30, "holds"), (32, "holds"), (40, "holds")]
)
def test_coverage_may_drop_by_the_tolerance_and_no_more(new: int, verdict: str) -> None:
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
def test_a_lower_gini_is_better(new: int, verdict: str) -> None:
    # Of 40 recommendations of m items equally often, Gini is 1 − m / 100.
    [check] = gate(20, new, rs.Budget("Gini@1", tolerance=0.05))
    assert check.value == pytest.approx((20 - new) / 100, abs=1e-12)
    assert check.threshold == 0.05
    assert check.verdict == verdict
    assert "at most 0.05 higher" in check.message


@pytest.mark.parametrize(("new", "verdict"), [(30, "holds"), (29, "broken")])
def test_a_tolerance_can_be_a_share_of_the_baselines_value(new: int, verdict: str) -> None:
    [check] = gate(40, new, rs.Budget("Coverage@1", tolerance="25%"))
    assert check.verdict == verdict
    assert check.threshold == -0.1
    assert check.name == "Coverage@1: tolerance 25%"
    assert "at most 25% of 0.4000 lower" in check.message


def test_budgets_of_queries_beside_it_are_as_without_it() -> None:
    drop = rs.Budget("nDCG@1", max_drop=0.3)
    both = gate(40, 30, rs.Budget("Coverage@1", tolerance=0.1), drop)
    assert both.checks[1] == gate(40, 30, drop).checks[0]
    assert both.checks[0].verdict == "holds"


def test_a_value_that_is_undefined_is_inconclusive() -> None:
    # Personalization compares the lists of two users.
    one = {"q0": {"d0": 1.0}}
    budget = rs.Budget("Personalization@1", tolerance=0.1)
    result = rs.gate({"q0": {"d0": 1}}, one, one, budget)
    assert (result.verdict, result.passed) == ("inconclusive", False)
    assert "no difference to compare" in result.checks[0].message
    passing = rs.Budget("Personalization@1", tolerance=0.1, on_inconclusive="pass")
    assert rs.gate({"q0": {"d0": 1}}, one, one, passing).passed


def test_a_mapping_can_hold_budgets() -> None:
    budgets = {"nDCG@1": 0.9, "Coverage@1": rs.Budget("Coverage@1", tolerance=0.1)}
    result = rs.gate(QRELS, make_lists(40), make_lists(35), budgets, catalogue=CATALOGUE)
    assert [check.budget.kind for check in result] == ["max-drop", "tolerance"]
    assert [check.verdict for check in result] == ["holds", "holds"]


def test_slices_of_the_gate_leave_it_alone() -> None:
    attributes = {"query_id": QUERIES, "country": ["de", "fr"] * 20}
    result = gate(
        40, 40, rs.Budget("Coverage@1", tolerance=0.1), by="country", attributes=attributes
    )
    assert [check.slice for check in result] == [None]


def test_every_summary_says_that_there_is_no_interval_and_why() -> None:
    for new in (40, 10):
        result = gate(40, new, rs.Budget("Coverage@1", tolerance=0.02))
        text, markdown = " ".join(result.small_print), result.markdown()
        assert "Coverage@1: tolerance 0.02" in str(result)
        assert text.count(WHY) == markdown.count(WHY) == 1
        assert "Two-sided intervals" not in text + markdown
        assert "| none | 40 |" in markdown
        [case] = ET.fromstring(result.junit()).iter("testcase")  # noqa: S314 - our own
        assert WHY in "".join(case.itertext())
        [check] = result.to_dict()["checks"]  # type: ignore[misc]  # a list
        assert check["kind"] == "tolerance"
        assert WHY in check["note"]
    assert "The value is 0.1000 against 0.4000, a difference of -0.3000, which is beyond" in text


def test_a_gate_file_and_the_command_line_have_tolerances(tmp_path: Path) -> None:
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
    assert [(check["kind"], check["verdict"]) for check in found] == [
        ("tolerance", "broken"),
        ("tolerance", "holds"),
    ]
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
def test_a_limit_that_a_measure_cannot_have_is_refused(
    budget: rs.Budget, code: str, text: str
) -> None:
    refused(lambda: gate(40, 40, budget), code, text)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: rs.Budget("Coverage@1", tolerance=-0.1), "tolerance to be a number of 0 or more"),
        (lambda: rs.Budget("Coverage@1", tolerance=math.nan), "a number of 0 or more"),
        (lambda: rs.Budget("Coverage@1", tolerance=0.1, max_drop=0.1), "exactly one limit"),
        (lambda: rs.Budget("Coverage@1", tolerance=0.1, by="country"), "no slices"),
        (lambda: rs.Budget("Coverage@1", tolerance=0.1, confidence=0.9), "no confidence"),
        (
            lambda: gate(40, 40, *[{"AP": rs.Budget("Coverage@1", tolerance=0.1)}]),
            "expected budgets",
        ),
        (
            lambda: rs.gate(QRELS, {}, {}, {"AP": rs.Budget("Coverage@1", tolerance=0.1)}),
            "expected a budget of AP, found one of Coverage@1",
        ),
    ],
)
def test_a_tolerance_that_says_nothing_is_refused(make: Any, text: str) -> None:  # noqa: ANN401
    refused(make, "bad_budget", text)


def test_a_comparison_has_no_value_of_all_lists() -> None:
    compared = rs.compare(QRELS, {"old": make_lists(40), "new": make_lists(30)}, "nDCG@1")
    budget = rs.Budget("Coverage@1", tolerance=0.1)
    text = "the value of all lists that"
    refused(lambda: rs.gate(compared, budgets=budget), "bad_parameter", text)

"""Under the convention of a library our numbers are those that the library itself gave."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
import rankscope as rs
from rankscope._conventions import find
from rankscope.errors import FormatError

from dev.parity import cases as generator
from dev.parity.answers import collect
from dev.parity.cases import generate
from dev.parity.fused import make_runs
from tests.parity import peers
from tests.parity.bugs import KNOWN_BUGS
from tests.parity.comparison import (
    by_query,
    compare,
    compare_chance,
    evaluate,
    is_close,
    is_touched,
)
from tests.parity.golden import Case, read_answers, read_cases, read_golden
from tests.parity.shared import SHARED

CASES = read_cases()
GOLDEN = read_golden()


def test_the_cases_are_those_of_the_generator():
    assert generator.render(generator.generate()) == generator.PATH.read_text(encoding="utf-8")


@pytest.mark.parametrize("said", GOLDEN)
def test_the_version_that_was_run_is_that_of_the_row(said):
    assert find(GOLDEN[said].convention).version == GOLDEN[said].version


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (said, name)
        for said, golden in GOLDEN.items()
        for name in sorted(golden.cases.keys() - generator.UNUSUAL_GRADES)
    ],
)
def test_values_are_those_of_the_library(said, name):
    compare(GOLDEN[said], name, CASES[name])


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (said, name)
        for said, golden in GOLDEN.items()
        for name in golden.cases
        if golden.arbitrary_above and name in {"tied", "binary_tied", "matrix", "tiny"}
    ],
)
def test_an_order_of_ties_that_is_left_to_chance_is_between_the_worst_and_the_best(said, name):
    compare_chance(GOLDEN[said], name, CASES[name])


@pytest.mark.parametrize("name", generator.UNUSUAL_GRADES)
@pytest.mark.parametrize("said", GOLDEN)
def test_a_grade_is_refused_where_the_library_refuses_it(said, name):
    golden, case = GOLDEN[said], CASES[name]
    ordinary = {
        (refusal.error, refusal.message)
        for refusal in golden.refusals
        if refusal.case not in generator.UNUSUAL_GRADES
    }
    refused = {
        measure
        for refusal in golden.refusals
        if refusal.case == name and (refusal.error, refusal.message) not in ordinary
        for measure in refusal.measures
    }
    answered = golden.cases.get(name, {}).keys()
    assert refused or answered
    for measure in refused - answered:
        with pytest.raises(FormatError) as caught:
            evaluate(golden, name, case, measure)
        assert caught.value.code == "convention_grades"
        assert "rejects" in str(caught.value)


@pytest.mark.parametrize("name", generator.UNUSUAL_GRADES)
@pytest.mark.parametrize("said", GOLDEN)
def test_a_grade_that_the_library_takes_has_its_value(said, name):
    golden, case = GOLDEN[said], CASES[name]
    for measure, answer in golden.cases.get(name, {}).items():
        if said_to_be_other(golden, name, measure):
            continue
        ours = evaluate(golden, name, case, measure)
        for query, theirs in by_query(case, answer).items():
            if theirs is not None and not is_touched(said, measure, case, query):
                assert is_close(golden, ours[query], theirs), (measure, ours, theirs)


def said_to_be_other(golden, name, measure):
    """Whether the row says that the library makes of the grade what we do not."""
    try:
        evaluate(golden, name, CASES[name], measure)
    except FormatError as error:
        # A row has one limit, although a library may refuse a grade for some measures only.
        refuses = any(refusal.case == name for refusal in golden.refusals)
        return error.code == "convention_grades" and (refuses or "rejects" not in str(error))
    return False


@pytest.mark.parametrize(("said", "bug"), [(said, bug) for bug in KNOWN_BUGS for said in bug.said])
def test_a_bug_that_is_not_repeated_shows_in_the_numbers_of_the_library(said, bug):
    golden = GOLDEN[said]
    assert bug.name in find(golden.convention).bugs
    shown = [
        (name, measure, query)
        for name in sorted(golden.cases.keys() - generator.UNUSUAL_GRADES)
        for measure, answer in golden.cases[name].items()
        for query, theirs in by_query(CASES[name], answer).items()
        if theirs is not None
        and bug.changes(measure, CASES[name], query)
        and not is_close(golden, evaluate(golden, name, CASES[name], measure)[query], theirs)
    ]
    assert shown


MODULES = {
    "catboost": "catboost",
    "ir_measures": "ir_measures",
    "lightgbm": "lightgbm",
    "rankkit": "rankkit",
    "scikit_learn": "sklearn",
    "tie_aware": "trm",
    "xgboost": "xgboost",
}
"""The peers that take little to install and to ask, and what they are imported as."""

OTHER_CASES = pytest.param(
    1, marks=pytest.mark.thorough(reason="the peers, not rankscope, take most of the time")
)
LIVE_CASES = {"binary_tied", "matrix", "split"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, OTHER_CASES])
@pytest.mark.parametrize("peer", MODULES)
def test_values_are_those_of_the_library_beside_us(peer, seed, tmp_path, monkeypatch):
    if find_spec(MODULES[peer]) is None:
        pytest.skip(f"{MODULES[peer]} is not installed")
    monkeypatch.chdir(tmp_path)  # some write logs where they run
    cases = [case for case in generate(seed) if case.name in LIVE_CASES]
    compared = []
    for fields in collect(import_module(f"dev.parity.peers.{peer}.measure").measure, cases):
        golden = read_answers({"verified": "now", **fields})
        for case in cases:
            if case.name in golden.cases:
                ours = Case(case.about, case.complete, case.qrels, case.run)
                compare(golden, case.name, ours)
                compare_chance(golden, case.name, ours)
                compared.append(case.name)
    assert compared, f"{peer} answered no case"


DEPTH = 1619
"""At rank 1,620 the logarithm of 1,621 is taken, where glibc is one bit off the nearest number."""


@pytest.mark.parametrize("scale", [(0, 1), (1, 2, 3), (-1, 0, 0, 0, 4)], ids=str)
def test_every_rank_is_discounted_as_by_pytrec_eval(scale):
    random = Random(len(scale))
    documents = [f"d{number}" for number in range(DEPTH)]
    qrels = {"q": {document: random.choice(scale) for document in documents}}
    run = {"q": {document: random.random() for document in documents}}
    theirs = peers.of_pytrec_eval(qrels, run, [one.pytrec_eval for one in SHARED])
    ours = peers.of_rankscope(qrels, run, [one.measure for one in SHARED])
    for one in SHARED:
        assert ours[one.measure.name] == theirs[one.pytrec_eval], one.measure


FOLDER = Path(__file__).parent / "golden" / "fused"


def load(peer):
    """Return what a tool says, by method and scale."""
    text = FOLDER.joinpath(f"{peer}.json").read_text(encoding="utf-8")
    return json.loads(text)["cases"]


RANX, TRECTOOLS = load("ranx"), load("trectools")
WEIGHTS = {"weights": [0.5, 0.3, 0.2]}
SETTINGS = {
    "logn_isr": {"sigma": 0.01},
    "w_bordafuse": WEIGHTS,
    "wsum": WEIGHTS,
}
OTHERS = {"wmnz min-max"}
"""With another definition: the sum of the scores, times the sum of the weights."""


@pytest.mark.parametrize("case", sorted(RANX.keys() - OTHERS))
def test_scores_are_those_of_ranx(case):
    method, scale = case.split()
    settings = SETTINGS.get(method, {})
    if scale != "none":
        settings = settings | {"normalize": scale.replace("-", "_")}
    check(rs.fuse(make_runs(), method, **settings), RANX[case])


@pytest.mark.parametrize("case", sorted(TRECTOOLS))
def test_scores_are_those_of_trectools(case):
    method, _ = case.split()
    runs = make_runs()
    settings = {}
    if "_" not in method:
        # It adds scores as they are, of the first two runs.
        settings, runs = {"normalize": "none"}, dict([*runs.items()][:2])
    check(rs.fuse(runs, method, **settings), TRECTOOLS[case])


def check(fused, expected):
    found = fused.to_dict()
    assert found.keys() == expected.keys()
    for query, scores in expected.items():
        # Other tools add in another order.
        assert found[query] == pytest.approx(scores, rel=1e-12, abs=1e-12)

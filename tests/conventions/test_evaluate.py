"""A convention evaluates as its library does."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections import Counter
from importlib.resources import files
from math import log2
from pathlib import Path

import pytest
import rankscope as rs
from rankscope import AP, DCG, ERR, RR, P, R, Rankings, RankscopeError, nDCG
from rankscope.cli import main
from rankscope.conventions import TABLE, find
from rankscope.errors import UsageError
from rankscope.measures import TABLE as MEASURES
from rankscope.measures import Measure
from rankscope.measures.table import measure as named
from rankscope.settings.policy import FIELDS, Policy

from tests.conventions.test_reconcile import command
from tests.interpreter import run_python
from tests.parity.cases import make
from tests.parity.peers import of_pytrec_eval
from tests.refusals import refuses
from tests.tabular import write_table
from tests.trec import write_qrels, write_run

QRELS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}, "q2": {"x": 0, "y": 0}, "q3": {"m": 1}}
RUN = {"q1": {"c": 3.0, "d": 2.0, "a": 1.0, "e": 0.2}, "q2": {"x": 2.0, "y": 1.0}}
EXP2_AT_3 = (1 + 7 / log2(4)) / (7 + 1 / log2(3))
"""nDCG@3 of q1 with exponential gains, over the ideal of what was retrieved."""


def test_the_numbers_are_those_of_the_library():
    evaluation = rs.evaluate(QRELS, RUN, nDCG @ 3, convention="lightgbm")
    assert evaluation.per_query_list("nDCG@3")[:2] == [EXP2_AT_3, 1.0]
    assert evaluation["nDCG@3"] == (EXP2_AT_3 + 1) / 2
    assert evaluation.denominators == {"nDCG(gain='exp2', ideal='retrieved')@3": 2}


def test_a_measure_is_found_by_both_its_names():
    evaluation = rs.evaluate(QRELS, RUN, ["ndcg_cut_3"], convention="lightgbm")
    assert [*evaluation] == ["nDCG(gain='exp2', ideal='retrieved')@3"]
    values = [evaluation[name] for name in (nDCG @ 3, "nDCG@3", "ndcg_cut_3", *evaluation)]
    assert len(set(values)) == 1
    assert nDCG @ 3 in evaluation
    assert nDCG @ 4 not in evaluation


RELEVANT = (75, 69, 16, 47, 77, 60, 80, 74)
"""Retrieved relevant documents by query, with a mean P@1000 of 0.06225."""


def add_up(values):
    """Return the sum that is rounded after each value."""
    total = 0.0
    for value in values:
        total += value
    return total


@pytest.mark.parametrize("convention", ["trec_eval", "trec_eval@10.0"])
def test_means_of_trec_eval_have_its_last_digit(convention, tmp_path, capsys):
    qrels = {f"q{at}": {f"d{doc}": 1 for doc in range(n)} for at, n in enumerate(RELEVANT)}
    run = {query: {doc: 9.0 - int(doc[1:]) for doc in docs} for query, docs in qrels.items()}
    mean = add_up(count / 1000 for count in RELEVANT) / 8
    assert (f"{mean:.4f}", f"{math.fsum(RELEVANT) / 8000:.4f}") == ("0.0623", "0.0622")
    # trec_eval adds up by the order of IDs, whatever the order in the files.
    reverse = dict(reversed(qrels.items()))
    for judged in (qrels, reverse):
        found = rs.evaluate(judged, run, P @ 1000, convention=convention, interval=0.95)
        assert found[P @ 1000] == mean
        rankings = Rankings.from_run(judged, run)
        assert rankings.evaluate(P @ 1000, convention="trec_eval@10.0")[P @ 1000] == mean
    assert rs.evaluate(reverse, run, P @ 1000)[P @ 1000] == math.fsum(RELEVANT) / 8000
    files = write_qrels(tmp_path / "qrels", reverse), write_run(tmp_path / "run", run)
    assert main(["eval", *files, "-m", "P@1000", "--convention", convention]) == 0
    assert main(["trec_eval", "-m", "P.1000", *files]) == 0
    ours, theirs = capsys.readouterr().out.splitlines()
    assert (ours.split()[-1], theirs.split()[-1]) == ("0.0623", "0.0623")


def test_sums_are_rounded_for_means_only_and_of_queries_with_a_value():
    qrels = {f"q{at}": {"a": 1, "b": at % 2} for at in range(7)}
    run = {query: {"x": 2.0, "b": 1.0, "a": 0.0} for query in [*qrels][:-1]}
    asked = [AP, "NumRelRet", "GMAP"]
    found = rs.evaluate(qrels, run, asked, convention="trec_eval")
    exact = rs.evaluate(qrels, run, asked, policy="missing=skip")
    values = found.per_query_list(AP)[:-1]
    assert found[AP] == add_up(values) / 6 != exact[AP] == math.fsum(values) / 6
    assert [found[name] for name in asked[1:]] == [exact[name] for name in asked[1:]]
    whole = rs.evaluate(qrels, run, AP, convention="trec_eval", policy="missing=zero")
    assert whole[AP] == add_up(values) / 7
    weights = dict.fromkeys(qrels, 1.0) | {"q0": 2.0}
    weighted = rs.evaluate(qrels, run, AP, convention="trec_eval", weights=weights)[AP]
    assert weighted == pytest.approx((math.fsum(values) + values[0]) / 7)


def test_measures_that_become_one_are_evaluated_once():
    asked = [nDCG @ 3, nDCG(gain="exp2") @ 3]
    evaluation = rs.evaluate(QRELS, RUN, asked, convention="lightgbm")
    assert len(evaluation) == 1
    assert evaluation[asked[0]] == evaluation[asked[1]]


def test_the_result_says_under_which_convention_it_is():
    evaluation = rs.evaluate(QRELS, RUN, nDCG @ 3, convention="lightgbm")
    assert evaluation.convention is not None
    assert evaluation.convention.name == "lightgbm"
    line = f"convention: {evaluation.convention.address} ({evaluation.convention.verified})"
    assert line in str(evaluation).splitlines()
    assert line in evaluation._repr_html_()


def test_without_a_convention_nothing_is_said_of_one():
    evaluation = rs.evaluate(QRELS, RUN, nDCG @ 3)
    assert evaluation.convention is None
    assert "convention" not in str(evaluation)


@pytest.mark.parametrize(
    ("convention", "measures", "policy", "code"),
    [
        ("lightgbm", RR, None, "convention_measure"),
        ("ranx", rs.parse("Bpref"), None, "convention_measure"),
        ("gdeval", nDCG, None, "convention_measure"),
        ("trec_eval", RR @ 10, None, "convention_measure"),
        ("trec_eval", nDCG(gain="exp2") @ 3, None, "convention_conflict"),
        ("lightgbm", nDCG(ideal="judged", discount="reciprocal") @ 3, None, "convention_conflict"),
        ("lightgbm", nDCG @ 3, "empty=zero", "convention_conflict"),
        ("trec_eval", nDCG @ 3, "missing=error", "convention_conflict"),
        ("trec_eval@10.0", nDCG @ 3, None, "missing_query"),
        ("sklearn", nDCG @ 3, rs.Policy(), "convention_conflict"),
        ("torchmetrics", [nDCG @ 3, P @ 3], None, "convention_conflict"),
        ("lightgmb", nDCG @ 3, None, "unknown_convention"),
        ("sklearn", nDCG @ 3, 7, "bad_policy"),
        ("sklearn", nDCG @ 3, "ties=fair", "bad_policy"),
    ],
)
def test_what_a_convention_rules_out_is_refused(convention, measures, policy, code):
    with refuses(RankscopeError, code) as caught:
        rs.evaluate(QRELS, RUN, measures, convention=convention, policy=policy)
    assert caught.value.hint


def test_a_score_type_that_contradicts_is_refused():
    with refuses(rs.PolicyError, "convention_conflict"):
        rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval", score_type="float64")


def test_what_the_library_lets_its_user_choose_may_be_chosen():
    values = {
        policy: rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval", policy=policy)["nDCG@3"]
        for policy in ("missing=skip", "missing=zero")
    }
    assert values["missing=zero"] == values["missing=skip"] * 2 / 3
    table = nDCG(gain=[0, 1, 2, 3]) @ 3
    linear = rs.evaluate(QRELS, RUN, table, convention="lightgbm")
    assert linear.per_query_list(table)[0] == (1 + 3 / log2(4)) / (3 + 1 / log2(3))


def test_measures_of_one_library_may_follow_different_policies():
    alone = rs.evaluate(QRELS, RUN, DCG @ 3, convention="sklearn")
    assert alone.policy.negative == "gain"
    assert rs.evaluate(QRELS, RUN, nDCG @ 3, convention="sklearn").policy.negative == "error"


@pytest.mark.parametrize(
    ("convention", "grade", "says"),
    [
        ("lightgbm", 31, "LightGBM rejects grades that are not integers from 0 to 30"),
        ("lightgbm", 0.5, "LightGBM rejects grades that are not integers from 0 to 30"),
        ("sklearn", -1, "scikit-learn rejects negative grades in ndcg_score"),
        ("pytrec_eval", 0.5, "rejects grades that are not integers, with a TypeError"),
    ],
)
def test_grades_that_the_library_refuses_are_refused(convention, grade, says):
    with refuses(rs.FormatError, "convention_grades", match=says):
        rs.evaluate({"q": {"a": grade, "b": 1}}, {"q": {"a": 1.0}}, nDCG, convention=convention)


@pytest.mark.parametrize(
    ("convention", "gain_of_2"), [("trec_eval", 2.0), ("ranx", 2.0), ("ranx_burges", 3.0)]
)
def test_fractions_are_dropped_where_the_library_drops_them(convention, gain_of_2):
    evaluation = rs.evaluate(
        {"q": {"a": 2.9, "b": 0.9, "c": 1.5}},
        {"q": {"b": 3.0, "c": 2.0, "a": 1.0}},
        nDCG @ 3,
        convention=convention,
    )
    ideal = gain_of_2 + 1 / log2(3)
    assert evaluation["nDCG@3"] == (1 / log2(3) + gain_of_2 / log2(4)) / ideal


def test_integers_keep_the_plain_name_of_the_measure():
    assert [*rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval")] == ["nDCG@3"]


def test_rankings_without_ties_serve_every_convention():
    rankings = Rankings.from_lists([[1, 0, 3, 0]])
    for name in ("sklearn", "lightgbm", "catboost", "trec_eval"):
        evaluation = rankings.evaluate(nDCG(), convention=name)
        assert evaluation.policy.ties == rs.evaluate(QRELS, RUN, nDCG, convention=name).policy.ties


def test_rankings_with_ties_serve_conventions_with_their_ties_only():
    matrices = [[1, 0, 3], [0, 1, 0]], [[0.5, 0.5, 0.1], [3, 2, 1]]
    averaged = Rankings.from_arrays(*matrices).evaluate(nDCG, convention="sklearn")
    assert averaged.policy.ties == "average"
    with refuses(rs.PolicyError, "ties_fixed") as caught:
        Rankings.from_arrays(*matrices).evaluate(nDCG, convention="lightgbm")
    assert caught.value.hint == "make the Rankings with ties='input'"
    ordered = Rankings.from_arrays(*matrices, ties="input").evaluate(nDCG, convention="lightgbm")
    assert ordered.per_query_list(nDCG)[0] == (1 + 7 / log2(4)) / (7 + 1 / log2(3))


def test_equal_scores_of_two_queries_are_no_tie():
    rankings = Rankings.from_groups([1, 0, 1], [2.0, 1.0, 1.0], [2, 1])
    assert rankings.evaluate(nDCG, convention="lightgbm")["nDCG"] == 1.0


def test_rankings_whose_scores_only_double_precision_tells_apart_are_refused():
    rankings = Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.00000001, "b": 1.0}})
    with refuses(rs.PolicyError, "score_type_fixed"):
        rankings.evaluate(nDCG, convention="trec_eval")
    assert rankings.evaluate(nDCG, convention="trec_eval@10.0")["nDCG"] == 1.0


def test_rankings_whose_queries_are_missing_or_empty_are_read_right():
    rankings = Rankings.from_run(
        {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}, {"q2": {"b": 1.0}, "q1": {"x": 1.0}}
    )
    evaluation = rankings.evaluate(AP, convention="ranx", policy="missing=zero")
    assert evaluation.per_query_list(AP) == [0.0, 1.0, 0.0]


def test_the_rows_load_only_where_a_convention_is_asked_for():
    program = (
        "import sys, rankscope as rs; rs.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, 'RR'); "
        "print(any(name.startswith('rankscope.conventions') for name in sys.modules))"
    )
    assert run_python(program) == "False\n"


@pytest.mark.parametrize(
    ("convention", "measure"),
    [
        ("lightgbm", AP @ 2),
        ("lightgbm", nDCG @ 2),
        ("catboost", R @ 2),
        ("catboost", DCG @ 2),
        ("torchmetrics", R @ 2),
        ("xgboost_minus", AP),
    ],
)
def test_documents_that_were_not_retrieved_are_unknown_to_libraries_of_lists(convention, measure):
    known = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"d": 0}}
    run = {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"d": 1.0}}
    more = {"q1": {**known["q1"], "unseen": 1}, "q2": {**known["q2"], "unseen": 1}}
    values = [
        rs.evaluate(qrels, run, measure, convention=convention).per_query_list(measure)
        for qrels in (known, more)
    ]
    assert values[0] == values[1]


GOLDEN = Path(__file__).resolve().parents[1] / "parity" / "golden"
RUN_HERE = {"trec_eval@9.0.8", "pytrec_eval@0.5.11", "ir_measures@0.4.3", "gdeval@1.2a"}
"""Those whose library the tests run beside ours, in place of keeping what it said."""

rows = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.address)


def golden_files():
    """What libraries said, by convention."""
    files = (json.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.glob("*.json"))
    return {said["convention"]: said for said in files if "convention" in said}


def test_addresses_differ():
    assert {
        address: n for address, n in Counter(row.address for row in TABLE).items() if n > 1
    } == {}


@rows
def test_a_row_says_what_it_is_and_is_found_by_its_address(row):
    assert find(row.address) is row
    sentences = [row.summary, *row.notes, *(bug.says for bug in row.bugs)]
    assert all(text[0].isupper() and text[-1] == "." for text in sentences)
    assert row.sources
    assert row.forms


@rows
def test_the_forms_the_policy_and_the_options_of_a_row_are_those_of_measures(row):
    assert {"ties", "empty", "missing", "negative"} <= row.policy.keys()
    parameters = set()
    for form in row.forms:
        names = {parameter.name for parameter in MEASURES[form.measure].parameters}
        assert set(form.takes) & set(form.settings) == set()
        assert {*form.settings, *(set(form.takes) - {"k"})} <= names
        assert isinstance(named(form.measure)(**form.settings), Measure)
        Policy(**{**row.policy, **form.policy})
        parameters |= names
    for option in row.options:
        assert option.field in {*FIELDS, *parameters}
        if option.field in FIELDS:
            for value in option.values:
                Policy(**{option.field: value})


@rows
def test_a_row_is_verified_where_the_library_was_run(row):
    said = golden_files().get(row.name)
    was_run = row.address in RUN_HERE or (said is not None and said["version"] == row.version)
    assert row.verified == ("run" if was_run else "read from source")


def test_a_bare_name_is_the_newest_version_that_was_run():
    assert find("trec_eval").version == "9.0.8"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lightgmb", "did you mean lightgbm?"),
        ("trec_eval@11", "the known versions are trec_eval@9.0.8 and trec_eval@10.0"),
        (3, "write 'trec_eval' or 'lightgbm@4.7.0'"),
    ],
)
def test_an_unknown_name_is_refused(name, hint):
    with pytest.raises(UsageError) as caught:
        find(name)
    assert caught.value.code == "unknown_convention"
    assert caught.value.hint == hint


LOG = {
    "qid": [1, 1, 1, 1, 2, 2, 3],
    "doc": ["c", "d", "a", "b", "x", "y", "m"],
    "label": [1, 0, 3, 2, 0, 0, 1],
    "score": [2.0, 2.0, 1.0, 0.5, 2.0, 1.0, 1.0],
}
STRICT_QRELS = [
    (str(q), d, g) for q, d, g in zip(LOG["qid"], LOG["doc"], LOG["label"], strict=True)
]
STRICT_RUN = [(str(q), d, s) for q, d, s in zip(LOG["qid"], LOG["doc"], LOG["score"], strict=True)]


def test_a_table_has_the_values_of_its_judgments_and_its_run():
    joined = rs.reconcile(LOG, nDCG @ 3)
    apart = rs.reconcile(STRICT_QRELS, STRICT_RUN, nDCG @ 3)
    for one, other in zip(joined.reckonings, apart.reckonings, strict=True):
        if one.name != "rankscope":  # whose ties are averaged in tables
            assert (one.name, one.value, one.queries) == (other.name, other.value, other.queries)
    assert joined["rankscope"] == rs.evaluate(LOG, nDCG @ 3)["nDCG@3"]


def test_differences_are_explained_as_they_are_apart():
    joined = rs.reconcile(LOG, nDCG @ 3).differ("trec_eval", "lightgbm")
    apart = rs.reconcile(STRICT_QRELS, STRICT_RUN, nDCG @ 3).differ("trec_eval", "lightgbm")
    assert joined.queries == apart.queries
    assert joined.rules == apart.rules


def test_without_ids_no_order_of_ties_goes_by_them():
    log = {name: column for name, column in LOG.items() if name != "doc"}
    found = rs.reconcile(log, nDCG @ 3)
    by_name = {each.name: each for each in found.reckonings}
    assert math.isnan(found["trec_eval"])
    assert "ids" in by_name["trec_eval"].refusal
    assert found["catboost"] == rs.reconcile(LOG, nDCG @ 3)["catboost"]
    difference = found.differ("sklearn", "lightgbm")
    assert [query.query_id for query in difference.queries] == ["2", "1"]
    assert all(not query.documents for query in difference.queries)


def test_scores_that_single_precision_merges_are_said_to_be_merged():
    log = {"qid": [1, 1], "doc": ["a", "b"], "label": [1, 0], "score": [1.00000001, 1.0]}
    found = rs.reconcile(log, nDCG)
    by_name = {each.name: each for each in found.reckonings}
    assert "single precision" in by_name["trec_eval"].refusal
    assert found["trec_eval@10.0"] == 1.0


@pytest.mark.parametrize("convention", ["sklearn", "lightgbm", "catboost", "trec_eval"])
def test_a_table_is_evaluated_under_a_convention(convention, tmp_path):
    expected = rs.evaluate(STRICT_QRELS, STRICT_RUN, [nDCG @ 3], convention=convention)
    for table in (LOG, write_table(LOG, tmp_path / "log.csv")):
        found = rs.evaluate(table, nDCG @ 3, convention=convention)
        assert dict(found) == dict(expected)
        assert found.policy == expected.policy
        assert found.convention == expected.convention


def test_ties_beside_a_convention_must_be_its_own():
    ties = rs.evaluate(LOG, nDCG @ 3, policy="ties=worst", convention="tie_aware").policy.ties
    assert ties == "worst"
    with refuses(rs.PolicyError, "convention_conflict"):
        rs.evaluate(LOG, nDCG @ 3, policy="ties=average", convention="lightgbm")


def test_a_table_of_grades_that_the_library_refuses_is_refused():
    with refuses(rs.FormatError, "convention_grades"):
        rs.evaluate({**LOG, "label": [0.5] * 7}, AP, convention="lightgbm")


def test_readers_of_batches_are_read_once():
    arrow = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    table = arrow.table(LOG)
    reader = arrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert str(rs.reconcile(reader, nDCG @ 3)) == str(rs.reconcile(LOG, nDCG @ 3))


def test_rankings_say_how_they_were_ordered():
    rankings = Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}}, score_type="float32")
    assert (rankings.tie_policy, rankings.score_type) == ("doc_id", "float32")
    assert rankings.grades == [1.0]


def test_the_command_takes_tables(tmp_path):
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


seeds = pytest.mark.parametrize("seed", range(3))
SHARED = {
    "ndcg": "nDCG",
    "ndcg_cut_10": "nDCG@10",
    "map": "AP",
    "map_cut_5": "AP@5",
    "P_5": "P@5",
    "recall_10": "R@10",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "success_1": "Success@1",
    "set_F": "SetF",
    "bpref": "Bpref",
    "infAP": "infAP",
}


def values(evaluation, measure):
    by_query = zip(evaluation.query_ids, evaluation.per_query_list(measure), strict=True)
    return {query: value for query, value in by_query if not math.isnan(value)}


@seeds
def test_values_are_those_of_trec_eval(seed):
    case = make(seed)
    theirs = of_pytrec_eval(case.qrels, case.run, SHARED)
    ours = rs.evaluate(case.qrels, case.run, [*SHARED.values()], convention="trec_eval@9.0.8")
    for name, measure in SHARED.items():
        assert values(ours, measure) == theirs[name]


def run_gdeval(case, folder):
    """By query, nDCG@10 and ERR@10 as the program prints them, with five places."""
    perl = shutil.which("perl")
    if perl is None:
        pytest.skip("Perl is not installed")
    numbers = {query: str(number) for number, query in enumerate({**case.qrels, **case.run})}
    write_qrels(folder / "qrels", {numbers[query]: row for query, row in case.qrels.items()})
    write_run(folder / "run", {numbers[query]: row for query, row in case.run.items()})
    program = str(files("ir_measures") / "bin" / "gdeval.pl")
    done = subprocess.run(
        [perl, program, "qrels", "run", "10"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {number: query for query, number in numbers.items()}
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    return {names[number]: (float(ndcg), float(err)) for _, number, ndcg, err in rows}


@seeds
def test_values_are_those_of_gdeval(seed, tmp_path):
    case = make(seed)
    theirs = run_gdeval(case, tmp_path)
    ours = rs.evaluate(case.qrels, case.run, [nDCG @ 10, ERR @ 10], convention="gdeval")
    for place, measure in enumerate(("nDCG@10", "ERR@10")):
        rounded = {query: pair[place] for query, pair in theirs.items()}
        # It prints five places, and adds up in another order.
        assert values(ours, measure) == pytest.approx(rounded, abs=0.5e-5 + 1e-9)

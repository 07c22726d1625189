"""A convention evaluates as its library does."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from importlib.resources import files
from math import log2

import pytest
import rankscope as rs
from rankscope import AP, DCG, ERR, RR, P, R, Rankings, nDCG
from rankscope._cli import main
from rankscope._conventions import TABLE, find
from rankscope._settings import FIELDS, Policy
from rankscope.measures import TABLE as MEASURES
from rankscope.measures import Measure
from rankscope.measures.table import measure as named

from tests.conventions.test_reconcile import command
from tests.parity.cases import make
from tests.parity.golden import read_golden
from tests.parity.peers import of_pytrec_eval
from tests.parity.shared import SHARED
from tests.refusals import refused, refuses
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


def test_a_measure_is_found_by_all_its_names_and_those_that_become_one_are_evaluated_once():
    asked = ["ndcg_cut_3", nDCG(gain="exp2") @ 3]
    evaluation = rs.evaluate(QRELS, RUN, asked, convention="lightgbm")
    assert [*evaluation] == ["nDCG(gain='exp2', ideal='retrieved')@3"]
    names = (nDCG @ 3, "nDCG@3", *asked, *evaluation)
    assert len({evaluation[name] for name in names}) == 1
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


def test_the_result_says_under_which_convention_it_is():
    evaluation = rs.evaluate(QRELS, RUN, nDCG @ 3, convention="lightgbm")
    row = evaluation.convention
    line = f"convention: lightgbm@{row.version} ({row.verified})"
    assert line in str(evaluation).splitlines()
    assert line in evaluation._repr_html_()
    without = rs.evaluate(QRELS, RUN, nDCG @ 3)
    assert (without.convention, "convention" in str(without)) == (None, False)


@pytest.mark.parametrize(
    ("convention", "measures", "options", "code"),
    [
        ("lightgbm", RR, {}, "convention_measure"),
        ("ranx", rs.parse("Bpref"), {}, "convention_measure"),
        ("gdeval", nDCG, {}, "convention_measure"),
        ("trec_eval", RR @ 10, {}, "convention_measure"),
        ("trec_eval", nDCG(gain="exp2") @ 3, {}, "convention_conflict"),
        ("sdcg", nDCG(gain="exp2") @ 3, {}, "convention_conflict"),
        ("lightgbm", nDCG(ideal="judged", discount="reciprocal") @ 3, {}, "convention_conflict"),
        ("lightgbm", nDCG @ 3, {"policy": "empty=zero"}, "convention_conflict"),
        ("trec_eval", nDCG @ 3, {"policy": "missing=error"}, "convention_conflict"),
        ("trec_eval@10.0", nDCG @ 3, {}, "missing_query"),
        ("sklearn", nDCG @ 3, {"policy": rs.Policy()}, "convention_conflict"),
        ("torchmetrics", [nDCG @ 3, P @ 3], {}, "convention_conflict"),
        ("lightgmb", nDCG @ 3, {}, "unknown_convention"),
        ("sklearn", nDCG @ 3, {"policy": 7}, "bad_policy"),
        ("sklearn", nDCG @ 3, {"policy": "ties=fair"}, "bad_policy"),
        ("trec_eval", nDCG @ 3, {"score_type": "float64"}, "convention_conflict"),
    ],
)
def test_what_a_convention_rules_out_is_refused(convention, measures, options, code):
    error = refused(
        lambda: rs.evaluate(QRELS, RUN, measures, convention=convention, **options), code
    )
    assert "0x" not in error.message


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
    for measure, negative in ((DCG @ 3, "gain"), (nDCG @ 3, "error")):
        found = rs.evaluate(QRELS, RUN, measure, convention="sklearn")
        assert found.policy.negative == negative


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
    qrels = {"q": {"a": grade, "b": 1}}
    with refuses(rs.errors.FormatError, "convention_grades", match=says):
        rs.evaluate(qrels, {"q": {"a": 1.0}}, nDCG, convention=convention)


@pytest.mark.parametrize(
    ("convention", "gain_of_2"), [("trec_eval", 2.0), ("ranx", 2.0), ("ranx_burges", 3.0)]
)
def test_fractions_are_dropped_where_the_library_drops_them(convention, gain_of_2):
    qrels, run = {"q": {"a": 2.9, "b": 0.9, "c": 1.5}}, {"q": {"b": 3.0, "c": 2.0, "a": 1.0}}
    found = rs.evaluate(qrels, run, nDCG @ 3, convention=convention)
    assert found["nDCG@3"] == (1 / log2(3) + gain_of_2 / log2(4)) / (gain_of_2 + 1 / log2(3))
    # Integers keep the plain name of the measure.
    assert [*rs.evaluate(QRELS, RUN, nDCG @ 3, convention="trec_eval")] == ["nDCG@3"]


def test_rankings_without_ties_serve_every_convention():
    rankings = Rankings.from_lists([[1, 0, 3, 0]])
    for name in ("sklearn", "lightgbm", "catboost", "trec_eval"):
        expected = rs.evaluate(QRELS, RUN, nDCG, convention=name).policy
        assert rankings.evaluate(nDCG(), convention=name).policy == expected


def test_rankings_with_ties_serve_conventions_with_their_ties_only():
    matrices = [[1, 0, 3], [0, 1, 0]], [[0.5, 0.5, 0.1], [3, 2, 1]]
    rankings = Rankings.from_arrays(*matrices)
    assert rankings.evaluate(nDCG, convention="sklearn").policy.ties == "average"
    error = refused(lambda: rankings.evaluate(nDCG, convention="lightgbm"), "ties_fixed")
    assert error.hint == "make the Rankings with ties='input'"
    ordered = Rankings.from_arrays(*matrices, ties="input").evaluate(nDCG, convention="lightgbm")
    assert ordered.per_query_list(nDCG)[0] == (1 + 7 / log2(4)) / (7 + 1 / log2(3))


def test_equal_scores_of_two_queries_are_no_tie():
    rankings = Rankings.from_groups([1, 0, 1], [2.0, 1.0, 1.0], [2, 1])
    assert rankings.evaluate(nDCG, convention="lightgbm")["nDCG"] == 1.0


def test_rankings_whose_scores_only_double_precision_tells_apart_are_refused():
    rankings = Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.00000001, "b": 1.0}})
    with refuses(rs.errors.PolicyError, "score_type_fixed"):
        rankings.evaluate(nDCG, convention="trec_eval")
    assert rankings.evaluate(nDCG, convention="trec_eval@10.0")["nDCG"] == 1.0


def test_rankings_whose_queries_are_missing_or_empty_are_read_right():
    rankings = Rankings.from_run(
        {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}, {"q2": {"b": 1.0}, "q1": {"x": 1.0}}
    )
    evaluation = rankings.evaluate(AP, convention="ranx", policy="missing=zero")
    assert evaluation.per_query_list(AP) == [0.0, 1.0, 0.0]


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


RUN_HERE = {"trec_eval@9.0.8", "pytrec_eval@0.5.11", "ir_measures@0.4.3", "gdeval@1.2a"}
"""Those whose library the tests run beside ours, in place of keeping what it said."""

rows = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.address)


def test_addresses_differ():
    assert len({row.address for row in TABLE}) == len(TABLE)


@rows
def test_a_row_says_what_it_is_and_is_found_by_its_address(row):
    assert find(row.address) is row
    sentences = [row.summary, *filter(None, [row.notes]), *row.bugs.values()]
    assert all(text[0].isupper() and text[-1] == "." for text in sentences)
    assert row.source
    assert row.forms


@rows
def test_the_forms_the_policy_and_the_options_of_a_row_are_those_of_measures(row):
    assert row.policy.ties is not None
    parameters = set()
    for form in row.forms:
        assert set(form.takes) & set(form.settings) == set()
        Policy.parse(form.policy, row.policy)
        for name in form.measures:
            names = {parameter.name for parameter in MEASURES[name].parameters}
            assert form.settings.keys() <= names
            assert isinstance(named(name)(**form.settings), Measure)
            parameters |= names
    for option in row.options:
        assert option.field in {*FIELDS, *parameters}
        if option.field in FIELDS:
            for value in option.values:
                Policy(**{option.field: value})


@rows
def test_a_row_is_verified_where_the_library_was_run(row):
    golden = {f"{each.convention}@{each.version}" for each in read_golden().values()}
    was_run = row.address in RUN_HERE | golden
    assert row.verified == ("run" if was_run else "read from source")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("lightgmb", "did you mean lightgbm?"),
        ("trec_eval@11", "the known versions are trec_eval@9.0.8 and trec_eval@10.0"),
        (3, "the conventions are trec_eval, "),
        (["sklearn"], "did you mean sklearn?"),
    ],
)
def test_an_unknown_name_is_refused(name, hint):
    assert hint in refused(lambda: find(name), "unknown_convention").hint


LOG = {
    "qid": [1, 1, 1, 1, 2, 2, 3],
    "doc": ["c", "d", "a", "b", "x", "y", "m"],
    "label": [1, 0, 3, 2, 0, 0, 1],
    "score": [2.0, 2.0, 1.0, 0.5, 2.0, 1.0, 1.0],
}
STRICT_QRELS, STRICT_RUN = (
    [(str(q), d, value) for q, d, value in zip(LOG["qid"], LOG["doc"], LOG[name], strict=True)]
    for name in ("label", "score")
)


def test_a_table_has_the_values_of_its_judgments_and_its_run():
    joined = rs.reconcile(LOG, nDCG @ 3)
    apart = rs.reconcile(STRICT_QRELS, STRICT_RUN, nDCG @ 3)
    for one, other in zip(joined.reckonings, apart.reckonings, strict=True):
        assert (one.name, one.value, one.queries) == (other.name, other.value, other.queries)
    assert joined["rankscope"] == rs.evaluate(LOG, nDCG @ 3)["nDCG@3"]
    differences = [each.differ("trec_eval", "lightgbm") for each in (joined, apart)]
    assert differences[0].queries == differences[1].queries
    assert differences[0].rules == differences[1].rules


def test_without_ids_no_order_of_ties_goes_by_them():
    log = {name: column for name, column in LOG.items() if name != "doc"}
    found = rs.reconcile(log, nDCG @ 3)
    assert math.isnan(found["trec_eval"])
    assert "ids" in found.to_dict()["trec_eval"]["refusal"]
    assert found["catboost"] == rs.reconcile(LOG, nDCG @ 3)["catboost"]
    queries = found.differ("sklearn", "lightgbm").queries
    assert [(query.query_id, query.documents) for query in queries] == [("2", ()), ("1", ())]


def test_scores_that_single_precision_merges_are_said_to_be_merged():
    log = {"qid": [1, 1], "doc": ["a", "b"], "label": [1, 0], "score": [1.00000001, 1.0]}
    found = rs.reconcile(log, nDCG)
    assert "single precision" in found.to_dict()["trec_eval"]["refusal"]
    assert found["trec_eval@10.0"] == 1.0


@pytest.mark.parametrize("convention", ["sklearn", "lightgbm", "catboost", "trec_eval"])
def test_a_table_is_evaluated_under_a_convention(convention, tmp_path):
    expected = rs.evaluate(STRICT_QRELS, STRICT_RUN, [nDCG @ 3], convention=convention)
    for table in (LOG, write_table(LOG, tmp_path / "log.csv")):
        found = rs.evaluate(table, nDCG @ 3, convention=convention)
        assert dict(found) == dict(expected)
        assert (found.policy, found.convention) == (expected.policy, expected.convention)


def test_ties_beside_a_convention_must_be_its_own_and_its_grades_those_of_the_library():
    ties = rs.evaluate(LOG, nDCG @ 3, policy="ties=worst", convention="tie_aware").policy.ties
    assert ties == "worst"
    asked = {"policy": "ties=average", "convention": "lightgbm"}
    refused(lambda: rs.evaluate(LOG, nDCG @ 3, **asked), "convention_conflict")
    log = {**LOG, "label": [0.5] * 7}
    refused(lambda: rs.evaluate(log, AP, convention="lightgbm"), "convention_grades")


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


seeds = pytest.mark.parametrize("seed", range(3))


def values(evaluation, measure):
    by_query = zip(evaluation.query_ids, evaluation.per_query_list(measure), strict=True)
    return {query: value for query, value in by_query if not math.isnan(value)}


@seeds
def test_values_are_those_of_trec_eval(seed):
    case = make(seed)
    theirs = of_pytrec_eval(case.qrels, case.run, [each.pytrec_eval for each in SHARED])
    measures = [each.measure for each in SHARED]
    ours = rs.evaluate(case.qrels, case.run, measures, convention="trec_eval@9.0.8")
    for each in SHARED:
        assert values(ours, each.measure) == theirs[each.pytrec_eval]


def run_gdeval(case, folder):
    """By query, nDCG@10 and ERR@10 as the program prints them, with five places."""
    perl = shutil.which("perl")
    if perl is None:
        pytest.skip("Perl is not installed")
    numbers = {query: str(number) for number, query in enumerate({**case.qrels, **case.run})}
    write_qrels(folder / "qrels", {numbers[query]: row for query, row in case.qrels.items()})
    write_run(folder / "run", {numbers[query]: row for query, row in case.run.items()})
    program = str(files("ir_measures") / "bin" / "gdeval.pl")
    words = [perl, program, "qrels", "run", "10"]
    printed = subprocess.check_output(words, cwd=folder, text=True)
    names = {number: query for query, number in numbers.items()}
    rows = [line.split(",") for line in printed.splitlines()[1:]]
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

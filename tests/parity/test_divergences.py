"""Each divergence is what its row says it is."""

from __future__ import annotations

import math

import ir_measures
import numpy as np
import pytest
import pytrec_eval
import rankscope
from rankscope import AP, P, nDCG
from rankscope.measures.compat import name_in
from rankscope.measures.spec import default_measure

from tests.parity import cases, peers, real
from tests.parity.divergences import ABSENT, DIVERGENCES, MEAN
from tests.parity.shared import IR_MEASURES, IR_MEASURES_ASCENDING, SHARED
from tests.reference import Retrieved, rank

rows = pytest.mark.parametrize(
    "row", DIVERGENCES, ids=lambda row: f"{row.tool}, {row.measure}, {row.condition}"
)


def of_pytrec_eval(row):
    assert isinstance(row.run, dict)
    measure = rankscope.measures.parse(row.measure)
    rel = measure.parameters.get("rel", 1)
    judged_only = measure.judged_only
    assert isinstance(rel, float | int)
    at = {measure.row.at: measure.parameters[measure.row.at]} if measure.row.at else {}
    plain = default_measure(measure.row)
    name = name_in(plain if at.get(measure.row.at) is None else plain(**at), "trec_eval")
    assert name is not None
    values = peers.of_pytrec_eval(
        row.qrels, row.run, [name], rel=int(rel), judged_only=judged_only
    )[name]
    if row.of == MEAN:
        return float(pytrec_eval.compute_aggregated_measure(name, list(values.values())))
    return values.get(row.of, ABSENT)


def of_ir_measures(row):
    if row.of == MEAN:
        measure = ir_measures.parse_measure(row.measure)
        assert isinstance(row.run, dict)
        return float(ir_measures.calc_aggregate([measure], row.qrels, row.run)[measure])
    return peers.of_ir_measures(row.qrels, row.run, [row.measure])[row.measure][row.of]


def of_rankscope(row):
    evaluation = rankscope.evaluate(row.qrels, row.run, row.measure)
    if row.of == MEAN:
        return evaluation[row.measure]
    return evaluation.to_dict()[row.of][row.measure]


def outcome(compute, row):
    """The value, or the name of the error that is raised in its place."""
    assert callable(compute)
    try:
        return float(value) if isinstance(value := compute(row), int | float) else str(value)
    except Exception as error:  # noqa: BLE001 - whatever they raise, its name is what is compared
        return type(error).__name__


def is_same(one, other):
    """Whether two outcomes are the same; NaN is the same as NaN."""
    return repr(one) == repr(other)


@rows
def test_theirs_is_what_the_row_says(row):
    compute = of_pytrec_eval if row.tool == "pytrec_eval" else of_ir_measures
    assert is_same(outcome(compute, row), row.theirs)


@rows
def test_ours_is_what_the_row_says(row):
    assert is_same(outcome(of_rankscope, row), row.ours)


@rows
def test_the_two_differ_and_the_row_says_why(row):
    assert not is_same(row.ours, row.theirs)
    assert row.why.endswith(".")


def test_a_name_is_one_row_by_tool_measure_and_condition():
    keys = [(row.tool, row.measure, row.condition) for row in DIVERGENCES]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("ties", ["doc_id_asc", "input"])
def test_the_choice_that_a_row_names_gives_their_value(ties):
    """RR@2 of ir_measures puts the smaller id first."""
    row = next(row for row in DIVERGENCES if row.measure == "RR@2")
    evaluation = rankscope.evaluate(row.qrels, row.run, row.measure, policy=f"ties={ties}")
    assert evaluation[row.measure] == row.theirs


def test_single_precision_gives_the_value_of_pytrec_eval():
    single = [row for row in DIVERGENCES if "single precision" in row.condition]
    assert len(single) == 3
    for row in single:
        evaluation = rankscope.evaluate(row.qrels, row.run, row.measure, score_type="float32")
        assert evaluation[row.measure] == row.theirs


def test_skipping_missing_queries_gives_the_mean_of_pytrec_eval():
    row = next(row for row in DIVERGENCES if "not in the run" in row.condition)
    evaluation = rankscope.evaluate(row.qrels, row.run, row.measure, policy="missing=skip")
    assert evaluation[row.measure] == 1.0
    assert math.isnan(evaluation.to_dict()[row.of][row.measure])


MORE = pytest.mark.thorough(reason="ten more seeds of the same")
SEEDS = [*range(5), *(pytest.param(seed, marks=MORE) for seed in range(5, 15))]
"""Each makes some 120 queries."""
RUNS = [*real.TREC, *real.OTHERS]


@pytest.fixture(scope="module", params=[*SEEDS, *RUNS])
def case(request):
    if isinstance(request.param, int):
        return cases.make(request.param)
    qrels, run = real.read(request.param)
    rows = [(query, *each) for query, scores in run.items() for each in scores.items()]
    return cases.Case(qrels, run, rows)


def compare(case, measure, ours, theirs):
    """Fail at the first query in which values differ, with all that is needed to see why."""
    for query, value in theirs.items():
        if ours[query] != value:
            pytest.fail(
                f"{measure} of {query!r}: ours {ours[query]!r}, theirs {value!r}\n"
                f"judged {case.qrels[query]}\nretrieved {case.run.get(query)}"
            )


def without_empty_lists(case, values):
    """The values of queries of which a judged document was retrieved."""
    return {
        query: value
        for query, value in values.items()
        if any(case.qrels[query].get(document, -1) >= 0 for document in case.run[query])
    }


@pytest.mark.parametrize("rel", [1, 2, 3])
@pytest.mark.parametrize("judged_only", [False, True], ids=["all", "judged only"])
def test_values_are_those_of_pytrec_eval(case, rel, judged_only):
    shared = [one for one in SHARED if one.takes_rel or rel == 1]
    shared = [one for one in shared if one.takes_judged_only or not judged_only]
    measures = [one.at(rel=rel, judged_only=judged_only) for one in shared]
    names = [one.pytrec_eval for one in shared]
    theirs = peers.of_pytrec_eval(case.qrels, case.run, names, rel=rel, judged_only=judged_only)
    for run in (case.run, case.rows):
        found = peers.of_rankscope(case.qrels, run, measures, policy="missing=skip")
        for measure, name in zip(measures, names, strict=True):
            ours, values = found[measure.name], theirs[name]
            assert values.keys() == case.qrels.keys() & case.run.keys()
            if judged_only and measure.row.name == "IPrec":  # a row of the divergences says why
                values = without_empty_lists(case, values)
            compare(case, measure, ours, values)
            assert all(math.isnan(ours[query]) for query in case.qrels.keys() - case.run.keys())


@pytest.mark.parametrize("k", [1, 3, 10])
def test_whole_ideals_and_retrieved_denominators_are_those_of_a_run_cut_before_pytrec_eval(case, k):
    cut = {query: first(scores, k) for query, scores in case.run.items()}
    theirs = peers.of_pytrec_eval(case.qrels, cut, ["ndcg", "set_P", "map"])
    measures = [nDCG(ideal="whole") @ k, P(denominator="retrieved") @ k, AP @ k]
    found = peers.of_rankscope(case.qrels, case.rows, measures, policy="missing=skip")
    for measure, values in zip(measures, theirs.values(), strict=True):
        compare(case, measure, found[measure.name], values)


def first(scores, k):
    """The first documents as trec_eval orders them, which compares in single precision."""
    with np.errstate(over="ignore"):
        retrieved = [Retrieved(each, float(np.float32(scores[each]))) for each in scores]
    return {each.doc_id: scores[each.doc_id] for each in rank(retrieved)[:k]}


def test_values_are_those_of_ir_measures(case):
    theirs = peers.of_ir_measures(case.qrels, case.run, [one.name for one in IR_MEASURES])
    found = peers.of_rankscope(case.qrels, case.rows, IR_MEASURES)
    for measure in IR_MEASURES:
        values = theirs[measure.name]
        assert values.keys() == case.qrels.keys()
        if measure.row.name == "NumRel":  # a row of the divergences says why
            values = {query: value for query, value in values.items() if query in case.run}
        compare(case, measure, found[measure.name], values)


def test_what_ir_measures_computes_itself_has_equal_scores_by_ascending_id(case):
    names = [one.name for one in IR_MEASURES_ASCENDING]
    theirs = peers.of_ir_measures(case.qrels, case.run, names)
    found = peers.of_rankscope(
        case.qrels,
        case.rows,
        IR_MEASURES_ASCENDING,
        policy="ties=doc_id_asc",
        score_type="float64",
    )
    for measure in IR_MEASURES_ASCENDING:
        compare(case, measure, found[measure.name], theirs[measure.name])


def test_a_mean_is_the_exact_one_of_the_values_of_pytrec_eval(case):
    names = ["map", "bpref", "gm_map", "gm_bpref"]
    theirs = peers.of_pytrec_eval(case.qrels, case.run, names, rel=2)
    evaluation = rankscope.evaluate(
        case.qrels,
        case.run,
        ["AP(rel=2)", "Bpref(rel=2)", "GMAP(rel=2)", "GMBpref(rel=2)"],
        policy="missing=skip",
        score_type="float32",
    )
    for (name, values), measure in zip(theirs.items(), evaluation, strict=True):
        mean = math.fsum(values.values()) / len(values)
        assert evaluation[measure] == (math.exp(mean) if name.startswith("gm_") else mean), measure

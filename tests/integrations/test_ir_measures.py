"""rankscope computes the measures of ir_measures, and ir_measures takes those of rankscope."""

from __future__ import annotations

import pickle
from itertools import starmap

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope.errors import DuplicateError, EmptyError, FormatError, MeasureError
from rankscope.integrations.ir_measures import make_measure, make_provider, register, unregister

from tests.inputs.entry import flatten
from tests.parity.real import find
from tests.refusals import refuses

ir_measures = pytest.importorskip("ir_measures")


from ir_measures import AP, ERR, P_IA, RBP, RR, Accuracy, P, SetF, SetP, StRecall, alpha_nDCG, nDCG  # noqa: E402 - only where it is installed

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d4": 1}, "q3": {"d5": 0}}
RUN = {"q1": {"d2": 0.9, "d1": 0.8, "d9": 0.7, "d3": 0.6}, "q3": {"d5": 1.0}}

NAMES = (
    "nDCG nDCG@10 nDCG(judged_only=True)@10 AP AP(rel=2)@100 RR P@5 P(rel=2)@20 R@100 Rprec Bpref "
    "infAP IPrec@0.1 Success@5 SetP SetR SetF SetAP NumQ NumRel NumRet NumRelRet"
)
THEIRS = [*map(ir_measures.parse_measure, NAMES.split()), nDCG(gains={1: 3, 2: 5}) @ 10]


def test_accuracy_counts_queries_for_which_it_is_undefined_as_the_page_says():
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 1.0}}
    ours = make_provider().calc_aggregate([Accuracy], qrels, run)[Accuracy]
    alone, beside = (
        ir_measures.calc_aggregate(measures, qrels, run)[Accuracy]
        for measures in ([Accuracy], [Accuracy, AP])
    )
    assert (ours, alone, beside) == (1 / 3, 1, 1 / 3)
    with pytest.raises(ZeroDivisionError):
        ir_measures.calc_aggregate([Accuracy], {"q": {"a": 1}}, {"q": {"a": 1.0}})
    relevant = make_provider().calc_aggregate([Accuracy], {"q": {"a": 1}}, {"q": {"a": 1.0}})
    assert relevant == {Accuracy: 1}


@pytest.mark.parametrize("measure", THEIRS, ids=str)
def test_evaluate_takes_measures_of_ir_measures(measure):
    qrels = {"q1": {"d1": 2, "d3": 1, "d9": 1}, "q3": {"d4": 1, "d5": 0}}
    expected = ir_measures.calc_aggregate([measure], qrels, RUN)[measure]
    for asked in (measure, [measure]):
        (value,) = rs.evaluate(qrels, RUN, asked).means().values()
        assert value == pytest.approx(expected, rel=1e-12)


def test_a_table_takes_measures_of_ir_measures():
    table = {"qid": [1, 1, 1], "label": [0, 2, 1], "score": [3, 2, 1]}
    for asked in (nDCG @ 2, [nDCG @ 2, RR]):
        found = rs.evaluate(table, asked)
        assert found["nDCG@2"] == rs.evaluate(table, "nDCG@2")["nDCG@2"]


@pytest.fixture(scope="module")
def cast21():
    folder = find("cast21")
    qrels = list(ir_measures.read_trec_qrels(str(folder / "cast21.qrels")))
    runs = {path.stem: list(ir_measures.read_trec_run(str(path))) for path in folder.glob("*.run")}
    return qrels, runs


@pytest.fixture
def registered():
    register()
    yield
    unregister()


@pytest.mark.parametrize("run", ["org_convdr", "org_manual_bm25"])
def test_values_of_real_queries_are_those_of_the_pytrec_eval_provider(run, cast21):
    qrels, runs = cast21
    ours = make_provider().calc(THEIRS, qrels, runs[run])
    theirs = ir_measures.pytrec_eval.calc(THEIRS, qrels, runs[run])
    assert {str(measure) for measure in ours.aggregated} == set(map(str, THEIRS))
    for measure in THEIRS:
        assert ours.aggregated[measure] == pytest.approx(theirs.aggregated[measure], abs=1e-12)
    values = {(each.query_id, each.measure): each.value for each in ours.per_query}
    others = {(each.query_id, each.measure): each.value for each in theirs.per_query}
    assert values.keys() == others.keys()
    keys = list(values)
    assert np.abs([values[key] - others[key] for key in keys]).max() < 1e-12


def test_every_form_of_judgments_and_runs_has_the_same_values():
    provider = make_provider()
    expected = provider.calc_aggregate(THEIRS, QRELS, RUN)
    qrels = [*starmap(ir_measures.Qrel, flatten(QRELS))]
    run = [*starmap(ir_measures.ScoredDoc, flatten(RUN))]
    assert provider.calc_aggregate(THEIRS, iter(qrels), iter(run)) == expected
    # PyTerrier leaves columns beside those that ir_measures reads.
    frame = pd.DataFrame(run).assign(query="text", docno=7)
    assert provider.calc_aggregate(THEIRS, pd.DataFrame(qrels), frame) == expected


def test_integer_query_ids_come_back_as_integers():
    qrels = pd.DataFrame({"query_id": [7, 7, 8], "doc_id": ["a", "b", "a"], "relevance": [1, 0, 2]})
    run = pd.DataFrame({"query_id": [7, 8], "doc_id": ["b", "a"], "score": [0.5, 0.25]})
    for values in (
        make_provider().iter_calc([RR], qrels, run),
        ir_measures.iter_calc([make_measure("RR")], qrels, run),
    ):
        assert {each.query_id: each.value for each in values} == {7: 0.0, 8: 1.0}


def test_the_provider_takes_grades_that_pytrec_eval_refuses():
    qrels = {"q": {"d1": 0.5, "d2": 1.5}}
    run = {"q": {"d1": 2.0, "d2": 1.0}}
    found = make_provider().calc_aggregate([nDCG @ 2], qrels, run)[nDCG @ 2]
    discount = np.log2(3)
    assert found == pytest.approx((0.5 + 1.5 / discount) / (1.5 + 0.5 / discount))


def test_the_provider_leaves_measures_that_rankscope_does_not_know_to_others():
    provider = make_provider()
    assert provider.supports(nDCG @ 10)
    assert provider.supports(alpha_nDCG @ 10)
    assert provider.supports(SetP(relative=True))
    assert not provider.supports(ir_measures.define(lambda _qrels, _run: [], "nDCG"))


def test_registered_all_functions_of_ir_measures_use_it(registered):
    del registered
    # No other provider has ERR without Perl, RBP without its p, or SetF with beta squared.
    measures = [ERR @ 10, RBP, SetF(beta=2.0)]
    found = ir_measures.calc_aggregate(measures, QRELS, RUN)
    assert found == make_provider().calc_aggregate(measures, QRELS, RUN)
    expected = rs.evaluate(QRELS, RUN, ["ERR@10", "RBP", "SetF(beta=2.0)"])
    assert [found[each] for each in measures] == [*expected.values()]
    assert ir_measures.providers.registry["rankscope"].NAME == "rankscope"


def test_registered_it_works_beside_the_other_providers(registered):
    del registered
    always = ir_measures.define(lambda qrels, _run: [(q, 2.0) for q in {*qrels.query_id}], "always")
    found = ir_measures.calc_aggregate([RR, always], QRELS, RUN)
    assert found == {RR: pytest.approx(0.5 / 3), always: 2.0}


def test_registering_twice_and_undoing_it_leaves_ir_measures_as_it_was():
    before = list(ir_measures.DefaultPipeline.providers)
    register()
    register(make_provider(policy="unjudged=remove"))
    assert len(ir_measures.DefaultPipeline.providers) == len(before) + 1
    found = ir_measures.calc_aggregate([AP], QRELS, RUN)[AP]
    assert found == rs.evaluate(QRELS, RUN, "AP", policy="unjudged=remove")["AP"]
    unregister()
    unregister()
    assert ir_measures.DefaultPipeline.providers == before
    assert "rankscope" not in ir_measures.providers.registry


ZIPF = "nDCG(gain='exp2', discount='zipf')@3"


def test_measures_of_rankscope_are_measures_of_ir_measures():
    cases = [
        ("nDCG@10", "nDCG@10", {}),
        (ZIPF, rs.parse(ZIPF), {}),
        ("AP [unjudged=remove]", "AP", {"policy": "unjudged=remove"}),
        ("nDCG@10 [sklearn]", "nDCG@10", {"convention": "sklearn"}),
        ("NumRet", "NumRet", {}),
    ]
    measures = [make_measure(measure, **choices) for _, measure, choices in cases]
    found = ir_measures.calc_aggregate([*measures, RR], QRELS, RUN)
    assert found[RR] == pytest.approx(0.5 / 3)
    for theirs, (name, measure, choices) in zip(measures, cases, strict=True):
        (expected,) = rs.evaluate(QRELS, RUN, measure, **choices).values()
        assert (str(theirs), found[theirs]) == (name, pytest.approx(expected, rel=1e-15))
    assert str(make_measure("AP", name="like scikit-learn")) == "like scikit-learn"


def test_a_measure_with_the_name_of_one_of_ir_measures_is_another_measure():
    measure = make_measure("AP")
    assert str(measure) == str(AP)
    assert {AP: 1, measure: 2}[AP] == 1
    assert measure == make_measure("AP")
    assert measure != make_measure("AP", policy="unjudged=remove", name="AP")


def test_the_operators_of_measures_keep_the_policy():
    measure = make_measure("AP", policy="unjudged=remove")
    assert str(measure @ 5) == "AP@5 [unjudged=remove]"
    assert str(measure(rel=2)) == "AP(rel=2) [unjudged=remove]"
    found = ir_measures.calc_aggregate([measure(rel=2) @ 5], QRELS, RUN)
    expected = rs.evaluate(QRELS, RUN, "AP(rel=2)@5", policy="unjudged=remove")
    assert [*found.values()] == pytest.approx([*expected.values()])


def test_queries_that_a_policy_leaves_out_are_not_in_the_mean():
    measure = make_measure("RR", policy="missing=skip,empty=skip")
    found = ir_measures.calc([measure], QRELS, RUN)
    values = {each.query_id: each.value for each in found.per_query}
    assert found.aggregated == {measure: 0.5}
    assert values["q1"] == 0.5
    assert np.isnan([values["q2"], values["q3"]]).all()


def test_a_measure_can_be_pickled():
    measure = make_measure("AP@10", policy="unjudged=remove")
    copy = pickle.loads(pickle.dumps(measure))  # noqa: S301 - our own bytes
    assert copy == measure
    assert ir_measures.calc_aggregate([copy], QRELS, RUN) == ir_measures.calc_aggregate(
        [measure], QRELS, RUN
    )


def test_an_empty_run_is_worth_nothing_by_the_default_policy_only():
    empty = pd.DataFrame([], columns=["query_id", "doc_id", "score"])
    for run in ({}, empty, iter(())):
        assert make_provider().calc_aggregate([AP], QRELS, run) == {AP: 0.0}
    measure = make_measure("AP")
    assert ir_measures.calc_aggregate([measure], QRELS, empty) == {measure: 0.0}
    with pytest.raises(EmptyError):
        make_provider(policy="missing=skip").calc_aggregate([AP], QRELS, empty)


def test_bad_input_is_an_error_of_rankscope():
    provider = make_provider()
    twice = [ir_measures.ScoredDoc("q1", "d1", score) for score in (0.5, 0.25)]
    with pytest.raises(DuplicateError):
        provider.calc_aggregate([AP], QRELS, twice)
    with pytest.raises(FormatError, match="both judged and in the run"):
        provider.calc_aggregate([AP], QRELS, {"other": {"d1": 1.0}})
    for run in ("a.run", [("q1", "d1", 0.5)], 7):
        with pytest.raises(FormatError, match="rows with query_id, doc_id, score, found"):
            provider.calc_aggregate([AP], QRELS, run)
    with pytest.raises(MeasureError, match="geometric"):
        make_measure("GMAP")
    with pytest.raises(MeasureError):
        make_measure("nDGC@10")


BY_SUBTOPIC = [
    ir_measures.Qrel("q1", "d1", 1, "t1"),
    ir_measures.Qrel("q1", "d1", 1, "t2"),
    ir_measures.Qrel("q1", "d2", 1, "t2"),
    ir_measures.Qrel("q1", "d3", 0, "t1"),
]
SCORED = [ir_measures.ScoredDoc("q1", name, 3.0 - at) for at, name in enumerate(("d3", "d1", "d2"))]


@pytest.mark.parametrize("form", ["rows", "frame"])
def test_measures_of_diversity_read_the_iteration_as_the_subtopic(form):
    qrels = pd.DataFrame(BY_SUBTOPIC) if form == "frame" else BY_SUBTOPIC
    run = pd.DataFrame(SCORED) if form == "frame" else SCORED
    found = make_provider().calc_aggregate([StRecall @ 2, P_IA @ 2, P @ 2], qrels, run)
    # Of the first two documents, the second has both subtopics.
    assert found == {StRecall @ 2: 1.0, P_IA @ 2: (1 / 2 + 1 / 2) / 2, P @ 2: 1 / 2}
    ours = make_measure("StRecall@1")
    assert ir_measures.calc_aggregate([ours], qrels, run)[ours] == 0.0


def test_measures_of_diversity_need_an_iteration():
    with refuses(FormatError, "subtopics_missing", match="iteration"):
        make_provider().calc_aggregate([StRecall @ 2], QRELS, RUN)

"""On generated queries and real runs our values are those of the peers, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
import rankscope
from rankscope import AP, P, nDCG

from tests.parity import cases, peers, real
from tests.parity.shared import IR_MEASURES, IR_MEASURES_ASCENDING, SHARED
from tests.reference import Retrieved, rank

MORE = pytest.mark.thorough(reason="ten more seeds of the same")
SEEDS = [*range(5), *(pytest.param(seed, marks=MORE) for seed in range(5, 15))]
"""Each makes some 120 queries."""
RUNS = [*real.TREC, *real.OTHERS]


@pytest.fixture(scope="module", params=[*SEEDS, *RUNS])
def case(request: pytest.FixtureRequest) -> cases.Case:
    if isinstance(request.param, int):
        return cases.make(request.param)
    qrels, run = real.read(request.param)
    rows = [(query, *each) for query, scores in run.items() for each in scores.items()]
    return cases.Case(qrels, run, rows)


def compare(
    case: cases.Case, measure: rankscope.Measure, ours: dict[str, float], theirs: dict[str, float]
) -> None:
    """Fail at the first query in which values differ, with all that is needed to see why."""
    for query, value in theirs.items():
        if ours[query] != value:
            pytest.fail(
                f"{measure} of {query!r}: ours {ours[query]!r}, theirs {value!r}\n"
                f"judged {case.qrels[query]}\nretrieved {case.run.get(query)}"
            )


def without_empty_lists(case: cases.Case, values: dict[str, float]) -> dict[str, float]:
    """The values of queries of which a judged document was retrieved."""
    return {
        query: value
        for query, value in values.items()
        if any(case.qrels[query].get(document, -1) >= 0 for document in case.run[query])
    }


@pytest.mark.parametrize("rel", [1, 2, 3])
@pytest.mark.parametrize("judged_only", [False, True], ids=["all", "judged only"])
def test_values_are_those_of_pytrec_eval(case: cases.Case, rel: int, judged_only: bool) -> None:
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
def test_whole_ideals_and_retrieved_denominators_are_those_of_a_run_cut_before_pytrec_eval(
    case: cases.Case, k: int
) -> None:
    cut = {query: first(scores, k) for query, scores in case.run.items()}
    theirs = peers.of_pytrec_eval(case.qrels, cut, ["ndcg", "set_P", "map"])
    measures = [nDCG(ideal="whole") @ k, P(denominator="retrieved") @ k, AP @ k]
    found = peers.of_rankscope(case.qrels, case.rows, measures, policy="missing=skip")
    for measure, values in zip(measures, theirs.values(), strict=True):
        compare(case, measure, found[measure.name], values)


def first(scores: dict[str, float], k: int) -> dict[str, float]:
    """The first documents as trec_eval orders them, which compares in single precision."""
    with np.errstate(over="ignore"):
        retrieved = [Retrieved(each, float(np.float32(scores[each]))) for each in scores]
    return {each.doc_id: scores[each.doc_id] for each in rank(retrieved)[:k]}


def test_values_are_those_of_ir_measures(case: cases.Case) -> None:
    theirs = peers.of_ir_measures(case.qrels, case.run, [one.name for one in IR_MEASURES])
    found = peers.of_rankscope(case.qrels, case.rows, IR_MEASURES)
    for measure in IR_MEASURES:
        values = theirs[measure.name]
        assert values.keys() == case.qrels.keys()
        if measure.row.name == "NumRel":  # a row of the divergences says why
            values = {query: value for query, value in values.items() if query in case.run}
        compare(case, measure, found[measure.name], values)


def test_what_ir_measures_computes_itself_has_equal_scores_by_ascending_id(
    case: cases.Case,
) -> None:
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


def test_a_mean_is_the_exact_one_of_the_values_of_pytrec_eval(case: cases.Case) -> None:
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

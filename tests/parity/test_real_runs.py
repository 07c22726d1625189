"""On real runs our values are those of the peers, query by query and to the last bit."""

from __future__ import annotations

import math

import pytest
import rankscope

from tests.parity import peers, real
from tests.parity.shared import IR_MEASURES, IR_MEASURES_ASCENDING, SHARED

RUNS = [*real.TREC, *real.OTHERS]


@pytest.fixture(params=RUNS)
def name(request: pytest.FixtureRequest) -> str:
    run = str(request.param)
    absent = [path for path in real.paths(run) if not path.exists()]
    if absent:
        pytest.skip(f"no real data: {absent[0]} is absent (RANKSCOPE_DATA names its folder)")
    return run


def ours(name: str, measures: list[rankscope.Measure], **choices: str) -> peers.Values:
    """Our values, read from the files themselves where they are of TREC."""
    if name in real.TREC:
        qrels, run = real.paths(name)
        return peers.of_rankscope(qrels, run, measures, **choices)  # type: ignore[arg-type]
    return peers.of_rankscope(*real.read(name), measures, **choices)  # type: ignore[arg-type]


@pytest.mark.parametrize("rel", [1, 2, 3])
@pytest.mark.parametrize("judged_only", [False, True], ids=["all", "judged only"])
def test_values_are_those_of_pytrec_eval(name: str, rel: int, judged_only: bool) -> None:
    shared = [one for one in SHARED if one.takes_rel or rel == 1]
    shared = [one for one in shared if one.takes_judged_only or not judged_only]
    qrels, run = real.read(name)
    theirs = peers.of_pytrec_eval(
        qrels, run, [one.pytrec_eval for one in shared], rel=rel, judged_only=judged_only
    )
    measures = [one.at(rel=rel, judged_only=judged_only) for one in shared]
    found = ours(name, measures, policy="missing=skip")
    for one, measure in zip(shared, measures, strict=True):
        values = theirs[one.pytrec_eval]
        assert values
        assert {query: found[measure.name][query] for query in values} == values, measure
        assert all(math.isnan(found[measure.name][query]) for query in qrels.keys() - run.keys())


def test_values_are_those_of_ir_measures(name: str) -> None:
    theirs = peers.of_ir_measures(*real.read(name), [one.name for one in IR_MEASURES])
    found = ours(name, list(IR_MEASURES))
    for measure in IR_MEASURES:
        assert theirs[measure.name]
        assert found[measure.name] == theirs[measure.name], measure


def test_what_ir_measures_computes_itself_has_equal_scores_by_ascending_id(name: str) -> None:
    theirs = peers.of_ir_measures(*real.read(name), [one.name for one in IR_MEASURES_ASCENDING])
    found = ours(name, list(IR_MEASURES_ASCENDING), policy="ties=doc_id_asc", score_type="float64")
    for measure in IR_MEASURES_ASCENDING:
        assert theirs[measure.name]
        assert found[measure.name] == theirs[measure.name], measure


def test_a_geometric_mean_is_that_of_the_values_of_pytrec_eval(name: str) -> None:
    qrels, run = real.read(name)
    theirs = peers.of_pytrec_eval(qrels, run, ["gm_map", "gm_bpref"])
    evaluation = rankscope.evaluate(
        qrels, run, ["GMAP", "GMBpref"], policy="missing=skip", score_type="float32"
    )
    for measure, logarithms in zip(evaluation, theirs.values(), strict=True):
        exact = math.fsum(logarithms.values()) / len(logarithms)
        assert evaluation[measure] == math.exp(exact), measure


def test_a_mean_is_the_exact_sum_by_the_number_of_queries(name: str) -> None:
    qrels, run = real.read(name)
    theirs = peers.of_pytrec_eval(qrels, run, ["ndcg", "map", "bpref"])
    evaluation = rankscope.evaluate(
        qrels, run, ["nDCG", "AP", "Bpref"], policy="missing=skip", score_type="float32"
    )
    for measure, values in zip(evaluation, theirs.values(), strict=True):
        assert evaluation[measure] == math.fsum(values.values()) / len(values), measure

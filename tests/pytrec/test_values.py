"""The values of `rankscope.pytrec_eval` are those of the real pytrec_eval, to the last bit."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import pytrec_eval as theirs
from hypothesis import given, strategies
from rankscope import pytrec_eval as ours

from tests.generated import examples
from tests.parity import cases, real

MEASURES = [
    {"all_trec"},
    {"official", "set", "ndcg"},
    ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "recall.1000", "P", "map_cut_3,2", "success_2"],
    {"iprec_at_recall_0.25,0.5", "Rprec_mult.0.3,3", "11pt_avg.0.5,0.2", "set_F_4", "set_F.0"},
    ["map_5", "gm_map", "gm_bpref", "num_rel_ret", "relative_P_7", "relstring.5", "recall_5000000"],
]
"""Nicknames, defaults, and parameters in every spelling."""

IDS = strategies.text(
    strategies.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    min_size=1,
    max_size=3,
)
GRADES = strategies.dictionaries(IDS, strategies.integers(-2, 4), min_size=1, max_size=12)
SCORES = strategies.one_of(
    strategies.floats(allow_nan=False),
    strategies.sampled_from([0.0, 0.5, 1.0, 1.0 + 2.0**-30]),
    strategies.integers(-2, 2),
    strategies.booleans(),
)


def bits(values: dict[str, dict[str, float]]) -> list[tuple[str, list[tuple[str, bytes | str]]]]:
    """Keys and values in their order; a NaN has no sign."""
    return [
        (query, [(key, struct.pack("d", of) if of == of else "nan") for key, of in row.items()])  # noqa: PLR0124 - as above
        for query, row in values.items()
    ]


def compare(qrels: Any, runs: list[Any], *arguments: Any) -> None:  # noqa: ANN401 - hostile ones
    """Check that both evaluators return the same for each run, one after the other."""
    mine = ours.RelevanceEvaluator(qrels, *arguments)
    other = theirs.RelevanceEvaluator(qrels, *arguments)
    for run in runs:
        assert bits(mine.evaluate(run)) == bits(other.evaluate(run))


def test_the_names_of_measures_are_those_of_pytrec_eval() -> None:
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames
    assert set(theirs.__all__) <= set(ours.__all__)


@pytest.mark.parametrize("measures", MEASURES, ids=range(len(MEASURES)))
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("judged_only", [False, True], ids=["all", "judged only"])
def test_values_of_generated_runs_are_those_of_pytrec_eval(
    measures: set[str], level: int, judged_only: bool
) -> None:
    for seed in range(3):
        case = cases.make(seed)
        few = dict(list(case.run.items())[:5])
        compare(case.qrels, [case.run, few, case.run, {}], measures, level, judged_only)


@pytest.mark.parametrize("name", [*real.TREC, *real.OTHERS])
def test_values_of_real_runs_are_those_of_pytrec_eval(name: str) -> None:
    qrels, run = real.read(name)
    compare(qrels, [run], {"all_trec"})


@examples(200)
@given(
    qrels=strategies.dictionaries(IDS, GRADES, max_size=4),
    run=strategies.dictionaries(IDS, strategies.dictionaries(IDS, SCORES, max_size=8), max_size=4),
    shared=strategies.data(),
    level=strategies.integers(1, 3),
    judged_only=strategies.booleans(),
)
def test_values_of_any_run_are_those_of_pytrec_eval(
    qrels: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    shared: strategies.DataObject,
    level: int,
    judged_only: bool,
) -> None:
    for query, grades in qrels.items():
        # Where all judgments are negative, trec_eval 9 reads memory that nobody has written.
        if max(grades.values()) < 0:
            grades["unseen"] = 0
        documents = strategies.one_of(IDS, strategies.sampled_from(sorted(grades)))
        if shared.draw(strategies.booleans()):
            run[query] = shared.draw(strategies.dictionaries(documents, SCORES, max_size=15))
    compare(qrels, [run], ["all_trec"], level, judged_only)


@pytest.mark.parametrize("measure", ["map", "num_ret", "gm_map", "P_5"])
def test_aggregated_measures_are_those_of_pytrec_eval(measure: str) -> None:
    values = [0.1, 0.2, 0.3, 0.7, 1e-9] * 40
    found = ours.compute_aggregated_measure(measure, values)
    assert found == theirs.compute_aggregated_measure(measure, values)
    assert type(found) is float

"""What judges decide at the limits: just below, at and just above each of them."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
import rankscope as rs
from rankscope.api.sampled_ranks import _find_values, _read_ranks
from rankscope.errors import InputError, LimitError
from rankscope.measures.parse import parse
from rankscope.stats.judges.agreement import measure_agreement
from rankscope.stats.judges.crossed import group_judges
from rankscope.stats.judges.powered import estimate_powered


@pytest.mark.parametrize(("queries", "is_refused"), [(19, True), (20, False), (21, False)])
def test_an_estimate_needs_20_human_queries(queries: int, *, is_refused: bool) -> None:
    human = {f"q{at}": {"d1": at % 2, "d2": 1} for at in range(queries)}
    model = {f"q{at}": {"d1": at % 3 // 2, "d2": 1} for at in range(30)}
    run = {f"q{at}": {"d1": 2.0, "d2": 1.0} for at in range(30)}
    if is_refused:
        with pytest.raises(InputError, match=r"expected 20 or more queries .* found 19"):
            rs.evaluate_with_model_judge(human, model, run, "P@1")
        with pytest.raises(InputError, match=r"in 20 or more queries .* found 19"):
            rs.estimate_dcg(human, model, run, "DCG@2")
    else:
        found = rs.evaluate_with_model_judge(human, model, run, "P@1")["P@1"]
        assert (found.human_queries, found.queries) == (queries, 30)
        assert rs.estimate_dcg(human, model, run, "DCG@2").means[0].human_queries == queries


def test_the_variance_is_mixed_with_that_of_two_queries_that_the_model_knows_nothing_of() -> None:
    draw = np.random.default_rng(1)
    human = draw.random(25)
    model = human / 2 + draw.random(25)
    # The other queries have the same mean, so that the correction is 0.
    found = estimate_powered(human, model, model, level=0.95, low=0, high=1)
    of_human, of_model = human - human.mean(), model - model.mean()
    weight = (of_human @ of_model) / (of_model @ of_model)
    assert 0 < weight < 1
    # HC3: each residual is divided by what its query leaves to the others.
    rest = (of_human - weight * of_model) / (1 - 1 / 25 - of_model**2 / (of_model @ of_model))
    by_model, alone = (rest**2).sum() / 25**2, of_human.var(ddof=1) / 25
    mixed = (24 * by_model + 2 * alone) / (24 + 2)
    assert found.gain == pytest.approx(alone / ((mixed + alone) / 2), rel=1e-9)


@pytest.mark.parametrize("judges", [49, 50, 51])
def test_more_than_50_judges_are_left_out_in_groups(judges: int) -> None:
    groups = group_judges(judges)
    assert len(groups) == min(judges, 50)
    assert sorted(chain.from_iterable(groups)) == [*range(judges)]


@pytest.mark.parametrize(("count", "is_refused"), [(999, False), (1000, False), (1001, True)])
def test_judges_give_at_most_1_000_different_grades(count: int, *, is_refused: bool) -> None:
    grades = np.arange(float(count))[:, None]
    if is_refused:
        with pytest.raises(LimitError, match="at most 1,000 different grades, found 1,001"):
            measure_agreement(["ann"], grades)
    else:
        assert len(measure_agreement(["ann"], grades).grades) == count


@pytest.mark.parametrize(("sampled", "is_refused"), [(1999, False), (2000, False), (2001, True)])
def test_at_most_2_000_candidates_are_sampled(sampled: int, *, is_refused: bool) -> None:
    if is_refused:
        with pytest.raises(rs.UsageError, match="sampled from 1 to 2,000, found 2001"):
            _read_ranks([1, 2], sampled)
    else:
        assert _read_ranks([1, 2], sampled)[1] == sampled


def test_sampled_ranks_are_corrected_for_cutoffs_up_to_1_000() -> None:
    value_at = _find_values(parse("P@1000"))
    assert value_at(np.array([1.0, 1000.0, 1001.0])).tolist() == [0.001, 0.001, 0.0]
    with pytest.raises(rs.MeasureError) as caught:
        _find_values(parse("P@1001"))
    assert "a cutoff up to 1,000" in caught.value.hint

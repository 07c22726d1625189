"""The simulation of intervals with judges covers the true mean, in its short form."""

from __future__ import annotations

import pytest

from dev.simulate.compare import judges


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("world", [*judges.WORLDS, *judges.CHANGED])
@pytest.mark.parametrize("model", ["biased", "erratic"])
def test_bounded_estimates_with_a_model_cover(world: str, model: str) -> None:
    found = judges.cover_queries(world, model, 20, total=400, samples=100)
    assert found.covered > 0.95 - 2 * found.error
    assert 0 < found.width < 1.2 * found.width_alone


@pytest.mark.parametrize("world", ["even", "zeros", "ones"])
def test_dense_estimates_with_a_model_cover_where_nothing_is_rare(world: str) -> None:
    found = judges.cover_queries(world, "biased", 20, total=400, method="dense", samples=300)
    assert found.covered > 0.95 - 2 * found.error
    assert found.width < 0.8 * found.width_alone


def test_people_who_judge_what_changed_narrow_the_interval() -> None:
    every, changed = (
        judges.cover_queries("4 % changed", "good", 20, total=400, drawn=drawn, samples=50)
        for drawn in ("all", "changed")
    )
    assert changed.covered > 0.95 - 2 * changed.error
    assert changed.width < every.width / 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", ["biased", "sparse"])
def test_estimates_from_single_documents_cover(model: str) -> None:
    found = judges.cover_documents(model, 100, queries=200, samples=100)
    assert found.covered > 0.95 - 2 * found.error
    assert 0 < found.width < found.width_alone


def test_intervals_with_judges_cover_where_those_of_queries_do_not() -> None:
    found = judges.cover_judges(3, 100, samples=500)
    assert found.covered > 0.95 - 2 * found.error
    assert found.covered_alone < 0.9

"""The simulation of intervals with judges covers the true mean, in its short form."""

from __future__ import annotations

import pytest

from dev.simulate.compare import judges


@pytest.mark.parametrize("world", judges.WORLDS)
@pytest.mark.parametrize("model", ["biased", "weak"])
def test_estimates_with_a_model_cover(world: str, model: str) -> None:
    found = judges.cover_queries(world, model, 20, total=400, samples=300)
    assert found.covered > 0.95 - 2 * found.error
    assert found.width < 1.1 * found.width_alone


def test_estimates_from_single_documents_cover() -> None:
    found = judges.cover_documents("biased", 100, queries=200, samples=200)
    assert found.covered > 0.95 - 2 * found.error
    assert found.width < 0.8 * found.width_alone


def test_intervals_with_judges_cover_where_those_of_queries_do_not() -> None:
    found = judges.cover_judges(3, 100, samples=500)
    assert found.covered > 0.95 - 2 * found.error
    assert found.covered_alone < 0.9

"""Clusters are reassigned as a whole, and statistics are in standard errors."""

from __future__ import annotations

import numpy as np
import pytest
from rankscope.monitor.why.reassignment import reassign


def test_clusters_on_both_sides_swap_them() -> None:
    is_there = np.ones(25, dtype=bool)
    signs = reassign(is_there, is_there, 299, seed=4).standardize(np.eye(25))
    assert signs.shape == (300, 25)
    assert (signs[0] == 1).all()
    assert set(np.unique(signs)) == {-1.0, 1.0}


def test_statistics_have_mean_0_and_variance_1_over_reassignments() -> None:
    random = np.random.default_rng(9)
    is_before = np.arange(60) < 50
    is_after = (np.arange(60) < 20) | ~is_before
    effects = random.exponential(1, (60, 4))
    standard = reassign(is_before, is_after, 20_000, seed=2).standardize(effects)[1:]
    assert standard.mean(axis=0) == pytest.approx(np.zeros(4), abs=0.04)
    assert standard.var(axis=0) == pytest.approx(np.ones(4), abs=0.05)

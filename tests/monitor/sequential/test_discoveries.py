"""Which of many monitors have found something."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import UsageError
from rankscope.monitor.sequential.detector import Detector, advance
from rankscope.monitor.sequential.discoveries import discover
from rankscope.monitor.sequential.observations import below

from tests.refusals import refuses


@given(st.lists(st.floats(-3, 9), max_size=12), st.sampled_from([0.01, 0.05, 0.3]))
def test_the_largest_set_that_bears_itself_out_is_named(logs: list[float], error: float) -> None:
    evidence = {f"monitor {at}": value for at, value in enumerate(logs)}
    found = discover(evidence, error)
    # A set of k is borne out where each of its members has K / (k error) or more.
    sizes = [
        k
        for k in range(1, len(logs) + 1)
        if sum(math.exp(value) * k * error >= len(logs) for value in logs) >= k
    ]
    assert len(found.names) == max(sizes, default=0)
    named = [evidence[name] for name in found.names]
    assert named == sorted(logs, reverse=True)[: len(named)]
    assert all(value >= found.log_needed for value in named)
    assert found.monitors == len(logs)


def test_one_monitor_is_named_where_its_own_alarm_is() -> None:
    detector = Detector(run_length=20)
    for _ in range(30):
        before, detector = detector, advance(detector, below(np.array([0.3]), 0.5))
        named = discover({"all": detector.log_evidence}, 1 / 20).names
        assert bool(named) == (detector.log_evidence >= math.log(20))
        if named:
            assert (before.is_alarm, detector.is_alarm) == (False, True)
            return
    pytest.fail("the drop was not found")


def test_of_many_monitors_few_are_named_by_chance() -> None:
    # e-values of expectation 1 for nine of ten, and much evidence for the tenth. All but that one
    # depend on each other as much as can be.
    draw = np.random.default_rng(5)
    error, times, false_shares = 0.1, 2000, []
    for _ in range(times):
        shared = math.log(10) if draw.random() < 0.1 else -math.inf
        evidence = {f"slice {at}": shared for at in range(9)} | {"tv": math.log(1000)}
        names = discover(evidence, error).names
        assert "tv" in names
        false_shares.append((len(names) - 1) / len(names))
    # Three standard errors of a share of `error`.
    assert 0 < np.mean(false_shares) <= error + 3 * math.sqrt(error * (1 - error) / times)


def test_monitors_that_have_seen_nothing_are_not_named() -> None:
    found = discover({"new": Detector(run_length=5).log_evidence, "old": 100.0}, 0.2)
    assert found.names == ("old",)
    assert discover({}, 0.2).names == ()


@pytest.mark.parametrize("error", [0, 1, -0.1, math.nan])
def test_a_level_beyond_0_and_1_is_refused(error: float) -> None:
    with refuses(UsageError, "bad_level"):
        discover({"all": 1.0}, error)


def test_evidence_that_is_no_number_is_refused() -> None:
    with refuses(UsageError, "bad_evidence", match="tv"):
        discover({"tv": math.nan}, 0.1)

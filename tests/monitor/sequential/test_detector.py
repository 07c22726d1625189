"""The detector of drops: its arithmetic, its promise, and that it can be put away and taken up."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import InputError, UsageError
from rankscope.monitor.sequential.detector import BETS, Detector, advance
from rankscope.monitor.sequential.observations import below

from tests.refusals import refuses

# Computed apart from this code: floor 0.7 and L = 1 + 0.8 (0.7 - x).
OBSERVED = (0.8, 0.7, 0.75, 0.6, 0.4, 0.3, 0.35, 0.2, 0.5, 0.3)
ADDING = (0.92, 1.92, 2.8032, 4.107456, 6.333245, 9.679884, 13.670251, 20.538352, 24.984488)
ADDING += (34.299525,)
STARTING = (0.92, 1.0, 0.96, 1.08, 1.3392, 1.767744, 2.262712, 3.167797, 3.674645, 4.850531)

PERIODS = st.lists(st.lists(st.floats(0, 1), max_size=5), max_size=12)


def watch(detector: Detector, periods: Iterable[list[float]], floor: float = 0.6) -> Detector:
    for values in periods:
        detector = advance(detector, below(np.array(values), floor))
    return detector


def test_periods_of_one_observation_are_those_of_the_paper() -> None:
    detector = Detector(run_length=30, bets=(0.8 * (1 - 0.7),))
    for x, adding, starting in zip(OBSERVED, ADDING, STARTING, strict=True):
        detector = advance(detector, below(np.array([x]), floor=0.7))
        assert math.exp(detector.log_evidence) == pytest.approx(adding, abs=1e-6)
        assert math.exp(detector.sums[0]) == pytest.approx(starting, abs=1e-6)
    assert (detector.alarm, detector.observations) == (10, 10)


@given(PERIODS, st.floats(0.05, 0.95))
def test_the_evidence_is_the_sum_over_every_first_period_of_a_drop(
    periods: list[list[float]], floor: float
) -> None:
    # Without the recursion: for each bet and each first period, the product of all L since then.
    held = [values for values in periods if values]
    expected = 0.0
    for bet in BETS:
        factors = [
            math.prod(1 + bet * (floor - x) / (1 - floor) for x in values) for values in held
        ]
        expected += sum(math.prod(factors[first:]) for first in range(len(factors))) / len(BETS)
    found = watch(Detector(run_length=10), periods, floor)
    assert found.periods == len(held)
    assert math.exp(found.log_evidence) == pytest.approx(expected, rel=1e-9)


def test_each_period_may_have_a_floor_of_its_own() -> None:
    bet = 0.25
    detector = Detector(run_length=10, bets=(bet,))
    for floor, x in ((0.5, 0.25), (0.75, 1.0)):
        detector = advance(detector, below(np.array([x]), floor))
    first, second = 1 + bet * 0.25 / 0.5, 1 + bet * -0.25 / 0.25
    assert math.exp(detector.log_evidence) == pytest.approx((first + 1) * second, rel=1e-14)


@given(PERIODS, st.integers(0, 12))
def test_a_detector_goes_on_where_it_was_put_away(periods: list[list[float]], at: int) -> None:
    whole = watch(Detector(run_length=5), periods)
    stored = json.dumps(watch(Detector(run_length=5), periods[:at]).to_dict(), allow_nan=False)
    assert watch(Detector.from_dict(json.loads(stored)), periods[at:]) == whole


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300), st.randoms(use_true_random=False))
def test_the_order_within_a_period_changes_no_bit(values: list[float], random: Random) -> None:
    mixed = values.copy()
    random.shuffle(mixed)
    assert watch(Detector(run_length=9), [mixed]) == watch(Detector(run_length=9), [values])


def test_the_order_of_periods_matters() -> None:
    low, high = [0.1] * 5, [0.9] * 5
    one, other = (watch(Detector(run_length=9), order) for order in ([low, high], [high, low]))
    assert one.log_evidence < other.log_evidence


def test_a_period_without_observations_is_none() -> None:
    detector = watch(Detector(run_length=9), [[0.5]])
    assert watch(detector, [[], []]) == detector
    assert Detector(run_length=9).log_evidence == -math.inf
    assert Detector(run_length=9).since is None


def test_evidence_without_end_does_not_overflow() -> None:
    detector = watch(Detector(run_length=9), [[0.0] * 10_000] * 5, floor=0.99)
    largest = math.log1p(BETS[-1] * 0.99 / 0.01)
    assert detector.log_evidence == pytest.approx(50_000 * largest - math.log(len(BETS)))
    assert detector.log_evidence > math.log(1.7e308)
    fallen = watch(Detector(run_length=9), [[1.0] * 10_000] * 5, floor=0.01)
    assert fallen.log_evidence < 0
    assert not fallen.is_alarm


def test_an_alarm_stays_until_the_detector_is_restarted() -> None:
    well, ill = [0.8] * 50, [0.2] * 50
    detector = watch(Detector(run_length=1000), [well, well, ill, *[well] * 30])
    assert (detector.alarm, detector.is_alarm) == (3, True)
    assert detector.log_evidence < 0
    assert detector.restart() == Detector(run_length=1000)


def test_a_drop_is_dated() -> None:
    draw = np.random.default_rng(20261121)
    detector = Detector(run_length=1000)
    for day in range(60):
        detector = advance(detector, below(draw.beta(4 if day < 40 else 3, 1, 100), floor=0.78))
    assert 40 < detector.alarm <= 50
    assert detector.since == pytest.approx(41, abs=3)


@pytest.mark.parametrize("shape", ["all or nothing", "mostly one", "spread"])
def test_false_alarms_are_as_rare_as_promised(shape: str) -> None:
    # The mean is the floor itself, where false alarms are the most frequent.
    draw = np.random.default_rng(7)
    runs, periods, size, floor, run_length = 80, 40, 8, 0.6, 100
    if shape == "all or nothing":
        observed = (draw.random((runs, periods, size)) < floor).astype(float)
    elif shape == "mostly one":
        observed = np.where(draw.random((runs, periods, size)) < 0.8, 0.7, 0.2)
    else:
        observed = draw.beta(3, 2, (runs, periods, size))
    alarms = sum(watch(Detector(run_length=run_length), run, floor).is_alarm for run in observed)
    bound = periods / run_length
    # Three standard errors of a share that is at the bound.
    assert alarms / runs <= bound + 3 * math.sqrt(bound * (1 - bound) / runs)


def test_the_promise_holds_where_means_follow_from_the_past() -> None:
    # Nothing need be alike from period to period: the mean is at the floor or above, as a player
    # who knows the evidence chooses.
    draw = np.random.default_rng(11)
    runs, periods, run_length, floor = 80, 40, 400, 0.5
    alarms = 0
    for _ in range(runs):
        detector = Detector(run_length=run_length)
        for _ in range(periods):
            if detector.log_evidence > 0:
                values = (draw.random(4) < floor).astype(float)
            else:
                values = np.full(20, 0.55)
            detector = advance(detector, below(values, floor))
        alarms += detector.is_alarm
    bound = periods / run_length
    assert alarms / runs <= bound + 3 * math.sqrt(bound * (1 - bound) / runs)


@pytest.mark.parametrize("floor", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_a_floor_that_nothing_can_fall_below_is_refused(floor: float) -> None:
    with refuses(UsageError, "bad_floor", match="between 0 and 1"):
        below(np.array([0.5]), floor)


@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf])
def test_a_value_beyond_0_and_1_is_refused(value: float) -> None:
    with refuses(InputError, "bad_observation", match="from 0 to 1"):
        below(np.array([0.5, value]), 0.5)


@pytest.mark.parametrize(
    "change",
    [
        {"run_length": 0.5},
        {"run_length": math.inf},
        {"bets": []},
        {"bets": [1.0]},
        {"bets": [0.5]},
        {"periods": 0},
        {"evidence": [0.0]},
        {"evidence": [math.nan] * len(BETS)},
        {"sums": [math.inf] * len(BETS)},
        {"starts": []},
        {"falls": []},
        {"sizes": []},
        {"starts": [-1] * len(BETS)},
        {"periods": "1"},
        {"observations": -1},
        {"alarm": "yes"},
        {"run_length": "1000"},
        {"evidence": None},
        {"wealth": 3},
    ],
)
def test_what_is_no_detector_is_refused(change: dict[str, object]) -> None:
    stored = watch(Detector(run_length=9), [[0.5]]).to_dict()
    with refuses(UsageError, "bad_detector"):
        Detector.from_dict(stored | change)

"""What a sample of users adds to the uncertainty of a trace is what simulated samples show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from rankscope import Interval
from rankscope.monitor.why.compute import TraceChoices, trace
from rankscope.monitor.why.query_columns import QueryColumns, TextColumn
from rankscope.monitor.why.sampling import Sampled

USERS = 1200
RATE = 0.25
SAMPLES = 40
QUICK = TraceChoices(interval=Interval(resamples=100), permutations=79, support=10)
RANDOM = np.random.default_rng(4)
SKILL = RANDOM.normal(0, 0.08, USERS)
SEARCHES = RANDOM.integers(1, 6, USERS)
DEVICES = np.array(["phone", "tv"])[(np.arange(USERS) % 3 == 0).astype(int)]


def window(number: int, fall: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The users of searches and the values, of which those on television fell."""
    random = np.random.default_rng(number)
    users = np.repeat(np.arange(USERS), random.permutation(SEARCHES))
    value = 0.7 + SKILL[users] + random.normal(0, 0.1, len(users))
    value -= np.where(DEVICES[users] == "tv", fall, 0)
    return users, value.clip(0, 1)


BEFORE, AFTER = window(1, 0.0), window(2, 0.3)


def columns(made: tuple[NDArray[np.int64], NDArray[np.float64]], chosen: object) -> QueryColumns:
    """The searches of some users as columns."""
    users, value = made
    kept = np.isin(users, chosen)
    users, value = users[kept], value[kept]
    none = np.zeros(len(users))
    names = [f"user {user}" for user in users.tolist()]
    return QueryColumns(
        measure="nDCG@5",
        value=value,
        retrieval=none,
        truncation=none,
        ordering=1 - value,
        undefined=none,
        ideal=none + 1,
        relevant=none + 1,
        key=TextColumn.of(names),
        attributes={"device": TextColumn.of(DEVICES[users].tolist())},
    )


def test_errors_are_those_of_simulated_samples() -> None:
    everyone = np.arange(USERS)
    whole = trace(columns(BEFORE, everyone), columns(AFTER, everyone), QUICK, threads=1)
    assert whole.sampling is None
    (cause,) = whole.causes
    assert cause.name == "device=tv"
    off = []
    for seed in range(SAMPLES):
        chosen = np.flatnonzero(np.random.default_rng(100 + seed).random(USERS) < RATE)
        found = trace(
            columns(BEFORE, chosen),
            columns(AFTER, chosen),
            QUICK,
            sampled=Sampled((RATE, RATE), (len(BEFORE[0]), len(AFTER[0]))),
            threads=1,
        )
        name = found.causes[0].name
        assert name == "device=tv"
        errors = found.sampling.errors["change"], found.sampling.contributions[name]
        share = found.sampling.shares[name]
        ends = found.causes[0].contribution
        amounts = found.change - whole.change, ends - cause.contribution
        part = ends / found.change - cause.contribution / whole.change
        off.append(
            [
                amount / (error or math.nan)
                for amount, error in zip((*amounts, part), (*errors, share), strict=True)
            ]
        )
    # In standard errors: around 0, with a variance of 1; that of 40 is off by 0.22.
    spread = np.sqrt(np.mean(np.square(off), axis=0))
    assert ((spread > 0.75) & (spread < 1.3)).all(), spread


def test_a_window_that_is_whole_adds_nothing() -> None:
    half = np.arange(0, USERS, 2)
    one, other = columns(BEFORE, half), columns(AFTER, half)
    sizes = len(one) * 2, len(other)

    def error(rates: tuple[float, float]) -> float:
        made = trace(one, other, QUICK, sampled=Sampled(rates, sizes), threads=1).sampling
        return made.errors["change"] or 0.0

    both, first, second = error((0.5, 0.5)), error((0.5, 1.0)), error((1.0, 0.5))
    assert 0 < first < both * 2
    # Users are in both windows, so that what is missing in both is off alike.
    assert both < math.hypot(first, second)
    assert trace(one, other, QUICK, sampled=Sampled((1.0, 1.0), sizes), threads=1).sampling is None


def test_one_user_tells_no_error() -> None:
    alone = columns(BEFORE, [3]), columns(AFTER, [3])
    found = trace(*alone, QUICK, sampled=Sampled((0.5, 0.5), (9, 9)), threads=1)
    assert set(found.sampling.errors.values()) == {None}
    assert "Sampled: 1 in 2 users, from 9 rankings before and 9 after." in str(found)


@pytest.mark.parametrize("rates", [(0.25, 1.0), (0.25, 0.125)])
def test_rates_are_named(rates: tuple[float, float]) -> None:
    half = np.arange(0, USERS, 2)
    found = trace(
        columns(BEFORE, half),
        columns(AFTER, half),
        QUICK,
        sampled=Sampled(rates, (9, 9)),
        threads=1,
    )
    after = "all users" if rates[1] == 1 else "1 in 8 users"
    assert f"Sampled: 1 in 4 users before and {after} after" in str(found)
    plain = found.to_dict()["sampling"]
    assert plain["rates"] == [*rates]

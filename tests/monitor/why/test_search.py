from __future__ import annotations

import math
from collections import Counter
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from rankscope._settings import Interval
from rankscope._stats.sums import below, number_texts, scatter
from rankscope.monitor.why.cluster_bags import place_clusters
from rankscope.monitor.why.cluster_bootstrap import find_intervals
from rankscope.monitor.why.compute import TraceChoices, trace
from rankscope.monitor.why.query_columns import QueryColumns, TextColumn
from rankscope.monitor.why.sampling import Sampled

from tests.monitor.why.windows import decompose, draw_window, make_window

NAMES = ("country", "device", "version")
trace_quickly = partial(trace, choices=TraceChoices(interval=Interval(resamples=299)))


def test_every_slice_adds_what_a_decomposition_says():
    windows = draw_window(1, 600), draw_window(2, 600, swapped=True)
    found = trace(*windows, TraceChoices(support=1, interval=Interval(resamples=100)))
    rows = {frozenset(name.split(", ")): row for name, row in found.slices.to_dict().items()}
    expected = {
        frozenset(each.name.split(", ")): each
        for by in [*((name,) for name in NAMES), *combinations(NAMES, 2)]
        for each in decompose(*windows, *by).slices
    }
    assert rows.keys() == expected.keys()
    assert [*found.slices.column("within")] == sorted(found.slices.column("within"))
    for name, each in expected.items():
        assert rows[name]["queries before"] == each.queries[0]
        for part in ("total", "mix", "within", "entered", "left"):
            assert rows[name][part] == pytest.approx(getattr(each, part), abs=1e-14)


@pytest.mark.parametrize("loss", ["retrieval", "truncation", "ordering"])
def test_the_kind_of_a_loss_is_told(loss):
    random = np.random.default_rng(1)
    value = random.random(1000) / 5 + 0.7
    device = np.where(np.arange(1000) % 4 == 0, "tv", "pc")
    lost = np.where(device == "tv", 0.3, 0.0)
    losses = {"ordering": 1 - value, loss: lost + (1 - value if loss == "ordering" else 0.0)}
    found = trace_quickly(
        make_window(value, device=device), make_window(value - lost, losses=losses, device=device)
    )
    (cause,) = found.causes
    assert cause.main_loss(-1) == loss
    assert cause.change.losses[loss] == pytest.approx(-0.3 / 4)
    assert f"within device=tv by {loss}" in str(found)


@pytest.mark.parametrize(
    ("song", "name"), [(0.7, "device=tv"), (1.0, "device=tv, kind=mood")], ids=["all", "a part"]
)
def test_a_slice_is_found_whole_where_all_of_it_fell(song, name):
    random = np.random.default_rng(7)
    device = random.choice(["pc", "phone", "tv"], 4000)
    kind = random.choice(["mood", "song"], 4000)
    value = random.random(4000) / 4 + 0.75
    left = np.where(kind == "mood", 0.5, song)
    fallen = value * np.where(device == "tv", left, 1)
    found = trace_quickly(
        make_window(value, device=device, kind=kind),
        make_window(fallen[::-1], device=device[::-1], kind=kind[::-1]),
    )
    assert [each.name for each in found.causes] == [name]
    assert found.causes[0].contribution == pytest.approx(found.change, abs=0.002)


def test_two_slices_are_told_apart_and_add_up():
    random = np.random.default_rng(3)
    device = random.choice(["pc", "phone", "tv"], 6000)
    country = random.choice(["at", "de", "fr", "it", "us"], 6000)
    value = random.random(6000) / 2 + 0.5
    is_first = (device == "tv") & (country == "de")
    is_second = country == "us"
    fallen = value - 0.3 * is_first - 0.2 * is_second
    found = trace_quickly(
        make_window(value, device=device, country=country),
        make_window(fallen, device=device, country=country),
    )
    assert [each.name for each in found.causes] == ["country=us", "device=tv, country=de"]
    amounts = [-0.2 * is_second.mean(), -0.3 * is_first.mean()]
    assert [each.contribution for each in found.causes] == pytest.approx(amounts)
    assert found.change == pytest.approx(sum(amounts))


def test_texts_are_scattered_evenly():
    numbers = number_texts(f"user {number}" for number in range(100_000))
    for seed in range(3):
        counts = Counter(below(scatter(numbers, seed), 10).tolist())
        # The standard deviation of each is 95.
        assert all(abs(count - 10_000) < 500 for count in counts.values())
    both = Counter(
        zip(
            (scatter(numbers, 1) & np.uint64(1)).tolist(),
            (scatter(numbers, 2) & np.uint64(1)).tolist(),
            strict=True,
        )
    )
    assert all(abs(count - 25_000) < 700 for count in both.values())


@pytest.mark.parametrize("count", [50, 1998, 1999, 6000])
def test_a_cluster_is_in_one_of_2_000_bags_in_both_windows(count):
    names = [f"user {number % count}" for number in range(2 * count)]
    before, after = TextColumn.of(names), TextColumn.of([*names[::-1], "another", None])
    placed = place_clusters(before, after, seed=1)
    found = {}
    for column, bags in zip((before, after), placed.bags, strict=True):
        for code, bag in zip(column.codes, bags, strict=True):
            name = None if code < 0 else column.texts[code]
            found.setdefault(name, set()).add(int(bag))
    assert all(len(each) == 1 for each in found.values())
    used = {bag for each in found.values() for bag in each}
    assert max(used) < placed.count == min(count + 2, 2000)
    if count + 2 <= 2000:
        assert len(used) == count + 2


def test_an_interval_is_that_of_scipy():
    """BCa of a ratio, with draws of our own: the ends agree as far as draws do."""
    random = np.random.default_rng(6)
    scipy_stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    pairs = np.column_stack([random.exponential(size=60), random.random(60) + 0.5])

    def ratio(top, bottom, axis=-1):
        return top.sum(axis=axis) / bottom.sum(axis=axis)

    theirs = scipy_stats.bootstrap(
        (pairs[:, 0], pairs[:, 1]),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=5_000,
        rng=np.random.default_rng(7),
    ).confidence_interval
    ours = find_intervals(
        pairs,
        lambda totals: totals[..., :1] / totals[..., 1:],
        Interval(resamples=5_000),
        [0.95],
    )[0]
    width = theirs.high - theirs.low
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.06 * width)


def test_an_interval_covers_as_often_as_it_says():
    """Clusters of three queries in both windows: 95 % of 50 are 47.5."""
    covered = 0
    for seed in range(50):
        random = np.random.default_rng(seed)
        cluster = random.integers(0, 60, 360)
        value = np.clip(
            0.5 + random.normal(0, 0.15, 60)[cluster] + random.normal(0, 0.1, 360), 0, 1
        )
        names = [str(number) for number in cluster]
        before = make_window(value[:180], cluster=names[:180])
        after = make_window(value[180:], cluster=names[180:])
        ends = trace(
            before, after, TraceChoices(interval=Interval(resamples=199, seed=seed))
        ).intervals["change"]
        covered += ends[0] <= 0 <= ends[1]
    # Fewer than 42 have a probability below 0.001.
    assert covered >= 42


USERS = 1200
RATE = 0.25
SAMPLES = 40
QUICK = TraceChoices(interval=Interval(resamples=100), permutations=79, support=10)
RANDOM = np.random.default_rng(4)
SKILL = RANDOM.normal(0, 0.08, USERS)
SEARCHES = RANDOM.integers(1, 6, USERS)
DEVICES = np.array(["phone", "tv"])[(np.arange(USERS) % 3 == 0).astype(int)]


def window(number, fall):
    random = np.random.default_rng(number)
    users = np.repeat(np.arange(USERS), random.permutation(SEARCHES))
    value = 0.7 + SKILL[users] + random.normal(0, 0.1, len(users))
    value -= np.where(DEVICES[users] == "tv", fall, 0)
    return users, value.clip(0, 1)


BEFORE, AFTER = window(1, 0.0), window(2, 0.3)


def columns(made, chosen):
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


def test_errors_are_those_of_simulated_samples():
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


def test_a_window_that_is_whole_adds_nothing():
    half = np.arange(0, USERS, 2)
    one, other = columns(BEFORE, half), columns(AFTER, half)
    sizes = len(one) * 2, len(other)

    def error(rates):
        made = trace(one, other, QUICK, sampled=Sampled(rates, sizes), threads=1).sampling
        return made.errors["change"] or 0.0

    both, first, second = error((0.5, 0.5)), error((0.5, 1.0)), error((1.0, 0.5))
    assert 0 < first < both * 2
    # Users are in both windows, so that what is missing in both is off alike.
    assert both < math.hypot(first, second)
    assert trace(one, other, QUICK, sampled=Sampled((1.0, 1.0), sizes), threads=1).sampling is None


def test_one_user_tells_no_error():
    alone = columns(BEFORE, [3]), columns(AFTER, [3])
    found = trace(*alone, QUICK, sampled=Sampled((0.5, 0.5), (9, 9)), threads=1)
    assert set(found.sampling.errors.values()) == {None}
    assert "Sampled: 1 in 2 users, from 9 rankings before and 9 after." in str(found)


@pytest.mark.parametrize("rates", [(0.25, 1.0), (0.25, 0.125)])
def test_rates_are_named(rates):
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

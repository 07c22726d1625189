from __future__ import annotations

import math
import statistics
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import UsageError
from rankscope._settings import Interval
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import MOST_LEFT_OUT, Definition, define
from rankscope.monitor.definition.document import read_configuration, write_configuration
from rankscope.monitor.evaluate.baseline import find_previous
from rankscope.monitor.evaluate.means import average_by_cluster, estimate_mean
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.store.sqlite.store import SQLiteStore
from scipy.stats import t

from tests.monitor.rules.world import CLICKS, show
from tests.refusals import refuses

NOW = 10 * HOUR


def search(name, time, version, rank, **said):
    """A ranking of the user whose letter it begins with, and a click at a rank."""
    return show(name, time, rank, user=name[0], version=version, **said)


EVENTS = [
    *search("u1", 0, "1", 1),
    *search("u2", HOUR, "2", 1),
    *search("v1", HOUR, "2", 2),
    *search("v2", 2 * HOUR, "2", 3),
    *search("w1", 3 * HOUR, "2", 0),
    *search("w2", 4 * HOUR, "3", 1),
    *search("x1", NOW - 1, "2", 1),
    *search("x2", 5 * HOUR, "2", 1, environment="validation"),
    *search("y1", 99 * HOUR, "2", 2, environment="validation"),
]


@pytest.fixture
def store(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as opened:
        opened.append("music", EVENTS)
        yield opened


def find(store, now=NOW, **chosen):
    monitor = Monitor(store, "music", clock=lambda: now, threads=1)
    choice = BaselineChoice(**chosen)
    monitor.configure(Configuration(definition=CLICKS, baseline=choice))
    monitor.evaluate()
    return monitor.baseline()


def test_a_set_counts_as_it_is(store):
    baseline = find(store)
    assert (baseline.kind, baseline.of, baseline.rankings) == ("set", "validation", 2)
    assert baseline.means["RR@3"].value == (1 / 1 + 1 / 2) / 2


def test_a_period_has_its_mature_rankings(store):
    span = {"since": to_datetime(HOUR), "until": to_datetime(NOW)}
    baseline = find(store, kind="period", version="2", **span)
    assert baseline.of == "1970-01-01T01:00:00.000000Z to 1970-01-01T10:00:00.000000Z 2"
    mean = baseline.means["RR@3"]
    # What has no relevant document is not in the mean, but among the rankings.
    assert (baseline.rankings, mean.rankings, mean.clusters) == (4, 3, 2)
    assert mean.value == math.fsum([1, 1 / 2, 1 / 3]) / 3
    assert baseline.means["nDCG@3"].value == pytest.approx(
        statistics.mean([1, 1 / math.log2(3), 1 / 2]), abs=1e-15
    )
    assert mean.lower < mean.value < mean.upper


def test_the_order_of_events_does_not_matter(store, tmp_path):
    baseline = find(store, kind="version")
    with SQLiteStore(tmp_path / "other.db") as other:
        other.append("music", EVENTS[::-1])
        assert find(other, kind="version") == baseline
    assert (baseline.kind, baseline.of) == ("version", "m 2")
    assert baseline.means["RR@3"].value == math.fsum([1, 1 / 2, 1 / 3]) / 3


@pytest.mark.parametrize(
    ("version", "previous"), [("1", None), ("2", "1"), ("3", "2"), ("4", None)]
)
def test_the_version_before_is_that_shown_last_before(store, version, previous):
    assert find_previous(store.versions("music"), model="m", version=version) == previous


def test_nothing_is_no_baseline(store):
    assert find(store, environment="training") is None
    assert find(store, model="other") is None
    span = {"since": to_datetime(0), "until": to_datetime(HOUR)}
    assert find(store, kind="period", **span) is not None
    # Its attribution windows are open.
    assert find(store, kind="period", now=HOUR - 1, **span) is None
    # There is none before the only version.
    assert find(store, kind="version", model="other") is None


def test_values_of_another_definition_are_not_held_against_it(store):
    baseline = find(store)
    alone = define(measures="RR@3", positive="click", window=CLICKS.window)
    assert baseline.find("RR@3", alone) == baseline.means["RR@3"]
    other = define(measures="RR@3", positive="click", window=CLICKS.window + 1)
    with refuses(UsageError, "other_definition"):
        baseline.find("RR@3", other)


VALUES = np.array([0.1, 0.9, 0.4, math.nan, 0.4, 0.7, 0.2, 1.0, 0.3, 0.0])
USERS = np.array(["a", "b", "a", "a", "c", "b", "d", "e", "e", "e"])
ROWS = st.lists(
    st.tuples(
        st.floats(0, 1) | st.just(math.nan), st.sampled_from(["a", "b", "é", "long name", ""])
    ),
    max_size=40,
)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_is_that_of_the_cluster_robust_error(level):
    mean = estimate_mean(VALUES, USERS, Interval(level, method="t"))
    kept = ~np.isnan(VALUES)
    centre = math.fsum(VALUES[kept]) / 9
    assert (mean.value, mean.clusters, mean.rankings, mean.level) == (centre, 5, 9, level)
    # Liang and Zeger: residuals are added up within clusters before they are squared.
    sums = [math.fsum(VALUES[kept & (user == USERS)] - centre) for user in "abcde"]
    error = math.sqrt(math.fsum(each * each for each in sums) * 5 / 4) / 9
    half = t.ppf((1 + level) / 2, df=4) * error
    assert (mean.lower, mean.upper) == pytest.approx((centre - half, centre + half), abs=1e-9)


@pytest.mark.parametrize("threads", [2, 7])
def test_draws_of_clusters_do_not_depend_on_threads(threads):
    draw = np.random.default_rng(3)
    values, users = draw.random(3000), draw.integers(0, 900, 3000)
    interval = Interval(resamples=2000, seed=5)
    one = estimate_mean(values, users, interval)
    assert estimate_mean(values, users, interval, threads) == one
    shuffled = draw.permutation(3000)
    assert estimate_mean(values[shuffled], users[shuffled], interval) == one


@pytest.mark.parametrize("method", ["t", "dense"])
def test_intervals_cover_although_users_are_alike_within(method):
    # What a user does depends mostly on the user, and heavy users are not like others.
    draw = np.random.default_rng(20261121)
    truth, covered, naive, times = 0.0, 0, 0, 200
    sizes = np.array([1, 2, 12])
    levels = np.array([0.5, 0.6, 0.8])
    truth = float((sizes * levels).sum() / sizes.sum())
    for _ in range(times):
        kind = draw.integers(0, 3, 60)
        taste = np.clip(levels[kind] + draw.normal(0, 0.15, 60), 0, 1)
        users = np.repeat(np.arange(60), sizes[kind])
        values = np.clip(taste[users] + draw.uniform(-0.05, 0.05, len(users)), 0, 1)
        interval = Interval(method=method, resamples=200)
        mean = estimate_mean(values, users, interval)
        covered += mean.lower <= truth <= mean.upper
        alone = estimate_mean(values, np.arange(len(values)), interval)
        naive += alone.lower <= truth <= alone.upper
    # Clipping moves the truth by less than 0.01; so few clusters cost some coverage.
    assert covered / times > 0.9
    assert naive / times < 0.8


@pytest.mark.parametrize("values", [[], [math.nan], [0.5], [0.5, 0.7]])
def test_one_cluster_has_no_interval(values):
    mean = estimate_mean(np.array(values), np.array(["a"] * len(values), dtype=np.str_))
    assert math.isnan(mean.lower)
    assert math.isnan(mean.upper)
    assert mean.rankings == len([value for value in values if not math.isnan(value)])


def average(rows):
    values, names = (np.array([row[at] for row in rows]) for at in range(2))
    means, counts = average_by_cluster(values.astype(np.float64), names)
    return means.tolist(), counts.tolist()


@given(ROWS)
def test_each_cluster_is_averaged(rows):
    held = defaultdict(list)
    for value, cluster in rows:
        if not math.isnan(value):
            held[cluster].append(value)
    means, counts = average(rows)
    assert counts == [len(held[key]) for key in sorted(held)]
    expected = [math.fsum(held[key]) / len(held[key]) for key in sorted(held)]
    assert means == pytest.approx(expected, rel=1e-14)
    assert all(0 <= value <= 1 for value in means)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(rows, random):
    mixed = rows.copy()
    random.shuffle(mixed)
    assert average(mixed) == average(rows)


NIGHT = datetime(2026, 11, 2, tzinfo=UTC)
BOTS = ("bot 1", "bot <2>")
GRADES = {"a": 3, "b": 0, "c": 1, "d": 0}


def make_definition(*left_out):
    return define(measures=["nDCG@3", "RR@3"], positive="click", window="1h", left_out=left_out)


def make_searches(day, *, has_bots):
    """The searches of a day; those of bots are the worst, and one hour has no others."""
    searches = []
    for number in range(60):
        user = f"user {number % 20}" if number % 3 else BOTS[number % 2]
        if user in BOTS and not has_bots:
            continue
        order = "dbca" if user in BOTS else "abcd" if number % 4 else "bacd"
        hour = 5 if user in BOTS else 6 + number % 10
        searches.append(
            {
                "ranking_id": f"{day} {number}",
                "user_id": user,
                "time": (NIGHT + timedelta(days=day, hours=hour, minutes=number)).isoformat(),
                "version": "3",
                "attributes": {"device": "tv" if number % 2 else "phone"},
                "doc_ids": list(order),
                "relevance": [GRADES[doc] for doc in order],
            }
        )
    return searches


def make_monitor(path, definition, *, has_bots):
    monitor = Monitor.open(str(path), now=lambda: NIGHT + timedelta(days=11))
    since, until = NIGHT, NIGHT + timedelta(days=5)
    chosen = BaselineChoice(kind="period", since=since, until=until)
    monitor.configure(Configuration(definition=definition, attributes=("device",), baseline=chosen))
    monitor.set_rule(Rule(name="quality", measure="nDCG@3"))
    for day in range(10):
        monitor.log_rankings(make_searches(day, has_bots=has_bots))
    monitor.evaluate(is_replay=True)
    return monitor


def tell(monitor):
    (rule,) = (one for one in monitor.check() if one.rule.name == "quality")
    traced = monitor.trace(
        Span(since=NIGHT, until=NIGHT + timedelta(days=5)),
        Span(since=NIGHT + timedelta(days=5), until=NIGHT + timedelta(days=10)),
    )
    return {
        "days": [
            (each.values, each.lower, each.rankings)
            for each in (monitor.series(name, every="day") for name in monitor.measures)
        ],
        "tv": monitor.series("nDCG@3", slice=(("device", "tv"),)).values,
        "baseline": monitor.baseline().means,
        "streams": [(one.value, one.log_evidence, one.floor) for one in rule.streams],
        "trace": traced.to_dict() | {"definition": ""},
    }


@pytest.mark.slow
def test_values_are_as_if_they_had_never_been_logged(tmp_path):
    without = make_monitor(tmp_path / "a.db", make_definition(), has_bots=False)
    left = make_monitor(tmp_path / "b.db", make_definition(*BOTS), has_bots=True)
    assert tell(left) == tell(without)


@pytest.mark.slow
def test_it_is_undone(tmp_path):
    monitor = make_monitor(tmp_path / "a.db", make_definition(), has_bots=True)
    before = monitor.series("nDCG@3", every="day").values
    for users in (BOTS, ()):
        configuration = monitor.configuration
        monitor.configure(
            Configuration(
                definition=make_definition(*users),
                attributes=configuration.attributes,
                baseline=configuration.baseline,
            )
        )
        monitor.evaluate()
        after = monitor.series("nDCG@3", every="day").values
        assert (after == before) is (users == ())


def test_users_are_part_of_a_definition():
    definition = make_definition("b", "a", "b")
    assert definition.left_out == ("a", "b")
    assert definition.hash != make_definition().hash
    assert Definition.from_json(definition.to_json()) == definition
    assert "left_out" not in make_definition().to_dict()
    configuration = Configuration(definition=definition)
    assert read_configuration(write_configuration(configuration)) == configuration
    for wrong in ([""], ["a\0"], ["\ud800"], [str(one) for one in range(MOST_LEFT_OUT + 1)]):
        with pytest.raises(UsageError):
            make_definition(*wrong)

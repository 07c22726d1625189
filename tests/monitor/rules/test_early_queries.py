"""Changes of a few queries that are asked often: they are no early warning."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor import Configuration, Monitor, define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.early.queries import Asked, QueryReader
from rankscope.monitor.rules.early.usual import SPANS
from rankscope.monitor.signals.kinds import NAMES

START = datetime(2026, 6, 1, tzinfo=UTC)
BROKEN = 9


def make_asked(
    queries: list[int],
    values: list[float],
    hours: list[int] | None = None,
    shares: list[float] | None = None,
) -> Asked:
    """Return rankings whose signals all have the same values."""
    times = np.array(hours or [0] * len(queries))
    usual = np.array(shares or [0.0] * len(queries))
    return Asked(times, np.array(queries), usual, np.tile(values, (len(NAMES), 1)))


@given(size=st.integers(1, 9), values=st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_lists_that_are_the_same_for_a_query_count_as_one(size: int, values: list[float]) -> None:
    values = [round(each, 3) for each in values]
    queries = np.repeat(np.arange(len(values)), size).tolist()
    asked = make_asked(queries, np.repeat(values, size).tolist())
    assert asked.find_design_effect("overlap", 0) == pytest.approx(
        size if len(set(values)) > 1 else 1
    )


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_queries_that_are_asked_once_count_each(values: list[float]) -> None:
    asked = make_asked([*range(len(values))], values)
    assert asked.find_design_effect("overlap", 0) == pytest.approx(1)


def test_one_query_among_many_is_worked_out_by_hand() -> None:
    # 3 rankings of one query at 1, and 6 of others at 0: the mean is 1 / 3.
    asked = make_asked([0, 0, 0, 1, 2, 3, 4, 5, 6], [1.0] * 3 + [0.0] * 6)
    together, alone = (3 * 2 / 3) ** 2 + 6 / 9, 3 * 4 / 9 + 6 / 9
    assert asked.find_design_effect("tied", 0) == pytest.approx(together / alone)


@pytest.mark.parametrize(
    ("usual", "beyond"), [(0.0, 1.0), (0.25, 0.5), (0.49, 0.02), (0.5, 0.0), (0.9, 0.0)]
)
def test_what_a_query_has_usually_is_not_drawn_together(usual: float, beyond: float) -> None:
    # Half of the 8 rankings are of one query, at 1; the others are at 0.
    asked = make_asked(
        [0] * 4 + [1, 2, 3, 4], [1.0] * 4 + [0.0] * 4, shares=[usual] * 4 + [0.0] * 4
    )
    together, alone = (4 / 2) ** 2, 4 / 4
    expected = (beyond**2 * together + (1 - beyond**2) * alone + 1) / 2
    assert asked.find_design_effect("tied", 0) == pytest.approx(expected)


def test_only_known_values_since_the_time_count() -> None:
    values = [0.0, 0.0, 0.0, np.nan, 1.0]
    asked = make_asked([0, 0, 0, 0, 1], values, [0, 0, HOUR, HOUR, HOUR])
    assert asked.find_design_effect("tied", HOUR) == 1.0
    assert asked.find_design_effect("tied", 2 * HOUR) == 1.0
    assert asked.find_design_effect("tied", 0) == pytest.approx(1.5)


def show(
    monitor: Monitor,
    day: int,
    bots: int = 0,
    *,
    is_one_query: bool = True,
    home: int = 0,
    is_broken: bool = False,
) -> None:
    """Log 96 lists of a day, and those of bots, whose scores are all the same.

    Of five lists, `home` are of one query, and may be broken, too.
    """
    rankings = []
    for number in range(96 + bots):
        is_bot = number >= 96
        minutes = (number - 96) * 1440 // bots if is_bot else 15 * number
        query = f"q{number % 32}"
        if is_bot:
            query = f"bot {day}" if is_one_query else f"bot {day} {number}"
        elif number % 5 < home:
            query = "home"
        has_ties = is_bot or (is_broken and query == "home")
        rankings.append(
            {
                "ranking_id": f"{day}-{number}",
                "time": (START + timedelta(days=day, minutes=minutes)).isoformat(),
                "model": "gbdt",
                "version": "4",
                "user_id": f"u{number}",
                "query_key": query,
                "attributes": {"device": "tv" if number % 3 == 0 else "phone"},
                "doc_ids": [f"d{number % 32}-{at}" for at in range(6)],
                "scores": [0.5] * 6 if has_ties else [9, 8, 7, 6, 5, 4],
            }
        )
    monitor.log_rankings(rankings)


@pytest.fixture
def clock() -> list[datetime]:
    return [START]


@pytest.fixture
def monitor(tmp_path: object, clock: list[datetime], request: pytest.FixtureRequest) -> Monitor:
    opened = Monitor.open(f"{tmp_path}/a.db", now=lambda: clock[-1])
    definition = define(measures=["nDCG@4"], positive="click", window="24h")
    opened.configure(Configuration(definition=definition, attributes=("device",), baseline=None))
    clock.append(START + timedelta(days=BROKEN, hours=1))
    for day in range(BROKEN):
        show(opened, day, home=getattr(request, "param", 0))
    opened.evaluate()
    clock.append(START + timedelta(days=BROKEN + 1, hours=1))
    return opened


def make_reader(monitor: Monitor) -> QueryReader:
    slicing = Slicing(values=(("device", ("phone", "tv")),))
    return QueryReader(monitor.store, monitor.project, monitor.configuration, slicing)


@pytest.mark.slow
@pytest.mark.parametrize("is_one_query", [True, False])
def test_bots_that_ask_one_query_all_day_are_no_warning(
    monitor: Monitor, is_one_query: bool
) -> None:
    show(monitor, BROKEN, 32, is_one_query=is_one_query)
    opened = [each for event, each in monitor.evaluate().events if each.rule == "early"]
    # The same lists for many queries are one: scores may be broken.
    assert bool(opened) == (not is_one_query)


@pytest.mark.parametrize("monitor", [4], indirect=True)
def test_one_query_that_most_rankings_always_have_is_a_warning(monitor: Monitor) -> None:
    show(monitor, BROKEN, home=4, is_broken=True)
    [opened] = [each for event, each in monitor.evaluate().events if each.rule == "early"]
    assert {"constant", "tied"} <= {fact["signal"] for fact in opened.evidence["facts"]}
    day = to_micros(START + timedelta(days=BROKEN))
    asked = make_reader(monitor).read(Segment("gbdt"), day, day + DAY)
    assert asked.find_design_effect("constant", day) == pytest.approx(1, abs=0.3)
    unusual = asked._replace(shares=np.zeros(len(asked.shares)))
    assert unusual.find_design_effect("constant", day) > 10


def test_rankings_of_a_stream_are_read_with_their_queries(monitor: Monitor) -> None:
    show(monitor, BROKEN, 32)
    reader = make_reader(monitor)
    until = to_micros(START + timedelta(days=BROKEN + 1))
    since = until - max(SPANS) * HOUR
    whole = reader.read(Segment("gbdt"), since, until)
    assert len(whole.queries) == 3 * 96 + 32
    assert np.sort(np.bincount(whole.queries)).tolist() == [9] * 32 + [32]
    constant = whole.values[NAMES.index("constant")]
    assert constant.sum() == 32
    assert len({*whole.queries[constant == 1].tolist()}) == 1
    assert whole.shares[constant == 1].tolist() == [0.0] * 32
    # Each of the 32 queries has had a 32nd of the rankings.
    assert np.unique(whole.shares[constant == 0]) == pytest.approx(1 / 32)
    of_tv = reader.read(Segment("gbdt", "", (("device", "tv"),)), since, until)
    assert len(of_tv.queries) == 3 * 32 + 11
    assert not len(reader.read(Segment("gbdt", "5"), since, until).queries)
    assert not len(reader.read(Segment("other"), since, until).queries)
    assert not len(reader.read(Segment("gbdt"), until, until + HOUR).queries)

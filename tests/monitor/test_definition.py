from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import AP, ERR, GMAP, NumRet, Policy, UsageError, nDCG
from rankscope.errors import FormatError, MeasureError
from rankscope.monitor import Configuration, Monitor
from rankscope.monitor.definition.calendar import (
    LONGEST,
    MOST_PERIODS,
    Calendar,
    Period,
    read_period,
    write_period,
)
from rankscope.monitor.definition.definition import Definition, check_comparable, define
from rankscope.monitor.events.bins import find_bin, name_bins, read_number
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.setup.file import read_setup

from tests.refusals import refuses

CLICKS = {"positive": "click", "window": 3600}


def test_the_digest_is_that_of_the_text():
    definition = define(**CLICKS)
    assert definition.hash == hashlib.sha256(definition.to_json().encode()).hexdigest()
    assert json.loads(definition.to_json()) == definition.to_dict()


@pytest.mark.parametrize(
    "said",
    [
        {"positive": {"click": 1.0}},
        {"positive": ["click"]},
        {"measures": ["nDCG@1", "nDCG@5", "ndcg_cut_10"]},
        {"policy": "empty=skip"},
        {"policy": Policy(ties="input", empty="skip")},
        {"unlabelled": 0},
    ],
)
def test_what_means_the_same_has_one_digest(said):
    assert define(**CLICKS | said).hash == define(**CLICKS).hash


@pytest.mark.parametrize(
    "said",
    [
        {"positive": {"click": 2}},
        {"positive": ["click", "buy"]},
        {"measures": ["nDCG@1"]},
        {"measures": [nDCG(gain="exp2") @ 1, nDCG @ 5, nDCG @ 10]},
        {"policy": "empty=zero"},
        {"unlabelled": None},
        {"combine": "max"},
        {"repeats": "once"},
        {"window": 3601},
        {"max_grade": 99},
    ],
)
def test_whatever_changes_a_value_changes_the_digest_and_is_not_compared(said):
    one, other = define(**CLICKS), define(**CLICKS | said)
    assert one.hash != other.hash
    assert Definition.from_json(other.to_json()) == other
    with refuses(UsageError, "other_definition"):
        check_comparable(one, other)


def test_values_of_one_measure_compare_whatever_is_measured_beside_it():
    few, many = define(**CLICKS, measures="nDCG@5"), define(**CLICKS)
    check_comparable(few.only("nDCG@5"), many.only("nDCG@5"))
    with refuses(UsageError, "bad_definition"):
        many.only("nDCG@7")


REFUSED = {
    "measures": [
        *(nDCG, nDCG @ 1001, AP, GMAP, NumRet, ERR @ 10),
        nDCG(judged_only=True) @ 10,
        nDCG(gain=[0, 1, 3]) @ 10,
        nDCG(gain=lambda grade: grade) @ 10,
        nDCG(discount=lambda rank: 1 / rank) @ 10,
    ],
    "positive": ["\ud800", {"click": 1, "a\0": 2}, "a" * 129],
    "window": [0, 0.5, True],
    "max_grade": [0, float("inf"), float("nan")],
    "policy": [
        *("empty=error", "empty=nan", "ties=average", "unjudged=remove", "unjudged=0.5"),
        *("negative=error", "missing_gain=0", "aggregate=median"),
    ],
}


@pytest.mark.parametrize(
    "said", [{field: value} for field, values in REFUSED.items() for value in values]
)
def test_what_cannot_be_summed_over_events_to_come_is_refused(said):
    with refuses(UsageError, "bad_definition"):
        define(**CLICKS | said)


def test_cutoffs_and_grades_have_limits_and_a_table_of_discounts_reaches_the_cutoff():
    short = nDCG(discount=[1, 0.5]) @ 3
    with pytest.raises(MeasureError):
        define(**CLICKS, measures=short)
    assert define(**CLICKS, measures=nDCG(discount=[1, 0.5, 0.25]) @ 3).depth == 3
    assert define(**CLICKS, measures=nDCG @ 1000).depth == 1000
    assert define(**CLICKS, measures=ERR @ 10, max_grade=4).depth == 10


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"rule": 1}', {"rule": 2}])
def test_what_is_no_definition_and_one_of_another_rule_are_refused(text):
    later = isinstance(text, dict)
    text = json.dumps(define(**CLICKS).to_dict() | text) if later else text
    with refuses(UsageError, "other_definition" if later else "bad_definition"):
        Definition.from_json(text)


def at(text):
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_a_period_has_whole_days_in_utc():
    calendar = Calendar((Period(name="Fair", first="2026-03-01", last="2026-03-02"),))
    begin, end = at("2026-03-01T00:00"), at("2026-03-03T00:00")
    found = [calendar.find(moment) for moment in (begin - 1, begin, end - 1, end)]
    assert [one is not None for one in found] == [False, True, True, False]
    times = np.array([begin - 1, begin, end - 1, end])
    assert calendar.mark(times).tolist() == [False, True, True, False]
    assert calendar.mark(np.empty(0, dtype=np.int64)).tolist() == []


def test_of_periods_with_a_day_in_common_the_one_that_begins_last_counts():
    long = Period(name="Winter", first="2026-12-01", last="2026-12-31", baseline="last-year")
    short = Period(name="Christmas", first="2026-12-24", last="2026-12-26")
    for periods in ((long, short), (short, long)):
        calendar = Calendar(periods)
        assert calendar.periods == (long, short)
        assert calendar.find(at("2026-12-25T12:00")) == short
        assert calendar.find(at("2026-12-27T00:00")) == long


def test_last_year_is_the_period_of_the_name_before_that_the_log_has():
    days = [f"{year}-11-27" for year in (2024, 2025, 2026)]
    periods = tuple(Period(name="Sale", first=day, baseline="last-year") for day in days)
    other = Period(name="Fair", first="2026-01-01", baseline="last-year")
    calendar = Calendar((*periods, other))
    last = at("2025-11-27T00:00")
    assert calendar.refer(periods[2], known=0) == ((last, last + DAY),)
    assert calendar.refer(periods[2], known=last) == ((last, last + DAY),)
    assert calendar.refer(periods[2], known=last + 1) == ()
    assert calendar.refer(periods[0], known=0) == calendar.refer(other, known=0) == ()
    assert calendar.explain(periods[2], 0) == "compared with the one from 27 Nov 2025"
    assert calendar.explain(periods[2], last + 1).startswith("left out, because no earlier one")
    assert calendar.explain(periods[2], None).startswith("left out, because")


def test_same_weekdays_are_those_of_four_weeks_without_other_periods():
    campaign = Period(name="Sale", first="2026-03-04", last="2026-03-05", baseline="same-weekday")
    holiday = Period(name="Holiday", first="2026-02-18")
    calendar = Calendar((campaign, holiday))
    starts = [start for start, _ in calendar.refer(campaign, known=0)]
    days = [datetime.fromtimestamp(start / 1e6, UTC).date() for start in starts]
    expected = [
        date(2026, 2, 4) + timedelta(days=7 * week + more) for week in range(4) for more in (0, 1)
    ]
    assert days == [day for day in expected if day != date(2026, 2, 18)]
    assert [start for start, _ in calendar.refer(campaign, known=starts[2])] == starts[2:]
    assert calendar.refer(campaign, known=campaign.since) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "a\nb"},
        {"name": "\ud800"},
        {"name": "n" * 1000},
        {"first": "2026-02-30"},
        {"first": "20260301"},
        {"first": "2026-03-01T00:00:00Z"},
        {"first": "1969-12-31"},
        {"first": "9999-12-31"},
        {"last": "2026-02-28"},
        {"last": str(date(2026, 3, 1) + timedelta(days=LONGEST))},
        {"baseline": "next-year"},
    ],
)
def test_what_is_no_period_is_refused(wrong):
    with refuses(UsageError, "bad_calendar") as refused:
        Period(**({"name": "Fair", "first": "2026-03-01"} | wrong))
    assert refused.value.message.startswith(f"{next(iter(wrong))}: ")


def test_a_calendar_has_each_period_once_and_a_limit():
    one = Period(name="Fair", first="2026-03-01")
    with pytest.raises(UsageError, match="once"):
        Calendar((one, Period(name="Fair", first="2026-03-01", last="2026-03-02")))
    many = [Period(name=str(number), first="2026-03-01") for number in range(MOST_PERIODS + 1)]
    assert len(Calendar(tuple(many[1:])).periods) == MOST_PERIODS
    with pytest.raises(UsageError, match="1,000"):
        Calendar(tuple(many))


def test_a_period_is_written_in_a_line():
    for line in ("2026-03-01 Fair", "2026-03-01 2026-03-02 last-year New Year's"):
        assert write_period(read_period(line)) == line
    assert read_period("2026-03-01 2026-03-01 none Fair") == Period(name="Fair", first="2026-03-01")
    assert read_period("2026-03-01 last-year").name == "last-year"
    for line in ("Fair", "2026-03-01", "2026-03-01 2026-02-01 Fair"):
        with pytest.raises(UsageError):
            read_period(line)


FIRST = datetime(2026, 11, 1, tzinfo=UTC)
CLICKED = define(measures=["nDCG@3"], positive="click", window="1h")
TABLE = {
    "ranking_id": ["t1", "t1", "t2"],
    "doc_id": ["a", "b", "a"],
    "rank": [1, 2, 1],
    "time": [FIRST.isoformat()] * 3,
}
"""Two rankings, a document a row."""
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def configure(**said):
    return Configuration(definition=CLICKED, attributes=("device", "price"), baseline=None, **said)


def show(day, prices, name="r", **more):
    return [
        {
            "ranking_id": f"{name} {day} {at}",
            "time": (FIRST + timedelta(days=day, minutes=at % 60)).isoformat(),
            "attributes": {"device": "tv", "price": price},
            "items": [{"doc_id": doc, "rank": rank} for rank, doc in enumerate("abc", 1)],
            **more,
        }
        for at, price in enumerate(prices)
    ]


@pytest.fixture
def monitor(tmp_path):
    with Monitor.open(f"{tmp_path}/shop.db", now=lambda: FIRST + timedelta(days=30)) as opened:
        opened.configure(configure())
        yield opened


def list_prices(monitor):
    contexts = monitor.store.contexts("default").values()
    return {dict(context.attributes).get("price") for context in contexts}


@given(st.lists(NUMBERS, min_size=1, max_size=19, unique=True), NUMBERS)
def test_a_number_is_in_the_bin_whose_edges_are_around_it(edges, number):
    ascending = tuple(each + 0.0 for each in sorted(edges))
    names = name_bins(ascending)
    assert len({*names}) == len(ascending) + 1
    place = bisect_right(ascending, number)
    assert find_bin(repr(number), ascending) == names[place]
    # A name is its own bin, so that what was exported can be logged again.
    assert [find_bin(name, ascending) for name in names] == [*names]


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "-inf", "1e999", "12,5", "1_0", " 1", "0x1", "\u0661", "1e", "."]
)
def test_what_is_no_finite_decimal_number_is_in_no_bin(text):
    assert read_number(text) is None
    assert find_bin(text, (1.0,)) is None


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ({"price": ()}, "bins.price: expected from 1 to 19 ascending numbers, found"),
        ({"price": (2, 1)}, "ascending"),
        ({"price": (1, 1)}, "ascending"),
        ({"price": (0.0, -0.0)}, "ascending"),
        ({"price": (1, float("nan"))}, "ascending"),
        ({"price": tuple(range(20))}, "from 1 to 19"),
        ({"price": (True, 2)}, "ascending"),
        ({"price": (1, 10**400)}, "ascending"),
        ({"price": "quintiles"}, "ascending"),
        ({"age": (1, 2)}, "bins of the attributes"),
    ],
)
def test_edges_are_ascending_numbers_of_an_attribute(bins, message):
    with refuses(UsageError, "bad_configuration", match=message) as caught:
        configure(bins=bins)
    assert caught.value.hint


def test_edges_of_bins_are_kept_as_they_were_given_and_read_from_a_file(tmp_path):
    made = configure(bins={"price": list(range(19))})
    assert made.bins == {"price": tuple(map(float, range(19)))}
    assert Configuration.from_json(made.to_json()) == made
    assert made.digest != configure().digest
    file = tmp_path / "rankscope.toml"
    said = '[projects.default]\nattributes = ["device", "price"]\nbaseline = "none"\n'
    of_file = (
        '[projects.default.definition]\nmeasures = ["nDCG@3"]\nwindow = "1h"\n'
        "attribution.positive.click = 1\n"
    )
    file.write_text(f"{said}bins = {{ price = [10, 25] }}\n{of_file}")
    (project,) = read_setup(str(file)).projects
    assert project.configuration == configure(bins={"price": (10, 25)})
    file.write_text(f"{said}bins = {{ price = [25, 10] }}\n{of_file}")
    with pytest.raises(FormatError, match=r"bins\.price: expected .* ascending"):
        read_setup(str(file))


def test_a_number_is_stored_as_its_bin_and_known_again_by_what_was_sent(monitor):
    monitor.configure(configure(bins={"price": (10, 25)}))
    sent = show(0, [9.99, 10, "24.9", 25, None, "10 to below 25"])
    assert monitor.log_rankings(sent).accepted == 6
    assert list_prices(monitor) == {"below 10", "10 to below 25", "25 or more", None}
    assert len(monitor.store.contexts("default")) == 4
    # Other edges don't make another event of one that is sent again, nor move what is stored.
    monitor.configure(configure(bins={"price": (5, 50)}))
    assert monitor.log_rankings(sent[:5]).duplicate == 5
    assert list_prices(monitor) == {"below 10", "10 to below 25", "25 or more", None}
    assert monitor.log_rankings(show(1, [7])).accepted == 1
    assert "5 to below 50" in list_prices(monitor)


@pytest.mark.parametrize("environment", ["production", "validation"])
def test_what_is_no_number_is_rejected_with_its_place(monitor, environment):
    monitor.configure(configure(bins={"price": (10, 25)}))
    sent = show(0, ["12,5", 7, True, "nan"], environment=environment)
    ingested = monitor.log_rankings(sent)
    assert (ingested.accepted, ingested.reasons) == (1, {"attribute_number": 3})
    message = "attributes.price: expected a finite number, found '12,5'"
    assert ingested.refused[0].message == message
    assert "12.5" in ingested.refused[0].hint
    columns = TABLE | {"environment": [environment] * 3, "price": ["9", "9", "cheap"]}
    ingested = monitor.log_rankings(pa.table(columns), attributes=["price"])
    assert (ingested.accepted, ingested.reasons) == (1, {"attribute_number": 1})
    assert list_prices(monitor) == {"below 10"}


def test_numbers_that_were_logged_before_are_in_bins_once_these_are_known(monitor):
    monitor.log_rankings(show(0, [float(at) for at in range(100)]))
    monitor.configure(configure(bins={"price": (20, 40, 60, 80)}))
    assert list_prices(monitor) == {*name_bins((20.0, 40.0, 60.0, 80.0))}
    monitor.evaluate()
    of_bin = monitor.signals(every="day", slice=(("price", "20 to below 40"),))
    assert sum(of_bin["length"].rankings) == 20


def test_a_frame_with_nan_is_told_that_it_is_no_number(monitor):
    monitor.configure(configure(bins={"price": (10, 25)}))
    ingested = monitor.log_rankings(TABLE | {"price": np.array([np.nan, np.nan, 12.5])})
    assert (ingested.accepted, ingested.reasons) == (1, {"attribute_type": 1})
    assert "price" in ingested.refused[0].message
    assert "found nan" in ingested.refused[0].message

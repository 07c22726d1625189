from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from hashlib import sha256

import pytest
from rankscope import FileError, RankscopeError, UsageError
from rankscope.errors import FormatError
from rankscope.monitor import BaselineChoice, Configuration, Monitor, Rule, Span, define
from rankscope.monitor.backups import find_backup, restore_backup
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.store.keys import Secret, authenticate, make_key

from tests.refusals import refuses

NOW = 20_000 * DAY
LATER = "2026-11-21T18:00:00Z"
CLICKS = Configuration(definition=define(positive="click", window=3600), attributes=("device",))
CONFIGURE = partial(Configuration, definition=CLICKS.definition)


def open_monitor(path, *, writes=True):
    return Monitor.open(str(path), now=lambda: to_datetime(NOW), threads=1, writes=writes)


@pytest.fixture
def monitor(tmp_path):
    with open_monitor(tmp_path / "x.db") as opened:
        yield opened


def show(number, **more):
    return {
        "ranking_id": f"r{number}",
        "time": (NOW - DAY) // 1000,
        "doc_ids": ["a", "b"],
        "attributes": {"device": "tv"},
        **more,
    }


def click(number, doc):
    return {
        "ranking_id": f"r{number}",
        "doc_id": doc,
        "time": (NOW - DAY + SECOND) // 1000,
        "labels": ["click"],
    }


def test_a_project_must_say_what_labels_are_worth_and_send_lists_of_events(tmp_path):
    with open_monitor(tmp_path / "x.db") as monitor:
        assert not monitor.is_configured
        for ask in (monitor.evaluate, monitor.baseline, monitor.quality, lambda: monitor.measures):
            with refuses(UsageError, "not_configured", match="configured"):
                ask()
    with open_monitor(tmp_path / "x.db") as monitor, pytest.raises(UsageError, match="int"):
        monitor.log_rankings(5)


def test_reading_needs_no_lock_and_changes_nothing(tmp_path):
    path = tmp_path / "x.db"
    with open_monitor(path) as monitor:
        monitor.configure(CLICKS)
        monitor.log_rankings([show(1)])
        monitor.log_labels([click(1, "b")])
        monitor.set_rule(Rule(name="fall", measure="nDCG@5"))
        monitor.evaluate()
        with refuses(FileError, "store_locked"):
            open_monitor(path)
        with open_monitor(path, writes=False) as reader:
            assert reader.series("nDCG@5") == monitor.series("nDCG@5")
            assert reader.check() == monitor.check()
            assert reader.quality() == monitor.quality()
            reader.verify()
            made = find_backup(reader.backup(str(tmp_path / "backups")))
            assert made.mark.seq == monitor.store.last_seq
            for change in (
                reader.evaluate,
                lambda: reader.configure(CLICKS),
                lambda: reader.log_labels([click(1, "a")]),
                lambda: reader.set_rule(Rule(name="other", measure="nDCG@5")),
                lambda: reader.remove_rule("fall"),
                lambda: reader.silence("fall", None),
                lambda: reader.resolve("fall"),
                lambda: reader.delete_before(to_datetime(NOW)),
            ):
                with refuses(UsageError, "read_only"):
                    change()
    restore_backup(str(tmp_path / "backups"), tmp_path / "copy.db")
    with open_monitor(tmp_path / "copy.db") as copy:
        assert copy.check() != ()
        assert len(copy.series("nDCG@5")) == 1


def test_windows_outlive_their_events(monitor):
    monitor.configure(CLICKS)
    monitor.log_rankings(map(show, range(3)))
    monitor.log_labels([click(1, "b")])
    with pytest.raises(UsageError, match="evaluate"):
        monitor.delete_before(to_datetime(NOW - DAY))
    monitor.evaluate()
    before = monitor.series("nDCG@5"), monitor.slices("nDCG@5").to_dict()
    assert monitor.maturity().shares[0] == 1.0
    for time in (NOW, NOW + DAY):
        with refuses(UsageError, "open_windows"):
            monitor.delete_before(to_datetime(time))
    # The hour of the time itself stays.
    assert monitor.delete_before(to_datetime(NOW - DAY + HOUR - 1)).rankings == 0
    assert monitor.delete_before(to_datetime(NOW - DAY + HOUR)).rankings == 3
    assert monitor.evaluate().hours == 0
    assert (monitor.series("nDCG@5"), monitor.slices("nDCG@5").to_dict()) == before


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (CONFIGURE, {"attributes": ("a", "a")}),
        (CONFIGURE, {"attributes": ("\ud800",)}),
        (CONFIGURE, {"attributes": ("a\0",)}),
        (CONFIGURE, {"attributes": ("a", "b"), "pairs": (("a", "c"),)}),
        (CONFIGURE, {"attributes": ("a", "b"), "pairs": (("a", "a"),)}),
        (BaselineChoice, {"kind": "mean"}),
        (BaselineChoice, {"environment": "production"}),
        (BaselineChoice, {"kind": "period", "since": LATER, "until": LATER}),
        (BaselineChoice, {"kind": "period"}),
        (BaselineChoice, {"since": LATER}),
        (BaselineChoice, {"kind": "version", "version": "3"}),
        (BaselineChoice, {"kind": "version", "model": "\ud800"}),
        (BaselineChoice, {"version": "a\0"}),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(make, parts):
    with refuses(UsageError, "bad_configuration"):
        make(**parts)


def test_what_is_wrong_within_a_configuration_is_what_is_said():
    given = CLICKS.to_dict() | {"baseline": {"kind": "period", "since": 5, "until": 1}}
    with pytest.raises(UsageError, match="expected since before until, found '1970"):
        Configuration.from_json(json.dumps(given))


@pytest.mark.parametrize("text", ["", "5", "{}", '{"definition": {}}'])
def test_what_is_no_configuration_is_not_read(text):
    with pytest.raises(UsageError):
        Configuration.from_json(text)


@pytest.mark.parametrize(
    "ask",
    [
        lambda monitor: monitor.explain("a\ud800"),
        lambda monitor: monitor.silence("a\ud800", None),
        lambda monitor: monitor.remove_rule("a\ud800"),
        lambda monitor: monitor.configure(CLICKS, actor="a\ud800"),
    ],
    ids=["explain", "silence", "remove_rule", "configure"],
)
def test_half_a_character_is_refused_by_name(ask, monitor):
    monitor.configure(CLICKS)
    with refuses(FormatError, "surrogate", match=r"expected text, found 'a\\ud800'"):
        ask(monitor)
    monitor.configure(CLICKS)  # the writer works on


def test_half_a_character_in_the_name_of_a_column_is_no_field_of_ours(monitor):
    table = {"qid": ["q"], "docno": ["a"], "rank": [1], "ts": [(NOW - DAY) // 1000]}
    done = monitor.log_rankings({**table, "a\ud800": ["x"]})
    assert (done.accepted, done.unknown) == (1, {"a\ud800": 1})


@pytest.mark.parametrize("project", ["", "a\nb", "\x1b[31m", "x" * 200, "\ud800"])
def test_a_project_is_called_by_a_line_of_text(tmp_path, project):
    with pytest.raises(FormatError):
        Monitor.open(f"{tmp_path}/x.db", project)
    assert not (tmp_path / "x.db").exists()


def test_labels_of_mature_rankings_are_counted_by_age(monitor):
    mature, open_ = NOW - DAY, NOW - HOUR // 2
    shown = [show(1), show(2, time=open_ // 1000)]
    ages = {1: mature, 60: mature, 61: mature, 3_599: mature, 2: open_}
    labels = [
        {"ranking_id": "r1" if time == mature else "r2", "doc_id": "a", "labels": ["click"]}
        | {"time": (time + age * SECOND) // 1000, "event_id": f"l{age}"}
        for age, time in ages.items()
    ]
    monitor.configure(CLICKS)
    monitor.log_rankings(shown)
    monitor.log_labels(labels)
    monitor.evaluate()
    curve = monitor.maturity()
    assert monitor.maturity(since=to_datetime(NOW - HOUR)).shares == ()
    counts = dict(zip(curve.ages, curve.counts, strict=False))
    assert {age: count for age, count in counts.items() if count} == {
        timedelta(minutes=1): 2,
        timedelta(minutes=5): 1,
        timedelta(hours=1): 1,
    }
    assert (curve.counts[-1], curve.shares[-1]) == (0, 1.0)
    assert curve.shares[0] == 2 / 4


def test_a_key_has_256_bits_of_which_sha_256_is_kept():
    key, shown = make_key("music", ["read", "ingest", "read"], name="search", now=5)
    form = re.fullmatch(r"rk_([0-9a-f]{16})_([0-9a-f]{64})", shown.reveal())
    assert (key.key_id, key.digest) == (form[1], sha256(form[2].encode()).digest())
    assert (key.project, key.scopes) == ("music", ("ingest", "read"))
    assert (key.created, key.revoked) == (5, None)
    assert make_key("music", ["read"], name="search", now=5)[1].reveal() != shown.reveal()


def test_only_the_whole_key_opens():
    key, shown = make_key("music", ["ingest"], name="search", now=0)
    other, other_shown = make_key("films", ["ingest"], name="search", now=0)
    find_key, text = {one.key_id: one for one in (key, other)}.get, shown.reveal()
    assert authenticate(find_key, text, 1) == key
    secret = other_shown.reveal().rpartition("_")[2]
    wrong = [
        "",
        text[:-1],
        text + "0",
        text + "\n",
        text.upper(),
        text.replace("rk_", "rk-"),
        f"rk_{key.key_id}_{secret}",
        f"rk_{'0' * 16}_{secret}",
        f"rk_{key.key_id}_{'٠' * 64}",
        f"rk_{key.key_id}_" + "0" * 64,
    ]
    assert [authenticate(find_key, presented, 1) for presented in wrong] == [None] * len(wrong)
    assert authenticate({key.key_id: replace(key, revoked=1)}.get, text, 1) is None


@pytest.mark.parametrize(
    ("project", "scopes", "name", "code"),
    [
        ("music", [], "x", "key_scope"),
        ("music", ["root"], "x", "key_scope"),
        ("", ["read"], "x", "missing_id"),
        ("m" * 129, ["read"], "x", "id_length"),
        ("music", ["read"], "\0", "nul_byte"),
    ],
)
def test_a_key_is_for_something(project, scopes, name, code):
    with refuses(RankscopeError, code):
        make_key(project, scopes, name=name, now=0)


def test_a_secret_is_not_shown_by_accident():
    shown = [f"{Secret('abc')}", f"{Secret('abc')!r}", f"{[Secret('abc')]}"]
    assert not any("abc" in text for text in shown)
    with pytest.raises(TypeError):
        json.dumps(Secret("abc"))


NAIVE = datetime(2026, 11, 21, 18)  # noqa: DTZ001 - that is the point
WRONG = [NAIVE, "2026-11-21T18:00:00", 1_795_284_000_000_000, 0.0, "yesterday"]


@pytest.mark.parametrize("time", WRONG)
def test_a_time_without_a_zone_and_a_number_are_refused(tmp_path, time):
    music = Configuration(definition=define(positive="click", window="1h"), baseline=None)
    other = "2026-11-22T00:00:00Z"
    with Monitor.open(f"{tmp_path}/x.db") as monitor:
        monitor.configure(music)
        calls = [
            lambda: monitor.series("nDCG@5", since=time),
            lambda: monitor.quality(until=time),
            lambda: monitor.delete_before(time),
            lambda: monitor.silence("quality", time),
            lambda: Span(time, other),
            lambda: BaselineChoice(kind="period", since=time, until=other),
        ]
        for call in calls:
            with pytest.raises(UsageError) as refused:
                call()
            assert refused.value.code in {"time_zone", "time_format"}
            assert "2026-11-21T18:00:00Z" in refused.value.hint


def test_a_naive_clock_is_refused(tmp_path):
    with Monitor.open(f"{tmp_path}/x.db", now=lambda: NAIVE) as monitor:
        with pytest.raises(UsageError, match="now: expected a time with its zone") as refused:
            monitor.clock()
        assert refused.value.hint.startswith("add a time zone")


def test_a_time_is_the_same_in_every_zone_and_as_text():
    vienna = datetime(2026, 11, 21, 19, tzinfo=timezone(timedelta(hours=1)))
    text, utc = "2026-11-21T18:00:00Z", datetime(2026, 11, 21, 18, tzinfo=UTC)
    assert Span(vienna) == Span(text) == Span(utc)
    assert str(Span(vienna).since) == "2026-11-21 18:00:00+00:00"
    assert to_datetime(1_795_284_000_000_000) == utc


def test_a_time_of_pandas_is_a_time():
    pandas = pytest.importorskip("pandas")
    span = Span(pandas.Timestamp("2026-11-21 18:00", tz="UTC"))
    assert type(span.since) is datetime
    assert span == Span("2026-11-21T18:00:00Z")


@pytest.mark.parametrize("window", ["24h", "1d", timedelta(days=1), 86_400])
def test_a_window_is_a_duration_or_seconds(window):
    assert define(positive="click", window=window).window == 86_400


@pytest.mark.parametrize("window", ["", "1y", "0s", timedelta(seconds=1.5), -1, 1.5, None])
def test_a_window_that_cannot_be_is_refused(window):
    with pytest.raises(UsageError):
        define(positive="click", window=window)

"""The weekly digest: when it is due, what is in it, and that it is sent once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import FormatError, UsageError
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.fleet.digest import LATEST, DigestSchedule, fill_digest, read_week
from rankscope.monitor.notify.attempt import Attempt
from rankscope.monitor.notify.channels import Channel, Channels, read_channels
from rankscope.monitor.notify.delivery import Deliverer
from rankscope.monitor.notify.message import write_message
from rankscope.monitor.notify.weekly import WEEKDAYS, Weekly, read_weekly
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.fleet import copy_project, evaluate, log_days, make_fall, put_incidents
from tests.monitor.notify.notices import HOSTILE
from tests.monitor.server.service import NOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.notify.message import Message

ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu")
HOUR = 3600 * 10**6
DAY = 24 * HOUR
SATURDAY = read_weekly("saturday 17:30 Europe/Berlin")
"""NOW is a Saturday, 19:00 in Berlin."""


@given(
    st.integers(0, 6),
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(ZONES),
    st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1)),  # noqa: DTZ001 - UTC is set below
)
def test_the_last_time_is_the_newest_that_a_calendar_has(
    weekday: int, hour: int, minute: int, zone: str, moment: datetime
) -> None:
    now = moment.replace(tzinfo=UTC)
    last, before = Weekly(weekday, hour, minute, zone).find_last(to_micros(now))
    # By looking at each of the last 15 days.
    days = [now.astimezone(ZoneInfo(zone)).date() + timedelta(days=1 - back) for back in range(16)]
    times = [
        datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone))
        for day in days
        if day.weekday() == weekday
    ]
    due = [to_micros(time) for time in times if time.astimezone(UTC) <= now]
    assert [last, before] == due[:2]


@pytest.mark.parametrize(
    "text",
    [
        *("monday", "monday 9:00", "Monday 09:00", "monday 24:00", "monday 09:60", "day 09:00"),
        *("monday 09:00 Mars/Olympus", "monday 09:00 ../etc/passwd", "monday 09:00 /etc/passwd"),
        *("", 9),
    ],
)
def test_a_time_that_is_none_is_refused_in_its_line(tmp_path: Path, text: object) -> None:
    with pytest.raises(UsageError, match="expected a weekday"):
        read_weekly(text)
    file = tmp_path / "rankscope.toml"
    file.write_text(f'[channels.a]\nurl = "json://localhost"\nweekly = {json.dumps(text)}\n')
    with pytest.raises(FormatError, match=r"channels\.a\.weekly") as refused:
        read_channels(file, {})
    assert refused.value.line == 3


@pytest.mark.parametrize(
    ("more", "problem"),
    [('owner = "a"', "owner"), ('weekly = "monday 09:00"\nowner = ""', "owner")],
)
def test_an_owner_is_that_of_a_digest(tmp_path: Path, more: str, problem: str) -> None:
    file = tmp_path / "rankscope.toml"
    file.write_text(f'[channels.a]\nurl = "json://localhost"\n{more}\n')
    with pytest.raises(FormatError, match=f"channels.a.{problem}"):
        read_channels(file, {})


def test_a_channel_says_when_and_for_whom(tmp_path: Path) -> None:
    file = tmp_path / "rankscope.toml"
    line = 'weekly = "friday 16:05 Asia/Kathmandu"\nowner = "search"\n'
    file.write_text(f'[channels.a]\nurl = "json://localhost"\n{line}')
    (channel,) = read_channels(file, {}).channels
    assert channel.weekly == Weekly(WEEKDAYS.index("friday"), 16, 5, "Asia/Kathmandu")
    assert channel.owner == "search"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    """A store with two projects of search, and one of shop with what must stay there."""
    with SQLiteStore(tmp_path / "events.db") as made:
        log_days(made, "music", days=9, values=1)
        evaluate(made, "music")
        copy_project(made, "music", "films")
        copy_project(made, "music", "secret", owner="shop")
        week = to_datetime(NOW - 3 * DAY)
        old = to_datetime(NOW - 30 * DAY)
        put_incidents(
            made,
            "music",
            make_fall(1, 0.1, opened=week, cause={"sentence": "All of it is version 42."}),
            make_fall(2, 0.1, opened=old, updated=old),
            make_fall(3, 0.1, opened=old, updated=week, state="recovered", recovered=week),
            make_fall(4, 0.1, opened=old, updated=old, state="resolved", resolved=old),
        )
        put_incidents(made, "secret", make_fall(5, 0.1, reason="The secret fell."))
        yield made


def find_ids(week: dict[str, Any], project: str, kind: str) -> list[int]:
    (found,) = [one for one in week["projects"] if one["project"] == project]
    return [int(one["id"].removeprefix("incident_"), 16) for one in found[kind]]


def test_it_has_what_changed_what_is_open_and_what_was_confirmed(store: SQLiteStore) -> None:
    span = {"since": NOW - 7 * DAY, "until": NOW + 1}
    week = read_week(store, store.projects(), owner="search", **span)
    assert [one["project"] for one in week["projects"]] == ["films", "music"]
    # The last one is that of the rule that every project gets: it has seen no hour yet.
    assert set(find_ids(week, "music", "open")) >= {1, 2}
    assert 1 in find_ids(week, "music", "confirmed")
    assert not {2, 3, 4} & set(find_ids(week, "music", "confirmed"))
    assert find_ids(week, "music", "over") == [3]
    films, _ = week["projects"]
    assert [one["version"] for one in films["versions"]] == ["1"]
    assert [one["action"] for one in films["changes"]] == ["configuration.set"]
    everything = read_week(store, store.projects(), **span)
    assert [one["project"] for one in everything["projects"]] == ["films", "music", "secret"]
    later = read_week(store, store.projects(), since=NOW + DAY, until=NOW + 8 * DAY)
    (music,) = [one for one in later["projects"] if one["project"] == "music"]
    assert not any(music[kind] for kind in ("confirmed", "over", "versions", "changes"))
    assert music["open"]


class Sent:
    """Keeps messages in place of a service."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def send(self, _channel: Channel, message: Any, _chart: object = None) -> Attempt:  # noqa: ANN401 - a message
        self.messages.append(message)
        return Attempt()


def deliver(store: SQLiteStore, sent: Sent, now: int, *channels: Channel) -> None:
    """What a service does that has just started."""
    known = Channels(channels=channels, public_url="https://rank.example")
    deliverer = Deliverer(
        store,
        log=lambda _body: None,  # type: ignore[arg-type,return-value]
        poster=None,  # type: ignore[arg-type]
        now=lambda: now,
        channels=known,
        sender=sent,  # type: ignore[arg-type]
        prepare=DigestSchedule(store, known, lambda: now).step,
        fill=lambda body: fill_digest(store, body),
    )
    for _ in range(3):
        deliverer.step()


def make_channel(name: str, **said: Any) -> Channel:  # noqa: ANN401 - as it takes them
    return Channel(name=name, url=Secret("json://localhost"), weekly=SATURDAY, **said)


def test_it_is_sent_once_whatever_restarts(store: SQLiteStore) -> None:
    sent = Sent()
    team, all_ = make_channel("team", owner="search"), make_channel("all")
    due, _ = SATURDAY.find_last(NOW)
    assert NOW - due < DAY
    for moment in (NOW, NOW, NOW + HOUR, due + LATEST - 1, due + LATEST, due + 3 * DAY):
        deliver(store, sent, moment, team, all_)
    assert len(sent.messages) == 2
    mine, whole = sorted((one.text for one in sent.messages), key=len)
    assert "The secret fell." not in mine
    assert "The secret fell." in whole
    assert "https://rank.example/projects/music/" in mine
    assert "New this week" not in mine or "All of it is version 42." in mine
    # Another week, another digest.
    deliver(store, sent, due + 7 * DAY - 1, team)
    assert len(sent.messages) == 2
    deliver(store, sent, due + 7 * DAY, team)
    assert len(sent.messages) == 3


def test_the_outbox_of_a_project_has_nothing_of_another(store: SQLiteStore) -> None:
    deliver(store, Sent(), NOW, make_channel("all"))
    bodies = [
        row.body for project in store.projects() for row in store.list_notifications(project, 100)
    ]
    weeks = [json.loads(body) for body in bodies if '"fleet.week"' in body]
    assert len(weeks) == 1
    assert set(weeks[0]) == {"type", "id", "owner", "project", "since", "until", "time"}
    assert not any("secret" in json.dumps(week) for week in weeks)


def test_a_team_without_projects_gets_none(store: SQLiteStore) -> None:
    sent = Sent()
    deliver(store, sent, NOW, make_channel("nobody", owner="nobody"))
    assert sent.messages == []


def write_week(name: str) -> Message:
    """A digest in which everything that has a name has this one."""
    incident = make_fall(1, 0.1, slice=((name, name),), version=name, reason=name).to_dict()
    kinds = ("open", "confirmed", "over")
    version = {"model": name, "version": name, "first": ""}
    change = {"time": "", "actor": name, "action": "rule.change", "subject": name}
    project = {"project": name, "versions": [version], "changes": [change]}
    calm = {"project": name, "versions": [], "changes": [], **{kind: [] for kind in kinds}}
    body = {
        "type": "fleet.week",
        "owner": name,
        "project": "",
        "since": "2026-11-14T00:00:00Z",
        "until": "2026-11-21T00:00:00Z",
        "projects": [project | {kind: [incident] for kind in kinds}, calm],
    }
    return write_message([json.dumps(body)])


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_names_in_a_digest_mean_nothing(name: str) -> None:
    message, plain = write_week(name), write_week("tv")
    assert message.html.count("<") == plain.html.count("<")
    assert message.text.count("\n") == plain.text.count("\n")
    assert "\n" not in message.title
    for call in ("<!channel>", "@everyone", "https://evil"):
        assert call not in message.text + message.markdown + message.title

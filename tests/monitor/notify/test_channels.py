from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from rankscope import FileError, RankscopeError, UsageError
from rankscope.errors import FormatError
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.incidents.incident import SEVERITIES, Notified, write_incident
from rankscope.monitor.notify.alertmanager import AGAIN, LASTS, AlertSchedule, write_alert
from rankscope.monitor.notify.channels import (
    Channel,
    is_service,
    read_channels,
    read_public_url,
)
from rankscope.monitor.notify.http import PostError, Reply
from rankscope.monitor.notify.message import LOST
from rankscope.monitor.notify.sending import send_test
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.tables import incidents as table

from tests.monitor.notify.listener import listening, make_poster
from tests.monitor.notify.notices import BEGAN, HOSTILE, NOW, make, make_incident
from tests.monitor.notify.test_channel_delivery import URL, World
from tests.monitor.notify.test_delivery import Other, put_notice
from tests.monitor.rules.world import PROJECT, START
from tests.refusals import refuses_if

TOKEN = "T0KEN-of-the-team"  # noqa: S105 - of nobody
SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ENVIRONMENT = {"CHAT": f"slack://{TOKEN}/b/c", "SECRET": SECRET, "EMPTY": ""}


MANAGER = '[channels.a]\nalertmanager = "https://a'
NO_TOKENS = ('"a b"', '"a\\r\\nX: y"', '""', "1")


def read(folder, text, **more):
    path = folder / "rankscope.toml"
    path.write_text(text, encoding="utf-8")
    return read_channels(path, {**ENVIRONMENT, **more})


def test_a_file_defines_channels(tmp_path):
    found = read(
        tmp_path,
        """
        public_url = "https://rankscope.example.com/"

        [channels.oncall]
        url = "${CHAT}"
        severity = "critical"

        [channels.chat]
        url = "mmost://chat.internal/${CHAT}"
        allow_private = true
        digest = "1h"

        [channels.hook]
        webhook = "http://hooks.internal/x"
        secret = "${SECRET}"
        allow_http = true

        [channels.pager]
        alertmanager = "http://alertmanager.internal:9093"
        token = "${SECRET}"
        allow_http = true
        allow_private = true
        """,
    )
    assert found.public_url == "https://rankscope.example.com"
    assert [channel.name for channel in found.channels] == ["chat", "hook", "oncall", "pager"]
    chat, hook, oncall, pager = found.channels
    assert chat.url.reveal() == f"mmost://chat.internal/{ENVIRONMENT['CHAT']}"
    assert (chat.allows_private, chat.digest, chat.kind) == (True, HOUR, "service")
    assert (hook.kind, hook.allows_http, hook.allows_private) == ("webhook", True, False)
    assert (pager.kind, pager.allows_http, pager.allows_private) == ("alertmanager", True, True)
    for channel in (hook, pager):
        assert channel.secret is not None
        assert channel.secret.reveal() == SECRET
    assert oncall.url.reveal() == ENVIRONMENT["CHAT"]
    assert [oncall.takes(severity) for severity in SEVERITIES] == [False, False, True]
    assert [chat.takes(severity) for severity in SEVERITIES] == [True, True, True]
    assert TOKEN not in f"{found!r} {found}"
    assert SECRET not in f"{found!r} {found}"


def test_a_channel_of_the_environment_replaces_that_of_the_file(tmp_path):
    found = read(
        tmp_path,
        '[channels.on_call]\nurl = "${CHAT}"',
        RANKSCOPE_CHANNEL_ON_CALL="pagerduty://key@integration",
        RANKSCOPE_PUBLIC_URL="https://rankscope.example.com",
    )
    (channel,) = found.channels
    assert (channel.name, channel.url.reveal()) == ("on_call", "pagerduty://key@integration")
    assert found.public_url == "https://rankscope.example.com"


def test_the_files_of_a_folder_are_one(tmp_path):
    (tmp_path / "a.toml").write_text('[channels.one]\nurl = "slack://a/b/c"\n')
    (tmp_path / "b.toml").write_text(
        '[channels.two]\nurl = "slack://a/b/c"\n[projects.x]\nmost = 1'
    )
    read = read_channels(tmp_path, {})
    assert [channel.name for channel in read.channels] == ["one", "two"]
    (tmp_path / "c.toml").write_text('\n[channels.one]\nurl = "slack://a/b/c"\n')
    with pytest.raises(FormatError) as refused:
        read_channels(tmp_path, {})
    assert (refused.value.line, refused.value.file) == (2, str(tmp_path / "c.toml"))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (f'x = 1\na = "{TOKEN}', None, "invalid TOML"),
        (f"a = {TOKEN}", 1, "invalid TOML"),
        ("[channels.a]\nurl = 1", 2, "channels.a.url: expected an address of Apprise"),
        (f'[channels.a]\nurl = "{TOKEN}"', 2, "channels.a.url: expected an address of Apprise"),
        ('[channels.a]\nurl = "x://a"\nulr = "x"', 3, "'ulr': unknown key"),
        ('publicurl = "x"', 1, "'publicurl': unknown key"),
        ("[channels.a]", 1, "channels.a: expected one of url, webhook, alertmanager, found none"),
        ('[channels.a]\nurl = "x://y"\nwebhook = "https://y"', 1, "found url and webhook"),
        ('[channels.Ops]\nurl = "x://y"', 1, "expected a name of lower-case letters"),
        ('[channels.log]\nurl = "x://y"', 1, "expected a name of lower-case letters"),
        ('[channels.webhook]\nurl = "x://y"', 1, "expected a name of lower-case letters"),
        ('[channels."a b"]\nurl = "x://y"', 1, "expected a name of lower-case letters"),
        ('[channels.a]\nurl = "x://y"\nallow_private = "yes"', 3, "expected true or false"),
        ('[channels.a]\nurl = "x://y"\nseverity = "high"', 3, "severity: expected"),
        ('[channels.a]\nurl = "x://y"\ndigest = "soon"', 3, "digest: expected a duration"),
        ('[channels.a]\nurl = "x://y"\ndigest = 60', 3, "digest: expected a duration"),
        ('[channels.a]\nurl = "${NOT_SET}"', 2, "the environment has no variable NOT_SET"),
        ('[channels.a]\nurl = "${a b}"', 2, "the name of a variable between"),
        ('[channels.a]\nurl = "${EMPTY}"', 2, "channels.a.url: expected an address of Apprise"),
        ('[channels.a]\nurl = "x://y"\nsecret = "x"', 3, "secret belongs to webhook, and"),
        (f'[channels.a]\nwebhook = "https://u:{TOKEN}@y/"', 2, "channels.a.webhook: expected"),
        ('[channels.a]\nwebhook = "http://y/"', 2, "channels.a.webhook: expected an address with"),
        ('[channels.a]\nwebhook = "https://y/"', 1, "channels.a.secret: expected the secret"),
        (f'[channels.a]\nwebhook = "https://y/"\nsecret = "{TOKEN}"', 3, "secret: expected whsec_"),
        ('channels = "x"', 1, "channels: expected at most 100 tables"),
        ('[channels]\na = "x"', 2, "channels.a: expected a table"),
        ('public_url = "https://user@example.com"', 1, "public_url: expected an address"),
        ("public_url = 5", 1, "public_url: expected an address"),
        ('[channels.a]\nalertmanager = "http://a"', 2, "alertmanager: expected an address with"),
        (f'{MANAGER}/api/v2/alerts"', 2, "without /api/v2/alerts and a query"),
        (f'{MANAGER}/?x=1"', 2, "without /api/v2/alerts and a query"),
        ('[channels.a]\nalertmanager = "https://u:p@a"', 2, "without user, password and fragment"),
        *((f'{MANAGER}"\ntoken = {token}', 3, "token: expected a token") for token in NO_TOKENS),
        (f'{MANAGER}"\nsecret = "x"', 3, "secret belongs to webhook, and this"),
        ('[channels.a]\nurl = "x://y"\ntoken = "x"', 3, "token belongs to alertmanager, and"),
        (f'{MANAGER}"\nwebhook = "https://a"', 1, "found webhook and alertmanager"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_no_token_is_shown(tmp_path, text, line, said):
    with pytest.raises(FormatError) as refused:
        read(tmp_path, text)
    assert said in refused.value.message
    assert (refused.value.code, refused.value.line) == ("bad_channels", line)
    assert str(tmp_path / "rankscope.toml") in str(refused.value)
    assert TOKEN not in f"{refused.value} {refused.value!r} {refused.value.hint}"


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"none\.toml"):
        read_channels(tmp_path / "none.toml", {})
    path = tmp_path / "a.toml"
    for raw in (b'a = "\xff"', b"[" * 5000, b"a.b.c.d = 1\n" * 2, b"\x00", b"channels = [1]"):
        path.write_bytes(raw)
        with pytest.raises(RankscopeError):
            read_channels(path, ENVIRONMENT)


@pytest.mark.parametrize(
    "environment",
    [
        {"RANKSCOPE_CHANNEL_A": TOKEN},
        {"RANKSCOPE_CHANNEL_LOG": f"slack://{TOKEN}"},
        {"RANKSCOPE_CHANNEL_": f"slack://{TOKEN}"},
        {"RANKSCOPE_CHANNEL_A": f"slack://{TOKEN}\n"},
        {"RANKSCOPE_PUBLIC_URL": f"https://{TOKEN}@example.com"},
    ],
)
def test_a_variable_that_is_wrong_is_named_and_not_shown(environment):
    with pytest.raises(UsageError) as refused:
        read_channels(None, environment)
    assert next(iter(environment)) in str(refused.value)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "example.com", "ftp://a", "https://", "https://a b", "https://a/?b", "https://a/#b"),
        *("https://a/(b)", "https://a/<b>", "javascript:alert(1)", "https://[::1", "https://a:x"),
        "https://u:p@a",
    ],
)
def test_what_is_no_public_address_is_refused(text):
    assert read_public_url(text) is None


@pytest.mark.parametrize("count", [99, 100, 101])
def test_a_file_defines_at_most_100_channels(tmp_path, count):
    text = "".join(f'[channels.c{number}]\nurl = "x://y"\n' for number in range(count))
    with refuses_if(count > 100, FormatError, match="at most 100 tables"):
        assert len(read(tmp_path, text).channels) == count


@pytest.mark.parametrize("length", [4095, 4096, 4097])
def test_an_address_has_at_most_4_096_characters(tmp_path, length):
    for start, is_read in (("x://", is_service), ("https://example.com/", read_public_url)):
        assert bool(is_read(start + "y" * (length - len(start)))) == (length <= 4096)
    text = f'[channels.c]\nurl = "{"x://":y<{length}}"'
    with refuses_if(length > 4096, FormatError, match="at most 4096 characters"):
        assert read(tmp_path, text).channels[0].url.reveal() == f"{'x://':y<{length}}"


@pytest.mark.parametrize(
    ("digest", "length"),
    [
        ("59s", None),
        ("1m", MINUTE),
        ("61s", MINUTE + SECOND),
        ("86399s", DAY - SECOND),
        ("24h", DAY),
        ("86401s", None),
    ],
)
def test_messages_are_collected_for_a_minute_to_a_day(tmp_path, digest, length):
    text = f'[channels.c]\nurl = "x://y"\ndigest = "{digest}"'
    with refuses_if(length is None, FormatError, match='from "1m" to "24h"'):
        assert read(tmp_path, text).channels[0].digest == length


ADDRESS = "https://alerts.example/am"
CHANGING = {"severity"}
"""Labels that may change during an incident."""


def manager(**said):
    given = {"name": "alerts", "url": Secret(ADDRESS), "kind": "alertmanager"}
    return Channel(**given | said)


def put(store, incident):
    row = write_incident(incident)
    store.transact(
        lambda transaction: table.put_incidents(
            transaction.connection, transaction.project(PROJECT), [row], []
        )
    ).result()


def tell(world, event, incident):
    name = f"notice_{next(world.numbers)}"
    put_notice(world.store, name, world.now, make((event, incident)).to_json(), ("alerts",))


def list_alerts(other):
    return [alert for _, body in other.taken for alert in json.loads(body)]


def test_an_alert_says_what_is_wrong_and_lasts_for_an_hour():
    now = NOW + timedelta(days=3)
    alert = write_alert(make_incident(severity="critical"), _micros(now), URL)
    assert alert["labels"] == {
        "alertname": "RankscopeIncident",
        "incident": "incident_1",
        "project": "music",
        "rule": "quality",
        "kind": "quality",
        "severity": "critical",
        "measure": "nDCG@5",
        "model": "gbdt",
        "version": "42",
        "slice": "device=tv",
        "group": "group_1",
    }
    assert alert["annotations"]["summary"] == "nDCG@5 fell for device=tv, gbdt 42 (music)"
    assert alert["annotations"]["description"] == "nDCG@5 is 0.7045, below the floor of 0.7976."
    assert alert["startsAt"] == format_time(_micros(BEGAN))
    assert alert["endsAt"] == format_time(_micros(now) + LASTS)
    assert alert["generatorURL"] == f"{URL}/projects/music/incidents/incident_1"


def _micros(moment):
    return round(moment.timestamp()) * SECOND


@pytest.mark.parametrize(
    ("state", "field"),
    [
        *((state, "") for state in ("open", "acknowledged", "snoozed")),
        *(("recovered", "recovered"), ("superseded", "resolved"), ("resolved", "resolved")),
    ],
)
def test_an_alert_lasts_as_long_as_its_incident(state, field):
    now, ended = _micros(NOW + timedelta(days=1)), NOW + timedelta(hours=2)
    alert = write_alert(make_incident(state=state, **({field: ended} if field else {})), now)
    assert alert["endsAt"] == format_time(_micros(ended) if field else now + LASTS)
    assert "generatorURL" not in alert


def test_an_alert_never_ends_before_it_starts():
    early = BEGAN - timedelta(days=1)
    alert = write_alert(make_incident(state="recovered", recovered=early), 0)
    assert alert["endsAt"] == alert["startsAt"]


def test_labels_stay_the_same_whatever_becomes_of_an_incident():
    first = make_incident()
    later = replace(
        first,
        state="recovered",
        recovered=NOW,
        updated=NOW + timedelta(days=1),
        began=NOW,
        reason="another",
        cause={"sentence": "found later"},
        acknowledged_by="ann",
        severity="critical",
    )
    labels = [write_alert(one, at)["labels"] for at, one in enumerate((first, later))]
    changed = {name for name in labels[0] if labels[0][name] != labels[1][name]}
    assert changed <= CHANGING
    assert labels[0].keys() == labels[1].keys()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_values_of_labels_and_nothing_else(name):
    incident = make_incident(model=name, version=name, slice=(("device", name),))
    labels = json.loads(json.dumps(write_alert(incident, 0)))["labels"]
    assert (labels["model"], labels["slice"]) == (name, f"device={name}")


def test_what_is_posted_is_how_an_incident_stands_and_not_what_was_told(store):
    other = Other(Reply(503), Reply(200))
    world = World(store, manager(), poster=other)
    incident = make_incident(project=PROJECT, began=to_datetime(START - HOUR))
    put(store, incident)
    tell(world, "opened", incident)
    world.step()
    # It ends before the notification that it began could be delivered.
    put(store, replace(incident, state="recovered", recovered=to_datetime(START)))
    world.now += HOUR
    world.step()
    first, second = list_alerts(other)
    assert first["endsAt"] == format_time(START + LASTS)
    assert second["endsAt"] == format_time(START)
    assert first["labels"] == second["labels"]
    assert [status for _, _, status in world.rows()] == ["delivered"]


def test_a_notification_that_is_not_about_incidents_is_not_posted(store):
    other = Other(Reply(200))
    world = World(store, manager(), poster=other, alerts=AlertSchedule())
    body = json.dumps({"type": LOST, "project": PROJECT, "count": 2})
    put_notice(store, "lost", world.now, body, ("alerts",))
    world.step()
    assert other.taken == []
    assert world.rows() == [("lost", "alerts", "delivered")]


def told_of(incident, channel):
    return replace(incident, notified=(Notified(NOW, "opened", channel),))


def test_incidents_that_last_are_sent_again_every_five_minutes(store):
    other = Other(Reply(200))
    world = World(store, manager(severity="critical"), poster=other, alerts=AlertSchedule())
    named = make_incident(project=PROJECT)
    for number, (channel, said) in enumerate(
        (
            ("alerts", {}),
            ("*", {"severity": "critical"}),
            ("*", {}),  # below what the channel takes
            ("chat", {"severity": "critical"}),
            ("alerts", {"state": "acknowledged"}),
            ("alerts", {"state": "recovered", "recovered": NOW}),
        )
    ):
        incident = replace(named, incident_id=f"incident_{number}", **said)
        put(store, told_of(incident, channel))
    for wait, posts in ((0, 1), (AGAIN - 1, 1), (1, 2), (DAY, 3)):
        world.now += wait
        world.step()
        assert len(other.taken) == posts
    for _, body in other.taken:
        posted = [alert["labels"]["incident"] for alert in json.loads(body)]
        assert sorted(posted) == ["incident_0", "incident_1", "incident_4"]
    assert list_alerts(other)[-1]["endsAt"] == format_time(world.now + LASTS)


def test_an_alertmanager_that_is_down_stops_nothing(store):
    other = Other(PostError("nothing was answered in time", code="webhook_timeout"))
    world = World(store, manager(), poster=other, alerts=AlertSchedule())
    put(store, told_of(make_incident(project=PROJECT), "alerts"))
    world.tell("log")
    world.step()
    assert len(other.taken) == 1
    assert [status for _, _, status in world.rows()] == ["delivered"]


def test_the_token_and_the_path_are_in_the_request_and_private_networks_have_to_be_allowed():
    with listening() as listener:
        url = Secret(f"http://alerts.example:{listener.port}/am/")
        for is_private in (False, True):
            channel = manager(
                url=url, secret=Secret(TOKEN), allows_http=True, allows_private=is_private
            )
            outcome = send_test(
                channel,
                PROJECT,
                sender=None,
                poster=make_poster(allows_loopback=False),
                public_url=None,
                now=START,
            )
            assert (outcome.problem == "") == is_private
            assert TOKEN not in outcome.problem
    (request,) = listener.requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /am/api/v2/alerts HTTP/1.1")
    assert f"Authorization: Bearer {TOKEN}".encode() in head
    (alert,) = json.loads(body)
    assert alert["labels"]["alertname"] == "RankscopeTest"
    assert alert["endsAt"] == format_time(START + AGAIN)

from __future__ import annotations

import base64
import hmac
import io
import json
from dataclasses import replace
from functools import partial

import pytest
from rankscope import UsageError
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.management import list_notifications
from rankscope.monitor.notify.delivery import MOST_AGE, RETRIES, Deliverer, write_to_log
from rankscope.monitor.notify.http import PostError, Reply
from rankscope.monitor.notify.webhook import (
    check_secret,
    find_webhook,
    set_webhook,
)
from rankscope.monitor.server.access_log import AccessLog
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.records import NoticeRow
from rankscope.monitor.store.tables.outbox import insert_notifications

from tests.monitor.notify.listener import listening, make_poster
from tests.monitor.rules.world import BAD, GOOD, PROJECT, START, known_at, make_day, make_rule
from tests.monitor.rules.world import World as Rules
from tests.refusals import refuses_if

URL = "https://hook.example/in"
KEY = base64.b64encode(bytes(range(32))).decode()
SECRET = Secret(f"whsec_{KEY}")


def put_notice(store, name, time, body, channels):
    row = NoticeRow(name, time, body, channels)
    store.transact(
        lambda transaction: insert_notifications(
            transaction.connection, transaction.project(PROJECT), row
        )
    ).result()


class Other:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.taken = []

    def check(self, _target):
        return ["8.8.8.8"]

    def post(self, _target, headers, body):
        self.taken.append((dict(headers), body))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def put_webhook(store, other, url=URL, now=0, **more):
    return set_webhook(store, PROJECT, url, poster=other, now=now, actor="ada", **more)


class Delivering:
    def __init__(self, store, other, **more):
        self.store = store
        self.now = START
        self.log = io.StringIO()
        self.deliverer = Deliverer(
            store,
            log=partial(write_to_log, AccessLog(self.log.write, lambda: self.now).write),
            poster=other,
            now=lambda: self.now,
            chance=lambda: 0.5,
            **more,
        )


class World(Delivering):
    def tell(self, name="a", channels=("webhook",)):
        body = json.dumps({"type": "rule.state_changed", "id": name, "time": "then"})
        put_notice(self.store, name, self.now, body, channels)

    def letters(self):
        return list(list_notifications(self.store, PROJECT))[::-1]


@pytest.fixture
def make(store):
    def make_world(other, url=URL, **more):
        put_webhook(store, other, url, START, secret=SECRET, **more)
        return World(store, other)

    return make_world


def test_a_drop_reaches_the_webhook_and_the_log(store, make):
    with listening() as listener:
        world = make(make_poster(), listener.url, allows_http=True)
        rules = Rules(store)
        rules.put(make_rule(slices=("device",)))
        for day, ranks in enumerate([GOOD, BAD, BAD]):
            rules.pass_day(day, make_day(day, ranks, device="tv"))
        world.now = known_at(2)
        assert world.deliverer.step() == 3
        assert world.deliverer.step() == 0
    (notice,) = rules.list_told()
    bodies = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in listener.requests]
    assert bodies == [notice.to_dict()]
    told = [(one["event"], one["stream"]["slice"]) for one in bodies[0]["incidents"]]
    assert ("opened", {"device": "tv"}) in told
    (line,) = [json.loads(line) for line in world.log.getvalue().splitlines()]
    assert (line["event"], line["group"]) == ("incidents.changed", notice.group)
    assert {letter.status for letter in world.letters()} == {"delivered"}


def test_a_notification_is_signed(make):
    other = Other(Reply(200))
    world = make(other)
    world.tell("a")
    world.deliverer.step()
    ((headers, body),) = other.taken
    said = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = hmac.digest(bytes(range(32)), said, "sha256")
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(expected).decode()}"
    assert headers["webhook-id"] == "a"
    assert headers["webhook-timestamp"] == str(START // SECOND)


@pytest.mark.parametrize(
    "answer",
    [
        Reply(500),
        Reply(429),
        Reply(302),
        Reply(404),
        Reply(409),
        Reply(411),
        PostError("nothing was answered in time", code="webhook_timeout"),
        PostError("TLS failed", code="webhook_tls"),
    ],
    ids=str,
)
def test_what_fails_is_tried_again_later_and_with_the_same_id(make, answer):
    other = Other(answer, answer, Reply(200))
    world = make(other)
    world.tell("a")
    for wait in (5 * SECOND, 5 * MINUTE):
        assert world.deliverer.step() == 1
        (letter,) = world.letters()
        assert (letter.status, to_micros(letter.due) - world.now) == ("waiting", round(wait * 1.1))
        assert letter.problem
        world.now = to_micros(letter.due) - 1
        assert world.deliverer.step() == 0
        world.now = to_micros(letter.due)
    world.deliverer.step()
    (letter,) = world.letters()
    assert (letter.status, letter.attempts, letter.problem) == ("delivered", 3, "")
    assert {headers["webhook-id"] for headers, _ in other.taken} == {"a"}
    assert len({body for _, body in other.taken}) == 1


def test_nobody_is_called_sooner_than_asked(make):
    world = make(Other(Reply(429, retry_after=3600.0)))
    world.tell("a")
    world.deliverer.step()
    (letter,) = world.letters()
    assert letter.due == to_datetime(START + HOUR)


def test_after_three_days_a_notification_is_given_up_and_the_next_one_tells_so(make):
    other = Other(Reply(500))
    world = make(other)
    world.tell("a")
    world.tell("b")
    while any(letter.status == "waiting" for letter in world.letters()):
        world.deliverer.step()
        dues = [to_micros(one.due) for one in world.letters() if one.status == "waiting"]
        # One that is due may wait for another, which came first.
        world.now = min((due for due in dues if due > world.now), default=world.now)
    assert world.now - START <= MOST_AGE
    assert [letter.status for letter in world.letters()] == ["dead", "dead"]
    assert {letter.problem for letter in world.letters()} == {"status 500"}
    attempts = world.letters()[0].attempts
    assert len(RETRIES.waits) - 2 <= attempts <= len(RETRIES.waits) + 1
    other.answers = [Reply(200)]
    world.tell("c")
    while world.deliverer.step():
        pass
    told = [json.loads(body) for _, body in other.taken[-2:]]
    assert told[0]["id"] == "c"
    assert (told[1]["type"], told[1]["count"]) == ("notifications.lost", 2)
    assert [letter.status for letter in world.letters()] == [
        "summed",
        "summed",
        "delivered",
        "delivered",
    ]


def test_what_is_gone_is_called_no_more(store, make):
    other = Other(Reply(410))
    world = make(other)
    for name in "abc":
        world.tell(name)
    while world.deliverer.step():
        pass
    assert len(other.taken) == 1
    assert {letter.status for letter in world.letters()} == {"dead"}
    webhook = find_webhook(store, PROJECT)
    assert webhook is not None
    assert webhook.disabled == START
    assert store.audit(PROJECT)[-1].action == "webhook.disable"
    world.tell("d")
    assert len(world.letters()) == 3
    put_webhook(store, other, now=START)
    world.tell("e")
    assert len(world.letters()) == 4


def test_the_log_does_not_wait_for_webhooks(make):
    other = Other(PostError("nothing was answered in time", code="webhook_timeout"))
    world = make(other)
    for name in "abc":
        world.tell(name, ("webhook", "log"))
    assert world.deliverer.step() == 4
    assert len(world.log.getvalue().splitlines()) == 3
    assert len(other.taken) == 1


def test_a_line_of_the_log_is_one_line_of_ascii(make):
    world = make(Other(Reply(200)))
    world.tell("\x1b[31m\r\n{0.__class__} \u202e \u2028 \x9b", ("log",))
    world.deliverer.step()
    text = world.log.getvalue()
    assert text.isascii()
    assert text.count("\n") == 1
    assert text[:-1].isprintable()
    assert json.loads(text)["id"].startswith("\x1b[31m\r\n{0.__class__}")


def test_a_log_that_takes_nothing_is_tried_again(make):
    world = make(Other(Reply(200)))
    world.log.close()
    world.tell("a", ("log",))

    def fail(_event, _fields):
        raise OSError

    replace(world.deliverer, log=partial(write_to_log, fail)).step()
    assert world.letters()[0].problem == "the log takes nothing"
    assert world.letters()[0].status == "waiting"


@pytest.mark.parametrize(("failures", "waits"), [(0, False), (1, True), (2, True), (3, False)])
def test_notifications_wait_for_an_older_one_that_failed_once_or_twice(store, failures, *, waits):
    world = World(store, Other())
    for name in "ab":
        world.tell(name, channels=("oncall",))
    older, newer = store.list_due(START, 10)
    store.update_notification(replace(older, attempts=failures, due=START + HOUR), None)
    assert store.list_due(START, 10) == ([] if waits else [newer])


@pytest.mark.parametrize("size", [23, 24, 25, 63, 64, 65])
def test_a_secret_has_24_to_64_bytes(size):
    secret = Secret(f"whsec_{base64.b64encode(bytes(size)).decode()}")
    with refuses_if(size not in range(24, 65), UsageError, match="24 to 64 bytes"):
        assert check_secret(secret) is secret


@pytest.mark.parametrize(("after", "is_dead"), [(-1, False), (0, True), (1, True)])
@pytest.mark.parametrize(("answer", "next_wait"), [(Reply(200), 0), (Reply(500), 5.5 * SECOND)])
def test_a_notification_is_given_up_three_days_old_or_if_it_would_be_at_the_next_attempt(
    make, answer, next_wait, after, *, is_dead
):
    world = make(Other(answer))
    world.tell("a")
    world.now = START + 3 * DAY - round(next_wait) + after
    world.deliverer.step()
    (letter,) = world.letters()
    assert (letter.status == "dead") == is_dead


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_a_notification_is_tried_again_after_longer_and_longer_waits(make, chance):
    world = make(Other(Reply(500)))
    deliverer = replace(world.deliverer, chance=lambda: chance)
    world.tell("a")
    for wait in [5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20]:
        deliverer.step()
        (letter,) = world.letters()
        # A fifth more by chance, so that not all come back at once.
        assert to_micros(letter.due) == world.now + round(wait * HOUR * (1 + 0.2 * chance))
        world.now = to_micros(letter.due)
    deliverer.step()
    assert world.letters()[0].status == "dead"

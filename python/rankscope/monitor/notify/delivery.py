"""Delivers notifications to channels, webhooks and the log, with retries."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b

from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import format_time
from rankscope.monitor.incidents.incident import (
    CHANGED,
    DIGEST,
    SEVERITIES,
    Incident,
    Notice,
    Severity,
)
from rankscope.monitor.notify.alertmanager import (
    AlertSchedule,
    list_current,
    list_lasting,
    post_alerts,
    write_alert,
)
from rankscope.monitor.notify.attempt import Attempt
from rankscope.monitor.notify.channels import Channel, Channels
from rankscope.monitor.notify.http import Poster
from rankscope.monitor.notify.message import LOST
from rankscope.monitor.notify.sending import (
    AppriseSender,
    Sender,
    add_url,
    post_webhook,
    send_notifications,
)
from rankscope.monitor.notify.webhook import find_webhook
from rankscope.monitor.retry import RetryPolicy
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import LOG, OPERATOR, WEBHOOK, OutboxRow
from rankscope.monitor.store.store import Store

RETRIES = RetryPolicy(
    waits=(5 * SECOND, 5 * MINUTE, *(hours * HOUR for hours in (0.5, 2, 5, 10, 14, 20, 24))),
    least=1.0,
    spread=0.2,
)
"""How long to wait after each failed attempt."""

MOST_AGE = 3 * DAY
"""Notifications as old as this are given up; the next one that is delivered reports them."""

AT_ONCE = 100
THREADS = 8
"""How many channels are called at the same time."""

ACTOR = "rankscope"


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Delivers notifications of all projects.

    Channels don't wait for each other: each has a thread while a step lasts, in which its
    notifications are sent one after another, up to the first that fails.

    Args:
        store: Where they wait.
        log: Takes the body of each, such as `write_to_log`.
        poster: Posts those that go to webhooks.
        now: Gives the time, in microseconds since 1970 in UTC.
        channels: The channels of the operator.
        sender: Sends messages to services.
        alerts: Says when incidents that last are sent to Alertmanager again (default: never).
        chance: Gives a number between 0 and 1, so that not all who failed come back at once.
    """

    store: Store
    log: Callable[[str], Attempt]
    poster: Poster
    now: Callable[[], int]
    channels: Channels = field(default_factory=Channels)
    sender: Sender = field(default_factory=AppriseSender)
    alerts: AlertSchedule | None = None
    chance: Callable[[], float] = random.random

    def step(self) -> int:
        """Try what is due now, and return how many notifications were tried."""
        self._repeat_alerts()
        due = self.store.list_due(self.now(), AT_ONCE)
        groups: dict[tuple[str, str], list[OutboxRow]] = {}
        tried = 0
        for letter in due:
            if letter.channel == LOG:
                self._settle(letter, self.log(letter.body))
                tried += 1
            elif letter.channel == OPERATOR:
                self._expand(letter)
                tried += 1
            else:
                # The webhook is one of the project, the others are the same for all projects.
                owner = letter.project if letter.channel == WEBHOOK else ""
                groups.setdefault((owner, letter.channel), []).append(letter)
        return tried + sum(
            _run_together(partial(self._deliver, group) for group in groups.values())
        )

    def _repeat_alerts(self) -> None:
        """Send the incidents that last to each Alertmanager, if it is time to."""
        managers = [one for one in self.channels.channels if one.kind == "alertmanager"]
        now = self.now()
        if not managers or self.alerts is None or not self.alerts.is_due(now):
            return
        for channel in managers:
            lasting = list_lasting(self.store, channel)
            # An Alertmanager that can't be reached gets them the next time.
            self._post_alerts(channel, lasting, now)

    def _post_alerts(self, channel: Channel, incidents: Iterable[Incident], now: int) -> Attempt:
        url = self.channels.public_url
        alerts = [write_alert(incident, now, url) for incident in incidents]
        return post_alerts(channel, alerts, self.poster) if alerts else Attempt()

    def _expand(self, letter: OutboxRow) -> None:
        """Let a notification wait for each channel of the operator that takes its severity."""
        severity = find_severity(letter.body)
        names = [channel.name for channel in self.channels.channels if channel.takes(severity)]
        self.store.expand_notification(letter, names)

    def _deliver(self, letters: Sequence[OutboxRow]) -> int:
        """Send the notifications of one channel, and return how many were tried."""
        tried = 0
        fresh = [letter for letter in letters if not self._give_up(letter)]
        for batch in self._collect(fresh):
            outcome = self._send(batch)
            tried += len(batch)
            for letter in batch:
                self._settle(letter, outcome)
            if outcome.problem:
                break
        return tried

    def _give_up(self, letter: OutboxRow) -> bool:
        """Mark a notification as dead if it is too old, and return whether it is."""
        is_old = self.now() - letter.created >= MOST_AGE
        if is_old:
            problem = letter.problem or "it was not sent in three days"
            self._settle(letter, Attempt(problem, is_gone=True))
        return is_old

    def _collect(self, letters: Sequence[OutboxRow]) -> Iterator[list[OutboxRow]]:
        """Yield what is sent together: one notification, or those that were collected."""
        channel = self.channels.find(letters[0].channel) if letters else None
        if channel is None or not channel.digest:
            yield from ([letter] for letter in letters)
            return
        collected: dict[str, list[OutboxRow]] = {}
        for letter in letters:
            length = channel.digest
            until = -(-letter.created // length) * length
            if find_severity(letter.body) == SEVERITIES[-1] or channel.kind != "service":
                yield [letter]
            elif self.now() < until:
                self.store.update_notification(replace(letter, due=until), None)
            else:
                collected.setdefault(letter.project, []).append(letter)
        yield from collected.values()

    def _send(self, batch: Sequence[OutboxRow]) -> Attempt:
        """Send notifications together."""
        now = self.now()
        letter = batch[0]
        if letter.channel == WEBHOOK:
            return self._call(letter, now)
        channel = self.channels.find(letter.channel)
        if channel is None:
            return Attempt("the operator has defined no channel with this name")
        try:
            if channel.kind == "alertmanager":
                told = list_current(self.store, letter.project, list_incidents(letter.body))
                return self._post_alerts(channel, told, now)
            return send_notifications(
                channel,
                batch,
                sender=self.sender,
                poster=self.poster,
                public_url=self.channels.public_url,
                now=now,
            )
        except Exception as error:  # noqa: BLE001 - one message must not hold up all others
            return Attempt(f"the message could not be written ({type(error).__name__})")

    def _call(self, letter: OutboxRow, now: int) -> Attempt:
        """Post a notification to the webhook of the project."""
        webhook = find_webhook(self.store, letter.project)
        if webhook is None or webhook.disabled is not None:
            return Attempt("there is no webhook")
        body = add_url(letter.body, self.channels.public_url)
        outcome = post_webhook(self.poster, webhook, letter.notification_id, body, now)
        if outcome.is_gone:
            self._disable(letter.project, webhook.url)
        return outcome

    def _disable(self, project: str, url: str) -> None:
        audit = AuditEntry(self.now(), ACTOR, "webhook.disable", "it says that it is gone")
        self.store.disable_webhook(project, url, audit)

    def _settle(self, letter: OutboxRow, outcome: Attempt) -> None:
        """Write down what became of an attempt."""
        now = self.now()
        settled = self._conclude(letter, outcome, now)
        summary = None
        if settled.status == "delivered":
            lost = self.store.count_dead(letter.project, letter.channel)
            summary = tell_lost(letter, lost, now) if lost else None
        self.store.update_notification(settled, summary)

    def _conclude(self, letter: OutboxRow, outcome: Attempt, now: int) -> OutboxRow:
        """Return the status of a notification after an attempt."""
        tried = replace(letter, attempts=letter.attempts + 1, problem=outcome.problem)
        if not outcome.problem:
            return replace(tried, status="delivered", finished=now)
        wait = RETRIES.wait(tried.attempts, self.chance())
        due = now + round(max(wait, outcome.wait * SECOND))
        if (
            outcome.is_gone
            or letter.attempts >= len(RETRIES.waits)
            or due - letter.created >= MOST_AGE
        ):
            return replace(tried, status="dead", finished=now)
        return replace(tried, due=due)


def list_incidents(body: str) -> list[Incident]:
    """Return the incidents that a notification is about."""
    said = json.loads(body)
    is_notice = said["type"] in {CHANGED, DIGEST}
    return [incident for _, incident in Notice.from_dict(said).parts] if is_notice else []


def find_severity(body: str) -> Severity:
    """Return the severity of the worst incident that a notification is about."""
    incidents = json.loads(body).get("incidents", ())
    found = (incident["severity"] for incident in incidents)
    return max(found, key=SEVERITIES.index, default="warning")


def _run_together(works: Iterable[Callable[[], int]]) -> list[int]:
    """Return the results of functions that run at the same time."""
    waiting = list(works)
    results: list[int] = []
    problems: list[BaseException] = []

    def run() -> None:
        while waiting:
            with suppress(IndexError):  # another thread was faster
                work = waiting.pop()
                try:
                    results.append(work())
                except Exception as error:  # noqa: BLE001 - it is raised again
                    problems.append(error)

    # Not from a pool: its threads would keep the process alive.
    threads = [
        threading.Thread(target=run, name="rankscope-channel", daemon=True)
        for _ in range(min(len(waiting), THREADS) - 1)
    ]
    for thread in threads:
        thread.start()
    run()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    return results


def tell_lost(letter: OutboxRow, count: int, now: int) -> tuple[str, str]:
    """Return the ID and the body of a notification that reports lost ones."""
    said = json.dumps([letter.project, letter.number, letter.channel]).encode()
    name = f"lost_{blake2b(said, digest_size=16).hexdigest()}"
    body = {
        "type": LOST,
        "id": name,
        "project": letter.project,
        "time": format_time(now),
        "count": count,
    }
    return name, json.dumps(body)


def write_to_log(write: Callable[[str, Mapping[str, object]], object], body: str) -> Attempt:
    """Write a notification to a log by what escapes texts, such as `AccessLog.write`."""
    fields = json.loads(body)
    event = str(fields.pop("type"))
    # The line has a time of its own: that of when it was written.
    fields["concluded"] = fields.pop("time")
    try:
        write(event, fields)
    except OSError:
        return Attempt("the log takes nothing")
    return Attempt()

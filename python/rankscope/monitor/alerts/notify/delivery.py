"""Delivers notifications to webhooks and to the log, with retries."""

from __future__ import annotations

import json
import random
from hashlib import blake2b

from rankscope.errors import UsageError
from rankscope.monitor.alerts.notify.http import PostError
from rankscope.monitor.alerts.notify.webhook import call, find_webhook
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import format_time
from rankscope.monitor.retry import RetryPolicy
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import LOG
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankscope.monitor.alerts.notify.http import Poster
    from rankscope.monitor.store.records import OutboxRow
    from rankscope.monitor.store.store import Store

RETRIES = RetryPolicy(
    waits=(5 * SECOND, 5 * MINUTE, *(hours * HOUR for hours in (0.5, 2, 5, 10, 14, 20, 24))),
    least=1.0,
    spread=0.2,
)
"""How long to wait after each failed attempt."""

MOST_AGE = 3 * DAY
"""Older notifications are given up; the next one that is delivered reports them."""

AT_ONCE = 20
GONE = 410
LOST = "notifications.lost"
ACTOR = "rankscope"


@record(frozen=True, slots=True)
class Attempt:
    """The result of an attempt to deliver a notification.

    Args:
        problem: What was wrong; empty if it was delivered.
        wait: For how many seconds the other side asks to be left alone.
        is_gone: Whether it will never take anything again.
    """

    problem: str = ""
    wait: float = 0.0
    is_gone: bool = False


class Deliverer:
    """Delivers notifications of all projects.

    Args:
        store: Where they wait.
        log: Where all of them go.
        poster: Posts those that go to webhooks.
        now: Gives the time, in microseconds since 1970 in UTC.
        chance: Gives a number between 0 and 1, so that not all who failed come back at once.
    """

    def __init__(
        self,
        store: Store,
        *,
        log: LogChannel,
        poster: Poster,
        now: Callable[[], int],
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._log = log
        self._poster = poster
        self._now = now
        self._chance = chance

    def step(self) -> int:
        """Try what is due now, up to the first webhook that fails, and give how many were tried.

        So nothing that is for the log waits for more than one of the others.

        Raises:
            FileError: The store does not take what became of them; they are tried again.
        """
        due = self._store.list_due(self._now(), AT_ONCE)
        for tried, letter in enumerate(due, start=1):
            if letter.channel == LOG:
                self._settle(letter, self._log.deliver(letter.body))
                continue
            outcome = self._call(letter)
            self._settle(letter, outcome)
            if outcome.problem:
                return tried
        return len(due)

    def _call(self, letter: OutboxRow) -> Attempt:
        """Post a notification, if it is not too old for that."""
        now = self._now()
        if now - letter.created >= MOST_AGE:
            return Attempt(letter.problem or "it was not sent in three days")
        webhook = find_webhook(self._store, letter.project)
        if webhook is None or webhook.disabled is not None:
            return Attempt("there is no webhook")
        try:
            reply = call(self._poster, webhook, letter.notification_id, letter.body, now)
        except (PostError, UsageError) as error:
            return Attempt(error.message)
        if reply.status in range(200, 300):
            return Attempt()
        if reply.status == GONE:
            self._disable(letter.project, webhook.url)
            return Attempt("the webhook is gone", is_gone=True)
        return Attempt(f"status {reply.status}", reply.retry_after)

    def _disable(self, project: str, url: str) -> None:
        audit = AuditEntry(self._now(), ACTOR, "webhook.disable", "it says that it is gone")
        self._store.disable_webhook(project, url, audit)

    def _settle(self, letter: OutboxRow, outcome: Attempt) -> None:
        """Write down what became of an attempt."""
        now = self._now()
        settled = self._conclude(letter, outcome, now)
        summary = None
        if settled.status == "delivered":
            lost = self._store.count_dead(letter.project, letter.channel)
            summary = tell_lost(letter, lost, now) if lost else None
        self._store.update_notification(settled, summary)

    def _conclude(self, letter: OutboxRow, outcome: Attempt, now: int) -> OutboxRow:
        """Return the status of a notification after an attempt."""
        tried = replace(letter, attempts=letter.attempts + 1, problem=outcome.problem)
        if not outcome.problem:
            return replace(tried, status="delivered", finished=now)
        wait = RETRIES.wait(tried.attempts, self._chance())
        due = now + round(max(wait, outcome.wait * SECOND))
        if (
            outcome.is_gone
            or letter.attempts >= len(RETRIES.waits)
            or due - letter.created > MOST_AGE
        ):
            return replace(tried, status="dead", finished=now)
        return replace(tried, due=due)


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


class LogChannel:
    """Writes notifications to the log.

    Args:
        write: Takes what happened and its fields, such as `Journal.write`, which escapes all that
            is not printable.
    """

    def __init__(self, write: Callable[[str, Mapping[str, object]], object]) -> None:
        self._write = write

    def deliver(self, body: str) -> Attempt:
        """Write a notification.

        Args:
            body: The notification, as JSON.
        """
        fields = json.loads(body)
        event = str(fields.pop("type"))
        # The line has a time of its own: that of when it was written.
        fields["concluded"] = fields.pop("time")
        try:
            self._write(event, fields)
        except OSError:
            return Attempt("the log takes nothing")
        return Attempt()

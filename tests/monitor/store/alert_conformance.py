"""What every store does for rules and notifications. A test of a store inherits these, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import pytest
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.store.keys import AuditEntry, Secret
from rankscope.monitor.store.tables.outbox import (
    Letter,
    Webhook,
    count_dead,
    count_letters,
    disable_webhook,
    find_webhook,
    list_due,
    list_letters,
    remove_webhook,
    set_webhook,
    settle_letter,
)
from rankscope.monitor.store.tables.rules import (
    AlertRow,
    RuleRow,
    count_late,
    find_rule,
    list_alerts,
    list_rules,
    remove_rule,
    save_rule,
)
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.store.store import Store

Open: TypeAlias = Callable[[], Any]

ROW = RuleRow(
    name="quality",
    rule="{}",
    progress="[1]",
    state="OK",
    reason="why",
    since=5,
    evaluated=6,
    silenced_until=None,
    revision=1,
)
HOOK = Webhook("https://example.com/hook", Secret("whsec_abc"), False, 3)


def save(store: Store, row: RuleRow, project: str = "music", **more: object) -> bool:
    """Store a rule."""
    return store.transact(partial(save_rule, project=project, row=row, **more)).result()


def tell(store: Store, *names: str, channels: tuple[str, ...] = ("log", "webhook")) -> list[Letter]:
    """Let alerts be told, and give what waits."""
    known = store.query(partial(find_rule, project="music", name="quality"))
    for name in names:
        row = ROW if known is None else replace(known, revision=known.revision + 1)
        assert save(store, row, alert=AlertRow(name, 10, f'"{name}"', channels))
        known = row
    return store.query(partial(list_due, now=10, limit=100))


def hook(store: Store) -> None:
    """Say where notifications go."""
    audit = AuditEntry(3, "ada", "webhook.set", "example.com")
    store.transact(partial(set_webhook, project="music", webhook=HOOK, audit=audit)).result()


class AlertConformance:
    """What is promised of rules, alerts and notifications."""

    def test_a_rule_comes_back(self, opened: Open) -> None:
        with opened() as store:
            assert save(store, ROW)
            assert save(store, replace(ROW, name="a"))
        with opened() as store:
            rows = store.query(partial(list_rules, project="music"))
            assert rows == [replace(ROW, name="a"), ROW]
            assert store.query(partial(find_rule, project="music", name="quality")) == ROW
            assert store.query(partial(find_rule, project="films", name="quality")) is None
            assert store.query(partial(list_rules, project="films")) == []

    def test_a_rule_that_was_changed_meanwhile_stays(self, opened: Open) -> None:
        with opened() as store:
            alert = AlertRow("a", 1, "{}", ("log",))
            audit = AuditEntry(1, "ada", "rule.change", "quality")
            assert save(store, ROW)
            assert not save(store, ROW, alert=alert, audit=audit)
            assert save(store, replace(ROW, revision=2))
            assert not save(store, replace(ROW, revision=2), alert=alert, audit=audit)
            assert not save(store, replace(ROW, revision=4), alert=alert, audit=audit)
            assert not save(store, replace(ROW, revision=3), project="films", alert=alert)
            assert store.query(partial(list_alerts, project="music", limit=9)) == []
            assert store.query(partial(list_letters, project="music", limit=9)) == []
            assert store.audit("music") == []

    def test_a_rule_that_is_removed_leaves_its_alerts(self, opened: Open) -> None:
        audit = AuditEntry(1, "ada", "rule.remove", "quality")
        with opened() as store:
            tell(store, "a", channels=("log",))
            gone = partial(remove_rule, project="music", name="quality", audit=audit)
            assert store.transact(gone).result()
            assert not store.transact(gone).result()
            assert store.query(partial(list_rules, project="music")) == []
            assert store.query(partial(list_alerts, project="music", limit=9)) == ['"a"']
            assert store.audit("music") == [audit]

    def test_alerts_come_the_newest_first(self, opened: Open) -> None:
        with opened() as store:
            tell(store, "a", "b", "c")
            assert store.query(partial(list_alerts, project="music", limit=2)) == ['"c"', '"b"']
            assert store.query(partial(list_alerts, project="films", limit=2)) == []

    def test_a_webhook_is_told_only_where_there_is_one(self, opened: Open) -> None:
        with opened() as store:
            assert [letter.channel for letter in tell(store, "a")] == ["log"]
            hook(store)
            assert [letter.channel for letter in tell(store, "b")] == ["log", "log", "webhook"]
            assert store.query(partial(list_due, now=9, limit=9)) == []

    def test_what_became_of_a_notification_is_kept(self, opened: Open) -> None:
        with opened() as store:
            hook(store)
            log, webhook = tell(store, "a")
            later = replace(webhook, attempts=1, due=20, problem="status 500")
            done = replace(log, status="delivered", attempts=1, finished=11)
            for letter in (later, done):
                settled = partial(settle_letter, letter=letter, summary=None)
                assert store.transact(settled).result() == 0
        with opened() as store:
            assert store.query(partial(list_letters, project="music", limit=9)) == [later, done]
            assert store.query(partial(list_due, now=19, limit=9)) == []
            assert store.query(partial(list_due, now=20, limit=9)) == [later]
            counted = store.query(partial(count_letters, project="music"))
            assert counted == {"delivered": 1, "waiting": 1}

    def test_those_that_were_given_up_are_summed_once(self, opened: Open) -> None:
        with opened() as store:
            hook(store)
            tell(store, "a", "b", "c", channels=("webhook",))
            *lost, last = store.query(partial(list_due, now=10, limit=9))
            for letter in lost:
                dead = replace(letter, status="dead", finished=11)
                store.transact(partial(settle_letter, letter=dead, summary=None)).result()
            dead_ones = partial(count_dead, project="music", channel="webhook")
            assert store.query(dead_ones) == 2
            done = replace(last, status="delivered", finished=12)
            settled = partial(settle_letter, letter=done, summary=("s", '"2 lost"'))
            assert store.transact(settled).result() == 2
            assert store.query(dead_ones) == 0
            (summary,) = store.query(partial(list_due, now=12, limit=9))
            assert (summary.body, summary.channel) == ('"2 lost"', "webhook")
            done = replace(summary, status="delivered", finished=13)
            settled = partial(settle_letter, letter=done, summary=("t", '"0 lost"'))
            assert store.transact(settled).result() == 0
            assert store.query(partial(list_due, now=99, limit=9)) == []

    def test_a_webhook_is_known_with_its_secret_and_shown_without(self, opened: Open) -> None:
        with opened() as store:
            hook(store)
        with opened() as store:
            found = store.query(partial(find_webhook, project="music"))
            assert (found.url, found.secret) == (HOOK.url, None)
            assert store.find_secret(found.secret_id).reveal() == "whsec_abc"
            assert (found.allows_http, found.created, found.disabled) == (False, 3, None)
            assert "abc" not in repr(found)
            assert store.query(partial(find_webhook, project="films")) is None

    @pytest.mark.parametrize("is_gone", [True, False])
    def test_a_webhook_that_ends_leaves_nothing_waiting(
        self, opened: Open, *, is_gone: bool
    ) -> None:
        audit = AuditEntry(12, "ada", "webhook.end", "")
        with opened() as store:
            hook(store)
            tell(store, "a", "b")
            end = (
                partial(disable_webhook, project="music", url=HOOK.url, audit=audit)
                if is_gone
                else partial(remove_webhook, project="music", audit=audit)
            )
            assert store.transact(end).result()
            assert not store.transact(end).result()
            assert store.audit("music")[1:] == [audit]
            letters = store.query(partial(list_letters, project="music", limit=9))
            became = {(letter.channel, letter.status) for letter in letters}
            assert became == {("log", "waiting"), ("webhook", "dead")}
            assert "webhook" not in {letter.channel for letter in tell(store, "c")}
            found = store.query(partial(find_webhook, project="music"))
            assert (found is not None and found.disabled == 12) is is_gone

    def test_another_webhook_is_not_disabled(self, opened: Open) -> None:
        audit = AuditEntry(12, "rankscope", "webhook.disable", "")
        with opened() as store:
            hook(store)
            other = partial(disable_webhook, project="music", url="https://other", audit=audit)
            assert not store.transact(other).result()

    def test_late_rankings_are_counted_by_number_and_time(self, opened: Open) -> None:
        def make(number: int, time: int, model: str, environment: str) -> Ranking:
            items = Items(("a",), (1,))
            return Ranking(f"e{number}", f"r{number}", time, items, "", "", model, "1", environment)

        events = [
            make(1, 10, "m", "production"),
            make(2, 10, "m", "validation"),
            make(3, 20, "m", "production"),
            make(4, 10, "n", "production"),
            make(5, 9, "m", "production"),
            Label("l", "r1", "a", 11, ("click",)),
            make(6, 19, "m", "production"),
        ]
        with opened() as store:
            store.append("music", events)
            store.append("films", [make(1, 10, "m", "production")])

            def count(after: int, upto: int, model: str | None = None) -> int:
                asked = {"model": model, "since": 10, "until": 20, "after": after, "upto": upto}
                found: int = store.query(partial(count_late, project="music", **asked))
                return found

            assert [count(0, 99), count(0, 6), count(1, 99), count(7, 99)] == [3, 2, 2, 0]
            assert [count(0, 99, "m"), count(0, 99, "n")] == [2, 1]

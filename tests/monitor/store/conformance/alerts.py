"""What every store guarantees for rules, incidents, notifications and webhooks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.store.keys import AuditEntry, Secret
from rankscope.monitor.store.records import (
    ChangeRow,
    IncidentRow,
    NoticeRow,
    OutboxRow,
    RuleRow,
    Webhook,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.events.event import Environment, Event
    from rankscope.monitor.store.store import Store

    from tests.monitor.store.conformance.events import Open

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
INCIDENT = IncidentRow(
    incident_id="i1",
    rule="quality",
    kind="quality",
    state="open",
    opened=20,
    updated=20,
    body="{}",
)
OPENED = ChangeRow("i1", 20, "opened", "rankscope", "it fell")
HOOK = Webhook("https://example.com/hook", Secret("whsec_abc"), False, 3)


def notify(
    store: Store, *names: str, channels: tuple[str, ...] = ("log", "webhook")
) -> list[OutboxRow]:
    """Store notices, and return the notifications that are due."""
    known = store.find_rule("music", "quality")
    for name in names:
        row = ROW if known is None else replace(known, revision=known.revision + 1)
        notice = NoticeRow(name, 10, f'"{name}"', channels)
        assert store.save_rules("music", [row], notices=[notice]) == []
        known = row
    return store.list_due(now=10, limit=100)


def set_hook(store: Store) -> None:
    """Set the webhook of the project."""
    audit = AuditEntry(3, "ada", "webhook.set", "example.com")
    store.set_webhook("music", HOOK, audit)


class AlertConformance:
    """Tests of rules, incidents and notifications."""

    def test_a_rule_comes_back(self, opened: Open) -> None:
        with opened() as store:
            assert store.save_rules("music", [ROW, replace(ROW, name="a")]) == []
        with opened() as store:
            rows = store.list_rules("music")
            assert rows == [replace(ROW, name="a"), ROW]
            assert store.find_rule("music", "quality") == ROW
            assert store.find_rule("films", "quality") is None
            assert store.list_rules("films") == []

    def test_a_rule_that_has_changed_is_not_overwritten(self, store: Store) -> None:
        more: dict[str, Any] = {
            "incidents": [INCIDENT],
            "changes": [OPENED],
            "notices": [NoticeRow("a", 1, "{}", ("log",))],
            "audit": [AuditEntry(1, "ada", "rule.change", "quality")],
        }
        second, fourth = (replace(ROW, revision=number) for number in (2, 4))
        other = replace(ROW, name="other")
        assert store.save_rules("music", [ROW]) == []
        assert store.save_rules("music", [ROW], **more) == ["quality"]
        assert store.save_rules("music", [second]) == []
        assert store.save_rules("music", [other, second], **more) == ["quality"]
        assert store.save_rules("music", [fourth], **more) == ["quality"]
        assert store.save_rules("films", [second], **more) == ["quality"]
        assert store.list_rules("music") == [second]
        assert store.list_incidents("music") == []
        assert store.list_notifications("music", limit=9) == []
        assert store.audit("music") == []

    def test_an_incident_comes_back_with_its_history(self, opened: Open) -> None:
        newer = replace(INCIDENT, state="recovered", updated=30, body='{"a": 1}')
        recovered = ChangeRow("i1", 30, "recovered", "rankscope", "it is over")
        with opened() as store:
            store.save_rules("music", [ROW], incidents=[INCIDENT], changes=[OPENED])
            again = replace(ROW, revision=2)
            store.save_rules("music", [again], incidents=[newer], changes=[recovered])
        with opened() as store:
            assert store.find_incident("music", "i1") == newer
            assert store.list_changes("music", "i1") == [OPENED, recovered]
            assert store.find_incident("films", "i1") is None
            assert store.list_changes("films", "i1") == []
            assert store.find_incident("music", "i2") is None

    def test_incidents_are_listed_newest_first_by_state_and_rule(self, store: Store) -> None:
        rows = [
            INCIDENT,
            replace(INCIDENT, incident_id="i2", opened=30),
            replace(INCIDENT, incident_id="i3", rule="other", state="resolved", kind="volume"),
        ]
        store.save_rules("music", [ROW], incidents=rows)

        def listed(**chosen: Any) -> list[str]:
            return [row.incident_id for row in store.list_incidents("music", **chosen)]

        assert listed() == ["i2", "i3", "i1"]
        assert listed(states={"open", "recovered"}) == ["i2", "i1"]
        assert listed(states=set()) == []
        assert listed(rule="other") == ["i3"]
        assert listed(limit=1) == ["i2"]
        assert store.list_incidents("films") == []
        assert store.count_incidents("music") == {
            ("open", "quality"): 2,
            ("resolved", "volume"): 1,
        }
        assert store.count_incidents("films") == {}

    def test_the_incidents_of_a_removed_rule_are_kept(self, store: Store) -> None:
        audit = AuditEntry(1, "ada", "rule.remove", "quality")
        resolved = replace(INCIDENT, state="resolved", updated=40)
        change = ChangeRow("i1", 40, "resolved", "ada", "the rule was removed")
        notice = NoticeRow("n", 40, '"n"', ("log",))
        store.save_rules("music", [ROW], incidents=[INCIDENT], changes=[OPENED])
        more: dict[str, Any] = {
            "incidents": [resolved],
            "changes": [change],
            "notices": [notice],
        }
        assert store.remove_rule("music", "quality", audit, **more)
        assert not store.remove_rule("music", "quality", audit, **more)
        assert store.list_rules("music") == []
        assert store.list_incidents("music") == [resolved]
        assert store.list_changes("music", "i1") == [OPENED, change]
        assert [row.body for row in store.list_notifications("music", 9)] == ['"n"']
        assert store.audit("music") == [audit]

    def test_a_webhook_is_notified_only_if_it_is_set(self, store: Store) -> None:
        assert [row.channel for row in notify(store, "a")] == ["log"]
        set_hook(store)
        assert [row.channel for row in notify(store, "b")] == ["log", "log", "webhook"]
        assert store.list_due(now=9, limit=9) == []

    def test_the_result_of_an_attempt_is_kept(self, opened: Open) -> None:
        with opened() as store:
            set_hook(store)
            log, webhook = notify(store, "a")
            later = replace(webhook, attempts=1, due=20, problem="status 500")
            done = replace(log, status="delivered", attempts=1, finished=11)
            for row in (later, done):
                assert store.update_notification(row, None) == 0
        with opened() as store:
            assert store.list_notifications("music", limit=9) == [later, done]
            assert store.list_due(now=19, limit=9) == []
            assert store.list_due(now=20, limit=9) == [later]
            counted = store.count_notifications("music")
            assert counted == {"delivered": 1, "waiting": 1}

    def test_notifications_that_were_given_up_are_reported_once(self, store: Store) -> None:
        set_hook(store)
        notify(store, "a", "b", "c", channels=("webhook",))
        *lost, last = store.list_due(now=10, limit=9)
        for row in lost:
            dead = replace(row, status="dead", finished=11)
            store.update_notification(dead, None)
        assert store.count_dead("music", "webhook") == 2
        done = replace(last, status="delivered", finished=12)
        assert store.update_notification(done, ("s", '"2 lost"')) == 2
        assert store.count_dead("music", "webhook") == 0
        (summary,) = store.list_due(now=12, limit=9)
        assert (summary.body, summary.channel) == ('"2 lost"', "webhook")
        done = replace(summary, status="delivered", finished=13)
        assert store.update_notification(done, ("t", '"0 lost"')) == 0
        assert store.list_due(now=99, limit=9) == []

    def test_a_webhook_is_found_with_the_id_of_its_secret(self, opened: Open) -> None:
        with opened() as store:
            set_hook(store)
        with opened() as store:
            found = store.find_webhook("music")
            assert found is not None
            assert (found.url, found.secret) == (HOOK.url, None)
            secret = store.find_secret(found.secret_id)
            assert secret is not None
            assert secret.reveal() == "whsec_abc"
            assert (found.allows_http, found.created, found.disabled) == (False, 3, None)
            assert "abc" not in repr(found)
            assert store.find_webhook("films") is None

    @pytest.mark.parametrize("is_gone", [True, False])
    def test_nothing_waits_for_a_webhook_that_was_removed(
        self, store: Store, *, is_gone: bool
    ) -> None:
        audit = AuditEntry(12, "ada", "webhook.end", "")
        set_hook(store)
        notify(store, "a", "b")
        end = (
            partial(store.disable_webhook, "music", HOOK.url, audit)
            if is_gone
            else partial(store.remove_webhook, "music", audit)
        )
        assert end()
        assert not end()
        assert store.audit("music")[1:] == [audit]
        rows = store.list_notifications("music", limit=9)
        became = {(row.channel, row.status) for row in rows}
        assert became == {("log", "waiting"), ("webhook", "dead")}
        assert "webhook" not in {row.channel for row in notify(store, "c")}
        found = store.find_webhook("music")
        assert (found is not None and found.disabled == 12) is is_gone

    def test_another_webhook_is_not_disabled(self, store: Store) -> None:
        audit = AuditEntry(12, "rankscope", "webhook.disable", "")
        set_hook(store)
        assert not store.disable_webhook("music", "https://other", audit)

    def test_late_rankings_are_counted_by_number_and_time(self, store: Store) -> None:
        def make(number: int, time: int, model: str, environment: Environment) -> Ranking:
            items = Items(("a",), (1,))
            return Ranking(f"e{number}", f"r{number}", time, items, "", "", model, "1", environment)

        events: list[Event] = [
            make(1, 10, "m", "production"),
            make(2, 10, "m", "validation"),
            make(3, 20, "m", "production"),
            make(4, 10, "n", "production"),
            make(5, 9, "m", "production"),
            Label("l", "r1", "a", 11, ("click",)),
            make(6, 19, "m", "production"),
        ]
        store.append("music", events)
        store.append("films", [make(1, 10, "m", "production")])

        def count(after: int, upto: int, model: str | None = None) -> int:
            return store.count_late(
                "music", model=model, since=10, until=20, after=after, upto=upto
            )

        assert [count(0, 99), count(0, 6), count(1, 99), count(7, 99)] == [3, 2, 2, 0]
        assert [count(0, 99, "m"), count(0, 99, "n")] == [2, 1]

from __future__ import annotations

from dataclasses import replace

import pytest
from rankscope.errors import UsageError
from rankscope.monitor.deletion import TidySchedule, tidy_project
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.webhook import find_webhook, make_secret
from rankscope.monitor.setup.file import read_setup
from rankscope.monitor.setup.plan import (
    apply_projects,
    delete_projects,
    find_plan,
    list_left_out,
    plan_deletions,
)
from rankscope.monitor.setup.project import find_project, read_project, write_project
from rankscope.monitor.setup.toml import write_setup
from rankscope.monitor.store.keys import AuditEntry, make_key
from rankscope.monitor.store.records import Webhook
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.outbox import list_secret_ids
from sqlalchemy import select

from tests.monitor.store.conformance import make_label, make_ranking, read_back
from tests.refusals import refuses

NOW = 20_780 * DAY
FIELDS = {
    "definition": {"attribution": {"positive": {"click": 1}}, "window": "1h"},
    "baseline": "none",
}


def apply(store, name="music", **fields):
    [plan] = apply_projects(store, [read_project(name, FIELDS | fields)], now=NOW, actor="ann")
    return plan


def log_events(store, name="music", base=NOW - 20 * DAY):
    """Log ten hours of rankings, four an hour, and evaluate them."""
    times = [base + number * HOUR // 4 for number in range(40)]
    numbers = list(enumerate(times))
    store.append(name, [replace(make_ranking(at), time=time) for at, time in numbers])
    store.append(name, [replace(make_label(at, at), time=time + 1) for at, time in numbers])
    monitor = Monitor(store, name, clock=lambda: NOW)
    monitor.evaluate()
    return monitor


def find_times(store):
    return sorted(events[0].time for events in read_back(store, "music", 100).values())


# Retention.


def test_a_service_deletes_what_is_older_and_keeps_the_values(store):
    apply(store, retention="10d")
    base = NOW - 20 * DAY
    monitor = log_events(store, base=base)
    values = monitor.series("nDCG@10", every="hour")
    now = base + 3 * HOUR + HOUR // 2 + 10 * DAY
    tidy_project(store, "music", now=now)
    assert find_times(store) == [base + number * HOUR // 4 for number in range(12, 40)]
    tidy_project(store, "music", now=now + HOUR // 2 - 1)
    assert len(find_times(store)) == 28
    tidy_project(store, "music", now=now + HOUR // 2)
    assert len(find_times(store)) == 24
    assert monitor.series("nDCG@10", every="hour") == values
    store.verify()


def test_nothing_is_deleted_whose_values_are_not_known(store):
    apply(store, retention="1h")
    store.append("music", [replace(make_ranking(1), time=NOW - 5 * HOUR)])
    with refuses(UsageError, "open_windows"):
        tidy_project(store, "music", now=NOW)
    assert len(find_times(store)) == 1


def test_without_retention_nothing_is_deleted(store):
    apply(store)
    log_events(store)
    tidy_project(store, "music", now=NOW + 10_000 * DAY)
    assert len(find_times(store)) == 40


def test_a_project_is_tidied_once_an_hour():
    schedule = TidySchedule()
    assert [schedule.is_due("music", NOW + late) for late in (0, HOUR - 1, HOUR)] == [
        True,
        False,
        True,
    ]
    assert schedule.is_due("books", NOW)


def test_retention_is_planned_applied_and_written_and_recomputes_nothing(store, tmp_path):
    apply(store)
    digest = Monitor(store, "music").configuration.digest
    plan = apply(store, retention="90d")
    [step] = plan.steps
    assert step.changes == ("retention: none → 90d",)
    assert step.effect == ""
    assert Monitor(store, "music").configuration.digest == digest
    text = write_setup([find_project(store, "music")])
    assert 'retention = "90d"' in text
    (tmp_path / "rankscope.toml").write_text(text)
    [read] = read_setup(str(tmp_path / "rankscope.toml")).projects
    assert not find_plan(store, read, now=NOW).steps
    assert apply(store).steps[0].changes == ("retention: 90d → none",)


# Webhooks.


def test_a_webhook_keeps_its_secret_when_its_address_changes(store):
    step = apply(store, webhook="https://a.example.com/x").steps[-1]
    assert (step.action, step.what, step.changes) == ("add", "webhook", ("address: a.example.com",))
    first = find_webhook(store, "music")
    assert first is not None
    assert first.secret is not None
    assert not apply(store, webhook="https://a.example.com/x").steps
    assert not apply(store).steps  # a file that says nothing of it leaves it alone
    [step] = apply(store, webhook="https://b.example.com/x").steps
    assert step.action == "change"
    second = find_webhook(store, "music")
    assert second is not None
    assert second.url == "https://b.example.com/x"
    assert second.secret is not None
    assert second.secret.reveal() == first.secret.reveal()
    written = write_project(find_project(store, "music"))
    assert written["webhook"] == "https://b.example.com/x"
    assert first.secret.reveal() not in write_setup([find_project(store, "music")])
    [step] = apply(store, webhook=False).steps
    assert step.action == "remove"
    assert find_webhook(store, "music") is None
    assert not apply(store, webhook=False).steps
    actions = [entry.action for entry in store.audit("music")]
    assert actions.count("webhook.set") == 2
    assert actions.count("webhook.remove") == 1


def test_a_webhook_without_tls_stays_that_of_a_command(store):
    apply(store)
    webhook = Webhook("http://hooks.internal/x", make_secret(), True, NOW)
    store.set_webhook("music", webhook, AuditEntry(NOW, "bob", "webhook.set", "hooks.internal"))
    written = write_project(find_project(store, "music"))
    assert "webhook" not in written
    assert not find_plan(store, read_project("music", written), now=NOW).steps


def test_a_webhook_that_somebody_changes_is_drift(store):
    apply(store, webhook="https://a.example.com/x")
    entry = AuditEntry(NOW, "bob", "webhook.remove", "music")
    store.remove_webhook("music", entry)
    wanted = read_project("music", FIELDS | {"webhook": "https://a.example.com/x"})
    [step] = find_plan(store, wanted, now=NOW).steps
    assert "Changed by bob" in step.drift


# Deletion.


def count_rows(connection, name):
    owner = select(schema.projects.c.project_id).where(schema.projects.c.name == name)
    number = connection.execute(owner).scalar_one()
    counts = {}
    for table in schema.TABLES.sorted_tables:
        if "project_id" in table.c and table is not schema.projects:
            wanted = select(table).where(table.c.project_id == number)
            counts[table.name] = len(connection.execute(wanted).all())
    return {table: count for table, count in counts.items() if count}


@pytest.mark.slow
def test_a_project_that_is_deleted_leaves_who_changed_what_and_nothing_else(store):
    for name in ("music", "books"):
        apply(store, name, webhook="https://a.example.com/x")
        log_events(store, name)
        store.append(name, [replace(make_ranking(77), time=NOW - 19 * DAY)])
        store.append(name, [make_label(99, 99)])
        store.add_key(make_key(name, ["admin"], name="k", now=NOW)[0], "ann")
    books = store.query(lambda one: count_rows(one, "books"))
    events = read_back(store, "books", 100)
    version = store.keys_version
    wanted = [read_project("books", FIELDS)]
    assert list_left_out(store, wanted) == ["music"]
    [planned] = plan_deletions(store, ["music"])
    assert str(planned).splitlines()[:3] == ["music:", "  - project", "      rankings: 41"]
    assert delete_projects(store, ["music"], now=NOW, actor="ann") == [planned]
    assert set(store.query(lambda one: count_rows(one, "music"))) == {"audit"}
    assert store.audit("music")[-1].action == "project.delete"
    assert store.audit("music")[-1].actor == "ann"
    assert store.keys_version > version
    assert store.projects() == ["books"]
    assert list_left_out(store, wanted) == []
    assert len(store.query(list_secret_ids)) == 1
    assert store.query(lambda one: count_rows(one, "books")) == books
    assert read_back(store, "books", 100) == events
    store.verify()
    content = store.path.read_bytes() + store.path.with_name("events.db-wal").read_bytes()
    assert content.count(b"document7700") == content.count(b"document7701")
    # The same name can be used again, with events that have the same content.
    apply(store, "music")
    log_events(store, "music")
    assert len(find_times(store)) == 40
    assert [version.rankings for version in store.versions("music")] == [40]
    store.verify()


def test_a_deletion_that_ends_early_can_be_finished(store, monkeypatch):
    apply(store)
    log_events(store)
    with monkeypatch.context() as patched:
        patched.setattr(SQLiteStore, "_forget_project", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            delete_projects(store, ["music"], now=NOW, actor="ann")
    assert store.projects() == ["music"]
    assert not Monitor(store, "music").is_configured
    delete_projects(store, ["music"], now=NOW, actor="ann")
    assert store.projects() == []


def test_events_that_come_while_a_project_is_deleted_are_deleted_too(store, monkeypatch):
    apply(store)
    log_events(store)
    inner = store._forget_project
    late = [replace(make_ranking(1000), time=NOW)]

    def forget(project):
        if late:
            store.append(project, [late.pop()])
        return inner(project)

    monkeypatch.setattr(store, "_forget_project", forget)
    delete_projects(store, ["music"], now=NOW, actor="ann")
    assert store.projects() == []
    assert find_times(store) == []

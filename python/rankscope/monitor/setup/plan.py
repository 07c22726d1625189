"""What differs between projects in a store and in files, in words; and how to make them equal."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.incidents.incident import TRIES, busy
from rankscope.monitor.incidents.management import make_change, prepare_change, prepare_removal
from rankscope.monitor.notify.http import read_url
from rankscope.monitor.notify.webhook import find_webhook, make_secret
from rankscope.monitor.rules.kinds import FIELDS
from rankscope.monitor.rules.run import ACTOR
from rankscope.monitor.setup.project import Project, find_project, write_fields
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import ProjectChange, Webhook
from rankscope.output.text import show
from rankscope.records import as_dict, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankscope.monitor.store.records import RuleRow
    from rankscope.monitor.store.store import Store, StoreReader

WIDTH = 100
INDENT = " " * 6
APPLIED = "setup.apply"
"""The entry of the audit log that an apply ends with."""
WEBHOOK = "webhook"
OTHERS = {"configuration.set": "", "webhook.set": WEBHOOK, "webhook.remove": WEBHOOK}
"""Entries whose subject is no rule."""
CHANGING = frozenset(
    {*OTHERS, "rule.create", "rule.change", "rule.change_and_restart", "rule.remove"}
)
UNKNOWN = "Its secret is made by the store: `rankscope monitor webhook set` makes one that you see."
DELETES = "All of its events, values, rules, incidents, keys and settings are deleted."
RECOMPUTES = "Every value is recomputed from the stored events."
RESTARTS = "Its evidence starts fresh, and its incidents are resolved."
ENDS = "Its incidents are resolved, and stay."


@record(frozen=True, slots=True)
class Step:
    """A difference, and what making it so does.

    Args:
        action: `add`, `change` or `remove`.
        what: `configuration`, `rule`, `webhook` or `project`.
        name: The name of the rule; empty for all others.
        changes: What differs, one field each.
        effect: What follows from the change; empty where nothing does.
        drift: Who made it differ since the files were last applied; empty if nobody did.
    """

    action: str
    what: str
    name: str
    changes: tuple[str, ...]
    effect: str
    drift: str

    def __str__(self) -> str:
        sign = {"add": "+", "change": "~", "remove": "-"}[self.action]
        lines = [f"  {sign} {self.what}{' ' if self.name else ''}{show(self.name)}"]
        more = [*self.changes, *filter(None, (self.effect, self.drift))]
        return "\n".join([*lines, *(_indent(show(line)) for line in more)])


def _indent(line: str) -> str:
    return fill(line, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)


@record(frozen=True, slots=True)
class Plan:
    """What differs in a project.

    Args:
        project: The name of the project.
        steps: What differs; nothing if the project is as the files say.
    """

    project: str
    steps: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        steps = [as_dict(step) | {"changes": list(step.changes)} for step in self.steps]
        return {"project": self.project, "steps": steps}

    def __str__(self) -> str:
        if not self.steps:
            return f"{show(self.project)}: no changes"
        return "\n".join([f"{show(self.project)}:", *map(str, self.steps)])


def find_plan(store: StoreReader, wanted: Project, *, now: int) -> Plan:
    """Return what differs between a project in a store and as it is wanted."""
    return _prepare(store, wanted, now=now, actor="")[0]


def apply_projects(
    store: Store, wanted: Sequence[Project], *, now: int, actor: str
) -> tuple[Plan, ...]:
    """Make projects as they are wanted, all of them or none, and return what has changed.

    Raises:
        FileError: The store cannot be written, or others change the same all the time.
    """
    for _ in range(TRIES):
        prepared = [_prepare(store, each, now=now, actor=actor) for each in wanted]
        changes = [change for plan, change in prepared if plan.steps]
        if not changes or store.change_projects(changes):
            return tuple(plan for plan, _ in prepared)
    raise busy("the projects were")


def _prepare(
    store: StoreReader, wanted: Project, *, now: int, actor: str
) -> tuple[Plan, ProjectChange]:
    """Return what differs in a project, and what is stored to make it so."""
    name, configuration = wanted.name, wanted.configuration
    if configuration is None:
        raise TypeError("a project that is wanted is configured")
    drift = _find_drift(store, name)
    text = store.configuration(name)
    present = find_project(store, name)
    listed = {row.name: row for row in store.list_rules(name)}
    steps: list[Step] = []
    audit: list[AuditEntry] = []
    rows: list[RuleRow] = []
    effects: dict[str, list[Any]] = {"incidents": [], "changes": [], "notices": []}
    is_changed = present.configuration != configuration
    if is_changed:
        steps.append(_compare_configurations(present, wanted, drift))
    for each in sorted({*wanted.rules, *listed}):
        rule, known, before = wanted.rules.get(each), listed.get(each), present.rules.get(each)
        told = drift.get(each, "")
        if rule is None and known is not None:
            entry, more = prepare_removal(store, name, known, now=now, actor=actor)
            steps.append(Step("remove", "rule", each, (), ENDS, told))
        elif rule is not None and rule != before:
            change = make_change(store, name, configuration, rule, now)
            row, entry, more = prepare_change(store, name, known, change, now=now, actor=actor)
            rows.append(row)
            old = {} if before is None else before.to_dict()
            fields = tuple(_compare(old, rule.to_dict()))
            if known is None or before is None:
                steps.append(Step("add", "rule", each, (rule.describe(),), "", told))
            else:
                effect = RESTARTS if entry.action.endswith("restart") else ""
                steps.append(Step("change", "rule", each, fields, effect, told))
        else:
            continue
        audit.append(entry)
        for kind, values in more.items():
            effects[kind] += values
    webhook = _change_webhook(store, wanted, now)
    if webhook is not None:
        before_url, said = present.webhook, drift.get(WEBHOOK, "")
        if webhook:
            action = "change" if before_url else "add"
            fields = (f"address: {read_url(webhook.url).authority}",)
            steps.append(Step(action, WEBHOOK, "", fields, "" if before_url else UNKNOWN, said))
        else:
            steps.append(Step("remove", WEBHOOK, "", (), "", said))
    change_row = ProjectChange(
        project=name,
        before=text,
        known={row.name: row.revision for row in listed.values()},
        time=now,
        actor=actor,
        configuration=configuration.to_json() if is_changed else None,
        rows=tuple(rows),
        removed=tuple(sorted(listed.keys() - wanted.rules.keys())),
        audit=(*audit, AuditEntry(now, actor, APPLIED, name)),
        webhook=webhook,
        **{kind: tuple(values) for kind, values in effects.items()},
    )
    return Plan(name, tuple(steps)), change_row


def _change_webhook(
    store: StoreReader, wanted: Project, now: int
) -> Webhook | Literal[False] | None:
    """Return the webhook that a project gets: with its secret so far, or a new one."""
    known = find_webhook(store, wanted.name)
    if wanted.webhook is None or wanted.webhook == ("" if known is None else known.url):
        return None
    if not wanted.webhook:
        return False
    secret = None if known is None else known.secret
    return Webhook(wanted.webhook, secret or make_secret(), False, now)


def _compare_configurations(present: Project, wanted: Project, drift: Mapping[str, str]) -> Step:
    before, after = present.configuration, wanted.configuration
    if after is None:
        raise TypeError("a project that is wanted is configured")
    if before is None:
        fields = tuple(_compare({}, write_fields(after)))
    else:
        fields = tuple(_compare(write_configuration(before), write_configuration(after)))
    recomputes = before is not None and before.digest != after.digest
    action = "add" if before is None else "change"
    effect = RECOMPUTES if recomputes else ""
    return Step(action, "configuration", "", fields, effect, drift.get("", ""))


def _compare(old: Mapping[str, Any], new: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """Write what differs between two objects, one field each."""
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) or isinstance(after, dict):
            left, right = before or {}, after or {}
            if isinstance(left, dict) and isinstance(right, dict):
                yield from _compare(left, right, f"{where}{name}.")
                continue
        if before != after:
            unset = FIELDS[name].setting.unset if name in FIELDS else ""
            left, right = (_show(each, unset) for each in (before, after))
            yield f"{where}{name}: {left} → {right}" if old else f"{where}{name}: {right}"


def _show(value: object, unset: str = "") -> str:
    if value is None or value == []:
        return unset or "none"
    if isinstance(value, list | tuple):
        return ", ".join(":".join(each) if isinstance(each, list) else str(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_show(each)}" for name, each in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _find_drift(store: StoreReader, project: str) -> dict[str, str]:
    """Return who changed the rules, and the configuration under an empty name, since an apply."""
    entries = store.audit(project)
    last = max((at for at, each in enumerate(entries) if each.action == APPLIED), default=None)
    if last is None:
        return {}
    return {
        OTHERS.get(each.action, each.subject): f"Changed by {each.actor} on "
        f"{describe_time(to_datetime(each.time))}, after the files were last applied."
        for each in entries[last + 1 :]
        if each.action in CHANGING and each.actor != ACTOR
    }


def plan_deletions(store: StoreReader, names: Iterable[str]) -> list[Plan]:
    """Return what a deletion of projects deletes."""
    return [
        Plan(name, (Step("remove", "project", "", _count_rows(store, name), DELETES, ""),))
        for name in names
    ]


def _count_rows(store: StoreReader, project: str) -> tuple[str, ...]:
    counts = {
        "rankings": sum(each.rankings for each in store.versions(project)),
        "rules": len(store.list_rules(project)),
        "keys": sum(key.revoked is None for key in store.keys(project)),
    }
    return tuple(f"{name}: {count:,}" for name, count in counts.items())


def delete_projects(store: Store, names: Sequence[str], *, now: int, actor: str) -> list[Plan]:
    """Delete projects with all that belongs to them, and return what was deleted."""
    plans = plan_deletions(store, names)
    if names:
        store.take_evaluation()  # so that nobody writes windows of them meanwhile
    for name in names:
        store.delete_project(name, AuditEntry(now, actor, "project.delete", name))
    return plans


def list_left_out(store: StoreReader, wanted: Iterable[Project]) -> list[str]:
    """List the projects of a store that no file has; they stay as they are."""
    named = {each.name for each in wanted}
    return [name for name in store.projects() if name not in named]

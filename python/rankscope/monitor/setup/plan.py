"""What differs between projects in a store and in files, in words; and how to make them equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Literal, TypeAlias

from rankscope._names import as_dict
from rankscope._show.table import show
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
from rankscope.monitor.store.records import ProjectChange, RuleRow, Webhook
from rankscope.monitor.store.store import Store, StoreReader

Drift: TypeAlias = Mapping[tuple[str, str], str]
"""Who made what differ, by what it is and its name."""


WIDTH = 100
INDENT = " " * 6
APPLIED = "setup.apply"
"""The entry of the audit log that an apply ends with."""
CHANGING = {
    "configuration.set": "configuration",
    "rule.create": "rule",
    "rule.change": "rule",
    "rule.change_and_restart": "rule",
    "rule.remove": "rule",
    "role.set": "roles",
    "role.remove": "roles",
    "webhook.set": "webhook",
    "webhook.remove": "webhook",
}
"""What an entry of the audit log has changed."""
CALENDAR = "calendar"
UNKNOWN = "Its secret is made by the store: `rankscope monitor webhook set` makes one that you see."
DELETES = "All of its events, values, rules, incidents, keys and settings are deleted."
RECOMPUTES = "Every value is recomputed from the stored events."
RESTARTS = "Its evidence starts fresh, and its incidents are resolved."
ENDS = "Its incidents are resolved, and stay."


@dataclass(frozen=True, slots=True)
class Step:
    """A difference, and what making it so does.

    Args:
        action: `add`, `change` or `remove`.
        what: `configuration`, `rule`, `roles`, `webhook` or `project`.
        name: The name of the rule; empty for the others.
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


@dataclass(frozen=True, slots=True)
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
    compared = _compare_rules(store, present, wanted, drift, now=now, actor=actor)
    for step, entry, changed, more in compared:
        steps.append(step)
        audit.append(entry)
        rows += changed
        for kind, values in more.items():
            effects[kind] += values
    roles = _find_roles(present.roles or {}, wanted.roles)
    webhook = _find_webhook(store, wanted, now)
    steps += _describe_roles(present.roles or {}, roles, drift)
    steps += _describe_webhook(present.webhook, webhook, drift)
    change_row = ProjectChange(
        project=name,
        before=text,
        known={row.name: row.revision for row in listed.values()},
        time=now,
        actor=actor,
        configuration=configuration.to_json() if is_changed else None,
        rows=tuple(rows),
        removed=tuple(sorted(listed.keys() - wanted.rules.keys())),
        had_roles=present.roles or {},
        roles=roles,
        audit=(*audit, AuditEntry(now, actor, APPLIED, name)),
        webhook=webhook,
        **{kind: tuple(values) for kind, values in effects.items()},
    )
    return Plan(name, tuple(steps)), change_row


def _compare_rules(
    store: StoreReader, present: Project, wanted: Project, drift: Drift, *, now: int, actor: str
) -> Iterator[tuple[Step, AuditEntry, list[RuleRow], Mapping[str, Any]]]:
    """Yield what differs between rules, each with its entry, its row, and what follows from it."""
    project, configuration = wanted.name, wanted.configuration
    if configuration is None:
        raise TypeError("a project that is wanted is configured")
    listed = {row.name: row for row in store.list_rules(project)}
    for name in sorted({*wanted.rules, *listed}):
        rule, known, before = wanted.rules.get(name), listed.get(name), present.rules.get(name)
        told = drift.get(("rule", name), "")
        if rule is None and known is not None:
            entry, more = prepare_removal(store, project, known, now=now, actor=actor)
            yield Step("remove", "rule", name, (), ENDS, told), entry, [], more
        elif rule is not None and rule != before:
            change = make_change(store, project, configuration, rule, now)
            row, entry, more = prepare_change(store, project, known, change, now=now, actor=actor)
            if known is None or before is None:
                step = Step("add", "rule", name, (rule.describe(),), "", told)
            else:
                fields = tuple(compare_fields(before.to_dict(), rule.to_dict()))
                effect = RESTARTS if entry.action.endswith("restart") else ""
                step = Step("change", "rule", name, fields, effect, told)
            yield step, entry, [row], more


def _find_roles(
    present: Mapping[str, str], wanted: Mapping[str, str] | None
) -> dict[str, str | None]:
    """Return the roles that change, `None` for those that are taken away."""
    if wanted is None:
        return {}
    members = sorted({*present, *wanted})
    return {who: wanted.get(who) for who in members if present.get(who) != wanted.get(who)}


def _describe_roles(
    present: Mapping[str, str], roles: Mapping[str, str | None], drift: Drift
) -> Iterator[Step]:
    if roles:
        had = {who: present.get(who, "none") for who in roles}
        fields = tuple(compare_fields(had, {who: role or "none" for who, role in roles.items()}))
        yield Step("change", "roles", "", fields, "", drift.get(("roles", ""), ""))


def _find_webhook(store: StoreReader, wanted: Project, now: int) -> Webhook | Literal[False] | None:
    """Return the webhook that a project gets: with its secret so far, or a new one."""
    known = find_webhook(store, wanted.name)
    if wanted.webhook is None or wanted.webhook == ("" if known is None else known.url):
        return None
    if not wanted.webhook:
        return False
    secret = None if known is None else known.secret
    return Webhook(wanted.webhook, secret or make_secret(), False, now)


def _describe_webhook(
    before: str | None, webhook: Webhook | Literal[False] | None, drift: Drift
) -> Iterator[Step]:
    told = drift.get(("webhook", ""), "")
    if webhook:
        action, effect = ("change", "") if before else ("add", UNKNOWN)
        fields = (f"address: {read_url(webhook.url).authority}",)
        yield Step(action, "webhook", "", fields, effect, told)
    elif webhook is False:
        yield Step("remove", "webhook", "", (), "", told)


def _compare_configurations(present: Project, wanted: Project, drift: Drift) -> Step:
    before, after = present.configuration, wanted.configuration
    if after is None:
        raise TypeError("a project that is wanted is configured")
    if before is None:
        fields = tuple(compare_fields({}, write_fields(after)))
    else:
        fields = tuple(compare_fields(write_configuration(before), write_configuration(after)))
    recomputes = before is not None and before.digest != after.digest
    action = "add" if before is None else "change"
    effect = RECOMPUTES if recomputes else ""
    told = drift.get(("configuration", ""), "")
    return Step(action, "configuration", "", fields, effect, told)


def compare_fields(
    old: Mapping[str, Any], new: Mapping[str, Any], where: str = ""
) -> Iterator[str]:
    """Write what differs between two objects, one field each."""
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) or isinstance(after, dict):
            left, right = before or {}, after or {}
            if isinstance(left, dict) and isinstance(right, dict):
                yield from compare_fields(left, right, f"{where}{name}.")
                continue
        if name == CALENDAR:
            yield from _compare_periods(before or [], after or [])
        elif before != after:
            unset = FIELDS[name].setting.unset if name in FIELDS else ""
            left, right = (_show(each, unset) for each in (before, after))
            yield f"{where}{name}: {left} → {right}" if old else f"{where}{name}: {right}"


def _compare_periods(
    old: Sequence[Mapping[str, str]], new: Sequence[Mapping[str, str]]
) -> Iterator[str]:
    for word, listed, others in (("without", old, new), ("with", new, old)):
        for each in listed:
            if each not in others:
                last = f" to {each['last']}" if "last" in each else ""
                own = f", {each['baseline']}" if "baseline" in each else ""
                yield f"{CALENDAR}: {word} {each['name']}, {each['first']}{last}{own}"


def _show(value: object, unset: str = "") -> str:
    if value is None or value == []:
        return unset or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_show_part, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_show(each)}" for name, each in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _show_part(value: object) -> str:
    """Write a pair of attributes, or another part of a list."""
    return ":".join(value) if isinstance(value, list) else str(value)


def _find_drift(store: StoreReader, project: str) -> Drift:
    """Return who changed the configuration and rules since an apply."""
    entries = store.audit(project)
    last = max((at for at, each in enumerate(entries) if each.action == APPLIED), default=None)
    if last is None:
        return {}
    return {
        (what, each.subject if what == "rule" else ""): f"Changed by {each.actor} on "
        f"{describe_time(to_datetime(each.time))}, after the files were last applied."
        for each in entries[last + 1 :]
        if (what := CHANGING.get(each.action)) is not None and each.actor != ACTOR
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

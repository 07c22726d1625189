"""What differs between projects in a store and in files, in words; and how to make them equal."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

from rankscope.monitor.ask.views import REMOVED, SAVED, write_view
from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.incidents.incident import TRIES, busy
from rankscope.monitor.incidents.management import make_change, prepare_change, prepare_removal
from rankscope.monitor.rules.kinds import FIELDS
from rankscope.monitor.rules.run import ACTOR
from rankscope.monitor.setup.project import Project, find_project, write_fields
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import ProjectChange
from rankscope.output.text import show
from rankscope.records import as_dict, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankscope.monitor.ask.views import View
    from rankscope.monitor.store.records import RuleRow
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
    SAVED: "view",
    REMOVED: "view",
    "role.set": "roles",
    "role.remove": "roles",
}
"""What an entry of the audit log has changed."""
NAMELESS = frozenset({"configuration", "roles"})
"""What a project has once, without a name."""
RECOMPUTES = "Every value is recomputed from the stored events."
RESTARTS = "Its evidence starts fresh, and its incidents are resolved."
ENDS = "Its incidents are resolved, and stay."


@record(frozen=True, slots=True)
class Step:
    """A difference, and what making it so does.

    Args:
        action: `add`, `change` or `remove`.
        what: `configuration`, `rule`, `view` or `roles`.
        name: The name of the rule or view; empty for the others.
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
    text, views = store.configuration(name), store.list_views(name)
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
        told = drift.get(("rule", each), "")
        if rule is None and known is not None:
            entry, more = prepare_removal(store, name, known, now=now, actor=actor)
            steps.append(Step("remove", "rule", each, (), ENDS, told))
        elif rule is not None and rule != before:
            change = make_change(store, name, configuration, rule, now)
            row, entry, more = prepare_change(store, name, known, change, now=now, actor=actor)
            rows.append(row)
            old = {} if before is None else before.to_dict()
            fields = tuple(compare_fields(old, rule.to_dict()))
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
    shown = []
    for step, body in _compare_views(present.views or {}, wanted.views, drift):
        entry = AuditEntry(now, actor, REMOVED if body is None else SAVED, step.name)
        shown.append((step.name, body, entry))
        steps.append(step)
    roles = _compare_roles(present.roles or {}, wanted.roles)
    if roles:
        had = {who: (present.roles or {}).get(who, "none") for who in roles}
        lines = tuple(compare_fields(had, {who: role or "none" for who, role in roles.items()}))
        steps.append(Step("change", "roles", "", lines, "", drift.get(("roles", ""), "")))
    change_row = ProjectChange(
        project=name,
        before=text,
        known={row.name: row.revision for row in listed.values()},
        views=views,
        shown=tuple(shown),
        time=now,
        actor=actor,
        configuration=configuration.to_json() if is_changed else None,
        rows=tuple(rows),
        removed=tuple(sorted(listed.keys() - wanted.rules.keys())),
        had_roles=present.roles or {},
        roles=roles,
        audit=(*audit, AuditEntry(now, actor, APPLIED, name)),
        **{kind: tuple(values) for kind, values in effects.items()},
    )
    return Plan(name, tuple(steps)), change_row


def _compare_views(
    present: Mapping[str, View], wanted: Mapping[str, View] | None, drift: Drift
) -> Iterator[tuple[Step, str | None]]:
    """Yield what differs between saved views, each with the JSON of the view as it is wanted."""
    for name in sorted({*present, *wanted}) if wanted is not None else ():
        before, after = present.get(name), (wanted or {}).get(name)
        told = drift.get(("view", name), "")
        if after is None:
            yield Step("remove", "view", name, (), "", told), None
        elif after != before:
            old = {} if before is None else before.to_dict()
            fields = tuple(compare_fields(old, after.to_dict()))
            action = "add" if before is None else "change"
            yield Step(action, "view", name, fields, "", told), write_view(after)


def _compare_roles(
    present: Mapping[str, str], wanted: Mapping[str, str] | None
) -> dict[str, str | None]:
    """Return the roles that change, `None` for those that are taken away."""
    if wanted is None:
        return {}
    members = sorted({*present, *wanted})
    return {who: wanted.get(who) for who in members if present.get(who) != wanted.get(who)}


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
        if before != after:
            unset = FIELDS[name].setting.unset if name in FIELDS else ""
            left, right = (_show(each, unset) for each in (before, after))
            yield f"{where}{name}: {left} → {right}" if old else f"{where}{name}: {right}"


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
    """Write a pair of attributes, a slice, or another part of a list."""
    if isinstance(value, dict):
        return " and ".join(f"{name}={each}" for name, each in value.items()) or "all rankings"
    return ":".join(value) if isinstance(value, list) else str(value)


def _find_drift(store: StoreReader, project: str) -> Drift:
    """Return who changed the configuration, rules and views since an apply."""
    entries = store.audit(project)
    last = max((at for at, each in enumerate(entries) if each.action == APPLIED), default=None)
    if last is None:
        return {}
    return {
        (what, "" if what in NAMELESS else each.subject): f"Changed by {each.actor} on "
        f"{describe_time(to_datetime(each.time))}, after the files were last applied."
        for each in entries[last + 1 :]
        if (what := CHANGING.get(each.action)) is not None and each.actor != ACTOR
    }


def list_left_out(store: StoreReader, wanted: Iterable[Project]) -> list[str]:
    """List the projects of a store that no file has; they stay as they are."""
    named = {each.name for each in wanted}
    return [name for name in store.projects() if name not in named]

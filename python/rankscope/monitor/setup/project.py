"""A project as code: how it is measured, and all of its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import BASELINES, Configuration
from rankscope.monitor.definition.document import read_configuration, write_configuration
from rankscope.monitor.incidents.management import list_rules
from rankscope.monitor.notify.http import read_url
from rankscope.monitor.rules.kinds import DEFAULTS, KINDS, Rule
from rankscope.monitor.rules.rule import DROP
from rankscope.monitor.store.people import ROLES, read_member
from rankscope.monitor.store.store import StoreReader


@dataclass(frozen=True, slots=True)
class Project:
    """A project: all that a file says of it.

    Args:
        name: Its name.
        configuration: How it is measured; `None` for one that is not set up yet.
        rules: Its rules by name.
        roles: Who has which role; `None` where a file leaves them as they are.
        webhook: The address of its webhook, an empty text for none; `None` where that isn't said.
    """

    name: str
    configuration: Configuration | None
    rules: Mapping[str, Rule]
    roles: Mapping[str, str] | None = None
    webhook: str | None = None


def read_project(name: str, given: Mapping[str, Any]) -> Project:
    """Read a project from fields that were validated.

    Raises:
        UsageError: A value is none of those that a field takes, or two don't fit each other.

    Examples:
        >>> clicks = {"attribution": {"positive": {"click": 1}}, "window": "24h"}
        >>> read = read_project(
        ...     "music", {"definition": clicks, "rules": {"data": False, "early": False}}
        ... )
        >>> read.configuration.definition.window, read.rules
        (86400, {})
    """
    configuration = read_configuration(given)
    said: dict[str, Any] = {name: rule.to_dict() for name, rule in DEFAULTS.items()} | dict(
        given.get("rules", {})
    )
    rules = {
        each: read_rule(each, fields, configuration)
        for each, fields in sorted(said.items())
        if fields is not False or each not in DEFAULTS
    }
    return Project(
        name,
        configuration,
        rules,
        read_roles(given.get("roles")),
        read_webhook(given.get("webhook")),
    )


def read_roles(given: Mapping[str, Sequence[str]] | None) -> Mapping[str, str] | None:
    """Return who has which role, from members by role.

    Examples:
        >>> read_roles({"viewer": ["group:search"], "admin": ["Ann@example.com"]})
        {'group:search': 'viewer', 'ann@example.com': 'admin'}
    """
    if given is None:
        return None
    roles: dict[str, str] = {}
    for role, members in given.items():
        for member in map(read_member, members):
            if roles.setdefault(member, role) != role:
                raise UsageError(
                    f"{member} has the roles {roles[member]} and {role}",
                    hint="keep one of them: each role includes those before it",
                    code="bad_role",
                )
    return roles


def read_webhook(said: str | bool | None) -> str | None:
    """Read the address of a webhook: an empty text for none, `None` where nothing is said."""
    if not said:
        return None if said is None else ""
    try:
        read_url(str(said))
    except UsageError as error:
        raise UsageError(f"webhook: {error.message}", hint=error.hint, code=error.code) from None
    return str(said)


def read_rule(name: str, fields: object, configuration: Configuration) -> Rule:
    """Read a rule of a project from its fields without the name."""
    if not isinstance(fields, dict):
        raise UsageError(
            f"expected the fields of a rule, found {fields!r}",
            hint=f"only {' and '.join(DEFAULTS)} can be false: every project has them otherwise",
            code="bad_rule",
        )
    if fields.get("name", name) != name:
        raise UsageError(
            "name: expected none, because the rule has one already",
            hint="leave the field out",
            code="bad_rule",
        )
    return Rule.from_dict({**fields, "name": name}).check(configuration)


def find_project(store: StoreReader, name: str) -> Project:
    """Return a project as it is in a store."""
    text = store.configuration(name)
    configuration = None if text is None else Configuration.from_json(text)
    rules = {rule.name: rule for rule in list_rules(store, name)}
    webhook = store.find_webhook(name)
    # A file has no address without TLS, which only a command allows.
    url = None if webhook is None or webhook.allows_http else webhook.url
    return Project(name, configuration, rules, store.roles(name) or None, url)


def write_project(project: Project) -> dict[str, Any]:
    """Return the fields of a project that is set up, without those that have a default."""
    if project.configuration is None:
        raise TypeError("a project that is not set up has no fields")
    fields = write_fields(project.configuration)
    chosen = project.configuration.baseline
    word = next((word for word, choice in BASELINES.items() if choice == chosen), None)
    rules: dict[str, Any] = {name: write_rule(rule) for name, rule in project.rules.items()}
    for name, default in DEFAULTS.items():
        if project.rules.get(name) == default:
            del rules[name]
        else:
            rules.setdefault(name, False)
    more: dict[str, Any] = {} if word is None else {"baseline": word}
    more["rules"] = rules
    if project.roles:
        given = project.roles.items()
        listed = {role: [who for who, has in given if has == role] for role in ROLES}
        more["roles"] = {role: members for role, members in listed.items() if members}
    if project.webhook:
        more["webhook"] = project.webhook
    return fields | more


def write_rule(rule: Rule) -> dict[str, Any]:
    """Return the fields of a rule that don't have their default, without its name."""
    known = KINDS[rule.kind].record.model_fields
    fields = {
        name: value
        for name, value in rule.to_dict().items()
        if name != "name"
        and (known[name].is_required() or getattr(rule, name) != known[name].default)
    }
    return {**({} if rule.kind == DROP else {"kind": rule.kind}), **fields}


def write_fields(configuration: Configuration) -> dict[str, Any]:
    """Return the fields of a configuration that don't have their default."""
    fields = write_configuration(configuration)
    definition = fields["definition"]
    least = {
        "attribution": {"positive": definition["attribution"]["positive"]},
        "window": definition["window"],
    }
    default = write_configuration(read_configuration({"definition": least}))
    default["definition"] |= {
        "window": None,
        "measures": None,
        "attribution": {**default["definition"]["attribution"], "positive": None},
    }
    return _drop_equal(fields, default)


def _drop_equal(value: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that are as in another one, or say nothing."""
    left: dict[str, Any] = {}
    for name, each in value.items():
        known = default.get(name)
        if isinstance(each, dict) and isinstance(known, dict):
            more = _drop_equal(each, known)
            left |= {name: more} if more else {}
        elif each is not None and each != known:
            left[name] = each
    return left

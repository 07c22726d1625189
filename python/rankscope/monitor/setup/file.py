"""Reads the files that say how projects are measured and watched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from rankscope._names import find_closest, quote
from rankscope._show.table import show
from rankscope.errors import FormatError, MeasureError, RankscopeError
from rankscope.monitor.definition.document import read_configuration
from rankscope.monitor.events.fields import read_name
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.incidents.management import MOST_RULES
from rankscope.monitor.notify.channels import TOP
from rankscope.monitor.rules.kinds import DEFAULTS, FIELDS, KINDS
from rankscope.monitor.rules.rule import DROP
from rankscope.monitor.setup import fields as shapes
from rankscope.monitor.setup.project import Project, read_project, read_rule, read_webhook
from rankscope.monitor.shapes import validate
from rankscope.monitor.store.records import LOG, WEBHOOK
from rankscope.monitor.toml_file import TomlFlaw, find_line, list_toml, read_toml

CODE = "bad_setup"
KEY = re.compile(r"[A-Za-z_][.\[\]\w]*(?<![.\[])(?=: )")
"""What a message begins with that says where it belongs."""
PART = re.compile(r"[.\[\]]+")
MEANT = {
    "measures": ("definition", "measures"),
    "positive": ("definition", "attribution", "positive"),
    "policy": ("definition", "policy"),
    "max_grade": ("definition", "max_grade"),
}
"""Where the argument belongs that a message of `define` begins with."""
MISSING = "expected a value, found None"
TABLES = {
    (): shapes.ProjectFields,
    ("definition",): shapes.DefinitionFields,
    ("definition", "attribution"): shapes.Attribution,
    ("definition", "policy"): shapes.PolicyFields,
    ("roles",): shapes.RolesFields,
}
"""The tables of a project whose keys are known."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What files say of projects.

    Args:
        projects: The projects, by name.
        channels: The names of the channels that the files define.
    """

    projects: tuple[Project, ...]
    channels: tuple[str, ...]


def read_setup(path: str) -> Setup:
    """Read the projects of a file, or of all files of a folder whose names end with `.toml`.

    Raises:
        FormatError: A file isn't as it should be; the error names it, the line and the key.
        FileError: A file can't be read, or a folder has none.
    """
    projects: dict[str, Project] = {}
    origins: dict[str, str] = {}
    channels: dict[str, str] = {}
    readers = [_FileReader(each) for each in list_toml(path)]
    for reader in readers:
        for name in reader.channels:
            if channels.setdefault(name, reader.path) != reader.path:
                raise reader.refuse(
                    f"the channel {quote(name)} is in {channels[name]}, too",
                    "keep one of them",
                    ("channels", name),
                )
    for reader in readers:
        for project in reader.read(set(channels)):
            known = origins.setdefault(project.name, reader.path)
            if known != reader.path:
                raise reader.refuse(
                    f"the project {quote(project.name)} is in {known}, too",
                    "keep all of a project in one file",
                    ("projects", project.name),
                )
            projects[project.name] = project
    ordered = tuple(projects[name] for name in sorted(projects))
    return Setup(ordered, tuple(sorted(channels)))


class _FileReader:
    """Reads a file.

    Args:
        path: The file.

    Attributes:
        channels: The names of the channels that it defines.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._text = ""
        self._text, self._tables = read_toml(
            path, self._refuse_flaw, hint="name a file such as rankscope.toml, or a folder of them"
        )
        for key in self._tables:
            if key not in TOP:
                raise self._refuse_unknown(key, TOP, ())
        channels = self._take_table("channels")
        self.channels = tuple(channels)
        for name, channel in channels.items():
            secret = channel.get("secret") if isinstance(channel, dict) else None
            if isinstance(secret, str) and "${" not in secret:
                raise self.refuse(
                    "expected a variable of the environment, found a secret in plain text",
                    'write secret = "${NAME}", set the variable for the service, and replace the '
                    "secret: everyone who can read the file knows it",
                    ("channels", name, "secret"),
                )

    def read(self, channels: set[str]) -> list[Project]:
        """Read the projects; their rules may name some channels."""
        tables = self._take_table("projects")
        if len(tables) > shapes.MOST_PROJECTS:
            raise self.refuse(
                f"expected at most {shapes.MOST_PROJECTS} projects", "", ("projects",)
            )
        return [self._read_project(name, table, channels) for name, table in tables.items()]

    def _take_table(self, name: str) -> dict[str, Any]:
        found = self._tables.get(name, {})
        if not isinstance(found, dict):
            raise self.refuse(
                f"{name}: expected tables such as [{name}.music], found another value", "", (name,)
            )
        return found

    def _read_project(self, name: str, table: object, channels: set[str]) -> Project:
        keys = ("projects", name)
        try:
            read_name(name, "", Limits().name_bytes)
            self._check_keys(keys, table)
            said = _read_times(table)
            rules = said.pop("rules", {}) if isinstance(said, dict) else {}
            given = validate(said, shapes.ProjectFields)
            configuration = read_configuration(given)
            read_webhook(given.get("webhook"))
        except RankscopeError as error:
            raise self._place(error, keys) from None
        if not isinstance(rules, dict) or len(rules) > MOST_RULES:
            expected = f"expected at most {MOST_RULES} tables such as [{'.'.join(keys)}.rules.a]"
            raise self.refuse(f"{expected}, found another", "", (*keys, "rules"))
        for each, fields in rules.items():
            try:
                if fields is not False or each not in DEFAULTS:
                    read_rule(each, fields, configuration)
            except RankscopeError as error:
                raise self._place(error, (*keys, "rules", each)) from None
        try:
            project = read_project(name, {**given, "rules": rules})
        except RankscopeError as error:
            raise self._place(error, (*keys, "roles")) from None
        for rule in project.rules.values():
            for channel in rule.channels or ():
                if channels and channel not in channels | {LOG, WEBHOOK}:
                    raise self._refuse_unknown(
                        channel,
                        (*sorted(channels), LOG, WEBHOOK),
                        (*keys, "rules", rule.name, "channels"),
                        "channel",
                    )
        return project

    def _place(self, error: RankscopeError, keys: tuple[str, ...]) -> FormatError:
        """Return the error with its file, table and key, and the line if it is written as usual."""
        if error.code == CODE and isinstance(error, FormatError):
            return error
        message = error.message
        found = KEY.match(message)
        if found is not None:
            keys = (*keys, *(part for part in PART.split(found[0]) if part))
            message = message[found.end() + 2 :]
            if message == MISSING:
                *table, key = keys
                where = ".".join(map(show, table))
                return self.refuse("it is missing", f"write {key} = … below [{where}]", keys)
        else:
            word = "measures" if isinstance(error, MeasureError) else message.partition(" ")[0]
            keys = (*keys, *MEANT.get(word, ()))
        return self.refuse(message, error.hint, keys)

    def _check_keys(self, keys: tuple[str, ...], table: object) -> None:
        """Refuse unknown keys, before anything says that the one that was meant is missing."""
        for path, shape in TABLES.items():
            inner = table
            for key in path:
                inner = inner.get(key) if isinstance(inner, dict) else None
            for key in inner if isinstance(inner, dict) else ():
                if key not in shape.__annotations__:
                    self._refuse_misplaced(key, keys, path)
                    raise self._refuse_unknown(key, shape.__annotations__, (*keys, *path))
        for path, fields, known, others in _list_named(table):
            for key in fields:
                if key not in known and key not in others:
                    raise self._refuse_unknown(key, known, (*keys, *path))

    def _refuse_misplaced(self, key: str, keys: tuple[str, ...], path: tuple[str, ...]) -> None:
        """Refuse a key that another table of the project has."""
        for other, shape in TABLES.items():
            if key in shape.__annotations__:
                table = ".".join(map(show, (*keys, *other)))
                raise self.refuse(
                    f"{quote(key)} belongs to another table",
                    f"write it below [{table}]",
                    (*keys, *path, key),
                )

    def _refuse_unknown(
        self, name: str, known: Iterable[str], keys: Sequence[str], what: str = "key"
    ) -> FormatError:
        names = list(known)
        meant = find_closest(name, names)
        hint = f"did you mean {meant}? " if meant else ""
        at = keys if what == "channel" else (*keys, name)
        return self.refuse(f"unknown {what} {quote(name)}", f"{hint}Known: {', '.join(names)}", at)

    def _refuse_flaw(self, flaw: TomlFlaw) -> FormatError:
        # What a message quotes may be the token of a channel.
        return FormatError(
            flaw.problem,
            hint=flaw.hint,
            code=CODE,
            file=self.path,
            line=flaw.line,
            column=flaw.column,
        )

    def refuse(self, problem: str, hint: str, keys: Sequence[str]) -> FormatError:
        """Return an error about a key."""
        table = ".".join(show(key) for key in keys)
        return FormatError(
            f"{table}: {problem}" if table else problem,
            hint=hint or "see the page about configuration as code",
            code=CODE,
            file=self.path,
            line=find_line(self._text, keys),
        )


def _list_named(
    table: object,
) -> Iterator[tuple[tuple[str, str], dict[str, Any], Collection[str], Collection[str]]]:
    """Yield the rules of a project: where each is, its fields, and which are known.

    Fields of other kinds of rules are refused later, with what they are for.
    """
    named = table.get("rules") if isinstance(table, dict) else None
    for name, fields in named.items() if isinstance(named, dict) else ():
        kind = fields.get("kind", DROP) if isinstance(fields, dict) else None
        if isinstance(kind, str) and kind in KINDS:
            known = [each for each in KINDS[kind].record.model_fields if each != "name"]
            yield ("rules", name), fields, known, FIELDS


def _read_times(value: Any) -> Any:  # noqa: ANN401 - of TOML
    """Return a value with times as text."""
    if isinstance(value, dict):
        return {name: _read_times(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_read_times(each) for each in value]
    return value.isoformat() if isinstance(value, datetime | date | time) else value

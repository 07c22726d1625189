"""`rankscope monitor people` and `audit`: accounts, roles, and who changed what."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from typing import Any

from rankscope._cli.parser import OnceFlag, Parser, print_json
from rankscope._show.table import Table, show
from rankscope.errors import UsageError
from rankscope.monitor.commands.store import (
    ACTOR,
    SERVICE,
    Run,
    add_store_arguments,
    ask_service,
    is_service,
    name_path,
    open_reader,
    open_writer,
    print_result,
    read_word,
    write_moment,
)
from rankscope.monitor.events.times import read_time
from rankscope.monitor.store.people import OPERATOR, ROLES, Person

NO_ROLE = "none"
PUBLIC_URL = "RANKSCOPE_PUBLIC_URL"
MOST = 1000


def add_add(parser: Parser) -> None:
    """Add the arguments of `people add`."""
    _add_person_arguments(parser, run_add)
    parser.add_argument("--name", type=read_word, default="", help="name of the person")
    parser.add_argument(
        "--role",
        choices=(*ROLES, OPERATOR),
        help="role in the project; operator is for all projects, and for accounts",
    )
    parser.description = (
        "Add a person, or enable one who was disabled, and print a link that sets a password. It "
        f"works once, for three days. Set {PUBLIC_URL} to the address of the service to print all "
        "of it. Who signs in through a provider needs no account before, only a role."
    )
    parser.add_examples(
        "rankscope monitor people add music.db ann@example.com --role operator",
        "rankscope monitor people add music.db ben@example.com --project music --role editor",
    )


def add_list(parser: Parser) -> None:
    """Add the arguments of `people list`."""
    add_store_arguments(parser, run_list, more=SERVICE)
    parser.set_defaults(project=None)


def add_role(parser: Parser) -> None:
    """Add the arguments of `people role`."""
    add_store_arguments(parser, run_role, more=SERVICE)
    parser.add_argument(
        "member",
        type=read_word,
        metavar="MEMBER",
        help="email address, or a group of the provider, such as group:search",
    )
    parser.add_argument("role", choices=(*ROLES, OPERATOR, NO_ROLE), metavar="ROLE", help=ROLE_HELP)
    parser.add_argument(
        "--all-projects",
        action=OnceFlag,
        help="with none: also take the role of an operator, and those in all projects",
    )
    parser.add_examples(
        "rankscope monitor people role music.db ann@example.com admin --project music",
        "rankscope monitor people role music.db group:search viewer --project music",
        "rankscope monitor people role music.db ann@example.com none --all-projects",
    )


ROLE_HELP = (
    "viewer reads; editor also changes rules, incidents, silences and channels; admin also changes "
    "settings, keys and roles; operator does everything in all projects; none takes the role away"
)


def add_disable(parser: Parser) -> None:
    """Add the arguments of `people disable`."""
    _add_person_arguments(parser, run_disable)
    parser.description = "Disable an account. Its sessions end at once; its roles stay."


def add_reset_password(parser: Parser) -> None:
    """Add the arguments of `people reset-password`."""
    _add_person_arguments(parser, run_reset_password)
    parser.description = (
        "End all sessions of a person, forget password and authenticator app, and print a link "
        "that sets a new password. It works once, for three days."
    )


def add_audit(parser: Parser) -> None:
    """Add the arguments of `audit`."""
    add_store_arguments(parser, run_audit, more=SERVICE)
    parser.set_defaults(project=None)
    parser.add_argument(
        "--ndjson", action=OnceFlag, help="print all entries, one JSON object a line"
    )
    parser.description = (
        "Show who changed what, and who signed in: in a project with --project, otherwise in all "
        f"of them. The newest comes first. {MOST} entries are shown, and all of them with --ndjson."
    )
    parser.add_examples(
        "rankscope monitor audit music.db --project music",
        "rankscope monitor audit music.db --ndjson > audit.ndjson",
    )


def _add_person_arguments(parser: Parser, run: Run) -> None:
    add_store_arguments(parser, run)
    parser.add_argument("email", type=read_word, metavar="EMAIL", help="email address")


def run_add(options: Namespace) -> int:
    """Add a person, and print the link once."""
    from rankscope.monitor.server.access.accounts import add_person, set_role

    with open_writer(options, is_new=True) as monitor:
        named: Any = {"now": monitor.clock(), "actor": ACTOR}
        person, link = add_person(monitor.writer, options.email, name=options.name, **named)
        if options.role is not None:
            project = None if options.role == OPERATOR else options.project
            set_role(monitor.writer, project, person.email, options.role, **named)
    return _print_link(options, person, link)


def run_reset_password(options: Namespace) -> int:
    """Forget a password, and print a link once."""
    from rankscope.monitor.server.access.accounts import reset_password

    with open_writer(options) as monitor:
        person, link = reset_password(
            monitor.writer, options.email, now=monitor.clock(), actor=ACTOR
        )
    return _print_link(options, person, link)


def _print_link(options: Namespace, person: Person, link: str) -> int:
    from rankscope.monitor.links import Links
    from rankscope.monitor.server.access.accounts import LINK_PATH

    base = os.environ.get(PUBLIC_URL, "").rstrip("/")
    address = Links(base).top(LINK_PATH, link=link)
    if not base:
        print(
            f"note: open this path at the address of your service, or set {PUBLIC_URL} to it",
            file=sys.stderr,
        )
    print_result(options, {"email": person.email, "link": address}, address)
    return 0


def run_disable(options: Namespace) -> int:
    """Disable an account."""
    from rankscope.monitor.server.access.accounts import disable_person

    with open_writer(options) as monitor:
        disable_person(monitor.writer, options.email, now=monitor.clock(), actor=ACTOR)
    said = {"email": options.email, "disabled": True}
    print_result(options, said, f"disabled\t{show(options.email)}")
    return 0


def run_role(options: Namespace) -> int:
    """Set or remove the role of a person or a group."""
    from rankscope.monitor.server.access.accounts import set_role

    role = None if options.role == NO_ROLE else options.role
    if options.all_projects and role is not None:
        raise UsageError(
            "--all-projects takes roles away, and none is given",
            hint="write none, or operator without --all-projects",
            code="usage",
        )
    if is_service(options.store):
        if role == OPERATOR or options.all_projects:
            raise UsageError(
                "a key opens one project, and operators are for all of them",
                hint="sign in as an operator, or use the store itself",
                code="usage",
            )
        path = name_path("people", options.member)
        ask_service(options, "DELETE" if role is None else "PUT", path, role and {"role": role})
    else:
        with open_writer(options) as monitor:
            named: Any = {"now": monitor.clock(), "actor": ACTOR}
            projects: list[str | None] = [None if role == OPERATOR else options.project]
            if options.all_projects:
                projects = [None, *monitor.store.projects()]
            for project in projects:
                set_role(monitor.writer, project, options.member, role, **named)
    said = {"member": options.member, "role": role}
    print_result(options, said, f"{show(options.member)}\t{options.role}")
    return 0


def run_list(options: Namespace) -> int:
    """Print accounts and roles; with the URL of a service, the roles in the project of the key."""
    if is_service(options.store):
        options.project = "default"  # the key names it
        roles = dict(ask_service(options, "GET", "/v1/people")["roles"])
        rows = [{"member": member, "role": role} for member, role in roles.items()]
    else:
        asked, options.project = options.project, options.project or "default"
        with open_reader(options) as monitor:
            rows = _list_members(monitor.store, asked)
    if options.json:
        print_json({"people": rows})
    elif rows:
        columns = {name: [show(str(row[name] or "-")) for row in rows] for name in rows[0]}
        print(Table(columns))
    return 0


def _list_members(store: Any, asked: str | None) -> list[dict[str, Any]]:  # noqa: ANN401 - a store
    projects = store.projects() if asked is None else [asked]
    given: dict[str, list[str]] = {each: [OPERATOR] for each in store.roles(None)}
    for project in projects:
        for member, role in store.roles(project).items():
            given.setdefault(member, []).append(f"{project}: {role}")
    people = {person.email: person for person in store.people()}
    rows = []
    for member in sorted({*given, *(people if asked is None else ())}):
        roles, person = ", ".join(given.get(member, [])), people.get(member)
        account = "-" if person is None else person.state
        rows.append({"member": member, "roles": roles, "account": account})
    return rows


def run_audit(options: Namespace) -> int:
    """Print who changed what."""
    if is_service(options.store):
        if options.project is not None:
            raise UsageError("the key names the project", hint="remove --project", code="usage")
        options.project = "default"

        def read(before: int | None) -> list[Any]:
            more = "" if before is None else f"?before={before}"
            return list(ask_service(options, "GET", f"/v1/audit{more}")["entries"])

        return _print_audit(options, read)
    asked, options.project = options.project, options.project or "default"
    with open_reader(options) as monitor:
        store = monitor.store
        return _print_audit(
            options,
            lambda before: [
                each.to_dict() for each in store.read_audit(asked, before=before, limit=MOST)
            ],
        )


def _print_audit(options: Namespace, read: Any) -> int:  # noqa: ANN401 - a function
    entries = read(None)
    if options.ndjson:
        while entries:
            for each in entries:
                print(json.dumps(each))
            entries = read(entries[-1]["number"])
    elif options.json:
        print_json({"entries": entries})
    elif entries:
        names = ("time", "actor", "project", "action", "subject")
        columns = {name: [show(str(each[name] or "-")) for each in entries] for name in names}
        columns["time"] = [write_moment(read_time(text, "time")[0]) for text in columns["time"]]
        print(Table(columns))
    return 0

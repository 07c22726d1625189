"""`rankscope monitor plan`, `apply` and `configuration`: projects as code, in files of TOML."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from rankscope._cli.parser import OnceFlag, Parser, print_json
from rankscope._show.table import show
from rankscope.errors import UsageError
from rankscope.monitor.commands.store import (
    ACTOR,
    PROJECT,
    SERVICE,
    Run,
    add_store_arguments,
    ask_service,
    is_service,
    open_reader,
    open_writer,
)
from rankscope.monitor.setup.plan import Plan
from rankscope.monitor.setup.project import Project

DIFFERS = 1
FILE = "file of TOML, or a folder whose files end with .toml"


def add_plan(parser: Parser) -> None:
    """Add the arguments of `plan`."""
    _add_arguments(parser, run_plan)
    parser.add_argument("--check", action=OnceFlag, help="end with status 1 if anything differs")
    parser.add_examples(
        "rankscope monitor plan music.db rankscope.toml",
        "RANKSCOPE_KEY=... rankscope monitor plan https://rankings.example.com rankscope.toml",
    )


def add_apply(parser: Parser) -> None:
    """Add the arguments of `apply`."""
    _add_arguments(parser, run_apply)
    parser.description = (
        "Make the projects of a store as the files say: how they are measured, and all of their "
        "rules. Everything is changed in one transaction, or nothing. A rule that is not in the "
        "file is removed. Projects that are in no file stay as they are, unless --delete-projects "
        "deletes them, and so do events, incidents, silences and keys. With the URL of a service, "
        "the project of the key is changed."
    )
    parser.add_examples(
        "rankscope monitor apply music.db rankscope.toml",
        "rankscope monitor apply music.db teams/",
    )


def _add_arguments(parser: Parser, run: Run) -> None:
    add_store_arguments(parser, run, more=SERVICE)
    parser.set_defaults(project=None)
    parser.add_argument("file", metavar="FILE", help=FILE)
    parser.add_argument(
        "--delete-projects",
        action=OnceFlag,
        help="delete the projects that no file has, with all of their data",
    )


def add_configuration(parser: Parser) -> None:
    """Add the arguments of `configuration`."""
    add_store_arguments(parser, run_configuration, more=SERVICE)
    parser.set_defaults(project=None)
    parser.add_argument(
        "--schema",
        action=OnceFlag,
        help="print the JSON Schema of such files instead, for editors; - stands for the store",
    )
    parser.add_examples(
        "rankscope monitor configuration music.db > rankscope.toml",
        "rankscope monitor configuration - --schema > rankscope.schema.json",
    )


def run_plan(options: Namespace) -> int:
    """Print what differs."""
    plans = _change(options, is_plan=True)
    _print(options, plans)
    return DIFFERS if options.check and any(plan.steps for plan in plans) else 0


def run_apply(options: Namespace) -> int:
    """Make the projects as the files say, and print what was changed."""
    _print(options, _change(options, is_plan=False))
    return 0


def _change(options: Namespace, *, is_plan: bool) -> Sequence[Plan]:
    """Return what differs from the files, and change it unless this is a plan."""
    from rankscope.monitor.setup.file import read_setup
    from rankscope.monitor.setup.plan import (
        apply_projects,
        delete_projects,
        find_plan,
        list_left_out,
        plan_deletions,
    )

    listed = read_setup(options.file).projects
    wanted = _choose(options, listed)
    if options.delete_projects and (is_service(options.store) or options.project is not None):
        raise UsageError(
            "--delete-projects needs the store, and all of its projects",
            hint="run it on the machine of the service, without --project",
            code="usage",
        )
    if is_service(options.store):
        return [_ask(options, wanted, is_plan=is_plan)]
    # The projects are those of the files; `Monitor` opens one.
    options.project = options.project or PROJECT
    with open_reader(options) if is_plan else open_writer(options, is_new=True) as monitor:
        now, store = monitor.clock(), monitor.store
        left_out = list_left_out(store, listed)
        deleted = left_out if options.delete_projects else []
        if is_plan:
            plans = [find_plan(store, each, now=now) for each in wanted]
            plans += plan_deletions(store, deleted)
        else:
            plans = [*apply_projects(monitor.writer, wanted, now=now, actor=ACTOR)]
            plans += delete_projects(monitor.writer, deleted, now=now, actor=ACTOR)
    if left_out and not deleted and not options.json:
        names = ", ".join(map(show, left_out))
        print(f"note: projects that no file has stay as they are: {names}", file=sys.stderr)
    return plans


def _choose(options: Namespace, projects: Sequence[Project]) -> list[Project]:
    """Return the projects to look at: the one that is named, or all."""
    chosen = [each for each in projects if options.project in {None, each.name}]
    if not chosen:
        names = ", ".join(show(each.name) for each in projects) or "none"
        what = "a project" if options.project is None else f"the project {show(options.project)}"
        raise UsageError(
            f"expected {what} in {show(options.file)}, found none",
            hint=f"its projects: {names}; a project is a table such as [projects.music.definition]",
            code="no_project",
        )
    return chosen


def _ask(options: Namespace, wanted: Sequence[Project], *, is_plan: bool) -> Plan:
    """Let a service compare a project, or change it."""
    from rankscope.monitor.setup.plan import Plan, Step
    from rankscope.monitor.setup.project import write_project

    if len(wanted) > 1:
        raise UsageError(
            f"a key opens one project, and the file has {len(wanted)}",
            hint="name it: --project NAME",
            code="usage",
        )
    [project] = wanted
    options.project = PROJECT  # the key names it
    body = {"project": project.name, **write_project(project)}
    method, path = ("POST", "/v1/project/plan") if is_plan else ("PUT", "/v1/project")
    told = ask_service(options, method, path, body)
    steps = [Step(**{**each, "changes": tuple(each["changes"])}) for each in told["steps"]]
    return Plan(str(told["project"]), tuple(steps))


def _print(options: Namespace, plans: Sequence[Plan]) -> None:
    if options.json:
        print_json({"projects": [plan.to_dict() for plan in plans]})
        return
    for plan in plans:
        print(plan)


def run_configuration(options: Namespace) -> int:
    """Print the projects as a file, or what such files may have."""
    from rankscope.monitor.setup.fields import describe_setup
    from rankscope.monitor.setup.project import (
        find_project,
        read_project,
        write_project,
    )
    from rankscope.monitor.setup.toml import write_setup

    if options.schema:
        print_json(describe_setup())
        return 0
    if is_service(options.store):
        asked, options.project = options.project, PROJECT
        told = dict(ask_service(options, "GET", "/v1/project"))
        name = str(told.pop("project"))
        if asked not in {None, name}:
            raise UsageError(
                f"the key opens the project {show(name)}", hint="use another key", code="usage"
            )
        found = [read_project(name, told)]
    else:
        asked, options.project = options.project, options.project or PROJECT
        with open_reader(options) as monitor:
            store = monitor.store
            names = store.projects() if asked is None else [monitor.project]
            if asked is not None:
                _ = monitor.configuration  # refuses a project that isn't set up
            listed = [find_project(store, name) for name in names]
            found = [each for each in listed if each.configuration is not None]
    if options.json:
        print_json({"projects": {each.name: write_project(each) for each in found}})
    else:
        print(write_setup(found), end="")
    return 0

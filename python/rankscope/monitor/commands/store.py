"""What commands share: stores and services that they open, and times and names that they read."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeAlias
from urllib.parse import quote as quote_part

from rankscope._cli.parser import OnceFlag, OnceList, listed, print_json
from rankscope._names import quote
from rankscope._show.table import show
from rankscope.errors import FileError, FormatError, UsageError
from rankscope.monitor.client.http import HTTPTransport
from rankscope.monitor.events import times as durations
from rankscope.monitor.events.fields import check_text, read_name
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.times import format_time, read_clock, read_time, to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.postgres.address import POSTGRES, has_password, read_address
from rankscope.monitor.store.sqlite.files import SQLITE

Run: TypeAlias = Callable[[Namespace], int]


TIME_HELP = "a date, a time such as 2026-11-21T18:00:00Z, or an age such as 7d"
"""The forms of a TIME, for the help of options."""
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def read_duration(text: str) -> int:
    """Return a duration such as `24h` in microseconds.

    Examples:
        >>> read_duration("24h") == read_duration("1d")
        True
    """
    try:
        return durations.read_duration(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def read_moment(text: str) -> datetime:
    """Return a date, a time or an age such as `7d` as a time in UTC.

    Examples:
        >>> read_moment("1970-01-02") == read_moment("1970-01-02T01:00:00+01:00")
        True
    """
    if durations.DURATION.fullmatch(text):
        return to_datetime(read_clock() - read_duration(text))
    try:
        moment, _ = read_time(f"{text}T00:00:00Z" if DATE.fullmatch(text) else text, "")
    except FormatError as error:
        raise ArgumentTypeError(
            "expected a date such as 2026-11-21, a time such as 2026-11-21T18:00:00Z, or an age "
            f"such as 7d, found {quote(text)}"
        ) from error
    return to_datetime(moment)


def write_moment(moment: int | datetime) -> str:
    """Return a time for people, to the second.

    Examples:
        >>> write_moment(1_500_000), write_moment(2_000_000)
        ('1970-01-01T00:00:01Z', '1970-01-01T00:00:02Z')
    """
    return f"{format_time(moment).partition('.')[0]}Z"


PROJECT = "default"
MISSING = "there is no store"
HOST = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}(/.*)?")
EMPTY = "the file is empty, so it is not a store"

STORE_HELP = "file of the store, or postgresql://USER@HOST/DATABASE"
WORDS = {True: "yes", False: "no", None: "-"}
ACTOR = "command line"
"""Who makes a change, for the audit log."""


def add_store_arguments(
    parser: ArgumentParser, run: Run, *, is_timed: bool = False, more: str = ""
) -> None:
    """Add the store, `--project`, `--json`, and `--as-of` to a command, and what runs it."""
    parser.add_argument("store", metavar="STORE", help=f"{STORE_HELP}{', ' if more else ''}{more}")
    add_project_arguments(parser, run, is_timed=is_timed)


def add_project_arguments(parser: ArgumentParser, run: Run, *, is_timed: bool = False) -> None:
    """Add `--project`, `--json`, and `--as-of` to a command, and what runs it."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "--project", type=read_project, default=PROJECT, metavar="NAME", help="project in the store"
    )
    parser.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    if is_timed:
        parser.add_argument(
            "--as-of",
            type=read_moment,
            metavar="TIME",
            help=f"use this as the current time, to evaluate events of the past: {TIME_HELP}",
        )


def take_several(read: Callable[[str], object] = str, nargs: str = "+") -> dict[str, Any]:
    """Return what makes an option take several values, also separated by commas."""
    return {"action": OnceList, "nargs": nargs, "type": listed(read)}


def read_project(text: str) -> str:
    """Return the name of a project."""
    try:
        return read_name(text, "", Limits().name_bytes)
    except FormatError as error:
        raise ArgumentTypeError(error.message) from error


def read_word(text: str) -> str:
    """Return a name or an id."""
    try:
        check_text(text, "", len(text) * 4)
    except FormatError as error:
        raise ArgumentTypeError(error.message) from error
    return text


def read_pair(text: str) -> tuple[str, str]:
    """Return an attribute and its value, such as `device=tv`."""
    name, sign, value = text.partition("=")
    if not (sign and name):
        raise ArgumentTypeError(f"expected NAME=VALUE such as device=tv, found {quote(text)}")
    return read_word(name), read_word(value)


def read_roles(
    given: Iterable[str], option: str, roles: Collection[str], more: str = ""
) -> dict[str, str]:
    """Return the columns of an option such as `--col ROLE=COLUMN` by role."""
    names: dict[str, str] = {}
    for text in given:
        role, sign, name = text.partition("=")
        if not (sign and name) or role not in roles or role in names:
            raise UsageError(
                f"cannot read {option} {quote(text)}",
                hint=f"write {option} ROLE=COLUMN, each role once, with one of: {', '.join(roles)}"
                f"{more}",
                code="usage",
            )
        names[role] = name
    return names


def name_path(*words: str) -> str:
    """Return the path of a route with names in it."""
    return "/".join(["/v1", *(quote_part(word, safe="") for word in words)])


def print_fields(options: Namespace, fields: Mapping[str, object]) -> None:
    """Print fields as JSON, or each on a line."""
    if options.json:
        print_json(fields)
        return
    for name, value in fields.items():
        text = WORDS[value] if value is None or isinstance(value, bool) else value
        print(f"{name}\t{show(str(text))}")


def print_result(options: Namespace, said: Mapping[str, object], text: object) -> None:
    """Print a result as JSON, or as a text."""
    if options.json:
        print_json(said)
    else:
        print(text)


def open_writer(options: Namespace, *, is_new: bool = False) -> Monitor:
    """Open a store to write to it."""
    refuse_host(options.store)
    path = options.store.removeprefix(SQLITE)
    problem = _find_problem(path)
    if problem and not is_new:
        hint = "create a store with rankscope monitor configure"
        if problem == EMPTY:
            hint = f"restore a backup if there was a store; otherwise, {hint}"
        raise FileError(problem, hint=hint, code="io", file=name_store(path))
    opened = _open(options, writes=True)
    if problem:
        print(f"note: created the store {show(name_store(path))}", file=sys.stderr)
    return opened


def name_store(path: str) -> str:
    """Return the name of a store for messages, without a password."""
    return str(read_address(path)) if path.startswith(POSTGRES) else path


def _find_problem(path: str) -> str:
    """Return why there is no store at a path or URL; an empty text if there may be one."""
    if path.startswith(POSTGRES):
        from rankscope.monitor.store.postgres.store import (
            has_postgres_store,
        )

        return "" if has_postgres_store(path) else MISSING
    if "://" in path:
        return ""
    if not os.path.exists(path):  # noqa: PTH110 - pathlib loads slowly
        return MISSING
    is_empty = os.path.isfile(path) and not os.path.getsize(path)  # noqa: PTH113, PTH202 - likewise
    return EMPTY if is_empty else ""


def open_reader(options: Namespace) -> Monitor:
    """Open a store to read it, even while another process writes to it."""
    refuse_host(options.store)
    return _open(options, writes=False)


def open_any(options: Namespace) -> tuple[Monitor, bool]:
    """Open a store to write to it, or to read it if another process writes to it."""
    try:
        return open_writer(options), True
    except FileError as error:
        if error.code != "store_locked":
            raise
    return open_reader(options), False


def note_password(url: str) -> None:
    """Tell that a password in the URL of a store can be seen by others."""
    if has_password(url):
        print(
            "note: other users of this machine can see the password in the list of processes. Use "
            "the environment variable PGPASSWORD, or the file ~/.pgpass.",
            file=sys.stderr,
        )


def refuse_host(place: str) -> None:
    """Refuse the URL of a service, and a host and a port, which is one without its scheme."""
    if is_service(place):
        raise UsageError(
            "this command needs the store itself, and found the URL of a service",
            hint="run it on the machine of the service, with the path of its store; if it writes, "
            "stop the service first",
            code="usage",
        )
    if HOST.fullmatch(place) and not os.path.exists(place):  # noqa: PTH110 - pathlib loads slowly
        raise UsageError(
            f"expected a store, found a host and a port: {show(place)}",
            hint=f"write http://{show(place)} for a service, or ./{show(place)} for a file",
            code="usage",
        )


def _open(options: Namespace, *, writes: bool) -> Monitor:
    from rankscope.monitor.monitor import Monitor

    note_password(options.store)
    moment = getattr(options, "as_of", None)
    now = None if moment is None else lambda: moment
    return Monitor.open(options.store, options.project, writes=writes, now=now)


def find_as_of(monitor: Monitor) -> int | None:
    """Return when a project was last evaluated, in microseconds since 1970, or `None` if never."""
    progress = monitor.store.progress(monitor.project, monitor.configuration.digest)
    return None if progress is None else progress.as_of


KEY = "RANKSCOPE_KEY"
SERVICE = f"or the URL of a service; its key is read from {KEY}"
"""What STORE can be besides a store, for its help."""
SECONDS = 60.0
EVALUATION_SECONDS = 3600.0


def is_service(store: str) -> bool:
    """Return whether a STORE is the URL of a service.

    Examples:
        >>> is_service("https://rankings.example.com"), is_service("sqlite:///events.db")
        (True, False)
    """
    return store.startswith(("http://", "https://"))


def refuse_at_service(option: str, hint: str) -> UsageError:
    """Return the error about an option that only a store of this machine takes."""
    message = f"{option} cannot be combined with the URL of a service"
    return UsageError(message, hint=hint, code="usage")


def open_transport(options: Namespace, seconds: float = SECONDS) -> HTTPTransport:
    """Return what asks the service that STORE names; its key names the project."""
    if options.project != PROJECT:
        raise refuse_at_service("--project", "remove --project: the key names the project")
    from rankscope.monitor.client.http import HTTPTransport
    from rankscope.monitor.store.keys import Secret

    return HTTPTransport(options.store, Secret(os.environ.get(KEY, "")), seconds)


def ask_service(
    options: Namespace,
    method: str,
    path: str,
    body: Mapping[str, object] | None = None,
    *,
    seconds: float = SECONDS,
) -> Mapping[str, Any]:
    """Send a request to the service that STORE names, and return its answer."""
    from http.client import HTTPException

    transport = open_transport(options, seconds)
    try:
        told = transport.ask(method, path, body)
    except (OSError, HTTPException) as error:
        raise FileError(
            f"the service cannot be reached: {error}",
            hint="check the URL, and that the service is running",
            code="service",
        ) from error
    if told.status in {200, 201, 204}:
        return told.said
    error_fields = told.said.get("error")
    said = error_fields if isinstance(error_fields, dict) else {}
    message = str(said.get("message", f"the service answered with status {told.status}"))
    hint = str(said.get("hint", ""))
    if told.status in {401, 403}:
        hint = f"set {KEY} to a key with the scope that this needs"
    if told.status >= 500:
        raise FileError(message, hint=hint, code="service")
    raise UsageError(message, hint=hint, code=str(said.get("code", "service")))

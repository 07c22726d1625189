"""`rankscope monitor digest`: what happened in a week, by project."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from rankscope.cli.output import print_json
from rankscope.cli.parser import OnceFlag
from rankscope.monitor.commands.store import (
    PROJECT,
    SERVICE,
    STORE_HELP,
    ask_service,
    is_service,
    open_reader,
    read_word,
)
from rankscope.monitor.events.limits import DAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Print what changed in the last 7 days, what is open and what was confirmed, by project."
    )
    parser.set_defaults(run=run, project=PROJECT)
    parser.add_argument("store", metavar="STORE", help=f"{STORE_HELP}, {SERVICE}")
    parser.add_argument(
        "--owner", type=read_word, metavar="TEAM", help="only the projects of this team"
    )
    parser.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    parser.add_examples("rankscope monitor digest music.db --owner search")


def run(options: Namespace) -> int:
    """Print the digest."""
    from rankscope.monitor.fleet.digest import read_week  # noqa: PLC0415 - help needs none
    from rankscope.monitor.notify.message import write_message  # noqa: PLC0415 - likewise

    owner: str | None = options.owner
    week: dict[str, Any]
    if is_service(options.store):
        query = "" if owner is None else f"?{urlencode({'owner': owner})}"
        week = dict(ask_service(options, "GET", f"/v1/digest{query}"))
    else:
        with open_reader(options) as monitor:
            until, projects = monitor.clock(), monitor.store.projects()
            since = until - 7 * DAY
            week = read_week(monitor.store, projects, since=since, until=until, owner=owner)
    if options.json:
        print_json(week)
        return 0
    message = write_message([json.dumps(week | {"project": ""})])
    print(message.title, message.text, sep="\n\n")
    return 0

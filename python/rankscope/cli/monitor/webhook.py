"""`rankscope monitor webhook`: says where notifications go, and tries it."""

from __future__ import annotations

import os

from rankscope.cli.arguments import OnceFlag
from rankscope.cli.monitor.stores import ACTOR, add_store_arguments, open_reader, open_writer
from rankscope.cli.output import print_json
from rankscope.monitor.alerts.notify.http import Poster, read_url
from rankscope.monitor.alerts.notify.webhook import (
    find_webhook,
    remove_webhook,
    set_webhook,
    try_webhook,
)
from rankscope.monitor.events.times import format_time
from rankscope.monitor.store.keys import Secret
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping

SECRET = "RANKSCOPE_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
FAILED = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, act, summary in (
        ("set", _set, "Say where notifications go, and show once what they are signed with."),
        ("show", _show, "Show where notifications go."),
        ("test", _test, "Send a notification that says nothing; exit with 1 if it is not taken."),
        ("remove", _remove, "Let notifications go to the log alone."),
    ):
        made = actions.add_parser(name, help=summary, description=summary)
        add_store_arguments(made)
        made.set_defaults(act=act)
        if name == "set":
            made.add_argument(
                "address",
                metavar="ADDRESS",
                help="https://…, which nobody is shown again in full; its secret is made, or read "
                f"from the variable {SECRET}",
            )
            made.add_argument("--allow-http", action=OnceFlag, help="it may be without TLS")


def run(options: Namespace) -> int:
    """Do what is asked for."""
    status: int = options.act(options)
    return status


def _set(options: Namespace) -> int:
    given = os.environ.get(SECRET)
    with open_writer(options) as monitor:
        made = set_webhook(
            monitor.store,
            options.project,
            options.address,
            poster=Poster(),
            now=monitor.now(),
            actor=ACTOR,
            secret=Secret(given) if given else None,
            allows_http=options.allow_http,
        )
    _tell(options, {"secret": None if given else made.reveal()})
    return 0


def _show(options: Namespace) -> int:
    with open_reader(options) as monitor:
        webhook = find_webhook(monitor.store, options.project)
    if webhook is None:
        fields = ("host", "created", "disabled", "needs_secret")
        _tell(options, dict.fromkeys(fields))
        return 0
    disabled = None if webhook.disabled is None else format_time(webhook.disabled)
    host = read_url(webhook.url, allows_http=webhook.allows_http).authority
    said = {
        "host": host,
        "created": format_time(webhook.created),
        "disabled": disabled,
        "needs_secret": webhook.secret is None,
    }
    _tell(options, said)
    return 0


def _test(options: Namespace) -> int:
    with open_reader(options) as monitor:
        tried = try_webhook(monitor.store, options.project, poster=Poster(), now=monitor.now())
    _tell(options, {"is_delivered": tried.is_delivered, "told": tried.told})
    return 0 if tried.is_delivered else FAILED


def _remove(options: Namespace) -> int:
    with open_writer(options) as monitor:
        remove_webhook(monitor.store, options.project, now=monitor.now(), actor=ACTOR)
    _tell(options, {"removed": True})
    return 0


def _tell(options: Namespace, said: Mapping[str, object]) -> None:
    if options.json:
        print_json(said)
        return
    for name, value in said.items():
        text = {True: "yes", False: "no", None: "-"}.get(value, value)  # type: ignore[call-overload]
        print(f"{name}\t{show(str(text))}")

"""`rankscope monitor webhook`: manages the webhook that receives notifications."""

from __future__ import annotations

import os

from rankscope.cli.parser import OnceFlag
from rankscope.monitor.commands.store import (
    ACTOR,
    add_store_arguments,
    open_reader,
    open_writer,
    print_fields,
)
from rankscope.monitor.notify.http import Poster, read_url
from rankscope.monitor.notify.webhook import (
    find_webhook,
    remove_webhook,
    set_webhook,
    try_webhook,
)
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.keys import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser

SECRET = "RANKSCOPE_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
FAILED = 1


def add_set(parser: Parser) -> None:
    """Add the arguments of `webhook set`."""
    add_store_arguments(parser)
    parser.add_argument(
        "address",
        metavar="URL",
        help="https:// URL of the webhook, of which only the host is shown later; the signing "
        f"secret is generated, or read from the environment variable {SECRET}",
    )
    parser.add_argument("--allow-http", action=OnceFlag, help="accept an http:// URL, without TLS")
    parser.set_defaults(run=run_set)


def add_show(parser: Parser) -> None:
    """Add the arguments of `webhook show`."""
    add_store_arguments(parser)
    parser.set_defaults(run=run_show)


def add_test(parser: Parser) -> None:
    """Add the arguments of `webhook test`."""
    add_store_arguments(parser)
    parser.set_defaults(run=run_test)


def add_remove(parser: Parser) -> None:
    """Add the arguments of `webhook remove`."""
    add_store_arguments(parser)
    parser.set_defaults(run=run_remove)


def run_set(options: Namespace) -> int:
    """Set the webhook, and print its secret if it was generated."""
    given = os.environ.get(SECRET)
    with open_writer(options) as monitor:
        made = set_webhook(
            monitor.writer,
            options.project,
            options.address,
            poster=Poster(),
            now=monitor.clock(),
            actor=ACTOR,
            secret=Secret(given) if given else None,
            allows_http=options.allow_http,
        )
    print_fields(options, {"secret": None if given else made.reveal()})
    return 0


def run_show(options: Namespace) -> int:
    """Print the host of the webhook and its state."""
    with open_reader(options) as monitor:
        webhook = find_webhook(monitor.store, options.project)
    fields: dict[str, object] = dict.fromkeys(("host", "created", "disabled", "needs_secret"))
    if webhook is not None:
        times = ("created", "disabled")
        fields["host"] = read_url(webhook.url, allows_http=webhook.allows_http).authority
        fields |= write_record(webhook, times, times) | {"needs_secret": webhook.secret is None}
    print_fields(options, fields)
    return 0


def run_test(options: Namespace) -> int:
    """Send a test notification, and print what came back."""
    with open_reader(options) as monitor:
        tried = try_webhook(monitor.store, options.project, poster=Poster(), now=monitor.clock())
    print_fields(options, {"is_delivered": tried.is_delivered, "told": tried.told})
    return 0 if tried.is_delivered else FAILED


def run_remove(options: Namespace) -> int:
    """Remove the webhook."""
    with open_writer(options) as monitor:
        remove_webhook(monitor.writer, options.project, now=monitor.clock(), actor=ACTOR)
    print_fields(options, {"removed": True})
    return 0

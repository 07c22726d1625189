"""`rankscope monitor channels`, `channel test` and `webhook`: where notifications go."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import suppress
from typing import Any

from rankscope._cli.parser import OnceFlag, Parser, print_json
from rankscope._show.table import Table
from rankscope.errors import FileError, UsageError
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
    print_fields,
    refuse_at_service,
)
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.records import WEBHOOK

FAILED = 1
HOOK = "/v1/webhook"
SECRET = "RANKSCOPE_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
COLUMNS = ("name", "kind", "service", "severity", "last_delivered", "last_problem", "waiting")


def add_list(parser: Parser) -> None:
    """Add the arguments of `channels`."""
    _add_arguments(parser, run_list)
    parser.add_examples(
        "rankscope monitor channels music.db --config rankscope.toml",
        "rankscope monitor channels https://rankscope.example.com",
    )


def add_test(parser: Parser) -> None:
    """Add the arguments of `channel test`."""
    _add_arguments(parser, run_test)
    parser.add_argument("name", metavar="NAME", help="name of the channel")
    parser.add_examples("rankscope monitor channel test music.db oncall --config rankscope.toml")


def _add_arguments(parser: Parser, run: Run) -> None:
    add_store_arguments(parser, run, more=SERVICE)
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="TOML file that defines the channels, as for rankscope serve; a service knows its own",
    )


def run_list(options: Namespace) -> int:
    """Print the channels, and how the last deliveries to them went."""
    found = _list_at_service(options) if is_service(options.store) else _list_in_store(options)
    if options.json:
        print_json({"channels": found})
    elif found:
        columns = {
            name: ["-" if row[name] in (None, "") else row[name] for row in found]
            for name in COLUMNS
        }
        print(Table(columns))
    return 0


def run_test(options: Namespace) -> int:
    """Send a test message to a channel, and print what came back."""
    if is_service(options.store):
        _refuse_config(options)
        told = dict(ask_service(options, "POST", name_path("channels", options.name, "test")))
    else:
        told = _test_here(options)
    print_fields(options, told)
    return 0 if told["is_delivered"] else FAILED


def _list_at_service(options: Namespace) -> list[dict[str, Any]]:
    _refuse_config(options)
    return list(ask_service(options, "GET", "/v1/channels")["channels"])


def _list_in_store(options: Namespace) -> list[dict[str, Any]]:
    from rankscope.monitor.notify.channels import (
        list_channel_states,
        read_channels,
    )
    from rankscope.monitor.notify.sending import (
        AppriseSender,
        check_services,
    )

    channels = read_channels(options.config)
    services = check_services(channels, AppriseSender())
    with open_reader(options) as monitor:
        states = list_channel_states(monitor.store, options.project, channels, services)
    return [write_record(state) for state in states]


def _test_here(options: Namespace) -> dict[str, Any]:
    """Send a test message, and record that it was delivered, unless nobody can write now."""
    from rankscope.monitor.store.keys import TESTED, AuditEntry

    told = _send_here(options)
    if told["is_delivered"]:
        with suppress(FileError), open_writer(options) as monitor:
            entry = AuditEntry(monitor.clock(), ACTOR, TESTED, options.name)
            monitor.writer.record_audit(options.project, entry)
    return told


def _send_here(options: Namespace) -> dict[str, Any]:
    from rankscope.monitor.notify.channels import read_channels
    from rankscope.monitor.notify.http import Poster
    from rankscope.monitor.notify.sending import (
        AppriseSender,
        send_test,
    )
    from rankscope.monitor.notify.webhook import try_webhook

    channels = read_channels(options.config)
    with open_reader(options) as monitor:
        now = monitor.clock()
        if options.name == WEBHOOK:
            tried = try_webhook(monitor.store, options.project, poster=Poster(), now=now)
            return {"is_delivered": tried.is_delivered, "told": tried.told}
    channel = channels.find(options.name)
    if channel is None:
        known = ", ".join([*(one.name for one in channels.channels), WEBHOOK])
        where = "" if options.config else "; channels are defined in the file after --config"
        raise UsageError(
            f"there is no channel {options.name[:100]!a}",
            hint=f"name one of: {known}{where}",
            code="no_channel",
        )
    outcome = send_test(
        channel,
        options.project,
        sender=AppriseSender(),
        poster=Poster(),
        public_url=channels.public_url,
        now=now,
    )
    return {"is_delivered": not outcome.problem, "told": outcome.problem or "delivered"}


def _refuse_config(options: Namespace) -> None:
    if options.config is not None:
        raise refuse_at_service("--config", "remove --config: the service has read its own file")


def add_webhook_set(parser: Parser) -> None:
    """Add the arguments of `webhook set`."""
    add_store_arguments(parser, run_webhook_set, more=SERVICE)
    parser.add_argument(
        "address",
        metavar="URL",
        help="https:// URL of the webhook, of which only the host is shown later; the signing "
        f"secret is generated, or read from the environment variable {SECRET}",
    )
    parser.add_argument("--allow-http", action=OnceFlag, help="accept an http:// URL, without TLS")


def add_webhook_show(parser: Parser) -> None:
    """Add the arguments of `webhook show`."""
    add_store_arguments(parser, run_webhook_show, more=SERVICE)


def add_webhook_test(parser: Parser) -> None:
    """Add the arguments of `webhook test`."""
    add_store_arguments(parser, run_webhook_test, more=SERVICE)


def add_webhook_remove(parser: Parser) -> None:
    """Add the arguments of `webhook remove`."""
    add_store_arguments(parser, run_webhook_remove, more=SERVICE)


def run_webhook_set(options: Namespace) -> int:
    """Set the webhook, and print its secret if it was generated."""
    from rankscope.monitor.notify.http import Poster
    from rankscope.monitor.notify.webhook import set_webhook
    from rankscope.monitor.store.keys import Secret

    given = os.environ.get(SECRET)
    if is_service(options.store):
        body = {"url": options.address, "allows_http": options.allow_http}
        told = ask_service(options, "PUT", HOOK, body | ({"secret": given} if given else {}))
        print_fields(options, {"secret": told["secret"]})
        return 0
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


def run_webhook_show(options: Namespace) -> int:
    """Print the host of the webhook and its state."""
    from rankscope.monitor.notify.http import read_url
    from rankscope.monitor.notify.webhook import find_webhook

    fields: dict[str, object] = dict.fromkeys(("host", "created", "disabled", "needs_secret"))
    if is_service(options.store):
        told = ask_service(options, "GET", HOOK)["webhook"] or {}
        print_fields(options, fields | {name: told[name] for name in fields if name in told})
        return 0
    with open_reader(options) as monitor:
        webhook = find_webhook(monitor.store, options.project)
    if webhook is not None:
        times = ("created", "disabled")
        fields["host"] = read_url(webhook.url, allows_http=webhook.allows_http).authority
        fields |= write_record(webhook, times, times) | {"needs_secret": webhook.secret is None}
    print_fields(options, fields)
    return 0


def run_webhook_test(options: Namespace) -> int:
    """Send a test notification, and print what came back."""
    options.name, options.config = WEBHOOK, None
    return run_test(options)


def run_webhook_remove(options: Namespace) -> int:
    """Remove the webhook."""
    from rankscope.monitor.notify.webhook import remove_webhook

    if is_service(options.store):
        ask_service(options, "DELETE", HOOK)
    else:
        with open_writer(options) as monitor:
            remove_webhook(monitor.writer, options.project, now=monitor.clock(), actor=ACTOR)
    print_fields(options, {"removed": True})
    return 0

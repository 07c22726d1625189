"""`rankscope monitor channels` and `channel test`: where notifications go."""

from __future__ import annotations

from urllib.parse import quote

from rankscope.cli.output import print_json
from rankscope.errors import UsageError
from rankscope.monitor.commands.service import SERVICE, ask_service, is_service
from rankscope.monitor.commands.store import add_store_arguments, open_reader, print_fields
from rankscope.monitor.notify.channels import list_channel_states, read_channels
from rankscope.monitor.notify.http import Poster
from rankscope.monitor.notify.sending import AppriseSender, check_services, send_test
from rankscope.monitor.notify.webhook import try_webhook
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.records import WEBHOOK
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from rankscope.cli.parser import Parser

FAILED = 1
COLUMNS = ("name", "kind", "service", "severity", "last_delivered", "last_problem", "waiting")


def add_list(parser: Parser) -> None:
    """Add the arguments of `channels`."""
    _add_arguments(parser)
    parser.add_examples(
        "rankscope monitor channels music.db --config rankscope.toml",
        "rankscope monitor channels https://rankscope.example.com",
    )
    parser.set_defaults(run=run_list)


def add_test(parser: Parser) -> None:
    """Add the arguments of `channel test`."""
    _add_arguments(parser)
    parser.add_argument("name", metavar="NAME", help="name of the channel")
    parser.add_examples("rankscope monitor channel test music.db oncall --config rankscope.toml")
    parser.set_defaults(run=run_test)


def _add_arguments(parser: Parser) -> None:
    add_store_arguments(parser, more=SERVICE)
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
        path = f"/v1/channels/{quote(options.name, safe='')}/test"
        told = dict(ask_service(options, "POST", path))
    else:
        told = _test_here(options)
    print_fields(options, told)
    return 0 if told["is_delivered"] else FAILED


def _list_at_service(options: Namespace) -> list[dict[str, Any]]:
    _refuse_config(options)
    return list(ask_service(options, "GET", "/v1/channels")["channels"])


def _list_in_store(options: Namespace) -> list[dict[str, Any]]:
    channels = read_channels(options.config)
    services = check_services(channels, AppriseSender())
    with open_reader(options) as monitor:
        states = list_channel_states(monitor.store, options.project, channels, services)
    return [write_record(state) for state in states]


def _test_here(options: Namespace) -> dict[str, Any]:
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
        raise UsageError(
            "--config cannot be combined with the URL of a service",
            hint="remove --config: the service has read its own file",
            code="usage",
        )

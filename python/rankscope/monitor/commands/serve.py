"""`rankscope serve`: serves the HTTP API and the dashboard of a store."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing

from rankscope._cli.parser import OnceFlag, Parser, read_integer, read_number
from rankscope._names import quote
from rankscope._show.table import show
from rankscope.errors import UsageError
from rankscope.monitor.commands.backups import read_count
from rankscope.monitor.commands.store import (
    PROJECT,
    STORE_HELP,
    note_password,
    read_duration,
    read_project,
)
from rankscope.monitor.events.limits import MINUTE
from rankscope.monitor.events.times import write_duration
from rankscope.monitor.server.run.schedule import SECONDS
from rankscope.monitor.store import open_store
from rankscope.monitor.store.postgres.address import POSTGRES
from rankscope.monitor.store.sqlite.files import SQLITE

HOST = "127.0.0.1"
PORT = 8000
PORTS = range(65_536)
LONGEST = 1_000_000


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "store",
        metavar="STORE",
        help=f"{STORE_HELP}; created if it does not exist",
    )
    parser.add_argument(
        "--host",
        default=HOST,
        metavar="ADDRESS",
        help="address to listen on; others than this machine need a person or an API key first",
    )
    parser.add_argument(
        "--port",
        type=read_integer,
        default=PORT,
        metavar="N",
        help="port to listen on; 0 chooses a free one",
    )
    parser.add_argument(
        "--name",
        dest="names",
        action="append",
        default=[],
        metavar="HOST",
        help="another host name that clients use, such as that of a reverse proxy",
    )
    parser.add_argument(
        "--prefix",
        metavar="PATH",
        help="path that a reverse proxy has the service at, such as /ranking (default: that of the "
        "public address)",
    )
    parser.add_argument(
        "--proxy",
        dest="proxies",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="address or network that a reverse proxy connects from: its X-Forwarded- headers are "
        "believed; can be repeated",
    )
    parser.add_argument(
        "--project",
        type=read_project,
        default=PROJECT,
        metavar="NAME",
        help="project that this machine can use without a key, until the first key is made",
    )
    parser.add_argument(
        "--every",
        type=read_number,
        default=SECONDS,
        metavar="SECONDS",
        help="time between evaluations",
    )
    parser.add_argument(
        "--no-evaluate",
        action=OnceFlag,
        help="only take and show events: another process of the same store in PostgreSQL "
        "evaluates them and sends notifications",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="TOML file, or a folder of them, with the channels of notifications, the provider of "
        "sign-ins and the public address of the dashboard; channels can also be set as "
        "RANKSCOPE_CHANNEL_NAME=URL",
    )
    parser.add_argument(
        "--backup-to",
        metavar="PLACE",
        help="back up the store to this folder or URL, such as s3://bucket/folder",
    )
    parser.add_argument(
        "--backup-every",
        type=read_duration,
        default="1d",
        metavar="DURATION",
        help="time between backups",
    )
    parser.add_argument(
        "--keep", type=read_count, default=14, metavar="N", help="number of backups to keep"
    )
    parser.add_examples(
        "rankscope serve music.db",
        "rankscope serve music.db --config rankscope.toml",
        "rankscope serve music.db --backup-to s3://bucket/backups --backup-every 6h",
        "rankscope serve music.db --host 0.0.0.0 --port 80 --name rankings.example.com",
        "rankscope serve postgresql://rankscope@db.example.com/rankings",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Serve until the process is interrupted or terminated."""
    from rankscope.monitor.backups import BackupPlan
    from rankscope.monitor.notify.channels import read_channels
    from rankscope.monitor.server.http.provider import read_provider
    from rankscope.monitor.server.http.proxies import (
        read_prefix,
        read_proxies,
    )
    from rankscope.monitor.server.run.service import serve_store

    if options.port not in PORTS:
        raise UsageError(
            f"--port must be from 0 to {PORTS[-1]}, found {quote(options.port)}",
            hint=f"remove --port to use {PORT}",
            code="usage",
        )
    if not 0 < options.every < LONGEST:
        raise UsageError(
            f"--every must be above 0 and below {LONGEST:,} seconds, found {options.every:g}",
            hint=f"remove --every to evaluate every {SECONDS:g} seconds",
            code="usage",
        )
    if options.no_evaluate and not options.store.startswith(POSTGRES):
        raise UsageError(
            "--no-evaluate needs a store in PostgreSQL: to a file, only this process can write",
            hint="remove --no-evaluate",
            code="usage",
        )
    if options.backup_every < MINUTE:
        raise UsageError(
            f"--backup-every must be 1m or longer, found {write_duration(options.backup_every)}",
            hint="remove --backup-every to make a backup every day",
            code="usage",
        )
    backups = None
    if options.backup_to is not None:
        backups = BackupPlan(options.backup_to, options.backup_every, options.keep)
    channels, provider = read_channels(options.config), read_provider(options.config)
    if provider is not None and channels.public_url is None:
        raise UsageError(
            "sign-in through a provider needs the public address of the dashboard",
            hint='write public_url = "https://…" in the file, or set RANKSCOPE_PUBLIC_URL',
            code="no_public_url",
        )
    prefix = None if options.prefix is None else read_prefix(options.prefix)
    proxies = read_proxies(options.proxies)
    note_password(options.store)
    url = options.store if "://" in options.store else SQLITE + options.store
    with closing(open_store(url)) as store:
        serve_store(
            store,
            host=options.host,
            port=options.port,
            project=options.project,
            names=tuple(options.names),
            prefix=prefix,
            proxies=proxies,
            seconds=options.every,
            evaluates=not options.no_evaluate,
            channels=channels,
            provider=provider,
            backups=backups,
            announce=lambda address: print(f"Listening on {show(address)}", flush=True),
        )
    return 0

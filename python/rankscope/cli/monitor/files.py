"""Takes files of events into a store, or to a service, and says what became of them."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.stores import PROJECT, add_store_arguments, open_writer
from rankscope.cli.output import print_json
from rankscope.cli.progress import ProgressBar
from rankscope.errors import RankscopeError, UsageError
from rankscope.monitor.client.http import HTTPTransport
from rankscope.monitor.client.sink import ServiceSink
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.intake.files import EVENT_FORMATS, EventFile
from rankscope.monitor.intake.ingestion import Ingestion, StoreSink
from rankscope.monitor.store.keys import Secret
from rankscope.records import replace
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Sequence

    from rankscope.monitor.intake.ingestion import Ingested, Kind, Sink

KEY = "RANKSCOPE_KEY"
REFUSED = 3
SECONDS = 60.0


def add_event_arguments(parser: ArgumentParser, roles: Iterable[str]) -> None:
    """Say what a command takes that reads files of events.

    Args:
        parser: The parser of the command.
        roles: What a field or column may be named for.
    """
    add_store_arguments(
        parser,
        more=f"or the address of a service, whose key is read from the variable {KEY}",
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help=f"files of {', '.join(EVENT_FORMATS)}; texts may be packed; - is standard input",
    )
    parser.add_argument(
        "--format",
        action=Once,
        choices=tuple(EVENT_FORMATS),
        help="the format of all files, where their names do not tell it",
    )
    parser.add_argument(
        "--encoding", action=Once, default="utf-8", choices=("utf-8", "latin-1"), help="of texts"
    )
    parser.add_argument(
        "--col",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help="the field or column that holds something, where it has no usual name: "
        f"{', '.join(dict.fromkeys(roles))}; may be given again",
    )
    parser.set_defaults(roles=tuple(dict.fromkeys(roles)))


def take_files(options: Namespace, kind: Kind) -> int:
    """Take files, print what became of their events, and give the exit status.

    Raises:
        RankscopeError: A file cannot be read to its end, or events cannot be stored; what was taken
            before is printed.
    """
    if options.files.count("-") > 1:
        raise UsageError("expected '-' once, found it again", hint="name files", code="stdin_twice")
    names = _read_names(options)
    files = [EventFile(path, options.format, options.encoding) for path in options.files]
    for file in files:
        file.tell_format()  # before anything is taken
    with ExitStack() as stack:
        sink, configured = _open_sink(options, stack)
        ingestion = Ingestion(
            sink,
            kind,
            now=read_clock,
            names=names,
            attributes=configured if options.attributes is None else options.attributes,
            is_strict=options.attributes is not None,
        )
        try:
            for file in files:
                _take(ingestion, file)
        except RankscopeError:
            _print(ingestion.ingested, options)
            raise
    _print(ingestion.ingested, options)
    return REFUSED if ingestion.ingested.reasons else 0


def _take(ingestion: Ingestion, file: EventFile) -> None:
    with ProgressBar(show(file.name)) as progress:
        size = file.size
        ingestion.take_file(replace(file, progress=lambda done: progress(done, size)))


def _open_sink(options: Namespace, stack: ExitStack) -> tuple[Sink, Sequence[str]]:
    """Open what takes the events; give the attributes of its configuration, if it is known."""
    if options.store.startswith(("http://", "https://")):
        if options.project != PROJECT:
            raise UsageError(
                "expected no --project beside the address of a service, found one",
                hint="the key says which project it is",
                code="usage",
            )
        transport = HTTPTransport(options.store, Secret(os.environ.get(KEY, "")), SECONDS)
        return ServiceSink(transport), ()
    monitor = stack.enter_context(open_writer(options, is_new=True))
    configured = monitor.configuration.attributes if monitor.is_configured else ()
    return StoreSink(monitor.store, options.project), configured


def _read_names(options: Namespace) -> dict[str, str]:
    names: dict[str, str] = {}
    for text in options.col:
        role, sign, name = text.partition("=")
        if not (sign and name) or role not in options.roles or role in names:
            raise UsageError(
                f"expected --col ROLE=NAME, each role once, found {text!r}",
                hint=f"a role is one of {', '.join(options.roles)}",
                code="usage",
            )
        names[role] = name
    return names


def _print(ingested: Ingested, options: Namespace) -> None:
    for refused in ingested.refused:
        print(refused, file=sys.stderr)
        if refused.hint:
            print(f"Hint: {show(refused.hint)}", file=sys.stderr)
    more = sum(ingested.reasons.values()) - len(ingested.refused)
    if more:
        print(f"and {more} more", file=sys.stderr)
    if options.json:
        print_json(ingested.to_dict())
    else:
        print(ingested)

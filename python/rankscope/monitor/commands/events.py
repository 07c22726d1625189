"""`rankscope monitor ingest` and `label`: store events from files, or send them to a service."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace

from rankscope._cli.options import add_encoding_option, refuse_stdin_twice
from rankscope._cli.parser import Parser, print_json
from rankscope._file import EVENT_FORMATS
from rankscope._show.progress import ProgressBar
from rankscope._show.table import show
from rankscope.errors import RankscopeError
from rankscope.monitor.client.sink import ServiceSink
from rankscope.monitor.commands.store import (
    KEY,
    Run,
    add_store_arguments,
    is_service,
    open_transport,
    open_writer,
    read_roles,
    take_several,
)
from rankscope.monitor.definition.configuration import find_expected
from rankscope.monitor.events.mismatch import Expected
from rankscope.monitor.events.names import ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.intake.files import EventFile
from rankscope.monitor.intake.ingestion import Ingested, Ingestion, Kind, StoreSink
from rankscope.monitor.intake.sets import SETS, SetSink

REFUSED, IGNORED = 3, 1
"""How the command ends if events were refused, and if parts of them were not stored."""


def add_ingest(parser: Parser) -> None:
    """Add the arguments of `ingest`."""
    _add_arguments(parser, run_ingest, RANKING_NAMES | ITEM_NAMES)
    parser.add_argument(
        "--attributes",
        **take_several(),
        metavar="NAME",
        help="columns or fields to store as attributes of the ranking, such as device country "
        "(default: the attributes that the project slices by)",
    )
    parser.add_argument(
        "--replace",
        choices=SETS,
        metavar="SET",
        help="replace the validation or the training set by these rankings, all at once; if one of "
        "them is rejected, the set stays as it was",
    )
    parser.add_examples(
        "rankscope monitor ingest music.db rankings.jsonl",
        "rankscope monitor ingest music.db log.csv --col ranking_id=session",
        "rankscope monitor ingest music.db corrected.parquet --replace training",
        f"{KEY}=... rankscope monitor ingest https://rankings.example.com rankings.jsonl",
    )


def add_label(parser: Parser) -> None:
    """Add the arguments of `label`."""
    _add_arguments(parser, run_label, LABEL_NAMES)
    parser.add_examples("rankscope monitor label music.db labels.jsonl")


def run_ingest(options: Namespace) -> int:
    """Store rankings, and print how many were accepted and rejected."""
    return _store_files(options, "rankings")


def run_label(options: Namespace) -> int:
    """Store labels, and print how many were accepted and rejected."""
    options.attributes, options.replace = (), None
    return _store_files(options, "labels")


def _add_arguments(parser: Parser, run: Run, roles: Iterable[str]) -> None:
    add_store_arguments(
        parser,
        run,
        more=f"or the URL of a service, whose key is read from the environment variable {KEY}",
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help=f"files of events: {', '.join(EVENT_FORMATS)}; text can be compressed; - reads "
        "standard input",
    )
    parser.add_argument(
        "--format",
        choices=EVENT_FORMATS,
        metavar="FORMAT",
        help="format of all files (default: from the file name)",
    )
    add_encoding_option(parser)
    parser.add_argument(
        "--timezone",
        metavar="ZONE",
        help="time zone of times in tables that have none, as in INT96 of Parquet, such as UTC or "
        "Europe/Berlin; of two times that it can be, the earlier one (default: each is an error)",
    )
    parser.add_argument(
        "--ignore",
        **take_several(),
        default=[],
        metavar="NAME",
        help="columns or fields that are not needed; if there are others that are not stored, the "
        "command names them and ends with status 1",
    )
    parser.add_argument(
        "--col",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help="the column or field to use for a role, if it does not have a usual name; roles: "
        f"{', '.join(dict.fromkeys(roles))}",
    )
    parser.set_defaults(roles=tuple(dict.fromkeys(roles)))


def _store_files(options: Namespace, kind: Kind) -> int:
    """Store the events of files, print how many there were, and return the exit status."""
    from rankscope.monitor.client.sink import ServiceSink

    refuse_stdin_twice(options.files)
    names = read_roles(options.col, "--col", options.roles)
    files = [
        EventFile(path, options.format, options.encoding, timezone=options.timezone)
        for path in options.files
    ]
    for file in files:
        file.check()  # before anything is stored
    with ExitStack() as stack:
        sink, expected = _open_sink(options, stack)
        configured = () if expected is None else expected.attributes
        collected = None if options.replace is None else SetSink(options.replace, sink)
        ingestion = Ingestion(
            collected or sink,
            kind,
            now=read_clock,
            names=names,
            attributes=configured if options.attributes is None else options.attributes,
            is_strict=options.attributes is not None,
            ignored=options.ignore,
            # A service says itself what doesn't match.
            expected=None if isinstance(sink, ServiceSink) else expected,
        )
        replaced = None
        try:
            for file in files:
                _store_file(ingestion, file)
            if collected is not None:
                replaced = collected.replace(ingestion.ingested)
        except RankscopeError:
            _print(ingestion.ingested, options, kind)
            raise
    _print(ingestion.ingested, options, kind, replaced)
    said = sink.mismatches.told.values() if isinstance(sink, ServiceSink) else ()
    for told in said or ingestion.ingested.mismatches:
        print(f"note: {told}", file=sys.stderr)
    if ingestion.ingested.reasons:
        return REFUSED
    return IGNORED if ingestion.ingested.unknown else 0


def _store_file(ingestion: Ingestion, file: EventFile) -> None:
    with ProgressBar(show(file.name)) as progress:
        size = file.size
        ingestion.take_file(replace(file, progress=lambda done: progress(done, size)))


def _open_sink(
    options: Namespace, stack: ExitStack
) -> tuple[StoreSink | ServiceSink, Expected | None]:
    """Return where events go, and the names that the project is configured with, if known."""
    if is_service(options.store):
        from rankscope.monitor.client.sink import ServiceSink

        service = ServiceSink(open_transport(options))
        # Labels have no attributes.
        reads = options.attributes is None
        return service, Expected((), tuple(service.read_attributes())) if reads else None
    monitor = stack.enter_context(open_writer(options, is_new=True))
    return StoreSink(monitor.writer, options.project), find_expected(monitor.store, options.project)


def _print(ingested: Ingested, options: Namespace, kind: Kind, replaced: int | None = None) -> None:
    for refused in ingested.refused:
        print(refused, file=sys.stderr)
        if refused.hint:
            print(f"Hint: {show(refused.hint)}", file=sys.stderr)
    more = sum(ingested.reasons.values()) - len(ingested.refused)
    if more:
        print(f"and {more} more rejected events", file=sys.stderr)
    if ingested.unknown:
        names = [show(name) for name in sorted(ingested.unknown)]
        print(f"note: not stored: {', '.join(names)}", file=sys.stderr)
        attributes = f"store what belongs to a ranking with --attributes {names[0]}, or "
        hint = attributes if kind == "rankings" else ""
        print(f"Hint: {hint}leave it out with --ignore {names[0]}", file=sys.stderr)
    if options.json:
        print_json(ingested.to_dict() | ({} if replaced is None else {"replaced": replaced}))
    else:
        print(ingested)
        if replaced is not None:
            print(f"replaced\t{replaced}")

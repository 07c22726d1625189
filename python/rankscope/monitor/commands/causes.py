"""Reads a file of documents and their attributes, such as the brand."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from typing import Any
from urllib.parse import urlencode

from rankscope._cli.options import add_measure_option
from rankscope._cli.parser import Parser, read_integer
from rankscope._names import quote
from rankscope._show.table import show_lines
from rankscope.errors import EmptyError, FormatError, LimitError
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.commands.store import (
    SERVICE,
    add_store_arguments,
    ask_service,
    is_service,
    open_reader,
    print_result,
    read_moment,
    read_word,
    refuse_at_service,
    take_several,
)
from rankscope.monitor.events.rejection import show
from rankscope.monitor.events.times import format_time
from rankscope.monitor.intake.files import EventFile
from rankscope.monitor.monitor import Monitor

MOST = 5_000_000


def read_documents(path: str) -> dict[str, list[Any]]:
    """Return the columns of a table, or the fields of JSON objects, by name."""
    file = EventFile(path)
    columns: dict[str, list[Any]] = {}
    if file.tell_format() in {"jsonl", "json"}:
        _read_objects(file, columns)
        return columns
    for batch, _ in file.read_tables():
        for name in batch.schema.names:
            columns.setdefault(name, []).extend(batch.column(name).to_pylist())
        _check_size(max(map(len, columns.values()), default=0), file)
    return columns


def _read_objects(file: EventFile, columns: dict[str, list[Any]]) -> None:
    count = 0
    for some in file.read_objects():
        for given, place in zip(some.objects, some.places, strict=True):
            if not isinstance(given, dict):
                raise FormatError(
                    f"expected one JSON object per document, found {show(given)}",
                    hint='write {"doc_id": "d1", "brand": "acme"}',
                    code="json_type",
                    file=file.name,
                    line=place,
                )
            for name in given.keys() - columns.keys():
                columns[name] = [None] * count
            for name, column in columns.items():
                column.append(given.get(name))
            count += 1
        _check_size(count, file)


def _check_size(count: int, file: EventFile) -> None:
    if count > MOST:
        raise LimitError(
            f"the file has more than {MOST:,} documents",
            hint="keep only documents that were shown",
            code="max_group",
            file=file.name,
        )


SETS = ("validation", "training")
TEXTS = ("version", "model")
TIMES = ("since", "until")
SPAN = "version=3,2026-11-01..2026-11-08"
HERE = ("as_of", "attributes", "documents", "sample")
"""Options that only a store of this machine takes."""


MEASURE_HELP = "a measure of the project (default: the one with the largest cutoff)"


def add_trace(parser: Parser) -> None:
    """Add the arguments of `trace`."""
    parser.description = (
        "Find out why a measure dropped: compare two spans of rankings, and split the difference "
        "by slice, by kind of loss, by query and by document. A SPAN is validation, training, or "
        "any of version=NAME, model=NAME, since=TIME, until=TIME and SINCE..UNTIL, separated by "
        f"commas, such as {SPAN}. Without spans, the command compares the newest version with the "
        "one before it, or the last week with the week before."
    )
    add_store_arguments(parser, run_trace, is_timed=True, more=SERVICE)
    for name, text in (
        ("--before", "rankings to compare with"),
        ("--after", "rankings that got worse"),
    ):
        parser.add_argument(name, type=_read_span, metavar="SPAN", help=text)
    add_measure_option(parser, MEASURE_HELP)
    parser.add_argument(
        "--attributes",
        **take_several(),
        metavar="NAME",
        help="attributes to search for the cause (default: all)",
    )
    parser.add_argument(
        "--documents",
        metavar="FILE",
        help="table of documents with a column doc_id; adds the loss by its other columns, such "
        "as brand",
    )
    parser.add_argument(
        "--sample",
        type=read_integer,
        metavar="N",
        help="trace a random sample of users, so that each span has at most N rankings; the output "
        "gives the standard errors (default: all rankings)",
    )
    parser.add_examples(
        "rankscope monitor trace music.db",
        "rankscope monitor trace music.db --before version=3 --after version=4 -m nDCG@5",
        "RANKSCOPE_KEY=... rankscope monitor trace https://rankings.example.com",
    )


def run_trace(options: Namespace) -> int:
    """Trace a drop, and print its causes."""
    if is_service(options.store):
        return _trace_at_service(options)
    from rankscope.monitor.why.compute import TraceChoices

    documents = None if options.documents is None else read_documents(options.documents)
    with open_reader(options) as monitor:
        before, after = _choose_spans(monitor, options)
        choices = TraceChoices(attributes=options.attributes and tuple(options.attributes))
        trace = monitor.trace(
            before, after, options.measure, choices, documents, sample=options.sample
        )
    print_result(options, trace.to_dict(), trace)
    return 0


def _trace_at_service(options: Namespace) -> int:
    for name in HERE:
        if getattr(options, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise refuse_at_service(option, "remove it, or trace a backup of the store")
    query = {} if options.measure is None else {"measure": str(options.measure)}
    for side in ("before", "after"):
        for name, value in (getattr(options, side) or {}).items():
            query[f"{side}_{name}"] = value if isinstance(value, str) else format_time(value)
    told = ask_service(options, "GET", f"/v1/trace?{urlencode(query)}")
    said = {name: value for name, value in told.items() if name != "text"}
    print_result(options, said, show_lines(str(told["text"])))
    return 0


def add_explain(parser: Parser) -> None:
    """Add the arguments of `explain`."""
    add_store_arguments(parser, run_explain, is_timed=True)
    parser.add_argument(
        "ranking_id", type=read_word, metavar="RANKING_ID", help="the id of a logged ranking"
    )
    add_measure_option(parser, MEASURE_HELP)


def run_explain(options: Namespace) -> int:
    """Explain the value of one ranking, rank by rank."""
    with open_reader(options) as monitor:
        explanation = monitor.explain(options.ranking_id, options.measure)
    print_result(options, explanation.to_dict(), explanation)
    return 0


def _choose_spans(monitor: Monitor, options: Namespace) -> tuple[Span, Span]:
    """Return the spans of the options; a span that is not named is suggested."""
    from rankscope.monitor.ask.trace import Span

    before, after = (
        None if one is None else Span(**one) for one in (options.before, options.after)
    )
    if before is not None and after is not None:
        return before, after
    suggested = monitor.suggest_spans()
    if suggested is None:
        raise EmptyError(
            "there are too few final rankings of production to compare",
            hint=f"name both spans, such as --before validation --after {SPAN}",
            code="empty_input",
        )
    return before or suggested[0], after or suggested[1]


def _read_span(text: str) -> dict[str, Any]:
    """Return the parts of a span, which are checked later."""
    parts: dict[str, Any] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        since, dots, until = part.partition("..")
        found: dict[str, Any]
        if part in SETS:
            found = {"environment": part}
        elif sign and name in TEXTS:
            found = {name: value}
        elif sign and name in TIMES:
            found = {name: read_moment(value)}
        elif dots and not sign:
            found = {"since": read_moment(since), "until": read_moment(until)}
        else:
            raise ArgumentTypeError(
                f"expected a span such as {SPAN} or validation, found {quote(text)}"
            )
        if parts.keys() & found.keys():
            raise ArgumentTypeError(f"a part of the span is set twice: {quote(text)}")
        parts |= found
    return parts

"""`rankscope monitor trace`: tells why a measure fell."""

from __future__ import annotations

from argparse import ArgumentTypeError

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.catalogue import read_documents
from rankscope.cli.monitor.moments import read_moment
from rankscope.cli.monitor.stores import add_store_arguments, open_reader
from rankscope.cli.output import print_json
from rankscope.errors import EmptyError
from rankscope.monitor.ask.trace import Span
from rankscope.stats.trace import TraceChoices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from rankscope.monitor.monitor import Monitor

SETS = ("validation", "training")
TEXTS = ("version", "model")
TIMES = ("since", "until")
SPAN = "version=3,2026-11-01..2026-11-08"


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser, is_timed=True)
    for name, what in (("--before", "what it is held against"), ("--after", "what fell")):
        parser.add_argument(
            name,
            action=Once,
            type=_read_span,
            metavar="SPAN",
            help=f"{what}: validation, or parts such as {SPAN} with commas between; the newest "
            "version against the one before it if both are left out",
        )
    parser.add_argument(
        "--measure",
        action=Once,
        metavar="MEASURE",
        help="one that is measured; that of the largest cutoff if left out",
    )
    parser.add_argument(
        "--attributes",
        action=Once,
        nargs="+",
        metavar="NAME",
        help="the attributes to search; all if left out",
    )
    parser.add_argument(
        "--documents",
        action=Once,
        metavar="FILE",
        help="a table of documents with a column doc_id, by whose other columns, such as brand, "
        "what they cost is told apart",
    )


def run(options: Namespace) -> int:
    """Trace it, and tell the story."""
    documents = None if options.documents is None else read_documents(options.documents)
    with open_reader(options) as monitor:
        before, after = _choose_spans(monitor, options)
        choices = TraceChoices(attributes=options.attributes and tuple(options.attributes))
        found = monitor.trace(before, after, options.measure, choices, documents)
    if options.json:
        print_json(found.to_dict())
    else:
        print(found)
    return 0


def _choose_spans(monitor: Monitor, options: Namespace) -> tuple[Span, Span]:
    """Give the spans that are named; those that are left out are suggested."""
    before, after = (
        None if one is None else Span(**one) for one in (options.before, options.after)
    )
    if before is not None and after is not None:
        return before, after
    suggested = monitor.suggest_spans()
    if suggested is None:
        raise EmptyError(
            "expected rankings of production whose attribution windows are closed, found too few "
            "to compare",
            hint=f"name both spans, such as --before validation --after {SPAN}",
            code="empty_input",
        )
    return before or suggested[0], after or suggested[1]


def _read_span(text: str) -> dict[str, Any]:
    """Read the parts of a span; whether they fit is seen later."""
    parts: dict[str, Any] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        since, dots, until = part.partition("..")
        said: dict[str, Any]
        if part in SETS:
            said = {"environment": part}
        elif sign and name in TEXTS:
            said = {name: value}
        elif sign and name in TIMES:
            said = {name: read_moment(value)}
        elif dots and not sign:
            said = {"since": read_moment(since), "until": read_moment(until)}
        else:
            raise ArgumentTypeError(f"expected a span such as {SPAN} or validation, found {text!r}")
        if parts.keys() & said.keys():
            raise ArgumentTypeError(f"expected each part of a span once, found {text!r}")
        parts |= said
    return parts

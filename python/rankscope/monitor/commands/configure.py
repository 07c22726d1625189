"""`rankscope monitor configure`: sets up what a project measures."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import timedelta

from rankscope.cli.options import add_policy_option
from rankscope.cli.output import print_json
from rankscope.cli.parser import read_integer, read_number
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.monitor.commands.store import (
    ACTOR,
    SERVICE,
    add_store_arguments,
    ask_service,
    is_service,
    open_writer,
    print_fields,
    read_duration,
    read_moment,
    take_several,
)
from rankscope.monitor.definition.configuration import (
    BASELINES,
    BaselineChoice,
    Configuration,
    describe_baseline,
)
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.document import (
    read_configuration,
    read_weight,
    write_configuration,
)
from rankscope.monitor.definition.slices import MOST
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.events.times import write_duration
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from datetime import datetime

    from rankscope.cli.parser import Parser

MEASURES = ("nDCG@1", "nDCG@5", "nDCG@10")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_store_arguments(parser, run, more=SERVICE)
    parser.description = (
        "Set up what a project measures: which labels count as relevant, for how long, and by "
        "which attributes values are sliced. Set all of it at once; options that are not used get "
        "their defaults. Changing the definition recomputes every value from the stored events."
    )
    parser.add_argument(
        "--positive",
        **take_several(_read_positive),
        metavar="LABEL[=WEIGHT]",
        help="labels that count as relevant, and their weights, such as click=1 buy=5",
    )
    parser.add_argument(
        "--window",
        type=read_duration,
        metavar="DURATION",
        help="attribution window: how long after a ranking its labels count, such as 24h",
    )
    parser.add_argument(
        "-m",
        "--measures",
        nargs="+",
        default=list(MEASURES),
        metavar="MEASURE",
        help="measures to compute; `rankscope measures` lists them",
    )
    parser.add_argument(
        "--combine",
        choices=("sum", "max"),
        default="sum",
        metavar="RULE",
        help="how the weights of several labels make the grade of a document",
    )
    parser.add_argument(
        "--repeats",
        choices=("each", "once"),
        default="each",
        metavar="RULE",
        help="whether a repeated label counts each time or once",
    )
    parser.add_argument(
        "--max-grade",
        type=read_number,
        default=100.0,
        metavar="N",
        help="highest grade; larger sums are cut to it",
    )
    add_policy_option(parser)
    parser.add_argument(
        "--slice",
        **take_several(),
        default=[],
        metavar="NAME",
        help="attributes to slice by, and by all pairs of them, such as device country",
    )
    parser.add_argument(
        "--pairs",
        **take_several(_read_pair, nargs="*"),
        metavar="NAME:NAME",
        help="slice only by these pairs, such as device:country; --pairs alone means by no pairs",
    )
    parser.add_argument(
        "--most",
        type=read_integer,
        default=MOST,
        metavar="N",
        help="number of values per attribute that get a slice of their own; the others share the "
        "slice <other>",
    )
    parser.add_argument(
        "--baseline",
        type=_read_baseline,
        default="validation",
        metavar="BASELINE",
        help="what to compare values with: validation or training, rankings logged with that "
        "environment; version, the version before the newest; SINCE..UNTIL, a period such as "
        "2026-09-01..2026-09-08; or none",
    )
    parser.add_argument(
        "--grace",
        type=read_duration,
        default="1h",
        metavar="DURATION",
        help="how long alerts wait for late events",
    )
    parser.add_argument(
        "--owner",
        default="",
        metavar="TEAM",
        help="team that looks after the project; the fleet page and the weekly digest go by it",
    )
    parser.add_examples(
        "rankscope monitor configure music.db --positive click=1 buy=5 --window 24h",
    )


def run(options: Namespace) -> int:
    """Store the configuration, and print it."""
    if options.positive is None:
        shown = "; rankscope monitor configuration shows what is there"
        raise _missing("--positive is missing", f"--positive click=1{shown}")
    if options.window is None:
        raise _missing("--positive needs --window", "--window 24h")
    configuration = _read_configuration(options)
    if is_service(options.store):
        body = write_configuration(configuration)
        told = ask_service(options, "PUT", "/v1/configuration", body)
        _print(read_configuration(told), options)
        return 0
    with open_writer(options, is_new=True) as monitor:
        monitor.configure(configuration, actor=ACTOR)
        _print(monitor.configuration, options)
    return 0


def _read_configuration(options: Namespace) -> Configuration:
    return Configuration(
        definition=define(
            measures=split_measures(options.measures),
            positive=dict(options.positive),
            window=options.window // SECOND,
            combine=options.combine,
            repeats=options.repeats,
            max_grade=options.max_grade,
            policy=options.policy,
        ),
        attributes=tuple(options.slice),
        pairs=None if options.pairs is None else tuple(options.pairs),
        most=options.most,
        baseline=_make_baseline(options.baseline),
        grace=timedelta(microseconds=options.grace),
        owner=options.owner,
    )


def _read_positive(text: str) -> tuple[str, float]:
    try:
        return read_weight(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def _read_pair(text: str) -> tuple[str, str]:
    one, sign, other = text.partition(":")
    if not (one and sign and other):
        raise ArgumentTypeError(
            f"expected two attributes such as device:country, found {quote(text)}"
        )
    return one, other


def _read_baseline(text: str) -> BaselineChoice | tuple[datetime, datetime] | None:
    """Return a baseline, or the ends of a period, which are checked later."""
    if text in BASELINES:
        return BASELINES[text]
    since, sign, until = text.partition("..")
    if not sign:
        raise ArgumentTypeError(
            f"expected validation, training, version, none or SINCE..UNTIL, found {quote(text)}"
        )
    return read_moment(since), read_moment(until)


def _make_baseline(
    given: BaselineChoice | tuple[datetime, datetime] | None,
) -> BaselineChoice | None:
    if isinstance(given, tuple):
        since, until = given
        return BaselineChoice(kind="period", since=since, until=until)
    return given


def _missing(message: str, example: str) -> UsageError:
    return UsageError(message, hint=f"add {example}", code="usage")


def _print(configuration: Configuration, options: Namespace) -> None:
    if options.json:
        print_json(write_configuration(configuration))
        return
    definition = configuration.definition
    weights = definition.attribution.weights
    pairs = configuration.all_pairs
    lines = {
        "measures": ", ".join(measure.name for measure in definition.measures),
        "positive": ", ".join(f"{label}={weight:g}" for label, weight in weights.items()),
        "combine": f"{definition.attribution.combine}, repeats {definition.attribution.repeats}",
        "window": write_duration(definition.window * SECOND),
        "policy": str(definition.policy),
        "slices": ", ".join(configuration.attributes) or "none",
        "pairs": ", ".join(map(":".join, pairs)) or "none",
        "baseline": describe_baseline(configuration.baseline),
        "grace": write_duration(configuration.grace),
        "owner": configuration.owner or "none",
        "definition": definition.hash,
    }
    print_fields(options, lines)

"""`rankscope monitor configure`: says how a project is measured, or shows it."""

from __future__ import annotations

from argparse import ArgumentTypeError

from rankscope.cli.arguments import Once
from rankscope.cli.monitor.moments import read_duration, read_moment
from rankscope.cli.monitor.stores import ACTOR, add_store_arguments, open_reader, open_writer
from rankscope.cli.output import print_json
from rankscope.errors import UsageError
from rankscope.measures.splitting import split_measures
from rankscope.monitor.definition.configuration import (
    BASELINES,
    BaselineChoice,
    Configuration,
    describe_baseline,
)
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import MOST
from rankscope.monitor.definition.words import read_weight
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

MEASURES = ("nDCG@1", "nDCG@5", "nDCG@10")


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_store_arguments(parser)
    parser.description = (
        "Say what labels are worth, what is measured, and by what it is sliced. All of it is said "
        "together; without --positive, what was said is shown."
    )
    parser.add_argument(
        "--positive",
        action=Once,
        nargs="+",
        type=_read_positive,
        metavar="LABEL[=WEIGHT]",
        help="the labels that count, and how much, such as click=1 buy=5",
    )
    parser.add_argument(
        "--window",
        action=Once,
        type=read_duration,
        metavar="TIME",
        help="for how long after a ranking its labels count, such as 24h",
    )
    parser.add_argument(
        "--measures",
        action=Once,
        nargs="+",
        default=list(MEASURES),
        metavar="MEASURE",
        help=f"{' '.join(MEASURES)} if left out",
    )
    parser.add_argument(
        "--combine",
        action=Once,
        choices=("sum", "max"),
        default="sum",
        help="whether the grade of a document is the sum of its weights or the largest",
    )
    parser.add_argument(
        "--repeats",
        action=Once,
        choices=("each", "once"),
        default="each",
        help="whether a label that comes again counts again",
    )
    parser.add_argument(
        "--max-grade", action=Once, type=float, default=100.0, metavar="N", help="the largest grade"
    )
    parser.add_argument(
        "--policy",
        action=Once,
        metavar="FIELD=VALUE,…",
        help="what is done where tools differ, such as empty=zero",
    )
    parser.add_argument(
        "--slice",
        action=Once,
        nargs="+",
        default=[],
        metavar="NAME",
        help="the attributes by which rankings are sliced, and by all pairs of them",
    )
    parser.add_argument(
        "--pairs",
        action=Once,
        nargs="*",
        type=_read_pair,
        metavar="NAME:NAME",
        help="only these pairs, such as device:country; none if nothing follows",
    )
    parser.add_argument(
        "--most",
        action=Once,
        type=int,
        default=MOST,
        metavar="N",
        help=f"how many values of an attribute have a slice of their own, {MOST} if left out; the "
        "rest is <other>",
    )
    parser.add_argument(
        "--baseline",
        action=Once,
        type=_read_baseline,
        default=BASELINES["validation"],
        metavar="BASELINE",
        help="what values are held against: validation or training, a set that was logged with "
        "that environment; version, the one before the newest; SINCE..UNTIL, a period; or none; "
        "validation if left out",
    )
    parser.add_argument(
        "--grace",
        action=Once,
        type=read_duration,
        default=HOUR,
        metavar="TIME",
        help="how long alerts wait for events that come late, 1h if left out",
    )


def run(options: Namespace) -> int:
    """Store it, and show it as it is stored."""
    if options.positive is None:
        if options.window is not None:
            raise _missing("--positive", "click=1")
        with open_reader(options) as monitor:
            _print(monitor.configuration, options)
        return 0
    if options.window is None:
        raise _missing("--window", "24h")
    configuration = _read_configuration(options)
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
        baseline=_choose_baseline(options.baseline),
        grace=options.grace,
    )


def _read_positive(text: str) -> tuple[str, float]:
    try:
        return read_weight(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def _read_pair(text: str) -> tuple[str, str]:
    one, sign, other = text.partition(":")
    if not (one and sign and other):
        raise ArgumentTypeError(f"expected two attributes as device:country, found {text!r}")
    return one, other


def _read_baseline(text: str) -> BaselineChoice | tuple[int, int] | None:
    """Read a baseline, of a period its ends; whether they fit is seen later."""
    if text in BASELINES:
        return BASELINES[text]
    since, sign, until = text.partition("..")
    if not sign:
        raise ArgumentTypeError(
            f"expected validation, training, version, none or SINCE..UNTIL, found {text!r}"
        )
    return read_moment(since), read_moment(until)


def _choose_baseline(given: BaselineChoice | tuple[int, int] | None) -> BaselineChoice | None:
    if isinstance(given, tuple):
        since, until = given
        return BaselineChoice(kind="period", since=since, until=until)
    return given


def _missing(option: str, example: str) -> UsageError:
    return UsageError(
        f"expected {option}, found none", hint=f"write {option} {example}", code="usage"
    )


def _print(configuration: Configuration, options: Namespace) -> None:
    if options.json:
        print_json(configuration.to_dict())
        return
    definition = configuration.definition
    weights = definition.attribution.weights
    pairs = configuration.all_pairs
    lines = {
        "measures": ", ".join(measure.name for measure in definition.measures),
        "positive": ", ".join(f"{label}={weight:g}" for label, weight in weights.items()),
        "combine": f"{definition.attribution.combine}, repeats {definition.attribution.repeats}",
        "window": f"{definition.window:,} seconds",
        "policy": str(definition.policy),
        "slices": ", ".join(configuration.attributes) or "none",
        "pairs": ", ".join(map(":".join, pairs)) or "none",
        "baseline": describe_baseline(configuration.baseline),
        "grace": f"{configuration.grace // SECOND:,} seconds",
        "definition": definition.hash,
    }
    for name, text in lines.items():
        print(f"{name}\t{show(text)}")

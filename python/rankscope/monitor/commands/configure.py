"""`rankscope monitor configure`: sets up a project without a file."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from typing import Any

from rankscope._cli.parser import Parser, print_json
from rankscope.errors import FileError, UsageError
from rankscope.measures.parse import split_measures
from rankscope.monitor.commands.store import (
    ACTOR,
    MISSING,
    SERVICE,
    add_store_arguments,
    ask_service,
    is_service,
    open_writer,
    print_fields,
    read_duration,
    take_several,
)
from rankscope.monitor.definition.calendar import Calendar
from rankscope.monitor.definition.configuration import (
    BASELINES,
    Configuration,
    describe_baseline,
)
from rankscope.monitor.definition.document import (
    read_bins,
    read_configuration,
    read_weight,
    write_bins,
    write_configuration,
)
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.events.times import write_duration


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_store_arguments(parser, run, more=SERVICE)
    parser.description = (
        "Set up what a project measures: which labels count as relevant, for how long, and by "
        "which attributes values are sliced. Options that are not used leave their setting as it "
        "is. Changing the definition recomputes every value from the stored events. A file, which "
        "rankscope monitor apply reads, has all settings."
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
        metavar="MEASURE",
        help="measures to compute (at first: nDCG@1 nDCG@5 nDCG@10); `rankscope measures` lists "
        "them",
    )
    parser.add_argument(
        "--slice",
        **take_several(),
        metavar="NAME",
        help="attributes to slice by, and by all pairs of them, such as device country",
    )
    parser.add_argument(
        "--bins",
        **take_several(_read_bins),
        metavar="NAME=EDGES",
        help="attributes that are numbers, and the edges of their bins, such as price=10:25:50",
    )
    parser.add_argument(
        "--baseline",
        choices=tuple(BASELINES),
        metavar="BASELINE",
        help="what to compare values with: validation (at first) or training, rankings logged "
        "with that environment; version, the version before the newest; or none",
    )
    parser.add_examples(
        "rankscope monitor configure music.db --positive click=1 --window 24h",
        "rankscope monitor configure music.db --slice device country",
        "rankscope monitor configure shop.db --slice device price --bins price=10:25:50",
    )


def run(options: Namespace) -> int:
    """Store the configuration, and print it."""
    is_whole = options.positive is not None and options.window is not None
    if is_whole:
        _change(options, None)  # what is wrong is said before a store is made
    if is_service(options.store):
        body = write_configuration(_change(options, _ask(options)))
        _print(read_configuration(ask_service(options, "PUT", "/v1/configuration", body)), options)
        return 0
    try:
        opened = open_writer(options, is_new=is_whole)
    except FileError as error:
        if error.message == MISSING:
            _change(options, None)  # says what a new one needs
        raise
    with opened as monitor:
        present = write_configuration(monitor.configuration) if monitor.is_configured else None
        monitor.configure(_change(options, present), actor=ACTOR)
        _print(monitor.configuration, options)
    return 0


def _ask(options: Namespace) -> dict[str, Any] | None:
    """Return the configuration that a service has; `None` if there is none."""
    try:
        return dict(ask_service(options, "GET", "/v1/configuration"))
    except UsageError as error:
        if error.code != "not_configured":
            raise
        return None


def _change(options: Namespace, present: dict[str, Any] | None) -> Configuration:
    """Return a configuration, or a new one, with what the options say."""
    if present is None:
        for name, example in (("positive", "click=1"), ("window", "24h")):
            if getattr(options, name) is None:
                raise UsageError(
                    f"--{name} is missing: the project is not set up yet",
                    hint=f"add --{name} {example}; rankscope monitor configuration shows what is "
                    "there",
                    code="usage",
                )
        present = {"definition": {"attribution": {}}}
    definition = dict(present["definition"])
    if options.positive is not None:
        definition["attribution"] = definition["attribution"] | {"positive": dict(options.positive)}
    if options.window is not None:
        definition["window"] = options.window / SECOND
    if options.measures is not None:
        definition["measures"] = split_measures(options.measures)
    changed = {**present, "definition": definition} | _read_slices(options, present)
    if options.baseline is not None:
        changed["baseline"] = options.baseline
    return read_configuration(changed)


def _read_slices(options: Namespace, present: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes and bins that the options name, if they do."""
    said: dict[str, Any] = {}
    bins = present.get("bins", {})
    if options.slice is not None:
        kept = {name: edges for name, edges in bins.items() if name in options.slice}
        said = {"attributes": options.slice, "pairs": None, "bins": kept}
    return said if options.bins is None else said | {"bins": dict(options.bins)}


def _read_positive(text: str) -> tuple[str, float]:
    try:
        return read_weight(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def _read_bins(text: str) -> tuple[str, list[float]]:
    try:
        return read_bins(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def _print(configuration: Configuration, options: Namespace) -> None:
    if options.json:
        print_json(write_configuration(configuration))
        return
    definition = configuration.definition
    weights = definition.attribution.weights
    lines = {
        "measures": ", ".join(measure.name for measure in definition.measures),
        "positive": ", ".join(f"{label}={weight:g}" for label, weight in weights.items()),
        "window": write_duration(definition.window * SECOND),
        "slices": ", ".join(configuration.attributes) or "none",
        "bins": ", ".join(write_bins(*item) for item in configuration.bins.items()) or "none",
        "baseline": describe_baseline(configuration.baseline),
        "calendar": count_periods(configuration.calendar),
        "definition": definition.hash,
    }
    print_fields(options, lines)


def count_periods(calendar: Calendar) -> str:
    """Say how many periods a calendar has."""
    count = len(calendar.periods)
    return f"{count:,} period{'s'[: count != 1]}" if count else "none"

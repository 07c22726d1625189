"""`rankscope monitor incidents` and `incident`: lists incidents, and what people do about them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from datetime import datetime
from textwrap import fill
from typing import Any
from urllib.parse import urlencode

from rankscope._cli.parser import Parser, print_json
from rankscope._show.table import show
from rankscope.errors import UsageError
from rankscope.monitor.commands.store import (
    ACTOR,
    SERVICE,
    TIME_HELP,
    add_store_arguments,
    ask_service,
    is_service,
    name_path,
    open_reader,
    open_writer,
    print_result,
    read_duration,
    read_moment,
    read_word,
    write_moment,
)
from rankscope.monitor.events.times import format_time, read_clock, read_time, to_datetime
from rankscope.monitor.incidents.incident import STATUSES

CHOICES = (*STATUSES, "all")
WIDTH, INDENT = 96, " " * 4


def add_list(parser: Parser) -> None:
    """Add the arguments of `incidents`."""
    add_store_arguments(parser, run_list, more=SERVICE)
    parser.description = (
        "List incidents as of the last evaluation, those that were opened last first."
    )
    parser.add_argument(
        "--state",
        choices=CHOICES,
        default="open",
        metavar="STATE",
        help="open for all that last, whether they are acknowledged, snoozed or neither; or "
        f"one of {', '.join(CHOICES[1:])}",
    )
    parser.add_argument("--rule", type=read_word, metavar="NAME", help="only those of this rule")
    parser.add_examples(
        "rankscope monitor incidents music.db",
        "RANKSCOPE_KEY=... rankscope monitor incidents https://rankings.example.com --json",
    )


def add_acknowledge(parser: Parser) -> None:
    """Add the arguments of `incident acknowledge`."""
    _add_incident(parser, "acknowledge")


def add_snooze(parser: Parser) -> None:
    """Add the arguments of `incident snooze`."""
    _add_incident(parser, "snooze")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument(
        "--for", dest="length", type=read_duration, metavar="DURATION", help="how long, such as 4h"
    )
    length.add_argument(
        "--until",
        type=read_moment,
        metavar="TIME",
        help=f"until when: {TIME_HELP.partition(', or an age')[0]}",
    )


def add_resolve(parser: Parser) -> None:
    """Add the arguments of `incident resolve`."""
    _add_incident(parser, "resolve")


def _add_incident(parser: Parser, action: str) -> None:
    add_store_arguments(parser, run_action, more=SERVICE)
    parser.add_argument("incident", metavar="ID", type=read_word, help="ID of the incident")
    parser.add_argument(
        "--note", type=read_word, default="", metavar="TEXT", help="a note for people"
    )
    parser.set_defaults(action=action)


def run_list(options: Namespace) -> int:
    """Print incidents."""
    if is_service(options.store):
        query = {"state": options.state, "limit": "1000"}
        query |= {} if options.rule is None else {"rule": options.rule}
        told = ask_service(options, "GET", f"/v1/incidents?{urlencode(query)}")
        incidents = list(told.get("incidents", ()))
    else:
        with open_reader(options) as monitor:
            found = monitor.incidents(options.state, rule=options.rule)
        incidents = [incident.to_dict() for incident in found]
    print_incidents(incidents, is_json=options.json)
    return 0


def print_incidents(incidents: list[Mapping[str, Any]], *, is_json: bool) -> None:
    """Print incidents as JSON, or one on a line."""
    if is_json:
        print_json(incidents)
        return
    for incident in incidents:
        print(describe_incident(incident))
    if not incidents:
        print("No incidents")


def describe_incident(incident: Mapping[str, Any]) -> str:
    """Return a line with ID, state, start and rule, and below it the reason and the cause."""
    from rankscope.monitor.incidents.grouping import list_facts

    began = write_moment(read_time(incident["began"], "began")[0])
    name, state, rule = (show(str(incident[word])) for word in ("id", "state", "rule"))
    told = [str(incident["reason"])]
    sentence = (incident["cause"] or {}).get("sentence")
    told += [f"Cause: {sentence}"] if sentence else []
    told += [
        f"Changed at the same time: {each['sentence']}" for each in list_facts(incident["cause"])
    ]
    return "\n".join([f"{name}\t{state}\tsince {began}\t{rule}", *map(wrap_reason, told)])


def join_reason(line: str, reason: str) -> str:
    """Return a line with its reason, which is below it if the line would be too long."""
    joined = f"{line}\t{show(reason)}"
    return joined if len(joined) <= WIDTH else f"{line}\n{wrap_reason(reason)}"


def wrap_reason(reason: str) -> str:
    """Return a sentence below the line that it belongs to."""
    return fill(show(reason), WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)


def run_action(options: Namespace) -> int:
    """Acknowledge, snooze or resolve an incident, and print it."""
    is_snooze = options.action == "snooze"
    if is_service(options.store):
        said = {"note": options.note}
        if is_snooze:
            said["until"] = format_time(_find_end(options, read_clock()))
        path = name_path("incidents", options.incident, options.action)
        incident = ask_service(options, "POST", path, said)
    else:
        with open_writer(options) as monitor:
            until = {"until": _find_end(options, monitor.clock())} if is_snooze else {}
            act = getattr(monitor, options.action)
            incident = act(options.incident, note=options.note, actor=ACTOR, **until).to_dict()
    print_result(options, incident, describe_incident(incident))
    return 0


def _find_end(options: Namespace, now: int) -> datetime:
    end: datetime = options.until or to_datetime(now + options.length)
    if end <= to_datetime(now):
        raise UsageError(
            f"expected a time to come, found {format_time(end)}",
            hint="write --for 4h, or a later time",
            code="usage",
        )
    return end

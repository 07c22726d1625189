"""`rankscope monitor bots`: users who are unlike people, and those who are left out."""

from __future__ import annotations

from rankscope.cli.output import print_json
from rankscope.monitor.commands.store import (
    ACTOR,
    SERVICE,
    add_store_arguments,
    ask_service,
    is_service,
    open_reader,
    open_writer,
    read_word,
)
from rankscope.output.table import Table
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

    from rankscope.cli.parser import Parser

CHANGES = ("leave_out", "take_back")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_store_arguments(parser, run, is_timed=True, more=SERVICE)
    parser.description = (
        "List users whose rate or pattern is unlike people, and what is odd about each. You decide "
        "whether to leave them out: then their rankings count in no value, baseline or rule, and "
        "all values are recomputed. Taking them back undoes it."
    )
    parser.add_argument(
        "--days",
        type=int,
        default=7,
        metavar="N",
        help="read the rankings of the last N days, at most 31 (default: 7)",
    )
    for name, text in (
        ("--leave-out", "leave out this user and recompute"),
        ("--take-back", "count this user again and recompute"),
    ):
        parser.add_argument(
            name, action="append", type=read_word, default=[], metavar="ID", help=text
        )
    parser.add_examples(
        "rankscope monitor bots music.db",
        "rankscope monitor bots music.db --leave-out crawler-1 --leave-out crawler-2",
    )


def run(options: Namespace) -> int:
    """Print the users, or change who is left out."""
    changed = {name: getattr(options, name) for name in CHANGES if getattr(options, name)}
    if changed:
        _print_left_out(_change(options, changed), options)
        return 0
    if is_service(options.store):
        said = ask_service(options, "GET", f"/v1/bots?days={options.days}")
    else:
        with open_reader(options) as monitor:
            said = monitor.find_bots(options.days).to_dict()
    if options.json:
        print_json(said)
        return 0
    rows = [
        (each["user_id"], each["rankings"], "yes" if each["is_left_out"] else "no", fact)
        for each in said["found"]
        for fact in each["facts"] or ("",)
    ]
    names = ("user", "rankings", "left out", "what is odd")
    shown = f"{said['users']:,} users with {said['rankings']:,} rankings since {said['since'][:10]}"
    if rows:
        print(Table({name: [row[at] for row in rows] for at, name in enumerate(names)}))
        more = f"; {said['more']:,} more aren't listed" if said["more"] else ""
        print(f"\nOf {shown}, {len({row[0] for row in rows}):,} are unlike people{more}.")
    else:
        print(f"Of {shown}, none is unlike people.")
    if said["left_out"]:
        print(f"Left out: {said['left_out']:,} users with {said['left_out_rankings']:,} rankings.")
    return 0


def _change(options: Namespace, changed: Mapping[str, list[str]]) -> list[str]:
    if is_service(options.store):
        answer: Mapping[str, Any] = ask_service(options, "POST", "/v1/left-out", dict(changed))
        return list(answer["left_out"])
    with open_writer(options) as monitor:
        monitor.leave_out(
            changed.get("leave_out", ()), take_back=changed.get("take_back", ()), actor=ACTOR
        )
        return list(monitor.configuration.definition.left_out)


def _print_left_out(users: list[str], options: Namespace) -> None:
    if options.json:
        print_json({"left_out": users})
        return
    print(f"{len(users):,} users are left out; the next evaluation recomputes all values")
    for user in users:
        print(show(user))

"""The table of commands: the name of each, what it does, and the function that adds its arguments.

A new command is a function in a module `command` of its feature, and a row here. The function adds
the arguments to a parser, and sets the default `run` to a function that takes the parsed options
and returns the exit status. A module is imported only when its command is used, so that each
command starts as fast as it can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from rankscope import __version__
from rankscope._cli.parser import Parser


class Command(NamedTuple):
    """A command: what it does, in one sentence, and the function that adds its arguments.

    The function is written as its module in `rankscope` and its name (default: `add_arguments`),
    such as `monitor.commands.rule:add_list` or `_evaluate.command`.
    """

    summary: str
    function: str

    def add_arguments(self, parser: Parser) -> None:
        """Add the arguments of the command to a parser."""
        module, _, name = self.function.partition(":")
        getattr(import_module(f"rankscope.{module}"), name or "add_arguments")(parser)


class Group(NamedTuple):
    """Commands that share a first word: what they are for, and the commands by name."""

    summary: str
    commands: Mapping[str, Command | Group]


def _list_commands(module: str, prefix: str = "add_", **summaries: str) -> dict[str, Command]:
    """Return commands of a module of the monitor, whose functions have a prefix and their name."""
    return {
        name.replace("_", "-"): Command(summary, f"monitor.commands.{module}:{prefix}{name}")
        for name, summary in summaries.items()
    }


RULE = Group(
    "Manage alert rules.",
    _list_commands(
        "rule",
        list="List the alert rules.",
        add="Create a rule, or replace the rule with the same name.",
        remove="Delete a rule. Its incidents are resolved, and kept.",
        silence="Pause the notifications of a rule. Its state is still updated.",
        resolve="Resolve all incidents of a rule and start fresh.",
    ),
)
INCIDENT = Group(
    "Acknowledge, snooze or resolve an incident.",
    _list_commands(
        "incidents",
        acknowledge="Acknowledge an incident. No more reminders are sent.",
        snooze="Send no notifications of an incident for some time.",
        resolve="Resolve an incident, and discard the evidence of its slice.",
    ),
)
WEBHOOK = Group(
    "Manage the webhook that receives notifications.",
    _list_commands(
        "channel",
        "add_webhook_",
        set="Set the webhook, and print its signing secret once.",
        show="Show where notifications are sent.",
        test="Send a test notification. The exit status is 1 if it is not accepted.",
        remove="Remove the webhook. Notifications are then only written to the log.",
    ),
)
CHANNEL = Group(
    "Test the channels of notifications.",
    _list_commands(
        "channel",
        test="Send a test message to a channel. The exit status is 1 if it is not accepted.",
    ),
)
KEY = Group(
    "Manage the API keys of the service.",
    _list_commands(
        "key",
        make="Create an API key, and print it once.",
        list="List the API keys, including revoked ones.",
        rotate="Replace an API key, which goes on for a while.",
        revoke="Revoke an API key.",
    ),
)
PEOPLE = Group(
    "Manage accounts and roles of people.",
    _list_commands(
        "people",
        add="Add a person, and print a link that sets a password.",
        list="List people and groups with their roles.",
        role="Set or remove the role of a person or a group.",
        disable="Disable an account.",
        reset_password="Print a link that sets a new password.",  # noqa: S106 - what the command does
    ),
)
MONITOR = Group(
    "Monitor rankings in production: store events, evaluate them, alert, and find causes.",
    {
        "configure": Command("Set up what a project measures.", "monitor.commands.configure"),
        **_list_commands(
            "setup",
            plan="Show what would change to make projects as files say.",
            apply="Make projects as files say, all of them or none.",
            configuration="Print projects as a file that apply reads.",
        ),
        **_list_commands(
            "events",
            ingest="Store rankings from files.",
            label="Store labels from files.",
        ),
        **_list_commands(
            "status",
            evaluate="Compute windows and baselines, and check alerts.",
            status="Show the newest values next to the baseline.",
            check="Check the alert rules. The exit status is 1 if one fails.",
        ),
        **_list_commands(
            "causes",
            trace="Find out why a measure dropped.",
            explain="Show how the value of one logged ranking is computed.",
        ),
        "compare": Command(
            "Compare two versions that serve at the same time.", "monitor.commands.compare"
        ),
        "rule": RULE,
        "incidents": Command("List incidents.", "monitor.commands.incidents:add_list"),
        "incident": INCIDENT,
        "webhook": WEBHOOK,
        "channels": Command(
            "List the channels of notifications, and how their last deliveries went.",
            "monitor.commands.channel:add_list",
        ),
        "channel": CHANNEL,
        "key": KEY,
        "people": PEOPLE,
        **_list_commands("people", audit="Show who changed what, and who signed in."),
        **_list_commands(
            "backups",
            backup="Back up a store to a folder or a bucket, even while it is in use.",
            restore="Restore a backup as a new store, and verify its values.",
            upgrade="Bring the tables of a store to this release.",
        ),
        **_list_commands(
            "maintenance",
            export="Export the events to Parquet files.",
            delete="Delete the rankings of a user, or others, with their labels.",
            retain="Delete old events. The values computed from them are kept.",
            doctor="Check a store, its events and its values for problems.",
        ),
    },
)

COMMANDS = Group(
    "Evaluate and monitor rankings with nDCG, MAP, MRR and other measures.",
    {
        "eval": Command("Evaluate one or more runs against judgments.", "_evaluate.command"),
        "diff": Command(
            "Compare two runs: which queries and documents make the difference.",
            "_diff.command",
        ),
        "compare": Command(
            "Compare runs: which is better, by how much, and how sure is it.", "_compare.command"
        ),
        "leaderboard": Command(
            "Rank many runs by many measures in one table, with groups and tests.",
            "_compare.leaderboard.command",
        ),
        "gate": Command(
            "Check that a candidate stays within its budgets. The exit status is 1 if it doesn't.",
            "_compare.gate.command",
        ),
        "agreement": Command("Measure how far two runs agree, without judgments.", "_agreement"),
        "fuse": Command("Fuse the runs of several systems into one.", "_fuse.command"),
        "judges": Command(
            "Measure how well judges agree, or evaluate with few human and many model judgments.",
            "judges.command",
        ),
        "explain": Command("Show how one value is computed, step by step.", "_explain.command"),
        "measures": Command("List the measures, or describe one.", "_cli.measures"),
        "conventions": Command(
            "List how libraries compute their measures, or compare their values on your data.",
            "_reconcile.command",
        ),
        "power": Command(
            "Show which difference two runs can detect, and how many queries an effect needs.",
            "_compare.power",
        ),
        "sql": Command("Write measures as SQL, to compute them in a warehouse.", "sql.command"),
        "report": Command(
            "Write an HTML report about one or more runs.", "_compare.report.command"
        ),
        "trec_eval": Command(
            "Evaluate a run with the arguments and the output of trec_eval.", "_trec_eval.command"
        ),
        "monitor": MONITOR,
        "serve": Command(
            "Serve the HTTP API and the dashboard of a store.", "monitor.commands.serve"
        ),
        "demo": Command(
            "Run a demo: simulate a bad release, detect it, trace the cause, and open the "
            "dashboard.",
            "_demo.options",
        ),
    },
)


def make_parser(words: Sequence[str]) -> tuple[Parser, Parser]:
    """Make the parser of a command line; only the command it names gets its arguments."""
    parser = Parser(prog="rankscope", description=COMMANDS.summary)
    parser.add_argument("--version", action="version", version=f"rankscope {__version__}")
    return parser, _add_commands(parser, COMMANDS, words)


def _add_commands(parser: Parser, group: Group, words: Sequence[str]) -> Parser:
    # Without the name, argparse formats a usage line to find it, which takes longer than all else.
    added = parser.add_subparsers(
        title="Commands", metavar="COMMAND", required=True, prog=parser.prog
    )
    at = next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))
    word = words[at] if at < len(words) else ""
    # The others only matter to the help, and to suggest what a misspelled one means.
    names = [word] if at == 0 and word in group.commands else [*group.commands]
    chosen = parser
    for name in names:
        command = group.commands[name]
        child = added.add_parser(name, help=command.summary, description=command.summary)
        if name != word:
            continue
        chosen = child
        if isinstance(command, Group):
            chosen = _add_commands(child, command, words[at + 1 :])
        else:
            command.add_arguments(child)
    return chosen

"""The table of commands: the name of each, what it does, and the function that adds its arguments.

A new command is a function in a module `command` of its feature, and a row here. The function adds
the arguments to a parser, and sets the default `run` to a function that takes the parsed options
and returns the exit status. A module is imported only when its command is used, so that each
command starts as fast as it can.
"""

from __future__ import annotations

from importlib import import_module

from rankscope import __version__
from rankscope.cli.parser import Parser
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@record(frozen=True, slots=True)
class Command:
    """A command.

    Args:
        summary: What it does, in one sentence.
        function: The module in `rankscope` and the function that adds its arguments (default:
            `add_arguments`), such as `monitor.commands.rule:add_list` or `_evaluate.command`.
    """

    summary: str
    function: str

    def add_arguments(self, parser: Parser) -> None:
        """Add the arguments of the command to a parser."""
        module, _, name = self.function.partition(":")
        add: Callable[[Parser], None] = getattr(
            import_module(f"rankscope.{module}"), name or "add_arguments"
        )
        add(parser)


@record(frozen=True, slots=True)
class Group:
    """Commands that share a first word.

    Args:
        summary: What they are for, in one sentence.
        commands: The commands by name.
    """

    summary: str
    commands: Mapping[str, Command | Group]


def _list_commands(module: str, **summaries: str) -> dict[str, Command]:
    """Return commands whose functions in a module are called `add_` and their name."""
    return {name: Command(text, f"{module}:add_{name}") for name, text in summaries.items()}


RULE = Group(
    "Manage alert rules.",
    _list_commands(
        "monitor.commands.rule",
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
        "monitor.commands.incidents",
        acknowledge="Acknowledge an incident. No more reminders are sent.",
        snooze="Send no notifications of an incident for some time.",
        resolve="Resolve an incident, and discard the evidence of its slice.",
    ),
)
WEBHOOK = Group(
    "Manage the webhook that receives notifications.",
    {
        "set": Command(
            "Set the webhook, and print its signing secret once.",
            "monitor.commands.channel:add_webhook_set",
        ),
        "show": Command(
            "Show where notifications are sent.", "monitor.commands.channel:add_webhook_show"
        ),
        "test": Command(
            "Send a test notification. The exit status is 1 if it is not accepted.",
            "monitor.commands.channel:add_webhook_test",
        ),
        "remove": Command(
            "Remove the webhook. Notifications are then only written to the log.",
            "monitor.commands.channel:add_webhook_remove",
        ),
    },
)
CHANNEL = Group(
    "Test the channels of notifications.",
    _list_commands(
        "monitor.commands.channel",
        test="Send a test message to a channel. The exit status is 1 if it is not accepted.",
    ),
)
KEY = Group(
    "Manage the API keys of the service.",
    _list_commands(
        "monitor.commands.key",
        make="Create an API key, and print it once.",
        list="List the API keys, including revoked ones.",
        rotate="Replace an API key, which goes on for a while.",
        revoke="Revoke an API key.",
    ),
)
PEOPLE = Group(
    "Manage accounts and roles of people.",
    {
        **_list_commands(
            "monitor.commands.people",
            add="Add a person, and print a link that sets a password.",
            list="List people and groups with their roles.",
            role="Set or remove the role of a person or a group.",
            disable="Disable an account.",
        ),
        "reset-password": Command(
            "Print a link that sets a new password.",
            "monitor.commands.people:add_reset_password",
        ),
    },
)
MONITOR = Group(
    "Monitor rankings in production: store events, evaluate them, alert, and find causes.",
    {
        "configure": Command("Set up what a project measures.", "monitor.commands.configure"),
        **_list_commands(
            "monitor.commands.setup",
            plan="Show what would change to make projects as files say.",
            apply="Make projects as files say, all of them or none.",
            configuration="Print projects as a file that apply reads.",
        ),
        **_list_commands(
            "monitor.commands.events",
            ingest="Store rankings from files.",
            label="Store labels from files.",
        ),
        **_list_commands(
            "monitor.commands.status",
            evaluate="Compute windows and baselines, and check alerts.",
            status="Show the newest values next to the baseline.",
        ),
        "trace": Command("Find out why a measure dropped.", "monitor.commands.causes:add_trace"),
        "compare": Command(
            "Compare two versions that serve at the same time.", "monitor.commands.compare"
        ),
        "explain": Command(
            "Show how the value of one logged ranking is computed.",
            "monitor.commands.causes:add_explain",
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
        "check": Command(
            "Check the alert rules. The exit status is 1 if one fails.",
            "monitor.commands.status:add_check",
        ),
        "key": KEY,
        "people": PEOPLE,
        "audit": Command(
            "Show who changed what, and who signed in.", "monitor.commands.people:add_audit"
        ),
        **_list_commands(
            "monitor.commands.backups",
            backup="Back up a store to a folder or a bucket, even while it is in use.",
            restore="Restore a backup as a new store, and verify its values.",
            upgrade="Bring the tables of a store to this release.",
        ),
        **_list_commands(
            "monitor.commands.maintenance",
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
            "difference.command",
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
        "agreement": Command(
            "Measure how far two runs agree, without judgments.", "agreement.command"
        ),
        "fuse": Command("Fuse the runs of several systems into one.", "fusion.command"),
        "judges": Command(
            "Measure how well judges agree, or evaluate with few human and many model judgments.",
            "judges.command",
        ),
        "explain": Command("Show how one value is computed, step by step.", "derivation.command"),
        "measures": Command("List the measures, or describe one.", "cli.measures"),
        "conventions": Command(
            "List how libraries compute their measures, or compare their values on your data.",
            "reconciliation.command",
        ),
        "power": Command(
            "Show which difference two runs can detect, and how many queries an effect needs.",
            "_compare.power.command",
        ),
        "sql": Command(
            "Write measures as SQL, to compute them in a warehouse.", "warehouse.command"
        ),
        "report": Command(
            "Write an HTML report about one or more runs.", "_compare.report.command"
        ),
        "trec_eval": Command(
            "Evaluate a run with the arguments and the output of trec_eval.", "trec_eval.command"
        ),
        "monitor": MONITOR,
        "serve": Command(
            "Serve the HTTP API and the dashboard of a store.", "monitor.commands.serve"
        ),
        "demo": Command(
            "Run a demo: simulate a bad release, detect it, trace the cause, and open the "
            "dashboard.",
            "demo.commands.options",
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
    # The others only matter to the help, and to suggest what a misspelled one means.
    chosen = group.commands.keys() & words[at : at + 1] if at == 0 else ()
    named = parser
    for name in chosen or group.commands:
        command = group.commands[name]
        child = added.add_parser(name, help=command.summary, description=command.summary)
        if name not in words[at : at + 1]:
            continue
        named = child
        if isinstance(command, Group):
            named = _add_commands(child, command, words[at + 1 :])
        else:
            command.add_arguments(child)
    return named

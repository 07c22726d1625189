"""Fills in what the package knows.

A line `<!-- table: names trec_eval -->` becomes a table, a line `<!-- source: module.name -->` the
source of a class or function.
"""

from __future__ import annotations

import re
import runpy
import time
from importlib import import_module
from inspect import getsource
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rankscope.cli.arguments import Parser
from rankscope.data.diagnostics import SENTENCES
from rankscope.measures.compat import translations
from rankscope.monitor.aliases import ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.events import Item, Label, Ranking
from rankscope.monitor.server.app import Service
from rankscope.monitor.server.settings import Settings
from rankscope.monitor.times import read_clock

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page
    from rankscope.measures.compat import Tool
    from rankscope.monitor.store.protocol import Store

PLACE = re.compile(r"^<!-- table: (?P<what>\w+) ?(?P<which>\w*) -->$", re.MULTILINE)
TESTS = Path(__file__).resolve().parents[2] / "tests"
DIVERGENCES = TESTS / "parity" / "divergences.py"
DEFECTS = TESTS / "defects" / "defects.py"
SOURCE = re.compile(r"^<!-- source: (?P<module>[\w.]+)\.(?P<name>\w+) -->$", re.MULTILINE)
FIELD = re.compile(r"{(\w+)}")
ENDING = re.compile(r":\w+}")
ARGUMENT = re.compile(r"^ {8}(\w+): (.+(?:\n {12}.+)*)", re.MULTILINE)
EVENTS = {
    "ranking": (Ranking, RANKING_NAMES),
    "item": (Item, ITEM_NAMES),
    "label": (Label, LABEL_NAMES),
}
BESIDES = {
    "features": "More attributes, as they are named in some logs.",
    "tags": "Likewise.",
    "labels": "What had happened to it when it was logged, such as `click`.",
    "time": "When it was shown, in RFC 3339 or in milliseconds since 1970.",
    "attributes": 'Names and values, such as `{"country": "de", "device": "tv"}`.',
}
"""What is said of fields that records do not have, or have otherwise than JSON."""


def write_names(tool: Tool) -> str:
    """What a tool calls the measures, what they are here, and how they differ."""
    lines = [f"| `{line.theirs}` | `{line.ours}` | {line.note} |" for line in translations(tool)]
    return "\n".join(["| there | here | how theirs differs |", "| --- | --- | --- |", *lines])


def write_diagnostics() -> str:
    """What each code of the diagnostics says; a field in it is shown as the word it stands for."""
    lines = [
        f"| `{code}` | {FIELD.sub(shown_field, sentence)} |" for code, sentence in SENTENCES.items()
    ]
    return "\n".join(["| code | says |", "| --- | --- |", *lines])


def shown_field(field: re.Match[str]) -> str:
    """A field of a sentence as the word that it stands for."""
    return f"*{field[1]}*"


def write_divergences(tool: str) -> str:
    """Where the number of a tool is another one, as the tests know it: a list of sentences."""
    lines = []
    for each in runpy.run_path(str(DIVERGENCES))["DIVERGENCES"]:
        if each.tool == tool:
            ours, theirs = show(each.ours), show(each.theirs)
            if ours == theirs:  # in the places that are shown
                ours, theirs = str(each.ours), str(each.theirs)
            case = each.condition[:1].upper() + each.condition[1:]
            values = f"`{each.measure}` is {ours} here, {theirs} there"
            lines.append(f"- **{case}**: {values}. {each.why}")
    return "\n".join(lines)


def write_defects() -> str:
    """Return the defects in other tools, with the tests that rankscope does not have them."""
    parts = []
    for about, defects in runpy.run_path(str(DEFECTS))["DEFECTS"].items():
        parts.append(f"## {about}")
        for defect in defects:
            tests = ", ".join(f"`{test}`" for test in defect.tests)
            parts.append(
                f"**{defect.tool}**\n:   {defect.there}\n\n"
                f"    *rankscope:* {defect.here}\n\n    *Tests:* {tests}"
            )
    return "\n\n".join(parts)


def show(value: float | str) -> str:
    """A value with four places, or the name of an error."""
    return value if isinstance(value, str) else f"{value:.4f}"


def write_fields(event: str) -> str:
    """The fields of an event: what they mean, and the names that they may have in a log."""
    kind, names = EVENTS[event]
    said = {name: re.sub(r"\s+", " ", text) for name, text in ARGUMENT.findall(kind.__doc__ or "")}
    if event == "label":
        said["time"] = "When it happened, likewise."
    else:
        said = said | BESIDES
    lines = []
    for role, (_, *others) in names.items():
        known = ", ".join(f"`{name}`" for name in others)
        lines.append(f"| `{role}` | {said[role]} | {known} |")
    return "\n".join(["| field | means | other names |", "| --- | --- | --- |", *lines])


def write_routes() -> str:
    """The routes of the service for programs and people, with what a key needs for each."""
    shown = ("api", "page", "form")
    # Nothing is asked of them, so that they need no store.
    service = Service(cast("Store", None), Settings(), time.monotonic, read_clock)
    rows = [
        (ENDING.sub("}", one.path), one.method, one.scope or "", one.summary)
        for one in service.endpoints
        if one.kind in shown
    ]
    lines = [
        f"| `{method} {path}` | {scope and f'`{scope}`'} | {summary} |"
        for path, method, scope, summary in rows
    ]
    return "\n".join(["| route | scope | |", "| --- | --- | --- |", *lines])


def write_options(command: str) -> str:
    """The options of a command, as its parser knows them."""
    parser = Parser()
    import_module(f"rankscope.cli.{command}").add_arguments(parser)
    lines = []
    for option in parser._actions:  # noqa: SLF001 - argparse has no public list
        if option.option_strings and "--help" not in option.option_strings:
            named = option.metavar or ""
            values = " ".join(named) if isinstance(named, tuple) else named
            values = " \\| ".join(option.choices or filter(None, [values]))
            name = " ".join([option.option_strings[-1], values]).strip()
            lines.append(f"| <code>{name}</code> | {option.help} |")
    return "\n".join(["| option | means |", "| --- | --- |", *lines])


def write_table(what: str, which: str) -> str:
    """The table that a place asks for."""
    match what, which:
        case "names", "trec_eval" | "ir_measures" | "ranx" | "sklearn":
            return write_names(which)
        case "divergences", tool:
            return write_divergences(tool)
        case "options", command:
            return write_options(command)
        case "routes", "":
            return write_routes()
        case "fields", event:
            return write_fields(event)
        case "defects", "":
            return write_defects()
        case "diagnostics", "":
            return write_diagnostics()
    message = f"expected a table that the package has, found {what} {which}"
    raise ValueError(message)


def write_source(module: str, name: str) -> str:
    """The source of a class or function."""
    return f"```py\n{getsource(getattr(import_module(module), name)).rstrip()}\n```"


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs passes them by name
    """Put tables and sources in their places."""
    filled = PLACE.sub(lambda match: write_table(match["what"], match["which"]), markdown)
    return SOURCE.sub(lambda match: write_source(match["module"], match["name"]), filled)

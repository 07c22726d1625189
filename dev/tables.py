"""Write the tables of the pages from the package: `python -m dev.tables`, part of `make format`.

What lies between `<!-- table: names trec_eval -->` and `<!-- end -->` is a table, and what lies
between `<!-- source: module.name -->` and `<!-- end -->` is the source of a class or function. The
end is added to a new comment.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
import tomllib
from collections import Counter
from importlib import import_module
from inspect import getsource
from pathlib import Path
from typing import TYPE_CHECKING, cast

import yaml
from rankscope._cli.commands import COMMANDS
from rankscope._cli.parser import Parser, describe_argument
from rankscope._core import POLICY, SHARES
from rankscope._file import FORMATS
from rankscope._inputs.column_names import SYNONYMS
from rankscope._show.diagnostics import SENTENCES
from rankscope._trec_eval.columns import find_gains, make_measures
from rankscope._trec_eval.requests import Options, read_requests
from rankscope.measures import OBJECTS, parse
from rankscope.measures.compat import translations
from rankscope.measures.other_names import OTHER_NAMES
from rankscope.monitor.events.event import Item, Label, Ranking
from rankscope.monitor.events.names import ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.rules.kinds import FIELDS as RULE_FIELDS
from rankscope.monitor.rules.kinds import KINDS as RULE_KINDS
from rankscope.monitor.server.app import Service
from rankscope.monitor.signals.kinds import SIGNALS

from dev import conventions

if TYPE_CHECKING:
    from rankscope._cli.commands import Command
    from rankscope.measures.compat import Tool
    from rankscope.monitor.store.store import Store

PLACE = re.compile(
    r"(?P<begin><!-- (?P<kind>table|source): (?P<what>[\w.]+) ?(?P<which>\w*) -->)"
    r"(?:(?:(?!<!-- ).)*<!-- end -->)?",
    re.DOTALL,
)
END = "<!-- end -->"
ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TESTS = ROOT / "tests"
SIMULATIONS = TESTS.parent / "dev" / "simulate" / "records"
DIVERGENCES = TESTS / "parity" / "divergences.py"
COUNTERPARTS = TESTS / "parity" / "counterparts.py"
KINDS = TESTS / "inputs" / "kinds.py"
EXTRAS = {
    "monitor": "the [monitor](monitoring.md), its service and `rankscope demo`",
    "people": "[accounts, roles and sign-in](people.md) for the service",
    "postgres": "a store in [PostgreSQL](choose-a-store.md#set-up-postgresql)",
    "telemetry": "[traces for OpenTelemetry](deploy.md#traces-for-opentelemetry)",
    "lake": "tables of [Delta Lake and Iceberg](inputs.md#delta-lake-and-apache-iceberg), and "
    "addresses of fsspec",
    "sql": "[SQL for a warehouse](sql.md)",
    "plot": "[plots](plots.md), and the [report](report.md) in one file",
    "spark": "evaluation on [Spark](integrations/spark.md)",
    "all": "every extra except {others}",
}
"""What each extra of the package is for, in the order of the page."""
PROJECT = TESTS.parent / "pyproject.toml"
ALERTS = TESTS.parent / "deploy" / "prometheus" / "rankscope.rules.yml"
SHARED = "shared"
SHARED_BY = 4
"""An option that so many commands share is explained once."""
FIELD = re.compile(r"{(\w+)(?::g)?}")
ENDING = re.compile(r":\w+}")
ARGUMENT = re.compile(r"^ {8}(\w+): (.+(?:\n {12}.+)*)", re.MULTILINE)
EVENTS = {
    "ranking": (Ranking, RANKING_NAMES),
    "item": (Item, ITEM_NAMES),
    "label": (Label, LABEL_NAMES),
}
BESIDES = {
    "features": "More attributes.",
    "tags": "More attributes.",
    "labels": "The labels that the document had when the event was logged, such as `click`.",
    "time": "When the ranking was shown: an RFC 3339 timestamp or milliseconds since 1970.",
    "attributes": 'Names and values, such as `{"country": "de", "device": "tv"}`.',
}
"""Descriptions of fields that the records don't have, or that JSON represents differently."""


PARAMETERS: dict[str, tuple[tuple[str, dict[str, int]], ...]] = {
    "trec_eval": (
        ("P.5,10", {}),
        ("iprec_at_recall.0.1", {}),
        ("ndcg.1=3,2=9", {}),
        ("set_F.2", {}),
        ("utility.1,-1,0,0 -N 1000", {"documents": 1000}),
        ("map -l 2", {"level": 2}),
    ),
}
"""Arguments of trec_eval with parameters, and what their options set."""
SPELLED = {
    "ir_measures": ("SDCG(dcg='log2', max_rel=3)@10", "nDCG(gains={0: 0, 1: 1, 2: 5})@10"),
    "ranx": ("map-l2", "precision@5-l2", "dcg@10-l2", "rbp.95"),
}
"""Names with parameters, whose meaning the tables of names show."""


def write_names(tool: Tool) -> str:
    """Return the names that a tool uses for measures, and how its values differ."""
    rows = [(line.theirs, line.ours, line.note) for line in translations(tool)]
    rows += [(text, str(parse(text)), "") for text in SPELLED.get(tool, ())]
    rows += [
        (text, translate_argument(text, **settings), "")
        for text, settings in PARAMETERS.get(tool, ())
    ]
    lines = [f"| `{theirs}` | {code(ours)} | {note} |" for theirs, ours, note in rows]
    return "\n".join(["| name | in rankscope | difference |", "| --- | --- | --- |", *lines])


def translate_argument(text: str, *, level: int = 1, documents: int = 0) -> str:
    """Return the measures of rankscope that an argument of `-m` stands for."""
    [request] = read_requests([text.partition(" ")[0]], "10")
    measures = make_measures(request, Options(level=level, documents=documents))
    if request.has_gains:
        gains = find_gains(request.pairs, [0.0])
        measures = [measure(gain=gains) for measure in measures]
    return " ".join(map(str, measures))


def code(names: str) -> str:
    """Return names of measures as code."""
    return f"`{names}`"


def write_meant(which: str) -> str:
    """Return the names of more libraries that are read, with what they mean.

    Args:
        which: `cwl_eval`, or `libraries` for all others.
    """
    lines = [
        f"| {other.libraries} | {', '.join(map(code, other.names))} | `{other.means}` "
        f"| {other.note} |"
        for other in OTHER_NAMES
        if other.means and (other.libraries == "cwl_eval") == (which == "cwl_eval")
    ]
    return write_libraries(["library", "name", "in rankscope", "difference"], lines, which)


def write_refused(which: str) -> str:
    """Return the names of more libraries that are refused, with what to use instead.

    Args:
        which: `cwl_eval`, or `libraries` for all others.
    """
    numbers = {"at": "10", **{letter: letter for letter in "kTrbchH"}}
    lines = [
        f"| {other.libraries} | {', '.join(map(code, other.names))} "
        f"| {other.instead.format(**numbers)} |"
        for other in OTHER_NAMES
        if other.instead and (other.libraries == "cwl_eval") == (which == "cwl_eval")
    ]
    return write_libraries(["library", "name", "use instead"], lines, which)


def write_libraries(head: list[str], lines: list[str], which: str) -> str:
    """Return a table of names, without the library if all are of one."""
    rows = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *sorted(lines)]
    return (
        "\n".join("|" + row.split("|", 2)[2] for row in rows)
        if which != "libraries"
        else ("\n".join(rows))
    )


def write_diagnostics() -> str:
    """Return the table of diagnostics: each code with its message."""
    shown = {
        code: FIELD.sub(shown_field, sentence).replace("|", "\\|")
        for code, sentence in SENTENCES.items()
    }
    lines = [f"| `{code}` | {sentence} |" for code, sentence in shown.items()]
    return "\n".join(["| code | message |", "| --- | --- |", *lines])


def write_measures() -> str:
    """Return the list of the objects of all measures."""
    *names, last = sorted(OBJECTS, key=str.lower)
    return f"{', '.join(f'`{name}`' for name in names)} and `{last}`."


def write_words(field: str) -> str:
    """Return the table of the values that a field of the policy can have."""
    lines = [
        f"| `{word}(0.1)` | {meaning} |" if word in SHARES else f"| `{word}` | {meaning} |"
        for word, meaning in POLICY[field].items()
    ]
    default = "This is the default for runs." if field == "ties" else "This is the default."
    lines[0] = f"{lines[0].removesuffix(' |')} {default} |"
    return "\n".join(["| value | meaning |", "| --- | --- |", *lines])


def shown_field(field: re.Match[str]) -> str:
    """Return a field of a message as an emphasized word."""
    return f"*{field[1]}*"


def write_divergences(tool: str) -> str:
    """Return the list of cases in which a tool computes another value, from the tests."""
    lines = []
    for each in runpy.run_path(str(DIVERGENCES))["DIVERGENCES"]:
        if each.tool == tool:
            ours, theirs = show(each.ours), show(each.theirs)
            if ours == theirs:  # after rounding
                ours, theirs = str(each.ours), str(each.theirs)
            case = each.condition[:1].upper() + each.condition[1:]
            values = f"`{each.measure}` is {ours} in rankscope, and {theirs} in {tool}"
            lines.append(f"- **{case}**: {values}. {each.why}")
    return "\n".join(lines)


def write_counterparts() -> str:
    """Return the measures of other libraries of recommenders, and how they differ."""
    tables: dict[str, list[str]] = {}
    for each in runpy.run_path(str(COUNTERPARTS))["COUNTERPARTS"]:
        head = [f"| {each.tool} | rankscope | difference |", "| --- | --- | --- |"]
        row = f"| `{each.theirs}` | `{each.ours}` | {each.differs or 'none'} |"
        tables.setdefault(each.tool, head).append(row)
    return "\n\n".join("\n".join(lines) for lines in tables.values())


def show(value: float | str) -> str:
    """Return a value with four decimal places, or the name of an error."""
    return value if isinstance(value, str) else f"{value:.4f}"


def write_fields(event: str) -> str:
    """Return the table of the fields of an event: meaning and accepted names."""
    kind, names = EVENTS[event]
    said = {name: re.sub(r"\s+", " ", text) for name, text in ARGUMENT.findall(kind.__doc__ or "")}
    if event == "label":
        said["time"] = "When the event happened: an RFC 3339 timestamp or milliseconds since 1970."
    else:
        said = said | BESIDES
    lines = []
    for role, (_, *others) in names.items():
        known = ", ".join(f"`{name}`" for name in others)
        lines.append(f"| `{role}` | {said[role]} | {known} |")
    return "\n".join(["| field | meaning | other names |", "| --- | --- | --- |", *lines])


def write_routes() -> str:
    """Return the table of the routes of the API, with the scope that each requires.

    A new page of the dashboard changes nothing there.
    """
    # The endpoints are only listed, so they need no store.
    service = Service(cast("Store", None))
    rows = [
        (ENDING.sub("}", one.path), one.method, one.scope or "", one.summary)
        for one in service.endpoints
        if one.kind == "api"
    ]
    lines = [
        f"| `{method} {path}` | {scope and f'`{scope}`'} | {summary} |"
        for path, method, scope, summary in rows
    ]
    return "\n".join(["| route | scope | what it does |", "| --- | --- | --- |", *lines])


def write_extras() -> str:
    """Return the table of the extras: what each is for, and what it installs."""
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    if unlike := EXTRAS.keys() ^ extras.keys():
        message = f"EXTRAS and pyproject.toml differ in {sorted(unlike)}"
        raise ValueError(message)
    others = sorted(extras.keys() - {"all"} - set(re.findall(r"\w+", extras["all"][0])))
    lines = []
    for name, purpose in EXTRAS.items():
        packages = [re.split(r"[\[>]", each)[0] for each in extras[name] if "rankscope" not in each]
        added = re.findall(r"rankscope\[(\w+)\]", " ".join(extras[name]))
        installs = ", ".join([*packages, *(f"those of `{each}`" for each in added)])
        for_what = purpose.format(others=" and ".join(f"`{each}`" for each in others))
        lines.append(f"| `{name}` | {for_what} | {installs or 'all of these'} |")
    return "\n".join(["| extra | for | installs |", "| --- | --- | --- |", *lines])


def write_alerts() -> str:
    """Return the table of the alerts that are shipped for Prometheus."""
    rules = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
    lines = []
    for rule in rules:
        condition = " ".join(rule["expr"].split()).replace("|", "\\|")
        lasting = rule.get("for", "")
        lines.append(
            f"| `{rule['alert']}` | {rule['labels']['severity']} | `{condition}` | {lasting} |"
        )
    head = ["| alert | severity | condition | for |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *lines])


def write_rules() -> str:
    """Return the table of the fields of alert rules, with the kinds that have them."""
    lines = []
    for field in RULE_FIELDS.values():
        if field.name == "name":
            continue
        kinds = "all" if field.kinds == tuple(RULE_KINDS) else ", ".join(field.kinds)
        default = field.setting.unset
        if not default and field.default not in {None, ()}:
            default = f"`{json.dumps(field.default)}`"
        text = field.setting.text.replace("|", "\\|")
        lines.append(f"| `{field.name}` | {kinds} | {default} | {text} |")
    return "\n".join(["| field | kinds | default | meaning |", "| --- | --- | --- | --- |", *lines])


def write_signals() -> str:
    """Return the table of the signals."""
    changes = {"rise": "rises", "fall": "falls", "both": "changes"}
    lines = []
    for signal in SIGNALS:
        text = " ".join(signal.says.split()).replace("|", "\\|")
        lines.append(
            f"| `{signal.name}` | {signal.label} | {signal.needs} "
            f"| {changes[signal.suspicious]} | {text} |"
        )
    head = "| signal | on the page | needs | may be wrong if it | meaning |"
    return "\n".join([head, "| --- | --- | --- | --- | --- |", *lines])


def list_options(command: str) -> dict[str, str]:
    """Return the options of a command, from its parser, each with its row of a table."""
    parser = Parser()
    cast("Command", COMMANDS.commands[command]).add_arguments(parser)
    options = {}
    for option in parser._actions:  # noqa: SLF001 - argparse has no public list
        if option.option_strings and "--help" not in option.option_strings:
            named = option.metavar or ""
            values = " ".join(named) if isinstance(named, tuple) else named
            values = values.replace("|", "\\|")
            name = " ".join([", ".join(option.option_strings), values]).strip()
            row = f"| <code>{name}</code> | {describe_argument(option)} |"
            options[option.option_strings[-1]] = row
    return options


def write_options(command: str) -> str:
    """Return the table of the options of a command, or of those that many commands share."""
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"<!-- table: options (\w+)", page)) - {SHARED}
    counts = Counter(row for name in commands for row in list_options(name).values())
    shared = [row for row in sorted(counts) if counts[row] >= SHARED_BY]
    options = {} if command == SHARED else list_options(command)
    own = [row for row in options.values() if row not in shared]
    rows = shared if command == SHARED else own
    names = ", ".join(f"`{name}`" for name, row in options.items() if row in shared)
    more = ["", f"And these [shared options](#shared-options): {names}."] if names else []
    return "\n".join(["| option | meaning |", "| --- | --- |", *rows, *more])


def write_columns() -> str:
    """Return the table of the names under which columns are found, by role."""
    lines = [
        f"| {role} | {', '.join(f'`{name}`' for name in names)} |"
        for role, names in SYNONYMS.items()
    ]
    return "\n".join(["| role | names |", "| --- | --- |", *lines])


def write_formats() -> str:
    """Return the table of the formats of files."""
    lines = []
    for row in sorted(FORMATS.values(), key=lambda row: not row.endings):
        if row.has_tables:
            endings = ", ".join(f"`{ending}`" for ending in row.endings) or "anything else"
            lines.append(f"| {endings} | {row.description} |")
    return "\n".join(["| extension | format |", "| --- | --- |", *lines])


def write_simulations() -> str:
    """Return the tables of the newest record of simulated quarters."""
    text = max(SIMULATIONS.glob("*.md")).read_text(encoding="utf-8")
    return re.sub(r"^## ", "### ", text[text.index("\n## ") + 1 :], flags=re.MULTILINE)


def write_simulated(about: str) -> str:
    """Return the tables of the newest record of another simulation."""
    text = max((SIMULATIONS.parent / about / "records").glob("*.md")).read_text(encoding="utf-8")
    return re.sub(r"^## ", "### ", text[text.index("\n## ") + 1 :], flags=re.MULTILINE)


def write_version(package: str) -> str:
    """Return with which version of a library its integration is tested.

    Args:
        package: The name of the library on PyPI, with underscores, such as `scikit_learn`.
    """
    groups = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["dependency-groups"]
    pinned = {
        name.partition("[")[0]: version
        for name, version in (each.split("==") for each in groups["integrations"])
    }
    name = package.replace("_", "-")
    return f"Tested with {name} {pinned[name]}."


def write_kinds(place: str) -> str:
    """Return the table of what can be passed in a place, with the versions that tests run.

    Args:
        place: One of the places of `tests/inputs/kinds.py`.
    """
    groups = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["dependency-groups"]
    pinned = [each.split("==") for each in (*groups["dev"], *groups["integrations"])]
    versions = dict(pinned)
    lines = ["| what | library | read |", "| --- | --- | --- |"]
    for kind in runpy.run_path(str(KINDS))["KINDS"]:
        if kind.place == place:
            version = versions.get(kind.package, "")
            library = f"{kind.package} {version}".strip() or "Python"
            lines.append(f"| {kind.what} | {library} | {kind.read} |")
    return "\n".join(lines)


def write_table(what: str, which: str) -> str:
    """Return the table that a comment names."""
    plain = {
        "alerts": write_alerts,
        "extras": write_extras,
        "routes": write_routes,
        "rules": write_rules,
        "signals": write_signals,
        "columns": write_columns,
        "diagnostics": write_diagnostics,
        "measures": write_measures,
        "formats": write_formats,
        "simulations": write_simulations,
        "counterparts": write_counterparts,
        "conventions": conventions.write_table,
    }
    of_one = {
        "divergences": write_divergences,
        "options": write_options,
        "fields": write_fields,
        "meant": write_meant,
        "refused": write_refused,
        "policy": write_words,
        "version": write_version,
        "simulated": write_simulated,
    }
    match what, which:
        case name, "" if name in plain:
            return plain[name]()
        case "conventions", "rows":
            return conventions.write_rows()
        case "names", "trec_eval" | "ir_measures" | "ranx" | "sklearn":
            return write_names(which)
        case "kinds", "lists" | "tables" | "arrays":
            return write_kinds(which)
        case name, one if name in of_one:
            return of_one[name](one)
    message = f"expected a table that the package has, found {what} {which}"
    raise ValueError(message)


def write_source(module: str, name: str) -> str:
    """Return the source of a class or function."""
    return f"```py\n{getsource(getattr(import_module(module), name)).rstrip()}\n```"


def fill_in(text: str) -> str:
    """Return the text of a page with its tables and sources as they are now."""
    return PLACE.sub(write_place, text)


def write_place(place: re.Match[str]) -> str:
    """Return a comment with what it names, and the end."""
    what, which = place["what"], place["which"]
    if place["kind"] == "table":
        written = write_table(what, which)
    else:
        module, _, name = what.rpartition(".")
        written = write_source(module, name)
    before, after = place.string[: place.start()], place.string[place.end() :]
    is_block = (not before or before.endswith("\n")) and (not after or after.startswith("\n"))
    gap = "\n\n" if is_block else ""
    return f"{place['begin']}{gap}{written.strip()}{gap}{END}"


def main() -> int:
    """Write the pages whose tables have changed."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (filled := fill_in(text)) != text:
            page.write_text(filled, encoding="utf-8")
            print(f"wrote the tables of {page.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

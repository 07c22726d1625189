"""`rankscope measures`: the table of measures, or one of them in full."""

from __future__ import annotations

from textwrap import fill

from rankscope.cli.formula import to_text
from rankscope.measures import TABLE, Measure, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rankscope.measures import Parameter, Row

WIDTH = 88


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="a measure by any of its names, such as ndcg_cut_10"
    )


def run(options: Namespace) -> int:
    """Print the table, or one measure."""
    if options.name is None:
        width = max(map(len, TABLE))
        for row in TABLE.values():
            print(f"{row.name:{width}}  {row.definition}")
    else:
        print(explain(parse(options.name)))
    return 0


def explain(measure: Measure) -> str:
    """Say all that the table knows of a measure."""
    row = measure.row
    low, high = row.value_range
    lines = [
        row.name,
        fill(row.definition, WIDTH),
        "",
        _item("formula", to_text(row.formula)),
        _item("range", f"{low:g} to {high:g}"),
        _item("undefined", row.undefined.removeprefix("Undefined ") or "never"),
        _item("over queries", MEANS[row.mean]),
        *(_item("parameter" if index == 0 else "", _say(each)) for index, each in _parameters(row)),
        *_names(row),
        *(_item("source" if index == 0 else "", text) for index, text in enumerate(row.references)),
        *_example(row),
    ]
    if measure.settings:
        lines.insert(1, f"{measure}: {_say_settings(measure)}")
    return "\n".join(lines)


MEANS = {"mean": "the arithmetic mean", "sum": "the sum", "geometric": "the geometric mean"}


def _item(label: str, text: str) -> str:
    indent = " " * 14
    return fill(f"{label:14}{text}", WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _parameters(row: Row) -> list[tuple[int, Parameter]]:
    return list(enumerate(row.parameters))


def _say(parameter: Parameter) -> str:
    given = "required" if parameter.required else f"{_plainly(parameter.default)} by default"
    return f"{parameter.name}: {parameter.meaning} ({parameter.domain}; {given})"


def _plainly(value: object) -> str:
    return "none" if value is None else repr(value)


def _say_settings(measure: Measure) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in measure.settings.items())


def _names(row: Row) -> list[str]:
    tools = {
        "also called": row.aliases,
        "trec_eval": tuple(name.text for name in row.trec_eval),
        "ir_measures": tuple(name.text for name in row.ir_measures),
        "ranx": tuple(name.text for name in row.ranx),
        "scikit-learn": tuple(name.text for name in row.sklearn),
    }
    return [_item(tool, ", ".join(names)) for tool, names in tools.items() if names]


def _example(row: Row) -> list[str]:
    example = row.example
    shown = " ".join("–" if grade is None else f"{grade:g}" for grade in example.ranking)
    others = " ".join(f"{grade:g}" for grade in example.not_retrieved)
    return [
        _item("example", f"grades in rank order: {shown} (– is unjudged)"),
        *([_item("", f"judged, but not retrieved: {others}")] if others else []),
        _item("", f"{example.measure} = {example.formula} = {example.value}"),
    ]

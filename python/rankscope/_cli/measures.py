"""`rankscope measures`: lists the measures, or describes one."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable
from textwrap import fill

from rankscope._cli.parser import Parser
from rankscope.measures import TABLE, Measure, Parameter, Row, parse

WIDTH = 88


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="the measure to describe, by its name here or in another tool, such as ndcg_cut_10",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Print the list of measures, or the description of one."""
    if options.name is None:
        width = max(map(len, TABLE))
        for row in TABLE.values():
            print(f"{row.name:{width}}  {row.summary}")
    else:
        print(describe(parse(options.name)))
    return 0


def describe(measure: Measure) -> str:
    """Return a description of a measure: definition, formula, parameters, names and an example."""
    row = measure.row
    low, high = row.value_range
    lines = [
        row.name,
        fill(row.definition, WIDTH),
        "",
        _item("formula", to_text(row.formula)),
        _item("range", f"{low:g} to {high:g}"),
        _item("undefined", row.undefined.removeprefix("Undefined ") or "never"),
        _item("over queries", MEANS[row.mean] if row.level == "query" else WHOLE_RUN),
        *_items("needs", row.needs),
        *_items("parameter", map(_describe_parameter, row.parameters)),
        *_names(row),
        *_items("source", row.references),
        *_example(row),
    ]
    if measure.settings:
        settings = ", ".join(f"{name} = {value!r}" for name, value in measure.settings.items())
        lines.insert(1, f"{measure}: {settings}")
    return "\n".join(lines)


WHOLE_RUN = "one value of all lists together"
MEANS = {"mean": "the arithmetic mean", "sum": "the sum", "geometric": "the geometric mean"}


def _item(label: str, text: str) -> str:
    indent = " " * 14
    return fill(f"{label:14}{text}", WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _items(label: str, texts: Iterable[str]) -> list[str]:
    return [_item(label if index == 0 else "", text) for index, text in enumerate(texts)]


def _describe_parameter(parameter: Parameter) -> str:
    value = "none" if parameter.default is None else repr(parameter.default)
    default = "required" if parameter.required else f"default: {value}"
    return f"{parameter.name}: {parameter.meaning} ({parameter.domain}; {default})"


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
    if example.recommended:
        return [_item("example", f"{example.measure} = {example.formula} = {example.value}")]
    shown = " ".join("–" if grade is None else f"{grade:g}" for grade in example.ranking)
    others = " ".join(f"{grade:g}" for grade in example.not_retrieved)
    strata = " ".join(stratum or "–" for stratum in example.strata)
    return [
        _item("example", f"grades in rank order: {shown} (– means unjudged)"),
        *([_item("", f"judged but not retrieved: {others}")] if others else []),
        *([_item("", f"strata of all: {strata}")] if strata else []),
        _item("", f"{example.measure} = {example.formula} = {example.value}"),
    ]


SYMBOLS = {
    r"\cdot": "·",
    r"\cap": "∩",
    r"\le": "≤",
    r"\ge": "≥",
    r"\beta": "β",
    r"\epsilon": "ε",
    r"\sum": "Σ",
    r"\prod": "Π",
    r"\lfloor": "⌊",
    r"\rfloor": "⌋",
    r"\{": "{",
    r"\}": "}",
    r"\alpha": "α",
    r"\ni": "∋",
    r"\quad": " ",
    r"\,": " ",
    "\\ ": " ",
}
SYMBOLS |= dict.fromkeys((r"\left", r"\right", r"\mathrm", r"\text", r"\textrm"), "")
SYMBOLS |= dict.fromkeys((r"\Bigl", r"\Bigr", r"\bigl", r"\bigr"), "")
POWERS = {"2": "²", "*": "*"}
SIGN = re.compile(r"\\[A-Za-z]+|\\.|[{}_^]|\s+|[^\\{}_^\s]+")

WHOLE = re.compile(r"[\w^]+|[^ ]*\([^()]*\)|\|[^|]*\||log\d +\([^()]*\)|[{].*[}]")
"""Terms that need no brackets in a quotient."""


def to_text(latex: str) -> str:
    r"""Return a formula as one line of text.

    Examples:
        >>> to_text(r"\mathrm{RBP@}k = (1 - p) \sum_{r=1}^{k} b_r\, p^{r-1}")
        'RBP@k = (1 - p) Σ(r=1…k) b_r p^(r-1)'
        >>> to_text(r"\frac{1}{\log_2 (r + 1)}")
        '1 / log2(r + 1)'
        >>> to_text(r"\max\Bigl(0, \frac{a}{\sqrt{|L|\, b}}\Bigr) \text{ if } a")
        'max(0, a / sqrt(|L| b)) if a'
    """
    signs = SIGN.findall(latex)
    signs.reverse()
    text = re.sub(r" +", " ", _read(signs)).strip()
    return re.sub(r"(?<=[({]) | (?=[)},])|(?<=log2) (?=\()", "", text)


def _read(signs: list[str]) -> str:
    """Read up to the brace that closes this group, or to the end."""
    text = ""
    while signs:
        sign = signs.pop()
        if sign == "}":
            break
        text += _read_one(sign, signs)
    return text


def _read_one(sign: str, signs: list[str]) -> str:
    if sign == "{":
        return _read(signs)
    if sign == r"\frac":
        above, below = _bracket(_argument(signs)), _bracket(_argument(signs))
        return f"{above} / {below}" if " " in above + below else f"{above}/{below}"
    if sign in {r"\sum", r"\prod"}:
        return SYMBOLS[sign] + _limits(signs)
    if sign == "_":
        below = _argument(signs)
        return f"_{below}" if re.fullmatch(r"\w+", below) else f"({below.strip()})"
    if sign == "^":
        power = _argument(signs)
        return POWERS.get(power, f"^({power})" if len(power) > 1 else f"^{power}")
    if sign == r"\sqrt":
        return f"sqrt({_argument(signs).strip()})"
    if sign == r"\log" and signs[-2:] and signs[-1] == "_":
        signs.pop()
        return f"log{_argument(signs)} "
    return SYMBOLS.get(sign, sign.removeprefix("\\"))


def _limits(signs: list[str]) -> str:
    """Read the limits of a sum."""
    low = high = ""
    while signs and signs[-1] in {"_", "^"}:
        if signs.pop() == "_":
            low = _argument(signs)
        else:
            high = f"…{_argument(signs)}"
    return f"({low}{high}) "


def _argument(signs: list[str]) -> str:
    """Read one group, or one character."""
    sign = signs.pop()
    if sign == "{":
        return _read(signs)
    if sign.startswith("\\"):
        return _read_one(sign, signs)
    if len(sign) > 1:
        signs.append(sign[1:])
    return sign[0]


def _bracket(text: str) -> str:
    """Put a sum or a product in brackets if it is part of a quotient."""
    text = text.strip()
    return text if WHOLE.fullmatch(text) else f"({text})"

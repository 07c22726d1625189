"""Makes a page for each measure, and their index, from the table of measures.

Every worked example is evaluated while the page is made; a value that is not the one in the table
stops the build.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from typing import TYPE_CHECKING

import rankscope as rs
from rankscope.measures import TABLE, spelling
from rankscope.measures.compat import TOOLS, translations
from rankscope.measures.spec import PROPERTIES
from rankscope.measures.table import FAMILIES
from rankscope.reference import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from rankscope.measures import Example, Parameter, Row

TITLES = {
    "gain": "Cumulated gain",
    "binary": "Relevant or not",
    "sets": "The list as a set",
    "judged": "Incomplete judgments",
    "cascade": "User models",
    "count": "Counts",
}
TOOL_NAMES = {"trec_eval": "trec_eval, pytrec_eval", "sklearn": "scikit-learn"}
MEANS = {
    "mean": "the arithmetic mean",
    "sum": "the sum",
    "geometric": "the geometric mean; values below 0.00001 are raised to it",
}
ABOUT = """\
A measure is written as in ir_measures: `nDCG@10`, `P(rel=2)@5`, `RBP(p=0.9)`. The names of
trec_eval and ranx are understood, too: [`ndcg_cut_10`, `recip_rank`, `mrr@10`](../coming-from.md).
In Python a measure is also an object: `nDCG @ 10`, `P(rel=2) @ 5`."""
ABOUT_TWINS = """\
The definition again, slow and readable; the tests compare the core with it, to the last bit.
[`query`](../how-numbers-are-computed.md#one-query) is a ranked list with its judgments."""
ABOUT_UNDEFINED = """\
[the policy](../how-numbers-are-computed.md#policies) `empty` says what counts there"""
# What the letters of the formulas mean: where a formula has the pattern, its page has the line.
SYMBOLS = (
    (r"g_r", r"g_r", "the grade of the document at rank $r$"),
    (r"g\^\{\*\}_r", r"g^{*}_r", "the $r$-th largest grade of the judged documents"),
    (r"G\(", r"G", "the [gain](../how-numbers-are-computed.md#gains) of a grade"),
    (r"d\(r\)", r"d(r)", "the [discount](../how-numbers-are-computed.md#discounts) of a rank"),
    (r"b_r", r"b_r", "1 where the document at rank $r$ is relevant, 0 elsewhere"),
    (r"\{R\}|(?<![\w{])R(?![\w@])", r"R", "the number of judged documents that are relevant"),
    (r"\bN\b", r"N", "the number of documents judged not relevant"),
    (r"n_r", r"n_r", "the number of documents judged not relevant above rank $r$"),
    (r"m_r", r"m_r", "the number of relevant documents above rank $r$"),
    (r"p_r", r"p_r", "the number of documents above rank $r$ that are judged or below grade 0"),
    (r"\\epsilon", r"\epsilon", "0.00001"),
    (r"\\beta", r"\beta", "the parameter `beta`"),
    (r"\bp\^", r"p", "the parameter `p`"),
    (r"g_\{\\max\}", r"g_{\max}", "the parameter `max_grade`"),
)


def address(row: Row) -> str:
    """Where the page of a measure is, below `docs`."""
    return f"measures/{row.name.lower()}.md"


def pages() -> dict[str, str]:
    """The Markdown of every page, by its address."""
    return {"measures/index.md": write_index()} | {
        address(row): write_page(row) for row in TABLE.values()
    }


def title_of(family: ModuleType) -> str:
    """What a family is called."""
    name = family.__name__.rpartition(".")[2]
    return TITLES.get(name, name.capitalize())


def write_index() -> str:
    """The page that lists the measures by family."""
    parts = ["# Measures", ABOUT]
    for family in FAMILIES:
        about = (inspect.getdoc(family) or "").partition("\n")[0]
        rows = [(f"[{row.name}]({row.name.lower()}.md)", row.definition) for row in family.ROWS]
        parts += [f"## {title_of(family)}", about, table(("measure", "value for one query"), rows)]
    return "\n\n".join(parts) + "\n"


def write_page(row: Row) -> str:
    """The page of a measure."""
    formulas = row.formula.split(r", \quad ")
    parts = [f"# {row.name}", row.definition, *(f"$$\n{each}\n$$" for each in formulas)]
    found = [each for each in SYMBOLS if re.search(each[0], row.formula)]
    parts.append("\n".join(f"- ${symbol}$: {meaning}" for _, symbol, meaning in found))
    parts.append("\n\n".join(f"**{label}**\n:   {text}" for label, text in facts(row)))
    if row.parameters:
        parts += ["## Parameters", write_parameters(row)]
    parts += ["## Example", write_example(row)]
    names = write_names(row)
    if names:
        parts += ["## In other tools", names]
    if row.properties:
        sentences = [f"- {PROPERTIES[name]}" for name in PROPERTIES if name in row.properties]
        parts += ["## Properties", "With the default parameters:", "\n".join(sentences)]
    parts += [
        "## In plain Python",
        ABOUT_TWINS,
        f"```py\n{source_of(KERNELS[row.kernel])}\n```",
        "## References",
        "\n".join(f"- {reference}" for reference in row.references),
    ]
    return "\n\n".join(parts) + "\n"


def facts(row: Row) -> Iterator[tuple[str, str]]:
    """What is known of a measure besides its formula."""
    low, high = row.value_range
    yield "Range", f"{low:g}, always" if low == high else f"{low:g} to {bound(high)}"
    undefined = row.undefined.removeprefix("Undefined ").rstrip(".")
    yield "Undefined", f"{undefined}; {ABOUT_UNDEFINED}" if undefined else "never"
    yield "Over queries", MEANS[row.mean]
    if row.aliases:
        yield "Also called", ", ".join(f"`{alias}`" for alias in row.aliases)


def bound(value: float) -> str:
    """A bound in words where it has no digits."""
    return "any size" if math.isinf(value) else f"{value:g}"


def write_parameters(row: Row) -> str:
    """The table of parameters."""
    header = ("parameter", "meaning", "values", "default")
    lines = [
        (f"`{each.name}`", each.meaning, str(each.domain), default(each)) for each in row.parameters
    ]
    text = table(header, lines)
    if row.at:
        example = row.example.measure if "@" in row.example.measure else f"{row.name}@10"
        text += f"\n\n`@` sets `{row.at}`: `{example}`."
    return text


def default(parameter: Parameter) -> str:
    """The value that a parameter has when it is left out."""
    if parameter.required:
        return "must be given"
    if parameter.default is None:
        return "none"
    value = parameter.default
    shown = f'"{value}"' if isinstance(value, str) else spelling.literal(value)
    beside = ""
    if parameter.only_with:
        name, values = parameter.only_with
        beside = f"; only with {name} " + " or ".join(f"`{each}`" for each in values)
    return f"`{shown}`{beside}"


def write_example(row: Row) -> str:
    """The worked example: by hand, and evaluated."""
    example = row.example
    value = evaluate_example(row)
    shown = " ".join("–" if grade is None else f"{grade:g}" for grade in example.ranking)
    judged = " ".join(f"{grade:g}" for grade in example.not_retrieved)
    others = f" Judged, but not retrieved: {judged}." if judged else ""
    qrels, run = as_inputs(example)
    return (
        f"Grades in rank order: {shown}{' (– is unjudged)' * ('–' in shown)}.{others}\n\n"
        f"```text\n{example.measure} = {example.formula} = {example.value:g}\n```\n\n"
        f"```python\n>>> import rankscope as rs\n>>> qrels = {literal(qrels)}\n"
        f">>> run = {literal(run)}\n"
        f'>>> rs.evaluate(qrels, run, "{example.measure}")["{example.measure}"]\n{value!r}\n```'
    )


def literal(lists: dict[str, dict[str, float]]) -> str:
    """A dict of dicts as Python writes it, with double quotes."""
    return repr(lists).replace("'", '"')


def as_inputs(example: Example) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Judgments and a run that are the example."""
    depth = len(example.ranking)
    run = {f"d{rank}": float(depth + 1 - rank) for rank in range(1, depth + 1)}
    grades = dict(zip(run, example.ranking, strict=True))
    more = {f"d{depth + rank}": grade for rank, grade in enumerate(example.not_retrieved, start=1)}
    judged = {doc: grade for doc, grade in grades.items() if grade is not None} | more
    return {"q1": judged}, {"q1": run}


def evaluate_example(row: Row) -> float:
    """The value that the package gives for an example, which must be that of its formula."""
    example = row.example
    qrels, run = as_inputs(example)
    value = rs.evaluate(qrels, run, example.measure)[example.measure]
    names = {name: getattr(math, name) for name in ("exp", "log", "log2")} | {"max": max}
    by_hand = eval(example.formula, {"__builtins__": {}}, names)  # noqa: S307 - from our own table
    if not math.isclose(value, by_hand, rel_tol=1e-14) or round(value, 4) != example.value:
        message = (
            f"{example.measure}: expected {example.formula} = {by_hand!r}, "
            f"rounded {example.value}; found {value!r}"
        )
        raise ValueError(message)
    return value


def write_names(row: Row) -> str:
    """The table of what other tools call a measure."""
    rows = []
    for tool in TOOLS:
        for line in translations(tool):
            if rs.parse(line.ours).row is row:
                shown = TOOL_NAMES.get(tool, tool)
                rows.append((shown, f"`{line.theirs}`", f"`{line.ours}`", line.note))
    return table(("tool", "there", "here", "how theirs differs"), rows) if rows else ""


def source_of(twin: Callable[..., float]) -> str:
    """The source of a reference twin, and of what it calls in its module."""
    module = sys.modules[twin.__module__]
    found = [twin]
    for function in found:
        called = (getattr(module, name, None) for name in function.__code__.co_names)
        near = filter(inspect.isfunction, called)
        found += [each for each in near if each.__module__ == twin.__module__ and each not in found]
    return "\n\n\n".join(inspect.getsource(function).rstrip() for function in found)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name the pages in the navigation, by family."""
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Measures" in entry:
            entry["Measures"] += [
                {title_of(family): [{row.name: address(row)} for row in family.ROWS]}
                for family in FAMILIES
            ]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages to those that MkDocs found."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - the tests read pages without MkDocs

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files

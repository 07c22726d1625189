"""Write a page for each measure, and their index, from the table of measures.

Every worked example is evaluated during the build, which stops if the value differs from the table.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from typing import TYPE_CHECKING, cast

import rankscope as rs
from rankscope.measures import TABLE, domains
from rankscope.measures.compat import TOOLS, translations
from rankscope.measures.spec import PROPERTIES
from rankscope.measures.table import FAMILIES

from tests.reference import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from rankscope.measures import Example, Parameter, Row

TITLES = {
    "gain": "Cumulative gain",
    "binary": "Binary relevance",
    "sets": "Set measures",
    "judged": "Incomplete judgments",
    "sampled": "Sampled judgments",
    "cascade": "User models",
    "cwl": "The C/W/L framework",
    "expected_exposure": "Expected exposure",
    "agreement": "Agreement with the best order",
    "diversity": "Diversity",
    "auc": "Pairs in the right order",
    "items": "Recommended items",
    "exposure": "All recommendations together",
    "count": "Counts",
    "loss": "Losses",
}
TOOL_NAMES = {"trec_eval": "trec_eval, pytrec_eval", "sklearn": "scikit-learn"}
MEANS = {
    "mean": "arithmetic mean",
    "sum": "sum",
    "geometric": "geometric mean; values below 0.00001 count as 0.00001",
}
WHOLE_RUN = "one value of all lists together; no query has a value of its own"
NEEDS_OF = "[what is known of items](../evaluate-recommendations.md):"
ABOUT = """\
Measures are written as in ir_measures, for example `nDCG@10`, `P(rel=2)@5` or `RBP(p=0.9)`. You can
also use [the names of trec_eval and ranx](../coming-from.md), such as `ndcg_cut_10` or `mrr@10`.
In Python, measures are objects: `nDCG @ 10`, `P(rel=2) @ 5`.

If you aren't sure which measure to use, see [Choosing a measure](../choosing-a-measure.md)."""
ABOUT_TWINS = """\
The tests check that the Rust core returns the same values as this code, to the last bit.
[`query`](../how-numbers-are-computed.md#one-query) is a ranked list with its judgments."""
ABOUT_UNDEFINED = """\
see [the policy `empty`](../how-numbers-are-computed.md#empty)"""
# The symbols in formulas: a page explains each one whose pattern its formula matches.
SYMBOLS = (
    (r"g_r", r"g_r", "the grade of the document at rank $r$"),
    (r"g\^\{\*\}_r", r"g^{*}_r", "the $r$-th highest grade of the judged documents"),
    (r"G\(", r"G", "the [gain](../how-numbers-are-computed.md#gains) of a grade"),
    (r"d\(r\)", r"d(r)", "the [discount](../how-numbers-are-computed.md#discounts) of a rank"),
    (r"b_r", r"b_r", "1 if the document at rank $r$ is relevant, else 0"),
    (r"\{R\}|(?<![\w{])R(?![\w@])", r"R", "the number of relevant documents"),
    (r"\bN\b", r"N", "the number of documents judged not relevant"),
    (r"n_r", r"n_r", "the number of documents judged not relevant above rank $r$"),
    (r"m_r", r"m_r", "the number of relevant documents above rank $r$"),
    (r"p_r", r"p_r", "the number of documents above rank $r$ with a grade, even a negative one"),
    (r"\\epsilon", r"\epsilon", "0.00001"),
    (r"\\beta", r"\beta", "the parameter `beta`"),
    (r"\bp\^", r"p", "the parameter `p`"),
    (r"g_\{\\max\}", r"g_{\max}", "the parameter `max_grade`"),
    (r"\\alpha", r"\alpha", "the parameter `alpha`"),
    (r"\bT\b", r"T", "the parameter `T`"),
    (r"C_i", r"C_i", "the probability that the user continues from rank $i$ to the next"),
    (r"c_s\(", r"c_s(r)", "the number of documents down to rank $r$ that cover subtopic $s$"),
    (r"n\^\{\*\}_r", r"n^{*}_r", "the same as $n_r$ in the best order"),
    (r"\bS\b", r"S", "the number of subtopics that a judged document covers"),
    (
        r"\|C\|",
        r"C",
        "the ranks at which the gain of the ideal list falls, and the end of the list",
    ),
    (r"u_r", r"u_r", "the number of users who had the item at rank $r$ before"),
    (r"U", r"U", "the number of users"),
    (r"p_r}\{C\}", r"p_r", "the rank by popularity of the item at rank $r$"),
    (r"i_q", r"i_r", "the item at rank $r$"),
    (r"p_c", r"p_c", "the share of category $c$ among the items that the user had before"),
    (r"q_c", r"q_c", "the share of category $c$ among the items of the list"),
    (r"n_i|n_j", r"n_i", "in how many lists item $i$ is"),
    (r"\{C\}|\bC \\|\bC -|C \+", r"C", "the number of items in the catalogue"),
    (r"L_u", r"L_u", "the items recommended to user $u$"),
    (r"N_k", r"N_k", "the number of nonrelevant documents that count, which is $k$ if it is set"),
    (r"\\mathit\{rel\}", r"\mathit{rel}", "the parameter `rel`"),
)


def address(row: Row) -> str:
    """Return the path of the page of a measure, below `docs`."""
    return f"measures/{row.name.lower()}.md"


def pages() -> dict[str, str]:
    """Return the Markdown of every page, by path."""
    return {"measures/index.md": write_index()} | {
        address(row): write_page(row) for row in TABLE.values()
    }


def title_of(name: str) -> str:
    """Return the title of a family of measures."""
    return TITLES.get(name, name.capitalize())


def write_index() -> str:
    """Return the page that lists the measures by family."""
    parts = ["# Measures", ABOUT]
    for name, (about, listed) in FAMILIES.items():
        rows = [(f"[{row.name}]({row.name.lower()}.md)", row.summary) for row in listed]
        parts += [f"## {title_of(name)}", about, table(("measure", "definition"), rows)]
    return "\n\n".join(parts) + "\n"


def write_page(row: Row) -> str:
    """Return the page of a measure."""
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
        parts += ["## Names in other tools", names]
    if row.properties:
        sentences = [f"- {PROPERTIES[name]}" for name in PROPERTIES if name in row.properties]
        parts += ["## Properties", "These hold with the default parameters:", "\n".join(sentences)]
    parts += [
        "## Reference implementation",
        ABOUT_TWINS,
        f"```py\n{source_of(KERNELS[row.kernel])}\n```",
        "## References",
        "\n".join(f"- {reference}" for reference in row.references),
    ]
    return "\n\n".join(parts) + "\n"


def facts(row: Row) -> Iterator[tuple[str, str]]:
    """Yield facts about a measure, as label and text."""
    low, high = row.value_range
    yield "Range", f"always {low:g}" if low == high else f"{low:g} to {bound(high)}"
    undefined = row.undefined.removeprefix("Undefined ").rstrip(".")
    yield "Undefined", f"{undefined} ({ABOUT_UNDEFINED})" if undefined else "never"
    yield "Aggregated over queries", MEANS[row.mean] if row.level == "query" else WHOLE_RUN
    if row.needs:
        yield "Needs", f"{NEEDS_OF} {', '.join(f'`{need}`' for need in row.needs)}"
    if row.aliases:
        yield "Also called", ", ".join(f"`{alias}`" for alias in row.aliases)


def bound(value: float) -> str:
    """Return a bound as text."""
    return "infinity" if math.isinf(value) else f"{value:g}"


def write_parameters(row: Row) -> str:
    """Return the table of parameters."""
    header = ("parameter", "meaning", "values", "default")
    lines = [
        (f"`{each.name}`", each.meaning, str(each.domain), default(each)) for each in row.parameters
    ]
    text = table(header, lines)
    if row.at:
        example = row.example.measure if "@" in row.example.measure else f"{row.name}@10"
        text += f"\n\n`@` sets `{row.at}`, as in `{example}`."
    return text


def default(parameter: Parameter) -> str:
    """Return the default of a parameter as text."""
    if parameter.required:
        return "required"
    if parameter.default is None:
        return "none"
    value = parameter.default
    shown = f'"{value}"' if isinstance(value, str) else domains.literal(value)
    beside = ""
    if parameter.only_with:
        name, values = parameter.only_with
        beside = f"; only with {name} " + " or ".join(f"`{each}`" for each in values)
    return f"`{shown}`{beside}"


def write_example(row: Row) -> str:
    """Return the worked example: the computation and the code."""
    example = row.example
    value = evaluate_example(row)
    if example.subtopics:
        return write_subtopics(example, value)
    if example.recommended:
        return write_recommended(example, value)
    shown = " ".join("–" if grade is None else f"{grade:g}" for grade in example.ranking)
    judged = " ".join(f"{grade:g}" for grade in example.not_retrieved)
    others = f" Judged but not retrieved: {judged}." if judged else ""
    if example.strata:
        strata = " ".join(each or "–" for each in example.strata)
        others = (
            f" Also in the pool: {judged}. Documents with the grade -1 weren't judged. Strata of "
            f"all of these documents: {strata}."
        )
    qrels, run = as_inputs(example)
    none = "not in the pool" if example.strata else "unjudged"
    return (
        f"Grades in rank order: {shown}{f' (– means {none})' * ('–' in shown)}.{others}\n\n"
        f"```text\n{example.measure} = {example.formula} = {example.value:g}\n```\n\n"
        f"```python\n>>> import rankscope as rs\n>>> qrels = {literal(qrels)}\n"
        f">>> run = {literal(run)}\n"
        f'>>> rs.evaluate(qrels, run, "{example.measure}")["{example.measure}"]\n{value!r}\n```'
    )


def write_subtopics(example: Example, value: float) -> str:
    """Return the worked example of a measure of diversity."""

    def show(covered: tuple[str, ...] | None) -> str:
        return "–" if covered is None else "+".join(covered)

    depth = len(example.ranking)
    ranked, others = (
        " ".join(map(show, part)) for part in (example.subtopics[:depth], example.subtopics[depth:])
    )
    qrels, run = as_inputs(example)
    return (
        f"Subtopics of the documents in rank order: {ranked} (– means unjudged). Judged but not "
        f"retrieved: {others}.\n\n"
        f"```text\n{example.measure} = {example.formula} = {example.value:g}\n```\n\n"
        f"```python\n>>> import rankscope as rs\n>>> qrels = {literal(qrels)}\n"
        f">>> run = {literal(run)}\n"
        f'>>> rs.evaluate(qrels, run, "{example.measure}")["{example.measure}"]\n{value!r}\n```'
    )


def write_recommended(example: Example, value: float) -> str:
    """Return the worked example of a measure of items."""
    relevant, recommended = (
        {user: list(items) for user, items in lists.items()}
        for lists in (example.relevant, example.recommended)
    )
    known = known_of(example)
    given = "".join(f">>> {name} = {literal(what)}\n" for name, what in known.items())
    arguments = "".join(f", {name}={name}" for name in known)
    return (
        f"```text\n{example.measure} = {example.formula} = {example.value:g}\n```\n\n"
        f"```python\n>>> import rankscope as rs\n{given}>>> relevant = {literal(relevant)}\n"
        f">>> recommended = {literal(recommended)}\n"
        f'>>> evaluation = rs.evaluate(relevant, recommended, "{example.measure}"{arguments})\n'
        f'>>> evaluation["{example.measure}"]\n{value!r}\n```'
    )


def known_of(example: Example) -> dict[str, object]:
    """Return what is known of items in the example of a measure, by the name of the argument."""
    needs = rs.parse(example.measure).row.needs
    history = {user: list(items) for user, items in example.history.items()}
    items = {item: list(categories) for item, categories in example.items.items()}
    known = {"history": history, "items": items, "catalogue": list(example.catalogue)}
    return {name: what for name, what in known.items() if name in needs}


def literal(lists: object) -> str:
    """Return a nested dict as Python source, with double quotes."""
    return repr(lists).replace("'", '"')


def as_inputs(
    example: Example,
) -> tuple[
    dict[str, dict[str, float]]
    | dict[str, dict[str, list[str]]]
    | dict[str, dict[str, dict[str, float]]],
    dict[str, dict[str, float]],
]:
    """Return an example as judgments and a run."""
    depth = len(example.ranking)
    run = {f"d{rank}": float(depth + 1 - rank) for rank in range(1, depth + 1)}
    if example.subtopics:
        topics: dict[str, list[str]] = {}
        for number, covered in enumerate(example.subtopics, start=1):
            for topic in covered or ():
                topics.setdefault(topic, []).append(f"d{number}")
        return {"q1": topics}, {"q1": run}
    if example.strata:
        pool: dict[str, dict[str, float]] = {}
        grades_of_all = (*example.ranking, *example.not_retrieved)
        for number, (stratum, grade) in enumerate(zip(example.strata, grades_of_all, strict=True)):
            if stratum is not None and grade is not None:
                pool.setdefault(stratum, {})[f"d{number + 1}"] = grade
        return {"q1": pool}, {"q1": run}
    grades = dict(zip(run, example.ranking, strict=True))
    more = {f"d{depth + rank}": grade for rank, grade in enumerate(example.not_retrieved, start=1)}
    judged = {doc: grade for doc, grade in grades.items() if grade is not None} | more
    return {"q1": judged}, {"q1": run}


def evaluate_example(row: Row) -> float:
    """Return the value of an example, after checking it against its formula."""
    example = row.example
    # Some examples have judgments by subtopic or stratum.
    evaluate = cast("Callable[..., rs.Evaluation]", rs.evaluate)
    if example.recommended:
        relevant, recommended = (
            {user: list(items) for user, items in lists.items()}
            for lists in (example.relevant, example.recommended)
        )
        found = evaluate(relevant, recommended, example.measure, **known_of(example))
    else:
        found = evaluate(*as_inputs(example), example.measure)
    value = found[example.measure]
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
    """Return the table of the names of a measure in other tools."""
    rows = []
    for tool in TOOLS:
        for line in translations(tool):
            if rs.parse(line.ours).row is row:
                shown = TOOL_NAMES.get(tool, tool)
                rows.append((shown, f"`{line.theirs}`", f"`{line.ours}`", line.note))
    return table(("tool", "name", "in rankscope", "difference"), rows) if rows else ""


def source_of(twin: Callable[..., float]) -> str:
    """Return the source of a reference implementation, with the functions it calls."""
    module = sys.modules[twin.__module__]
    found = [twin]
    for function in found:
        called = (getattr(module, name, None) for name in function.__code__.co_names)
        near = filter(inspect.isfunction, called)
        found += [each for each in near if each.__module__ == twin.__module__ and each not in found]
    return "\n\n\n".join(inspect.getsource(function).rstrip() for function in found)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages to the navigation, by family."""
    for entry in config.nav or []:
        if isinstance(entry, dict) and "Measures" in entry:
            entry["Measures"] += [
                {title_of(name): [{row.name: address(row)} for row in rows]}
                for name, (_, rows) in FAMILIES.items()
            ]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages to the site."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files

"""`rankscope explain`: shows how one value is computed, from grades or for a query in files."""

from __future__ import annotations

import math
from argparse import Namespace
from typing import TYPE_CHECKING

import rankscope as rs
from rankscope._cli.options import (
    add_convention_option,
    add_file_options,
    add_limit_option,
    add_measure_option,
    add_policy_option,
    add_reading_options,
)
from rankscope._cli.parser import Parser, print_json, read_integer
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope._evaluate.options import add_table_options, rank_files
from rankscope._explain.explain import explain_query
from rankscope._names import quote
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures

if TYPE_CHECKING:
    from rankscope import Measure
    from rankscope._explain.explanation import Derivation


FORMATS = ("text", "markdown", "latex", "html", "json")
MOST_DIGITS = 17
UNJUDGED = {"-", "?"}
SETTINGS = ("gain", "discount", "base", "s")
OF_FILES = ("query_id", "convention", "col", "format", "by", "positive", "score_type")
"""Options that have no effect with `--grades`."""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage = (
        "%(prog)s [options] QRELS RUN --query ID\n"
        "       %(prog)s [options] TABLE --query ID\n"
        "       %(prog)s [options] --grades GRADE..."
    )
    parser.add_argument(
        "inputs",
        metavar="QRELS RUN | TABLE",
        nargs="*",
        help="judgments and a run, or one table whose rows hold both; - reads standard input",
    )
    parser.add_argument("--query", dest="query_id", metavar="ID", help="the query to explain")
    parser.add_argument(
        "--grades",
        nargs="+",
        metavar="GRADE",
        help="grades in rank order, instead of files, such as 4 2 5 or A=4 B=2 C=5; - or ? means "
        "unjudged",
    )
    parser.add_argument(
        "--ideal",
        nargs="+",
        metavar="GRADE",
        help="the grades of all judged documents (default: those of --grades)",
    )
    add_measure_option(
        parser, "nDCG, DCG, IDCG, CG, AP, RR, P or R (default: nDCG@10, or nDCG with --grades)"
    )
    parser.add_argument("--k", type=read_integer, metavar="N", help="cutoff of the measure")
    for name, text in {
        "gain": "gain of a grade: linear, exp2, binary, or a table such as [0,1,3,7] or {0:0,1:1}",
        "discount": "discount of a rank: log2, log, jk, reciprocal, linear, zipf, or weights such "
        "as [1,0.5,0.3]",
        "base": "base of the logarithm with --discount log or jk, such as 2 or e",
        "s": "exponent of the rank with --discount zipf",
    }.items():
        parser.add_argument(f"--{name}", help=text, metavar=name.upper())
    about = "number of decimal places"
    parser.add_argument("--digits", type=read_integer, default=4, metavar="N", help=about)
    add_limit_option(parser, "number of ranks to show", 50)
    add_policy_option(parser)
    add_convention_option(parser)
    add_reading_options(parser)
    add_file_options(parser, printed=FORMATS)
    add_table_options(parser)
    parser.add_examples(
        "rankscope explain qrels.txt bm25.run --query 301 -m nDCG@10",
        "rankscope explain --grades 4 2 5 3 5 --k 3",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Explain the value, and print the explanation."""
    written = [form for form in options.format if form in FORMATS]
    options.format = [form for form in options.format if form not in FORMATS]
    if len(written) > 1:
        raise UsageError(
            f"--format names two formats for the explanation: {' and '.join(written)}",
            hint="remove one of them",
            code="usage",
        )
    if not 0 <= options.digits <= MOST_DIGITS:
        raise UsageError(
            f"--digits must be from 0 to {MOST_DIGITS}, found {options.digits}",
            hint="it is the number of decimal places",
            code="usage",
        )
    explanation = _explain_grades(options) if options.grades else _explain_query(options)
    form = written[0] if written else "text"
    if form == "json":
        print_json(explanation.to_dict())
    elif form == "html":
        print(explanation.to_html(options.digits, is_page=True), end="")
    else:
        text: str = getattr(explanation, f"to_{form}")(options.digits)
        print(text.removesuffix("\n"))
    return 0


def _explain_grades(options: Namespace) -> Derivation:
    used = [f"--{name.replace('_', '-')}" for name in OF_FILES if getattr(options, name)]
    used += map(quote, options.inputs[:1])
    if used:
        raise UsageError(
            f"--grades cannot be combined with {used[0]}",
            hint="use either --grades, or files with --query",
            code="usage",
        )
    policy = rs.Policy.parse(options.policy)
    pairs = [_split(word) for word in options.grades]
    names = [name for name, _ in pairs]
    if any(names) and not all(names):
        raise UsageError(
            "some grades have a name, and some do not",
            hint="name all of them, as in A=4 B=2, or none, as in 4 2",
            code="usage",
        )
    return rs.explain(
        [grade for _, grade in pairs],
        names=[name for name in names if name is not None] or None,
        ideal=None if options.ideal is None else [_split(word)[1] for word in options.ideal],
        measure=_read_measure(options, "nDCG"),
        limit=options.limit,
        empty=policy.empty,
        unjudged=policy.unjudged,
        negative=policy.negative,
        missing_gain=policy.missing_gain,
    )


def _explain_query(options: Namespace) -> Derivation:
    if not options.inputs or options.query_id is None or options.ideal:
        raise UsageError(
            "--ideal works only with --grades"
            if options.ideal
            else "this command needs a query in files, or grades",
            hint="write QRELS RUN --query 301, or --grades 4 2 5 --k 3",
            code="usage",
        )
    if options.by:
        raise UsageError(
            "--by does not work with a single query",
            hint="remove --by, or use rankscope eval --by",
            code="usage",
        )
    measure = _read_measure(options, "nDCG" if options.k else "nDCG@10")
    rankings = rank_files(options.inputs, measure.name, options)
    if options.strict:
        refuse_diagnostics(rankings.evaluate(measure, threads=options.threads).notes)
    return explain_query(
        rankings,
        options.query_id,
        measure,
        policy=options.policy or None,
        convention=options.convention,
        limit=options.limit,
    )


def _read_measure(options: Namespace, default: str) -> Measure:
    """Read the measure, with the settings and the cutoff of the options."""
    names = split_measures([options.measure or default])
    if len(names) != 1:
        raise UsageError(
            f"this command explains one measure, found {len(names)}",
            hint="run it once for each measure",
            code="usage",
        )
    measure, texts = rs.parse(names[0]), {name: getattr(options, name) for name in SETTINGS}
    written = [f"{name}={_write(text)}" for name, text in texts.items() if text]
    if written:
        settings: dict[str, object] = {**rs.parse(f"nDCG({', '.join(written)})").settings}
        if isinstance(settings.get("gain"), tuple):
            settings["gain"] = dict(settings["gain"])  # type: ignore[call-overload]  # pairs of a table
        measure = measure(**settings)
    if options.k is None:
        return measure
    if measure.k not in {None, options.k}:
        raise UsageError(
            f"{measure} and --k {options.k} name different cutoffs", hint="remove --k", code="usage"
        )
    cutoff: int = options.k
    return measure @ cutoff


def _write(text: str) -> str:
    """Write a setting in the grammar of measures: words in quotes, e as a number."""
    if text == "e":
        return repr(math.e)
    return repr(text) if text.isidentifier() else text


def _split(word: str) -> tuple[str | None, float]:
    """Split a grade from the name before it, at the last =, because names may contain one."""
    name, sign, text = word.rpartition("=")
    if text in UNJUDGED:
        return (name if sign else None), math.nan
    try:
        grade = float(text)
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade) or (sign and not name):
        raise UsageError(
            f"cannot read the grade {quote(word)}",
            hint="put blanks between numbers: 4 2 5, or A=4 B=2; - or ? means unjudged",
            code="usage",
        )
    return (name if sign else None), grade

"""`rankscope explain`: one value as a person would derive it, of grades or of a query."""

from __future__ import annotations

import math

import rankscope as rs
from rankscope.cli.arguments import Once, add_policy_argument, add_reading_arguments
from rankscope.cli.files import add_file_arguments
from rankscope.cli.joined import add_joined_arguments
from rankscope.cli.output import print_json
from rankscope.errors import UsageError
from rankscope.measures.splitting import split_measures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from rankscope import Measure
    from rankscope.explain.derivation import Derivation

WRITERS: dict[str, Callable[[Derivation, int], str]] = {
    "text": lambda explanation, digits: explanation.to_text(digits) + "\n",
    "markdown": lambda explanation, digits: explanation.to_markdown(digits),
    "latex": lambda explanation, digits: explanation.to_latex(digits),
    "html": lambda explanation, digits: explanation.to_html(digits, is_page=True),
}
"""By format, how an explanation is written."""

FORMATS = (*WRITERS, "json")
MOST_DIGITS = 17
UNJUDGED = {"-", "?"}
SETTINGS = ("gain", "discount", "base", "s")
OF_FILES = ("query", "convention", "col", "format", "by", "positive", "score_type")
"""Options that grades on the command line have no use for."""


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "inputs",
        metavar="QRELS RUN | TABLE",
        nargs="*",
        help="judgments and a run, or one table whose rows hold both; - is standard input",
    )
    parser.add_argument(
        "--grades",
        action=Once,
        nargs="+",
        metavar="GRADE",
        help="grades, best rank first, instead of files: 4 2 5, or A=4 B=2 C=5; - or ? is unjudged",
    )
    parser.add_argument("--query", action=Once, metavar="ID", help="the query of the files")
    parser.add_argument(
        "-m",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help="nDCG, DCG, IDCG, CG, AP, RR, P or R; if left out, nDCG of --grades and nDCG@10 of "
        "files",
    )
    parser.add_argument("--k", action=Once, type=int, metavar="N", help="the cutoff")
    for name, words in {
        "gain": "linear, exp2, binary, or a table such as [0,1,3,7] or {0:0,1:1}",
        "discount": "log2, log, jk, reciprocal, linear, zipf, or weights such as [1,0.5,0.3]",
        "base": "of the logarithm in --discount log or jk; e is one",
        "s": "the power of the rank in --discount zipf",
    }.items():
        parser.add_argument(f"--{name}", action=Once, help=words, metavar=name.upper())
    parser.add_argument(
        "--ideal",
        action=Once,
        nargs="+",
        metavar="GRADE",
        help="all judged grades, where --grades lacks some",
    )
    parser.add_argument(
        "--digits", action=Once, type=int, default=4, metavar="N", help="places; 4 if left out"
    )
    parser.add_argument(
        "--limit",
        action=Once,
        type=int,
        default=50,
        metavar="N",
        help="how many ranks are shown at most; 50 if left out",
    )
    add_policy_argument(parser)
    parser.add_argument(
        "--convention",
        action=Once,
        metavar="NAME",
        help="the library whose number is wanted; `rankscope conventions` lists them",
    )
    add_reading_arguments(parser)
    add_file_arguments(parser)
    parser.epilog = f"--format also says how to write the explanation: {', '.join(FORMATS)}."
    add_joined_arguments(parser)


def run(options: Namespace) -> int:
    """Explain the value, and print the explanation."""
    written = [form for form in options.format if form in FORMATS]
    options.format = [form for form in options.format if form not in FORMATS]
    if len(written) > 1:
        raise UsageError(
            f"expected one way to write it, found {' and '.join(written)}",
            hint="leave one out",
            code="usage",
        )
    if not 0 <= options.digits <= MOST_DIGITS:
        raise UsageError(
            f"expected --digits from 0 to {MOST_DIGITS}, found {options.digits}",
            hint="it says how many places are written",
            code="usage",
        )
    explanation = _explain_grades(options) if options.grades else _explain_query(options)
    form = written[0] if written else "text"
    if form == "json":
        print_json(explanation.to_dict())
    else:
        print(WRITERS[form](explanation, options.digits), end="")
    return 0


def _explain_grades(options: Namespace) -> Derivation:
    given = [f"--{name.replace('_', '-')}" for name in OF_FILES if getattr(options, name)]
    given += options.inputs[:1]
    if given:
        raise UsageError(
            f"expected files or --grades, found {given[0]} beside --grades",
            hint="leave one out",
            code="usage",
        )
    policy = rs.Policy.parse(options.policy)
    pairs = [_split(word) for word in options.grades]
    names = [name for name, _ in pairs]
    if any(names) and not all(names):
        raise UsageError(
            "expected a name for each grade or for none, found some without",
            hint="write A=4 B=2, or 4 2",
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
    if not options.inputs or options.query is None or options.ideal:
        what = "--ideal beside files" if options.ideal else f"{len(options.inputs)} files"
        raise UsageError(
            f"expected --grades, or files and --query, found {what}"
            + ("" if options.query else " without --query"),
            hint="write --grades 4 2 5 --k 3, or QRELS RUN --query 301",
            code="usage",
        )
    if options.by:
        raise UsageError(
            "expected one query, found --by", hint="rankscope eval has --by", code="usage"
        )
    from rankscope.cli.ranking import rank_files  # noqa: PLC0415 - grades need no files
    from rankscope.engine import refuse_diagnostics  # noqa: PLC0415 - as above

    measure = _read_measure(options, "nDCG" if options.k else "nDCG@10")
    rankings = rank_files(options.inputs, measure.name, options)
    if options.strict:
        refuse_diagnostics(rankings.evaluate(measure, threads=options.threads).notes)
    return rankings.explain(
        options.query,
        measure,
        policy=options.policy or None,
        convention=options.convention,
        limit=options.limit,
    )


def _read_measure(options: Namespace, default: str) -> Measure:
    """Read the measure, with the settings and the cutoff that options give it."""
    names = split_measures(options.measures or [default])
    if len(names) != 1:
        raise UsageError(
            f"expected one measure, found {len(names)}",
            hint="explain one after another",
            code="usage",
        )
    measure = rs.parse(names[0])
    written = ", ".join(
        f"{name}={_write(text)}" for name in SETTINGS if (text := getattr(options, name))
    )
    if written:
        settings: dict[str, object] = {**rs.parse(f"nDCG({written})").settings}
        if isinstance(settings.get("gain"), tuple):
            settings["gain"] = dict(settings["gain"])  # type: ignore[call-overload]  # pairs of a table
        measure = measure(**settings)
    if options.k is None:
        return measure
    if measure.k not in {None, options.k}:
        raise UsageError(
            f"expected one cutoff, found {measure} and --k {options.k}",
            hint="leave --k out",
            code="usage",
        )
    cutoff: int = options.k
    return measure @ cutoff


def _write(text: str) -> str:
    """Write a setting as the grammar of measures has it: words in quotes, e as its number."""
    if text == "e":
        return repr(math.e)
    return repr(text) if text.isidentifier() else text


def _split(word: str) -> tuple[str | None, float]:
    """Split a grade from the name before it; the last = counts, for names may have some."""
    name, sign, text = word.rpartition("=")
    if text in UNJUDGED:
        return (name if sign else None), math.nan
    try:
        grade = float(text)
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade) or (sign and not name):
        raise UsageError(
            f"expected a grade, or NAME=GRADE, found {word!r}",
            hint="write 4 or A=4; - or ? is unjudged",
            code="usage",
        )
    return (name if sign else None), grade

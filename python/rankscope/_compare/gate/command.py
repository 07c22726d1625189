"""`rankscope gate`: checks whether a candidate stays within its budgets, for pipelines."""

from __future__ import annotations

import math
import os

import rankscope as rs
from rankscope._compare.gate.file import SETTINGS, read_gate_file
from rankscope._compare.gate.result import DIFFERENCES, FIELDS, Budget, to_number
from rankscope._compare.gate.summary import lay_out
from rankscope._compare.options import add_query_options
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope.cli.files import (
    add_file_options,
    add_items_options,
    list_items_files,
    name_file,
    read_items,
    refuse_stdin_twice,
)
from rankscope.cli.options import (
    add_convention_option,
    add_policy_option,
    add_reading_options,
    add_small_print_option,
)
from rankscope.cli.output import print_json, print_notes
from rankscope.cli.parser import OnceFlag, read_integer, read_number
from rankscope.errors import UsageError
from rankscope.names import quote
from rankscope.output.layout.text import write
from rankscope.writing import refuse_overwriting, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from rankscope._compare.gate.result import GateResult, Kind
    from rankscope.cli.parser import Parser

LIMITS: dict[Kind, str] = {
    "max-drop": "how far the mean may drop, such as nDCG@10=0.005, or nDCG@10=2% for a share of "
    "the mean of the baseline",
    "max-loss": "the most that a percentile of the losses of queries may be, such as "
    "p95:nDCG@10=0.3: 5% of the queries may lose more",
    "min": "lowest mean that the candidate may have, such as nDCG@10=0.4",
    "tolerance": "how much worse the value of a measure of all lists together may be, such as "
    "Coverage@10=0.02, or Coverage@10=5% for a share of the value of the baseline; the two values "
    "are compared without an interval",
}
SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage = (
        "%(prog)s [options] QRELS BASELINE CANDIDATE --max-drop MEASURE=LIMIT\n"
        "       %(prog)s [options] TABLE --scores OLD,NEW --max-drop MEASURE=LIMIT\n"
        "       %(prog)s [options] TABLE --runs COLUMN --max-drop MEASURE=LIMIT\n"
        "       %(prog)s [options] gate.toml [[QRELS BASELINE] CANDIDATE]"
    )
    parser.add_argument(
        "inputs",
        metavar="[gate.toml] [[QRELS BASELINE] CANDIDATE]",
        nargs="+",
        help="a file of budgets, which can also name the runs; judgments, the run to compare with, "
        "and the run to check; or one table with the scores of both; - reads standard input",
    )
    parser.add_argument(
        "--scores",
        metavar="OLD,NEW",
        help="columns of scores of a table: the baseline's and the candidate's",
    )
    parser.add_argument(
        "--runs", metavar="COLUMN", help="column of a table that names the run of each row"
    )
    for kind, text in LIMITS.items():
        metavar = f"{'pN:' * (kind == 'max-loss')}MEASURE=LIMIT"
        parser.add_argument(
            f"--{kind}", dest=FIELDS[kind], action="append", default=[], metavar=metavar, help=text
        )
    parser.add_argument(
        "--confidence",
        type=read_number,
        metavar="LEVEL",
        help="confidence level of the two-sided intervals (default: 0.95)",
    )
    parser.add_argument(
        "--interval-method",
        choices=("bounded", "dense", "t"),
        metavar="METHOD",
        help="what intervals of means promise (default: bounded)",
    )
    parser.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="also check each budget in each slice, with intervals corrected for the number of "
        "slices",
    )
    add_query_options(parser)
    parser.add_argument(
        "--on-inconclusive",
        choices=("fail", "pass"),
        metavar="WHAT",
        help="what happens if the data don't decide (default: fail)",
    )
    parser.add_argument(
        "--seed", type=read_integer, default=0, metavar="N", help="random seed of the intervals"
    )
    parser.add_argument(
        "--markdown", metavar="FILE", help="also write a summary for a pull request"
    )
    parser.add_argument("--junit", metavar="FILE", help="also write JUnit XML, for CI servers")
    parser.add_argument(
        "--github",
        action=OnceFlag,
        help="in GitHub Actions: add the summary to the page of the job, and set the outputs "
        "verdict and passed",
    )
    parser.add_argument("--json", action=OnceFlag, help="print the result as JSON")
    add_small_print_option(parser)
    add_policy_option(parser)
    add_convention_option(parser)
    add_reading_options(parser)
    add_file_options(parser)
    add_items_options(parser)
    parser.add_examples(
        "rankscope gate qrels.txt bm25.run dense.run --max-drop nDCG@10=0.005",
        "rankscope gate qrels.txt old.run new.run --max-drop nDCG@10=2% --max-loss p95:nDCG@10=0.3",
        "rankscope gate gate.toml --markdown summary.md --junit gate.xml",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Check the budgets, print the result, and return 1 if the candidate doesn't pass."""
    if options.github and SUMMARY not in os.environ:
        raise UsageError(
            f"--github needs the environment variable {SUMMARY}",
            hint="use it in a step of GitHub Actions, or write --markdown FILE",
            code="usage",
        )
    read = [*options.inputs, *filter(None, [options.attributes]), *list_items_files(options)]
    refuse_stdin_twice(read)
    for output in filter(None, (options.markdown, options.junit)):
        refuse_overwriting(output, read)
    result = _gate(options)
    if options.strict:
        refuse_diagnostics(result.notes)
    # A file that can't be written is an error, which isn't printed beside a verdict.
    for path, summarize in ((options.markdown, result.markdown), (options.junit, result.junit)):
        if path is not None:
            write_text(path, summarize())
    if options.github:
        outputs = f"verdict={result.verdict}\npassed={str(result.passed).lower()}\n"
        for name, text in ((SUMMARY, result.markdown()), (OUTPUT, outputs)):
            with open(os.environ.get(name) or os.devnull, "a", encoding="utf-8") as file:  # noqa: PTH123 - pathlib loads slowly
                file.write(text)
    if options.json:
        print_notes(result.notes)
        print_json(result.to_dict())
    else:
        print(write(lay_out(result)) if options.small_print else result)
    return 0 if result.passed else 1


def _gate(options: Namespace) -> GateResult:
    """Check the budgets of the options and of the gate file."""
    first = options.inputs[0]
    file = read_gate_file(first) if first.endswith(".toml") else {}
    paths = options.inputs[1:] if file else options.inputs
    scores = options.scores.split(",") if options.scores else file.get("scores")
    is_table = bool(scores or options.runs)
    roles = ["table"] if is_table else ["qrels", "baseline", "candidate"]
    # Paths of the command line, of which the candidate is the last, replace those of the file.
    files = file | dict(zip(roles[-len(paths) :], paths, strict=False))
    missing = [role for role in roles if role not in files]
    if missing or len(paths) > len(roles):
        raise UsageError(
            f"{first} doesn't name {' and '.join(missing)}"
            if file and missing
            else "gate needs judgments and two runs, a table with scores of both, or a gate file",
            hint="write QRELS BASELINE CANDIDATE --max-drop nDCG@10=0.005; TABLE --scores old,new "
            "--max-drop nDCG@10=0.005; or gate.toml, with its paths in it or after it",
            code="usage",
        )
    limits = {kind: getattr(options, FIELDS[kind]) for kind in LIMITS}
    budgets = file.get("budgets", [])
    budgets += [parse_budget(kind, text) for kind, texts in limits.items() for text in texts]
    if not budgets:
        raise UsageError(
            "there is no budget to check", hint="add --max-drop nDCG@10=0.005", code="usage"
        )
    written = {name: value for name, value in vars(options).items() if value not in (None, "")}
    settings = {name: value for name, value in (file | written).items() if name in SETTINGS}
    has_slices = options.by or any(budget.by for budget in budgets)
    needs = has_slices or not {"cluster", "weights"}.isdisjoint(settings)
    if needs and not (is_table or "attributes" in settings):
        raise UsageError(
            "slices, clusters and weights need attributes of queries",
            hint="add --attributes FILE, a table with one row per query",
            code="usage",
        )
    parts = {"table": "table", "qrels": "qrels"}
    named = [name_file(files[role], parts.get(role, "run"), options) for role in roles]
    judgments, baseline, candidate = named if len(named) == 3 else (*named, options.runs, None)
    return rs.gate(
        judgments,
        baseline,
        candidate,
        budgets,
        scores=scores,
        by=options.by,
        duplicates=options.duplicates,
        ignore_same=options.ignore_same,
        items=read_items(options),
        score_type=None if is_table else options.score_type,
        encoding=options.encoding,
        method=settings.pop("interval_method", "auto"),
        seed=options.seed,
        threads=options.threads,
        **settings,
    )


def parse_budget(kind: Kind, text: str) -> Budget:
    """Return the budget that an option of the command line describes.

    Examples:
        >>> print(parse_budget("max-drop", "P(rel=2)@5=1%"))
        P(rel=2)@5: max drop 1%
        >>> print(parse_budget("max-loss", "p90:nDCG@10=0.3"))
        nDCG@10: max p90 loss 0.3
    """
    measure, _, limit = map(str.strip, text.rpartition("="))
    percentile, is_share = 95.0, kind in DIFFERENCES and limit.endswith("%")
    if kind == "max-loss" and measure[:1] == "p" and ":" in measure:
        named, _, measure = measure.partition(":")
        percentile = to_number(named[1:])
    number = to_number(limit.removesuffix("%") if is_share else limit)
    if not measure or math.isnan(number) or math.isnan(percentile):
        raise UsageError(
            f"cannot read --{kind} {quote(text)}", hint=f"--{kind}: {LIMITS[kind]}", code="usage"
        )
    fields: dict[str, Any] = {FIELDS[kind]: limit if is_share else number}
    return Budget(measure, quantile=percentile / 100, **fields)

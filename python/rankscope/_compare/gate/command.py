"""`rankscope gate`: checks whether a candidate stays within its budgets, for pipelines."""

from __future__ import annotations

import os

import rankscope as rs
from rankscope._compare.gate.file import GateFile, read_gate_file
from rankscope._compare.gate.result import parse_budget, read_budgets
from rankscope._compare.gate.summary import write_whole
from rankscope._evaluate.evaluating import refuse_diagnostics
from rankscope._inputs.recognition import name_path, shorten_names
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
from rankscope.errors import FileError, UsageError
from rankscope.writing import refuse_overwriting, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope._compare.gate.result import GateResult, Kind
    from rankscope.cli.parser import Parser

KINDS: tuple[Kind, ...] = ("max-drop", "max-loss", "min", "tolerance")
TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow")
SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage = (
        "%(prog)s [options] QRELS BASELINE CANDIDATE --max-drop MEASURE=LIMIT\n"
        "       %(prog)s [options] TABLE --scores OLD,NEW --max-drop MEASURE=LIMIT\n"
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
        "--max-drop",
        action="append",
        default=[],
        metavar="MEASURE=LIMIT",
        help="how far the mean may drop, such as nDCG@10=0.005, or nDCG@10=2% for a share of the "
        "mean of the baseline",
    )
    parser.add_argument(
        "--max-loss",
        action="append",
        default=[],
        metavar="pN:MEASURE=LIMIT",
        help="the most that a percentile of the losses of queries may be, such as "
        "p95:nDCG@10=0.3: 5% of the queries may lose more",
    )
    parser.add_argument(
        "--min",
        action="append",
        default=[],
        metavar="MEASURE=LIMIT",
        help="lowest mean that the candidate may have, such as nDCG@10=0.4",
    )
    parser.add_argument(
        "--tolerance",
        action="append",
        default=[],
        metavar="MEASURE=LIMIT",
        help="how much worse the value of a measure of all lists together may be, such as "
        "Coverage@10=0.02, or Coverage@10=5% for a share of the value of the baseline; the two "
        "values are compared without an interval",
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
    parser.add_argument(
        "--attributes",
        metavar="FILE",
        help="table with one row per query, for --by and --cluster",
    )
    parser.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="what queries depend within, such as user_id; intervals then treat each cluster as "
        "one unit",
    )
    parser.add_argument(
        "--on-inconclusive",
        choices=("fail", "pass"),
        metavar="WHAT",
        help="what happens if the data don't decide (default: fail)",
    )
    parser.add_argument(
        "--seed",
        type=read_integer,
        default=0,
        metavar="N",
        help="random seed of the intervals",
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
    read = [
        *options.inputs,
        *([options.attributes] if options.attributes else []),
        *list_items_files(options),
    ]
    refuse_stdin_twice(read)
    for output in (options.markdown, options.junit):
        if output is not None:
            refuse_overwriting(output, read)
    result = _gate(options)
    if options.strict:
        refuse_diagnostics(result.notes)
    # A file that can't be written is an error, which isn't printed beside a verdict.
    if options.markdown is not None:
        write_text(options.markdown, result.markdown())
    if options.junit is not None:
        write_text(options.junit, result.junit())
    if options.github:
        _tell_github(result)
    if options.json:
        print_notes(result.notes)
        print_json(result.to_dict())
    else:
        print(write_whole(result) if options.small_print else result)
    return 0 if result.passed else 1


def _gate(options: Namespace) -> GateResult:
    """Check the budgets of the options and of the gate file."""
    is_table = options.scores is not None and not options.inputs[0].endswith(".toml")
    if len(options.inputs) == 2 and not options.inputs[0].endswith(".toml"):
        raise UsageError(
            "gate needs judgments and two runs, or a gate file, found two files",
            hint="write QRELS BASELINE CANDIDATE --max-drop nDCG@10=0.005, or gate.toml",
            code="usage",
        )
    file = GateFile(budgets=()) if is_table else _read_file(options)
    given = [
        parse_budget(kind, text)
        for kind in KINDS
        for text in getattr(options, kind.replace("-", "_"))
    ]
    if not given and (not file.budgets or options.by is not None):
        raise UsageError(
            "--by has no budget to check" if options.by else "there is no budget to check",
            hint="add --max-drop nDCG@10=0.005, or pass a gate file such as gate.toml",
            code="usage",
        )
    budgets = [*file.budgets, *(read_budgets(given, options.by) if given else ())]
    scores = options.scores.split(",") if options.scores is not None else file.scores
    paths = [file.table or options.inputs[0]] if scores else _name_runs(options, file)
    attributes = options.attributes or file.attributes
    cluster = options.cluster or file.cluster
    has_groups = cluster is not None or any(each.by is not None for each in budgets)
    if attributes is None and not scores and has_groups:
        raise UsageError(
            "slices and clusters need a table with one row per query",
            hint="add --attributes FILE",
            code="usage",
        )
    policy = options.policy or file.policy or ""
    convention = options.convention or file.convention
    names = shorten_names([name_path(path, "run") for path in paths[1:]])
    runs = [name_file(path, "run", options) for path in paths[1:]]
    baseline, candidate = runs or (None, None)
    return rs.gate(
        name_file(paths[0], "qrels" if runs else "table", options),
        baseline,
        candidate,
        budgets,
        scores=scores,
        confidence=file.confidence if options.confidence is None else options.confidence,
        cluster=cluster,
        attributes=attributes,
        on_inconclusive=options.on_inconclusive or file.on_inconclusive,
        names=(names[0], names[1]) if len(set(names)) == 2 else None,
        policy=policy if convention else rs.Policy.parse(policy),
        convention=convention,
        duplicates=options.duplicates,
        ignore_same=options.ignore_same,
        items=read_items(options),
        score_type=None if scores else options.score_type,
        encoding=options.encoding,
        method=options.interval_method or file.interval_method or "auto",
        seed=options.seed,
        threads=options.threads,
    )


def _read_file(options: Namespace) -> GateFile:
    """Read the gate file, which is the first input unless there are three."""
    if len(options.inputs) == 3:
        return GateFile(budgets=())
    if options.inputs[0].endswith(TABLES):
        raise UsageError(
            "a table of both runs needs the columns of their scores",
            hint="write TABLE --scores old,new --max-drop nDCG@10=0.005",
            code="usage",
        )
    if len(options.inputs) > 4:
        raise UsageError(
            "gate needs a gate file, or judgments, a baseline and a candidate, found "
            f"{len(options.inputs)} files",
            hint="write QRELS BASELINE CANDIDATE --max-drop nDCG@10=0.005; or gate.toml",
            code="usage",
        )
    return read_gate_file(options.inputs[0])


def _name_runs(options: Namespace, file: GateFile) -> list[str]:
    """Return the paths of the judgments, the baseline and the candidate.

    Those of the command line, which are all three or the candidate alone, replace those of the gate
    file.
    """
    given: list[str] = options.inputs if len(options.inputs) == 3 else options.inputs[1:]
    names = ("qrels", "baseline", "candidate")
    named = [file.qrels, file.baseline, file.candidate][: 3 - len(given)]
    missing = [name for name, path in zip(names, named, strict=False) if path is None]
    if missing:
        raise UsageError(
            f"{options.inputs[0]} doesn't name {' and '.join(missing)}",
            hint=f'write {missing[0]} = "PATH" into it, or pass QRELS BASELINE CANDIDATE after it',
            code="usage",
        )
    return [*filter(None, named), *given]


def _tell_github(result: GateResult) -> None:
    """Append the summary and the outputs to the files that GitHub Actions reads."""
    outputs = f"verdict={result.verdict}\npassed={str(result.passed).lower()}\n"
    for name, text in ((SUMMARY, result.markdown()), (OUTPUT, outputs)):
        path = os.environ.get(name)
        if not path:
            continue
        try:
            with open(path, "a", encoding="utf-8") as opened:  # noqa: PTH123 - pathlib loads slowly
                opened.write(text)
        except OSError as error:
            raise FileError(
                f"cannot write this file: {error.strerror}",
                hint=f"check the environment variable {name}",
                code="io",
                file=path,
            ) from error

"""`rankscope judges`: agreement of judges, and estimates with a model's judgments."""

from __future__ import annotations

import rankscope as rs
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope.cli.files import add_file_options, name_file, read_columns, refuse_stdin_twice
from rankscope.cli.options import (
    add_encoding_option,
    add_format_options,
    add_measures_option,
    add_policy_option,
)
from rankscope.cli.output import print_csv, print_json
from rankscope.cli.parser import read_number
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from rankscope.cli.parser import Parser
    from rankscope.output.exports import Tabular

DEFAULT_MEASURES = ("nDCG@10",)
METHODS = ("auto", "bounded", "dense")
LEVEL = 0.95
OF_TABLES = ("judges", "judge")
OF_RUNS = ("run_path", "baseline", "measures", "policy")
OF_ESTIMATES = ("interval", "method", "probabilities")
WAYS = "write TABLE --judges COLUMN COLUMN, QRELS QRELS, or HUMAN_QRELS MODEL_QRELS --run RUN"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage = (
        "%(prog)s [options] TABLE --judges COLUMN COLUMN...\n"
        "       %(prog)s [options] TABLE --judge COLUMN\n"
        "       %(prog)s [options] QRELS QRELS\n"
        "       %(prog)s [options] HUMAN_QRELS MODEL_QRELS --run RUN"
    )
    parser.add_argument(
        "inputs",
        metavar="TABLE | QRELS QRELS",
        nargs="+",
        help="a table of judgments, or the judgments of two judges, to measure their agreement; "
        "with --run, the judgments of people for some queries and those of a model for all, to "
        "evaluate the run with both",
    )
    parser.add_argument(
        "--judges",
        nargs="+",
        metavar="COLUMN",
        help="columns of grades, one per judge, in a table with one row per document",
    )
    parser.add_argument(
        "--judge",
        metavar="COLUMN",
        help="column that names the judge, in a table with one row per judgment",
    )
    group = parser.add_argument_group("Options with a run")
    group.add_argument("--run", dest="run_path", metavar="RUN", help="the run")
    group.add_argument(
        "--baseline",
        metavar="RUN",
        help="another run, to estimate the difference: the run minus this one",
    )
    add_measures_option(group, DEFAULT_MEASURES)  # type: ignore[arg-type]  # a group adds arguments, too
    group.add_argument(
        "--interval",
        type=read_number,
        metavar="LEVEL",
        help=f"confidence level of the intervals (default: {LEVEL})",
    )
    group.add_argument(
        "--method",
        choices=METHODS,
        help="promise of the intervals: `bounded` holds for all values with limits, `dense` is "
        "narrower and assumes that no rare value is missing; `auto` is bounded for measures with "
        "limits (default: auto)",
    )
    group.add_argument(
        "--probabilities",
        metavar="TABLE",
        help="table with the columns `query` and `probability`: how likely it was that people "
        "were asked about a query (default: equally likely for all that differ)",
    )
    add_policy_option(group)  # type: ignore[arg-type]  # as above
    add_format_options(parser)
    add_encoding_option(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope judges ratings.csv --judges llm human",
        "rankscope judges ratings.csv --judge rater --col relevance=grade",
        "rankscope judges human.qrels llm.qrels",
        "rankscope judges human.qrels llm.qrels --run dense.run -m nDCG@10",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Print the agreement, or the estimate."""
    refuse_stdin_twice(options.inputs)
    if len(options.inputs) > 2:
        raise UsageError(
            f"this command takes one table or two files of judgments, found {len(options.inputs)} "
            "files",
            hint=WAYS,
            code="usage",
        )
    result: rs.JudgeAgreement | rs.ModelJudgedEvaluation
    is_estimate = len(options.inputs) == 2 and options.run_path is not None
    if len(options.inputs) == 2:
        _refuse_options(options, OF_TABLES, "one file")
    if is_estimate:
        result = _estimate(options)
    else:
        _refuse_options(options, (*OF_RUNS, *OF_ESTIMATES), "two files of judgments and --run")
        result = _measure_agreement(options)
    if options.json:
        print_json(result.to_dict())
    elif options.csv:
        _print_table(result)
    else:
        print(result)
    return 0


def _refuse_options(options: Namespace, names: Sequence[str], needed: str) -> None:
    used = [name for name in names if getattr(options, name) not in (None, [], "")]
    if used:
        option = {"run_path": "run", "measures": "measure"}.get(used[0], used[0])
        raise UsageError(f"--{option} works with {needed}", hint=WAYS, code="usage")


def _measure_agreement(options: Namespace) -> rs.JudgeAgreement:
    if len(options.inputs) == 2:
        names = shorten_names([name_path(path, "qrels") for path in options.inputs])
        files = (name_file(path, "qrels", options) for path in options.inputs)
        judgments = dict(zip(names, files, strict=True))
        return rs.judge_agreement(judgments, encoding=options.encoding)
    if (options.judges is None) == (options.judge is None):
        raise UsageError(
            "a table needs either --judges or --judge",
            hint="use --judges with one column per judge, --judge with one row per judgment; the "
            "judgments of two judges in files of their own are two files",
            code="usage",
        )
    columns = read_columns(options)
    return rs.judge_agreement(
        name_file(options.inputs[0], "table", options),
        judges=options.judges and [name for of in options.judges for name in of.split(",")],
        judge=options.judge,
        relevance=columns.get("relevance"),
        encoding=options.encoding,
    )


def _estimate(options: Namespace) -> rs.ModelJudgedEvaluation:
    human, model = (name_file(path, "qrels", options) for path in options.inputs)
    runs = (options.run_path, options.baseline)
    one, baseline = (path and name_file(path, "run", options) for path in runs)
    level = LEVEL if options.interval is None else options.interval
    return rs.evaluate_with_model_judge(
        human,
        model,
        one,
        split_measures(options.measures or DEFAULT_MEASURES),
        baseline=baseline,
        probabilities=options.probabilities and _read_probabilities(options),
        interval=rs.Interval(level, method=options.method or "auto"),
        policy=options.policy or None,
        encoding=options.encoding,
    )


def _read_probabilities(options: Namespace) -> dict[str, float]:
    from rankscope._inputs.query_table import read_query_table  # noqa: PLC0415 - only for it

    table = read_query_table(
        options.probabilities, Reading.read(encoding=options.encoding), numbers=["probability"]
    )
    column: list[float] = table.numbers["probability"].tolist()
    return dict(zip(table.query_ids, column, strict=True))


def _print_table(result: Tabular) -> None:
    columns = result._tabulate()  # noqa: SLF001 - the columns that data frames get
    rows = zip(*columns.values(), strict=True)
    print_csv([columns.keys(), *rows])

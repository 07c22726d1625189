"""`rankscope judges`: the agreement of judges, and estimates with the judgments of a model."""

from __future__ import annotations

import rankscope as rs
from rankscope.cli.files import add_file_options, name_file, read_columns, refuse_stdin_twice
from rankscope.cli.options import (
    add_encoding_option,
    add_format_options,
    add_measures_option,
    add_policy_option,
)
from rankscope.cli.output import print_csv, print_json
from rankscope.cli.parser import Once, read_number
from rankscope.errors import UsageError
from rankscope.measures.splitting import split_measures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from rankscope.cli.parser import Parser
    from rankscope.results.tables import Tabular

DEFAULT_MEASURES = ("nDCG@10",)
LEVEL = 0.95
OF_TABLES = ("judges", "judge")
OF_RUNS = ("baseline", "measures", "policy", "interval")


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.usage = (
        "%(prog)s [options] TABLE --judges COLUMN COLUMN...\n"
        "       %(prog)s [options] TABLE --judge COLUMN\n"
        "       %(prog)s [options] HUMAN_QRELS MODEL_QRELS --run RUN"
    )
    parser.add_argument(
        "inputs",
        metavar="TABLE | HUMAN_QRELS MODEL_QRELS",
        nargs="+",
        help="a table of judgments to measure the agreement of its judges; or the judgments of "
        "people for some queries and those of a model for all, to evaluate a run with both",
    )
    parser.add_argument(
        "--judges",
        action=Once,
        nargs="+",
        metavar="COLUMN",
        help="columns of grades, one per judge, in a table with one row per document",
    )
    parser.add_argument(
        "--judge",
        action=Once,
        metavar="COLUMN",
        help="column that names the judge, in a table with one row per judgment",
    )
    group = parser.add_argument_group("Options for two files of judgments")
    group.add_argument("--run", dest="run_path", action=Once, metavar="RUN", help="the run")
    group.add_argument(
        "--baseline",
        action=Once,
        metavar="RUN",
        help="another run, to estimate the difference: the run minus this one",
    )
    add_measures_option(group, DEFAULT_MEASURES)  # type: ignore[arg-type]  # a group adds arguments, too
    group.add_argument(
        "--interval",
        action=Once,
        type=read_number,
        metavar="LEVEL",
        help=f"confidence level of the intervals (default: {LEVEL})",
    )
    add_policy_option(group)  # type: ignore[arg-type]  # as above
    add_format_options(parser)
    add_encoding_option(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope judges ratings.csv --judges llm human",
        "rankscope judges ratings.csv --judge rater --col relevance=grade",
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
            hint="write TABLE --judges COLUMN COLUMN, or HUMAN_QRELS MODEL_QRELS --run RUN",
            code="usage",
        )
    is_table = len(options.inputs) == 1
    _refuse_options(options, is_table=is_table)
    found: rs.JudgeAgreement | rs.ModelJudgedEvaluation = (
        _measure_agreement(options) if is_table else _estimate(options)
    )
    if options.json:
        print_json(found.to_dict())
    elif options.csv:
        _print_table(found)
    else:
        print(found)
    return 0


def _refuse_options(options: Namespace, *, is_table: bool) -> None:
    used = [
        name
        for name in ((*OF_RUNS, "run_path") if is_table else OF_TABLES)
        if getattr(options, name)
    ]
    if used:
        option = {"run_path": "run", "measures": "measure"}.get(used[0], used[0])
        needed = "two files of judgments" if is_table else "one table"
        raise UsageError(
            f"--{option} works with {needed}",
            hint="write TABLE --judges COLUMN COLUMN, or HUMAN_QRELS MODEL_QRELS --run RUN",
            code="usage",
        )
    if is_table and (options.judges is None) == (options.judge is None):
        raise UsageError(
            "a table needs either --judges or --judge",
            hint="use --judges with one column per judge, --judge with one row per judgment",
            code="usage",
        )
    if not is_table and options.run_path is None:
        raise UsageError(
            "two files of judgments need the run to evaluate",
            hint="add --run RUN",
            code="usage",
        )


def _measure_agreement(options: Namespace) -> rs.JudgeAgreement:
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
    baseline = options.baseline
    return rs.evaluate_with_model_judge(
        human,
        model,
        name_file(options.run_path, "run", options),
        split_measures(options.measures or DEFAULT_MEASURES),
        baseline=None if baseline is None else name_file(baseline, "run", options),
        interval=LEVEL if options.interval is None else options.interval,
        policy=options.policy or None,
        encoding=options.encoding,
    )


def _print_table(found: Tabular) -> None:
    columns = found._tabulate()  # noqa: SLF001 - the columns that data frames get
    rows = zip(*columns.values(), strict=True)
    print_csv([columns.keys(), *rows])

"""`rankscope judges`: agreement of judges, and estimates with a model's judgments."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from rankscope import Interval, judges
from rankscope._cli.options import (
    add_encoding_option,
    add_file_options,
    add_format_options,
    add_measures_option,
    add_policy_option,
    name_file,
    read_columns,
    refuse_stdin_twice,
)
from rankscope._cli.parser import Parser, print_csv, print_json, read_number
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope.errors import UsageError
from rankscope.measures.parse import split_measures

DEFAULT_MEASURES = ("nDCG@10",)
LEVEL = 0.95
OF_TABLES = {"judges": "--judges", "judge": "--judge"}
OF_ESTIMATES = {
    "run_path": "--run",
    "baseline": "--baseline",
    "measures": "--measure",
    "policy": "--policy",
    "interval": "--interval",
    "method": "--method",
}
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
        choices=("auto", "bounded", "dense"),
        help="promise of the intervals: `bounded` holds for all values with limits, `dense` is "
        "narrower and assumes that no rare value is missing; `auto` is bounded for measures with "
        "limits (default: auto)",
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
    has_pair = len(options.inputs) == 2
    if has_pair:
        _refuse_options(options, OF_TABLES, "one file")
    result: judges.JudgeAgreement | judges.ModelJudgedEvaluation
    if has_pair and options.run_path is not None:
        result = _estimate(options)
    else:
        _refuse_options(options, OF_ESTIMATES, "two files of judgments and --run")
        result = _compare_files(options) if has_pair else _compare_columns(options)
    if options.json:
        print_json(result.to_dict())
    elif options.csv:
        columns = result._tabulate()  # noqa: SLF001 - the columns that data frames get
        print_csv([columns.keys(), *zip(*columns.values(), strict=True)])
    else:
        print(result)
    return 0


def _refuse_options(options: Namespace, flags: Mapping[str, str], needed: str) -> None:
    for name, flag in flags.items():
        if getattr(options, name) not in (None, [], ""):
            raise UsageError(f"{flag} works with {needed}", hint=WAYS, code="usage")


def _compare_files(options: Namespace) -> judges.JudgeAgreement:
    names = shorten_names([name_path(path, "qrels") for path in options.inputs])
    if names[0] == names[1]:
        raise UsageError(
            f"expected the judgments of two judges, found the same file twice: {names[0]}",
            hint="name the file of the other judge; if one table has the grades of both, name it "
            "once, with --judges or --judge",
            code="usage",
        )
    files = (name_file(path, "qrels", options) for path in options.inputs)
    return judges.agreement(dict(zip(names, files, strict=True)), encoding=options.encoding)


def _compare_columns(options: Namespace) -> judges.JudgeAgreement:
    if (options.judges is None) == (options.judge is None):
        raise UsageError(
            "a table needs either --judges or --judge",
            hint="use --judges with one column per judge, --judge with one row per judgment; the "
            "judgments of two judges in files of their own are two files",
            code="usage",
        )
    return judges.agreement(
        name_file(options.inputs[0], "table", options),
        judges=options.judges and [name for of in options.judges for name in of.split(",")],
        judge=options.judge,
        relevance=read_columns(options).get("relevance"),
        encoding=options.encoding,
    )


def _estimate(options: Namespace) -> judges.ModelJudgedEvaluation:
    human, model = (name_file(path, "qrels", options) for path in options.inputs)
    paths = (options.run_path, options.baseline)
    run, baseline = (path and name_file(path, "run", options) for path in paths)
    return judges.evaluate(
        human,
        model,
        run,
        split_measures(options.measures or DEFAULT_MEASURES),
        baseline=baseline,
        interval=Interval(
            LEVEL if options.interval is None else options.interval,
            method=options.method or "auto",
        ),
        policy=options.policy or None,
        encoding=options.encoding,
    )

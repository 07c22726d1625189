"""The inputs of commands: judgments and runs, or one table whose rows hold both."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from typing import TYPE_CHECKING, Any

import rankscope as rs
from rankscope._cli.options import is_letor, name_file, read_columns, read_items, refuse_stdin_twice
from rankscope._cli.parser import Parser
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.settings import Settings
from rankscope._inputs.files import is_scores
from rankscope._inputs.recognition import name_path, recognise_table
from rankscope._names import quote
from rankscope._settings import Reading, Ties
from rankscope._show.progress import ProgressBar
from rankscope._show.table import show
from rankscope.errors import FormatError, UsageError

if TYPE_CHECKING:
    from rankscope._evaluate.rankings import Rankings


TABLE_OPTIONS = ("by", "cluster", "assume_grouped", "positive")


def bad_usage(message: str, hint: str) -> UsageError:
    """Return the error for words of a command that don't go together."""
    return UsageError(message, hint=hint, code="usage")


def add_inputs(parser: Parser) -> None:
    """Add the inputs of a command that takes judgments and runs, or one table."""
    parser.usage = "%(prog)s [options] QRELS RUN...\n       %(prog)s [options] TABLE"
    parser.add_argument(
        "inputs",
        metavar="QRELS RUN... | TABLE",
        nargs="+",
        help="judgments and one or more runs, or one table whose rows hold both; - reads standard "
        "input",
    )


def add_table_options(parser: Parser) -> _ArgumentGroup:
    """Add the options of a table whose rows hold both, and return their group."""
    group = parser.add_argument_group("Options for one table")
    group.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="report each value of this query attribute, or each combination of several, "
        "separately",
    )
    group.add_argument(
        "--positive",
        action="append",
        metavar="LABEL[=GRADE]",
        help="label that counts as relevant, and its grade (1 unless set); needs --col "
        "label=COLUMN",
    )
    return group


def list_reading(options: Namespace) -> dict[str, Any]:
    """Return the options about how files are read, as `evaluate` and others take them."""
    names = ("duplicates", "ignore_same", "score_type", "encoding", "threads", "strict")
    return {name: getattr(options, name) for name in names}


def list_settings(options: Namespace) -> dict[str, Any]:
    """Return what the options say of an evaluation and its files, as `evaluate` takes it."""
    names = ("convention", "interval", "cluster", "memory", "spill_folder")
    return {
        "policy": options.policy or None,
        "items": read_items(options),
        **{name: getattr(options, name) for name in names},
        **list_reading(options),
    }


def refuse_table_options(options: Namespace, *allowed: str) -> None:
    """Refuse options of a table, except the allowed ones, if the inputs are judgments and runs."""
    names = [name for name in TABLE_OPTIONS if getattr(options, name, None) and name not in allowed]
    used = [f"--{name.replace('_', '-')}" for name in names]
    used += [f"--col {role}" for role in ("label", "weight") if role in read_columns(options)]
    if used:
        raise bad_usage(
            f"{used[0]} works with one table, not with judgments and runs",
            "add --attributes FILE, a table with one row per query and this column"
            if used[0] in {"--by", "--cluster"} and hasattr(options, "attributes")
            else "pass one file whose rows hold grades and scores or ranks",
        )


def read_settings(measures: list[str], options: Namespace) -> Settings:
    """Return the settings of an evaluation of rankings that the options ask for."""
    return Settings(
        measures=measures,
        policy=options.policy or None,
        convention=options.convention,
        interval=getattr(options, "interval", None),
        by=getattr(options, "by", None),
        cluster=getattr(options, "cluster", None),
        items=read_items(options) if hasattr(options, "items") else None,
        strict=getattr(options, "strict", False),
    )


def read_table(path: str, options: Namespace) -> tuple[str | rs.File, dict[str, Any]]:
    """Return a table, and what the options say of its columns, as `rankscope.evaluate` takes it."""
    if options.score_type == "float32":
        raise bad_usage(
            "--score-type float32 does not work with a table",
            "round the scores when you write the table",
        )
    columns = read_columns(options)
    if options.positive and "label" not in columns:
        raise bad_usage("--positive needs the column of the labels", "add --col label=COLUMN")
    table = name_file(path, "table", options)
    try:
        recognise_table(table)
    except FormatError as error:
        if error.code != "unknown_format":
            raise
        raise refuse_single_file(path) from error
    return table, {
        "by": options.by,
        "labels": columns.get("label"),
        "positive": _read_positive(options.positive),
        "weights": columns.get("weight"),
    }


def evaluate_table(path: str, measures: list[str], options: Namespace) -> Evaluation:
    """Evaluate a table."""
    table, arguments = read_table(path, options)
    arguments |= list_settings(options) | {"assume_grouped": options.assume_grouped}
    with ProgressBar(show(name_path(path, "table"))) as progress:
        evaluation: Evaluation = rs.evaluate(table, measures, progress=progress, **arguments)
    return evaluation


def refuse_single_file(path: str) -> UsageError:
    """Return the error for one file that is not a table."""
    return bad_usage(
        f"found only one file, {quote(path)}, and its name is not that of a table",
        "add a run; or, if it is a table of rankings with grades, its format: --format csv",
    )


def evaluate_scores(path: str, scores: str, measures: list[str], options: Namespace) -> Evaluation:
    """Evaluate rows of SVMlight text by a file of scores, one for each row."""
    from rankscope._evaluate.rankings import evaluate_rankings

    for name in ("memory", "spill_folder"):
        if getattr(options, name) is not None:
            raise bad_usage(
                f"--{name.replace('_', '-')} does not work with SVMlight rows and scores, which "
                "need all rows in memory",
                "write a run as a TREC file",
            )
    settings = read_settings(measures, options)
    rankings = rank_scores(path, scores, settings.choose_ties(), options)
    return evaluate_rankings(rankings, settings, Reading(threads=options.threads))


def rank_scores(
    path: str, scores: str, ties: Ties | None, options: Namespace, *, names_rows: bool = False
) -> rs.Rankings:
    """Rank rows of SVMlight text by a file of scores, one for each row."""
    from rankscope._inputs.letor import read_scored

    reading = Reading(encoding=options.encoding)
    with ProgressBar(show(name_path(path, "qrels"))) as progress:
        rows = read_scored(path, scores, reading, lambda done: progress(done, None))
    if names_rows and "doc_id" not in rows.column_names:
        numbers = [f"row {number}" for number in range(1, rows.num_rows + 1)]
        rows = rows.append_column("doc_id", [numbers])
    return rs.Rankings.from_table(rows, ties=ties, duplicates=options.duplicates)


def rank_files(paths: list[str], measure: str, options: Namespace) -> Rankings:
    """Rank judgments and a run, or one table whose rows hold both."""
    from rankscope._evaluate.ranked_runs import read_rankings

    refuse_stdin_twice(paths)
    settings = read_settings([measure], options)
    names = ("duplicates", "ignore_same", "score_type", "encoding")
    reading: dict[str, Any] = {name: getattr(options, name) for name in names}
    run = None
    if len(paths) == 1:
        judgments, arguments = read_table(paths[0], options)
        reading |= {name: arguments[name] for name in ("labels", "positive")}
    else:
        refuse_table_options(options)
        if len(paths) != 2:
            raise bad_usage(
                f"this command takes judgments and one run, or one table; found {len(paths)} files",
                "write QRELS RUN, or TABLE",
            )
        if is_letor(paths[0], options) and is_scores(paths[1]):
            return rank_scores(paths[0], paths[1], settings.choose_ties(), options)
        judgments, run = name_file(paths[0], "qrels", options), name_file(paths[1], "run", options)
    with ProgressBar(show(name_path(paths[0], "qrels"))) as progress:
        reading["progress"] = progress
        return read_rankings("explain", judgments, run, [measure], reading, settings=settings)[0]


def _read_positive(texts: list[str] | None) -> dict[str, float] | None:
    """Return the grades of the labels that count as relevant."""
    positive = {}
    for text in texts or ():
        name, _, grade = text.partition("=")
        try:
            positive[name] = float(grade or 1)
        except ValueError:
            raise bad_usage(
                f"the grade in --positive {quote(text)} is not a number", "write --positive click=1"
            ) from None
    return positive or None

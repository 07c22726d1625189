"""Reads the inputs of a command: judgments and runs, or one table whose rows hold both."""

from __future__ import annotations

import rankscope as rs
from rankscope._evaluate.settings import Settings
from rankscope._inputs.files import is_scores
from rankscope._inputs.recognition import name_path, recognise_table
from rankscope.cli.files import is_letor, name_file, read_columns, read_items, refuse_stdin_twice
from rankscope.errors import FormatError, UsageError
from rankscope.names import quote
from rankscope.output.progress import ProgressBar
from rankscope.output.text import show
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _ArgumentGroup
    from typing import Any

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.rankings import Rankings
    from rankscope.cli.parser import Parser
    from rankscope.settings.policy import Ties

TABLE_OPTIONS = ("by", "cluster", "assume_grouped", "positive")


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


def refuse_table_options(options: Namespace, *known: str) -> None:
    """Refuse options of a table, except the known ones, if the inputs are judgments and runs."""
    names = [name for name in TABLE_OPTIONS if getattr(options, name, None) and name not in known]
    used = [f"--{name.replace('_', '-')}" for name in names]
    used += [f"--col {role}" for role in ("label", "weight") if role in read_columns(options)]
    if used:
        raise UsageError(
            f"{used[0]} works with one table, not with judgments and runs",
            hint="add --attributes FILE, a table with one row per query and this column"
            if used[0] in {"--by", "--cluster"} and hasattr(options, "attributes")
            else "pass one file whose rows hold grades and scores or ranks",
            code="usage",
        )


def refuse_memory_options(options: Namespace, inputs: str, hint: str) -> None:
    """Refuse a memory limit for inputs of which all rows are held in memory."""
    for name in ("memory", "spill_folder"):
        if getattr(options, name, None) is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} does not work with {inputs}, which need all rows in "
                "memory",
                hint=hint,
                code="usage",
            )


def ask(measures: list[str], options: Namespace) -> Settings:
    """Return what the options ask of rankings."""
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
    table, columns = name_table(path, options)
    return table, {
        "by": options.by,
        "labels": columns.get("label"),
        "positive": read_positive(options.positive),
        "weights": columns.get("weight"),
    }


def evaluate_table(path: str, measures: list[str], options: Namespace) -> Evaluation:
    """Evaluate a table."""
    table, of_table = read_table(path, options)
    with ProgressBar(show(name_path(path, "table"))) as progress:
        evaluation: Evaluation = rs.evaluate(
            table,
            measures,
            assume_grouped=options.assume_grouped,
            progress=progress,
            **of_table,
            **list_settings(options),
        )
    return evaluation


def name_table(path: str, options: Namespace) -> tuple[str | rs.File, dict[str, str]]:
    """Return a table with the format and the columns that the options name."""
    if options.score_type == "float32":
        raise UsageError(
            "--score-type float32 does not work with a table",
            hint="round the scores when you write the table",
            code="usage",
        )
    columns = read_columns(options)
    if options.positive and "label" not in columns:
        raise UsageError(
            "--positive needs the column of the labels",
            hint="add --col label=COLUMN",
            code="usage",
        )
    table = name_file(path, "table", options)
    try:
        recognise_table(table)
    except FormatError as error:
        if error.code != "unknown_format":
            raise
        raise refuse_single_file(path) from error
    return table, columns


def refuse_single_file(path: str) -> UsageError:
    """Return the error for one file that is not a table."""
    return UsageError(
        f"found only one file, {quote(path)}, and its name is not that of a table",
        hint="add a run; or, if it is a table of rankings with grades, its format: --format csv",
        code="usage",
    )


def evaluate_scores(path: str, scores: str, measures: list[str], options: Namespace) -> Evaluation:
    """Evaluate rows of SVMlight text by a file of scores, one for each row."""
    from rankscope._evaluate.rankings import evaluate_rankings  # noqa: PLC0415 - few need it

    refuse_memory_options(options, "SVMlight rows and scores", "write a run as a TREC file")
    asked = ask(measures, options)
    rankings = rank_scores(path, scores, asked.choose_ties(), options)
    return evaluate_rankings(rankings, asked, Reading.read(threads=options.threads))


def rank_scores(
    path: str, scores: str, ties: Ties | None, options: Namespace, *, names_rows: bool = False
) -> rs.Rankings:
    """Rank rows of SVMlight text by a file of scores, one for each row."""
    from rankscope._inputs.letor import read_scored  # noqa: PLC0415 - loads late

    reading = Reading.read(encoding=options.encoding)
    with ProgressBar(show(name_path(path, "qrels"))) as progress:
        rows = read_scored(path, scores, reading, lambda done: progress(done, None))
    if names_rows and "doc_id" not in rows.column_names:
        numbers = [f"row {number}" for number in range(1, rows.num_rows + 1)]
        rows = rows.append_column("doc_id", [numbers])
    return rs.Rankings.from_table(rows, ties=ties, duplicates=options.duplicates)


def rank_files(paths: list[str], measure: str, options: Namespace) -> Rankings:
    """Rank judgments and a run, or one table whose rows hold both."""
    from rankscope._evaluate.ranked_runs import read_rankings  # noqa: PLC0415 - few need it

    refuse_stdin_twice(paths)
    settings = ask([measure], options)
    names = ("duplicates", "ignore_same", "score_type", "encoding")
    reading: dict[str, Any] = {name: getattr(options, name) for name in names}
    run = None
    if len(paths) == 1:
        judgments, of_table = read_table(paths[0], options)
        reading |= {name: of_table[name] for name in ("labels", "positive")}
    else:
        refuse_table_options(options)
        if len(paths) != 2:
            raise UsageError(
                f"this command takes judgments and one run, or one table; found {len(paths)} files",
                hint="write QRELS RUN, or TABLE",
                code="usage",
            )
        if is_letor(paths[0], options) and is_scores(paths[1]):
            return rank_scores(paths[0], paths[1], settings.choose_ties(), options)
        judgments, run = name_file(paths[0], "qrels", options), name_file(paths[1], "run", options)
    with ProgressBar(show(name_path(paths[0], "qrels"))) as progress:
        reading["progress"] = progress
        return read_rankings("explain", judgments, run, [measure], reading, settings=settings)[0]


def read_positive(texts: list[str] | None) -> dict[str, float] | None:
    """Return the grades of the labels that count as relevant."""
    if texts is None:
        return None
    positive = {}
    for text in texts:
        name, _, grade = text.partition("=")
        try:
            positive[name] = float(grade or 1)
        except ValueError:
            raise UsageError(
                f"the grade in --positive {quote(text)} is not a number",
                hint="write --positive click=1",
                code="usage",
            ) from None
    return positive

"""Reads the inputs of a command: judgments and runs, or one table whose rows hold both."""

from __future__ import annotations

import rankscope as rs
from rankscope.cli.files import is_letor, name_file, read_columns, read_items, refuse_stdin_twice
from rankscope.engine.progress import ProgressBar
from rankscope.engine.requests import read_request
from rankscope.errors import FormatError, UsageError
from rankscope.evaluation.evaluating import refuse_diagnostics
from rankscope.inputs.files.formats import is_scores
from rankscope.inputs.recognition import name_path, recognise_table
from rankscope.names import quote
from rankscope.output.text import show
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace, _ArgumentGroup
    from typing import Any

    from rankscope.cli.parser import Parser
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.settings.policy import Ties
    from rankscope.typing import InputLike, Progress

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
    names = ("duplicates", "score_type", "encoding", "threads", "strict")
    return {name: getattr(options, name) for name in names}


def refuse_table_options(options: Namespace, *known: str) -> None:
    """Refuse options of a table, except the known ones, if the inputs are judgments and runs."""
    names = [name for name in TABLE_OPTIONS if getattr(options, name, None) and name not in known]
    used = [f"--{name.replace('_', '-')}" for name in names]
    used += [f"--col {role}" for role in ("label", "weight") if role in read_columns(options)]
    if used:
        raise UsageError(
            f"{used[0]} works with one table, not with judgments and runs",
            hint="add --attributes FILE, a table with one row per query and this column"
            if used[0] == "--cluster"
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


def evaluate_table(path: str, measures: list[str], options: Namespace) -> Evaluation:
    """Evaluate a table."""
    table, columns = name_table(path, options)
    with ProgressBar(show(name_path(path, "table"))) as progress:
        if not {"label", "weight"} & columns.keys():
            return rs.evaluate_table(
                table,
                measures,
                policy=options.policy or None,
                convention=options.convention,
                by=options.by,
                interval=options.interval,
                cluster=options.cluster,
                items=read_items(options),
                duplicates=options.duplicates,
                encoding=options.encoding,
                assume_grouped=options.assume_grouped,
                threads=options.threads,
                memory=getattr(options, "memory", None),
                spill_folder=getattr(options, "spill_folder", None),
                strict=options.strict,
                progress=progress,
            )
        refuse_memory_options(
            options,
            "--col label or --col weight",
            "write the grades into a column of the table",
        )
        rankings = rank_table(table, columns, read_ties(measures, options), options, progress)
    return evaluate_rankings(rankings, measures, options, read_weights(rankings, columns))


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
    refuse_memory_options(options, "SVMlight rows and scores", "write a run as a TREC file")
    rankings = rank_scores(path, scores, read_ties(measures, options), options)
    return evaluate_rankings(rankings, measures, options)


def rank_scores(
    path: str, scores: str, ties: Ties, options: Namespace, *, names_rows: bool = False
) -> rs.Rankings:
    """Rank rows of SVMlight text by a file of scores, one for each row."""
    from rankscope.inputs.letor import read_scored  # noqa: PLC0415 - loads late

    reading = Reading.read(encoding=options.encoding)
    with ProgressBar(show(name_path(path, "qrels"))) as progress:
        rows = read_scored(path, scores, reading, lambda done: progress(done, None))
    if names_rows and "doc_id" not in rows.column_names:
        numbers = [f"row {number}" for number in range(1, rows.num_rows + 1)]
        rows = rows.append_column("doc_id", [numbers])
    return rs.Rankings.from_table(rows, ties=ties, duplicates=options.duplicates)


def rank_files(paths: list[str], measure: str, options: Namespace) -> rs.Rankings:
    """Rank judgments and a run, or one table whose rows hold both."""
    refuse_stdin_twice(paths)
    if len(paths) == 1:
        table, columns = name_table(paths[0], options)
        ties = read_ties([measure], options)
        with ProgressBar(show(name_path(paths[0], "table"))) as progress:
            return rank_table(table, columns, ties, options, progress)
    refuse_table_options(options)
    if len(paths) != 2:
        raise UsageError(
            f"this command takes judgments and one run, or one table; found {len(paths)} files",
            hint="write QRELS RUN, or TABLE",
            code="usage",
        )
    qrels, run = paths
    if is_letor(qrels, options) and is_scores(run):
        return rank_scores(qrels, run, read_ties([measure], options), options)
    request = read_request(
        measure,
        options.policy if options.convention else rs.Policy.parse(options.policy),
        convention=options.convention,
        score_type=options.score_type,
        grades=[],
    )
    with ProgressBar("judgments") as progress:
        judgments = rs.read_qrels(
            name_file(qrels, "qrels", options),
            duplicates=options.duplicates,
            encoding=options.encoding,
            progress=progress,
        )
    return rs.Rankings.from_run(
        judgments,
        name_file(run, "run", options),
        ties=request.ties,
        duplicates=options.duplicates,
        score_type=request.score_type,
        encoding=options.encoding,
    )


def evaluate_rankings(
    rankings: rs.Rankings,
    measures: list[str],
    options: Namespace,
    weights: dict[str, float] | None = None,
) -> Evaluation:
    """Evaluate rankings with the policy, the interval and the groups of the options."""
    evaluation = rankings.evaluate(
        measures,
        policy=options.policy or None,
        convention=options.convention,
        by=options.by,
        interval=options.interval,
        cluster=options.cluster,
        weights=weights,
        items=read_items(options),
        threads=options.threads,
    )
    if options.strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation


def read_ties(measures: list[str], options: Namespace) -> Ties:
    """Return how equal scores are ordered in rows that hold both scores and grades."""
    request = read_request(
        measures,
        options.policy or None,
        default=rs.Policy(ties="average"),
        convention=options.convention,
        score_type=None,
        grades=[],
    )
    return request.ties


def rank_table(
    table: InputLike,
    columns: dict[str, str],
    ties: Ties,
    options: Namespace,
    progress: Progress,
) -> rs.Rankings:
    """Rank the rows of a table, with the attributes that the options name."""
    weight = [columns["weight"]] if "weight" in columns else []
    cluster = [options.cluster] if getattr(options, "cluster", None) else []
    return rs.Rankings.from_table(
        table,
        labels=columns.get("label"),
        positive=read_positive(options.positive),
        attributes=list(dict.fromkeys([*(options.by or []), *cluster, *weight])),
        ties=ties,
        duplicates=options.duplicates,
        encoding=options.encoding,
        progress=progress,
    )


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


def read_weights(rankings: rs.Rankings, columns: dict[str, str]) -> dict[str, float] | None:
    """Return the weights of the queries from their column, if `--col` names one."""
    if "weight" not in columns:
        return None
    values = rankings.attribute(columns["weight"])
    try:
        return dict(zip(rankings.query_texts, map(float, values), strict=True))
    except ValueError as error:
        raise FormatError(
            f"column {columns['weight']} has a weight that is not a number",
            hint="a weight is one number per query: how much the query counts",
            code="bad_weights",
        ) from error

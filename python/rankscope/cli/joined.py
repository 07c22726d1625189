"""Evaluates one table whose rows hold both what was shown and how good it was."""

from __future__ import annotations

import rankscope as rs
from rankscope.adapters.inputs import name_path, recognise_table
from rankscope.cli.files import name_file, read_columns
from rankscope.cli.progress import ProgressBar
from rankscope.engine import read_request, refuse_diagnostics
from rankscope.errors import FormatError, UsageError
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rankscope.data.policy import Ties
    from rankscope.results import Evaluation
    from rankscope.typing import InputLike, Progress

FOR_TABLES = ("by", "assume_grouped", "positive")


def add_joined_arguments(parser: ArgumentParser) -> None:
    """Say what a command takes about a table that holds scores and grades together."""
    group = parser.add_argument_group("a table whose rows hold scores, or ranks, and grades")
    group.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="a column of what belongs to the query: values of each part; may be given again, for "
        "each combination",
    )
    group.add_argument(
        "--positive",
        action="append",
        metavar="CLASS[=GRADE]",
        help="a positive class of --col label=NAME, worth 1 or the grade; may be given again",
    )


def refuse_joined_arguments(options: Namespace) -> None:
    """Refuse options of a table where there are judgments and runs.

    Raises:
        UsageError: There is one.
    """
    given = [f"--{name.replace('_', '-')}" for name in FOR_TABLES if getattr(options, name, None)]
    given += [f"--col {role}" for role in ("label", "weight") if role in read_columns(options)]
    if given:
        raise UsageError(
            f"expected one table beside {given[0]}, found judgments and runs",
            hint="give one file whose rows hold scores, or ranks, and grades",
            code="usage",
        )


def evaluate_joined(path: str, measures: list[str], options: Namespace) -> Evaluation:
    """Evaluate the table.

    Raises:
        UsageError: An option does not fit.
        InputError: It is not of the format.
        FileError: It cannot be read.
    """
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
                duplicates=options.duplicates,
                encoding=options.encoding,
                assume_grouped=options.assume_grouped,
                threads=options.threads,
                strict=options.strict,
                progress=progress,
            )
        rankings = rank_table(table, columns, read_ties(measures, options), options, progress)
    return evaluate_rankings(rankings, measures, options, read_weights(rankings, columns))


def name_table(path: str, options: Namespace) -> tuple[str | rs.File, dict[str, str]]:
    """Say of a table what its name does not, and which of its columns are named, by role.

    Raises:
        UsageError: An option does not fit.
        InputError: It is no table.
    """
    if options.score_type == "float32":
        raise UsageError(
            "expected scores of a table as they are, found --score-type float32",
            hint="round them when the table is written",
            code="usage",
        )
    columns = read_columns(options)
    if options.positive and "label" not in columns:
        raise UsageError(
            "expected --col label=NAME beside --positive, found none",
            hint="name the column of labels",
            code="usage",
        )
    table = name_file(path, "table", options)
    try:
        recognise_table(table)
    except FormatError as error:
        if error.code != "unknown_format":
            raise
        raise UsageError(
            f"expected judgments and runs, or one table that holds both, found {show(path)} alone",
            hint="name a run, or say what table it is: --format csv",
            code="usage",
        ) from error
    return table, columns


def evaluate_scores(path: str, scores: str, measures: list[str], options: Namespace) -> Evaluation:
    """Evaluate rows of SVMlight text by the scores that a ranker wrote for them.

    Raises:
        UsageError: An option does not fit.
        InputError: They are not of the format.
        FileError: A file cannot be read.
    """
    rankings = rank_scores(path, scores, read_ties(measures, options), options)
    return evaluate_rankings(rankings, measures, options)


def rank_scores(
    path: str, scores: str, ties: Ties, options: Namespace, *, names_rows: bool = False
) -> rs.Rankings:
    """Rank rows of SVMlight text by the scores that a ranker wrote for them.

    Args:
        path: The rows.
        scores: The scores.
        ties: What decides between equal scores.
        options: How they are read.
        names_rows: Whether rows that name no document are called by their number.

    Raises:
        InputError: They are not of the format.
        FileError: A file cannot be read.
    """
    from rankscope.adapters.files.scored import read_scored  # noqa: PLC0415 - loads PyArrow

    with ProgressBar(show(name_path(path, "qrels"))) as progress:
        rows = read_scored(
            path, scores, encoding=options.encoding, progress=lambda done: progress(done, None)
        )
    if names_rows and "doc_id" not in rows.column_names:
        numbers = [f"row {number}" for number in range(1, rows.num_rows + 1)]
        rows = rows.append_column("doc_id", [numbers])
    return rs.Rankings.from_table(rows, ties=ties, duplicates=options.duplicates)


def evaluate_rankings(
    rankings: rs.Rankings,
    measures: list[str],
    options: Namespace,
    weights: dict[str, float] | None = None,
) -> Evaluation:
    """Evaluate rankings as the options say.

    Raises:
        UsageError: An option does not fit.
        InputError: The policy refuses a query.
    """
    evaluation = rankings.evaluate(
        measures,
        policy=options.policy or None,
        convention=options.convention,
        by=options.by,
        interval=options.interval,
        weights=weights,
        threads=options.threads,
    )
    if options.strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation


def read_ties(measures: list[str], options: Namespace) -> Ties:
    """What decides between equal scores of rows that hold both scores and grades."""
    request = read_request(
        measures,
        options.policy or None,
        default=rs.Policy(ties="average"),
        convention=options.convention,
        score_type=None,
        grades=[],
    )
    return request.policy.ties


def rank_table(
    table: InputLike,
    columns: dict[str, str],
    ties: Ties,
    options: Namespace,
    progress: Progress,
) -> rs.Rankings:
    """Rank the rows of a table, with the attributes that the options name.

    Raises:
        UsageError: An option does not fit.
        InputError: It is not of the format.
        FileError: It cannot be read.
    """
    weight = [columns["weight"]] if "weight" in columns else []
    return rs.Rankings.from_table(
        table,
        labels=columns.get("label"),
        positive=read_positive(options.positive),
        attributes=[*(options.by or []), *weight],
        ties=ties,
        duplicates=options.duplicates,
        encoding=options.encoding,
        progress=progress,
    )


def read_positive(given: list[str] | None) -> dict[str, float] | None:
    """Read the positive classes and their grades.

    Raises:
        UsageError: A grade is no number.
    """
    if given is None:
        return None
    positive = {}
    for text in given:
        name, _, grade = text.partition("=")
        try:
            positive[name] = float(grade or 1)
        except ValueError:
            raise UsageError(
                f"expected --positive as CLASS or CLASS=GRADE, found {text!r}",
                hint="write it as --positive click=1",
                code="usage",
            ) from None
    return positive


def read_weights(rankings: rs.Rankings, columns: dict[str, str]) -> dict[str, float] | None:
    """Read the weights of the queries from their column, if one is named.

    Raises:
        FormatError: One is no number.
    """
    if "weight" not in columns:
        return None
    values = rankings.attribute(columns["weight"])
    try:
        return dict(zip(rankings.query_ids, map(float, values), strict=True))
    except ValueError as error:
        raise FormatError(
            f"expected {columns['weight']} to hold a number a query, found another value",
            hint="a weight says how much a query counts",
            code="bad_weights",
        ) from error

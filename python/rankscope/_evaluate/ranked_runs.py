"""Read several runs, and rank them against the same judgments."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from rankscope._evaluate.evaluate import name_runs
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.evaluations import Evaluations
from rankscope._evaluate.judgments import load_qrels_for
from rankscope._evaluate.question import (
    READ,
    holds,
    read_table_options,
    refuse_attributes,
    refuse_reading,
    refuse_single_precision,
    refuse_table_options,
    refuse_unused,
    split_question,
)
from rankscope._evaluate.rankings import Rankings, evaluate_rankings, rank_rows, rank_run
from rankscope._inputs.files import tell_format
from rankscope._inputs.qrels import JoinedColumns
from rankscope._inputs.recognition import is_table, recognise_table, refuse_splits
from rankscope.deferred import np
from rankscope.errors import MeasureError, UsageError
from rankscope.file import File
from rankscope.measures import parse
from rankscope.output.progress import follow
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from rankscope._evaluate.settings import Settings
    from rankscope._inputs.qrels import Qrels
    from rankscope.measures.reading import Measures
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike

    Runs: TypeAlias = Mapping[str, InputLike] | Sequence[InputLike]


def read_runs(given: object) -> dict[str, InputLike]:
    """Return runs by name."""
    refuse_splits(given, "runs")
    if isinstance(given, Mapping):
        runs: dict[str, InputLike] = {str(name): run for name, run in given.items()}
    else:
        runs = name_runs(given)
    held: dict[str, object] = {**runs}
    for name, each in held.items():
        if isinstance(each, Rankings | Evaluation):
            kind = "an Evaluation" if isinstance(each, Evaluation) else "Rankings"
            raise UsageError(
                f"the run {name!r} is {kind}, which already has judgments",
                hint="pass the mapping without judgments: compare({'a': a, 'b': b}, 'nDCG@10')",
                code="bad_parameter",
            )
    if len(runs) < 2:
        raise UsageError(
            f"expected two or more runs to compare, found {len(runs)}",
            hint="write {'bm25': run_a, 'dense': run_b}",
            code="bad_parameter",
        )
    return runs


def read_rankings(
    function: str,
    judgments: object,
    run: object,
    measure: Measures | None,
    options: Mapping[str, Any],
    *,
    settings: Settings,
) -> tuple[Rankings, Settings, Reading]:
    """Read judgments and a run, or a table, into memory; return what is asked of them, too.

    Args:
        function: The name of the function, for messages.
        judgments: As in `evaluate`.
        run: As in `evaluate`.
        measure: As in `evaluate`.
        options: How the inputs are read.
        settings: The policy, the convention, and the attributes of queries.
    """
    reading, columns = read_table_options(function, options, holds_all="rankings")
    judged, given, wanted = split_question(function, judgments, run, measure)
    settings = replace(settings, measures=wanted)
    if judged is not None:
        refuse_table_options(columns)
        request = settings.request(score_type=reading.score_type)
        qrels = load_qrels_for(judged, (given,), wanted, reading)
        of_run = replace(reading, score_type=request.score_type)
        rankings = rank_run(Rankings, qrels, given, request.ties, of_run)
        return rankings, settings.resolve(rankings.query_texts, reading), reading
    if isinstance(given, Rankings):
        refuse_reading({**options, "attributes": settings.attributes}, READ)
        return given, settings, reading
    refuse_attributes(settings)
    refuse_single_precision(reading)
    own = replace(columns, attributes=settings.list_attributes())
    table = recognise_table(given)
    return rank_rows(Rankings, table, own, settings.choose_ties(), reading), settings, reading


def rank_runs(
    judgments: InputLike | Qrels,
    runs: Mapping[str, InputLike],
    settings: Settings,
    reading: Reading,
) -> dict[str, Rankings]:
    """Read judgments and runs, and rank them."""
    request = settings.request(score_type=reading.score_type)
    qrels = load_qrels_for(judgments, runs.values(), settings.measures, reading)
    of_runs = replace(reading, score_type=request.score_type)
    is_shown = reading.progress is True
    return {
        name: rank_run(Rankings, qrels, run, request.ties, of_runs)
        for name, run in follow(runs.items(), "reading runs", is_shown=is_shown)
    }


def rank_scores(
    function: str,
    table: object,
    scores: Sequence[str] | None,
    settings: Settings,
    reading: Reading,
) -> dict[str, Rankings]:
    """Rank the rows of a table by each of its columns of scores."""
    if scores is None:
        raise UsageError(
            f"expected judgments and runs, or a table with columns of scores, found "
            f"{type(table).__name__} alone",
            hint=f"write {function}(judgments, {{'old': run_a, 'new': run_b}}, …), or "
            f"{function}(table, …, scores=['old', 'new']); where a column names the run, "
            f"{function}(table, 'model', …)",
            code="bad_parameter",
        )
    check_scores(scores)
    refuse_single_precision(reading)
    names = {role: name for role, name in reading.columns.items() if role != "rank"}
    rankings = {
        score: rank_rows(
            Rankings,
            recognise_table(table),
            JoinedColumns({**names, "score": score}, settings.list_attributes()),
            settings.choose_ties(),
            reading,
        )
        for score in scores
    }
    for score, each in rankings.items():
        _refuse_ranks(score, each)
    return rankings


def rank_by(
    function: str,
    table: object,
    column: str,
    settings: Settings,
    reading: Reading,
) -> dict[str, Rankings]:
    """Rank the rows of a table by the run that a column names."""
    refuse_single_precision(reading)
    from rankscope._inputs.tabular import split_rows  # noqa: PLC0415 - needs PyArrow

    wanted = JoinedColumns(reading.columns, settings.list_attributes())
    runs = split_rows(recognise_table(table), column, wanted, reading)
    if len(runs) < 2:
        raise UsageError(
            f"expected two or more runs in the column {column!r}, found {len(runs)}",
            hint=f"write {function}(table, …) for one run",
            code="bad_parameter",
        )
    return {
        run: rank_rows(Rankings, recognise_table(rows), wanted, settings.choose_ties(), reading)
        for run, rows in runs.items()
    }


def rank_all(
    function: str,
    judged: object,
    given: object,
    settings: Settings,
    reading: Reading,
    *,
    scores: Sequence[str] | None,
    options: Mapping[str, object],
) -> dict[str, Rankings]:
    """Rank several runs, however they are given: what `compare` and its kin take.

    Args:
        function: The name of the function, for messages.
        judged: The judgments, or the table with a column of runs; `None` without judgments.
        given: The runs, the name of that column, a table with columns of scores, or `Rankings`.
        settings: The measures, the policy, and the attributes of queries.
        reading: How the inputs are read.
        scores: The names of the columns of scores, or `None`.
        options: What the caller wrote about reading, which `Rankings` have no use for.
    """
    if is_column(judged, given):
        refuse_scores(scores, "a table with a column of runs")
        return rank_by(function, judged, str(given), settings, reading)
    if judged is not None:
        refuse_scores(scores)
        return rank_runs(judged, read_runs(given), settings, reading)  # type: ignore[arg-type]  # what else it can be
    if holds(given, Rankings):
        refuse_scores(scores, "Rankings")
        refuse_reading(options, READ, "query", "encoding")
        return dict(given)
    return rank_scores(function, given, scores, settings, reading)


def evaluate_several(
    table: object,
    scores: Sequence[str] | None,
    runs: str | None,
    settings: Settings,
    reading: Reading,
) -> Evaluations:
    """Evaluate the runs of a table: its columns of scores, or what a column of runs names."""
    refuse_attributes(settings)
    if runs is None:
        ranked = rank_scores("evaluate", table, scores, settings, reading)
    else:
        refuse_unused({"scores": scores}, "a table with a column of runs")
        ranked = rank_by("evaluate", table, runs, settings, reading)
    return Evaluations(
        {name: evaluate_rankings(each, settings, reading) for name, each in ranked.items()}
    )


def is_column(table: object, name: object) -> bool:
    """Whether text names a column of a table, and not a file of runs."""
    if not isinstance(name, str):
        return False
    path = table.path if isinstance(table, File) else table
    if isinstance(path, str | os.PathLike):
        is_text = tell_format(os.fsdecode(path)) == "trec"
        may_be_file = name == "-" or not {*"./*?", os.sep}.isdisjoint(name) or os.path.exists(name)  # noqa: PTH110 - pathlib loads slowly
        return not (is_text or may_be_file or _is_measure(name))
    if not is_table(table):
        return False
    from rankscope._inputs.tables import open_table  # noqa: PLC0415 - needs PyArrow

    return name in open_table(table)


def _is_measure(name: str) -> bool:
    try:
        parse(name)
    except MeasureError:
        return False
    return True


def refuse_scores(scores: Sequence[str] | None, what: str = "judgments and runs") -> None:
    """Refuse columns of scores for what isn't a table."""
    refuse_unused({"scores": scores}, f"{what}: they are columns of a table")


def check_scores(scores: Sequence[str]) -> None:
    """Raise an error unless these are the names of two or more columns."""
    if isinstance(scores, str) or len(scores) < 2:
        raise UsageError(
            f"expected two or more columns of scores, found {scores!r}",
            hint="write scores=['old', 'new'], or --scores old,new",
            code="bad_parameter",
        )


def _refuse_ranks(name: str, rankings: Rankings) -> None:
    """Refuse scores that are ranks by their name and their values: the best would come last."""
    if not {"rank", "ranks", "position", "pos"} & {*name.lower().split("_")}:
        return
    starts, sizes = rankings.offsets[:-1], np.diff(rankings.offsets)
    starts, sizes, scores = starts[sizes > 0], sizes[sizes > 0], rankings.scores
    if not (sizes > 1).any():
        return
    lowest, highest = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
    if (lowest == 1).all() and (highest == sizes).all():
        raise UsageError(
            f"the column {name!r} has ranks, but larger scores rank first",
            hint=f"change their sign: table[{name!r}] = -table[{name!r}]",
            code="ranks_as_scores",
        )

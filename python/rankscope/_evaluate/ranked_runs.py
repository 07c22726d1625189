"""Read several runs, and rank them against the same judgments."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankscope._evaluate.evaluate import name_runs
from rankscope._evaluate.evaluating import load_qrels_for
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.evaluations import Evaluations
from rankscope._evaluate.query_values import bad_parameter
from rankscope._evaluate.rankings import Rankings, evaluate_rankings, rank_rows, rank_run
from rankscope._evaluate.settings import (
    READ,
    Settings,
    holds,
    read_table_options,
    refuse_attributes,
    refuse_reading,
    refuse_single_precision,
    refuse_table_options,
    refuse_unused,
    split_question,
)
from rankscope._file import File
from rankscope._inputs.files import tell_format
from rankscope._inputs.reading import JoinedColumns, Qrels
from rankscope._inputs.recognition import is_table, recognise_table, refuse_splits
from rankscope._settings import Reading
from rankscope._show.progress import follow
from rankscope.errors import MeasureError, UsageError
from rankscope.measures import parse
from rankscope.measures.parse import Measures

if TYPE_CHECKING:
    from rankscope.typing import InputLike

    Runs: TypeAlias = Mapping[str, InputLike] | Sequence[InputLike]


def read_runs(runs: object) -> dict[str, InputLike]:
    """Return runs by name."""
    refuse_splits(runs, "runs")
    named = {str(name): run for name, run in runs.items()} if isinstance(runs, Mapping) else None
    named = name_runs(runs) if named is None else named
    for name, run in named.items():
        if isinstance(run, Rankings | Evaluation):
            kind = "an Evaluation" if isinstance(run, Evaluation) else "Rankings"
            raise bad_parameter(
                f"the run {name!r} is {kind}, which already has judgments",
                "pass the mapping without judgments: compare({'a': a, 'b': b}, 'nDCG@10')",
            )
    if len(named) < 2:
        raise bad_parameter(
            f"expected two or more runs to compare, found {len(named)}",
            "write {'bm25': run_a, 'dense': run_b}",
        )
    return named


def read_rankings(
    function: str,
    judgments: object,
    run: object,
    measure: Measures | None,
    options: Mapping[str, Any],
    *,
    settings: Settings,
) -> tuple[Rankings, Settings, Reading]:
    """Read judgments and a run, or a table, into memory; return the complete settings, too."""
    reading, columns = read_table_options(function, options, holds_all="rankings")
    judged, retrieved, measure = split_question(function, judgments, run, measure)
    settings = replace(settings, measures=measure)
    if judged is not None:
        refuse_table_options(columns)
        [rankings] = rank_runs(judged, {"": retrieved}, settings, reading).values()
        return rankings, settings.resolve(rankings.query_texts, reading), reading
    if isinstance(retrieved, Rankings):
        refuse_reading({**options, "attributes": settings.attributes}, READ)
        return retrieved, settings, reading
    refuse_attributes(settings)
    refuse_single_precision(reading)
    columns = replace(columns, attributes=settings.list_attributes())
    table = recognise_table(retrieved)
    return rank_rows(Rankings, table, columns, settings.choose_ties(), reading), settings, reading


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
    is_shown = reading.progress is True and len(runs) > 1
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
        raise bad_parameter(
            f"expected judgments and runs, or a table with columns of scores, found "
            f"{type(table).__name__} alone",
            f"write {function}(judgments, {{'old': run_a, 'new': run_b}}, …), or "
            f"{function}(table, …, scores=['old', 'new']); where a column names the run, "
            f"{function}(table, 'model', …)",
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
    for score, ranked in rankings.items():
        _refuse_ranks(score, ranked)
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
    from rankscope._inputs.tabular import split_rows

    columns = JoinedColumns(reading.columns, settings.list_attributes())
    runs = split_rows(recognise_table(table), column, columns, reading)
    if len(runs) < 2:
        raise bad_parameter(
            f"expected two or more runs in the column {column!r}, found {len(runs)}",
            f"write {function}(table, …) for one run",
        )
    return {
        run: rank_rows(Rankings, recognise_table(rows), columns, settings.choose_ties(), reading)
        for run, rows in runs.items()
    }


def rank_all(
    function: str,
    judgments: object,
    runs: object,
    settings: Settings,
    reading: Reading,
    *,
    scores: Sequence[str] | None,
    options: Mapping[str, object],
) -> dict[str, Rankings]:
    """Rank several runs: what `compare` and functions like it take.

    That is judgments and runs, a table and the name of its column of runs, or without judgments a
    table with columns of scores, or `Rankings` by name.
    """
    if is_column(judgments, runs):
        refuse_scores(scores, "a table with a column of runs")
        return rank_by(function, judgments, str(runs), settings, reading)
    if judgments is not None:
        refuse_scores(scores)
        return rank_runs(judgments, read_runs(runs), settings, reading)  # type: ignore[arg-type]  # what else it can be
    if holds(runs, Rankings):
        refuse_scores(scores, "Rankings")
        refuse_reading(options, READ, "query", "encoding")
        return dict(runs)
    return rank_scores(function, runs, scores, settings, reading)


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
        {name: evaluate_rankings(rankings, settings, reading) for name, rankings in ranked.items()}
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
    from rankscope._inputs.tables import open_table

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
        raise bad_parameter(
            f"expected two or more columns of scores, found {scores!r}",
            "write scores=['old', 'new'], or --scores old,new",
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

"""Report the values of runs, what they are made of, and how to reproduce them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack

from rankscope._compare.compute import compare_rankings
from rankscope._compare.report.inputs import HashedInput, hash_input, write_commands
from rankscope._compare.report.report import Report, ReportedRun, WorstQuery
from rankscope._compare.result import Comparison
from rankscope._conventions import Convention
from rankscope._evaluate.evaluate import read_named_runs
from rankscope._evaluate.evaluating import refuse_one_stdin_for_both
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import By, Clusters, Weights, bad_parameter
from rankscope._evaluate.ranked_runs import is_column, rank_all, rank_runs, refuse_scores
from rankscope._evaluate.rankings import Rankings, evaluate_rankings, rank_rows
from rankscope._evaluate.refusals import refuse_run_measure
from rankscope._evaluate.settings import (
    Settings,
    choose_ties,
    read_table_options,
    refuse_attributes,
    refuse_single_precision,
    refuse_table_options,
    split_question,
)
from rankscope._explain.bounds import bound
from rankscope._explain.explain import EXPLAINED, explain_query
from rankscope._explain.gains import Explanation
from rankscope._explain.losses import measure_losses
from rankscope._explain.relevance import RelevanceExplanation
from rankscope._explain.ties import audit_ties
from rankscope._file import File
from rankscope._inputs.files import is_scores, tell_format
from rankscope._inputs.reading import Qrels, read_items_for
from rankscope._inputs.recognition import recognise_table, shorten_names
from rankscope._settings import Interval, Policy, Reading, read_interval
from rankscope._show.progress import follow
from rankscope._stats.paired import TESTS
from rankscope.errors import EmptyError, PolicyError, UsageError
from rankscope.measures import Judged, Measure, NumRel, NumRelRet, nDCG
from rankscope.measures.parse import Measures, read_measures
from rankscope.typing import HistoryLike, InputLike, Path

Result = TypeVar("Result")
Runs: TypeAlias = Path | bytes | File | Sequence[InputLike] | Mapping[str, InputLike]

if TYPE_CHECKING:
    from rankscope._evaluate.settings import TableOptions


DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")
WORST = 10
DEEPEST = 20
"""The most documents of a list that are shown."""


def report(
    judgments: object,
    runs: Runs | Measures | None = None,
    measures: Measures | None = None,
    *,
    by: By | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    interval: float | Interval | None = 0.95,
    cluster: str | Clusters | None = None,
    weights: str | Weights | None = None,
    scores: Sequence[str] | None = None,
    attributes: object = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    worst: int = WORST,
    strict: bool = False,
    **options: Unpack[TableOptions],
) -> Report:
    """Report the values of runs, what they are made of, and how to reproduce them.

    `report(judgments, runs, measures)` and `report(table, measures)` take what `evaluate` takes.

    Args:
        judgments: The judgments, or a table whose rows have both scores and grades, as in
            `evaluate`.
        runs: One run, a list of paths, or a mapping of names to runs, as in `evaluate`; or the
            column of a table that names the run of each row.
        measures: As in `evaluate` (default: nDCG@10, AP and RR). Queries are sorted and explained
            by the first measure.
        by: As in `evaluate`. The page has the values of each slice.
        policy: As in `evaluate`.
        convention: As in `evaluate`.
        interval: As in `evaluate`.
        cluster: What queries depend within, such as the user, as in `compare`.
        weights: As in `evaluate`.
        scores: The columns of scores of a table, each of which is a run.
        attributes: As in `evaluate`.
        history: As in `evaluate`, for measures of recommended items.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        worst: The number of queries with the lowest values to explain for each run, 0 or more.
        strict: As in `evaluate`.
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        The contents of the report. Its `write` writes the page.

    Raises:
        UsageError: An argument is not one of its choices.
        InputError: The input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {"q1": {"d1": 3, "d2": 0}, "q2": {"d3": 1}}
        >>> runs = {"old": {"q1": {"d2": 2.0, "d1": 1.0}}, "new": {"q1": {"d1": 1.0}}}
        >>> print(report(qrels, runs, ["nDCG@10", "RR"]))
        2 runs against qrels
        old: nDCG@10 0.3155, RR 0.2500
        new: nDCG@10 0.5000, RR 0.5000
        No run is significantly better: new leads old by 0.1845 nDCG@10 (95% interval ...
    """
    reading, columns = read_table_options("report", options, holds_all="a report")
    if measures is None and is_column(judgments, runs):
        measures = DEFAULT_MEASURES
    judged, ranked, requested = split_question(
        "report", judgments, runs, measures, default=DEFAULT_MEASURES
    )
    column = ranked if is_column(judged, ranked) else None
    of_items: dict[str, Any] = {"history": history, "items": items, "catalogue": catalogue}
    settings = Settings(
        measures=requested,
        policy=policy,
        convention=convention,
        interval=read_interval(interval),
        by=by,
        cluster=cluster,
        weights=weights,
        attributes=attributes,
        items=read_items_for(requested, **of_items, reading=reading),
        strict=strict,
    )
    for measure in read_measures(requested)[0]:
        refuse_run_measure(measure, "be reported query by query")
    if worst < 0:
        raise bad_parameter(
            f"expected worst to be 0 or a positive integer, found {worst!r}", "10 is the default"
        )
    if judged is not None:
        refuse_table_options(columns)
    if judged is None or column is not None:
        refuse_attributes(settings)
        inputs = [hash_input(ranked if column is None else judged, "table")]
        table = inputs[0].value
        if column is not None or scores is not None:
            judged, ranked = (None, table) if column is None else (table, column)
            rankings = rank_all(
                "report", judged, ranked, settings, reading, scores=scores, options={}
            )
        else:
            refuse_single_precision(reading)
            columns = replace(columns, attributes=settings.list_attributes())
            ties = settings.choose_ties()
            run = rank_rows(Rankings, recognise_table(table), columns, ties, reading)
            rankings = dict.fromkeys(shorten_names([inputs[0].name]), run)
    else:
        refuse_scores(scores)
        inputs, rankings = _rank_runs(judged, ranked, settings, reading)
        settings = settings.resolve(next(iter(rankings.values())).query_texts, reading)
    followed = follow(rankings.items(), "evaluating runs", is_shown=reading.progress is True)
    reported = {name: _evaluate_run(run, settings, reading, worst) for name, run in followed}
    for source in inputs:
        source.check()
    evaluation = next(iter(reported.values())).evaluation
    row = evaluation.convention
    arguments = {
        "policy": _write_policy(policy, evaluation, next(iter(rankings.values()))),
        "convention": None if row is None else row.address,
        "interval": settings.interval,
        "by": by,
        "cluster": cluster,
        "weights": weights,
        "attributes": attributes,
        "scores": scores,
        "runs": column,
        **of_items,
        **options,
    }
    of_report = [] if worst == WORST else ["--worst", str(worst)]
    split = partial(measure_losses, by=settings.by, weights=settings.weights)
    audit = partial(_audit, rankings=rankings, policy=evaluation.policy)
    audit_plain = audit if settings.weights is None else _refuse_weights
    gains = [measure for measure in evaluation.measures if measure.row.name == nDCG.row.name]
    return Report(
        title=_title(inputs),
        runs=reported,
        comparison=_compare_runs(rankings, evaluation, settings, reading),
        losses={measure.name: audit(split, measure) for measure in gains},
        bounds=audit_plain(partial(bound, scale=None, against=None), evaluation.measures[0]),
        ties={measure.name: audit_plain(audit_ties, measure) for measure in evaluation.measures},
        inputs=tuple(file for source in inputs for file in source.files),
        commands=write_commands(inputs, [*evaluation], arguments, of_report),
    )


def _rank_runs(
    judged: InputLike | Qrels, runs: InputLike, settings: Settings, reading: Reading
) -> tuple[list[HashedInput], dict[str, Rankings]]:
    """Read judgments and runs."""
    named = read_named_runs(runs, reading.columns) or {"": runs}
    if isinstance(judged, Qrels):
        judgments = hash_input({}, "qrels", judged.queries.name)
    else:
        for run in named.values():
            refuse_one_stdin_for_both(judged, run)
        judgments = hash_input(judged, "qrels")
        judged = judgments.value
    hashed = [hash_input(run, "run", name) for name, run in named.items()]
    by_name = dict(zip(shorten_names([run.name for run in hashed]), hashed, strict=True))
    form = judged.format if isinstance(judged, File) else None
    is_letor = (form or tell_format(judgments.path)) == "letor"
    if is_letor and all(run.path and is_scores(run.path) for run in hashed):
        from rankscope._inputs.letor import read_scored

        ties, duplicates = settings.choose_ties(), reading.duplicates
        rankings = {
            name: Rankings.from_table(
                read_scored(judgments.path, run.path, reading), ties=ties, duplicates=duplicates
            )
            for name, run in by_name.items()
        }
    else:
        values = {name: run.value for name, run in by_name.items()}
        rankings = rank_runs(judged, values, settings, reading)
    return [judgments, *hashed], rankings


def _evaluate_run(
    rankings: Rankings, settings: Settings, reading: Reading, worst: int
) -> ReportedRun:
    evaluation = evaluate_rankings(rankings, settings, reading)
    policy, k = evaluation.policy, evaluation.measures[0].k
    own = Policy(ties=policy.ties, missing=policy.missing)
    relevance = rankings.evaluate([NumRel, NumRelRet], policy=Policy(ties=policy.ties))
    return ReportedRun(
        evaluation=evaluation,
        judged=rankings.evaluate(Judged if k is None else Judged @ k, policy=own),
        relevance=relevance,
        worst=tuple(_find_worst(rankings, evaluation, relevance, worst)),
    )


def _find_worst(
    rankings: Rankings, evaluation: Evaluation, relevance: Evaluation, limit: int
) -> Iterator[WorstQuery]:
    """Yield the lowest values of queries with relevant documents, explained if possible."""
    measure, policy, ids = evaluation.measures[0], evaluation.policy, evaluation.query_texts
    explained = next((own for own in evaluation.measures if own.row.name in EXPLAINED), None)
    values = evaluation.per_query_list(measure)
    relevant, retrieved = ([*map(int, relevance.per_query_list(name))] for name in relevance)
    rows = [row for row, value in enumerate(values) if relevant[row] and not math.isnan(value)]
    rows.sort(key=lambda row: (values[row], -relevant[row], ids[row]))
    for row in rows[:limit]:
        explanation: Explanation | RelevanceExplanation | None = None
        documents: tuple[tuple[str, float], ...] = ()
        if explained is not None:
            explanation = explain_query(
                rankings, ids[row], explained, policy=policy, convention=None, limit=DEEPEST
            )
        else:
            start, end = rankings.offsets[row : row + 2]
            grades = rankings.relevance[start:end][: min(measure.k or DEEPEST, DEEPEST)].tolist()
            docs = rankings.doc_texts(ids[row]) or [""] * len(grades)
            documents = tuple(zip(docs, grades, strict=False))
        yield WorstQuery(
            query_id=ids[row],
            row=row,
            value=values[row],
            relevant=relevant[row],
            retrieved=retrieved[row],
            explanation=explanation,
            documents=documents,
        )


def _audit(
    audit: Callable[..., Result],
    measure: Measure,
    *,
    rankings: Mapping[str, Rankings],
    policy: Policy,
) -> tuple[Result, ...] | str:
    """Return the result for each run, or the reason why the policy or the measure has none."""
    try:
        return tuple(audit(run, measure, policy=policy, threads=None) for run in rankings.values())
    except UsageError as error:
        return error.message


def _refuse_weights(*_: object) -> str:
    """Return why there is no audit of a weighted mean: it would be one of plain means."""
    return "what documents could change is not computed for weighted means"


def _compare_runs(
    rankings: Mapping[str, Rankings], evaluation: Evaluation, settings: Settings, reading: Reading
) -> Comparison | str | None:
    """Compare all pairs of runs, or return the reason why they can't be; `None` for one run."""
    if len(rankings) < 2:
        return None
    measures = [measure for measure in evaluation.measures if measure.row.mean == "mean"]
    if not measures:
        return "no measure has a mean over queries"
    interval = settings.interval or Interval()
    try:
        return compare_rankings(
            rankings,
            replace(settings, measures=measures, by=None),
            reading,
            testing={"interval": interval, "test": "t" if interval.method == "t" else TESTS[0]},
        )
    except (UsageError, EmptyError, PolicyError) as error:
        return error.message


def _write_policy(policy: Policy | str | None, evaluation: Evaluation, rankings: Rankings) -> str:
    """Return the policy as text. Beside a convention, only explicit fields are included."""
    if evaluation.convention is not None:
        return "" if policy is None else str(policy)
    default = Policy(ties=choose_ties(has_documents=rankings.has_doc_ids)).to_dict()
    chosen = evaluation.policy.to_dict()
    return ",".join(f"{name}={value}" for name, value in chosen.items() if value != default[name])


def _title(inputs: Sequence[HashedInput]) -> str:
    first, *runs = (os.path.basename(source.name) or source.name for source in inputs)  # noqa: PTH119 - a text
    if not runs:
        return first
    return f"{runs[0] if len(runs) == 1 else f'{len(runs)} runs'} against {first}"

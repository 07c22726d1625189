"""Reports on runs, as one page or as records."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from rankscope._compare.compute import compare_rankings
from rankscope._compare.report.commands import write_commands
from rankscope._compare.report.gather import EvaluatedRun, gather
from rankscope._compare.report.source import hold
from rankscope._evaluate.evaluate import read_named_runs
from rankscope._evaluate.judgments import load_qrels_for, refuse_one_stdin_for_both
from rankscope._evaluate.query_values import read_by
from rankscope._evaluate.question import (
    read_table_options,
    refuse_attributes,
    refuse_single_precision,
    refuse_table_options,
    split_question,
)
from rankscope._evaluate.ranked_runs import is_column, rank_by, rank_scores
from rankscope._evaluate.rankings import evaluate_rankings, rank_rows, rank_run
from rankscope._evaluate.refusals import refuse_run_measure
from rankscope._evaluate.settings import Settings, choose_ties
from rankscope._inputs.attribution import read_positive
from rankscope._inputs.files import list_runs
from rankscope._inputs.needs import read_items_for
from rankscope._inputs.qrels import Qrels
from rankscope._inputs.recognition import recognise_table, shorten_names
from rankscope.derivation.compute import EXPLAINED
from rankscope.derivation.explanation import Explanation
from rankscope.errors import EmptyError, PolicyError, UsageError
from rankscope.file import File
from rankscope.measures import Judged, NumRel, NumRelRet, NumRet, nDCG
from rankscope.measures.reading import read_measures
from rankscope.output.progress import follow
from rankscope.rankings import Rankings
from rankscope.records import replace
from rankscope.settings.interval import Interval, read_interval
from rankscope.settings.policy import Policy
from rankscope.stats.test.paired import TESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeAlias, TypeVar, Unpack

    from rankscope._compare.report.report import Report
    from rankscope._compare.report.source import HashedInput
    from rankscope._compare.result import Comparison
    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.query_values import By, Clusters, Weights
    from rankscope._evaluate.question import TableOptions
    from rankscope._inputs.qrels import JoinedColumns
    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.settings.reading import Reading
    from rankscope.typing import HistoryLike, InputLike, Path

    Found = TypeVar("Found")
    Runs: TypeAlias = Path | bytes | File | Sequence[InputLike] | Mapping[str, InputLike]

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")
WORST = 10
MOST_IN_PAIRS = 8
"""More runs than these have no ranges over grades of unjudged documents, which take long."""
FACTS = (NumRel, NumRelRet, NumRet)


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
        runs: One run, as in `evaluate`; a list of them; a mapping of names to runs; or the column
            of a table in memory that names the run of each row.
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
    judged, given, wanted = split_question(
        "report", judgments, runs, measures, default=DEFAULT_MEASURES
    )
    beside: dict[str, Any] = {"history": history, "items": items, "catalogue": catalogue}
    asked = Settings(
        measures=wanted,
        policy=policy,
        convention=convention,
        interval=read_interval(interval),
        by=by,
        cluster=cluster,
        weights=weights,
        attributes=attributes,
        items=read_items_for(wanted, **beside, reading=reading),
        strict=strict,
    )
    if judged is not None:
        refuse_table_options(columns)
    # What a command has no option for is an argument of the call in its place.
    given_here: dict[str, object] = {"by": by, "weights": weights, "attributes": attributes}
    of_runs = is_column(judged, given)
    given_here |= {"cluster": cluster, "scores": scores, "runs": given if of_runs else None}
    said = say_reading(reading)
    if judged is None:
        said = [*_say_table(asked, columns), *said]
        is_said = {"by": not isinstance(read_by(by), Mapping), "weights": isinstance(weights, str)}
        given_here = {name: value for name, value in given_here.items() if not is_said.get(name)}
    beside |= {name: (value,) for name, value in given_here.items() if value is not None}
    if of_runs or scores is not None:
        refuse_attributes(asked)
        held = [hold(judged if of_runs else given, "table")]
        table = held[0].value
        if of_runs:
            ranked = rank_by("report", table, given, asked, reading, kind=Rankings)
        else:
            ranked = rank_scores("report", table, scores, asked, reading, kind=Rankings)
        return report_rankings(
            [*ranked.values()],  # type: ignore[list-item]  # of the kind that was asked for
            asked,
            reading,
            held=held,
            names=[*ranked],
            worst=worst,
            beside=beside,
            options=said,
        )
    if judged is None:
        held = [hold(given, "table")]
        rankings = [_rank_table(held[0], columns, asked, reading)]
    else:
        held, rankings = _rank_runs(judged, _name_runs(given), asked, reading)
        asked = asked.resolve(rankings[0].query_texts, reading)
    return report_rankings(
        rankings, asked, reading, held=held, worst=worst, beside=beside, options=said
    )


def _rank_table(
    held: HashedInput, columns: JoinedColumns, asked: Settings, reading: Reading
) -> Rankings:
    refuse_attributes(asked)
    refuse_single_precision(reading)
    given = recognise_table(held.value)
    wanted = replace(columns, attributes=asked.list_attributes())
    return rank_rows(Rankings, given, wanted, asked.choose_ties(), reading)


def _rank_runs(
    judged: InputLike | Qrels,
    named: Sequence[tuple[str, InputLike]],
    asked: Settings,
    reading: Reading,
) -> tuple[list[HashedInput], list[Rankings]]:
    """Read judgments and runs, which are held with the hashes of their files."""
    request = asked.request(score_type=reading.score_type)
    if isinstance(judged, Qrels):
        held, qrels = [hold({}, "qrels", judged.queries.name)], judged
    else:
        for _, run in named:
            refuse_one_stdin_for_both(judged, run)
        held = [hold(judged, "qrels")]
        qrels = load_qrels_for(held[0].value, (), asked.measures, reading)
    held += [hold(run, "run", name) for name, run in named]
    of_runs = replace(reading, score_type=request.score_type)
    return held, [
        rank_run(Rankings, qrels, run.value, request.ties, of_runs)
        for run in follow(held[1:], "reading runs", is_shown=reading.progress is True)
    ]


def _say_table(asked: Settings, columns: JoinedColumns) -> Iterator[tuple[str, str]]:
    """Yield what a table needs as options."""
    by = read_by(asked.by)
    yield from (("--by", name) for name in by if not isinstance(by, Mapping))
    if columns.attributed is not None:
        yield "--col", f"label={columns.attributed.labels}"
        for label, grade in read_positive(columns.attributed.positive).items():
            yield "--positive", label if grade == 1 else f"{label}={grade:g}"
    if isinstance(asked.weights, str):
        yield "--col", f"weight={asked.weights}"


USUAL = {("--duplicates", "error"), ("--score-type", "float64"), ("--encoding", "utf-8")}
"""Options that need not be written: they say what holds without them."""


def say_reading(reading: Reading) -> list[tuple[str, str]]:
    """Return how inputs are read as options, without those that need not be written."""
    said = {
        "--duplicates": reading.duplicates,
        "--score-type": reading.scores_as,
        "--encoding": reading.encoding,
    }
    return [pair for pair in said.items() if pair not in USUAL]


def report_rankings(
    rankings: Sequence[Rankings],
    asked: Settings,
    reading: Reading,
    *,
    held: Sequence[HashedInput],
    names: Sequence[str] | None = None,
    worst: int,
    beside: Mapping[str, object],
    options: Sequence[tuple[str, str]],
) -> Report:
    """Report on rankings."""
    if worst < 0:
        raise UsageError(
            f"expected worst to be 0 or a positive integer, found {worst!r}",
            hint="10 is the default",
            code="bad_parameter",
        )
    measures, _ = read_measures(asked.measures)
    for measure in measures:
        refuse_run_measure(measure, "be reported query by query")
    names = names or [each.name for each in held[1:] or held]
    runs = []
    pairs = [*zip(names, rankings, strict=True)]
    for name, ranked in follow(pairs, "evaluating runs", is_shown=reading.progress is True):
        evaluation = evaluate_rankings(ranked, asked, reading)
        chosen = evaluation.policy
        k = evaluation.measures[0].k
        judged = Judged if k is None else Judged @ k
        own = Policy(ties=chosen.ties, missing=chosen.missing)
        runs.append(
            EvaluatedRun(
                name=name,
                evaluation=evaluation,
                judged=ranked.evaluate(judged, policy=own),
                losses={
                    measure.name: _attempt(
                        partial(
                            ranked.losses,
                            measure,
                            policy=chosen,
                            by=asked.by,
                            weights=asked.weights,
                        )
                    )
                    for measure in evaluation.measures
                    if measure.row.name == nDCG.row.name
                },
                bounds=_attempt(partial(ranked.bounds, evaluation.measures[0], policy=chosen)),
                ties={
                    measure.name: _attempt(partial(ranked.ties, measure, policy=chosen))
                    for measure in evaluation.measures
                },
                facts=ranked.evaluate(FACTS, policy=Policy(ties=chosen.ties)),
                explain=partial(_explain, ranked, evaluation.measures, chosen),
                list_documents=partial(
                    _list_documents,
                    ranked,
                    {query: at for at, query in enumerate(ranked.query_texts)},
                ),
            )
        )
    for each in held:
        each.check()
    first = runs[0].evaluation
    return gather(
        runs,
        compared=_compare_runs(rankings, names, first, asked, reading),
        held=held,
        commands=write_commands(
            held,
            [measure.name for measure in measures],
            settings=_say_policy(asked.policy, first, rankings[0]),
            convention="" if first.convention is None else first.convention.address,
            interval=asked.interval,
            columns=reading.columns,
            beside=beside,
            options=options,
        ),
        level=None if asked.interval is None else asked.interval.level,
        worst=worst,
    )


def _say_policy(policy: Policy | str | None, evaluation: Evaluation, ranked: Rankings) -> str:
    """Return the policy as options. Beside a convention, only explicit fields are included."""
    if evaluation.convention is not None:
        return "" if policy is None else str(policy)
    default = Policy(ties=choose_ties(has_documents=ranked.has_doc_ids))
    given, usual = evaluation.policy.to_dict(), default.to_dict()
    return ",".join(f"{field}={given[field]}" for field in given if given[field] != usual[field])


def _name_runs(runs: Runs) -> list[tuple[str, InputLike]]:
    if isinstance(runs, bytes):
        return [("", runs)]
    if isinstance(runs, str | os.PathLike | File):
        return [("", run) for run in list_runs(runs) or [runs]]
    if isinstance(runs, Mapping) and runs and read_named_runs(runs) is None:
        return [("", runs)]  # type: ignore[list-item]  # one run: its values are documents
    named = [*runs.items()] if isinstance(runs, Mapping) else [("", run) for run in runs]
    if not named:
        raise EmptyError(
            "expected at least one run, found none", hint="name a run", code="empty_input"
        )
    return named


def _attempt(make: Callable[[], Found]) -> Found | str:
    """Call a function, and return its result or the reason why the policy rules it out."""
    try:
        return make()
    except UsageError as error:
        return error.message


def _compare_runs(
    rankings: Sequence[Rankings],
    names: Sequence[str],
    evaluation: Evaluation,
    asked: Settings,
    reading: Reading,
) -> Comparison | str | None:
    """Compare all pairs of runs, or return the reason why they can't be; `None` for one run."""
    if len(rankings) < 2:
        return None
    by_name = dict(zip(shorten_names(names), rankings, strict=True))
    if len(by_name) < len(rankings):
        return "two runs have the same name"
    interval = asked.interval or Interval()
    measures = [each for each in evaluation.measures if each.row.mean == "mean"]
    if not measures:
        return "no measure has a mean over queries"
    try:
        return compare_rankings(
            by_name,
            Settings(
                measures=measures,
                policy=asked.policy,
                convention=asked.convention,
                items=asked.items,
                cluster=asked.cluster,
                attributes=asked.attributes,
            ),
            reading,
            bounds=None if len(rankings) <= MOST_IN_PAIRS else False,
            testing={"interval": interval, "test": "t" if interval.method == "t" else TESTS[0]},
        )
    except (UsageError, EmptyError, PolicyError) as error:
        return error.message


def _explain(
    rankings: Rankings, measures: Sequence[Measure], policy: Policy, query: str, limit: int
) -> Explanation | None:
    """Explain the value of a query for the first measure that can be explained."""
    chosen = next((measure for measure in measures if measure.row.name in EXPLAINED), None)
    if chosen is None:
        return None
    explanation = rankings.explain(query, chosen, policy=policy, limit=limit)
    return explanation if isinstance(explanation, Explanation) else None


def _list_documents(
    rankings: Rankings, places: Mapping[str, int], query: str
) -> list[tuple[str, float]]:
    start, end = rankings.offsets[places[query] :][:2]
    grades: list[float] = rankings.relevance[start:end].tolist()
    ids = rankings.doc_texts(query) or [""] * len(grades)
    return list(zip(ids, grades, strict=True))

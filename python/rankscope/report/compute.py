"""Reports on runs, as one page or as records."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from rankscope.comparison.compute import compare_rankings
from rankscope.derivation.compute import EXPLAINED
from rankscope.derivation.explanation import Explanation
from rankscope.engine.items import read_items_for
from rankscope.engine.judgments import load_qrels_for
from rankscope.engine.progress import follow
from rankscope.engine.requests import read_measures, read_request, refuse_one_stdin_for_both
from rankscope.errors import EmptyError, PolicyError, UsageError
from rankscope.evaluation.evaluate import read_named_runs
from rankscope.evaluation.evaluating import refuse_diagnostics
from rankscope.evaluation.rankings import rank_rows, rank_run, read_attribution
from rankscope.evaluation.refusals import refuse_run_measure
from rankscope.file import File
from rankscope.inputs.qrels import Qrels
from rankscope.inputs.recognition import recognise_table, shorten_names
from rankscope.inputs.several import list_runs
from rankscope.inputs.tables import JoinedColumns
from rankscope.measures import Judged, NumRel, NumRelRet, NumRet, nDCG
from rankscope.rankings import Rankings
from rankscope.records import replace
from rankscope.report.commands import write_commands
from rankscope.report.gather import EvaluatedRun, gather
from rankscope.report.source import hold
from rankscope.settings.interval import Interval, read_interval
from rankscope.settings.policy import Policy
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, TypeAlias, TypeVar, Unpack

    from rankscope.comparison.result import Comparison
    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.inputs.items import Items
    from rankscope.measures import Measure
    from rankscope.report.report import Report
    from rankscope.report.source import HashedInput
    from rankscope.settings.attribution import Positive, Settings
    from rankscope.settings.policy import Duplicates, ScoreType
    from rankscope.typing import HistoryLike, InputLike, Path

    Found = TypeVar("Found")
    Runs: TypeAlias = Path | bytes | File | Sequence[InputLike] | Mapping[str, InputLike]

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")
WORST = 10
MOST_IN_PAIRS = 8
"""More runs than these have no ranges over grades of unjudged documents, which take long."""
FACTS = (NumRel, NumRelRet, NumRet)


def report(
    qrels: InputLike | Qrels,
    runs: Runs,
    measures: Measures = DEFAULT_MEASURES,
    *,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    columns: Mapping[str, str] | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    interval: float | Interval | None = 0.95,
    worst: int = WORST,
    duplicates: Duplicates = "error",
    score_type: ScoreType | None = None,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    threads: int | None = None,
    strict: bool = False,
    progress: bool = False,
) -> Report:
    """Report the values of runs, what they are made of, and how to reproduce them.

    Args:
        qrels: The judgments, as in `evaluate`.
        runs: One run, as in `evaluate`; a list of them; or a mapping of names to runs.
        measures: As in `evaluate`. Queries are sorted and explained by the first measure.
        policy: As in `evaluate`.
        convention: As in `evaluate`.
        columns: As in `evaluate`.
        history: As in `evaluate`, for measures of recommended items.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        interval: As in `evaluate`.
        worst: The number of queries with the lowest values to explain for each run, 0 or more.
        duplicates: As in `evaluate`.
        score_type: As in `evaluate`.
        encoding: As in `evaluate`.
        threads: As in `evaluate`.
        strict: As in `evaluate`.
        progress: Whether to show a bar in a notebook or on a terminal.

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
    named = _name_runs(runs)
    reading = Reading.read(
        columns=columns,
        duplicates=duplicates,
        score_type=score_type,
        encoding=encoding,
        threads=threads,
    )
    asked = read_request(
        measures,
        policy,
        default=Policy().resolve(),
        convention=convention,
        score_type=score_type,
        grades=[],  # what a convention refuses of them it says when they are known
    )
    known = read_items_for(
        measures, history=history, items=items, catalogue=catalogue, reading=reading
    )
    if isinstance(qrels, Qrels):
        judged = hold({}, "qrels", qrels.name)
        judgments = qrels
    else:
        for _, run in named:
            refuse_one_stdin_for_both(qrels, run)
        judged = hold(qrels, "qrels")
        judgments = load_qrels_for(judged.value, (), measures, reading)
    held = [judged, *(hold(run, "run", name) for name, run in named)]
    of_runs = replace(reading, score_type=asked.score_type)
    rankings = [
        rank_run(Rankings, judgments, run.value, asked.ties, of_runs)
        for run in follow(held[1:], "reading runs", is_shown=progress)
    ]
    return report_rankings(
        rankings,
        measures,
        reading,
        held=held,
        policy=policy,
        convention=convention,
        default=Policy().resolve(),
        interval=interval,
        worst=worst,
        known=known,
        beside={"history": history, "items": items, "catalogue": catalogue},
        options=say_reading(reading),
        strict=strict,
        progress=progress,
    )


def report_table(
    table: InputLike,
    measures: Measures = DEFAULT_MEASURES,
    *,
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    labels: str | None = None,
    predicted: str | None = None,
    positive: Positive | None = None,
    by: str | Sequence[str] | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    interval: float | Interval | None = 0.95,
    worst: int = WORST,
    weights: Mapping[str, float] | None = None,
    duplicates: Duplicates = "error",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    threads: int | None = None,
    strict: bool = False,
    progress: bool = False,
    **attribution: Unpack[Settings],
) -> Report:
    """Report on a table whose rows hold a score or a rank, and a grade.

    Args:
        table: As in `Rankings.from_table`.
        measures: As in `report`.
        query: The column of queries, as in `Rankings.from_table`.
        doc: The column of documents.
        relevance: The column of grades.
        score: The column of scores.
        rank: The column of ranks.
        labels: The column of labels in place of grades, as in `Rankings.from_table`.
        predicted: The column of predicted labels.
        positive: The positive classes.
        by: One or more columns with attributes of the query. The page has the values of each slice.
        policy: As in `evaluate`. Ties are averaged unless it or the convention says otherwise.
        convention: As in `evaluate`.
        interval: As in `evaluate`.
        worst: As in `report`.
        weights: As in `evaluate`.
        duplicates: As in `evaluate`.
        encoding: As in `evaluate`.
        threads: As in `evaluate`.
        strict: As in `evaluate`.
        progress: Whether to show a bar in a notebook or on a terminal.
        **attribution: As in `Rankings.from_table`.

    Raises:
        UsageError: An argument is not one of its choices.
        InputError: A column is missing, or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> log = {"qid": [1, 1, 2], "label": [1, 0, 1], "score": [0.1, 0.9, 0.5]}
        >>> found = report_table(log | {"country": ["de", "de", "at"]}, "RR", by="country")
        >>> [(part.name, part.means[0].value) for part in found.slices.parts]
        [('at', 1.0), ('de', 0.5)]
    """
    reading = Reading.read(
        duplicates=duplicates, encoding=encoding, threads=threads, progress=progress
    )
    default = Policy(ties="average")
    asked = read_request(
        measures, policy, default=default, convention=convention, score_type=None, grades=[]
    )
    held = hold(table, "table")
    attributes = [by] if isinstance(by, str) else [*(by or [])]
    names = {"query": query, "doc": doc, "relevance": relevance, "score": score, "rank": rank}
    rankings = rank_rows(
        Rankings,
        recognise_table(held.value),
        JoinedColumns(
            names,
            attributes,
            read_attribution(relevance, labels, predicted, positive, attribution),
        ),
        asked.ties,
        reading,
    )
    return report_rankings(
        [rankings],
        measures,
        reading,
        held=[held],
        policy=policy,
        convention=convention,
        default=default,
        by=attributes,
        interval=interval,
        worst=worst,
        weights=weights,
        options=[*say_reading(reading), *(("--by", name) for name in attributes)],
        strict=strict,
        progress=progress,
    )


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
    measures: Measures,
    reading: Reading,
    *,
    held: Sequence[HashedInput],
    policy: Policy | str | None,
    convention: Convention | str | None,
    default: Policy,
    by: Sequence[str] = (),
    interval: float | Interval | None,
    worst: int,
    weights: Mapping[str, float] | None = None,
    known: Items | None = None,
    beside: Mapping[str, object] | None = None,
    options: Sequence[tuple[str, str]] = (),
    strict: bool = False,
    progress: bool = False,
) -> Report:
    """Report on rankings."""
    if worst < 0:
        raise UsageError(
            f"expected worst to be 0 or a positive integer, found {worst!r}",
            hint="10 is the default",
            code="bad_parameter",
        )
    asked, _ = read_measures(measures)
    for measure in asked:
        refuse_run_measure(measure, "be reported query by query")
    made = read_interval(interval)
    names = [each.name for each in held[1:] or held]
    runs = []
    pairs = [*zip(names, rankings, strict=True)]
    for name, ranked in follow(pairs, "evaluating runs", is_shown=progress):
        evaluation = ranked.evaluate(
            measures,
            policy=policy,
            convention=convention,
            by=by or None,
            interval=made,
            weights=weights,
            items=known,
            threads=reading.threads,
        )
        if strict:
            refuse_diagnostics(evaluation.notes)
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
                            by=list(by) or None,
                            weights=weights,
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
        compared=_compare_runs(
            rankings,
            names,
            first,
            reading,
            policy=policy,
            convention=convention,
            interval=made,
            known=known,
            progress=progress,
        ),
        held=held,
        commands=write_commands(
            held,
            [measure.name for measure in asked],
            settings=_say_policy(policy, first, default),
            convention="" if first.convention is None else first.convention.address,
            interval=made,
            beside=beside or {},
            options=options,
        ),
        level=None if made is None else made.level,
        worst=worst,
    )


def _say_policy(policy: Policy | str | None, evaluation: Evaluation, default: Policy) -> str:
    """Return the policy as options. Beside a convention, only explicit fields are included."""
    if evaluation.convention is not None:
        return "" if policy is None else str(policy)
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
    reading: Reading,
    *,
    policy: Policy | str | None,
    convention: Convention | str | None,
    interval: Interval | None,
    known: Items | None,
    progress: bool,
) -> Comparison | str | None:
    """Compare all pairs of runs, or return the reason why they can't be; `None` for one run."""
    if len(rankings) < 2:
        return None
    by_name = dict(zip(shorten_names(names), rankings, strict=True))
    if len(by_name) < len(rankings):
        return "two runs have the same name"
    measures = [each for each in evaluation.measures if each.row.mean == "mean"]
    if not measures:
        return "no measure has a mean over queries"
    try:
        return compare_rankings(
            by_name,
            measures,
            reading,
            bounds=len(rankings) <= MOST_IN_PAIRS,
            policy=policy,
            convention=convention,
            known=known,
            testing={
                "interval": interval or Interval(),
                "threads": reading.threads,
                "progress": progress,
            },
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

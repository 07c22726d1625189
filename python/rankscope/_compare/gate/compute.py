"""Decide whether a candidate is good enough to replace a baseline."""

from __future__ import annotations

import os
from operator import itemgetter

from rankscope._compare.cases import MeasureValues
from rankscope._compare.compute import find_common
from rankscope._compare.gate.checks import Settings, check_budgets, check_tolerance
from rankscope._compare.gate.result import (
    Budget,
    Check,
    GateResult,
    check_confidence,
    check_on_inconclusive,
    read_budgets,
)
from rankscope._compare.query_axis import Axis
from rankscope._compare.result import Comparison
from rankscope._evaluate.question import READ, holds, refuse_reading
from rankscope._evaluate.ranked_runs import rank_runs, rank_scores, refuse_scores
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.settings import Settings as EvaluateSettings
from rankscope._inputs.needs import read_items_for
from rankscope._inputs.recognition import shorten_names
from rankscope.deferred import np
from rankscope.errors import PolicyError, UsageError
from rankscope.file import File
from rankscope.measures.reading import read_measure
from rankscope.names import quote
from rankscope.settings.interval import Interval
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypeAlias, Unpack

    from numpy.typing import NDArray

    from rankscope._compare.gate.result import OnInconclusive
    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.query_values import Clusters, Groups
    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.measures.direction import Direction
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import HistoryLike, InputLike

    Limit: TypeAlias = float | str
    Budgets: TypeAlias = Budget | Sequence[Budget] | Mapping[str, Limit] | Mapping[Measure, Limit]


def gate(
    judgments: object,
    baseline: InputLike | None = None,
    candidate: InputLike | None = None,
    budgets: Budgets | None = None,
    *,
    scores: Sequence[str] | None = None,
    confidence: float = 0.95,
    by: str | Sequence[str] | None = None,
    cluster: str | Clusters | None = None,
    attributes: object = None,
    on_inconclusive: OnInconclusive = "fail",
    names: tuple[str, str] | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    method: Literal["auto", "dense", "bounded", "t"] = "auto",
    seed: int = 0,
    **options: Unpack[ReadingOptions],
) -> GateResult:
    """Check whether a candidate stays within its budgets, with confidence intervals.

    With the difference d = candidate − baseline and its two-sided interval, a budget holds if the
    lower end is at least −budget, is broken if the upper end is below −budget, and is inconclusive
    otherwise. With 95 % confidence, a candidate whose true drop is the budget or less is called
    broken in at most 2.5 % of gates per budget.

    Args:
        judgments: The judgments, as in `evaluate`. Or a table with `scores`, or a mapping with the
            `Rankings` of the baseline and of the candidate, in this order. Then give budgets by
            name:
            `gate({"old": a, "new": b}, budgets={"nDCG@10": 0.005})`.
        baseline: The run to compare with, as in `evaluate`.
        candidate: The run to check.
        budgets: A mapping of measures to the largest allowed drop of the mean, which can be a share
            of the baseline's mean: `{"nDCG@10": 0.005, "AP": "2%"}`. Or one or more `Budget`, also
            in a mapping. Measures of all lists together, such as Coverage, need a `tolerance`.
        scores: The two columns of scores of a table whose rows have grades, too: the baseline's and
            the candidate's.
        confidence: The confidence level of the two-sided intervals.
        by: Also check each budget in each slice of this attribute; several are combined. The level
            of these intervals is corrected for the number of slices (Bonferroni).
        cluster: What queries depend within, such as the user, as in `compare`.
        attributes: A table with one row per query, as in `compare`.
        on_inconclusive: Whether a gate with an inconclusive budget should `"fail"` or `"pass"`.
        names: Short names of the baseline and the candidate.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        convention: As in `evaluate`.
        history: As in `evaluate`, for measures of recommended items.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        method: How intervals of means are computed, as in `Interval`.
        seed: The random seed of the intervals.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: A budget, a measure, the policy or another argument is invalid, or no document
            of the baseline is judged.
        InputError: The input doesn't have the expected format, or there is nothing to compare.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {f"q{n}": {"a": 2, "b": 1} for n in range(60)}
        >>> old = {query: {"a": 2.0, "b": 1.0} for query in qrels}
        >>> new = old | {f"q{n}": {"b": 2.0, "a": 1.0} for n in range(20)}
        >>> result = gate(qrels, old, new, {"nDCG@10": 0.2})
        >>> result.passed
        True
        >>> [(check.name, check.verdict) for check in result]
        [('nDCG@10: max drop 0.2', 'holds')]
    """
    if budgets is None and candidate is None and (scores is not None or holds(judgments, Rankings)):
        # A first guess: there are no runs beside such inputs.
        baseline, budgets = None, baseline
    check_confidence(confidence)
    check_on_inconclusive(on_inconclusive)
    wanted = read_budgets(budgets, by)
    reading = Reading.of("gate", options)
    if isinstance(judgments, Comparison):
        raise _bad_call("a comparison doesn't have the values of queries that budgets need")
    measures = [read_measure(each.measure) for each in wanted]
    for budget, measure in zip(wanted, measures, strict=True):
        _refuse_measure(measure, measure.better, budget)
        _refuse_vain_budget(budget, measure)
    once = list(dict.fromkeys(measures))
    asked = EvaluateSettings(
        measures=once,
        policy=policy,
        convention=convention,
        by=[name for each in wanted for name in each.attributes],
        cluster=cluster,
        items=read_items_for(
            once, history=history, items=items, catalogue=catalogue, reading=reading
        ),
    )
    if holds(judgments, Rankings):
        refuse_scores(scores, "Rankings")
        refuse_reading(options, READ, "query", "encoding")
    rankings = _rank(judgments, (baseline, candidate), scores, asked, reading)
    if names is not None and (len(set(names)) != 2):
        raise _bad_call("expected two different names")
    shown = tuple(rankings) if names is None else tuple(names)
    evaluated = {
        name: each.evaluate(
            once, policy=policy, convention=convention, items=asked.items, threads=reading.threads
        )
        for name, each in rankings.items()
    }
    first, evaluations = find_common(evaluated), [*evaluated.values()]
    if not all(measure.row.of_items for measure in once):
        _refuse_unjudged(dict(zip(shown, rankings.values(), strict=True)))
    if first.policy.aggregate != "mean":
        raise PolicyError(
            f"only means can be gated, found aggregate={first.policy.aggregate}",
            hint="remove aggregate from the policy",
            code="aggregate_unavailable",
        )
    old, new = rankings.values()
    axis, groups = _read_axis(old, wanted, attributes, cluster, reading)
    clusters = axis.clusters

    def has_same_lists(chosen: NDArray[np.int64]) -> bool:
        texts = first.query_texts
        queries = (texts[axis.order[at]] for at in chosen)
        return (
            old.has_doc_ids
            and new.has_doc_ids
            and all(old.doc_texts(query) == new.doc_texts(query) for query in queries)
        )

    settings = Settings(
        interval=Interval(confidence, method=method, seed=seed),
        on_inconclusive=on_inconclusive,
        threads=reading.threads,
        has_same_lists=has_same_lists,
    )
    checks = _check_all(wanted, measures, evaluations, axis=axis, groups=groups, settings=settings)
    return GateResult(
        baseline=str(shown[0]),
        candidate=str(shown[1]),
        checks=checks,
        on_inconclusive=on_inconclusive,
        cluster="" if clusters is None else clusters[0],
        policy=first.policy,
        notes=tuple(dict.fromkeys(note for each in evaluations for note in each.notes)),
    )


def _rank(
    judgments: object,
    runs: tuple[InputLike | None, InputLike | None],
    scores: Sequence[str] | None,
    asked: EvaluateSettings,
    reading: Reading,
) -> dict[str, Rankings]:
    """Rank the baseline and the candidate."""
    baseline, candidate = runs
    if holds(judgments, Rankings) or scores is not None:
        if baseline is not None or candidate is not None:
            raise _bad_call("expected no runs besides")
        if holds(judgments, Rankings):
            rankings = dict(judgments)
        else:
            rankings = rank_scores("gate", judgments, scores, asked, reading)
        if len(rankings) != 2:
            raise _bad_call("expected the rankings of a baseline and of a candidate")
        return rankings
    if baseline is None or candidate is None:
        raise _bad_call("expected judgments, a baseline and a candidate")
    called = _name_runs(baseline, candidate)
    named = dict(zip(called, (baseline, candidate), strict=True))
    return rank_runs(judgments, named, asked, reading)  # type: ignore[arg-type]  # what else it can be


def _check_all(
    budgets: Sequence[Budget],
    measures: Sequence[Measure],
    evaluations: Sequence[Evaluation],
    *,
    axis: Axis,
    groups: Mapping[tuple[str, ...], Groups],
    settings: Settings,
) -> tuple[Check, ...]:
    """Check each budget with the values of queries, or with those of all lists."""
    checks: list[Check] = []
    for budget, measure in zip(budgets, measures, strict=True):
        if budget.kind == "tolerance":
            values = [each[measure] for each in evaluations]
            checks.append(check_tolerance(budget, measure, values, len(axis.order), settings))
            continue
        columns = [each.per_query(measure) for each in evaluations]
        stacked = MeasureValues.stack(measure, columns, axis.order)
        checks += check_budgets(
            [(budget, stacked)], groups=groups, clusters=axis.clusters, settings=settings
        )
    return tuple(checks)


def _name_runs(baseline: object, candidate: object) -> tuple[str, str]:
    """Return the file names of two runs, if they are files with different names."""
    paths = [
        os.fsdecode(each)
        for each in (
            getattr(run, "path", run) if isinstance(run, File) else run
            for run in (baseline, candidate)
        )
        if isinstance(each, str | os.PathLike)
    ]
    names = shorten_names(paths)
    return (names[0], names[1]) if len(set(names)) == 2 else ("baseline", "candidate")


def _read_axis(
    rankings: Rankings,
    budgets: Sequence[Budget],
    attributes: object,
    cluster: str | Clusters | None,
    reading: Reading,
) -> tuple[Axis, dict[tuple[str, ...], Groups]]:
    """Return the queries and their clusters, and the slices of the attributes that budgets name."""
    wanted = dict.fromkeys(each.attributes for each in budgets if each.attributes)
    named = [name for each in wanted for name in each]
    named += [cluster] if isinstance(cluster, str) else []
    if attributes is not None and named:
        # Read once, because it may be standard input.

        texts = list(dict.fromkeys(named))
        from rankscope._inputs.query_table import read_query_table  # noqa: PLC0415 - needs PyArrow

        attributes = read_query_table(attributes, reading, texts=texts)
    query_ids = rankings.query_texts
    axis = Axis.read(query_ids, attributes, None, cluster, reading, rankings=rankings)
    groups = {}
    for names in wanted:
        found = Axis.read(
            query_ids, attributes, list(names), None, reading, rankings=rankings
        ).groups
        if found is not None:
            groups[names] = found
    return axis, groups


def _refuse_unjudged(rankings: Mapping[str, Rankings]) -> None:
    """Refuse a baseline of which no document is judged, because no candidate can be worse."""
    unjudged = [name for name, each in rankings.items() if np.isnan(each.relevance).all()]
    name, baseline = next(iter(rankings.items()))
    if name not in unjudged:
        return
    example, judgments = "", baseline._judgments  # noqa: SLF001 - a part of it
    if judgments is not None:
        lists = ((query, baseline.doc_texts(query)) for query in baseline.query_texts)
        query, docs = next(filter(itemgetter(1), lists), (baseline.query_texts[0], []))
        known = [doc for doc, _ in judgments.documents(judgments.find(query) or 0)]
        judged, retrieved = (", ".join(map(quote, ids[:1])) or "nothing" for ids in (known, docs))
        example = f": for {quote(query)}, {judged} is judged and {retrieved} is retrieved"
    raise UsageError(
        f"none of the documents of {' and '.join(map(str, unjudged))} is judged{example}",
        hint="check that the judgments and the runs are of the same collection, and write document "
        "ids alike",
        code="all_unjudged",
    )


def _refuse_measure(measure: Measure, direction: Direction, budget: Budget) -> None:
    """Refuse a measure that has no mean, or of which a drop isn't a loss.

    A measure that says nothing about which ranking is better, such as Judged, can have a minimum.
    """
    if budget.kind == "tolerance":
        if measure.row.level != "run":
            raise UsageError(
                f"{measure} can't have a tolerance: each query has a value of it, so a gate can "
                "tell how sure a drop is",
                hint=f"write max_drop={budget.tolerance!r}, or --max-drop",
                code="bad_budget",
            )
        return
    if measure.row.level == "run":
        raise UsageError(
            f"{measure} can't have a budget of this kind: it is one value of all lists together, "
            "so no query has a value to resample",
            hint=f"write rs.Budget({measure.name!r}, tolerance=0.02), or --tolerance: it compares "
            "the two values as they are, without an interval",
            code="no_query_values",
        )
    if measure.row.mean != "mean":
        raise UsageError(
            f"{measure} can't have a budget: its summary is not a mean over queries",
            hint="choose a measure with a mean, such as nDCG@10 or AP",
            code="bad_budget",
        )
    has_minimum = direction == "neither" and budget.minimum is not None
    if direction != "higher" and not has_minimum:
        why = (
            "a drop of it is an improvement"
            if direction == "lower"
            else "it doesn't say which of two rankings is better"
        )
        raise UsageError(
            f"{measure} can't have a budget: {why}",
            hint="choose a measure of which higher values are better, such as nDCG@10",
            code="bad_budget",
        )


def _refuse_vain_budget(budget: Budget, measure: Measure) -> None:
    """Refuse a limit that no values can exceed, such as a drop of 5 that was meant as 5 percent."""
    low, high = map(float, measure.row.value_range)
    limit = budget.limit
    is_drop = budget.kind in {"max-drop", "tolerance"}
    share = f"{limit:g}%" if is_drop and 1 <= limit < 100 else ""
    if budget.is_relative and measure.better == "lower":
        is_vain = False
    elif budget.is_relative:
        is_vain, share = limit >= 1, ""
    elif budget.kind == "min":
        is_vain = not low <= limit <= high
    else:
        is_vain = limit >= high - low
    if is_vain:
        why = f"values of {measure} are from {low:g} to {high:g}"
        if budget.is_relative:
            what = "value" if budget.kind == "tolerance" else "mean"
            why = f"a {what} can't drop by more than itself"
        raise UsageError(
            f"{budget} checks nothing: {why}",
            hint=f"write {share!r} for {limit:g} percent, or 0.01"
            if share
            else "give a limit that the values can exceed",
            code="bad_budget",
        )


def _bad_call(message: str) -> UsageError:
    return UsageError(
        message,
        hint="write gate(qrels, baseline, candidate, {'nDCG@10': 0.005}), or "
        "gate({'old': a, 'new': b}, budgets={'nDCG@10': 0.005})",
        code="bad_parameter",
    )

"""A run, and perhaps a baseline, evaluated by few human and many model judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from rankscope._evaluate.evaluating import evaluate_run, load_qrels
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import bad_parameter, order_queries
from rankscope._evaluate.rankings import Rankings, rank_run
from rankscope._evaluate.settings import Settings
from rankscope._file import File
from rankscope._inputs.reading import Qrels
from rankscope._settings import Interval, Policy, Reading, read_interval, ties_of
from rankscope.errors import LimitError, MeasureError, UsageError
from rankscope.judges.powered import Items, estimate_powered, rescale, split_strata
from rankscope.judges.reliability import LARGE_FACTOR, JudgeAgreement, measure_agreement
from rankscope.judges.result import ModelJudgedEvaluation
from rankscope.measures import Measure
from rankscope.measures.parse import Measures, read_measure
from rankscope.typing import InputLike

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions

Values: TypeAlias = dict[str, float]
"""The value of each query, in the order of their ids as text."""
ORDERS = ("doc_id", "doc_id_asc", "input")
"""The ties that don't depend on grades."""


def evaluate(
    human_qrels: InputLike | Qrels,
    model_qrels: InputLike | Qrels,
    run: InputLike,
    measures: Measures,
    *,
    baseline: InputLike | None = None,
    interval: float | Interval = 0.95,
    policy: Policy | str | None = None,
    **options: Unpack[ReadingOptions],
) -> ModelJudgedEvaluation:
    """Estimate the mean of a measure from human judgments of some queries and a model's of all.

    The estimate is the mean of the human values, corrected by how much easier or harder the other
    queries are for the run according to the model: mean(human) + weight x (mean of the model's
    values over all queries - over the human queries). It has no bias from the model's mistakes,
    however large, if the queries for people were drawn at random. The better human and model values
    correlate, the narrower the interval becomes. The weight is tuned from the data (PPI++:
    Angelopoulos, Duchi and Zrnic, 2023).

    With a baseline, queries in which both runs have the same documents in the same order, up to the
    measure's cutoff, differ by 0 whatever the judgments. Only human judgments of the others say
    anything, so draw from these.

    The interval is for a new sample of queries. A bounded interval allows for queries that are
    unlike all that people judged. A dense one is narrower, and assumes that there are none: it is
    based on Student's t distribution, corrected for skewness (Hall, 1992) and the tuned weight.

    Args:
        human_qrels: The judgments of people, as in `rankscope.evaluate`, for queries that were
            drawn at random, or one after the other as the result says.
        model_qrels: The judgments of the model, for these queries and many others.
        run: The retrieved documents, as in `rankscope.evaluate`. It is read twice, so it can't be
            standard input.
        measures: As in `rankscope.evaluate`.
        baseline: Another run. The values are then differences: those of the run minus those of the
            baseline.
        interval: The confidence level, or an `Interval` whose method is `"bounded"`, `"dense"` or
            `"auto"`: bounded for measures with limits such as nDCG, and dense for others such as
            DCG. With fewer than 20 human queries, or if they don't differ at all, a bounded
            interval stands in for a dense one.
        policy: As in `rankscope.evaluate`. `aggregate` must be `"mean"`. Queries without a value by
            people or by the model are left out of both.
        **options: How the inputs are read, as in `rankscope.evaluate`.

    Returns:
        For each measure the estimate, the means by people and by the model alone, what the model's
        judgments are worth, and which query to judge next; and a warning if they are worth nothing.

    Raises:
        UsageError: A measure, the policy or another argument is invalid.
        InputError: The input doesn't have the expected format, no query has a value by people and
            by the model, or fewer than 20 for a measure without limits, or they judged no document
            in common.
        FileError: A file can't be read.

    Examples:
        >>> run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(300)}
        >>> model = {query: {"a": int(n % 3 > 0), "b": 1} for n, query in enumerate(run)}
        >>> human = {f"q{n}": {"a": int(n % 3 * n % 7 > 0), "b": 1} for n in range(40)}
        >>> print(evaluate(human, model, run, "RR"))
        means over 300 queries judged by the model, 40 of them by people
        <BLANKLINE>
        measure   value  interval          human alone                 model  weight  worth
        RR       0.7785  0.6820 to 0.8446  0.7750 (0.6712 to 0.8538)  0.8333  0.42    1.3×
        <BLANKLINE>
        bounded intervals of 95%; worth: as precise as this many times the human queries
        judge q130 next: the interval of RR probably becomes 0.0028 narrower
        documents judged by both: 80, the same grade 95.0%, quadratic kappa 0.84, alpha 0.84
        policy: ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """
    chosen = _read_method(interval)
    reading = Reading.of("judges.evaluate", options)
    human, model = (load_qrels(qrels, reading) for qrels in (human_qrels, model_qrels))
    runs = _list_runs(run, baseline)
    settings = Settings(measures=measures, policy=policy)
    by_human, by_model = (
        [evaluate_run(qrels, run, settings, reading) for run in runs] for qrels in (human, model)
    )
    measured, applied = by_model[0].measures, by_model[0].policy
    _refuse_aggregate(applied)
    changed = _find_changed(model, runs, measured, applied, reading)
    people, judge = (
        [_order_values(evaluations, measure) for measure in measured]
        for evaluations in (by_human, by_model)
    )
    strata = split_strata(np.nan_to_num([*judge[0].values()]), changed[0].astype(np.float64))
    means = [
        estimate_powered(
            _list_queries(*columns, strata, is_difference=len(runs) > 1), interval=chosen
        )
        for columns in zip(measured, people, judge, changed, strict=True)
    ]
    notes = (note for evaluation in (*by_human, *by_model) for note in evaluation.notes)
    return ModelJudgedEvaluation(
        means=tuple(means),
        level=chosen.level,
        policy=applied,
        is_difference=len(runs) > 1,
        agreement=_compare_documents(human, model),
        not_modelled=len({*by_human[0].query_texts} - {*by_model[0].query_texts}),
        notes=tuple(dict.fromkeys(note for note in notes if note.code == "all_relevant")),
    )


def estimate_dcg(
    human_qrels: InputLike | Qrels,
    model_qrels: InputLike | Qrels,
    run: InputLike,
    measure: Measure | str = "DCG@10",
    *,
    baseline: InputLike | None = None,
    interval: float | Interval = 0.95,
    policy: Policy | str | None = None,
    **options: Unpack[ReadingOptions],
) -> ModelJudgedEvaluation:
    """Estimate the mean DCG from human grades of a sample of documents and a model's of all.

    People judge single documents, drawn at random from those at or above the cutoff, rather than
    all documents of some queries. DCG is a sum over documents, so the model's gains can be
    corrected document by document: by the mean difference between human and model gains, weighted
    by the discount. The model's gains are first converted to the mean and spread of the human ones,
    so that its scale doesn't matter. With the same number of human grades, this is more precise
    than `rankscope.judges.evaluate`, but it only works for DCG: nDCG isn't a sum.

    The variance is that between queries, so documents of one query may depend on each other. With a
    baseline, a document at the same rank in both runs adds 0 to the difference, and no judgment of
    it says anything.

    A bounded interval takes the scale of gains as known: from the lowest to the highest grade that
    people gave, or the model if its highest grade is less than twice as high.

    Args:
        human_qrels: The judgments of people, as in `rankscope.evaluate`, for documents that were
            drawn at random from all of the run at or above the cutoff, or of both runs. Others are
            ignored.
        model_qrels: The judgments of the model. Retrieved documents without one have gain 0 by the
            model, which makes the estimate less precise, but not biased.
        run: The retrieved documents, as in `rankscope.evaluate`. Judged queries without any count
            as 0.
        measure: DCG with a cutoff and any settings.
        baseline: Another run, of whose documents people judged a random sample, too. The value is
            then the difference: DCG of the run minus that of the baseline.
        interval: As in `rankscope.judges.evaluate`.
        policy: As in `rankscope.evaluate`. `aggregate` must be `"mean"`.
        **options: How the inputs are read, as in `rankscope.evaluate`.

    Raises:
        UsageError: The measure isn't DCG with a cutoff, or another argument is invalid.
        InputError: The input doesn't have the expected format, or people judged none of the
            documents.
        FileError: A file can't be read.

    Examples:
        >>> run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(200)}
        >>> model = {query: {"a": 1 + n % 3, "b": n % 2} for n, query in enumerate(run)}
        >>> human = {f"q{n}": {"ab"[n % 2]: n % 3} for n in range(40)}
        >>> result = estimate_dcg(human, model, run, "DCG@2")
        >>> mean = result["DCG@2"]
        >>> result.human_documents, mean.human_queries, mean.queries
        (40, 40, 200)
    """
    chosen = _read_method(interval)
    dcg = read_measure(measure)
    if dcg.row.name != "DCG" or dcg.k is None:
        raise MeasureError(
            f"expected DCG with a cutoff, found {dcg}",
            hint="use 'DCG@10'; for other measures, rankscope.judges.evaluate",
            code="bad_parameter",
        )
    reading = Reading.of("judges.estimate_dcg", options)
    human, model = (load_qrels(qrels, reading) for qrels in (human_qrels, model_qrels))
    runs = _list_runs(run, baseline)
    grades = sorted({*human.judgments.grades(), *model.judgments.grades()})
    request = Settings(measures=dcg, policy=policy).request(
        score_type=reading.score_type, grades=grades
    )
    _refuse_aggregate(request.policy)
    plan = request.plan(duplicates=reading.duplicates)
    gains = dict(zip(grades, plan.gains(0, grades) or [], strict=True))
    discounts = plan.discounted(0, [1.0] * dcg.k, range(1, dcg.k + 1)) or []
    rankings = [rank_run(Rankings, model, run, request.ties, reading) for run in runs]
    documents = _list_documents(rankings, human, gains, discounts)
    rows = np.array([*documents.values()], dtype=np.float64).reshape(-1, 4)
    # The order in which NumPy adds up depends on where numbers lie.
    numbers, discount, by_model, by_human = np.ascontiguousarray(rows.T)
    is_judged = ~np.isnan(by_human)
    low, high = _limit_gains(human, model, gains)
    sizes, signs = np.abs(discount), np.sign(discount)
    scaled = np.clip(rescale(by_model, by_human[is_judged], by_model[is_judged]), low, high)
    count = len(model.query_texts)
    items = Items(
        measure=dcg,
        names=[*documents],
        sizes=sizes,
        human=signs * by_human,
        model=signs * scaled,
        model_mean=float(discount @ by_model) / count,
        strata=split_strata(by_model, sizes),
        queries=numbers.astype(np.int64),
        count=count,
        limits=(min(low, -high), max(high, -low)) if len(runs) > 1 else (low, high),
        reach=len(runs) * sum(discounts),
    )
    return ModelJudgedEvaluation(
        means=(estimate_powered(items, interval=chosen),),
        level=chosen.level,
        policy=request.policy,
        is_difference=len(runs) > 1,
        agreement=_compare_documents(human, model),
        not_modelled=len({*human.query_texts} - {*model.query_texts}),
        human_documents=int(is_judged.sum()),
    )


def _read_method(interval: float | Interval) -> Interval:
    chosen = read_interval(interval) or Interval()
    if chosen.method in ("t", "percentile"):
        raise bad_parameter(
            "an interval with a model's judgments is bounded or dense, found "
            f"method={chosen.method!r}",
            "write Interval(0.95, method='dense'), or only the level",
        )
    return chosen


def _list_runs(run: InputLike, baseline: InputLike | None) -> list[InputLike]:
    """Return a run, and a baseline if there is one, so that they can be read several times."""
    runs = [run] if baseline is None else [run, baseline]
    paths = [run.path if isinstance(run, File) else run for run in runs]
    if any(isinstance(path, str) and path == "-" for path in paths):
        raise UsageError(
            "the run is read twice, so it cannot be standard input",
            hint="write it to a file first",
            code="stdin_twice",
        )
    return [list(run) if isinstance(run, Iterator) else run for run in runs]


def _refuse_aggregate(policy: Policy) -> None:
    if policy.aggregate != "mean":
        raise UsageError(
            f"a model's judgments help to estimate means, found aggregate={policy.aggregate!r}",
            hint="set policy='aggregate=mean'",
            code="aggregate_unavailable",
        )


def _order_values(evaluations: Sequence[Evaluation], measure: Measure) -> Values:
    """Return the value or the difference of each query."""
    texts = evaluations[0].query_texts
    first, *others = (evaluation.per_query(measure) for evaluation in evaluations)
    values = first - sum(others)
    return {texts[at]: float(values[at]) for at in order_queries(texts)}


def _find_changed(
    qrels: Qrels,
    runs: Sequence[InputLike],
    measures: Sequence[Measure],
    policy: Policy,
    reading: Reading,
) -> list[NDArray[np.bool_]]:
    """Return for each measure in which queries of `qrels` its value could depend on the run.

    In the others, both runs have the same documents in the same order, so that their values are
    equal whatever the judgments. Queries are in the order of their ids as text. Of a single run,
    the value of every query counts.
    """
    if len(runs) < 2:
        return [np.ones(len(qrels.query_texts), dtype=bool)] * len(measures)
    ties = ties_of(policy)
    is_ordered = ties in ORDERS
    order = ties if is_ordered else "doc_id"
    rankings = [rank_run(Rankings, qrels, run, order, reading) for run in runs]
    lists = [
        *zip(*(_list_rows(ranking, is_ordered=is_ordered) for ranking in rankings), strict=True)
    ]
    changed = []
    for measure in measures:
        is_local = is_ordered and "cutoff_local" in measure.row.properties
        is_whole = measure.parameters.get("ideal") == "retrieved" or policy.unjudged == "remove"
        cutoff = measure.k if is_local and not is_whole else None
        differs = [
            docs[:cutoff] != others[:cutoff] or tied != others_tied
            for (docs, tied), (others, others_tied) in lists
        ]
        changed.append(np.array(differs, dtype=bool))
    return changed


def _list_rows(rankings: Rankings, *, is_ordered: bool) -> list[tuple[Sequence[str], list[bool]]]:
    """Return the documents of each query, and whether each is tied with the one before."""
    offsets, scores, queries = rankings.offsets, rankings.scores, rankings.query_texts
    rows: list[tuple[Sequence[str], list[bool]]] = []
    for at in order_queries(queries):
        own = scores[offsets[at] : offsets[at + 1]]
        tied = [] if is_ordered else (own[1:] == own[:-1]).tolist()
        rows.append((tuple(rankings.doc_texts(queries[at])), tied))
    return rows


def _list_queries(
    measure: Measure,
    people: Values,
    judge: Values,
    is_changed: NDArray[np.bool_],
    strata: NDArray[np.int64],
    *,
    is_difference: bool,
) -> Items:
    """Return the queries that have a value by the model, from the values by people and by it."""
    model = np.array([*judge.values()], dtype=np.float64)
    with_value = np.flatnonzero(~np.isnan(model))
    queries = [*judge]
    names: list[tuple[str, str | None]] = [(queries[at], None) for at in with_value]
    model = model[with_value]
    human = np.array([people.get(query, math.nan) for query, _ in names], dtype=np.float64)
    is_human = ~np.isnan(human)
    # Whatever the lists, two different values don't come from the same ones.
    is_counted = is_changed[with_value] | (model != 0) | (is_human & (human != 0))
    own = is_human & is_counted
    low, high = map(float, measure.row.value_range)
    if is_difference:
        low, high = low - high, high - low
    # Some policies exceed the range.
    values = np.concatenate([human[is_human], model])
    low, high = float(values.min(initial=low)), float(values.max(initial=high))
    return Items(
        measure=measure,
        names=names,
        sizes=is_counted.astype(np.float64),
        human=human,
        model=model if math.isfinite(high - low) else rescale(model, human[own], model[own]),
        model_mean=float(model.mean()) if len(model) else math.nan,
        strata=strata[with_value],
        count=len(with_value),
        limits=(low, high),
    )


def _list_documents(
    rankings: Sequence[Rankings],
    human: Qrels,
    gains: Mapping[float, float],
    discounts: Sequence[float],
) -> dict[tuple[str, str | None], tuple[int, float, float, float]]:
    """Return the documents that count, whose discounts in both runs differ.

    Each has the number of its query, the discount at its rank in the run minus that in the
    baseline, its gain by the model, and its gain by people, NaN if they did not judge it.
    """
    documents: dict[tuple[str, str | None], tuple[int, float, float, float]] = {}
    queries = rankings[0].query_texts
    for number, place in enumerate(order_queries(queries)):
        query = queries[place]
        by_human = _grade(human, query)
        differences: dict[str, float] = {}
        by_model: dict[str, float] = {}
        for sign, ranking in zip((1, -1), rankings, strict=False):
            start = ranking.offsets[place]
            own = ranking.relevance[start : start + len(discounts)].tolist()
            for doc, grade, discount in zip(ranking.doc_texts(query), own, discounts, strict=False):
                differences[doc] = differences.get(doc, 0.0) + sign * discount
                by_model[doc] = gains.get(grade, 0.0)
        for doc, difference in differences.items():
            if difference:
                gain = gains[by_human[doc]] if doc in by_human else math.nan
                documents[query, doc] = (number, difference, by_model[doc], gain)
    return documents


def _limit_gains(human: Qrels, model: Qrels, gains: Mapping[float, float]) -> tuple[float, float]:
    """Return the lowest and the highest gain by people, infinite if that isn't known."""
    scale, of_model = [0.0, *human.judgments.grades()], model.judgments.grades()
    if max(of_model, default=0.0) < LARGE_FACTOR * max(scale):
        scale += of_model
    values = [0.0, *(gains[grade] for grade in scale if grade in gains)]
    low, high = min(values), max(values)
    return (low, high) if low < high else (-math.inf, math.inf)


def _grade(qrels: Qrels, query: str) -> dict[str, float]:
    """Return the grades of the documents of a query."""
    at = qrels.judgments.find(query)
    return {} if at is None else dict(qrels.judgments.documents(at))


def _compare_documents(human: Qrels, model: Qrels) -> JudgeAgreement | None:
    """Return how well people and the model agree, or `None` for too many different grades."""
    pairs: list[tuple[float, float]] = []
    for query in human.query_texts:
        by_model = _grade(model, query)
        by_human = _grade(human, query) if by_model else {}
        pairs += [(grade, by_model[doc]) for doc, grade in by_human.items() if doc in by_model]
    try:
        return measure_agreement(("human", "model"), np.array(pairs, np.float64).reshape(-1, 2))
    except LimitError:
        return None

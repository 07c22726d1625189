"""Estimate DCG from human grades of some documents and a model's grades of all."""

from __future__ import annotations

import math

from rankscope._evaluate.judgments import load_qrels
from rankscope._evaluate.query_values import order_queries
from rankscope._evaluate.settings import Settings
from rankscope.deferred import np
from rankscope.errors import InputError, MeasureError
from rankscope.judges.agreement import LARGE_FACTOR
from rankscope.judges.judged_runs import JudgedRuns, refuse_aggregate
from rankscope.judges.model_judge import (
    compare_documents,
    describe_mean,
    read_chance,
    read_method,
)
from rankscope.judges.model_judged import ModelJudgedEvaluation
from rankscope.judges.powered import FEWEST_QUERIES, Items, estimate_powered, rescale, split_strata
from rankscope.measures.reading import read_measure
from rankscope.records import record
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias, Unpack

    from numpy.typing import NDArray

    from rankscope._core import Plan
    from rankscope._evaluate.rankings import Rankings
    from rankscope._inputs.qrels import Qrels
    from rankscope.judges.model_judged import ModelJudgedMean
    from rankscope.measures import Measure
    from rankscope.settings.interval import Interval
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike

    Chances: TypeAlias = Mapping[str, Mapping[str, float]]


def estimate_dcg(
    human_qrels: InputLike | Qrels,
    model_qrels: InputLike | Qrels,
    run: InputLike,
    measure: Measure | str = "DCG@10",
    *,
    baseline: InputLike | None = None,
    probabilities: Chances | None = None,
    interval: float | Interval = 0.95,
    policy: Policy | str | None = None,
    **options: Unpack[ReadingOptions],
) -> ModelJudgedEvaluation:
    """Estimate the mean DCG from human grades of a sample of documents and a model's of all.

    People judge single documents, drawn at random from those at or above the cutoff, rather than
    all documents of some queries. DCG is a sum over documents, so the model's gains can be
    corrected document by document: by the mean difference between human and model gains, weighted
    by discount / probability of being drawn. The model's gains are first converted to the mean and
    spread of the human ones, so that its scale doesn't matter. With the same number of human
    grades, this is more precise than `evaluate_with_model_judge`, but it only works for DCG: nDCG
    isn't a sum.

    The variance is that between queries, so documents of one query may depend on each other. With a
    baseline, a document at the same rank in both runs adds 0 to the difference, and no judgment of
    it says anything.

    A bounded interval takes the scale of gains as known: from the lowest to the highest grade that
    people gave, or the model if its highest grade is less than twice as high.

    Args:
        human_qrels: The judgments of people, as in `evaluate`, for documents that were drawn at
            random from all of the run at or above the cutoff, or of both runs. Others are ignored.
        model_qrels: The judgments of the model. Retrieved documents without one have gain 0 by the
            model, which makes the estimate less precise, but not biased.
        run: The retrieved documents, as in `evaluate`. Judged queries without any count as 0.
        measure: DCG with a cutoff and any settings.
        baseline: Another run, of whose documents people judged a random sample, too. The value is
            then the difference: DCG of the run minus that of the baseline.
        probabilities: For each query and document, the probability with which people were asked
            about it (default: the same for all documents).
        interval: As in `evaluate_with_model_judge`.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: The measure isn't DCG with a cutoff, or another argument is invalid.
        InputError: The input doesn't have the expected format, people judged none of the documents,
            or a probability is missing or out of range.
        FileError: A file can't be read.

    Examples:
        >>> run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(200)}
        >>> model = {query: {"a": 1 + n % 3, "b": n % 2} for n, query in enumerate(run)}
        >>> human = {f"q{n}": {"ab"[n % 2]: n % 3} for n in range(40)}
        >>> found = estimate_dcg(human, model, run, "DCG@2")
        >>> mean = found["DCG@2"]
        >>> found.human_documents, mean.human_queries, mean.queries
        (40, 40, 200)
    """
    settings = read_method(interval)
    asked = read_measure(measure)
    if asked.row.name != "DCG" or asked.k is None:
        raise MeasureError(
            f"expected DCG with a cutoff, found {asked}",
            hint="use 'DCG@10'; for other measures, evaluate_with_model_judge",
            code="bad_parameter",
        )
    reading = Reading.of("estimate_dcg", options)
    human, model = (load_qrels(given, reading) for given in (human_qrels, model_qrels))
    grades = sorted({*human.judgments.grades(), *model.judgments.grades()})
    request = Settings(measures=asked, policy=policy).request(
        score_type=reading.score_type, grades=grades
    )
    refuse_aggregate(request.policy)
    plan = request.plan(duplicates=reading.duplicates)
    gains = _Gains(plan, grades, asked.k)
    judged = JudgedRuns.hold(run, baseline, reading)
    runs = judged.rank(model, request.ties)
    mean = _estimate(
        asked,
        _list_documents(runs, human, gains),
        reach=len(runs) * sum(gains.discounts),
        limits=gains.limit(human.judgments.grades(), model.judgments.grades()),
        queries=len(model.query_texts),
        probabilities=probabilities,
        settings=settings,
        is_difference=judged.is_difference,
    )
    is_known = set(model.query_texts).__contains__
    return ModelJudgedEvaluation(
        means=(mean,),
        level=settings.level,
        policy=request.policy,
        is_difference=judged.is_difference,
        agreement=compare_documents(human, model),
        not_modelled=sum(not is_known(query) for query in human.query_texts),
        human_documents=mean.human_changed,
    )


class _Gains:
    """The gain of each grade, and the discount at each rank."""

    def __init__(self, plan: Plan, grades: list[float], cutoff: int) -> None:
        gains = plan.gains(0, grades) or []
        self.of_grade = dict(zip(grades, gains, strict=True))
        self.discounts = plan.discounted(0, [1.0] * cutoff, range(1, cutoff + 1)) or []

    def limit(self, human: Iterable[float], model: Iterable[float]) -> tuple[float, float]:
        """Return the lowest and the highest gain by people, infinite if that isn't known."""
        scale = [0.0, *human]
        if max(model, default=0.0) < LARGE_FACTOR * max(scale):
            scale += model
        gains = [0.0, *(self.of_grade[grade] for grade in scale if grade in self.of_grade)]
        low, high = min(gains), max(gains)
        return (low, high) if low < high else (-math.inf, math.inf)


@record(frozen=True, slots=True)
class _Document:
    """A document that is at or above the cutoff in a run.

    Args:
        query: The query.
        number: The number of the query.
        doc: The document.
        model: Its gain by the model.
        human: Its gain by people, NaN if they did not judge it.
        discount: The discount at its rank in the run minus that in the baseline.
    """

    query: str
    number: int
    doc: str
    model: float
    human: float
    discount: float


def _list_documents(runs: list[Rankings], human: Qrels, gains: _Gains) -> list[_Document]:
    """Return the documents that count: those whose discounts in both runs differ."""
    found = []
    first = runs[0]
    for number, place in enumerate(order_queries(first.query_texts)):
        query = first.query_texts[place]
        at = human.judgments.find(query)
        grades = {} if at is None else dict(human.judgments.documents(at))
        discounts: dict[str, float] = {}
        relevance: dict[str, float] = {}
        for sign, run in zip((1, -1), runs, strict=False):
            own = run.relevance[run.offsets[place] :]
            ranked = zip(run.doc_texts(query), own.tolist(), gains.discounts, strict=False)
            for doc, grade, discount in ranked:
                discounts[doc] = discounts.get(doc, 0.0) + sign * discount
                relevance[doc] = grade
        found += [
            _Document(
                query,
                number,
                doc,
                gains.of_grade.get(relevance[doc], 0.0),
                gains.of_grade[grades[doc]] if doc in grades else math.nan,
                discount,
            )
            for doc, discount in discounts.items()
            if discount
        ]
    return found


def _estimate(
    measure: Measure,
    documents: list[_Document],
    *,
    reach: float,
    limits: tuple[float, float],
    queries: int,
    probabilities: Chances | None,
    settings: Interval,
    is_difference: bool,
) -> ModelJudgedMean:

    def pick(name: str) -> NDArray[np.float64]:
        return np.array([getattr(each, name) for each in documents], dtype=np.float64)

    model, human, discounts = pick("model"), pick("human"), pick("discount")
    numbers = pick("number").astype(np.int64)
    is_judged = ~np.isnan(human)
    low, high = limits
    has_limits = math.isfinite(low)
    fewest, judged = 1 if has_limits else FEWEST_QUERIES, len(np.unique(numbers[is_judged]))
    if judged < fewest:
        raise InputError(
            f"expected human grades of retrieved documents in {fewest} or more queries that the "
            f"model judged, found {judged}",
            hint="judge documents of more queries by hand",
            code="too_few_queries",
        )
    chances = np.ones(len(documents))
    if probabilities is not None:
        for at in np.flatnonzero(is_judged):
            each = documents[at]
            chance = probabilities.get(each.query, {}).get(each.doc)
            chances[at] = read_chance(chance, f"document {each.doc!r} of query {each.query!r}")
    sizes, signs = np.abs(discounts), np.sign(discounts)
    by_model = np.clip(rescale(model, human[is_judged], model[is_judged]), low, high)
    powered = estimate_powered(
        Items(
            sizes=sizes,
            human=signs * human,
            model=signs * by_model,
            chances=chances,
            strata=split_strata(model, sizes),
            queries=numbers,
            count=queries,
            limits=(min(low, -high), max(high, -low)) if is_difference else limits,
            reach=reach,
        ),
        interval=settings,
    )
    following = None if powered.following < 0 else documents[powered.following]
    return describe_mean(
        measure,
        powered,
        model=float(discounts @ model) / queries,
        human_queries=judged,
        queries=queries,
        changed=len(documents),
        human_changed=int(is_judged.sum()),
        next_query=None if following is None else following.query,
        next_document=None if following is None else following.doc,
    )

"""Estimate DCG from human grades of some documents and a model's grades of all."""

from __future__ import annotations

import math

from rankscope import engine
from rankscope.api.model_judge import (
    compare_documents,
    describe_mean,
    hold_run,
    refuse_aggregate,
)
from rankscope.api.rankings import Rankings
from rankscope.data.interval import read_interval
from rankscope.data.qrels import Qrels
from rankscope.errors import InputError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    from rankscope._core import Plan
    from rankscope.data.interval import Interval
    from rankscope.data.policy import Duplicates, Policy, ScoreType
    from rankscope.measures import Measure
    from rankscope.results.model_judged import ModelJudgedEvaluation
    from rankscope.stats.judges.documents import RetrievedDocuments
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
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    score_type: ScoreType = "float64",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> ModelJudgedEvaluation:
    """Estimate the mean DCG from human grades of a sample of documents and a model's of all.

    People judge single documents, drawn at random from those at or above the cutoff, rather than
    all documents of some queries. DCG is a sum over documents, so the model's gains can be
    corrected document by document: by the mean difference between human and model gains, weighted
    by discount / probability of being drawn. With the same number of human grades, this is more
    precise than `evaluate_with_model_judge`, but it only works for DCG: nDCG isn't a sum.

    The variance is that between queries, so documents of one query may depend on each other.

    Args:
        human_qrels: The judgments of people, as in `evaluate`: documents of 20 queries or more,
            drawn at random from all documents of the run at or above the cutoff. Others are
            ignored.
        model_qrels: The judgments of the model. Retrieved documents without one have gain 0 by the
            model, which makes the estimate less precise, but not biased.
        run: The retrieved documents, as in `evaluate`. Judged queries without any count as 0.
        measure: DCG with a cutoff and any settings.
        baseline: Another run, of whose documents people judged a random sample, too. The value is
            then the difference: DCG of the run minus that of the baseline.
        probabilities: For each query and document, the probability with which people were asked
            about it (default: the same for all documents).
        interval: The confidence level; of an `Interval`, only its level is used.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        columns: As in `evaluate`.
        duplicates: As in `evaluate`.
        score_type: As in `evaluate`.
        encoding: As in `evaluate`.

    Raises:
        UsageError: The measure isn't DCG with a cutoff, or another argument is invalid.
        InputError: The input doesn't have the expected format, people judged documents of fewer
            than 20 queries, or a probability is missing or out of range.
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
    from rankscope.results.model_judged import ModelJudgedEvaluation  # noqa: PLC0415 - loads late
    from rankscope.stats.judges.documents import estimate_dcg as estimate  # noqa: PLC0415 - as above

    settings = read_interval(interval)
    level = 0.95 if settings is None else settings.level
    asked = engine.read_measure(measure)
    if asked.row.name != "DCG" or asked.k is None:
        raise MeasureError(
            f"expected DCG with a cutoff, found {asked}",
            hint="use 'DCG@10'; for other measures, evaluate_with_model_judge",
            code="bad_parameter",
        )
    human, model = (
        given
        if isinstance(given, Qrels)
        else engine.load_qrels(given, columns=columns, duplicates=duplicates, encoding=encoding)
        for given in (human_qrels, model_qrels)
    )
    grades = sorted({*human.judgments.grades(), *model.judgments.grades()})
    request = engine.read_request(
        asked, policy, convention=None, score_type=score_type, grades=grades
    )
    refuse_aggregate(request.policy)
    plan = engine.make_plan(request, request.ties, grades, duplicates)
    gains = _Gains(plan, grades, asked.k)
    runs = []
    for each in (run, baseline):
        if each is None:
            continue
        rankings = Rankings.from_run(
            model,
            hold_run(each),
            ties=request.ties,
            columns=columns,
            duplicates=duplicates,
            score_type=score_type,
            encoding=encoding,
        )
        runs.append(_list_documents(rankings, human, gains, probabilities))
    judged = _count_judged(runs)
    is_signed = baseline is not None or min(gains.of_grade.values(), default=0.0) < 0
    low = -math.inf if is_signed else 0.0
    found = estimate(runs, len(model.query_texts), level=level, low=low, high=math.inf)
    mean = describe_mean(asked, found, judged[0], len(model.query_texts))
    is_known = set(model.query_texts).__contains__
    return ModelJudgedEvaluation(
        means=(mean,),
        level=level,
        policy=request.policy,
        is_difference=baseline is not None,
        agreement=compare_documents(human, model),
        not_modelled=sum(not is_known(query) for query in human.query_texts),
        human_documents=judged[1],
    )


class _Gains:
    """The gain of each grade, and the discount at each rank."""

    def __init__(self, plan: Plan, grades: list[float], cutoff: int) -> None:
        gains = plan.gains(0, grades) or []
        self.of_grade = dict(zip(grades, gains, strict=True))
        self.discounts = plan.discounted(0, [1.0] * cutoff, range(1, cutoff + 1)) or []


def _list_documents(
    rankings: Rankings, human: Qrels, gains: _Gains, probabilities: Chances | None
) -> RetrievedDocuments:
    """Return the documents at or above the cutoff.

    Raises:
        InputError: A probability is missing or out of range.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    from rankscope.stats.judges.documents import RetrievedDocuments  # noqa: PLC0415 - loads late

    rows: list[tuple[int, float, float, float, float]] = []
    offsets, relevance = rankings.offsets.tolist(), rankings.relevance.tolist()
    queries = rankings.query_texts
    for number, place in enumerate(engine.order_queries(queries)):
        query = queries[place]
        at = human.judgments.find(query)
        grades = {} if at is None else dict(human.judgments.documents(at))
        docs = rankings.doc_texts(query)[: len(gains.discounts)]
        for rank, doc in enumerate(docs):
            grade = relevance[offsets[place] + rank]
            chance = 1.0
            if doc in grades and probabilities is not None:
                chance = _find_chance(probabilities, query, doc)
            rows.append(
                (
                    number,
                    gains.discounts[rank],
                    gains.of_grade.get(grade, 0.0),
                    gains.of_grade[grades[doc]] if doc in grades else float("nan"),
                    chance,
                )
            )
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    return RetrievedDocuments(
        queries=table[:, 0].astype(np.int64),
        discounts=table[:, 1],
        model=table[:, 2],
        human=table[:, 3],
        chances=table[:, 4],
    )


def _find_chance(probabilities: Chances, query: str, doc: str) -> float:
    chance = probabilities.get(query, {}).get(doc, float("nan"))
    if 0 < chance <= 1:
        return float(chance)
    raise InputError(
        f"expected a probability above 0 and up to 1 for document {doc!r} of query {query!r}, "
        f"found {chance!r}",
        hint="give the probability with which people were asked about each judged document",
        code="bad_propensity",
    )


def _count_judged(runs: list[RetrievedDocuments]) -> tuple[int, int]:
    """Return the number of queries and documents that people judged, of the smallest sample.

    Raises:
        InputError: There are too few.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    from rankscope.stats.judges.powered import FEWEST_QUERIES  # noqa: PLC0415 - loads late

    counts = []
    for run in runs:
        is_judged = ~np.isnan(run.human)
        counts.append((len(np.unique(run.queries[is_judged])), int(is_judged.sum())))
    queries, documents = min(counts)
    if queries < FEWEST_QUERIES:
        raise InputError(
            f"expected human grades of retrieved documents in {FEWEST_QUERIES} or more queries "
            f"that the model judged, found {queries}",
            hint="judge documents of more queries by hand: with fewer, an interval can't be "
            "trusted",
            code="too_few_queries",
        )
    return queries, documents

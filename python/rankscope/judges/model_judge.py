"""Evaluate with few human judgments and many of a model."""

from __future__ import annotations

import math
from itertools import chain

from rankscope._evaluate.judgments import load_qrels
from rankscope._evaluate.query_values import order_queries
from rankscope.deferred import np
from rankscope.errors import InputError, UsageError
from rankscope.judges.agreement import MOST_GRADES, measure_agreement
from rankscope.judges.judged_runs import JudgedRuns, find_changed
from rankscope.judges.model_judged import ModelJudgedEvaluation, ModelJudgedMean
from rankscope.judges.powered import FEWEST_QUERIES, Items, estimate_powered, rescale, split_strata
from rankscope.names import quote
from rankscope.records import as_dict, record
from rankscope.settings.interval import Interval, read_interval
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Unpack

    from numpy.typing import NDArray

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._inputs.qrels import Qrels
    from rankscope.judges.agreement import JudgeAgreement
    from rankscope.judges.powered import Powered
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike


def evaluate_with_model_judge(
    human_qrels: InputLike | Qrels,
    model_qrels: InputLike | Qrels,
    run: InputLike,
    measures: Measures,
    *,
    baseline: InputLike | None = None,
    probabilities: Mapping[str, float] | None = None,
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
        human_qrels: The judgments of people, as in `evaluate`, for queries that were drawn at
            random, or one after the other as the result says.
        model_qrels: The judgments of the model, for these queries and many others.
        run: The retrieved documents, as in `evaluate`. It is read twice, so it can't be standard
            input.
        measures: As in `evaluate`.
        baseline: Another run. The values are then differences: those of the run minus those of the
            baseline.
        probabilities: The probability with which people were asked about each query, if it wasn't
            the same for all that changed.
        interval: The confidence level, or an `Interval` whose method is `"bounded"`, `"dense"` or
            `"auto"`: bounded for measures with limits such as nDCG, and dense for others such as
            DCG. With fewer than 20 human queries, or if they don't differ at all, a bounded
            interval stands in for a dense one.
        policy: As in `evaluate`. `aggregate` must be `"mean"`. Queries without a value by people
            or by the model are left out of both.
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        For each measure the estimate, the means by people and by the model alone, what the model's
        judgments are worth, and which query to judge next; and a warning if they are worth nothing.

    Raises:
        UsageError: A measure, the policy or another argument is invalid.
        InputError: The input doesn't have the expected format, no query has a value by people and
            by the model, or fewer than 20 for a measure without limits, a probability is missing or
            out of range, or they judged no document in common.
        FileError: A file can't be read.

    Examples:
        >>> run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(300)}
        >>> model = {query: {"a": int(n % 3 > 0), "b": 1} for n, query in enumerate(run)}
        >>> human = {f"q{n}": {"a": int(n % 3 * n % 7 > 0), "b": 1} for n in range(40)}
        >>> print(evaluate_with_model_judge(human, model, run, "RR"))
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
    settings = read_method(interval)
    reading = Reading.of("evaluate_with_model_judge", options)
    human, model = (load_qrels(given, reading) for given in (human_qrels, model_qrels))
    runs = JudgedRuns.hold(run, baseline, reading)
    by_human, by_model = (runs.evaluate(qrels, measures, policy) for qrels in (human, model))
    changed = find_changed(model, runs, by_model[0].measures, by_model[0].policy)
    values = [
        (order_values(by_human, measure), order_values(by_model, measure))
        for measure in by_human[0].measures
    ]
    (people, _), (names, _) = values[0]
    places = {query: at for at, query in enumerate(people)}
    # Queries that people did not judge are at the end.
    at = [places.get(name, -1) for name in names]
    columns_of = [(np.append(one[1], np.nan)[at], other[1]) for one, other in values]
    strata = split_strata(np.nan_to_num(columns_of[0][1]), changed[0].astype(np.float64))
    means = [
        _estimate(
            measure,
            _Column(names, people, judge, is_changed, strata),
            probabilities,
            settings,
            is_difference=runs.is_difference,
        )
        for measure, (people, judge), is_changed in zip(
            by_human[0].measures, columns_of, changed, strict=True
        )
    ]
    return ModelJudgedEvaluation(
        means=tuple(means),
        level=settings.level,
        policy=by_human[0].policy,
        is_difference=runs.is_difference,
        agreement=compare_documents(human, model),
        not_modelled=len(places.keys() - set(names)),
        notes=notes_of_grades([*by_human, *by_model]),
    )


def notes_of_grades(evaluations: Iterable[Evaluation]) -> tuple[Diagnostic, ...]:
    """Return the notes about the scale of the grades, each once."""
    every = chain.from_iterable(evaluation.notes for evaluation in evaluations)
    return tuple(dict.fromkeys(note for note in every if note.code == "all_relevant"))


def order_values(
    evaluations: Sequence[Evaluation], measure: Measure
) -> tuple[list[str], NDArray[np.float64]]:
    """Return queries in the order of their ids as text, and their values or differences."""
    texts = evaluations[0].query_texts
    order = order_queries(texts)
    values = evaluations[0].per_query(measure)[order]
    if len(evaluations) > 1:
        values = values - evaluations[1].per_query(measure)[order]
    return [texts[at] for at in order], values


@record(frozen=True, slots=True)
class _Column:
    """The values of a measure of all queries that the model judged."""

    names: list[str]
    human: NDArray[np.float64]
    model: NDArray[np.float64]
    is_changed: NDArray[np.bool_]
    strata: NDArray[np.int64]


def _estimate(
    measure: Measure,
    column: _Column,
    probabilities: Mapping[str, float] | None,
    settings: Interval,
    *,
    is_difference: bool,
) -> ModelJudgedMean:

    known = np.flatnonzero(~np.isnan(column.model))
    human, model = column.human[known], column.model[known]
    is_both = ~np.isnan(human)
    # Whatever the lists, two different values don't come from the same ones.
    is_changed = column.is_changed[known] | (model != 0) | (is_both & (human != 0))
    own = is_both & is_changed
    count = int(is_both.sum())
    low, high = find_range(measure, human[is_both], model, is_difference=is_difference)
    has_limits = math.isfinite(low) and math.isfinite(high)
    if not count or (not has_limits and own.sum() < FEWEST_QUERIES):
        fewest = 1 if has_limits else FEWEST_QUERIES
        raise InputError(
            f"expected {fewest} or more queries judged by people and by the model, found {count} "
            f"with a value of {measure}",
            hint="judge more queries by hand, or evaluate a measure with limits, such as nDCG",
            code="too_few_queries",
        )
    chances = np.ones(len(known))
    if probabilities is not None:
        for at in np.flatnonzero(own):
            chances[at] = read_chance(
                probabilities.get(column.names[known[at]]), f"query {column.names[known[at]]!r}"
            )
    powered = estimate_powered(
        Items(
            sizes=is_changed.astype(np.float64),
            human=human,
            model=model if has_limits else rescale(model, human[own], model[own]),
            chances=chances,
            strata=column.strata[known],
            count=len(known),
            limits=(low, high),
        ),
        interval=settings,
    )
    following = None if powered.following < 0 else column.names[known[powered.following]]
    return describe_mean(
        measure,
        powered,
        model=float(model.mean()),
        human_queries=count,
        queries=len(known),
        changed=int(is_changed.sum()),
        human_changed=int(own.sum()),
        next_query=following,
        next_document=None,
    )


def describe_mean(measure: Measure, powered: Powered, **behind: Any) -> ModelJudgedMean:  # noqa: ANN401 - its fields
    """Return an estimate with its measure, and the numbers of queries behind it."""
    fields = as_dict(powered)
    del fields["following"]
    return ModelJudgedMean(measure=measure, **fields, **behind)


def read_method(given: float | Interval) -> Interval:
    """Return the settings of an interval with a model's judgments."""
    settings = read_interval(given) or Interval()
    if settings.method in ("t", "percentile"):
        raise UsageError(
            "an interval with a model's judgments is bounded or dense, found "
            f"method={settings.method!r}",
            hint="write Interval(0.95, method='dense'), or only the level",
            code="bad_parameter",
        )
    return settings


def read_chance(given: float | None, whose: str) -> float:
    """Return the probability with which people were asked."""
    if given is not None and 0 < given <= 1:
        return float(given)
    raise InputError(
        f"expected a probability above 0 and up to 1 for {whose}, found {given!r}",
        hint="give the probability with which people were asked about each that they judged",
        code="bad_propensity",
    )


def find_range(
    measure: Measure, *columns: NDArray[np.float64], is_difference: bool
) -> tuple[float, float]:
    """Return the range of a value or a difference, which some policies exceed."""
    low, high = map(float, measure.row.value_range)
    if is_difference:
        low, high = low - high, high - low
    return (
        min(low, *(float(each.min(initial=low)) for each in columns)),
        max(high, *(float(each.max(initial=high)) for each in columns)),
    )


def compare_documents(human: Qrels, model: Qrels) -> JudgeAgreement | None:
    """Return how well people and the model agree, or `None` for too many different grades."""
    pairs: list[tuple[float, float]] = []
    for query, name in enumerate(human.query_texts):
        other = model.judgments.find(name)
        if other is None:
            continue
        grades = dict(model.judgments.documents(other))
        pairs += [
            (grade, grades[doc]) for doc, grade in human.judgments.documents(query) if doc in grades
        ]
    if not pairs:
        raise InputError(
            "people and the model judged no document of the same query",
            hint="use the same IDs of queries and documents in both; the first document of people "
            f"is {_name_first(human)}, and that of the model {_name_first(model)}",
            code="nothing_in_common",
        )
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    if len(np.unique(table)) > MOST_GRADES:
        return None
    return measure_agreement(("human", "model"), table)


def _name_first(qrels: Qrels) -> str:
    for at, query in enumerate(qrels.query_texts):
        for doc, _ in qrels.judgments.documents(at):
            return f"{quote(doc)} of query {quote(query)}"
    return "missing"

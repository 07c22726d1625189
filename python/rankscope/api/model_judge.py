"""Evaluate with few human judgments and many of a model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from rankscope import engine
from rankscope.data.interval import read_interval
from rankscope.data.qrels import Qrels
from rankscope.errors import InputError, UsageError
from rankscope.file import File
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.data.diagnostics import Diagnostic
    from rankscope.data.interval import Interval
    from rankscope.data.policy import Duplicates, Policy, ScoreType
    from rankscope.engine import Measures
    from rankscope.measures import Measure
    from rankscope.results import Evaluation
    from rankscope.results.judge_agreement import JudgeAgreement
    from rankscope.results.model_judged import ModelJudgedEvaluation, ModelJudgedMean
    from rankscope.stats.judges.powered import Powered
    from rankscope.typing import InputLike


def evaluate_with_model_judge(
    human_qrels: InputLike | Qrels,
    model_qrels: InputLike | Qrels,
    run: InputLike,
    measures: Measures,
    *,
    baseline: InputLike | None = None,
    interval: float | Interval = 0.95,
    policy: Policy | str | None = None,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    score_type: ScoreType = "float64",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    threads: int | None = None,
) -> ModelJudgedEvaluation:
    """Estimate the mean of a measure from human judgments of some queries and a model's of all.

    The estimate is the mean of the human values, corrected by how much easier or harder the other
    queries are for the run according to the model: mean(human) + weight x (mean of the model's
    values over all queries - over the human queries). It has no bias from the model's mistakes,
    however large, if the queries for people were drawn at random. The better human and model values
    correlate, the narrower the interval becomes. The weight is tuned from the data (PPI++:
    Angelopoulos, Duchi and Zrnic, 2023).

    The interval is for a new sample of queries. It is based on Student's t distribution, corrected
    for skewness (Hall, 1992), for the tuned weight, and for mistakes of the model that are too rare
    to be seen in the human queries.

    Args:
        human_qrels: The judgments of people, as in `evaluate`: 20 queries or more, drawn at random.
        model_qrels: The judgments of the model, for these queries and many others.
        run: The retrieved documents, as in `evaluate`. It is read twice, so it can't be standard
            input.
        measures: As in `evaluate`.
        baseline: Another run. The values are then differences: those of the run minus those of the
            baseline.
        interval: The confidence level; of an `Interval`, only its level is used.
        policy: As in `evaluate`. `aggregate` must be `"mean"`. Queries without a value by people
            or by the model are left out of both.
        columns: As in `evaluate`.
        duplicates: As in `evaluate`.
        score_type: As in `evaluate`.
        encoding: As in `evaluate`.
        threads: As in `evaluate`.

    Returns:
        For each measure the estimate, the means by people and by the model alone, and what the
        model's judgments are worth; and a warning if they are worth nothing.

    Raises:
        UsageError: A measure, the policy or another argument is invalid.
        InputError: The input doesn't have the expected format, fewer than 20 queries have a value
            by people and by the model, or they judged no document in common.
        FileError: A file can't be read.

    Examples:
        >>> run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(300)}
        >>> model = {query: {"a": int(n % 3 > 0), "b": 1} for n, query in enumerate(run)}
        >>> human = {f"q{n}": {"a": int(n % 3 * n % 7 > 0), "b": 1} for n in range(40)}
        >>> print(evaluate_with_model_judge(human, model, run, "RR"))
        means over 300 queries judged by the model, 40 of them by people
        <BLANKLINE>
        measure   value  interval          human alone                 model  weight  worth
        RR       0.7821  0.7105 to 0.8384  0.7750 (0.6923 to 0.8556)  0.8333  0.85    2.0×
        <BLANKLINE>
        intervals of 95%; worth: as precise as this many times the human queries
        documents judged by both: 80, the same grade 95.0%, quadratic kappa 0.84, alpha 0.84
        policy: ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """
    from rankscope.results.model_judged import ModelJudgedEvaluation  # noqa: PLC0415 - loads late

    settings = read_interval(interval)
    level = 0.95 if settings is None else settings.level
    human, model = (
        given
        if isinstance(given, Qrels)
        else engine.load_qrels(given, columns=columns, duplicates=duplicates, encoding=encoding)
        for given in (human_qrels, model_qrels)
    )
    runs = [hold_run(each) for each in (run, baseline) if each is not None]

    def evaluate(qrels: Qrels, each: InputLike) -> Evaluation:
        return engine.evaluate_run(
            qrels,
            each,
            measures,
            policy=policy,
            columns=columns,
            duplicates=duplicates,
            score_type=score_type,
            encoding=encoding,
            threads=threads,
        )

    by_human, by_model = ([evaluate(qrels, each) for each in runs] for qrels in (human, model))
    refuse_aggregate(by_human[0].policy)
    of_human, of_model = by_human[0].query_texts, by_model[0].query_texts
    orders = engine.order_queries(of_human), engine.order_queries(of_model)
    places = {of_model[query]: at for at, query in enumerate(orders[1])}
    at = [places.get(of_human[query], -1) for query in orders[0]]
    means = [
        _estimate(
            measure,
            _subtract(by_human, measure)[orders[0]],
            _subtract(by_model, measure)[orders[1]],
            at,
            level,
            is_difference=baseline is not None,
        )
        for measure in by_human[0].measures
    ]
    return ModelJudgedEvaluation(
        means=tuple(means),
        level=level,
        policy=by_human[0].policy,
        is_difference=baseline is not None,
        agreement=compare_documents(human, model),
        not_modelled=at.count(-1),
        notes=notes_of_grades([*by_human, *by_model]),
    )


def notes_of_grades(evaluations: Iterable[Evaluation]) -> tuple[Diagnostic, ...]:
    """Return the notes about the scale of the grades, each once."""
    every = chain.from_iterable(evaluation.notes for evaluation in evaluations)
    return tuple(dict.fromkeys(note for note in every if note.code == "all_relevant"))


def hold_run(run: InputLike) -> InputLike:
    """Return a run that can be read twice.

    Raises:
        UsageError: It is standard input.
    """
    path = run.path if isinstance(run, File) else run
    if isinstance(path, str) and path == "-":
        raise UsageError(
            "the run is read twice, so it cannot be standard input",
            hint="write it to a file first",
            code="stdin_twice",
        )
    return list(run) if isinstance(run, Iterator) else run


def refuse_aggregate(policy: Policy) -> None:
    """Raise an error for a policy that aggregates in another way than by the mean.

    Raises:
        UsageError: It does.
    """
    if policy.aggregate != "mean":
        raise UsageError(
            f"a model's judgments help to estimate means, found aggregate={policy.aggregate!r}",
            hint="use aggregate='mean'",
            code="aggregate_unavailable",
        )


def _subtract(evaluations: list[Evaluation], measure: Measure) -> NDArray[np.float64]:
    values = evaluations[0].per_query(measure)
    return values if len(evaluations) == 1 else values - evaluations[1].per_query(measure)


def _estimate(
    measure: Measure,
    human: NDArray[np.float64],
    model: NDArray[np.float64],
    at: list[int],
    level: float,
    *,
    is_difference: bool,
) -> ModelJudgedMean:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    from rankscope.stats.judges.powered import (  # noqa: PLC0415 - loads late
        FEWEST_QUERIES,
        estimate_powered,
    )

    places = np.array(at)
    paired = np.where(places >= 0, model[places], np.nan)
    is_both = ~np.isnan(human) & ~np.isnan(paired)
    is_other = ~np.isnan(model)
    is_other[places[is_both]] = False
    count = int(is_both.sum())
    if count < FEWEST_QUERIES:
        raise InputError(
            f"expected {FEWEST_QUERIES} or more queries judged by people and by the model, found "
            f"{count} with a value of {measure}",
            hint="judge more queries by hand: with fewer, an interval can't be trusted",
            code="too_few_queries",
        )
    low, high = find_range(
        measure, human[is_both], model[~np.isnan(model)], is_difference=is_difference
    )
    found = estimate_powered(
        human[is_both], paired[is_both], model[is_other], level=level, low=low, high=high
    )
    return describe_mean(measure, found, count, count + int(is_other.sum()))


def describe_mean(
    measure: Measure, found: Powered, human_queries: int, queries: int
) -> ModelJudgedMean:
    """Return an estimate with its measure and the numbers of queries behind it."""
    from rankscope.results.model_judged import ModelJudgedMean  # noqa: PLC0415 - loads late

    return ModelJudgedMean(
        measure=measure,
        value=found.value,
        lower=found.lower,
        upper=found.upper,
        human=found.human,
        human_lower=found.human_lower,
        human_upper=found.human_upper,
        model=found.model,
        weight=found.weight,
        correlation=found.correlation,
        gain=found.gain,
        shift=found.shift,
        human_queries=human_queries,
        queries=queries,
    )


def find_range(
    measure: Measure, *columns: NDArray[np.float64], is_difference: bool
) -> tuple[float, float]:
    """Return the range of a value or a difference, which some policies exceed."""
    low, high = map(float, measure.row.value_range)
    if is_difference:
        low, high = low - high, high - low
    return (
        min(low, *(float(each.min()) for each in columns)),
        max(high, *(float(each.max()) for each in columns)),
    )


def compare_documents(human: Qrels, model: Qrels) -> JudgeAgreement | None:
    """Return how well people and the model agree, or `None` for too many different grades.

    Raises:
        InputError: They judged no document in common, so their values don't belong together.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    from rankscope.stats.judges.agreement import MOST_GRADES, measure_agreement  # noqa: PLC0415 - as above

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

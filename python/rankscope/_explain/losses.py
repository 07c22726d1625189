"""What a value lacks: retrieval, truncation and ordering loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rankscope._core import EMPTY_VALUES
from rankscope._evaluate.columns import Columns
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import weigh_queries
from rankscope._evaluate.ranked_runs import read_rankings
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.refusals import check_judgments
from rankscope._evaluate.settings import Settings, read_policy
from rankscope._explain.ledger import (
    Accounts,
    Losses,
    Parts,
    check_policy,
    check_stages,
    make_ledger,
)
from rankscope._inputs.reading import Qrels, Queries
from rankscope._settings import Interval, Policy
from rankscope.errors import UsageError
from rankscope.measures import Measure, RetrievalLoss
from rankscope.measures.parse import Measures, read_measure
from rankscope.typing import InputLike

By = str | Sequence[str] | Mapping[str, object]
Weights = str | Mapping[str, float] | Sequence[float]

if TYPE_CHECKING:
    from rankscope._evaluate.settings import TableOptions


def losses(
    judgments: object,
    run: InputLike | Measure | str | None = None,
    measure: Measure | str | None = None,
    *,
    by: By | None = None,
    policy: Policy | str | None = None,
    stages: Mapping[str, InputLike | Rankings] | None = None,
    interval: float | Interval | None = None,
    cluster: str | Mapping[str, object] | Sequence[object] | None = None,
    weights: Weights | None = None,
    attributes: object = None,
    **options: Unpack[TableOptions],
) -> Losses:
    """Split what a measure lacks into retrieval, truncation and ordering loss.

    `losses(judgments, run, measure)` and `losses(table, measure)` take what `evaluate` takes.

    Args:
        judgments: The judgments, or a table whose rows have both scores and grades, as in
            `evaluate`.
        run: The retrieved documents, as in `evaluate`. They are read into memory.
        measure: nDCG, DCG or CG, with any settings.
        by: As in `evaluate`.
        policy: As in `evaluate`. `aggregate` must be `"mean"` or `"ratio_of_sums"`.
        stages: The earlier stages of the pipeline, as in `Rankings.losses`.
        interval: As in `evaluate`.
        cluster: As in `evaluate`.
        weights: As in `evaluate`.
        attributes: As in `evaluate`.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: The measure has no losses that add up, the policy is invalid, or a stage has
            different judgments.
        InputError: A query violates the policy, or an input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> means = losses({"q": {"a": 1, "b": 1}}, {"q": {"a": 2, "c": 1}}, "nDCG@10").means
        >>> round(means["value"], 4), round(means["retrieval"], 4)
        (0.6131, 0.3869)
    """
    settings = Settings(
        measures=(), policy=policy, by=by, cluster=cluster, weights=weights, attributes=attributes
    )
    rankings, settings, reading = read_rankings(
        "losses", judgments, run, measure, options, settings=settings
    )
    return measure_losses(
        rankings,
        settings.measures,
        policy=policy,
        by=settings.by,
        stages=stages,
        interval=interval,
        cluster=settings.cluster,
        weights=settings.weights,
        threads=reading.threads,
    )


def measure_losses(
    rankings: Rankings,
    measure: Measures,
    *,
    policy: Policy | str | None,
    by: By | None = None,
    stages: Mapping[str, InputLike | Rankings] | None = None,
    interval: float | Interval | None = None,
    cluster: str | Mapping[str, object] | Sequence[object] | None = None,
    weights: Weights | None = None,
    threads: int | None = None,
) -> Losses:
    """Evaluate the losses of a measure. `Rankings.losses` documents the arguments."""
    parts = Parts.of(read_measure(measure))
    policy = read_policy(policy, Policy(ties=rankings.tie_policy))
    check_policy(policy)
    check_stages(stages or {})
    ranked = _rank_stages(rankings, stages or {})
    options: Any = {"by": by, "interval": interval, "cluster": cluster, "weights": weights}
    values, losses = evaluate_parts(
        parts,
        policy,
        lambda measures, of: rankings.evaluate(measures, policy=of, threads=threads, **options),
    )
    return make_ledger(
        Accounts(
            parts=parts,
            values=values,
            losses=losses,
            stages=_evaluate_stages(rankings, ranked, losses, by, weights),
            observes_retrieval=rankings.knows_unretrieved
            and parts.losses[0].parameters["ideal"] != "retrieved"
            and policy.unretrieved == "count",
        )
    )


def evaluate_parts(
    parts: Parts, policy: Policy, evaluate: Callable[[Sequence[Measure], Policy], Evaluation]
) -> tuple[Evaluation, Evaluation]:
    """Evaluate a measure, and its losses."""
    # Where it is undefined, nothing is lost, whatever the value is.
    counts = EMPTY_VALUES.get(policy.empty, 0.0) > 0.0
    shares = replace(policy, empty="zero") if counts else policy
    if parts.ideal is None:
        losses = evaluate([parts.value, *parts.losses], shares)
        values = losses if shares == policy else evaluate([parts.value], policy)
    else:
        # What is lost in all is the share of all ideals that it is, times their sum.
        shares = replace(policy, empty="zero", aggregate="ratio_of_sums")
        values = evaluate([parts.value, parts.ideal], policy)
        losses = evaluate(parts.losses, shares)
    return values, losses


def _rank_stages(
    rankings: Rankings, stages: Mapping[str, InputLike | Rankings]
) -> dict[str, Rankings]:
    """Join each stage with the judgments of rankings."""
    judgments = rankings._judgments  # noqa: SLF001 - a part of it
    ranked = {}
    for name, stage in stages.items():
        if isinstance(stage, Columns):
            check_judgments(rankings, stage, name)
            ranked[name] = stage
            continue
        if judgments is None:
            raise UsageError(
                f"expected the Rankings of {name!r}, found a run, for which there are no judgments",
                hint="make the rankings by Rankings.from_run, or give those of the stage",
                code="bad_parameter",
            )
        subtopics = judgments.subtopics() or 0
        qrels = Qrels(judgments, Queries(name, "error", judgments.query_ids, subtopics=subtopics))
        duplicates = rankings._choices.duplicates  # noqa: SLF001 - as above
        ranked[name] = rankings.from_run(qrels, stage, ties="input", duplicates=duplicates)
    return ranked


def _evaluate_stages(
    rankings: Rankings,
    stages: Mapping[str, Rankings],
    losses: Evaluation,
    by: By | None,
    weights: Weights | None,
) -> dict[str, Evaluation]:
    """Evaluate the retrieval loss of each stage over the queries of the losses."""
    if not stages:
        return {}

    policy = losses.policy
    loss = next(of for of in losses.measures if of.row == RetrievalLoss.row)
    left_out = np.isnan(losses.per_query(loss)) & (policy.empty != "nan")
    if left_out.any() and not left_out.all():
        own = weigh_queries(weights, lambda: rankings.query_texts, rankings._read_attribute)  # noqa: SLF001 - a part of it
        weights = np.where(left_out, 0.0, 1.0 if own is None else own).tolist()
    groups = None if by is None else _group(rankings, by)
    return {
        name: stage.evaluate(
            [loss],
            policy=replace(policy, ties=stage.tie_policy, missing="zero"),
            by=groups,
            weights=weights,
        )
        for name, stage in stages.items()
    }


def _group(rankings: Rankings, by: By) -> Mapping[str, object]:
    """Return the slice of each query."""
    if isinstance(by, Mapping):
        return by
    columns = [rankings.attribute(name) for name in ([by] if isinstance(by, str) else by)]
    # In the order of slices, and different wherever one of the values is.
    texts = map("\0".join, zip(*columns, strict=True))
    return dict(zip(rankings.query_texts, texts, strict=True))

"""The losses of rankings: retrieval, truncation and ordering."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope._core import EMPTY_VALUES
from rankscope.deferred import np
from rankscope.engine.query_values import read_weights
from rankscope.engine.requests import read_measure, read_policy
from rankscope.errors import UsageError
from rankscope.evaluation.columns import Columns
from rankscope.evaluation.refusals import check_judgments
from rankscope.inputs.qrels import Qrels
from rankscope.losses.difference import Accounts, Parts, check_policy, check_stages, make_ledger
from rankscope.measures import RetrievalLoss
from rankscope.records import replace
from rankscope.settings.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.evaluation.rankings import Rankings
    from rankscope.losses.result import Losses
    from rankscope.measures import Measure
    from rankscope.settings.interval import Interval
    from rankscope.typing import InputLike

    By = str | Sequence[str] | Mapping[str, object]
    Weights = Mapping[str, float] | Sequence[float]


def measure_losses(
    rankings: Rankings,
    measure: Measure | str,
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
    chosen = read_policy(policy, Policy(ties=rankings.tie_policy))
    check_policy(chosen)
    stages = stages or {}
    check_stages(stages)
    ranked = _rank_stages(rankings, stages)

    def evaluate(measures: Sequence[Measure], under: Policy) -> Evaluation:
        return rankings.evaluate(
            measures,
            policy=under,
            by=by,
            interval=interval,
            cluster=cluster,
            weights=weights,
            threads=threads,
        )

    values, losses = evaluate_parts(parts, chosen, evaluate)
    return make_ledger(
        Accounts(
            parts=parts,
            values=values,
            losses=losses,
            stages=_evaluate_stages(rankings, ranked, losses, by, weights),
            observes_retrieval=rankings.knows_unretrieved
            and parts.losses[0].parameters["ideal"] != "retrieved"
            and chosen.unretrieved == "count",
        )
    )


def evaluate_parts(
    parts: Parts, chosen: Policy, evaluate: Callable[[Sequence[Measure], Policy], Evaluation]
) -> tuple[Evaluation, Evaluation]:
    """Evaluate a measure, and its losses."""
    # Where it is undefined, nothing is lost, whatever the value is.
    counts = EMPTY_VALUES.get(chosen.empty, 0.0) > 0.0
    shares = replace(chosen, empty="zero") if counts else chosen
    if parts.ideal is None:
        losses = evaluate([parts.value, *parts.losses], shares)
        values = losses if shares == chosen else evaluate([parts.value], chosen)
    else:
        # What is lost in all is the share of all ideals that it is, times their sum.
        shares = replace(chosen, empty="zero", aggregate="ratio_of_sums")
        values = evaluate([parts.value, parts.ideal], chosen)
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
        qrels = Qrels(judgments, name)
        ranked[name] = rankings.from_run(
            qrels,
            stage,
            ties="input",
            duplicates=rankings._choices.duplicates,  # noqa: SLF001 - as above
        )
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
    loss = next(each for each in losses.measures if each.row == RetrievalLoss.row)
    left_out = np.isnan(losses.per_query(loss)) & (policy.empty != "nan")
    if left_out.any() and not left_out.all():
        given = read_weights(weights, lambda: rankings.query_texts)
        weights = np.where(left_out, 0.0, 1.0 if given is None else given).tolist()
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

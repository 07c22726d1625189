"""The difference between two runs."""

from __future__ import annotations

from os import PathLike

from rankscope._evaluate.judgments import load_qrels_for, refuse_one_stdin_for_both
from rankscope._evaluate.question import READ, holds, refuse_reading
from rankscope._evaluate.ranked_runs import rank_scores, refuse_scores
from rankscope._evaluate.rankings import Rankings, rank_run
from rankscope._evaluate.refusals import refuse_items
from rankscope._evaluate.settings import Settings, read_policy
from rankscope.errors import UsageError
from rankscope.losses.compute import measure_losses
from rankscope.measures.reading import read_measure
from rankscope.settings.policy import Policy, ties_of
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Unpack

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope.difference.result import RunDifference
    from rankscope.losses.result import Losses
    from rankscope.measures import Measure
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike

WITHOUT_LOSSES = ("losses_unavailable", "aggregate_unavailable")
"""Why a measure, or a policy, has no losses that add up."""


def diff(
    judgments: object,
    run_a: InputLike | Measure | str | None = None,
    run_b: InputLike | None = None,
    measure: Measure | str | None = None,
    *,
    scores: Sequence[str] | None = None,
    policy: Policy | str | None = None,
    names: tuple[str, str] | None = None,
    **options: Unpack[ReadingOptions],
) -> RunDifference:
    """Compare two runs, and show where their difference comes from.

    Args:
        judgments: As in `evaluate`. Or a table whose rows have grades and two `scores`, or a
            mapping of names to two `Rankings`, followed by the measure:
            `diff(table, "nDCG@10", scores=["old", "new"])`.
        run_a: The first run, as in `evaluate`. Both runs are read into memory.
        run_b: The second run.
        measure: The measure, or its name.
        scores: The two columns of scores of a table.
        policy: As in `evaluate`.
        names: The names of the runs (default: their paths, or `a` and `b`).
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        The means, wins and losses, the queries that changed most, and, for nDCG, DCG and CG, how
        much of the difference comes from retrieval, truncation and ordering. The ranges `unjudged`
        and `tied` show how far unjudged documents and ties could change the difference.

    Raises:
        UsageError: The measure, the policy or another argument is invalid.
        InputError: The input doesn't have the expected format, or there is nothing to evaluate.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {"q1": {"a": 3, "b": 1}, "q2": {"c": 1}}
        >>> old = {"q1": {"x": 3.0, "b": 2.0}, "q2": {"c": 1.0}}
        >>> new = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"c": 1.0}}
        >>> found = diff(qrels, old, new, "nDCG@10")
        >>> found.wins, found.ties, found.losses
        (1, 1, 0)
        >>> round(found.difference, 4), round(found.terms["retrieval"], 4)
        (0.4131, 0.3623)
        >>> print(found.explain("q1").table)
        doc_id   grade  rank_a  rank_b  move     gained
        a       3.0000       –       1  entered  0.8262
        x            –       1       –  left     0.0000
        b       1.0000       2       2  same     0.0000
    """
    reading = Reading.of("diff", options)
    if run_b is None:
        given: Any = run_a if measure is None else measure
        judged = None
    else:
        judged, given = judgments, measure
    if given is None:
        raise UsageError(
            "expected judgments, two runs and a measure, found fewer",
            hint="write diff(judgments, run_a, run_b, 'nDCG@10'), or diff(table, 'nDCG@10', "
            "scores=['old', 'new'])",
            code="no_measures",
        )
    asked = read_measure(given)
    refuse_items(asked, "losses by document")
    wanted = Settings(measures=[asked], policy=policy)
    if judged is None:
        if holds(judgments, Rankings):
            refuse_scores(scores, "Rankings")
            refuse_reading(options, READ)
            rankings = dict(judgments)
        else:
            rankings = rank_scores("diff", judgments, scores, wanted, reading)
        if len(rankings) != 2:
            raise UsageError(
                f"expected two rankings, found {len(rankings)}",
                hint="compare takes any number of them",
                code="bad_parameter",
            )
        (a, one), (b, other) = rankings.items()
        chosen = read_policy(policy, Policy(ties=one.tie_policy))
        return diff_rankings((one, other), asked, chosen, names or (a, b), reading.threads)
    refuse_scores(scores)
    chosen = read_policy(policy)
    runs: tuple[Any, Any] = (run_a, run_b)
    refuse_one_stdin_for_both(*runs)
    qrels = load_qrels_for(judged, runs, asked, reading)  # type: ignore[arg-type]  # what else it can be
    ties = ties_of(chosen)
    one, other = (rank_run(Rankings, qrels, run, ties, reading) for run in runs)
    return diff_rankings((one, other), asked, chosen, names or name_runs(*runs), reading.threads)


def diff_rankings(
    rankings: tuple[Rankings, Rankings],
    measure: Measure,
    policy: Policy,
    names: tuple[str, str],
    threads: int | None = None,
) -> RunDifference:
    """Compare two rankings of the same queries."""
    from rankscope.difference.documents import (  # noqa: PLC0415 - loads late
        RankedPair,
        Side,
        compare_runs,
        find_unpaired,
    )

    made = [_measure(each, measure, policy, None, threads) for each in rankings]
    one, other = (Side.of(name, each, measure) for name, each in zip(names, made, strict=True))
    unpaired = find_unpaired(one, other)
    count = int(unpaired.sum())
    if count:
        weights = (~unpaired).astype(float).tolist()
        made = [_measure(each, measure, policy, weights, threads) for each in rankings]
        one, other = (Side.of(name, each, measure) for name, each in zip(names, made, strict=True))

    pair = RankedPair(rankings, measure, policy, (one, other), threads)
    return compare_runs(
        pair,
        policy=made[0].policy,
        unpaired=count,
        observes_retrieval=getattr(made[0], "observes_retrieval", True),
    )


def name_runs(*runs: object) -> tuple[str, str]:
    """Return the names of two runs: their paths, or `a` and `b`."""
    paths = [str(run) for run in runs if isinstance(run, str | PathLike)]
    return (paths[0], paths[1]) if len({*paths}) == 2 else ("a", "b")


def _measure(
    rankings: Rankings,
    measure: Measure,
    policy: Policy,
    weights: Sequence[float] | None,
    threads: int | None,
) -> Losses | Evaluation:
    """Evaluate the losses, or only the value if losses wouldn't add up."""
    try:
        return measure_losses(rankings, measure, policy=policy, weights=weights, threads=threads)
    except UsageError as error:
        if error.code not in WITHOUT_LOSSES:
            raise
    return rankings.evaluate(measure, policy=policy, weights=weights, threads=threads)

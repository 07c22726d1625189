"""Draw the queries that people should judge beside a model."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.engine.judgments import load_qrels
from rankscope.errors import InputError, UsageError
from rankscope.evaluation.evaluating import evaluate_run
from rankscope.inputs.qrels import Qrels
from rankscope.judges.changed_queries import find_changed
from rankscope.judges.model_judge import hold_run, order_values, refuse_aggregate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from rankscope.judges.drawn_queries import DrawnQueries
    from rankscope.measures import Measure
    from rankscope.settings.policy import Duplicates, Policy, ScoreType
    from rankscope.typing import InputLike


def draw_queries(
    model_qrels: InputLike | Qrels,
    run: InputLike,
    measure: Measure | str = "nDCG@10",
    *,
    count: int,
    baseline: InputLike | None = None,
    seed: int = 0,
    policy: Policy | str | None = None,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    score_type: ScoreType = "float64",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    threads: int | None = None,
) -> DrawnQueries:
    """Draw the queries that people should judge for `evaluate_with_model_judge`.

    With a baseline, they are drawn from the queries in which both runs differ above the measure's
    cutoff: the others add 0 to the difference, whatever people say. They are spread evenly over the
    model's values, and all have the same probability.

    Args:
        model_qrels: The judgments of the model, as in `evaluate`.
        run: The retrieved documents, as in `evaluate`.
        measure: The measure to estimate, or the first one of several.
        count: The number of queries to draw, at most as many as differ.
        baseline: The run to compare with.
        seed: The random seed. The same seed always gives the same queries.
        policy: As in `evaluate`.
        columns: As in `evaluate`.
        duplicates: As in `evaluate`.
        score_type: As in `evaluate`.
        encoding: As in `evaluate`.
        threads: As in `evaluate`.

    Raises:
        UsageError: The count, the seed, the measure, the policy or another argument is invalid.
        InputError: The input doesn't have the expected format, or the runs don't differ.
        FileError: A file can't be read.

    Examples:
        >>> run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(300)}
        >>> other = run | {f"q{n}": {"a": 1.0, "b": 2.0} for n in range(36)}
        >>> model = {query: {"a": n % 3, "b": n % 2} for n, query in enumerate(run)}
        >>> drawn = draw_queries(model, run, "nDCG@1", count=9, baseline=other)
        >>> drawn.changed, drawn.total, len(drawn.queries), drawn.probability
        (36, 300, 9, 0.25)
    """
    from rankscope.judges.drawn_queries import DrawnQueries  # noqa: PLC0415 - loads late
    from rankscope.judges.draws import draw_items, split_strata  # noqa: PLC0415 - as above

    for name, given, least in (("count", count, 1), ("seed", seed, 0)):
        if type(given) is not int or given < least:
            raise UsageError(
                f"expected {name} to be a whole number of {least} or more, found {given!r}",
                hint=f"write {name}={max(least, 50 * least)}",
                code="bad_parameter",
            )
    qrels = (
        model_qrels
        if isinstance(model_qrels, Qrels)
        else load_qrels(model_qrels, columns=columns, duplicates=duplicates, encoding=encoding)
    )
    runs = [hold_run(each) for each in (run, baseline) if each is not None]
    evaluations = [
        evaluate_run(
            qrels,
            each,
            [measure],
            policy=policy,
            columns=columns,
            duplicates=duplicates,
            score_type=score_type,
            encoding=encoding,
            threads=threads,
        )
        for each in runs
    ]
    first = evaluations[0]
    refuse_aggregate(first.policy)
    asked = first.measures[0]
    (changed,) = find_changed(
        qrels,
        runs,
        [asked],
        policy=first.policy,
        columns=columns,
        duplicates=duplicates,
        score_type=score_type,
        encoding=encoding,
    )
    names, values = order_values(evaluations, asked)
    is_known = ~np.isnan(values)
    sizes = ((changed | (values != 0)) & is_known).astype(np.float64)
    found = int(sizes.sum())
    if not found:
        raise InputError(
            f"no query has different documents in both runs, as far as {asked} sees",
            hint="the difference is 0 whatever people say; use a larger cutoff or other runs",
            code="empty_input",
        )
    values = np.where(is_known, values, 0.0)
    taken = np.sort(draw_items(split_strata(values, sizes), sizes, min(count, found), seed))
    return DrawnQueries(
        measure=asked,
        queries=tuple(names[at] for at in taken),
        by_model=tuple(values[taken].tolist()),
        probability=len(taken) / found,
        changed=found,
        total=int(is_known.sum()),
        policy=first.policy,
    )

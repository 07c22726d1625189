"""Draw the queries that people should judge beside a model."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.engine.judgments import load_qrels
from rankscope.errors import InputError, UsageError
from rankscope.judges.judged_runs import JudgedRuns, find_changed
from rankscope.judges.model_judge import order_values
from rankscope.judges.powered import draw_items, split_strata
from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.records import record
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from rankscope.inputs.qrels import Qrels
    from rankscope.measures import Measure
    from rankscope.output.exports import ColumnValues
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike


@record(frozen=True, slots=True, kw_only=True)
class DrawnQueries(Printed, Tabular):
    """Queries drawn at random for people to judge; as a table, one row per query.

    Args:
        measure: The measure by whose values of the model they are spread.
        queries: The queries, in the order of their ids as text.
        by_model: The value of each by the model: the run's, or its difference from the baseline's.
        probability: The probability with which each query that counts was drawn.
        changed: The number of queries that count: those in which run and baseline differ.
        total: The number of all queries, which the model judged.
        policy: The policy.
    """

    measure: Measure
    queries: tuple[str, ...]
    by_model: tuple[float, ...]
    probability: float
    changed: int
    total: int
    policy: Policy

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each drawn query, which `evaluate_with_model_judge` takes."""
        return dict.fromkeys(self.queries, self.probability)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "measure": self.measure.name,
            "queries": dict(zip(self.queries, self.by_model, strict=True)),
            "probability": self.probability,
            "changed": self.changed,
            "total": self.total,
            "policy": self.policy.to_dict(),
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return {
            "query_id": self.queries,
            "by_model": self.by_model,
            "probability": [self.probability] * len(self.queries),
        }

    def _parts(self) -> list[str | Table]:
        count = len(self.queries)
        among = f"the {self.changed} of {self.total} in which the runs differ"
        return [
            f"{count} queries drawn for people from "
            + (among if self.changed < self.total else f"all {self.total}"),
            "",
            Table(
                {"query": list(self.queries), f"{self.measure} by the model": list(self.by_model)}
            ),
            "",
            f"probability of each: {self.probability:.4g}",
            f"policy: {self.policy}",
        ]

    __repr__ = Printed.__str__


def draw_queries(
    model_qrels: InputLike | Qrels,
    run: InputLike,
    measure: Measure | str = "nDCG@10",
    *,
    count: int,
    baseline: InputLike | None = None,
    seed: int = 0,
    policy: Policy | str | None = None,
    **options: Unpack[ReadingOptions],
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
        **options: How the inputs are read, as in `evaluate`.

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
    for name, given, least in (("count", count, 1), ("seed", seed, 0)):
        if type(given) is not int or given < least:
            raise UsageError(
                f"expected {name} to be a whole number of {least} or more, found {given!r}",
                hint=f"write {name}={max(least, 50 * least)}",
                code="bad_parameter",
            )
    reading = Reading.of("draw_queries", options)
    qrels = load_qrels(model_qrels, reading)
    runs = JudgedRuns.hold(run, baseline, reading)
    evaluations = runs.evaluate(qrels, [measure], policy)
    first = evaluations[0]
    asked = first.measures[0]
    (changed,) = find_changed(qrels, runs, [asked], first.policy)
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

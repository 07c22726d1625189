"""Evaluates measures by group."""

from __future__ import annotations

from collections import Counter

from rankscope.data.estimate import read_estimate
from rankscope.errors import LimitError
from rankscope.results import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from rankscope._core import Evaluation
    from rankscope.data.estimate import Estimate
    from rankscope.data.interval import Interval
    from rankscope.measures import Measure

    Groups: TypeAlias = tuple[str, list[str], list[int]]
    """A name, its different values, and which of them each query has."""

MOST_SLICES = 100_000


def make_slices(
    answer: Evaluation,
    measures: list[Measure],
    groups: Groups,
    interval: Interval | None,
    *,
    clusters: Sequence[int] | None,
    threads: int,
) -> Table:
    """Make the table of measures by group, the largest group first.

    Raises:
        LimitError: There are too many groups.
    """
    name, values, codes = groups
    if len(values) > MOST_SLICES:
        raise LimitError(
            f"expected at most {MOST_SLICES} slices, found {len(values)} values of {name}",
            hint="slice by something with fewer values",
            code="slices",
        )
    sizes = Counter(codes)
    order = sorted(range(len(values)), key=lambda group: (-sizes[group], values[group]))
    columns: dict[str, list[str | int | float]] = {
        name: [values[group] for group in order],
        "queries": [sizes[group] for group in order],
    }
    means = answer.over(codes, len(values))
    estimates = interval and make_estimates(
        answer, measures, codes, len(values), interval, clusters=clusters, threads=threads
    )
    for index, measure in enumerate(measures):
        columns[measure.name] = [means[index][group][0] for group in order]
        columns[f"{measure.name} n"] = [means[index][group][1] for group in order]
        if estimates:
            columns[f"{measure.name} lower"] = [estimates[index][group].lower for group in order]
            columns[f"{measure.name} upper"] = [estimates[index][group].upper for group in order]
    return Table(columns)


def join_groups(attributes: Sequence[Groups]) -> Groups | None:
    """Combine several groupings: each distinct combination of values is a group."""
    if len(attributes) < 2:
        return attributes[0] if attributes else None
    columns = [[values[code] for code in codes] for _, values, codes in attributes]
    texts = [", ".join(parts) for parts in zip(*columns, strict=True)]
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    return (
        ", ".join(name for name, _, _ in attributes),
        list(codes),
        [codes[text] for text in texts],
    )


def make_estimates(
    answer: Evaluation,
    measures: list[Measure],
    codes: list[int],
    count: int,
    interval: Interval,
    *,
    clusters: Sequence[int] | None,
    threads: int,
) -> list[list[Estimate]]:
    """Estimate each measure over the queries of each group.

    Raises:
        PolicyError: A measure has no such interval.
    """
    made = answer.intervals(
        codes,
        count,
        clusters,
        [measure.row.value_range for measure in measures],
        interval.level,
        interval.method,
        interval.resamples,
        interval.seed,
        threads,
    )
    is_clustered = clusters is not None
    return [
        [read_estimate(row, interval.level, is_clustered=is_clustered) for row in rows]
        for rows in made
    ]

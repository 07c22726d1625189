"""Evaluates measures by group."""

from __future__ import annotations

from collections import Counter

from rankscope.errors import LimitError
from rankscope.results import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from rankscope._core import Evaluation
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
    ends = make_intervals(answer, codes, len(values), interval, threads) if interval else None
    for index, measure in enumerate(measures):
        columns[measure.name] = [means[index][group][0] for group in order]
        columns[f"{measure.name} n"] = [means[index][group][1] for group in order]
        if ends:
            columns[f"{measure.name} lower"] = [ends[index][group][0] for group in order]
            columns[f"{measure.name} upper"] = [ends[index][group][1] for group in order]
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


def make_intervals(
    answer: Evaluation, codes: list[int], count: int, interval: Interval, threads: int
) -> list[list[tuple[float, float]]]:
    """Compute an interval for each measure over the queries of each group.

    Raises:
        PolicyError: A measure has no such interval.
    """
    level, method, resamples, seed = (
        interval.level,
        interval.method,
        interval.resamples,
        interval.seed,
    )
    return answer.intervals(codes, count, level, method, resamples, seed, threads)

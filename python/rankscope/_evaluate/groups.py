"""Evaluates measures by group."""

from __future__ import annotations

from collections import Counter

from rankscope._evaluate.tables import Slices
from rankscope.errors import LimitError, UsageError
from rankscope.output.estimate import read_estimate
from rankscope.records import record
from rankscope.settings.interval import stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from rankscope._core import Evaluation
    from rankscope.measures import Measure
    from rankscope.output.estimate import Estimate
    from rankscope.output.ids import SourceIds
    from rankscope.settings.interval import Interval

    Groups: TypeAlias = tuple[str, list[str], list[int]]
    """A name, its different values, and which of them each query has."""

MOST_SLICES = 100_000


@record(frozen=True, slots=True)
class Resampling:
    """How intervals are made: over which groups of queries, and in which order of them."""

    interval: Interval
    order: Sequence[int]
    clusters: Sequence[int] | None
    threads: int


def make_slices(
    answer: Evaluation,
    measures: list[Measure],
    attributes: Sequence[Groups],
    resampling: Resampling | None,
    source: SourceIds,
) -> Slices | None:
    """Make the table of measures by group, the largest group first."""
    groups = join_groups(attributes)
    if groups is None:
        return None
    name, values, codes = groups
    if len(values) > MOST_SLICES:
        raise LimitError(
            f"expected at most {MOST_SLICES} slices, found {len(values)} values of {name}",
            hint="slice by something with fewer values",
            code="slices",
        )
    sizes = Counter(codes)
    queries = dict(zip(reversed(codes), reversed(range(len(codes))), strict=True))
    texts = {
        each: [words[numbers[queries[group]]] for group in range(len(values))]
        for each, words, numbers in attributes
    }
    keys = list(zip(*texts.values(), strict=True))
    largest_first = sorted(range(len(values)), key=lambda group: (-sizes[group], keys[group]))
    columns: dict[str, list[str | int | float]] = {
        "queries": [sizes[group] for group in largest_first]
    }
    means = answer.over(codes, len(values))
    estimates = resampling and make_estimates(answer, measures, codes, len(values), resampling)
    for index, measure in enumerate(measures):
        columns[measure.name] = [means[index][group][0] for group in largest_first]
        columns[f"{measure.name} n"] = [means[index][group][1] for group in largest_first]
        if estimates:
            ends = [estimates[index][group] for group in largest_first]
            columns[f"{measure.name} lower"] = [each.lower for each in ends]
            columns[f"{measure.name} upper"] = [each.upper for each in ends]
    doubled = [each for each in texts if each in columns]
    if doubled:
        raise UsageError(
            f"expected an attribute with a name of its own, found {doubled[0]!r}",
            hint="rename the attribute: the table of slices has a column of this name",
            code="bad_parameter",
        )
    shown = {each: [column[group] for group in largest_first] for each, column in texts.items()}
    return Slices([source.attribute(each) for each in texts], {**shown, **columns})


def join_groups(attributes: Sequence[Groups]) -> Groups | None:
    """Combine several groupings: each distinct combination of values is a group."""
    if len(attributes) < 2:
        return attributes[0] if attributes else None
    combined = list(zip(*(codes for _, _, codes in attributes), strict=True))
    # By number: `a, b` and `c` can read like `a` and `b, c`.
    numbers = {key: number for number, key in enumerate(dict.fromkeys(combined))}
    texts = [
        ", ".join(
            _quote(values[code]) for (_, values, _), code in zip(attributes, key, strict=True)
        )
        for key in numbers
    ]
    name = ", ".join(name for name, _, _ in attributes)
    return name, texts, [numbers[key] for key in combined]


def _quote(text: str) -> str:
    return f'"{text}"' if ", " in text else text


def make_estimates(
    answer: Evaluation,
    measures: list[Measure],
    codes: list[int],
    count: int,
    resampling: Resampling,
) -> list[list[Estimate]]:
    """Estimate each measure over the queries of each group, resampled in an order."""
    interval, clusters = resampling.interval, resampling.clusters
    made = answer.intervals(
        resampling.order,
        codes,
        count,
        clusters,
        [(measure.row.value_range, stream_of(interval.seed, measure.name)) for measure in measures],
        interval.level,
        interval.method,
        interval.resamples,
        resampling.threads,
    )
    is_clustered = clusters is not None
    return [
        [read_estimate(row, interval.level, is_clustered=is_clustered) for row in rows]
        for rows in made
    ]

"""Baselines that values are compared with: means with intervals."""

from __future__ import annotations

import math
from types import MappingProxyType

from rankscope import _core
from rankscope.deferred import np
from rankscope.errors import EmptyError
from rankscope.monitor.definition.definition import check_comparable
from rankscope.monitor.evaluate.clusters import ClusterCodes
from rankscope.monitor.evaluate.values import evaluate_chunks
from rankscope.records import record
from rankscope.settings.interval import Interval
from rankscope.settings.reading import count_threads
from rankscope.stats.means import Mean, estimate_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal, TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.definition.slices import Slice, Slicing
    from rankscope.monitor.store.records import Chunk, Context, Version

    Kind: TypeAlias = Literal["set", "period", "version"]

INTERVAL = Interval(method="t")
MEAN_FIELDS = ("value", "lower", "upper", "level", "clusters", "rankings")


@record(frozen=True, slots=True)
class Baseline:
    """The baseline that values are compared with.

    Args:
        kind: A `set` that was uploaded, a `period`, or the `version` before.
        of: Which one, such as `validation` or `m 3`.
        definition: The definition of the values.
        means: By measure, the mean over rankings, with an interval over users, or over queries
            where users are unknown.
        rankings: How many rankings it has, those without relevant documents among them.
        slices: By slice, the mean of each measure in it; NaN where there is none.
    """

    kind: Kind
    of: str
    definition: Definition
    means: Mapping[str, Mean]
    rankings: int
    slices: Mapping[Slice, tuple[float, ...]] = MappingProxyType({})

    def to_dict(self) -> dict[str, Any]:
        """Return all of it but the definition as JSON holds it."""
        return {
            "kind": self.kind,
            "of": self.of,
            "rankings": self.rankings,
            "means": {
                name: [_or_none(getattr(mean, field)) for field in MEAN_FIELDS]
                for name, mean in self.means.items()
            },
            "slices": [
                [[list(pair) for pair in place], [_or_none(mean) for mean in means]]
                for place, means in self.slices.items()
            ],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], definition: Definition) -> Baseline:
        """Read what `to_dict` returned of a baseline with a definition."""
        return cls(
            stored["kind"],
            stored["of"],
            definition,
            {name: _read_mean(*fields) for name, fields in stored["means"].items()},
            stored["rankings"],
            {
                tuple((name, value) for name, value in place): tuple(map(_or_nan, means))
                for place, means in stored["slices"]
            },
        )

    def find(self, measure: str, definition: Definition) -> Mean:
        """Return the mean of a measure, after a check that its values are comparable."""
        check_comparable(self.definition.only(measure), definition.only(measure))
        return self.means[measure]


def find_previous(versions: Iterable[Version], *, model: str, version: str) -> str | None:
    """Find the version that appeared last before another one; of two at once, by name."""
    first = {
        one.version: one.first
        for one in versions
        if (one.environment, one.model) == ("production", model)
    }
    if version not in first:
        return None
    here = (first[version], version)
    before = [(time, name) for name, time in first.items() if (time, name) < here]
    return max(before)[1] if before else None


class BaselineSample:
    """The values of some rankings and their clusters.

    Args:
        definition: The definition to evaluate with.
        contexts: What the rankings that are wanted have in common, by number.
        now: As of when; without it, as of a set that was uploaded.
        threads: The number of threads.
    """

    def __init__(
        self,
        definition: Definition,
        contexts: Mapping[int, Context],
        now: int | None,
        threads: int | None,
    ) -> None:
        self._definition = definition
        self._contexts = contexts
        self._now = now
        self._threads = threads
        self._values: list[list[NDArray[np.float64]]] = []
        self._numbers: list[NDArray[np.int64]] = []
        self._names = ClusterCodes()
        self._clusters: list[NDArray[np.int64]] = []

    def take(self, chunks: Iterable[Chunk]) -> None:
        """Add the rankings of chunks."""
        wanted = np.array(sorted(self._contexts), dtype=np.int64)
        chosen = (chunk for chunk in chunks if np.isin(chunk.contexts, wanted).any())
        for each in evaluate_chunks(chosen, self._definition, now=self._now, threads=self._threads):
            chunk = each.chunk
            kept = np.flatnonzero(np.isin(chunk.contexts, wanted) & each.graded.is_mature)
            self._values.append([measured.value[kept] for measured in each.values.measures])
            self._numbers.append(chunk.contexts[kept])
            self._clusters.append(self._names.number(chunk, kept))

    def average(
        self, kind: Kind, of: str, interval: Interval, slicing: Slicing | None = None
    ) -> Baseline:
        """Return the means of what was added."""
        if not any(map(len, self._clusters)):
            raise _empty(f"mature rankings of {of}")
        # Numbered in the order of their names, so that no order of events matters.
        clusters = self._names.sort()[np.concatenate(self._clusters)]
        columns = [np.concatenate(column) for column in zip(*self._values, strict=True)]
        threads = count_threads(self._threads)
        means = {
            measure.name: estimate_mean(values, clusters, interval, threads)
            for measure, values in zip(self._definition.measures, columns, strict=True)
        }
        slices = {} if slicing is None else self._average_slices(columns, slicing)
        return Baseline(kind, of, self._definition, means, len(clusters), slices)

    def _average_slices(
        self, columns: list[NDArray[np.float64]], slicing: Slicing
    ) -> dict[Slice, tuple[float, ...]]:
        """Average the rankings of each slice."""
        numbers, at = np.unique(np.concatenate(self._numbers), return_inverse=True)
        found = [self._contexts[number] for number in numbers.tolist()]
        averaged: dict[Slice, tuple[float, ...]] = {}
        for attributes in slicing.dimensions()[1:]:
            named = [slicing.place(found, name) for name in attributes]
            places = [
                tuple(zip(attributes, values, strict=True)) for values in zip(*named, strict=True)
            ]
            codes = {place: code for code, place in enumerate(dict.fromkeys(places))}
            groups = np.array([codes[place] for place in places], dtype=np.int64)[at]
            counts = [
                np.bincount(groups, ~np.isnan(column), len(codes)).tolist() for column in columns
            ]
            packed = _core.sum_groups(groups, columns, len(codes))
            for (place, code), sums in zip(codes.items(), packed, strict=True):
                totals = _core.round_sums(sums)
                averaged[place] = tuple(
                    total / count[code] if count[code] else math.nan
                    for total, count in zip(totals, counts, strict=True)
                )
        return averaged


def _read_mean(
    value: float | None,
    lower: float | None,
    upper: float | None,
    *others: Any,  # noqa: ANN401 - what JSON held
) -> Mean:
    return Mean(_or_nan(value), _or_nan(lower), _or_nan(upper), *others)


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else number


def _empty(wanted: str) -> EmptyError:
    return EmptyError(
        f"expected {wanted}, found none",
        hint="send the events, or wait until attribution windows are closed",
        code="no_baseline",
    )

"""Chooses the versions of models that are summed separately; the others are summed as `<other>`.

A version is text from a log, which can be anything: with the id of a request as its version, every
ranking would have windows, lines and metrics of its own. So each hour and each day keeps the
versions with the most rankings, and sums the others.

The choice depends only on the rankings of that hour, or on the hours of that day. It is therefore
the same in whatever order events came, and however often windows were computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import TypeAlias, TypeVar

Pair: TypeAlias = tuple[str, str]
K = TypeVar("K")


OTHER = "<other>"
"""The name of the sum of all others."""
MOST_VERSIONS = 100
"""The largest number of versions, of all models together, that one environment keeps."""
MOST_MODELS = 20
"""The largest number of models whose other versions are summed by model."""


@dataclass(frozen=True, slots=True)
class Folding:
    """The versions that are summed separately.

    Args:
        pairs: Their models and versions.
        models: The models whose other versions are summed as `<other>` of that model. Versions of
            other models are summed as `<other>` of the model `<other>`.
        folded: The number of the other versions.
        rest: The sum of their weights, such as the number of their rankings.

    Examples:
        >>> folding = Folding(frozenset({("search", "4")}), frozenset({"search"}), folded=2, rest=3)
        >>> folding.place("search", "4"), folding.place("search", "5"), folding.place("ads", "1")
        (('search', '4'), ('search', '<other>'), ('<other>', '<other>'))
    """

    pairs: frozenset[Pair]
    models: frozenset[str]
    folded: int
    rest: int

    def place(self, model: str, version: str) -> Pair:
        """Return the model and the version under which rankings are summed."""
        if (model, version) in self.pairs:
            return model, version
        return (model, OTHER) if model in self.models else (OTHER, OTHER)


def choose_versions(
    weights: Mapping[Pair, int],
    most: int = MOST_VERSIONS,
    most_models: int = MOST_MODELS,
) -> Folding:
    """Choose the models and versions with the largest weights.

    Of several with the same weight all are chosen or none, so that only the weights decide. Where
    every request has a version of its own, none of these is preferred.

    Examples:
        >>> shown = {("search", "3"): 5, ("search", "4"): 9, ("search", "5"): 1, ("ads", "1"): 1}
        >>> sorted(choose_versions(shown, most=3).pairs)
        [('search', '3'), ('search', '4')]
        >>> choose_versions(shown).folded
        0
    """
    named = {pair: weight for pair, weight in weights.items() if OTHER not in pair}
    by_model: Counter[str] = Counter()
    for (model, _), weight in weights.items():
        if model != OTHER:
            by_model[model] += weight
    pairs = _choose(named, most)
    rest = sum(weight for pair, weight in named.items() if pair not in pairs)
    return Folding(pairs, _choose(by_model, most_models), len(named) - len(pairs), rest)


def _choose(weights: Mapping[K, int], most: int) -> frozenset[K]:
    """Choose the keys that weigh more than the first one beyond the limit."""
    if len(weights) <= most:
        return frozenset(weights)
    limit = nlargest(most + 1, weights.values())[-1]
    return frozenset(key for key, weight in weights.items() if weight > limit)

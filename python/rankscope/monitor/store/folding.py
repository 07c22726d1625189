"""Which versions of models have sums of their own, and which are summed together as `<other>`.

A version is text from a log, and a log can hold anything: with the id of a request as its version,
every ranking would have windows, lines and metrics of its own. So each hour and each day keeps the
versions with the most rankings in it, and adds the others up.

The choice looks at nothing but the rankings of that hour, or at the hours of that day. It is
therefore the same in whatever order events came and however often windows were brought up to date.
"""

from __future__ import annotations

from collections import Counter
from heapq import nlargest

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias, TypeVar

    Pair: TypeAlias = tuple[str, str]
    K = TypeVar("K")

OTHER = "<other>"
"""The name of what is summed together."""
MOST_VERSIONS = 100
"""Versions, of all models together, that have sums of their own in one environment."""
MOST_MODELS = 20
"""Models whose other versions are summed by model; those of all other models are one sum."""


@record(frozen=True, slots=True)
class Folding:
    """Which versions have sums of their own.

    Args:
        pairs: The models and versions that do.
        models: The models whose other versions are summed as `<other>` of that model. Versions of
            other models are summed as `<other>` of the model `<other>`.
        folded: How many versions have none.
        rest: What those weigh together, such as how many rankings they have.

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

    Of several that weigh the same, all are chosen or none, so that nothing but the weights decides.
    Where every request has a version of its own, none of these is chosen rather than another.

    Args:
        weights: What each model and version counts, such as how many rankings it has. What is
            `<other>` already stays so.
        most: How many versions are chosen at most.
        most_models: For how many models the versions that are not chosen are kept apart from
            those of other models.

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
    """Choose what weighs more than all that is too much."""
    if len(weights) <= most:
        return frozenset(weights)
    limit = nlargest(most + 1, weights.values())[-1]
    return frozenset(key for key, weight in weights.items() if weight > limit)

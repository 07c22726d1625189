"""Measures of other libraries of recommenders, and where they compute another value, with why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EVERY = frozenset({"usual", "short", "cold", "repeated", "popular"})
"""The names of all cases of `dev.parity.items`."""
WITH_NEW = EVERY - {"popular"}
"""Those in which users have new items recommended, which nobody had before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """A measure of another library, and the one of rankscope that comes closest.

    Args:
        tool: The library, in the version of its golden file.
        theirs: The measure, without its cutoff.
        ours: The measure of rankscope, without its cutoff.
        differs: How the value of the other library differs; empty if it never does.
        in_cases: The cases in which it does. In all others, values are equal.
        only_at: The cutoffs at which it does (default: all).
        only_beyond: Whether it does only at cutoffs beyond the end of lists.
        catalogue: What the catalogue is that the library has: the items that are described, or
            those of the history.
    """

    tool: str
    theirs: str
    ours: str
    differs: str = ""
    in_cases: frozenset[str] = frozenset()
    only_at: tuple[int, ...] = ()
    only_beyond: bool = False
    catalogue: Literal["items", "history"] = "items"


COUNTERPARTS = (
    Counterpart(tool="RecTools", theirs="MeanInvUserFreq", ours="Novelty"),
    Counterpart(
        tool="RecTools",
        theirs="AvgRecPopularity",
        ours="AvgPopularity",
        differs="A user who had an item several times counts as often; in rankscope, once.",
        in_cases=frozenset({"repeated"}),
    ),
    Counterpart(
        tool="RecTools",
        theirs="AvgRecPopularity(normalize=True)",
        ours="AvgPopularity(normalize=True)",
        differs="A user who had an item several times counts as often; in rankscope, once.",
        in_cases=frozenset({"repeated"}),
    ),
    Counterpart(
        tool="RecTools",
        theirs="IntraListDiversity",
        ours="ILD(distance='hamming')",
        differs="It is 0 for a list of one item; in rankscope, undefined.",
        in_cases=EVERY,
        only_at=(1,),
    ),
    Counterpart(
        tool="RecTools",
        theirs="Serendipity",
        ours="Serendipity",
        differs="Items are ranked by their interactions; in rankscope, by their users.",
        in_cases=frozenset({"repeated"}),
    ),
    Counterpart(
        tool="RecTools",
        theirs="CatalogCoverage",
        ours="Coverage(normalize=False)",
    ),
    Counterpart(
        tool="RecTools",
        theirs="CatalogCoverage(normalize=True)",
        ours="Coverage",
    ),
    Counterpart(tool="RecTools", theirs="PartialAUC", ours="AUC"),
    Counterpart(tool="RecTools", theirs="PAP", ours="PAP"),
    Counterpart(
        tool="RecBole",
        theirs="AveragePopularity",
        ours="AvgPopularity",
        differs="A user who had an item several times counts as often; in rankscope, once.",
        in_cases=frozenset({"repeated"}),
    ),
    Counterpart(
        tool="RecBole",
        theirs="ItemCoverage",
        ours="Coverage",
        differs="The catalogue has one item more, with which RecBole fills up lists.",
        in_cases=EVERY,
    ),
    Counterpart(
        tool="RecBole",
        theirs="GiniIndex",
        ours="Gini",
        differs="The catalogue has one item more, with which RecBole fills up lists.",
        in_cases=EVERY,
    ),
    Counterpart(
        tool="RecBole",
        theirs="ShannonEntropy",
        ours="Entropy",
        differs="It takes the natural logarithm, and divides by the number of recommended items.",
        in_cases=EVERY,
    ),
    Counterpart(tool="LensKit", theirs="ListGini", ours="Gini"),
    Counterpart(
        tool="RePlay",
        theirs="Surprisal",
        ours="Novelty(normalize=True)",
        differs="It divides by the cutoff where the list is shorter; rankscope by its length.",
        in_cases=EVERY,
        only_beyond=True,
    ),
    Counterpart(
        tool="RePlay",
        theirs="Coverage",
        ours="Coverage",
        catalogue="history",
    ),
    Counterpart(
        tool="RePlay",
        theirs="Novelty",
        ours="Novelty",
        differs="It is the share of the items that the user did not have before.",
        in_cases=EVERY,
    ),
    Counterpart(
        tool="Evidently",
        theirs="Novelty",
        ours="Novelty",
        differs="Items that nobody had are left out; in rankscope, they count as if one user had "
        "them.",
        in_cases=WITH_NEW,
    ),
    Counterpart(
        tool="Evidently",
        theirs="PopularityBiasMetric",
        ours="AvgPopularity",
        differs="Items that nobody had are left out; in rankscope, their popularity is 0.",
        in_cases=WITH_NEW,
    ),
    Counterpart(
        tool="Evidently",
        theirs="PopularityBiasMetric(metric='coverage')",
        ours="Coverage",
        catalogue="history",
    ),
    Counterpart(
        tool="Evidently",
        theirs="PopularityBiasMetric(metric='gini')",
        ours="Gini",
        differs="It is over the recommended items only, and divides by one less than their number.",
        in_cases=EVERY,
    ),
    Counterpart(
        tool="Evidently",
        theirs="Personalization",
        ours="Personalization",
        differs="It divides by the cutoff where lists are shorter; rankscope by their length.",
        in_cases=EVERY,
        only_beyond=True,
    ),
    Counterpart(
        tool="Evidently",
        theirs="Diversity",
        ours="ILD",
        differs="It divides the sum over pairs by the number of items; rankscope by that of pairs.",
        in_cases=EVERY,
        only_at=(1, 4, 8, 10, 16, 20),  # three items have as many pairs
    ),
)

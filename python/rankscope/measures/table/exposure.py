"""All lists together: how many items they show, how evenly, and how much they differ."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Parameter, Row
from rankscope.measures.table.items import CASTELLS, ZHOU
from rankscope.measures.table.parameters import K

IN_SHARES = Parameter(
    "normalize", domains.FLAG, True, "Whether it is a share of the catalogue, or a number of items."
)
OF_LOG = Parameter(
    "normalize",
    domains.FLAG,
    False,
    "Whether to divide by the highest value, the logarithm of the number of items.",
)

GE = (
    "Ge, Delgado-Battenfeld and Jannach, Beyond accuracy: evaluating recommender systems by "
    "coverage and serendipity, RecSys 2010"
)
FLEDER = "Fleder and Hosanagar, Recommender systems and their impact on sales diversity, EC 2007"
COVERED = (
    "RecTools, class CatalogCoverage, which counts items unless normalize=True, and counts those "
    "outside the catalogue; RecBole, class ItemCoverage"
)
ENTROPIES = (
    "Elliot, class ShannonEntropy; RecBole, class ShannonEntropy, which uses natural logarithms "
    "and divides by the number of recommended items"
)
OUTSIDE = "Items outside the catalogue don't count."
NO_ITEM = "Undefined if no item of the catalogue is recommended."


def _example(measure: str, formula: str, value: float) -> Example:
    return Example(
        measure,
        ranking=(),
        formula=formula,
        value=value,
        recommended={"ann": ("a", "b"), "bob": ("a", "c"), "cid": ("a", "b")},
        relevant={"ann": ("a",), "bob": ("b",), "cid": ("c",)},
        catalogue=("a", "b", "c", "d"),
    )


ROWS = (
    Row(
        name="Coverage",
        kernel="coverage",
        level="run",
        parameters=(K, IN_SHARES),
        formula=r"\mathrm{Coverage@}k = \frac{|\{ i : n_i > 0 \}|}{C}",
        definition="The share of the catalogue that is recommended to some user. " + OUTSIDE,
        references=(GE, COVERED),
        aliases=("ItemCoverage",),
        needs=("catalogue",),
        example=_example("Coverage@2", "3 / 4", 0.75),
    ),
    Row(
        name="Gini",
        kernel="gini",
        level="run",
        parameters=(K,),
        formula=r"\mathrm{Gini@}k = \frac{\sum_{j=1}^{C} (2 j - C - 1)\, n_j}{C \sum_{j} n_j}",
        definition="The Gini index of how often the items of the catalogue are recommended, fewest "
        "first: 0 if all are recommended equally often, and near 1 if few items have all "
        "recommendations. " + OUTSIDE,
        undefined=NO_ITEM,
        better="lower",
        references=(FLEDER, "RecBole, class GiniIndex; LensKit, class ListGini"),
        aliases=("GiniIndex", "ListGini"),
        needs=("catalogue",),
        example=_example("Gini@2", "(-3*0 + -1*1 + 1*2 + 3*3) / (4 * 6)", 0.4167),
    ),
    Row(
        name="Entropy",
        kernel="entropy",
        level="run",
        parameters=(K, OF_LOG),
        formula=r"\mathrm{Entropy@}k = -\sum_{i} s_i \log_2 s_i, \quad "
        r"s_i = \frac{n_i}{\sum_j n_j}",
        definition="The Shannon entropy, in bits, of how often items are recommended: higher the "
        "more evenly. " + OUTSIDE,
        undefined=NO_ITEM,
        value_range=(0, float("inf")),
        references=(CASTELLS, ENTROPIES),
        aliases=("ShannonEntropy",),
        needs=("catalogue",),
        example=_example(
            "Entropy@2", "3/6 * log2(6/3) + 2/6 * log2(6/2) + 1/6 * log2(6/1)", 1.4591
        ),
    ),
    Row(
        name="Personalization",
        kernel="personalization",
        level="run",
        parameters=(K,),
        formula=r"\mathrm{Personalization@}k = 1 - \frac{2}{U (U - 1)} \sum_{u < v} "
        r"\frac{|L_u \cap L_v|}{\sqrt{|L_u|\, |L_v|}}",
        definition="Inter-list diversity: 1 minus the mean cosine similarity of the lists of two "
        "users as sets of items, over all pairs of users with a list.",
        undefined="Undefined if fewer than two users have a list.",
        references=(ZHOU, "recmetrics, function personalization; Evidently, class Personalization"),
        aliases=("Personalisation",),
        example=_example("Personalization@2", "1 - (1/2 + 2/2 + 1/2) / 3", 0.3333),
    ),
)

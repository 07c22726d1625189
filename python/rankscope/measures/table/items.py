"""Recommended items of each user: novelty, popularity, diversity, serendipity and calibration."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Parameter, Row
from rankscope.measures.table.parameters import REL, K

SHARE = Parameter(
    "share",
    domains.one_of("users", "interactions"),
    "users",
    "What the popularity of an item is a share of: the users of the history, or its interactions.",
)
NORMALIZE = Parameter(
    "normalize",
    domains.FLAG,
    False,
    "Whether to divide by the highest value that is possible, which an item with one user has.",
)
OF_INTERACTIONS = Parameter(
    "normalize", domains.FLAG, False, "Whether to divide by the number of interactions."
)
DISTANCE = Parameter(
    "distance",
    domains.one_of("cosine", "jaccard", "hamming", "euclidean"),
    "cosine",
    "The distance between two items.",
)
ALPHA = Parameter(
    "alpha",
    domains.PROBABILITY,
    0.01,
    "How much of the categories of the user is mixed into those of the list, so that none is 0.",
)
ATTENTION = Parameter(
    "attention",
    domains.one_of("log", "geometric"),
    "log",
    "How the attention that ranks get falls: 1 / max(1, log2 rank), or p to the power of rank - 1.",
)
P = Parameter(
    "p",
    domains.PERSISTENCE,
    0.5,
    "The probability of reading on after an item.",
    only_with=("attention", ("geometric",)),
)
TARGET = Parameter(
    "target",
    domains.one_of("catalogue", "relevant", "uniform"),
    "catalogue",
    "The share that each group should have: that in the catalogue, that among the relevant items "
    "of the query, or the same as every other group.",
)
EMPTY = "Undefined if there is no recommendation."

ZHOU = (
    "Zhou, Kuscsik, Liu, Medo, Wakeling and Zhang, Solving the apparent diversity-accuracy dilemma "
    "of recommender systems, PNAS 2010"
)
CASTELLS = (
    "Castells, Hurley and Vargas, Novelty and diversity in recommender systems, in: Recommender "
    "Systems Handbook, 2015"
)
YIN = "Yin, Cui, Li, Yao and Chen, Challenging the long tail recommendation, VLDB 2012"
ZIEGLER = (
    "Ziegler, McNee, Konstan and Lausen, Improving recommendation lists through topic "
    "diversification, WWW 2005"
)
SAPIEZYNSKI = (
    "Sapiezynski, Zeng, Robertson, Mislove and Wilson, Quantifying the impact of user attention on "
    "fair group representation in ranked lists, WWW Companion 2019"
)
FAIR_TRACK = (
    "Ekstrand, McDonald, Raj and Johnson, Overview of the TREC 2021 and 2022 Fair Ranking Tracks, "
    "whose code this follows, with natural logarithms"
)
RAJ = "Raj and Ekstrand, Measuring fairness in ranked results, SIGIR 2022"
STECK = "Steck, Calibrated recommendations, RecSys 2018"

POPULARITIES = (
    "RecTools, class AvgRecPopularity, which counts each interaction of a user; RecBole, class "
    "AveragePopularity"
)
DIVERSITIES = (
    "RecTools, class IntraListDiversity, which is 0 for a list of one item; its Hamming distance "
    "is distance='hamming'"
)

HISTORY = {"ann": ("a", "b"), "bob": ("a", "c"), "cid": ("a", "b"), "dan": ("d",)}
"""The worked examples: who had which items before."""
GENRES = {"a": ("pop",), "b": ("pop", "rock"), "c": ("rock",), "d": ("jazz",), "e": ("pop",)}
"""The worked examples: the categories of items."""


def _example(measure: str, formula: str, value: float) -> Example:
    return Example(
        measure,
        ranking=(),
        formula=formula,
        value=value,
        recommended={"ann": ("c", "d", "e")},
        relevant={"ann": ("d", "e")},
        history=HISTORY,
        items=GENRES,
        catalogue=("a", "b", "c", "d", "e"),
    )


ROWS = (
    Row(
        name="Novelty",
        kernel="novelty",
        parameters=(K, SHARE, NORMALIZE),
        formula=r"\mathrm{Novelty@}k = -\frac{1}{k} \sum_{r=1}^{k} \log_2 \frac{u_r}{U}",
        definition="The mean self-information of the recommended items, which is higher the fewer "
        "users had them before. With share='users' it is also called mean inverse user frequency. "
        "An item that nobody had counts as if one user had it. A list that is shorter than k is "
        "averaged over its length.",
        undefined=EMPTY,
        value_range=(0, float("inf")),
        references=(
            ZHOU,
            CASTELLS,
            "RecTools, class MeanInvUserFreq; with normalize=True RePlay, class Surprisal",
        ),
        aliases=("MIUF", "MeanInvUserFreq"),
        needs=("history",),
        example=_example("Novelty@2", "(log2(4 / 1) + log2(4 / 1)) / 2", 2.0),
    ),
    Row(
        name="AvgPopularity",
        kernel="popularity",
        parameters=(K, OF_INTERACTIONS),
        formula=r"\mathrm{AvgPopularity@}k = \frac{1}{k} \sum_{r=1}^{k} u_r",
        definition="The mean popularity of the recommended items, which is the number of users who "
        "had each before: 0 for an item that nobody had. A user who had an item several times "
        "counts once. High values mean that the recommender favors what is popular anyway.",
        undefined=EMPTY,
        value_range=(0, float("inf")),
        better="neither",
        references=(YIN, POPULARITIES),
        aliases=("ARP",),
        needs=("history",),
        example=_example("AvgPopularity@3", "(1 + 1 + 0) / 3", 0.6667),
    ),
    Row(
        name="ILD",
        kernel="ild",
        parameters=(K, DISTANCE),
        formula=r"\mathrm{ILD@}k = \frac{2}{k (k - 1)} \sum_{q=1}^{k} \sum_{r=q+1}^{k} "
        r"\mathrm{distance}(i_q, i_r)",
        definition="Intra-list diversity: the mean distance between two recommended items. Vectors "
        "are compared by the cosine distance or the others; categories are vectors that are 1 for "
        "the categories of an item and else 0. Pairs with an item without attributes are left out.",
        undefined="Undefined if no two recommended items have attributes.",
        value_range=(0, float("inf")),
        references=(ZIEGLER, DIVERSITIES),
        aliases=("IntraListDiversity",),
        needs=("items",),
        example=_example("ILD(distance='jaccard')@3", "(1 + 1 + 1) / 3", 1.0),
    ),
    Row(
        name="Serendipity",
        kernel="serendipity",
        parameters=(K, REL),
        formula=r"\mathrm{Serendipity@}k = \frac{1}{k} \sum_{r=1}^{k} b_r "
        r"\max\Bigl(0, \frac{C + 1 - r}{C} - \frac{C + 1 - p_r}{C}\Bigr)",
        definition="How far the list ranks relevant items above their rank by popularity. Items "
        "that equally many users had share a rank, and the second term is 0 for an item that "
        "nobody had. A list that is shorter than k is averaged over its length.",
        undefined=EMPTY,
        references=("RecTools, class Serendipity",),
        needs=("history", "catalogue"),
        example=_example("Serendipity@3", "((5+1-2)/5 - (5+1-3)/5 + (5+1-3)/5) / 3", 0.2667),
    ),
    Row(
        name="Miscalibration",
        kernel="miscalibration",
        parameters=(K, ALPHA),
        formula=r"\mathrm{Miscalibration@}k = \sum_{c} p_c \ln "
        r"\frac{p_c}{(1 - \alpha)\, q_c + \alpha\, p_c}",
        definition="The Kullback-Leibler divergence between the categories of the items that the "
        "user had before and those of the list: 0 if the list has each category as often. An item "
        "has equal shares of all its categories. Items without categories are left out.",
        undefined="Undefined for a user without a history, and if no item of the list or the "
        "history has a category.",
        value_range=(0, float("inf")),
        better="lower",
        references=(STECK,),
        aliases=("CalibrationKL",),
        needs=("history", "items"),
        categories=True,
        example=_example(
            "Miscalibration@3",
            "3/4 * log(3/4 / (0.99 * (1/3) + 0.01 * 3/4)) + "
            "1/4 * log(1/4 / (0.99 * (1/3) + 0.01 * 1/4))",
            0.5276,
        ),
    ),
    Row(
        name="AWRF",
        kernel="awrf",
        parameters=(K, ATTENTION, P, TARGET, REL),
        formula=r"\mathrm{AWRF@}k = 1 - \frac{1}{2} \sum_{g} \Bigl( a_g \ln "
        r"\frac{2 a_g}{a_g + t_g} + t_g \ln \frac{2 t_g}{a_g + t_g} \Bigr)",
        definition="Attention-weighted rank fairness: how close the share a of the attention that "
        "each group of items gets in the list is to its target t. 1 minus the Jensen-Shannon "
        "divergence, so 1 if they are the same, and 1 - ln 2, which is about 0.31, if they have no "
        "group in common. Attributes are groups: an item has equal shares of all its categories, "
        "or the shares that are the numbers of its vector. Items without attributes are left out.",
        undefined="Undefined if no item of the list, or none that the target is made of, has "
        "attributes.",
        references=(SAPIEZYNSKI, FAIR_TRACK, RAJ),
        needs=("items",),
        example=_example(
            "AWRF@2",
            "1 - (0.5 * log(0.5 / ((0.5 + 1/5) / 2)) + 1/5 * log(1/5 / ((0.5 + 1/5) / 2)) + "
            "2.5/5 * log(2.5/5 / ((0 + 2.5/5) / 2)) + "
            "0.5 * log(0.5 / ((0.5 + 1.5/5) / 2)) + 1.5/5 * log(1.5/5 / ((0.5 + 1.5/5) / 2))) / 2",
            0.7809,
        ),
    ),
)

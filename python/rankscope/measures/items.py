"""Measures of which items a list has: subtopics, recommended items, and all lists together."""

from __future__ import annotations

import math

from rankscope.measures import domains
from rankscope.measures.spec import (
    JUDGED_ONLY,
    READ_K,
    REL,
    REQUIRED_K,
    Example,
    K,
    Name,
    Parameter,
    Row,
)

ALPHA = Parameter(
    "alpha",
    domains.FRACTION,
    0.5,
    "The share of its worth that a subtopic loses each time a document covers it.",
)
CONTINUES = Parameter(
    "beta", domains.PROBABILITY, 0.5, "The probability that a user continues to the next rank."
)
NO_SUBTOPIC = "Undefined if no judged document is relevant to a subtopic."
CLARKE = (
    "Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon, Novelty and diversity in "
    "information retrieval evaluation, SIGIR 2008"
)
NRBP = (
    "Clarke, Kolla and Vechtomova, An effectiveness measure for ambiguous and underspecified "
    "queries, ICTIR 2009"
)
CHAPELLE = (
    "Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded relevance, "
    "CIKM 2009; the form is that of ndeval"
)
AGRAWAL = "Agrawal, Gollapudi, Halverson and Ieong, Diversifying search results, WSDM 2009"
ZHAI = (
    "Zhai, Cohen and Lafferty, Beyond independent relevance: methods and evaluation metrics for "
    "subtopic retrieval, SIGIR 2003"
)
GREEDY = (0.0, math.e / (math.e - 1))
"""The greedy best order has at least the share 1 - 1/e of what any order has."""
NOVELTY = r"n_r = \sum_{s\, \ni\, r} (1 - \alpha)^{c_s(r - 1)}"
TAKES = ("k", "rel", "judged_only")
DEPTH_20 = "It only accepts cutoffs up to 20."
UNDIVIDED = f"At cutoff 1, it doesn't divide by the highest possible value. {DEPTH_20}"


def _cover(measure: str, formula: str, value: float) -> Example:
    """Return the example of three retrieved documents, and one that wasn't retrieved."""
    subtopics = (("a",), None, ("a", "b"), ("b",))
    return Example(measure, (1, None, 1), formula, value, not_retrieved=(1,), subtopics=subtopics)


DIVERSITY_ROWS = (
    Row(
        name="alpha_nDCG",
        parameters=(K, ALPHA, REL, JUDGED_ONLY),
        formula=r"\alpha\textrm{-}\mathrm{nDCG@}k = \frac{\sum_{r=1}^{k} n_r / \log_2(r + 1)}"
        r"{\sum_{r=1}^{k} n^{*}_r / \log_2(r + 1)}, \quad " + NOVELTY,
        definition="The discounted gain of the list, where each document gains as many subtopics "
        "as it covers and those covered before count less, divided by that of the best order. The "
        "best order is made greedily: the document with the most gain is next.",
        undefined=NO_SUBTOPIC,
        value_range=GREEDY,
        references=(CLARKE,),
        aliases=("α_nDCG",),
        ir_measures=(Name("alpha_nDCG", takes=("alpha", *TAKES), note=DEPTH_20),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_cover(
            "alpha_nDCG@3",
            "(1/log2(2) + (0.5 + 1)/log2(4)) / (2/log2(2) + 0.5/log2(3) + 0.5/log2(4))",
            0.6821,
        ),
    ),
    Row(
        name="alpha_DCG",
        parameters=(READ_K, ALPHA, REL, JUDGED_ONLY),
        formula=r"\alpha\textrm{-}\mathrm{DCG@}k = \frac{\sum_{r=1}^{k} n_r / \log_2(r + 1)}"
        r"{S \sum_{r=1}^{k} (1 - \alpha)^{r - 1} / \log_2(r + 1)}, \quad " + NOVELTY,
        definition="The same gain as in alpha_nDCG, divided by that of k documents each of which "
        "covers all S subtopics.",
        undefined=NO_SUBTOPIC,
        references=(CLARKE,),
        aliases=("α_DCG",),
        ir_measures=(Name("alpha_DCG", takes=("alpha", *TAKES), note=UNDIVIDED),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_cover(
            "alpha_DCG@3",
            "(1/log2(2) + (0.5 + 1)/log2(4)) / (2 * (1/log2(2) + 0.5/log2(3) + 0.25/log2(4)))",
            0.6074,
        ),
    ),
    Row(
        name="ERR_IA",
        parameters=(READ_K, REL, JUDGED_ONLY),
        formula=r"\mathrm{ERR\textrm{-}IA@}k = \frac{\sum_{r=1}^{k} n_r / r}"
        r"{S \sum_{r=1}^{k} 2^{1 - r} / r}, \quad n_r = \sum_{s\, \ni\, r} 2^{-c_s(r - 1)}",
        definition="Intent-aware expected reciprocal rank: the mean over subtopics of the expected "
        "reciprocal rank at which a user stops, whom every relevant document satisfies with "
        "probability 1/2, divided by the value of k documents each of which covers all S "
        "subtopics.",
        undefined=NO_SUBTOPIC,
        references=(CHAPELLE,),
        ir_measures=(Name("ERR_IA", takes=TAKES, note=UNDIVIDED),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_cover("ERR_IA@3", "(1/1 + (0.5 + 1)/3) / (2 * (1/1 + 0.5/2 + 0.25/3))", 0.5625),
    ),
    Row(
        name="nERR_IA",
        parameters=(K, REL, JUDGED_ONLY),
        formula=r"\mathrm{nERR\textrm{-}IA@}k = \frac{\sum_{r=1}^{k} n_r / r}"
        r"{\sum_{r=1}^{k} n^{*}_r / r}, \quad n_r = \sum_{s\, \ni\, r} 2^{-c_s(r - 1)}",
        definition="Like ERR_IA, divided by the value of the best order, which is made greedily.",
        undefined=NO_SUBTOPIC,
        value_range=GREEDY,
        references=(CHAPELLE,),
        ir_measures=(Name("nERR_IA", takes=TAKES, note=DEPTH_20),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_cover("nERR_IA@3", "(1/1 + (0.5 + 1)/3) / (2/1 + 0.5/2 + 0.5/3)", 0.6207),
    ),
    Row(
        name="NRBP",
        parameters=(REL, ALPHA, CONTINUES),
        formula=r"\mathrm{NRBP} = \frac{1 - (1 - \alpha) \beta}{S} "
        r"\sum_{r} n_r\, \beta^{r - 1}, \quad " + NOVELTY,
        definition="Novelty- and rank-biased precision: like alpha_DCG, for a user who continues "
        "from each rank to the next with probability beta.",
        undefined=NO_SUBTOPIC,
        references=(NRBP,),
        ir_measures=(Name("NRBP", takes=("rel", "alpha", "beta")),),
        subtopics=True,
        example=_cover("NRBP", "(1 + (0.5 + 1) * 0.25) / ((1 / (1 - 0.5 * 0.5)) * 2)", 0.5156),
    ),
    Row(
        name="nNRBP",
        parameters=(REL, ALPHA, CONTINUES),
        formula=r"\mathrm{nNRBP} = \frac{\sum_{r} n_r\, \beta^{r - 1}}"
        r"{\sum_{r} n^{*}_r\, \beta^{r - 1}}, \quad " + NOVELTY,
        definition="Like NRBP, divided by the value of the best order, which is made greedily.",
        undefined=NO_SUBTOPIC,
        value_range=GREEDY,
        references=(NRBP,),
        ir_measures=(
            Name(
                "nNRBP",
                takes=("rel", "alpha", "beta"),
                note="It is NaN for a query without relevant documents.",
            ),
        ),
        subtopics=True,
        example=_cover("nNRBP", "(1 + (0.5 + 1) * 0.25) / (2 + 0.5 * 0.5 + 0.5 * 0.25)", 0.5789),
    ),
    Row(
        name="AP_IA",
        parameters=(REL, JUDGED_ONLY),
        formula=r"\mathrm{AP\textrm{-}IA} = \frac{1}{S} \sum_{s=1}^{S} \mathrm{AP}_s",
        definition="Intent-aware average precision: the mean over subtopics of average precision.",
        undefined=NO_SUBTOPIC,
        references=(AGRAWAL,),
        aliases=("MAP_IA",),
        ir_measures=(Name("AP_IA", takes=("rel", "judged_only")),),
        subtopics=True,
        example=_cover("AP_IA", "((1/1 + 2/3)/2 + (1/3)/2) / 2", 0.5),
    ),
    Row(
        name="P_IA",
        parameters=(REQUIRED_K, REL, JUDGED_ONLY),
        formula=r"\mathrm{P\textrm{-}IA@}k = \frac{1}{S} \sum_{s=1}^{S} \mathrm{P@}k_s",
        definition="Intent-aware precision: the mean over subtopics of the precision of the first "
        "k.",
        undefined=NO_SUBTOPIC,
        references=(AGRAWAL,),
        ir_measures=(Name("P_IA", takes=TAKES, note=DEPTH_20),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_cover("P_IA@3", "3 / (3 * 2)", 0.5),
    ),
    Row(
        name="StRecall",
        parameters=(K, REL),
        formula=r"\mathrm{StRecall@}k = \frac{|\{ s : c_s(k) > 0 \}|}{S}",
        definition="Subtopic recall: the share of the subtopics that the first k documents cover.",
        undefined=NO_SUBTOPIC,
        references=(ZHAI,),
        aliases=("strec",),
        ir_measures=(Name("StRecall", takes=("k", "rel"), note=DEPTH_20),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_cover("StRecall@1", "1/2", 0.5),
    ),
)

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
MIXED = Parameter(
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
READS_ON = Parameter(
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
FREQUENCIES = "RecTools, class MeanInvUserFreq; with normalize=True RePlay, class Surprisal"
POPULARITIES = (
    "RecTools, class AvgRecPopularity, which counts each interaction of a user; RecBole, class "
    "AveragePopularity"
)
DIVERSITIES = (
    "RecTools, class IntraListDiversity, which is 0 for a list of one item; its Hamming distance "
    "is distance='hamming'"
)


def _recommend(measure: str, formula: str, value: float) -> Example:
    return Example(
        measure,
        (),
        formula,
        value,
        recommended={"ann": ("c", "d", "e")},
        relevant={"ann": ("d", "e")},
        history={"ann": ("a", "b"), "bob": ("a", "c"), "cid": ("a", "b"), "dan": ("d",)},
        items={"a": ("pop",), "b": ("pop", "rock"), "c": ("rock",), "d": ("jazz",), "e": ("pop",)},
        catalogue=("a", "b", "c", "d", "e"),
    )


ITEMS_ROWS = (
    Row(
        name="Novelty",
        parameters=(K, SHARE, NORMALIZE),
        formula=r"\mathrm{Novelty@}k = -\frac{1}{k} \sum_{r=1}^{k} \log_2 \frac{u_r}{U}",
        definition="The mean self-information of the recommended items, which is higher the fewer "
        "users had them before. With share='users' it is also called mean inverse user frequency. "
        "An item that nobody had counts as if one user had it. A list that is shorter than k is "
        "averaged over its length.",
        undefined=EMPTY,
        value_range=(0, float("inf")),
        references=(ZHOU, CASTELLS, FREQUENCIES),
        aliases=("MIUF", "MeanInvUserFreq"),
        needs=("history",),
        example=_recommend("Novelty@2", "(log2(4 / 1) + log2(4 / 1)) / 2", 2.0),
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
        example=_recommend("AvgPopularity@3", "(1 + 1 + 0) / 3", 0.6667),
    ),
    Row(
        name="ILD",
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
        example=_recommend("ILD(distance='jaccard')@3", "(1 + 1 + 1) / 3", 1.0),
    ),
    Row(
        name="Serendipity",
        parameters=(K, REL),
        formula=r"\mathrm{Serendipity@}k = \frac{1}{k} \sum_{r=1}^{k} b_r "
        r"\max\Bigl(0, \frac{C + 1 - r}{C} - \frac{C + 1 - p_r}{C}\Bigr)",
        definition="How far the list ranks relevant items above their rank by popularity. Items "
        "that equally many users had share a rank, and the second term is 0 for an item that "
        "nobody had. A list that is shorter than k is averaged over its length.",
        undefined=EMPTY,
        references=("RecTools, class Serendipity",),
        needs=("history", "catalogue"),
        example=_recommend("Serendipity@3", "((5+1-2)/5 - (5+1-3)/5 + (5+1-3)/5) / 3", 0.2667),
    ),
    Row(
        name="Miscalibration",
        parameters=(K, MIXED),
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
        example=_recommend(
            "Miscalibration@3",
            "3/4 * log(3/4 / (0.99 * (1/3) + 0.01 * 3/4)) + "
            "1/4 * log(1/4 / (0.99 * (1/3) + 0.01 * 1/4))",
            0.5276,
        ),
    ),
    Row(
        name="AWRF",
        parameters=(K, ATTENTION, READS_ON, TARGET, REL),
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
        example=_recommend(
            "AWRF@2",
            "1 - (0.5 * log(0.5 / ((0.5 + 1/5) / 2)) + 1/5 * log(1/5 / ((0.5 + 1/5) / 2)) + "
            "2.5/5 * log(2.5/5 / ((0 + 2.5/5) / 2)) + "
            "0.5 * log(0.5 / ((0.5 + 1.5/5) / 2)) + 1.5/5 * log(1.5/5 / ((0.5 + 1.5/5) / 2))) / 2",
            0.7809,
        ),
    ),
)

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


def _share(measure: str, formula: str, value: float) -> Example:
    return Example(
        measure,
        (),
        formula,
        value,
        recommended={"ann": ("a", "b"), "bob": ("a", "c"), "cid": ("a", "b")},
        relevant={"ann": ("a",), "bob": ("b",), "cid": ("c",)},
        catalogue=("a", "b", "c", "d"),
    )


EXPOSURE_ROWS = (
    Row(
        name="Coverage",
        level="run",
        parameters=(K, IN_SHARES),
        formula=r"\mathrm{Coverage@}k = \frac{|\{ i : n_i > 0 \}|}{C}",
        definition="The share of the catalogue that is recommended to some user. " + OUTSIDE,
        references=(GE, COVERED),
        aliases=("ItemCoverage",),
        needs=("catalogue",),
        example=_share("Coverage@2", "3 / 4", 0.75),
    ),
    Row(
        name="Gini",
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
        example=_share("Gini@2", "(-3*0 + -1*1 + 1*2 + 3*3) / (4 * 6)", 0.4167),
    ),
    Row(
        name="Entropy",
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
        example=_share("Entropy@2", "3/6 * log2(6/3) + 2/6 * log2(6/2) + 1/6 * log2(6/1)", 1.4591),
    ),
    Row(
        name="Personalization",
        level="run",
        parameters=(K,),
        formula=r"\mathrm{Personalization@}k = 1 - \frac{2}{U (U - 1)} \sum_{u < v} "
        r"\frac{|L_u \cap L_v|}{\sqrt{|L_u|\, |L_v|}}",
        definition="Inter-list diversity: 1 minus the mean cosine similarity of the lists of two "
        "users as sets of items, over all pairs of users with a list.",
        undefined="Undefined if fewer than two users have a list.",
        references=(ZHOU, "recmetrics, function personalization; Evidently, class Personalization"),
        aliases=("Personalisation",),
        example=_share("Personalization@2", "1 - (1/2 + 2/2 + 1/2) / 3", 0.3333),
    ),
)

"""Measures of diversity, which need judgments by subtopic."""

from __future__ import annotations

import math

from rankscope.measures import domains
from rankscope.measures.spec import Example, Name, Parameter, Row
from rankscope.measures.table.parameters import JUDGED_ONLY, READ_K, REL, REQUIRED_K, K

ALPHA = Parameter(
    "alpha",
    domains.FRACTION,
    0.5,
    "The share of its worth that a subtopic loses each time a document covers it.",
)
BETA = Parameter(
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
FIRST = "At cutoff 1, it doesn't divide by the highest possible value."
DEPTH_20 = "It only accepts cutoffs up to 20."

SUBTOPICS = (("a",), None, ("a", "b"))
"""The worked examples: the subtopics to which each retrieved document is relevant."""
UNSEEN = (("b",),)
"""The worked examples: those of the judged documents that were not retrieved."""


def _example(measure: str, formula: str, value: float) -> Example:
    return Example(
        measure,
        ranking=(1, None, 1),
        not_retrieved=(1,),
        formula=formula,
        value=value,
        subtopics=(*SUBTOPICS, *UNSEEN),
    )


ROWS = (
    Row(
        name="alpha_nDCG",
        kernel="alpha_ndcg",
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
        ir_measures=(
            Name("alpha_nDCG", takes=("k", "alpha", "rel", "judged_only"), note=DEPTH_20),
        ),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_example(
            "alpha_nDCG@3",
            "(1/log2(2) + (0.5 + 1)/log2(4)) / (2/log2(2) + 0.5/log2(3) + 0.5/log2(4))",
            0.6821,
        ),
    ),
    Row(
        name="alpha_DCG",
        kernel="alpha_dcg",
        parameters=(READ_K, ALPHA, REL, JUDGED_ONLY),
        formula=r"\alpha\textrm{-}\mathrm{DCG@}k = \frac{\sum_{r=1}^{k} n_r / \log_2(r + 1)}"
        r"{S \sum_{r=1}^{k} (1 - \alpha)^{r - 1} / \log_2(r + 1)}, \quad " + NOVELTY,
        definition="The same gain as in alpha_nDCG, divided by that of k documents each of which "
        "covers all S subtopics.",
        undefined=NO_SUBTOPIC,
        references=(CLARKE,),
        aliases=("α_DCG",),
        ir_measures=(
            Name(
                "alpha_DCG",
                takes=("k", "alpha", "rel", "judged_only"),
                note=f"{FIRST} {DEPTH_20}",
            ),
        ),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_example(
            "alpha_DCG@3",
            "(1/log2(2) + (0.5 + 1)/log2(4)) / (2 * (1/log2(2) + 0.5/log2(3) + 0.25/log2(4)))",
            0.6074,
        ),
    ),
    Row(
        name="ERR_IA",
        kernel="err_ia",
        parameters=(READ_K, REL, JUDGED_ONLY),
        formula=r"\mathrm{ERR\textrm{-}IA@}k = \frac{\sum_{r=1}^{k} n_r / r}"
        r"{S \sum_{r=1}^{k} 2^{1 - r} / r}, \quad n_r = \sum_{s\, \ni\, r} 2^{-c_s(r - 1)}",
        definition="Intent-aware expected reciprocal rank: the mean over subtopics of the expected "
        "reciprocal rank at which a user stops, whom every relevant document satisfies with "
        "probability 1/2, divided by the value of k documents each of which covers all S "
        "subtopics.",
        undefined=NO_SUBTOPIC,
        references=(CHAPELLE,),
        ir_measures=(
            Name("ERR_IA", takes=("k", "rel", "judged_only"), note=f"{FIRST} {DEPTH_20}"),
        ),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_example("ERR_IA@3", "(1/1 + (0.5 + 1)/3) / (2 * (1/1 + 0.5/2 + 0.25/3))", 0.5625),
    ),
    Row(
        name="nERR_IA",
        kernel="nerr_ia",
        parameters=(K, REL, JUDGED_ONLY),
        formula=r"\mathrm{nERR\textrm{-}IA@}k = \frac{\sum_{r=1}^{k} n_r / r}"
        r"{\sum_{r=1}^{k} n^{*}_r / r}, \quad n_r = \sum_{s\, \ni\, r} 2^{-c_s(r - 1)}",
        definition="Like ERR_IA, divided by the value of the best order, which is made greedily.",
        undefined=NO_SUBTOPIC,
        value_range=GREEDY,
        references=(CHAPELLE,),
        ir_measures=(Name("nERR_IA", takes=("k", "rel", "judged_only"), note=DEPTH_20),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_example("nERR_IA@3", "(1/1 + (0.5 + 1)/3) / (2/1 + 0.5/2 + 0.5/3)", 0.6207),
    ),
    Row(
        name="NRBP",
        kernel="nrbp",
        parameters=(REL, ALPHA, BETA),
        formula=r"\mathrm{NRBP} = \frac{1 - (1 - \alpha) \beta}{S} "
        r"\sum_{r} n_r\, \beta^{r - 1}, \quad " + NOVELTY,
        definition="Novelty- and rank-biased precision: like alpha_DCG, for a user who continues "
        "from each rank to the next with probability beta.",
        undefined=NO_SUBTOPIC,
        references=(NRBP,),
        ir_measures=(Name("NRBP", takes=("rel", "alpha", "beta")),),
        subtopics=True,
        example=_example("NRBP", "(1 + (0.5 + 1) * 0.25) / ((1 / (1 - 0.5 * 0.5)) * 2)", 0.5156),
    ),
    Row(
        name="nNRBP",
        kernel="nnrbp",
        parameters=(REL, ALPHA, BETA),
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
        example=_example("nNRBP", "(1 + (0.5 + 1) * 0.25) / (2 + 0.5 * 0.5 + 0.5 * 0.25)", 0.5789),
    ),
    Row(
        name="AP_IA",
        kernel="ap_ia",
        parameters=(REL, JUDGED_ONLY),
        formula=r"\mathrm{AP\textrm{-}IA} = \frac{1}{S} \sum_{s=1}^{S} \mathrm{AP}_s",
        definition="Intent-aware average precision: the mean over subtopics of average precision.",
        undefined=NO_SUBTOPIC,
        references=(AGRAWAL,),
        aliases=("MAP_IA",),
        ir_measures=(Name("AP_IA", takes=("rel", "judged_only")),),
        subtopics=True,
        example=_example("AP_IA", "((1/1 + 2/3)/2 + (1/3)/2) / 2", 0.5),
    ),
    Row(
        name="P_IA",
        kernel="p_ia",
        parameters=(REQUIRED_K, REL, JUDGED_ONLY),
        formula=r"\mathrm{P\textrm{-}IA@}k = \frac{1}{S} \sum_{s=1}^{S} \mathrm{P@}k_s",
        definition="Intent-aware precision: the mean over subtopics of the precision of the first "
        "k.",
        undefined=NO_SUBTOPIC,
        references=(AGRAWAL,),
        ir_measures=(Name("P_IA", takes=("k", "rel", "judged_only"), note=DEPTH_20),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_example("P_IA@3", "3 / (3 * 2)", 0.5),
    ),
    Row(
        name="StRecall",
        kernel="strecall",
        parameters=(K, REL),
        formula=r"\mathrm{StRecall@}k = \frac{|\{ s : c_s(k) > 0 \}|}{S}",
        definition="Subtopic recall: the share of the subtopics that the first k documents cover.",
        undefined=NO_SUBTOPIC,
        references=(ZHAI,),
        aliases=("strec",),
        ir_measures=(Name("StRecall", takes=("k", "rel"), note=DEPTH_20),),
        claims=frozenset({"cutoff_local"}),
        subtopics=True,
        example=_example("StRecall@1", "1/2", 0.5),
    ),
)

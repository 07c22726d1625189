"""Measures that add up the gains of documents, mostly discounted by rank."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Name, Parameter, Row
from rankscope.measures.table.parameters import (
    BASE,
    DISCOUNT,
    GAIN,
    IDEAL,
    JUDGED_ONLY,
    REL,
    K,
    S,
)

BLEND = Parameter("beta", domains.POSITIVE, 1.0, "How much cumulated gain counts.")

JARVELIN = (
    "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, "
    "ACM Transactions on Information Systems 20(4), 2002"
)
BURGES = "Burges et al., Learning to rank using gradient descent, ICML 2005 (gain 2^grade - 1)"

ROWS = (
    Row(
        name="nDCG",
        kernel="ndcg",
        parameters=(K, GAIN, DISCOUNT, BASE, S, IDEAL, JUDGED_ONLY),
        formula=r"\mathrm{nDCG@}k = \frac{\sum_{r=1}^{k} G(g_r)\, d(r)}"
        r"{\sum_{r=1}^{k} G(g^{*}_r)\, d(r)}, \quad d(r) = \frac{1}{\log_2 (r + 1)}",
        definition="The discounted gain of the list, divided by that of the ideal list, which has "
        "the judged documents in the best order.",
        undefined="Undefined if no judged document has a gain above 0.",
        ties="exact",
        references=(JARVELIN, BURGES),
        aliases=("NDCG",),
        trec_eval=(
            Name("ndcg"),
            Name("ndcg_cut_{k}"),
            Name(
                "ndcg_p",
                {"discount": "jk"},
                note="It is in the sources, but not among the measures of the command.",
            ),
        ),
        ir_measures=(
            Name(
                "nDCG",
                takes=("k", "gain", "judged_only"),
                note="Grades without an entry in its gains keep their value; in rankscope, they "
                "are an error.",
            ),
        ),
        ranx=(
            Name("ndcg"),
            Name("ndcg@{k}"),
            Name("ndcg_burges", {"gain": "exp2"}),
            Name("ndcg_burges@{k}", {"gain": "exp2"}),
        ),
        sklearn=(
            Name(
                "ndcg_score",
                {"ideal": "retrieved"},
                takes=("k",),
                note="It averages over the orders of tied documents.",
            ),
        ),
        claims=frozenset({"swap_monotone", "perfect_is_one", "cutoff_local"}),
        example=Example(
            "nDCG@3",
            ranking=(3, None, 2, 0),
            not_retrieved=(1,),
            formula="(3/log2(2) + 2/log2(4)) / (3/log2(2) + 2/log2(3) + 1/log2(4))",
            value=0.84,
        ),
    ),
    Row(
        name="DCG",
        kernel="dcg",
        parameters=(K, GAIN, DISCOUNT, BASE, S, JUDGED_ONLY),
        formula=r"\mathrm{DCG@}k = \sum_{r=1}^{k} G(g_r)\, d(r)",
        definition="The sum of the gains in the list, each discounted by its rank.",
        value_range=(0, float("inf")),
        ties="exact",
        references=(JARVELIN, BURGES),
        trec_eval=(Name("dcg"),),
        ranx=(
            Name("dcg"),
            Name("dcg@{k}"),
            Name("dcg_burges", {"gain": "exp2"}),
            Name("dcg_burges@{k}", {"gain": "exp2"}),
        ),
        sklearn=(
            Name(
                "dcg_score",
                takes=("k", "discount", "base"),
                note="It averages over the orders of tied documents.",
            ),
        ),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "DCG@3",
            ranking=(3, None, 2, 0),
            not_retrieved=(1,),
            formula="3/log2(2) + 2/log2(4)",
            value=4.0,
        ),
    ),
    Row(
        name="IDCG",
        kernel="idcg",
        parameters=(K, GAIN, DISCOUNT, BASE, S, IDEAL),
        formula=r"\mathrm{IDCG@}k = \sum_{r=1}^{k} G(g^{*}_r)\, d(r)",
        definition="The discounted gain of the ideal list, which has the judged documents in the "
        "best order.",
        value_range=(0, float("inf")),
        better="neither",
        ties="exact",
        references=(JARVELIN, BURGES),
        trec_eval=(Name("ideal_dcg"),),
        claims=frozenset({"swap_monotone", "cutoff_local", "order_free"}),
        example=Example(
            "IDCG@3",
            ranking=(3, None, 2, 0),
            not_retrieved=(1,),
            formula="3/log2(2) + 2/log2(3) + 1/log2(4)",
            value=4.7619,
        ),
    ),
    Row(
        name="CG",
        kernel="cg",
        parameters=(K, GAIN, JUDGED_ONLY),
        formula=r"\mathrm{CG@}k = \sum_{r=1}^{k} G(g_r)",
        definition="The sum of the gains in the list, regardless of their ranks.",
        value_range=(0, float("inf")),
        ties="exact",
        references=(JARVELIN,),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "CG@3",
            ranking=(3, None, 2, 0),
            not_retrieved=(1,),
            formula="3 + 2",
            value=5.0,
        ),
    ),
    Row(
        name="Q",
        kernel="q",
        parameters=(K, REL, GAIN, BLEND, JUDGED_ONLY),
        formula=r"\mathrm{Q@}k = \frac{1}{R} \sum_{r=1}^{k} b_r "
        r"\frac{\sum_{i=1}^{r} b_i\, (1 + \beta\, G(g_i))}"
        r"{r + \beta \sum_{i=1}^{r} G(g^{*}_i)}",
        definition="Q-measure: average precision in which the precision at each relevant document "
        "is blended with cumulated gain, as a share of that of the ideal list.",
        undefined="Undefined if no judged document is relevant.",
        references=(
            (
                "Sakai, New performance metrics based on multigrade relevance: their application "
                "to question answering, NTCIR-4, 2004"
            ),
        ),
        aliases=("Q_measure", "QMeasure"),
        claims=frozenset({"perfect_is_one", "cutoff_local"}),
        example=Example(
            "Q",
            ranking=(1, None, 2),
            not_retrieved=(3,),
            formula="((1 + 1)/(1 + 3) + (2 + 3)/(3 + 6)) / 3",
            value=0.3519,
        ),
    ),
)

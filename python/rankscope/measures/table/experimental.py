"""Measures between average precision and nDCG that trec_eval calls experimental."""

from __future__ import annotations

from rankscope.measures.spec import Example, Name, Row
from rankscope.measures.table.binary import NO_RELEVANT
from rankscope.measures.table.gain import JARVELIN
from rankscope.measures.table.parameters import GAIN, JUDGED_ONLY, REL

BUCKLEY = "Buckley, trec_eval 9.0, 2008, measures G and binG"
NO_GAIN = "Undefined if no judged document has a gain above 0."

ROWS = (
    Row(
        name="BinG",
        kernel="bin_g",
        parameters=(REL, JUDGED_ONLY),
        formula=r"\mathrm{BinG} = \frac{1}{R} \sum_{r\, :\, b_r = 1} "
        r"\frac{1}{\log_2 (2 + r - \sum_{i=1}^{r} b_i)}",
        definition="The mean over the relevant documents of a discount that depends on how many "
        "documents above are not relevant, which is 0 for those that are not in the list.",
        undefined=NO_RELEVANT,
        references=(BUCKLEY,),
        trec_eval=(Name("binG"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example(
            "BinG",
            ranking=(1, 0, 2, None, 1),
            not_retrieved=(1,),
            formula="(1/log2(2) + 1/log2(3) + 1/log2(4)) / 4",
            value=0.5327,
        ),
    ),
    Row(
        name="G",
        kernel="g",
        parameters=(GAIN, JUDGED_ONLY),
        formula=r"\mathrm{G} = \frac{1}{\sum_r G(g^{*}_r)} \sum_r \frac{G(g_r)}"
        r"{\log_2 \left( 2 + \sum_{i=1}^{r} \max(1, G(g^{*}_i)) - \sum_{i=1}^{r} G(g_i) \right)}",
        definition="The sum of the gains in the list, each discounted by how far the list is "
        "behind the ideal one at its rank, divided by the sum of all gains.",
        undefined=NO_GAIN,
        references=(BUCKLEY,),
        trec_eval=(Name("G"),),
        example=Example(
            "G",
            ranking=(1, 0, 2),
            formula="(1/log2(2 + 2 - 1) + 2/log2(2 + (2 + 1 + 1) - (1 + 2))) / 3",
            value=0.6309,
        ),
    ),
    Row(
        name="nDCGRel",
        kernel="ndcg_rel",
        parameters=(GAIN, JUDGED_ONLY),
        formula=r"\mathrm{nDCGRel} = \frac{1}{R} \sum_{r\, :\, G(g_r) > 0} \mathrm{nDCG@}r",
        definition="The mean nDCG at the ranks of the documents with a gain, where the ideal list "
        "is cut at the same rank; for those that are not in the list, nDCG of the whole list.",
        undefined=NO_GAIN,
        references=("Buckley, trec_eval 9.0, 2008, measure ndcg_rel", JARVELIN),
        trec_eval=(Name("ndcg_rel"),),
        example=Example(
            "nDCGRel",
            ranking=(1, 0, 2),
            formula="(1/2 + (1 + 2/log2(4)) / (2 + 1/log2(3))) / 2",
            value=0.6301,
        ),
    ),
    Row(
        name="RnDCG",
        kernel="rndcg",
        parameters=(GAIN, JUDGED_ONLY),
        formula=r"\mathrm{RnDCG} = \frac{1}{|C|} \sum_{k \in C} \mathrm{nDCG@}k",
        definition="The mean nDCG at the ranks at which the gain of the ideal list falls, and at "
        "the end of the list if it is at least two documents longer than the ideal one.",
        undefined=NO_GAIN,
        references=("Buckley, trec_eval 9.0, 2008, measure Rndcg", JARVELIN),
        trec_eval=(Name("Rndcg", note="It is 0 if no judged document reaches the level of -l."),),
        example=Example(
            "RnDCG",
            ranking=(1, 0, 2, None),
            formula="(1/2 + 1 / (2 + 1/log2(3)) + (1 + 2/log2(4)) / (2 + 1/log2(3))) / 3",
            value=0.5468,
        ),
    ),
)

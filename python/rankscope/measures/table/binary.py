"""Measures with binary relevance: a document is either relevant or not."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import Example, Name, Parameter, Row
from rankscope.measures.table.parameters import BETA, JUDGED_ONLY, REL, REQUIRED_K, K

RECALL = Parameter(
    "recall",
    domains.FRACTION,
    None,
    "The share of the relevant documents that must be found.",
    required=True,
)
ROUNDING = Parameter(
    "rounding",
    domains.one_of("up", "nearest"),
    "up",
    "How the number of documents at a level of recall is rounded: up, unless it exceeds a whole "
    "number by less than a tenth, as in trec_eval 9; or to the nearest one, as in version 10.",
)
LEVELS = Parameter(
    "levels",
    domains.LEVELS,
    tuple(tenths / 10 for tenths in range(11)),
    "The levels of recall.",
)
MULTIPLE = Parameter(
    "multiple",
    domains.POSITIVE,
    1.0,
    "The rank as a multiple of the number of relevant documents, rounded up unless it exceeds a "
    "whole number by less than a tenth.",
)
DENOMINATOR = Parameter(
    "denominator",
    domains.one_of("relevant", "reachable", "cutoff", "found"),
    "relevant",
    "What the sum is divided by: the number of relevant documents, the number of them that fit "
    "above the cutoff, the cutoff, or the number of relevant documents found.",
    needs_k=("cutoff",),
)
OF_RANKS = Parameter(
    "denominator",
    domains.one_of("cutoff", "retrieved"),
    "cutoff",
    "What the number found is divided by: the cutoff, or the number of documents retrieved above "
    "it.",
)
OF_RELEVANT = Parameter(
    "denominator",
    domains.one_of("relevant", "reachable"),
    "relevant",
    "What the number found is divided by: the number of relevant documents, or the number of them "
    "that fit above the cutoff.",
)

NO_RELEVANT = "Undefined if no judged document is relevant."
TREC_BOOK = (
    "Buckley and Voorhees, Retrieval system evaluation, in: TREC: Experiment and Evaluation in "
    "Information Retrieval, MIT Press 2005"
)
CLEVERDON = "Cleverdon, The Cranfield tests on index language devices, Aslib Proceedings 19, 1967"
RIJSBERGEN = "van Rijsbergen, Information Retrieval, 2nd edition, Butterworths 1979, chapter 7"
TAKES = ("k", "rel", "judged_only")

ROWS = (
    Row(
        name="AP",
        kernel="ap",
        parameters=(K, REL, DENOMINATOR, JUDGED_ONLY),
        formula=r"\mathrm{AP@}k = \frac{1}{R} \sum_{r=1}^{k} b_r\, \mathrm{P@}r",
        definition="The mean of the precision at the rank of each relevant document, which is 0 "
        "for those that are not in the list.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(TREC_BOOK,),
        aliases=("MAP", "average_precision", "mean_average_precision"),
        trec_eval=(Name("map"), Name("map_cut_{k}")),
        ir_measures=(Name("AP", takes=TAKES),),
        ranx=(Name("map"), Name("map@{k}")),
        sklearn=(
            Name(
                "average_precision_score",
                note="Documents with equal scores are one step of the curve.",
            ),
        ),
        claims=frozenset({"swap_monotone", "perfect_is_one", "cutoff_local", "binary"}),
        example=Example(
            "AP",
            ranking=(1, 0, 2, None, 1),
            not_retrieved=(1,),
            formula="(1/1 + 2/3 + 3/5) / 4",
            value=0.5667,
        ),
    ),
    Row(
        name="GMAP",
        kernel="ap",
        parameters=(K, REL, DENOMINATOR, JUDGED_ONLY),
        formula=r"\mathrm{GMAP} = \exp \left( \frac{1}{n} \sum_{q=1}^{n} "
        r"\log \max(\mathrm{AP}_q, 10^{-5}) \right)",
        definition="The geometric mean of average precision over queries, where values below "
        "0.00001 count as 0.00001.",
        undefined=NO_RELEVANT,
        mean="geometric",
        ties="exact",
        references=("Robertson, On GMAP: and other transformations, CIKM 2006",),
        trec_eval=(Name("gm_map"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "cutoff_local", "binary"}),
        example=Example(
            "GMAP",
            ranking=(1, None, 1),
            formula="exp(log((1/1 + 2/3) / 2))",
            value=0.8333,
        ),
    ),
    Row(
        name="RR",
        kernel="rr",
        parameters=(K, REL, JUDGED_ONLY),
        formula=r"\mathrm{RR@}k = \frac{1}{\min \{ r \le k : b_r = 1 \}}",
        definition="One divided by the rank of the first relevant document, or 0 if there is none.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(
            "Kantor and Voorhees, The TREC-5 confusion track, Information Retrieval, 2000",
        ),
        aliases=("MRR", "reciprocal_rank", "mean_reciprocal_rank"),
        trec_eval=(Name("recip_rank"),),
        ir_measures=(Name("RR", takes=TAKES),),
        ranx=(Name("mrr"), Name("mrr@{k}")),
        claims=frozenset({"swap_monotone", "perfect_is_one", "cutoff_local", "binary"}),
        example=Example("RR", ranking=(0, None, 1), formula="1/3", value=0.3333),
    ),
    Row(
        name="P",
        kernel="precision",
        parameters=(REQUIRED_K, REL, OF_RANKS, JUDGED_ONLY),
        formula=r"\mathrm{P@}k = \frac{1}{k} \sum_{r=1}^{k} b_r",
        definition="The share of the first k ranks that have a relevant document; ranks below the "
        "end of a shorter list count as not relevant.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(CLEVERDON,),
        aliases=("Precision",),
        trec_eval=(Name("P_{k}"),),
        ir_measures=(Name("P", takes=TAKES),),
        ranx=(Name("precision@{k}"),),
        claims=frozenset({"swap_monotone", "cutoff_local", "binary"}),
        uncut="SetP",
        example=Example(
            "P@5", ranking=(1, 0, 2, None), not_retrieved=(1,), formula="2/5", value=0.4
        ),
    ),
    Row(
        name="R",
        kernel="recall",
        parameters=(REQUIRED_K, REL, OF_RELEVANT, JUDGED_ONLY),
        formula=r"\mathrm{R@}k = \frac{1}{R} \sum_{r=1}^{k} b_r",
        definition="The share of the relevant documents that are among the first k.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(CLEVERDON,),
        aliases=("Recall",),
        trec_eval=(
            Name("recall_{k}"),
            Name("relative_P_{k}", {"denominator": "reachable"}),
        ),
        ir_measures=(Name("R", takes=TAKES),),
        ranx=(Name("recall@{k}"),),
        claims=frozenset({"swap_monotone", "cutoff_local", "binary"}),
        uncut="SetR",
        example=Example("R@3", ranking=(1, 0, 2, 1), not_retrieved=(1,), formula="2/4", value=0.5),
    ),
    Row(
        name="Rprec",
        kernel="rprec",
        parameters=(REL, MULTIPLE, JUDGED_ONLY),
        formula=r"\mathrm{Rprec} = \frac{1}{R} \sum_{r=1}^{R} b_r",
        definition="The precision at rank R, where R is the number of relevant documents, or at a "
        "multiple of it.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(TREC_BOOK,),
        aliases=("RPrec", "r_precision"),
        trec_eval=(Name("Rprec"), Name("Rprec_mult_{multiple}")),
        ir_measures=(Name("Rprec", takes=("rel", "judged_only")),),
        ranx=(Name("r-precision"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example("Rprec", ranking=(1, 0, 2, 1), formula="2/3", value=0.6667),
    ),
    Row(
        name="Success",
        kernel="success",
        parameters=(K, REL, JUDGED_ONLY),
        formula=r"\mathrm{Success@}k = \max_{r \le k} b_r",
        definition="1 if there is a relevant document among the first k, or without a cutoff, "
        "in the list, else 0.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(TREC_BOOK,),
        aliases=("HitRate", "Hit", "hit_ratio", "HR", "accuracy"),
        trec_eval=(Name("success_{k}"),),
        ir_measures=(Name("Success", takes=TAKES),),
        ranx=(Name("hit_rate"), Name("hit_rate@{k}")),
        claims=frozenset({"swap_monotone", "cutoff_local", "binary"}),
        example=Example("Success@3", ranking=(0, None, 1, 0), formula="1", value=1.0),
    ),
    Row(
        name="F",
        kernel="f",
        parameters=(REQUIRED_K, REL, BETA, JUDGED_ONLY),
        formula=r"\mathrm{F@}k = \frac{(1 + \beta^2)\, \mathrm{P@}k \cdot \mathrm{R@}k}"
        r"{\beta^2\, \mathrm{P@}k + \mathrm{R@}k}",
        definition="The weighted harmonic mean of precision and recall at the cutoff, or 0 if both "
        "are 0.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(RIJSBERGEN,),
        aliases=("F1",),
        ranx=(Name("f1@{k}"),),
        claims=frozenset({"swap_monotone", "cutoff_local", "binary"}),
        uncut="SetF",
        example=Example(
            "F@4",
            ranking=(1, 0, 2, None),
            not_retrieved=(1,),
            formula="2 * (2/4) * (2/3) / (2/4 + 2/3)",
            value=0.5714,
        ),
    ),
    Row(
        name="IPrec",
        kernel="iprec",
        parameters=(RECALL, REL, ROUNDING, JUDGED_ONLY),
        cutoff="recall",
        formula=r"\mathrm{IPrec@}x = \max \left\{ \mathrm{P@}r : R\, \mathrm{R@}r \ge "
        r"\lfloor x R + 0.9 \rfloor \right\}",
        definition="The highest precision at any rank by which the given share of the relevant "
        "documents has been found, or 0 if it is never found.",
        undefined=NO_RELEVANT,
        references=(TREC_BOOK,),
        trec_eval=(
            Name(
                "iprec_at_recall_{recall}",
                note="That of version 9; that of version 10 is IPrec(rounding='nearest').",
            ),
        ),
        ir_measures=(Name("IPrec", takes=("recall", "rel", "judged_only")),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example(
            "IPrec@0.5",
            ranking=(1, 0, 2, None, 1),
            not_retrieved=(1,),
            formula="max(2/3, 3/5)",
            value=0.6667,
        ),
    ),
    Row(
        name="InterpolatedAP",
        kernel="interpolated_ap",
        parameters=(LEVELS, REL, ROUNDING, JUDGED_ONLY),
        formula=r"\mathrm{InterpolatedAP} = \frac{1}{11} \sum_{i=0}^{10} \mathrm{IPrec@}"
        r"\frac{i}{10}",
        definition="The mean of interpolated precision over levels of recall.",
        undefined=NO_RELEVANT,
        references=(TREC_BOOK,),
        trec_eval=(
            Name(
                "11pt_avg",
                note="That of version 9; that of version 10 is InterpolatedAP(rounding='nearest').",
            ),
        ),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example(
            "InterpolatedAP",
            ranking=(1, 0, 2, None, 1),
            not_retrieved=(1,),
            formula="(3 * 1/1 + 3 * 2/3 + 2 * 3/5) / 11",
            value=0.5636,
        ),
    ),
    Row(
        name="YAAP",
        kernel="yaap",
        parameters=(REL, JUDGED_ONLY),
        formula=r"\mathrm{YAAP} = \log \frac{1 + \sum_{r\, :\, b_r = 1} \mathrm{P@}r}"
        r"{1 + R - \sum_{r\, :\, b_r = 1} \mathrm{P@}r}",
        definition="The logarithm of the odds of average precision, smoothed so that extreme "
        "values can be averaged over queries.",
        value_range=(float("-inf"), float("inf")),
        references=("Robertson, On smoothing average precision, ECIR 2012",),
        trec_eval=(Name("yaap"),),
        claims=frozenset({"swap_monotone", "binary"}),
        example=Example(
            "YAAP",
            ranking=(1, 0, 2),
            not_retrieved=(1,),
            formula="log((1 + (1/1 + 2/3)) / (1 + 3 - (1/1 + 2/3)))",
            value=0.1335,
        ),
    ),
)

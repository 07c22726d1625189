"""Measures of relevant documents: of their ranks, as a set, their numbers, and in pairs."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import (
    BETA,
    JUDGED_ONLY,
    REL,
    REQUIRED_K,
    Example,
    K,
    Name,
    Parameter,
    Row,
)

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
    "levels", domains.LEVELS, tuple(tenths / 10 for tenths in range(11)), "The levels of recall."
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
KANTOR = "Kantor and Voorhees, The TREC-5 confusion track, Information Retrieval, 2000"
CLEVERDON = "Cleverdon, The Cranfield tests on index language devices, Aslib Proceedings 19, 1967"
RIJSBERGEN = "van Rijsbergen, Information Retrieval, 2nd edition, Butterworths 1979, chapter 7"
TAKES = ("k", "rel", "judged_only")

BINARY_ROWS = (
    Row(
        name="AP",
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
            "AP", (1, 0, 2, None, 1), "(1/1 + 2/3 + 3/5) / 4", 0.5667, not_retrieved=(1,)
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
        example=Example("GMAP", (1, None, 1), "exp(log((1/1 + 2/3) / 2))", 0.8333),
    ),
    Row(
        name="RR",
        parameters=(K, REL, JUDGED_ONLY),
        formula=r"\mathrm{RR@}k = \frac{1}{\min \{ r \le k : b_r = 1 \}}",
        definition="One divided by the rank of the first relevant document, or 0 if there is none.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(KANTOR,),
        aliases=("MRR", "reciprocal_rank", "mean_reciprocal_rank"),
        trec_eval=(Name("recip_rank"),),
        ir_measures=(Name("RR", takes=TAKES),),
        ranx=(Name("mrr"), Name("mrr@{k}")),
        claims=frozenset({"swap_monotone", "perfect_is_one", "cutoff_local", "binary"}),
        example=Example("RR", (0, None, 1), "1/3", 0.3333),
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
        example=Example("P@5", (1, 0, 2, None), "2/5", 0.4, not_retrieved=(1,)),
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
        trec_eval=(Name("recall_{k}"), Name("relative_P_{k}", {"denominator": "reachable"})),
        ir_measures=(Name("R", takes=TAKES),),
        ranx=(Name("recall@{k}"),),
        claims=frozenset({"swap_monotone", "cutoff_local", "binary"}),
        uncut="SetR",
        example=Example("R@3", (1, 0, 2, 1), "2/4", 0.5, not_retrieved=(1,)),
    ),
    Row(
        name="Rprec",
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
        example=Example("Rprec", (1, 0, 2, 1), "2/3", 0.6667),
    ),
    Row(
        name="Success",
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
        example=Example("Success@3", (0, None, 1, 0), "1", 1.0),
    ),
    Row(
        name="F",
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
            "F@4", (1, 0, 2, None), "2 * (2/4) * (2/3) / (2/4 + 2/3)", 0.5714, not_retrieved=(1,)
        ),
    ),
    Row(
        name="IPrec",
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
            "IPrec@0.5", (1, 0, 2, None, 1), "max(2/3, 3/5)", 0.6667, not_retrieved=(1,)
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
            (1, 0, 2, None, 1),
            "(3 * 1/1 + 3 * 2/3 + 2 * 3/5) / 11",
            0.5636,
            not_retrieved=(1,),
        ),
    ),
    Row(
        name="YAAP",
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
            (1, 0, 2),
            "log((1 + (1/1 + 2/3)) / (1 + 3 - (1/1 + 2/3)))",
            0.1335,
            not_retrieved=(1,),
        ),
    ),
)

RELATIVE = Parameter(
    "relative",
    domains.FLAG,
    False,
    "Whether to divide by the highest value that is possible for this number of documents.",
)
HIT = Parameter("hit", domains.NUMBER, 1.0, "What a relevant document in the list is worth.")
FALSE_ALARM = Parameter(
    "false_alarm", domains.NUMBER, -1.0, "What a document in the list is worth that isn't relevant."
)
MISS = Parameter(
    "miss", domains.NUMBER, 0.0, "What a relevant document is worth that isn't in the list."
)
REJECTION = Parameter("rejection", domains.NUMBER, 0.0, "What a document is worth that is neither.")
DOCUMENTS = Parameter(
    "documents", domains.COUNT, 0.0, "How many documents the collection has, for rejection."
)

SETS_ROWS = (
    Row(
        name="SetP",
        kernel="set_precision",
        parameters=(K, REL, RELATIVE, JUDGED_ONLY),
        formula=r"\mathrm{SetP} = \frac{|\mathrm{relevant} \cap \mathrm{retrieved}|}"
        r"{|\mathrm{retrieved}|}",
        definition="The share of the retrieved documents that are relevant, or 0 if none was "
        "retrieved. With a cutoff, only the first k documents count as retrieved.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(CLEVERDON,),
        trec_eval=(Name("set_P"), Name("set_relative_P", {"relative": True})),
        ir_measures=(
            Name("SetP", takes=("rel", "relative", "judged_only")),
            Name("SetRelP", {"relative": True}),
        ),
        ranx=(Name("precision"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "order_free", "binary"}),
        example=Example("SetP", (1, 0, None, 2), "2/4", 0.5, not_retrieved=(1,)),
    ),
    Row(
        name="SetR",
        kernel="set_recall",
        parameters=(K, REL),
        formula=r"\mathrm{SetR} = \frac{|\mathrm{relevant} \cap \mathrm{retrieved}|}"
        r"{|\mathrm{relevant}|}",
        definition="The share of the relevant documents that were retrieved. With a cutoff, only "
        "the first k documents count as retrieved.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(CLEVERDON,),
        trec_eval=(Name("set_recall"),),
        ir_measures=(Name("SetR", takes=("rel",)),),
        ranx=(Name("recall"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "order_free", "binary"}),
        example=Example("SetR", (1, 0, None, 2), "2/3", 0.6667, not_retrieved=(1,)),
    ),
    Row(
        name="SetF",
        kernel="set_f",
        parameters=(REL, BETA, JUDGED_ONLY),
        formula=r"\mathrm{SetF} = \frac{(1 + \beta^2)\, \mathrm{SetP} \cdot \mathrm{SetR}}"
        r"{\beta^2\, \mathrm{SetP} + \mathrm{SetR}}",
        definition="The weighted harmonic mean of set precision and set recall, or 0 if both "
        "are 0.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=(RIJSBERGEN,),
        trec_eval=(Name("set_F", note="Its parameter is beta squared."),),
        ir_measures=(
            Name(
                "SetF",
                takes=("rel", "beta", "judged_only"),
                note="It passes beta to trec_eval, which reads it as beta squared.",
            ),
        ),
        ranx=(Name("f1"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "order_free", "binary"}),
        example=Example(
            "SetF", (1, 0, None, 2), "2 * (2/4) * (2/3) / (2/4 + 2/3)", 0.5714, not_retrieved=(1,)
        ),
    ),
    Row(
        name="SetAP",
        kernel="set_ap",
        parameters=(REL, JUDGED_ONLY),
        formula=r"\mathrm{SetAP} = \mathrm{SetP} \cdot \mathrm{SetR}",
        definition="Set precision multiplied by set recall.",
        undefined=NO_RELEVANT,
        ties="exact",
        references=("trec_eval, measure set_map",),
        trec_eval=(Name("set_map"),),
        ir_measures=(Name("SetAP", takes=("rel", "judged_only")),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "order_free", "binary"}),
        example=Example("SetAP", (1, 0, None, 2), "(2/4) * (2/3)", 0.3333, not_retrieved=(1,)),
    ),
    Row(
        name="Utility",
        parameters=(HIT, FALSE_ALARM, MISS, REJECTION, DOCUMENTS, REL, JUDGED_ONLY),
        formula=r"\mathrm{Utility} = |\mathrm{relevant} \cap \mathrm{retrieved}| - "
        r"|\mathrm{retrieved} \setminus \mathrm{relevant}|",
        definition="What the documents are worth together, by whether they are relevant and "
        "whether they are in the list; by default, relevant documents in the list minus others.",
        value_range=(float("-inf"), float("inf")),
        ties="exact",
        references=("Hull and Robertson, The TREC-8 filtering track final report, TREC 1999",),
        trec_eval=(Name("utility"),),
        claims=frozenset({"swap_monotone", "order_free", "binary"}),
        example=Example(
            "Utility(hit=3, false_alarm=-2)",
            (1, 0, None, 2),
            "3 * 2 - 2 * 2",
            2.0,
            not_retrieved=(1,),
        ),
    ),
)

OPTIONAL_REL = Parameter(
    "rel",
    domains.OPTIONAL_LEVEL,
    None,
    "The lowest grade that counts; by default, all documents count.",
)
HITS = "It is a mean over queries; in rankscope, a sum."

COUNT_ROWS = (
    Row(
        name="NumRet",
        kernel="num_ret",
        parameters=(K, OPTIONAL_REL),
        formula=r"\mathrm{NumRet} = |\mathrm{retrieved}|",
        definition="The number of retrieved documents, or of the relevant ones with rel; with a "
        "cutoff, of those among the first k.",
        value_range=(0, float("inf")),
        mean="sum",
        better="neither",
        ties="exact",
        references=("trec_eval, measures num_ret and num_rel_ret",),
        trec_eval=(Name("num_ret"), Name("num_rel_ret", {"rel": 1})),
        ir_measures=(Name("NumRet", takes=("rel",)), Name("NumRelRet", {"rel": 1})),
        ranx=(Name("hits", {"rel": 1}, note=HITS), Name("hits@{k}", {"rel": 1}, note=HITS)),
        claims=frozenset({"swap_monotone", "cutoff_local", "order_free"}),
        example=Example("NumRet", (1, None, 0), "3", 3.0, not_retrieved=(1,)),
    ),
    Row(
        name="NumRel",
        kernel="num_rel",
        parameters=(REL,),
        formula=r"\mathrm{NumRel} = R",
        definition="The number of relevant documents, retrieved or not.",
        value_range=(0, float("inf")),
        mean="sum",
        better="neither",
        ties="exact",
        references=("trec_eval, measure num_rel",),
        trec_eval=(Name("num_rel"),),
        ir_measures=(Name("NumRel", takes=("rel",)),),
        claims=frozenset({"swap_monotone", "order_free", "binary"}),
        example=Example("NumRel", (1, None, 0), "1 + 1", 2.0, not_retrieved=(1,)),
    ),
    Row(
        name="NumNonrelRet",
        kernel="num_nonrel_ret",
        parameters=(REL,),
        formula=r"\mathrm{NumNonrelRet} = |\{ r : 0 \le g_r < \mathit{rel} \}|",
        definition="The number of retrieved documents that are judged not relevant.",
        value_range=(0, float("inf")),
        mean="sum",
        better="neither",
        ties="exact",
        references=("trec_eval, measure num_nonrel_judged_ret",),
        trec_eval=(Name("num_nonrel_judged_ret"),),
        claims=frozenset({"order_free", "binary"}),
        example=Example("NumNonrelRet", (1, None, 0), "1", 1.0, not_retrieved=(0,)),
    ),
    Row(
        name="NumQ",
        kernel="num_q",
        parameters=(),
        formula=r"\mathrm{NumQ} = 1",
        definition="1 for each query, so the sum is the number of queries.",
        value_range=(1, 1),
        mean="sum",
        better="neither",
        ties="exact",
        references=("trec_eval, measure num_q",),
        trec_eval=(Name("num_q"),),
        ir_measures=(Name("NumQ"),),
        claims=frozenset({"swap_monotone", "order_free", "binary"}),
        example=Example("NumQ", (1, None, 0), "1", 1.0),
    ),
)

BUDHIRAJA = (
    "Budhiraja and others, Rich-item recommendations for rich-users: "
    "exploiting dynamic and static side information, 2020, arXiv:2001.10495"
)
RECTOOLS = "RecTools, class {}, which is equal with `insufficient_handling='ignore'`"
NEGATIVES = K._replace(
    meaning="How many nonrelevant documents count: the first k of the list (default: all of them)."
)
REQUIRED_NEGATIVES = REQUIRED_K._replace(
    meaning="How many nonrelevant and how many relevant documents count at most."
)
COUNTED_PAIRS = r"\sum_{r\, :\, b_r = 1} \max(0, N_k - n_r)"

AUC_ROWS = (
    Row(
        name="AUC",
        parameters=(NEGATIVES, REL),
        formula=r"\mathrm{AUC@}k = \frac{" + COUNTED_PAIRS + r"}{N_k\, R}",
        definition="The share of all pairs of a relevant document and one of the first k "
        "nonrelevant documents of the list in which the relevant one is higher. Unjudged documents "
        "are nonrelevant, and relevant documents that weren't retrieved are below all others. The "
        "list must be long enough to have k nonrelevant documents: those that are missing count as "
        "if they were at its end.",
        undefined="Undefined if there is no relevant document, or if there is no cutoff and no "
        "nonrelevant document was retrieved.",
        references=(BUDHIRAJA, RECTOOLS.format("PartialAUC")),
        aliases=("PartialAUC", "pAUC"),
        claims=frozenset({"swap_monotone", "binary"}),
        example=Example("AUC@2", (1, None, 1, 0), "(2 + 1) / (2 * 3)", 0.5, not_retrieved=(1,)),
    ),
    Row(
        name="PAP",
        parameters=(REQUIRED_NEGATIVES, REL),
        formula=r"\mathrm{PAP@}k = \frac{" + COUNTED_PAIRS + r"}{k \min(k, R)}",
        definition="Like AUC, but only the first k relevant documents count, so it is about "
        "precision where there are more than k, and AUC where there are fewer.",
        undefined="Undefined if there is no relevant document.",
        references=(BUDHIRAJA, RECTOOLS.format("PAP")),
        aliases=("pAp",),
        claims=frozenset({"swap_monotone", "binary"}),
        example=Example("PAP@2", (1, None, 1, 0), "(2 + 1) / (2 * 2)", 0.75, not_retrieved=(1,)),
    ),
)

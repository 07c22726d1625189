"""Measures of gain, of incomplete judgments, and of agreement with the best order."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.binary import NO_RELEVANT, OF_RANKS
from rankscope.measures.spec import (
    BASE,
    DISCOUNT,
    GAIN,
    IDEAL,
    JUDGED_ONLY,
    REL,
    REQUIRED_K,
    Example,
    K,
    Name,
    Parameter,
    Row,
    S,
)

NO_GAIN = "Undefined if no judged document has a gain above 0."
NO_GRADE = "Undefined if no judged document has a grade above 0."
AVERAGED = "It averages over the orders of tied documents."
BLEND = Parameter("beta", domains.POSITIVE, 1.0, "How much cumulated gain counts.")
JARVELIN = (
    "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, "
    "ACM Transactions on Information Systems 20(4), 2002"
)
SAKAI = (
    "Sakai, New performance metrics based on multigrade relevance: their application to question "
    "answering, NTCIR-4, 2004"
)
BURGES = "Burges et al., Learning to rank using gradient descent, ICML 2005 (gain 2^grade - 1)"

GAIN_ROWS = (
    Row(
        name="nDCG",
        parameters=(K, GAIN, DISCOUNT, BASE, S, IDEAL, JUDGED_ONLY),
        formula=r"\mathrm{nDCG@}k = \frac{\sum_{r=1}^{k} G(g_r)\, d(r)}"
        r"{\sum_{r=1}^{k} G(g^{*}_r)\, d(r)}, \quad d(r) = \frac{1}{\log_2 (r + 1)}",
        definition="The discounted gain of the list, divided by that of the ideal list, which has "
        "the judged documents in the best order.",
        undefined=NO_GAIN,
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
        sklearn=(Name("ndcg_score", {"ideal": "retrieved"}, takes=("k",), note=AVERAGED),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "cutoff_local"}),
        example=Example(
            "nDCG@3",
            (3, None, 2, 0),
            "(3/log2(2) + 2/log2(4)) / (3/log2(2) + 2/log2(3) + 1/log2(4))",
            0.84,
            not_retrieved=(1,),
        ),
    ),
    Row(
        name="DCG",
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
        sklearn=(Name("dcg_score", takes=("k", "discount", "base"), note=AVERAGED),),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example("DCG@3", (3, None, 2, 0), "3/log2(2) + 2/log2(4)", 4.0, not_retrieved=(1,)),
    ),
    Row(
        name="IDCG",
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
            (3, None, 2, 0),
            "3/log2(2) + 2/log2(3) + 1/log2(4)",
            4.7619,
            not_retrieved=(1,),
        ),
    ),
    Row(
        name="CG",
        parameters=(K, GAIN, JUDGED_ONLY),
        formula=r"\mathrm{CG@}k = \sum_{r=1}^{k} G(g_r)",
        definition="The sum of the gains in the list, regardless of their ranks.",
        value_range=(0, float("inf")),
        ties="exact",
        references=(JARVELIN,),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example("CG@3", (3, None, 2, 0), "3 + 2", 5.0, not_retrieved=(1,)),
    ),
    Row(
        name="Q",
        parameters=(K, REL, GAIN, BLEND, JUDGED_ONLY),
        formula=r"\mathrm{Q@}k = \frac{1}{R} \sum_{r=1}^{k} b_r "
        r"\frac{\sum_{i=1}^{r} b_i\, (1 + \beta\, G(g_i))}"
        r"{r + \beta \sum_{i=1}^{r} G(g^{*}_i)}",
        definition="Q-measure: average precision in which the precision at each relevant document "
        "is blended with cumulated gain, as a share of that of the ideal list.",
        undefined=NO_RELEVANT,
        references=(SAKAI,),
        aliases=("Q_measure", "QMeasure"),
        claims=frozenset({"perfect_is_one", "cutoff_local"}),
        example=Example(
            "Q", (1, None, 2), "((1 + 1)/(1 + 3) + (2 + 3)/(3 + 6)) / 3", 0.3519, not_retrieved=(3,)
        ),
    ),
)


def _loss(part: str, numerator: str, definition: str, computation: str, value: float) -> Row:
    """Return a part of what nDCG loses; the parts add up to 1 − nDCG."""
    return Row(
        name=f"{part}Loss",
        kernel=f"{part.lower()}_loss",
        parameters=(K, GAIN, DISCOUNT, BASE, S, IDEAL, JUDGED_ONLY),
        formula=rf"\mathrm{{{part}Loss@}}k = \frac{{{numerator}}}{{\mathrm{{IDCG@}}k}}",
        definition=definition,
        undefined="Undefined if no judged document has a gain above 0, like nDCG.",
        better="lower",
        ties="exact",
        references=(JARVELIN,),
        example=Example(f"{part}Loss@2", (0, 1, 2), computation, value, not_retrieved=(3,)),
    )


LOSS_ROWS = (
    _loss(
        "Retrieval",
        r"\mathrm{IDCG@}k - \mathrm{IDCG@}k(\mathrm{retrieved})",
        "What nDCG loses because relevant documents were not retrieved: the ideal of the retrieved "
        "documents, compared with that of all judged ones.",
        "((3/log2(2) + 2/log2(3)) - (2/log2(2) + 1/log2(3))) / (3/log2(2) + 2/log2(3))",
        0.3827,
    ),
    _loss(
        "Truncation",
        r"\mathrm{IDCG@}k(\mathrm{retrieved}) - \mathrm{IDCG@}k(\mathrm{shown})",
        "What nDCG loses because relevant documents rank below the cutoff: the ideal of the "
        "documents above it, compared with that of all retrieved ones.",
        "((2/log2(2) + 1/log2(3)) - 1/log2(2)) / (3/log2(2) + 2/log2(3))",
        0.3827,
    ),
    _loss(
        "Ordering",
        r"\mathrm{IDCG@}k(\mathrm{shown}) - \mathrm{DCG@}k",
        "What nDCG loses because of the order of the documents above the cutoff, compared with the "
        "best order of the same documents.",
        "(1/log2(2) - 1/log2(3)) / (3/log2(2) + 2/log2(3))",
        0.0866,
    ),
)

TREC_EVAL_9 = "Buckley, trec_eval 9.0, 2008, measures G and binG"

EXPERIMENTAL_ROWS = (
    Row(
        name="BinG",
        kernel="bin_g",
        parameters=(REL, JUDGED_ONLY),
        formula=r"\mathrm{BinG} = \frac{1}{R} \sum_{r\, :\, b_r = 1} "
        r"\frac{1}{\log_2 (2 + r - \sum_{i=1}^{r} b_i)}",
        definition="The mean over the relevant documents of a discount that depends on how many "
        "documents above are not relevant, which is 0 for those that are not in the list.",
        undefined=NO_RELEVANT,
        references=(TREC_EVAL_9,),
        trec_eval=(Name("binG"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example(
            "BinG",
            (1, 0, 2, None, 1),
            "(1/log2(2) + 1/log2(3) + 1/log2(4)) / 4",
            0.5327,
            not_retrieved=(1,),
        ),
    ),
    Row(
        name="G",
        parameters=(GAIN, JUDGED_ONLY),
        formula=r"\mathrm{G} = \frac{1}{\sum_r G(g^{*}_r)} \sum_r \frac{G(g_r)}"
        r"{\log_2 \left( 2 + \sum_{i=1}^{r} \max(1, G(g^{*}_i)) - \sum_{i=1}^{r} G(g_i) \right)}",
        definition="The sum of the gains in the list, each discounted by how far the list is "
        "behind the ideal one at its rank, divided by the sum of all gains.",
        undefined=NO_GAIN,
        references=(TREC_EVAL_9,),
        trec_eval=(Name("G"),),
        example=Example(
            "G", (1, 0, 2), "(1/log2(2 + 2 - 1) + 2/log2(2 + (2 + 1 + 1) - (1 + 2))) / 3", 0.6309
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
            "nDCGRel", (1, 0, 2), "(1/2 + (1 + 2/log2(4)) / (2 + 1/log2(3))) / 2", 0.6301
        ),
    ),
    Row(
        name="RnDCG",
        parameters=(GAIN, JUDGED_ONLY),
        formula=r"\mathrm{RnDCG} = \frac{1}{|C|} \sum_{k \in C} \mathrm{nDCG@}k",
        definition="The mean nDCG at the ranks at which the gain of the ideal list falls, and at "
        "the end of the list if it is at least two documents longer than the ideal one.",
        undefined=NO_GAIN,
        references=("Buckley, trec_eval 9.0, 2008, measure Rndcg", JARVELIN),
        trec_eval=(Name("Rndcg", note="It is 0 if no judged document reaches the level of -l."),),
        example=Example(
            "RnDCG",
            (1, 0, 2, None),
            "(1/2 + 1 / (2 + 1/log2(3)) + (1 + 2/log2(4)) / (2 + 1/log2(3))) / 3",
            0.5468,
        ),
    ),
)

BUCKLEY = (
    "Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004; "
    "the denominator min(R, N) is that of trec_eval"
)
YILMAZ_ASLAM = (
    "Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments, "
    "CIKM 2006; grades below 0 mean pooled and not judged, as in trec_eval"
)

JUDGED_ROWS = (
    Row(
        name="Bpref",
        parameters=(REL,),
        formula=r"\mathrm{Bpref} = \frac{1}{R} \sum_{r\, :\, b_r = 1} "
        r"\left( 1 - \frac{\min(n_r, R)}{\min(N, R)} \right)",
        definition="How rarely documents judged not relevant rank above relevant ones; unjudged "
        "documents are ignored.",
        undefined=NO_RELEVANT,
        references=(BUCKLEY,),
        aliases=("BPref",),
        trec_eval=(Name("bpref"),),
        ir_measures=(Name("Bpref", takes=("rel",)),),
        ranx=(Name("bpref", note="It is NaN if no document is judged not relevant."),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example(
            "Bpref", (1, 0, None, 1, 0), "(1 + (1 - 1/2)) / 3", 0.5, not_retrieved=(1,)
        ),
    ),
    Row(
        name="GMBpref",
        kernel="bpref",
        parameters=(REL,),
        formula=r"\mathrm{GMBpref} = \exp \left( \frac{1}{n} \sum_{q=1}^{n} "
        r"\log \max(\mathrm{Bpref}_q, 10^{-5}) \right)",
        definition="The geometric mean of Bpref over queries, where values below 0.00001 count as "
        "0.00001.",
        undefined=NO_RELEVANT,
        mean="geometric",
        references=(BUCKLEY,),
        trec_eval=(Name("gm_bpref"),),
        claims=frozenset({"swap_monotone", "perfect_is_one", "binary"}),
        example=Example(
            "GMBpref", (1, 0, None, 1, 0), "exp(log((1 + (1 - 1/2)) / 3))", 0.5, not_retrieved=(1,)
        ),
    ),
    Row(
        name="infAP",
        parameters=(REL,),
        formula=r"\mathrm{infAP} = \frac{1}{R} \sum_{r\, :\, b_r = 1} \left( \frac{1}{r} + "
        r"\frac{r - 1}{r} \cdot \frac{p_r}{r - 1} \cdot "
        r"\frac{m_r + \epsilon}{m_r + n_r + 2 \epsilon} \right)",
        definition="Average precision, with the precision at each relevant document estimated from "
        "the judged documents above it.",
        undefined=NO_RELEVANT,
        references=(YILMAZ_ASLAM,),
        trec_eval=(Name("infAP"),),
        ir_measures=(Name("infAP", takes=("rel",)),),
        claims=frozenset({"binary"}),
        example=Example(
            "infAP",
            (1, None, 0, 1),
            "(1 + (1/4 + (3/4) * (2/3) * ((1 + 0.00001) / (1 + 1 + 2 * 0.00001)))) / 2",
            0.75,
        ),
    ),
    Row(
        name="Judged",
        parameters=(K,),
        formula=r"\mathrm{Judged@}k = \frac{|\{ r \le k : g_r \ \mathrm{is\ known} \}|}"
        r"{\min(k, |\mathrm{retrieved}|)}",
        definition="The share of the first k retrieved documents that are judged, or 0 for an "
        "empty list.",
        better="neither",
        ties="exact",
        references=("ir_measures, measure Judged",),
        ir_measures=(Name("Judged", takes=("k",)),),
        claims=frozenset({"cutoff_local"}),
        example=Example("Judged@4", (1, None, 0), "2/3", 0.6667),
    ),
    Row(
        name="Unjudged",
        parameters=(REQUIRED_K, OF_RANKS),
        formula=r"\mathrm{Unjudged@}k = \frac{1}{k} |\{ r \le k : g_r \ \mathrm{is\ unknown} \}|",
        definition="The share of the first k ranks that have a document without a judgment; ranks "
        "below the end of a shorter list count as judged.",
        better="neither",
        ties="exact",
        references=("trec_eval 10.0, measure unj; grades below 0 mean pooled and not judged",),
        trec_eval=(Name("unj_{k}"),),
        claims=frozenset({"cutoff_local"}),
        example=Example("Unjudged@4", (1, None, 0), "1/4", 0.25),
    ),
)

YILMAZ = (
    "Yilmaz, Kanoulas and Aslam, A simple and efficient sampling method for estimating AP and "
    "NDCG, SIGIR 2008"
)
SAMPLE_EVAL = "sample_eval.pl of NIST, as of October 2011, which cuts runs at 1000 documents"
STRATA = (
    "It needs the stratum of each document of the pool, of which a share was judged at random; a "
    "negative grade means not judged. "
)
BIAS = (
    "On pools of which the top is judged in full and the rest thinly, the mean over queries is too "
    "high, because values are divided by an estimate from the same sample. Compare it only with "
    "values of other runs on the same judgments."
)


def _sampled(measure: str, formula: str, value: float) -> Example:
    """Return the example of a stratum A, all of which is judged, and of B, of which 2 of 5 are."""
    return Example(
        measure,
        (1, -1, 2, None, 0),
        formula,
        value,
        not_retrieved=(-1, -1, 0),
        strata=("A", "B", "B", None, "A", "B", "B", "B"),
    )


SAMPLED_ROWS = (
    Row(
        name="infNDCG",
        parameters=(K,),
        formula=r"\mathrm{infNDCG} = \frac{1}{\mathrm{IDCG}} \sum_{s} \frac{n_s}{m_s} "
        r"\sum_{d \in s} \frac{g_d}{\log_2(r_d + 1)}",
        definition=f"nDCG inferred from a sample of judgments. {STRATA}Of the n documents of a "
        "stratum in the list, m are judged, so each judged one stands for n / m. The ideal list "
        "has as many documents of each grade as there are estimated to be, rounded to a whole "
        f"number. Values can be above 1, because they are estimates. {BIAS}",
        undefined=NO_GRADE,
        value_range=(0, float("inf")),
        references=(YILMAZ, SAMPLE_EVAL),
        strata=True,
        example=_sampled(
            "infNDCG",
            "(2/2 * (1/log2(2)) + 2/1 * (2/log2(4))) / "
            "(2/log2(2) + 2/log2(3) + 2/log2(4) + 1/log2(5))",
            0.6393,
        ),
    ),
    Row(
        name="xinfAP",
        parameters=(K, REL),
        formula=r"\mathrm{xinfAP} = \sum_{s} \frac{R_s}{R} \, \frac{1}{m_s} "
        r"\sum_{d \in s} \mathrm{P}(r_d)",
        definition=f"AP inferred from a sample of judgments. {STRATA}R is the estimated number of "
        "relevant documents, and R_s that of a stratum, of which m are judged and relevant. The "
        "precision at such a document is estimated from the documents above it, stratum by "
        f"stratum. {BIAS}",
        undefined=NO_RELEVANT,
        value_range=(0, float("inf")),
        references=(YILMAZ, SAMPLE_EVAL + ", where it is called infAP"),
        strata=True,
        example=_sampled(
            "xinfAP",
            "(1 * (1/1) + 5/2 * (1/3 + 2/3 * (1/2 * ((1 + 0.00001) / (1 + 0.00003)) + "
            "1/2 * (0.00001 / 0.00003)))) / (1 + 5/2)",
            0.8413,
        ),
    ),
)

P = Parameter(
    "p",
    domains.PERSISTENCE,
    0.95,
    "How much the top of the list counts: each rank has p times the weight of the one before it.",
)
NORMALIZE = Parameter(
    "normalize",
    domains.FLAG,
    True,
    "Whether to divide by the value of the best order, so that it has the value 1.",
)
CLARKE = (
    "Clarke, Vtyurina and Smucker, Assessing top-k preferences, ACM Transactions on Information "
    "Systems 39(3), 2021"
)

AGREEMENT_ROWS = (
    Row(
        name="Accuracy",
        parameters=(K, REL),
        formula=r"\mathrm{Accuracy@}k = 1 - \frac{1}{m\, n} \sum_{r \le k\, :\, b_r = 1} "
        r"|\{ i < r : b_i = 0 \}|, \quad m = \sum_{r=1}^{k} b_r, \quad "
        r"n = \min(k, |\mathrm{retrieved}|) - m",
        definition="The share of the pairs of a relevant and a non-relevant document among the "
        "first k in which the relevant document is ranked higher, or 1 if there is no non-relevant "
        "document.",
        undefined="Undefined if no relevant document is among the first k.",
        references=("ir_measures, measure Accuracy",),
        ir_measures=(
            Name(
                "Accuracy",
                takes=("k", "rel"),
                note="Computed alone, it leaves out queries for which it is undefined. It fails if "
                "all documents are relevant.",
            ),
        ),
        claims=frozenset({"cutoff_local", "binary"}),
        example=Example(
            "Accuracy", (0, 1, None, 2), "1 - (1 + 2) / (2*2)", 0.25, not_retrieved=(1,)
        ),
    ),
    Row(
        name="Compat",
        parameters=(P, NORMALIZE),
        formula=r"\mathrm{Compat} = \frac{\mathrm{RBO}(\mathrm{list}, \mathrm{ideal})}"
        r"{\mathrm{RBO}(\mathrm{ideal}, \mathrm{ideal})}, \quad "
        r"\mathrm{RBO}(A, B) = \frac{\sum_{i=1}^{d} p^{i-1}\, |A_{1..i} \cap B_{1..i}| / i}"
        r"{\sum_{i=1}^{d} p^{i-1}}",
        definition="The rank-biased overlap of the list with the ideal order of the relevant "
        "documents, of those by grade the one most like the list, as a share of the highest that "
        "is possible. The depth d is the length of the longer one.",
        undefined=NO_GRADE,
        references=(CLARKE,),
        aliases=("Compatibility",),
        ir_measures=(Name("Compat", takes=("p", "normalize")),),
        claims=frozenset({"swap_monotone"}),
        example=Example(
            "Compat(p=0.5)",
            (1, 2),
            "((1 + 0.5/2 - 1) + (1 + 0.5/2 - 1)) / ((1 + 0.5/2) + (1 + 0.5/2 - 1))",
            0.3333,
        ),
    ),
)

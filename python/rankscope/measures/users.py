"""Models of how users read: cascades, the C/W/L framework, and the exposure that documents get."""

from __future__ import annotations

from rankscope.measures import domains
from rankscope.measures.spec import (
    DEPTH,
    JUDGED_ONLY,
    READ_K,
    REL,
    Example,
    K,
    Name,
    Parameter,
    Row,
)

PERSISTENCE = Parameter(
    "p", domains.PROBABILITY, 0.8, "The probability that a user continues to the next rank."
)
GRADED = Parameter(
    "graded",
    domains.FLAG,
    False,
    "Whether gains are grades divided by max_grade, instead of binary relevance.",
)
REL_OF_BINARY = Parameter(
    "rel",
    domains.LEVEL,
    1.0,
    "The lowest grade that counts as relevant.",
    only_with=("graded", (False,)),
)
MAX_GRADE = Parameter(
    "max_grade",
    domains.TOP_GRADE,
    4.0,
    "The highest grade of the scale; a higher grade is an error.",
)
MAX_GRADE_WHERE_GRADED = Parameter(
    "max_grade",
    domains.SCALE,
    4.0,
    "The highest grade of the scale, of which a higher grade is an error; `query` takes the "
    "highest grade of each query, or 1 if that is lower. With None, grades are gains without a "
    "scale.",
    only_with=("graded", (True,)),
)
CHAPELLE = (
    "Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded relevance, "
    "CIKM 2009"
)
MOFFAT = (
    "Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, "
    "ACM Transactions on Information Systems 27(1), 2008"
)

CASCADE_ROWS = (
    Row(
        name="ERR",
        parameters=(K, MAX_GRADE, JUDGED_ONLY),
        formula=r"\mathrm{ERR@}k = \sum_{r=1}^{k} \frac{s_r}{r} \prod_{i=1}^{r-1} (1 - s_i), "
        r"\quad s_r = \frac{2^{g_r} - 1}{2^{g_{\max}}}",
        definition="The expected reciprocal rank at which a user stops, if each document satisfies "
        "the user with a probability that depends on its grade.",
        undefined="Undefined if no judged document has a grade above 0.",
        references=(CHAPELLE,),
        ir_measures=(Name("ERR", takes=("k",)),),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "ERR@3",
            (2, 0, 3, 4),
            "(2**2 - 1)/2**4 / 1 + (1 - (2**2 - 1)/2**4) * (2**3 - 1)/2**4 / 3",
            0.306,
        ),
    ),
    Row(
        name="RBP",
        parameters=(K, PERSISTENCE, REL_OF_BINARY, GRADED, MAX_GRADE_WHERE_GRADED, JUDGED_ONLY),
        formula=r"\mathrm{RBP@}k = (1 - p) \sum_{r=1}^{k} b_r\, p^{r-1}",
        definition="The expected rate at which a user finds relevant documents, if the user "
        "continues from each rank to the next with probability p.",
        undefined="Undefined if no judged document is relevant, or with graded=True, if none has "
        "a grade above 0.",
        ties="exact",
        references=(MOFFAT,),
        trec_eval=(
            Name(
                "rbp",
                {"p": 0.9, "graded": True, "max_grade": "query"},
                note="It means to scale grades like this, but reads variables that are never set.",
            ),
        ),
        ir_measures=(
            Name(
                "RBP",
                takes=("k", "p", "rel"),
                note="Without rel it requests graded gains, which none of its providers has.",
            ),
        ),
        ranx=(Name("rbp{p}", {"graded": True, "max_grade": None}),),
        claims=frozenset({"swap_monotone", "cutoff_local", "binary"}),
        example=Example("RBP(p=0.5)", (1, None, 1, 0), "(1 - 0.5) * (1 + 0.5**2)", 0.625),
    ),
    Row(
        name="RBPResidual",
        kernel="rbp_residual",
        parameters=(K, PERSISTENCE),
        formula=r"p^{n} + (1 - p) \sum_{r \le n\, :\, g_r \ \mathrm{unknown}} p^{r-1}, "
        r"\quad n = \min(k, |\mathrm{retrieved}|)",
        definition="How much RBP would increase if every unjudged document, and every rank below "
        "the end of the list or the cutoff, were relevant.",
        better="lower",
        ties="exact",
        references=(MOFFAT,),
        trec_eval=(
            Name("rbp_resid", {"p": 0.9}, note="It is 0 if every retrieved document is judged."),
        ),
        claims=frozenset({"cutoff_local"}),
        example=Example(
            "RBPResidual(p=0.5)", (1, None, 0, None), "0.5**4 + (1 - 0.5) * (0.5 + 0.5**3)", 0.375
        ),
    ),
)

T = Parameter("T", domains.POSITIVE, 1.0, "The gain that a user wants to find.")
CONTINUES = Parameter(
    "p", domains.PROBABILITY, 0.9, "The probability that a user continues to the next rank."
)
MIN_REL = Parameter(
    "min_rel", domains.LEVEL, 0.0, "The grade whose gain is 0; lower grades count as this one."
)
MAX_REL = Parameter(
    "max_rel",
    domains.POSITIVE,
    None,
    "The grade whose gain is 1; higher grades count as this one.",
    required=True,
    above="min_rel",
)
VALUE = Parameter(
    "value",
    domains.one_of("utility", "total_utility", "cost", "total_cost", "items"),
    "utility",
    "What to report: the gain or the cost of each document read, the gain or the cost of all "
    "documents read until the user stops, or the number of documents read. As in cwl_eval, a user "
    "who would read on after the last rank, as those of RBP_CWL, INST, INSQ and IFT may, counts as "
    "0 in a total.",
)
RESIDUAL = Parameter(
    "residual",
    domains.FLAG,
    False,
    "Whether to report how much the value would increase if all unjudged documents, and all ranks "
    "below the list, had the highest gain.",
)
COST = Parameter(
    "cost", domains.POSITIVE, 1.0, "What reading a document costs, in seconds or characters."
)
STOPS_BY = Parameter(
    "stops_by",
    domains.one_of("both", "goal", "rate"),
    "both",
    "What the user goes by: the gain found so far, the gain by cost, or both.",
)
SCALE = (MIN_REL, MAX_REL, VALUE, RESIDUAL)
NO_GAIN = (
    "Undefined if no judged document has a grade above min_rel, except for costs, items and "
    "residuals."
)
CWL = (
    "Moffat, Bailey, Scholer and Thomas, Incorporating user expectations and behavior into the "
    "measurement of search effectiveness, ACM Transactions on Information Systems 35(3), 2017"
)
ZHANG = (
    "Zhang, Liu, Li, Zhang, Xu and Ma, Evaluating web search with a bejeweled player model, "
    "SIGIR 2017"
)
ADAPTIVE = (
    "Moffat, Bailey, Scholer and Thomas, INST: an adaptive metric for information retrieval "
    "evaluation, ADCS 2015"
)
PROCESS = (
    "Moffat, Scholer and Thomas, Models and metrics: IR evaluation as a user process, ADCS 2012"
)
SMUCKER = "Smucker and Clarke, Time-based calibration of effectiveness measures, SIGIR 2012"
SAKAI = (
    "Sakai and Dou, Summaries, ranked retrieval and sessions: a unified framework for "
    "information access evaluation, SIGIR 2013"
)
FORAGING = (
    "Azzopardi, Thomas and Craswell, Measuring the utility of search engine result pages: an "
    "information foraging based measure, SIGIR 2018"
)
NERR = (
    "Azzopardi, Mackenzie and Moffat, ERR is not C/W/L: exploring the relationship between "
    "expected reciprocal rank and other metrics, ICTIR 2021"
)
WEIGHTED = r"\frac{\sum_{r=1}^{k} V_r\, g_r}{\sum_{r=1}^{k} V_r}, \quad V_r"
UTILITY = WEIGHTED + r" = \prod_{i=1}^{r-1} C_i"
TAKES = ("min_rel", "max_rel")


def _nerr(
    *, name: str, parameter: Parameter, continues: str, definition: str, example: Example
) -> Row:
    """Return the measure of an equation of the paper on ERR, which its name ends with."""
    is_cut = parameter is READ_K
    symbol = rf"\mathrm{{{name}@}}k" if is_cut else rf"\mathrm{{{name}}}"
    return Row(
        name=name,
        parameters=(*((READ_K,) if is_cut else (DEPTH, parameter)), *SCALE),
        formula=rf"{symbol} = {UTILITY}, \quad C_i = {continues}",
        definition=definition,
        undefined=NO_GAIN,
        references=(f"{NERR}, equation {name.removeprefix('NERR')}",),
        ir_measures=(Name(name, takes=(parameter.name, *TAKES)),),
        claims=frozenset({"cutoff_local"}),
        example=example,
    )


CWL_ROWS = (
    Row(
        name="SDCG",
        parameters=(READ_K, *SCALE),
        formula=r"\mathrm{SDCG@}k = \frac{\sum_{r=1}^{k} g_r / \log_2(r + 1)}"
        r"{\sum_{r=1}^{k} 1 / \log_2(r + 1)}",
        definition="The discounted gain of the list, as a share of that of k documents of the "
        "highest grade, whether or not there are so many.",
        undefined=NO_GAIN,
        ties="exact",
        references=(CWL,),
        ir_measures=(Name("SDCG", takes=("k", *TAKES), fixed={"dcg": "log2"}),),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "SDCG(max_rel=2)@3",
            (1, None, 2, 2),
            "((1/2)*(1/log2(2)) + (2/2)*(1/log2(4))) / (1/log2(2) + 1/log2(3) + 1/log2(4))",
            0.4693,
            not_retrieved=(1,),
        ),
    ),
    Row(
        name="BPM",
        parameters=(READ_K, T, *SCALE),
        formula=r"\mathrm{BPM@}k = \frac{1}{s} \sum_{r=1}^{s} g_r, \quad "
        r"s = \min \left( \left\{ r : \sum_{i=1}^{r} g_i \ge T \right\} \cup \{ k \} \right)",
        definition="The mean gain of the documents that a user reads, who stops when the gain T is "
        "found, or at rank k.",
        undefined=NO_GAIN,
        references=(ZHANG,),
        ir_measures=(Name("BPM", takes=("k", "T", *TAKES)),),
        claims=frozenset({"cutoff_local"}),
        example=Example("BPM(max_rel=2)@5", (1, None, 1, 2), "(1/2 + 1/2) / 3", 0.3333),
    ),
    Row(
        name="INST",
        parameters=(DEPTH, T, *SCALE),
        formula=r"\mathrm{INST} = " + UTILITY + r", \quad "
        r"C_i = \left( \frac{i + 2T - G_i - 1}{i + 2T - G_i} \right)^2, \quad "
        r"G_i = \sum_{j=1}^{i} g_j",
        definition="The gain per document that a user reads, who wants the gain T, and continues "
        "more likely the less of it has been found.",
        undefined=NO_GAIN,
        references=(ADAPTIVE,),
        ir_measures=(Name("INST", takes=("T", *TAKES)),),
        claims=frozenset({"cutoff_local"}),
        example=Example("INST(max_rel=1)@2", (1, 0), "1 / (1 + (1/2)**2)", 0.8),
    ),
    Row(
        name="INSQ",
        parameters=(DEPTH, T, *SCALE),
        formula=r"\mathrm{INSQ} = " + UTILITY + r", \quad "
        r"C_i = \left( \frac{i + 2T - 1}{i + 2T} \right)^2",
        definition="The gain per document that a user reads, who wants the gain T, and continues "
        "more likely at each rank.",
        undefined=NO_GAIN,
        ties="exact",
        references=(PROCESS,),
        ir_measures=(Name("INSQ", takes=("T", *TAKES)),),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "INSQ(max_rel=1)@3", (1, 0, 1), "(1 + (2/4)**2) / (1 + (2/3)**2 + (2/4)**2)", 0.7377
        ),
    ),
    _nerr(
        name="NERR8",
        parameter=READ_K,
        continues="1 - g_i",
        definition="The gain per document that a user reads, who stops at each document with the "
        "probability of its gain, and at rank k.",
        example=Example("NERR8(max_rel=2)@3", (1, 0, 2), "(1/2 + (1/2)*1) / (1 + 1/2 + 1/2)", 0.5),
    ),
    _nerr(
        name="NERR9",
        parameter=READ_K,
        continues=r"\frac{i}{i + 1} (1 - g_i)",
        definition="Like NERR8, for a user who in addition continues from rank i with the "
        "probability i/(i + 1).",
        example=Example(
            "NERR9(max_rel=2)@2", (1, 2), "(1/2 + (1/2)*(1/2)*1) / (1 + (1/2)*(1/2))", 0.6
        ),
    ),
    _nerr(
        name="NERR10",
        parameter=CONTINUES,
        continues=r"p\, (1 - g_i)",
        definition="Like NERR8, for a user who in addition continues from each rank with "
        "probability p.",
        example=Example(
            "NERR10(p=0.5, max_rel=2)@2", (1, 2), "(1/2 + (1/2)*(1/2)*1) / (1 + (1/2)*(1/2))", 0.6
        ),
    ),
    _nerr(
        name="NERR11",
        parameter=T,
        continues=r"\left( \frac{i + 2T - 1}{i + 2T} \right)^2 (1 - g_i)",
        definition="Like NERR8, for a user who in addition continues from each rank like that of "
        "INSQ.",
        example=Example(
            "NERR11(max_rel=2)@2", (1, 2), "(1/2 + (1/2)*(2/3)**2*1) / (1 + (1/2)*(2/3)**2)", 0.5909
        ),
    ),
    Row(
        name="P_CWL",
        kernel="cwl_p",
        parameters=(READ_K, *SCALE),
        formula=r"\mathrm{P_{CWL}@}k = \frac{1}{k} \sum_{r=1}^{k} g_r",
        definition="Precision as a user model: the mean gain of the documents that a user reads, "
        "who stops at rank k.",
        undefined=NO_GAIN,
        ties="exact",
        references=(CWL,),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "P_CWL(max_rel=2)@4", (1, None, 2, 0), "(1/2 + 2/2) / 4", 0.375, not_retrieved=(1,)
        ),
    ),
    Row(
        name="RR_CWL",
        kernel="cwl_rr",
        parameters=(DEPTH, *SCALE),
        formula=r"\mathrm{RR_{CWL}} = "
        + UTILITY
        + r", \quad C_i = 1 \text{ if } g_i = 0, \text{ else } 0",
        definition="Reciprocal rank as a user model: the gain per document of a user who stops at "
        "the first document with a gain.",
        undefined=NO_GAIN,
        references=(CWL,),
        claims=frozenset({"cutoff_local"}),
        example=Example("RR_CWL(max_rel=2)", (0, None, 1, 2), "(1/2) / 3", 0.1667),
    ),
    Row(
        name="AP_CWL",
        kernel="cwl_ap",
        parameters=(DEPTH, *SCALE),
        formula=r"\mathrm{AP_{CWL}} = " + UTILITY + r", \quad "
        r"C_i = \frac{\sum_{j=i+1}^{k} g_j / j}{\sum_{j=i}^{k} g_j / j}",
        definition="Average precision as a user model: the gain per document of a user who knows "
        "what is still to come, and stops after the last document with a gain. With gains of 0 and "
        "1, it is AP(denominator='found').",
        undefined=NO_GAIN,
        references=(CWL,),
        claims=frozenset({"cutoff_local"}),
        example=Example(
            "AP_CWL(max_rel=1)", (0, 1, 0, 1), "(1/2 + 2/4) / 2", 0.5, not_retrieved=(1,)
        ),
    ),
    Row(
        name="RBP_CWL",
        kernel="cwl_rbp",
        parameters=(DEPTH, CONTINUES, *SCALE),
        formula=r"\mathrm{RBP_{CWL}} = \frac{\sum_{r=1}^{k} p^{r-1} g_r}{\sum_{r=1}^{k} p^{r-1}}",
        definition="Rank-biased precision as a user model: the gain per document of a user who "
        "continues from each rank with probability p. Net present value at the rate r has "
        "p = 1/(1 + r).",
        undefined=NO_GAIN,
        ties="exact",
        references=(CWL,),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example("RBP_CWL(p=0.5, max_rel=2)@2", (1, 2), "(1/2 + 0.5*1) / (1 + 0.5)", 0.6667),
    ),
    Row(
        name="TBG",
        parameters=(
            DEPTH,
            Parameter(
                "halflife", domains.POSITIVE, 224.0, "The cost after which half the users left."
            ),
            COST,
            *SCALE,
        ),
        formula=r"\mathrm{TBG} = " + WEIGHTED + r" = 2^{-c\,(r-1)/h}",
        definition="Time-biased gain: the gain per document of a user who continues less likely "
        "the longer reading has taken, for documents that all cost the same.",
        undefined=NO_GAIN,
        ties="exact",
        references=(SMUCKER,),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "TBG(halflife=1, max_rel=2)@3", (2, 0, 1), "(1 + (1/4)*(1/2)) / (1 + 1/2 + 1/4)", 0.6429
        ),
    ),
    Row(
        name="U",
        parameters=(
            DEPTH,
            Parameter("L", domains.POSITIVE, 1000.0, "The cost after which no user is left."),
            COST,
            *SCALE,
        ),
        formula=r"\mathrm{U} = " + WEIGHTED + r" = \max \left( 0, 1 - \frac{c\,(r-1)}{L} \right)",
        definition="U-measure: the gain per document of a user whose attention decreases with the "
        "text that was read, for documents of the same length.",
        undefined=NO_GAIN,
        ties="exact",
        references=(SAKAI,),
        claims=frozenset({"swap_monotone", "cutoff_local"}),
        example=Example(
            "U(L=4, max_rel=2)", (2, 0, 1), "(1 + (2/4)*(1/2)) / (1 + 3/4 + 2/4 + 1/4)", 0.5
        ),
    ),
    Row(
        name="IFT",
        parameters=(
            DEPTH,
            STOPS_BY,
            Parameter("T", domains.POSITIVE, 2.0, "The gain that a user wants to find."),
            Parameter("b1", domains.POSITIVE, 0.9, "The odds of continuing once it is found."),
            Parameter("R1", domains.LEVEL, 10.0, "How much the distance to it matters."),
            Parameter("A", domains.LEVEL, 0.2, "The gain by cost that a user wants."),
            Parameter("b2", domains.POSITIVE, 0.9, "The odds of stopping at it."),
            Parameter("R2", domains.LEVEL, 10.0, "How much the distance to it matters."),
            COST,
            *SCALE,
        ),
        formula=r"\mathrm{IFT} = " + UTILITY + r", \quad "
        r"C_i = \left( 1 - \frac{1}{1 + b_1 e^{R_1 (T - G_i)}} \right) "
        r"\frac{1}{1 + b_2 e^{R_2 (A - G_i / (c\,i))}}, \quad G_i = \sum_{j=1}^{i} g_j",
        definition="The gain per document of a user who stops more likely when the gain T is "
        "found, and when the gain by cost falls below A.",
        undefined=NO_GAIN,
        references=(FORAGING,),
        claims=frozenset({"cutoff_local"}),
        example=Example(
            "IFT(stops_by='goal', T=1.0, b1=1, R1=0, max_rel=1)@2",
            (1, 1),
            "(1 + (1/2)*1) / (1 + 1/2)",
            1.0,
        ),
    ),
)

MODEL = Parameter(
    "model",
    domains.one_of("rbp", "gerr", "dcg"),
    "rbp",
    "How much attention ranks get: as in RBP; less after each relevant document, which may satisfy "
    "the user; or as the discount of DCG.",
)
READS_ON = Parameter(
    "p",
    domains.PERSISTENCE,
    0.5,
    "The probability of reading on after a document.",
    only_with=("model", ("rbp", "gerr")),
)
SATISFIES = Parameter(
    "u",
    domains.PROBABILITY,
    0.5,
    "The probability that a relevant document satisfies the user.",
    only_with=("model", ("gerr",)),
)
COMPLETE = Parameter(
    "complete",
    domains.FLAG,
    False,
    "Whether the judged documents are all that can be ranked, as in reranking. Those that aren't "
    "relevant then share the attention that is left.",
)
EXPOSURE_PARAMETERS = (K, MODEL, READS_ON, SATISFIES, REL, COMPLETE)
DIAZ = (
    "Diaz, Mitra, Ekstrand, Biega and Carterette, Evaluating stochastic rankings with expected "
    "exposure, CIKM 2020"
)
EXPEVAL = (
    "expeval, of the TREC 2019 and 2020 Fair Ranking Tracks, with -U; its default is "
    "model='gerr', and it also scales values by bounds"
)
TWICE = "rank-fairness-metrics of Raj and Ekstrand, SIGIR 2022, whose EER is twice this value"
EXPOSURE = (
    "The exposure of a document is the attention that its rank gets, or the mean of that over the "
    "rankings that a stochastic ranker shows. "
)
TARGET = (
    "The target is what documents get on average over all best orders, so that documents of one "
    "grade have the same."
)
NO_DOCUMENT = "Undefined if there are no relevant documents."


def _expose(measure: str, formula: str, value: float) -> Example:
    return Example(measure, (0, 1), formula, value, not_retrieved=(1,))


EXPECTED_EXPOSURE_ROWS = (
    Row(
        name="EEL",
        parameters=EXPOSURE_PARAMETERS,
        formula=r"\mathrm{EEL} = \sum_{d} (e_d - t_d)^2 = \mathrm{EED} - 2\,\mathrm{EER} + "
        r"\sum_{d} t_d^2",
        definition="Expected exposure loss: the squared distance between the exposure e of "
        f"documents and a target t. {EXPOSURE}{TARGET}",
        undefined=NO_DOCUMENT,
        value_range=(0, float("inf")),
        better="lower",
        references=(DIAZ, EXPEVAL),
        aliases=("ExpectedExposureLoss",),
        claims=frozenset({"cutoff_local"}),
        example=_expose(
            "EEL", "(1 - 0)**2 + (0.5 - (1 + 0.5) / 2)**2 + (0 - (1 + 0.5) / 2)**2", 1.625
        ),
    ),
    Row(
        name="EED",
        parameters=EXPOSURE_PARAMETERS,
        formula=r"\mathrm{EED} = \sum_{d} e_d^2",
        definition="Expected exposure disparity: how unequal the exposure of documents is. "
        f"{EXPOSURE}It is lower the more different documents a ranker shows at the top.",
        undefined=NO_DOCUMENT,
        value_range=(0, float("inf")),
        better="lower",
        references=(DIAZ, EXPEVAL),
        aliases=("ExpectedExposureDisparity",),
        claims=frozenset({"cutoff_local"}),
        example=_expose("EED", "1**2 + 0.5**2", 1.25),
    ),
    Row(
        name="EER",
        parameters=EXPOSURE_PARAMETERS,
        formula=r"\mathrm{EER} = \sum_{d} e_d\, t_d",
        definition="Expected exposure relevance: how much of their exposure e relevant documents "
        f"have, weighted by a target t. {EXPOSURE}{TARGET}",
        undefined=NO_DOCUMENT,
        value_range=(0, float("inf")),
        references=(DIAZ, EXPEVAL, TWICE),
        aliases=("ExpectedExposureRelevance",),
        claims=frozenset({"cutoff_local"}),
        example=_expose("EER", "0.5 * ((1 + 0.5) / 2)", 0.375),
    ),
)

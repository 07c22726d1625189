"""The evaluation programs of TREC, and toolkits for retrieval evaluation."""

from __future__ import annotations

from dataclasses import replace

from rankscope._conventions.spec import (
    BINARY_GAINS,
    EXP2,
    LOG_CANCELS,
    Convention,
    Form,
    Limit,
    Option,
    quarters,
)
from rankscope._settings import Policy

TREC_POLICY = Policy.parse("ties=doc_id,empty=zero,missing=skip,negative=nonrelevant")
ALL_QUERIES = replace(TREC_POLICY, missing="zero")
LEVEL = ("k", "rel", "judged_only")
UNCUT = ("rel", "judged_only")
GAINS = ("gain", "judged_only")
RECALL = ("recall", "levels", *UNCUT)

BINARY = (
    Form("AP P R Rprec Success", takes=(*LEVEL, "multiple")),
    Form("SetP SetR SetF SetAP Bpref infAP NumRet", takes=UNCUT),
    Form("RR", takes=UNCUT, cut=False),
)
NDCG_CUT = Form("nDCG", takes=("k", "judged_only"), cut=True)
NDCG = Form("nDCG", takes=GAINS, cut=False)
IPREC = Form("IPrec", takes=RECALL)
COMMAND_ONLY = (
    Form("GMAP", takes=UNCUT, cut=False),
    Form("GMBpref NumRel NumQ YAAP BinG", takes=UNCUT),
    Form("G nDCGRel RnDCG", takes=GAINS),
    Form("SetP", {"relative": True}, takes=UNCUT),
    Form("Utility", takes=("hit", "false_alarm", "miss", "rejection", "documents", *UNCUT)),
    Form("NumNonrelRet", takes=UNCUT),
)
"""Measures that only the command of trec_eval has."""

INTEGERS = Limit("rejects grades that are not integers", integers=True)
TREC_NOTES = (
    "A grade below 0 means that a document was pooled but not judged. "
    "Its relevance level doesn't change nDCG."
)
ADDED = (
    f"{TREC_NOTES} Its means are sums that are rounded after each query, in the order of query "
    "IDs, as they are with this convention. Sums of rankscope are exact without it. So a mean of "
    "0.06225 is printed as 0.0622 or as 0.0623."
)

TREC_EVAL = Convention(
    address="trec_eval@9.0.8",
    tool="trec_eval",
    summary="Linear gains; the ideal has all judged documents; ties by larger ID; means over "
    "the judged queries that are in the run.",
    policy=TREC_POLICY,
    forms=(NDCG_CUT, NDCG, *BINARY, Form("IPrec InterpolatedAP", takes=RECALL), *COMMAND_ONLY),
    truncates=True,
    score_type="float32",
    adds_in_order=True,
    options=(Option("-c", "missing", ("zero",)),),
    notes=f"{ADDED} Scores are compared in single precision.",
    bugs={
        "fractional_gains": "In a table of gains, gains that differ by less than 1 are sorted as "
        "equal, so the ideal is wrong: the nDCG of a perfect list can be 0."
    },
    source="the sources of trec_eval 9.0.8, which pytrec-eval-terrier 0.5.11 compiles and runs",
)

TRECTOOLS = Convention(
    address="trectools@0.0.50",
    tool="trectools",
    summary="Linear gains; the ideal has all judged documents; ties by smaller ID in nDCG and "
    "by larger ID in the other measures.",
    policy=TREC_POLICY,
    forms=(Form("nDCG", policy="ties=doc_id_asc"), Form("AP P"), Form("RR", cut=False)),
    notes="Its mean divides by the number of queries in the run, so queries without judgments "
    "lower it. rankscope leaves them out. Its default cutoff is 1000.",
    bugs={
        "np_int": "With NumPy 1.24 and newer, precision raises an AttributeError.",
        "rprec": "Its R-precision differs from that of trec_eval, whatever the settings.",
    },
    source="trectools.TrecEval of trectools 0.0.50",
)

RANX = Convention(
    address="ranx@0.3.21",
    tool="ranx",
    summary="Linear gains; the ideal has all judged documents; a judged query that is not in "
    "the run is an error, or optionally counts as 0.",
    policy=Policy.parse("ties=input,empty=zero,missing=error,negative=nonrelevant"),
    forms=(
        Form("nDCG DCG"),
        Form("AP RR P R F Success", takes=("k", "rel")),
        Form("Rprec SetP SetR SetF", takes=("rel",)),
    ),
    truncates=True,
    options=(Option("make_comparable=True", "missing", ("zero",)),),
    notes="Its sort is stable up to 15 documents. In longer lists, the order of equal scores is "
    "undefined. Its relevance level also drops gains below it, which rankscope doesn't reproduce.",
    bugs={
        "bpref": "Bpref is NaN if no document is judged not relevant, and so is the mean.",
        "empty_list": "An empty list raises an error.",
    },
    source="ranx.evaluate of ranx 0.3.21: ndcg@k, map@k and others",
)

RANKKIT = Convention(
    address="rankkit@0.1.0",
    tool="rankkit",
    summary="Exponential gains; the ideal has all judged documents; queries without relevant "
    "documents are left out.",
    policy=Policy.parse("ties=input,empty=skip,missing=skip,negative=error"),
    forms=(Form("nDCG", EXP2, cut=True), Form("AP RR P R Success", cut=True)),
    limit=Limit("rejects negative grades", least=0),
    notes="Queries without relevant documents are left out. Its documentation says that trec_eval "
    "does the same, which is wrong.",
    source="rankkit.metrics of rankkit 0.1.0",
)

ROWS = (
    TREC_EVAL,
    replace(
        TREC_EVAL,
        address="trec_eval@10.0",
        verified="read from source",
        summary="Like version 9, but scores are compared in double precision, and a judged query "
        "that is not in the run stops the program.",
        policy=replace(TREC_POLICY, missing="error"),
        forms=(
            NDCG_CUT,
            NDCG,
            Form("DCG", takes=GAINS, cut=False),
            Form("IDCG", takes=("gain",), cut=False),
            *BINARY,
            Form("IPrec InterpolatedAP", {"rounding": "nearest"}, takes=RECALL),
            *COMMAND_ONLY,
            Form("Unjudged"),
        ),
        score_type="float64",
        notes=f"{ADDED} Its interpolated precision rounds to the nearest number of documents.",
        bugs={
            **TREC_EVAL.bugs,
            "rbp_scale": "RBP scales its gains by a minimum and a maximum that are never set.",
            "rbp_residual": "The residual of RBP is 0 if every retrieved document is judged, "
            "although documents below the end of the list are not.",
        },
        source="the sources of trec_eval 10.0",
    ),
    Convention(
        address="pytrec_eval@0.5.11",
        tool="pytrec_eval (pytrec-eval-terrier)",
        summary="The values of trec_eval 9.0.8 for each query; a mean over them leaves out queries "
        "that are not in the run.",
        policy=TREC_POLICY,
        forms=(NDCG_CUT, Form("nDCG", takes=("judged_only",), cut=False), *BINARY, IPREC),
        limit=Limit(f"{INTEGERS.says}, with a TypeError", integers=True),
        score_type="float32",
        notes=TREC_NOTES,
        bugs={"gain_tables": "A table of gains for nDCG crashes the interpreter."},
        source="pytrec_eval.RelevanceEvaluator of pytrec-eval-terrier 0.5.11",
    ),
    Convention(
        address="ir_measures@0.4.3",
        tool="ir_measures",
        summary="Like pytrec_eval, but judged queries that are not in the run count as 0.",
        policy=ALL_QUERIES,
        forms=(
            Form("nDCG", takes=("k", *GAINS)),
            *BINARY,
            Form("RR", {}, ("k", "rel"), cut=True, policy="ties=doc_id_asc", score_type="float64"),
            Form("Judged", policy="ties=doc_id_asc", score_type="float64"),
            IPREC,
        ),
        limit=INTEGERS,
        score_type="float32",
        notes="For exponential gains it uses gdeval, which rounds to five places. For RR with a "
        "cutoff and for Judged it uses other providers, which rank the smaller ID first.",
        bugs={
            "set_f_beta": "SetF passes beta where beta squared is expected.",
            "empty_judged": "Judged raises a ZeroDivisionError for an empty list.",
        },
        source="ir_measures 0.4.3 with its default providers",
    ),
    Convention(
        address="gdeval@1.2a",
        tool="gdeval.pl",
        summary="Exponential gains; the ideal has all judged documents; means over queries with "
        "relevant documents that are in the run.",
        policy=replace(TREC_POLICY, empty="skip"),
        forms=(Form("nDCG", EXP2, cut=True), Form("ERR", {"max_grade": 4}, cut=True)),
        limit=Limit(f"{INTEGERS.says} or above 4", most=4, integers=True),
        notes=f"{LOG_CANCELS} It rounds the value of each query to 5 places; rankscope doesn't.",
        source="gdeval.pl 1.2a, as included in ir_measures 0.4.3",
    ),
    TRECTOOLS,
    replace(
        TRECTOOLS,
        address="trectools_exp@0.0.50",
        summary="Like trectools, with trec_eval=False: exponential gains.",
        forms=(Form("nDCG", EXP2, policy="ties=doc_id_asc"),),
        bugs={},
        source="trectools.TrecEval.get_ndcg(trec_eval=False) of trectools 0.0.50",
    ),
    Convention(
        address="sdcg@1.0.12",
        tool="cwl_eval",
        summary="Scaled DCG: the gain is grade / 4; the ideal has a gain of 1 at every rank up to "
        "the cutoff.",
        policy=replace(ALL_QUERIES, ties="input"),
        forms=(Form("nDCG", {"gain": quarters, "ideal": "slots"}, cut=True),),
        notes="It is SDCG(max_rel=4)@k in ir_measures. cwl_eval calls it nDCG. Grades above "
        "max_rel, here 4, count as max_rel.",
        source="SDCG(max_rel=4)@k of ir_measures 0.4.3, by cwl-eval 1.0.12",
    ),
    Convention(
        address="jk2002@2002",
        tool="Järvelin and Kekäläinen 2002",
        verified="read from source",
        summary="The discount of the original paper: the first ranks are not discounted, later "
        "ranks by the logarithm of the rank.",
        policy=ALL_QUERIES,
        forms=(Form("nDCG DCG", {"discount": "jk"}, takes=("k", "base", *GAINS)),),
        notes="The base is 2 by default.",
        source="Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM "
        "Transactions on Information Systems 20(4), 2002",
    ),
    RANX,
    replace(
        RANX,
        address="ranx_burges@0.3.21",
        summary="Like ranx, with exponential gains: its ndcg_burges and dcg_burges.",
        forms=(Form("nDCG DCG", EXP2),),
        source="ranx.evaluate of ranx 0.3.21: ndcg_burges@k",
    ),
    RANKKIT,
    replace(
        RANKKIT,
        address="rankkit_linear@0.1.0",
        summary="Like rankkit, with gain='linear'.",
        forms=(Form("nDCG", cut=True),),
        source="rankkit.metrics.ndcg of rankkit 0.1.0, gain='linear'",
    ),
    Convention(
        address="tie_aware@0.1.1",
        tool="tie-aware-retrieval-metrics",
        summary="Binary gains; the ideal has the retrieved documents; the value is averaged over "
        "the orders of tied documents.",
        policy=replace(TREC_POLICY, ties="average", unretrieved="ignore"),
        forms=(
            Form("nDCG", BINARY_GAINS | {"ideal": "retrieved"}, cut=True),
            Form("AP RR P R F", cut=True),
        ),
        options=(Option("oblivious, max, min", "ties", ("input", "best", "worst")),),
        bugs={
            "short_lists": "For lists shorter than the cutoff, P and F divide by the length of the "
            "list, except for the expected value, which divides by the cutoff."
        },
        source="trm of tie-aware-retrieval-metrics 0.1.1",
    ),
)

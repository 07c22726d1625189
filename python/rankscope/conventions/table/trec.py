"""The evaluation programs of TREC, and libraries built on them."""

from __future__ import annotations

from rankscope.conventions.spec import (
    LOG_CANCELS,
    Bug,
    Convention,
    Form,
    Limit,
    Option,
    alike,
    quarters,
)
from rankscope.records import replace

TREC_POLICY = {"ties": "doc_id", "empty": "zero", "missing": "skip", "negative": "nonrelevant"}
LEVEL = ("k", "rel", "judged_only")
UNCUT = ("rel", "judged_only")

BINARY = (
    *alike("AP", "P", "R", takes=LEVEL),
    Form(measure="Rprec", takes=("rel", "multiple", "judged_only")),
    Form(measure="Success", takes=LEVEL),
    Form(measure="SetP", takes=UNCUT),
    Form(measure="SetR", takes=("rel",)),
    *alike("SetF", "SetAP", takes=UNCUT),
    *alike("Bpref", "infAP", "NumRet", takes=("rel",)),
)
NDCG_CUT = Form(measure="nDCG", takes=("k", "judged_only"), cut=True)
NDCG = Form(measure="nDCG", takes=("gain", "judged_only"), cut=False)
RR = Form(measure="RR", takes=UNCUT, cut=False)
IPREC = Form(measure="IPrec", takes=("recall", "rel", "judged_only"))
OTHERS = (
    *alike("YAAP", "BinG", takes=UNCUT),
    *alike("G", "nDCGRel", "RnDCG", takes=("gain", "judged_only")),
    Form(measure="SetP", settings={"relative": True}, takes=UNCUT),
    Form(
        measure="Utility",
        takes=("hit", "false_alarm", "miss", "rejection", "documents", "rel", "judged_only"),
    ),
    Form(measure="NumNonrelRet", takes=("rel",)),
)
"""Measures that only the command of trec_eval has, and pytrec_eval."""

GEOMETRIC = (
    Form(measure="GMAP", takes=UNCUT, cut=False),
    Form(measure="GMBpref", takes=("rel",)),
)
COUNTS = (Form(measure="NumRel", takes=("rel",)), Form(measure="NumQ", takes=()))

WITH_MISSING = Option("-c", "missing", ("zero",))
FRACTIONAL_GAINS = Bug(
    "fractional_gains",
    "In a table of gains, gains that differ by less than 1 are sorted as equal, so the ideal is "
    "wrong: the nDCG of a perfect list can be 0.",
)
ADDED = (
    "Its means are sums that are rounded after each query, in the order of query IDs, as they are "
    "with this convention. Sums of rankscope are exact without it. So a mean of 0.06225 is printed "
    "as 0.0622 or as 0.0623."
)
TREC_NOTES = (
    "A grade below 0 means that a document was pooled but not judged.",
    "Its relevance level doesn't change nDCG.",
)


TRECTOOLS = Convention(
    name="trectools",
    version="0.0.50",
    tool="trectools",
    summary="Linear gains; the ideal has all judged documents; ties by smaller ID in nDCG and "
    "by larger ID in the other measures.",
    policy=TREC_POLICY,
    forms=(
        Form(measure="nDCG", policy={"ties": "doc_id_asc"}),
        Form(measure="AP"),
        Form(measure="P"),
        Form(measure="RR", cut=False),
    ),
    notes=(
        (
            "Its mean divides by the number of queries in the run, so queries without judgments "
            "lower it. rankscope leaves them out."
        ),
        "Its default cutoff is 1000.",
    ),
    bugs=(
        Bug("np_int", "With NumPy 1.24 and newer, precision raises an AttributeError."),
        Bug("rprec", "Its R-precision differs from that of trec_eval, whatever the settings."),
    ),
    sources=("trectools.TrecEval of trectools 0.0.50",),
)

ROWS = (
    Convention(
        name="trec_eval",
        version="9.0.8",
        tool="trec_eval",
        summary="Linear gains; the ideal has all judged documents; ties by larger ID; means over "
        "the judged queries that are in the run.",
        policy=TREC_POLICY,
        forms=(
            NDCG_CUT,
            NDCG,
            *BINARY,
            RR,
            IPREC,
            Form(measure="InterpolatedAP", takes=("levels", "rel", "judged_only")),
            *GEOMETRIC,
            *COUNTS,
            *OTHERS,
        ),
        truncates=True,
        score_type="float32",
        adds_in_order=True,
        options=(WITH_MISSING,),
        notes=(*TREC_NOTES, ADDED, "Scores are compared in single precision."),
        bugs=(FRACTIONAL_GAINS,),
        sources=(
            "the sources of trec_eval 9.0.8, which pytrec-eval-terrier 0.5.11 compiles and runs",
        ),
    ),
    Convention(
        name="trec_eval",
        version="10.0",
        tool="trec_eval",
        verified="read from source",
        summary="Like version 9, but scores are compared in double precision, and a judged query "
        "that is not in the run stops the program.",
        policy={**TREC_POLICY, "missing": "error"},
        forms=(
            NDCG_CUT,
            NDCG,
            Form(measure="DCG", takes=("gain", "judged_only"), cut=False),
            Form(measure="IDCG", takes=("gain",), cut=False),
            *BINARY,
            RR,
            Form(
                measure="IPrec",
                settings={"rounding": "nearest"},
                takes=("recall", "rel", "judged_only"),
            ),
            Form(
                measure="InterpolatedAP",
                settings={"rounding": "nearest"},
                takes=("levels", "rel", "judged_only"),
            ),
            *GEOMETRIC,
            *COUNTS,
            *OTHERS,
            Form(measure="Unjudged", takes=("k",)),
        ),
        truncates=True,
        adds_in_order=True,
        options=(WITH_MISSING,),
        notes=(
            *TREC_NOTES,
            ADDED,
            "Its interpolated precision rounds to the nearest number of documents.",
        ),
        bugs=(
            FRACTIONAL_GAINS,
            Bug(
                "rbp_scale",
                "RBP scales its gains by a minimum and a maximum that are never set.",
            ),
            Bug(
                "rbp_residual",
                "The residual of RBP is 0 if every retrieved document is judged, although "
                "documents below the end of the list are not.",
            ),
        ),
        sources=("the sources of trec_eval 10.0",),
    ),
    Convention(
        name="pytrec_eval",
        version="0.5.11",
        tool="pytrec_eval (pytrec-eval-terrier)",
        summary="The values of trec_eval 9.0.8 for each query; a mean over them leaves out queries "
        "that are not in the run.",
        policy=TREC_POLICY,
        forms=(
            NDCG_CUT,
            Form(measure="nDCG", takes=("judged_only",), cut=False),
            *BINARY,
            RR,
            IPREC,
        ),
        limit=Limit("rejects grades that are not integers, with a TypeError", integers=True),
        score_type="float32",
        notes=TREC_NOTES,
        bugs=(Bug("gain_tables", "A table of gains for nDCG crashes the interpreter."),),
        sources=("pytrec_eval.RelevanceEvaluator of pytrec-eval-terrier 0.5.11",),
    ),
    Convention(
        name="ir_measures",
        version="0.4.3",
        tool="ir_measures",
        summary="Like pytrec_eval, but judged queries that are not in the run count as 0.",
        policy={**TREC_POLICY, "missing": "zero"},
        forms=(
            Form(measure="nDCG", takes=("k", "gain", "judged_only")),
            *BINARY,
            RR,
            Form(
                measure="RR",
                takes=("k", "rel"),
                cut=True,
                policy={"ties": "doc_id_asc"},
                score_type="float64",
            ),
            Form(measure="Judged", policy={"ties": "doc_id_asc"}, score_type="float64"),
            IPREC,
        ),
        limit=Limit("rejects grades that are not integers", integers=True),
        score_type="float32",
        notes=(
            "For exponential gains it uses gdeval, which rounds to five places.",
            (
                "For RR with a cutoff and for Judged it uses other providers, which rank the "
                "smaller ID first."
            ),
        ),
        bugs=(
            Bug("set_f_beta", "SetF passes beta where beta squared is expected."),
            Bug("empty_judged", "Judged raises a ZeroDivisionError for an empty list."),
        ),
        sources=("ir_measures 0.4.3 with its default providers",),
    ),
    Convention(
        name="gdeval",
        version="1.2a",
        tool="gdeval.pl",
        summary="Exponential gains; the ideal has all judged documents; means over queries with "
        "relevant documents that are in the run.",
        policy={**TREC_POLICY, "empty": "skip"},
        forms=(
            Form(measure="nDCG", settings={"gain": "exp2"}, cut=True),
            Form(measure="ERR", settings={"max_grade": 4}, cut=True),
        ),
        limit=Limit("rejects grades that are not integers or above 4", most=4, integers=True),
        places=5,
        notes=(LOG_CANCELS,),
        sources=("gdeval.pl 1.2a, as included in ir_measures 0.4.3",),
    ),
    TRECTOOLS,
    replace(
        TRECTOOLS,
        name="trectools_exp",
        summary="Like trectools, with trec_eval=False: exponential gains.",
        forms=(Form(measure="nDCG", settings={"gain": "exp2"}, policy={"ties": "doc_id_asc"}),),
        bugs=(),
        sources=("trectools.TrecEval.get_ndcg(trec_eval=False) of trectools 0.0.50",),
    ),
    Convention(
        name="sdcg",
        version="1.0.12",
        tool="cwl_eval",
        summary="Scaled DCG: the gain is grade / 4; the ideal has a gain of 1 at every rank up to "
        "the cutoff.",
        policy={"ties": "input", "empty": "zero", "missing": "zero", "negative": "nonrelevant"},
        forms=(Form(measure="nDCG", settings={"gain": quarters, "ideal": "slots"}, cut=True),),
        notes=(
            "It is SDCG(max_rel=4)@k in ir_measures. cwl_eval calls it nDCG.",
            "Grades above max_rel, here 4, count as max_rel.",
        ),
        sources=("SDCG(max_rel=4)@k of ir_measures 0.4.3, by cwl-eval 1.0.12",),
    ),
    Convention(
        name="jk2002",
        version="2002",
        tool="Järvelin and Kekäläinen 2002",
        verified="read from source",
        summary="The discount of the original paper: the first ranks are not discounted, later "
        "ranks by the logarithm of the rank.",
        policy={**TREC_POLICY, "missing": "zero"},
        forms=alike(
            "nDCG",
            "DCG",
            settings={"discount": "jk"},
            takes=("k", "gain", "base", "judged_only"),
        ),
        notes=("The base is 2 by default.",),
        sources=(
            (
                "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM "
                "Transactions on Information Systems 20(4), 2002"
            ),
        ),
    ),
)

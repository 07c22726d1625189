"""The evaluation programs of TREC, and what is built around them."""

from __future__ import annotations

from rankscope.conventions.gains import quarters
from rankscope.conventions.spec import Bug, Convention, Form, Limit, Option
from rankscope.conventions.table.notes import LOG_CANCELS

TREC_POLICY = {"ties": "doc_id", "empty": "zero", "missing": "skip", "negative": "nonrelevant"}
LEVEL = ("k", "rel", "judged_only")
UNCUT = ("rel", "judged_only")

BINARY = (
    Form(measure="AP", takes=LEVEL),
    Form(measure="P", takes=LEVEL),
    Form(measure="R", takes=LEVEL),
    Form(measure="Rprec", takes=UNCUT),
    Form(measure="Success", takes=LEVEL),
    Form(measure="SetP", takes=UNCUT),
    Form(measure="SetR", takes=("rel",)),
    Form(measure="SetF", takes=UNCUT),
    Form(measure="SetAP", takes=UNCUT),
    Form(measure="Bpref", takes=("rel",)),
    Form(measure="infAP", takes=("rel",)),
    Form(measure="NumRet", takes=("rel",)),
)
NDCG_CUT = Form(measure="nDCG", takes=("k", "judged_only"), cut=True)
NDCG = Form(measure="nDCG", takes=("gain", "judged_only"), cut=False)
RR = Form(measure="RR", takes=UNCUT, cut=False)
IPREC = Form(measure="IPrec", takes=("recall", "rel", "judged_only"))
GEOMETRIC = (
    Form(measure="GMAP", takes=UNCUT, cut=False),
    Form(measure="GMBpref", takes=("rel",)),
)
COUNTS = (Form(measure="NumRel", takes=("rel",)), Form(measure="NumQ", takes=()))

WITH_MISSING = Option("-c", "missing", ("zero",))
FRACTIONAL_GAINS = Bug(
    "fractional_gains",
    "Gains of its own table that differ by less than 1 are sorted as equal, so that the ideal "
    "order is none: nDCG of a perfect list can be 0.",
)
TREC_NOTES = (
    "A grade below 0 is a document that was pooled and not judged.",
    "Its level of relevance does not change nDCG.",
)

TRECTOOLS_NOTES = (
    (
        "Its mean divides by the number of queries in the run, so that queries without judgments "
        "lower it; ours leaves those out."
    ),
    "Its default cutoff is 1000.",
)

ROWS = (
    Convention(
        name="trec_eval",
        version="9.0.8",
        tool="trec_eval",
        verified="run",
        summary="Linear gains, the ideal of all judged documents, ties by larger id first, means "
        "over the judged queries that are in the run.",
        policy=TREC_POLICY,
        forms=(NDCG_CUT, NDCG, *BINARY, RR, IPREC, *GEOMETRIC, *COUNTS),
        truncates=True,
        score_type="float32",
        options=(WITH_MISSING,),
        notes=(*TREC_NOTES, "Scores are compared in single precision."),
        bugs=(FRACTIONAL_GAINS,),
        sources=(
            "the sources of trec_eval 9.0.8, which pytrec-eval-terrier 0.5.11 compiles and runs",
        ),
    ),
    Convention(
        name="trec_eval",
        version="10.0",
        tool="trec_eval",
        summary="As version 9, but scores are compared in double precision, and a judged query "
        "that is not in the run ends the program.",
        policy={**TREC_POLICY, "missing": "error"},
        forms=(
            NDCG_CUT,
            NDCG,
            Form(measure="DCG", takes=("gain", "judged_only"), cut=False),
            Form(measure="IDCG", takes=("gain",), cut=False),
            *BINARY,
            RR,
            *GEOMETRIC,
            *COUNTS,
        ),
        truncates=True,
        options=(WITH_MISSING,),
        notes=(
            *TREC_NOTES,
            (
                "Its interpolated precision rounds the number of documents to the nearest, and has "
                "no counterpart here."
            ),
        ),
        bugs=(
            FRACTIONAL_GAINS,
            Bug(
                "rbp_scale",
                "RBP scales its gains by a smallest and a largest that were never set.",
            ),
            Bug(
                "rbp_residual",
                "The residual of RBP is 0 where every retrieved document is judged, although "
                "documents below the list are not.",
            ),
        ),
        sources=("the sources of trec_eval 10.0",),
    ),
    Convention(
        name="pytrec_eval",
        version="0.5.11",
        tool="pytrec_eval (pytrec-eval-terrier)",
        verified="run",
        summary="The values of trec_eval 9.0.8 by query; a mean over them leaves out queries that "
        "are not in the run.",
        policy=TREC_POLICY,
        forms=(
            NDCG_CUT,
            Form(measure="nDCG", takes=("judged_only",), cut=False),
            *BINARY,
            RR,
            IPREC,
        ),
        limit=Limit("refuses grades that are no integers, by a TypeError", integers=True),
        score_type="float32",
        notes=TREC_NOTES,
        bugs=(Bug("gain_tables", "A gain table for nDCG ends the interpreter."),),
        sources=("pytrec_eval.RelevanceEvaluator of pytrec-eval-terrier 0.5.11",),
    ),
    Convention(
        name="ir_measures",
        version="0.4.3",
        tool="ir_measures",
        verified="run",
        summary="As pytrec_eval, but every judged query counts, with 0 where it is not in the run.",
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
        limit=Limit("refuses grades that are no integers", integers=True),
        score_type="float32",
        notes=(
            "Exponential gains come from gdeval, which rounds to five places.",
            (
                "RR with a cutoff and Judged come from other providers, which put the smaller id "
                "of equal scores first."
            ),
        ),
        bugs=(
            Bug("set_f_beta", "SetF takes beta for the square of beta."),
            Bug("empty_judged", "Judged of an empty list is a ZeroDivisionError."),
        ),
        sources=("ir_measures 0.4.3 with its default providers",),
    ),
    Convention(
        name="gdeval",
        version="1.2a",
        tool="gdeval.pl",
        verified="run",
        summary="Exponential gains over the ideal of all judged documents; only queries with a "
        "relevant document that are in the run.",
        policy={**TREC_POLICY, "empty": "skip"},
        forms=(
            Form(measure="nDCG", settings={"gain": "exp2"}, cut=True),
            Form(measure="ERR", settings={"max_grade": 4}, cut=True),
        ),
        limit=Limit("refuses grades that are no integers or above 4", most=4, integers=True),
        places=5,
        notes=(LOG_CANCELS,),
        sources=("gdeval.pl 1.2a as ir_measures 0.4.3 ships it",),
    ),
    Convention(
        name="trectools",
        version="0.0.50",
        tool="trectools",
        verified="run",
        summary="Linear gains over the ideal of all judged documents, ties by smaller id first in "
        "nDCG and by larger id first in the other measures.",
        policy=TREC_POLICY,
        forms=(
            Form(measure="nDCG", policy={"ties": "doc_id_asc"}),
            Form(measure="AP"),
            Form(measure="P"),
            Form(measure="RR", cut=False),
        ),
        notes=TRECTOOLS_NOTES,
        bugs=(
            Bug("np_int", "With NumPy 1.24 and newer, precision ends with an AttributeError."),
            Bug("rprec", "Its R-precision is not that of trec_eval, whatever it is asked for."),
        ),
        sources=("trectools.TrecEval of trectools 0.0.50",),
    ),
    Convention(
        name="trectools_exp",
        version="0.0.50",
        tool="trectools",
        verified="run",
        summary="As trectools, with trec_eval=False: exponential gains.",
        policy=TREC_POLICY,
        forms=(Form(measure="nDCG", settings={"gain": "exp2"}, policy={"ties": "doc_id_asc"}),),
        notes=TRECTOOLS_NOTES,
        sources=("trectools.TrecEval.get_ndcg(trec_eval=False) of trectools 0.0.50",),
    ),
    Convention(
        name="sdcg",
        version="1.0.12",
        tool="cwl_eval",
        verified="run",
        summary="Scaled DCG: the grade as a share of 4, over a gain of 1 at every rank down to the "
        "cutoff.",
        policy={"ties": "input", "empty": "zero", "missing": "zero", "negative": "nonrelevant"},
        forms=(Form(measure="nDCG", settings={"gain": quarters, "ideal": "slots"}, cut=True),),
        notes=(
            "It is SDCG(max_rel=4)@k of ir_measures; its own name for it is nDCG.",
            "Grades above max_rel, here 4, count as that.",
        ),
        sources=("SDCG(max_rel=4)@k of ir_measures 0.4.3, by cwl-eval 1.0.12",),
    ),
    Convention(
        name="jk2002",
        version="2002",
        tool="Järvelin and Kekäläinen 2002",
        summary="The discount of the original article: the first ranks are not discounted, later "
        "ones by the logarithm of the rank.",
        policy={**TREC_POLICY, "missing": "zero"},
        forms=(
            Form(
                measure="nDCG",
                settings={"discount": "jk"},
                takes=("k", "gain", "base", "judged_only"),
            ),
            Form(
                measure="DCG",
                settings={"discount": "jk"},
                takes=("k", "gain", "base", "judged_only"),
            ),
        ),
        notes=("The base is 2 unless another is given.",),
        sources=(
            (
                "Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM "
                "Transactions on Information Systems 20(4), 2002"
            ),
        ),
    ),
)

"""Python toolkits for retrieval evaluation."""

from __future__ import annotations

from rankscope.conventions.spec import UNKNOWN, Bug, Convention, Form, Limit, Option, alike
from rankscope.records import replace

RANX = Convention(
    name="ranx",
    version="0.3.21",
    tool="ranx",
    summary="Linear gains; the ideal has all judged documents; a judged query that is not in "
    "the run is an error, or optionally counts as 0.",
    policy={"ties": "input", "empty": "zero", "missing": "error", "negative": "nonrelevant"},
    forms=(
        Form(measure="nDCG"),
        Form(measure="DCG"),
        *alike("AP", "RR", "P", "R", "F", "Success", takes=("k", "rel")),
        *alike("Rprec", "SetP", "SetR", "SetF", takes=("rel",)),
    ),
    truncates=True,
    options=(Option("make_comparable=True", "missing", ("zero",)),),
    notes=(
        (
            "Its sort is stable up to 15 documents. In longer lists, the order of equal scores is "
            "undefined."
        ),
        "Its relevance level also drops gains below it, which rankscope doesn't reproduce.",
    ),
    bugs=(
        Bug("bpref", "Bpref is NaN if no document is judged not relevant, and so is the mean."),
        Bug("empty_list", "An empty list raises an error."),
    ),
    sources=("ranx.evaluate of ranx 0.3.21: ndcg@k, map@k and others",),
)

RANKKIT = Convention(
    name="rankkit",
    version="0.1.0",
    tool="rankkit",
    summary="Exponential gains; the ideal has all judged documents; queries without relevant "
    "documents are left out.",
    policy={"ties": "input", "empty": "skip", "missing": "skip", "negative": "error"},
    forms=(
        Form(measure="nDCG", settings={"gain": "exp2"}, cut=True),
        *alike("AP", "RR", "P", "R", "Success", cut=True),
    ),
    limit=Limit("rejects negative grades", least=0),
    notes=(
        (
            "Queries without relevant documents are left out. Its documentation says that "
            "trec_eval does the same, which is wrong."
        ),
    ),
    sources=("rankkit.metrics of rankkit 0.1.0",),
)

ROWS = (
    RANX,
    replace(
        RANX,
        name="ranx_burges",
        summary="Like ranx, with exponential gains: its ndcg_burges and dcg_burges.",
        forms=alike("nDCG", "DCG", settings={"gain": "exp2"}),
        sources=("ranx.evaluate of ranx 0.3.21: ndcg_burges@k",),
    ),
    RANKKIT,
    replace(
        RANKKIT,
        name="rankkit_linear",
        summary="Like rankkit, with gain='linear'.",
        forms=(Form(measure="nDCG", cut=True),),
        sources=("rankkit.metrics.ndcg of rankkit 0.1.0, gain='linear'",),
    ),
    Convention(
        name="tie_aware",
        version="0.1.1",
        tool="tie-aware-retrieval-metrics",
        summary="Binary gains; the ideal has the retrieved documents; the value is averaged over "
        "the orders of tied documents.",
        policy={
            **UNKNOWN,
            "ties": "average",
            "empty": "zero",
            "missing": "skip",
            "negative": "nonrelevant",
        },
        forms=(
            Form(measure="nDCG", settings={"gain": "binary", "ideal": "retrieved"}, cut=True),
            *alike("AP", "RR", "P", "R", "F", cut=True),
        ),
        options=(Option("oblivious, max, min", "ties", ("input", "best", "worst")),),
        bugs=(
            Bug(
                "short_lists",
                "For lists shorter than the cutoff, P and F divide by the length of the list, "
                "except for the expected value, which divides by the cutoff.",
            ),
        ),
        sources=("trm of tie-aware-retrieval-metrics 0.1.1",),
    ),
)

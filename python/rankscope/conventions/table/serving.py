"""Search engines and monitoring tools."""

from __future__ import annotations

from rankscope.conventions.spec import NO_NEGATIVE, UNKNOWN, Bug, Convention, Form, Option, alike
from rankscope.records import replace

GIVEN = {"ties": "input", "empty": "zero", "missing": "zero", "negative": "error"}
EXP2 = {"gain": "exp2"}

QUEPID = Convention(
    name="quepid",
    version="8.6",
    tool="Quepid",
    verified="read from source",
    summary="The scorer NDCG@10: exponential gains; the ideal has all rated documents, not "
    "cut at k, so a perfect list can be below 1.",
    policy=GIVEN,
    forms=(Form(measure="nDCG", settings={**EXP2, "ideal": "whole"}, cut=True),),
    limit=NO_NEGATIVE,
    sources=("the scorer NDCG@10 of Quepid 8.6",),
)

ROWS = (
    Convention(
        name="elasticsearch",
        version="9",
        tool="Elasticsearch",
        verified="read from source",
        summary="Exponential gains; the ideal has all rated documents, cut at k.",
        policy=GIVEN,
        forms=(
            *alike("nDCG", "DCG", settings=EXP2),
            Form(measure="P", settings={"denominator": "retrieved"}, takes=("k", "rel")),
            *alike("R", "RR", takes=("k", "rel")),
        ),
        options=(Option("unknown_doc_rating", "unjudged"),),
        notes=("Its metric dcg is only normalized if normalize is true.",),
        bugs=(
            Bug(
                "ideal_of_hits",
                "The ideal is cut at the number of retrieved documents: retrieving only one of "
                "five relevant documents has an nDCG of 1.",
            ),
        ),
        limit=NO_NEGATIVE,
        sources=("the rank evaluation API of Elasticsearch: dcg, precision, recall",),
    ),
    Convention(
        name="opensearch",
        version="3.4",
        tool="OpenSearch Search Relevance Workbench",
        verified="read from source",
        summary="Exponential gains; the ideal has all judged documents, cut at k; the value of "
        "each query is rounded to two places.",
        policy=GIVEN,
        forms=(
            *alike("nDCG", "DCG", settings=EXP2, cut=True),
            Form(measure="AP", cut=True),
            Form(measure="P", settings={"denominator": "retrieved"}),
            Form(measure="R"),
            Form(measure="RR"),
        ),
        limit=NO_NEGATIVE,
        places=2,
        sources=("Evaluation.java of opensearch-project/search-relevance",),
    ),
    QUEPID,
    replace(
        QUEPID,
        name="quepid_cut",
        summary="The scorer NDCG_CUT@10: exponential gains; the ideal has all rated documents, "
        "cut at k.",
        forms=(Form(measure="nDCG", settings=EXP2, cut=True),),
        sources=("the scorer NDCG_CUT@10 of Quepid 8.6",),
    ),
    Convention(
        name="evidently",
        version="0.7.23",
        tool="Evidently",
        summary="Linear gains; the ideal has the rows of the user; users without relevant "
        "documents are left out.",
        policy={
            **UNKNOWN,
            "ties": "average",
            "empty": "skip",
            "missing": "skip",
            "negative": "error",
        },
        forms=(Form(measure="nDCG", settings={"ideal": "retrieved"}, cut=True),),
        limit=NO_NEGATIVE,
        options=(Option("no_feedback_users=True", "empty", ("zero",)),),
        bugs=(
            Bug(
                "tied_ranks",
                "Tied documents share the mean of their ranks, rounded down, so nDCG can be 2.",
            ),
            Bug("long_cutoff", "A cutoff longer than the longest list raises a KeyError."),
            Bug("shifted_series", "The value of each cutoff is reported for the next one."),
        ),
        sources=("evidently.legacy.metrics.recsys.ndcg_k of Evidently 0.7.23",),
    ),
    Convention(
        name="mlflow",
        version="3.17.2",
        tool="MLflow",
        summary="Binary gains; the ideal has all relevant documents, cut at k.",
        policy={**GIVEN, "negative": "nonrelevant"},
        forms=(
            Form(measure="nDCG", settings={"gain": "binary"}, cut=True),
            Form(measure="P", settings={"denominator": "retrieved"}),
            Form(measure="R"),
        ),
        notes=("A row without targets counts as 1 if nothing was retrieved either.",),
        bugs=(
            Bug(
                "ideal_of_retrieved",
                "The ideal is cut at the number of retrieved documents: retrieving only one of "
                "five relevant documents has an nDCG of 1.",
            ),
        ),
        sources=("mlflow.metrics: ndcg_at_k, precision_at_k, recall_at_k of MLflow 3.17.2",),
    ),
)

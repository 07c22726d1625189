"""Libraries of recommender systems, search engines and monitoring tools.

The queries of recommender systems are users, and judgments are interactions. If a library only
knows interactions, these are the judged documents with a grade above 0.
"""

from __future__ import annotations

from dataclasses import replace

from rankscope._conventions.learning import AVERAGED
from rankscope._conventions.spec import (
    BINARY_GAINS,
    EXP2,
    LOG_CANCELS,
    NO_NEGATIVE,
    REACHABLE,
    RETRIEVED,
    Convention,
    Form,
    Limit,
    Option,
    every,
)
from rankscope._settings import Policy

USERS = Policy.parse("ties=input,empty=skip,missing=zero,negative=nonrelevant")
ZERO = replace(USERS, empty="zero")
REJECTING = replace(ZERO, negative="error")
JK = {"discount": "jk"}
ALL_ROWS = {"rel": 0}
COMMON = "empty=zero,missing=skip"
INTERACTIONS = "It doesn't know users without interactions."
IDEAL_OF_RETRIEVED = (
    "The ideal is cut at the number of retrieved documents: retrieving only one of five relevant "
    "documents has an nDCG of 1."
)

SPARK = Convention(
    address="spark@4.3.0",
    tool="Apache Spark",
    summary="Binary gains; the ideal has all relevant documents, cut at k; AP with a cutoff "
    "divides by min(R, k).",
    policy=ZERO,
    forms=(
        Form("nDCG", BINARY_GAINS, cut=True),
        Form("AP", REACHABLE, cut=True),
        Form("AP", cut=False),
        Form("P R"),
    ),
    notes=f"{LOG_CANCELS} Every query needs a row, with an empty list if nothing was retrieved.",
    source="pyspark.mllib.evaluation.RankingMetrics of Spark 4.3.0",
)

RECOMMENDERS_RAW = Convention(
    address="recommenders_raw@1.2.1",
    tool="Recommenders",
    summary="With score_type='raw': linear gains; users without gains are left out.",
    policy=replace(USERS, negative="gain"),
    forms=(Form("nDCG", cut=True),),
    limit=NO_NEGATIVE,
    notes=f"{LOG_CANCELS} AP, P and R are means over users with both judgments and "
    "recommendations, nDCG is a mean over all users with judgments.",
    source="ndcg_at_k(…, score_type='raw') of Recommenders 1.2.1",
)

WITHOUT_GAINS = (Form("P R"), Form("RR", cut=True), Form("Success"))

RECTOOLS = Convention(
    address="rectools@0.19.0",
    tool="RecTools",
    summary="Binary gains; the ideal has a relevant document at every rank up to the cutoff, "
    "even if there are fewer.",
    policy=USERS,
    forms=(
        Form("nDCG", {**BINARY_GAINS, "ideal": "slots"}, cut=True),
        Form("AP", cut=True),
        *WITHOUT_GAINS,
    ),
    options=(Option("divide_by_k=True", "denominator", ("cutoff",)),),
    notes=f"{INTERACTIONS} Its log_base cancels.",
    source="rectools.metrics of RecTools 0.19.0",
)

LENSKIT = Convention(
    address="lenskit@2025.8.1",
    tool="LensKit",
    summary="Binary gains, with the discount of Järvelin and Kekäläinen 2002: ranks 1 and 2 "
    "have the same weight.",
    policy=replace(ZERO, missing="skip"),
    forms=(
        Form("nDCG DCG", BINARY_GAINS | JK, takes=("k", "base")),
        Form("P", RETRIEVED),
        Form("SetP"),
        Form("R", REACHABLE),
        Form("SetR RR Success"),
    ),
    notes="Its default discount is that of Järvelin and Kekäläinen 2002 with base 2: ranks 1 and 2 "
    "are not discounted. LogRankWeight(offset=1) is the usual discount. A list without a value "
    "counts as 0. Its mean includes all lists of the run, and counts those of users without "
    "judgments as 0. rankscope leaves them out.",
    bugs={"array_dcg": "Its function array_dcg ignores the argument weight."},
    source="lenskit.metrics of LensKit 2025.8.1",
)

QUEPID = Convention(
    address="quepid@8.6",
    tool="Quepid",
    verified="read from source",
    summary="The scorer NDCG@10: exponential gains; the ideal has all rated documents, not "
    "cut at k, so a perfect list can be below 1.",
    policy=REJECTING,
    forms=(Form("nDCG", {**EXP2, "ideal": "whole"}, cut=True),),
    limit=NO_NEGATIVE,
    source="the scorer NDCG@10 of Quepid 8.6",
)

ROWS = (
    SPARK,
    replace(
        SPARK,
        address="spark_graded@4.3.0",
        summary="With a relevance array: exponential gains; the ideal has all judged documents.",
        forms=(Form("nDCG", EXP2, cut=True),),
        bugs={
            "python_drops_grades": "In Python, the relevance array is ignored: every judged "
            "document is relevant.",
            "unsorted_ideal": "The ideal has the labels in input order, so unsorted labels lead to "
            "values above 1.",
        },
        source="RankingMetrics.ndcgAt with a relevance array, Spark 4.3.0",
    ),
    replace(
        RECOMMENDERS_RAW,
        address="recommenders@1.2.1",
        summary="Every judged document has the gain 1, whatever its grade.",
        forms=(
            Form("nDCG", {"gain": every}, cut=True),
            Form("AP", {**ALL_ROWS, **REACHABLE}, policy=COMMON, cut=True),
            Form("AP", ALL_ROWS, policy=COMMON, cut=False),
            Form("P R", ALL_ROWS, policy=COMMON),
        ),
        limit=None,
        notes=f"{RECOMMENDERS_RAW.notes} A document with grade 0 counts like any other.",
        source="recommenders.evaluation.python_evaluation of Recommenders 1.2.1",
    ),
    RECOMMENDERS_RAW,
    replace(
        RECOMMENDERS_RAW,
        address="recommenders_exp@1.2.1",
        summary="With score_type='exp': exponential gains; users without gains are left out.",
        forms=(Form("nDCG", EXP2, cut=True),),
        limit=Limit("rejects negative integers as grades", least=0),
        source="ndcg_at_k(…, score_type='exp') of Recommenders 1.2.1",
    ),
    RECTOOLS,
    replace(
        RECTOOLS,
        address="rectools_achievable@0.19.0",
        summary="Like rectools, with divide_by_achievable=True: the ideal has the relevant "
        "documents that exist.",
        forms=(Form("nDCG", BINARY_GAINS, cut=True), *RECTOOLS.forms[1:]),
        source="rectools.metrics.NDCG(divide_by_achievable=True) of RecTools 0.19.0",
    ),
    Convention(
        address="replay@0.22.0",
        tool="RePlay",
        summary="Binary gains; the ideal has all relevant documents, cut at k; ties by larger ID.",
        policy=replace(USERS, ties="doc_id"),
        forms=(
            Form("nDCG", BINARY_GAINS, cut=True),
            Form("AP", REACHABLE, cut=True),
            *WITHOUT_GAINS,
        ),
        options=(
            Option("dicts in place of frames", "ties", ("input",)),
            Option("mode=Median()", "aggregate", ("median",)),
        ),
        notes=f"{INTERACTIONS} It orders integer IDs as numbers; rankscope orders them as text.",
        source="replay.metrics of replay-rec 0.22.0",
    ),
    Convention(
        address="recbole@1.2.1",
        tool="RecBole",
        summary="Binary gains; the ideal has all relevant documents, cut at k.",
        policy=ZERO,
        forms=(
            Form("nDCG", BINARY_GAINS, cut=True),
            Form("AP", REACHABLE, cut=True),
            Form("P"),
            Form("R", policy="empty=nan"),
            Form("RR", cut=True),
            Form("Success"),
        ),
        notes="Lists come from its own models, and are as long as the cutoff.",
        bugs={"np_float": "With NumPy 1.24 and newer, it raises an AttributeError."},
        source="recbole.evaluator.metrics of RecBole 1.2.1",
    ),
    LENSKIT,
    replace(
        LENSKIT,
        address="lenskit_rating@2025.8.1",
        summary="Like lenskit, with gain='rating': linear gains.",
        forms=(Form("nDCG DCG", JK, takes=("k", "base")),),
        limit=NO_NEGATIVE,
        bugs={},
        source="lenskit.metrics.NDCG(gain='rating') of LensKit 2025.8.1",
    ),
    Convention(
        address="elliot@0.3.1",
        tool="Elliot",
        verified="read from source",
        summary="Exponential gains; the ideal has all judged documents; users without relevant "
        "documents are left out.",
        policy=replace(USERS, missing="skip"),
        forms=(Form("nDCG", EXP2, cut=True),),
        notes="With a relevance threshold t, its gain is 2^(grade - t + 1) - 1. This is t = 1.",
        source="elliot.evaluation.metrics.accuracy.ndcg of Elliot 0.3.1",
    ),
    Convention(
        address="elasticsearch@9",
        tool="Elasticsearch",
        verified="read from source",
        summary="Exponential gains; the ideal has all rated documents, cut at k.",
        policy=REJECTING,
        forms=(
            Form("nDCG DCG", EXP2),
            Form("P", RETRIEVED, takes=("k", "rel")),
            Form("R RR", takes=("k", "rel")),
        ),
        options=(Option("unknown_doc_rating", "unjudged"),),
        notes="Its metric dcg is only normalized if normalize is true.",
        bugs={"ideal_of_hits": IDEAL_OF_RETRIEVED},
        limit=NO_NEGATIVE,
        source="the rank evaluation API of Elasticsearch: dcg, precision, recall",
    ),
    Convention(
        address="opensearch@3.4",
        tool="OpenSearch Search Relevance Workbench",
        verified="read from source",
        summary="Exponential gains; the ideal has all judged documents, cut at k; the value of "
        "each query is rounded to two places.",
        policy=REJECTING,
        forms=(
            Form("nDCG DCG", EXP2, cut=True),
            Form("AP", cut=True),
            Form("P", RETRIEVED),
            Form("R RR"),
        ),
        limit=NO_NEGATIVE,
        notes="It rounds the value of each query to 2 places; rankscope doesn't.",
        source="Evaluation.java of opensearch-project/search-relevance",
    ),
    QUEPID,
    replace(
        QUEPID,
        address="quepid_cut@8.6",
        summary="The scorer NDCG_CUT@10: exponential gains; the ideal has all rated documents, "
        "cut at k.",
        forms=(Form("nDCG", EXP2, cut=True),),
        source="the scorer NDCG_CUT@10 of Quepid 8.6",
    ),
    Convention(
        address="evidently@0.7.23",
        tool="Evidently",
        summary="Linear gains; the ideal has the rows of the user; users without relevant "
        "documents are left out.",
        policy=replace(AVERAGED, empty="skip"),
        forms=(Form("nDCG", {"ideal": "retrieved"}, cut=True),),
        limit=NO_NEGATIVE,
        options=(Option("no_feedback_users=True", "empty", ("zero",)),),
        bugs={
            "tied_ranks": "Tied documents share the mean of their ranks, rounded down, so nDCG can "
            "be 2.",
            "long_cutoff": "A cutoff longer than the longest list raises a KeyError.",
            "shifted_series": "The value of each cutoff is reported for the next one.",
        },
        source="evidently.legacy.metrics.recsys.ndcg_k of Evidently 0.7.23",
    ),
    Convention(
        address="mlflow@3.17.2",
        tool="MLflow",
        summary="Binary gains; the ideal has all relevant documents, cut at k.",
        policy=ZERO,
        forms=(Form("nDCG", BINARY_GAINS, cut=True), Form("P", RETRIEVED), Form("R")),
        notes="A row without targets counts as 1 if nothing was retrieved either.",
        bugs={"ideal_of_retrieved": IDEAL_OF_RETRIEVED},
        source="mlflow.metrics: ndcg_at_k, precision_at_k, recall_at_k of MLflow 3.17.2",
    ),
)

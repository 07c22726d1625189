"""Recommender system libraries, where queries are users and judgments are interactions.

If a library only knows interactions, these are the judged documents with a grade above 0.
"""

from __future__ import annotations

from rankscope.conventions.spec import (
    LOG_CANCELS,
    NO_NEGATIVE,
    Bug,
    Convention,
    Form,
    Limit,
    Option,
    alike,
    every,
)
from rankscope.records import replace

BINARY = {"gain": "binary"}
REACHABLE = {"denominator": "reachable"}
USERS = {"ties": "input", "empty": "skip", "missing": "zero", "negative": "nonrelevant"}
ZERO = {**USERS, "empty": "zero"}
INTERACTIONS = "It doesn't know users without interactions."

SPARK_NOTES = (
    LOG_CANCELS,
    "Every query needs a row, with an empty list if nothing was retrieved.",
)

RECOMMENDERS_NOTES = (
    LOG_CANCELS,
    (
        "AP, P and R are means over users with both judgments and recommendations, nDCG is a mean "
        "over all users with judgments."
    ),
)
ALL_ROWS = {"rel": 0}
COMMON = {"missing": "skip", "empty": "zero"}
OF_USERS = (
    Form(measure="AP", settings={**ALL_ROWS, **REACHABLE}, policy=COMMON, cut=True),
    Form(measure="AP", settings=ALL_ROWS, policy=COMMON, cut=False),
    *alike("P", "R", settings=ALL_ROWS, policy=COMMON),
)

RECTOOLS_FORMS = (
    Form(measure="AP", cut=True),
    Form(measure="P"),
    Form(measure="R"),
    Form(measure="RR", cut=True),
    Form(measure="Success"),
)

LENSKIT_FORMS = (
    Form(measure="P", settings={"denominator": "retrieved"}),
    Form(measure="SetP"),
    Form(measure="R", settings=REACHABLE),
    *alike("SetR", "RR", "Success"),
)

RECOMMENDERS_RAW = Convention(
    name="recommenders_raw",
    version="1.2.1",
    tool="Recommenders",
    summary="With score_type='raw': linear gains; users without gains are left out.",
    policy={**USERS, "negative": "gain"},
    forms=(Form(measure="nDCG", cut=True),),
    limit=NO_NEGATIVE,
    notes=RECOMMENDERS_NOTES,
    sources=("ndcg_at_k(…, score_type='raw') of Recommenders 1.2.1",),
)

RECTOOLS = Convention(
    name="rectools",
    version="0.19.0",
    tool="RecTools",
    summary="Binary gains; the ideal has a relevant document at every rank up to the cutoff, "
    "even if there are fewer.",
    policy=USERS,
    forms=(
        Form(measure="nDCG", settings={**BINARY, "ideal": "slots"}, cut=True),
        *RECTOOLS_FORMS,
    ),
    options=(Option("divide_by_k=True", "denominator", ("cutoff",)),),
    notes=(INTERACTIONS, "Its log_base cancels."),
    sources=("rectools.metrics of RecTools 0.19.0",),
)

LENSKIT = Convention(
    name="lenskit",
    version="2025.8.1",
    tool="LensKit",
    summary="Binary gains, with the discount of Järvelin and Kekäläinen 2002: ranks 1 and 2 "
    "have the same weight.",
    policy={**ZERO, "missing": "skip"},
    forms=(
        *alike("nDCG", "DCG", settings={**BINARY, "discount": "jk"}, takes=("k", "base")),
        *LENSKIT_FORMS,
    ),
    notes=(
        (
            "Its default discount is that of Järvelin and Kekäläinen 2002 with base 2: ranks 1 and "
            "2 are not discounted. LogRankWeight(offset=1) is the usual discount."
        ),
        "A list without a value counts as 0.",
        (
            "Its mean includes all lists of the run, and counts those of users without judgments "
            "as 0. rankscope leaves them out."
        ),
    ),
    bugs=(Bug("array_dcg", "Its function array_dcg ignores the argument weight."),),
    sources=("lenskit.metrics of LensKit 2025.8.1",),
)

ROWS = (
    Convention(
        name="spark",
        version="4.3.0",
        tool="Apache Spark",
        summary="Binary gains; the ideal has all relevant documents, cut at k; AP with a cutoff "
        "divides by min(R, k).",
        policy=ZERO,
        forms=(
            Form(measure="nDCG", settings=BINARY, cut=True),
            Form(measure="AP", settings=REACHABLE, cut=True),
            Form(measure="AP", cut=False),
            Form(measure="P"),
            Form(measure="R"),
        ),
        notes=SPARK_NOTES,
        sources=("pyspark.mllib.evaluation.RankingMetrics of Spark 4.3.0",),
    ),
    Convention(
        name="spark_graded",
        version="4.3.0",
        tool="Apache Spark",
        summary="With a relevance array: exponential gains; the ideal has all judged documents.",
        policy=ZERO,
        forms=(Form(measure="nDCG", settings={"gain": "exp2"}, cut=True),),
        notes=SPARK_NOTES,
        bugs=(
            Bug(
                "python_drops_grades",
                "In Python, the relevance array is ignored: every judged document is relevant.",
            ),
            Bug(
                "unsorted_ideal",
                "The ideal has the labels in input order, so unsorted labels lead to values above "
                "1.",
            ),
        ),
        sources=("RankingMetrics.ndcgAt with a relevance array, Spark 4.3.0",),
    ),
    Convention(
        name="recommenders",
        version="1.2.1",
        tool="Recommenders",
        summary="Every judged document has the gain 1, whatever its grade.",
        policy={**USERS, "negative": "gain"},
        forms=(Form(measure="nDCG", settings={"gain": every}, cut=True), *OF_USERS),
        notes=(*RECOMMENDERS_NOTES, "A document with grade 0 counts like any other."),
        sources=("recommenders.evaluation.python_evaluation of Recommenders 1.2.1",),
    ),
    RECOMMENDERS_RAW,
    replace(
        RECOMMENDERS_RAW,
        name="recommenders_exp",
        summary="With score_type='exp': exponential gains; users without gains are left out.",
        forms=(Form(measure="nDCG", settings={"gain": "exp2"}, cut=True),),
        limit=Limit("rejects negative integers as grades", least=0),
        sources=("ndcg_at_k(…, score_type='exp') of Recommenders 1.2.1",),
    ),
    RECTOOLS,
    replace(
        RECTOOLS,
        name="rectools_achievable",
        summary="Like rectools, with divide_by_achievable=True: the ideal has the relevant "
        "documents that exist.",
        forms=(Form(measure="nDCG", settings=BINARY, cut=True), *RECTOOLS_FORMS),
        sources=("rectools.metrics.NDCG(divide_by_achievable=True) of RecTools 0.19.0",),
    ),
    Convention(
        name="replay",
        version="0.22.0",
        tool="RePlay",
        summary="Binary gains; the ideal has all relevant documents, cut at k; ties by larger ID.",
        policy={**USERS, "ties": "doc_id"},
        forms=(
            Form(measure="nDCG", settings=BINARY, cut=True),
            Form(measure="AP", settings=REACHABLE, cut=True),
            Form(measure="P"),
            Form(measure="R"),
            Form(measure="RR", cut=True),
            Form(measure="Success"),
        ),
        options=(
            Option("dicts in place of frames", "ties", ("input",)),
            Option("mode=Median()", "aggregate", ("median",)),
        ),
        notes=(INTERACTIONS, "It orders integer IDs as numbers; rankscope orders them as text."),
        sources=("replay.metrics of replay-rec 0.22.0",),
    ),
    Convention(
        name="recbole",
        version="1.2.1",
        tool="RecBole",
        summary="Binary gains; the ideal has all relevant documents, cut at k.",
        policy=ZERO,
        forms=(
            Form(measure="nDCG", settings=BINARY, cut=True),
            Form(measure="AP", settings=REACHABLE, cut=True),
            Form(measure="P"),
            Form(measure="R", policy={"empty": "nan"}),
            Form(measure="RR", cut=True),
            Form(measure="Success"),
        ),
        notes=("Lists come from its own models, and are as long as the cutoff.",),
        bugs=(Bug("np_float", "With NumPy 1.24 and newer, it raises an AttributeError."),),
        sources=("recbole.evaluator.metrics of RecBole 1.2.1",),
    ),
    LENSKIT,
    replace(
        LENSKIT,
        name="lenskit_rating",
        summary="Like lenskit, with gain='rating': linear gains.",
        forms=alike("nDCG", "DCG", settings={"discount": "jk"}, takes=("k", "base")),
        limit=NO_NEGATIVE,
        bugs=(),
        sources=("lenskit.metrics.NDCG(gain='rating') of LensKit 2025.8.1",),
    ),
    Convention(
        name="elliot",
        version="0.3.1",
        tool="Elliot",
        verified="read from source",
        summary="Exponential gains; the ideal has all judged documents; users without relevant "
        "documents are left out.",
        policy={**USERS, "missing": "skip"},
        forms=(Form(measure="nDCG", settings={"gain": "exp2"}, cut=True),),
        notes=("With a relevance threshold t, its gain is 2^(grade - t + 1) - 1. This is t = 1.",),
        sources=("elliot.evaluation.metrics.accuracy.ndcg of Elliot 0.3.1",),
    ),
)

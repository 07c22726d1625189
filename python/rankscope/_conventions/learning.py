"""Libraries of machine learning, which only see lists of labels and predictions."""

from __future__ import annotations

from dataclasses import replace

from rankscope._conventions.spec import (
    EXP2,
    LISTS_ONLY,
    NO_NEGATIVE,
    REACHABLE,
    RETRIEVED,
    Convention,
    Form,
    Limit,
    Option,
)
from rankscope._settings import Policy

AVERAGED = Policy.parse("ties=average,empty=zero,missing=skip,unretrieved=ignore,negative=error")
IN_ORDER = replace(AVERAGED, ties="input")
BOOSTING = replace(IN_ORDER, empty="one")
BINARY = Limit("rejects grades other than 0 and 1 in AP and P", least=0, most=1, integers=True)
BEST_ORDER = {"ideal": "retrieved"}
ZERO = "empty=zero"
RECIPROCAL = {"discount": "reciprocal"}

SKLEARN = Convention(
    address="sklearn@1.9.1",
    tool="scikit-learn",
    summary="Linear gains; the ideal is the list itself in the best order; the value is "
    "averaged over the orders of tied documents.",
    policy=AVERAGED,
    forms=(
        Form("nDCG", BEST_ORDER, limit=Limit("rejects negative grades in ndcg_score", least=0)),
        Form("DCG", takes=("k", "discount", "base"), policy="negative=gain"),
    ),
    notes=f"{LISTS_ONLY} It rejects lists with one document or different lengths, and NaN; "
    "rankscope accepts them. Its log_base cancels in nDCG.",
    source="sklearn.metrics.ndcg_score and dcg_score of scikit-learn 1.9.1",
)

XGBOOST = Convention(
    address="xgboost@3.2.0",
    tool="XGBoost",
    summary="Exponential gains; the ideal is the list itself in the best order; queries "
    "without relevant documents count as 1.",
    policy=BOOSTING,
    forms=(
        Form("nDCG", EXP2 | BEST_ORDER),
        Form("AP", REACHABLE, limit=BINARY),
        Form("P", RETRIEVED, limit=BINARY, policy=ZERO),
        Form("SetP", limit=BINARY, policy=ZERO),
    ),
    limit=Limit("rejects grades that are not integers from 0 to 31", 0, 31, integers=True),
    notes=f"{LISTS_ONLY} Tied documents stay in input order, as a comment in its source warns.",
    bugs={
        "weighted_empty": "With weights, a query without relevant documents adds 1 without its "
        "weight. If this makes the mean exceed 1, it stops with an error."
    },
    source="the metrics ndcg@k, map@k and pre@k of XGBoost 3.2.0",
)

CATBOOST = Convention(
    address="catboost@1.2.10",
    tool="CatBoost",
    summary="Linear gains; the ideal is the list itself in the best order; ties are in the worst "
    "order; queries without relevant documents count as 1.",
    policy=replace(BOOSTING, ties="worst"),
    forms=(
        Form("nDCG", BEST_ORDER),
        Form("DCG", policy=ZERO),
        Form("AP", REACHABLE, policy=ZERO),
        Form("RR", policy=ZERO),
        Form("P", RETRIEVED, policy=ZERO),
        Form("SetP", policy=ZERO),
        Form("R SetR"),
    ),
    limit=NO_NEGATIVE,
    notes=f"{LISTS_ONLY} Among documents with equal predictions, the one with the lowest grade "
    "comes first.",
    source="the metric NDCG:type=Base;denominator=LogPosition of CatBoost 1.2.10",
)


ROWS = (
    SKLEARN,
    replace(
        SKLEARN,
        address="sklearn_ignore_ties@1.9.1",
        summary="Like sklearn, with ignore_ties=True: tied documents stay in one order.",
        policy=IN_ORDER,
        notes=f"{SKLEARN.notes} It orders equal scores by NumPy's argsort, reversed, which is not "
        "stable even for short lists and differs between processors. Input order is one such "
        "order.",
        source="sklearn.metrics.ndcg_score(…, ignore_ties=True) of scikit-learn 1.9.1",
    ),
    Convention(
        address="torchmetrics@1.9.0",
        tool="TorchMetrics",
        summary="Like scikit-learn for nDCG, in single precision; AP divides by the number of "
        "relevant documents found.",
        policy=AVERAGED,
        forms=(
            Form("nDCG", BEST_ORDER),
            Form("AP", {"denominator": "found"}, policy="ties=input"),
            Form("P SetP R SetR RR Success", policy="ties=input"),
        ),
        limit=Limit(f"only accepts integers, and {NO_NEGATIVE.says}", least=0, integers=True),
        computes_in="float32",
        options=(
            Option("empty_target_action", "empty", ("one", "skip", "error")),
            Option("aggregation='median'", "aggregate", ("median",)),
        ),
        notes=f"{LISTS_ONLY} Except for nDCG, tied documents are in the order of torch.topk, which "
        "is not stable. Input order is one such order.",
        bugs={
            "nonpositive_scores": "In AP, RR, P and R, a relevant document with a score of 0 or "
            "below counts as not relevant."
        },
        source="torchmetrics.retrieval of TorchMetrics 1.9.0",
    ),
    Convention(
        address="rax@0.4.0",
        tool="Rax",
        summary="Exponential gains; the ideal is the list itself in the best order.",
        policy=IN_ORDER,
        forms=(
            Form("nDCG", EXP2 | BEST_ORDER),
            Form("DCG", EXP2),
            Form("AP RR"),
            Form("P", RETRIEVED),
            Form("SetP R SetR"),
        ),
        limit=NO_NEGATIVE,
        computes_in="float32",
        options=(Option("gain_fn", "gain"), Option("rank_discount_fn", "discount")),
        notes=f"{LISTS_ONLY} With a random key it breaks ties at random.",
        source="rax.ndcg_metric of Rax 0.4.0",
    ),
    Convention(
        address="polars_ds@0.13.0",
        tool="polars-ds",
        summary="Linear gains; the ideal is the list itself in the best order; the value is "
        "averaged over the orders of tied documents.",
        policy=AVERAGED,
        forms=(Form("nDCG", BEST_ORDER),),
        limit=NO_NEGATIVE,
        options=(Option("ignore_ties=True", "ties", ("input",)),),
        notes=LISTS_ONLY,
        bugs={"ignore_ties": "Its documentation of ignore_ties says the opposite."},
        source="polars_ds.query_ndcg_score of polars-ds 0.13.0",
    ),
    Convention(
        address="lightgbm@4.7.0",
        tool="LightGBM",
        summary="Exponential gains; the ideal is the list itself in the best order; queries "
        "without relevant documents count as 1.",
        policy=BOOSTING,
        forms=(Form("nDCG", EXP2 | BEST_ORDER), Form("AP", REACHABLE)),
        limit=Limit("rejects grades that are not integers from 0 to 30", 0, 30, integers=True),
        options=(Option("label_gain", "gain"),),
        notes=f"{LISTS_ONLY} It rejects queries with more than 10,000 documents.",
        bugs={
            "weighted_empty": "With weights, a query without relevant documents adds 1 without its "
            "weight: the mean of two queries with weight 0.1 can be 5.5."
        },
        source="the metrics ndcg and map of LightGBM 4.7.0",
    ),
    XGBOOST,
    replace(
        XGBOOST,
        address="xgboost_minus@3.2.0",
        summary="Like xgboost, with a minus after the metric: queries without relevant documents "
        "count as 0.",
        policy=IN_ORDER,
        bugs={},
        source="the metrics ndcg@k-, map@k- and pre@k- of XGBoost 3.2.0",
    ),
    replace(
        XGBOOST,
        address="xgboost_linear@3.2.0",
        summary="Like xgboost, with ndcg_exp_gain=false: linear gains.",
        forms=(Form("nDCG", BEST_ORDER),),
        limit=NO_NEGATIVE,
        source="the metric ndcg@k of XGBoost 3.2.0 with ndcg_exp_gain=false",
    ),
    CATBOOST,
    replace(
        CATBOOST,
        address="catboost_exp@1.2.10",
        summary="Like catboost, with exponential gains.",
        forms=(Form("nDCG", EXP2 | BEST_ORDER), Form("DCG", EXP2, policy=ZERO)),
        source="the metric NDCG:type=Exp;denominator=LogPosition of CatBoost 1.2.10",
    ),
    replace(
        CATBOOST,
        address="catboost_position@1.2.10",
        summary="Like catboost, with the discount 1/rank.",
        forms=(Form("nDCG", RECIPROCAL | BEST_ORDER), Form("DCG", RECIPROCAL, policy=ZERO)),
        source="the metric NDCG:type=Base;denominator=Position of CatBoost 1.2.10",
    ),
    replace(
        CATBOOST,
        address="catboost_exp_position@1.2.10",
        summary="Like catboost, with exponential gains and the discount 1/rank.",
        forms=(
            Form("nDCG", EXP2 | RECIPROCAL | BEST_ORDER),
            Form("DCG", EXP2 | RECIPROCAL, policy=ZERO),
        ),
        source="the metric NDCG:type=Exp;denominator=Position of CatBoost 1.2.10",
    ),
)

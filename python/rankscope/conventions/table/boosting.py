"""Gradient boosting libraries, with the measures they use to train and to stop early."""

from __future__ import annotations

from rankscope.conventions.spec import (
    LISTS_ONLY,
    NO_NEGATIVE,
    UNKNOWN,
    Bug,
    Convention,
    Form,
    Limit,
    Option,
)
from rankscope.records import replace

BINARY = Limit("rejects grades other than 0 and 1 in AP and P", least=0, most=1, integers=True)
EXP2 = {"gain": "exp2", "ideal": "retrieved"}
REACHABLE = {"denominator": "reachable"}
RETRIEVED = {"denominator": "retrieved"}

BOOSTING_POLICY = {
    **UNKNOWN,
    "ties": "input",
    "empty": "one",
    "missing": "skip",
    "negative": "error",
}
XGBOOST_BINARY = (
    Form(measure="AP", settings=REACHABLE, limit=BINARY),
    Form(measure="P", settings=RETRIEVED, limit=BINARY, policy={"empty": "zero"}),
    Form(measure="SetP", limit=BINARY, policy={"empty": "zero"}),
)


CATBOOST_ZERO = {"empty": "zero"}


def catboost(
    name: str,
    words: str,
    summary: str,
    settings: dict[str, object],
    others: tuple[Form, ...] = (),
) -> Convention:
    """Return the convention for one variant of CatBoost's NDCG, with other measures."""
    return Convention(
        name=name,
        version="1.2.10",
        tool="CatBoost",
        summary=summary,
        policy={**BOOSTING_POLICY, "ties": "worst"},
        forms=(
            Form(measure="nDCG", settings={**settings, "ideal": "retrieved"}),
            Form(measure="DCG", settings=settings, policy=CATBOOST_ZERO),
            *others,
        ),
        limit=NO_NEGATIVE,
        notes=(
            LISTS_ONLY,
            "Among documents with equal predictions, the one with the lowest grade comes first.",
        ),
        sources=(f"the metric NDCG:{words} of CatBoost 1.2.10",),
    )


XGBOOST = Convention(
    name="xgboost",
    version="3.2.0",
    tool="XGBoost",
    summary="Exponential gains; the ideal is the list itself in the best order; queries "
    "without relevant documents count as 1.",
    policy=BOOSTING_POLICY,
    forms=(Form(measure="nDCG", settings=EXP2), *XGBOOST_BINARY),
    limit=Limit(
        "rejects grades that are not integers from 0 to 31", least=0, most=31, integers=True
    ),
    notes=(
        LISTS_ONLY,
        "Tied documents stay in input order, as a comment in its source warns.",
    ),
    bugs=(
        Bug(
            "weighted_empty",
            "With weights, a query without relevant documents adds 1 without its weight. If this "
            "makes the mean exceed 1, it stops with an error.",
        ),
    ),
    sources=("the metrics ndcg@k, map@k and pre@k of XGBoost 3.2.0",),
)

ROWS = (
    Convention(
        name="lightgbm",
        version="4.7.0",
        tool="LightGBM",
        summary="Exponential gains; the ideal is the list itself in the best order; queries "
        "without relevant documents count as 1.",
        policy=BOOSTING_POLICY,
        forms=(
            Form(measure="nDCG", settings=EXP2),
            Form(measure="AP", settings=REACHABLE),
        ),
        limit=Limit(
            "rejects grades that are not integers from 0 to 30", least=0, most=30, integers=True
        ),
        options=(Option("label_gain", "gain"),),
        notes=(LISTS_ONLY, "It rejects queries with more than 10,000 documents."),
        bugs=(
            Bug(
                "weighted_empty",
                "With weights, a query without relevant documents adds 1 without its weight: the "
                "mean of two queries with weight 0.1 can be 5.5.",
            ),
        ),
        sources=("the metrics ndcg and map of LightGBM 4.7.0",),
    ),
    XGBOOST,
    replace(
        XGBOOST,
        name="xgboost_minus",
        summary="Like xgboost, with a minus after the metric: queries without relevant documents "
        "count as 0.",
        policy={**BOOSTING_POLICY, "empty": "zero"},
        bugs=(),
        sources=("the metrics ndcg@k-, map@k- and pre@k- of XGBoost 3.2.0",),
    ),
    replace(
        XGBOOST,
        name="xgboost_linear",
        summary="Like xgboost, with ndcg_exp_gain=false: linear gains.",
        forms=(Form(measure="nDCG", settings={"ideal": "retrieved"}),),
        limit=NO_NEGATIVE,
        sources=("the metric ndcg@k of XGBoost 3.2.0 with ndcg_exp_gain=false",),
    ),
    catboost(
        "catboost",
        "type=Base;denominator=LogPosition",
        "Linear gains; the ideal is the list itself in the best order; ties are in the worst "
        "order; queries without relevant documents count as 1.",
        {},
        (
            Form(measure="AP", settings=REACHABLE, policy=CATBOOST_ZERO),
            Form(measure="RR", policy=CATBOOST_ZERO),
            Form(measure="P", settings=RETRIEVED, policy=CATBOOST_ZERO),
            Form(measure="SetP", policy=CATBOOST_ZERO),
            Form(measure="R"),
            Form(measure="SetR"),
        ),
    ),
    catboost(
        "catboost_exp",
        "type=Exp;denominator=LogPosition",
        "Like catboost, with exponential gains.",
        {"gain": "exp2"},
    ),
    catboost(
        "catboost_position",
        "type=Base;denominator=Position",
        "Like catboost, with the discount 1/rank.",
        {"discount": "reciprocal"},
    ),
    catboost(
        "catboost_exp_position",
        "type=Exp;denominator=Position",
        "Like catboost, with exponential gains and the discount 1/rank.",
        {"gain": "exp2", "discount": "reciprocal"},
    ),
)

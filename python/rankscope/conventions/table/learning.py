"""Machine learning libraries, which only see lists of labels and predictions."""

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
    alike,
)
from rankscope.records import replace

SKLEARN_POLICY = {
    **UNKNOWN,
    "ties": "average",
    "empty": "zero",
    "missing": "skip",
    "negative": "error",
}
RETRIEVED = {"ideal": "retrieved"}
SKLEARN_NOTES = (
    "It rejects lists with one document or different lengths, and NaN; rankscope accepts them.",
    "Its log_base cancels in nDCG.",
)

TOPK = {"ties": "input"}

SKLEARN = Convention(
    name="sklearn",
    version="1.9.1",
    tool="scikit-learn",
    summary="Linear gains; the ideal is the list itself in the best order; the value is "
    "averaged over the orders of tied documents.",
    policy=SKLEARN_POLICY,
    forms=(
        Form(
            measure="nDCG",
            settings=RETRIEVED,
            limit=Limit("rejects negative grades in ndcg_score", least=0),
        ),
        Form(measure="DCG", takes=("k", "discount", "base"), policy={"negative": "gain"}),
    ),
    notes=(LISTS_ONLY, *SKLEARN_NOTES),
    sources=("sklearn.metrics.ndcg_score and dcg_score of scikit-learn 1.9.1",),
)

ROWS = (
    SKLEARN,
    replace(
        SKLEARN,
        name="sklearn_ignore_ties",
        summary="Like sklearn, with ignore_ties=True: tied documents stay in one order.",
        policy={**SKLEARN_POLICY, "ties": "input"},
        notes=(
            LISTS_ONLY,
            *SKLEARN_NOTES,
            (
                "It orders equal scores by NumPy's argsort, reversed, which is not stable even for "
                "short lists and differs between processors. Input order is one such order."
            ),
        ),
        sources=("sklearn.metrics.ndcg_score(…, ignore_ties=True) of scikit-learn 1.9.1",),
    ),
    Convention(
        name="torchmetrics",
        version="1.9.0",
        tool="TorchMetrics",
        summary="Like scikit-learn for nDCG, in single precision; AP divides by the number of "
        "relevant documents found.",
        policy=SKLEARN_POLICY,
        forms=(
            Form(measure="nDCG", settings=RETRIEVED),
            Form(measure="AP", settings={"denominator": "found"}, policy=TOPK),
            *alike("P", "SetP", "R", "SetR", "RR", "Success", policy=TOPK),
        ),
        limit=Limit(f"only accepts integers, and {NO_NEGATIVE.says}", least=0, integers=True),
        computes_in="float32",
        options=(
            Option("empty_target_action", "empty", ("one", "skip", "error")),
            Option("aggregation='median'", "aggregate", ("median",)),
        ),
        notes=(
            LISTS_ONLY,
            (
                "Except for nDCG, tied documents are in the order of torch.topk, which is not "
                "stable. Input order is one such order."
            ),
        ),
        bugs=(
            Bug(
                "nonpositive_scores",
                "In AP, RR, P and R, a relevant document with a score of 0 or below counts as not "
                "relevant.",
            ),
        ),
        sources=("torchmetrics.retrieval of TorchMetrics 1.9.0",),
    ),
    Convention(
        name="rax",
        version="0.4.0",
        tool="Rax",
        summary="Exponential gains; the ideal is the list itself in the best order.",
        policy={**SKLEARN_POLICY, "ties": "input"},
        forms=(
            Form(measure="nDCG", settings={"gain": "exp2", "ideal": "retrieved"}),
            Form(measure="DCG", settings={"gain": "exp2"}),
            Form(measure="AP"),
            Form(measure="RR"),
            Form(measure="P", settings={"denominator": "retrieved"}),
            *alike("SetP", "R", "SetR"),
        ),
        limit=NO_NEGATIVE,
        computes_in="float32",
        options=(Option("gain_fn", "gain"), Option("rank_discount_fn", "discount")),
        notes=(LISTS_ONLY, "With a random key it breaks ties at random."),
        sources=("rax.ndcg_metric of Rax 0.4.0",),
    ),
    Convention(
        name="polars_ds",
        version="0.13.0",
        tool="polars-ds",
        summary="Linear gains; the ideal is the list itself in the best order; the value is "
        "averaged over the orders of tied documents.",
        policy=SKLEARN_POLICY,
        forms=(Form(measure="nDCG", settings=RETRIEVED),),
        limit=NO_NEGATIVE,
        options=(Option("ignore_ties=True", "ties", ("input",)),),
        notes=(LISTS_ONLY,),
        bugs=(Bug("ignore_ties", "Its documentation of ignore_ties says the opposite."),),
        sources=("polars_ds.query_ndcg_score of polars-ds 0.13.0",),
    ),
)

"""Names of measures in more libraries: what they mean here, or what to use instead.

The rows of the table of measures have the names of trec_eval, ir_measures, ranx and scikit-learn.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from rankscope._names import LONGEST_NAME
from rankscope.measures.domains import SPELLED_NUMBER

PLACES = {"k": r"\d+", "p": r"0?\.\d+"}
"""The numbers that can stand in a name of another library, where not every number can."""


class OtherName(NamedTuple):
    """Names that other libraries have for one measure.

    Args:
        libraries: The libraries, as a text.
        names: The names; `{k}`, or another name in braces, stands for a number.
        means: The measure of rankscope, with the same numbers, or an empty string.
        note: How the measure of the library differs, or an empty string.
        instead: If there is no such measure, what to use instead.
    """

    libraries: str
    names: tuple[str, ...]
    means: str = ""
    note: str = ""
    instead: str = ""

    @property
    def is_pattern(self) -> bool:
        """Whether the names contain numbers other than a cutoff."""
        return "{" in self.names[0]


def _same(libraries: str, means: str, names: str, note: str = "") -> OtherName:
    return OtherName(libraries, tuple(names.split()), means, note)


def _other(libraries: str, instead: str, names: str) -> OtherName:
    return OtherName(libraries, tuple(names.split()), instead=instead)


OWN = "or write your own with rs.measure"
PREDICTIONS = (
    "it compares predicted ratings or classes, not rankings; scikit-learn's sklearn.metrics has it"
)
FAIRNESS = (
    "AWRF@{at} and EEL@{at} compare who gets attention: docs/exposure-and-fairness.md; " + OWN
)
EXPEVAL = "It has model='gerr' by default, and divides values by bounds unless -U is set."
AGREE = "it compares two rankings: rs.agreement and rankscope agreement have it"
TAIL = "AvgPopularity and Novelty say how popular the recommended items are; " + OWN
LISTS = "it counts lists, not their quality; result.counts has how many queries have one"
ALL_TIED = "Tied documents share the lowest of their ranks."

CWL = (
    _same("cwl_eval", "RBP_CWL(p={p}, max_rel=1)", "RBP@{p}"),
    _same("cwl_eval", "SDCG(max_rel=1)@{k}", "NDCG-k@{k} SDCG-k@{k}"),
    _same("cwl_eval", "INST(T={T}, max_rel=1)", "INST-T={T} INST-T@{T}"),
    _same("cwl_eval", "INSQ(T={T}, max_rel=1)", "INSQ-T={T} INSQ-T@{T}"),
    _same("cwl_eval", "NERR8(max_rel=1)@{k}", "NERR-EQ8@k={k} NERR-eq8@{k} NERReq8@{k}"),
    _same("cwl_eval", "NERR9(max_rel=1)@{k}", "NERR-EQ9@k={k} NERR-eq9@{k} NERReq9@{k}"),
    _same("cwl_eval", "NERR10(p={p}, max_rel=1)", "NERR-EQ10@phi={p} NERR-eq10@{p}"),
    _same("cwl_eval", "NERR11(T={T}, max_rel=1)", "NERR-EQ11@T={T} NERR-eq11@{T}"),
    _other("cwl_eval", "write NERR8(max_rel=1)@10", "NERR-eq8 NERReq8"),
    _other("cwl_eval", "write NERR9(max_rel=1)@10", "NERR-eq9 NERReq9"),
    _other("cwl_eval", "write NERR10(p=0.9, max_rel=1)", "NERR-eq10 NERReq10"),
    _other("cwl_eval", "write NERR11(T=1.0, max_rel=1)", "NERR-eq11 NERReq11"),
    _same("cwl_eval", "TBG(halflife={H}, max_rel=1)", "TBG-H@{H}"),
    _same("cwl_eval", "U(L={L}, max_rel=1)", "U-L@{L}"),
    _same("cwl_eval", "BPM(T={T}, max_rel=1)@{k}", "BPM-Static-T={T}-K={k}"),
    _other(
        "cwl_eval",
        "its user changes expectations with each rank; BPM(T={T}, max_rel=1)@{k} keeps them",
        "BPM-Dynamic-T={T}-K={k}-hb={b}-hc={c} BPM-Dynamic-T={T}-K={k}",
    ),
    _other(
        "cwl_eval",
        "its user changes expectations with each rank; BPM(T=1.0, max_rel=1)@10 keeps them",
        "BPM-Dynamic BPM-D",
    ),
    _same(
        "cwl_eval",
        "IFT(stops_by='goal', T={T}, b1={b}, R1={R}, max_rel=1)",
        "IFT-C1-T={T}-b1={b}-R1={R} IFT-C1-T@{T}-b1@{b}-R1@{R}",
    ),
    _same(
        "cwl_eval",
        "IFT(stops_by='rate', A={A}, b2={b}, R2={R}, max_rel=1)",
        "IFT-C2-A={A}-b2={b}-R2={R} IFT-C2-A@{A}-b2@{b}-R2@{R}",
    ),
    _same(
        "cwl_eval",
        "IFT(T={T}, b1={b}, R1={R}, A={A}, b2={c}, R2={S}, max_rel=1)",
        "IFT-C1-C2-T={T}-b1={b}-R1={R}-A={A}-b2={c}-R2={S} "
        "IFT-C1-C2-T@{T}-b1@{b}-R1@{R}-A@{A}-b2@{c}-R2@{S}",
    ),
    _other("cwl_eval", "write IFT(stops_by='goal', T={T}, max_rel=1)", "IFT-C1-T={T} IFT-C1-T@{T}"),
    _other(
        "cwl_eval",
        "it is RBP with p = 1/(1 + {r}): write RBP_CWL(p=…, max_rel=1)",
        "NPV-r@{r} NPV@{r}",
    ),
    _other("cwl_eval", "it is RBP with p = 1/(1 + r): write RBP_CWL(p=…, max_rel=1)", "NPV"),
    _other("cwl_eval", "P_CWL(max_rel=1)@{k} is that with b = 1", "SET-k@{k}-b@{b}"),
    _other("cwl_eval", "P_CWL(max_rel=1)@10 is that with b = 1", "SET"),
    _other("cwl_eval", "AP_CWL(max_rel=1) is that of the final definition", "TrAP"),
    _same("cwl_eval", "P", "P", note="P_CWL(max_rel=1) is the one for gains between 0 and 1."),
    _same("cwl_eval", "RR", "RR", note="RR_CWL(max_rel=1) is the one for gains between 0 and 1."),
    _same(
        "cwl_eval",
        "AP",
        "AP",
        note="It divides by the relevant documents in the list: AP_CWL(max_rel=1).",
    ),
    _other("cwl_eval", "every measure reports it by default: INST(max_rel=1)", "EU"),
    _other("cwl_eval", "write INST(value='total_utility', max_rel=1)", "ETU"),
    _other("cwl_eval", "write INST(value='cost', max_rel=1)", "EC"),
    _other("cwl_eval", "write INST(value='total_cost', max_rel=1)", "ETC"),
    _other("cwl_eval", "write INST(value='items', max_rel=1)", "ED"),
)

DIVERSITY = (
    _same("ndeval", "alpha_nDCG", "alpha-nDCG AlphaNDCG"),
    _same("ndeval", "alpha_DCG", "alpha-DCG"),
    _same("TF-Ranking", "alpha_DCG", "AlphaDCG AlphaDCGMetric"),
    _same("ndeval", "ERR_IA", "ERR-IA"),
    _same("ndeval", "nERR_IA", "nERR-IA"),
    _same("ndeval", "AP_IA", "MAP-IA AP-IA"),
    _same("ndeval", "P_IA", "P-IA"),
    _same("TF-Ranking", "P_IA", "PrecisionIA PrecisionIAMetric precision_ia"),
    _same("Elliot, NTCIREVAL", "StRecall", "SRecall I-rec iRec"),
    _other(
        "NTCIREVAL",
        "alpha_nDCG@{at} and ERR_IA@{at} are diversity measures of a list",
        "D-nDCG D#-nDCG",
    ),
)

TORCHMETRICS = (
    _same("torchmetrics", "AP(denominator='found')", "RetrievalMAP retrieval_average_precision"),
    _same("torchmetrics", "RR", "RetrievalMRR retrieval_reciprocal_rank"),
    _same("torchmetrics", "P", "RetrievalPrecision retrieval_precision"),
    _same("torchmetrics", "R", "RetrievalRecall retrieval_recall"),
    _same("torchmetrics", "Success", "RetrievalHitRate retrieval_hit_rate"),
    _same("torchmetrics", "Rprec", "RetrievalRPrecision retrieval_r_precision"),
    _same(
        "torchmetrics",
        "nDCG(ideal='retrieved')",
        "RetrievalNormalizedDCG retrieval_normalized_dcg",
        note="It averages over the orders of tied documents.",
    ),
    _same(
        "torchmetrics",
        "AUC",
        "RetrievalAUROC retrieval_auroc",
        note="Tied pairs count half, and with top_k, it sees only the first k documents.",
    ),
    _other(
        "torchmetrics",
        "P@{at} is the share of relevant documents among those retrieved; " + OWN,
        "RetrievalFallOut retrieval_fall_out fall_out FallOut",
    ),
    _other(
        "torchmetrics",
        "IPrec@0.1 is a point of a curve, and P@10 and R@10 are one of a cutoff",
        "RetrievalPrecisionRecallCurve retrieval_precision_recall_curve "
        "RetrievalRecallAtFixedPrecision retrieval_recall_at_fixed_precision",
    ),
)

LEARNING_TO_RANK = (
    _same("Rax, TF-Ranking", "RR", "mrr_metric MRRMetric"),
    _same("Rax, TF-Ranking", "R", "recall_metric RecallMetric"),
    _same("TF-Ranking", "P", "PrecisionMetric"),
    _same("Rax", "P(denominator='retrieved')", "precision_metric"),
    _same("Rax, TF-Ranking", "AP", "ap_metric MeanAveragePrecisionMetric"),
    _same("TF-Ranking", "Success", "HitsMetric"),
    _same("TF-Ranking", "Bpref", "BPrefMetric"),
    _same("Rax, TF-Ranking", "nDCG(gain='exp2', ideal='retrieved')", "ndcg_metric NDCGMetric"),
    _same("Rax, TF-Ranking", "DCG(gain='exp2')", "dcg_metric DCGMetric"),
    _same("several", "nDCG", "normalized_discounted_cumulative_gain"),
    _same("several", "DCG", "discounted_cumulative_gain"),
    _other(
        "Rax, TF-Ranking",
        "AUC is the share of pairs of a relevant and a nonrelevant document in the right order",
        "opa_metric OPAMetric OPA ordered_pair_accuracy",
    ),
    _other(
        "TF-Ranking",
        "RR and AP measure how high relevant documents rank; ARP is the popularity of items here",
        "ARPMetric average_relevance_position",
    ),
    _other("TF-Ranking", "DCG weighs documents by their ranks, too; " + OWN, "PWAMetric PWA"),
    _same("CatBoost", "P(denominator='retrieved')@{k}", "PrecisionAt:top={k}"),
    _same("CatBoost", "R@{k}", "RecallAt:top={k}"),
    _same(
        "CatBoost",
        "nDCG(ideal='retrieved')@{k}",
        "NDCG:top={k}",
        note="It puts the worst of tied documents first, and with type=Exp has the gain exp2.",
    ),
    _same("CatBoost", "AP(denominator='reachable')@{k}", "MAP:top={k}"),
    _same("CatBoost", "RR@{k}", "MRR:top={k}"),
    _other("CatBoost", "write ERR@{k}, with the convention catboost", "ERR:top={k}"),
    _other("CatBoost", "ERR@{at} also models a user who reads from the top", "PFound"),
    _other("CatBoost", "write AUC: the mean over queries", "QueryAUC"),
    _same("XGBoost", "nDCG(gain='exp2', ideal='retrieved')@{k}", "ndcg@{k}-"),
    _same("XGBoost", "AP(denominator='reachable')@{k}", "map@{k}-"),
    _same("XGBoost", "P(denominator='retrieved')", "pre"),
    _same("Spark", "nDCG(gain='binary')", "ndcgAt"),
    _same("Spark", "P", "precisionAt"),
    _same("Spark", "R", "recallAt"),
    _same("Spark", "AP", "meanAveragePrecision"),
    _same("Spark", "AP(denominator='reachable')", "meanAveragePrecisionAt"),
)

RECOMMENDERS = (
    _same("Recommenders", "P", "precision_at_k"),
    _same("Recommenders", "R", "recall_at_k"),
    _same("Recommenders", "nDCG(gain='binary')", "ndcg_at_k"),
    _same("Recommenders", "Rprec", "r_precision_at_k", note="It counts at most k documents."),
    _same("Recommenders", "AP(denominator='reachable')", "map_at_k"),
    _same("Evidently", "P", "PrecisionTopK PrecisionTopKMetric"),
    _same("Evidently", "R", "RecallTopK RecallTopKMetric"),
    _same("Evidently", "F", "FBetaTopK FBetaTopKMetric"),
    _same("RecTools, Cornac", "F", "F1Beta FMeasure"),
    _same("Evidently", "nDCG(ideal='retrieved')", "NDCGKMetric NDCGK"),
    _same("Evidently", "AP", "MAPKMetric MAPK"),
    _same("Evidently", "RR", "MRRKMetric MRRK"),
    _same("Evidently", "Success", "HitRateKMetric HitRateK"),
    _same("Cornac", "Success", "HitRatio"),
    _same("Elliot", "NumRet", "NumRetrieved", note="It is a mean over users; in rankscope, a sum."),
    _same("LensKit", "RR", "RecipRank"),
    _same("LensKit", "AP", "AveragePrecision"),
    _same(
        "RecTools",
        "Coverage(normalize=False)",
        "CatalogCoverage",
        note="It counts items outside the catalogue as well.",
    ),
    _same("Recommenders", "Coverage", "catalog_coverage"),
    _same("Recommenders", "Entropy", "distributional_coverage"),
    _same(
        "RecBole",
        "Entropy",
        "ShannonEntropy",
        note="In Elliot, it is the same. In RecBole, it has natural logarithms, and is divided by "
        "the number of recommended items.",
    ),
    _same("RePlay", "Novelty(normalize=True)", "Surprisal"),
    _same(
        "RecTools, RecBole",
        "AvgPopularity",
        "AvgRecPopularity AveragePopularity",
        note="It counts each interaction of a user, and not each user once.",
    ),
    _same(
        "RecTools",
        "ILD",
        "IntraListDiversity",
        note="It takes a distance, as distance= does, and is 0 for a list of one item.",
    ),
    _same("Evidently", "Personalization", "PersonalizationMetric"),
    _same("Evidently", "Novelty", "NoveltyMetric"),
    _same(
        "Evidently",
        "ILD",
        "DiversityMetric",
        note="It has the distance of the columns that are chosen.",
    ),
    _other(
        "Evidently",
        "Serendipity@{at} is that of RecTools, which goes by popularity and not by features",
        "SerendipityMetric",
    ),
    _same(
        "RecTools",
        "Accuracy",
        "Accuracy",
        note="That of RecTools is the share of all items that are classified right; here, as in "
        "ir_measures, it is about pairs of documents.",
    ),
    _same(
        "Recommenders, RePlay",
        "Novelty",
        "Novelty",
        note="That of Recommenders weighs items by how often they are recommended; that of RePlay "
        "is the share of items that the user didn't have before.",
    ),
    _same(
        "Recommenders, Evidently",
        "Serendipity",
        "Serendipity",
        note="Theirs go by the similarity of items, and that of RecTools by popularity, as here.",
    ),
    _same(
        "RePlay",
        "Coverage",
        "Coverage",
        note="Its catalogue is the items of the training data: pass them as catalogue.",
    ),
    _same("Elliot", "Gini", "Gini", note="It is 1 minus the Gini index."),
    _same(
        "Elliot",
        "AUC",
        "AUC",
        note="That of Elliot is of all users' pairs together; its GAUC is the mean over users.",
    ),
    _same("expeval", "EEL", "EE-L EE_L", note=EXPEVAL),
    _same("expeval", "EED", "EE-D EE_D", note=EXPEVAL),
    _same("expeval", "EER", "EE-R EE_R", note=EXPEVAL),
    _other("RecTools", "P@{at} and R@{at} are measures of a list; " + OWN, "MCC"),
    _other("RecTools", "Personalization@{at} compares the lists of users; " + OWN, "Intersection"),
    _other("RecTools", LISTS, "SufficientReco UnrepeatedReco CoveredUsers"),
    _other("Elliot", LISTS, "UserCoverage"),
    _other(
        "RePlay",
        "ILD(distance='jaccard')@{at} is about the categories of a list; " + OWN,
        "CategoricalDiversity",
    ),
    _other("RePlay", "AUC@{at} is RecTools' PartialAUC; " + OWN, "RocAuc"),
    _other("RePlay", "Serendipity@{at} and Novelty@{at} are close to it; " + OWN, "Unexpectedness"),
    _other("RePlay", "rs.clicks.evaluate_off_policy weighs by propensities", "NCISPrecision"),
    _other(
        "Recommenders",
        "ILD@{at} is the diversity of a list by the attributes of items",
        "diversity user_diversity intra_list_similarity ILS",
    ),
    _other("Recommenders", "Novelty is the one by popularity", "historical_item_novelty"),
    _same("Elliot", "nDCG(gain='binary')", "nDCGRendle2020"),
    _other("Elliot, Evidently", "R@{at} is recall at one cutoff; " + OWN, "MAR"),
    _other("Elliot", "F@{at} is F of precision and recall", "ExtF1 ExtendedF1 DSC"),
    _other("Elliot, RecBole", "write AUC: the mean over queries", "GAUC"),
    _other("Elliot", "write AUC@{at}: a limited area", "LAUC"),
    _other("Elliot", TAIL, "ACLT APLT EFD EPC"),
    _other("RecBole, LensKit, Evidently", TAIL, "TailPercentage MeanPopRank PopularityBias"),
    _other(
        "Elliot",
        FAIRNESS,
        "PopREO PopRSP REO RSP BiasDisparityBD BiasDisparityBR BiasDisparityBS "
        "ItemMADranking ItemMADrating UserMADranking UserMADrating",
    ),
    _other("Evidently", FAIRNESS, "ItemBias UserBias ScoreDistribution RecCasesTable"),
    _other(
        "LensKit", "Gini@{at} counts how often an item is recommended, at any rank", "ExposureGini"
    ),
    _other(
        "LensKit", "Entropy@{at} counts every rank alike", "rank_biased_entropy RankBiasedEntropy"
    ),
    _other("LensKit", TAIL, "least_item_promoted LeastItemPromoted"),
    _other("Cornac", "RR@{at} and nDCG@{at} discount by rank, too", "NCRR"),
)

SCIKIT_LEARN = (
    _same("scikit-learn", "AP", "label_ranking_average_precision_score LRAP", note=ALL_TIED),
    _same("several", "Success", "top_k_accuracy top_k_accuracy_score"),
    _other("scikit-learn", "write AUC, which is a value of each query", "roc_auc_score"),
    _other("XGBoost", "AP is the area under the curve of precision and recall", "aucpr"),
    _other(
        "scikit-learn", "AUC is 1 minus the share of pairs in the wrong order", "label_ranking_loss"
    ),
    _other(
        "scikit-learn", "R@{at} is the share of relevant documents above a cutoff", "coverage_error"
    ),
    _other(
        "scikit-learn",
        "it is of classes; P@{at}, R@{at} and F@{at} are of rankings",
        "precision_score recall_score f1_score",
    ),
    _other(
        "several",
        PREDICTIONS,
        "MAE MSE RMSE MAPE rsquared R2 exp_var logloss log_loss brier_score_loss",
    ),
)

OTHERS = (
    _same("Elasticsearch", "ERR", "expected_reciprocal_rank"),
    _same("NTCIREVAL", "Q", "Q-measure nQ"),
    _same("BEIR", "Unjudged", "hole holes"),
    _same("BEIR", "R(denominator='reachable')", "R_cap recall_cap"),
    _same("PyKEEN", "RR", "inverse_harmonic_mean_rank"),
    _other("NTCIREVAL", "write nDCG@{at}, or nDCG(gain='exp2')@{at}", "MSnDCG"),
    _other(
        "PyKEEN",
        "RR@{at} and Success@{at} are of the same ranks",
        "mean_rank MR AMR AMRI adjusted_mean_rank AdjustedMeanRank",
    ),
    _other("several", AGREE, "RBO rank_biased_overlap"),
    _other("several", AGREE, "tau_ap kendalltau kendall_tau spearman KTU"),
    _other("NIST", "xinfAP is the estimate from a sample by stratum", "statAP statMAP"),
    _other("several", "P@{at} divided by the share of relevant documents; " + OWN, "lift"),
    _other(
        "several", "write Success@1 for the first document, R@1 for its share of all", "top1 top-1"
    ),
)

OTHER_NAMES = (
    *CWL,
    *DIVERSITY,
    *TORCHMETRICS,
    *LEARNING_TO_RANK,
    *RECOMMENDERS,
    *SCIKIT_LEARN,
    *OTHERS,
)
"""Every name that isn't in the table of measures, by library."""

MANY_MEANINGS = {
    "hits": "Success@{at} is 1 for a query with a hit, and NumRet(rel=1)@{at} counts hits",
    "rbp": "RBP@{at} has this cutoff; ranx's rbp@{at} has p=0.{at}, which is rbp.{at} here",
    "context_precision": "AP(denominator='found')@{at} is that of Ragas, P@{at} the ID-based one",
    "context_recall": "R@{at} is the ID-based one; that of Ragas compares texts",
}
"""Names with a cutoff that tools use for different measures, and what to write instead."""
ALONE = frozenset({"hits", "rbp"})
"""Those that have one meaning without a cutoff."""


@cache
def plain_names() -> dict[str, OtherName]:
    """Return the names that contain no numbers, in lower case."""
    return {
        name.casefold(): other
        for other in OTHER_NAMES
        if not other.is_pattern
        for name in other.names
    }


@cache
def _patterns() -> tuple[tuple[str, str, OtherName], ...]:
    """Return the names that contain numbers, with what stands before the first one."""
    return tuple(
        (name, name.partition("{")[0].casefold(), other)
        for other in OTHER_NAMES
        if other.is_pattern
        for name in other.names
    )


def find_pattern(text: str) -> tuple[OtherName, dict[str, str]] | None:
    """Return the name of another library that a text is, with the numbers in it.

    Examples:
        >>> match = find_pattern("INST-T=2")
        >>> match and (match[0].means, match[1])
        ('INST(T={T}, max_rel=1)', {'T': '2'})
    """
    if len(text) > LONGEST_NAME:
        return None
    text = text.strip()
    for name, start, other in _patterns():
        if not text.casefold().startswith(start):
            continue
        parts = re.split(r"{(\w)}", name)
        pattern = "".join(
            f"(?P<{part}>{PLACES.get(part, SPELLED_NUMBER)})" if place % 2 else re.escape(part)
            for place, part in enumerate(parts)
        )
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if match:
            return other, match.groupdict()
    return None

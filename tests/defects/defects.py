"""Defects in other tools, by version, with the tests that rankscope does not have them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Defect:
    """What a tool does, what rankscope does instead, and the tests that hold it to this."""

    tool: str
    there: str
    here: str
    tests: tuple[str, ...]


SCORES = (
    Defect(
        "torchmetrics 1.7.4 to 1.9.0",
        "RR, AP, P and R treat a relevant document with a score of 0 or below as not relevant. "
        "Logits, log-probabilities and negated distances get values that are too low.",
        "A score of 0 or below ranks like any other score.",
        ("test_a_score_of_0_or_below_ranks_like_any_other",),
    ),
    Defect(
        "Evidently 0.7.23",
        "With tied scores, NDCG@1 can be 2.0, NDCG@3 1.226 and Precision@1 2.0. Three relevant "
        "documents tied at the top give NDCG@1 = 0.",
        "No value exceeds 1 under any tie-breaking rule, and three relevant documents at the top "
        "are a perfect top 3 in any order.",
        (
            "test_tied_documents_give_no_value_above_1",
            "test_three_relevant_documents_tied_at_the_top_fill_the_first_three_ranks",
            "test_two_documents_tied_at_the_top_share_the_first_rank",
        ),
    ),
    Defect(
        "ir_measures 0.4.3",
        "For one run with ties, RR is 0.5 but RR@2 is 1.0, and P@1 is 0 but RR@1 is 1.0, because "
        "each measure uses the tie-breaking rule of the program behind it.",
        "All measures and cutoffs of a call use the same tie-breaking rule.",
        ("test_one_rule_for_ties_holds_for_every_measure_and_cutoff",),
    ),
    Defect(
        "ranx 0.3.21",
        "An unstable sort orders ties: of 40 tied documents, the first one moved to rank 21.",
        '`ties="input"` keeps the input order, however long the list is.',
        ("test_ties_in_input_order_stay_in_input_order_however_long",),
    ),
    Defect(
        "TensorFlow Ranking (March 2024)",
        "Ties are broken at random on every call, without a seed.",
        "Every call and every process gives the same bits.",
        ("test_ties_are_decided_the_same_way_in_every_process",),
    ),
    Defect(
        "trectools 0.0.45",
        "An option called trec_eval breaks ties by the smaller document ID, but trec_eval uses the "
        "larger one. The mean is divided by the number of topics in the run.",
        "The default is the rule of trec_eval, byte by byte, and the mean is over the judged "
        "queries.",
        (
            "test_ties_go_to_the_larger_id_as_in_trec_eval",
            "test_queries_that_are_only_in_the_run_do_not_enter_the_mean",
        ),
    ),
    Defect(
        "polars-ds 0.13",
        "The docstring of `ignore_ties` says the opposite of what the option does.",
        "`ignore_ties=True` ranks the last of the tied documents first, and the default averages "
        "over all orders, as documented and as in scikit-learn.",
        ("test_ignoring_ties_takes_one_order_and_the_default_averages_all",),
    ),
    Defect(
        "Scholar (Elixir), issue 360",
        "A model that gives every document the same score has an NDCG of 1.",
        "Matrices, groups and tables average over the orders of tied documents. A constant model "
        "gets the value of a random order.",
        ("test_a_model_that_scores_all_alike_is_not_perfect",),
    ),
)

IDEALS = (
    Defect(
        "Elasticsearch `_rank_eval` (pull request 154362), MLflow (issue 24541)",
        "The ideal is cut at the number of returned hits. One hit out of five relevant documents "
        "scores 1.0, and five hits at ranks 6 to 10 score 0.54.",
        "One hit out of five scores 0.339. Only the cutoff limits the ideal.",
        (
            "test_one_hit_of_five_is_not_perfect",
            "test_one_hit_at_the_top_is_worth_less_than_five_below",
        ),
    ),
    Defect(
        "Spark 4.3.0, `RankingMetrics.ndcgAt`",
        "The ideal uses graded labels in input order, so values can reach 1.409.",
        "The order of the judgments doesn't matter.",
        ("test_the_order_of_the_judgments_does_not_matter",),
    ),
    Defect(
        "OpenSearch Search Relevance Workbench (issue 191)",
        "An NDCG of 1.31 was reported.",
        "No ranking of judged documents is above 1, at any depth and cutoff.",
        ("test_no_ranking_of_judged_documents_is_above_1",),
    ),
    Defect(
        "Quepid 8.6",
        "`NDCG@10` doesn't cut its ideal, so a perfect top 10 can score below 1. `NDCG_CUT@10` "
        "does cut it; only the name distinguishes the two.",
        "A perfect top 10 scores 1. The other ideal is a parameter and part of the name: "
        "`nDCG(ideal='whole')@10`.",
        (
            "test_a_perfect_top_10_is_1_where_more_are_relevant",
            "test_another_ideal_has_another_name",
        ),
    ),
    Defect(
        "RecTools 0.19.0, by default",
        "The ideal has a relevant document at every rank up to the cutoff, so a perfect list for a "
        "user with fewer relevant documents scores below 1.",
        'The ideal contains the relevant documents. The other definition is `ideal="slots"`.',
        ("test_all_that_is_relevant_at_the_top_is_1_where_it_is_less_than_the_cutoff",),
    ),
    Defect(
        "trec_eval 9.0.8 and 10.0",
        "Fractional gains are sorted by their difference, truncated to an integer. A perfect "
        "ranking with `-m ndcg.1=0.9,2=0.5,3=0.1` scores 0.",
        "The ranking scores 1, with these gains and with a tenth of them.",
        ("test_fractional_gains_are_sorted_as_they_are",),
    ),
    Defect(
        "LlamaIndex (issue 22683), Evidently 0.7.23, MLflow (issue 25965)",
        "A document that appears twice counts twice (NDCG 1.63), or gets a suffix that another "
        "document may already have.",
        "A repeated document is an error that names the row, or counts once if you choose that. "
        "IDs are never changed.",
        (
            "test_a_document_given_twice_earns_its_gain_once",
            "test_ids_that_differ_by_a_suffix_are_different_documents",
        ),
    ),
    Defect(
        "Evidently 0.7.23",
        "For NDCG and MRR, the value at k is in the row of k + 1. A k beyond the end of the list "
        "raises a KeyError.",
        "The value at k is in the row of k, and a list can be shorter than k.",
        (
            "test_the_value_at_a_cutoff_stands_at_that_cutoff",
            "test_a_cutoff_beyond_the_end_of_a_list_is_the_whole_list",
        ),
    ),
    Defect(
        "Rated Ranking Evaluator",
        "NDCG is truncated to two decimals.",
        "Values have double precision and equal their formulas.",
        ("test_values_are_not_rounded",),
    ),
)

MEANS = (
    Defect(
        "LightGBM 4.7.0, XGBoost (source of August 2026)",
        "A query without relevant documents adds 1.0 to the weighted sum, whatever its weight is. "
        "Two queries with weight 0.1 have ndcg@3 = 5.4999. XGBoost clamps the mean to 1, or "
        "aborts.",
        "The weight of such a query counts like any other, and the scale of the weights doesn't "
        "matter.",
        (
            "test_a_query_weight_applies_to_queries_without_relevant_documents",
            "test_the_scale_of_the_weights_does_not_matter",
        ),
    ),
    Defect(
        "trec_eval 10.0",
        "Without `-c`, a judged topic that is missing from the run ends the program with status 4 "
        "and no summary.",
        "The policy `missing` decides whether the query counts as 0 or not at all. The other "
        "queries keep their values.",
        ("test_a_query_that_is_missing_from_the_run_leaves_the_others_their_values",),
    ),
    Defect(
        "recommenders 1.2.1",
        "In one call, nDCG is a mean over all users, but precision, recall and MAP are means over "
        "users with recommendations. The binary default treats a rating of 0 as relevant.",
        "All measures of a call are means over the same queries, and grade 0 is not relevant.",
        (
            "test_all_measures_of_a_call_are_means_over_the_same_queries",
            "test_a_document_of_grade_0_is_not_relevant_in_binary_measures",
        ),
    ),
    Defect(
        "whylogs 1.6.4, Evidently 0.7.23, CatBoost",
        "A query without relevant documents gets NDCG 1 and AP 0 (whylogs); is dropped although "
        "the docstring says that it is kept (Evidently); gets 0 in one version and 1 in another "
        "(CatBoost).",
        "The policy `empty` decides for all measures. Every result prints it, and the number of "
        "queries behind each mean.",
        ("test_a_query_without_relevant_documents_has_one_value_in_all_measures",),
    ),
    Defect(
        "rankkit 0.1.0",
        "Queries without relevant documents are skipped, “matching trec_eval”, but trec_eval "
        "counts them as 0. Gains are exponential by default.",
        "The default counts these queries as trec_eval does, with the same gains.",
        ("test_a_query_without_relevant_documents_counts_0_as_in_trec_eval",),
    ),
    Defect(
        "whylogs 1.6.4",
        "Recall divides by the relevant documents in the list only, and AP by the hits in the top "
        "k.",
        "Both divide by all documents that are judged relevant.",
        ("test_recall_counts_what_was_not_retrieved",),
    ),
    Defect(
        "ir_measures 0.4.3",
        "In diversity measures, a query whose rows aren't adjacent counts twice: 0.742 for a "
        "perfect run.",
        "The rows of a query can be anywhere, for every kind of input.",
        (
            "test_a_query_whose_rows_are_apart_is_one_query",
            "test_a_judged_query_counts_once_however_often_it_is_asked_for",
        ),
    ),
    Defect(
        "torchmetrics, functional (issue 3216)",
        "A matrix of queries is read as a single query.",
        "Each row of a matrix is a query.",
        ("test_rows_of_a_matrix_are_queries",),
    ),
    Defect(
        "LensKit 2025.8.1",
        "`array_dcg(scores, weight)` ignores `weight`.",
        "The discount you choose is the one that is used.",
        ("test_every_discount_that_is_asked_for_is_used",),
    ),
)

ASKING = (
    Defect(
        "trec_eval 10.0",
        "Two measures with gain tables in one call crash the program (a double free, or a "
        "segmentation fault).",
        "Several measures with gain tables can be combined. Each has the value it has alone.",
        ("test_measures_with_tables_of_their_own_stand_beside_each_other",),
    ),
    Defect(
        "trec_eval 10.0",
        "`rbp` reads uninitialized memory. `rbp_resid` is 0 if everything is judged, although the "
        "tail of the list isn't.",
        "Graded RBP is scaled to the top of the grade scale, and the residual includes the tail, p "
        "to the power of the number of documents.",
        (
            "test_graded_rbp_is_scaled_to_the_top_of_the_scale_and_never_above_1",
            "test_the_residual_of_rbp_keeps_the_tail_where_all_is_judged",
        ),
    ),
    Defect(
        "trec_eval 10.0",
        "The release reports its version as 10.0-rc3.",
        "The program reports the version that is installed.",
        ("test_the_program_says_the_version_that_is_installed",),
    ),
    Defect(
        "pytrec_eval-terrier 0.5.11",
        "The measures `ndcg.1=3` and `ndcg_cut.0` end the process. `dcg`, `ideal_dcg` and `rbp` "
        "are missing.",
        "An unknown measure is an error with an explanation, and these three measures are "
        "available.",
        (
            "test_a_measure_that_is_none_is_an_error_in_words",
            "test_measures_of_the_newest_trec_eval_are_there",
        ),
    ),
    Defect(
        "ir_measures 0.4.3",
        "Of two diversity measures in one call, the second is 0, because the first has consumed "
        "the rows. With `judged_only`, they raise a TypeError.",
        "Rows from an iterator serve every measure, with and without unjudged documents.",
        ("test_rows_that_come_once_serve_every_measure",),
    ),
    Defect(
        "ir_measures 0.4.3",
        "RBP, ERR without a cutoff and exponential nDCG without a cutoff aren't supported. "
        "`ERR@10` fails for query IDs that aren't numbers, and `Judged@10` divides by zero for an "
        "empty list.",
        "Cutoffs are optional, query IDs can be any text, and lists can be empty.",
        (
            "test_measures_need_no_cutoff_and_queries_no_number",
            "test_the_share_of_judged_documents_of_an_empty_list_is_0",
        ),
    ),
    Defect(
        "ranx 0.3.21",
        "If no document is judged not relevant, Bpref is NaN, and so is the mean. An empty list "
        "crashes. Grades are truncated, 0.9 to 0 and 1.9 to 1. RBP can exceed 1.",
        "Bpref is a number, empty lists are evaluated, grades aren't truncated, and RBP is at most "
        "1.",
        (
            "test_bpref_is_a_number_where_nothing_is_judged_not_relevant",
            "test_lists_without_documents_are_evaluated",
            "test_grades_are_not_cut_to_integers",
            "test_graded_rbp_is_scaled_to_the_top_of_the_scale_and_never_above_1",
        ),
    ),
    Defect(
        "ranx 0.3.21",
        "Document IDs are compared by hashes that are stored in 53 bits.",
        "IDs are compared by all of their bytes.",
        (
            "test_ids_that_no_float_tells_apart_are_different_documents",
            "test_many_ids_stay_apart",
        ),
    ),
    Defect(
        "ranx 0.3.21, Evidently 0.7.23",
        "Data frames of pandas 3 are rejected, or the import fails when pandas 3 is installed.",
        "Data frames of pandas 2 and 3 are supported.",
        ("test_frames_of_the_newest_pandas_are_read",),
    ),
)

COMPARING = (
    Defect(
        "ranx 0.3.21",
        "The Tukey HSD test treats the values of each run as an independent sample, as if every "
        "run had queries of its own. If queries differ more than runs do, it misses even "
        "differences that all queries have in common.",
        "Max-T controls the same error, keeps the values of a query together, and finds them.",
        ("test_many_runs_are_told_apart_by_a_small_difference_that_all_queries_have_in_common",),
    ),
    Defect(
        "ranx 0.3.21",
        "The p-value of Fisher's randomization test can be 0, because the observed values aren't "
        "counted as one of the permutations.",
        "A p-value is at least 1 / (1 + permutations).",
        ("test_no_permutation_test_has_a_p_value_of_0",),
    ),
    Defect(
        "ranx 0.3.21",
        "Fisher's randomization test has a seed, but its p-values differ from call to call, "
        "because each thread has random numbers of its own.",
        "The same seed gives the same p-value for any number of threads.",
        ("test_a_seed_gives_the_same_p_value_for_any_number_of_threads",),
    ),
)

DEFECTS = {
    "Scores and ties": SCORES,
    "The ideal": IDEALS,
    "Means": MEANS,
    "Measures and documents": ASKING,
    "Comparisons": COMPARING,
}
"""The defects, by topic."""

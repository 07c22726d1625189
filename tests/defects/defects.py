"""What other tools get wrong, in the versions named, and the tests that ours does not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Defect:
    """Something that a tool gets wrong.

    Args:
        tool: The tool and its version.
        there: What happens there.
        here: What holds here, and is tested.
        tests: The names of the tests.
    """

    tool: str
    there: str
    here: str
    tests: tuple[str, ...]


SCORES = (
    Defect(
        "torchmetrics 1.7.4 to 1.9.0",
        "RR, AP, P and R take a relevant document with a score of 0 or below as not relevant, so "
        "that logits, log-probabilities and negated distances lose.",
        "A score of 0 or below ranks like any other.",
        ("test_a_score_of_0_or_below_ranks_like_any_other",),
    ),
    Defect(
        "Evidently 0.7.23",
        "Tied scores give NDCG@1 = 2.0, NDCG@3 = 1.226 and Precision@1 = 2.0; three relevant "
        "documents tied at the top give NDCG@1 = 0.",
        "No value exceeds 1 under any rule for ties, and three relevant documents at the top are a "
        "perfect top 3 in whatever order.",
        (
            "test_tied_documents_give_no_value_above_1",
            "test_three_relevant_documents_tied_at_the_top_fill_the_first_three_ranks",
            "test_two_documents_tied_at_the_top_share_the_first_rank",
        ),
    ),
    Defect(
        "ir_measures 0.4.3",
        "On one tied run, RR is 0.5 and RR@2 is 1.0, P@1 is 0 and RR@1 is 1.0: the rule for ties "
        "is that of the program behind each measure.",
        "One rule holds for every measure and every cutoff of a call.",
        ("test_one_rule_for_ties_holds_for_every_measure_and_cutoff",),
    ),
    Defect(
        "ranx 0.3.21",
        "A sort that is not stable orders ties: of 40 tied documents the first came to rank 21.",
        '`ties="input"` keeps the order given, however long the list.',
        ("test_ties_in_input_order_stay_in_input_order_however_long",),
    ),
    Defect(
        "TensorFlow Ranking (March 2024)",
        "Ties are shuffled at random, without a seed, each time.",
        "Values are the same bits in every call and every process.",
        ("test_ties_are_decided_the_same_way_in_every_process",),
    ),
    Defect(
        "trectools 0.0.45",
        "Ties go to the smaller document id, under an option called trec_eval, which takes the "
        "larger; and the mean is divided by the number of topics in the run.",
        "The default is the rule of trec_eval, byte by byte, and the mean is over what is judged.",
        (
            "test_ties_go_to_the_larger_id_as_in_trec_eval",
            "test_queries_that_are_only_in_the_run_do_not_enter_the_mean",
        ),
    ),
    Defect(
        "polars-ds 0.13",
        "The docstring of `ignore_ties` says the opposite of what it does.",
        "`ignore_ties=True` takes the last of tied documents first, the default averages over all "
        "orders: as documented, and as scikit-learn does.",
        ("test_ignoring_ties_takes_one_order_and_the_default_averages_all",),
    ),
    Defect(
        "Scholar (Elixir), issue 360",
        "A model that gives every document one score has an NDCG of 1.",
        "Matrices, groups and tables average over the orders of ties; a constant model has what "
        "chance has.",
        ("test_a_model_that_scores_all_alike_is_not_perfect",),
    ),
)

IDEALS = (
    Defect(
        "Elasticsearch `_rank_eval` (pull request 154362), MLflow (issue 24541)",
        "The ideal is cut at the number of hits returned: one hit of five relevant documents "
        "scores 1.0, and five hits at ranks 6 to 10 score 0.54.",
        "One hit of five scores 0.339; the ideal is cut at the cutoff alone.",
        (
            "test_one_hit_of_five_is_not_perfect",
            "test_one_hit_at_the_top_is_worth_less_than_five_below",
        ),
    ),
    Defect(
        "Spark 4.3.0, `RankingMetrics.ndcgAt`",
        "The ideal takes graded labels in the order given, so that a value can be 1.409.",
        "The order of judgments does not matter.",
        ("test_the_order_of_the_judgments_does_not_matter",),
    ),
    Defect(
        "OpenSearch Search Relevance Workbench (issue 191)",
        "An NDCG of 1.31.",
        "No ranking of judged documents is above 1, at any depth and cutoff.",
        ("test_no_ranking_of_judged_documents_is_above_1",),
    ),
    Defect(
        "Quepid 8.6",
        "`NDCG@10` cuts its ideal nowhere, so that a perfect top 10 can be below 1; `NDCG_CUT@10` "
        "does, and is told from it by its name alone.",
        "A perfect top 10 is 1. The other ideal is a parameter, and is in the name: "
        "`nDCG(ideal='whole')@10`.",
        (
            "test_a_perfect_top_10_is_1_where_more_are_relevant",
            "test_another_ideal_has_another_name",
        ),
    ),
    Defect(
        "RecTools 0.19.0, by default",
        "The ideal has a relevant document at every rank to the cutoff: a perfect user with fewer "
        "scores below 1.",
        'The ideal has what is relevant; the other one is `ideal="slots"`.',
        ("test_all_that_is_relevant_at_the_top_is_1_where_it_is_less_than_the_cutoff",),
    ),
    Defect(
        "trec_eval 9.0.8 and 10.0",
        "Fractional gains are sorted by their difference cut to an integer: a perfect ranking with "
        "`-m ndcg.1=0.9,2=0.5,3=0.1` scores 0.",
        "It scores 1, with these gains and with a tenth of them.",
        ("test_fractional_gains_are_sorted_as_they_are",),
    ),
    Defect(
        "LlamaIndex (issue 22683), Evidently 0.7.23, MLflow (issue 25965)",
        "A document given twice counts twice (NDCG 1.63), or is renamed by a suffix that another "
        "document may have.",
        "It is an error that names the row, or counts once where that is asked for; ids are never "
        "changed.",
        (
            "test_a_document_given_twice_earns_its_gain_once",
            "test_ids_that_differ_by_a_suffix_are_different_documents",
        ),
    ),
    Defect(
        "Evidently 0.7.23",
        "The value at k stands on the row of k + 1 for NDCG and MRR, and a k beyond the list is a "
        "KeyError.",
        "The value at k is that of k, and a list ends where it ends.",
        (
            "test_the_value_at_a_cutoff_stands_at_that_cutoff",
            "test_a_cutoff_beyond_the_end_of_a_list_is_the_whole_list",
        ),
    ),
    Defect(
        "Rated Ranking Evaluator",
        "NDCG is cut to two decimals.",
        "Values are double precision, equal to their formulas.",
        ("test_values_are_not_rounded",),
    ),
)

MEANS = (
    Defect(
        "LightGBM 4.7.0, XGBoost (source of August 2026)",
        "A query without relevant documents adds 1.0 to the weighted sum, whatever its weight: two "
        "queries of weight 0.1 have ndcg@3 = 5.4999. XGBoost clamps the mean to 1, or aborts.",
        "A weight applies to such a query like to any other, and the scale of weights does not "
        "matter.",
        (
            "test_a_query_weight_applies_to_queries_without_relevant_documents",
            "test_the_scale_of_the_weights_does_not_matter",
        ),
    ),
    Defect(
        "trec_eval 10.0",
        "A judged topic that is missing from the run ends the program with status 4 and no "
        "summary, unless there is `-c`.",
        "It counts as `missing` says, 0 or not at all, and the others keep their values.",
        ("test_a_query_that_is_missing_from_the_run_leaves_the_others_their_values",),
    ),
    Defect(
        "recommenders 1.2.1",
        "In one call nDCG is a mean over all users, and precision, recall and MAP over those with "
        "recommendations; a rating of 0 is relevant in the binary default.",
        "All measures of a call are means over the same queries, and grade 0 is not relevant.",
        (
            "test_all_measures_of_a_call_are_means_over_the_same_queries",
            "test_a_document_of_grade_0_is_not_relevant_in_binary_measures",
        ),
    ),
    Defect(
        "whylogs 1.6.4, Evidently 0.7.23, CatBoost",
        "A query without relevant documents has NDCG 1 and AP 0 (whylogs), is dropped while the "
        "docstring says it is kept (Evidently), is 0 in one version and 1 in another (CatBoost).",
        "`empty` says what it is, for all measures, and every result prints it with its "
        "denominators.",
        ("test_a_query_without_relevant_documents_has_one_value_in_all_measures",),
    ),
    Defect(
        "rankkit 0.1.0",
        "Queries without relevant documents are skipped “matching trec_eval”, which counts them as "
        "0; and gains are exponential by default.",
        "The default counts them as trec_eval does, with its gains.",
        ("test_a_query_without_relevant_documents_counts_0_as_in_trec_eval",),
    ),
    Defect(
        "whylogs 1.6.4",
        "Recall divides by the relevant documents of the list alone, AP by the hits in the top k.",
        "Both divide by all that is judged relevant.",
        ("test_recall_counts_what_was_not_retrieved",),
    ),
    Defect(
        "ir_measures 0.4.3",
        "A query whose rows are not together counts twice in diversity measures: 0.742 for a "
        "perfect run.",
        "Rows of a query may stand anywhere, in every way in.",
        (
            "test_a_query_whose_rows_are_apart_is_one_query",
            "test_a_judged_query_counts_once_however_often_it_is_asked_for",
        ),
    ),
    Defect(
        "torchmetrics, functional (issue 3216)",
        "A matrix of queries is read as one query.",
        "Rows of a matrix are queries.",
        ("test_rows_of_a_matrix_are_queries",),
    ),
    Defect(
        "LensKit 2025.8.1",
        "`array_dcg(scores, weight)` does not use `weight`.",
        "Every discount that is asked for is the one that is used.",
        ("test_every_discount_that_is_asked_for_is_used",),
    ),
)

ASKING = (
    Defect(
        "trec_eval 10.0",
        "Two measures with gain tables in one call end the program: a double free, a segmentation "
        "fault.",
        "Measures with tables of their own stand beside each other, each with the value it has "
        "alone.",
        ("test_measures_with_tables_of_their_own_stand_beside_each_other",),
    ),
    Defect(
        "trec_eval 10.0",
        "`rbp` reads memory that was never set; `rbp_resid` is 0 where all is judged, though the "
        "tail of the list is not.",
        "Graded RBP is scaled to the top of the scale, and the residual keeps the tail, p to the "
        "number of documents.",
        (
            "test_graded_rbp_is_scaled_to_the_top_of_the_scale_and_never_above_1",
            "test_the_residual_of_rbp_keeps_the_tail_where_all_is_judged",
        ),
    ),
    Defect(
        "trec_eval 10.0",
        "The release calls itself 10.0-rc3.",
        "The program says the version that is installed.",
        ("test_the_program_says_the_version_that_is_installed",),
    ),
    Defect(
        "pytrec_eval-terrier 0.5.11",
        "The measures `ndcg.1=3` and `ndcg_cut.0` end the process; `dcg`, `ideal_dcg` and `rbp` "
        "are not there.",
        "A measure that is none is an error in words; these measures are there.",
        (
            "test_a_measure_that_is_none_is_an_error_in_words",
            "test_measures_of_the_newest_trec_eval_are_there",
        ),
    ),
    Defect(
        "ir_measures 0.4.3",
        "Of two diversity measures in one call the second is 0, because the first has used up the "
        "rows; with `judged_only` they are a TypeError.",
        "Rows that come once serve every measure, on whole and on condensed lists.",
        ("test_rows_that_come_once_serve_every_measure",),
    ),
    Defect(
        "ir_measures 0.4.3",
        "RBP, ERR without a cutoff and exponential nDCG without one are unsupported, `ERR@10` "
        "fails on query ids that are no numbers, `Judged@10` divides an empty list by 0.",
        "Measures need no cutoff, queries no number, and lists no document.",
        (
            "test_measures_need_no_cutoff_and_queries_no_number",
            "test_the_share_of_judged_documents_of_an_empty_list_is_0",
        ),
    ),
    Defect(
        "ranx 0.3.21",
        "Bpref is NaN where nothing is judged not relevant, and so is the mean; an empty list is a "
        "crash; 0.9 is cut to 0 and 1.9 to 1; RBP can exceed 1.",
        "Bpref is a number, empty lists are lists, grades are what they are, and RBP is at most 1.",
        (
            "test_bpref_is_a_number_where_nothing_is_judged_not_relevant",
            "test_lists_without_documents_are_evaluated",
            "test_grades_are_not_cut_to_integers",
            "test_graded_rbp_is_scaled_to_the_top_of_the_scale_and_never_above_1",
        ),
    ),
    Defect(
        "ranx 0.3.21",
        "Document ids are compared as hashes kept in 53 bits.",
        "Ids are compared by all their bytes.",
        (
            "test_ids_that_no_float_tells_apart_are_different_documents",
            "test_many_ids_stay_apart",
        ),
    ),
    Defect(
        "ranx 0.3.21, Evidently 0.7.23",
        "Frames of pandas 3 are rejected, or the import fails beside it.",
        "Frames of pandas 2 and 3 are read.",
        ("test_frames_of_the_newest_pandas_are_read",),
    ),
)

DEFECTS = {
    "Scores and ties": SCORES,
    "The ideal": IDEALS,
    "Means": MEANS,
    "Measures and documents": ASKING,
}
"""By what they are about."""

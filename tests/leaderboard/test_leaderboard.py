"""`rs.leaderboard`: ranks, groups, signs, what it takes and what it refuses."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import pickle
import random

import numpy as np
import pytest
import rankscope as rs
from rankscope._compare.leaderboard.compute import _choose_permutations
from rankscope._compare.promise import Choices
from statsmodels.stats.multitest import multipletests

QUERIES = [f"q{number}" for number in range(12)]
QRELS = {query: {f"d{grade}": grade for grade in range(4)} for query in QUERIES}


def make_run(noise, seed):
    draw = random.Random(seed)
    return {
        query: {doc: grade + draw.gauss(0, noise) for doc, grade in docs.items()}
        for query, docs in QRELS.items()
    }


RUNS = {
    f"run{number}": make_run(noise, number)
    for number, noise in enumerate((0.1, 0.3, 1.0, 2.0, 9.0, 9.0))
} | {
    "worst": {query: {doc: -grade for doc, grade in docs.items()} for query, docs in QRELS.items()}
}
BOARD = rs.leaderboard(QRELS, RUNS, ["nDCG@3", "RR(rel=3)"], baseline=["run2", "worst"])


def flip_all(differences):
    """Return the p-value of a mean difference, from all flips of signs."""
    signs = np.array([*itertools.product((1, -1), repeat=len(differences))])
    sums = abs((signs * differences).sum(axis=1))
    return float((sums >= abs(differences.sum()) - 1e-9).mean())


def group_plainly(values, alpha):
    """Group runs by their definition: exact tests of all pairs, and Holm's correction."""
    pairs = [*itertools.combinations(values, 2)]
    p = [flip_all(values[other] - values[one]) for one, other in pairs]
    rejected = multipletests(p, alpha, method="holm")[0]
    apart = {frozenset(pair) for pair, is_apart in zip(pairs, rejected, strict=True) if is_apart}
    left = sorted(values, key=lambda run: -values[run].mean())
    groups = {}
    for letter in "ABCDEFG":
        leader = left[0] if left else ""
        for run in [run for run in left if frozenset((leader, run)) not in apart]:
            groups[run] = letter
            left.remove(run)
    return groups


def test_groups_are_those_of_exact_tests_of_all_pairs_with_holms_correction():
    found = rs.evaluate(QRELS, RUNS, "nDCG@3")
    values = {run: found[run].per_query("nDCG@3") for run in RUNS}
    expected = group_plainly(values, 0.05)
    assert {entry.run: entry.group for entry in BOARD} == expected
    assert len({*expected.values()}) > 1
    assert BOARD.groups is not None
    assert BOARD.groups.settings.comparisons == 21
    assert BOARD.groups.settings.is_exact


def test_signs_are_those_of_a_comparison_with_the_baseline():
    board = rs.leaderboard(QRELS, RUNS, ["nDCG@3", "RR(rel=3)"], baseline="run2")
    compared = rs.compare(QRELS, RUNS, ["nDCG@3", "RR(rel=3)"], baseline="run2", bounds=False)
    assert board.against is not None
    tests = {(each.measure, each.run): each for each in board.against.comparisons}
    assert len(tests) == board.against.settings.comparisons == len(compared) == 12
    for each in compared:
        own = tests[each.measure, each.run]
        assert (own.difference, own.p, own.p_corrected, own.better) == (
            pytest.approx(each.difference, abs=1e-15),
            each.p,
            each.p_corrected,
            each.better,
        )


def test_two_baselines_have_signs_of_their_own_and_their_pair_is_tested_once():
    assert BOARD.against is not None
    # Of each measure: 6 runs against the first, 5 others against the second.
    assert BOARD.against.settings.comparisons == 22
    text = str(BOARD)
    assert "▼† significantly worse than run2" in text
    assert "‡ significantly better than worst" in text
    # No run is significantly better than run2. What is better comes before what is worse.
    rows = {line.split()[1]: line for line in text.splitlines()[1:8]}
    assert [run for run, row in rows.items() if "▼†" in row] == ["run5", "run4", "worst"]
    assert "0.6644 ‡▼†" in rows["run4"]


def test_ranks_follow_the_measure_and_equal_means_share_one():
    runs = {"b": RUNS["run0"], "a": RUNS["run0"], "c": RUNS["worst"]}
    board = rs.leaderboard(QRELS, runs, "nDCG@3")
    assert [(each.rank, each.run) for each in board] == [(1, "a"), (1, "b"), (3, "c")]


def test_values_are_those_of_evaluate_and_the_order_is_that_of_the_values():
    found = rs.evaluate(QRELS, RUNS, ["nDCG@3", "RR(rel=3)"])
    for entry in BOARD:
        assert entry.values == pytest.approx(dict(found[entry.run]), abs=1e-15)
    values = [entry.values["nDCG@3"] for entry in BOARD]
    assert values == sorted(values, reverse=True)
    assert [entry.run for entry in rs.leaderboard(found)] == [entry.run for entry in BOARD]
    assert len(rs.leaderboard(found, threads=1)) == len(RUNS)
    for name, value in (("policy", "empty=skip"), ("history", QRELS)):
        for function in (rs.leaderboard, rs.compare):
            with pytest.raises(rs.UsageError, match=f"{name} has no effect on results of evaluate"):
                function(found, **{name: value})
    assert rs.leaderboard(found, "RR(rel=3)").measures == (rs.parse("RR(rel=3)"),)


def test_one_measure_can_sort_and_need_not_be_the_first():
    board = rs.leaderboard(QRELS, RUNS, ["nDCG@3", "RR(rel=3)"], sort="RR(rel=3)")
    values = [entry.values["RR(rel=3)"] for entry in board]
    assert values == sorted(values, reverse=True)
    assert [each.name for each in board.measures] == ["nDCG@3", "RR(rel=3)"]


def test_top_keeps_ranks_groups_and_baselines():
    board = rs.leaderboard(QRELS, RUNS, ["nDCG@3", "RR(rel=3)"], baseline="worst", top=2)
    whole = {entry.run: entry for entry in BOARD}
    assert [(entry.rank, entry.run) for entry in board] == [(1, "run0"), (1, "run1"), (7, "worst")]
    assert [entry.group for entry in board] == [whole[entry.run].group for entry in board]
    assert len(board) == 3
    assert "3 of 7 runs" in str(board)


@pytest.mark.parametrize("top", [0, -1, 1.5, True, "3"])
def test_top_is_a_whole_number_above_zero(top):
    with pytest.raises(rs.UsageError, match="expected top"):
        rs.leaderboard(QRELS, RUNS, "nDCG@3", top=top)


@pytest.mark.parametrize("runs", [{"a": RUNS["run0"]}, RUNS["run0"]])
def test_one_run_has_a_rank_and_no_groups(runs):
    board = rs.leaderboard(QRELS, runs, "nDCG@10")
    [entry] = board
    assert (entry.rank, entry.group, board.groups) == (1, "", None)
    assert "group" not in str(board).splitlines()[0]
    assert board.to_pandas()["rank"].tolist() == [1]


def test_a_run_that_lacks_queries_is_zero_there_by_default():
    short = {query: RUNS["run0"][query] for query in QUERIES[:6]}
    board = rs.leaderboard(QRELS, {"short": short, "all": RUNS["run0"]}, "nDCG@3")
    assert board["short"].values["nDCG@3"] < board["all"].values["nDCG@3"]
    assert board.diagnostics == {"n_missing": 6}
    assert "judged queries that are not in the run: 6" in str(board)


def test_means_are_over_the_queries_that_all_runs_have_a_value_for():
    short = {query: RUNS["worst"][query] for query in QUERIES[:6]}
    runs = {"short": short, "run1": RUNS["run1"]}
    board = rs.leaderboard(QRELS, runs, "nDCG@3", policy="missing=skip")
    values = rs.evaluate(QRELS, RUNS["run1"], "nDCG@3").per_query("nDCG@3")
    assert board["run1"].values["nDCG@3"] == math.fsum(values[:6].tolist()) / 6
    assert board.queries == {"nDCG@3": 6}
    assert any("left out of nDCG@3" in sentence for sentence in board.small_print)


def test_a_measure_of_the_whole_run_is_shown_without_tests():
    items = ["d0", "d1", "d2", "d3", "d4"]
    board = rs.leaderboard(QRELS, RUNS, ["Coverage@1", "nDCG@3"], catalogue=items, baseline="worst")
    assert board.groups is None
    assert board["worst"].values["Coverage@1"] == 1 / 5
    assert {each.measure for each in board.against.comparisons} == {"nDCG@3"}
    told = " ".join(board.small_print)
    assert "Not tested: Coverage@1, one value of all lists of a run." in told
    assert "There are no groups, because Coverage@1 is not a mean over queries" in told


def test_the_lowest_is_first_where_lower_values_are_better():
    board = rs.leaderboard(QRELS, RUNS, "OrderingLoss@3", baseline="run4")
    values = [entry.values["OrderingLoss@3"] for entry in board]
    assert values == sorted(values)
    assert board.best.group == "A"
    assert board.against is not None
    assert {each.better for each in board.against.comparisons if each.run == "run0"} == {"run0"}


def test_nothing_is_best_where_neither_higher_nor_lower_values_are():
    board = rs.leaderboard(QRELS, RUNS, "Unjudged@3", baseline="run4")
    assert (board.groups, board.against) == (None, None)
    assert "neither higher nor lower values of Unjudged@3 are better" in " ".join(board.small_print)
    assert "**" not in board.to_markdown().split("\n\n", 1)[1]


def test_a_folder_and_a_pattern_are_runs(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    for name, docs in (("one.run", "ab"), ("two.run", "ba"), (".hidden", "xx")):
        lines = [f"q{at} Q0 {doc} {at} 1 x\n" for at, doc in enumerate(docs, 1)]
        (folder / name).write_text("".join(lines))
    expected = [(1, "one.run"), (2, "two.run")]
    for given in (folder, str(folder), str(folder / "*.run"), sorted(folder.glob("*.run"))):
        board = rs.leaderboard(tmp_path / "qrels.txt", given, "P@1")
        assert [(each.rank, each.run) for each in board] == expected
    with pytest.raises(rs.FileError, match="no such file"):
        rs.leaderboard(tmp_path / "qrels.txt", folder / "*.txt", "P@1")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rs.leaderboard(QRELS), "found dict alone"),
        (lambda: rs.leaderboard(rs.evaluate(QRELS, RUNS["run0"], "RR")), "found that of one"),
        (lambda: rs.leaderboard(QRELS, RUNS, "RR", baseline="run9"), "no run 'run9'"),
        (lambda: rs.leaderboard(QRELS, RUNS, "RR", baseline=[*RUNS][:5]), "up to 4 baselines"),
        (lambda: rs.leaderboard(QRELS, RUNS, "RR", sort="AP"), "AP was not evaluated"),
        (lambda: rs.leaderboard(QRELS, RUNS, "RR", interval=0.9), "unexpected keyword|no argument"),
        (lambda: rs.leaderboard(QRELS, RUNS, "RR", correction="max"), "correction"),
        (lambda: rs.leaderboard(QRELS, RUNS, "RR", baselines="run1"), "did you mean 'baseline'"),
        (lambda: BOARD["run9"], "no run 'run9'"),
        (lambda: BOARD.to_latex(captoin="x"), "did you mean 'caption'"),
        (lambda: BOARD.to_latex(digits=-1), "expected digits"),
        (lambda: BOARD.to_latex(sort="AP"), "no measure AP"),
        (lambda: BOARD.to_latex(baseline="run1"), "that it was made with"),
    ],
)
def test_what_cannot_be_meant_is_refused(call, message):
    with pytest.raises(rs.RankscopeError, match=message):
        call()


def test_a_warning_says_where_no_difference_can_become_significant():
    few = {query: QRELS[query] for query in QUERIES[:4]}
    board = rs.leaderboard(few, RUNS, "nDCG@3")
    # With four queries, all flips of signs give 1/8 at least.
    assert {entry.group for entry in board} == {"A"}
    assert "No difference can be significant after correction for 21 pairs" in " ".join(
        board.small_print
    )


def test_pairs_that_allow_no_test_are_counted():
    # All differences between the best and the worst run are equal, so that a t test has no error.
    board = rs.leaderboard(QRELS, RUNS, "nDCG@3", test="t")
    assert board.groups is not None
    pairs = [each for each in board.groups.comparisons if math.isnan(each.p) and each.difference]
    assert {each.better for each in pairs} == {None}
    told = " ".join(board.small_print)
    assert "The data of 2 of 21 pairs don't allow this test" in told


@pytest.mark.parametrize(
    ("count", "runs", "test", "correction", "permutations"),
    [
        # 0.05 / 2,499 is 2e-5, twice the smallest p-value of 99,999 permutations.
        (2_499, 71, "permutation", "holm", None),
        (2_500, 71, "permutation", "holm", 100_000),
        (10_000, 142, "permutation", "holm", 400_000),
        (10_000, 142, "permutation", "max-t", None),
        (10_000, 142, "t", "holm", None),
        # More than ten million permutations, or more work than a few seconds.
        (20_000_000, 2, "permutation", "holm", None),
        (124_750, 500, "permutation", "holm", None),
    ],
)
def test_more_permutations_are_drawn_only_where_correction_needs_them(
    count, runs, test, correction, permutations
):
    choices = Choices(test=test, correction=correction)
    assert _choose_permutations(count, runs, choices) == permutations


def test_enough_permutations_are_drawn_for_very_many_pairs():
    draw = random.Random(3)
    qrels = {f"q{number}": {"a": 1} for number in range(30)}
    runs = {
        f"r{number}": {query: {"a": draw.random(), "b": 0.5} for query in qrels}
        for number in range(110)
    }
    runs["best"] = {query: {"a": 1.0, "b": 0.5} for query in qrels}
    board = rs.leaderboard(qrels, runs, "RR")
    pairs = 111 * 110 // 2
    assert board.groups is not None
    assert board.groups.settings.permutations * 0.05 > pairs
    assert {entry.group for entry in board} > {"A"}


def test_a_board_leaves_as_json_csv_and_frames_and_comes_back():
    document = json.loads(BOARD.to_json())
    assert [each["run"] for each in document["runs"]] == [entry.run for entry in BOARD]
    assert document["groups"]["comparisons"] == 21
    rows = [*csv.DictReader(io.StringIO(BOARD.to_csv()))]
    assert [float(row["nDCG@3"]) for row in rows] == BOARD.to_pandas()["nDCG@3"].tolist()
    assert BOARD.to_polars().columns == ["rank", "run", "group", "nDCG@3", "RR(rel=3)"]
    assert pickle.loads(pickle.dumps(BOARD)).to_json() == BOARD.to_json()  # noqa: S301 - our own
    assert {row[0] for row in BOARD.tests.rows()} == {"group", "baseline"}


def test_the_order_of_runs_and_threads_change_nothing():
    def describe(board):
        return [(each.rank, each.run, each.group, dict(each.values)) for each in board]

    runs = dict(reversed(RUNS.items()))
    assert describe(rs.leaderboard(QRELS, runs, "nDCG@3", threads=1)) == describe(
        rs.leaderboard(QRELS, RUNS, "nDCG@3", threads=2)
    )


def test_what_is_printed_is_a_row_a_run_and_two_lines_of_small_print():
    lines = str(BOARD).splitlines()
    assert len(lines) == 1 + len(RUNS) + 1 + 2
    assert lines[len(RUNS) + 1] == ""
    assert lines[-1].endswith(
        f"{len(BOARD.small_print)} lines of small print: .small_print, --small-print"
    )

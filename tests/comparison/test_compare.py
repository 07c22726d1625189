"""Comparisons from judgments and runs, rankings, tables and values, beside SciPy and by hand."""

from __future__ import annotations

import math
import random
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from scipy import stats

from tests.invariance import shuffled
from tests.parity.real import find

QUERIES = [f"q{number}" for number in range(40)]
QRELS = {query: {"a": 2, "b": 1, "c": 0} for query in QUERIES}


def make_run(seed, good):
    """Return lists that are in the best order with this probability, else in a random one."""
    chance = random.Random(seed)
    run = {}
    for query in QUERIES:
        docs = ["a", "b", "c", "x"]
        if chance.random() > good:
            chance.shuffle(docs)
        run[query] = {doc: float(-rank) for rank, doc in enumerate(docs)}
    return run


RUNS = {"old": make_run(1, 0.2), "new": make_run(2, 0.5), "best": make_run(3, 0.95)}
USERS = {query: f"u{number % 12}" for number, query in enumerate(QUERIES)}
COUNTRIES = {query: "de" if number % 3 else "at" for number, query in enumerate(QUERIES)}


def values(name, measure="nDCG@10"):
    return rs.evaluate(QRELS, RUNS[name], measure).per_query(measure)


def test_differences_are_those_of_the_values_of_queries():
    found = rs.compare(QRELS, RUNS, ["nDCG@10", "RR"], bounds=False)
    assert [(each.measure, each.baseline, each.run) for each in found] == [
        (measure, *pair) for measure in ("nDCG@10", "RR") for pair in combinations(RUNS, 2)
    ]
    for each in found:
        ours, theirs = values(each.run, each.measure), values(each.baseline, each.measure)
        assert each.difference == pytest.approx(math.fsum(ours - theirs) / 40, rel=1e-14)
        assert (each.wins, each.losses) == ((ours > theirs).sum(), (ours < theirs).sum())
        assert each.wins + each.ties + each.losses == each.n == 40
        assert each.relative == pytest.approx(each.difference / theirs.mean(), rel=1e-12)
        assert each.lower <= each.difference <= each.upper
        assert each.lower >= -1
        assert each.upper <= 1
        assert found.means[each.run][each.measure] == each.run_mean == pytest.approx(ours.mean())


def test_the_t_test_is_that_of_scipy():
    found = rs.compare(QRELS, RUNS, "nDCG@10", test="t", correction="none", bounds=False)
    for each in found:
        theirs = stats.ttest_rel(values(each.run), values(each.baseline))
        assert each.p == each.p_corrected == pytest.approx(theirs.pvalue, rel=1e-9)
        assert each.statistic == pytest.approx(theirs.statistic, rel=1e-9)


def test_holm_corrects_over_measures_pairs_and_slices():
    found = rs.compare(QRELS, RUNS, ["nDCG@10", "RR"], by=COUNTRIES, bounds=False)
    assert len(found) == 2 * 3 * 3
    p = np.array([each.p for each in found])
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    for at, step in zip(order, steps, strict=True):
        assert found.comparisons[at].p_corrected == pytest.approx(min(step, 1), rel=1e-12)


def test_max_t_is_at_most_bonferroni():
    plain = rs.compare(QRELS, RUNS, ["nDCG@10", "RR"], correction="none", bounds=False)
    found = rs.compare(QRELS, RUNS, ["nDCG@10", "RR"], correction="max-t", bounds=False)
    for mine, theirs in zip(found, plain, strict=True):
        assert theirs.p <= mine.p_corrected <= min(1, 6 * theirs.p + 1e-3)


def test_slices_have_the_values_of_their_queries():
    found = rs.compare(QRELS, RUNS, "nDCG@10", by=COUNTRIES, baseline="old", bounds=False)
    of = np.array([COUNTRIES[query] for query in QUERIES])
    assert [each.slice for each in found][:3:2] == [None, "de"]
    for each in found:
        chosen = np.ones(40, bool) if each.slice is None else of == each.slice
        difference = (values(each.run) - values("old"))[chosen]
        assert each.n == chosen.sum()
        assert each.difference == pytest.approx(difference.mean(), rel=1e-12)


def test_clusters_make_p_values_and_intervals_wider_where_queries_depend():
    # Four queries of a user have one value, so ten users are as good as forty queries look.
    doubled = {"query_id": QUERIES, "old": [0.5] * 40}
    draws = np.random.default_rng(7).uniform(-0.3, 0.4, 10)
    doubled["new"] = [0.5 + draws[number // 4] for number in range(40)]
    users = {query: f"u{number // 4}" for number, query in enumerate(QUERIES)}
    plain = rs.compare(doubled, values=True, test="t")["value", "new"]
    clustered = rs.compare(doubled, values=True, test="t", cluster=users)["value", "new"]
    assert clustered.clusters == 10
    assert clustered.p == pytest.approx(stats.ttest_1samp(draws, 0).pvalue, rel=1e-9)
    assert clustered.p > plain.p
    assert clustered.upper - clustered.lower > plain.upper - plain.lower
    assert clustered.minimum_detectable > plain.minimum_detectable


def test_clusters_of_one_query_change_nothing():
    alone = {query: query for query in QUERIES}
    plain = rs.compare(QRELS, RUNS, "nDCG@10", bounds=False)
    clustered = rs.compare(QRELS, RUNS, "nDCG@10", cluster=alone, bounds=False)
    for mine, theirs in zip(clustered, plain, strict=True):
        assert (mine.p, mine.difference) == (theirs.p, theirs.difference)


@pytest.mark.parametrize("test", ["permutation", "t", "wilcoxon"])
def test_every_test_tells_a_large_difference_from_none(test):
    table = {"query_id": QUERIES, "old": values("old"), "same": values("old")}
    table["new"] = np.minimum(values("old") + 0.2, 1)
    found = rs.compare(table, values=True, test=test, baseline="old")
    assert found["value", "new"].p_corrected < 0.01
    assert not found["value", "same"].p_corrected < 0.05


def test_rankings_and_evaluations_give_the_same_comparison():
    whole = rs.compare(QRELS, RUNS, "nDCG@10", bounds=False)
    rankings = {name: rs.Rankings.from_run(QRELS, run) for name, run in RUNS.items()}
    assert rs.compare(rankings, "nDCG@10", bounds=False).to_dict() == whole.to_dict()
    evaluations = rs.evaluate(QRELS, RUNS, "nDCG@10")
    assert rs.compare(evaluations, "nDCG@10").to_dict() == whole.to_dict()


def test_attributes_come_from_a_table_with_one_row_per_query(tmp_path):
    path = tmp_path / "queries.csv"
    # The query is found by its name, although user_id could be a query, too.
    rows = [f"{query},{COUNTRIES[query]},{USERS[query]}" for query in reversed(QUERIES)]
    path.write_text("qid,country,user_id\n" + "\n".join(rows) + "\n")
    found = rs.compare(
        QRELS, RUNS, "nDCG@10", attributes=path, by="country", cluster="user_id", bounds=False
    )
    same = rs.compare(QRELS, RUNS, "nDCG@10", by=COUNTRIES, cluster=USERS, bounds=False)
    assert found.by == "country"
    assert [each.to_dict() for each in found] == [each.to_dict() for each in same]
    path.write_text("qid,country,user_id\n" + "\n".join(rows[1:]) + "\n")
    with pytest.raises(rs.UsageError, match="no row for 1 of 40 queries"):
        rs.compare(QRELS, RUNS, "nDCG@10", attributes=path, by="country")


def test_attributes_can_be_the_rows_of_documents(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"{query},{COUNTRIES[query]}" for query in QUERIES]
    path.write_text("qid,country\n" + "\n".join([*rows, *rows]) + "\n")
    found = rs.compare(QRELS, RUNS, "nDCG@10", attributes=path, by="country", bounds=False)
    same = rs.compare(QRELS, RUNS, "nDCG@10", by=COUNTRIES, bounds=False)
    assert [each.to_dict() for each in found] == [each.to_dict() for each in same]
    path.write_text("qid,country\n" + "\n".join(rows) + "\nq1,other\n")
    with pytest.raises(rs.errors.FormatError, match="expected one country in all rows of query"):
        rs.compare(QRELS, RUNS, "nDCG@10", attributes=path, by="country")


@pytest.mark.parametrize(
    ("values", "arguments", "message"),
    [
        ({"query_id": ["a", "a"], "old": [0.1, 0.2], "new": [0.3, 0.4]}, {}, "one row per query"),
        ({"old": [1.0, 12.0], "new": [1.0, 0.0]}, {}, "from 0 to 1, found 12"),
        ({"old": [0.1, 0.2], "new": [0.2, 0.4]}, {"range": (1, 0)}, "lower end first"),
        ({"old": [0.1, 0.2, 0.3], "new": [0.2, 0.3]}, {}, "values of new as of old, 3, found 2"),
        ({"query_id": ["a", "b"], "old": [0.1, 0.2], "note": ["x", "y"]}, {}, "runs=['old'"),
    ],
)
def test_values_that_cannot_be_compared_are_refused(values, arguments, message):
    with pytest.raises((rs.UsageError, rs.errors.FormatError)) as caught:
        rs.compare(pd.DataFrame(values) if "note" in values else values, **arguments, values=True)
    assert message in f"{caught.value.message} {caught.value.hint}"


def test_a_column_of_users_beside_the_queries_is_not_a_run():
    values = {"query_id": ["a", "b"], "user_id": [0, 1], "old": [0.1, 0.2], "new": [0.3, 0.4]}
    assert rs.compare(values, values=True).runs == ("old", "new")


def test_queries_without_a_value_in_some_run_are_left_out_and_counted():
    part = {"old": {"q1": 0.5, "q2": 0.25, "q3": 1.0}, "new": {"q1": 0.75, "q2": 0.5, "q4": 0.0}}
    found = rs.compare(part, values=True)
    assert found["value", "new"].n == 2
    assert found["value", "new"].difference == 0.25
    assert found.warnings[-1] == (
        "Queries left out of value, because a run has no value for them: 2."
    )
    with pytest.raises(rs.errors.EmptyError, match="no query has a value"):
        rs.compare({"old": {"q1": 0.5}, "new": {"q2": 0.5}}, values=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"baseline": "olt"}, "did you mean 'old'"),
        ({"test": "z"}, "permutation"),
        ({"test": "wilcoxon", "cluster": USERS}, "cluster"),
        ({"correction": "fdr"}, "write correction='bh'"),
        ({"correction": "tukey"}, "write correction='max-t'"),
        ({"test": "tukey"}, "write correction='max-t'"),
        ({"test": "sign"}, "pass per_query to SciPy"),
        ({"test": "t-test"}, "write test='t'"),
        ({"interval": rs.Interval(method="t")}, "write test='t' for t intervals"),
        ({"test": "t", "interval": rs.Interval(method="bounded")}, "promise different things"),
        ({"margin": -1.0}, "margin above 0"),
        ({"permutations": 5}, "permutations"),
        ({"by": "country"}, "attributes="),
        ({"policy": "aggregate=median"}, "expected aggregate=mean"),
        ({"names": ["a", "a", "b"]}, "3 different names"),
        ({"correction": "max-t", "test": "t"}, "permutation"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(rs.UsageError) as caught:
        rs.compare(QRELS, RUNS, "nDCG@10", **arguments)
    assert message in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("ends", [(None, None), (0, None), (1, 0), (0, "1")])
def test_a_range_that_is_none_is_refused(ends):
    with pytest.raises(rs.UsageError, match="the lower end first") as caught:
        rs.compare({"old": [0.1, 0.2], "new": [0.2, 0.3]}, values=True, range=ends)
    assert "range=None" in caught.value.hint


def test_one_run_is_not_a_comparison():
    with pytest.raises(rs.UsageError, match="two or more runs"):
        rs.compare(QRELS, {"old": RUNS["old"]}, "nDCG@10")
    for single in (rs.evaluate(QRELS, RUNS["old"], "RR"), rs.Rankings.from_run(QRELS, RUNS["old"])):
        with pytest.raises(rs.UsageError, match="two or more runs to compare, found 1"):
            rs.compare({"old": single}, "RR")
    with pytest.raises(rs.UsageError, match="expected measures"):
        rs.compare(QRELS, RUNS)
    with pytest.raises(TypeError, match="correct"):
        rs.compare(QRELS, RUNS, "nDCG@10", correct="holm")


def test_the_five_runs_of_cast_differ_as_published_judgments_say():
    folder = find("cast21")
    found = rs.compare(folder / "cast21.qrels", sorted(folder.glob("*.run")), ["nDCG@10", "AP"])
    assert len(found) == 20
    # Printed intervals of these two overlap, and yet they differ.
    pair = found.find("AP", "org_convdr_bert.run", "org_convdr.run")
    assert pair.is_significant
    for each in found:
        assert each.unjudged.lowest <= each.difference
        assert each.difference <= each.unjudged.highest
        assert each.tied is not None


def test_columns_of_values_alone_are_paired_by_row():
    columns = {name: values(name) for name in ("old", "new")}
    found = rs.compare(columns, values=True)["value", "new"]
    whole = rs.compare(QRELS, {name: RUNS[name] for name in columns}, "nDCG@10", bounds=False)
    assert (found.difference, found.p) == (whole.comparisons[0].difference, whole.comparisons[0].p)


def test_results_are_compared_by_their_own_measures():
    evaluations = rs.evaluate(QRELS, RUNS, ["RR", "AP"])
    assert rs.compare(evaluations).measures == ("RR", "AP")
    assert rs.compare(evaluations, measures="AP").measures == ("AP",)
    with pytest.raises(rs.errors.MeasureError, match="was not evaluated"):
        rs.compare(evaluations, "nDCG@10")
    other = {**evaluations, "old": rs.evaluate(QRELS, RUNS["old"], "RR", policy="empty=skip")}
    with pytest.raises(rs.UsageError, match="another policy"):
        rs.compare(other)


def test_a_difference_that_cannot_be_is_not_detectable():
    found = rs.compare({"old": [1.0, 1.0], "new": [0.5, 0.0]}, values=True)["value", "new"]
    assert math.isnan(found.minimum_detectable)
    same = rs.compare({"old": [0.5] * 30, "new": [0.5] * 30}, values=True)["value", "new"]
    assert math.isnan(same.minimum_detectable)
    assert (same.p, same.better) == (1.0, None)
    shifted = rs.compare({"old": [0.1, 0.2, 0.3], "new": [0.2, 0.3, 0.4]}, values=True)
    assert math.isnan(shifted["value", "new"].minimum_detectable)


def test_queries_can_be_the_index_of_a_pivoted_frame():
    index = pd.Index(["a", "b"], name="query_id")
    frame = pd.DataFrame({"old": [0.1, 0.2], "new": [0.3, 0.6]}, index=index)
    found = rs.compare(frame, values=True, baseline="old", cluster={"a": "ann", "b": "bob"})
    assert found["value", "new"].difference == pytest.approx(0.3)


def test_the_text_of_queries_beside_their_ids_is_an_attribute():
    values = {"q1": 0.1, "q2": 0.5}, {"q1": 0.3, "q2": 0.4}
    table = {"query_id": ["q1", "q2"], "query": ["red shoes", "tv"], "country": ["at", "de"]}
    found = rs.compare(
        dict(zip(["old", "new"], values, strict=True)), values=True, by="country", attributes=table
    )
    assert [each.slice for each in found] == [None, "at", "de"]


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_query_without_a_cluster_is_a_cluster_of_its_own(missing):
    values = {
        "query_id": ["a", "b", "c", "d"],
        "old": [0.1, 0.2, 0.3, 0.4],
        "new": [0.4, 0.3, 0.2, 0.2],
    }
    users = ["ann", "ann", missing, missing]
    as_column = {"query_id": values["query_id"], "user": ["ann", "ann", None, None]}
    as_mapping = dict(zip(values["query_id"], users, strict=True))
    for cluster, attributes in (("user", as_column), (as_mapping, None)):
        found = rs.compare(values, "nDCG@10", values=True, cluster=cluster, attributes=attributes)
        assert found.comparisons[0].clusters == 3


@pytest.mark.parametrize(
    ("margin", "sentence"),
    [
        (0.001, "The data don't show that new is less than 0.001 worse than old."),
        (0.05, "new is not worse than old by 0.05 or more."),
        (0.2, "new and old are equivalent within 0.2."),
    ],
)
def test_the_verdict_says_whether_a_run_is_worse_by_the_margin(margin, sentence):
    # The differences have a mean of 0.03 and a standard deviation of about 0.2.
    differences = [0.03 + (0.2 if n % 2 else -0.2) for n in range(100)]
    values = {"query_id": range(100), "old": [0.5] * 100, "new": [0.5 + d for d in differences]}
    found = rs.compare(values, values=True, margin=margin)
    assert sentence in " ".join(str(found).split())


def test_a_verdict_that_rare_differences_could_change_says_so():
    values = {"query_id": range(20), "old": [0.3] * 20, "new": [0.43 + n / 1000 for n in range(20)]}
    (pair,) = found = rs.compare(values, "nDCG@10", values=True)
    assert pair.bounded_lower < 0 < pair.lower
    assert not pair.has_large
    # No query hints at what would change the verdict.
    assert "rare, large difference" not in str(found).partition("run ")[0]
    values["new"][7] = 0.9
    (pair,) = found = rs.compare(values, "nDCG@10", values=True)
    assert pair.bounded_lower < 0 < pair.lower
    text = " ".join(str(found).split())
    assert "new is better than old" in text
    assert "This assumes that no rare, large difference is missing from these queries" in text
    more = {name: list(column) * 20 for name, column in values.items()}
    (pair,) = found = rs.compare(more | {"query_id": range(400)}, "nDCG@10", values=True)
    assert pair.bounded_lower > 0
    assert "rare, large difference" not in str(found).partition("run ")[0]


def test_runs_without_a_difference_may_still_differ_for_other_queries():
    values = {"query_id": range(40), "old": [0.5] * 40, "new": [0.5] * 40}
    (pair,) = found = rs.compare(values, "nDCG@10", values=True)
    # Differences are from -1 to 1: a query in so many may lose everything.
    rare = 1 - 0.025 ** (1 / 40)
    assert (-pair.lower, pair.upper) == pytest.approx((rare, rare), rel=0.03)
    assert (pair.lower, pair.upper) == (pair.bounded_lower, pair.bounded_upper)
    ends = f"{pair.lower:.4f} to +{pair.upper:.4f}"
    text = " ".join(str(found).split())
    assert f"Other queries could still differ, on average by {ends} (bounded)." in text


@pytest.mark.parametrize("count", [19, 20])
def test_fewer_than_twenty_clusters_have_a_bounded_interval_and_p_value(count):
    values = {
        "query_id": range(3 * count),
        "old": [n % 7 / 10 for n in range(3 * count)],
        "new": [n % 7 / 10 + 0.1 + n % 5 / 100 for n in range(3 * count)],
        "user": [n // 3 for n in range(3 * count)],
    }
    found = rs.compare(values, "nDCG@10", values=["old", "new"], cluster="user")
    (pair,) = found
    method = "bounded" if count < 20 else "dense"
    assert (pair.interval_method, pair.clusters) == (method, count)
    assert (pair.test == "bounded") == (count < 20)
    assert (pair.p < 0.05) == (not pair.lower <= 0 <= pair.upper)
    assert ("Test: two-sided bounded test" in " ".join(found.small_print)) == (count < 20)


def test_a_measure_of_a_convention_is_found_by_the_name_that_was_asked_for():
    found = rs.compare(QRELS, RUNS, "nDCG@10", convention="lightgbm")
    assert found["nDCG@10", "new"].measure == found.measures[0] != "nDCG@10"


def test_rankings_beside_judgments_are_refused_with_what_to_write():
    rankings = {name: rs.Rankings.from_run(QRELS, run) for name, run in RUNS.items()}
    with pytest.raises(rs.UsageError, match="is Rankings, which already has judgments"):
        rs.compare(QRELS, rankings, "nDCG@10")


@pytest.mark.parametrize("count", [2, 3])
def test_a_verdict_is_given_only_if_a_retrieved_document_is_judged(count):
    qrels = {f"q{number}": {"a": 1} for number in range(9)}
    runs = {f"run{at}": {query: {f"x{at}": 1.0} for query in qrels} for at in range(count)}
    catalogue = [f"x{at}" for at in range(count)]
    nothing = "No retrieved document is judged, so RR can't compare the runs."
    assert str(rs.compare(qrels, runs, "RR", bounds=False)).startswith(nothing)
    judged = runs | {"run0": runs["run0"] | {"q0": {"x0": 1.0, "a": 0.5}}}
    assert "No retrieved document" not in str(rs.compare(qrels, judged, "RR", bounds=False))
    history = {"q0": catalogue}
    novelty = rs.compare(qrels, runs, "Novelty@1", history=history, bounds=False)
    assert "No retrieved document" not in str(novelty)


@pytest.mark.parametrize("order", [0, 1])
def test_few_queries_have_the_exact_p_value_of_scipy_and_the_interval_that_it_does_not_reject(
    order,
):
    rows, *runs = (
        shuffled.to_dict(shuffled.shuffle([row for row in rows if row[0] <= 14], order))
        for rows in (shuffled.QRELS, shuffled.OLD, shuffled.NEW)
    )
    old, new = (rs.evaluate(rows, run, "nDCG@10").per_query("nDCG@10") for run in runs)
    found = rs.compare(
        rows,
        dict(zip(["old", "new"], runs, strict=True)),
        ["AP", "nDCG@10"],
        correction="none",
        bounds=False,
    )["nDCG@10", "new"]

    def test(difference):
        return stats.permutation_test(
            (new - old - difference,), np.sum, permutation_type="samples", n_resamples=np.inf
        ).pvalue

    assert found.p == pytest.approx(test(0.0), rel=1e-12)
    assert found.interval_method == "dense"
    assert test(found.lower + 1e-9) >= 0.05 > test(found.lower - 1e-9)
    assert test(found.upper - 1e-9) >= 0.05 > test(found.upper + 1e-9)


RESAMPLES = 9999


@pytest.mark.parametrize("order", [0, 1])
def test_a_p_value_of_many_queries_is_that_of_scipy_but_for_chance(order):
    rows, *runs = (
        shuffled.to_dict(shuffled.shuffle([row for row in rows if row[0] <= 45], order))
        for rows in (shuffled.QRELS, shuffled.OLD, shuffled.NEW)
    )
    old, new = (rs.evaluate(rows, run, "nDCG@10").per_query("nDCG@10") for run in runs)
    found = rs.compare(
        rows,
        dict(zip(["old", "new"], runs, strict=True)),
        ["AP", "nDCG@10"],
        permutations=RESAMPLES,
        correction="none",
        bounds=False,
    )
    expected = stats.permutation_test(
        (new - old,),
        lambda sample, axis: sample.mean(axis=axis),
        permutation_type="samples",
        n_resamples=RESAMPLES,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    p = expected.pvalue
    assert 0.01 < p < 0.5
    # Five standard errors of the difference of two shares.
    error = np.sqrt(2 * p * (1 - p) / RESAMPLES)
    assert found["nDCG@10", "new"].p == pytest.approx(p, abs=5 * error)

"""Agreement of judges, what their grades become together, and intervals over judges."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope.errors import InputError, LimitError
from rankscope.judges.agreement import measure_agreement
from rankscope.judges.judged_evaluation import estimate_crossed, group_judges
from rankscope.judges.model_judge import find_range
from rankscope.measures.parse import parse
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from tests.parity.real import find
from tests.refusals import refuses_if
from tests.trec import write_qrels

NAN = float("nan")
KRIPPENDORFF = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    "C": [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
}
"""Reliability data of Krippendorff, Computing Krippendorff's alpha-reliability, 2011, part C."""


def test_alpha_is_that_of_krippendorff():
    found = rs.judge_agreement(KRIPPENDORFF, judges=list("ABCD"))
    alphas = (found.alpha_nominal, found.alpha_ordinal, found.alpha_interval)
    assert [round(alpha, 3) for alpha in alphas] == [0.743, 0.815, 0.849]
    assert (found.items, found.judged_twice) == (12, 11)


def test_kappa_and_correlation_are_those_of_scikit_learn_and_scipy():
    random = np.random.default_rng(1)
    human = random.integers(0, 4, 200)
    llm = np.clip(human + random.integers(-1, 3, 200), 0, 3)
    found = rs.judge_agreement({"llm": llm, "human": human}, judges=["llm", "human"])
    pair, grades = found.pairs[0], list(range(4))
    kappas = [
        cohen_kappa_score(llm, human, labels=grades, weights=weights)
        for weights in (None, "linear", "quadratic")
    ]
    # Both sum in another order.
    assert [pair.kappa, pair.kappa_linear, pair.kappa_quadratic] == pytest.approx(kappas, rel=1e-12)
    assert pair.spearman == pytest.approx(spearmanr(llm, human).statistic, rel=1e-12)
    assert pair.exact == np.mean(llm == human)
    assert pair.mean_difference == pytest.approx(human.mean() - llm.mean())
    assert np.array_equal(pair.confusion, confusion_matrix(llm, human, labels=grades))


def test_costs_of_disagreements_are_differences_of_grades():
    # Observed cost: (3 - 0) / 4; by chance: each of 4 x 4 pairs, of which 2 x 3 cost 3.
    found = rs.judge_agreement({"a": [0, 0, 0, 3], "b": [0, 0, 3, 3]}, judges=["a", "b"])
    assert found.pairs[0].kappa_linear == pytest.approx(1 - (3 / 4) / (8 * 3 / 16))


def test_one_row_per_judgment_gives_the_same_as_one_column_per_judge(tmp_path):
    wide = pd.DataFrame(KRIPPENDORFF).assign(query="q", doc=[f"d{at}" for at in range(12)])
    long = wide.melt(["query", "doc"], var_name="rater", value_name="grade")
    expected = rs.judge_agreement(wide, judges=list("ABCD")).to_dict()
    assert rs.judge_agreement(long, judge="rater", relevance="grade").to_dict() == expected
    shuffled = long.dropna().sample(frac=1, random_state=1)
    shuffled.to_csv(tmp_path / "long.csv", index=False)
    assert rs.judge_agreement(tmp_path / "long.csv", judge="rater").to_dict() == expected
    wide.to_csv(tmp_path / "wide.csv", index=False)
    assert rs.judge_agreement(tmp_path / "wide.csv", judges=list("ABCD")).to_dict() == expected


def test_a_table_has_one_row_per_pair():
    frame = rs.judge_agreement(KRIPPENDORFF, judges=list("ABC")).to_pandas()
    assert list(zip(frame["judge"], frame["other"], strict=True)) == [*combinations("ABC", 2)]


def test_confusion_can_be_turned_around():
    found = rs.judge_agreement({"a": [0, 0, 1], "b": [0, 1, 1]}, judges=["a", "b"])
    assert found.confusion("a", "b").rows() == [("0", 1, 1), ("1", 0, 1)]
    assert found.confusion("b", "a").rows() == [("0", 1, 0), ("1", 1, 1)]


def test_agreement_without_variation_is_unknown():
    found = rs.judge_agreement({"a": [1, 1], "b": [1, 1]}, judges=["a", "b"])
    assert np.isnan(found.alpha_ordinal)
    assert np.isnan(found.pairs[0].kappa)
    assert found.pairs[0].exact == 1
    assert "no agreement to measure" in str(found)


def agree(count):
    grades = np.arange(count) % 2
    return rs.judge_agreement({"a": grades, "b": grades}, judges=["a", "b"])


@pytest.mark.parametrize(
    ("count", "said"),
    [(2, "Too few documents"), (20, "tentative"), (30, "tentative"), (60, "are reliable")],
)
def test_few_documents_without_a_disagreement_are_not_reliable(count, said):
    found = agree(count)
    assert (found.alpha_ordinal, found.alpha_ordinal_upper) == (1, 1)
    assert said in found.reading
    # The highest rate of disagreements that shows none in so many documents with 2.5% (Clopper and
    # Pearson, 1934), of which chance has one half.
    rate = 1 - 0.025 ** (1 / count)
    assert found.alpha_ordinal_lower == pytest.approx(1 - rate / 0.5, abs=0.04)


def test_the_interval_of_alpha_covers_that_of_all_documents():
    random = np.random.default_rng(1)
    grades = random.integers(0, 4, 20_000)
    table = {
        name: np.clip(grades + (random.random(20_000) < 0.3) * random.choice([-1, 1], 20_000), 0, 3)
        for name in "ab"
    }
    alpha = rs.judge_agreement(table, judges=["a", "b"]).alpha_ordinal
    covered = []
    for start in range(0, 20_000, 500):
        part = {name: column[start : start + 500] for name, column in table.items()}
        found = rs.judge_agreement(part, judges=["a", "b"])
        assert found.alpha_ordinal_lower < found.alpha_ordinal < found.alpha_ordinal_upper
        assert found.alpha_ordinal_upper - found.alpha_ordinal_lower < 0.1
        covered.append(found.alpha_ordinal_lower <= alpha <= found.alpha_ordinal_upper)
    assert np.mean(covered) >= 0.9


def test_the_interval_of_alpha_is_the_same_for_any_order_of_documents_and_judges():
    found = rs.judge_agreement(KRIPPENDORFF, judges=list("ABCD"))
    turned = {name: KRIPPENDORFF[name][::-1] for name in "DCBA"}
    again = rs.judge_agreement(turned, judges=list("DCBA"))
    ends = found.alpha_ordinal_lower, found.alpha_ordinal_upper
    assert (again.alpha_ordinal_lower, again.alpha_ordinal_upper) == ends
    assert f"interval of ordinal alpha: {ends[0]:.3f} to {ends[1]:.3f}, by" in str(found)


QRELS = {
    "ann": {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"a": 2}},
    "bob": {"q1": {"b": 1, "a": 3}, "q2": {"a": 2, "z": 1}, "q3": {"a": 0}},
}
JUDGED = {
    "query": ["q1", "q1", "q1", "q2", "q2", "q3"],
    "doc": ["a", "b", "c", "a", "z", "a"],
    "ann": [3, 0, 1, 2, NAN, NAN],
    "bob": [3, 1, NAN, 2, 1, 0],
}


def test_judgments_of_two_judges_are_what_a_table_of_them_is(tmp_path):
    expected = rs.judge_agreement(JUDGED, judges=["ann", "bob"]).to_dict()
    assert rs.judge_agreement(QRELS).to_dict() == expected
    both = rs.judge_agreement(QRELS["ann"], QRELS["bob"])
    assert both.to_dict()["alpha"] == expected["alpha"]
    assert both.judges == ("first", "second")
    files = {name: tmp_path / f"{name}.qrels" for name in QRELS}
    for name, path in files.items():
        write_qrels(path, QRELS[name])
    frames = {
        "ann": pd.read_csv(files["ann"], sep=" ", names=["query_id", "_", "doc_id", "relevance"]),
        "bob": rs.read_qrels(QRELS["bob"]),
    }
    for given in (files, frames):
        assert rs.judge_agreement(given).to_dict() == expected
    combined = rs.combine_judges(JUDGED, judges=["ann", "bob"]).qrels
    assert rs.combine_judges(files).qrels == combined
    run = {query: {"a": 2.0, "b": 1.0} for query in combined}
    of_table = rs.evaluate_judges(JUDGED, run, "DCG@2", judges=["ann", "bob"])
    assert rs.evaluate_judges(QRELS, run, "DCG@2").to_dict() == of_table.to_dict()


def test_judges_without_a_common_document_are_refused():
    with pytest.raises(InputError, match="documents that two judges graded") as caught:
        rs.judge_agreement({"q": {"a": 1}}, {"q": {"b": 1}})
    assert caught.value.code == "nothing_in_common"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "bad_parameter"),
        ({"judges": ["a"]}, "bad_parameter"),
        ({"judges": ["a", "b"], "judge": "a"}, "bad_parameter"),
        ({"judges": ["a", "b"], "relevance": "a"}, "bad_parameter"),
        ({"judges": ["a", "none"]}, "columns"),
        ({"judges": ["a", "text"]}, "rel_not_number"),
    ],
)
def test_bad_columns_are_refused(arguments, code):
    with pytest.raises(rs.RankscopeError) as caught:
        rs.judge_agreement({"a": [1], "b": [1], "text": ["good"]}, **arguments)
    assert caught.value.code == code


def test_an_infinite_grade_is_refused_in_its_row(tmp_path):
    pd.DataFrame({"a": ["1", "0", "1e400"], "b": [1, 0, 1]}).to_csv(tmp_path / "a.csv", index=False)
    for table, line in (({"a": [1.0, 0.0, np.inf], "b": [1, 0, 1]}, 3), (tmp_path / "a.csv", 4)):
        with pytest.raises(rs.FormatError, match="expected grades in a, found inf") as caught:
            rs.judge_agreement(table, judges=["a", "b"])
        assert (caught.value.code, caught.value.line) == ("rel_not_number", line)


def test_two_grades_of_a_judge_for_a_document_are_refused():
    table = {"rater": ["x", "x"], "query": ["q", "q"], "doc": ["d", "d"], "grade": [1, 2]}
    with pytest.raises(rs.DuplicateError) as caught:
        rs.judge_agreement(table, judge="rater")
    assert caught.value.line == 2


def test_three_raters_of_products_agree_as_scikit_learn_says():
    path = find("chorus/Broad_Query_Set_individual_ratings.csv")
    names = [f"agent_{number}_rating" for number in (1, 2, 3)]
    found = rs.judge_agreement(path, judges=names)
    frame = pd.read_csv(path)
    expected = [
        cohen_kappa_score(frame[one], frame[other], weights="quadratic")
        for one, other in combinations(names, 2)
    ]
    assert [pair.kappa_quadratic for pair in found.pairs] == pytest.approx(expected, rel=1e-12)
    assert found.items == 3188


TABLE = {
    "query": ["q1", "q1", "q1", "q2", "q2"],
    "doc": ["a", "b", "c", "a", "z"],
    "x": [3, 0, 1, 2, NAN],
    "y": [3, 1, 2, NAN, NAN],
    "z": [0, 1, 3, 1, NAN],
}


@pytest.mark.parametrize(
    ("how", "grades", "ties"),
    [
        ("mean", [2.0, 2 / 3, 2.0, 1.5], 0),
        ("median", [3.0, 1.0, 2.0, 1.5], 0),
        # Of grades that are equally frequent, the lowest.
        ("majority", [3.0, 1.0, 1.0, 1.0], 2),
    ],
)
def test_grades_are_combined(how, grades, ties):
    combined = rs.combine_judges(TABLE, judges=["x", "y", "z"], how=how)
    assert combined.column("relevance") == tuple(grades)
    assert combined.column("doc_id") == ("a", "b", "c", "a")
    assert (combined.majority_ties, combined.left_out) == (ties, 1)


def test_disagreement_is_that_of_the_grades():
    combined = rs.combine_judges(TABLE, judges=["x", "y", "z"])
    assert combined.column("judges") == (3, 3, 3, 2)
    assert combined.column("range") == (3, 1, 2, 1)
    assert combined.column("disagreeing") == pytest.approx((1 / 3, 1 / 3, 2 / 3, 1 / 2))
    # The mean of 3, 3 and 0 is 2; NumPy sums in another order.
    assert combined.column("deviation") == pytest.approx(
        [np.std(grades, ddof=1) for grades in ([3, 3, 0], [0, 1, 1], [1, 2, 3], [2, 1])]
    )


def test_a_single_grade_has_no_deviation():
    table = {"query": ["q"], "doc": ["d"], "x": [1], "y": [NAN]}
    assert np.isnan(rs.combine_judges(table, judges=["x", "y"]).column("deviation")[0])


def test_combined_grades_are_judgments():
    combined = rs.combine_judges(TABLE, judges=["x", "y", "z"], how="median")
    run = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"a": 1.0}}
    expected = rs.evaluate(combined.qrels, run, ["nDCG@10", "AP"]).to_dict()
    assert rs.evaluate(combined, run, ["nDCG@10", "AP"]).to_dict() == expected
    assert combined.qrels == {"q1": {"a": 3, "b": 1, "c": 2}, "q2": {"a": 1.5}}


def test_a_document_in_two_rows_is_refused():
    table = {"query": ["q", "q"], "doc": ["d", "d"], "x": [1, 1], "y": [1, 1]}
    with pytest.raises(rs.DuplicateError):
        rs.combine_judges(table, judges=["x", "y"])


def test_ids_that_are_numbers_are_text_in_judgments():
    table = {"query": [7], "doc": [1], "x": [1], "y": [2]}
    assert rs.combine_judges(table, judges=["x", "y"]).qrels == {"7": {"1": 1.5}}


def estimate(values):
    """Estimate a mean from the values [queries, judges]."""
    count = values.shape[1]
    without = ((values.sum(axis=1, keepdims=True) - values) / (count - 1)).T
    limits = (-np.inf, np.inf)
    return estimate_crossed(rs.nDCG, values.mean(axis=1), without, level=0.95, limits=limits)


def test_variance_is_that_of_queries_and_judges():
    values = np.random.default_rng(1).normal(size=(30, 4))
    found = estimate(values)
    of_queries = values.mean(axis=1).var(ddof=1) / 30
    of_judges = values.mean(axis=0).var(ddof=1) / 4
    of_both = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum() / (4 * 3 * 30**2)
    own = max(of_judges - of_both, 0)
    assert found.judge_share == pytest.approx(own / (own + of_queries), rel=1e-9)


def test_intervals_cover_the_mean_of_all_queries_and_judges():
    random = np.random.default_rng(2)
    trials, covered, by_queries = 400, 0, 0
    for _ in range(trials):
        generosity = random.normal(0, 0.08, 3)
        values = random.normal(0, 0.25, (60, 1)) + generosity + random.normal(0, 0.1, (60, 3))
        found = estimate(values)
        covered += found.lower <= 0 <= found.upper
        by_queries += found.lower_queries <= 0 <= found.upper_queries
    assert covered / trials > 0.95 - 2 * (0.95 * 0.05 / trials) ** 0.5
    assert by_queries / trials < 0.9


def tabulate(generosity):
    random = np.random.default_rng(3)
    rows = [(f"q{query}", f"d{doc}") for query in range(40) for doc in range(5)]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id"])
    table["ann"] = random.integers(0, 3, len(table))
    table["bob"] = table["ann"] + generosity * (random.random(len(table)) < 0.5)
    run = {f"q{query}": {f"d{doc}": random.random() for doc in range(5)} for query in range(40)}
    return table, run


def test_intervals_are_wider_where_judges_disagree():
    shares = []
    for generosity in (0, 1, 2):
        table, run = tabulate(generosity)
        mean = rs.evaluate_judges(table, run, "DCG@5", judges=["ann", "bob"])["DCG@5"]
        shares.append(mean.judge_share)
        assert mean.lower <= mean.lower_queries < mean.upper_queries <= mean.upper
    assert shares[0] == 0
    assert shares == sorted(shares)


def test_the_mean_is_that_of_the_combined_grades():
    table, run = tabulate(1)
    combined = rs.combine_judges(table, judges=["ann", "bob"], how="majority")
    found = rs.evaluate_judges(table, run, ["nDCG@3", "AP"], judges=["ann", "bob"], how="majority")
    expected = rs.evaluate(combined.qrels, run, ["nDCG@3", "AP"])
    assert [mean.value for mean in found.means] == pytest.approx([*expected.values()], rel=1e-12)
    long = table.melt(["query_id", "doc_id"], var_name="judge", value_name="grade")
    again = rs.evaluate_judges(long, run, ["nDCG@3", "AP"], judge="judge", how="majority")
    assert again.to_dict() == found.to_dict()


def test_a_difference_has_less_of_the_judges():
    table, run = tabulate(2)
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in run.items()}
    one = rs.evaluate_judges(table, run, "DCG@3", judges=["ann", "bob"])["DCG@3"]
    both = rs.evaluate_judges(table, run, "DCG@3", judges=["ann", "bob"], baseline=other)["DCG@3"]
    assert both.judge_share < one.judge_share
    means = [
        rs.evaluate_judges(table, each, "DCG@3", judges=["ann", "bob"])["DCG@3"].value
        for each in (run, other)
    ]
    assert both.value == pytest.approx(means[0] - means[1])


def test_one_judge_is_refused():
    table = {"query": ["q"], "doc": ["d"], "rater": ["x"], "grade": [1]}
    with pytest.raises(rs.InputError) as caught:
        rs.evaluate_judges(table, {"q": {"d": 1.0}}, "RR", judge="rater")
    assert caught.value.code == "too_few_judges"


def test_three_raters_of_products_widen_the_interval():
    path = find("chorus/Broad_Query_Set_individual_ratings.csv")
    names = [f"agent_{number}_rating" for number in (1, 2, 3)]
    lists = rs.combine_judges(path, judges=names).qrels
    run = {query: {doc: -float(at) for at, doc in enumerate(docs)} for query, docs in lists.items()}
    mean = rs.evaluate_judges(path, run, "nDCG@10", judges=names)["nDCG@10"]
    assert mean.queries == 135
    assert 0 < mean.judge_share < 0.5


@pytest.mark.parametrize(("queries", "is_refused"), [(19, True), (20, False), (21, False)])
def test_an_estimate_without_limits_needs_20_human_queries(queries, *, is_refused):
    human = {f"q{at}": {"d1": at % 2, "d2": 1} for at in range(queries)}
    model = {f"q{at}": {"d1": at % 3 // 2, "d2": 1} for at in range(30)}
    run = {f"q{at}": {"d1": 2.0, "d2": 1.0} for at in range(30)}
    with refuses_if(is_refused, InputError, match=r"expected 20 or more queries .* found 19"):
        found = rs.evaluate_with_model_judge(human, model, run, "DCG@1")["DCG@1"]
        assert (found.human_queries, found.queries, found.method) == (queries, 30, "dense")


@pytest.mark.parametrize(("top", "is_limit"), [(3, True), (4, False)])
def test_a_model_on_another_scale_does_not_limit_gains(top, *, is_limit):
    model = {f"q{at}": {"d1": top * (at % 2)} for at in range(30)}
    run = {f"q{at}": {"d1": 2.0} for at in range(30)}
    # One gain says next to nothing, so that only the limit counts.
    upper = rs.estimate_dcg({"q0": {"d1": 2}}, model, run, "DCG@1").means[0].upper
    assert upper == 2 if not is_limit else 2.9 < upper < 3


@pytest.mark.parametrize("judges", [49, 50, 51])
def test_more_than_50_judges_are_left_out_in_groups(judges):
    groups = group_judges(judges)
    assert len(groups) == min(judges, 50)
    assert sorted(chain.from_iterable(groups)) == [*range(judges)]


@pytest.mark.parametrize(("count", "is_refused"), [(999, False), (1000, False), (1001, True)])
def test_judges_give_at_most_1_000_different_grades(count, *, is_refused):
    grades = np.arange(float(count))[:, None]
    with refuses_if(is_refused, LimitError, match="at most 1,000 different grades, found 1,001"):
        assert len(measure_agreement(["ann"], grades).grades) == count


def test_a_difference_of_values_from_0_to_1_is_from_minus_1_to_1():
    measure, none = parse("nDCG@10"), np.zeros(0)
    assert find_range(measure, none, is_difference=False) == (0.0, 1.0)
    assert find_range(measure, none, is_difference=True) == (-1.0, 1.0)

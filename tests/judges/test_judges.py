"""Agreement of judges, and what their grades become together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope.errors import LimitError
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from tests.parity.real import find
from tests.refusals import refuses, refuses_if
from tests.trec import write_qrels

NAN = float("nan")
KRIPPENDORFF = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    "C": [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
}
"""Reliability data of Krippendorff, Computing Krippendorff's alpha-reliability, 2011, part C."""


def agree(**columns):
    return rs.judges.agreement(columns, judges=[*columns])


def test_alpha_is_that_of_krippendorff():
    found = agree(**KRIPPENDORFF)
    alphas = (found.alpha_nominal, found.alpha_ordinal, found.alpha_interval)
    assert [round(alpha, 3) for alpha in alphas] == [0.743, 0.815, 0.849]
    assert (found.items, found.judged_twice) == (12, 11)


def test_kappa_and_correlation_are_those_of_scikit_learn_and_scipy():
    random = np.random.default_rng(1)
    human = random.integers(0, 4, 200)
    llm = np.clip(human + random.integers(-1, 3, 200), 0, 3)
    found = agree(llm=llm, human=human)
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
    found = agree(a=[0, 0, 0, 3], b=[0, 0, 3, 3])
    assert found.pairs[0].kappa_linear == pytest.approx(1 - (3 / 4) / (8 * 3 / 16))


def test_one_row_per_judgment_gives_the_same_as_one_column_per_judge(tmp_path):
    wide = pd.DataFrame(KRIPPENDORFF).assign(query="q", doc=[f"d{at}" for at in range(12)])
    long = wide.melt(["query", "doc"], var_name="rater", value_name="grade")
    expected = rs.judges.agreement(wide, judges=list("ABCD")).to_dict()
    assert rs.judges.agreement(long, judge="rater", relevance="grade").to_dict() == expected
    shuffled = long.dropna().sample(frac=1, random_state=1)
    shuffled.to_csv(tmp_path / "long.csv", index=False)
    assert rs.judges.agreement(tmp_path / "long.csv", judge="rater").to_dict() == expected
    wide.to_csv(tmp_path / "wide.csv", index=False)
    assert rs.judges.agreement(tmp_path / "wide.csv", judges=list("ABCD")).to_dict() == expected


def test_a_table_has_one_row_per_pair_and_confusion_can_be_turned_around():
    frame = rs.judges.agreement(KRIPPENDORFF, judges=list("ABC")).to_pandas()
    assert list(zip(frame["judge"], frame["other"], strict=True)) == [*combinations("ABC", 2)]
    found = agree(a=[0, 0, 1], b=[0, 1, 1])
    assert found.confusion("a", "b").rows() == [("0", 1, 1), ("1", 0, 1)]
    assert found.confusion("b", "a").rows() == [("0", 1, 0), ("1", 1, 1)]


def test_agreement_without_variation_is_unknown():
    found = agree(a=[1, 1], b=[1, 1])
    assert np.isnan([found.alpha_ordinal, found.pairs[0].kappa]).all()
    assert found.pairs[0].exact == 1
    assert "no agreement to measure" in str(found)


@pytest.mark.parametrize(
    ("count", "said"),
    [(2, "Too few documents"), (20, "tentative"), (30, "tentative"), (60, "are reliable")],
)
def test_few_documents_without_a_disagreement_are_not_reliable(count, said):
    grades = np.arange(count) % 2
    found = agree(a=grades, b=grades)
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
    alpha, covered = agree(**table).alpha_ordinal, []
    for start in range(0, 20_000, 500):
        part = agree(**{name: column[start : start + 500] for name, column in table.items()})
        lower, upper = part.alpha_ordinal_lower, part.alpha_ordinal_upper
        assert lower < part.alpha_ordinal < upper < lower + 0.1
        covered.append(lower <= alpha <= upper)
    assert np.mean(covered) >= 0.9


def test_the_interval_of_alpha_is_the_same_for_any_order_of_documents_and_judges():
    found = agree(**KRIPPENDORFF)
    again = agree(**{name: KRIPPENDORFF[name][::-1] for name in "DCBA"})
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
    expected = rs.judges.agreement(JUDGED, judges=["ann", "bob"]).to_dict()
    assert rs.judges.agreement(QRELS).to_dict() == expected
    both = rs.judges.agreement(QRELS["ann"], QRELS["bob"])
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
        assert rs.judges.agreement(given).to_dict() == expected
    combined = rs.judges.combine(JUDGED, judges=["ann", "bob"]).qrels
    assert rs.judges.combine(files).qrels == combined


ROWS = {"rater": ["x", "x"], "query": ["q", "q"], "doc": ["d", "d"], "grade": [1, 2]}


@pytest.mark.parametrize(
    ("table", "arguments", "code"),
    [
        *(
            ({"a": [1], "b": [1], "text": ["good"]}, arguments, code)
            for arguments, code in (
                ({}, "bad_parameter"),
                ({"judges": ["a"]}, "bad_parameter"),
                ({"judges": ["a", "b"], "judge": "a"}, "bad_parameter"),
                ({"judges": ["a", "b"], "relevance": "a"}, "bad_parameter"),
                ({"judges": ["a", "none"]}, "columns"),
                ({"judges": ["a", "text"]}, "rel_not_number"),
            )
        ),
        ({"q": {"a": 1}}, {"other": {"q": {"b": 1}}}, "nothing_in_common"),
        (ROWS, {"judge": "rater"}, "duplicate_doc"),
    ],
)
def test_what_says_nothing_of_judges_is_refused(table, arguments, code):
    with refuses(rs.RankscopeError, code) as caught:
        rs.judges.agreement(table, **arguments)
    assert code != "duplicate_doc" or caught.value.line == 2


def test_an_infinite_grade_is_refused_in_its_row(tmp_path):
    pd.DataFrame({"a": ["1", "0", "1e400"], "b": [1, 0, 1]}).to_csv(tmp_path / "a.csv", index=False)
    for table, line in (({"a": [1.0, 0.0, np.inf], "b": [1, 0, 1]}, 3), (tmp_path / "a.csv", 4)):
        with pytest.raises(
            rs.errors.FormatError, match="expected grades in a, found inf"
        ) as caught:
            rs.judges.agreement(table, judges=["a", "b"])
        assert (caught.value.code, caught.value.line) == ("rel_not_number", line)


def test_three_raters_of_products_agree_as_scikit_learn_says():
    path = find("chorus/Broad_Query_Set_individual_ratings.csv")
    names = [f"agent_{number}_rating" for number in (1, 2, 3)]
    found = rs.judges.agreement(path, judges=names)
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
    combined = rs.judges.combine(TABLE, judges=["x", "y", "z"], how=how)
    assert combined.column("relevance") == tuple(grades)
    assert combined.column("doc_id") == ("a", "b", "c", "a")
    assert (combined.majority_ties, combined.left_out) == (ties, 1)


def test_disagreement_is_that_of_the_grades():
    combined = rs.judges.combine(TABLE, judges=["x", "y", "z"])
    assert combined.column("judges") == (3, 3, 3, 2)
    assert combined.column("range") == (3, 1, 2, 1)
    assert combined.column("disagreeing") == pytest.approx((1 / 3, 1 / 3, 2 / 3, 1 / 2))
    # The mean of 3, 3 and 0 is 2; NumPy sums in another order.
    assert combined.column("deviation") == pytest.approx(
        [np.std(grades, ddof=1) for grades in ([3, 3, 0], [0, 1, 1], [1, 2, 3], [2, 1])]
    )
    # A single grade has none.
    assert np.isnan(rs.judges.combine(TABLE, judges=["x", "y"]).column("deviation")[-1])


def test_combined_grades_are_judgments():
    combined = rs.judges.combine(TABLE, judges=["x", "y", "z"], how="median")
    run = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"a": 1.0}}
    expected = rs.evaluate(combined.qrels, run, ["nDCG@10", "AP"]).to_dict()
    assert rs.evaluate(combined, run, ["nDCG@10", "AP"]).to_dict() == expected
    assert combined.qrels == {"q1": {"a": 3, "b": 1, "c": 2}, "q2": {"a": 1.5}}


def test_ids_that_are_numbers_are_text_and_no_document_is_in_two_rows():
    table = {"query": [7], "doc": [1], "x": [1], "y": [2]}
    assert rs.judges.combine(table, judges=["x", "y"]).qrels == {"7": {"1": 1.5}}
    twice = {name: 2 * column for name, column in table.items()}
    with pytest.raises(rs.errors.DuplicateError):
        rs.judges.combine(twice, judges=["x", "y"])


@pytest.mark.parametrize(("count", "is_refused"), [(999, False), (1000, False), (1001, True)])
def test_judges_give_at_most_1_000_different_grades(count, *, is_refused):
    grades = np.arange(float(count))
    with refuses_if(is_refused, LimitError, match="at most 1,000 different grades, found 1,001"):
        assert len(agree(a=grades, b=grades).grades) == count

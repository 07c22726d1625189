"""How well judges agree, compared with published and independent computations."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from tests.parity.real import find

if TYPE_CHECKING:
    from pathlib import Path

NAN = float("nan")
KRIPPENDORFF = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    "C": [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
}
"""Reliability data of Krippendorff, Computing Krippendorff's alpha-reliability, 2011, part C."""


def test_alpha_is_that_of_krippendorff() -> None:
    found = rs.judge_agreement(KRIPPENDORFF, judges=list("ABCD"))
    alphas = (found.alpha_nominal, found.alpha_ordinal, found.alpha_interval)
    assert [round(alpha, 3) for alpha in alphas] == [0.743, 0.815, 0.849]
    assert (found.items, found.judged_twice) == (12, 11)


def test_kappa_and_correlation_are_those_of_scikit_learn_and_scipy() -> None:
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


def test_costs_of_disagreements_are_differences_of_grades() -> None:
    # Observed cost: (3 - 0) / 4; by chance: each of 4 x 4 pairs, of which 2 x 3 cost 3.
    found = rs.judge_agreement({"a": [0, 0, 0, 3], "b": [0, 0, 3, 3]}, judges=["a", "b"])
    assert found.pairs[0].kappa_linear == pytest.approx(1 - (3 / 4) / (8 * 3 / 16))


def test_one_row_per_judgment_gives_the_same_as_one_column_per_judge(tmp_path: Path) -> None:
    wide = pd.DataFrame(KRIPPENDORFF).assign(query="q", doc=[f"d{at}" for at in range(12)])
    long = wide.melt(["query", "doc"], var_name="rater", value_name="grade")
    expected = rs.judge_agreement(wide, judges=list("ABCD")).to_dict()
    assert rs.judge_agreement(long, judge="rater", relevance="grade").to_dict() == expected
    shuffled = long.dropna().sample(frac=1, random_state=1)
    shuffled.to_csv(tmp_path / "long.csv", index=False)
    assert rs.judge_agreement(tmp_path / "long.csv", judge="rater").to_dict() == expected
    wide.to_csv(tmp_path / "wide.csv", index=False)
    assert rs.judge_agreement(tmp_path / "wide.csv", judges=list("ABCD")).to_dict() == expected


def test_a_table_has_one_row_per_pair() -> None:
    frame = rs.judge_agreement(KRIPPENDORFF, judges=list("ABC")).to_pandas()
    assert list(zip(frame["judge"], frame["other"], strict=True)) == [*combinations("ABC", 2)]


def test_confusion_can_be_turned_around() -> None:
    found = rs.judge_agreement({"a": [0, 0, 1], "b": [0, 1, 1]}, judges=["a", "b"])
    assert found.confusion("a", "b").rows() == [("0", 1, 1), ("1", 0, 1)]
    assert found.confusion("b", "a").rows() == [("0", 1, 0), ("1", 1, 1)]


def test_agreement_without_variation_is_unknown() -> None:
    found = rs.judge_agreement({"a": [1, 1], "b": [1, 1]}, judges=["a", "b"])
    assert np.isnan(found.alpha_ordinal)
    assert np.isnan(found.pairs[0].kappa)
    assert found.pairs[0].exact == 1
    assert "no agreement to measure" in str(found)


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
def test_bad_columns_are_refused(arguments: dict[str, object], code: str) -> None:
    with pytest.raises(rs.RankscopeError) as caught:
        rs.judge_agreement({"a": [1], "b": [1], "text": ["good"]}, **arguments)
    assert caught.value.code == code


def test_an_infinite_grade_is_refused_in_its_row(tmp_path: Path) -> None:
    pd.DataFrame({"a": ["1", "0", "1e400"], "b": [1, 0, 1]}).to_csv(tmp_path / "a.csv", index=False)
    for table, line in (({"a": [1.0, 0.0, np.inf], "b": [1, 0, 1]}, 3), (tmp_path / "a.csv", 4)):
        with pytest.raises(rs.FormatError, match="expected grades in a, found inf") as caught:
            rs.judge_agreement(table, judges=["a", "b"])
        assert (caught.value.code, caught.value.line) == ("rel_not_number", line)


def test_two_grades_of_a_judge_for_a_document_are_refused() -> None:
    table = {"rater": ["x", "x"], "query": ["q", "q"], "doc": ["d", "d"], "grade": [1, 2]}
    with pytest.raises(rs.DuplicateError) as caught:
        rs.judge_agreement(table, judge="rater")
    assert caught.value.line == 2


def test_three_raters_of_products_agree_as_scikit_learn_says() -> None:
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

"""The examples that others publish, as an explanation prints them: every number matches."""

from __future__ import annotations

import itertools
from math import log2

import pytest
import rankscope as rs
from rankscope import Explanation


def column(explanation: Explanation, name: str, digits: int, title: str = "The list") -> list[str]:
    """The cells of a column of a table, as they are printed."""
    lines = explanation.to_text(digits).split("\n")
    start = next(at for at, line in enumerate(lines) if line.startswith(title))
    table = list(itertools.takewhile(bool, lines[start + 1 :]))
    end = table[0].index(name) + len(name)
    while table[0][end:].startswith(" ×"):  # another column begins with the same word
        end = table[0].index(name, end) + len(name)
    return [line[:end].split()[-1] for line in table[1:]]


ARTICLE = [4, 2, 5, 3, 5]
DISCOUNTED = [4, 2 / log2(3), 5 / log2(4), 3 / log2(5), 5 / log2(6)]
BEST = [5, 5 / log2(3), 4 / log2(4), 3 / log2(5), 2 / log2(6)]


@pytest.mark.parametrize(
    ("name", "formula", "published"),
    [
        ("CG", itertools.accumulate(ARTICLE), "4.00 6.00 11.00 14.00 19.00"),
        ("DCG", itertools.accumulate(DISCOUNTED), "4.00 5.26 7.76 9.05 10.99"),
        ("IDCG", itertools.accumulate(BEST), "5.00 8.15 10.15 11.45 12.22"),
        (
            "nDCG",
            [
                dcg / best
                for dcg, best in zip(
                    itertools.accumulate(DISCOUNTED), itertools.accumulate(BEST), strict=True
                )
            ],
            "0.80 0.65 0.76 0.79 0.90",
        ),
    ],
)
def test_the_table_by_rank_is_that_of_the_article(
    name: str, formula: object, published: str
) -> None:
    explanation = rs.explain(ARTICLE, names="ABCDE")
    found = [getattr(row, name.lower()) for row in explanation.rows]
    assert found == list(formula)  # type: ignore[call-overload]  # numbers
    # Each name ends another: the running columns are found from the right.
    places = ["CG", "DCG", "IDCG", "nDCG"]
    lines = explanation.to_text(2).split("\n")
    start = lines.index("The list, rank by rank") + 2
    cells = [line.split()[-4:][places.index(name)] for line in lines[start : start + 5]]
    assert cells == published.split()


def test_the_terms_are_those_of_the_article() -> None:
    explanation = rs.explain(ARTICLE, k=3, names="ABCDE")
    assert [row.contribution for row in explanation.rows] == DISCOUNTED[:3]
    assert [row.contribution for row in explanation.ideal_rows] == BEST[:3]
    assert column(explanation, "gain × discount", 4) == ["4.0000", "1.2619", "2.5000"]
    text = explanation.to_text(3)
    assert "DCG@3 = 4/log2(2) + 2/log2(3) + 5/log2(4)" in text
    assert "IDCG@3 = 5/log2(2) + 5/log2(3) + 4/log2(4)" in text
    assert "= 7.762 / 10.155" in text
    assert text.startswith("nDCG@3 = 0.764\n")


def test_a_term_that_articles_have_wrong_is_printed_right() -> None:
    # 3/log2(5) is 1.29203, not 1.29248.
    explanation = rs.explain(ARTICLE)
    assert column(explanation, "gain × discount", 5)[3] == "1.29203"


def test_the_worst_and_the_best_order_are_those_that_are_published() -> None:
    explanation = rs.explain([3, 1, 2, 0, 2], gain="exp2")
    assert explanation.worst is not None
    assert explanation.best is not None
    assert (explanation.worst.grades, explanation.best.grades) == ((0, 1, 2, 2, 3), (3, 2, 2, 1, 0))
    assert f"{explanation.worst.value:.15f}" == "0.566447862549826"
    assert explanation.best.value == 1


# Järvelin and Kekäläinen, 2002: the list and the ideal of their example, with base 2.
VECTOR = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
IDEAL = [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]


def test_the_vectors_of_the_inventors_are_printed() -> None:
    explanation = rs.explain(VECTOR, ideal=IDEAL, discount="jk", base=2)
    assert explanation.to_text(2).count("max(1, log2(") > 0
    rows = explanation.rows
    dcg = "3.00 5.00 6.89 6.89 6.89 7.28 7.99 8.66 9.61 9.61"
    assert [f"{row.dcg:.2f}" for row in rows] == dcg.split()
    best = "3.00 6.00 7.89 8.89 9.75 10.53 10.88 11.22 11.53 11.83"
    assert [f"{row.idcg:.2f}" for row in rows] == best.split()

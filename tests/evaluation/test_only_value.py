"""A result with one value is a number to `float`, `round` and format strings."""

from __future__ import annotations

import pytest
import rankscope as rs

QRELS = {"q": {"a": 1, "b": 1}}
RUN = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
ONE = rs.evaluate(QRELS, RUN, "nDCG@10")
ONE_RUN = rs.evaluate(QRELS, {"old": RUN}, "nDCG@10")
AS_NUMBER = {
    "float": float,
    "round": round,
    "three digits": lambda result: round(result, 3),
    "format": lambda result: f"{result:.3f}",
    "width": lambda result: f"{result:>12.2%}",
}


@pytest.mark.parametrize("way", AS_NUMBER)
@pytest.mark.parametrize("result", [ONE, ONE_RUN], ids=["a run", "runs by name"])
def test_the_only_value_is_the_number(way, result):
    assert AS_NUMBER[way](result) == AS_NUMBER[way](ONE["nDCG@10"])


@pytest.mark.parametrize("way", AS_NUMBER)
@pytest.mark.parametrize(
    ("result", "call"),
    [
        (rs.evaluate(QRELS, RUN, ["nDCG@10", "AP"]), "evaluation['nDCG@10']"),
        (rs.evaluate(QRELS, {"old": RUN, "new": RUN}, "AP"), "evaluations['old']['AP']"),
    ],
)
def test_of_several_values_one_has_to_be_named(way, result, call):
    with pytest.raises(rs.UsageError) as caught:
        AS_NUMBER[way](result)
    assert caught.value.code == "several_values"
    assert call in caught.value.hint


def test_without_a_format_a_result_is_its_text():
    assert f"{ONE}" == str(ONE)
    assert "nDCG@10" in f"{rs.evaluate(QRELS, RUN, ['nDCG@10', 'AP'])}"

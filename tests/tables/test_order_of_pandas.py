"""Columns of pandas whose index shows that their rows are in different orders are errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import rankscope as rs

from tests.refusals import refused, refuses

if TYPE_CHECKING:
    from collections.abc import Callable

GENERATOR = np.random.default_rng(5)
LOG = pd.DataFrame(
    {
        "query": np.repeat(["a", "b", "c"], 4),
        "gains": GENERATOR.integers(0, 4, 12),
        "score": GENERATOR.normal(size=12),
    }
)
BEST_FIRST = LOG.sort_values("score", ascending=False)
WIDE = pd.DataFrame(GENERATOR.integers(0, 4, (3, 4)), index=["a", "b", "c"], columns=[*"wxyz"])
SIZES = [4, 4, 4]


@pytest.mark.parametrize(
    ("mixed", "name"),
    [
        (lambda: rs.ndcg(BEST_FIRST["gains"], groups=LOG["query"]), "groups"),
        (lambda: rs.dcg(LOG["gains"], groups=BEST_FIRST["query"]), "groups"),
        (lambda: rs.ndcg_score(LOG["gains"], BEST_FIRST["score"], groups=LOG["query"]), "y_score"),
        (lambda: rs.ndcg_score(LOG["gains"], LOG["score"], groups=BEST_FIRST["query"]), "groups"),
        (lambda: rs.ndcg_score(WIDE, WIDE.iloc[::-1]), "y_score"),
        (lambda: rs.ndcg_score(WIDE, WIDE[[*"zyxw"]]), "y_score"),
        (lambda: rs.Rankings.from_arrays(WIDE, WIDE.iloc[::-1]), "y_score"),
        (lambda: rs.Rankings.from_groups(LOG["gains"], BEST_FIRST["score"], SIZES), "scores"),
    ],
)
def test_one_index_in_two_orders_is_an_error(mixed: Callable[[], object], name: str) -> None:
    with refuses(rs.FormatError, "index_order", match="different orders") as error:
        mixed()
    assert error.value.file == name
    assert "order" in error.value.hint


def test_other_labels_and_arrays_go_by_position() -> None:
    expected = rs.evaluate(LOG, "nDCG")["nDCG"]
    gains, score, query = LOG["gains"], LOG["score"], LOG["query"]
    for columns in (
        (gains, score, query),
        (gains.to_numpy(), score, query),
        (gains, score.set_axis(range(100, 112)), query.to_numpy()),
        (BEST_FIRST["gains"], BEST_FIRST["score"], BEST_FIRST["query"]),
        (gains, score, LOG.groupby("query").size()),
    ):
        y_true, y_score, groups = columns
        value = rs.ndcg_score(y_true, y_score, groups=groups)
        assert value == pytest.approx(expected, abs=1e-15)


def test_weights_of_queries_have_to_be_in_the_order_of_the_queries() -> None:
    log = LOG.iloc[::-1]  # c, b, a
    weights = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "c"])
    rows = {"y_true": log["gains"], "y_score": log["score"], "groups": log["query"]}
    refused(lambda: rs.ndcg_score(**rows, sample_weight=weights), "index_order")
    found = rs.ndcg_score(**rows, sample_weight=weights.loc[log["query"].unique()])
    table = rs.evaluate(log, "nDCG").to_pandas().set_index("query")["nDCG"]
    expected = np.average(table.loc[weights.index], weights=weights)
    assert found == pytest.approx(expected, abs=1e-15)
    refused(lambda: rs.ndcg_score(WIDE, WIDE, sample_weight=weights.iloc[::-1]), "index_order")

"""Judgments and runs as data frames give what the same rows give in any other way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope import RR


def test_columns_are_named_where_their_names_are_unusual() -> None:
    qrels = pd.DataFrame({"customer": [1], "sku": [5], "bought": [1]})
    run = pd.DataFrame({"customer": [1, 1], "sku": [4, 5], "place": [1, 2]})
    names = {"query": "customer", "doc": "sku", "relevance": "bought", "rank": "place"}
    assert rs.evaluate(qrels, run, RR, **names)["RR"] == 0.5
    with pytest.raises(rs.UsageError, match="unexpected keyword argument 'queries'"):
        rs.evaluate(qrels, run, RR, queries="customer")
    with pytest.raises(rs.UsageError, match="expected query as the name of a column, found int"):
        rs.evaluate(qrels, run, RR, query=1)


def test_scores_compare_in_single_precision_where_asked() -> None:
    run = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [0.1 + 1e-12, 0.1]})
    qrels = {"q": {"b": 1}}
    assert rs.evaluate(qrels, run, RR)["RR"] == 0.5
    assert rs.evaluate(qrels, run, RR, score_type="float32")["RR"] == 1.0
    assert np.float32(0.1 + 1e-12) == np.float32(0.1)

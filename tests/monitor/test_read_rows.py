"""Tables with one document a row are rankings."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from rankscope import FormatError
from rankscope.monitor.events.reader import EventReader

from tests.refusals import refuses

NOW = 1_795_284_000_000_000
MOMENT = datetime(2026, 11, 21, 18, tzinfo=UTC)
ROWS: dict[str, list[Any]] = {
    "prediction_group_id": ["r1", "r2", "r1"],
    "prediction_id": ["b", "x", "a"],
    "timestamp": [MOMENT, MOMENT, MOMENT],
    "rank": [2, 1, 1],
    "prediction_score": [0.25, 0.5, 0.75],
    "relevance_score": [None, 2.0, 1.0],
    "model_version": ["4", "4", "4"],
    "country": ["de", "fr", "de"],
}


def test_rows_without_ranks_are_ranked_by_score_then_by_document() -> None:
    rows = {
        "qid": [1, 1, 1],
        "docno": ["a", "c", "b"],
        "score": [0.5, 0.5, 2],
        "time": [MOMENT] * 3,
    }
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        shuffled = {name: [values[at] for at in order] for name, values in rows.items()}
        (ranking,) = EventReader().read_ranking_rows(shuffled, now=NOW).events
        assert (ranking.ranking_id, ranking.items.doc_ids) == ("1", ("b", "c", "a"))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"timestamp": [MOMENT, MOMENT, MOMENT.replace(hour=17)]}, "attribute_conflict"),
        ({"country": ["de", "fr", "at"]}, "attribute_conflict"),
        ({"prediction_id": ["a", "x", "a"]}, "duplicate_doc"),
        ({"rank": [1, 1, 1]}, "duplicate_rank"),
        ({"rank": [None, 1, 1]}, "bad_rank"),
        ({"prediction_score": [float("inf"), 0.5, 0.75]}, "score_not_number"),
        ({"timestamp": [MOMENT.replace(tzinfo=None)] * 3}, "time_zone"),
    ],
)
def test_a_ranking_whose_rows_cannot_be_meant_is_refused(
    change: dict[str, list[Any]], code: str
) -> None:
    reading = EventReader().read_ranking_rows(ROWS | change, now=NOW, attributes=["country"])
    assert reading.rejections[0].index == 0
    assert reading.rejections[0].code == code


def test_times_without_a_zone_are_refused_in_arrays_too() -> None:
    times = np.array(["2026-11-21T18:00:00"] * 3, dtype="datetime64[ns]")
    reading = EventReader().read_ranking_rows(ROWS | {"timestamp": times}, now=NOW)
    assert [rejection.code for rejection in reading.rejections] == ["time_zone"] * 2


@pytest.mark.parametrize("missing", ["prediction_group_id", "prediction_id", "timestamp"])
def test_a_table_without_a_column_is_refused(missing: str) -> None:
    rows = {name: values for name, values in ROWS.items() if name != missing}
    with refuses(FormatError, "columns"):
        EventReader().read_ranking_rows(rows, now=NOW)


def test_a_score_that_is_missing_ranks_nothing() -> None:
    rows = {"qid": [1], "docno": ["a"], "score": [float("nan")], "time": [MOMENT]}
    (rejection,) = EventReader().read_ranking_rows(rows, now=NOW).rejections
    assert rejection.code == "missing_score"

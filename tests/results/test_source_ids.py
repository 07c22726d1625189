"""Identifiers come back with the name and the type that they have in the caller's table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs

LOG = pd.DataFrame(
    {
        "search_group_id": [12, 12, 12, 7, 7],
        "item_id": [3, 1, 2, 9, 1],
        "gains": [0, 2, 1, 0, 1],
        "score": [0.3, 0.2, 0.1, 0.5, 0.4],
    }
)
QUERY, DOC = "search_group_id", "item_id"


def results_of(rankings: rs.Rankings) -> dict[str, rs.Table]:
    """The tables that rankings give, with the columns of identifiers in each."""
    return {
        "losses": rankings.losses("nDCG@2"),
        "bounds": rankings.bounds("nDCG@2"),
        "ties": rankings.ties("nDCG@2"),
    }


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64", "Int64"])
def test_integers_keep_their_type_and_merge(dtype: str) -> None:
    log = LOG.astype({QUERY: dtype, DOC: dtype})
    rankings = rs.Rankings.from_table(log)
    evaluation = rankings.evaluate(["AP", "nDCG@2"])
    assert evaluation.query_ids == [12, 7]
    frame = evaluation.to_pandas()
    assert frame[QUERY].dtype == dtype.lower()
    merged = log.merge(frame, on=QUERY)
    assert merged["AP"].tolist() == pytest.approx([7 / 12] * 3 + [0.5] * 2)
    for name, table in results_of(rankings).items():
        exported = table.to_pandas()
        assert exported[QUERY].dtype == dtype.lower(), name
        assert len(log.merge(exported, on=QUERY)) > 0, name
    fused = rs.fuse([log, log]).to_pandas()
    assert fused["doc_id"].dtype == dtype.lower()


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.Int64, pl.String])
def test_polars_joins_on_the_ids_of_a_result(dtype: type[pl.DataType]) -> None:
    log = pl.from_pandas(LOG).with_columns(pl.col(QUERY).cast(dtype))
    joined = log.join(rs.evaluate(log, "AP").to_polars(), on=QUERY)
    assert joined["AP"].to_list() == pytest.approx([7 / 12] * 3 + [0.5] * 2)


def test_arrow_keeps_the_types_of_ids() -> None:
    log = pa.Table.from_pandas(LOG).cast(
        pa.schema(
            [
                (QUERY, pa.uint16()),
                (DOC, pa.string()),
                ("gains", pa.int8()),
                ("score", pa.float32()),
            ]
        )
    )
    found = rs.Rankings.from_table(log).bounds("nDCG@2").to_arrow()
    assert found.schema.field(QUERY).type == pa.uint16()
    fused = rs.fuse([log, log]).to_arrow()
    assert fused.schema.field("doc_id").type == pa.string()


@pytest.mark.parametrize("values", [[12, 7], ["12", "7"], ["b", "a"]])
def test_categories_come_back_as_their_values(values: list[object]) -> None:
    log = LOG.assign(**{QUERY: pd.Categorical([values[0]] * 3 + [values[1]] * 2)})
    evaluation = rs.evaluate(log, "AP")
    assert evaluation.query_ids == values
    assert evaluation.to_pandas()[QUERY].tolist() == values


def test_text_that_looks_like_a_number_stays_text() -> None:
    log = LOG.assign(**{QUERY: ["012"] * 3 + ["7"] * 2})
    assert rs.evaluate(log, "AP").query_ids == ["012", "7"]
    assert rs.evaluate(rs.File(log.to_csv(index=False).encode(), "csv"), "AP").query_ids == [
        "012",
        "7",
    ]


def test_dicts_with_integer_keys_have_integers_in_results() -> None:
    qrels = {12: {3: 0, 1: 2, 2: 1}, np.int64(7): {9: 0, 1: 1}}
    run = {12: {3: 0.3, 1: 0.2, 2: 0.1}, 7: {9: 0.5, 1: 0.4}}
    evaluation = rs.evaluate(qrels, run, ["AP"])
    assert evaluation.query_ids == rs.read_qrels(qrels).query_ids == [12, 7]
    assert [*evaluation.to_dict()] == [12, 7]
    rankings = rs.Rankings.from_run(qrels, run)
    assert rankings.doc_ids(12) == rankings.doc_ids("12") == [3, 1, 2]
    assert rankings.losses("nDCG@2").to_dict()[7]["value"] == pytest.approx(1 / np.log2(3))
    moved = rs.diff(qrels, run, {12: {1: 1.0}, 7: {9: 1.0}}, "nDCG@2").to_pandas()
    assert moved["query_id"].tolist() in ([12, 7], [7, 12])


def test_keys_of_several_types_stay_text() -> None:
    judged: Any = {"12": {1: 1}, 7: {"1": 1}}
    assert rs.evaluate(judged, {7: {1: 1.0}}, "AP").query_ids == ["12", "7"]


def test_a_document_that_is_no_integer_makes_the_column_text() -> None:
    rankings = rs.Rankings.from_run({1: {5: 1}}, {1: {"x9": 2.0, 5: 1.0}})
    assert rankings.doc_ids(1) == ["x9", "5"]


def test_judgments_and_runs_in_frames_give_back_the_column_of_the_judgments() -> None:
    qrels = LOG[[QUERY, DOC, "gains"]]
    run = LOG[[QUERY, DOC, "score"]].rename(columns={QUERY: "qid"})
    frame = rs.evaluate(qrels, run, ["AP"]).to_pandas()
    assert [*frame] == [QUERY, "AP"]
    assert qrels.merge(frame, on=QUERY)["AP"].tolist() == pytest.approx([7 / 12] * 3 + [0.5] * 2)


def test_printed_tables_and_values_do_not_depend_on_the_type_of_ids() -> None:
    as_text = LOG.astype({QUERY: str, DOC: str})
    one, other = rs.Rankings.from_table(LOG), rs.Rankings.from_table(as_text)
    for name, table in results_of(one).items():
        assert str(table) == str(results_of(other)[name]), name

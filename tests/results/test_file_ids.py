"""Files give identifiers back with the names and types that they have, and UUIDs as UUIDs."""

from __future__ import annotations

import json
import pickle
import uuid
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope.cli import main
from rankscope.errors import FormatError

from tests.tabular import write_table

if TYPE_CHECKING:
    from pathlib import Path

LOG = pl.DataFrame(
    {
        "search_group_id": [12, 12, 12, 7, 7],
        "item_id": [3, 1, 2, 9, 1],
        "gains": [0, 2, 1, 0, 1],
        "score": [0.3, 0.2, 0.1, 0.5, 0.4],
        "is_new": [True, True, True, None, None],
    },
    schema_overrides={"search_group_id": pl.Int32, "item_id": pl.UInt16},
)
QUERY, DOC = "search_group_id", "item_id"
AP = pytest.approx([7 / 12] * 3 + [0.5] * 2)
UUIDS = {12: uuid.UUID(int=2**127 + 5), 7: uuid.UUID(int=2**60)}


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_typed_files_give_integers_back(tmp_path: Path, form: str, *, is_sorted: bool) -> None:
    # Rows in any order are read into memory, and rows of a query together batch by batch.
    path = write_table(LOG if is_sorted else LOG[[0, 3, 1, 4, 2]], tmp_path / f"log.{form}")
    evaluation = rs.evaluate(path, ["AP"], by="is_new")
    assert evaluation.query_ids == [12, 7]
    frame = evaluation.to_pandas()
    assert frame[QUERY].dtype == np.int32
    assert LOG.to_pandas().merge(frame, on=QUERY)["AP"].tolist() == AP
    assert LOG.join(evaluation.to_polars(), on=QUERY)["AP"].to_list() == AP
    assert evaluation.slices.column("is_new") == (None, True)
    fused = rs.fuse([path, path]).to_arrow()
    assert fused.schema.field("query_id").type == pa.int32()
    assert fused.schema.field("doc_id").type == pa.uint16()


def test_json_lines_have_integers_and_csv_has_text(tmp_path: Path) -> None:
    found = rs.evaluate(write_table(LOG, tmp_path / "log.jsonl"), "AP", by="is_new")
    assert found.query_ids == [12, 7]
    assert found.slices.column("is_new") == (None, True)
    path = write_table(LOG, tmp_path / "log.csv")
    frame = rs.evaluate(path, "AP").to_pandas()
    assert frame[QUERY].tolist() == ["12", "7"]
    assert pd.read_csv(path, dtype={QUERY: str}).merge(frame, on=QUERY)["AP"].tolist() == AP


def test_judgments_in_a_file_give_their_column_back(tmp_path: Path) -> None:
    path = write_table(LOG.select(QUERY, DOC, "gains"), tmp_path / "log.parquet")
    assert rs.read_qrels(path).query_ids == [12, 7]
    run = LOG.select(pl.col(QUERY).cast(str), pl.col(DOC).cast(str), "score")
    assert [*rs.evaluate(path, run, "AP").to_pandas()] == [QUERY, "AP"]


def test_files_with_integers_of_different_width_have_the_widest(tmp_path: Path) -> None:
    LOG[:3].write_parquet(tmp_path / "1.parquet")
    LOG[3:].with_columns(pl.lit(2**40).alias(QUERY)).write_parquet(tmp_path / "2.parquet")
    frame = rs.evaluate(tmp_path / "*.parquet", "AP").to_pandas()
    assert frame[QUERY].tolist() == [12, 2**40]
    assert frame[QUERY].dtype == np.int64


def test_fields_of_lists_have_their_own_names(tmp_path: Path) -> None:
    items = pl.struct(pl.col(DOC).cast(pl.Int16), "score", "gains").alias("items")
    LOG.group_by(QUERY, maintain_order=True).agg(items).write_parquet(tmp_path / "log.parquet")
    path = tmp_path / "log.parquet"
    fused = rs.fuse([path, path]).to_polars()
    assert fused.schema["query_id"] == pl.Int32
    assert fused.schema["doc_id"] == pl.Int16


@pytest.mark.parametrize("options", [["-q", "--json"], ["--by", "is_new", "--by", "year", "--csv"]])
def test_the_command_line_prints_the_same_for_all_formats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    log = LOG.with_columns(pl.col("is_new").fill_null(value=False), year=pl.lit(2026))
    printed = []
    for form in ("parquet", "jsonl", "csv"):
        path = write_table(log, tmp_path / f"log.{form}")
        assert main(["eval", str(path), "-m", "AP", *options]) == 0
        printed.append(capsys.readouterr().out)
    assert len({"".join(text.split()) for text in printed}) == 1


def with_uuids() -> pd.DataFrame:
    """The log with UUIDs in place of integers, as pandas reads them from a database."""
    log = LOG.to_pandas()
    return log.assign(**{QUERY: log[QUERY].map(UUIDS)})


def test_uuids_in_frames_and_files_come_back_as_uuids(tmp_path: Path) -> None:
    log = with_uuids()
    log.to_parquet(tmp_path / "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet")
    assert str(table.schema.field(QUERY).type) == "extension<arrow.uuid>"
    expected = rs.evaluate(log.astype({QUERY: str}), ["AP"])
    for given in (log, tmp_path / "log.parquet", table, table.slice(1), pa.concat_tables([table])):
        evaluation = rs.evaluate(given, ["AP"])
        assert evaluation.query_ids == [*UUIDS.values()]
        assert evaluation.query_texts == expected.query_texts == [*map(str, UUIDS.values())]
    assert log.merge(evaluation.to_pandas(), on=QUERY)["AP"].tolist() == AP
    assert evaluation.to_arrow().schema.field(QUERY).type == table.schema.field(QUERY).type
    assert evaluation.to_polars()[QUERY].to_list() == expected.query_ids
    assert pickle.loads(pickle.dumps(evaluation)).query_ids == evaluation.query_ids  # noqa: S301


def test_the_command_line_prints_uuids_as_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.parquet"
    with_uuids().to_parquet(path)
    assert main(["eval", str(path), "-m", "AP", "-q", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["per_query"]
    assert [*found] == [*map(str, UUIDS.values())]


def test_a_missing_uuid_is_an_error_in_its_row() -> None:
    log = with_uuids()
    log.loc[2, QUERY] = None
    for table in (log, pa.Table.from_pandas(log)):
        with pytest.raises(FormatError, match="an ID in every row") as caught:
            rs.evaluate(table, "AP")
        assert (caught.value.code, caught.value.line) == ("missing_id", 3)


def test_uuids_as_keys_of_mappings_come_back_as_uuids() -> None:
    found = rs.evaluate({UUIDS[7]: {"a": 1}}, {UUIDS[7]: {"a": 1.0}}, "AP")
    assert found.query_ids == [UUIDS[7]]

"""Packed rows are files where all tasks see one folder, and rows of Spark elsewhere."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import rankscope as rs
import rankscope.spark as rss

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="PySpark is not installed; it is in make test-integrations")

from rankscope._evaluate.settings import Settings  # noqa: E402 - as above
from rankscope.settings.reading import Reading  # noqa: E402 - as above
from rankscope.spark import frames, shared_folder, tasks  # noqa: E402 - where it is installed
from rankscope.spark.jobs import make_job  # noqa: E402 - as above
from rankscope.spark.packing import Buckets, Rows, pack, unpack  # noqa: E402 - as above
from rankscope.spark.selecting import select_columns  # noqa: E402 - as above
from rankscope.spark.shared_folder import (  # noqa: E402 - as above
    PieceFile,
    SharedFolder,
    make_folder,
    name_place,
    read_place,
)

from tests.merged import bits  # noqa: E402 - as above
from tests.spark.test_in_place import MEASURES, make, split_run  # noqa: E402 - as above

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")


def scatter(spark, table):
    """Return a data frame whose queries are in several partitions."""
    return spark.createDataFrame(table).repartition(3)


def test_the_files_are_removed_with_the_values_and_written_again(spark, tmp_path):
    spark.conf.set(shared_folder.SETTING, str(tmp_path))
    try:
        found = rss.evaluate(scatter(spark, make()), MEASURES)
    finally:
        spark.conf.unset(shared_folder.SETTING)
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.iterdir())) > 0
    found.unpersist()
    assert not folder.exists()
    local = rs.evaluate(make(), MEASURES)
    assert bits(found) == bits(local)  # which computes them again
    assert folder.exists()
    del found
    assert not folder.exists()


def test_a_cluster_has_no_folder_unless_the_session_names_one(spark, tmp_path, monkeypatch):
    folder = make_folder(spark)
    assert folder is not None
    assert Path(folder.path).parent == Path(spark.sparkContext._temp_dir)
    monkeypatch.setattr(spark.sparkContext, "master", "spark://host:7077")
    assert make_folder(spark) is None
    spark.conf.set(shared_folder.SETTING, str(tmp_path))
    try:
        named = make_folder(spark)
    finally:
        spark.conf.unset(shared_folder.SETTING)
    assert named is not None
    assert Path(named.path).parent == tmp_path


def test_spark_moves_packed_rows_where_there_is_no_folder(spark, monkeypatch):
    monkeypatch.setattr(frames, "make_folder", lambda _: None)
    table = make(integers=True)
    found = rss.evaluate(scatter(spark, table), MEASURES, by="country")
    local = rs.evaluate(table, MEASURES, by="country")
    assert bits(found) == bits(local)
    qrels, run = split_run(make())
    judged = qrels.drop_columns(["country"])
    paired = rss.evaluate(scatter(spark, judged), scatter(spark, run), MEASURES, partitions=2)
    assert bits(paired) == bits(rs.evaluate(judged, run, MEASURES))


def test_a_folder_that_cannot_be_written_is_an_error(spark, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    spark.conf.set(shared_folder.SETTING, str(tmp_path / "file"))
    try:
        with pytest.raises(rs.FileError, match="cannot write packed rows") as caught:
            rss.evaluate(scatter(spark, make()), MEASURES)
    finally:
        spark.conf.unset(shared_folder.SETTING)
    assert shared_folder.SETTING in str(caught.value.hint)


def test_what_is_packed_into_a_file_is_unpacked(tmp_path):
    table = make(integers=True)
    rows = Rows(
        side="joined",
        schema=table.schema,
        names={"query": "query_id"},
        has_integer_queries=True,
    )
    with PieceFile(str(tmp_path)) as file:
        packed = list(pack(table.to_batches(), rows, Buckets(count=7, by_text=False), file))
    assert {bucket for batch in packed for bucket in batch["bucket"].to_pylist()} == set(range(7))
    held = unpack(pa.Table.from_batches(packed), rows, in_files=True)
    order = [("query_id", "ascending"), ("doc_id", "ascending")]
    assert held.sort_by(order).equals(table.sort_by(order))


def test_a_file_that_is_gone_or_cut_is_an_error(tmp_path):
    path = tmp_path / "with spaces"
    path.write_bytes(b"abcdef")
    assert read_place(name_place(str(path), 2, 3)) == b"cde"
    with pytest.raises(rs.FileError, match="shorter"):
        read_place(name_place(str(path), 2, 5))
    with pytest.raises(rs.FileError, match="No such file"):
        read_place(name_place(str(tmp_path / "other"), 0, 1))


def test_a_folder_that_nobody_wrote_to_is_removed_without_an_error(tmp_path):
    SharedFolder(str(tmp_path / "none")).clear()


def test_too_little_memory_is_an_error_that_says_what_to_set(monkeypatch):
    table = make(integers=True)
    names = table.schema.names
    rows, _ = select_columns("joined", names, lambda few: table.select(few).schema, {}, [])
    table = table.select(rows.columns)
    packed = list(pack(table.to_batches(), rows, Buckets(count=7, by_text=False)))
    asked = Settings(measures="AP", policy=None, convention=None)
    job = make_job([rows], list, asked, Reading.read())

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(tasks, "unpack", fail)
    *_, last = tasks.evaluating(job)(packed)
    assert last["kind"].to_pylist() == [tasks.ERROR]
    error = pickle.loads(last["payload"][0].as_py())  # noqa: S301 - our own
    assert isinstance(error, rs.OutOfMemoryError)
    assert "spark.executor.pyspark.memory" in error.hint

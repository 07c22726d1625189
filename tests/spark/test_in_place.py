"""A table is evaluated where its rows lie, with the local values, or its rows are moved."""

from __future__ import annotations

import pickle

import pytest
import rankscope as rs
import rankscope.spark as rss

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="PySpark is not installed; it is in make test-integrations")

from pyarrow import parquet  # noqa: E402 - where it is installed
from rankscope.spark import evaluation, in_place, tasks  # noqa: E402 - as above
from rankscope.spark.files import find_pieces  # noqa: E402 - as above
from rankscope.spark.frames import select_columns  # noqa: E402 - as above
from rankscope.spark.packing import pack, unpack  # noqa: E402 - as above

from tests.merged import bits  # noqa: E402 - as above

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

MEASURES = ["nDCG@10", "AP"]


def make(queries=300, *, integers=False):
    """Return a table query by query, with ties, nulls and queries of different sizes."""
    rows = [(query, doc) for query in range(queries) for doc in range(1 + query % 13)]
    names = [query if integers else f"q{query}" for query, _ in rows]
    return pa.table(
        {
            "query_id": names,
            "doc_id": [doc if integers else f"d{doc}" for _, doc in rows],
            "score": [float((query * 7 + doc * 3) % 5) for query, doc in rows],
            "relevance": [[0, 1, None, 2][(query + doc * doc) % 4] for query, doc in rows],
            "country": [["de", "fr", None][query % 3] for query, _ in rows],
        }
    )


@pytest.fixture
def paths(monkeypatch):
    """Say of each evaluation whether the rows stayed."""
    found = []
    run = evaluation.run_in_place

    def watch(*arguments):
        found.append(False)
        answer = run(*arguments)
        found[-1] = True
        return answer

    monkeypatch.setattr(evaluation, "run_in_place", watch)
    return found


def write(table, folder, files):
    """Write a table as files of several row groups, which cut queries."""
    folder.mkdir()
    size = -(-table.num_rows // files)
    for number in range(files):
        part = table.slice(number * size, size)
        parquet.write_table(part, folder / f"{number:03}.parquet", row_group_size=size // 5 + 1)
    return str(folder)


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("integers", [True, False])
@pytest.mark.parametrize("scattered", [True, False])
def test_files_are_read_by_tasks(spark, tmp_path, paths, files, *, integers, scattered):
    table = make(integers=integers)
    order = sorted(range(table.num_rows), key=lambda row: row * 7919 % 10_007 if scattered else 0)
    path = write(table.take(order), tmp_path / "t", files)
    found = rss.evaluate(spark.read.parquet(path), MEASURES, by="country")
    local = rs.evaluate(table, MEASURES, by="country")
    assert bits(found) == bits(local)
    assert sorted(row[0] for row in found.to_spark().collect()) == sorted(local.query_ids)
    assert paths == [not scattered]


def test_rows_that_spark_reads_stay_too(spark, tmp_path, paths):
    frame = spark.read.parquet(write(make(), tmp_path / "t", 2)).where("score >= 0")
    assert find_pieces(frame, ["query_id"]) == []
    assert bits(rss.evaluate(frame, MEASURES)) == bits(rs.evaluate(make(), MEASURES))
    assert paths == [True]


@pytest.mark.parametrize("change", ["filter", "column", "types", "cache", "limit"])
def test_what_is_no_plain_scan_is_read_by_spark(spark, tmp_path, change):
    path = write(make(integers=True), tmp_path / "t", 2)
    frame = spark.read.parquet(path)
    assert find_pieces(frame.select("query_id", "score"), ["query_id"]) != []
    frame = {
        "filter": lambda: frame.where("query_id > 20"),
        "column": lambda: frame.withColumn("score", -frame["score"]),
        "types": lambda: spark.read.option("mergeSchema", "true").parquet(path),
        "cache": frame.cache,
        "limit": lambda: frame.limit(50),
    }[change]()
    assert find_pieces(frame, ["query_id"]) == []
    frame.unpersist()


def test_a_query_in_two_places_moves_all_rows(spark, tmp_path, paths):
    table = make()
    again = table.slice(30, 40)
    again = again.set_column(1, "doc_id", [[f"x{doc}" for doc in range(40)]])
    table = pa.concat_tables([table, again])
    found = rss.evaluate(spark.read.parquet(write(table, tmp_path / "t", 2)), MEASURES)
    assert bits(found) == bits(rs.evaluate(table, MEASURES))
    assert paths == [False]


def test_queries_that_differ_by_case_are_noted_wherever_they_are(spark, tmp_path):
    table = make()
    names = [name.replace("q250", "Q100") for name in table["query_id"].to_pylist()]
    table = table.set_column(0, "query_id", [names])
    found = rss.evaluate(spark.read.parquet(write(table, tmp_path / "t", 3)), MEASURES)
    assert bits(found) == bits(rs.evaluate(table, MEASURES))


def test_columns_of_another_type_in_a_file_are_read_by_spark(spark, tmp_path, paths):
    table = make(integers=True).drop_columns(["country"])
    small = table.set_column(3, "relevance", table["relevance"].cast(pa.int32()))
    frame = spark.read.schema("query_id long, doc_id long, score double, relevance long").parquet(
        write(small, tmp_path / "t", 2)
    )
    found = rss.evaluate(frame, MEASURES)
    assert bits(found) == bits(rs.evaluate(table, MEASURES))
    assert paths == [False]


def test_settings_of_the_session_are_as_they_were(spark):
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(name, "77")
    try:
        rss.evaluate(spark.createDataFrame(make(20)), "AP")
        assert spark.conf.get(name) == "77"
    finally:
        spark.conf.unset(name)


@pytest.mark.parametrize("at_once", [1, 5, 64, 10_000])
@pytest.mark.parametrize("count", [1, 13, 400])
def test_a_partition_is_cut_between_queries(monkeypatch, at_once, count):
    monkeypatch.setattr(in_place, "AT_ONCE", max(at_once, 14))
    table = make(80).slice(0, count)
    rows = select_columns("joined", table.column_names, lambda few: table.select(few).schema, {})
    table = table.select(rows.schema.names)
    pieces = list(in_place.cut(iter(table.to_batches(max_chunksize=at_once)), rows))
    assert pa.concat_tables([piece for piece, _ in pieces]).equals(table)
    queries = [set(piece["query_id"].to_pylist()) for piece, _ in pieces]
    assert sum(map(len, queries)) == len(set().union(*queries))
    edges = [len(of) for of, (_, whole) in zip(queries, pieces, strict=True) if not whole]
    assert edges in ([1], [1, 1])


def split_run(table):
    """Return judgments, of which some have no run, and a run, of which some has no judgments."""
    rows = table.filter(pa.compute.is_valid(table["relevance"]))
    qrels = rows.select(["query_id", "doc_id", "relevance", "country"])
    qrels = qrels.filter(pa.compute.not_equal(qrels["query_id"], "q7"))
    run = table.select(["query_id", "doc_id", "score"])
    return qrels, run.filter(pa.compute.not_equal(run["query_id"], "q5"))


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("by", [None, "country"])
def test_a_run_stays_where_judgments_are_few(spark, tmp_path, paths, files, by):
    qrels, run = split_run(make())
    frame = spark.read.parquet(write(run, tmp_path / "r", files))
    judged = qrels if by else qrels.drop_columns(["country"])
    found = rss.evaluate(spark.createDataFrame(judged).repartition(3), frame, MEASURES, by=by)
    local = rs.evaluate(qrels.drop_columns(["country"]), run, MEASURES)
    assert paths == [True]
    assert dict(found) == dict(local)
    assert found.counts == local.counts
    assert found.diagnostics == local.diagnostics
    assert dict(sorted(found.to_dict().items())) == dict(sorted(local.to_dict().items()))
    moved = rss.evaluate(spark.createDataFrame(judged), frame, MEASURES, by=by, partitions=3)
    assert bits(found) == bits(moved)


@pytest.mark.parametrize(
    ("most", "in_files"), [(evaluation.MOST_JUDGED, True), (10, True), (10, False)]
)
def test_the_driver_reads_judgments_if_they_are_few(
    spark, tmp_path, paths, monkeypatch, *, most, in_files
):
    monkeypatch.setattr(evaluation, "MOST_JUDGED", most)
    qrels, run = split_run(make())
    judged = qrels.drop_columns(["country"])
    frame = spark.read.parquet(write(judged, tmp_path / "q", 2))
    frame = frame if in_files else spark.createDataFrame(judged)
    lists = spark.read.parquet(write(run, tmp_path / "r", 2))
    found = rss.evaluate(frame, lists, MEASURES, policy="missing=skip")
    assert bits(found) == bits(rs.evaluate(judged, run, MEASURES, policy="missing=skip"))
    assert paths == [most > 10]


@pytest.mark.parametrize("partitions", [None, 3])
def test_integers_and_texts_meet(spark, partitions):
    qrels = pa.table({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "a"], "grade": [1, 0, 2]})
    run = pa.table({"query_id": [1, 1, 2], "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]})
    frames_of = map(spark.createDataFrame, (qrels, run))
    found = rss.evaluate(*frames_of, MEASURES, partitions=partitions)
    assert dict(found) == dict(rs.evaluate(qrels, run, MEASURES))


def test_what_is_packed_is_unpacked():
    table = make(integers=True)
    rows = select_columns("joined", table.column_names, lambda few: table.select(few).schema, {})
    packed = list(pack(table.select(rows.schema.names).to_batches(), rows, 7))
    assert {bucket for batch in packed for bucket in batch["bucket"].to_pylist()} == set(range(7))
    order = [("query_id", "ascending"), ("doc_id", "ascending")]
    unpacked = unpack(pa.Table.from_batches(packed), rows)
    assert unpacked.sort_by(order).equals(table.select(rows.schema.names).sort_by(order))


def test_too_little_memory_is_an_error_that_says_what_to_set(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(tasks, "Task", fail)
    (row,) = tasks.evaluating(None)(())
    with pytest.raises(rs.errors.OutOfMemoryError) as caught:
        tasks.raise_first([pickle.loads(row["payload"][0].as_py())])  # noqa: S301 - our own
    assert "spark.executor.pyspark.memory" in caught.value.hint

"""Windows that Spark computes are those that a monitor computes from the same events."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
import rankscope as rs
import rankscope.spark as rss

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="PySpark is not installed; it is in make test-integrations")
pytest.importorskip("sqlalchemy", reason="the monitor's libraries are not installed")


from rankscope.monitor import Configuration, Monitor, define  # noqa: E402 - where it is installed

from tests.refusals import refuses  # noqa: E402 - as above

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
NOW = START + timedelta(hours=40)
MUSIC = Configuration(
    definition=define(measures=["nDCG@5", "RR@5"], positive={"click": 1, "buy": 5}, window="6h"),
    attributes=("device",),
    baseline=None,
)


TEXT, MOMENT = pa.string(), pa.timestamp("us", "UTC")
OF_BOTH = {"event_id": TEXT, "ranking_id": TEXT, "time": MOMENT}
OF_RANKINGS = {"attributes": pa.map_(TEXT, TEXT), "doc_id": pa.list_(TEXT)}
RANKINGS = pa.schema(OF_BOTH | {"user_id": TEXT, "version": TEXT} | OF_RANKINGS)
LABELS = pa.schema(OF_BOTH | {"doc_id": TEXT, "labels": pa.list_(TEXT)})


@pytest.fixture(scope="module")
def log():
    """Return rankings of two days, in any order, and labels of some of their documents."""
    generator = random.Random(3)
    rankings, labels = [], []
    for number in range(300):
        shown = START + timedelta(seconds=generator.randrange(30 * 3600))
        docs = [f"d{doc}" for doc in generator.sample(range(30), generator.randint(1, 8))]
        ids, maker = (f"e{number}", f"r{number}"), (f"u{number % 40}", str(3 + number % 2))
        device = [("device", generator.choice(["tv", "phone", "car"]))]
        rankings.append((*ids, shown, *maker, device, docs))
        for doc in docs[:3]:
            if generator.random() < 0.3:
                came = shown + timedelta(minutes=generator.randrange(500))
                kinds = [generator.choice(["click", "buy"])]
                labels.append((f"l{len(labels)}", ids[1], came, doc, kinds))
    return fill(rankings, RANKINGS), fill(labels, LABELS)


def fill(rows, schema):
    columns = map(pa.array, zip(*rows, strict=True), schema.types)
    return pa.table([*columns], schema=schema)


def open_monitor(path):
    monitor = Monitor.open(str(path), now=lambda: NOW)
    monitor.configure(MUSIC)
    return monitor


def list_cells(monitor):
    return sorted(monitor.store.cells(monitor.project, MUSIC.digest, 0, 2**62))


def test_windows_are_those_of_the_monitor(spark, log, tmp_path):
    rankings, labels = log
    with open_monitor(tmp_path / "events.db") as local, open_monitor(tmp_path / "x.db") as empty:
        assert local.log_rankings(rankings).accepted == len(rankings)
        assert local.log_labels(labels).accepted == len(labels)
        local.evaluate()
        twice = pa.concat_tables([labels, labels.slice(0, 9)])
        shown = spark.createDataFrame(rankings).repartition(3)
        told = spark.createDataFrame(twice)
        found = rss.windows(shown, told, MUSIC, now=NOW)
        assert found.write(empty) == len(found.rankings)
        assert list_cells(empty) == list_cells(local)
        for every in ("hour", "day"):
            assert empty.series("nDCG@5", every=every) == local.series("nDCG@5", every=every)
        assert str(empty.slices("nDCG@5")) == str(local.slices("nDCG@5"))
        empty.evaluate()
        assert list_cells(empty) == list_cells(local)
        rss.windows(shown, told, MUSIC, now=NOW, monitor=empty).write(empty)
        assert list_cells(empty) == list_cells(local)


def test_an_invalid_event_is_an_error(spark, log):
    rankings, labels = log
    docs = [["d1", "d1"], *rankings["doc_id"].to_pylist()[1:]]
    column = pa.array(docs, pa.list_(pa.string()))
    bad = rankings.set_column(rankings.column_names.index("doc_id"), "doc_id", column)
    frames = (spark.createDataFrame(each) for each in (bad, labels))
    with refuses(
        rs.errors.FormatError, "duplicate_doc", match=r"'d1' again.*\(invalid events .*: 1\)"
    ):
        rss.windows(*frames, MUSIC, now=NOW)


def test_rows_of_single_documents_are_refused(spark, log):
    rankings, labels = log
    column = rankings.column_names.index("doc_id")
    for table in (
        rankings.set_column(column, "doc_id", [["d"] * len(rankings)]),
        rankings.drop_columns(["doc_id"]),
    ):
        frames = (spark.createDataFrame(each) for each in (table, labels))
        with refuses(
            rs.errors.FormatError, "columns", match="a list of documents in each row, found "
        ):
            rss.windows(*frames, MUSIC, now=NOW)


def test_windows_of_another_definition_are_refused(tmp_path):
    other = Configuration(
        definition=define(measures=["RR@5"], positive=["click"], window="1h"), baseline=None
    )
    made = rss.Windows(configuration=other, slicing=None, as_of=0, rankings={}, cells=(), hours=())
    with (
        open_monitor(tmp_path / "x.db") as monitor,
        pytest.raises(rs.UsageError, match="another configuration than the project has"),
    ):
        made.write(monitor)


def test_a_batch_that_comes_again_is_stored_once(spark, log, tmp_path):
    rankings, labels = log
    with open_monitor(tmp_path / "x.db") as monitor:
        outcomes = []
        write = rss.write_to_monitor(monitor, "rankings", on_stored=outcomes.append)
        batch = spark.createDataFrame(rankings)
        write(batch, 0)
        write(batch, 0)
        assert [(each.accepted, each.duplicate) for each in outcomes] == [(300, 0), (0, 300)]
        rss.write_to_monitor(monitor, "labels")(spark.createDataFrame(labels), 0)
        bad = spark.createDataFrame(labels.set_column(0, "event_id", [["z"] * len(labels)]))
        with pytest.raises(rs.errors.FormatError, match="events were not stored; the first is row"):
            rss.write_to_monitor(monitor, "labels")(bad, 1)


def test_a_stream_is_written_as_it_comes(spark, log, tmp_path):
    rankings, _ = log
    spark.createDataFrame(rankings).write.parquet(str(tmp_path / "log"))
    with open_monitor(tmp_path / "x.db") as monitor:
        stream = spark.readStream.schema(spark.read.parquet(str(tmp_path / "log")).schema)
        query = (
            stream.parquet(str(tmp_path / "log"))
            .writeStream.foreachBatch(rss.write_to_monitor(monitor, "rankings"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(240)
        assert query.exception() is None
        assert sum(version.rankings for version in monitor.versions()) == len(rankings)

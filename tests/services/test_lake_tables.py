"""A lake in a bucket, and tables of Delta Lake and Iceberg, have the values of ingested events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest
from rankscope import FileError
from rankscope.inputs.buckets import open_filesystem
from rankscope.monitor.events.event import Label, Ranking

from tests.monitor.lake.lakes import LABELS, RANKINGS, to_row
from tests.monitor.lake.test_lake import Log, configure, make_events
from tests.refusals import refuses
from tests.services.buckets import serve_bucket
from tests.services.postgres import Cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Foreign: TypeAlias = Any  # of PyArrow, which has no types


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path, configure())
    yield log
    log.close()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Foreign]:
    """The file system of a server that speaks S3 in this process."""
    with serve_bucket(monkeypatch, "log") as system:
        yield system


def test_a_lake_in_a_bucket_has_the_values_of_ingested_events(log: Log, bucket: Foreign) -> None:
    for seed in range(2):
        log.write(make_events(15, seed), f"part-{seed}")
        for name in ("impressions", "clicks"):
            source, target = f"{log.folder}/{name}", f"log/{name}"
            pa.fs.copy_files(source, target, pa.fs.LocalFileSystem(), bucket)
        log.lake.connect_lake("s3://log/impressions", "s3://log/clicks/**.parquet")
        # Copies have other times, so that all files have changed.
        log.evaluate()
    assert log.lake.evaluate().hours == 0
    with log.lake.store.engine.connect() as connection:
        stored = connection.exec_driver_sql("SELECT text FROM lakes").scalar_one()
    assert "secret" not in stored
    bucket.delete_dir("log/impressions")
    with refuses(FileError, "lake_empty"):
        log.lake.evaluate()


def test_the_state_of_a_lake_can_be_in_postgresql(tmp_path: Path) -> None:
    with Cluster() as cluster:
        log = Log(tmp_path, configure(), cluster.url())
        try:
            log.write(make_events(40), "part-0")
            log.connect()
            log.check()
            # Labels alone, then a late hour, then a file that is gone.
            late = [one for one in make_events(40) if isinstance(one, Label)][:5]
            log.write(late, "again")
            log.evaluate()
            log.write(make_events(20, 1), "part-1")
            log.check()
            done = log.lake.evaluate()
            assert (done.hours, done.scan and done.scan.new) == (0, 0)
            for path in tmp_path.rglob("again.parquet"):
                path.unlink()
            scan = log.lake.evaluate().scan
            assert scan is not None
            assert scan.removed > 0
            log.lake.store.verify()
        finally:
            log.close()


@pytest.mark.parametrize(
    "url",
    ["gs://log/impressions", "abfs://log@nobody.dfs.core.windows.net/impressions", "abfs://log/x"],
)
def test_buckets_of_other_clouds_that_cannot_be_reached_are_errors_of_files(
    log: Log, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.inputs.buckets.RETRIES", 1.0)
    open_filesystem.cache_clear()
    with pytest.raises(FileError) as raised:
        log.lake.connect_lake(url)
    assert raised.value.code == "lake_read"
    assert "credentials" in str(raised.value)
    open_filesystem.cache_clear()


def test_delta_tables_are_read(log: Log) -> None:
    deltalake = pytest.importorskip("deltalake", reason="it is in make test-services")
    check_table_format(
        log, lambda path, table: deltalake.write_deltalake(path, table, mode="append")
    )


def test_iceberg_tables_are_read_without_deleted_rows(log: Log) -> None:
    memory = pytest.importorskip("pyiceberg.catalog.memory", reason="it is in make test-services")
    catalog = memory.InMemoryCatalog("lake", warehouse=str(log.folder / "warehouse"))
    catalog.create_namespace("log")

    def write(path: str, table: Foreign) -> None:
        name = f"log.{Path(path).name}"
        if not catalog.table_exists(name):
            catalog.create_table(name, table.schema, location=path)
        catalog.load_table(name).append(table)

    check_table_format(log, write)
    catalog.load_table("log.clicks").delete("kind == 'label'")
    log.lake.evaluate()
    assert {label.kind for label in log.lake.store.find_labels("default", "r0-1")} <= {
        "correction",
        "retraction",
    }


def check_table_format(log: Log, write: Callable[[str, Foreign], object]) -> None:
    """Compare a lake of tables with a store, before and after more is written."""
    folder = log.folder / "tables"
    for seed in range(2):
        events = make_events(40, seed)
        kinds = {"impressions": (Ranking, RANKINGS), "clicks": (Label, LABELS)}
        for name, (kind, schema) in kinds.items():
            rows = [to_row(event) for event in events if isinstance(event, kind)]
            write(str(folder / name), pa.Table.from_pylist(rows, schema))
        log.store.writer.append(
            "default", sorted(events, key=lambda event: isinstance(event, Label))
        )
        log.lake.connect_lake(folder / "impressions", folder / "clicks")
        log.check()

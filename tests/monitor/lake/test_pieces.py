"""Of large files, the row groups are read that may have rows of an hour."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("pyarrow", reason="a lake needs PyArrow")
pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

import pyarrow as pa
import pyarrow.parquet as pq
from rankscope.monitor.events.event import Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.lake import pieces
from rankscope.monitor.store.lake.formats import ParquetFiles
from rankscope.monitor.store.lake.pieces import WHOLE, list_pieces

from tests.monitor.lake.lakes import EXPLODED, LABELS, RANKINGS, explode, to_row
from tests.monitor.lake.test_lake import BEGIN, Log, configure, make_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rankscope.inputs.buckets import DataFile
    from rankscope.monitor.store.lake.events import Foreign

START = datetime(2026, 11, 2, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    monkeypatch.setattr(pieces, "ROWS", 5)
    log = Log(tmp_path, configure())
    yield log
    log.close()


def write(path: Path, table: Foreign, rows: int = 5) -> Foreign:
    """Write a file with row groups of some rows, and return its footer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=rows)
    return pq.read_metadata(path)


@pytest.mark.slow
@pytest.mark.parametrize("explodes", [False, True], ids=["lists", "rows"])
def test_one_large_file_has_the_values_of_ingested_events(log: Log, *, explodes: bool) -> None:
    events = [
        one
        for one in make_events(80)
        if isinstance(one, Label) or one.items.doc_ids or not explodes
    ]
    shown = sorted((one for one in events if isinstance(one, Ranking)), key=lambda one: one.time)
    labels = sorted((one for one in events if isinstance(one, Label)), key=lambda one: one.time)
    rows = [to_row(one) for one in shown]
    table = (
        pa.Table.from_pylist(list(explode(rows)), EXPLODED)
        if explodes
        else pa.Table.from_pylist(rows, RANKINGS)
    )
    write(log.folder / "impressions" / "all.parquet", table)
    write(
        log.folder / "clicks" / "all.parquet",
        pa.Table.from_pylist([to_row(one) for one in labels], LABELS),
    )
    log.store.writer.append("default", [*shown, *labels])
    log.connect()
    log.check()


def test_an_hour_is_read_from_the_row_groups_that_have_it(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"ranking_id": f"r{n}", "time": START + timedelta(minutes=6 * n), "doc_ids": ["a", "b"]}
        for n in range(100)
    ]
    write(log.folder / "impressions" / "all.parquet", pa.Table.from_pylist(rows))
    log.lake.connect_lake(log.folder / "impressions")
    log.lake.evaluate()
    reader = log.lake.store.open_lake("default")
    assert reader is not None
    reader.trim(0)
    seen: list[Sequence[int] | None] = []
    read = ParquetFiles.read

    def watch(
        self: ParquetFiles,
        file: DataFile,
        wanted: Sequence[str],
        groups: Sequence[int] | None = None,
    ) -> Foreign:
        seen.append(groups)
        return read(self, file, wanted, groups)

    monkeypatch.setattr(ParquetFiles, "read", watch)
    since = BEGIN + 3 * HOUR
    chunks = list(log.lake.store.read("default", since, since + HOUR))
    assert [len(chunk.times) for chunk in chunks] == [10]
    # Rows 30 to 39; no two row groups are of one hour and another.
    assert {group for groups in seen for group in groups or ()} <= {5, 6, 7, 8}
    assert None not in seen


@pytest.mark.parametrize(
    "kind",
    [
        pa.timestamp("us", "UTC"),
        pa.timestamp("ns", "UTC"),
        pa.timestamp("ms", "UTC"),
        pa.timestamp("s", "UTC"),
        pa.int64(),
    ],
    ids=str,
)
def test_row_groups_have_the_times_of_their_rows(tmp_path: Path, kind: Foreign) -> None:
    stamps = pa.array([START + timedelta(hours=n) for n in range(20)], pa.timestamp("ms", "UTC"))
    times = stamps.cast(kind)
    footer = write(tmp_path / "file.parquet", pa.table({"id": stamps, "time": times}), rows=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "ROWS", 8)
        found = list_pieces(footer, "time")
    assert [(piece.groups, piece.first) for piece in found] == [
        ((0, 1), 0),
        ((2, 3), 8),
        ((4,), 16),
    ]
    for place, piece in enumerate(found):
        first, last = BEGIN + 8 * place * HOUR, BEGIN + min(8 * place + 7, 19) * HOUR
        assert (piece.since, piece.until) == (first - 1, last + 1)
        assert piece.overlaps(first, first + 1)
        assert piece.overlaps(last, last + 1)
        assert not piece.overlaps(first - HOUR, first - 1)
        assert not piece.overlaps(last + 2, last + HOUR)


@pytest.mark.parametrize(
    "times",
    [
        pa.array(["2026-11-02T00:00:00Z"] * 20),
        pa.array([1e12] * 20),
        pa.array([1] * 20, pa.int32()),
        pa.array([1] * 20, pa.uint64()),
        pa.nulls(20, pa.timestamp("us", "UTC")),
    ],
    ids=["text", "float", "int32", "uint64", "null"],
)
def test_files_whose_statistics_say_nothing_are_read_whole(tmp_path: Path, times: Foreign) -> None:
    footer = write(tmp_path / "file.parquet", pa.table({"time": times}))
    assert list_pieces(footer, "time") == WHOLE
    assert list_pieces(footer, "other") == WHOLE

"""Files of a lake that cannot be read are left out, and the others count."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="a lake needs PyArrow")
pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

import pyarrow as pa
import pyarrow.parquet as pq
from rankscope import UsageError
from rankscope.cli import main
from rankscope.monitor import Monitor
from rankscope.monitor.doctor import examine

from tests.monitor.lake.lakes import write_table
from tests.monitor.lake.test_lake import START, Log, configure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCAL = START.replace(tzinfo=None)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path, configure())
    yield log
    log.close()


def shown(number: int, time: datetime, docs: list[Any] | None = None) -> dict[str, Any]:
    return {"ranking_id": f"r{number}", "time": time, "doc_ids": docs or ["a", "b"]}


def write(log: Log, name: str, rows: list[dict[str, Any]]) -> Path:
    return write_table(log.folder / "impressions" / f"{name}.parquet", rows)


def count(log: Log) -> int:
    """How many rankings have a value."""
    return sum(log.lake.series("nDCG@5", every="day").rankings)


def find_time(log: Log, ranking_id: str = "r1") -> datetime | None:
    """When a ranking was shown."""
    found = log.lake.store.find_ranking("default", ranking_id)
    return None if found is None else datetime.fromtimestamp(found.time / 1_000_000, UTC)


@pytest.mark.parametrize(
    ("column", "names"),
    [("ranking_id", "ab"), ("doc_ids", "ba"), ("user_id", "ab"), ("device", "ba")],
)
def test_a_file_of_floats_does_not_change_the_integers_of_another(
    log: Log, column: str, names: str
) -> None:
    good = [
        {"ranking_id": n, "time": START, "doc_ids": [1, 2], "user_id": 7, "device": 3}
        for n in range(1, 7)
    ]
    floats = {"ranking_id": 0.5, "doc_ids": [0.0, 1.0], "user_id": 7.0, "device": 3.0}
    bad = [{**one, "ranking_id": 10 + n, column: floats[column]} for n, one in enumerate(good)]
    write(log, names[0], good)
    path = write(log, names[1], bad)
    log.lake.connect_lake(log.folder / "impressions")
    scan = log.lake.evaluate().scan
    assert scan is not None
    for number in range(1, 7):
        ranking = log.lake.store.find_ranking("default", str(number))
        assert ranking is not None
        assert ranking.items.doc_ids == ("1", "2")
        assert ranking.attributes == (("device", "3"),)
    counters = log.lake.store.counters("default")
    if column == "device":  # an attribute can be a number
        assert counters == {"accepted": 12}
    else:
        assert counters == {"accepted": 6, "id_type": 6}
        assert scan.examples["id_type"].startswith(f"{path}, row 1: ")


def test_rankings_with_rows_in_files_of_other_types_are_whole(log: Log) -> None:
    types = [
        (pa.string(), pa.int32(), pa.int64()),
        (pa.large_string(), pa.int64(), pa.float64()),
        (pa.dictionary(pa.int32(), pa.string()), pa.float64(), pa.float32()),
    ]
    for rank, (text, number, grade) in enumerate(types, start=1):
        schema = pa.schema(
            [
                ("ranking_id", text),
                ("time", pa.timestamp("us", "UTC")),
                ("doc_id", text),
                ("rank", number),
                ("relevance", grade),
            ]
        )
        row = {"ranking_id": "r", "time": START, "doc_id": "abc"[rank - 1], "rank": rank}
        path = log.folder / "impressions" / f"{rank}.parquet"
        write_table(path, [row | {"relevance": rank - 1}], schema)
    log.lake.connect_lake(log.folder / "impressions")
    log.lake.evaluate()
    found = log.lake.store.find_ranking("default", "r")
    assert found is not None
    assert found.items.doc_ids == ("a", "b", "c")
    assert found.items.relevance == (0.0, 1.0, 2.0)


def test_a_file_with_times_without_a_zone_is_left_out_and_the_others_count(log: Log) -> None:
    write(log, "a", [shown(1, START)])
    path = write(log, "b", [shown(2, LOCAL)])
    log.lake.connect_lake(log.folder / "impressions")
    scan = log.lake.evaluate().scan
    assert scan is not None
    [left_out] = scan.left_out
    assert (left_out.path, left_out.code) == (str(path), "time_zone")
    assert "--timezone" in left_out.hint
    assert count(log) == 1
    # It is named again while it is there, and no longer when it is written with a zone.
    scan = log.lake.evaluate().scan
    assert scan is not None
    assert (scan.new, scan.left_out) == (0, (left_out,))
    write(log, "b", [shown(2, START)])
    scan = log.lake.evaluate().scan
    assert scan is not None
    assert scan.left_out == ()
    assert count(log) == 2


@pytest.mark.parametrize("is_text", [False, True], ids=["timestamps", "texts"])
@pytest.mark.parametrize(
    ("local", "moment"),
    [
        # One hour before UTC in winter, two in summer.
        ("2026-11-02T12:00:00", "2026-11-02T11:00:00+00:00"),
        ("2026-07-01T12:00:00", "2026-07-01T10:00:00+00:00"),
        # 2:30 comes twice on 25 October: the first counts.
        ("2026-10-25T02:30:00", "2026-10-25T00:30:00+00:00"),
        # 2:30 does not come on 29 March: clocks go from 2:00 to 3:00, which is 1:00 in UTC.
        ("2026-03-29T02:30:00", "2026-03-29T01:00:00+00:00"),
    ],
)
def test_a_time_zone_says_how_times_without_one_are_read(
    log: Log, local: str, moment: str, *, is_text: bool
) -> None:
    written = f"{local}.000456789" if is_text else datetime.fromisoformat(local)
    write(log, "a", [shown(1, START) | {"time": written}])
    log.lake.connect_lake(log.folder / "impressions", timezone="Europe/Berlin")
    log.lake.evaluate()
    does_exist = local != "2026-03-29T02:30:00"
    within = timedelta(microseconds=456 if is_text and does_exist else 0)
    assert find_time(log) == datetime.fromisoformat(moment) + within


def test_times_with_a_zone_keep_it(log: Log) -> None:
    write(log, "a", [shown(1, START)])
    write(log, "b", [shown(2, START) | {"time": "2026-11-02T01:00:00+01:00"}])
    log.lake.connect_lake(log.folder / "impressions", timezone="America/New_York")
    log.lake.evaluate()
    assert (find_time(log, "r1"), find_time(log, "r2")) == (START, START)


def test_row_groups_of_local_times_are_found(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.monitor.store.lake import pieces  # noqa: PLC0415 - for this test alone

    monkeypatch.setattr(pieces, "ROWS", 1)
    rows = [shown(hour, LOCAL + timedelta(hours=hour)) for hour in range(3)]
    path = log.folder / "impressions" / "a.parquet"
    path.parent.mkdir()
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=1)
    log.lake.connect_lake(log.folder / "impressions", timezone="Asia/Kolkata")
    log.lake.evaluate()
    assert count(log) == 3


def test_a_zone_that_does_not_exist_is_an_error(log: Log) -> None:
    write(log, "a", [shown(1, LOCAL)])
    with pytest.raises(UsageError, match="Europe/Berlni") as raised:
        log.lake.connect_lake(log.folder / "impressions", timezone="Europe/Berlni")
    assert raised.value.code == "time_zone"


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_timestamps_of_96_bits_are_in_utc(log: Log, zone: str | None) -> None:
    path = log.folder / "impressions" / "a.parquet"
    path.parent.mkdir()
    table = pa.Table.from_pylist([shown(1, LOCAL)])
    pq.write_table(table, path, use_deprecated_int96_timestamps=True, store_schema=False)
    assert pq.ParquetFile(path).metadata.schema.column(1).physical_type == "INT96"
    log.lake.connect_lake(log.folder / "impressions", timezone=zone)
    log.lake.evaluate()
    assert find_time(log) == START


def test_the_command_leaves_files_out_and_takes_a_time_zone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, store = tmp_path / "impressions", str(tmp_path / "music.db")
    write_table(folder / "a.parquet", [shown(1, START)])
    bad = write_table(folder / "b.parquet", [shown(2, LOCAL)])
    main(["monitor", "configure", store, "--positive", "click=1", "--window", "1h"])
    run = ["monitor", "run", store, "--as-of", "2026-11-03T00:00:00Z"]
    capsys.readouterr()
    assert main([*run, "--rankings", str(folder), "--json"]) == 3
    said = capsys.readouterr()
    assert json.loads(said.out)["rankings"] == 1
    assert [one["path"] for one in json.loads(said.out)["left_out"]] == [str(bad)]
    assert str(bad) in said.err
    assert "--timezone" in said.err
    # It is named as long as it is there.
    assert main(run) == 3
    assert str(bad) in capsys.readouterr().err
    assert main([*run, "--timezone", "Europe/Berlin"]) == 0
    with Monitor.open(store, writes=False) as monitor:
        lake = monitor.store.lake("default")
        found = monitor.store.find_ranking("default", "r2")
    assert lake is not None
    assert lake.timezone == "Europe/Berlin"
    assert found is not None
    assert found.time == int(START.timestamp() - 3600) * 1_000_000
    # Other options keep it.
    assert main([*run, "--duplicates-within", "1h"]) == 0
    assert main([*run, "--timezone", "Mars/Olympus"]) == 2


def damage(path: Path, kind: str) -> None:
    """Damage a file, so that its footer or a page of documents can't be read."""
    content = bytearray(path.read_bytes())
    if kind == "cut":
        path.write_bytes(content[: len(content) // 2])
        return
    column = pq.ParquetFile(path).metadata.row_group(0).column(2)
    assert column.path_in_schema.startswith("doc_ids")
    begin = column.dictionary_page_offset or column.data_page_offset
    content[begin : begin + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["cut", "page"])
def test_a_damaged_file_is_left_out_until_it_is_written_again_or_removed(
    log: Log, kind: str
) -> None:
    paths = [
        write(log, name, [shown(n, START + timedelta(hours=n))]) for n, name in enumerate("ab")
    ]
    whole = paths[0].read_bytes()
    damage(paths[0], kind)
    log.lake.connect_lake(log.folder / "impressions")
    for _ in range(2):
        log.lake.evaluate()
        series = log.lake.series("nDCG@5", every="day")
        assert sum(series.rankings) == 1
        coverage = series.coverage
        assert coverage is not None
        assert coverage == log.lake.quality().coverage
        [left_out] = coverage.left_out
        assert (coverage.files, coverage.share) == (2, 0.5)
        assert (left_out.kind, left_out.path, left_out.code) == (
            "rankings",
            str(paths[0]),
            "lake_damaged",
        )
        log.lake.store.verify()
        found = {one.name: one for one in examine(log.lake, log.folder / "lake.db")}
        assert found["lake"].told == f"1 of 2 files can't be read: {paths[0]}"
    # A file that was read and is damaged later is left out, too, and comes back.
    paths[0].write_bytes(whole)
    log.lake.evaluate()
    assert count(log) == 2
    damage(paths[1], kind)
    log.lake.evaluate()
    assert count(log) == 1
    paths[1].unlink()
    log.lake.evaluate()
    assert count(log) == 1
    series = log.lake.series("nDCG@5", every="day")
    assert series.coverage is not None
    assert series.coverage.left_out == ()
    assert log.lake.store.find_ranking("default", "r0") is not None


def test_damaged_labels_are_left_out_and_count_once_they_are_whole(log: Log) -> None:
    write(log, "a", [shown(1, START), shown(2, START)])
    clicks = log.folder / "clicks"
    for number in (1, 2):
        row = {"ranking_id": f"r{number}", "doc_id": "b", "time": START, "label": "click"}
        write_table(clicks / f"{number}.parquet", [row])
    whole = (clicks / "1.parquet").read_bytes()
    (clicks / "1.parquet").write_bytes(whole[:-9])
    log.connect()
    log.lake.evaluate()
    assert log.lake.series("RR@10", every="day").labelled == (1,)
    (clicks / "1.parquet").write_bytes(whole)
    log.lake.evaluate()
    assert log.lake.series("RR@10", every="day").labelled == (2,)


def test_a_file_that_cannot_be_read_opens_an_incident_that_recovers(log: Log) -> None:
    def list_incidents() -> list[tuple[str, str, str]]:
        log.now += timedelta(hours=3)
        log.lake.evaluate()
        return [(one.rule, one.kind, one.state) for one in log.lake.incidents("all")]

    write(log, "a", [shown(1, START), shown(2, START + timedelta(hours=1))])
    log.lake.connect_lake(log.folder / "impressions")
    assert list_incidents() == []
    assert list_incidents() == []
    bad = write(log, "b", [shown(3, START)])
    whole = bad.read_bytes()
    damage(bad, "cut")
    assert list_incidents() == [("data", "files", "open")]
    [incident] = log.lake.incidents()
    assert str(bad) in incident.reason
    assert "damaged" in incident.reason
    assert {one.rule.name: one.state for one in log.lake.check()}["data"] == "ALERT"
    # It lasts while the file is there, and a second file is told of in the same one.
    other = write(log, "c", [shown(4, LOCAL)])
    assert list_incidents() == [("data", "files", "open")]
    [incident] = log.lake.incidents()
    assert str(other) in incident.reason
    bad.write_bytes(whole)
    other.unlink()
    assert list_incidents() == [("data", "files", "recovered")]


def test_an_incident_about_files_that_a_person_resolves_stays_resolved(log: Log) -> None:
    write(log, "a", [shown(1, START)])
    log.lake.connect_lake(log.folder / "impressions")
    log.lake.evaluate()
    write(log, "b", [shown(2, LOCAL)])
    # What was found is known by the clock of the computer.
    log.now = max(log.now, datetime.now(UTC)) + timedelta(hours=3)
    log.lake.evaluate()
    [incident] = log.lake.incidents()
    log.lake.resolve(incident.incident_id)
    log.now += timedelta(hours=3)
    log.lake.evaluate()
    assert log.lake.incidents() == ()

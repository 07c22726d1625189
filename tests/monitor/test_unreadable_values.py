from __future__ import annotations

import json
import struct
from datetime import UTC, datetime

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rankscope.errors import FormatError
from rankscope.monitor import Monitor

from tests.monitor.server.service import NOW, Service

MINUTE, DAY = 60 * 10**6, 86_400 * 10**6
AHEAD, AGE = 5 * MINUTE, 3653 * DAY
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
FARTHEST = 2**63 - 1
YEAR_1000, YEAR_9000 = (
    int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 10**6 for year in (1000, 9000)
)


def log(path, kind, given):
    with Monitor.open(
        str(path.with_suffix(".db")), now=lambda: datetime.fromtimestamp(NOW / 1e6, UTC)
    ) as monitor:
        done = monitor.log_rankings(given) if kind == "rankings" else monitor.log_labels(given)
    assert done.accepted + done.rejected == done.objects
    return {one.place: (one.code, one.hint) for one in done.refused}


def log_file(path, kind, table):
    """Log a table in a file, which its name tells how to write."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=3)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in list_rows(table)))
    else:
        make = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with make(path.with_suffix(".arrow"), table.schema) as writer:
            writer.write_table(table)
        path = path.with_suffix(".arrow")
    # A path is text or an object.
    return log(path, kind, str(path) if path.suffix == ".parquet" else path)


def list_rows(table):
    """Rows with times as integers."""
    at = table.schema.get_field_index("time")
    return list(table.set_column(at, "time", table["time"].cast(pa.int64())).to_pylist())


def send(folder, kind, body, content):
    service = Service(folder)
    answer = service.ask("POST", f"/v1/{kind}", body, headers={"content-type": content})
    service.store.close()
    assert answer.status_code == 200, answer.text
    return {
        at: (item["code"], item.get("hint", ""))
        for at, item in enumerate(answer.json()["items"], start=1)
        if item["status"] == "rejected"
    }


def send_stream(folder, kind, table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return send(folder, kind, sink.getvalue().to_pybytes(), "application/vnd.apache.arrow.stream")


ENTRANCES = {
    "Parquet": lambda folder, kind, table: log_file(folder / "a.parquet", kind, table),
    "Arrow file": lambda folder, kind, table: log_file(folder / "a.arrow", kind, table),
    "Arrow stream": lambda folder, kind, table: log_file(folder / "a.stream", kind, table),
    "NDJSON": lambda folder, kind, table: log_file(folder / "a.jsonl", kind, table),
    "objects": lambda folder, kind, table: log(folder / "a", kind, list_rows(table)),
    "PyArrow": lambda folder, kind, table: log(folder / "a", kind, table),
    "pandas": lambda folder, kind, table: log(folder / "a", kind, table.to_pandas()),
    "pandas of Arrow": lambda folder, kind, table: log(
        folder / "a", kind, table.to_pandas(types_mapper=pd.ArrowDtype)
    ),
    "Polars": lambda folder, kind, table: log(folder / "a", kind, pl.from_arrow(table)),
    "JSON over HTTP": lambda folder, kind, table: send(
        folder, kind, json.dumps(list_rows(table)).encode(), "application/json"
    ),
    "Arrow over HTTP": send_stream,
}
ONLY = {
    "NDJSON": {"ms"},  # numbers are milliseconds
    "objects": {"ms"},
    "JSON over HTTP": {"ms"},
    "Parquet": {"ms", "us", "ns"},  # the others have no seconds
    "Polars": {"ms", "us", "ns"},
}


def enter(entrance, folder, kind, table):
    """Log a table in one of the ways, in an empty folder."""
    own = folder / f"{entrance} {len(list(folder.iterdir()))}"
    own.mkdir()
    return ENTRANCES[entrance](own, kind, table)


def make_rows(shape, times):
    count = len(times)
    columns = {"ranking_id": [f"r{row:02}" for row in range(count)], "time": times}
    if shape == "labels":
        return "labels", pa.table({**columns, "doc_id": ["a"] * count, "label": ["click"] * count})
    if shape == "documents":
        return "rankings", pa.table({**columns, "doc_id": ["a"] * count, "rank": [1] * count})
    return "rankings", pa.table({**columns, "doc_id": [["a", "b"]] * count})


def judge(time, per_second):
    if time is None:
        return "missing_field"
    micros = time * 10**6 // per_second
    if not YEAR_1000 <= micros < YEAR_9000:
        return "time_format"
    if micros > NOW + AHEAD:
        return "future_time"
    return "too_old" if micros < NOW - AGE else None


@pytest.mark.parametrize("shape", ["documents", "lists", "labels"])
@pytest.mark.parametrize(
    ("entrance", "unit"),
    [(name, unit) for name in ENTRANCES for unit in UNITS if unit in ONLY.get(name, UNITS)],
)
def test_a_time_out_of_range_rejects_its_own_row(tmp_path, entrance, unit, shape):
    second = UNITS[unit]
    step = max(1, second // 10**6)
    last, first = ((NOW + by) * second // 10**6 for by in (AHEAD, -AGE))
    edges = [at * second // 10**6 for at in (YEAR_1000, YEAR_9000)]
    wrong = NOW * second // 1000  # a thousand times the time, as in another unit
    times = [NOW * second // 10**6, last - step, last, last + step, None]
    times += [first - step, first, first + step, 0, -1, wrong, -wrong, FARTHEST, -FARTHEST]
    times += [edge + by for edge in edges for by in (-step, 0, step)]
    times = [time for time in times if time is None or abs(time) <= FARTHEST]
    if shape == "documents" and ONLY.get(entrance) == {"ms"}:
        shape = "lists"  # an object is a whole ranking
    kind, table = make_rows(shape, pa.array(times, pa.timestamp(unit, "UTC")))
    rejected = enter(entrance, tmp_path, kind, table)
    expected = {at: judge(time, second) for at, time in enumerate(times, start=1)}
    assert {at: code for at, (code, _) in rejected.items()} == {
        at: code for at, code in expected.items() if code is not None
    }
    if wrong in times:
        _, hint = rejected[times.index(wrong) + 1]
        assert "milliseconds" in hint


@pytest.mark.parametrize("shape", ["documents", "lists", "labels"])
def test_a_zone_that_no_system_knows_changes_no_moment(tmp_path, shape):
    kind, table = make_rows(shape, pa.array([NOW], pa.timestamp("us", "Nowhere/Else")))
    for name in ("Parquet", "Arrow file", "PyArrow", "Arrow over HTTP"):
        assert enter(name, tmp_path, kind, table) == {}


def spoil(texts):
    """Texts that PyArrow takes for UTF-8."""
    ends = [sum(map(len, texts[:count])) for count in range(len(texts) + 1)]
    offsets = pa.py_buffer(struct.pack(f"<{len(ends)}i", *ends))
    return pa.StringArray.from_buffers(len(texts), offsets, pa.py_buffer(b"".join(texts)))


BAD = spoil([b"x0", b"x1", b"x\xff", b"x3"])
LISTED = pa.ListArray.from_arrays([0, 1, 2, 3, 4], BAD)


@pytest.mark.parametrize(
    ("shape", "column", "values", "code"),
    [
        ("documents", "ranking_id", BAD, "id_type"),
        ("documents", "doc_id", BAD, "id_type"),
        ("documents", "user_id", BAD, "id_type"),
        ("lists", "ranking_id", BAD, "id_type"),
        ("lists", "doc_id", LISTED, "id_type"),
        ("labels", "ranking_id", BAD, "id_type"),
        ("labels", "doc_id", BAD, "id_type"),
        ("labels", "label", BAD, "label_type"),
        ("labels", "event_id", BAD, "id_type"),
        ("documents", "unknown", BAD, None),
        ("lists", "unknown", LISTED, None),
        ("labels", "unknown", BAD, None),
    ],
)
def test_text_that_is_no_utf_8_rejects_its_row_of_parquet_and_names_its_column_elsewhere(
    tmp_path, shape, column, values, code
):
    kind, table = make_rows(shape, pa.array([NOW] * 4, pa.timestamp("us", "UTC")))
    rest = [name for name in table.schema.names if name != column]
    table = table.select(rest).append_column(column, values)
    rejected = enter("Parquet", tmp_path, kind, table)
    assert {at: code for at, (code, _) in rejected.items()} == ({3: code} if code else {})
    for name in ("Arrow file", "Arrow stream", "PyArrow"):
        with pytest.raises(FormatError, match=rf"column (in )?{column}\b.*UTF8") as raised:
            enter(name, tmp_path, kind, table)
        assert name == "PyArrow" or str(raised.value.file).endswith("a.arrow")
    with pytest.raises(AssertionError, match="bad_arrow"):
        enter("Arrow over HTTP", tmp_path, kind, table)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32()),
        pa.array([10**18, 0], pa.duration("s")),
        pa.array([[10**17], [0]], pa.list_(pa.timestamp("ms"))),
    ],
    ids=["date", "duration", "list"],
)
@pytest.mark.parametrize("shape", ["documents", "lists", "labels"])
def test_what_python_has_no_value_for_is_neither_a_time_nor_an_attribute_nor_in_the_way(
    tmp_path, shape, values
):
    kind, table = make_rows(shape, pa.array([NOW] * 2, pa.timestamp("us", "UTC")))
    unknown = table.append_column("unknown", values)
    timed = table.drop_columns("time").append_column("time", values)
    for name in ("Parquet", "Arrow file", "PyArrow"):
        assert enter(name, tmp_path, kind, unknown) == {}
        rejected = enter(name, tmp_path, kind, timed)
        assert {at: code for at, (code, _) in rejected.items()} == dict.fromkeys(
            (1, 2), "time_format"
        )


def test_a_column_of_lists_groups_no_rows(tmp_path):
    kind, table = make_rows("documents", pa.array([NOW] * 2, pa.timestamp("us", "UTC")))
    table = table.drop_columns("ranking_id").append_column("ranking_id", pa.array([["a"], ["b"]]))
    for name in ("Parquet", "Arrow file", "PyArrow"):
        with pytest.raises(FormatError, match="column of values in ranking_id, found list"):
            enter(name, tmp_path, kind, table)
    with pytest.raises(AssertionError, match="input_type"):
        enter("Arrow over HTTP", tmp_path, kind, table)

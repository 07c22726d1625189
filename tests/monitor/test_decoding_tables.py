"""The core decodes tables of rankings as the reader of rows does, which is its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankscope.errors import RankscopeError
from rankscope.monitor.events.outcome import Outcome, tell_statuses
from rankscope.monitor.intake.columns import UnusualColumnError, split_lists
from rankscope.monitor.intake.ingestion import Ingestion
from rankscope.monitor.store.tables.events import prepare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankscope.monitor.events.rejection import Reading

NOW = 1_795_284_000_000_000
NUMBER = st.sampled_from([1.0, 0.5, -0.0, 2.0, 1e300, float("nan"), float("inf"), None])
TIMES = [
    pa.array([NOW, NOW - 1, None], pa.timestamp("us", "UTC")),
    pa.array([NOW * 1000, 0, None], pa.timestamp("ns", "UTC")),
    pa.array([NOW, NOW, None], pa.timestamp("us", "Europe/Berlin")),
    pa.array([NOW, NOW, None], pa.timestamp("us")),
    pa.array([NOW // 1000, 0, None], pa.int64()),
    pa.array([NOW / 1000, float("nan"), None], pa.float64()),
    pa.array(["2026-11-21T17:00:00.25+01:00", "soon", None]),
]
Draw = Any  # what a composite strategy draws with


class Collecting:
    """A sink that prepares the events it takes."""

    def __init__(self, *, takes_prepared: bool) -> None:
        self.takes_prepared = takes_prepared
        self.events: list[Any] = []

    def take(self, reading: Reading[Any]) -> list[str]:
        self.events += prepare(reading.events)
        return tell_statuses(reading, [Outcome("accepted", 1)] * len(reading.events))


def ingest(table: pa.Table, *, takes_prepared: bool) -> object:
    sink = Collecting(takes_prepared=takes_prepared)
    ingestion = Ingestion(
        sink, "rankings", now=lambda: NOW, attributes=["country"], is_strict=False
    )
    try:
        ingestion.take_table(table)
    except RankscopeError as error:
        return sink.events, ingestion.ingested, str(error)
    return sink.events, ingestion.ingested


def often(draw: Draw, *usual: Any) -> Any:  # noqa: ANN401 - any values
    """One of some values, the first most of the time."""
    return draw(st.sampled_from([usual[0]] * 9 + list(usual)))


def draw_document(draw: Draw, rank: int) -> dict[str, Any]:
    """One document, and now and then another user than the other rows of its ranking have."""
    one = {
        "doc_id": often(draw, f"d{rank}", None, "d0", ""),
        "rank": often(draw, rank + 1, rank, None, 2.5),
        "score": often(draw, 1.0 - rank, *[draw(NUMBER) for _ in range(3)]),
        "relevance": often(draw, 1.0, *[draw(NUMBER) for _ in range(3)]),
    }
    return one | ({"user_id": "v"} if draw(st.integers(0, 20)) == 7 else {})


@st.composite
def documents(draw: Draw) -> pa.Table:
    """Tables with a document a row, most rankings of which are sound."""
    rows: list[dict[str, Any]] = []
    for at in range(draw(st.integers(1, 4))):
        head = {
            "ranking_id": often(draw, f"r{at}", None, "r0", 7),
            "user_id": often(draw, "u", None, ""),
            "country": often(draw, "de", None, "fr"),
            "time": often(draw, 0, 1, 2),
        }
        count = draw(st.integers(1, 4))
        rows += [head | draw_document(draw, rank) for rank in range(count)]
    rows = draw(st.permutations(rows)) if draw(st.integers(0, 3)) == 0 else rows
    return _to_table(draw, rows, draw(st.sampled_from(TIMES)), lists=False)


@st.composite
def lists(draw: Draw) -> pa.Table:
    """Tables with a ranking a row, most of which are sound."""
    rows: list[dict[str, Any]] = []
    for at in range(draw(st.integers(1, 4))):
        count = draw(st.integers(0, 3))
        ranks = list(range(1, count + 1))
        numbers = draw(st.lists(NUMBER, min_size=count, max_size=count))
        rows.append(
            {
                "ranking_id": often(draw, f"r{at}", None, 7),
                "user_id": often(draw, "u", None, ""),
                "country": often(draw, "de", None, "fr"),
                "time": often(draw, 0, 1, 2),
                "doc_id": often(draw, [f"d{rank}" for rank in ranks], None, ["a", "a"], [None]),
                "rank": often(draw, ranks, ranks[::-1], None, [0]),
                "score": often(draw, [1.0 / rank for rank in ranks], numbers, None, [1.0]),
                "relevance": often(draw, numbers, None),
                "tags": often(draw, [("age", "9")], None, [], [("age", "9"), ("age", "8")]),
                "color": often(draw, None, "red"),
            }
        )
    return _to_table(draw, rows, draw(st.sampled_from(TIMES)), lists=True)


def _to_table(draw: Draw, rows: list[dict[str, Any]], times: pa.Array, *, lists: bool) -> pa.Table:
    left_out = draw(
        st.lists(st.sampled_from(["rank", "score", "relevance", "user_id"]), max_size=3)
    )
    wrap: Callable[[Any], Any] = pa.list_ if lists and draw(st.booleans()) else pa.large_list
    types = {
        "ranking_id": often(draw, pa.string(), pa.large_string()),
        "doc_id": pa.string(),
        "rank": often(draw, pa.int64(), pa.float64(), pa.int8()),
        "score": often(draw, pa.float64(), pa.float32()),
        "relevance": pa.float64(),
        "tags": pa.map_(pa.string(), pa.string()),
    }
    columns = {}
    for name in rows[0]:
        if name in left_out or name == "time":
            continue
        kind = types.get(name, pa.string())
        values = [row[name] for row in rows]
        if kind in {pa.string(), pa.large_string()} and not lists:
            values = [None if one is None else str(one) for one in values]
        if name == "ranking_id":
            values = [None if one is None else str(one) for one in values]
        if pa.types.is_integer(kind):
            values = _floor(values)
        is_list = lists and name in {"doc_id", "rank", "score", "relevance"}
        columns[name] = pa.array(values, wrap(kind) if is_list else kind)
    columns["time"] = times.take(pa.array([row["time"] for row in rows]))
    return pa.table(columns)


def _floor(values: list[Any]) -> list[Any]:
    return [
        _floor(one) if isinstance(one, list) else None if one is None else int(one)
        for one in values
    ]


@settings(max_examples=150, deadline=None)
@given(st.one_of(documents(), lists()))
def test_tables_are_decoded_as_the_reference_reads_them(table: pa.Table) -> None:
    assert ingest(table, takes_prepared=True) == ingest(table, takes_prepared=False)


def test_csv_is_left_to_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "shown.csv"
    path.write_text("ranking_id,doc_id,rank,time\nr,a,1,2026-11-21T17:00:00Z\nr,b,x,1\n")
    done = []
    for takes_prepared in (True, False):
        sink = Collecting(takes_prepared=takes_prepared)
        ingestion = Ingestion(sink, "rankings", now=lambda: NOW)
        ingestion.take(path)
        done.append((sink.events, ingestion.ingested))
    assert done[0] == done[1]


@pytest.mark.parametrize(
    "column",
    [pa.array([["a"]]), pa.array([[["a"]]]), pa.array([[True]]), pa.array(["a"])],
    ids=["time", "nested", "truth", "text"],
)
def test_columns_of_other_types_are_left_to_the_reader(column: pa.Array) -> None:
    ids = pa.array(["r"])
    with pytest.raises(UnusualColumnError):
        split_lists(
            {"ranking_id": ids, "doc_id": column, "time": pa.array([1.5])},
            {"ranking_id": "ranking_id", "doc_id": "doc_id", "time": "time"},
            [],
        )

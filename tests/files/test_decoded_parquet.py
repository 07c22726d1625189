"""What the core decodes of a Parquet file is what PyArrow reads, and so are mistakes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._inputs.files.table import TableFile
from rankscope.engine import runs
from rankscope.evaluation import streaming

from tests.files.limited import describe, draw_pairs, draw_settings, spoil
from tests.generated import examples

if TYPE_CHECKING:
    from pathlib import Path

    from rankscope._core import ParquetRows

IDS = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
NUMBERS = [pa.float64(), pa.float32(), pa.int8(), pa.int32(), pa.int64()]
WRITTEN: list[dict[str, Any]] = [
    {},
    {"use_dictionary": False},
    {"dictionary_pagesize_limit": 16},  # the rest of a row group is plain
    {"data_page_size": 16, "write_batch_size": 3},
    {"data_page_version": "2.0"},
    {"data_page_version": "2.0", "use_dictionary": False, "compression": "none"},
    {"compression": "zstd", "write_page_checksum": True},
    {"compression": "none", "store_schema": False},
    {"compression": "gzip"},  # PyArrow decompresses it
]


def refuse(*_: object, **__: object) -> None:
    """Decode nothing."""


def evaluate(path: Path, settings: dict[str, Any], way: str, at_once: int = 5) -> list[object]:
    """Evaluate a file in one of the ways, and return the result, or the mistake."""
    with pytest.MonkeyPatch.context() as patch:
        if "pyarrow" in way:
            patch.setattr(TableFile, "read_plain", refuse)
        if "parts" in way:
            patch.setattr(streaming, "evaluate_stream", refuse)
            patch.setattr(TableFile, "exceeds", lambda *_: True)
        patch.setattr(streaming, "DECODED", at_once)
        try:
            return describe(rs.evaluate(path, **settings))
        except rs.errors.RankscopeError as error:
            return [type(error), error.__dict__]


@st.composite
def make_tables(draw: st.DrawFn) -> pa.Table:
    """Draw rows of a few queries, grouped or scattered, most of them valid."""
    choose = random.Random(draw(st.integers(0, 10**6)))
    pairs = draw_pairs(draw, choose)
    if draw(st.booleans()):
        choose.shuffle(pairs)
    integers = draw(st.booleans())
    table: dict[str, list[Any]] = {
        "query_id": [query * 7 if integers else f"q{query}" for query, _ in pairs],
        "doc_id": [doc * 7 if integers else f"d{doc}" for _, doc in pairs],
        "relevance": choose.choices([0, 1, 2, 3, None], k=len(pairs)),
        "score": choose.choices([1, 2, 3, 4, 90], k=len(pairs)),
    }
    types = {"relevance": draw(st.sampled_from(NUMBERS)), "score": draw(st.sampled_from(NUMBERS))}
    kind = draw(st.sampled_from([pa.int64(), pa.int32()] if integers else IDS))
    types |= {"query_id": kind, "doc_id": kind}
    if draw(st.booleans()):
        spoil(draw, choose, table)
        types |= {"relevance": pa.float64(), "score": pa.float64()}
    if draw(st.booleans()):
        del table["doc_id"]
    return pa.table({name: pa.array(column, types[name]) for name, column in table.items()})


@pytest.mark.slow
@examples(200)
@given(make_tables(), draw_settings(), st.sampled_from(WRITTEN), st.integers(1, 40))
def test_decoding_changes_nothing(
    folder: Path, table: pa.Table, settings: dict[str, Any], how: dict[str, Any], size: int
) -> None:
    path = folder / "table.parquet"
    pq.write_table(table, path, row_group_size=size, **how)
    for way in ("rows", "parts"):
        assert evaluate(path, settings, way) == evaluate(path, settings, f"{way} pyarrow"), way


def make_table(rows: int = 60) -> dict[str, Any]:
    """Ten rows of each query, one query after another."""
    return {
        "query_id": [f"q{row // 10}" for row in range(rows)],
        "doc_id": [f"d{row}" for row in range(rows)],
        "relevance": [row % 3 for row in range(rows)],
        "score": [row * 7 % 11 / 2 for row in range(rows)],
    }


def count_decoded(path: Path, monkeypatch: pytest.MonkeyPatch, *others: Any) -> int:  # noqa: ANN401 - of several types
    """Evaluate a file; return how many rows the core decoded, 0 if it left them to PyArrow."""
    decoded: list[ParquetRows] = []

    def read(file: TableFile, *args: Any, **settings: Any) -> ParquetRows | None:  # noqa: ANN401 - as it is
        rows = read_plain(file, *args, **settings)
        decoded.extend([] if rows is None else [rows])
        return rows

    read_plain = TableFile.read_plain
    monkeypatch.setattr(TableFile, "read_plain", read)
    rs.evaluate(*others, path, ["nDCG@10"])
    return sum(rows.rows for rows in decoded)


@pytest.mark.parametrize("how", WRITTEN)
def test_simple_files_are_decoded(
    tmp_path: Path, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(make_table()), path, row_group_size=7, **how)
    expected = 0 if how.get("compression") == "gzip" else 60
    assert count_decoded(path, monkeypatch) == expected


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("query_id", pa.array([b"q"] * 60)),
        ("doc_id", pa.array(range(60), pa.uint64())),
        ("doc_id", pa.array(range(60), pa.timestamp("ms"))),
        ("score", pa.array(range(60), pa.decimal128(5, 2))),
        ("score", pa.array(range(60), pa.float16())),
        ("relevance", pa.array([True] * 60)),
    ],
)
def test_other_types_are_left_to_pyarrow(
    tmp_path: Path, column: str, values: pa.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({**make_table(), column: values}), path)
    assert count_decoded(path, monkeypatch) == 0


@pytest.mark.parametrize("at_once", [1, 9, 10, 11, 59, 60, 61])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_queries_are_whole_wherever_rows_are_cut(
    tmp_path: Path, at_once: int, threads: int
) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(make_table()), path, row_group_size=13)
    settings = {"measures": ["nDCG@10", "AP"], "threads": threads}
    expected = evaluate(path, settings, "rows pyarrow")
    assert evaluate(path, settings, "rows", at_once) == expected
    assert evaluate(path, settings, "parts", at_once) == expected


def test_a_query_that_returns_is_said_where_rows_are_to_be_grouped(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    table = make_table()
    table["query_id"][59] = "q0"
    pq.write_table(pa.table(table), path)
    settings = {"measures": ["RR"], "assume_grouped": True}
    for at_once in (10, 60):
        _, said = evaluate(path, settings, "rows", at_once)
        assert isinstance(said, dict)
        assert said["code"] == "query_returns"


@pytest.mark.parametrize("value", [2**53, 2**53 + 1, 2**53 + 2, -(2**63)])
def test_integers_are_scores_where_doubles_hold_them(tmp_path: Path, value: int) -> None:
    path = tmp_path / "table.parquet"
    scores = pa.array([value] * 60, pa.int64())
    pq.write_table(pa.table({**make_table(), "score": scores}), path)
    found = evaluate(path, {"measures": ["RR"]}, "rows")
    assert found == evaluate(path, {"measures": ["RR"]}, "rows pyarrow")
    assert (found[0] is rs.FormatError) == (int(float(value)) != value)


@pytest.mark.parametrize("is_scattered", [False, True])
def test_runs_are_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_scattered: bool
) -> None:
    order = list(range(60))
    if is_scattered:
        random.Random(3).shuffle(order)
    table = {name: [column[row] for row in order] for name, column in make_table().items()}
    judged: dict[str, dict[str, int]] = {}
    for query, doc, grade in zip(
        table["query_id"], table["doc_id"], table.pop("relevance"), strict=True
    ):
        judged.setdefault(query, {})[doc] = grade
    path = tmp_path / "run.parquet"
    pq.write_table(pa.table({**table, "rank": [1] * 60}), path, row_group_size=17)
    expected = describe(rs.evaluate(judged, path, ["nDCG@10"]))
    monkeypatch.setattr(TableFile, "estimate_memory", lambda _: 1 << 40)
    for at_once in (1, 10, 17):
        monkeypatch.setattr(runs, "DECODED", at_once)
        assert describe(rs.evaluate(judged, path, ["nDCG@10"])) == expected
    # A scattered run is decoded until a query returns, and then from the start.
    assert count_decoded(path, monkeypatch, judged) >= 60

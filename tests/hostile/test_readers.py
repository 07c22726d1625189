"""Small files take little memory, readers are linear, and every damaged file is a typed error."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

COLUMNS = {"query": "query", "doc": "doc", "score": "score", "relevance": "relevance"}
ROWS = 300
TABLE = pa.table(
    {
        "query": pa.array([f"q{row // 10}" for row in range(ROWS)]).dictionary_encode(),
        "doc": pa.array([f"d{row % 60}" for row in range(ROWS)]).dictionary_encode(),
        "score": [row / 2 for row in range(ROWS)],
        "relevance": [row % 3 for row in range(ROWS)],
    }
)


def long_texts(rows: int, bytes_of_each: int) -> pa.DictionaryArray:
    """Few long texts that many rows share, one run after another."""
    texts = [f"{number}-{'x' * bytes_of_each}" for number in range(16)]
    codes = np.sort(np.arange(rows, dtype=np.int32) % 16)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(texts))


def flat(rows: int, bytes_of_each: int) -> pa.Table:
    numbers = pa.array(np.zeros(rows))
    queries = long_texts(rows, bytes_of_each)
    return pa.table({"query": queries, "score": numbers, "relevance": numbers})


def nested(rows: int, bytes_of_each: int) -> pa.Table:
    def in_one_list(values: pa.Array) -> pa.ListArray:
        return pa.ListArray.from_arrays(pa.array([0, rows], pa.int32()), values)

    numbers = in_one_list(pa.array(np.zeros(rows)))
    docs = in_one_list(long_texts(rows, bytes_of_each))
    return pa.table({"query": ["q"], "doc": docs, "score": numbers, "relevance": numbers})


def nulls(rows: int, _: int) -> pa.Table:
    empty = pa.nulls(rows, pa.float64())
    return pa.table({"query": pa.array(["q"] * rows), "score": empty, "relevance": empty})


READ = """
import sys, pyarrow, rankscope as rs
names = dict(query="query", score="score", relevance="relevance")
try:
    rs.evaluate(sys.argv[1], "nDCG@10", **names, **({"doc": "doc"} if sys.argv[2:] else {}))
except rs.RankscopeError as error:
    print(error.code, pyarrow.default_memory_pool().max_memory())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "rows", "bytes_of_each", "has_schema"),
    [
        (flat, 5_000_000, 700, False),
        (flat, 500_000, 60_000, True),
        (nested, 5_000_000, 700, True),
        pytest.param(
            *(nested, 5_000_000, 700, False),
            marks=pytest.mark.xfail(reason="PyArrow decodes the whole list of a row at once"),
        ),
        (nulls, 3 * 10**7, 0, True),
    ],
)
def test_a_small_parquet_file_takes_little_memory(
    tmp_path: Path,
    make: Callable[[int, int], pa.Table],
    rows: int,
    bytes_of_each: int,
    *,
    has_schema: bool,
) -> None:
    """Written out, each of these files of less than 1 MB has gigabytes."""
    path = tmp_path / "small.parquet"
    table = make(rows, bytes_of_each)
    pq.write_table(table, path, compression="zstd", row_group_size=rows, store_schema=has_schema)
    assert path.stat().st_size < 1_000_000
    found = subprocess.run(
        [sys.executable, "-c", READ, path, *(["doc"] if make is nested else [])],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    code, most = found.stdout.split()
    assert code in {"decompressed_bytes", "id_length", "parquet_invalid"}
    assert int(most) < 800 << 20


def test_a_small_arrow_file_takes_little_memory() -> None:
    queries = long_texts(2_000_000, 5_000)
    table = flat(2_000_000, 5_000).append_column("doc", queries)
    for data in (ipc_of(table, "zstd"), ipc_of(nulls_of_nothing(2**31 - 1), None)):
        assert len(data) < 1_000_000
        assert refusal_of(data, "arrow").code == "decompressed_bytes"


def nulls_of_nothing(rows: int) -> pa.Table:
    """A column of nulls, which has no memory at all."""
    column = pa.Array.from_buffers(pa.null(), rows, [None])
    return pa.table(dict.fromkeys(COLUMNS, column))


def ipc_of(table: pa.Table, compression: str | None) -> bytes:
    buffer = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(buffer, table.schema, options=options) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def parquet_of(table: pa.Table, **settings: object) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **settings)
    return buffer.getvalue()


def evaluate(data: bytes, form: str) -> rs.Evaluation:
    return rs.evaluate(rs.File(data, form), "nDCG@10", policy="ties=doc_id", **COLUMNS)


def refusal_of(data: bytes, form: str) -> rs.RankscopeError:
    with pytest.raises(rs.RankscopeError) as caught:
        evaluate(data, form)
    return caught.value


def test_lists_whose_texts_have_several_dictionaries_are_read() -> None:
    """Writers give up a dictionary that grows too large, in the middle of a batch."""
    docs = [[f"d{number}-{place}" for place in range(3)] for number in range(2000)]
    lists = {"doc": docs, "score": [[3, 2, 1]] * 2000, "relevance": [[1, 0, 0]] * 2000}
    table = pa.table({"query": [f"q{number}" for number in range(2000)], **lists})
    for settings in (
        {"dictionary_pagesize_limit": 100, "data_page_size": 64},
        {"row_group_size": 7},
    ):
        assert evaluate(parquet_of(table, **settings), "parquet")["nDCG@10"] == 1.0


def lines_of(objects: Iterable[dict[str, object]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in objects).encode()


def row(number: int, **others: object) -> dict[str, object]:
    document = {"query": "q", "doc": f"d{number}", "score": -number, "relevance": number % 2}
    return document | others


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "lines"), [(400_000, 2), (100_000, 100_000)])
def test_json_objects_of_many_keys_are_read_in_one_pass(keys: int, lines: int) -> None:
    """With the square of the keys, or keys times lines, this would take hours."""
    first = row(0, **dict.fromkeys(map(str, range(keys)), 1), last=None)
    text = lines_of([first, *map(row, range(1, lines))])
    assert evaluate(text, "jsonl").counts.queries == 1


def test_a_command_ends_with_status_3_at_a_damaged_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "damaged.parquet"
    data = parquet_of(TABLE, compression="none", write_statistics=False)
    path.write_bytes(data[: len(data) // 2] + b"\xff" * 40 + data[len(data) // 2 + 40 :])
    names = [f"--col={role}={name}" for role, name in COLUMNS.items()]
    assert main(["eval", str(path), "-m", "nDCG@10", *names]) == 3
    assert str(path) in capsys.readouterr().err

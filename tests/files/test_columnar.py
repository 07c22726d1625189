"""Files of columns that are forged, cut, locked, or do not fit together."""

from __future__ import annotations

import io
import os
import threading
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs

from tests.files.opened import open_table
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 300
TABLE = pa.table(
    {
        "query_id": [f"q{row // 9}" for row in range(ROWS)],
        "doc_id": [f"d{row}" for row in range(ROWS)],
        "relevance": [row % 3 for row in range(ROWS)],
        "score": [row / 2 for row in range(ROWS)],
    }
)
LISTS = pa.table(
    {
        "query_id": [f"q{row}" for row in range(ROWS)],
        "doc_id": [[f"d{doc}" for doc in range(row % 5)] for row in range(ROWS)],
        "score": [[-doc / 2 for doc in range(row % 5)] for row in range(ROWS)],
        "relevance": [[doc % 3 for doc in range(row % 5)] for row in range(ROWS)],
    }
)
CODED = TABLE.cast(
    pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in ("query_id", "doc_id")])
    .append(TABLE.schema.field("relevance"))
    .append(TABLE.schema.field("score"))
)


def parquet(table: pa.Table, **settings: object) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **settings)
    return buffer.getvalue()


def ipc(
    table: pa.Table, make: Callable[..., pa.RecordBatchFileWriter], **settings: object
) -> bytes:
    buffer = io.BytesIO()
    with make(buffer, table.schema, options=pa.ipc.IpcWriteOptions(**settings)) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def read(text: bytes, form: str) -> int:
    with open_table(text, form) as table:
        return sum(batch.num_rows for batch in table)


def refusal(text: bytes, form: str) -> rs.RankscopeError:
    with pytest.raises(rs.RankscopeError) as refused:
        read(text, form)
    assert refused.value.hint
    assert refused.value.file == "<bytes>"
    return refused.value


KINDS: dict[str, tuple[str, bytes]] = {
    "parquet": ("parquet", parquet(TABLE)),
    "parquet, plain": ("parquet", parquet(TABLE, use_dictionary=False, compression="zstd")),
    "parquet, dictionaries": ("parquet", parquet(CODED, write_statistics=False)),
    "parquet, lists": ("parquet", parquet(LISTS, data_page_version="2.0")),
    "arrow file": ("arrow", ipc(TABLE, pa.ipc.new_file)),
    "arrow file, dictionaries": ("arrow", ipc(CODED, pa.ipc.new_file)),
    "arrow file, lists": ("arrow", ipc(LISTS, pa.ipc.new_file, compression="zstd")),
    "arrow stream": ("arrow", ipc(TABLE, pa.ipc.new_stream, compression="lz4")),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_nothing_of_a_cut_file_is_taken(kind: str, share: float) -> None:
    """P1, P2."""
    form, good = KINDS[kind]
    assert refusal(good[: int(len(good) * share)], form).code == f"{form}_invalid"


def test_a_page_that_does_not_fit_its_checksum_is_refused() -> None:
    """P2."""
    good = parquet(TABLE, write_page_checksum=True, use_dictionary=False, compression="none")
    at = good.index(b"d150")
    damaged = good[:at] + b"e" + good[at + 1 :]
    assert refusal(damaged, "parquet").code == "parquet_invalid"


def test_rows_that_a_file_cannot_hold_are_refused_before_they_are_read() -> None:
    """P3, P4: constants pack well, and are believed up to a limit."""
    many = 9_000_000
    constant = pa.table({"query_id": pa.repeat(1, many), "score": pa.repeat(1.0, many)})
    assert refusal(parquet(constant, compression="zstd"), "parquet").code == "decompressed_bytes"
    assert read(parquet(constant.slice(0, 10_000), compression="zstd"), "parquet") == 10_000


@pytest.mark.parametrize(
    "change",
    [
        {"query_id": list(range(ROWS))},
        {"score": None},
    ],
    ids=["another type", "no column"],
)
def test_files_that_do_not_fit_together_are_named(
    change: dict[str, list[object] | None], tmp_path: Path
) -> None:
    """P15."""
    columns: dict[str, object] = dict(TABLE.to_pydict()) | change
    other = pa.table({name: column for name, column in columns.items() if column is not None})
    for name, table in (("a", TABLE), ("b", TABLE), ("c", other)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    error = refused(lambda: rs.evaluate(tmp_path, "RR"), "schema_mismatch")
    assert str(tmp_path / "a.parquet") in error.summary
    assert str(tmp_path / "c.parquet") in error.summary


def test_numbers_of_several_widths_fit_together(tmp_path: Path) -> None:
    """Grades of a file with unjudged rows are decimals where others are integers."""
    for name, grades in (("a", [1, 0]), ("b", [1.0, None])):
        table = {"query_id": [name] * 2, "score": [2.0, 1.0], "relevance": grades}
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    assert rs.evaluate(tmp_path, "P@2")["P@2"] == (1 / 2 + 1 / 2) / 2


def test_files_of_several_formats_are_no_table(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("query_id,score,relevance\nq,1,1\n")
    with pytest.raises(rs.FormatError, match=r"a\.parquet.*b\.csv"):
        rs.evaluate(tmp_path, "RR")
    assert rs.evaluate(tmp_path / "*.csv", "RR")["RR"] == 1


def test_parquet_comes_through_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[parquet(TABLE)])
    writer.start()
    found = rs.evaluate(rs.File(path, "parquet"), "RR")
    writer.join()
    assert found["RR"] == rs.evaluate(TABLE, "RR")["RR"]


def test_texts_of_several_dictionaries_are_joined_as_texts() -> None:
    parts = [[f"q{row}", "a"] for row in range(0, 40, 2)]
    kind = pa.dictionary(pa.int8(), pa.string())
    batches = [
        pa.record_batch({"query_id": pa.array(part, kind), "doc_id": part, "score": [1.0, 0.5]})
        for part in parts
    ]
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    with open_table(buffer.getvalue(), "arrow") as table:
        found = [text for batch in table for text in batch.column("query_id").to_pylist()]
    assert found == [text for part in parts for text in part]

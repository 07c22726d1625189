"""Files of columns that do not fit together, or come in an unusual way."""

from __future__ import annotations

import io
import os
import threading
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs

from tests.refusals import refused

if TYPE_CHECKING:
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


def parquet(table: pa.Table, **settings: object) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **settings)
    return buffer.getvalue()


def test_a_page_that_does_not_fit_its_checksum_is_refused() -> None:
    good = parquet(TABLE, write_page_checksum=True, use_dictionary=False, compression="none")
    at = good.index(b"d150")
    damaged = good[:at] + b"e" + good[at + 1 :]
    refused(lambda: rs.evaluate(rs.File(damaged, "parquet"), "RR"), "parquet_invalid")


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
    kind = pa.dictionary(pa.int8(), pa.string())
    batches = [
        pa.record_batch(
            {
                "query_id": ["q", "q"],
                "doc_id": pa.array([f"d{row}", f"e{row}"], kind),
                "score": [row, row + 0.5],
            }
        )
        for row in range(20)
    ]
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    run = rs.File(buffer.getvalue(), "arrow")
    assert rs.evaluate({"q": {"d0": 1}}, run, "RR")["RR"] == 1 / 40

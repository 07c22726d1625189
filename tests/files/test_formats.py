"""One table gives one answer in every format, and each row knows its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import rankscope as rs

from tests.files.opened import open_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankscope._inputs.table_files import TableFile

COLUMNS: dict[str, list[object]] = {
    "qid": ["a", "007", "a", "NA"],
    "docno": ["1", "1e5", 'x"y', "null"],
    "label": [1.0, 0.0, 2.5, -1.0],
    "score": [0.5, 1e-3, -2.0, 17.0],
}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def write_delimited(path: Path, delimiter: str) -> None:
    lines = [COLUMNS.keys(), *(row.values() for row in ROWS)]
    text = "".join(delimiter.join(map(str, line)) + "\n" for line in lines)
    path.write_text(text.replace('x"y', '"x""y"'))


def write_json(path: Path) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))


def write_stream(path: Path) -> None:
    table = pa.table(COLUMNS)
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


WRITERS: dict[str, Callable[[Path], object]] = {
    "t.csv": lambda path: write_delimited(path, ","),
    "t.tsv": lambda path: write_delimited(path, "\t"),
    "t.jsonl": write_json,
    "t.ndjson": write_json,
    "t.parquet": lambda path: pyarrow.parquet.write_table(pa.table(COLUMNS), path),
    "t.feather": lambda path: pyarrow.feather.write_feather(pa.table(COLUMNS), path),
    "t.arrow": write_stream,
}


def read(table: TableFile) -> dict[str, list[object]]:
    batches = list(table)
    found: dict[str, list[object]] = pa.Table.from_batches(batches, table.schema).to_pydict()
    return found


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_holds_the_same_table(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    table = open_table(str(path))
    assert table.columns == {"query": "qid", "doc": "docno", "relevance": "label", "score": "score"}
    assert read(table) == COLUMNS
    first = 2 if name in {"t.csv", "t.tsv"} else 1
    assert [table.find_line(row) for row in (1, 4)] == [(str(path), first), (str(path), first + 3)]
    unnamed = path.read_bytes()
    form = {"t.ndjson": "jsonl", "t.feather": "arrow"}.get(name, name.removeprefix("t."))
    assert read(open_table(unnamed, form)) == COLUMNS


@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_and_a_pattern_are_all_their_files(name: str, tmp_path: Path) -> None:
    for part in ("day=1", "day=2", ".hidden", "other"):
        (tmp_path / part).mkdir()
        WRITERS[name](tmp_path / part / name)
    twice = {column: values * 2 for column, values in COLUMNS.items()}
    progress: list[int] = []
    table = open_table(str(tmp_path), progress=progress.append)
    assert read(table) == twice
    assert table.find_line(5)[0] == str(tmp_path / "day=2" / name)
    assert progress == sorted(progress)
    assert progress[-1] == 2 * (tmp_path / "day=1" / name).stat().st_size
    assert read(open_table(str(tmp_path / "d*" / name))) == twice


@pytest.mark.parametrize("ranks", [(1, 2, 4), (0, 1, 2), (5, 6, 70)])
def test_ranks_order_whatever_they_begin_with(ranks: tuple[int, ...]) -> None:
    """J15: gaps and another first rank change no value, and are noted."""
    rows = zip("abc", (0, 1, 2), ranks, strict=True)
    text = "".join(f"q,{doc},{grade},{rank}\n" for doc, grade, rank in rows)
    given = rs.File(f"qid,doc,label,rank\n{text}".encode(), "csv")
    expected = rs.evaluate({"qid": ["q"] * 3, "label": [0, 1, 2], "score": [3, 2, 1]}, "nDCG")
    evaluation = rs.evaluate(given, "nDCG")
    assert dict(evaluation) == dict(expected)
    assert [note.code for note in evaluation.notes] == ["rank_gap"]

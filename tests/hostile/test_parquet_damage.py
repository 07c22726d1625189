"""A flipped bit of a Parquet file is a typed error or changes no value. It ends no process."""

from __future__ import annotations

import random
import struct
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope._inputs.files.checked_parquet import open_path

from tests.hostile.children import outcomes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 60
TABLE = pa.table(
    {
        "query_id": [f"q{row // 10}" for row in range(ROWS)],
        "doc_id": [f"d{row}" for row in range(ROWS)],
        "score": [float(row * 7 % 11) for row in range(ROWS)],
        "relevance": [row % 3 for row in range(ROWS)],
    }
)
QRELS = {
    f"q{query}": {f"d{doc}": doc % 3 for doc in range(10 * query, 10 * query + 10)}
    for query in range(ROWS // 10)
}
MEASURES = ["nDCG@10", "RR"]
KINDS: dict[str, dict[str, object]] = {
    "dictionaries": {},
    "pages of version 2": {"data_page_version": "2.0", "compression": "zstd"},
    "other encodings": {
        "use_dictionary": False,
        "compression": "none",
        "column_encoding": {
            "query_id": "DELTA_BYTE_ARRAY",
            "doc_id": "DELTA_LENGTH_BYTE_ARRAY",
            "score": "BYTE_STREAM_SPLIT",
        },
    },
}
Place = tuple[int, int]
"""A byte, and the bit of it."""


def write(path: Path, kind: str, *, checksums: bool = True) -> bytes:
    settings = {"write_page_checksum": checksums, "row_group_size": ROWS // 2}
    pq.write_table(TABLE, path, **settings, **KINDS[kind])
    return path.read_bytes()


def start_of_footer(data: bytes) -> int:
    return len(data) - 8 - int(struct.unpack("<I", data[-8:-4])[0])


def flip(data: bytes, place: Place) -> bytes:
    flipped = bytearray(data)
    flipped[place[0]] ^= 1 << place[1]
    return bytes(flipped)


def choose(start: int, end: int, count: int, seed: int) -> list[Place]:
    chosen = random.Random(seed)
    return [(chosen.randrange(start, end), chosen.randrange(8)) for _ in range(count)]


def outcomes_of_flips(
    path: Path, places: list[Place], read: Callable[[], object], *, is_same: bool = True
) -> list[str]:
    """Read the file with each bit flipped in turn; a changed value is an outcome with a space."""
    good, expected = path.read_bytes(), read()

    def act(place: Place) -> None:
        path.write_bytes(flip(good, place))
        found = read()
        if is_same and found != expected:
            raise ValueError(f"byte {place[0]} changes {expected} to {found}")

    outcomes = outcomes_of([partial(act, place) for place in places])
    path.write_bytes(good)
    return outcomes


def evaluate(path: Path) -> list[float]:
    found = rs.evaluate(QRELS, str(path), MEASURES)
    return [found[measure] for measure in found]


def check_flips(folder: Path, kind: str, part: str, count: int, seed: int) -> None:
    path = folder / "run.parquet"
    data = write(path, kind)
    middle = start_of_footer(data)
    start, end = (middle, len(data)) if part == "footer" else (0, middle)
    places = choose(start, end, count, seed)
    outcomes = outcomes_of_flips(path, places, lambda: evaluate(path))
    assert [one for one in outcomes if " " in one] == []
    assert {"ok", "parquet_invalid"} <= set(outcomes)


@pytest.mark.parametrize("part", ["footer", "pages"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_an_error_or_changes_no_value(
    tmp_path: Path, kind: str, part: str
) -> None:
    check_flips(tmp_path, kind, part, count=134, seed=1)


@pytest.mark.thorough(reason="reads 4,000 damaged files")
@pytest.mark.parametrize("part", ["footer", "pages"])
@pytest.mark.parametrize("kind", KINDS)
def test_none_of_many_flipped_bits_changes_a_value(tmp_path: Path, kind: str, part: str) -> None:
    check_flips(tmp_path, kind, part, count=667, seed=2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_of_pages_without_checksums_never_ends_the_process(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "run.parquet"
    end = start_of_footer(write(path, kind, checksums=False))
    places = choose(0, end, 40, seed=3)
    outcomes = outcomes_of_flips(path, places, lambda: evaluate(path), is_same=False)
    assert [one for one in outcomes if " " in one] == []


READERS: dict[str, Callable[[str], object]] = {
    "evaluate_table": lambda path: rs.evaluate(path, MEASURES),
    "compare": lambda path: rs.compare(QRELS, {"a": path, "b": path}, "nDCG@10"),
    "fuse": lambda path: rs.fuse([path, path]),
    "judgments": lambda path: rs.evaluate(path, path, MEASURES),
}


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_lets_a_damaged_footer_end_the_process(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "run.parquet"
    data = write(path, "dictionaries")
    places = choose(start_of_footer(data), len(data), 40, seed=4)
    acts = READERS[reader]
    outcomes = outcomes_of_flips(path, places, lambda: acts(str(path)), is_same=False)
    assert [one for one in outcomes if " " in one] == []
    assert "parquet_invalid" in outcomes


def test_any_metadata_of_a_column_can_be_asked_for_once_a_file_is_open(tmp_path: Path) -> None:
    """Every 29th bit of the footer: PyArrow ends the process for what it can't make sense of."""
    path = tmp_path / "run.parquet"
    data = write(path, "dictionaries")

    def read() -> None:
        with open_path(path) as file:
            groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
            columns = [group.column(at) for group in groups for at in range(group.num_columns)]
            for column in columns:
                column.to_dict()

    places = [divmod(bit, 8) for bit in range(8 * start_of_footer(data), 8 * len(data), 29)]
    outcomes = outcomes_of_flips(path, places, read, is_same=False)
    assert [one for one in outcomes if one.startswith("signal")] == []

"""Packed files: whatever they are called, cut, damaged, swelling, and in many pieces."""

from __future__ import annotations

import bz2
import gzip
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.inputs.carriers import PACKINGS, pack_zstd
from tests.inputs.entry import QRELS, RUN
from tests.inputs.measured import MEGABYTE, SLACK, measure_each
from tests.inputs.outcome import MEASURES, Outcome, outcome_of

if TYPE_CHECKING:
    from pathlib import Path

PACKED = [name for name in PACKINGS if name != "file"]
LARGE_RUN = "".join(
    f"q{query} Q0 d{doc * 7919 % 99991} {doc} {-doc} t\n"
    for query in range(1, 101)
    for doc in range(1, 201)
).encode()


def evaluate(qrels: object, run: object = RUN) -> Outcome:
    return outcome_of(lambda: rs.evaluate(qrels, run, MEASURES, threads=2))  # type: ignore[arg-type]


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("name", ["qrels", "qrels.txt", "qrels.gz", "qrels.zst", "qrels.bz2"])
def test_packing_is_told_by_the_first_bytes_and_not_by_the_name(
    packing: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(PACKINGS[packing](QRELS))
    assert evaluate(path) == evaluate(QRELS)
    path.write_bytes(QRELS)
    assert evaluate(path) == evaluate(QRELS)


@pytest.mark.parametrize("text", ["BZh91AY 0 d1 1\n", "BZh91 0 d1 1\n", "BZh9 0 d1 1\n"])
def test_an_id_that_begins_as_packed_data_does_is_text(text: str) -> None:
    assert not evaluate(QRELS + text.encode()).code
    assert not evaluate(text.encode() + QRELS).code


@pytest.mark.parametrize("packing", PACKED)
def test_nothing_of_a_cut_file_is_taken(packing: str) -> None:
    packed = PACKINGS[packing](LARGE_RUN)
    for cut in (len(packed) - 1, len(packed) - 5, len(packed) // 2, 64, 20):
        found = evaluate(QRELS, packed[:cut])
        assert (found.code, found.by_query) == ("compressed_truncated", {}), cut
        assert "fetch the file again" in found.hint
        assert found.location == "<bytes>"


@pytest.mark.parametrize("packing", ["gzip", "bzip2"])
def test_nothing_of_a_damaged_file_is_taken(packing: str) -> None:
    """Both formats end with a checksum; zstd frames need not."""
    packed = bytearray(PACKINGS[packing](LARGE_RUN))
    packed[-6] ^= 0x55
    assert evaluate(QRELS, bytes(packed)).code == "compressed_truncated"
    packed[len(packed) // 2] ^= 0x55
    found = evaluate(QRELS, bytes(packed))
    assert found.code  # what it unpacks to may be refused before the checksum is reached
    assert not found.by_query


def test_what_follows_a_packed_file_is_not_passed_over() -> None:
    assert evaluate(gzip.compress(QRELS) + b"q3 0 d1 1\n").code == "compressed_truncated"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, pack_zstd])
def test_packed_pieces_one_after_another_are_one_text(pack: object) -> None:
    assert callable(pack)
    half = len(RUN) // 2
    assert evaluate(QRELS, pack(RUN[:half]) + pack(RUN[half:])) == evaluate(QRELS)


def test_a_thousand_gzip_members_are_read_and_more_are_not() -> None:
    empty = gzip.compress(b"")
    assert evaluate(empty * 999 + gzip.compress(QRELS)) == evaluate(QRELS)
    for count in (1000, 1_000_000):
        found = evaluate(empty * count + gzip.compress(QRELS))
        assert found.code == "gzip_members"
        assert "1000" in found.message


def test_a_frame_that_may_be_skipped_is_skipped() -> None:
    skipped = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    assert evaluate(skipped + pack_zstd(QRELS)) == evaluate(QRELS)


def test_a_packed_file_in_a_packed_file_is_not_text() -> None:
    assert evaluate(gzip.compress(gzip.compress(QRELS))).code == "encoding"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "line", "packing"),
    [
        ("qrels", "q1 0 d1 1\n", "gzip"),
        ("run", "q1 Q0 d1 1 1.5 t\n", "zstd"),
        ("run", "q1 Q0 d1 1 1.5 t\n", "bzip2"),
    ],
)
def test_a_file_that_swells_hits_a_limit_in_bounded_memory(
    role: str, line: str, packing: str, tmp_path: Path
) -> None:
    pack = gzip.compress if packing == "gzip" else PACKINGS[packing]
    packed = pack(line.encode() * (MEGABYTE // len(line)))
    pieces = []
    for megabytes in (100, 400):
        path = tmp_path / str(megabytes)
        path.write_bytes(packed * megabytes)
        assert path.stat().st_size < 4 * MEGABYTE
        given = f"{str(path)!r}, {RUN!r}" if role == "qrels" else f"{QRELS!r}, {str(path)!r}"
        pieces.append(f"rs.evaluate({given}, 'AP')")
    smaller, larger = measure_each(*pieces)
    assert smaller.code == larger.code == "decompressed_bytes"
    assert larger.growth < SLACK


def test_a_file_of_one_packed_line_without_end_hits_a_limit(tmp_path: Path) -> None:
    pieces = []
    for megabytes in (8, 64):
        path = tmp_path / str(megabytes)
        path.write_bytes(gzip.compress(b"x" * (megabytes * MEGABYTE), 1))
        pieces.append(f"rs.evaluate({str(path)!r}, {RUN!r}, 'AP')")
    short, long = measure_each(*pieces)
    assert [(short.code, short.line), (long.code, long.line)] == [("line_length", 1)] * 2
    assert long.growth < SLACK


@pytest.mark.slow
@pytest.mark.parametrize("form", ["trec", "csv"])
def test_blank_lines_hit_a_limit_however_little_they_are_packed(form: str) -> None:
    """Zlib makes one byte of 229 blank lines at its fastest, and of 1029 otherwise."""
    packed = gzip.compress(b"\n" * MEGABYTE, 1) * 70
    found = outcome_of(lambda: rs.evaluate(QRELS, rs.File(packed, form), "AP"))
    assert found.code == "decompressed_bytes"

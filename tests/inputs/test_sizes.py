"""Inputs of a size that must neither take long nor much memory."""

from __future__ import annotations

from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

import pytest

from tests.inputs.carriers import pipe_of
from tests.inputs.entry import QRELS, RUN, lines
from tests.inputs.measured import MEGABYTE, measure

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BASE = 64 * MEGABYTE
CHUNK = 64 << 10


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize(
    ("piece", "code"),
    [(b"x" * CHUNK, "line_length"), (b"\0" * CHUNK, "nul_byte"), (b"q \r" * CHUNK, "line_ending")],
)
def test_a_line_without_end_is_refused_before_it_is_held(
    role: str, piece: bytes, code: str, tmp_path: Path
) -> None:
    """T33: the writer never ends."""
    start = QRELS if role == "qrels" else RUN
    with pipe_of(chain([start], repeat(piece)), tmp_path) as pipe:
        given = f"{str(pipe)!r}, {RUN!r}" if role == "qrels" else f"{QRELS!r}, {str(pipe)!r}"
        found = measure(f"rs.evaluate({given}, 'AP')")
    assert (found.code, found.line) == (code, start.count(b"\n") + 1)
    assert found.memory < BASE
    assert found.seconds < 10


def test_bytes_and_lines_are_counted_beyond_32_bits(tmp_path: Path) -> None:
    """T34: the comments are as long as lines may be, so that little is to be done for each."""
    comment = b"# ".ljust(MEGABYTE - 1, b"x") + b"\n"
    count = (2**31 >> 20) + 300
    with pipe_of(chain(repeat(comment, count), [QRELS, b"q3 0 d1\n"]), tmp_path) as pipe:
        found = measure(
            f"""
            rs.read_qrels({str(pipe)!r}, progress=lambda done, _: globals().update(value=done))
            """
        )
    assert (found.code, found.line) == ("field_count", count + 6)
    assert isinstance(found.value, int)
    assert found.value > 2**31
    assert found.memory < 16 * MEGABYTE


def rows(kind: str, queries: int, docs: int) -> Iterable[bytes]:
    """Write many rows, a query at a time."""
    for query in range(queries):
        if kind == "qrels":
            texts = (f"q{query} 0 document-{query}-{doc} {doc % 3}\n" for doc in range(docs))
        else:
            texts = (
                f"q{query} Q0 document-{query}-{doc} {doc + 1} {-doc} t\n" for doc in range(docs)
            )
        yield "".join(texts).encode()


def test_a_million_judgments_of_different_documents_fit_in_four_times_their_size(
    tmp_path: Path,
) -> None:
    """T35, at a hundredth of its size."""
    path = tmp_path / "qrels"
    path.write_bytes(b"".join(rows("qrels", 1000, 1000)))
    found = measure(f"value = len(rs.read_qrels({str(path)!r}).query_ids)")
    assert found.value == 1000
    size = path.stat().st_size
    assert found.memory < BASE + 4 * size
    assert found.seconds < 1 + size / MEGABYTE


def test_a_run_is_evaluated_in_memory_that_does_not_grow_with_it(tmp_path: Path) -> None:
    """G3: the run has forty times the bytes of the largest growth allowed."""
    path = tmp_path / "run"
    block = b"".join(rows("run", 500, 1000))
    with path.open("wb") as file:
        for part in range(8):
            file.write(block.replace(b"q", b"%dq" % part))
    found = measure(
        f"value = rs.evaluate([('0q1', 'document-1-0', 1)], {str(path)!r}, 'RR', threads=2)['RR']"
    )
    assert found.value == 1.0
    assert path.stat().st_size > 120 * MEGABYTE
    assert found.memory < 24 * MEGABYTE


@pytest.mark.parametrize("way", ["file", "dict"])
def test_a_million_documents_of_one_query_are_read(way: str, tmp_path: Path) -> None:
    """R20, and D12 at a tenth of its size."""
    path = tmp_path / "run"
    path.write_bytes(b"".join(rows("run", 1, 10**6)))
    of_dict = "{'q0': {f'document-0-{doc}': -float(doc) for doc in range(10**6)}}"
    given = repr(str(path)) if way == "file" else of_dict
    found = measure(
        f"""
        ev = rs.evaluate([("q0", "document-0-999999", 1)], {given}, ["RR", "NumRet"])
        value = [1 / ev["RR"], ev["NumRet"]]
        """
    )
    assert found.value == [10**6, 10**6]
    assert found.seconds < 10


def test_more_than_ten_million_documents_of_one_query_hit_a_limit(tmp_path: Path) -> None:
    """R20: the rows are one document again and again, but they are counted before."""
    chunk = lines(*["q1 Q0 d1 1 1 t"] * 10_000)
    with pipe_of(islice(repeat(chunk), 1001), tmp_path) as pipe:
        found = measure(f"rs.evaluate({QRELS!r}, {str(pipe)!r}, 'AP')")
    assert found.code == "max_group"
    assert found.line == 10**7 + 1
    assert found.seconds < 20


def test_queries_of_one_line_are_read_in_bounded_memory(tmp_path: Path) -> None:
    """D12, as text."""
    path = tmp_path / "qrels"
    path.write_bytes(b"".join(b"q%d 0 d 1\n" % query for query in range(300_000)))
    found = measure(f"value = rs.evaluate({str(path)!r}, {RUN!r}, 'NumQ')['NumQ']")
    assert found.value == 300_000
    assert found.memory < BASE + 4 * 2 * path.stat().st_size

"""Large inputs need memory that is bounded, or grows with their size at a stated rate."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

import pytest

from tests.inputs.carriers import pipe_of
from tests.inputs.entry import QRELS, RUN, lines
from tests.inputs.measured import MEGABYTE, SLACK, measure, measure_each

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CHUNK = 64 << 10


@pytest.mark.parametrize(
    ("role", "piece", "code"),
    [
        ("qrels", b"x" * CHUNK, "line_length"),
        ("run", b"x" * CHUNK, "line_length"),
        ("qrels", b"\0" * CHUNK, "nul_byte"),
        ("run", b"q \r" * CHUNK, "line_ending"),
    ],
)
def test_a_line_without_end_is_refused_before_it_is_held(
    role: str, piece: bytes, code: str, tmp_path: Path
) -> None:
    """The second writer never ends."""
    start = QRELS if role == "qrels" else RUN
    pieces = []
    with ExitStack() as pipes:
        for name, times in (("short", 64), ("endless", None)):
            folder = tmp_path / name
            folder.mkdir()
            line = repeat(piece) if times is None else repeat(piece, times)
            pipe = str(pipes.enter_context(pipe_of(chain([start], line), folder)))
            given = f"{pipe!r}, {RUN!r}" if role == "qrels" else f"{QRELS!r}, {pipe!r}"
            pieces.append(f"rs.evaluate({given}, 'AP')")
        short, endless = measure_each(*pieces)
    assert (short.code, short.line) == (code, start.count(b"\n") + 1)
    assert (endless.code, endless.line) == (short.code, short.line)
    assert endless.growth < SLACK


@pytest.mark.slow
def test_bytes_and_lines_are_counted_beyond_32_bits(tmp_path: Path) -> None:
    """The comments are as long as lines may be, so that little is to be done for each."""
    comment = b"# ".ljust(MEGABYTE - 1, b"x") + b"\n"
    count = (2**31 >> 20) + 300
    few = tmp_path / "few"
    few.write_bytes(comment * 30 + QRELS)
    with pipe_of(chain(repeat(comment, count), [QRELS, b"q3 0 d1\n"]), tmp_path) as pipe:
        _, found = measure_each(
            f"rs.read_qrels({str(few)!r})",
            f"""
            rs.read_qrels({str(pipe)!r}, progress=lambda done, _: globals().update(value=done))
            """,
        )
    assert (found.code, found.line) == ("field_count", count + 6)
    assert isinstance(found.value, int)
    assert found.value > 2**31
    assert found.growth < SLACK


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


def test_judgments_of_different_documents_take_four_times_their_size_at_most(
    tmp_path: Path,
) -> None:
    """There are a million of them."""
    paths = {queries: tmp_path / str(queries) for queries in (200, 1000)}
    for queries, path in paths.items():
        path.write_bytes(b"".join(rows("qrels", queries, 1000)))
    few, many = measure_each(
        *(f"value = len(rs.read_qrels({str(path)!r}).query_ids)" for path in paths.values())
    )
    assert [few.value, many.value] == [200, 1000]
    smaller, larger = (path.stat().st_size for path in paths.values())
    assert many.growth < 4 * (larger - smaller) + SLACK


def test_a_run_is_evaluated_in_memory_that_does_not_grow_with_it(tmp_path: Path) -> None:
    """The second run has a hundred megabytes more than the first."""
    paths = {parts: tmp_path / str(parts) for parts in (1, 8)}
    block = b"".join(rows("run", 500, 1000))
    for parts, path in paths.items():
        with path.open("wb") as file:
            for part in range(parts):
                file.write(block.replace(b"q", b"%dq" % part))
    judged = "[('0q1', 'document-1-0', 1)]"
    short, long = measure_each(
        *(
            f"value = rs.evaluate({judged}, {str(path)!r}, 'RR', threads=2)['RR']"
            for path in paths.values()
        )
    )
    assert [short.value, long.value] == [1.0, 1.0]
    smaller, larger = (path.stat().st_size for path in paths.values())
    assert larger - smaller > 100 * MEGABYTE
    assert long.growth < SLACK


@pytest.mark.parametrize("way", ["file", "dict"])
def test_a_million_documents_of_one_query_are_read(way: str, tmp_path: Path) -> None:
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


def test_more_than_ten_million_documents_of_one_query_hit_a_limit(tmp_path: Path) -> None:
    """The rows are one document again and again, but they are counted before."""
    chunk = lines(*["q1 Q0 d1 1 1 t"] * 10_000)
    with pipe_of(islice(repeat(chunk), 1001), tmp_path) as pipe:
        found = measure(f"rs.evaluate({QRELS!r}, {str(pipe)!r}, 'AP')")
    assert found.code == "max_group"
    assert found.line == 10**7 + 1


def test_queries_of_one_line_are_read_in_bounded_memory(tmp_path: Path) -> None:
    paths = {count: tmp_path / str(count) for count in (50_000, 300_000)}
    for count, path in paths.items():
        path.write_bytes(b"".join(b"q%d 0 d 1\n" % query for query in range(count)))
    few, many = measure_each(
        *(f"value = rs.evaluate({str(path)!r}, {RUN!r}, 'NumQ')['NumQ']" for path in paths.values())
    )
    assert [few.value, many.value] == list(paths)
    # The columns, the ids and the index of queries, while vectors double as they grow.
    assert many.growth < 300 * (300_000 - 50_000) + SLACK

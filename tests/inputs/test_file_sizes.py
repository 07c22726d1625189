"""Large tables in files need memory that doesn't grow with them."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain, repeat
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.inputs.carriers import pipe_of
from tests.inputs.entry import lines
from tests.inputs.measured import MEGABYTE, SLACK, measure, measure_each

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.inputs.measured import Measured

HEADER = lines("query_id,doc_id,relevance,score")


QUERIES, DOCS = 500, 100
ROWS = [(query, doc) for query in range(QUERIES) for doc in range(DOCS)]
PART = b"PART"
"""Stands for the number of a part, so that the texts of all parts are written once."""


def write_rows(form: str) -> bytes:
    """Write 500 queries of 100 documents, whose names begin with `PART`."""
    if form == "jsonl, lists":
        docs = ", ".join(f'{{"doc_id": "d{doc}", "relevance": {doc % 3}}}' for doc in range(DOCS))
        rows = [f'{{"query_id": "PART-{query}", "items": [{docs}]}}\n' for query in range(QUERIES)]
    elif form == "jsonl":
        rows = [
            f'{{"query_id": "PART-{query}", "doc_id": "document-{query}-{doc}", '
            f'"relevance": {doc % 3}, "score": {-doc}}}\n'
            for query, doc in ROWS
        ]
    else:
        rows = [f"PART-{query},document-{query}-{doc},{doc % 3},{-doc}\n" for query, doc in ROWS]
    text = "".join(rows).encode()
    return text.replace(b",document-0-", b',"document"-0-') if form == "csv, quoted" else text


def write_text(path: Path, form: str, parts: int) -> None:
    rows = write_rows(form)
    with path.open("wb") as file:
        file.write(HEADER if form.startswith("csv") else b"")
        for part in range(parts):
            file.write(rows.replace(PART, b"%d" % part))


def write_parquet(path: Path, parts: int) -> None:
    numbers = pa.array([query for query, _ in ROWS]).cast(pa.string())
    others = {
        "doc_id": pa.array([f"document-{query}-{doc}" for query, doc in ROWS]),
        "relevance": pa.array([doc % 3 for _, doc in ROWS]),
        "score": pa.array([float(-doc) for _, doc in ROWS]),
    }
    names = [pc.binary_join_element_wise(str(part), numbers, "-") for part in range(parts)]
    tables = [pa.table({"query_id": each, **others}) for each in names]
    with pq.ParquetWriter(
        path, tables[0].schema, compression="none", use_dictionary=False
    ) as writer:
        for table in tables:
            writer.write_table(table)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv, quoted", "jsonl", "jsonl, lists", "parquet"])
def test_a_table_is_evaluated_in_memory_that_does_not_grow_with_it(
    form: str, tmp_path: Path
) -> None:
    """The second file has a million rows more than the first."""
    paths = []
    for parts in (12, 32):
        path = tmp_path / f"{parts}.{form.split(',', maxsplit=1)[0]}"
        if form == "parquet":
            write_parquet(path, parts)
        else:
            write_text(path, form, parts)
        paths.append(str(path))
    found = measure(
        f"""
        small = [rs.evaluate({paths[0]!r}, ["RR", "NumQ"]) for _ in range(3)][0]
        first = peak()
        large = rs.evaluate({paths[1]!r}, ["RR", "NumQ"])
        value = [small["NumQ"], large["NumQ"], large["RR"], peak() - first]
        """
    )
    assert isinstance(found.value, list)
    *values, growth = found.value
    assert values == [6_000, 16_000, 1 / 2]
    assert growth < 40 * MEGABYTE, growth


def read_pipes(
    start: list[bytes], piece: bytes, sizes: Sequence[int], form: str, folder: Path
) -> list[Measured]:
    """Evaluate tables that end in so many copies of a piece, from pipes, in one process."""
    programs = []
    with ExitStack() as pipes:
        for size in sizes:
            place = folder / str(size)
            place.mkdir()
            pipe = pipes.enter_context(pipe_of(chain(start, repeat(piece, size)), place))
            table = f"rs.File({str(pipe)!r}, {form!r})"
            programs.append(f"rs.evaluate({table}, 'RR', assume_grouped=True)")
        return measure_each(*programs)


def test_a_quote_without_end_is_refused_before_its_field_is_held(tmp_path: Path) -> None:
    """The second field is twenty times as long as the first."""
    start = HEADER + lines('q1,"d1,1,1')
    short, long = read_pipes([start], b"q1,d2,1,1\n" * 6000, (50, 1000), "csv", tmp_path)
    assert (short.code, short.line, long.code) == ("unterminated_quote", 2, "line_length")
    assert long.growth < SLACK


@pytest.mark.slow
@pytest.mark.parametrize(("form", "piece"), [("csv", b"," * 65536), ("jsonl", b"[" * 65536)])
def test_a_line_without_end_is_refused_before_it_is_held(
    form: str, piece: bytes, tmp_path: Path
) -> None:
    """The second line is twice as long as the first; JSON may have longer ones."""
    starts = {"csv": HEADER, "jsonl": b'{"query_id": "q", "score": 1, "relevance": 1}\n'}
    sizes = (2500, 5000) if form == "jsonl" else (100, 5000)
    short, long = read_pipes([starts[form]], piece, sizes, form, tmp_path)
    assert short.code == long.code == "line_length"
    assert long.growth < SLACK


@pytest.mark.slow
def test_a_ranking_of_a_million_documents_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    docs = ", ".join(f'{{"id": {doc}, "rel": {int(doc == 999_999)}}}' for doc in range(10**6))
    path.write_text(f'{{"query": "q", "items": [{docs}]}}\n')
    found = measure(f"value = 1 / rs.evaluate({str(path)!r}, 'RR')['RR']")
    assert found.value == 10**6


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_text_that_swells_hits_a_limit(form: str, tmp_path: Path) -> None:
    start = HEADER if form == "csv" else b""
    line = b"q,d,1,1\n" if form == "csv" else write_rows(form).splitlines(keepends=True)[0]
    path = tmp_path / f"bomb.{form}.zst"
    text = start + line * (80 * MEGABYTE // len(line))
    path.write_bytes(pa.Codec("zstd").compress(text, asbytes=True))
    found = measure(f"rs.evaluate({str(path)!r}, 'RR', assume_grouped=True)")
    assert found.code == "decompressed_bytes"

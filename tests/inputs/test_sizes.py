"""Large inputs need memory that is bounded, or grows with their size at a stated rate."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain, islice, repeat

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.inputs.carriers import pipe_of
from tests.inputs.entry import QRELS, RUN, lines
from tests.inputs.measured import MEGABYTE, SLACK, measure, measure_each

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
def test_a_line_without_end_is_refused_before_it_is_held(role, piece, code, tmp_path):
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
def test_bytes_and_lines_are_counted_beyond_32_bits(tmp_path):
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


def rows(kind, queries, docs):
    """Write many rows, a query at a time."""
    for query in range(queries):
        if kind == "qrels":
            texts = (f"q{query} 0 document-{query}-{doc} {doc % 3}\n" for doc in range(docs))
        else:
            texts = (
                f"q{query} Q0 document-{query}-{doc} {doc + 1} {-doc} t\n" for doc in range(docs)
            )
        yield "".join(texts).encode()


def test_judgments_of_different_documents_take_four_times_their_size_at_most(tmp_path):
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


def test_a_run_is_evaluated_in_memory_that_does_not_grow_with_it(tmp_path):
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
def test_a_million_documents_of_one_query_are_read(way, tmp_path):
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


def test_more_than_ten_million_documents_of_one_query_hit_a_limit(tmp_path):
    """The rows are one document again and again, but they are counted before."""
    chunk = lines(*["q1 Q0 d1 1 1 t"] * 10_000)
    with pipe_of(islice(repeat(chunk), 1001), tmp_path) as pipe:
        found = measure(f"rs.evaluate({QRELS!r}, {str(pipe)!r}, 'AP')")
    assert found.code == "max_group"
    assert found.line == 10**7 + 1


def test_queries_of_one_line_are_read_in_bounded_memory(tmp_path):
    paths = {count: tmp_path / str(count) for count in (50_000, 300_000)}
    for count, path in paths.items():
        path.write_bytes(b"".join(b"q%d 0 d 1\n" % query for query in range(count)))
    few, many = measure_each(
        *(f"value = rs.evaluate({str(path)!r}, {RUN!r}, 'NumQ')['NumQ']" for path in paths.values())
    )
    assert [few.value, many.value] == list(paths)
    # The columns, the ids and the index of queries, while vectors double as they grow.
    assert many.growth < 300 * (300_000 - 50_000) + SLACK


HEADER = lines("query_id,doc_id,relevance,score")
QUERIES, DOCS = 500, 100
ROWS = [(query, doc) for query in range(QUERIES) for doc in range(DOCS)]
PART = b"PART"
"""Stands for the number of a part, so that the texts of all parts are written once."""


def write_rows(form):
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


def write_text(path, form, parts):
    rows = write_rows(form)
    with path.open("wb") as file:
        file.write(HEADER if form.startswith("csv") else b"")
        for part in range(parts):
            file.write(rows.replace(PART, b"%d" % part))


def write_parquet(path, parts):
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
def test_a_table_is_evaluated_in_memory_that_does_not_grow_with_it(form, tmp_path):
    """The second file has four million rows more than the first, which takes what both need."""
    paths = []
    for parts in (48, 128):
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
    assert values == [24_000, 64_000, 1 / 2]
    assert growth < 120 * MEGABYTE, growth  # these rows take 170 MB in Arrow


def read_pipes(start, piece, sizes, form, folder):
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


def test_a_quote_without_end_is_refused_before_its_field_is_held(tmp_path):
    """The second field is twenty times as long as the first."""
    start = HEADER + lines('q1,"d1,1,1')
    short, long = read_pipes([start], b"q1,d2,1,1\n" * 6000, (50, 1000), "csv", tmp_path)
    assert (short.code, short.line, long.code) == ("unterminated_quote", 2, "line_length")
    assert long.growth < 3 * SLACK


@pytest.mark.slow
@pytest.mark.parametrize(("form", "piece"), [("csv", b"," * 65536), ("jsonl", b"[" * 65536)])
def test_a_line_of_a_table_without_end_is_refused_before_it_is_held(form, piece, tmp_path):
    """Both lines are too long; JSON may have longer ones."""
    starts = {"csv": HEADER, "jsonl": b'{"query_id": "q", "score": 1, "relevance": 1}\n'}
    sizes = (2500, 5000) if form == "jsonl" else (100, 5000)
    short, long = read_pipes([starts[form]], piece, sizes, form, tmp_path)
    assert short.code == long.code == "line_length"
    longest = 128 * MEGABYTE  # of a row, which is held twice while it is joined
    assert long.growth < 2 * longest


@pytest.mark.slow
def test_a_ranking_of_a_million_documents_is_read(tmp_path):
    path = tmp_path / "one.jsonl"
    docs = ", ".join(f'{{"id": {doc}, "rel": {int(doc == 999_999)}}}' for doc in range(10**6))
    path.write_text(f'{{"query": "q", "items": [{docs}]}}\n')
    found = measure(f"value = 1 / rs.evaluate({str(path)!r}, 'RR')['RR']")
    assert found.value == 10**6


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_text_that_swells_hits_a_limit(form, tmp_path):
    start = HEADER if form == "csv" else b""
    line = b"q,d,1,1\n" if form == "csv" else write_rows(form).splitlines(keepends=True)[0]
    path = tmp_path / f"bomb.{form}.zst"
    text = start + line * (80 * MEGABYTE // len(line))
    path.write_bytes(pa.Codec("zstd").compress(text, asbytes=True))
    found = measure(f"rs.evaluate({str(path)!r}, 'RR', assume_grouped=True)")
    assert found.code == "decompressed_bytes"

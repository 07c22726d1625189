"""Damaged files of every format, fuzzed or made by hand, are a typed error or read."""

from __future__ import annotations

import bz2
import faulthandler
import gzip
import io
import json
import os
import random
import signal
import struct
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope._cli import main

from dev.fuzz.targets import SEEDS, TARGETS
from tests.inputs.carriers import pack_zstd
from tests.inputs.tabled import parquet_of


def outcomes_of(acts):
    """Do things one after another in a child of this process, and in another one where it ends."""
    waiting = list(acts)
    outcomes = []
    while len(outcomes) < len(waiting):
        outcomes += _do_until_one_ends(waiting[len(outcomes) :])
    return outcomes


def _do_until_one_ends(acts):
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        for act in acts:
            signal.alarm(60)  # or what hangs would hang the tests
            os.write(writer, json.dumps(_do(act)).encode() + b"\n")
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        outcomes = [str(json.loads(line)) for line in answer]
    status = os.waitpid(child, 0)[1]
    return outcomes if status == 0 else [*outcomes, f"signal {os.WTERMSIG(status)}"]


def _do(act):
    try:
        act()
    except rs.RankscopeError as error:
        return error.code if error.file else f"{error.code} without a file"
    except BaseException as error:  # noqa: BLE001 - it is named
        return f"{type(error).__name__}: {error}"[:500]
    return "ok"


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


def long_texts(rows, bytes_of_each):
    """Few long texts that many rows share, one run after another."""
    texts = [f"{number}-{'x' * bytes_of_each}" for number in range(16)]
    codes = np.sort(np.arange(rows, dtype=np.int32) % 16)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(texts))


def flat(rows, bytes_of_each):
    numbers = pa.array(np.zeros(rows))
    queries = long_texts(rows, bytes_of_each)
    return pa.table({"query": queries, "score": numbers, "relevance": numbers})


def nested(rows, bytes_of_each):
    def in_one_list(values):
        return pa.ListArray.from_arrays(pa.array([0, rows], pa.int32()), values)

    numbers = in_one_list(pa.array(np.zeros(rows)))
    docs = in_one_list(long_texts(rows, bytes_of_each))
    return pa.table({"query": ["q"], "doc": docs, "score": numbers, "relevance": numbers})


def nulls(rows, _):
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
    tmp_path, make, rows, bytes_of_each, *, has_schema
):
    """Written out, each has gigabytes; PyArrow takes as much again while it decodes them."""
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
    assert int(most) < 900 << 20


def test_a_small_arrow_file_takes_little_memory():
    queries = long_texts(2_000_000, 5_000)
    table = flat(2_000_000, 5_000).append_column("doc", queries)
    for data in (ipc_of(table, "zstd"), ipc_of(nulls_of_nothing(2**31 - 1))):
        assert len(data) < 1_000_000
        assert refusal_of(data, "arrow").code == "decompressed_bytes"


def nulls_of_nothing(rows):
    """A column of nulls, which has no memory at all."""
    column = pa.Array.from_buffers(pa.null(), rows, [None])
    return pa.table(dict.fromkeys(COLUMNS, column))


def ipc_of(table, compression=None, *, is_stream=False, rows=None):
    buffer, options = io.BytesIO(), pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_stream if is_stream else pa.ipc.new_file
    with make(buffer, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return buffer.getvalue()


def evaluate(data, form):
    return rs.evaluate(rs.File(data, form), "nDCG@10", policy="ties=doc_id", **COLUMNS)


def refusal_of(data, form):
    with pytest.raises(rs.RankscopeError) as caught:
        evaluate(data, form)
    return caught.value


def test_lists_whose_texts_have_several_dictionaries_are_read():
    """Writers give up a dictionary that grows too large, in the middle of a batch."""
    docs = [[f"d{number}-{place}" for place in range(3)] for number in range(2000)]
    lists = {"doc": docs, "score": [[3, 2, 1]] * 2000, "relevance": [[1, 0, 0]] * 2000}
    table = pa.table({"query": [f"q{number}" for number in range(2000)], **lists})
    for settings in (
        {"dictionary_pagesize_limit": 100, "data_page_size": 64},
        {"row_group_size": 7},
    ):
        assert evaluate(parquet_of(table, **settings), "parquet")["nDCG@10"] == 1.0


def lines_of(objects):
    return "".join(json.dumps(each) + "\n" for each in objects).encode()


def row(number, **others):
    document = {"query": "q", "doc": f"d{number}", "score": -number, "relevance": number % 2}
    return document | others


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "lines"), [(400_000, 2), (100_000, 100_000)])
def test_json_objects_of_many_keys_are_read_in_one_pass(keys, lines):
    """With the square of the keys, or keys times lines, this would take hours."""
    first = row(0, **dict.fromkeys(map(str, range(keys)), 1), last=None)
    text = lines_of([first, *map(row, range(1, lines))])
    assert evaluate(text, "jsonl").counts.queries == 1


def test_a_command_ends_with_status_3_at_a_damaged_file(tmp_path, capsys):
    path = tmp_path / "damaged.parquet"
    data = parquet_of(TABLE, compression="none", write_statistics=False)
    path.write_bytes(data[: len(data) // 2] + b"\xff" * 40 + data[len(data) // 2 + 40 :])
    names = [f"--col={role}={name}" for role, name in COLUMNS.items()]
    assert main(["eval", str(path), "-m", "nDCG@10", *names]) == 3
    assert str(path) in capsys.readouterr().err


RUST = {path.stem for path in (SEEDS.parent / "fuzz_targets").glob("*.rs")}
CASES = [path for path in sorted(SEEDS.glob("*/*")) if path.parent.name in TARGETS]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_seed_is_read_or_refused(path):
    TARGETS[path.parent.name](path.read_bytes())


def test_every_target_has_seeds_and_all_seeds_a_target():
    assert {path.name for path in SEEDS.iterdir()} == RUST | TARGETS.keys()
    assert not RUST & TARGETS.keys()
    assert {path.parent.name for path in CASES} == TARGETS.keys()


SOME_ROWS = [(f"q{row // 20}", f"döc{row}", row * 7 % 20 / 4, float(row % 3)) for row in range(60)]
NAMES = ["query_id", "doc_id", "score", "relevance"]
PLAIN = pa.table(dict(zip(NAMES, map(list, zip(*SOME_ROWS, strict=True)), strict=True)))
CODED = PLAIN
for at in (0, 1):
    CODED = CODED.set_column(at, NAMES[at], CODED.column(at).dictionary_encode())
LISTS = pa.table(
    {
        "query_id": ["q0", "q1", "q2"],
        "results": [PLAIN.select(NAMES[1:]).slice(at, 20).to_pylist() for at in (0, 20, 40)],
    }
)
RUN = {f"q{query}": {doc: score for _, doc, score, _ in SOME_ROWS} for query in range(3)}
HUGE = [2**40, 2**63 - 1, 2**31 - 1, -1]


def delimited(sign):
    return "".join(f"{sign.join(map(str, row))}\n" for row in [NAMES, *SOME_ROWS]).encode()


def json_lines(table):
    return "".join(f"{json.dumps(row)}\n" for row in table.to_pylist()).encode()


LETOR = "".join(
    f"{grade} qid:{query} # docid = {doc}\n" for query, doc, _, grade in SOME_ROWS
).encode()
FILES = {
    "csv": [delimited(","), gzip.compress(delimited(","), mtime=0)],
    "tsv": [delimited("\t"), bz2.compress(delimited("\t"))],
    "jsonl": [json_lines(PLAIN), json_lines(LISTS), pack_zstd(json_lines(PLAIN))],
    "letor": [LETOR, gzip.compress(LETOR, mtime=0)],
    "parquet": [
        parquet_of(CODED, row_group_size=20),
        parquet_of(LISTS, data_page_version="2.0", row_group_size=1),
        parquet_of(PLAIN, use_dictionary=False, compression="none", write_page_checksum=True),
    ],
    "arrow": [
        *(
            ipc_of(table, is_stream=is_stream, rows=20)
            for table in (CODED, LISTS)
            for is_stream in (False, True)
        ),
        ipc_of(PLAIN, "lz4", rows=20),
    ],
}


def damage(good, others, choose):
    """Damage a file in each of several ways. Half of it is at the end, where lengths stand."""
    at = choose.choice([choose.randrange(len(good)), -choose.randrange(1, len(good) // 3)])
    at %= len(good)
    other = choose.choice(others)
    huge = struct.pack("<q", choose.choice(HUGE))
    yield good[:at] + bytes([good[at] ^ 1 << choose.randrange(8)]) + good[at + 1 :]
    yield good[:at] + choose.choice([b"\xff", b"\x7f", b"\xc3", b'"']) + good[at + 1 :]
    yield good[:at]
    yield good[: at + 64] + good[at:]
    yield good[:at] + bytes(64) + good[at + 64 :]
    yield good[:at] + other[at * len(other) // len(good) :]
    yield good[: at - at % 8] + huge + good[at - at % 8 + 8 :]
    yield good[:at] + huge[:5] + good[at:]


def read(data, form):
    file = rs.File(data, form)
    measures = ["RR", "nDCG@10"]
    rs.evaluate(file, RUN, measures) if form == "letor" else rs.evaluate(file, measures)


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", FILES)
def test_a_damaged_file_is_read_or_refused(form, rounds):
    faulthandler.enable()
    choose, files = random.Random(rounds), FILES[form]
    damaged = [bad for _ in range(rounds) for good in files for bad in damage(good, files, choose)]
    outcomes = outcomes_of(partial(read, data, form) for data in [*files, *damaged])
    assert set(outcomes[: len(files)]) == {"ok"}
    assert sum(outcome != "ok" for outcome in outcomes) > len(outcomes) // 4
    # What is no typed error with a file has a space in it.
    assert [outcome for outcome in outcomes if " " in outcome] == []


ARROW_ROWS = 4


def pack(*numbers, code="i"):
    return pa.py_buffer(struct.pack(f"<{len(numbers)}{code}", *numbers))


def texts(kind, *offsets, text=b"hello"):
    code = "q" if kind in {pa.large_string(), pa.large_binary()} else "i"
    buffers = [None, pack(*offsets, code=code), pa.py_buffer(text)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def views(kind, buffer, start):
    one = b"".join(struct.pack("<i4sii", 20, b"abcd", buffer, start) for _ in range(ARROW_ROWS))
    return pa.Array.from_buffers(
        kind, ARROW_ROWS, [None, pa.py_buffer(one), pa.py_buffer(b"x" * 30)]
    )


def coded(*codes, values=None):
    values = pa.array(["a", "b"]) if values is None else values
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), values, safe=False)


def damaged_columns():
    """Columns of which no library may read all values."""
    back = texts(pa.string(), 0, 2**30, 2, 3, 4)
    return {
        "offset before the text": texts(pa.string(), 0, -5, 3, 4, 5),
        "offset after the text": back,
        "offset of 64 bits after the text": texts(pa.large_string(), 0, 2**50, 2, 3, 4),
        "bytes after the buffer": texts(pa.binary(), 0, 2**30, 2, 3, 4),
        "large bytes after the buffer": texts(pa.large_binary(), 0, 2**50, 2, 3, 4),
        "slice": texts(pa.string(), 0, 1, 2, 2**30, 3, 4, 5).slice(1, ARROW_ROWS),
        "no UTF-8": texts(pa.string(), 0, 1, 2, 3, 4, text=b"\xff\xfe\xfd\xfc"),
        "view of no buffer": views(pa.string_view(), 9, 0),
        "view after its buffer": views(pa.string_view(), 0, 10**8),
        "view of bytes": views(pa.binary_view(), 0, 10**8),
        "code after the dictionary": coded(0, 1, 2**30, 1),
        "code before the dictionary": coded(0, 1, -7, 1),
        "damaged dictionary": coded(0, 1, 2, 3, values=back),
    }


DAMAGED = damaged_columns()


class Capsule:
    """What gives Arrow through the C interface, and is no PyArrow."""

    def __init__(self, inside):
        self._inside = inside

    def __getattr__(self, name):
        if name in {"__arrow_c_array__", "__arrow_c_stream__"}:
            return getattr(self._inside, name)
        raise AttributeError(name)


ARROW_NAMES = {"query": "query", "doc": "doc", "score": "score", "relevance": "relevance"}


def list_ways(column):
    """Return each way into the package that takes a column, by name."""
    numbers = pa.array(np.arange(ARROW_ROWS) * 1.0)
    good = {
        "query": pa.array(["q"] * ARROW_ROWS),
        "doc": pa.array([f"d{row}" for row in range(ARROW_ROWS)]),
        "score": numbers,
        "relevance": numbers,
    }

    def table(**others):
        return pa.table(good | others)

    def evaluate(given, **others):
        return rs.evaluate(given, "nDCG@10", **(ARROW_NAMES | others))

    for role in ARROW_NAMES:
        yield f"table with {role}", lambda role=role: evaluate(table(**{role: column}))
    yield "attribute", lambda: evaluate(table(country=column), by="country")
    yield "stream", lambda: evaluate(Capsule(table(doc=column)))
    yield "array", lambda: evaluate(good | {"doc": Capsule(column)})
    yield "chunks", lambda: evaluate(good | {"doc": pa.chunked_array([column])})
    yield (
        "judgments",
        lambda: rs.evaluate(table(doc=column).drop("score"), table().drop("relevance"), "AP"),
    )
    judged = {"q": {"d0": 1}}
    for role in ("query", "doc"):
        run = table(**{role: column}).drop("relevance")
        yield f"run with {role}", lambda run=run: rs.evaluate(judged, run, "AP")
    inside = pd.arrays.ArrowExtensionArray(pa.chunked_array([column]))
    yield "pandas", lambda: evaluate(pd.DataFrame({**table().to_pydict(), "doc": inside}))
    yield (
        "labels",
        lambda: evaluate(table(labels=column), relevance=None, labels="labels", positive={"a": 1}),
    )
    yield "grades", lambda: rs.ndcg(column)
    yield "groups", lambda: rs.Rankings.from_groups(column, numbers, numbers)


WAYS = [name for name, _ in list_ways(pa.array(["a"] * ARROW_ROWS))]


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_column_is_refused(way):
    outcomes = outcomes_of(dict(list_ways(column))[way] for column in DAMAGED.values())
    assert dict(zip(DAMAGED, outcomes, strict=True)) == dict.fromkeys(DAMAGED, "column_damaged")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_good_columns_are_read_as_before(kind):
    docs = pa.array(["a", "b", "c", "d"]).cast(kind)
    table = {
        "query": ["q"] * ARROW_ROWS,
        "doc": docs,
        "score": [4, 3, 2, 1],
        "relevance": [1, 0, 0, 0],
    }
    for column in (docs, Capsule(docs), pl.Series(["a", "b", "c", "d"]), docs.slice(0)):
        found = rs.evaluate(table | {"doc": column}, "RR", policy="ties=doc_id", **ARROW_NAMES)
        assert found["RR"] == 1.0

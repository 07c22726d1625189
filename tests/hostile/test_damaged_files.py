"""A damaged file is a typed error, or says something else: it never ends the process."""

from __future__ import annotations

import bz2
import faulthandler
import gzip
import io
import json
import random
import struct
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs

from tests.hostile.children import outcomes_of
from tests.inputs.carriers import pack_zstd

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = [(f"q{row // 20}", f"döc{row}", row * 7 % 20 / 4, float(row % 3)) for row in range(60)]
NAMES = ["query_id", "doc_id", "score", "relevance"]
PLAIN = pa.table(dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True)))
CODED = PLAIN
for at in (0, 1):
    CODED = CODED.set_column(at, NAMES[at], CODED.column(at).dictionary_encode())
LISTS = pa.table(
    {
        "query_id": ["q0", "q1", "q2"],
        "results": [PLAIN.select(NAMES[1:]).slice(at, 20).to_pylist() for at in (0, 20, 40)],
    }
)
RUN = {f"q{query}": {doc: score for _, doc, score, _ in ROWS} for query in range(3)}
HUGE = [2**40, 2**63 - 1, 2**31 - 1, -1]


def parquet(table: pa.Table, **settings: object) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **settings)
    return buffer.getvalue()


def ipc(table: pa.Table, compression: str | None = None, *, is_stream: bool = False) -> bytes:
    buffer, options = io.BytesIO(), pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_stream if is_stream else pa.ipc.new_file
    with make(buffer, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=20)
    return buffer.getvalue()


def delimited(sign: str) -> bytes:
    return "".join(f"{sign.join(map(str, row))}\n" for row in [NAMES, *ROWS]).encode()


def json_lines(table: pa.Table) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in table.to_pylist()).encode()


LETOR = "".join(f"{grade} qid:{query} # docid = {doc}\n" for query, doc, _, grade in ROWS).encode()
FILES: dict[str, list[bytes]] = {
    "csv": [delimited(","), gzip.compress(delimited(","), mtime=0)],
    "tsv": [delimited("\t"), bz2.compress(delimited("\t"))],
    "jsonl": [json_lines(PLAIN), json_lines(LISTS), pack_zstd(json_lines(PLAIN))],
    "letor": [LETOR, gzip.compress(LETOR, mtime=0)],
    "parquet": [
        parquet(CODED, row_group_size=20),
        parquet(LISTS, data_page_version="2.0", row_group_size=1),
        parquet(PLAIN, use_dictionary=False, compression="none", write_page_checksum=True),
    ],
    "arrow": [
        *(
            ipc(table, is_stream=is_stream)
            for table in (CODED, LISTS)
            for is_stream in (False, True)
        ),
        ipc(PLAIN, "lz4"),
    ],
}


def damage(good: bytes, others: list[bytes], choose: random.Random) -> Iterator[bytes]:
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


def read(data: bytes, form: str) -> None:
    file: Any = rs.File(data, form)  # type: ignore[arg-type]  # a format
    measures = ["RR", "nDCG@10"]
    rs.evaluate(file, RUN, measures) if form == "letor" else rs.evaluate(file, measures)


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", FILES)
def test_a_damaged_file_is_read_or_refused(form: str, rounds: int) -> None:
    faulthandler.enable()
    choose, files = random.Random(rounds), FILES[form]
    damaged = [bad for _ in range(rounds) for good in files for bad in damage(good, files, choose)]
    outcomes = outcomes_of(partial(read, data, form) for data in [*files, *damaged])
    assert set(outcomes[: len(files)]) == {"ok"}
    assert sum(outcome != "ok" for outcome in outcomes) > len(outcomes) // 4
    # What is no typed error with a file has a space in it.
    assert [outcome for outcome in outcomes if " " in outcome] == []

"""Packed files, paths that are no plain files, and files that somebody else changes."""

from __future__ import annotations

import gzip
import os
import socket
from copy import deepcopy
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import rankscope as rs

from tests.inputs.carriers import PACKINGS, meanwhile, pack_zstd
from tests.inputs.entry import QRELS, RUN
from tests.inputs.measured import MEGABYTE, SLACK, measure_each
from tests.inputs.outcome import MEASURES, outcome_of
from tests.interpreter import run_python

ROLES = ("qrels", "run")
FILES = {"qrels": QRELS, "run": RUN, "table": b"qid,doc,label,score\n"}
"""What files begin with; a table in columns is read by other code than text is."""
ROWS = {"qrels": b"q%d 0 d1 1\n", "run": b"q%d Q0 d1 1 1 t\n", "table": b"q%d,d1,1,1\n"}


def evaluate(role, odd, progress=None):
    """Evaluate with something odd in one role; on one thread, so that reading is in order."""
    if role == "run":
        return outcome_of(lambda: rs.evaluate(QRELS, odd, "AP", threads=1, progress=progress))
    if role == "table":
        return outcome_of(
            lambda: rs.evaluate(rs.File(odd, "csv"), "AP", assume_grouped=True, progress=progress)
        )
    return outcome_of(lambda: rs.evaluate(rs.read_qrels(odd, progress=progress), RUN, "AP"))


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def make_folder_of_a_file(path):
    path.parent.rmdir()
    path.parent.write_bytes(QRELS)


@pytest.mark.parametrize("role", FILES)
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.mkdir(), "directory"),
        (lambda path: path.symlink_to("nowhere"), "no "),
        (lambda path: path.symlink_to(path.name), "symbolic links"),
        (lambda path: None, "no such file"),  # noqa: ARG005 - there is nothing
        (make_socket, "No such device"),
        (make_folder_of_a_file, "Not a directory"),
    ],
    ids=["folder", "broken link", "loop", "nothing", "socket", "folder that is a file"],
)
def test_what_is_no_file_is_refused(role, make, said, tmp_path):
    path = tmp_path / "folder" / "odd"
    path.parent.mkdir()
    make(path)
    found = evaluate(role, path)
    assert found.code == "io"
    assert said.lower() in found.message.lower()
    assert found.location == str(path)
    assert found.hint


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/dev/zero", "nul_byte"),  # which never ends
        ("/dev/null", "empty_input"),
        ("a\0b", "io"),
        ("x" * 5000, "io"),
        ("\ud800", "input_type"),
    ],
    ids=["zeros", "nothing", "a byte of 0", "too long", "half a character"],
)
def test_a_device_or_a_path_that_no_file_can_have_is_refused(role, path, code):
    found = evaluate(role, path)
    place = 1 if path == "/dev/zero" else None
    assert (found.code, found.line, found.column) == (code, place, place)


def test_a_file_without_permission_is_refused(tmp_path):
    """Root may read anything, so the process becomes somebody else."""
    path = tmp_path / "secret"
    path.write_bytes(QRELS)
    path.chmod(0)
    program = f"""
import os, rankscope as rs
rs.evaluate({QRELS!r}, {RUN!r}, "AP")
if os.geteuid() == 0:
    os.setuid(65534)
try:
    rs.evaluate({str(path)!r}, {RUN!r}, "AP")
except rs.errors.FileError as error:
    print(error.code, error.message)
"""
    assert run_python(program) == "io no permission to read it\n"


def test_a_descriptor_by_its_path_is_read(tmp_path):
    path = tmp_path / "qrels"
    path.write_bytes(QRELS)
    with path.open("rb") as file:
        assert evaluate("qrels", f"/dev/fd/{file.fileno()}") == evaluate("qrels", QRELS)


def grow(path, row):
    with path.open("ab") as file:
        file.write(row)


CHANGES = {
    "shrinks": lambda path, _: os.truncate(path, path.stat().st_size // 2),
    "grows": grow,
    "is written again": lambda path, _: os.utime(path, (2, 2)),
}


@cache
def make_large(role):
    """Write more lines than fit into what is read before the first look."""
    count = 600_000 if role == "table" else 200_000  # tables are read in larger blocks
    return FILES[role] + b"".join(ROWS[role] % query for query in range(10, count))


def once(act):
    """Make a progress that acts at its first call, when most is still to be read."""
    pending = [act]

    def look(done, total):
        if pending:
            assert total is not None
            assert 0 < done < total / 2
            pending.pop()()

    return look


@pytest.mark.parametrize("role", [*FILES, "packed run"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_while_it_is_read_is_refused(role, change, tmp_path):
    """The first progress that is reported comes before all is read."""
    packing, _, role = role.rpartition(" ")
    path = tmp_path / "changing"
    path.write_bytes(gzip.compress(make_large(role), 0) if packing else make_large(role))
    os.utime(path, (1, 1))
    row = b"q9" if packing else ROWS[role] % 9
    found = evaluate(role, path, once(lambda: CHANGES[change](path, row)))
    is_cut = packing and found.code == "compressed_truncated"
    assert is_cut or found.code == "changed_while_reading"
    assert (found.by_query, found.location) == ({}, str(path))


@pytest.mark.parametrize("role", ROLES)
def test_a_file_that_is_only_moved_or_removed_while_it_is_read_is_read(role, tmp_path):
    path = tmp_path / "moving"
    path.write_bytes(make_large(role))
    found = evaluate(role, path, once(path.unlink))
    assert not path.exists()
    assert not found.code


QUERIES = 6_000
DOCS = 64
"""Together, more numbers than the core holds before it calls a measure in Python (2^18), which it
therefore does while lists remain to be read."""
MANY_RUN = {f"q{query}": {f"d{doc}": float(doc) for doc in range(DOCS)} for query in range(QUERIES)}
FEW = dict(list(MANY_RUN.items())[:100])
"""Rows are read before anything is evaluated, however many they are."""
MANY_QRELS = {query: {f"d{DOCS - 1}": 1} for query in MANY_RUN}


CONTAINERS = {
    "dicts of dicts": lambda: (deepcopy(MANY_QRELS), deepcopy(MANY_RUN)),
    "dicts of lists": lambda: (
        {query: list(docs) for query, docs in MANY_QRELS.items()},
        {query: [f"d{doc}" for doc in reversed(range(DOCS))] for query in MANY_RUN},
    ),
    "lists of rows": lambda: (
        [[query, f"d{DOCS - 1}", 1] for query in FEW],
        [[query, doc, score] for query, docs in FEW.items() for doc, score in docs.items()],
    ),
}


def clear(given):
    for inner in list(given.values() if isinstance(given, dict) else given):
        inner.clear()
    given.clear()


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_measure_in_python_may_clear_what_is_evaluated(name):
    qrels, run = CONTAINERS[name]()
    calls = 0

    def clear_and_look(grades):
        nonlocal calls
        calls += 1
        clear(qrels)
        clear(run)
        return float(grades[0])

    measure = rs.measure("ClearAndLook", clear_and_look, better="higher")
    found = rs.evaluate(qrels, run, ["P@1", measure])
    assert (found["P@1"], found[measure]) == (1.0, 1.0)
    assert calls == (len(FEW) if name == "lists of rows" else QUERIES)
    assert not qrels
    assert not run


COLUMNS = 20_000
GROUPS = 200


def table_of(columns, kind):
    """The columns as a table that shares their memory."""
    if kind == "pandas":
        return pd.DataFrame(columns, copy=False)
    if kind == "Arrow":
        return pa.table(
            {
                name: pa.Array.from_buffers(
                    pa.from_numpy_dtype(column.dtype),
                    len(column),
                    [None, pa.py_buffer(column)],
                )
                for name, column in columns.items()
            }
        )
    return columns


CALLS = {
    "evaluate": lambda table: rs.evaluate(table, table, ["RR", "nDCG@10"]),
    "evaluate_table": lambda table: rs.evaluate(table, ["RR", "nDCG@10"]),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["NumPy", "pandas", "Arrow"])
@pytest.mark.parametrize("number", [np.float64, np.float32, np.int32])
def test_a_table_may_be_written_to_while_it_is_read(call, kind, number):
    """A value is between 0 and 1, whichever numbers it is computed of, or the rows are refused."""
    documents = np.arange(COLUMNS)
    columns = {
        "query_id": documents // (COLUMNS // GROUPS),
        "doc_id": documents.copy(),
        "relevance": np.ones(COLUMNS, number),
        "score": np.ones(COLUMNS, number),
    }
    table = table_of(columns, kind)
    generator = np.random.default_rng(8)
    queries = columns["query_id"].copy()

    def write():
        columns["query_id"][:] = generator.permutation(queries)
        columns["doc_id"][:] = documents * generator.choice([1, 1 << 40])
        columns["relevance"][:] = generator.integers(0, 400, COLUMNS)
        columns["score"][:] = generator.integers(-5, 5, COLUMNS)

    with meanwhile(write):
        for _ in range(4):
            try:
                found = CALLS[call](table)
            except rs.errors.RankscopeError as error:
                assert error.code  # noqa: PT017 - either outcome is right
                continue
            assert 0 <= found["RR"] <= 1
            assert 0 <= found["nDCG@10"] <= 1 + 1e-12


PACKED = [name for name in PACKINGS if name != "file"]
LARGE_RUN = "".join(
    f"q{query} Q0 d{doc * 7919 % 99991} {doc} {-doc} t\n"
    for query in range(1, 101)
    for doc in range(1, 201)
).encode()


def evaluate_packed(qrels, run=RUN):
    return outcome_of(lambda: rs.evaluate(qrels, run, MEASURES, threads=2))


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("name", ["qrels", "qrels.txt", "qrels.gz", "qrels.zst", "qrels.bz2"])
def test_packing_is_told_by_the_first_bytes_and_not_by_the_name(packing, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(PACKINGS[packing](QRELS))
    assert evaluate_packed(path) == evaluate_packed(QRELS)
    path.write_bytes(QRELS)
    assert evaluate_packed(path) == evaluate_packed(QRELS)


@pytest.mark.parametrize("text", ["BZh91AY 0 d1 1\n", "BZh91 0 d1 1\n", "BZh9 0 d1 1\n"])
def test_an_id_that_begins_as_packed_data_does_is_text(text):
    assert not evaluate_packed(QRELS + text.encode()).code
    assert not evaluate_packed(text.encode() + QRELS).code


@pytest.mark.parametrize("packing", PACKED)
def test_nothing_of_a_cut_file_is_taken(packing):
    packed = PACKINGS[packing](LARGE_RUN)
    for cut in (len(packed) - 1, len(packed) - 5, len(packed) // 2, 64, 20):
        found = evaluate_packed(QRELS, packed[:cut])
        assert (found.code, found.by_query) == ("compressed_truncated", {}), cut
        assert "fetch the file again" in found.hint
        assert found.location == "<bytes>"


@pytest.mark.parametrize("packing", ["gzip", "bzip2"])
def test_nothing_of_a_damaged_file_is_taken(packing):
    """Both formats end with a checksum; zstd frames need not."""
    packed = bytearray(PACKINGS[packing](LARGE_RUN))
    packed[-6] ^= 0x55
    assert evaluate_packed(QRELS, bytes(packed)).code == "compressed_truncated"
    packed[len(packed) // 2] ^= 0x55
    found = evaluate_packed(QRELS, bytes(packed))
    assert found.code  # what it unpacks to may be refused before the checksum is reached
    assert not found.by_query


@pytest.mark.parametrize("packing", PACKED)
def test_packed_pieces_one_after_another_are_one_text(packing):
    pack = PACKINGS[packing]
    half = len(RUN) // 2
    assert evaluate_packed(QRELS, pack(RUN[:half]) + pack(RUN[half:])) == evaluate_packed(QRELS)


def test_a_thousand_gzip_members_are_read_and_more_are_not():
    empty = gzip.compress(b"")
    assert evaluate_packed(empty * 999 + gzip.compress(QRELS)) == evaluate_packed(QRELS)
    for count in (1000, 1_000_000):
        found = evaluate_packed(empty * count + gzip.compress(QRELS))
        assert found.code == "gzip_members"
        assert "1000" in found.message


def test_a_frame_that_may_be_skipped_is_skipped():
    skipped = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    assert evaluate_packed(skipped + pack_zstd(QRELS)) == evaluate_packed(QRELS)


def test_what_follows_or_is_in_a_packed_file_is_not_passed_over():
    packed = gzip.compress(QRELS)
    assert evaluate_packed(packed + b"q3 0 d1 1\n").code == "compressed_truncated"
    assert evaluate_packed(gzip.compress(packed)).code == "encoding"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "line", "packing"),
    [
        ("qrels", "q1 0 d1 1\n", "gzip"),
        ("run", "q1 Q0 d1 1 1.5 t\n", "zstd"),
        ("run", "q1 Q0 d1 1 1.5 t\n", "bzip2"),
    ],
)
def test_a_file_that_swells_hits_a_limit_in_bounded_memory(role, line, packing, tmp_path):
    pack = gzip.compress if packing == "gzip" else PACKINGS[packing]  # of level 9
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


def test_a_file_of_one_packed_line_without_end_hits_a_limit(tmp_path):
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
def test_blank_lines_hit_a_limit_however_little_they_are_packed(form):
    """Zlib makes one byte of 229 blank lines at its fastest, and of 1029 otherwise."""
    packed = gzip.compress(b"\n" * MEGABYTE, 1) * 70
    found = outcome_of(lambda: rs.evaluate(QRELS, rs.File(packed, form), "AP"))
    assert found.code == "decompressed_bytes"

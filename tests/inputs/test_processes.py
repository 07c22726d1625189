"""Threads, processes and memory, and errors that are always rankscope's."""

from __future__ import annotations

import fractions
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs

from tests.inputs.entry import QRELS, QRELS_ROWS, RUN, RUN_ROWS
from tests.inputs.measured import MEGABYTE, measure
from tests.inputs.outcome import MEASURES, expected_values
from tests.interpreter import run_python

EXPECTED = expected_values(QRELS_ROWS, RUN_ROWS)


@pytest.mark.slow
def test_memory_does_not_grow_from_call_to_call():
    """Of lists, files, tables and arrays, also where the calls fail."""
    found = measure(
        f"""
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        import numpy as np, pandas as pd, polars as pl, pyarrow as pa
        columns = {{"qid": [1, 1, 2] * 50, "label": [2, 0, 1] * 50, "score": [3.0, 2.0, 1.0] * 50}}
        frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), columns]
        matrix = np.arange(40.0).reshape(8, 5) % 3

        def refused(act):
            try:
                act()
            except rs.errors.FormatError:
                pass

        def call():
            lists = {{"q1": {{"d1": 2.0, "d2": 1.0}}}}
            rs.evaluate({{"q1": {{"d1": 1}}}}, lists, ["nDCG@10", "AP"]).to_dict()
            rs.evaluate({QRELS!r}, {RUN!r}, ["nDCG@10", "AP"], threads=2)
            rs.evaluate([("q1", "d1", 1)], [(1, 2, 3), ("q1", "d1", 1)], "RR")
            refused(lambda: rs.evaluate({{"q1": {{"d1": 1}}}}, {{"q1": {{"d1": "x"}}}}, "AP"))
            for frame in frames:
                rs.Rankings.from_table(frame).evaluate("nDCG@10").to_dict()
            refused(lambda: rs.Rankings.from_table(columns | {{"qid": [None] * 150}}))
            rs.ndcg_score(matrix, matrix, k=3)
            rs.ndcg([3, 2, 1], k="all")
            rs.Rankings.from_groups(matrix[0], matrix[1], [5]).relevance.sum()
            rs.Rankings.from_lists([[3, 2], [1]]).evaluate("AP").to_dict()
            refused(lambda: rs.ndcg_score([[1, "x"]], matrix))

        for _ in range(100):
            call()
        before = resident()
        for _ in range(400):
            call()
        value = resident() - before
        """
    )
    assert isinstance(found.value, int)
    assert found.value < MEGABYTE // 2, "two kilobytes a call would show"


def test_many_threads_may_evaluate_at_once(tmp_path):
    """Over one set of judgments, in all ways."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    qrels = rs.read_qrels(QRELS)
    barrier = threading.Barrier(8)

    def evaluate(number):
        barrier.wait()
        ways = (path, RUN, list(RUN_ROWS))
        given = ways[number % 3]
        return [
            rs.evaluate(qrels, given, MEASURES, threads=1 + number % 2).to_dict() for _ in range(50)
        ]

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(evaluate, range(8)):
            assert found == [EXPECTED] * 50


def test_an_evaluation_may_be_asked_for_while_another_reads():
    """The rows of one come from the other."""

    def rows():
        inner = rs.evaluate(QRELS, RUN, "RR")["RR"]
        yield "q1", "d1", 4 * inner  # the grade that stands there
        yield from QRELS_ROWS[1:]

    found = rs.evaluate(rows(), RUN, "RR")
    assert found["RR"] == rs.evaluate(QRELS, RUN, "RR")["RR"]


FORKS = """
import os
ask = lambda: [each() for each in asked]
assert ask() == [1, 1, 1]
child = os.fork()
if child == 0:
    os._exit(0 if ask() == [1, 1, 1] else 1)
value = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), ask()]
"""
ASKED = """
import pandas as pd
run = b"".join(b"q%d Q0 d1 1 1.5 t\\n" % query for query in range(120_000))
frame = pd.DataFrame({"qid": [*range(50_000)] * 2, "rel": [1] * 100_000, "score": [0.5] * 100_000})
made = rs.Rankings.from_table(frame)
asked = [
    lambda: rs.evaluate([("q7", "d1", 1)], run, "RR", threads=4)["RR"],
    lambda: made.evaluate("RR", threads=2)["RR"],
    lambda: rs.Rankings.from_table(frame).evaluate("RR", threads=2)["RR"],
]
"""


def test_a_forked_process_reads_and_evaluates_as_its_parent():
    """With threads before, in the child, and after."""
    assert measure(ASKED + FORKS).value == [0, [1, 1, 1]]


LOADING = """
import threading
import rankscope as rs
table = rs.File(b"query_id,doc_id,relevance,score\\nq,d,1,1\\n", "csv")
barrier, found = threading.Barrier(8), []

def evaluate():
    barrier.wait()
    found.append(rs.evaluate(table, "RR")["RR"])

threads = [threading.Thread(target=evaluate) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(found)
"""


def test_threads_may_load_a_library_at_once():
    assert run_python(LOADING) == f"{[1.0] * 8}\n"


SUBINTERPRETER = """
try:
    import _interpreters
    run = lambda code: _interpreters.exec(_interpreters.create(), code)
except ImportError:
    import _xxsubinterpreters as interpreters
    run = lambda code: interpreters.run_string(interpreters.create(), code)
run('''
try:
    import rankscope
    print("loaded")
except ImportError as error:
    print("refused:", error)
''')
"""


def test_another_interpreter_of_the_process_is_refused_in_words():
    said = run_python(f"import rankscope{SUBINTERPRETER}")
    assert said.startswith("refused: ")
    assert "interpreter" in said


def held():
    """The descriptors and threads of this process."""
    return {each for kind in ("fd", "task") for each in Path("/proc/self", kind).iterdir()}


def test_nothing_is_left_open(tmp_path):
    """Neither descriptors, nor threads, nor files."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    os.mkfifo(tmp_path / "pipe")
    before = held()
    for given in (path, RUN, tmp_path, tmp_path / "none", b"\x1f\x8b", RUN + b"q3"):
        for threads in (1, 4):
            try:
                rs.evaluate(PLAIN_QRELS, given, MEASURES, threads=threads)
            except rs.errors.RankscopeError as error:
                del error
    assert held() <= before  # threads of other tests may have ended
    assert {each.name for each in tmp_path.iterdir()} == {"run", "pipe"}


PLAIN_QRELS, PLAIN_RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}
TABLE = {"query_id": [1], "doc_id": [1], "relevance": [1], "score": [1.0]}


class Refusing:
    """An array whose library can't give it to NumPy."""

    def __init__(self, error):
        self._error = error

    def __array__(self, dtype=None, *, copy=None):
        raise self._error


class RefusingDLPack:
    """An array whose library can't give its memory."""

    def __dlpack__(self, **settings):
        raise BufferError(settings)

    def __dlpack_device__(self):
        return 1, 0


class OutOfMemory:
    """A table that does not fit into memory."""

    def __arrow_c_array__(self, requested_schema=None):
        raise pa.ArrowMemoryError("realloc")


NESTED = []
NESTED.append(NESTED)

ODD = {
    "nothing": lambda: None,
    "a number": lambda: 1.5,
    "a fraction": lambda: fractions.Fraction(1, 2),
    "a huge number": lambda: 10**400,
    "text": lambda: "x",
    "half a character": lambda: "\ud800",
    "bytes": lambda: b"x",
    "a set": lambda: {1},
    "a list in itself": lambda: NESTED,
    "a mapping of nothing": lambda: {"q": None},
    "a mapping of lists in lists": lambda: {"q": [[1]]},
    "an object": object,
    "a function": lambda: len,
    "an iterator": lambda: iter([1]),
    "an array of no dimension": lambda: np.array(1),
    "an array of three": lambda: np.zeros((2, 2, 2)),
    "an array of nothing": lambda: np.zeros((0, 3)),
    "complex numbers": lambda: np.array([1j]),
    "dates": lambda: np.array(["2026-01-01"], dtype="datetime64[D]"),
    "a frame of nothing": pd.DataFrame,
    "a frame of lists": lambda: pd.DataFrame({"user_id": [1], "item_id": [["a"]]}),
    "a column of pandas": lambda: pd.Series([1, 2]),
    "a frame of Polars": lambda: pl.DataFrame({"a": [[1]]}),
    "a column of Polars": lambda: pl.Series([None]),
    "a table of Arrow": lambda: pa.table({"query_id": [b"\xff"], "doc_id": [1], "rel": [1]}),
    "a buffer that is refused": lambda: Refusing(BufferError("BF16")),
    "a number that overflows": lambda: Refusing(OverflowError("too large")),
    "DLPack that is refused": RefusingDLPack,
    "a table out of memory": OutOfMemory,
}
WAYS = {
    "qrels": lambda odd: rs.evaluate(odd, PLAIN_RUN, "AP"),
    "run": lambda odd: rs.evaluate(PLAIN_QRELS, odd, "AP"),
    "measures": lambda odd: rs.evaluate(PLAIN_QRELS, PLAIN_RUN, odd),
    "one table": lambda odd: rs.evaluate(odd, "AP"),
    "columns": lambda odd: rs.evaluate(PLAIN_QRELS, PLAIN_RUN, "AP", query=odd),
    "weights": lambda odd: rs.evaluate(PLAIN_QRELS, PLAIN_RUN, "AP", weights=odd),
    "cluster": lambda odd: rs.evaluate(PLAIN_QRELS, PLAIN_RUN, "AP", interval=0.9, cluster=odd),
    "by": lambda odd: rs.evaluate(TABLE, "AP", by=odd),
    "from_lists": lambda odd: rs.Rankings.from_lists(odd, ideal=None),
    "grades": lambda odd: rs.Rankings.from_groups(odd, [1, 2], [2]),
    "scores": lambda odd: rs.Rankings.from_groups([1, 0], odd, [2]),
    "sizes": lambda odd: rs.Rankings.from_groups([1, 0], [1, 2], odd),
    "ndcg": lambda odd: rs.ndcg(odd, k=1),
    "ndcg_score": lambda odd: rs.ndcg_score(odd, [[1, 2]]),
    "agreement": lambda odd: rs.agreement(PLAIN_RUN, odd),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_input_gives_a_result_or_a_typed_error(odd, way):
    try:
        WAYS[way](ODD[odd]())
    except rs.errors.RankscopeError as error:
        said = error.hint, error.code
    else:
        said = ("no error", "")  # an odd input can be a legal one in some ways
    assert said[0]

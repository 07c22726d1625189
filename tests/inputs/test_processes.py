"""Many calls, many threads, and processes that split."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import rankscope as rs

from tests.inputs.entry import QRELS, QRELS_ROWS, RUN, RUN_ROWS
from tests.inputs.measured import MEGABYTE, measure
from tests.inputs.outcome import MEASURES, expected_values
from tests.interpreter import run_python

EXPECTED = expected_values(QRELS_ROWS, RUN_ROWS)


@pytest.mark.slow
def test_memory_does_not_grow_from_call_to_call() -> None:
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


def test_many_threads_may_evaluate_at_once(tmp_path: Path) -> None:
    """Over one set of judgments, in all ways."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    qrels = rs.read_qrels(QRELS)
    barrier = threading.Barrier(8)

    def evaluate(number: int) -> list[dict[str, dict[str, float]]]:
        barrier.wait()
        ways: tuple[object, ...] = (path, RUN, list(RUN_ROWS))
        given = ways[number % 3]
        return [
            rs.evaluate(qrels, given, MEASURES, threads=1 + number % 2).to_dict()  # type: ignore[arg-type]
            for _ in range(50)
        ]

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(evaluate, range(8)):
            assert found == [EXPECTED] * 50


def test_an_evaluation_may_be_asked_for_while_another_reads() -> None:
    """The rows of one come from the other."""

    def rows() -> object:
        inner = rs.evaluate(QRELS, RUN, "RR")["RR"]
        yield "q1", "d1", 4 * inner  # the grade that stands there
        yield from QRELS_ROWS[1:]

    found = rs.evaluate(rows(), RUN, "RR")  # type: ignore[arg-type]
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


def test_a_forked_process_reads_and_evaluates_as_its_parent() -> None:
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


def test_threads_may_load_a_library_at_once() -> None:
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


def test_another_interpreter_of_the_process_is_refused_in_words() -> None:
    said = run_python(f"import rankscope{SUBINTERPRETER}")
    assert said.startswith("refused: ")
    assert "interpreter" in said


def held() -> set[Path]:
    """The descriptors and threads of this process."""
    return {each for kind in ("fd", "task") for each in Path("/proc/self", kind).iterdir()}


def test_nothing_is_left_open(tmp_path: Path) -> None:
    """Neither descriptors, nor threads, nor files."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    os.mkfifo(tmp_path / "pipe")
    before = held()
    for given in (path, RUN, tmp_path, tmp_path / "none", b"\x1f\x8b", RUN + b"q3"):
        for threads in (1, 4):
            try:
                rs.evaluate(QRELS, given, MEASURES, threads=threads)
            except rs.errors.RankscopeError as error:
                del error
    assert held() <= before  # threads of other tests may have ended
    assert {each.name for each in tmp_path.iterdir()} == {"run", "pipe"}

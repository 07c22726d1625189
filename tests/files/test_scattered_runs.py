"""Runs whose rows come in any order and exceed the memory limit give what they give in memory."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope.engine import memory

from tests.cli.command import run as run_program
from tests.files.limited import describe
from tests.refusals import refused, refuses

if TYPE_CHECKING:
    from pathlib import Path

    from rankscope.typing import InputLike

QUERIES, DOCS = 400, 30
MEASURES = ["nDCG@10", "AP", "RR", "Judged@10", "nDCG(gain='exp2')@5"]


@pytest.fixture(scope="module")
def judgments() -> bytes:
    rng = random.Random(1)
    lines = [
        f"q{query} 0 d{rng.randrange(60)}-{query} {rng.choice([0, 0, 1, 3])}"
        for query in range(0, QUERIES, 3)
    ]
    return "\n".join(dict.fromkeys(lines)).encode()


def make_lines(seed: int, *more: str) -> list[str]:
    """Return lines of a run in random order, with these among them."""
    rng = random.Random(seed)
    lines = [
        f"q{query} Q0 d{doc}-{query} {doc + 1} {rng.choice([0.5, 1, 2.25])} tag{query % 2}"
        for query in range(QUERIES)
        for doc in rng.sample(range(60), DOCS)
    ]
    lines += more
    rng.shuffle(lines)
    return lines


def evaluate(judgments: bytes, run: bytes, **settings: Any) -> list[object]:  # noqa: ANN401 - of all kinds
    """Evaluate a run, and return what the result says, or the mistake."""
    try:
        return describe(rs.evaluate(judgments, run, MEASURES, **settings))
    except rs.errors.RankscopeError as error:
        return [type(error), error.__dict__]


@pytest.mark.parametrize("duplicates", ["error", "first", "max"])
@pytest.mark.parametrize(
    "more",
    [
        [],
        ["q3 Q0 d7-x 9 0.5 tag1", "q3 Q0 d7-x 12 2.25 tag1"],
        ["q3 Q0 d7-x 9 0.5 tag1", "q3 Q0 d7-x 12 2.25 tag1", "q4 Q0 d8 1 1 t", "q4 Q0 d8 1 2 t"],
        ["q3 Q0 d7-x 9 nan tag1"],
        ["q3 Q0 d7-x 9"],
    ],
    ids=["valid", "a duplicate", "two duplicates", "no score", "a short line"],
)
def test_results_and_mistakes_are_those_of_memory(
    judgments: bytes, more: list[str], duplicates: str, caplog: pytest.LogCaptureFixture
) -> None:
    run = "\n".join(make_lines(2, *more)).encode()
    expected = evaluate(judgments, run, duplicates=duplicates)
    assert not caplog.messages
    for threads in (1, 2):
        settings = {"duplicates": duplicates, "threads": threads}
        assert evaluate(judgments, run, memory="1MiB", **settings) == expected
    if isinstance(expected[0], str):
        assert "exceeds the memory limit of 1.0 MiB" in caplog.messages[0]
        assert caplog.messages[1].endswith("to temporary files, and removed them")


def test_without_a_limit_half_of_the_free_memory_is_the_limit(
    judgments: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = "\n".join(make_lines(3)).encode()
    expected = evaluate(judgments, run)
    monkeypatch.setattr(memory, "HARMLESS", 1000)
    monkeypatch.setattr(memory, "find_free", lambda: 2 << 20)
    assert evaluate(judgments, run) == expected
    assert "exceeds the memory limit of 1.0 MiB" in caplog.messages[0]


def as_csv(lines: list[str]) -> str:
    rows = (line.split() for line in lines)
    cells = [f"{query},{doc},{score}" for query, _, doc, _, score, _ in rows]
    return "\n".join(["query_id,doc_id,score", *cells])


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_a_compressed_run_from_standard_input_is_the_same(
    judgments: bytes, form: str, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_bytes(judgments)
    lines = make_lines(4)
    packed = gzip.compress((as_csv(lines) if form == "csv" else "\n".join(lines)).encode())
    command = [sys.executable, "-m", "rankscope", "eval", str(tmp_path / "qrels.txt"), "-", "-q"]
    limited = [*command, "--memory", "1MiB", "--spill-folder", str(tmp_path)]
    limited += ["--format", "run=csv"] if form == "csv" else []
    done = subprocess.run(limited, input=packed, capture_output=True, check=True)
    held = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True, check=True)
    assert done.stdout == held.stdout
    assert b"exceeds the memory limit of 1.0 MiB" in done.stderr
    assert b"to temporary files in " + str(tmp_path).encode() in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["qrels.txt"]


WIDE = {"query_id": np.arange(20_000) % 2, "doc_id": np.arange(20_000), "score": np.arange(20_000)}
"""Two queries, each with more rows than fit."""


@pytest.mark.parametrize("way", ["a table", "a run in columns", "a run as text"])
def test_a_query_beyond_the_limit_is_an_error_that_says_what_it_needs(
    way: str, tmp_path: Path
) -> None:
    path = tmp_path / "wide.parquet"
    if way == "a run as text":
        path = tmp_path / "wide.run"
        path.write_text("".join(f"{row % 2} Q0 {row} 1 {row} tag\n" for row in range(20_000)))
    else:
        grades = {"relevance": WIDE["doc_id"] % 3} if way == "a table" else {}
        pq.write_table(pa.table(WIDE | grades), path)  # type: ignore[no-untyped-call]

    def evaluate_within(memory: str) -> rs.Evaluation:
        if way == "a table":
            return rs.evaluate(path, "RR", memory=memory)
        return rs.evaluate({"0": {"2": 1}, "1": {"3": 1}}, path, "RR", memory=memory)

    with refuses(rs.errors.OutOfMemoryError, "query_memory", match="query") as caught:
        evaluate_within("1MiB")
    size = caught.value.hint.partition('"')[2].rstrip('"')
    assert evaluate_within(size)["RR"] > 0


@pytest.mark.parametrize("run", [{"q0": {"d1": 1.0}}, [("q0", "d1", 1.0)]])
def test_a_limit_for_a_run_in_memory_is_refused(judgments: bytes, run: InputLike) -> None:
    refused(lambda: rs.evaluate(judgments, run, "RR", memory="1GiB"), "bad_memory")


def test_a_limit_for_scores_of_letor_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test.svm").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n")
    (tmp_path / "scores.txt").write_text("0.5\n0.25\n")
    words = ["test.svm", "scores.txt", "--memory", "1GiB"]
    done = run_program("eval", *words, folder=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--memory" in done.stderr

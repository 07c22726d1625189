"""Tables and runs that exceed the memory limit give what they give in memory, mistakes included."""

from __future__ import annotations

import gzip
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._evaluate import runs
from rankscope._inputs.table_files import TableFile

from tests.cli.command import run as run_program
from tests.files.limited import SMALL, describe, draw_pairs, draw_settings, spoil
from tests.generated import examples
from tests.refusals import refused, refuses
from tests.tabular import write_table

SETTINGS = draw_settings(
    ties=["average", "input", "doc_id", "best"],
    policy=[None, "empty=error", "negative=error", "empty=skip"],
    by=[None, "country"],
)


@st.composite
def make_tables(draw):
    """Draw rows of a few queries in random order, most of them valid."""
    choose = random.Random(draw(st.integers(0, 10**6)))
    pairs = draw_pairs(draw, choose)
    choose.shuffle(pairs)
    integers = draw(st.booleans())
    count = len(pairs)
    table = {
        "query_id": [query * 7 if integers else f"q{query}" for query, _ in pairs],
        "relevance": choose.choices([0.0, 0.0, 1.0, 3.0, None], k=count),
        "country": [["de", "at", None][query % 3] for query, _ in pairs],
    }
    if draw(st.booleans()):
        table["doc_id"] = [doc if integers else f"d{doc}" for _, doc in pairs]
    kind = draw(st.sampled_from(["score", "rank", "both"]))
    if kind == "score":
        table["score"] = choose.choices([0.25, 0.5, 1.0, 2.0], k=count)
    else:
        table["rank"] = [float(doc + 1) for _, doc in pairs]
    if kind == "both":
        table["score"] = [-doc / 4 for _, doc in pairs]
    spoil(draw, choose, table)
    if "doc_id" in table and draw(st.integers(0, 3)) == 0:
        table["doc_id"] = choose.choices(table["doc_id"], k=count)
        # What is left of a scale without grade 0 is known only once duplicates are resolved.
        table["doc_id"][0], table["relevance"][0] = 99 if integers else "d99", 0.0
    return table


def evaluate(path, settings, *, spills):
    """Evaluate a file in memory or in parts, and return the result, or the mistake."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankscope._evaluate.columns._push_all", lambda *_: False)
        patch.setattr(TableFile, "exceeds", lambda *_: spills)
        patch.setattr(runs, "LEAST", 1)
        try:
            return describe(rs.evaluate(path, **settings, memory=SMALL))
        except rs.errors.RankscopeError as error:
            # Rankings in memory don't know the file any more when a policy refuses a value.
            is_policy = isinstance(error, rs.errors.UsageError | rs.errors.FormatError)
            place = None if is_policy and error.line is None else error.file
            return [type(error), place, error.__dict__ | {"file": place}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that the tests of this module share."""
    return tmp_path_factory.mktemp("files")


@examples(100)
@given(st.data())
def test_results_and_mistakes_are_those_of_memory(folder, data):
    table, settings = data.draw(make_tables()), data.draw(SETTINGS)
    path = write_table(table, folder / "log.parquet")
    expected = evaluate(path, settings, spills=False)
    assert evaluate(path, settings, spills=True) == expected


@pytest.fixture(scope="module")
def scattered(folder):
    """A file of 60,000 rows whose queries are scattered, 12 MB in memory."""
    rng = np.random.default_rng(4)
    query = rng.permutation(np.arange(60_000) // 20)
    table = {
        "query_id": query,
        "doc_id": rng.permutation(60_000),
        "relevance": rng.choice([0, 0, 1, 3], 60_000),
        "score": rng.random(60_000),
        "user": query % 700,
    }
    pq.write_table(pa.table(table), folder / "scattered.parquet")
    return folder / "scattered.parquet"


def test_a_limit_of_memory_changes_nothing(scattered, caplog):
    settings = {
        "measures": ["nDCG@10", "AP"],
        "by": "user",
        "cluster": "user",
        "interval": 0.95,
        "weights": {str(query): 1 + query % 2 for query in range(3000)},
    }
    expected = describe(rs.evaluate(scattered, **settings))
    assert not caplog.messages
    assert describe(rs.evaluate(scattered, **settings, memory="1MiB")) == expected
    begin, end = caplog.messages
    assert f"{scattered} exceeds the memory limit of 1.0 MiB" in begin
    assert end.endswith("to temporary files, and removed them")


def test_queries_may_be_unsigned(scattered, tmp_path):
    table = pq.read_table(scattered)
    unsigned = table["query_id"].cast(pa.uint64())
    path = write_table(table.set_column(0, "query_id", unsigned), tmp_path / "unsigned.parquet")
    expected = describe(rs.evaluate(path, "RR"))
    assert describe(rs.evaluate(path, "RR", memory="1MiB")) == expected


@pytest.mark.parametrize("size", [1, 0, -5, "1 KiB", "much", 1.5, True, "1GiB2"])
def test_a_size_or_a_folder_that_is_none_is_refused(size, tmp_path):
    refused(lambda: rs.evaluate(rs.File(b"", "csv"), "RR", memory=size), "bad_memory")
    run = rs.File(b"q1 Q0 d1 1 2.0 t", "trec")
    refused(lambda: rs.evaluate({"q1": {"d1": 1}}, run, "RR", memory=size), "bad_memory")
    (tmp_path / "file").touch()
    table = rs.File(b"", "csv")
    refused(lambda: rs.evaluate(table, "RR", spill_folder=tmp_path / "file"), "bad_memory")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux")
@pytest.mark.parametrize(("path", "code"), [("/dev/full", "disk_full"), ("/none", "spill_file")])
def test_a_folder_that_cannot_be_written_to_is_an_error(path, code, scattered, monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Path(path).open("r+b"))  # noqa: SIM115
    refused(lambda: rs.evaluate(scattered, "RR", memory="1MiB"), code)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    "call", ["rs.evaluate(path, 'RR', **limit)", "rs.evaluate(path, path, 'RR', **limit)"]
)
def test_nothing_is_left_behind(scattered, tmp_path, sent, call):
    """The process gets a signal once its files have been written."""
    program = f"""
import os, signal, sys
import rankscope as rs
from rankscope._evaluate import partitions

def stop(*_):
    folder = sys.argv[2]
    links = [f"/proc/self/fd/{{each}}" for each in os.listdir("/proc/self/fd")]
    files = [os.readlink(link) for link in links if os.path.islink(link)]
    print(sum(file.startswith(folder) for file in files), len(os.listdir(folder)), flush=True)
    os.kill(os.getpid(), int(sys.argv[3]))

partitions._show_parts = stop
path, limit = sys.argv[1], dict(memory="1MiB", spill_folder=sys.argv[2])
{call}
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(scattered), str(tmp_path), str(int(sent))],
        capture_output=True,
        text=True,
        check=False,
    )
    open_files, named_files = map(int, done.stdout.split())
    assert open_files > 0
    assert named_files == 0
    assert done.returncode != 0
    assert list(tmp_path.iterdir()) == []


FORMATS = ("parquet", "arrow", "csv", "tsv", "jsonl")
RUN_SETTINGS = draw_settings(
    policy=[
        None,
        *(f"{name}={value}" for name in ("empty", "missing") for value in ("error", "skip")),
        *("ties=average", "ties=best"),
    ],
    score_type=[None, "float32"],
)


@st.composite
def make_runs(draw):
    """Draw judgments, and rows of a run that are grouped or scattered, most of them valid."""
    choose = random.Random(draw(st.integers(0, 10**6)))
    pairs = draw_pairs(draw, choose)
    if draw(st.booleans()):
        choose.shuffle(pairs)
    elif draw(st.booleans()):
        pairs.append(pairs.pop(0))
    integers = draw(st.booleans())

    def named(kind, number):
        return number * 7 if integers else f"{kind}{number}"

    run = {
        "query_id": [named("q", query) for query, _ in pairs],
        "doc_id": [named("d", doc) for _, doc in pairs],
    }
    kind = draw(st.sampled_from(["score", "rank", "both"]))
    if kind != "rank":
        run["score"] = choose.choices([0.25, 0.5, 1.0, 2.0], k=len(pairs))
    if kind != "score":
        run["rank"] = [float(doc + 1) for _, doc in pairs]
    spoil(draw, choose, run)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        one, other = choose.randrange(len(pairs)), choose.randrange(len(pairs))
        run["query_id"][one], run["doc_id"][one] = run["query_id"][other], run["doc_id"][other]
    first = draw(st.sampled_from([0, 0, 3, 100]))
    judged = {
        str(named("q", query)): {str(named("d", doc)): choose.randrange(3) for doc in range(5)}
        for query in range(first, first + draw(st.integers(1, 9)))
    }
    return judged, run


def outcome(*inputs, **settings):
    """Evaluate, and return what the result says, or the mistake."""
    try:
        return describe(rs.evaluate(*inputs, **settings))
    except rs.errors.RankscopeError as error:
        return [type(error), error.__dict__]


def evaluate_run(judged, run, settings, way):
    """Evaluate a run in one of the ways, and return the result, or the mistake."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "LEAST", 1)
        if way in ("held", "written"):
            patch.setattr("rankscope._evaluate.columns._push_all", lambda *_: False)
        if way == "written":
            patch.setattr(TableFile, "estimate_memory", lambda _: 10 * SMALL)
        limit = {"held": "1GiB", "read": "1GiB", "written": SMALL, "any": SMALL}[way]
        return outcome(judged, run, **settings, memory=limit)


@examples(150)
@given(st.data())
def test_all_ways_give_the_same(folder, data):
    judged, run = data.draw(make_runs())
    settings = data.draw(RUN_SETTINGS)
    path = write_table(run, folder / f"run.{data.draw(st.sampled_from(FORMATS))}")
    expected = evaluate_run(judged, path, settings, "held")
    for way in ("read", "any", "written"):
        assert evaluate_run(judged, path, settings, way) == expected, way


QUERIES, DOCS = 400, 30
MEASURES = ["nDCG@10", "AP", "RR", "Judged@10", "nDCG(gain='exp2')@5"]


@pytest.fixture(scope="module")
def judgments():
    rng = random.Random(1)
    lines = [
        f"q{query} 0 d{rng.randrange(60)}-{query} {rng.choice([0, 0, 1, 3])}"
        for query in range(0, QUERIES, 3)
    ]
    return "\n".join(dict.fromkeys(lines)).encode()


def make_lines(seed, *more):
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


def evaluate_scattered(judgments, run, **settings):
    return outcome(judgments, run, MEASURES, **settings)


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
def test_results_and_mistakes_of_scattered_runs_are_those_of_memory(
    judgments, more, duplicates, caplog
):
    run = "\n".join(make_lines(2, *more)).encode()
    expected = evaluate_scattered(judgments, run, duplicates=duplicates)
    assert not caplog.messages
    for threads in (1, 2):
        settings = {"duplicates": duplicates, "threads": threads}
        assert evaluate_scattered(judgments, run, memory="1MiB", **settings) == expected
    if isinstance(expected[0], str):
        assert "exceeds the memory limit of 1.0 MiB" in caplog.messages[0]
        assert caplog.messages[1].endswith("to temporary files, and removed them")


def test_without_a_limit_half_of_the_free_memory_is_the_limit(judgments, monkeypatch, caplog):
    run = "\n".join(make_lines(3)).encode()
    expected = evaluate_scattered(judgments, run)
    monkeypatch.setattr(runs, "HARMLESS", 1000)
    monkeypatch.setattr(runs, "find_free", lambda: 2 << 20)
    assert evaluate_scattered(judgments, run) == expected
    assert "exceeds the memory limit of 1.0 MiB" in caplog.messages[0]


def as_csv(lines):
    rows = (line.split() for line in lines)
    cells = [f"{query},{doc},{score}" for query, _, doc, _, score, _ in rows]
    return "\n".join(["query_id,doc_id,score", *cells])


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_a_compressed_run_from_standard_input_is_the_same(judgments, form, tmp_path):
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
def test_a_query_beyond_the_limit_is_an_error_that_says_what_it_needs(way, tmp_path):
    path = tmp_path / "wide.parquet"
    if way == "a run as text":
        path = tmp_path / "wide.run"
        path.write_text("".join(f"{row % 2} Q0 {row} 1 {row} tag\n" for row in range(20_000)))
    else:
        grades = {"relevance": WIDE["doc_id"] % 3} if way == "a table" else {}
        pq.write_table(pa.table(WIDE | grades), path)

    def evaluate_within(memory):
        if way == "a table":
            return rs.evaluate(path, "RR", memory=memory)
        return rs.evaluate({"0": {"2": 1}, "1": {"3": 1}}, path, "RR", memory=memory)

    with refuses(rs.errors.OutOfMemoryError, "query_memory", match="query") as caught:
        evaluate_within("1MiB")
    size = caught.value.hint.partition('"')[2].rstrip('"')
    assert evaluate_within(size)["RR"] > 0


@pytest.mark.parametrize("run", [{"q0": {"d1": 1.0}}, [("q0", "d1", 1.0)]])
def test_a_limit_for_a_run_in_memory_is_refused(judgments, run):
    refused(lambda: rs.evaluate(judgments, run, "RR", memory="1GiB"), "bad_memory")


def test_a_limit_for_scores_of_letor_rows_is_refused(tmp_path):
    (tmp_path / "test.svm").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n")
    (tmp_path / "scores.txt").write_text("0.5\n0.25\n")
    words = ["test.svm", "scores.txt", "--memory", "1GiB"]
    done = run_program("eval", *words, folder=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--memory" in done.stderr

"""Tables whose rows exceed the memory limit give what they give in memory, mistakes included."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._inputs.table_files import TableFile
from rankscope.engine import memory

from tests.files.limited import SMALL, describe, draw_pairs, draw_settings, spoil
from tests.generated import examples
from tests.refusals import refused
from tests.tabular import write_table

SETTINGS = draw_settings(
    ties=["average", "input", "doc_id", "best"],
    policy=[None, "empty=error", "negative=error", "empty=skip"],
    by=[None, "country"],
)


@st.composite
def make_tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Draw rows of a few queries in random order, most of them valid."""
    choose = random.Random(draw(st.integers(0, 10**6)))
    pairs = draw_pairs(draw, choose)
    choose.shuffle(pairs)
    integers = draw(st.booleans())
    count = len(pairs)
    table: dict[str, list[Any]] = {
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


def evaluate(path: Path, settings: dict[str, Any], *, spills: bool) -> list[object]:
    """Evaluate a file in memory or in parts, and return the result, or the mistake."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankscope.evaluation.streaming.evaluate_stream", lambda *_: None)
        patch.setattr(TableFile, "exceeds", lambda *_: spills)
        patch.setattr(memory, "LEAST", 1)
        try:
            return describe(rs.evaluate(path, **settings, memory=SMALL))
        except rs.errors.RankscopeError as error:
            # Rankings in memory don't know the file any more when a policy refuses a value.
            is_policy = isinstance(error, rs.errors.UsageError | rs.errors.FormatError)
            place = None if is_policy and error.line is None else error.file
            return [type(error), place, error.__dict__ | {"file": place}]


@examples(100)
@given(st.data())
def test_results_and_mistakes_are_those_of_memory(folder: Path, data: st.DataObject) -> None:
    table, settings = data.draw(make_tables()), data.draw(SETTINGS)
    path = write_table(table, folder / "log.parquet")
    expected = evaluate(path, settings, spills=False)
    assert evaluate(path, settings, spills=True) == expected


@pytest.fixture(scope="module")
def scattered(folder: Path) -> Path:
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
    pq.write_table(pa.table(table), folder / "scattered.parquet")  # type: ignore[no-untyped-call]
    return folder / "scattered.parquet"


def test_a_limit_of_memory_changes_nothing(
    scattered: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings: dict[str, Any] = {
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


@pytest.mark.parametrize("size", [1, 0, -5, "1 KiB", "much", 1.5, True, "1GiB2"])
def test_a_size_that_is_none_is_refused(size: object) -> None:
    refused(lambda: rs.evaluate(rs.File(b"", "csv"), "RR", memory=size), "bad_memory")


def test_a_folder_that_is_none_is_refused(scattered: Path) -> None:
    refused(lambda: rs.evaluate(scattered, "RR", spill_folder=scattered), "bad_memory")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_an_error(scattered: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    refused(
        lambda: rs.evaluate(scattered, "RR", memory="1MiB", spill_folder=tmp_path),
        "spill_file",
    )


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    "call", ["rs.evaluate(path, 'RR', **limit)", "rs.evaluate(path, path, 'RR', **limit)"]
)
def test_nothing_is_left_behind(
    scattered: Path, tmp_path: Path, sent: signal.Signals, call: str
) -> None:
    """The process gets a signal once its files have been written."""
    program = f"""
import os, signal, sys
import rankscope as rs
from rankscope.engine import batches

def stop(*_):
    folder = sys.argv[2]
    links = [f"/proc/self/fd/{{each}}" for each in os.listdir("/proc/self/fd")]
    files = [os.readlink(link) for link in links if os.path.islink(link)]
    print(sum(file.startswith(folder) for file in files), len(os.listdir(folder)), flush=True)
    os.kill(os.getpid(), int(sys.argv[3]))

batches._show_parts = stop
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

"""Runs in columns give the same when they are held, evaluated while reading, or written to disk."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather
from rankscope.engine import memory
from rankscope.engine.column_runs import ColumnRun
from rankscope.inputs.files.table import TableFile

from tests.generated import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL = 40_000
"""A limit of so many bytes makes a dozen rows a part of their own."""
MOST_OF_QUERY = 14
"""So many rows of one query are within the limit."""
FORMATS = ("parquet", "arrow", "csv", "tsv", "jsonl")
ODD: dict[str, list[Any]] = {
    "query_id": [None, "", "q" * 5000],
    "doc_id": [None, "", "a\0b"],
    "score": [None, float("nan"), float("inf"), 1e39],
    "rank": [None, 9.0],
}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        yield Path(folder)


@st.composite
def make_runs(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, list[Any]]]:
    """Draw judgments, and rows of a run that are grouped or scattered, most of them valid."""
    choose = random.Random(draw(st.integers(0, 10**6)))
    queries = draw(st.integers(1, 12))
    sizes = [choose.randint(1, MOST_OF_QUERY) for _ in range(queries)]
    pairs = [(query, doc) for query, size in enumerate(sizes) for doc in range(size)]
    if draw(st.booleans()):
        choose.shuffle(pairs)
    elif draw(st.booleans()):
        pairs.append(pairs.pop(0))
    integers = draw(st.booleans())

    def named(kind: str, number: int) -> int | str:
        return number * 7 if integers else f"{kind}{number}"

    run: dict[str, list[Any]] = {
        "query_id": [named("q", query) for query, _ in pairs],
        "doc_id": [named("d", doc) for _, doc in pairs],
    }
    kind = draw(st.sampled_from(["score", "rank", "both"]))
    if kind != "rank":
        run["score"] = choose.choices([0.25, 0.5, 1.0, 2.0], k=len(pairs))
    if kind != "score":
        run["rank"] = [float(doc + 1) for _, doc in pairs]
    for name in draw(st.lists(st.sampled_from(sorted(ODD)), max_size=2)):
        for _ in range(draw(st.integers(1, 2))):
            if name in run and not (integers and name.endswith("_id")):
                run[name][choose.randrange(len(pairs))] = choose.choice(ODD[name])
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        one, other = choose.randrange(len(pairs)), choose.randrange(len(pairs))
        run["query_id"][one], run["doc_id"][one] = run["query_id"][other], run["doc_id"][other]
    first = draw(st.sampled_from([0, 0, 3, 100]))
    judged = {
        str(named("q", query)): {str(named("d", doc)): choose.randrange(3) for doc in range(5)}
        for query in range(first, first + draw(st.integers(1, 9)))
    }
    return judged, run


def make_settings(draw: st.DrawFn) -> dict[str, Any]:
    policies = [f"{name}={value}" for name in ("empty", "missing") for value in ("error", "skip")]
    measures = ["nDCG@3", "AP", "RR", "NumQ", "nDCG(gain='exp2')@5", "Judged@3"]
    return {
        "measures": draw(st.lists(st.sampled_from(measures), min_size=1, unique=True)),
        "policy": draw(st.sampled_from([None, *policies, "ties=average", "ties=best"])),
        "duplicates": draw(st.sampled_from(["error", "first", "max"])),
        "score_type": draw(st.sampled_from([None, "float32"])),
        "interval": draw(st.sampled_from([None, 0.9])),
        "threads": draw(st.integers(1, 2)),
    }


def write(run: dict[str, list[Any]], path: Path) -> None:
    """Write a run in the format that its name says, a few rows in each row group or batch."""
    table = pa.table(run)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=19)  # type: ignore[no-untyped-call]
    elif path.suffix == ".arrow":
        feather.write_feather(table, path, compression="uncompressed", chunksize=19)  # type: ignore[no-untyped-call]
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    else:
        options = pacsv.WriteOptions(delimiter="\t" if path.suffix == ".tsv" else ",")
        pacsv.write_csv(table, path, options)


def describe(evaluation: rs.Evaluation) -> list[object]:
    """Return everything that a result says."""
    return [
        str(evaluation),
        repr(list(evaluation.items())),
        [evaluation.per_query(name).tobytes() for name in evaluation],
        evaluation.query_ids,
        evaluation.counts,
        evaluation.denominators,
        list(map(str, evaluation.notes)),
        repr(evaluation.estimates),
    ]


def evaluate(judged: object, run: object, settings: dict[str, Any], way: str) -> list[object]:
    """Evaluate a run in one of the ways, and return the result, or the mistake."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "LEAST", 1)
        if way in ("held", "written"):
            patch.setattr(ColumnRun, "_stream", lambda *_: None)
        if way == "written":
            patch.setattr(TableFile, "estimate_memory", lambda _: 10 * SMALL)
        limit = {"held": "1GiB", "read": "1GiB", "written": SMALL, "any": SMALL}[way]
        try:
            return describe(rs.evaluate(judged, run, **settings, memory=limit))  # type: ignore[call-overload]
        except rs.errors.RankscopeError as error:
            return [type(error), error.__dict__]


@examples(150)
@given(st.data())
def test_all_ways_give_the_same(folder: Path, data: st.DataObject) -> None:
    judged, run = data.draw(make_runs())
    settings = data.draw(st.composite(make_settings)())
    path = folder / f"run.{data.draw(st.sampled_from(FORMATS))}"
    write(run, path)
    expected = evaluate(judged, path, settings, "held")
    for way in ("read", "any", "written"):
        assert evaluate(judged, path, settings, way) == expected, way


QUERIES, DOCS = 600, 20


@pytest.fixture(scope="module")
def judged() -> list[tuple[str, str, int]]:
    return [
        (f"q{query}", f"d{query}-{doc}", doc % 3) for query in range(QUERIES) for doc in range(4)
    ]


@pytest.fixture(scope="module")
def scattered(folder: Path) -> Path:
    """A run of 12,000 rows in random order, 4 MB in memory."""
    rng = np.random.default_rng(4)
    rows = rng.permutation(QUERIES * DOCS)
    table = {
        "query_id": [f"q{row // DOCS}" for row in rows],
        "doc_id": [f"d{row // DOCS}-{row % DOCS}" for row in rows],
        "score": rng.random(len(rows)),
    }
    write(table, folder / "scattered.parquet")
    return folder / "scattered.parquet"


@pytest.mark.parametrize("form", FORMATS)
def test_a_limit_of_memory_changes_nothing(
    scattered: Path, judged: object, form: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = folder / f"again.{form}"
    write(pq.read_table(scattered).to_pydict(), path)  # type: ignore[no-untyped-call]
    settings: dict[str, Any] = {"measures": ["nDCG@10", "AP"], "interval": 0.95}
    expected = describe(rs.evaluate(judged, path, **settings))  # type: ignore[call-overload]
    assert not caplog.messages
    runs = {"one": path, "other": scattered}
    made = rs.evaluate(judged, runs, **settings, memory="1MiB")  # type: ignore[call-overload]
    assert describe(made["one"]) == expected
    assert dict(made["other"]) == dict(made["one"])
    assert f"{path} exceeds the memory limit of 1.0 MiB" in caplog.messages[0]
    assert caplog.messages[1].endswith("to temporary files, and removed them")


def test_standard_input_is_the_same(scattered: Path, judged: object, folder: Path) -> None:
    qrels = folder / "qrels.txt"
    qrels.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in judged))  # type: ignore[attr-defined]
    text = io.BytesIO()
    with gzip.open(text, "wb") as file:
        pacsv.write_csv(pq.read_table(scattered), file)  # type: ignore[no-untyped-call]
    command = [sys.executable, "-m", "rankscope", "eval", str(qrels)]
    piped = [*command, "-", "--format", "run=csv", "--memory", "1MiB"]
    done = subprocess.run(piped, input=text.getvalue(), capture_output=True, check=True)
    held = subprocess.run([*command, str(scattered)], capture_output=True, check=True)
    assert done.stdout == held.stdout
    assert b"exceeds the memory limit of 1.0 MiB" in done.stderr


def test_a_query_beyond_the_limit_is_an_error_that_says_what_it_needs(folder: Path) -> None:
    rows = np.arange(20_000)
    run = {"query_id": rows % 2, "doc_id": rows, "score": rows}
    write(run, folder / "wide.parquet")  # type: ignore[arg-type]
    judged = {"0": {"2": 1}, "1": {"3": 1}}
    with pytest.raises(rs.errors.OutOfMemoryError) as caught:
        rs.evaluate(judged, folder / "wide.parquet", "RR", memory="1MiB")
    assert caught.value.code == "query_memory"
    size = caught.value.hint.partition('"')[2].rstrip('"')
    assert rs.evaluate(judged, folder / "wide.parquet", "RR", memory=size)["RR"] > 0

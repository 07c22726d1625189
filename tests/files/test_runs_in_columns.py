"""Runs in columns give the same when they are held, evaluated while reading, or written to disk."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._inputs.table_files import TableFile
from rankscope.engine import memory
from rankscope.engine.column_run import ColumnRun

from tests.files.limited import SMALL, describe, draw_pairs, draw_settings, spoil
from tests.generated import examples
from tests.tabular import write_table

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = ("parquet", "arrow", "csv", "tsv", "jsonl")
SETTINGS = draw_settings(
    policy=[
        None,
        *(f"{name}={value}" for name in ("empty", "missing") for value in ("error", "skip")),
        *("ties=average", "ties=best"),
    ],
    score_type=[None, "float32"],
)


@st.composite
def make_runs(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], dict[str, list[Any]]]:
    """Draw judgments, and rows of a run that are grouped or scattered, most of them valid."""
    choose = random.Random(draw(st.integers(0, 10**6)))
    pairs = draw_pairs(draw, choose)
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
    settings = data.draw(SETTINGS)
    path = write_table(run, folder / f"run.{data.draw(st.sampled_from(FORMATS))}")
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
    return write_table(table, folder / "scattered.parquet")


@pytest.mark.parametrize("form", FORMATS)
def test_a_limit_of_memory_changes_nothing(
    scattered: Path, judged: object, form: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_table(pq.read_table(scattered), folder / f"again.{form}")  # type: ignore[no-untyped-call]
    settings: dict[str, Any] = {"measures": ["nDCG@10", "AP"], "interval": 0.95}
    expected = describe(rs.evaluate(judged, path, **settings))  # type: ignore[call-overload]
    assert not caplog.messages
    runs = {"one": path, "other": scattered}
    made = rs.evaluate(judged, runs, **settings, memory="1MiB")  # type: ignore[call-overload]
    assert describe(made["one"]) == expected
    assert dict(made["other"]) == dict(made["one"])
    assert f"{path} exceeds the memory limit of 1.0 MiB" in caplog.messages[0]
    assert caplog.messages[1].endswith("to temporary files, and removed them")

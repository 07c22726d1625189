"""Runs in columns give the same when they are held, evaluated while reading, or written to disk."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

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

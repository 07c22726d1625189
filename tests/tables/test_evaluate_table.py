"""Tables of files and libraries, evaluated while they are read, give what they give in memory."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope.engine import batches

from tests.files.limited import describe
from tests.refusals import refused
from tests.tabular import write_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


MEASURES = ["nDCG@5", "AP", "RR", "P@3", "Judged@3", "NumRel"]


def make_log(seed: int, queries: int = 60) -> pd.DataFrame:
    choose = random.Random(seed)
    rows = [
        {
            "search_group_id": f"q{query}",
            "item_id": f"d{doc}",
            "gains": choose.choice([0, 0, 1, 2, None]),
            "score": choose.choice([0.25, 0.5, choose.random()]),
            "country": ["de", "at", None][query % 3],
        }
        for query in range(queries)
        for doc in choose.sample(range(50), choose.randint(1, 12))
    ]
    return pd.DataFrame(rows)


FORMS = ["parquet", "csv", "jsonl", "arrow"]


@pytest.fixture(params=[7, 1 << 18])
def rows_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "AT_ONCE", request.param)


def facts(evaluation: rs.Evaluation) -> tuple[Any, ...]:
    slices = None if evaluation.slices is None else evaluation.slices.to_dict()
    return (
        dict(evaluation),
        repr(evaluation.to_dict()),
        evaluation.counts,
        evaluation.denominators,
        slices,
        evaluation.intervals,
    )


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize(
    ("form", "policy"),
    [
        *((form, None) for form in FORMS),
        *((FORMS[0], f"aggregate={name}") for name in ("ratio_of_sums", "median")),
        (FORMS[-1], "empty=skip"),
    ],
)
def test_a_file_gives_what_its_frame_gives(form: str, policy: str | None, tmp_path: Path) -> None:
    log = make_log(1)
    measures = "nDCG@5" if policy == "aggregate=ratio_of_sums" else MEASURES
    rankings = rs.Rankings.from_table(log, attributes=["country"])
    expected = rankings.evaluate(measures, policy=policy, by="country", interval=0.9)
    path = write_table(log, tmp_path / f"log.{form}")
    found = rs.evaluate(path, measures, policy=policy, by="country", interval=0.9)
    # As text, for a small slice of an unbounded measure has no interval, and NaN equals nothing.
    assert str(facts(found)) == str(facts(expected))
    assert found.query_ids == expected.query_ids


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize("form", FORMS)
def test_queries_that_come_back_are_read_into_memory(form: str, tmp_path: Path) -> None:
    log = make_log(2).sample(frac=1, random_state=3)
    expected = rs.Rankings.from_table(log).evaluate(MEASURES)
    path = write_table(log, tmp_path / f"log.{form}")
    assert facts(rs.evaluate(path, MEASURES)) == facts(expected)
    with pytest.raises(rs.FormatError) as caught:
        rs.evaluate(path, MEASURES, assume_grouped=True)
    assert (caught.value.code, caught.value.file) == ("query_returns", str(path))


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize("ties", ["average", "doc_id", "worst"])
def test_ties_and_weights_are_those_of_the_frame(ties: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a word of the policy
    log = make_log(5)
    rankings = rs.Rankings.from_table(log, ties=ties)
    weights = {query: 1 + len(query) * 0.25 for query in rankings.query_ids}
    expected = rankings.evaluate("nDCG@5", weights=weights)
    found = rs.evaluate(
        write_table(log, tmp_path / "log.csv"), "nDCG@5", policy=f"ties={ties}", weights=weights
    )
    assert dict(found) == dict(expected)


def test_gains_by_a_function_need_all_grades_and_get_them(tmp_path: Path) -> None:
    log = make_log(6)
    measure = rs.nDCG(gain=lambda grade: grade**2) @ 5
    expected = rs.Rankings.from_table(log).evaluate(measure)
    found = rs.evaluate(write_table(log, tmp_path / "log.parquet"), measure)
    assert list(found.values()) == list(expected.values())


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize(
    ("column", "value", "code"),
    [
        ("score", float("inf"), "score_overflow"),
        ("score", None, "missing_score"),
        ("search_group_id", None, "missing_id"),
        ("country", "nowhere", "attribute_conflict"),
    ],
)
def test_a_mistake_is_where_it_stands_in_the_file(
    column: str, value: object, code: str, tmp_path: Path
) -> None:
    log = make_log(7)
    sizes = log.groupby("search_group_id", sort=False).size()
    row = next(at for at in range(100, len(log)) if sizes[log.search_group_id[at]] > 1)
    log[column] = log[column].astype(object)
    log.loc[row, column] = value
    path = write_table(log, tmp_path / "log.csv")
    with pytest.raises(rs.InputError) as caught:
        rs.evaluate(path, MEASURES, by="country")
    assert (caught.value.code, caught.value.file) == (code, str(path))
    # The header is the first line; a conflict shows in this row or in the one after it.
    assert caught.value.line in ({row + 2, row + 3} if column == "country" else {row + 2})


def test_gain_tables_are_checked_in_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "AT_ONCE", 5)
    path = write_table(make_log(8), tmp_path / "log.csv")
    refused(lambda: rs.evaluate(path, rs.nDCG(gain=[0, 1]) @ 5), "gain_missing")


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    path = write_table(make_log(9), tmp_path / "log.csv")
    seen: list[tuple[int, int | None]] = []
    rs.evaluate(path, "RR", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_labels_are_grades(tmp_path: Path) -> None:
    log = b"qid,events,score\n1,click|view,0.1\n1,,0.9\n2,buy,0.5\n1,buy|click,0.7\n"
    positive = {"click": 1, "buy": 5}
    path = tmp_path / "log.csv"
    path.write_bytes(log)
    rankings = rs.Rankings.from_table(path, labels="events", positive=positive, separator="|")
    assert rankings.relevance.tolist() == [0, 6, 1, 5]
    for table in (path, rs.File(log, "csv"), pd.read_csv(path)):
        evaluation = rs.evaluate(table, MEASURES, labels="events", positive=positive, separator="|")
        found = {str(query): values for query, values in evaluation.to_dict().items()}
        assert found == rankings.evaluate(MEASURES).to_dict()  # a file has text


@pytest.mark.parametrize(
    "settings",
    [
        {"positive": "click"},
        {"unlabelled": None},
        {"labels": "events", "positive": "click", "assume_grouped": True},
        {"labels": "events", "positive": "click", "relevance": "score"},
    ],
)
def test_labels_that_do_not_fit_are_refused(settings: dict[str, Any]) -> None:
    log = rs.File(b"qid,events,score\n1,click,0.1\n", "csv")
    with pytest.raises(rs.UsageError):
        rs.evaluate(log, "RR", **settings)


ROWS = 12_000
OF_BATCHES = ["nDCG@10", "AP"]


def make_table(*, grouped: bool) -> pa.Table:
    """Return 600 queries with 20 documents, 4 MB in memory."""
    rng = np.random.default_rng(2)
    rows = np.arange(ROWS) if grouped else rng.permutation(ROWS)
    return pa.table(
        {
            "query_id": rows // 20,
            "doc_id": pa.array([f"d{row}" for row in rows]),
            "relevance": rows * 7 % 4,
            "score": rows * 37 % 101 / 8,
            "country": pa.array(np.array(["de", "fr"])[rows // 20 % 2]),
            "unneeded": pa.array([{"a": 1}] * ROWS),
        }
    )


def of_dataset(table: pa.Table, folder: Path) -> object:
    pq.write_table(table, folder / "table.parquet")
    return ds.dataset(folder / "table.parquet")


MAKE: dict[str, Callable[[pa.Table, Path], object]] = {
    "duckdb": lambda table, _: duckdb.from_arrow(table),
    "polars": lambda table, _: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "narwhals": lambda table, _: narwhals.from_native(pl.from_arrow(table)).lazy(),  # type: ignore[type-var]
    "reader": lambda table, _: table.to_reader(max_chunksize=1000),
    "dataset": of_dataset,
}


@pytest.mark.parametrize("memory", ["1MiB", "1GiB", None])
@pytest.mark.parametrize("grouped", [True, False], ids=["grouped", "scattered"])
@pytest.mark.parametrize("library", MAKE)
def test_tables_and_runs_are_evaluated_as_in_memory(
    library: str, memory: str | None, tmp_path: Path, *, grouped: bool
) -> None:
    table = make_table(grouped=grouped)
    expected = describe(rs.evaluate(table, OF_BATCHES, by="country"))
    given = MAKE[library](table, tmp_path)
    assert describe(rs.evaluate(given, OF_BATCHES, by="country", memory=memory)) == expected
    qrels, run = rs.read_qrels(table), table.drop(["relevance"])
    expected = describe(rs.evaluate(qrels, run, OF_BATCHES))
    given = MAKE[library](run, tmp_path)
    assert describe(rs.evaluate(qrels, given, OF_BATCHES, memory=memory)) == expected  # type: ignore[call-overload]


@pytest.mark.parametrize("library", MAKE)
def test_a_wrong_row_is_named(library: str, tmp_path: Path) -> None:
    table = make_table(grouped=True)
    scores = table.column("score").to_pylist()
    scores[10_007] = None
    table = table.set_column(3, "score", pa.array(scores))
    with pytest.raises(rs.errors.FormatError) as caught:
        rs.evaluate(MAKE[library](table, tmp_path), "RR")
    assert caught.value.line == 10_008


def test_what_a_library_can_not_compute_is_an_error() -> None:
    late = duckdb.sql(
        "select range // 5 as query_id, range as doc_id, 1 as relevance, "
        "case when range = 300000 then error('no such thing') else range end as score "
        "from range(400000)"
    )
    caught = refused(lambda: rs.evaluate(late, "RR"), "input_type")
    assert "no such thing" in str(caught)


def test_lists_are_rankings_here_too() -> None:
    lists: dict[str, Any] = {"query_id": ["a", "b"], "doc_id": [["x", "y"], ["z"]]}
    lists["relevance"] = [[0, 1], [1]]
    frame = pl.LazyFrame(lists)
    assert rs.evaluate(frame, "RR").per_query("RR").tolist() == [0.5, 1.0]

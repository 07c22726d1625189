"""What Dask evaluates equals what the local engine does, to the last bit."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import rankscope as rs
import rankscope.dask as rsd

from tests.merged import bits

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
dask = pytest.importorskip("dask", reason="Dask is not installed; it is in make test-integrations")
frames = pytest.importorskip("dask.dataframe")

MEASURES = ["nDCG@10", "AP", "RR", "Judged@5"]


def make(queries: int = 120, *, integers: bool = False) -> Any:
    """Return a table with ties, nulls, and queries of different sizes, in no order."""
    rows = [(query, doc) for query in range(queries) for doc in range(1 + query % 13)]
    rows.sort(key=lambda row: (row[0] * 7919 + row[1] * 104_729) % 10_007)
    return pd.DataFrame(
        {
            "query_id": [query if integers else f"q{query}" for query, _ in rows],
            "doc_id": [doc if integers else f"d{doc}" for _, doc in rows],
            "score": [float((query * 7 + doc * 3) % 5) for query, doc in rows],
            "relevance": [[0.0, 1.0, None, 2.0][(query + doc * doc) % 4] for query, doc in rows],
            "country": [["de", "fr", None][query % 3] for query, _ in rows],
        }
    )


@pytest.mark.parametrize("partitions", [1, 3, 20])
@pytest.mark.parametrize("integers", [True, False])
def test_a_table_has_the_local_values(partitions: int, *, integers: bool) -> None:
    table = make(integers=integers)
    frame = frames.from_pandas(table, npartitions=partitions, sort=False)
    found = rsd.evaluate(frame, MEASURES, by="country", policy="empty=skip")
    local = rs.evaluate(table, MEASURES, by="country", policy="empty=skip")
    assert bits(found) == bits(local)
    assert found.to_pandas()["query_id"].dtype == local.to_pandas()["query_id"].dtype
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
    assert bits(copy) == bits(local)


@pytest.mark.parametrize("partitions", [1, 7])
@pytest.mark.parametrize("policy", [None, "missing=skip,unjudged=remove"])
def test_judgments_and_a_run_have_the_local_values(partitions: int, policy: str | None) -> None:
    table = make()
    qrels = table.dropna(subset="relevance").query("query_id != 'q7'")
    qrels = qrels[["query_id", "doc_id", "relevance"]].astype({"relevance": int})
    run = table.query("query_id != 'q5'")[["query_id", "doc_id", "score"]]
    found = rsd.evaluate(
        frames.from_pandas(qrels, npartitions=partitions, sort=False),
        frames.from_pandas(run, npartitions=3, sort=False),
        MEASURES,
        policy=policy,
    )
    assert bits(found) == bits(rs.evaluate(qrels, run, MEASURES, policy=policy))


def test_a_convention_sees_all_grades() -> None:
    table = make().dropna(subset="relevance")
    qrels, run = table[["query_id", "doc_id", "relevance"]], table[["query_id", "doc_id", "score"]]
    found = rsd.evaluate(
        frames.from_pandas(qrels, npartitions=4, sort=False),
        frames.from_pandas(run, npartitions=4, sort=False),
        "nDCG@10",
        convention="sklearn",
    )
    assert dict(found) == dict(rs.evaluate(qrels, run, "nDCG@10", convention="sklearn"))


def test_integers_and_texts_meet() -> None:
    qrels = pd.DataFrame({"query_id": ["1", "1", "2"], "doc_id": list("aba"), "grade": [1, 0, 2]})
    run = pd.DataFrame({"query_id": [1, 1, 2], "doc_id": list("abc"), "score": [1.0, 2.0, 3.0]})
    found = rsd.evaluate(
        frames.from_pandas(qrels, npartitions=2), frames.from_pandas(run, npartitions=3), "AP"
    )
    assert dict(found) == dict(rs.evaluate(qrels, run, "AP"))


@pytest.mark.parametrize("partitions", [1, 2, 9])
def test_a_mistake_is_the_same_error_whatever_the_partitions(partitions: int) -> None:
    table = make()
    table = pd.concat([table, table[table["query_id"].isin(["q5", "q50"])]])
    frame = frames.from_pandas(table, npartitions=partitions, sort=False)
    with pytest.raises(rs.InputError) as caught:
        rsd.evaluate(frame, MEASURES)
    with pytest.raises(rs.InputError) as local:
        rs.evaluate(table, MEASURES)
    assert caught.value.code == local.value.code
    assert caught.value.line is None


def test_objects_of_other_types_are_an_error() -> None:
    with dask.config.set({"dataframe.convert-string": False}):
        table = make().astype({"query_id": object})
        table.loc[3, "query_id"] = 3
        frame = frames.from_pandas(table, npartitions=2, sort=False)
        with pytest.raises(rs.FormatError, match="a partition has other types") as caught:
            rsd.evaluate(frame, "AP")
    assert "query_id: string" in caught.value.hint


def test_what_needs_an_order_of_rows_or_is_no_frame_is_an_error() -> None:
    frame = frames.from_pandas(make(), npartitions=2, sort=False)
    with pytest.raises(rs.PolicyError, match="which Dask doesn't keep"):
        rsd.evaluate(frame, "AP", policy="ties=input")
    with pytest.raises(rs.UsageError, match="as a Dask DataFrame, found DataFrame"):
        rsd.evaluate(make(), "AP")
    with pytest.raises(rs.FormatError, match="relevance"):
        rsd.evaluate(frame.drop(columns="relevance"), "AP")
    with pytest.raises(rs.EmptyError, match="found none"):
        rsd.evaluate(frame[frame["score"] > 99], "AP")

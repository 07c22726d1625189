"""Files give the same results for any order of rows, whether they fit into memory or not."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import rankscope as rs
from rankscope.engine import memory

from tests.invariance.shuffled import COUNTRIES, NEW, OLD, QRELS, USERS, read, shuffle, tell, write
from tests.tabular import write_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.invariance.shuffled import Row

MEASURES = ["nDCG@10", "AP", "RR"]
SMALL = 10_000
"""Less memory than the rows need, in bytes."""
INTERVAL = rs.Interval(0.9, method="bca", resamples=999)


@pytest.fixture(autouse=True)
def _allow_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LEAST", 1)


def shuffle_queries(rows: list[Row], seed: int) -> list[Row]:
    """Return the rows in another order in which those of a query are together."""
    queries = {query: Random(f"{seed} {query}").random() for query, *_ in rows}
    return sorted(rows, key=lambda row: queries[row[0]])


ORDERS: dict[str, Callable[[list[Row], int], list[Row]]] = {
    "streamed": shuffle_queries,
    "spilled": shuffle,
}


def make_table(rows: list[Row]) -> pd.DataFrame:
    """Return judgments with the scores of a run, the users and the countries."""
    scores = {(query, doc): score for query, doc, score in OLD}
    return pd.DataFrame(
        {
            "query_id": [str(query) for query, *_ in rows],
            "doc_id": [doc for _, doc, _ in rows],
            "relevance": [grade for *_, grade in rows],
            "score": [scores[query, doc] for query, doc, _ in rows],
            "user": [USERS[str(query)] for query, *_ in rows],
            "country": [COUNTRIES[str(query)] for query, *_ in rows],
        }
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("way", ORDERS)
def test_a_table_is_evaluated_the_same_for_any_order_of_rows(
    way: str, form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def evaluate(table: object, threads: int, limit: int | None = SMALL) -> list[object]:
        found = rs.evaluate(
            table,
            MEASURES,
            by="country",
            cluster="user",
            weights={query: 1 + int(query) % 4 for query in USERS},
            interval=INTERVAL,
            threads=threads,
            memory=limit,
        )
        return [found.estimates, tell(found.slices)]

    expected = evaluate(make_table(QRELS), 1, None)
    for order in (1, 2):
        path = write_table(make_table(ORDERS[way](QRELS, order)), tmp_path / f"{order}.{form}")
        assert evaluate(path, order) == expected
    assert ("to temporary files" in caplog.text) == (way == "spilled")


@pytest.mark.parametrize("form", ["run", "parquet"])
@pytest.mark.parametrize("way", ORDERS)
def test_a_run_is_evaluated_the_same_for_any_order_of_rows(
    way: str, form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    choices: dict[str, Any] = {"cluster": USERS, "interval": INTERVAL}
    qrels, run, _ = read(0)
    expected = rs.evaluate(qrels, run, MEASURES, **choices).estimates
    for order in (1, 2):
        path = tmp_path / f"{order}.{form}"
        rows = ORDERS[way](OLD, order)
        if form == "run":
            write(rows, "score", path)
        else:
            names = ["query_id", "doc_id", "score"]
            write_table(pd.DataFrame(rows, columns=names).astype({"query_id": str}), path)
        found = rs.evaluate(read(order)[0], path, MEASURES, memory=SMALL, **choices)
        assert found.estimates == expected
    assert ("to temporary files" in caplog.text) == (way == "spilled")


@pytest.mark.parametrize("way", ORDERS)
def test_runs_are_fused_the_same_for_any_order_of_rows(way: str, tmp_path: Path) -> None:
    def fuse(order: int) -> list[bytes]:
        rows = [ORDERS[way](each, order) if order else each for each in (OLD, NEW)]
        runs = [write(each, "score", tmp_path / str(at)) for at, each in enumerate(rows)]
        fused = rs.fuse(runs, "combsum", weights=[0.3, 0.7])
        # Queries come in the order of the first run.
        return sorted(b"".join(fused.lines()).splitlines())

    assert fuse(1) == fuse(0) == fuse(2)

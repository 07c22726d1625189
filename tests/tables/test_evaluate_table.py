"""Tables of files, evaluated while they are read, give what they give in memory."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope.engine import batches

from tests.refusals import refused

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


def write_parquet(log: pd.DataFrame, folder: Path) -> Path:
    pq.write_table(pa.Table.from_pandas(log), folder / "log.parquet", row_group_size=37)  # type: ignore[no-untyped-call]
    return folder / "log.parquet"


def write_many(log: pd.DataFrame, folder: Path) -> Path:
    for part in range(3):
        some = log[log.search_group_id.str[1:].astype(int) % 3 == part]
        pq.write_table(pa.Table.from_pandas(some, preserve_index=False), folder / f"{part}.parquet")  # type: ignore[no-untyped-call]
    return folder


def write_csv(log: pd.DataFrame, folder: Path) -> Path:
    log.to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def write_jsonl(log: pd.DataFrame, folder: Path) -> Path:
    log.to_json(folder / "log.jsonl", orient="records", lines=True)
    return folder / "log.jsonl"


def write_arrow(log: pd.DataFrame, folder: Path) -> Path:
    log.to_feather(folder / "log.arrow")
    return folder / "log.arrow"


WRITERS = [write_parquet, write_csv, write_jsonl, write_arrow]


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
    ("write", "policy"),
    [
        *((write, None) for write in WRITERS),
        *((WRITERS[0], f"aggregate={name}") for name in ("ratio_of_sums", "median")),
        (WRITERS[-1], "empty=skip"),
    ],
)
def test_a_file_gives_what_its_frame_gives(
    write: Callable[[pd.DataFrame, Path], Path], policy: str | None, tmp_path: Path
) -> None:
    log = make_log(1)
    measures = "nDCG@5" if policy == "aggregate=ratio_of_sums" else MEASURES
    rankings = rs.Rankings.from_table(log, attributes=["country"])
    expected = rankings.evaluate(measures, policy=policy, by="country", interval=0.9)
    path = write(log, tmp_path)
    found = rs.evaluate(path, measures, policy=policy, by="country", interval=0.9)
    # As text, for a small slice of an unbounded measure has no interval, and NaN equals nothing.
    assert str(facts(found)) == str(facts(expected))
    assert found.query_ids == expected.query_ids


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize("write", WRITERS)
def test_queries_that_come_back_are_read_into_memory(
    write: Callable[[pd.DataFrame, Path], Path], tmp_path: Path
) -> None:
    log = make_log(2).sample(frac=1, random_state=3)
    expected = rs.Rankings.from_table(log).evaluate(MEASURES)
    path = write(log, tmp_path)
    assert facts(rs.evaluate(path, MEASURES)) == facts(expected)
    with pytest.raises(rs.FormatError) as caught:
        rs.evaluate(path, MEASURES, assume_grouped=True)
    assert (caught.value.code, caught.value.file) == ("query_returns", str(path))


def test_a_folder_is_one_table(tmp_path: Path) -> None:
    log = make_log(4)
    expected = rs.Rankings.from_table(log).evaluate(MEASURES)
    folder = write_many(log, tmp_path)
    for given in (folder, f"{folder}/*.parquet"):
        found = rs.evaluate(given, MEASURES)
        assert dict(found) == dict(expected)
        assert found.to_dict().keys() == expected.to_dict().keys()


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize("ties", ["average", "doc_id", "worst"])
def test_ties_and_weights_are_those_of_the_frame(ties: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a word of the policy
    log = make_log(5)
    rankings = rs.Rankings.from_table(log, ties=ties)
    weights = {query: 1 + len(query) * 0.25 for query in rankings.query_ids}
    expected = rankings.evaluate("nDCG@5", weights=weights)
    found = rs.evaluate(write_csv(log, tmp_path), "nDCG@5", policy=f"ties={ties}", weights=weights)
    assert dict(found) == dict(expected)


def test_gains_by_a_function_need_all_grades_and_get_them(tmp_path: Path) -> None:
    log = make_log(6)
    measure = rs.nDCG(gain=lambda grade: grade**2) @ 5
    expected = rs.Rankings.from_table(log).evaluate(measure)
    found = rs.evaluate(write_parquet(log, tmp_path), measure)
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
    path = write_csv(log, tmp_path)
    with pytest.raises(rs.InputError) as caught:
        rs.evaluate(path, MEASURES, by="country")
    assert (caught.value.code, caught.value.file) == (code, str(path))
    # The header is the first line; a conflict shows in this row or in the one after it.
    assert caught.value.line in ({row + 2, row + 3} if column == "country" else {row + 2})


def test_gain_tables_are_checked_in_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "AT_ONCE", 5)
    path = write_csv(make_log(8), tmp_path)
    refused(lambda: rs.evaluate(path, rs.nDCG(gain=[0, 1]) @ 5), "gain_missing")


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    path = write_csv(make_log(9), tmp_path)
    seen: list[tuple[int, int | None]] = []
    rs.evaluate(path, "RR", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("qid,label,score\n")
    refused(lambda: rs.evaluate(path, "RR"), "empty_input")


def test_a_frame_is_a_table_as_well() -> None:
    log = make_log(10)
    expected = rs.Rankings.from_table(log, attributes=["country"]).evaluate(MEASURES, by="country")
    assert facts(rs.evaluate(log, MEASURES, by="country")) == facts(expected)


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

"""A split separates what a recommender may learn from and what tests it, and counts the rest."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs

from dev.parity.splits import make_log
from tests.refusals import refused

START = datetime(2026, 10, 1)  # noqa: DTZ001 - logs without a zone are usual


def make_rows(seed, count=300, *, hours=240):
    """Make interactions, of which many are at the same time, and many pairs are repeated."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        user, item = f"u{int(draw.expovariate(0.2))}", f"i{int(draw.expovariate(0.1))}"
        rows.append((user, item, START + timedelta(hours=draw.randrange(hours))))
    return rows


def make_frame(rows):
    return pd.DataFrame(rows, columns=["user_id", "item_id", "timestamp"])


def list_rows(frame):
    return sorted(frame.itertuples(index=False, name=None))


def split_plainly(rows, is_test, keep=()):
    """Split as the documentation says, row by row."""
    train = [row for row, late in zip(rows, is_test, strict=True) if not late]
    users, items = {row[0] for row in train}, {row[1] for row in train}
    pairs = {row[:2] for row in train}
    test = {}
    lost = Counter()
    for user, item, when in sorted(
        (row for row, late in zip(rows, is_test, strict=True) if late),
        key=lambda row: row[2],
        reverse=True,
    ):
        if user not in users and "new_users" not in keep:
            lost["user not in train"] += 1
        elif item not in items and "new_items" not in keep:
            lost["item not in train"] += 1
        elif (user, item) in pairs and "known_pairs" not in keep:
            lost["user and item in train"] += 1
        elif (user, item) in test:
            is_later = test[user, item] > when
            lost[f"user and item {'later' if is_later else 'again'} in test"] += 1
        else:
            test[user, item] = when
    return sorted(train), sorted(test), lost


HIGHER = "user and item with a higher grade in test"


def find_cuts(rows, way):
    """The time at which the test set of each user begins, as the documentation says."""
    latest = sorted((row[2] for row in rows), reverse=True)
    of_user = {}
    for user, _, when in rows:
        of_user.setdefault(user, []).append(when)
    if "last_per_user" in way:
        return {user: sorted(times)[-way["last_per_user"] :][0] for user, times in of_user.items()}
    return dict.fromkeys(of_user, way.get("at") or latest[round(way["last"] * len(rows)) - 1])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("keep", [(), ("new_users",), ("new_items", "known_pairs")])
@pytest.mark.parametrize(
    "way",
    [
        {"at": START + timedelta(hours=15)},
        *({"last": share} for share in (0.05, 0.2, 0.5)),
        *({"last_per_user": count} for count in (1, 2, 5)),
    ],
)
def test_the_test_set_begins_where_it_is_said(seed, keep, way):
    rows = make_rows(seed, hours=20)
    cuts = find_cuts(rows, way)
    train, test, lost = split_plainly(rows, [row[2] >= cuts[row[0]] for row in rows], keep)
    parts = rs.split(make_frame(rows), **way, keep=keep)
    assert (list_rows(parts.train), list_rows(parts.test)) == (train, test)
    assert Counter(parts.dropped) == lost


def test_a_share_is_meant_as_it_is_written():
    # The double 0.1 is above a tenth, and 30 times it above 3.
    log = {"user_id": ["a"] * 30, "item_id": [f"i{n}" for n in range(30)], "time": [*range(30)]}
    parts = rs.split(log, last=0.1, keep="new_items")
    assert parts.test["item_id"] == ["i27", "i28", "i29"]
    assert "last 10% of the interactions, from 27 on" in parts.rule


def test_a_length_takes_what_is_less_old_than_it():
    days = [date(2026, 11, day) for day in (1, 22, 23, 24, 30)]
    log = pl.DataFrame({"user": ["u"] * 5, "item": [*"abcde"], "date": days})
    parts = rs.split(log, last="7d", keep="new_items")
    # Seven days: the 24th to the 30th.
    assert parts.test["item"].to_list() == ["d", "e"]
    assert parts.rule == "The test set is what is later than 2026-11-23."
    same = rs.split(log, last=timedelta(weeks=1), keep="new_items")
    assert same.test.equals(parts.test)
    assert rs.split(log, last="1w", keep="new_items").test.equals(parts.test)


@pytest.mark.parametrize(
    "at",
    [
        "2026-10-05",
        date(2026, 10, 5),
        datetime(2026, 10, 5),  # noqa: DTZ001 - as the log
        pd.Timestamp("2026-10-05"),
        np.datetime64("2026-10-05"),
        np.datetime64("2026-10-05T00:00:00", "ns"),
    ],
)
def test_a_time_can_be_given_in_many_ways(at):
    parts = rs.split(make_frame(make_rows(1)), at=at)
    assert parts.rule == "The test set begins at 2026-10-05."
    assert parts.train["timestamp"].max() < pd.Timestamp("2026-10-05")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("core", [2, 4])
def test_a_core_is_what_is_left_when_nothing_more_can_be_taken_away(seed, core):
    rows = make_rows(seed)
    while True:
        users, items = Counter(row[0] for row in rows), Counter(row[1] for row in rows)
        kept = [row for row in rows if users[row[0]] >= core and items[row[1]] >= core]
        if kept == rows:
            break
        rows = kept
    parts = rs.split(make_frame(make_rows(seed)), last=0.3, core=core, keep=("new_users",))
    assert {*parts.train["user_id"]} | {*parts.test["user_id"]} <= {row[0] for row in rows}
    counts = parts.counts.to_dict()
    assert counts[f"dropped: fewer than {core} interactions"]["interactions"] == 300 - len(rows)
    assert sum(parts.dropped.values()) + len(parts.train) + len(parts.test) == 300
    assert list_rows(parts.train) == sorted(
        row for row in rows if row[2] < sorted(each[2] for each in rows)[-_ceil(0.3, len(rows))]
    )


def _ceil(share, count):
    return -(-round(share * 10) * count // 10)


@pytest.mark.parametrize("way", [{"last": 0.3}, {"last": "12h"}, {"last_per_user": 2}, {"core": 3}])
def test_the_order_of_rows_does_not_matter(way):
    frame = make_frame(make_rows(3, hours=30)).assign(device=["tv", "web", "app"] * 100)
    settings = {"last": 0.4, **way} if "core" in way else way
    first = rs.split(frame, **settings)
    for seed in range(5):
        again = rs.split(frame.sample(frac=1, random_state=seed), **settings)
        assert list_rows(again.train) == list_rows(first.train)
        assert list_rows(again.test) == list_rows(first.test)
        assert str(again) == str(first)


@pytest.mark.parametrize(
    ("repeats", "kept", "dropped"),
    [
        ("highest", (5.0, "app"), {HIGHER: 2, "user and item again in test": 1}),
        ("latest", (3.0, "tv"), {"user and item later in test": 3}),
    ],
)
def test_of_a_repeated_pair_the_highest_grade_or_the_latest_row_stays(repeats, kept, dropped):
    log = {
        "user_id": [*"aabbbb"],
        "item_id": [*"xyyyyy"],
        "rating": [1.0, 2.0, 3.0, 5.0, 4.0, 5.0],
        "time": [0, 0, 9, 8, 8, 8],
        "device": ["tv", "tv", "tv", "web", "tv", "app"],
    }
    parts = rs.split(log, at=5, keep="new_users", repeats=repeats)
    rating, device = kept
    assert parts.test == {
        "user_id": ["b"],
        "item_id": ["y"],
        "rating": [rating],
        "device": [device],
    }
    assert parts.dropped == dropped


def test_sets_are_the_same_kind_of_table_as_the_log(tmp_path):
    frame = make_frame(make_rows(2))
    train, test = rs.split(frame, last="3d")
    assert frame.loc[train.index].equals(train)
    expected = list_rows(train), list_rows(test)
    path, csv = tmp_path / "log.parquet", tmp_path / "log.csv"
    pq.write_table(pa.Table.from_pandas(frame), path)
    frame.to_csv(csv, index=False)
    relation = duckdb.read_parquet(str(path))
    columns = {name: frame[name].to_list() for name in frame}
    arrays = {name: frame[name].to_numpy() for name in frame}
    for given, kind in (
        (frame, pd.DataFrame),
        (pl.from_pandas(frame), pl.DataFrame),
        (pl.from_pandas(frame).lazy(), pl.DataFrame),
        (pa.Table.from_pandas(frame), pa.Table),
        (columns, dict),
        (arrays, dict),
        (relation, pa.Table),
        (path, pa.Table),
        (rs.File(csv, columns={"query": "user_id"}), pa.Table),
    ):
        parts = rs.split(given, last="3d")
        assert [type(parts.train), type(parts.test)] == [kind, kind]
        found = [
            pd.DataFrame(each.to_pandas() if hasattr(each, "to_pandas") else each) for each in parts
        ]
        found[0]["timestamp"] = pd.to_datetime(found[0]["timestamp"])  # text in a CSV file
        assert tuple(map(list_rows, found)) == expected
    assert isinstance(rs.split(columns, last="3d").train["user_id"], list)


def test_mistakes_in_a_file_are_placed(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user_id,song,time\na,x,1\n", encoding="utf-8")
    error = refused(lambda: rs.split(path, at=1), "columns", "a column of doc")
    assert error.file == str(path)
    path.write_text("user_id,item_id,time\na,x,2026-11-01\na,y,soon\n", encoding="utf-8")
    error = refused(lambda: rs.split(path, last=0.5), "time_format", "'soon'")
    assert (error.file, error.line) == (str(path), 3)


def test_whole_times_of_json_keep_all_digits(tmp_path):
    path, first = tmp_path / "log.jsonl", 1_790_000_000_000_000_001
    text = "".join(
        f'{{"user_id": 1, "item_id": {more}, "time": {first + more}}}\n' for more in range(2)
    )
    path.write_text(text, encoding="utf-8")
    assert rs.split(path, at=first + 1, keep="new_items").train["time"].to_pylist() == [first]
    path.write_text(text + text.replace(str(first), "1.5"), encoding="utf-8")
    assert rs.split(path, at=2, keep="new_items").train["time"].to_pylist() == [1.5]


def test_ids_are_integers_where_those_of_the_log_are():
    log = {"user_id": [7, 7, 8, 8], "item_id": [1, 2, 1, 3], "timestamp": [1.5, 2.5, 1.5, 3.5]}
    train, test = rs.split(log, last_per_user=1, keep="new_items")
    assert train == {"user_id": [7, 8], "item_id": [1, 1], "timestamp": [1.5, 1.5]}
    assert test == {"user_id": [7, 8], "item_id": [2, 3]}


def test_both_sets_are_what_evaluate_takes():
    frame = make_frame(make_rows(4)).rename(columns={"timestamp": "played_at"})
    train, test = rs.split(frame, last=0.3, time="played_at")
    lists = {user: [*frame["item_id"].unique()[:10]] for user in test["user_id"]}
    evaluation = rs.evaluate(test, lists, ["R@10", "Novelty@10", "Coverage@10"], history=train)
    relevant = test.groupby("user_id")["item_id"].apply(set)
    recalls = [
        len(relevant[user] & {*lists[user]}) / len(relevant[user]) for user in relevant.index
    ]
    assert evaluation["R@10"] == pytest.approx(sum(recalls) / len(recalls), abs=1e-15)
    assert evaluation.counts.queries == len(relevant)


def test_times_with_a_zone_are_compared_in_utc():
    log = {
        "user_id": ["a", "a", "a"],
        "item_id": ["x", "y", "z"],
        "time": ["2026-11-01T00:30:00+02:00", "2026-10-31T23:00:00Z", "2026-11-01T00:00:00Z"],
    }
    parts = rs.split(log, at="2026-11-01T01:00:00+02:00", keep="new_items")
    assert parts.test["item_id"] == ["y", "z"]
    assert parts.rule == "The test set begins at 2026-10-31T23:00:00 UTC."
    moments = [datetime.fromisoformat(each) for each in log["time"]]
    assert (
        parts.test
        == rs.split(log, at=datetime(2026, 10, 31, 23, tzinfo=UTC), keep="new_items").test
    )
    for given in (moments, pd.Series(moments), pl.Series(moments)):
        same = rs.split({**log, "time": given}, at=moments[1], keep="new_items")
        assert same.test == parts.test


LOG = {"user_id": [*"aabb"], "item_id": [*"xyxy"], "time": [1, 2, 3, 4]}
DAYS = {**LOG, "time": ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"]}
ZONED = {**LOG, "time": [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 2, 3, 4)]}


@pytest.mark.parametrize(
    ("log", "settings", "code", "text"),
    [
        (LOG, {}, "bad_parameter", "expected exactly one of at, last and last_per_user"),
        (LOG, {"at": 2, "last": 0.5}, "bad_parameter", "expected exactly one"),
        (LOG, {"last": 0}, "bad_parameter", "a share between 0 and 1, or a length"),
        (LOG, {"last": 1.0}, "bad_parameter", "a share between 0 and 1, or a length"),
        (DAYS, {"last": timedelta(0)}, "bad_parameter", "a length"),
        (LOG, {"last": "7d"}, "bad_parameter", "the times in time are numbers, whose unit"),
        (LOG, {"at": "2026-11-02"}, "bad_parameter", "the times in time are numbers"),
        (LOG, {"at": float("nan")}, "bad_parameter", "the times in time are numbers"),
        (LOG, {"at": True}, "bad_parameter", "are numbers, found at='True'"),
        (
            DAYS,
            {"at": 3},
            "bad_parameter",
            "are dates or timestamps without a time zone, found at='3'",
        ),
        (DAYS, {"at": "tomorrow"}, "bad_parameter", "found at='tomorrow'"),
        (DAYS, {"at": "2026-11-02T00:00Z"}, "bad_parameter", "without a time zone"),
        (ZONED, {"at": "2026-11-02"}, "bad_parameter", "with a time zone"),
        (LOG, {"last_per_user": 0}, "bad_parameter", "last_per_user to be a whole number"),
        (LOG, {"last": 0.5, "core": 0}, "bad_parameter", "core to be a whole number"),
        (LOG, {"last": 0.5, "keep": "cold_users"}, "bad_parameter", "'cold_users' of keep"),
        (LOG, {"last": 0.5, "keep": None}, "bad_parameter", "of keep"),
        (LOG, {"last": 0.5, "core": 3}, "empty_input", "no users and items have 3 interactions"),
        (LOG, {"at": 5}, "empty_input", "the test set is empty: the test set begins at 5"),
        (LOG, {"at": 1}, "empty_input", "the training set is empty"),
        ({**LOG, "time": [1, 1, 1, 1]}, {"last": 0.1}, "empty_input", "the training set is empty"),
        (LOG, {"at": 3}, "empty_input", "user not in train: 2"),
        ({name: [] for name in LOG}, {"last": 0.5}, "empty_input", "found none"),
        (LOG, {"last": 0.5, "time": "when"}, "columns", "expected the column 'when' of time"),
        ({**LOG, "date": [1, 2, 3, 4]}, {"last": 0.5}, "columns", "found time and date"),
        ({"user_id": [1], "item_id": [1]}, {"last": 0.5}, "columns", "a column of time"),
        ({"item_id": [1], "time": [1]}, {"last": 0.5}, "columns", "a column of query"),
        ({"user_id": [1], "time": [1]}, {"last": 0.5}, "columns", "a column of doc"),
        ({**LOG, "time": [1, None, 3, 4]}, {"last": 0.5}, "missing_time", "in every row of time"),
        ({**LOG, "time": [1, float("nan"), 3, 4]}, {"last": 0.5}, "missing_time", "every row"),
        ({**LOG, "time": [1, float("inf"), 3, 4]}, {"last": 0.5}, "time_format", "found inf"),
        ({**LOG, "time": [True, False, True, True]}, {"last": 0.5}, "time_format", "found bool"),
        ({**LOG, "time": [*"abcd"]}, {"last": 0.5}, "time_format", "found 'a'"),
        (
            {**LOG, "time": [1, "2", 3, 4]},
            {"last": 0.5},
            "column_type",
            "one kind of values in time",
        ),
        (
            {**LOG, "time": [*DAYS["time"][:3], "2026-11-04T00:00:00Z"]},
            {"last": 0.5},
            "time_zone",
            "found both times",
        ),
        (
            {**LOG, "time": [*ZONED["time"][:3], START]},
            {"last": 0.5},
            "time_zone",
            "found both times",
        ),
        ({**LOG, "user_id": ["a", None, "b", "b"]}, {"last": 0.5}, "missing_id", "an ID in every"),
    ],
)
def test_what_does_not_fit_is_refused(log, settings, code, text):
    refused(lambda: rs.split(log, **settings), code, text)


GOLDEN = Path(__file__).parents[1] / "parity" / "golden" / "splits" / "rectools.json"
CASES = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
KEPT = {
    "filter_cold_users": "new_users",
    "filter_cold_items": "new_items",
    "filter_already_seen": "known_pairs",
}


@pytest.mark.parametrize("case", CASES)
def test_both_sets_have_the_rows_of_rectools(case):
    way, _, off = case.partition(" ")
    name, _, value = way.partition("=")
    log = pd.DataFrame(make_log(), columns=["user_id", "item_id", "date"])
    given = int(value) if name == "last_per_user" else value
    parts = rs.split(log, **{name: given}, keep=KEPT[off] if off else ())
    train, test = CASES[case]
    assert [*parts.train.index] == train
    # RecTools keeps all rows of a pair; rankscope the latest, as judgments have one.
    latest = log.loc[test].sort_values("date").drop_duplicates(["user_id", "item_id"], keep="last")
    assert [*parts.test.index] == sorted(latest.index)
    assert len(test) > 0

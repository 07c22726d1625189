from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankscope.monitor.events.columns import UnusualColumnError, split_lists
from rankscope.monitor.events.reader import EventReader

from tests.monitor.collecting import ingest

NOW = 1_795_284_000_000_000
NUMBER = st.sampled_from([1.0, 0.5, -0.0, 2.0, 1e300, float("nan"), float("inf"), None])
TIMES = [
    pa.array([NOW, NOW - 1, None], pa.timestamp("us", "UTC")),
    pa.array([NOW * 1000, 0, None], pa.timestamp("ns", "UTC")),
    pa.array([NOW, NOW, None], pa.timestamp("us", "Europe/Berlin")),
    pa.array([NOW, NOW, None], pa.timestamp("us")),
    pa.array([NOW // 1000, 0, None], pa.int64()),
    pa.array([NOW / 1000, float("nan"), None], pa.float64()),
    pa.array(["2026-11-21T17:00:00.25+01:00", "soon", None]),
]


def read(given, kind="rankings"):
    """What becomes of a table, decoded in the core and read by the reader of rows."""
    attributes = ["country"] if kind == "rankings" else []
    return [ingest(given, kind, attributes, now=NOW, takes_prepared=one) for one in (True, False)]


def often(draw, *usual):
    """One of some values, the first most of the time."""
    return draw(st.sampled_from([usual[0]] * 9 + list(usual)))


def draw_document(draw, rank):
    """One document, and now and then another user than the other rows of its ranking have."""
    one = {
        "doc_id": often(draw, f"d{rank}", None, "d0", ""),
        "rank": often(draw, rank + 1, rank, None, 2.5),
        "score": often(draw, 1.0 - rank, *[draw(NUMBER) for _ in range(3)]),
        "relevance": often(draw, 1.0, *[draw(NUMBER) for _ in range(3)]),
    }
    return one | ({"user_id": "v"} if draw(st.integers(0, 20)) == 7 else {})


@st.composite
def documents(draw):
    """Tables with a document a row, most rankings of which are sound."""
    rows = []
    for at in range(draw(st.integers(1, 4))):
        head = {
            "ranking_id": often(draw, f"r{at}", None, "r0", 7),
            "user_id": often(draw, "u", None, ""),
            "country": often(draw, "de", None, "fr"),
            "time": often(draw, 0, 1, 2),
        }
        count = draw(st.integers(1, 4))
        rows += [head | draw_document(draw, rank) for rank in range(count)]
    rows = draw(st.permutations(rows)) if draw(st.integers(0, 3)) == 0 else rows
    return _to_table(draw, rows, draw(st.sampled_from(TIMES)), lists=False)


@st.composite
def lists(draw):
    rows = []
    for at in range(draw(st.integers(1, 4))):
        count = draw(st.integers(0, 3))
        ranks = list(range(1, count + 1))
        numbers = draw(st.lists(NUMBER, min_size=count, max_size=count))
        rows.append(
            {
                "ranking_id": often(draw, f"r{at}", None, 7),
                "user_id": often(draw, "u", None, ""),
                "country": often(draw, "de", None, "fr"),
                "time": often(draw, 0, 1, 2),
                "doc_id": often(draw, [f"d{rank}" for rank in ranks], None, ["a", "a"], [None]),
                "rank": often(draw, ranks, ranks[::-1], None, [0]),
                "score": often(draw, [1.0 / rank for rank in ranks], numbers, None, [1.0]),
                "relevance": often(draw, numbers, None),
                "tags": often(draw, [("age", "9")], None, [], [("age", "9"), ("age", "8")]),
                "color": often(draw, None, "red"),
            }
        )
    return _to_table(draw, rows, draw(st.sampled_from(TIMES)), lists=True)


def _to_table(draw, rows, times, *, lists):
    left_out = draw(
        st.lists(st.sampled_from(["rank", "score", "relevance", "user_id"]), max_size=3)
    )
    wrap = pa.list_ if lists and draw(st.booleans()) else pa.large_list
    types = {
        "ranking_id": often(draw, pa.string(), pa.large_string()),
        "doc_id": pa.string(),
        "rank": often(draw, pa.int64(), pa.float64(), pa.int8()),
        "score": often(draw, pa.float64(), pa.float32()),
        "relevance": pa.float64(),
        "tags": pa.map_(pa.string(), pa.string()),
    }
    columns = {}
    for name in rows[0]:
        if name in left_out or name == "time":
            continue
        kind = types.get(name, pa.string())
        values = [row[name] for row in rows]
        if kind in {pa.string(), pa.large_string()} and not lists:
            values = [None if one is None else str(one) for one in values]
        if name == "ranking_id":
            values = [None if one is None else str(one) for one in values]
        if pa.types.is_integer(kind):
            values = _floor(values)
        is_list = lists and name in {"doc_id", "rank", "score", "relevance"}
        columns[name] = pa.array(values, wrap(kind) if is_list else kind)
    columns["time"] = times.take(pa.array([row["time"] for row in rows]))
    if draw(st.booleans()):
        values = [often(draw, 0.1, None, 0.0, -0.0, 1e300) for _ in rows]
        columns["country"] = pa.array(values, often(draw, pa.float64(), pa.float32()))
    return pa.table(columns)


def _floor(values):
    return [
        _floor(one) if isinstance(one, list) else None if one is None else int(one)
        for one in values
    ]


@st.composite
def items(draw):
    rows = []
    name = draw(st.sampled_from(["rank", "score", "relevance", "doc_id", "labels", "gain"]))
    for at in range(draw(st.integers(1, 4))):
        shown = [
            often(draw, draw_document(draw, rank), None) for rank in range(draw(st.integers(0, 3)))
        ]
        for one in shown:
            if one is not None:
                one.pop("user_id", None)
                one["rank"] = None if one["rank"] is None else float(one["rank"])
                one["color"] = often(draw, "red", None)
                one.update({name: None} if draw(st.integers(0, 9)) == 7 else {})
        rows.append(
            {
                "ranking_id": often(draw, f"r{at}", None),
                "time": NOW // 1000,
                "country": often(draw, "de", None),
                "color": often(draw, None, "red"),
                "doc_ids": often(draw, None, None, None, ["a"]),
                "items": often(draw, shown, None),
            }
        )
    fields = {
        "doc_id": pa.string(),
        "rank": pa.float64(),
        "score": pa.float64(),
        "relevance": pa.float32(),
        "color": often(draw, pa.string(), pa.dictionary(pa.int8(), pa.string())),
    }
    kept = {key: kind for key, kind in fields.items() if key != often(draw, "", name)}
    if name in {"labels", "gain"}:
        kept |= {name: pa.string() if name == "labels" else pa.float64()}
    of_ids = draw(st.integers(0, 3)) == 0
    for row in rows:
        if row["items"] is not None:
            row["items"] = [
                None
                if one is None
                else one["doc_id"]
                if of_ids
                else {key: one.get(key) for key in kept}
                for one in row["items"]
            ]
    wrap = pa.list_ if draw(st.booleans()) else pa.large_list
    inner = pa.string() if of_ids else pa.struct(kept)
    columns = {key: pa.array([row[key] for row in rows]) for key in rows[0] if key != "items"}
    columns["doc_ids"] = pa.array([row["doc_ids"] for row in rows], pa.list_(pa.string()))
    columns["items"] = pa.array([row["items"] for row in rows], wrap(inner))
    return pa.table(columns)


@settings(max_examples=300, deadline=None)
@given(st.one_of(documents(), lists(), items(), items()))
def test_tables_are_decoded_as_the_reference_reads_them(table):
    decoded, expected = read(table)
    assert decoded == expected


WORDS = [
    ["click", None, "", "buy", "n\0l", "long " * 50],
    [["click"], None, [], ["click", "buy"], [None], ["a"] * 99],
    [1, None, 2],
    [{"a": "click"}, None],
]
VALUES = [
    pa.array([1.0, None, float("nan"), float("inf"), -0.0, 0.1]),
    pa.array([1.0, None, 0.1], pa.float32()),
    pa.array([1, None, 2**53 + 1, -1]),
    pa.array([1, None, 3], pa.uint8()),
    pa.array([True, None]),
    pa.array(["1", None]),
]
KINDS = ["label", None, "correction", "retraction", "other", ""]
UNKNOWN = [
    pa.array([1.5, None, float("nan")]),
    pa.array(["red", None]),
    pa.array([["red"], None]),
    pa.array([None, None]),
]


@st.composite
def labels(draw):
    count = draw(st.integers(1, 5))

    def pick(values, *, often_first=True):
        rare = st.integers(0, len(values) - 1)
        one = st.integers(0, 9).flatmap(lambda number: rare if number == 7 else st.just(0))
        places = pa.array([draw(one if often_first else rare) for _ in range(count)])
        if pa.types.is_string_view(values.type):  # of which PyArrow takes none
            return values.cast(pa.string()).take(places).cast(values.type)
        return values.take(places)

    ids = [
        pa.array(["r", None, "", "s"], often(draw, pa.string(), pa.large_string())),
        pa.array([7, None, -1]),
        pa.array(["r", None]).dictionary_encode(),
        pa.array(["r", None], pa.string_view()),
        pa.array([b"r", None, b"\xff"]),
    ]
    columns = {
        "ranking_id": pick(often(draw, *ids)),
        draw(st.sampled_from(["doc_id", "item_id"])): pick(often(draw, *ids)),
        "time": pick(draw(st.sampled_from(TIMES))),
    }
    words = draw(st.sampled_from([WORDS[0], *WORDS]))
    choices = {
        "label": pick(pa.array(words)),
        "labels": pick(pa.array(WORDS[1])),
        "value": pick(draw(st.sampled_from(VALUES)), often_first=draw(st.booleans())),
        "kind": pick(pa.array(KINDS)),
        "event_id": pick(pa.array(["e", None, ""])),
        "color": pick(draw(st.sampled_from(UNKNOWN)), often_first=False),
        "event_attributes": pa.nulls(count, pa.string()),
    }
    usual = [draw(st.sampled_from(["label", "value"]))]
    chosen = set(usual + draw(st.lists(st.sampled_from(sorted(choices)), max_size=2)))
    columns |= {name: choices[name] for name in sorted(chosen)}
    left_out = often(draw, "", *columns)
    return pa.table({name: one for name, one in columns.items() if name != left_out})


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(labels())
def test_labels_are_decoded_as_the_reference_reads_them(table):
    decoded, expected = read(table, "labels")
    assert decoded == expected


CELLS = ["1", "2", "0", "007", "1.5", "-0", "1e3", "x", "", "nan", "1e999", "9" * 16, " 1", "+1"]


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_csv_is_decoded_as_the_reference_reads_it(tmp_path, data):
    draw = data.draw
    times = ["2026-11-21T17:00:00Z", "1795283000000", "soon", "1795283000000.5", ""]
    usual = often(draw, *times)
    is_label = draw(st.booleans())
    names = ["ranking_id", "doc_id", "time", "value" if is_label else "rank"]
    lines = [names if is_label else [*names, "score", "relevance", "country"]]
    for at in range(draw(st.integers(1, 6))):
        last = [often(draw, str(at + 1), *CELLS)]
        if not is_label:
            numbers = [often(draw, "0.5", *CELLS), often(draw, "1", *CELLS)]
            last += [*numbers, often(draw, "de", "fr", "")]
        ids = [often(draw, f"r{at // 3}", "", "r0"), often(draw, f"d{at}", "", "d0")]
        lines.append([*ids, often(draw, usual, *times), *last])
    path = tmp_path / "events.csv"
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    kind = "labels" if is_label else "rankings"
    decoded, expected = read(path, kind)
    assert decoded == expected


@pytest.mark.parametrize(
    "column",
    [pa.array([["a"]]), pa.array([[["a"]]]), pa.array([[True]]), pa.array(["a"])],
    ids=["time", "nested", "truth", "text"],
)
def test_columns_of_other_types_are_left_to_the_reader(column):
    ids = pa.array(["r"])
    with pytest.raises(UnusualColumnError):
        split_lists(
            {"ranking_id": ids, "doc_id": column, "time": pa.array([True])},
            EventReader().names,
            [],
        )

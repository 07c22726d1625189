from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import random
from collections import Counter
from datetime import UTC, datetime
from operator import attrgetter

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from rankscope import FileError, InputError, UsageError
from rankscope.errors import LimitError
from rankscope.monitor.events import tables as event_rows
from rankscope.monitor.events.event import Label
from rankscope.monitor.events.outcome import Outcome, tell_statuses
from rankscope.monitor.intake import files as event_files
from rankscope.monitor.intake.files import EventFile
from rankscope.monitor.intake.ingestion import Ingestion, StoreSink
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.test_read_events import LINES

NOW = 1_795_284_000_000_000
MOMENT = datetime(2026, 11, 21, 18, tzinfo=UTC)
TIME = "2026-11-21T18:00:00Z"
SHOWN = [
    {
        "ranking_id": ranking_id,
        "time": TIME,
        "items": [
            {"doc_id": doc_id, "rank": rank, "score": 1 / rank}
            for rank, doc_id in enumerate(ids, 1)
        ],
        "version": "4",
        "attributes": {"country": country},
    }
    for ranking_id, ids, country in (
        ("007", ["b", "NA", "9007199254740993"], "de"),
        ("null", ["1.0", "é"], "NA"),
        ("3", ["=1+1"], "01"),
    )
]
ROWS = [
    {
        "ranking_id": one["ranking_id"],
        "time": one["time"],
        "version": one["version"],
        "country": one["attributes"]["country"],
        **item,
    }
    for one in SHOWN
    for item in one["items"]
]


class Listing:
    takes_prepared = False

    def __init__(self):
        self.events = []
        self.most = 0

    def take(self, reading):
        self.events += reading.events
        self.most = max(self.most, len(reading.events))
        return tell_statuses(reading, [Outcome("accepted", 1)] * len(reading.events))


def ingestion(kind="rankings", *attributes, is_strict=True):
    sink = Listing()
    made = Ingestion(sink, kind, now=lambda: NOW, attributes=attributes, is_strict=is_strict)
    return made, sink


def take(path, content, kind="rankings", *attributes, is_strict=True):
    path.write_bytes(content)
    made, sink = ingestion(kind, *attributes, is_strict=is_strict)
    made.take_file(EventFile(str(path)))
    return made, sink


def table_of(rows):
    return pa.Table.from_pylist(list(rows))


def text_of(rows, delimiter):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def lines_of(objects):
    return b"".join(json.dumps(one).encode() + b"\n" for one in objects)


def lists_of(shown):
    """Whole rankings a row, as the export has them."""
    names = ("doc_id", "rank", "score")
    rows = [
        {name: one[name] for name in ("ranking_id", "time", "version")}
        | {name: [item[name] for item in one["items"]] for name in names}
        | {"attributes": list(one["attributes"].items())}
        for one in shown
    ]
    table = pa.Table.from_pylist(rows)
    kind = pa.map_(pa.string(), pa.string())
    attributes = pa.array([row["attributes"] for row in rows], kind)
    return table.set_column(table.schema.get_field_index("attributes"), "attributes", attributes)


def write_parquet(table):
    sink = io.BytesIO()
    parquet.write_table(table, sink, row_group_size=2)
    return sink.getvalue()


def write_feather(table):
    sink = io.BytesIO()
    feather.write_feather(table, sink)
    return sink.getvalue()


def write_dictionary(rows):
    table = table_of(rows)
    columns = [column.dictionary_encode() for column in table.columns]
    return write_parquet(pa.table(columns, table.column_names))


FILES = {
    "a.jsonl": lambda: lines_of(SHOWN),
    "A.NDJSON": lambda: lines_of(SHOWN).rstrip(b"\n"),
    "bom.jsonl": lambda: b"\xef\xbb\xbf" + lines_of(SHOWN).replace(b"\n", b"\r\n\n"),
    "a.jsonl.gz": lambda: gzip.compress(lines_of(SHOWN[:1])) + gzip.compress(lines_of(SHOWN[1:])),
    "a.jsonl.bz2": lambda: bz2.compress(lines_of(SHOWN)),
    "a.json": lambda: json.dumps(SHOWN, indent=1).encode(),
    "a.csv": lambda: text_of(ROWS, ","),
    "a.csv.gz": lambda: gzip.compress(text_of(ROWS, ",")),
    "a.tsv": lambda: text_of(ROWS, "\t"),
    "a.parquet": lambda: write_parquet(table_of(ROWS)),
    "dictionary.parquet": lambda: write_dictionary(ROWS),
    "lists.parquet": lambda: write_parquet(lists_of(SHOWN)),
    "a.arrow": lambda: write_feather(table_of(ROWS)),
    "lists.feather": lambda: write_feather(lists_of(SHOWN)),
}


def expected():
    made, sink = ingestion()
    made.take_objects(SHOWN)
    assert made.ingested.accepted == len(SHOWN)
    return sink.events


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_events(name, tmp_path):
    made, sink = take(tmp_path / name, FILES[name](), "rankings", "country", is_strict=False)
    assert sink.events == expected()
    assert made.ingested.accepted == len(SHOWN)
    assert made.ingested.unknown == {}


@pytest.mark.parametrize("library", ["dict", "pandas", "polars", "arrow", "lists", "objects"])
def test_frames_give_the_same_events(library):
    make = {
        "dict": lambda: {name: [row[name] for row in ROWS] for name in ROWS[0]},
        "pandas": lambda: pd.DataFrame(ROWS),
        "polars": lambda: pl.DataFrame(ROWS),
        "arrow": lambda: table_of(ROWS),
        "lists": lambda: lists_of(SHOWN),
        "objects": lambda: pd.DataFrame(ROWS).astype(object),
    }
    made, sink = ingestion("rankings", "country", is_strict=library != "lists")
    made.take_table(make[library]())
    by_id = attrgetter("ranking_id")
    assert sorted(sink.events, key=by_id) == sorted(expected(), key=by_id)


def test_columns_of_several_types_are_read_one_by_one():
    rows = {"ranking_id": ["a", 1], "doc_id": ["x", 2], "rank": [1, 1.0], "time": [MOMENT, TIME]}
    made, sink = ingestion()
    made.take_table(rows)
    assert [event.ranking_id for event in sink.events] == ["a", "1"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "frame"])
def test_rows_of_a_ranking_may_be_anywhere(name, seed, tmp_path, monkeypatch):
    monkeypatch.setattr(event_rows, "ROWS_AT_ONCE", 3)
    rows = random.Random(seed).sample(ROWS, len(ROWS))
    if name == "frame":
        made, sink = ingestion("rankings", "country")
        made.take_table(table_of(rows))
    else:
        text = text_of(rows, ",") if name == "rows.csv" else write_parquet(table_of(rows))
        _, sink = take(tmp_path / name, text, "rankings", "country")
    assert {event.ranking_id: event for event in sink.events} == {
        event.ranking_id: event for event in expected()
    }
    assert len(sink.events) == len(SHOWN)


def test_rows_that_are_together_are_not_sorted(tmp_path, monkeypatch):
    monkeypatch.setattr(event_rows, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(event_rows, "MOST_SORTED", 0)
    path = tmp_path / "rows.csv"
    made, sink = take(path, text_of(ROWS, ","), "rankings", "country")
    assert sink.events == expected()
    path.write_bytes(text_of([*ROWS[1:], ROWS[0]], ","))
    with pytest.raises(LimitError) as refused:
        made.take_file(EventFile(str(path)))
    assert (refused.value.code, refused.value.file) == ("query_returns", str(path))
    assert len(sink.events) == len(SHOWN)


def test_a_ranking_that_is_too_long_is_refused_however_it_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(event_rows, "ROWS_AT_ONCE", 300)
    rows = [{**ROWS[0], "doc_id": f"d{at}", "rank": at + 1} for at in range(2500)]
    text = text_of([*rows, ROWS[-1]], ",")
    made, sink = take(tmp_path / "rows.csv", text, "rankings", "country")
    assert [event.ranking_id for event in sink.events] == [ROWS[-1]["ranking_id"]]
    (refused,) = made.ingested.refused
    assert (refused.place, refused.code) == (2, "max_group")


def test_labels_are_read_from_lines_and_rows(tmp_path):
    rows = [
        {"ranking_id": "007", "doc_id": "b", "time": TIME, "labels": "click", "value": None},
        {"ranking_id": "007", "doc_id": "NA", "time": TIME, "labels": None, "value": 2.5},
    ]
    objects = [{name: value for name, value in row.items() if value is not None} for row in rows]
    texts = {"jsonl": lines_of(objects), "csv": text_of(rows, ",")}
    texts["parquet"] = write_parquet(table_of(rows))
    made, sink = ingestion("labels")
    made.take_table(pd.DataFrame(rows))
    for ending, text in texts.items():
        assert take(tmp_path / f"a.{ending}", text, "labels")[1].events == sink.events
    assert [(event.labels, event.value) for event in sink.events if isinstance(event, Label)] == [
        (("click",), None), ((), 2.5)
    ]  # fmt: skip


def test_lines_that_are_wrong_do_not_stop_the_others(tmp_path):
    path = tmp_path / "a.jsonl"
    good = lines_of(SHOWN)
    wrong = b"\n".join(line for line, _ in LINES)
    made, sink = take(path, good + b"\n" + wrong + b"\n" + good)
    assert sink.events == [*expected(), *expected()]
    told = [(one.file, one.place, one.code) for one in made.ingested.refused]
    assert told == [(str(path), at, code) for at, (_, code) in enumerate(LINES, len(SHOWN) + 2)]
    assert made.ingested.reasons == Counter(code for _, code in LINES)
    assert all(str(one).isprintable() for one in made.ingested.refused)


def test_a_line_without_end_is_skipped_in_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(event_files, "PIECE", 100)
    monkeypatch.setattr(event_files, "LONGEST_LINE", 1000)
    for length in (999, 1000, 1001, 5000):
        text = lines_of(SHOWN) + b"x" * length + b"\n" + lines_of(SHOWN)
        made, sink = take(tmp_path / "a.jsonl", text)
        assert len(sink.events) == 2 * len(SHOWN)
        (refused,) = made.ingested.refused
        code = "json_syntax" if length <= 1000 else "line_length"
        assert (refused.place, refused.code) == (len(SHOWN) + 1, code)


@pytest.mark.parametrize(
    ("column", "cell", "code"),
    [
        ("rank", "1,5", "bad_rank"),
        ("rank", "first", "bad_rank"),
        ("rank", "0.5", "bad_rank"),
        ("score", "nan", "score_not_number"),
        ("score", "1e999", "score_not_number"),
        ("score", "0x10", "score_not_number"),
        ("time", "2026-11-21 18:00:00", "time_zone"),
        ("time", "2026-02-30T00:00:00Z", "time_format"),
        ("ranking_id", "", "missing_field"),
        ("doc_id", "", "id_type"),
        ("doc_id", "x" * 600, "id_length"),
    ],
)
def test_a_cell_that_is_wrong_does_not_stop_the_others(column, cell, code, tmp_path):
    rows = [*ROWS[:-1], ROWS[-1] | {column: cell}]
    made, sink = take(tmp_path / "a.csv", text_of(rows, ","), "rankings", "country")
    assert sink.events == expected()[:-1]
    (refused,) = made.ingested.refused
    assert (refused.place, refused.code) == (len(rows) + 1, code)


def test_places_are_lines_also_after_fields_of_several_lines(tmp_path):
    rows = [ROWS[0] | {"note": "one\ntwo\nthree"}, ROWS[-1] | {"note": "", "rank": "x"}]
    text = text_of(rows, ",").replace(b"\r\n", b"\n")
    made, _ = take(tmp_path / "a.csv", text, "rankings", "country")
    (refused,) = made.ingested.refused
    assert refused.place == 5
    assert made.ingested.unknown == {"note": 1}


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("a.csv", b"", "empty_input"),
        ("a.csv", b"ranking_id,doc_id\na,b\n", "columns"),
        ("a.csv", b"ranking_id,ranking_id\na,b\n", "columns"),
        ("a.csv", b"qid,ranking_id,doc_id,rank,time\n1,1,1,1,0\n", "ambiguous_field"),
        ("a.csv", b'ranking_id,doc_id,rank,time\n"a,b,1,0\n', "unterminated_quote"),
        ("a.csv", b"ranking_id,doc_id,rank,time\na,b,1\n", "field_count"),
        ("a.csv", b"ranking_id,doc_id,rank,time\na\0,b,1,0\n", "nul_byte"),
        ("a.csv", b"ranking_id,doc_id,rank,time\n\xff,b,1,0\n", "encoding"),
        ("a.csv", b"ranking_id;doc_id;rank;time\na;b;1;0\n", "columns"),
        ("a.json", b" \n", "empty_input"),
        ("a.json", b"{} {}", "json_syntax"),
        ("a.json", b"[" * 100_000, "depth"),
        ("a.parquet", b"PAR1 and no more", "parquet_invalid"),
        ("a.arrow", b"ARROW1 and no more", "arrow_invalid"),
        ("a.jsonl", b"PAR1", "not_text"),
        ("a.jsonl.gz", gzip.compress(b"{}\n" * 1000, mtime=0)[:-9], "compressed_truncated"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(name, text, code, tmp_path):
    path = tmp_path / name
    path.write_bytes(text)
    made, sink = ingestion()
    with pytest.raises(InputError) as refused:
        made.take_file(EventFile(str(path)))
    assert (refused.value.code, refused.value.file) == (code, str(path))
    assert sink.events == []


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (EventFile("a.xlsx"), UsageError),
        (EventFile("a.parquet.gz"), UsageError),
        (EventFile("-"), UsageError),
        (EventFile("none.csv"), FileError),
        (EventFile("none.jsonl"), FileError),
        (EventFile("a\0.jsonl"), FileError),
        (EventFile("none.csv", "xlsx"), UsageError),
    ],
)
def test_a_path_that_is_none_is_refused(given, kind):
    made, _ = ingestion()
    with pytest.raises(kind):
        made.take_file(given)


def test_a_store_takes_each_event_once_and_counts_what_it_did_not(tmp_path):
    path = tmp_path / "a.jsonl"
    other = SHOWN[0] | {"version": "5"}
    path.write_bytes(lines_of([*SHOWN, SHOWN[1], other, {"color": 1}]))
    with SQLiteStore(tmp_path / "events.db") as store:
        for seen in (False, True):
            made = Ingestion(StoreSink(store, "music"), "rankings", now=lambda: NOW)
            made.take_file(EventFile(str(path)))
            ingested = made.ingested
            new = (0, len(SHOWN) + 1) if seen else (len(SHOWN), 1)
            assert (ingested.accepted, ingested.duplicate) == new
            assert (ingested.conflict, ingested.rejected) == (1, 1)
            places = {refused.code: refused.place for refused in ingested.refused}
            assert places == {"event_conflict": 5, "missing_field": 6}
        counted = store.counters("music")
    assert counted["accepted"] == len(SHOWN)
    assert counted["duplicate"] == len(SHOWN) + 2
    assert (counted["conflict"], counted["missing_field"]) == (2, 2)


def test_batches_and_what_is_shown_of_refusals_are_bounded(tmp_path):
    made, _ = ingestion()
    made.take_objects([{}] * 3000)
    assert made.ingested.rejected == 3000
    assert [refused.place for refused in made.ingested.refused] == list(range(1, 21))
    made, sink = take(tmp_path / "a.jsonl", lines_of(SHOWN) * 1000)
    assert made.ingested.accepted == 3000
    assert sink.most <= event_files.AT_ONCE

"""What files and values of other tools hold has one meaning by every entrance."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from math import log2

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope.monitor import Monitor
from rankscope.monitor.commands.events import EventFile
from rankscope.monitor.intake.ingestion import Ingestion, StoreSink

from tests.refusals import refused
from tests.tabular import write_table

HEADER = ("query_id", "doc_id", "score", "relevance")
SECOND = 1 / log2(3)
"""The nDCG of a relevant document at the second rank."""


def write(path, text):
    path.write_bytes(text.encode())
    return path


def values(table, measure="nDCG", **options):
    return {
        query: of[measure] for query, of in rs.evaluate(table, measure, **options).to_dict().items()
    }


def delimited(rows, delimiter):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in (HEADER, *rows))


QUOTED = ['"Low', 'd"', '"Heroes"_(song)', '"whole"', '"', '""', 'a"b']


@pytest.mark.parametrize("doc", QUOTED)
def test_ids_of_tsv_are_as_written_whatever_quotes_they_have(doc, tmp_path):
    rows = [("q1", "x", 2, 0), ("q1", doc, 1, 1), (doc, "y", 1, 1), ("q3", "z", 1, 0)]
    table = write(tmp_path / "t.tsv", delimited(rows, "\t"))
    assert values(table) == {"q1": SECOND, doc: 1.0, "q3": 0.0}
    judged = {"q1": {doc: 1}, doc: {"y": 1}}
    assert rs.evaluate(judged, table, "nDCG")["nDCG"] == (SECOND + 1) / 2


def test_tsv_with_a_header_in_quotes_has_quotes(tmp_path):
    cells = (["q", "q"], ['a "b"', "c\td"], [1.0, 2.0], [1, 0])
    path = write_table(dict(zip(HEADER, cells, strict=True)), tmp_path / "t.tsv")
    assert path.read_text().startswith('"query_id"')
    assert values(path) == {"q": SECOND}
    assert rs.evaluate({"q": {'a "b"': 1}}, path, "nDCG")["nDCG"] == SECOND


def test_a_tab_in_a_field_of_tsv_is_refused_with_what_helps(tmp_path):
    table = write(tmp_path / "t.tsv", delimited([("q", '"a\tb"', 1, 1)], "\t"))
    error = refused(lambda: values(table), "field_count", "found 5")
    assert error.line == 2
    assert "write CSV" in error.hint


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('q1,"Low,3,1\nq2,b,2,1\nq3,d",1,0\n', 2),
        ('q1,a,1,1\n\nq2,"b\nc",2,1\n', 4),
        ('q1,a,1,1\n"q\r2",b,2,1\n', 3),
        ('q1,a,1,1\n"\nq2",b,2,1\n', 3),
        ("q,d,1,1\n" * 600_000 + 'q1,"Low,3,1\nq2,d",1,0\n', 600_002),
    ],
    ids=["a quote", "after a blank line", "a query", "at the beginning", "in a later block"],
)
def test_an_id_of_csv_with_a_line_break_is_refused_where_its_quote_begins(rows, line, tmp_path):
    table = write(tmp_path / "t.csv", ",".join(HEADER) + "\n" + rows)
    error = refused(lambda: values(table, duplicates="first"), "unterminated_quote", "line break")
    assert (error.file, error.line) == (str(table), line)


def test_other_cells_of_csv_can_have_line_breaks_and_lines_are_counted_with_them(tmp_path):
    text = 'title,query_id,doc_id,score,relevance\n"two\nlines",q,a,2,0\n"x, ""y""",q,b,1,1\n'
    assert values(write(tmp_path / "t.csv", text)) == {"q": SECOND}
    table = write(tmp_path / "u.csv", text + "z,q,c,?,1\n")
    assert refused(lambda: values(table), "score_not_number").line == 5


@pytest.mark.parametrize(
    ("before", "between", "lines"),
    [
        ("", "", (2, 3)),
        ("\n", "", (3, 4)),
        ("\n\n", "\n", (4, 6)),
        ("\r\n", "\r\n\r\n", (3, 6)),
        ("q0,z,1\n\n", "\nq9,x,1\n", (4, 7)),
    ],
)
def test_duplicates_are_at_the_lines_of_the_file(before, between, lines, tmp_path):
    table = write(tmp_path / "t.csv", f"query_id,doc_id,relevance\n{before}q,a,3\n{between}q,a,1\n")
    error = refused(lambda: rs.evaluate(table, {"q": {"a": 1.0}}, "nDCG"), "duplicate_conflict")
    first, second = lines
    assert error.line == second
    assert error.message.endswith(f"found 3 in line {first} and 1 in line {second}")


def test_duplicates_in_two_files_name_both(tmp_path):
    for name, blank, grade in (("a", "\n", 3), ("b", "\n\n", 1)):
        write(tmp_path / f"{name}.csv", f"query_id,doc_id,relevance\n{blank}q,a,{grade}\n")
    error = refused(lambda: rs.evaluate(tmp_path, {"q": {"a": 1.0}}, "nDCG"), "duplicate_conflict")
    assert error.message.endswith(f"found 3 in line 3 of {tmp_path}/a.csv and 1 in line 4")


JUDGMENTS = "4 qid:1 # 7555 Title\n0 qid:1 # 12 Other\n1 qid:2 # 7555 Title\n"
SAMPLE = f"# qid:1: rambo\n#\n\n{JUDGMENTS}"


@pytest.mark.parametrize("name", ["j.txt", "j.qrels", "j.letor", "j"])
@pytest.mark.parametrize(
    "text",
    [
        JUDGMENTS,
        SAMPLE,
        JUDGMENTS.replace(" ", "\t"),
        JUDGMENTS.replace("\n", "\r\n"),
        JUDGMENTS.replace("# ", "#"),
    ],
    ids=["plain", "with comments", "tabs", "CRLF", "no blank"],
)
def test_judgments_of_a_plugin_are_read_with_the_documents_of_their_comments(name, text, tmp_path):
    run = {"1": {"7555": 1.0, "12": 2.0}, "2": {"7555": 1.0}}
    for judgments in (write(tmp_path / name, text), text.encode()):
        made = rs.evaluate(judgments, run, "nDCG").to_dict()
        assert made == {"1": {"nDCG": SECOND}, "2": {"nDCG": 1.0}}
    assert rs.read_letor(text.encode()).doc_ids == ["7555", "12", "7555"]


@pytest.mark.parametrize("row", ["1 qid:2 1:0.5 # 99 title", "1 qid:2", "1 qid:2 #", "1 qid:2 1:0"])
def test_comments_name_documents_only_where_all_rows_are_judgments(row):
    first = f"{row}\n{JUDGMENTS}".replace("qid:2", "qid:0", 1)
    for text in (f"{JUDGMENTS}{row}\n", first):
        assert rs.read_letor(text.encode()).doc_ids is None


@pytest.mark.parametrize("is_grouped", [True, False])
def test_unsigned_ids_above_63_bits_are_read_from_frames_and_in_later_batches(is_grouped, tmp_path):
    count = 200_000
    queries = np.repeat(np.arange(count // 2, dtype="u8"), 2)
    queries[count // 2 :] += np.uint64(2**63)
    scores, grades = np.tile([2.0, 1.0], count // 2), np.tile([0, 1], count // 2)
    table = pa.table([queries, np.arange(count) % 2, scores, grades], names=HEADER)
    if not is_grouped:
        table = table.take(pa.array(np.random.default_rng(1).permutation(count)))
    pq.write_table(table, tmp_path / "t.parquet")
    for given in (tmp_path / "t.parquet", table, pl.from_arrow(table), duckdb.from_arrow(table)):
        evaluation = rs.evaluate(given, "nDCG")
        assert evaluation["nDCG"] == pytest.approx(SECOND, abs=1e-15)
        assert len(evaluation.to_dict()) == count // 2


@pytest.mark.parametrize("ids", [[2**63, 1], [1, 2**63], ["a", 2**70], [1, -(2**63) - 1]])
def test_ids_of_json_lines_beyond_64_bits_are_refused_with_what_helps(ids, tmp_path):
    def lines(ids):
        rows = (dict(zip(HEADER, (query, "d", 1.0, 1), strict=True)) for query in ids)
        return "".join(f"{json.dumps(row)}\n" for row in rows)

    error = refused(lambda: values(write(tmp_path / "t.jsonl", lines(ids))), "id_type", "64-bit")
    assert error.line == 1 + (ids[0] in {1, "a"})
    texts = [*map(str, ids)]
    assert values(write(tmp_path / "u.jsonl", lines(texts))) == dict.fromkeys(texts, 1.0)


SHOWN = [
    {"doc_id": "a", "score": 2.0, "label": "no"},
    {"doc_id": "b", "score": 1.0, "label": "yes"},
]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", ""])
def test_lists_of_objects_in_files_are_as_in_memory(ending, tmp_path):
    rankings = {"query_id": ["q"], "items": [SHOWN], "kind": ["x"]}
    log = {
        "user_id": ["u"] * 3,
        "item_id": ["a", "b", "c"],
        "time": [1.0, 2.0, 3.0],
        "items": [SHOWN] * 3,
    }
    given, logged = (
        write_table(of, tmp_path / f"{name}.{ending}") if ending else pa.table(of)
        for name, of in (("rankings", rankings), ("log", log))
    )
    labelled = {"labels": "label", "positive": {"yes": 1, "no": 0}}
    assert values(given, **labelled) == {"q": SECOND}
    train = rs.split(logged, last_per_user=1, keep="new_items").train
    assert pa.table(train).column("items").to_pylist() == [SHOWN] * 2
    judged, choices = {"q": {"a": 1}}, {"attributes": given, "by": "label"}
    call = partial(rs.evaluate, judged, judged, "nDCG", **choices)
    refused(call, "columns", "query_id, items, kind")


def ingest(path, folder, **options):
    with Monitor.open(str(folder / "events.db")) as monitor:
        ingestion = Ingestion(StoreSink(monitor.writer, "default"), "rankings", now=lambda: NOW)
        ingestion.take_file(EventFile(str(path), **options))
        shown = [*monitor.writer.list_documents("default", ["r", "1.5", str(2**63)]).items()]
        return ingestion.ingested, shown


TIME = "2026-11-21T18:00:00Z"
NOW = int(datetime(2026, 11, 22, tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("ranking", "docs", "expected"),
    [
        (["r"] * 2, [Decimal("1.50"), Decimal("2.00")], ("r", ["1.5", "2"])),
        (["r"] * 2, [b"b", b"a"], ("r", ["b", "a"])),
        (["r"] * 2, pa.array([b"bb", b"aa"], pa.binary(2)), ("r", ["bb", "aa"])),
        ([Decimal("1.50")] * 2, ["a", "b"], ("1.5", ["a", "b"])),
        (
            pa.array([2**63] * 2, pa.uint64()),
            pa.array([2**64 - 1, 1], pa.uint64()),
            (str(2**63), [str(2**64 - 1), "1"]),
        ),
    ],
    ids=["decimals", "bytes", "fixed", "ranking", "unsigned"],
)
def test_the_monitor_reads_the_ids_that_evaluate_reads(ranking, docs, expected, tmp_path):
    path = write_table(
        {"ranking_id": ranking, "time": [TIME] * 2, "doc_id": docs, "rank": [1, 2]},
        tmp_path / "t.parquet",
    )
    ingested, shown = ingest(path, tmp_path)
    assert ingested.accepted == 1
    ((name, doc_ids),) = [pair for pair in shown if pair[1]]
    assert (name, sorted(doc_ids)) == (expected[0], sorted(expected[1]))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_times_without_a_zone_are_in_the_one_that_is_said(form, tmp_path):
    naive = datetime(2026, 11, 21, 18, tzinfo=UTC).replace(tzinfo=None)
    columns = {
        "ranking_id": ["r"],
        "time": pa.array([naive], pa.timestamp("us")),
        "doc_id": ["a"],
        "rank": [1],
    }
    path = tmp_path / f"t.{form}"
    if form == "parquet":
        pq.write_table(pa.table(columns), path, use_deprecated_int96_timestamps=True)
    else:
        write_table(columns, path)
    refusals = ingest(path, tmp_path)[0]
    assert refusals.reasons == {"time_zone": 1}
    assert "--timezone" in refusals.refused[0].hint
    assert ingest(path, tmp_path, timezone="Europe/Berlin")[0].accepted == 1
    again = write_table(columns | {"time": ["2026-11-21T17:00:00Z"]}, tmp_path / "again.csv")
    assert ingest(again, tmp_path)[0].duplicate == 1


def test_the_monitor_refuses_zones_of_json_and_unknown_ones():
    for name, zone in (("a.jsonl", "UTC"), ("a.csv", "Europe/Nowhere")):
        refused(EventFile(name, timezone=zone).check, "bad_parameter", "time zone")
    EventFile("a.csv", timezone="UTC").check()


def test_quotes_of_events_are_as_those_of_rankings(tmp_path):
    rows = f'ranking_id,time,doc_id,rank\nr,{TIME},"Low,1\nr,{TIME},b",2\n'
    path = write(tmp_path / "t.csv", rows)
    assert refused(lambda: ingest(path, tmp_path), "unterminated_quote").line == 2
    _, shown = ingest(write(tmp_path / "t.tsv", rows.replace(",", "\t")), tmp_path)
    assert sorted(shown[0][1]) == ['"Low', 'b"']


def write_delta(folder, physical, features=()):
    """Write a Delta table of version 0, whose column of scores has a name of its own there."""
    table = {
        "query_id": ["q", "q"],
        "doc_id": ["a", "b"],
        "score": [1.0, 2.0],
        "col-9": [2.0, 1.0],
        "relevance": [1, 0],
    }
    (folder / "_delta_log").mkdir(parents=True)
    path = write_table(table, folder / "part.parquet")
    kinds = {"query_id": "string", "doc_id": "string", "score": "double", "relevance": "long"}
    fields = []
    for at, (name, kind) in enumerate(kinds.items(), 1):
        mapping = {} if physical is None else {"id": at, "physicalName": physical.get(name, name)}
        metadata = {f"delta.columnMapping.{key}": value for key, value in mapping.items()}
        fields.append({"name": name, "type": kind, "nullable": True, "metadata": metadata})
    mode = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "9"}
    versions = {"minReaderVersion": 3 if features else 2, "minWriterVersion": 7 if features else 5}
    named = {"readerFeatures": features, "writerFeatures": features} if features else {}
    metadata = {
        "id": "1",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": {} if physical is None else mode,
        "createdTime": 0,
    }
    added = {"path": path.name, "size": path.stat().st_size, "modificationTime": 0}
    added |= {"partitionValues": {}, "dataChange": True}
    log = [{"protocol": versions | named}, {"metaData": metadata}, {"add": added}]
    (folder / "_delta_log" / f"{0:020}.json").write_text("\n".join(map(json.dumps, log)))
    return str(folder)


@pytest.mark.parametrize(
    ("physical", "features", "match"),
    [
        ({"score": "col-9"}, [], "the column score as col-9"),
        ({"relevance": "col-1", "score": "col-9"}, [], "relevance as col-1"),
        ({"score": "col-9"}, ["columnMapping"], "the column score as col-9"),
        (
            None,
            ["deletionVectors"],
            "deletion vectors, which name rows of its files that are deleted",
        ),
    ],
)
def test_a_delta_table_that_would_be_read_wrongly_is_refused(physical, features, match, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    folder = write_delta(tmp_path / "t", physical, features)
    for table in (folder, deltalake.DeltaTable(folder)):
        error = refused(lambda table=table: values(table), "lakehouse_table", match)
        assert "credentials" not in error.hint


@pytest.mark.parametrize("physical", [None, {}, {"score": "score"}])
def test_a_delta_table_whose_files_have_its_names_is_read(physical, tmp_path):
    pytest.importorskip("deltalake")
    assert values(write_delta(tmp_path / "t", physical)) == {"q": SECOND}


def test_the_monitor_reads_no_file_of_a_delta_table(tmp_path):
    folder = write_delta(tmp_path / "t", None)
    error = refused(lambda: ingest(f"{folder}/part.parquet", tmp_path), "lakehouse_table")
    assert "Parquet file elsewhere" in error.hint


@pytest.mark.parametrize(
    ("form", "text", "first", "second"),
    [
        ("csv", "query_id,doc_id,score\nq,a,1\n\nq,b,2\nq,a,3\n", 2, 5),
        ("csv", 'query_id,doc_id,score,note\nq,a,1,"x\ny"\nq,a,3,z\n', 2, 4),
        ("tsv", "query_id\tdoc_id\tscore\nq\ta\t1\nq\ta\t3\n", 2, 3),
        ("jsonl", "\n".join(['{"query_id": "q", "doc_id": "a", "score": 1}'] * 2), 1, 2),
        (
            "jsonl",
            '\n{"query_id": "p", "doc_ids": []}\n{"query_id": "q", "doc_ids": ["a", "a"]}',
            3,
            3,
        ),
        ("trec", "q Q0 a 1 2 t\n\nq Q0 a 2 1 t\n", 1, 3),
    ],
)
def test_duplicates_of_runs_that_are_fused_are_at_the_lines_of_the_file(
    form, text, first, second, tmp_path
):
    run = rs.File(write(tmp_path / "odd", text), form)
    for call in (lambda: rs.fuse([run, {"q": ["b"]}]), lambda: rs.agreement(run, {"q": ["b"]})):
        error = refused(call, "duplicate_doc", f"again, {second - first} line")
        assert error.line == second

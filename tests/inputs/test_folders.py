"""Folders of files: tables of lakehouses are refused, and folders of partitions give columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope.errors import FileError, FormatError

from tests.refusals import refused, refuses

CURRENT = {
    "query_id": ["q1", "q1"],
    "doc_id": ["d1", "d2"],
    "relevance": [1, 0],
    "score": [2.0, 1.0],
}
QRELS = {"q1": {"d1": 1}}
RUN = {"q1": {"d1": 1.0}}

READERS = {
    "evaluate judgments": lambda path: rs.evaluate(path, RUN, "RR"),
    "evaluate a run": lambda path: rs.evaluate(QRELS, path, "RR"),
    "evaluate several runs": lambda path: rs.evaluate(QRELS, {"a": path}, "RR"),
    "evaluate a file": lambda path: rs.evaluate(QRELS, rs.File(path, "parquet"), "RR"),
    "evaluate_table": lambda path: rs.evaluate(path, "RR"),
    "Rankings": rs.Rankings.from_table,
    "read_qrels": rs.read_qrels,
    "read_items": rs.read_items,
    "read_history": lambda path: rs.read_items(history=path),
    "read_catalogue": lambda path: rs.read_items(catalogue=path),
    "compare": lambda path: rs.compare(QRELS, {"a": RUN, "b": path}, "RR"),
    "compare_table": lambda path: rs.compare(path, "RR", scores=["score", "relevance"]),
    "compare_values": lambda path: rs.compare(path, values=["score", "relevance"]),
    "attributes": lambda path: rs.compare(
        QRELS, {"a": RUN, "b": RUN}, "RR", by="doc_id", attributes=path
    ),
    "gate": lambda path: rs.gate(QRELS, RUN, path, {"RR": 0.1}),
    "report": lambda path: rs.report(QRELS, path, "RR"),
    "report_table": lambda path: rs.report(path, "RR"),
    "fuse": lambda path: rs.fuse([path, RUN]),
    "diff": lambda path: rs.diff(QRELS, RUN, path, "RR"),
    "agreement": lambda path: rs.agreement(path, RUN),
    "reconcile": lambda path: rs.reconcile(QRELS, path, "RR"),
    "judge_agreement": lambda path: rs.judges.agreement(path, judge="doc_id"),
    "clicks": lambda path: rs.clicks.evaluate_off_policy(path, reward="score", target="relevance"),
}


def write_rows(folder, columns=CURRENT):
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / "part-0.parquet")


def make_layout(folder, evidence, data):
    """Write a file of rows, and what tells that its folder is a table of a lakehouse."""
    write_rows(folder / data)
    place = folder / evidence
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("{}")


LAYOUTS = {
    "Delta Lake": ("_delta_log/00000000000000000000.json", ""),
    "Delta Lake, partitioned": ("_delta_log/00000000000000000000.json", "day=1/hour=2"),
    "Apache Iceberg": ("metadata/v1.metadata.json", "data"),
    "Apache Iceberg, packed": ("metadata/00001-ab.metadata.json.gz", "data/country=de"),
    "Apache Iceberg of Hadoop": ("metadata/version-hint.text", "data"),
    "Apache Hudi": (".hoodie/hoodie.properties", "2026/11/21"),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_a_file_of_delta_lake_and_opens_its_folder(reader, tmp_path):
    folder = tmp_path / "log"
    make_layout(folder, *LAYOUTS["Delta Lake"])
    with refuses(FormatError, "lakehouse_table", match="deleted or overwritten") as caught:
        READERS[reader](str(folder / "part-0.parquet"))
    assert f"pass the folder of the table, whose current rows are read: {folder}" in (
        caught.value.hint
    )
    # Its library isn't installed, or says that this is no table that it knows.
    with pytest.raises((FormatError, FileError)) as caught:
        READERS[reader](str(folder))
    assert caught.value.code in {"missing_extra", "lake_read"}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("part", ["table", "data", "pattern", "file", "link"])
def test_no_part_of_a_lakehouse_table_is_read(layout, part, tmp_path):
    evidence, data = LAYOUTS[layout]
    make_layout(tmp_path / "log", evidence, data)
    (tmp_path / "link").symlink_to(tmp_path / "log" / data)
    path = {
        "table": tmp_path / "log",
        "data": tmp_path / "log" / data,
        "pattern": tmp_path / "log" / data / "*.parquet",
        "file": tmp_path / "log" / data / "part-0.parquet",
        "link": tmp_path / "link",
    }[part]
    name = layout.partition(",")[0].removesuffix(" of Hadoop")
    if path.resolve() == tmp_path / "log" and name != "Apache Hudi":
        with pytest.raises((FormatError, FileError)) as raised:
            rs.evaluate(str(path), "RR")
        assert raised.value.code in {"missing_extra", "lake_read"}
        return
    caught = refused(lambda: rs.evaluate(str(path), "RR"), "lakehouse_table")
    assert f"a table of {name}: {tmp_path / 'log'} contains" in caught.message


@pytest.mark.parametrize("levels", [7, 8])
def test_a_table_is_found_seven_folders_above(levels, tmp_path):
    path = "/".join(f"part={at}" for at in range(levels))
    make_layout(tmp_path, LAYOUTS["Delta Lake"][0], path)
    if levels == 7:
        refused(lambda: rs.evaluate(str(tmp_path / path), "RR"), "lakehouse_table")
    else:
        assert rs.evaluate(str(tmp_path / path), "RR")["RR"] == 1.0


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("metadata/notes.json", ""),
        ("metadata/data.csv", ""),
        ("delta_log/0.json", ""),
        ("metadata/corpus.metadata.json", "runs"),  # which may be that of others
    ],
)
def test_files_beside_metadata_of_others_are_read(name, data, tmp_path):
    make_layout(tmp_path, name, data)
    assert rs.evaluate(str(tmp_path / data), "RR")["RR"] == 1.0


def write_partitions(folder):
    """Write a folder per country: a good ranking in one, a bad one in the other."""
    for country, query, score in (("de", "q1", 2.0), ("caf%C3%A9", "q2", 0.0)):
        rows = CURRENT | {"query_id": [query] * 2, "score": [score, 1.0]}
        write_rows(folder / f"country={country}", rows)


def by_part(found):
    return {part: values["RR"] for part, values in found.slices.to_dict().items()}


@pytest.mark.parametrize("given", ["", "*/*.parquet", "country=*/"])
def test_folders_of_partitions_give_their_column(given, tmp_path):
    write_partitions(tmp_path)
    path = f"{tmp_path}/{given}".removesuffix("country=*/")
    found = rs.evaluate(path, "RR", by="country")
    assert by_part(found) == {"de": 1.0, "café": 1 / 2}
    assert found["RR"] == 3 / 4
    one = tmp_path / "country=de" / "part-0.parquet"
    assert by_part(rs.evaluate(str(one), "RR", by="country")) == {"de": 1.0}


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_text_in_partitions_gives_the_column(form, tmp_path):
    text = {
        "csv": "query_id,doc_id,relevance,score\n{},d1,1,1\n",
        "jsonl": '{{"query_id": "{}", "docs": [{{"doc_id": "d", "relevance": 1, "score": 1}}]}}',
    }[form]
    for query in ("q1", "q2"):
        (tmp_path / f"device=of {query}").mkdir()
        (tmp_path / f"device=of {query}" / f"0.{form}").write_text(text.format(query))
    found = rs.evaluate(str(tmp_path), "RR", by="device")
    assert by_part(found) == {"of q1": 1.0, "of q2": 1.0}


def test_a_column_in_a_file_comes_before_that_of_its_folder(tmp_path):
    write_rows(tmp_path / "query_id=none")
    assert rs.evaluate(str(tmp_path), "RR").to_dict() == {"q1": {"RR": 1.0}}


def test_partitions_may_hold_the_queries_and_attributes(tmp_path):
    for query in ("q1", "q2"):
        write_rows(tmp_path / f"query_id={query}", {"doc_id": ["d1"], "score": [1.0]})
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    assert rs.evaluate(qrels, str(tmp_path), "RR")["RR"] == 1 / 2
    found = rs.compare(
        qrels, {"a": str(tmp_path), "b": str(tmp_path)}, "RR", by="doc_id", attributes=str(tmp_path)
    )
    assert found.by


def test_a_folder_above_a_single_file_names_no_scores(tmp_path):
    """Only columns that the caller names are taken from it."""
    rows = {"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1], "rank": [1]}
    write_rows(tmp_path / "score=bm25", rows)
    assert rs.evaluate(str(tmp_path / "score=bm25" / "part-0.parquet"), "RR")["RR"] == 1.0


def test_items_in_partitions_have_the_column_as_an_attribute(tmp_path):
    for genre in ("war", "love"):
        write_rows(tmp_path / f"genre={genre}", {"item_id": [f"{genre}1", f"{genre}2"]})
    run = {"u": ["war1", "love1"]}
    found = rs.evaluate({"u": {"war1"}}, run, "ILD", items=str(tmp_path))
    assert found["ILD"] == 1.0

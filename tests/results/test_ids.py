"""Identifiers and slices come back with the names and types of the columns that they came from."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope._cli import main
from rankscope.errors import FormatError, UsageError

from tests.tabular import write_table

LOG = pd.DataFrame(
    {
        "search_group_id": [12, 12, 12, 7, 7],
        "item_id": [3, 1, 2, 9, 1],
        "gains": [0, 2, 1, 0, 1],
        "score": [0.3, 0.2, 0.1, 0.5, 0.4],
    }
)
QUERY, DOC = "search_group_id", "item_id"
TYPED = pl.from_pandas(LOG).with_columns(
    pl.col(QUERY).cast(pl.Int32),
    pl.col(DOC).cast(pl.UInt16),
    is_new=pl.Series([True, True, True, None, None]),
)
AP = pytest.approx([7 / 12] * 3 + [0.5] * 2)
UUIDS = {12: uuid.UUID(int=2**127 + 5), 7: uuid.UUID(int=2**60)}


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_typed_files_give_integers_back(tmp_path, form, *, is_sorted):
    # Rows in any order are read into memory, and rows of a query together batch by batch.
    path = write_table(TYPED if is_sorted else TYPED[[0, 3, 1, 4, 2]], tmp_path / f"log.{form}")
    evaluation = rs.evaluate(path, ["AP"], by="is_new")
    assert evaluation.query_ids == [12, 7]
    frame = evaluation.to_pandas()
    assert frame[QUERY].dtype == np.int32
    assert TYPED.to_pandas().merge(frame, on=QUERY)["AP"].tolist() == AP
    assert TYPED.join(evaluation.to_polars(), on=QUERY)["AP"].to_list() == AP
    assert evaluation.slices.column("is_new") == (None, True)
    fused = rs.fuse([path, path]).to_arrow()
    assert fused.schema.field("query_id").type == pa.int32()
    assert fused.schema.field("doc_id").type == pa.uint16()


def test_json_lines_have_integers_and_csv_has_text(tmp_path):
    found = rs.evaluate(write_table(TYPED, tmp_path / "log.jsonl"), "AP", by="is_new")
    assert found.query_ids == [12, 7]
    assert found.slices.column("is_new") == (None, True)
    path = write_table(TYPED, tmp_path / "log.csv")
    frame = rs.evaluate(path, "AP").to_pandas()
    assert frame[QUERY].tolist() == ["12", "7"]
    assert pd.read_csv(path, dtype={QUERY: str}).merge(frame, on=QUERY)["AP"].tolist() == AP


def test_judgments_in_a_file_give_their_column_back(tmp_path):
    path = write_table(TYPED.select(QUERY, DOC, "gains"), tmp_path / "log.parquet")
    assert rs.read_qrels(path).query_ids == [12, 7]
    run = TYPED.select(pl.col(QUERY).cast(str), pl.col(DOC).cast(str), "score")
    assert [*rs.evaluate(path, run, "AP").to_pandas()] == [QUERY, "AP"]


def test_files_with_integers_of_different_width_have_the_widest(tmp_path):
    TYPED[:3].write_parquet(tmp_path / "1.parquet")
    TYPED[3:].with_columns(pl.lit(2**40).alias(QUERY)).write_parquet(tmp_path / "2.parquet")
    frame = rs.evaluate(tmp_path / "*.parquet", "AP").to_pandas()
    assert frame[QUERY].tolist() == [12, 2**40]
    assert frame[QUERY].dtype == np.int64


def test_fields_of_lists_have_their_own_names(tmp_path):
    items = pl.struct(pl.col(DOC).cast(pl.Int16), "score", "gains").alias("items")
    TYPED.group_by(QUERY, maintain_order=True).agg(items).write_parquet(tmp_path / "log.parquet")
    path = tmp_path / "log.parquet"
    fused = rs.fuse([path, path]).to_polars()
    assert fused.schema["query_id"] == pl.Int32
    assert fused.schema["doc_id"] == pl.Int16


@pytest.mark.parametrize("options", [["-q", "--json"], ["--by", "is_new", "--by", "year", "--csv"]])
def test_the_command_line_prints_the_same_for_all_formats(tmp_path, capsys, options):
    log = TYPED.with_columns(pl.col("is_new").fill_null(value=False), year=pl.lit(2026))
    printed = []
    for form in ("parquet", "jsonl", "csv"):
        path = write_table(log, tmp_path / f"log.{form}")
        assert main(["eval", str(path), "-m", "AP", *options]) == 0
        printed.append(capsys.readouterr().out)
    assert len({"".join(text.split()) for text in printed}) == 1


def with_uuids():
    """The log with UUIDs in place of integers, as pandas reads them from a database."""
    log = TYPED.to_pandas()
    return log.assign(**{QUERY: log[QUERY].map(UUIDS)})


def test_uuids_in_frames_and_files_come_back_as_uuids(tmp_path):
    log = with_uuids()
    log.to_parquet(tmp_path / "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet")
    assert str(table.schema.field(QUERY).type) == "extension<arrow.uuid>"
    expected = rs.evaluate(log.astype({QUERY: str}), ["AP"])
    for given in (log, tmp_path / "log.parquet", table, table.slice(1), pa.concat_tables([table])):
        evaluation = rs.evaluate(given, ["AP"])
        assert evaluation.query_ids == [*UUIDS.values()]
        assert evaluation.query_texts == expected.query_texts == [*map(str, UUIDS.values())]
    assert log.merge(evaluation.to_pandas(), on=QUERY)["AP"].tolist() == AP
    assert evaluation.to_arrow().schema.field(QUERY).type == table.schema.field(QUERY).type
    assert evaluation.to_polars()[QUERY].to_list() == expected.query_ids
    assert pickle.loads(pickle.dumps(evaluation)).query_ids == evaluation.query_ids  # noqa: S301


def test_the_command_line_prints_uuids_as_text(tmp_path, capsys):
    path = tmp_path / "log.parquet"
    with_uuids().to_parquet(path)
    assert main(["eval", str(path), "-m", "AP", "-q", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["per_query"]
    assert [*found] == [*map(str, UUIDS.values())]


def test_a_missing_uuid_is_an_error_in_its_row():
    log = with_uuids()
    log.loc[2, QUERY] = None
    for table in (log, pa.Table.from_pandas(log)):
        with pytest.raises(FormatError, match="an ID in every row") as caught:
            rs.evaluate(table, "AP")
        assert (caught.value.code, caught.value.line) == ("missing_id", 3)


def test_uuids_as_keys_of_mappings_come_back_as_uuids():
    found = rs.evaluate({UUIDS[7]: {"a": 1}}, {UUIDS[7]: {"a": 1.0}}, "AP")
    assert found.query_ids == [UUIDS[7]]


def results_of(rankings):
    """The tables that rankings give, with the columns of identifiers in each."""
    return {
        "losses": rankings.losses("nDCG@2"),
        "bounds": rankings.bounds("nDCG@2"),
        "ties": rankings.ties("nDCG@2"),
    }


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64", "Int64"])
def test_integers_keep_their_type_and_merge(dtype):
    log = LOG.astype({QUERY: dtype, DOC: dtype})
    rankings = rs.Rankings.from_table(log)
    evaluation = rankings.evaluate(["AP", "nDCG@2"])
    assert evaluation.query_ids == [12, 7]
    frame = evaluation.to_pandas()
    assert frame[QUERY].dtype == dtype.lower()
    assert log.merge(frame, on=QUERY)["AP"].tolist() == AP
    for name, table in results_of(rankings).items():
        exported = table.to_pandas()
        assert exported[QUERY].dtype == dtype.lower(), name
        assert len(log.merge(exported, on=QUERY)) > 0, name
    fused = rs.fuse([log, log]).to_pandas()
    assert fused["doc_id"].dtype == dtype.lower()


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.Int64, pl.String])
def test_polars_joins_on_the_ids_of_a_result(dtype):
    log = pl.from_pandas(LOG).with_columns(pl.col(QUERY).cast(dtype))
    assert log.join(rs.evaluate(log, "AP").to_polars(), on=QUERY)["AP"].to_list() == AP


def test_arrow_keeps_the_types_of_ids():
    types = {QUERY: pa.uint16(), DOC: pa.string(), "gains": pa.int8(), "score": pa.float32()}
    log = pa.Table.from_pandas(LOG).cast(pa.schema(types))
    found = rs.Rankings.from_table(log).bounds("nDCG@2").to_arrow()
    assert found.schema.field(QUERY).type == pa.uint16()
    fused = rs.fuse([log, log]).to_arrow()
    assert fused.schema.field("doc_id").type == pa.string()


@pytest.mark.parametrize("values", [[12, 7], ["12", "7"], ["b", "a"]])
def test_categories_come_back_as_their_values(values):
    log = LOG.assign(**{QUERY: pd.Categorical([values[0]] * 3 + [values[1]] * 2)})
    evaluation = rs.evaluate(log, "AP")
    assert evaluation.query_ids == values
    assert evaluation.to_pandas()[QUERY].tolist() == values


def test_text_that_looks_like_a_number_stays_text():
    log = LOG.assign(**{QUERY: ["012"] * 3 + ["7"] * 2})
    for given in (log, rs.File(log.to_csv(index=False).encode(), "csv")):
        assert rs.evaluate(given, "AP").query_ids == ["012", "7"]


def test_dicts_with_integer_keys_have_integers_in_results():
    qrels = {12: {3: 0, 1: 2, 2: 1}, np.int64(7): {9: 0, 1: 1}}
    run = {12: {3: 0.3, 1: 0.2, 2: 0.1}, 7: {9: 0.5, 1: 0.4}}
    evaluation = rs.evaluate(qrels, run, ["AP"])
    assert evaluation.query_ids == rs.read_qrels(qrels).query_ids == [12, 7]
    assert [*evaluation.to_dict()] == [12, 7]
    rankings = rs.Rankings.from_run(qrels, run)
    assert rankings.doc_ids(12) == rankings.doc_ids("12") == [3, 1, 2]
    assert rankings.losses("nDCG@2").to_dict()[7]["value"] == pytest.approx(1 / np.log2(3))
    moved = rs.diff(qrels, run, {12: {1: 1.0}, 7: {9: 1.0}}, "nDCG@2").to_pandas()
    assert moved["query_id"].tolist() in ([12, 7], [7, 12])


def test_keys_of_several_types_stay_text():
    judged = {"12": {1: 1}, 7: {"1": 1}}
    assert rs.evaluate(judged, {7: {1: 1.0}}, "AP").query_ids == ["12", "7"]


def test_a_document_that_is_no_integer_makes_the_column_text():
    rankings = rs.Rankings.from_run({1: {5: 1}}, {1: {"x9": 2.0, 5: 1.0}})
    assert rankings.doc_ids(1) == ["x9", "5"]


def test_judgments_and_runs_in_frames_give_back_the_column_of_the_judgments():
    qrels = LOG[[QUERY, DOC, "gains"]]
    run = LOG[[QUERY, DOC, "score"]].rename(columns={QUERY: "qid"})
    frame = rs.evaluate(qrels, run, ["AP"]).to_pandas()
    assert [*frame] == [QUERY, "AP"]
    assert qrels.merge(frame, on=QUERY)["AP"].tolist() == AP


def test_printed_tables_and_values_do_not_depend_on_the_type_of_ids():
    as_text = LOG.astype({QUERY: str, DOC: str})
    one, other = rs.Rankings.from_table(LOG), rs.Rankings.from_table(as_text)
    for name, table in results_of(one).items():
        assert str(table) == str(results_of(other)[name]), name


DAY = dt.date(2026, 11, 20)
COMPARED = pl.DataFrame(
    {
        "search_group_id": [query for query in range(8) for _ in range(2)],
        "item_id": [1, 2] * 8,
        "gains": [1, 0] * 8,
        "old": [1.0, 2.0] * 8,
        "new": [2.0, 1.0] * 8,
        "country": ["de, at"] * 8 + ["de"] * 8,
        "year": [2025] * 8 + [2026] * 8,
        "is_new": [True] * 8 + [None] * 8,
        "day": [DAY] * 16,
    }
)
BY = ["country", "year", "is_new", "day"]
SLICES = [(None, None, None, None), ("de", 2026, None, DAY), ("de, at", 2025, True, DAY)]


def check_slices(found):
    frame = found.to_polars()
    assert frame.columns[4:9] == ["slice", *BY]
    assert sorted(frame.select(BY).rows(), key=str) == sorted(SLICES, key=str)
    assert frame.schema["year"] == pl.Int64
    assert frame.schema["is_new"] == pl.Boolean
    assert frame.schema["day"] == pl.Date
    assert frame.filter(pl.col("slice").is_null())["n"].to_list() == [8]
    assert found.find("P@1", "new", slice='"de, at", 2025, true, 2026-11-20').n == 4


def test_a_comparison_has_a_typed_column_for_each_attribute(tmp_path):
    path = tmp_path / "log.parquet"
    COMPARED.write_parquet(path)
    for given in (COMPARED, path):
        found = rs.compare(given, "P@1", scores=["old", "new"], by=BY)
        check_slices(found)
        check_slices(pickle.loads(pickle.dumps(found)))  # noqa: S301 - dumped here


def test_attributes_of_a_table_of_their_own_keep_their_types():
    qrels = COMPARED.select("search_group_id", "item_id", "gains")
    runs = {
        name: COMPARED.select("search_group_id", "item_id", pl.col(name).alias("score"))
        for name in ("old", "new")
    }
    attributes = COMPARED.select("search_group_id", *BY)
    check_slices(rs.compare(qrels, runs, "P@1", attributes=attributes, by=BY))


def test_values_from_elsewhere_keep_the_types_of_their_attributes():
    values = COMPARED.unique("search_group_id", maintain_order=True).select(
        "search_group_id", *BY, pl.lit(0.5).alias("old"), pl.lit(0.75).alias("new")
    )
    check_slices(rs.compare(values, "P@1", values=["old", "new"], by=BY))


def test_a_mapping_of_slices_has_the_column_of_slices_alone():
    values = {"old": {"a": 0.1, "b": 0.2}, "new": {"a": 0.2, "b": 0.3}}
    found = rs.compare(values, "AP", values=True, by={"a": "x", "b": "y"}).to_pandas()
    assert found["slice"].tolist()[1:] == ["x", "y"]
    assert [*found].count("slice") == 1


def test_an_attribute_with_the_name_of_another_column_is_an_error():
    log = COMPARED.rename({"country": "level"})
    found = rs.compare(log, "P@1", scores=["old", "new"], by="level")
    with pytest.raises(UsageError, match="'level' twice"):
        found.to_pandas()


def test_a_difference_has_the_names_of_the_runs_and_of_the_ids():
    log = COMPARED.with_columns(pl.col("search_group_id").cast(pl.Int16))
    qrels = log.select("search_group_id", "item_id", "gains")
    old, new = (log.select("search_group_id", "item_id", score=name) for name in ("old", "new"))
    found = rs.diff(qrels, old, new, "P@1", names=("bm25", "dense"))
    frame = found.to_polars()
    assert frame.columns[:4] == ["search_group_id", "bm25", "dense", "difference"]
    assert log.join(frame, on="search_group_id")["dense"].to_list() == [1.0] * 16
    assert found.queries.column("bm25") == (0.0,) * 8
    assert (found.wins, found.ties, found.losses) == (8, 0, 0)
    assert found.to_dict()["losses"] == 0
    first = {"query_id": 0, "a": 0.0, "b": 1.0, "difference": 1.0}
    assert found.to_dict()["queries"][0] == first
    moves = found.explain(3).table.to_polars()
    assert sorted(moves["item_id"].to_list()) == [1, 2]


@pytest.mark.parametrize("names", [("one", "one"), ("difference", "b"), ("a", "query_id")])
def test_runs_with_the_names_of_other_columns_are_an_error(names):
    with pytest.raises(UsageError, match="names of their own"):
        rs.diff({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"q": {"a": 2.0}}, "RR", names=names)


def test_names_of_runs_are_printed_without_control_characters():
    qrels, old, new = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, {"q": {"a": 2.0}}
    printed = str(rs.diff(qrels, old, new, "RR", names=("old\x1b[31m", "new")))
    assert "\x1b" not in printed


@pytest.mark.parametrize("form", ["polars", "pandas", "parquet", "dict", "rankings"])
def test_agreements_give_ids_back(tmp_path, form):
    run = COMPARED.select(pl.col("search_group_id").cast(pl.Int32), "item_id", score="old")
    run.write_parquet(tmp_path / "run.parquet")
    given = {
        "polars": run,
        "pandas": run.to_pandas(),
        "parquet": tmp_path / "run.parquet",
        "dict": {query: {1: 1.0, 2: 2.0} for query in range(8)},
        "rankings": rs.Rankings.from_table(run.with_columns(gains=pl.lit(1))),
    }[form]
    frame = rs.agreement(given, given, ["tau"]).to_pandas()
    name = "query_id" if form == "dict" else "search_group_id"
    assert frame[name].tolist() == [*range(8)]
    assert frame[name].dtype == (np.int64 if form == "dict" else np.int32)
    merged = pd.DataFrame({name: [3]}).merge(frame, on=name)
    assert merged["tau"].tolist() == [1.0]


TIME = dt.datetime(2026, 11, 20, 8, 30, tzinfo=dt.UTC)


def make_log(attribute, name="attribute"):
    """Three queries of two documents, with an attribute of each query."""
    return pl.DataFrame(
        {
            "query_id": [1, 1, 2, 2, 3, 3],
            "relevance": [1, 0, 0, 1, 0, 1],
            "score": [2.0, 1.0, 2.0, 1.0, 1.0, 2.0],
            name: [value for value in attribute for _ in range(2)],
        }
    )


@pytest.mark.parametrize(
    "values",
    [
        [1, 1, 2],
        [True, True, False],
        [0.5, 0.5, 2.0],
        ["de", "de", "true"],
        [DAY, DAY, dt.date(2027, 1, 1)],
        [TIME, TIME, TIME + dt.timedelta(microseconds=1)],
        [5, 5, None],
        [True, True, None],
        ["de", "de", None],
        [DAY, DAY, None],
    ],
)
def test_values_come_back_with_their_types(values):
    log = make_log(values)
    slices = rs.evaluate(log, ["P@1"], by="attribute").slices
    assert slices.column("attribute") == (values[0], values[2])
    assert slices.column("P@1") == (0.5, 1.0)
    assert slices.to_polars().schema["attribute"] == log.schema["attribute"] or values[0] is TIME
    if values[2] is None:
        assert "<missing>" in str(slices)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "bool"])
def test_pandas_keeps_the_width_of_integers(dtype):
    log = make_log([1, 1, 0]).to_pandas().astype({"attribute": dtype})
    slices = rs.evaluate(log, ["P@1"], by="attribute").slices
    assert slices.to_pandas()["attribute"].dtype == dtype
    assert log.merge(slices.to_pandas(), on="attribute")["P@1"].tolist() == [0.5] * 4 + [1.0] * 2


def test_several_attributes_have_a_column_each():
    log = make_log(["us", "us", "us"], "country").with_columns(
        device=pl.Series(["web", "web", "tv"]).gather([0, 0, 1, 1, 2, 2]), year=pl.lit(2026)
    )
    slices = rs.evaluate(log, ["P@1"], by=["country", "device", "year"]).slices
    assert slices.attributes == ("country", "device", "year")
    assert slices.rows() == [("us", "web", 2026, 2, 0.5, 2), ("us", "tv", 2026, 1, 1.0, 1)]
    assert slices.labels == ("us, web, 2026", "us, tv, 2026")
    assert [*slices.to_dict()] == [("us", "web", "2026"), ("us", "tv", "2026")]
    by = ["country", "device"]
    losses = rs.Rankings.from_table(log, attributes=by).losses("nDCG@2", by=by)
    assert losses.slices.names[:4] == ("country", "device", "queries", "value")


def test_values_with_commas_are_not_confused():
    log = make_log(["a, b", "a", "a"], "one").with_columns(
        two=pl.Series(["c", "c", "b, c", "b, c", "b, c", "b, c"])
    )
    rankings = rs.Rankings.from_table(log, attributes=["one", "two"])
    slices = rankings.evaluate(["P@1"], by=["one", "two"]).slices
    assert slices.rows() == [("a", "b, c", 2, 0.5, 2), ("a, b", "c", 1, 1.0, 1)]
    compared = rs.compare(
        log.with_columns(other=pl.Series([1.0, 2.0] * 3)),
        ["P@1"],
        scores=["score", "other"],
        by=["one", "two"],
    )
    assert len({each.slice for each in compared.comparisons} - {None}) == 2


def test_an_attribute_cannot_have_the_name_of_another_column():
    for name in ("queries", "P@1"):
        with pytest.raises(UsageError, match="name of its own"):
            rs.evaluate(make_log([1, 1, 2], name), ["P@1"], by=name)


def test_the_command_line_prints_a_column_for_each_attribute(tmp_path, capsys):
    path = f"{tmp_path}/log.csv"
    make_log(["us", "us", "de"], "country").with_columns(device=pl.lit("tv")).write_csv(path)
    common = ["eval", path, "-m", "P@1", "--by", "country", "--by", "device"]
    assert main(common) == 0
    assert capsys.readouterr().out.splitlines() == [
        "measure\tcountry\tdevice\tvalue\tqueries",
        "P@1\tus\ttv\t0.5000\t2",
        "P@1\tde\ttv\t1.0000\t1",
        "P@1\tall\tall\t0.6667\t3",
    ]
    assert main([*common, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "country,device,queries,P@1,P@1 n"
    assert main([*common, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["slices"]
    assert found[1] == {"country": "de", "device": "tv", "queries": 1, "P@1": 1.0, "P@1 n": 1}


def test_slices_of_a_result_that_was_pickled_have_their_types():
    rankings = rs.Rankings.from_table(make_log([DAY, DAY, None]), attributes=["attribute"])
    again = pickle.loads(pickle.dumps(rankings))  # noqa: S301 - dumped here
    slices = again.evaluate("P@1", by="attribute").slices
    assert slices.column("attribute") == (DAY, None)


def test_a_frame_of_numpy_values_is_as_a_frame_of_python_values():
    log = make_log([1, 1, 2]).to_pandas()
    days = ["2026-11-20", "2026-11-20", "2027-01-01"]
    log["attribute"] = np.array(days, dtype="M8[ns]").repeat(2)
    slices = rs.evaluate(log, ["P@1"], by="attribute").slices
    assert slices.column("attribute")[0] == pd.Timestamp("2026-11-20").to_pydatetime()

"""All formats of files are read alike, SVMlight text among them, and several runs by name."""

from __future__ import annotations

import gzip
import json
import math
from importlib import import_module
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
import rankscope._file as files
from rankscope import AP, Rankings, nDCG, read_letor
from rankscope._cli import main
from rankscope._file import EVENT_FORMATS, FORMATS, TABLE_FORMATS

from tests.inputs.entry import lines
from tests.parity.real import find
from tests.refusals import refused
from tests.tabular import write_table

WRITTEN = {"ndjson": "jsonl", "feather": "arrow", "ipc": "arrow"}


def write(folder, ending, query, score=-2.0):
    columns = {"qid": [query] * 3, "docno": [*"xyz"], "label": [1, 0, -1]}
    path = folder / f"t.{WRITTEN.get(ending, ending)}"
    write_table(columns | {"score": [0.5, 1.0, score]}, path)
    return path.rename(folder / f"t.{ending}")


@pytest.mark.parametrize("ending", [*["csv", "tsv", "jsonl", "parquet", "arrow"], *WRITTEN])
def test_a_folder_and_a_pattern_are_all_their_files(ending, tmp_path):
    for query, part in enumerate(("day=1", "day=2", ".hidden")):
        (tmp_path / part).mkdir()
        last = write(tmp_path / part, ending, f"q{query}")
    (tmp_path / "_temporary").write_bytes(b"?")
    for path in (tmp_path, tmp_path / "d*" / last.name):
        seen = []
        found = rs.evaluate(path, "RR", progress=lambda done, _, seen=seen: seen.append(done))
        assert found.to_dict() == {"q0": {"RR": 1 / 2}, "q1": {"RR": 1 / 2}}
        assert seen == sorted(seen)
        assert seen[-1] == 2 * last.stat().st_size
    second = write(tmp_path / "day=2", ending, "q1", None)
    error = refused(lambda: rs.evaluate(tmp_path, "RR"), "missing_score")
    assert (error.file, error.line) == (str(second), 4 if ending in {"csv", "tsv"} else 3)


@pytest.mark.parametrize("ranks", [(1, 2, 4), (0, 1, 2), (5, 6, 70)])
def test_ranks_order_whatever_they_begin_with(ranks):
    """Gaps and another first rank change no value, and are noted."""
    rows = zip("abc", (0, 1, 2), ranks, strict=True)
    text = "".join(f"q,{doc},{grade},{rank}\n" for doc, grade, rank in rows)
    given = rs.File(f"qid,doc,label,rank\n{text}".encode(), "csv")
    expected = rs.evaluate({"qid": ["q"] * 3, "label": [0, 1, 2], "score": [3, 2, 1]}, "nDCG")
    evaluation = rs.evaluate(given, "nDCG")
    assert dict(evaluation) == dict(expected)
    assert [note.code for note in evaluation.notes] == ["rank_gap"]


def literal(name):
    """The choices that editors offer, which stand where only type checkers look."""
    source = import_module("inspect").getsource(files)
    line = next(line for line in source.splitlines() if line.strip().startswith(f"{name}:"))
    return get_args(eval(line.partition(" = ")[2], {"Literal": import_module("typing").Literal}))  # noqa: S307


def test_editors_offer_the_formats_of_the_table():
    assert sorted(literal("Format")) == sorted(TABLE_FORMATS)
    assert sorted(literal("EventFormat")) == sorted(EVENT_FORMATS)


def test_every_reader_opens_files_and_every_ending_means_one_format():
    endings = [ending for row in FORMATS.values() for ending in row.endings]
    assert len(endings) == len(set(endings))
    for form, row in FORMATS.items():
        if row.reader:
            module, _, name = row.reader.partition(":")
            assert callable(getattr(import_module(f"rankscope._inputs.{module}"), name))
        else:
            assert form in {"trec", "json"}


LOG = lines("qid,doc,label,score", "q1,a,0,2", "q1,é,1,1")


def test_another_encoding_may_be_named():
    log = rs.File(LOG.decode().encode("latin-1"), "csv")
    refused(lambda: rs.evaluate(log, "RR"), "encoding")
    assert rs.evaluate(log, "RR", encoding="latin-1")["RR"] == 1 / 2
    assert rs.Rankings.from_table(log, encoding="latin-1").doc_ids("q1") == ["a", "é"]


@pytest.mark.parametrize("form", ["excel", "", "CSV"])
def test_a_format_that_is_none_is_refused(form):
    refused(lambda: rs.evaluate(rs.File(LOG, form), "RR"), "bad_format")


def test_a_file_that_is_no_table_by_its_name_is_refused(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(LOG)
    refused(lambda: rs.evaluate(path, "RR"), "unknown_format")
    assert rs.evaluate(rs.File(path, "csv"), "RR")["RR"] == 1 / 2


def test_columns_of_judgments_and_runs_may_have_names_of_their_own():
    qrels = rs.File(b"topic,url,judgment\nq1,a,1\n", "csv", {"relevance": "judgment", "doc": "url"})
    run = rs.File(b"query,url,bm25\nq1,b,2\nq1,a,1\n", "csv", {"doc": "url", "score": "bm25"})
    assert rs.evaluate(qrels, run, "RR")["RR"] == 1 / 2
    named = {"doc": "url", "relevance": "judgment", "score": "bm25"}
    plain = rs.File(qrels.path, "csv"), rs.File(run.path, "csv")
    assert rs.evaluate(*plain, "RR", **named)["RR"] == 1 / 2
    with pytest.raises(rs.UsageError, match="unexpected keyword argument 'queries'"):
        rs.evaluate(*plain, "RR", queries="customer")
    with pytest.raises(rs.UsageError, match="expected query as the name of a column, found int"):
        rs.evaluate(*plain, "RR", query=1)


def test_labels_queries_and_documents_are_read():
    letor = read_letor(
        b"2 qid:10 1:0.5 2:-1e-3 #docid = GX000-1 inc = 1 prob = 0.02\r\n"
        b"# a comment\n\n"
        b"0.5 qid:10 #docid=GX000-2\n"
        b"  1\tqid:9\t3:7 # docid = GX3"
    )
    assert letor.relevance.tolist() == [2, 0.5, 1]
    assert letor.group_sizes.tolist() == [2, 1]
    assert letor.query_ids == ["10", "9"]
    assert letor.doc_ids == ["GX000-1", "GX000-2", "GX3"]
    assert read_letor(b"1 qid:1 1:2\n").doc_ids is None


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (b"", "empty_input", None),
        (b"\n# only\n", "empty_input", None),
        (b"1 qid:1 1:2\n2 1:2\n", "missing_id", 2),
        (b"1 qid:1 1:2\nhigh qid:1 1:2\n", "rel_not_number", 2),
        (b"1 qid:1\n\nnan qid:1 1:2\n", "rel_not_number", 3),
        (b"1 qid:1\n1e999 qid:1 1:2\n", "rel_out_of_range", 2),
        (b"1 qid:1 # docid = a\n1 qid:1 1:1\n", "missing_id", 2),
        (b"1 qid:1\n1 qid:2\n1 qid:1\n", "query_returns", 3),
        (b"1 qid:1\n1 qid:\xff\n", "encoding", 2),
        (b"1 qid:1\n1 qid:2 1:\0\n", "nul_byte", 2),
    ],
)
def test_what_is_no_row_is_refused(text, code, line):
    assert refused(lambda: read_letor(text), code).line == line


def write_sizes(folder, name, sizes):
    """Write three rows, and the sizes of their groups beside them."""
    (folder / "train").write_text("1 1:1\n0 1:2\n2 1:3\n")
    (folder / name).write_text(sizes)
    return folder / "train"


@pytest.mark.parametrize(
    ("sizes", "code"),
    [
        ("2\n2\n", "length_mismatch"),
        ("2\n1.5", "group_sizes"),
        ("2\nx", "not_numeric"),
        ("-1\n4", "group_sizes"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sizes, code, tmp_path):
    path = write_sizes(tmp_path, "train.query", sizes)
    refused(lambda: read_letor(path), code)


def test_a_group_may_be_empty(tmp_path):
    letor = read_letor(write_sizes(tmp_path, "train.group", "2\n0\n1\n0\n"))
    assert letor.group_sizes.tolist() == [2, 0, 1, 0]
    rankings = Rankings.from_groups(letor.relevance, [1, 2, 3], letor.group_sizes)
    assert rankings.evaluate("RR").per_query_list("RR") == [1 / 2, 0, 1, 0]


def test_the_data_of_lightgbm_have_the_values_that_it_reported():
    folder = find("lightgbm")
    letor = read_letor(folder / "rank.test")
    scored = np.loadtxt(folder / "rank.test.scores.tsv", skiprows=1, usecols=3)
    rankings = Rankings.from_groups(letor.relevance, scored, letor.group_sizes, ties="input")
    reported = json.loads((folder / "lightgbm_reported.json").read_text())
    for k in (1, 3, 5, 10, 20):
        measure = nDCG(gain="exp2") @ k
        found = rankings.evaluate(measure, policy="empty=one")[measure]
        assert found == pytest.approx(reported[f"ndcg@{k}"], abs=1e-9)


def test_the_data_of_fastrank_agree_with_their_qrels():
    folder = find("fastrank")
    letor = read_letor(folder / "trec_news_2018.train")
    assert letor.group_sizes.sum() == len(letor.relevance) == 782
    qrels = rs.read_qrels(folder / "newsir18-entity.qrel")
    assert set(letor.query_ids) <= set(qrels.query_ids)
    ideal = Rankings.from_groups(letor.relevance, letor.relevance, letor.group_sizes)
    values = ideal.evaluate([nDCG, AP]).per_query_list("nDCG")
    assert all(math.isclose(value, 1) or value == 0 for value in values)


QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
ONE = b"q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
TWO = b"q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
TABLE = b"query_id,doc_id,score\nq1,d2,2.0\nq1,d1,1.0\nq2,d3,1.0\n"


def means(evaluations):
    return {name: evaluation["RR"] for name, evaluation in evaluations.items()}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, content in {"a.run": ONE, "b.run": TWO, ".hidden": b"?", "_SUCCESS": b""}.items():
        (folder / name).write_bytes(content)
    return folder


def test_files_of_a_folder_or_a_pattern_are_runs(folder):
    expected = {"a.run": 1.0, "b.run": 0.75}
    for given in (folder, f"{folder}/*.run", [f"{folder}/*"], rs.File(str(folder))):
        assert means(rs.evaluate(QRELS, given, "RR")) == expected
    compared = rs.compare(QRELS, folder, "RR")
    assert {name: of["RR"] for name, of in compared.means.items()} == expected
    assert rs.fuse(str(folder)).names == ("a.run", "b.run")
    assert "b.run: RR 0.7500" in str(rs.report(QRELS, str(folder), "RR"))


def test_table_files_of_a_folder_are_one_run_unless_runs_are_compared(tmp_path):
    for name, rows in {"a.csv": b"q1,d1,1\n", "b.csv": b"q2,d3,1\n"}.items():
        (tmp_path / name).write_bytes(b"query_id,doc_id,score\n" + rows)
    assert rs.evaluate(QRELS, tmp_path, "RR")["RR"] == 1.0
    compared = rs.compare(QRELS, tmp_path, "RR")
    assert {name: of["RR"] for name, of in compared.means.items()} == {"a.csv": 0.5, "b.csv": 0.5}


def test_table_files_beside_trec_runs_are_refused_where_either_could_be_meant(tmp_path):
    (tmp_path / "a.csv").write_bytes(TABLE)
    (tmp_path / "README.md").write_text("These are the runs of May.")
    assert rs.evaluate(QRELS, tmp_path, "RR")["RR"] == 0.75
    (tmp_path / "b.run.gz").write_bytes(gzip.compress(ONE))
    error = refused(lambda: rs.evaluate(QRELS, tmp_path, "RR"), "schema_mismatch", "a.csv and")
    assert "*.run" in error.hint
    found = rs.evaluate(QRELS, [f"{tmp_path}/a.csv", f"{tmp_path}/*.gz"], "RR")
    assert means(found) == {"a.csv": 0.75, "b.run.gz": 1.0}


def test_the_command_line_takes_folders_and_patterns(folder, tmp_path, capsys):
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    qrels = str(tmp_path / "qrels.txt")
    for runs in (str(folder), f"{folder}/*.run"):
        assert main(["eval", qrels, runs, "-m", "RR"]) == 0
        out = capsys.readouterr().out
        assert out == f"measure\t{folder}/a.run\t{folder}/b.run\nRR\t1.0000\t0.7500\n"
        assert main(["compare", qrels, runs, "-m", "RR", "--csv"]) == 0
        assert "b.run" in capsys.readouterr().out
        page = str(tmp_path / "page.html")
        assert main(["report", qrels, runs, "-o", page]) == 0
        assert main(["fuse", runs]) == 0
        assert capsys.readouterr().out.count("\n") > 3


JUDGED = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUNS = {
    "old": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}},
    "new": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}},
}


def test_the_table_has_a_row_per_run_and_a_column_per_measure():
    frame = rs.evaluate(JUDGED, RUNS, ["RR", "P@1"]).to_pandas()
    assert frame.columns.tolist() == ["run", "RR", "P@1"]
    assert frame["RR"].tolist() == [0.75, 1.0]
    lines = str(rs.evaluate(JUDGED, RUNS, "RR")).splitlines()
    assert lines[:4] == ["run      RR", "old  0.7500", "new  1.0000", "2 queries"]


def test_frames_and_paths_are_runs_too(tmp_path):
    frames, paths = {}, []
    for name, run in RUNS.items():
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        frames[name] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
        paths.append(tmp_path / f"{name}.csv")
        frames[name].to_csv(paths[-1], index=False)
    plain = rs.evaluate(JUDGED, RUNS, "RR").table.to_dict()
    assert rs.evaluate(JUDGED, frames, "RR").table.to_dict() == plain
    listed = rs.evaluate(JUDGED, [str(path) for path in paths], "RR")
    assert [each["RR"] for each in listed.values()] == [0.75, 1.0]
    assert [*listed] == ["old.csv", "new.csv"]
    with pytest.raises(rs.UsageError, match="one path twice"):
        rs.evaluate(JUDGED, [str(paths[0])] * 2, "RR")


def test_a_name_that_is_not_there_says_which_are():
    found = rs.evaluate(JUDGED, RUNS, "RR")
    with pytest.raises(KeyError, match="did you mean 'new'"):
        found["nex"]
    assert "<table>" in found._repr_html_()


def test_one_run_stays_one_result():
    assert isinstance(rs.evaluate(JUDGED, RUNS["old"], "RR"), rs.Evaluation)
    assert isinstance(rs.evaluate(JUDGED, [("q1", "a", 1.0)], "RR"), rs.Evaluation)
    with pytest.raises(rs.errors.EmptyError):
        rs.evaluate(JUDGED, {}, "RR")

"""All formats of files are read alike, and their table is complete."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, get_args

import pytest
import rankscope as rs
import rankscope.file as files
from rankscope.file import EVENT_FORMATS, FORMATS, TABLE_FORMATS

from tests.inputs.entry import lines
from tests.refusals import refused
from tests.tabular import write_table

if TYPE_CHECKING:
    from pathlib import Path


WRITTEN = {"ndjson": "jsonl", "feather": "arrow", "ipc": "arrow"}


def write(folder: Path, ending: str, query: str, score: float | None = -2.0) -> Path:
    columns = {"qid": [query] * 3, "docno": [*"xyz"], "label": [1, 0, -1]}
    path = folder / f"t.{WRITTEN.get(ending, ending)}"
    write_table(columns | {"score": [0.5, 1.0, score]}, path)
    return path.rename(folder / f"t.{ending}")


@pytest.mark.parametrize("ending", [*["csv", "tsv", "jsonl", "parquet", "arrow"], *WRITTEN])
def test_a_folder_and_a_pattern_are_all_their_files(ending: str, tmp_path: Path) -> None:
    for query, part in enumerate(("day=1", "day=2", ".hidden")):
        (tmp_path / part).mkdir()
        last = write(tmp_path / part, ending, f"q{query}")
    (tmp_path / "_temporary").write_bytes(b"?")
    for path in (tmp_path, tmp_path / "d*" / last.name):
        seen: list[int] = []
        found = rs.evaluate(path, "RR", progress=lambda done, _, seen=seen: seen.append(done))  # type: ignore[misc]
        assert found.to_dict() == {"q0": {"RR": 1 / 2}, "q1": {"RR": 1 / 2}}
        assert seen == sorted(seen)
        assert seen[-1] == 2 * last.stat().st_size
    second = write(tmp_path / "day=2", ending, "q1", None)
    error = refused(lambda: rs.evaluate(tmp_path, "RR"), "missing_score")
    assert (error.file, error.line) == (str(second), 4 if ending in {"csv", "tsv"} else 3)


@pytest.mark.parametrize("ranks", [(1, 2, 4), (0, 1, 2), (5, 6, 70)])
def test_ranks_order_whatever_they_begin_with(ranks: tuple[int, ...]) -> None:
    """Gaps and another first rank change no value, and are noted."""
    rows = zip("abc", (0, 1, 2), ranks, strict=True)
    text = "".join(f"q,{doc},{grade},{rank}\n" for doc, grade, rank in rows)
    given = rs.File(f"qid,doc,label,rank\n{text}".encode(), "csv")
    expected = rs.evaluate({"qid": ["q"] * 3, "label": [0, 1, 2], "score": [3, 2, 1]}, "nDCG")
    evaluation = rs.evaluate(given, "nDCG")
    assert dict(evaluation) == dict(expected)
    assert [note.code for note in evaluation.notes] == ["rank_gap"]


def literal(name: str) -> tuple[str, ...]:
    """The choices that editors offer, which stand where only type checkers look."""
    source = import_module("inspect").getsource(files)
    line = next(line for line in source.splitlines() if line.strip().startswith(f"{name}:"))
    return get_args(eval(line.partition(" = ")[2], {"Literal": import_module("typing").Literal}))  # noqa: S307


def test_editors_offer_the_formats_of_the_table() -> None:
    assert sorted(literal("Format")) == sorted(TABLE_FORMATS)
    assert sorted(literal("EventFormat")) == sorted(EVENT_FORMATS)


def test_every_reader_opens_files_and_every_ending_means_one_format() -> None:
    endings = [ending for row in FORMATS.values() for ending in row.endings]
    assert len(endings) == len(set(endings))
    for row in FORMATS.values():
        if row.reader:
            module, _, name = row.reader.partition(":")
            assert callable(getattr(import_module(f"rankscope._inputs.{module}"), name))
        else:
            assert row.name in {"trec", "json"}


LOG = lines("qid,doc,label,score", "q1,a,0,2", "q1,é,1,1")


def refusal(path: Path | rs.File) -> rs.RankscopeError:
    with pytest.raises(rs.RankscopeError) as refused:
        rs.evaluate(path, "RR")
    assert refused.value.hint
    return refused.value


def test_another_encoding_may_be_named() -> None:
    log = rs.File(LOG.decode().encode("latin-1"), "csv")
    assert refusal(log).code == "encoding"
    assert rs.evaluate(log, "RR", encoding="latin-1")["RR"] == 1 / 2
    assert rs.Rankings.from_table(log, encoding="latin-1").doc_ids("q1") == ["a", "é"]


@pytest.mark.parametrize("form", ["excel", "", "CSV"])
def test_a_format_that_is_none_is_refused(form: str) -> None:
    assert refusal(rs.File(LOG, form)).code == "bad_format"  # type: ignore[arg-type]


def test_a_file_that_is_no_table_by_its_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(LOG)
    assert refusal(path).code == "unknown_format"
    assert rs.evaluate(rs.File(path, "csv"), "RR")["RR"] == 1 / 2


def test_columns_of_judgments_and_runs_may_have_names_of_their_own() -> None:
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

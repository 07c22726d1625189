"""What is opened, what is refused before it is read, and what is loaded for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.inputs.entry import lines

if TYPE_CHECKING:
    from pathlib import Path


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

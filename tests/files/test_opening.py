"""What is opened, what is refused before it is read, and what is loaded for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.errors import hint_extra

from tests.inputs.entry import lines
from tests.interpreter import run_python

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


PROGRAM = """
import sys
from pathlib import Path
{start}
import rankscope as rs
try:
    print(rs.evaluate({qrels!r}, rs.File({run!r}, {form!r}), "RR")["RR"])
except rs.RankscopeError as error:
    print(error.code, error.hint)
print("pyarrow" in sys.modules and sys.modules["pyarrow"] is not None)
"""
QRELS = b"q1 0 d1 1\n"
RUNS = {"trec": b"q1 Q0 d1 1 0.5 t\n", "csv": b"qid,doc,score\nq1,d1,0.5\n"}


@pytest.mark.parametrize(
    ("form", "start", "said"),
    [
        ("trec", "", ["1.0", "False"]),
        ("trec", "sys.modules['pyarrow'] = None", ["1.0", "False"]),
        ("csv", "", ["1.0", "True"]),
        (
            "csv",
            "sys.modules['pyarrow'] = None",
            [f"missing_extra {hint_extra('tables')}", "False"],
        ),
    ],
)
def test_only_tables_need_pyarrow(form: str, start: str, said: list[str]) -> None:
    program = PROGRAM.format(start=start, qrels=QRELS, run=RUNS[form], form=form)
    assert run_python(program).splitlines() == said

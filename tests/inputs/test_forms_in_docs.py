"""The examples of the page about inputs give the values that they should."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import rankscope as rs

PAGE = Path(__file__).parents[2] / "docs/inputs.md"
SECTION = PAGE.read_text().partition("## Every form, on one line")[2].partition("\n## ")[0]
TABLES = re.findall(r"(?:^\|.*\n)+", SECTION, re.MULTILINE)
LIBRARIES = {"pd": "pandas", "pl": "polars", "pa": "pyarrow"} | {
    name: name for name in ("duckdb", "datasets", "deltalake")
}
RUN = "q1 Q0 d2 1 2.0 mine\nq1 Q0 d1 2 1.0 mine\n"
QRELS = {"q1": {"d1": 1}}


def list_examples(table: str) -> list[str]:
    """Return the code in the second column of a table."""
    rows = [line.split(" | ") for line in table.strip().splitlines()[2:]]
    return [row[1].removesuffix(" |").strip("`") for row in rows]


RUNS, SEVERAL = map(list_examples, TABLES)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the page defines, where its files are."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    for line in re.findall(r"^>>> (.*)", SECTION, re.MULTILINE):
        exec(line, found)  # noqa: S102 - the examples of the page
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "runs").mkdir()
    for name in ("a.run", "b.run"):
        (tmp_path / "runs" / name).write_text(RUN)
    frame = pd.DataFrame(found["columns"])
    frame.to_csv("run.csv", index=False)
    rows = frame[["doc_id", "score"]]
    parts = {"parts": frame, "partitions/query_id=q1": rows, "partitions/query_id=q2": rows}
    for folder, held in parts.items():
        Path(folder).mkdir(parents=True)
        held.to_parquet(f"{folder}/part-0.parquet")
    return found


@pytest.mark.parametrize("example", RUNS)
def test_a_run_in_every_form_has_the_same_value(example: str, names: dict[str, Any]) -> None:
    if example.startswith('"s3://'):
        pytest.skip("it needs a server: see tests/services/test_inputs_in_buckets.py")
    for name in re.findall(r"\b(\w+)\.", example):
        if name in LIBRARIES:
            names[name] = pytest.importorskip(LIBRARIES[name])
    if "delta" in example:
        library = pytest.importorskip("deltalake")
        library.write_deltalake("delta", pa.table(names["columns"]))
    run = eval(example, names)  # noqa: S307 - the examples of the page
    assert rs.evaluate(QRELS, run, "RR")["RR"] == 0.5
    run = eval(example, names)  # noqa: S307 - as above
    assert rs.Rankings.from_run(QRELS, run).evaluate("RR")["RR"] == 0.5


@pytest.mark.parametrize("example", SEVERAL)
def test_several_runs_in_every_form_are_named_after_their_files(
    example: str, names: dict[str, Any]
) -> None:
    found: Any = rs.evaluate(QRELS, eval(example, names), "RR")  # noqa: S307 - as above
    assert {name: each["RR"] for name, each in found.items()} == {"a.run": 0.5, "b.run": 0.5}


def test_the_page_has_examples() -> None:
    assert len(RUNS) > 20
    assert len(SEVERAL) > 3

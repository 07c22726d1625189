"""The examples of the page about inputs give the values that they should."""

from __future__ import annotations

import re
import shutil
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


def write_files(columns: dict[str, Any], text: str) -> None:
    """Write the files of the examples, in which each run is the same."""
    Path("run.txt").write_text(text)
    Path("runs").mkdir()
    for name in ("a.run", "b.run"):
        Path("runs", name).write_text(text)
    frame = pd.DataFrame(columns)
    frame.to_csv("run.csv", index=False)
    parts = {f"partitions/query_id={query}": rows for query, rows in frame.groupby("query_id")}
    for folder, rows in {"parts": frame, **parts}.items():
        Path(folder).mkdir(parents=True)
        rows[frame.columns[folder != "parts" :]].to_parquet(f"{folder}/part-0.parquet")


def read_example(example: str, names: dict[str, Any]) -> Any:  # noqa: ANN401 - any form
    """Evaluate the code of an example, or skip it if its library isn't installed."""
    if example.startswith('"s3://'):
        pytest.skip("it needs a server: see tests/services/test_inputs_in_buckets.py")
    for name in re.findall(r"\b(\w+)\.", example):
        if name in LIBRARIES:
            names[name] = pytest.importorskip(LIBRARIES[name])
    if "delta" in example and not Path("delta").exists():
        library = pytest.importorskip("deltalake")
        library.write_deltalake("delta", pa.table(names["columns"]))
    return eval(example, names)  # noqa: S307 - the examples of the page


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the page defines, where its files are."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    for line in re.findall(r"^>>> (.*)", SECTION, re.MULTILINE):
        exec(line, found)  # noqa: S102 - the examples of the page
    write_files(found["columns"], RUN)
    # A part of a folder's name is a query only if there are several.
    shutil.copytree("partitions/query_id=q1", "partitions/query_id=q2")
    return found


@pytest.mark.parametrize("example", RUNS)
def test_a_run_in_every_form_has_the_same_value(example: str, names: dict[str, Any]) -> None:
    run = read_example(example, names)
    assert rs.evaluate(QRELS, run, "RR")["RR"] == 0.5
    run = read_example(example, names)
    assert rs.Rankings.from_run(QRELS, run).evaluate("RR")["RR"] == 0.5

"""Every kind of input and every example that the documentation has is read as it says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._inputs.numbers import to_numbers

from tests.generated import examples
from tests.inputs.kinds import KINDS

COLUMNS = {
    "query_id": ["q", "q", "q"],
    "doc_id": ["a", "b", "c"],
    "relevance": [0.0, 3.0, 1.0],
    "score": [3.5, 2.5, 1.5],
}
GRADES, SCORES = [0, 3, 1], [3, 2, 1]
EXPECTED = rs.ndcg_score([GRADES], [SCORES])


def of_place(place):
    """Return the kinds of a place, skipped where their library isn't installed."""
    return [
        pytest.param(kind, id=f"{kind.package or 'Python'}: {kind.what}")
        for kind in KINDS
        if kind.place == place
    ]


def make(kind, given):
    """Make an input, or skip where its library isn't installed."""
    if kind.package:
        pytest.importorskip(kind.package.replace("-", "_"))
    return kind.make(given)


@pytest.mark.parametrize("kind", of_place("lists"))
def test_documents_by_query_are_read(kind):
    run = {"q": make(kind, ["a", "b", "c"])}
    assert rs.evaluate({"q": {"b"}}, run, "RR")["RR"] == 0.5
    if "score" not in kind.what:
        assert rs.evaluate({"q": make(kind, ["b"])}, {"q": ["a", "b"]}, "RR")["RR"] == 0.5


@pytest.mark.parametrize("kind", of_place("tables"))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Hugging Face's, of its own code
def test_tables_are_read(kind):
    assert rs.evaluate(make(kind, COLUMNS), "nDCG")["nDCG"] == EXPECTED
    if "mapping" in kind.what:
        return  # as judgments, it is recognized by its names: see test_names_of_columns.py
    judged = {name: COLUMNS[name] for name in ("query_id", "doc_id", "relevance")}
    run = {name: COLUMNS[name] for name in ("query_id", "doc_id", "score")}
    found = rs.evaluate(make(kind, judged), make(kind, run), "nDCG")
    assert found["nDCG"] == EXPECTED


@pytest.mark.parametrize("kind", of_place("arrays"))
def test_arrays_are_read(kind):
    grades, scores = make(kind, GRADES), make(kind, SCORES)
    rankings = rs.Rankings.from_groups(grades, scores, [3])
    assert rankings.evaluate("nDCG")["nDCG"] == EXPECTED
    assert rs.Rankings.from_lists([grades]).evaluate("nDCG")["nDCG"] == EXPECTED


SHORT = {
    "torch": ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"],
    "jax.numpy": ["bfloat16", "float16", "float8_e4m3fn", "int4", "uint4"],
}
"""Types of numbers that NumPy doesn't have."""


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, kinds in SHORT.items() for kind in kinds]
)
def test_short_numbers_keep_their_values(name, kind):
    library = pytest.importorskip(name)
    expected = [0.5 if "float" in kind else 5, 3, 1]
    made = library.tensor(expected) if name == "torch" else library.array(expected)
    dtype = getattr(library, kind)
    held = made.to(dtype) if name == "torch" else made.astype(dtype)
    assert to_numbers(held, "scores", dimensions=(1,)).tolist() == expected
    assert rs.ndcg([held], k=2) == rs.ndcg([expected], k=2)
    one = held[0]
    found = rs.evaluate({"q": {"d": one}}, {"q": {"d": one}}, "DCG@1")
    assert found["DCG@1"] == expected[0]


MEASURES = ["nDCG", "AP", "RR", "P@2"]
TYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
NUMBERS = [int, float, *(np.dtype(name).type for name in TYPES)]


@pytest.mark.parametrize("kind", NUMBERS)
@examples(50)
@given(
    grades=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    scores=st.lists(st.integers(0, 4), min_size=8, max_size=8),
)
def test_numbers_have_the_values_of_floats(kind, grades, scores):
    docs = [f"d{at}" for at in range(8)]
    qrels = {"q": dict(zip(docs, map(float, grades), strict=False))}
    run = {"q": dict(zip(docs, map(float, scores), strict=True))}
    expected = rs.evaluate(qrels, run, MEASURES)
    typed = [{doc: kind(number) for doc, number in side["q"].items()} for side in (qrels, run)]
    found = rs.evaluate({"q": typed[0]}, {"q": typed[1]}, MEASURES)
    assert found.to_dict() == expected.to_dict()


PAGE = Path(__file__).parents[2] / "docs/inputs.md"
SECTION = PAGE.read_text().partition("## Every form, on one line")[2].partition("\n## ")[0]
TABLES = re.findall(r"(?:^\|.*\n)+", SECTION, re.MULTILINE)
LIBRARIES = {"pd": "pandas", "pl": "polars", "pa": "pyarrow"} | {
    name: name for name in ("duckdb", "datasets", "deltalake")
}
RUN = "q1 Q0 d2 1 2.0 mine\nq1 Q0 d1 2 1.0 mine\n"
QRELS = {"q1": {"d1": 1}}


def list_examples(table):
    """Return the code in the second column of a table."""
    rows = [line.split(" | ") for line in table.strip().splitlines()[2:]]
    return [row[1].removesuffix(" |").strip("`") for row in rows]


RUNS, SEVERAL = map(list_examples, TABLES)


def write_files(columns, text):
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


def read_example(example, names):
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
def names(tmp_path, monkeypatch):
    """The names that the page defines, where its files are."""
    monkeypatch.chdir(tmp_path)
    found = {}
    for line in re.findall(r"^>>> (.*)", SECTION, re.MULTILINE):
        exec(line, found)  # noqa: S102 - the examples of the page
    write_files(found["columns"], RUN)
    # A part of a folder's name is a query only if there are several.
    shutil.copytree("partitions/query_id=q1", "partitions/query_id=q2")
    return found


@pytest.mark.parametrize("example", RUNS)
def test_a_run_in_every_form_has_the_same_value(example, names):
    run = read_example(example, names)
    assert rs.evaluate(QRELS, run, "RR")["RR"] == 0.5
    run = read_example(example, names)
    assert rs.Rankings.from_run(QRELS, run).evaluate("RR")["RR"] == 0.5

"""Whatever form data have, their values are those of the same data in TREC files."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import sqlite3
import types
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest
import rankscope as rs
import sqlalchemy
from hypothesis import given
from hypothesis import strategies as st

from tests.generated import examples
from tests.refusals import refused

MEASURES = ["nDCG@1,3,10", "AP", "RR", "P(rel=2)@5", "Bpref", "nDCG"]
QRELS = [("q1", "d1", 3), ("q1", "d2", 0), ("q1", "d3", 1), ("q2", "d4", 1), ("q2", "d1", 2)]
RUN = [
    ("q1", "d2", 0.9),
    ("q1", "d1", 0.8),
    ("q1", "d3", 0.1),
    ("q2", "d4", 0.7),
    ("q2", "d5", 0.6),
]


Unnamed, Swapped, TrecQrel, Scored = (
    collections.namedtuple("Row", names)  # noqa: PYI024 - there are no types to name
    for names in (
        "a b c",
        "doc_id query_id score tag",
        "query_id doc_id relevance iteration",
        "query_id doc_id score",
    )
)
Result = dataclasses.make_dataclass("Result", ["score", "doc_id", "query_id"])


def trec_qrels(rows):
    return "".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows).encode()


def trec_run(rows):
    return "".join(f"{query} Q0 {doc} 1 {score!r} t\n" for query, doc, score in rows).encode()


def flat(rows, number):
    """Columns with a row for each document."""
    return dict(
        zip(("query_id", "doc_id", number), map(list, zip(*rows, strict=True)), strict=True)
    )


def nested(rows, number):
    """Columns with a row for each query, whose documents are lists."""
    queries = dict.fromkeys(query for query, *_ in rows)
    return {
        "query_id": list(queries),
        "doc_ids": [[doc for of, doc, _ in rows if of == query] for query in queries],
        number: [[value for of, _, value in rows if of == query] for query in queries],
    }


def objects(rows, number):
    """Columns with a row for each query, whose documents are a list of objects."""
    lists = nested(rows, number)
    pairs = zip(lists["doc_ids"], lists[number], strict=True)
    items = [
        [{"doc_id": doc, number: value} for doc, value in zip(*pair, strict=True)] for pair in pairs
    ]
    return {"query_id": lists["query_id"], "items": items}


def to_records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def index(rows, number, *names):
    """A data frame whose index has queries and documents."""
    frame = pd.DataFrame(flat(rows, number)).set_index(["query_id", "doc_id"])
    return frame.rename_axis(list(names)) if names else frame


FORMS = {
    "records of lists": lambda rows, number: to_records(nested(rows, number)),
    "records of objects": lambda rows, number: to_records(objects(rows, number)),
    "rows of a frame": lambda rows, number: list(pd.DataFrame(flat(rows, number)).itertuples()),
    "pandas tuples": lambda rows, number: pd.DataFrame(
        {
            name: list(map(tuple, cells)) if name != "query_id" else cells
            for name, cells in nested(rows, number).items()
        }
    ),
    "pandas arrays": lambda rows, number: pd.DataFrame(nested(rows, number)).map(
        lambda cell: np.array(cell) if isinstance(cell, list) else cell
    ),
    "pandas groups": lambda rows, number: (
        pd.DataFrame(flat(rows, number)).groupby("query_id", sort=False).agg(list)
    ),
    "pandas lists of Arrow": lambda rows, number: pa.table(nested(rows, number)).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "polars structs": lambda rows, number: pl.DataFrame(objects(rows, number)),
    "arrow structs": lambda rows, number: pa.table(objects(rows, number)),
    "arrow batches": lambda rows, number: pa.RecordBatchReader.from_batches(
        (table := pa.table(nested(rows, number))).schema, table.to_batches(max_chunksize=1)
    ),
    "pandas column without names": lambda rows, number: index(rows, number, None, None)[number],
    "pandas column with another name": lambda rows, number: index(rows, number)[number].rename(
        "mine"
    ),
    "pandas column, documents first": lambda rows, number: index(rows, number)[number].swaplevel(),
    "pandas index without names": lambda rows, number: index(rows, number, None, None),
    "pandas index of queries": lambda rows, number: pd.DataFrame(flat(rows, number)).set_index(
        "query_id"
    ),
    "pandas index of documents": lambda rows, number: pd.DataFrame(flat(rows, number)).set_index(
        "doc_id"
    ),
}


def evaluate(qrels, run, **more):
    return rs.evaluate(qrels, run, MEASURES, **more).to_dict()


EXPECTED = evaluate(trec_qrels(QRELS), trec_run(RUN))


@pytest.mark.parametrize("form", FORMS)
def test_judgments_and_a_run_of_any_form_have_the_values_of_trec_files(form):
    assert evaluate(trec_qrels(QRELS), FORMS[form](RUN, "score")) == EXPECTED
    assert evaluate(FORMS[form](QRELS, "relevance"), trec_run(RUN)) == EXPECTED
    ranked = rs.Rankings.from_run(trec_qrels(QRELS), FORMS[form](RUN, "score"))
    assert ranked.evaluate(MEASURES).to_dict() == EXPECTED


# An iterator could be the documents of a query.
@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"arrow batches"}))
def test_runs_of_any_form_can_have_names(form):
    make = FORMS[form]
    named = {"a": make(RUN, "score"), "b": make(RUN[1:], "score")}
    found = rs.evaluate(trec_qrels(QRELS), named, MEASURES)
    assert found["a"].to_dict() == EXPECTED
    assert found["b"].to_dict() == evaluate(trec_qrels(QRELS), trec_run(RUN[1:]))
    compared = rs.compare(trec_qrels(QRELS), named, "AP")
    assert list(compared.means) == ["a", "b"]


def test_records_of_other_types_are_read_by_the_names_of_their_fields():
    model = pydantic.create_model("Hit", score=float, doc_id=str, query_id=str)
    swapped = [Swapped(doc, query, score, "t") for query, doc, score in RUN]
    for run in (
        [Result(score, doc, query) for query, doc, score in RUN],
        [model(query_id=query, doc_id=doc, score=score) for query, doc, score in RUN],
        swapped,
        [Unnamed(*row) for row in RUN],  # by position
    ):
        assert evaluate(trec_qrels(QRELS), run) == EXPECTED
    assert evaluate([TrecQrel(*row, "0") for row in QRELS], swapped) == EXPECTED
    custom = [{"customer": query, "sku": doc, "p": score} for query, doc, score in RUN]
    columns = {"query": "customer", "doc": "sku", "score": "p"}
    assert evaluate(trec_qrels(QRELS), custom, **columns) == EXPECTED


def test_rows_of_databases_are_records():
    names = "doc_id, score, query_id"
    with closing(sqlite3.connect(":memory:")) as plain:
        plain.row_factory = sqlite3.Row
        plain.execute(f"create table run ({names})")
        swapped = [(doc, score, query) for query, doc, score in RUN]
        plain.executemany("insert into run values (?, ?, ?)", swapped)
        cursor = plain.execute("select * from run")
        assert evaluate(trec_qrels(QRELS), cursor.fetchall()) == EXPECTED
        assert evaluate(trec_qrels(QRELS), plain.execute("select * from run")) == EXPECTED
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"create table run ({names})")
        connection.exec_driver_sql("insert into run values (?, ?, ?)", swapped)
        found = connection.exec_driver_sql("select * from run").all()
        assert evaluate(trec_qrels(QRELS), found) == EXPECTED
    engine.dispose()


@pytest.mark.slow
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["q1", "q2", "é"]), st.sampled_from("abcdefg")),
        st.tuples(st.integers(0, 3), st.floats(-1e6, 1e6, allow_nan=False)),
        min_size=1,
    )
)
@examples(20)
def test_generated_rankings_have_the_same_values_in_every_form(pairs):
    qrels = [(*key, grade) for key, (grade, _) in pairs.items()]
    run = [(*key, score) for key, (_, score) in pairs.items()]
    expected = evaluate(trec_qrels(qrels), trec_run(run))
    for make in FORMS.values():
        by_query = evaluate(make(qrels, "relevance"), make(run, "score"))
        assert {str(query): values for query, values in by_query.items()} == expected


def make_dataset(**parts):
    kinds = {"qrels": lambda *row: TrecQrel(*row, "0"), "scoreddocs": Scored}
    return types.SimpleNamespace(
        **{
            f"{name}_iter": lambda rows=rows, kind=kinds[name]: itertools.starmap(kind, rows)
            for name, rows in parts.items()
        }
    )


def test_a_dataset_of_ir_datasets_has_judgments_and_a_run():
    both = make_dataset(qrels=QRELS, scoreddocs=RUN)
    assert evaluate(both, both) == EXPECTED
    assert evaluate(both.qrels_iter(), both.scoreddocs_iter()) == EXPECTED
    judged, scored = make_dataset(qrels=QRELS), make_dataset(scoreddocs=RUN)
    for inputs in ((trec_qrels(QRELS), judged), (scored, trec_run(RUN))):
        refused(lambda inputs=inputs: evaluate(*inputs), "input_type", "found one with")


def test_the_splits_of_a_dataset_of_hugging_face_are_refused():
    splits = type("DatasetDict", (dict,), {})({"train": None, "test": None})
    error = refused(lambda: evaluate(splits, trec_run(RUN)), "input_type", "train, test")
    assert "dataset['test']" in error.hint
    refused(lambda: rs.Rankings.from_table(splits), "input_type", "DatasetDict")
    tables = type("DatasetDict", (dict,), {})({"test": pd.DataFrame(flat(RUN, "score"))})
    refused(lambda: evaluate(trec_qrels(QRELS), tables), "input_type", "one split")
    refused(lambda: rs.compare(trec_qrels(QRELS), tables, "AP"), "input_type", "one split")


MISTAKES = {
    "lists of different lengths": ([["a"], ["b", "c"]], [[1.0], [1.0]], "length_mismatch", 2),
    "a row without a list": ([["a"], None], [[1.0], [1.0]], "missing_list", 2),
    "an ID that is missing": ([["a"], ["b", None]], [[1.0], [1.0, 2.0]], "missing_id", 2),
    "a score that is missing": ([["a"], ["b", "c"]], [[1.0], [1.0, None]], "missing_score", 2),
    "lists of lists": ([[["a"]], [["b"]]], [[1.0], [1.0]], "nested_lists", None),
    "a document twice": ([["a", "a"]], [[1.0, 2.0]], "duplicate_doc", 1),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_mistakes_in_lists_name_the_row(mistake, make):
    docs, scores, code, row = MISTAKES[mistake]
    columns = {"query_id": ["q1", "q2"][: len(docs)], "doc_ids": docs, "score": scores}
    error = refused(lambda: evaluate({"q1": {"a": 1}}, make(columns)), code)
    assert (error.file, error.line) == ("run", row)


def test_lists_that_do_not_fit_together_are_refused(tmp_path):
    types = pd.DataFrame({"query_id": ["q1"], "doc_ids": [["a", 1]]})
    refused(lambda: evaluate({"q1": {"a": 1}}, types), "id_type", "doc_ids")
    one_doc = pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [[1.0]]})
    refused(lambda: evaluate({"q1": {"a": 1}}, one_doc), "missing_list")
    columns = {"query_id": ["q1"], "doc_ids": [["a", "b"]], "score": [1.0]}
    path = tmp_path / "run.jsonl"
    path.write_text('{"query_id": "q1", "doc_ids": ["a", "b"], "score": 1.0}\n')
    for run in (columns, pd.DataFrame(columns), pl.DataFrame(columns), path):
        refused(lambda run=run: evaluate({"q1": {"a": 1}}, run), "missing_list", "in doc_ids")


def test_one_grade_can_be_that_of_a_list_of_documents():
    columns = {"query_id": ["q1", "q1"], "doc_ids": [["d1"], ["d2", "d3"]], "relevance": [2, 1]}
    one_by_one = {"q1": {"d1": 2, "d2": 1, "d3": 1}}
    for qrels in (pd.DataFrame(columns), pa.table(columns)):
        assert evaluate(qrels, trec_run(RUN)) == evaluate(one_by_one, trec_run(RUN))


def test_records_of_several_kinds_are_refused():
    mixed = [*to_records(flat(RUN, "score")), ("q1", "d9", 0.5)]
    error = refused(lambda: evaluate(trec_qrels(QRELS), mixed), "mixed_rows", "found tuple")
    assert (error.file, error.line) == ("run", len(mixed))


def test_records_without_a_field_are_refused_where_it_is_missing():
    rows = to_records(flat(RUN, "score"))
    del rows[2]["score"]
    error = refused(lambda: evaluate(trec_qrels(QRELS), rows), "missing_score")
    assert error.line == 3
    refused(lambda: evaluate(trec_qrels(QRELS), [{"a": 1, "b": 2}]), "columns", "found a, b")


def test_a_level_of_an_index_beside_a_column_of_its_role_is_ignored():
    frame = pd.DataFrame(flat(RUN, "score"))
    for odd in (pd.Index(range(5), name="topic"), pd.MultiIndex.from_tuples([("x", "y")] * 5)):
        assert evaluate(trec_qrels(QRELS), frame.set_axis(odd)) == EXPECTED


def test_a_level_of_queries_comes_before_a_column_of_users():
    frame = pd.DataFrame(flat(RUN, "score")).assign(user_id="u")
    for run in (frame, frame.set_index(["query_id", "doc_id"]), frame.set_index("query_id")):
        assert evaluate(trec_qrels(QRELS), run) == EXPECTED
    # A group isn't sure to be the query where there are users.
    unsure = frame.rename(columns={"query_id": "group_id"}).set_index("group_id")
    refused(lambda: evaluate(trec_qrels(QRELS), unsure), "columns", "user_id and group_id")

"""A run that is read once: the same values as its source, in every function that takes a run."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import rankscope as rs

from tests.inputs.test_forms import FORMS, MEASURES, QRELS, RUN, trec_qrels, trec_run
from tests.refusals import refused

SOURCES = {
    "bytes": lambda: trec_run(RUN),
    "rows": lambda: RUN,
    "mapping": lambda: {q: {d: s for p, d, s in RUN if p == q} for q in ("q1", "q2")},
    **{name: lambda make=make: make(RUN, "score") for name, make in FORMS.items()},
}
EXPECTED = rs.evaluate(trec_qrels(QRELS), trec_run(RUN), MEASURES).to_dict()
OTHER = {"q1": {"d1": 0.5, "d3": 0.4}, "q2": {"d1": 1.0}}


@pytest.mark.parametrize("source", SOURCES)
def test_a_run_that_was_read_has_the_values_of_its_source(source):
    run = rs.read_run(SOURCES[source](), name="mine")
    assert (run.name, run.queries, run.documents) == ("mine", 2, 5)
    for same in (run, pickle.loads(pickle.dumps(run))):  # noqa: S301 - made here
        assert rs.evaluate(trec_qrels(QRELS), same, MEASURES).to_dict() == EXPECTED
        assert same.to_dict() == SOURCES["mapping"]()
    assert rs.read_run(run).to_dict() == run.to_dict()


def test_functions_take_it_as_they_take_its_source():
    source = SOURCES["mapping"]()
    run = rs.read_run(source)
    qrels = rs.read_qrels(QRELS)
    compared = rs.compare(qrels, {"a": run, "b": OTHER}, "AP")
    assert compared.means == rs.compare(qrels, {"a": source, "b": OTHER}, "AP").means
    assert rs.fuse([run, OTHER]).to_dict() == rs.fuse([source, OTHER]).to_dict()
    assert str(rs.diff(qrels, run, OTHER, "AP")) == str(rs.diff(qrels, source, OTHER, "AP"))
    assert str(rs.agreement(run, OTHER)) == str(rs.agreement(source, OTHER))
    ranked = rs.Rankings.from_run(qrels, run)
    assert ranked.evaluate(MEASURES).to_dict() == EXPECTED


def test_single_precision_and_the_same_ids_are_options_of_each_evaluation():
    close = {"q": {"a": 1.0, "b": 1.0 + 1e-9, "q": 2.0}}
    for run in (rs.read_run(close), rs.fuse([close, close], method="combsum")):
        for options in ({}, {"score_type": "float32"}, {"ignore_same": True}):
            same = rs.evaluate({"q": {"a": 1}}, run.to_dict(), "RR", **options)["RR"]
            assert rs.evaluate({"q": {"a": 1}}, run, "RR", **options)["RR"] == same


def test_ids_and_exports_are_those_of_the_source(tmp_path):
    run = rs.read_run({7: {1: 0.5, 2: 0.25}})
    assert run.to_dict() == {7: {1: 0.5, 2: 0.25}}
    assert run.to_pandas()["doc_id"].dtype == np.int64
    assert run.to_arrow().column_names == ["query_id", "doc_id", "score"]
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 1 2 t\n\nq Q0 b 2 1 t\n")
    run = rs.read_run(path)
    assert run.name == str(path)
    assert repr(run).startswith(f"{path}: 1 query, 2 documents\nnote: ")
    table = {"customer": ["q"], "sku": ["a"], "p": [1.0]}
    assert rs.read_run(table, query="customer", doc="sku", score="p").to_dict() == {"q": {"a": 1.0}}


def test_what_is_no_run_is_refused():
    refused(lambda: rs.read_run(5), "input_type")
    refused(lambda: rs.read_run({"q": {"a": "x"}}), "score_not_number")
    refused(lambda: rs.read_run({"q": ["a"]}, memory="1GiB"), "bad_memory")
    refused(lambda: rs.read_run({"q": ["a"]}, measures="AP"), "unknown_argument")

"""What is suspicious is noted or refused at every entrance: files, frames, records, mappings."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import Rankings
from rankscope._show.diagnostics import shorten
from rankscope.errors import FormatError

from tests.inputs.entry import flatten
from tests.inputs.test_forms import flat, trec_run
from tests.refusals import refused, refuses_if
from tests.tabular import ENTRANCES, enter, write_table

QRELS = {"q1": {"a": 0, "b": 0, "c": 1}, "q2": {"a": 1, "b": 0}}


def in_forms(lists, folder):
    """Yield a run as a mapping, as rows, as TREC text, and as every kind of table."""
    rows = flatten(lists)
    yield from (lists, rows, trec_run(rows))
    yield from (enter(form, flat(rows, "score"), folder) for form in ENTRANCES)


def counts(evaluation, *codes):
    return [evaluation.diagnostics.get(code, 0) for code in codes]


RANKED = {
    "all ranks are turned round": ([1, 2, 3], [0.1, 0.2, 0.3], [1, 0]),
    "two ranks are exchanged": ([2, 1, 3], [0.9, 0.5, 0.3], [1, 0]),
    "equal ranks contradict nothing": ([1, 1, 1], [0.1, 0.2, 0.3], [0, 1]),
    "equal scores contradict nothing": ([1, 2, 3], [0.0, 0.0, 0.0], [0, 0]),
    "ranks from 0 agree with their scores": ([0, 1, 2], [3.0, 2.0, 1.0], [0, 1]),
    "the rows are in another order": ([3, 1, 2], [0.1, 0.3, 0.2], [0, 0]),
    "a rank is far behind": ([1, 2, 10**9], [0.3, 0.1, 0.2], [1, 1]),
}


@pytest.mark.parametrize("form", ENTRANCES)
@pytest.mark.parametrize("case", RANKED)
def test_ranks_are_held_against_scores(case, form, tmp_path):
    ranks, scores, wanted = RANKED[case]
    expected = 1 / (1 + sum(other > scores[2] for other in scores))  # the larger ID wins a tie
    run = {"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "rank": ranks, "score": scores}
    qrels = {"q1": QRELS["q1"]}
    ways = [
        lambda: rs.evaluate(qrels, enter(form, run, tmp_path), "RR"),
        lambda: Rankings.from_run(qrels, enter(form, run, tmp_path)).evaluate("RR"),
        lambda: rs.evaluate(enter(form, {**run, "relevance": [0, 0, 1]}, tmp_path), "RR"),
    ]
    for way in ways:
        evaluation = way()
        assert evaluation["RR"] == expected
        assert counts(evaluation, "rank_score_disagree", "rank_irregular") == wanted


@pytest.mark.parametrize("form", ["pandas", "parquet"])
@pytest.mark.parametrize(("named", "expected"), [("score", 1 / 3), ("rank", 1.0)])
def test_the_one_column_that_is_named_orders_without_a_note(form, named, expected, tmp_path):
    run = {"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"]}
    run |= {"rank": [3, 2, 1], "score": [3.0, 2.0, 1.0]}
    joined = {**run, "relevance": [0, 0, 1]}
    for evaluation in (
        rs.evaluate({"q1": QRELS["q1"]}, enter(form, run, tmp_path), "RR", **{named: named}),
        rs.evaluate(enter(form, joined, tmp_path), "RR", **{named: named}),
    ):
        assert (evaluation["RR"], counts(evaluation, "rank_score_disagree")) == (expected, [0])


def test_contradicting_ranks_are_an_error_in_strict_and_a_note_of_a_comparison():
    run = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "c"], "rank": [1, 2]})
    run["score"] = [0.1, 0.2]
    refused(lambda: rs.evaluate(QRELS, run, "RR", strict=True), "rank_score_disagree")
    refused(lambda: rs.evaluate(run.assign(rel=[0, 1]), "RR", strict=True), "rank_score_disagree")
    comparison = rs.compare(QRELS, {"old": run, "new": QRELS}, "RR")
    assert comparison.diagnostics["rank_score_disagree"] == 1


@pytest.mark.parametrize("form", ENTRANCES)
def test_a_fused_run_has_the_notes_of_its_runs(form, tmp_path):
    run = {"query_id": ["q1", "q1"], "doc_id": ["a", "c"], "rank": [1, 2], "score": [0.1, 0.2]}
    odd = enter(form, {**run, "tag": ["x", "y"]}, tmp_path)
    fused = rs.fuse({"odd": odd, "even": QRELS, "trec": b"q1 Q0 a 2 0.5 t"}, "combsum")
    assert [(note.file, note.code) for note in fused.notes] == [
        ("odd", "multiple_tags"),
        ("odd", "rank_score_disagree"),
        ("trec", "rank_irregular"),
    ]
    assert all(f"note: {note}" in str(fused) for note in fused.notes)
    assert fused.to_dict()["q1"]["c"] == 2.0


TAGGED = {
    "two algorithms": (["x", "y", "x"], 2),
    "three algorithms": (["x", "y", "z"], 3),
    "one algorithm": (["x", "x", "x"], 0),
    "one that is missing": (["x", None, "x"], 0),
    "numbers": ([1, 2, 1], 2),
}


@pytest.mark.parametrize("form", ENTRANCES)
@pytest.mark.parametrize("case", TAGGED)
def test_the_names_of_several_runs_are_noted(case, form, tmp_path):
    tags, count = TAGGED[case]
    run = {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "c", "a"], "score": [3.0, 2.0, 1.0]}
    for at, name in enumerate(("algorithm", "model", "run", "run_id", "tag", "system")):
        grades = {"relevance": [0, 1, 1]} if at % 2 else {}
        table = enter(form, {**run, **grades, name: tags}, tmp_path)
        evaluation = rs.evaluate(table, "RR") if grades else rs.evaluate(QRELS, table, "RR")
        assert (evaluation["RR"], counts(evaluation, "multiple_tags")) == (0.75, [count])


UUIDS = pa.array([b"a" * 16, b"b" * 16], pa.binary(16))
NAMES = {
    "UUIDs": pa.ExtensionArray.from_storage(pa.uuid(), UUIDS),
    "bytes": UUIDS,
    "views": pa.array(["x", "y"], pa.string_view()),
    "categories": pa.array(["x", "y"]).dictionary_encode(),
    "times": pa.array([1, 2], pa.timestamp("us", "UTC")),
    "decimals": pa.array([1, 2], pa.int64()).cast(pa.decimal256(50, 2)),
}


@pytest.mark.parametrize("form", ["table", "reader", "parquet", "arrow"])
@pytest.mark.parametrize("kind", NAMES)
def test_names_of_every_type_are_noted(form, kind, tmp_path):
    run = {"user_id": ["q1"] * 2, "relevance": [0, 1], "score": [2.0, 1.0]}
    for name, note in (("run_id", ("multiple_tags", 2)), ("visit_id", ("query_split", 1))):
        evaluation = rs.evaluate(enter(form, run | {name: NAMES[kind]}, tmp_path), "RR")
        assert (evaluation["RR"], evaluation.diagnostics) == (1 / 2, dict([note]))


@pytest.mark.parametrize(("different", "count"), [(16, 16), (17, 0)])
def test_a_column_of_many_values_names_no_runs(different, count):
    docs = [f"d{row}" for row in range(different)]
    run = pd.DataFrame({"query_id": "q1", "doc_id": docs, "score": 1.0, "model": docs})
    assert counts(rs.evaluate({"q1": {"d1": 1}}, run, "RR"), "multiple_tags") == [count]


def test_a_column_that_is_used_otherwise_names_no_runs():
    table = {"qid": ["q1", "q2"], "rel": [1, 0], "score": [1.0, 2.0], "model": ["x", "y"]}
    assert counts(rs.evaluate(table, "RR", by="model"), "multiple_tags") == [0]
    assert counts(rs.evaluate(table, "RR"), "multiple_tags") == [2]
    odd = pd.DataFrame({"qid": ["q1", "q2"], "rel": [1, 0], "score": [1.0, 2.0], "run": [{}, 1]})
    assert counts(rs.evaluate(odd, "RR"), "multiple_tags") == [0]


def test_the_runs_of_a_folder_are_noted_though_one_file_has_no_names(tmp_path):
    columns = {"qid": ["q1", "q2"], "rel": [1, 0], "score": [1.0, 2.0]}
    write_table(columns, tmp_path / "1.csv")
    write_table({**columns, "qid": ["q3", "q4"], "tag": ["x", "y"]}, tmp_path / "2.csv")
    assert counts(rs.evaluate(str(tmp_path), "RR"), "multiple_tags") == [2]
    columns = {"qid": ["q5", "q6"], "rel": [1, 0], "score": [1.0, 2.0]}
    for run in ("x", "y"):
        folder = tmp_path / "runs" / f"run={run}"
        folder.mkdir(parents=True)
        write_table({**columns, "qid": [f"{run}1", f"{run}2"]}, folder / "1.csv")
    assert counts(rs.evaluate(str(tmp_path / "runs"), "RR"), "multiple_tags") == [2]


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
SPELLED = {
    "composed and decomposed": ({COMPOSED: 1}, {DECOMPOSED: 1.0}, 1, 0.0),
    "capitals for judgments": ({"DOC-1": 1}, {"doc-1": 1.0}, 1, 0.0),
    "capitals for the run": ({"doc-1": 1}, {"DOC-1": 1.0}, 1, 0.0),
    "one of two": ({"Aa": 1, "Bb": 1}, {"aa": 2.0, "Bb": 1.0}, 1, 0.5),
    "twice in the run": ({"a": 1}, {"a": 1.0, "A": 2.0}, 1, 0.5),
    "one way": ({"Aa": 1, "bB": 0}, {"Aa": 1.0, "bB": 0.5, "Cc": 0.2}, 0, 1.0),
    "others in the run alone": ({"a": 1}, {"a": 2.0, "X": 1.0, "x": 0.5}, 0, 1.0),
    "no letters": ({"10": 1}, {"1": 2.0, "10": 1.0, "100": 0.5}, 0, 0.5),
    "the last that is looked at": (
        {"a": 1},
        {"A": 0.0} | {f"{at}": 1.0 for at in range(99)},
        1,
        0.0,
    ),
}


@pytest.mark.parametrize("case", SPELLED)
def test_ids_in_two_spellings_are_noted(case, tmp_path):
    judged, retrieved, count, expected = SPELLED[case]
    for run in in_forms({"q1": retrieved}, tmp_path):
        evaluation = rs.evaluate({"q1": judged}, run, "RR")
        assert evaluation["RR"] == expected
        assert counts(evaluation, "ids_equal_after_normalisation") == [count]
    table = pa.table(flat(flatten({"q1": retrieved}), "score"))
    ranked = Rankings.from_run({"q1": judged}, table).evaluate("RR")
    assert counts(ranked, "ids_equal_after_normalisation") == [count]


@pytest.mark.parametrize(("one", "other"), [("Q1", "q1"), (COMPOSED, DECOMPOSED)])
def test_queries_in_two_spellings_are_noted(one, other, tmp_path):
    qrels = {one: {"a": 1}, "q2": {"a": 1}}
    for run in in_forms({other: {"a": 1.0}, "q2": {"a": 1.0}}, tmp_path):
        found = counts(rs.evaluate(qrels, run, "RR"), "ids_equal_after_normalisation", "n_missing")
        assert found == [1, 1]


TEN = {f"q{number}": QRELS["q1"] for number in range(10)}
STRANGERS = {
    "one document in each list": {query: {"x": 1.0} for query in TEN},
    "different documents": {query: {f"x{query}": 1.0, "y": 0.5} for query in TEN},
    "integers": {query: {"17": 2.0, "18": 1.0, "19": 0.5} for query in TEN},
    "a query that isn't judged": {query: {"x": 1.0} for query in TEN} | {"other": {"a": 1.0}},
}


def test_a_run_without_a_hit_of_documents_that_are_judged_elsewhere_is_one_of_the_collection():
    run, qrels = {query: {"d": 1.0} for query in TEN}, TEN | {"q10": {"d": 1}}
    evaluation = rs.evaluate(qrels, run, "RR")
    assert (evaluation["RR"], counts(evaluation, "all_unjudged")) == (0.0, [10])


@pytest.mark.parametrize("case", STRANGERS)
def test_a_run_without_judged_documents_is_refused(case, tmp_path):
    lists, qrels = STRANGERS[case], TEN | {"q10": {"d": 1}}
    ids = [repr(doc) for doc in ("q0", "a", "b", *[*lists["q0"]][:2])]
    for run in in_forms(lists, tmp_path):
        error = refused(partial(rs.evaluate, qrels, run, "RR"), "no_common_documents")
        assert all(quoted in error.message for quoted in ids)
    for way in (rs.compare, rs.evaluate):
        refused(partial(way, qrels, {"good": TEN, "bad": lists}, "RR"), "no_common_documents")


@pytest.mark.parametrize(("lists", "is_refused"), [(9, False), (10, True)])
def test_fewer_than_ten_lists_may_have_no_judged_document(lists, is_refused):
    run = {query: {"x": 1.0} if at < lists else {} for at, query in enumerate(TEN)}
    with refuses_if(is_refused, FormatError, "none in 10 lists"):
        evaluation = rs.evaluate(TEN, run, "RR")
        assert (evaluation["RR"], counts(evaluation, "all_unjudged")) == (0.0, [lists])


def test_one_judged_document_is_enough():
    run = {query: {"x": 1.0} for query in TEN} | {"q9": {"x": 1.0, "c": 0.5}}
    evaluation = rs.evaluate(TEN, run, "RR")
    assert (evaluation["RR"], counts(evaluation, "lists_unjudged")) == (0.5 / 10, [9])


def test_the_hint_for_documents_in_two_spellings_names_them():
    run = {query: {doc.upper(): 1.0 for doc in docs} for query, docs in TEN.items()}
    assert "case" in refused(lambda: rs.evaluate(TEN, run, "RR"), "no_common_documents").hint


UNJUDGED = {
    "one list": ({"q1": {"x": 1.0}}, "all_unjudged", 1),
    "one list and an empty one": ({"q1": {"x": 1.0, "y": 0.5}, "q2": {}}, "all_unjudged", 1),
    "one of two lists": ({"q1": {"x": 1.0}, "q2": {"a": 1.0}}, "lists_unjudged", 1),
    "judged below the cutoff": (
        {"q1": {"x": 1.0, "c": 0.5}, "q2": {"y": 1.0}},
        "lists_unjudged",
        1,
    ),
    "no list": ({"q1": {"c": 1.0}, "q2": {"a": 1.0}}, "lists_unjudged", 0),
}


@pytest.mark.parametrize("case", UNJUDGED)
def test_what_few_lists_lack_is_a_note_that_is_printed_in_full(case):
    run, code, count = UNJUDGED[case]
    evaluation = rs.evaluate(QRELS, run, "nDCG@1", interval=0.9)
    assert counts(evaluation, code) == [count]
    for note in evaluation.notes:
        is_grave = note.code in {code, "n_missing", "all_relevant"}
        assert (str(note) in str(evaluation)) >= is_grave


MISSING = {
    "one of three": ([1, math.nan, 0], [0, 1]),
    "one that is negative": ([1, math.nan, -100], [1, 1]),
    "two that are missing": ([math.nan, 1.5, math.nan], [0, 2]),
    "two that are negative": ([-1.0, 2.0, -0.5], [2, 0]),
    "none": ([1, 0, 2], [0, 0]),
}


@pytest.mark.parametrize("case", MISSING)
def test_missing_and_negative_grades_are_counted(case, tmp_path):
    grades, wanted = MISSING[case]
    scores = [3.0, 2.0, 1.0]
    columns = {"qid": ["q"] * 3, "label": [float(grade) for grade in grades], "score": scores}
    nulls = {**columns, "label": [None if math.isnan(grade) else grade for grade in grades]}
    evaluations = [
        Rankings.from_arrays([grades], [scores]).evaluate("nDCG"),
        Rankings.from_arrays(grades, scores, groups="one").evaluate("nDCG"),
        Rankings.from_groups(grades, scores, [3]).evaluate("nDCG"),
        Rankings.from_lists([grades]).evaluate("nDCG"),
        rs.evaluate(np.array([grades]), np.array([scores]), "nDCG"),
        *(rs.evaluate(enter(form, nulls, tmp_path), "nDCG") for form in ENTRANCES),
        rs.evaluate(pd.DataFrame(columns), "nDCG"),
    ]
    for evaluation in evaluations:
        assert evaluation["nDCG"] == evaluations[0]["nDCG"]
        assert counts(evaluation, "negative_rel", "missing_grades") == wanted


def test_grades_of_a_given_ideal_are_counted_in_place_of_those_of_the_rows():
    rankings = Rankings.from_lists([[1, math.nan]], ideal=[[1, -1, -2]])
    assert counts(rankings.evaluate("nDCG"), "negative_rel", "missing_grades") == [2, 0]


@pytest.mark.parametrize("code", ["all_relevant", "n_missing", "all_unjudged", "lists_unjudged"])
def test_grave_notes_are_never_shortened(code):
    grave = f"note: {'long ' * 40}[{code}]"
    lines = ["policy: …", "intervals: …", grave, "note: … [tied_scores]"]
    shown = shorten(lines, {code: 1, "tied_scores": 2}, width=80)
    assert shown == ("policy: …", grave, "Notes: tied_scores (2). 2 more lines: .small_print")

"""Which column holds what, and how many lists a query has, at every entrance."""

from __future__ import annotations

import json
import math
from dataclasses import make_dataclass

import pandas as pd
import pytest
import rankscope as rs
from rankscope.errors import DuplicateError, InputError

from tests.refusals import refused
from tests.tabular import ENTRANCES, FILES, enter, write_table

SECOND = 1 / math.log2(3)
"""nDCG of two documents whose only relevant one is second."""
WITH_LISTS = tuple(name for name in ENTRANCES if name not in {"csv", "tsv"})


@pytest.fixture
def bring(tmp_path):
    """Return a function that brings columns through an entrance."""
    return lambda entrance, columns: enter(entrance, columns, tmp_path)


def sessions(name="session_id", user="user_id"):
    """Return two lists of one user: the relevant document is first, then second."""
    return {
        name: ["s1", "s1", "s2", "s2"],
        user: ["ann"] * 4,
        "label": [1, 0, 0, 1],
        "score": [0.9, 0.1, 0.8, 0.2],
    }


# --- sessions, requests and impressions


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("name", ["session_id", "request_id", "impression_id", "sessionId"])
def test_a_session_is_a_query_where_its_user_has_several(entrance, name, bring):
    found = rs.evaluate(bring(entrance, sessions(name)), "nDCG")
    assert found["nDCG"] == (1 + SECOND) / 2
    assert found.counts.queries == 2
    assert found.small_print[0].endswith(f": query={name}, relevance=label, score=score")
    assert "columns of" not in str(found)
    assert not found.notes


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_the_columns_of_judgments_and_of_a_run_are_in_the_small_print(entrance, bring, tmp_path):
    judged = {"qid": ["q"], "docno": ["a"], "rel": [1]}
    qrels = rs.read_qrels(write_table(judged, tmp_path / "a.csv"))
    run = bring(entrance, {"userId": ["q"] * 2, "sku": ["a", "b"], "s": [2.0, 1.0], "rank": [2, 1]})
    first, second, third = rs.evaluate(qrels, run, "RR", score="s").small_print[:3]
    assert first.endswith("a.csv: query=qid, doc=docno, relevance=rel")
    assert second.startswith("columns of ")
    assert second.endswith(": query=userId, doc=sku")
    assert third.startswith("policy")


def test_the_column_that_is_named_is_the_query_and_is_not_reported():
    found = rs.evaluate(sessions(), "nDCG", query="user_id", strict=True)
    assert found.counts.queries == 1
    assert found.small_print[0] == "columns of table: relevance=label, score=score"
    mappings = rs.evaluate({"q": {"a": 1}}, {"q": {"a": 2.5}}, "RR")
    assert mappings.small_print[0].startswith("policy")


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("other", ["request_id", "query_id"])
def test_two_columns_that_could_be_queries_are_an_error_that_says_how_to_choose(
    entrance, other, bring
):
    columns = sessions() | {other: ["a", "a", "a", "b"]}
    error = refused(lambda: rs.evaluate(bring(entrance, columns), "nDCG"), "columns", "query")
    assert "query='session_id'" in error.hint
    found = rs.evaluate(bring(entrance, columns), "nDCG", query="session_id")
    assert found["nDCG"] == (1 + SECOND) / 2


def test_a_session_that_is_a_cluster_is_no_query():
    columns = sessions() | {"query_id": ["a", "a", "b", "b"]}
    found = rs.evaluate(columns, "nDCG", cluster="session_id", interval=0.9)
    assert [*found.query_texts] == ["a", "b"]
    values = {"query_id": [1, 2], "session_id": ["a", "b"], "old": [0.1, 0.2], "new": [0.2, 0.3]}
    assert rs.compare(values, "nDCG", values=["old", "new"])


def test_a_user_of_a_history_with_sessions_is_still_a_user():
    history = {"user_id": ["ann", "ann"], "session_id": [1, 2], "item_id": ["a", "b"]}
    found = rs.evaluate({"ann": ["c"]}, {"ann": ["c", "a"]}, "Novelty", history=history)
    assert found["Novelty"] == 0  # the only user had `a`; half of two sessions would be 1 bit


# --- columns that divide queries


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("name", ["visit_id", "session_key", "web_session_id", "session"])
def test_an_unused_column_that_divides_a_query_is_noted(entrance, name, bring):
    found = rs.evaluate(bring(entrance, sessions(name)), "nDCG")
    assert found.diagnostics == {"query_split": 1}
    assert f"query='{name}' in place of 'user_id'" in found.notes[0].sentence
    followed = rs.evaluate(bring(entrance, sessions(name)), "nDCG", query=name)
    assert followed["nDCG"] == (1 + SECOND) / 2


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_the_run_has_the_note_beside_judgments(entrance, bring):
    run = {"user_id": ["ann"] * 2, "visit_id": [1, 2], "sku": ["a", "b"], "score": [2.0, 1.0]}
    found = rs.evaluate({"ann": {"b": 1}}, bring(entrance, run), "RR")
    assert found["RR"] == 1 / 2
    assert found.diagnostics == {"query_split": 1}
    ranked = rs.Rankings.from_run({"ann": {"b": 1}}, bring(entrance, run))
    assert ranked.evaluate("RR").diagnostics == {"query_split": 1}


@pytest.mark.parametrize(
    "columns",
    [
        {"visit_id": ["v1", "v1", "v2", "v2"], "user_id": [1, 1, 2, 2]},  # one in each query
        {"visit_id": ["v1", None, None, "v1"]},  # missing in some rows
        {"visit_id": [None] * 4},
        {"research": [1, 2, 3, 4]},
        {"impressions": [10, 20, 30, 40]},
        {"session_length": [1, 2, 3, 4]},
        {"visit_id": [{"a": 1}, "b", 3, None]},  # of no one type
        {"visit_id": [["a"], ["b"], ["c"], ["d"]]},
    ],
)
def test_other_columns_are_not_noted_and_change_nothing(columns):
    base = {"user_id": ["ann"] * 4, "label": [1, 0, 0, 1], "score": [0.9, 0.1, 0.8, 0.2]}
    assert rs.evaluate(base | columns, "nDCG").diagnostics == {}


@pytest.mark.parametrize("column", ["visit_id", "model"])
@pytest.mark.parametrize(
    "cells", [[1, "s"], ["s", 1], [[1], "s"], [{"a": 1}, 2], [[1, "a"], 1], [2**70, "s"], [True, 1]]
)
def test_an_unused_column_of_several_types_refuses_no_json_lines(column, cells, tmp_path):
    rows = [
        {"user_id": "ann", "label": at, "score": -at, column: cell} for at, cell in enumerate(cells)
    ]
    path = tmp_path / "table.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = rs.evaluate(path, "RR")
    assert (found["RR"], found.diagnostics) == (1 / 2, {})
    with path.open("a") as file:
        file.write(json.dumps(rows[0] | {"score": "high"}))
    assert refused(lambda: rs.evaluate(path, "RR"), "score_not_number").line == 3


@pytest.mark.parametrize("entrance", WITH_LISTS)
@pytest.mark.parametrize(
    ("column", "cells", "noted"),
    [
        ("model", ["x", "y"], {"multiple_tags": 2}),
        ("visit_id", ["x", "y"], {}),
        ("model", [["x"], ["y"]], {}),
        ("visit_id", [["x"], ["y"]], {}),
    ],
)
def test_an_unused_column_beside_lists_of_documents_is_none_of_them(
    entrance, column, cells, noted, bring
):
    run = {"user_id": ["p", "q"], "doc_ids": [["b", "a"], ["a"]], column: cells}
    found = rs.evaluate({"p": {"a": 1}, "q": {"a": 1}}, bring(entrance, run), "RR")
    assert (found["RR"], found.diagnostics) == ((1 / 2 + 1) / 2, noted)


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        (None, [1, 2], 0),
        ([1, 2], None, 1),
        ([1, 2], [1, 1], 1),
        ([1, 2], [3, 4], 2),
        ([1, 2], ["a", "b"], 1),  # which is of another type, but in delimited text
    ],
)
def test_files_of_a_folder_may_differ_in_an_unused_column(form, first, second, count, tmp_path):
    for query, cells in enumerate((first, second)):
        table = {"user_id": [f"u{query}"] * 2, "label": [0, 1], "score": [2.0, 1.0]}
        write_table(table | ({"visit_id": cells} if cells else {}), tmp_path / f"{query}.{form}")
    found = rs.evaluate(tmp_path, "RR")
    is_text = form in {"csv", "tsv"} and second == ["a", "b"]
    assert (found["RR"], found.diagnostics.get("query_split", 0)) == (1 / 2, count + is_text)


def test_the_note_is_the_same_streamed_partitioned_and_held(tmp_path):
    count = 40_000
    columns = {
        "user_id": [f"u{row // 4}" for row in range(count)],
        "visit_id": [row // (4 if row < count / 2 else 2) for row in range(count)],
        "label": [row % 2 for row in range(count)],
        "score": [float(row % 4) for row in range(count)],
    }
    apart = {name: values[::2] + values[1::2] for name, values in columns.items()}
    grouped = write_table(columns, tmp_path / "grouped.csv")
    scattered = write_table(apart, tmp_path / "scattered.csv")
    refused(lambda: rs.evaluate(grouped, "nDCG", strict=True), "query_split")
    for data in (columns, apart, grouped, scattered):
        assert rs.evaluate(data, "nDCG").diagnostics["query_split"] == count / 4 / 2
    parted = rs.evaluate(scattered, "nDCG", memory="1MiB")
    assert parted.diagnostics["query_split"] == count / 4 / 2


# --- usual names in any spelling

NAMES = {
    "query": ("queryId", "QUERY_ID", "Query-ID", "qId", "Q_ID", "userID", "Topic-Id", "SessionId"),
    "doc": ("sku", "SKU", "iid", "did", "docId", "itemid", "Doc_ID", "CORPUS-ID", "productId"),
    "relevance": ("Label", "RELEVANCE", "yTrue", "is-relevant", "IsRelevant", "actualScore"),
    "score": ("Score", "yPred", "Y-SCORE", "predictionScore"),
}
USUAL = {"query": "query_id", "doc": "doc_id", "relevance": "label", "score": "score"}
ROWS = {"query": ["q"] * 3, "doc": ["a", "b", "c"], "relevance": [0, 1, 0], "score": [3, 2, 1]}


def named(**names):
    return {(USUAL | names)[role]: values for role, values in ROWS.items()}


@pytest.mark.parametrize(("role", "name"), [(role, name) for role in NAMES for name in NAMES[role]])
def test_a_usual_name_is_found_in_every_spelling(role, name):
    found = rs.evaluate(named(**{role: name}), "RR")
    assert found["RR"] == 1 / 2
    assert f"{role}={name}" in found.small_print[0]


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("doc", ["sku", "docId", "iid"])
def test_documents_in_any_spelling_are_found_twice_if_they_are(entrance, doc, bring):
    names = {"query": "QueryID", "relevance": "Label", "score": "yPred", "doc": doc}
    table = named(**names)
    assert rs.evaluate(bring(entrance, table), "RR")["RR"] == 1 / 2
    table[doc] = ["a", "b", "b"]
    refused(lambda: rs.evaluate(bring(entrance, table), "RR"), "duplicate_doc")


@pytest.mark.parametrize("entrance", [name for name in ENTRANCES if name != "objects"])
def test_judgments_and_a_run_may_spell_their_columns_differently(entrance, bring):
    qrels = {"QUERY-ID": ["q"], "ItemId": ["b"], "Rating": [1]}
    run = {"qId": ["q", "q"], "SKU": ["a", "b"], "Rank": [1, 2]}
    judged = bring(entrance, qrels)
    if entrance in FILES:  # one name of a file for both
        judged = rs.read_qrels(judged)
    assert rs.evaluate(judged, bring(entrance, run), "RR")["RR"] == 1 / 2


def test_two_spellings_of_a_name_are_two_columns():
    table = named() | {"docId": ["x", "y", "z"]}
    error = refused(lambda: rs.evaluate(table, "RR"), "columns", "doc_id and docId")
    assert "doc='doc_id'" in error.hint


def test_an_index_of_pandas_is_found_in_any_spelling_and_a_sku_is_no_product():
    frame = pd.DataFrame(named(query="Query-ID", doc="docId")).set_index(["Query-ID", "docId"])
    table = named(doc="product_id") | {"sku": ["x", "x", "x"]}
    assert rs.evaluate(frame, "RR")["RR"] == rs.evaluate(table, "RR")["RR"] == 1 / 2


# --- one list for each query

TWO_LISTS = {
    "in rank order": {"doc_ids": [["b", "a"], ["c", "d"]]},
    "with scores": {"doc_ids": [["b", "a"], ["c"]], "scores": [[2.0, 1.0], [3.0]]},
    "with ranks": {"doc_ids": [["b"], ["c"]], "rank": [[1], [2]]},
    "beside an empty one": {"doc_ids": [["b", "a"], ["c"], []]},
    "after another query": {"doc_ids": [["b"], ["x"], ["c"]]},
}


@pytest.mark.parametrize("entrance", WITH_LISTS)
@pytest.mark.parametrize("kind", TWO_LISTS)
def test_a_query_with_two_lists_is_refused(entrance, kind, bring):
    columns = TWO_LISTS[kind]
    ids = {"after another query": ["q", "p", "q"], "beside an empty one": ["q", "q", "p"]}
    table = {"query_id": ids.get(kind, ["q", "q"]), **columns}
    qrels = {"q": {"a": 1}, "p": {"x": 1}}
    error = refused(lambda: rs.evaluate(qrels, bring(entrance, table), "RR"), "duplicate_query")
    assert isinstance(error, DuplicateError)
    assert "two of q" in error.message
    assert error.line in {2, 3}
    # What the hint says: a column that tells the lists apart.
    table["search_id"] = [f"{query}{row}" for row, query in enumerate(table.pop("query_id"))]
    told = {"q0": {"a": 1}}
    rr = 1 / 2 if len(columns["doc_ids"][0]) == 2 else 0
    assert rs.evaluate(told, bring(entrance, table), "RR", query="search_id")["RR"] == rr


@pytest.mark.parametrize("entrance", WITH_LISTS)
def test_a_table_with_grades_has_one_list_for_each_query(entrance, bring):
    table = {"query_id": [1, 1], "relevance": [[0, 1], [0]], "score": [[2.0, 1.0], [3.0]]}
    refused(lambda: rs.evaluate(bring(entrance, table), "RR"), "duplicate_query")
    table["query_id"] = [1, 2]
    assert rs.evaluate(bring(entrance, table), "RR")["RR"] == 1 / 4


def test_judgments_may_be_in_several_lists():
    judged = {"query_id": ["q", "q"], "doc_ids": [["a"], ["b"]]}
    assert rs.evaluate(judged, {"q": ["x", "b"]}, "RR")["RR"] == 1 / 2


# --- labels

WEIGHTS = {"click": 1, "buy": 3}


@pytest.mark.parametrize(
    ("label", "way"),
    [
        ("Buy", "write 'buy'"),
        (" buy", "write 'buy'"),
        ("click|buy", "separator='|'"),
        ("view, buy", "separator=','"),
        ("buy;view", "separator=';'"),
    ],
)
@pytest.mark.parametrize("entrance", ["function", *ENTRANCES])
def test_a_label_that_is_nearly_positive_is_refused(entrance, label, way, bring):
    events = ["click", label, "view"]

    def grade(**options):
        choices = {"positive": WEIGHTS, **options}
        if entrance == "function":
            labels = events if "separator" in options else [[event] for event in events]
            return rs.attribute(labels, **choices)
        table = {"query_id": ["q"] * 3, "score": [3.0, 2.0, 1.0], "event": events}
        return rs.evaluate(bring(entrance, table), "DCG", labels="event", **choices)["DCG"]

    error = refused(grade, "unknown_label", repr(label))
    assert way in error.hint
    if "separator" in way:
        split = grade(separator=way[-2])
        grades = [1, 4, 0] if "click" in label else [1, 3, 0]
    else:
        split, grades = grade(positive={**WEIGHTS, label: 0}), [1, 0, 0]
    total = math.fsum(gain / math.log2(rank + 2) for rank, gain in enumerate(grades))
    assert [*split] == grades if entrance == "function" else split == total


@pytest.mark.parametrize("label", ["view", "unbuy", "buyer", "rating_4", "add|view", "-1", "b uys"])
def test_other_labels_count_0(label):
    assert rs.attribute([[label]], positive=["buy", "rating_5", "1"]).tolist() == [0]


# --- the documents of a query in other forms

RECORDS = [{"doc_id": "b", "score": 0.5}, {"doc_id": "a", "score": 2}]


@pytest.mark.parametrize(
    ("docs", "rr"),
    [
        (RECORDS, 1),
        ([{"docId": "b", "rank": 1}, {"docId": "a", "rank": 2}], 1 / 2),
        ([{"sku": "b", "title": "B"}, {"sku": "a", "title": "A"}], 1 / 2),
        ([*map(make_dataclass("Hit", ["doc_id", "score"]), ["b", "a"], [0.5, 2])], 1),
        (tuple(RECORDS), 1),
        ([], 0),
    ],
)
def test_the_documents_of_a_query_are_records(docs, rr):
    assert rs.evaluate({"q": {"a": 1}}, {"q": docs}, "RR")["RR"] == rr
    named = rs.evaluate({"q": {"a": 1}}, {"one": {"q": docs}, "two": {"q": docs}}, "RR")
    assert [named[name]["RR"] for name in ("one", "two")] == [rr, rr]


def test_runs_by_name_are_records_that_have_their_query():
    for name, options in (("queryId", {}), ("asked", {"query": "asked"})):
        runs = {"one": [{name: "q", **hit} for hit in RECORDS]}
        assert rs.evaluate({"q": {"a": 1}}, runs, "RR", **options)["one"]["RR"] == 1


def test_judged_records_have_grades_or_nothing_else():
    run = {"q": ["b", "a"]}
    for judged in ([{"doc_id": "a", "relevance": 2}], [{"doc_id": "a"}]):
        assert rs.evaluate({"q": judged}, run, "RR")["RR"] == 1 / 2
    for judged in ([{"doc_id": "a", "worth": 2}], [{"name": "a", "relevance": 2}]):
        error = refused(lambda judged=judged: rs.evaluate({"q": judged}, run, "RR"), "columns")
        assert "'relevance': 1" in error.hint


LISTS = {"relevant": [["a"], ["b", "c"], []], "retrieved": [["b", "a"], ["c"], ["x"]]}
VALUES = [1 / 2, 1, 0]


@pytest.mark.parametrize("entrance", WITH_LISTS)
@pytest.mark.parametrize("query", [None, "query_id", "Question"])
def test_a_table_has_the_relevant_and_the_retrieved_documents_of_each_query(entrance, query, bring):
    table = LISTS if query is None else {query: ["p", "q", "r"], **LISTS}
    found = rs.evaluate(bring(entrance, table), "RR")
    assert found.per_query("RR").tolist() == VALUES
    assert found.query_texts == ([*"012"] if query is None else [*"pqr"])


def test_relevant_documents_that_are_numbers_are_no_grades():
    numbers = {name: [[*map(ord, docs)] for docs in lists] for name, lists in LISTS.items()}
    found = rs.evaluate({"query_id": [1, 2, 3], **numbers}, "RR")
    assert found.per_query("RR").tolist() == VALUES
    flags = {"qid": [1, 1], "relevant": [0, 1], "retrieved": [1, 1], "score": [2, 1]}
    assert rs.evaluate(flags, "RR")["RR"] == 1 / 2


def test_a_query_of_such_a_table_has_one_row():
    table = {"query_id": ["q"] * 3, **LISTS}
    refused(lambda: rs.evaluate(table, "RR"), "duplicate_query")


def test_columns_of_other_things_are_still_refused():
    for other in ({"relevant": [1, 0], "retrieved": [1, 1]}, {"retrieved": [["a"], ["b"]]}):
        refused(lambda other=other: rs.evaluate(other, "RR"), "columns")


@pytest.mark.parametrize("judged", [list, set, frozenset])
@pytest.mark.parametrize("made", [str, ord])
def test_parallel_lists_are_read_by_their_place(judged, made):
    relevant = [judged(map(made, docs)) for docs in LISTS["relevant"]]
    retrieved = [[*map(made, docs)] for docs in LISTS["retrieved"]]
    assert rs.evaluate(relevant, retrieved, "RR").per_query("RR").tolist() == VALUES
    assert rs.evaluate(relevant[:1], retrieved[:1], "RR")["RR"] == 1 / 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda judged, old, new: rs.compare(judged, {"old": old, "new": new}, "RR").means,
        lambda judged, old, new: rs.evaluate(judged, {"old": old, "new": new}, "RR")["new"]["RR"],
        lambda judged, old, new: rs.diff(judged, old, new, "RR").difference,
        lambda judged, old, new: [each.value for each in rs.gate(judged, old, new, {"RR": 0.1})],
        lambda judged, old, _: rs.losses(judged, old, "nDCG").means,
        lambda judged, old, _: rs.explain(judged, old, "nDCG", query_id=0).value,
        lambda judged, old, _: rs.Rankings.from_run(rs.read_qrels(judged), old).doc_ids(2),
        lambda _, old, new: str(rs.agreement(old, new)),
    ],
)
def test_every_function_reads_parallel_lists(ask):
    lists = [*LISTS.values(), [["a", "b"], ["b", "c"], ["y"]]]
    assert ask(*lists) == ask(*(dict(enumerate(docs)) for docs in lists))


def test_parallel_lists_of_three_are_no_rows_if_their_last_is_no_number():
    assert rs.evaluate([["a"]], [["x", "y", "a"]], "RR")["RR"] == 1 / 3
    for rows in ([["q", "a", 1]], [("q", "a", 1)]):
        assert rs.evaluate(rows, [["q", "b", 2.0], ["q", "a", 1.0]], "RR")["RR"] == 1 / 2
    for other in ([[7, 8, 9]], [["q1", "d1", "1"]], [["a", 1]]):
        with pytest.raises(InputError):
            rs.evaluate(other if len(other[0]) < 3 else [["a"]], other, "RR")


def test_parallel_lists_have_one_length():
    refused(lambda: rs.evaluate([["a"], ["b"]], [["a"]], "RR"), "length_mismatch")


# --- hints that name an argument

BARE = {"query_id": [1, 1], "label": [1, 0], "score": [2, 1]}
TEXT = {"query_id": [1, 1], "event": ["a", "b"], "score": [2, 1]}
BELOW = {"q": {"a": -1, "b": 1}}
WHOLE = "nDCG(ideal='whole')@1"
JUDGED, RUN = {"q": {"a": 1, "b": 0}, "p": {"a": 0}}, {"q": {"a": 2.0}}
HINTS = [
    ((BARE, "AUC"), {}, {"policy": "ties=input"}),
    ((BARE | {"doc_id": [1, 2]}, "AUC"), {"policy": "ties=average"}, {"policy": "ties=doc_id"}),
    ((BARE, "RR"), {"policy": "ties=doc_id"}, {"policy": "ties=input"}),
    ((BELOW, RUN, "nDCG"), {"policy": "negative=error"}, {"policy": "negative=nonrelevant"}),
    ((JUDGED, RUN, "nDCG"), {"policy": "missing=error"}, {"policy": "missing=zero"}),
    ((JUDGED, RUN, "nDCG"), {"policy": "empty=error"}, {"policy": "empty=zero"}),
    ((JUDGED, RUN, WHOLE), {"policy": "negative=minmax"}, {"policy": "negative=gain"}),
    ((BARE, "nDCG"), {"query": "queryid"}, {"query": "query_id"}),
    ((BARE, "nDCG"), {"cluster": "label"}, {"interval": "0.95", "cluster": [1]}),
    ((TEXT, "RR"), {"positive": "a"}, {"labels": "event"}),
    ((JUDGED, [("q", "a", 2), ("q", "a", 1)], "RR"), {}, {"duplicates": "first"}),
    ((BARE | {"rel": [1, 0]}, "RR"), {}, {"relevance": "label"}),
]


@pytest.mark.parametrize(("inputs", "options", "way"), HINTS)
def test_a_hint_that_names_an_argument_works_when_it_is_followed(inputs, options, way):
    with pytest.raises(rs.errors.RankscopeError) as raised:
        rs.evaluate(*inputs, **options)
    name, value = next(iter(way.items()))
    said = raised.value.hint.replace("'", "").replace('"', "")
    assert value in said or name in said
    followed = {**options, **way}
    if name == "interval":
        followed["interval"] = float(value)
    rs.evaluate(*inputs, **followed)


@pytest.mark.parametrize("name", ["ties", "negative", "missing", "empty", "aggregate"])
def test_no_hint_passes_a_field_of_the_policy_as_an_argument_of_evaluate(name):
    refused(lambda: rs.evaluate(BARE, "RR", **{name: "zero"}), "unknown_argument")

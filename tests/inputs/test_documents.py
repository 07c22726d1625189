"""Documents of a query as people and libraries have them, and grades between 0 and 1."""

from __future__ import annotations

import array
import collections
from itertools import permutations, starmap
from types import ModuleType

import ir_measures
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st

from tests.inputs.entry import flatten
from tests.interpreter import run_python
from tests.refusals import refused, refuses
from tests.trec import write_qrels

MEASURES = ["nDCG@10", "AP", "RR", "P@2", "R@1"]
RELEVANT = {"q1": ["d1", "d3"], "q2": ["d4"], "q3": ["d1"]}
RANKED = {"q1": ["d2", "d1", "d3"], "q2": ["d4", "d5"], "q3": []}
GRADED = {query: dict.fromkeys(docs, 1) for query, docs in RELEVANT.items()}
SCORED = {
    query: {doc: float(len(docs) - at) for at, doc in enumerate(docs)}
    for query, docs in RANKED.items()
}
EXPECTED = rs.evaluate(GRADED, SCORED, MEASURES).to_dict()

RUN_FORMS = {
    "list": list,
    "deque": collections.deque,
    "array of texts": lambda docs: np.array(docs, dtype=str),
    "array of objects": lambda docs: np.array(docs, dtype=object),
    "Series of pandas": lambda docs: pd.Series(docs, dtype=object),
    "Series of pandas, of Arrow": lambda docs: pd.Series(docs, dtype="string[pyarrow]"),
    "Series cut out of a frame": lambda docs: pd.Series(
        docs, index=[9, 4, 7][: len(docs)], dtype=str
    ),
    "Series of categories": lambda docs: pd.Series(docs, dtype="category"),
    "Index of pandas": lambda docs: pd.Index(docs, dtype=object),
    "chunks of Arrow": lambda docs: pa.chunked_array([docs[:1], docs[1:]], pa.string()),
    "pairs": lambda docs: [(doc, 1 / (1 + at)) for at, doc in enumerate(docs)],
    "pairs as lists": lambda docs: [[doc, -at] for at, doc in enumerate(docs)],
    "pairs in any order": lambda docs: [(doc, -at) for at, doc in enumerate(docs)][::-1],
}
JUDGED_FORMS = {
    **{name: form for name, form in RUN_FORMS.items() if not name.startswith("pairs")},
    "set": set,
    "frozenset": frozenset,
    "keys": lambda docs: dict.fromkeys(docs).keys(),
    "pairs with a grade": lambda docs: [(doc, 1) for doc in docs],
}


@pytest.mark.parametrize("form", RUN_FORMS)
def test_the_order_of_ids_is_the_ranking(form):
    run = {query: RUN_FORMS[form](docs) for query, docs in RANKED.items()}
    assert rs.evaluate(GRADED, run, MEASURES).to_dict() == EXPECTED
    assert rs.Rankings.from_run(GRADED, run).evaluate(MEASURES).to_dict() == EXPECTED


@pytest.mark.parametrize("form", JUDGED_FORMS)
def test_ids_alone_as_judgments_have_grade_1(form):
    judged = {query: JUDGED_FORMS[form](docs) for query, docs in RELEVANT.items()}
    assert rs.evaluate(judged, SCORED, MEASURES).to_dict() == EXPECTED
    held = rs.read_qrels(judged)
    assert [dict(held.judgments.documents(at)) for at in range(3)] == list(GRADED.values())


@given(
    st.permutations([f"d{n}" for n in range(12)]),
    st.sets(st.sampled_from([f"d{n}" for n in range(15)]), min_size=1),
)
def test_lists_and_descending_scores_agree(ranked, relevant):
    scored = {doc: -float(at) for at, doc in enumerate(ranked)}
    for ties in ("doc_id", "doc_id_asc", "input", "average", "best", "worst"):
        found = rs.evaluate({"q": relevant}, {"q": ranked}, MEASURES, policy=f"ties={ties}")
        asked = rs.evaluate({"q": dict.fromkeys(relevant, 1)}, {"q": scored}, MEASURES)
        assert found.to_dict() == asked.to_dict()


def test_ranks_beyond_single_precision_stay_apart():
    """A list has no scores that float32 could round."""
    count = 3000
    run = {"q": [f"d{n}" for n in range(count)]}
    found = rs.evaluate({"q": [f"d{count - 1}"]}, run, "RR", score_type="float32")
    assert found["RR"] == 1 / count


def test_everything_that_reads_a_run_reads_lists():
    other = {"q1": ["d3"], "q2": ["d5", "d4"]}
    named = {"old": RANKED, "new": other}
    scored = {"q1": {"d3": 0.0}, "q2": {"d5": 0.0, "d4": -1.0}}
    several = rs.evaluate(RELEVANT, named, "AP")
    assert several["old"]["AP"] == rs.evaluate(GRADED, SCORED, "AP")["AP"]
    ours, theirs = (
        [
            str(rs.compare(qrels, runs, ["AP", "nDCG@10"])),
            str(rs.diff(qrels, runs["old"], runs["new"], "nDCG@10")),
            str(rs.agreement(runs["old"], runs["new"])),
            str(rs.gate(qrels, runs["old"], runs["new"], {"AP": 0.5})),
        ]
        for qrels, runs in ((RELEVANT, named), (GRADED, {"old": SCORED, "new": scored}))
    )
    assert ours == theirs


def test_a_set_as_a_run_is_refused_because_it_has_no_order():
    with pytest.raises(rs.errors.FormatError, match="found set") as raised:
        rs.evaluate(RELEVANT, {"q1": {"d1", "d2"}}, "AP")
    assert "no order" in raised.value.hint
    assert raised.value.location == 'run["q1"]'


def test_a_document_listed_twice_is_a_duplicate():
    run = {"q1": ["d2", "d1", "d2"]}
    with pytest.raises(rs.errors.DuplicateError, match="found `d2` of query `q1` again"):
        rs.evaluate(RELEVANT, run, "AP")
    refused(lambda: rs.Rankings.from_run(RELEVANT, run), "duplicate_doc")
    for duplicates in ("first", "max"):
        found = rs.evaluate(RELEVANT, run, "AP", duplicates=duplicates)
        assert found.to_dict() == rs.evaluate(RELEVANT, {"q1": ["d2", "d1"]}, "AP").to_dict()


def test_a_document_judged_twice_by_a_list_counts_once():
    found = rs.evaluate({"q1": ["d1", "d1"]}, {"q1": ["d2", "d1"]}, "R@2")
    assert found["R@2"] == 1
    assert found.diagnostics["duplicate_identical"] == 1


ROWS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 12]})
REFUSED = {
    "text": (lambda: "d1", "found str", "['d1']"),
    "bytes": (lambda: b"d1", "found bytes", "[b'd1']"),
    "nothing": (lambda: None, "found NoneType", "[]"),
    "a number": (lambda: 7, "found int", "['d1', 'd2']"),
    "iterator": (lambda: iter(["d1"]), "found list_iterator", "list("),
    "generator": (lambda: (doc for doc in ["d1"]), "found generator", "list("),
    "matrix": (lambda: np.array([["d1"]]), "found ndarray", "['d1', 'd2']"),
    "no dimension": (lambda: np.array("d1"), "found ndarray", "['d1', 'd2']"),
    "frame": (lambda: ROWS, "found DataFrame", "['d1', 'd2']"),
    "integers of a frame": (lambda: ROWS["item"], "found Series", ".tolist()"),
}


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_list_is_refused_with_what_to_write(role, name):
    make, found, hint = REFUSED[name]
    plain = {"q0": {"d1": 1.0}}
    odd = {**plain, "q1": make()}
    with refuses(rs.errors.FormatError, "not_a_mapping", match=found) as raised:
        rs.evaluate(*((odd, plain) if role == "qrels" else (plain, odd)), "AP")
    assert raised.value.location == f'{role}["q1"]'
    assert hint in raised.value.hint


def test_integers_of_a_frame_with_a_named_index_are_scores():
    """Only an index without a name can be the numbers of rows."""
    scores = pd.DataFrame({"item": [10, 11], "score": [2, 1]}).set_index("item")["score"]
    assert rs.evaluate({1: [11]}, {1: scores}, "RR")["RR"] == 0.5


def test_the_first_mistake_in_a_set_is_the_same_in_every_process():
    program = (
        "import rankscope as rs\n"
        "try: rs.read_qrels({'q': {f'{n}\\0' for n in range(50)}})\n"
        "except rs.errors.InputError as error: print(error)\n"
    )
    assert len({run_python(program, PYTHONHASHSEED=seed) for seed in ("1", "2")}) == 1


def test_arrays_of_python_are_ids():
    assert rs.evaluate({1: array.array("q", [3])}, {1: array.array("q", [4, 3])}, "RR")["RR"] == 0.5


BETWEEN = {"q1": {"a": 0.9, "b": 0.1, "c": 1.0, "d": 0.0}, "q2": {"a": 0.5, "b": 2.0}}
SHOWN = {query: list(docs) for query, docs in BETWEEN.items()}
GRADED_ROWS = flatten(BETWEEN)
FRAME = pd.DataFrame(GRADED_ROWS, columns=["query_id", "doc_id", "relevance"])


def count(qrels, *measures):
    return rs.evaluate(qrels, SHOWN, measures).diagnostics.get("fractional_rel", 0)


@pytest.mark.parametrize("form", ["dict", "rows", "frame", "trec", "csv", "parquet"])
def test_they_are_counted_in_every_form(form, tmp_path):
    path = tmp_path / f"qrels.{form}"
    if form == "trec":
        write_qrels(path, BETWEEN)
    elif form == "csv":
        FRAME.to_csv(path, index=False)
    elif form == "parquet":
        FRAME.to_parquet(path)
    given = {"dict": BETWEEN, "rows": GRADED_ROWS, "frame": FRAME}.get(form, path)
    assert count(given, "nDCG", "AP") == 3
    log = FRAME.assign(score=1.0)
    assert rs.evaluate(log, "P@2").diagnostics["fractional_rel"] == 3


NEEDED = ["AP", "RR", "P@5", "R@5", "Rprec", "Success@1", "AP(rel=2)"]
NOT_NEEDED = ["nDCG@10", "DCG", "AP(rel=0.5)", "ERR@5"]


@pytest.mark.parametrize("measure", [*NEEDED, *NOT_NEEDED])
def test_they_are_noted_where_a_measure_needs_a_grade_of_1(measure):
    assert count(BETWEEN, measure) == (3 if measure in NEEDED else 0)


WAYS = {
    "rows": lambda grades: [("q", "a", grade) for grade in grades],
    "file": lambda grades: "".join(f"q 0 a {grade}\n" for grade in grades).encode(),
    "table": lambda grades: {"query_id": ["q"] * 3, "doc_id": ["a"] * 3, "relevance": [*grades]},
    "integers": lambda grades: {"query_id": [7] * 3, "doc_id": [8] * 3, "relevance": [*grades]},
    "subtopics": lambda grades: [("q", "1", "a", grade) for grade in grades],
}


@pytest.mark.parametrize("grades", [*permutations((1, 3, 2))])
@pytest.mark.parametrize("way", WAYS)
def test_the_largest_of_three_grades_stands(way, grades):
    run = {7: {8: 1.0}} if way == "integers" else {"q": {"a": 1.0}}
    choices = {"subtopics": True} if way == "subtopics" else {}
    for duplicates, expected in (("max", 3.0), ("first", float(grades[0]))):
        choices["duplicates"] = duplicates
        assert rs.evaluate(WAYS[way](grades), run, "DCG@1", **choices)["DCG@1"] == expected


QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"x": 1}}
RUNS = {
    "old": {"q1": {"b": 0.9, "a": 0.8, "z": 0.7}, "q2": {"x": 0.5}},
    "new": {"q1": {"a": 0.9, "c": 0.8}, "q2": {"y": 0.6, "x": 0.5}},
}


def of_ranx(name):
    """Return a class of ranx, or one with the same methods in a module of the same name."""
    ranx = ModuleType("ranx.data_structures")
    try:
        import ranx
    except ModuleNotFoundError:

        class OfRanx:
            """What is read of the classes of ranx."""

            def __init__(self, given):
                self.given = given

            def to_dict(self):
                return {query: dict(documents) for query, documents in self.given.items()}

        OfRanx.__module__ = ranx.__name__
        return OfRanx
    return getattr(ranx, name)


LIBRARIES = {
    "ranx": (of_ranx("Qrels"), of_ranx("Run")),
    "ir_measures": (
        lambda qrels: [*starmap(ir_measures.Qrel, flatten(qrels))],
        lambda run: [*starmap(ir_measures.ScoredDoc, flatten(run))],
    ),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_they_are_judgments_and_runs(library):
    make_qrels, make_run = LIBRARIES[library]
    measures = ["nDCG@10", "AP"]
    runs = {name: make_run(run) for name, run in RUNS.items()}
    expected = rs.evaluate(QRELS, RUNS, measures)
    for qrels in (make_qrels(QRELS), rs.read_qrels(make_qrels(QRELS))):
        one = rs.evaluate(qrels, make_run(RUNS["old"]), measures)
        assert one.to_dict() == expected["old"].to_dict()
        found = rs.evaluate(qrels, runs, measures)
        assert [of.to_dict() for of in found.values()] == [of.to_dict() for of in expected.values()]
    assert str(rs.compare(make_qrels(QRELS), runs, measures)) == str(
        rs.compare(QRELS, RUNS, measures)
    )


def test_a_class_of_another_module_is_not_taken_for_one_of_ranx():
    kind = of_ranx("Run")
    other = type("Run", (), {"to_dict": lambda _: RUNS["old"]})
    refused(lambda: rs.evaluate(QRELS, other(), "AP"), "input_type", "expected a path")
    assert kind is not other

"""Measures of subtopics and of strata are their twins, whatever way the judgments come in."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import pandas as pd
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Policy
from rankscope.measures import TABLE

from tests.cli.command import run as run_command
from tests.generated import examples
from tests.invariance.lists import DOCUMENTS, SCORES
from tests.invariance.variants import variants
from tests.reference import Retrieved, rank, value
from tests.refusals import refused, refuses

MEASURES = {
    "subtopic": [one for row in TABLE.values() if row.subtopics for one in variants(row)],
    "stratum": [one for row in TABLE.values() if row.strata for one in variants(row)],
}


def judgments(most):
    """Judgments of documents for at most so many subtopics each."""
    subtopics = st.sampled_from(["1", "2", "10", "é"])
    grades = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
    return st.dictionaries(
        st.sampled_from([*DOCUMENTS, "unseen", "unseen too"]),
        st.dictionaries(subtopics, grades, min_size=1, max_size=most),
        min_size=1,
    )


runs = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), min_size=1)
orders = st.sampled_from(["doc_id", "doc_id_asc", "input", "best", "worst"])


def rows_of(judged, query="q"):
    """The judgments as rows of query, subtopic, document and grade."""
    return [
        (query, subtopic, document, grade)
        for document, grades in judged.items()
        for subtopic, grade in grades.items()
    ]


def twin(measure, judged, run, policy):
    highest = {document: max(grades.values()) for document, grades in judged.items()}
    retrieved = [
        Retrieved(document, score, highest.get(document)) for document, score in run.items()
    ]
    ranked = rank(retrieved, str(policy.ties))
    return value(
        *measure.kernel_spec(),
        [one.grade for one in ranked],
        [*highest.values()],
        judged_only=measure.judged_only or policy.unjudged == "remove",
        documents=[one.doc_id for one in ranked],
        subtopics=judged,
    )


def check(kind, judged, run, policy):
    """Compare the measures of a kind with their twins."""
    rows, choices = rows_of(judged), {"subtopics": True} if kind == "subtopic" else {}
    found = rs.evaluate(rows, {"q": run}, MEASURES[kind], policy=policy, **choices)
    for measure in MEASURES[kind]:
        expected = twin(measure, judged, run, policy)
        assert repr(found.per_query_list(measure)) == repr([expected]), measure


@given(
    judged=judgments(4),
    run=runs,
    ties=orders,
    unjudged=st.sampled_from(["nonrelevant", "remove"]),
)
@examples(100)
def test_a_kernel_of_subtopics_is_its_twin(judged, run, ties, unjudged):
    check("subtopic", judged, run, Policy.parse(f"ties={ties},unjudged={unjudged},empty=nan"))


@given(judged=judgments(1), run=runs, ties=orders)
@examples(100)
def test_a_kernel_of_strata_is_its_twin(judged, run, ties):
    check("stratum", judged, run, Policy.parse(f"ties={ties},empty=nan"))


ROWS = {
    "subtopic": [
        ("q", "2", "b", 1.0),
        ("q", "1", "b", 2.0),
        ("q", "1", "a", 1.0),
        ("q", "3", "z", 0.0),
        ("q", "2", "x", 1.0),
        ("p", "9", "a", 1.0),
    ],
    "stratum": [
        ("q", "1", "a", 1.0),
        ("q", "2", "b", -1.0),
        ("q", "2", "c", 2.0),
        ("q", "2", "x", 0.0),
        ("p", "9", "a", 1.0),
    ],
}
"""Of query, subtopic or stratum, document and grade."""
LINES = {"subtopic": "{0} {1} {2} {3}\n", "stratum": "{0} 0 {2} {1} {3}\n"}
RUN = {"q": {"a": 3.0, "u": 2.0, "b": 1.0, "z": 0.0, "c": -1.0}, "p": {"a": 1.0}}


@pytest.mark.parametrize("kind", ROWS)
def test_every_way_in_gives_the_same_bits(kind, tmp_path):
    rows = ROWS[kind]
    frame = pd.DataFrame(rows, columns=["query_id", kind, "doc_id", "relevance"])
    nested = {}
    for query, second, document, grade in rows:
        nested.setdefault(query, {}).setdefault(second, {})[document] = grade
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("".join(LINES[kind].format(*row) for row in rows), encoding="utf-8")
    frame.to_csv(tmp_path / "qrels.csv", index=False)
    run_rows = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
    lines = "".join(f"{query} Q0 {doc} 0 {score} t\n" for query, doc, score in run_rows)
    run.write_text(lines, encoding="utf-8")
    run_frame = pd.DataFrame(run_rows, columns=["query_id", "doc_id", "score"])
    ways = [rows[::-1], nested, frame, qrels, tmp_path / "qrels.csv"]
    if kind == "subtopic":
        ways.append(frame.rename(columns={"subtopic": "iteration"}))
    measures = [*MEASURES[kind], "nDCG@10"]
    expected = rs.evaluate(rows, RUN, measures).to_dict()
    for qrels_way in ways:
        for given_run in (RUN, run_rows, run_frame, run):
            found = rs.evaluate(qrels_way, given_run, measures)
            assert sorted(found.to_dict().items()) == sorted(expected.items())
    is_stratum = kind == "stratum"
    held = rs.read_qrels(rows, subtopics=not is_stratum, strata=is_stratum)
    rankings = rs.Rankings.from_run(held, RUN)
    for again in (rankings, pickle.loads(pickle.dumps(rankings))):  # noqa: S301 - our own bytes
        assert again.evaluate(measures).to_dict() == expected


def test_a_pool_that_is_all_judged_has_the_usual_ndcg():
    judged = {"a": {"1": 2.0}, "b": {"1": 0.0}, "c": {"1": 1.0}, "d": {"1": 1.0}}
    run = {"q": {"b": 4.0, "a": 3.0, "u": 2.0, "c": 1.0}}
    plain = {"q": {document: grades["1"] for document, grades in judged.items()}}
    for k in (1, 2, 3, 9):
        found = rs.evaluate(rows_of(judged), run, f"infNDCG@{k}")[f"infNDCG@{k}"]
        expected = rs.evaluate(plain, run, f"nDCG@{k}")[f"nDCG@{k}"]
        assert found == pytest.approx(expected, rel=1e-15)
    whole = rs.evaluate(rows_of(judged), run, ["xinfAP", "infAP"])
    assert whole["xinfAP"] == pytest.approx(whole["infAP"], abs=1e-4)


def test_that_a_document_was_not_judged_is_worth_a_note_only_beside_other_measures():
    rows = [("q", "1", "a", 1), ("q", "1", "b", -1)]
    run = {"q": {"a": 1.0}}
    assert rs.evaluate(rows, run, "infNDCG").notes == ()
    notes = rs.evaluate(rows, run, ["infNDCG", "nDCG"]).notes
    assert [note.code for note in notes] == ["negative_rel"]


def test_a_document_of_two_strata_is_an_error():
    rows = [("q", "1", "a", 1), ("q", "2", "a", 1)]
    with refuses(rs.errors.DuplicateError, "duplicate_conflict", match="found `1` and `2`"):
        rs.evaluate(rows, {"q": {"a": 1.0}}, "infNDCG")
    again = [("q", "1", "a", 1), ("q", "1", "a", 1)]
    assert rs.evaluate(again, {"q": {"a": 1.0}}, "infNDCG")["infNDCG"] == 1


JUDGED = {"q": {"a": 1}}
ROW = [("q", "1", "a", 1)]
PLAIN = rs.read_qrels(JUDGED)
BY_SUBTOPIC = rs.read_qrels(ROW, subtopics=True)
BY_STRATUM = rs.read_qrels(ROW, strata=True)
RANKINGS = rs.Rankings.from_run(BY_SUBTOPIC, JUDGED)


@pytest.mark.parametrize(
    ("qrels", "measure", "policy", "code", "said"),
    [
        (PLAIN, "infNDCG", None, "strata_missing", "by stratum, which infNDCG"),
        (BY_SUBTOPIC, "infNDCG", None, "strata_missing", "by stratum, which infNDCG"),
        (BY_STRATUM, "AP_IA", None, "subtopics_missing", "by subtopic, which AP_IA needs"),
        (PLAIN, "alpha_nDCG@10", None, "subtopics_missing", "expected judgments by subtopic"),
        (JUDGED, "alpha_nDCG@10", None, "not_a_mapping", "query to subtopic to document"),
        (ROW, ["infNDCG", "AP_IA"], None, "subtopics_unavailable", "found AP_IA beside it"),
        (ROW, "infNDCG", "ties=average", "ties_unavailable", "ties"),
        (ROW, "AP_IA", "ties=average", "ties_unavailable", "ties"),
        (ROW, "AP_IA", "unretrieved=ignore", "subtopics_unavailable", 'unretrieved="count"'),
        (b"q 0 a 1\n", "infNDCG", None, "field_count", "query 0 document stratum grade"),
        (b"q 0 a 1 high\n", "infNDCG", None, "rel_not_number", "expected a grade, found `high`"),
    ],
)
def test_judgments_that_do_not_fit_their_measure_are_refused(qrels, measure, policy, code, said):
    refused(lambda: rs.evaluate(qrels, JUDGED, measure, policy=policy), code, said)


def test_judgments_have_one_second_column_and_bounds_need_none():
    with pytest.raises(rs.UsageError, match="found both"):
        rs.read_qrels(ROW, subtopics=True, strata=True)
    with pytest.raises(rs.errors.MeasureError, match="needs subtopics"):
        RANKINGS.bounds("AP_IA")


@pytest.mark.parametrize(
    ("measure", "judged", "difference"),
    [
        ("infNDCG", [("1", "a", 1), ("1", "b", -1)], 2 / (1 + 1 / math.log2(3))),
        ("StRecall@2", [("1", "a", 1), ("2", "b", 1)], 1),
    ],
)
def test_runs_are_compared_by_such_a_measure(measure, judged, difference):
    rows = [(f"q{n}", *row) for n in range(8) for row in judged]
    runs = {
        name: {f"q{n}": docs for n in range(8)}
        for name, docs in (("bad", ["x"]), ("good", ["a", "b"]))
    }
    found = rs.compare(rows, runs, measure)[measure, "good"]
    assert (found.better, found.difference) == ("good", pytest.approx(difference))


def test_the_column_of_strata_can_be_named_on_the_command_line(tmp_path):
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.csv"
    qrels.write_text("query_id,band,doc_id,grade\nq,1,a,1\nq,1,b,-1\n", encoding="utf-8")
    run.write_text("query_id,doc_id,score\nq,a,2\nq,b,1\n", encoding="utf-8")
    found = run_command("eval", str(qrels), str(run), "-m", "infNDCG", "--col", "stratum=band")
    # One of the two documents is judged, so it stands for two.
    inferred = 2 / (1 + 1 / math.log2(3))
    assert found.stdout.decode() == f"infNDCG\t{inferred:.4f}\n"


@pytest.mark.parametrize("missing", [None, math.nan, ""])
def test_a_row_without_a_grade_is_to_be_kept(missing, tmp_path):
    # A hint to drop the row would make the stratum smaller, and the value another one.
    columns = {"query_id": ["q", "q"], "stratum": ["1", "1"], "doc_id": ["a", "b"]}
    frame = pd.DataFrame(columns | {"relevance": [1, missing]})
    if missing == "":
        frame.to_csv(tmp_path / "qrels.csv", index=False)
    qrels = tmp_path / "qrels.csv" if missing == "" else frame
    with pytest.raises(rs.errors.FormatError) as caught:
        rs.evaluate(qrels, {"q": {"a": 1.0}}, "infNDCG")
    assert "write -1 as the grade" in str(caught.value.hint)


def test_lists_without_their_unjudged_documents_are_refused():
    rows = [("q", "1", "a", 1), ("q", "1", "b", -1)]
    with refuses(rs.errors.PolicyError, "strata_unavailable", match="expected whole lists"):
        rs.evaluate(rows, {"q": ["b", "a"]}, "xinfAP", policy="unjudged=remove")


def test_a_table_without_strata_is_refused():
    frame = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    for measure, role in (("infNDCG", "stratum"), ("AP_IA", "subtopic")):
        with pytest.raises(rs.errors.FormatError, match=f"expected a column of {role}") as caught:
            rs.evaluate(frame, {"q": {"a": 1.0}}, measure)
        assert f"--col {role}=" in str(caught.value.hint)


def test_reports_and_differences_read_strata_and_subtopics(tmp_path):
    by_stratum = [("q", "1", "a", 1), ("q", "2", "b", -1), ("q", "2", "c", 2)]
    by_subtopic = [("q", "1", "a", 1), ("q", "2", "a", 1), ("q", "2", "c", 2)]
    texts = {
        "infNDCG": "".join(f"{q} 0 {d} {s} {grade}\n" for q, s, d, grade in by_stratum),
        "alpha_nDCG": "".join(f"{q} {s} {d} {grade}\n" for q, s, d, grade in by_subtopic),
    }
    one, other = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"c": 2.0, "a": 1.0}}
    rows: Any
    for name, rows in (("infNDCG", by_stratum), ("alpha_nDCG", by_subtopic)):
        path = tmp_path / name
        path.write_text(texts[name], encoding="utf-8")
        expected = [rs.evaluate(rows, run, name)[name] for run in (one, other)]
        assert expected[0] != expected[1]
        for qrels in (rows, path):
            made = rs.report(qrels, {"one": one, "other": other}, name)
            assert [run.evaluation[name] for run in made.runs.values()] == expected
            found = rs.diff(qrels, one, other, name)
            assert found.difference == pytest.approx(expected[1] - expected[0])


@pytest.mark.parametrize("relevant", [{"a", "d"}, {"a", "c", "e"}])
@pytest.mark.parametrize("sampled", [1, 2, 3, 4])
def test_estimates_are_too_high_where_the_top_is_judged_in_full_and_the_rest_is_sampled(
    relevant, sampled
):
    rest = ["b", "c", "d", "e"]
    grades = {document: int(document in relevant) for document in ["a", *rest]}
    run = {"q": {document: -rank for rank, document in enumerate(grades)}}
    estimates = []
    for judged in itertools.combinations(rest, sampled):  # each is as likely as the others
        rows = [("q", "top", "a", grades["a"])]
        rows += [("q", "rest", one, grades[one] if one in judged else -1) for one in rest]
        estimates.append(rs.evaluate(rows, run, ["infNDCG", "xinfAP"]))
    whole = rs.evaluate({"q": grades}, run, ["nDCG", "AP"])
    for estimate, exact in (("infNDCG", "nDCG"), ("xinfAP", "AP")):
        mean = sum(one[estimate] for one in estimates) / len(estimates)
        if sampled == len(rest):
            # xinfAP smooths counts by 0.00001.
            assert math.isclose(mean, whole[exact], rel_tol=1e-4)
        else:
            assert mean > whole[exact] + 0.005
        assert "the mean over queries is too high" in TABLE[estimate].definition


def test_other_measures_take_the_highest_grade_and_a_note_says_so():
    rows = [("q", "1", "a", 1), ("q", "2", "a", 3), ("q", "1", "b", 2)]
    run = {"q": {"b": 2.0, "a": 1.0}}
    found = rs.evaluate(rows, run, "nDCG", subtopics=True)
    assert found["nDCG"] == rs.evaluate({"q": {"a": 3, "b": 2}}, run, "nDCG")["nDCG"]
    assert [note.code for note in found.notes] == ["subtopics_joined"]


ONE, OTHER = {"a": 1, "b": 1}, {"c": 1, "d": 0}


@pytest.mark.parametrize(
    ("qrels", "is_noted"),
    [
        ({"q": {"0": ONE}, "r": {"0": OTHER}}, True),
        ({"q": {"1": ONE}, "r": {"2": OTHER}}, True),
        ({"q": {"1": ONE}, "r": {"2": OTHER, "3": {"e": 2}}}, False),
        ({"q": {"1": ONE}, "r": {"2": OTHER, "3": OTHER}}, False),
        ({"q": {"1": {"a": 1}, "2": {"b": 1}}}, False),
    ],
)
def test_judgments_without_subtopics_are_noted(tmp_path, qrels, is_noted):
    rows = [
        (query, topic, doc, grade)
        for query, topics in qrels.items()
        for topic, docs in topics.items()
        for doc, grade in docs.items()
    ]
    path = tmp_path / "qrels"
    path.write_text("".join("{} {} {} {}\n".format(*row) for row in rows), encoding="utf-8")
    run = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}, "r": {"c": 1.0}}
    for judged in (qrels, rows, path):
        found = rs.evaluate(judged, run, "alpha_nDCG@10")
        assert found.diagnostics.get("one_subtopic", 0) == is_noted * len(qrels)
    read = rs.read_qrels(path, subtopics=True)
    noted = rs.evaluate(read, run, "alpha_nDCG@10").diagnostics
    assert ("one_subtopic" in noted) == is_noted


def test_judgments_of_subtopics_are_not_taken_for_others(tmp_path):
    path = tmp_path / "qrels.txt"
    run = {"q": {"a": 1.0}}
    for last in ("1", "0"):
        path.write_text(f"q 1 a 1\nq 2 a {last}\n", encoding="utf-8")
        with pytest.raises(rs.errors.DuplicateError, match="judgments of subtopics") as caught:
            rs.evaluate(path, run, "AP")
        assert caught.value.code == "subtopics_found"
        assert "add a measure of diversity such as alpha_nDCG" in str(caught.value.hint)
        assert caught.value.line == 2
        frame = pd.DataFrame(
            [("q", "1", "a", 1), ("q", "2", "a", int(last))],
            columns=["query_id", "subtopic", "doc_id", "relevance"],
        )
        with pytest.raises(rs.errors.DuplicateError, match="judgments of subtopics"):
            rs.evaluate(frame, run, "AP")
        assert rs.evaluate(path, run, "AP", subtopics=True)["AP"] == 1
        assert rs.evaluate(frame, run, "AP", subtopics=True)["AP"] == 1


def test_a_mapping_of_documents_to_subtopics_is_noted():
    swapped = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
    found = rs.evaluate(swapped, {"q": ["a", "b"]}, "StRecall@5", subtopics=True)
    assert "judgments by subtopic map a query to subtopics" in str(found)
    assert found.diagnostics == {"subtopics_unjudged": 2}


def test_a_document_judged_twice_for_a_subtopic_is_an_error():
    rows = [("q", "1", "a", 1), ("q", "1", "a", 0)]
    with pytest.raises(rs.errors.DuplicateError, match="subtopic `1`, found 1 in line 1 and 0"):
        rs.evaluate(rows, {"q": {"a": 1.0}}, "StRecall")
    kept = rs.evaluate(rows, {"q": {"a": 1.0}}, "StRecall", duplicates="max")
    assert kept["StRecall"] == 1


def test_a_document_that_covers_everything_is_perfect():
    rows = [("q", topic, "a", 1) for topic in ("1", "2", "3")]
    names = ["alpha_nDCG@5", "nERR_IA@5", "nNRBP", "AP_IA", "P_IA@1", "StRecall@1", "ERR_IA@1"]
    found = rs.evaluate(rows, {"q": {"a": 1.0}}, [*names, "alpha_DCG@1"])
    assert set(found.values()) == {1.0}

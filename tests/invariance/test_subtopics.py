"""Measures of diversity give the values of their twins, whatever way the judgments come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Policy
from rankscope.measures import TABLE

from tests.generated import examples
from tests.invariance.lists import DOCUMENTS, SCORES
from tests.invariance.variants import variants
from tests.reference import Retrieved, rank, value

if TYPE_CHECKING:
    from pathlib import Path

    from rankscope import Measure

MEASURES = [one for row in TABLE.values() if row.subtopics for one in variants(row)]

Judged = dict[str, dict[str, float]]
"""By document, the grade for each subtopic."""

Run = dict[str, float]

judgments = st.dictionaries(
    st.sampled_from([*DOCUMENTS, "unseen", "unseen too"]),
    st.dictionaries(
        st.sampled_from(["1", "2", "10", "é"]),
        st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]),
        min_size=1,
    ),
    min_size=1,
)
runs = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(SCORES), min_size=1)


def rows_of(judged: Judged, query: str = "q") -> list[tuple[str, str, str, float]]:
    """The judgments as rows of query, subtopic, document and grade."""
    return [
        (query, subtopic, document, grade)
        for document, grades in judged.items()
        for subtopic, grade in grades.items()
    ]


def twin(measure: Measure, judged: Judged, run: Run, policy: Policy) -> float:
    """The value of a measure by its definition."""
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


@given(
    judged=judgments,
    run=runs,
    ties=st.sampled_from(["doc_id", "doc_id_asc", "input", "best", "worst"]),
    unjudged=st.sampled_from(["nonrelevant", "remove"]),
)
@examples(100)
def test_a_kernel_is_its_twin(judged: Judged, run: Run, ties: str, unjudged: str) -> None:
    policy = Policy.parse(f"ties={ties},unjudged={unjudged},empty=nan")
    found = rankscope.evaluate(rows_of(judged), {"q": run}, MEASURES, policy=policy, subtopics=True)
    for measure in MEASURES:
        expected = twin(measure, judged, run, policy)
        assert repr(found.per_query_list(measure)) == repr([expected]), measure


def test_other_measures_take_the_highest_grade_and_a_note_says_so() -> None:
    rows = [("q", "1", "a", 1), ("q", "2", "a", 3), ("q", "1", "b", 2)]
    run = {"q": {"b": 2.0, "a": 1.0}}
    found = rankscope.evaluate(rows, run, "nDCG", subtopics=True)
    assert found["nDCG"] == rankscope.evaluate({"q": {"a": 3, "b": 2}}, run, "nDCG")["nDCG"]
    assert [note.code for note in found.notes] == ["subtopics_joined"]


def test_judgments_of_subtopics_are_not_taken_for_others(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    run = {"q": {"a": 1.0}}
    for last in ("1", "0"):
        path.write_text(f"q 1 a 1\nq 2 a {last}\n", encoding="utf-8")
        with pytest.raises(rankscope.DuplicateError, match="judgments of subtopics") as caught:
            rankscope.evaluate(path, run, "AP")
        assert caught.value.code == "subtopics_found"
        assert "add a measure of diversity such as alpha_nDCG" in str(caught.value.hint)
        assert caught.value.line == 2
        frame = pd.DataFrame(
            [("q", "1", "a", 1), ("q", "2", "a", int(last))],
            columns=["query_id", "subtopic", "doc_id", "relevance"],
        )
        with pytest.raises(rankscope.DuplicateError, match="judgments of subtopics"):
            rankscope.evaluate(frame, run, "AP")
        assert rankscope.evaluate(path, run, "AP", subtopics=True)["AP"] == 1
        assert rankscope.evaluate(frame, run, "AP", subtopics=True)["AP"] == 1


def test_a_mapping_of_documents_to_subtopics_is_noted() -> None:
    swapped = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
    found = rankscope.evaluate(swapped, {"q": ["a", "b"]}, "StRecall@5", subtopics=True)
    assert "judgments by subtopic map a query to subtopics" in str(found)
    assert found.diagnostics == {"subtopics_unjudged": 2}


def test_a_document_judged_twice_for_a_subtopic_is_an_error() -> None:
    rows = [("q", "1", "a", 1), ("q", "1", "a", 0)]
    with pytest.raises(rankscope.DuplicateError, match="subtopic `1`, found 1 in line 1 and 0"):
        rankscope.evaluate(rows, {"q": {"a": 1.0}}, "StRecall")
    kept = rankscope.evaluate(rows, {"q": {"a": 1.0}}, "StRecall", duplicates="max")
    assert kept["StRecall"] == 1


def test_what_lacks_subtopics_is_refused() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    held = rankscope.read_qrels(qrels)
    with pytest.raises(rankscope.MeasureError, match="expected judgments by subtopic") as caught:
        rankscope.evaluate(held, run, "alpha_nDCG@10")
    assert caught.value.code == "subtopics_missing"
    with pytest.raises(rankscope.FormatError, match="query to subtopic to document"):
        rankscope.evaluate(qrels, run, "alpha_nDCG@10")
    rows = [("q", "1", "a", 1)]
    by_subtopic = rankscope.read_qrels(rows, subtopics=True)
    with pytest.raises(rankscope.MeasureError, match="needs subtopics"):
        rankscope.Rankings.from_run(by_subtopic, run).bounds("AP_IA")
    with pytest.raises(rankscope.PolicyError, match='unretrieved="count"'):
        rankscope.evaluate(rows, run, "AP_IA", policy="unretrieved=ignore")
    with pytest.raises(rankscope.PolicyError, match="ties"):
        rankscope.evaluate(rows, run, "AP_IA", policy="ties=average")


def test_runs_are_compared_by_a_measure_of_diversity() -> None:
    rows = [(f"q{n}", topic, doc, 1) for n in range(8) for topic, doc in (("1", "a"), ("2", "b"))]
    both = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(8)}
    one = {f"q{n}": {"a": 2.0} for n in range(8)}
    found = rankscope.compare(rows, {"one": one, "both": both}, "StRecall@2")
    assert found["StRecall@2", "both"].difference == 0.5


def test_a_document_that_covers_everything_is_perfect() -> None:
    rows = [("q", topic, "a", 1) for topic in ("1", "2", "3")]
    names = ["alpha_nDCG@5", "nERR_IA@5", "nNRBP", "AP_IA", "P_IA@1", "StRecall@1", "ERR_IA@1"]
    found = rankscope.evaluate(rows, {"q": {"a": 1.0}}, [*names, "alpha_DCG@1"])
    assert set(found.values()) == {1.0}

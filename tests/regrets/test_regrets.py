"""Regrets of documents and ranks add up to what a value lacks."""

from __future__ import annotations

import math
from itertools import combinations, compress
from typing import TYPE_CHECKING

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import DCG, Rankings, nDCG

from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope import Measure, Regrets

QRELS = {"q1": {"a": 3, "b": 1, "c": 1, "d": 2}, "q2": {"f": 1, "g": 1}, "empty": {"x": 0}}
RUN = {"q1": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}, "q2": {"g": 1.0}, "empty": {"x": 1.0}}
LOSSES = ("retrieval", "truncation", "ordering")


def definition(ranking: Sequence[str], grades: dict[str, float], k: int | None) -> dict[str, float]:
    """The regret of each document with a gain, by its definition."""
    weights = [0 if k and rank > k else 1 / math.log2(rank + 1) for rank in range(1, 20)]
    best = sorted(grades, key=lambda doc: -grades[doc])
    ideal = math.fsum(grades[doc] * weights[at] for at, doc in enumerate(best))
    regrets = {}
    for doc, grade in grades.items():
        if grade == 0:
            continue
        places = [at for at, other in enumerate(best) if grades[other] == grade]
        wanted = math.fsum(weights[at] for at in places) / len(places)
        found = weights[ranking.index(doc)] if doc in ranking else 0.0
        regrets[doc] = grade * (wanted - found) / ideal
    return regrets


def by_document(regrets: Regrets, query: str) -> dict[str, float]:
    """The regret of each document of a query."""
    rows = zip(*(regrets.column(name) for name in ("query_id", "doc_id", "regret")), strict=True)
    return {str(doc): float(regret or 0) for of, doc, regret in rows if of == query}


@pytest.mark.parametrize("k", [None, 1, 2, 3])
def test_regrets_are_those_of_the_definition(k: int | None) -> None:
    regrets = Rankings.from_run(QRELS, RUN).regrets(nDCG(k=k))
    for query in ("q1", "q2"):
        grades = {doc: float(grade) for doc, grade in QRELS[query].items()}
        expected = definition(list(RUN[query]), grades, k)
        assert by_document(regrets, query) == pytest.approx(expected, abs=1e-15)
    assert by_document(regrets, "empty") == {}
    places = zip(regrets.column("doc_id"), regrets.column("rank"), strict=True)
    assert dict(places) == {"a": 3, "b": 1, "c": 4, "d": None, "f": None, "g": 1}


scores = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0])
lists = st.dictionaries(st.sampled_from("abcdefgh"), scores, max_size=7)
judgments = st.dictionaries(
    st.sampled_from("abcdefgh"), st.sampled_from([-1, 0, 1, 2, 3]), min_size=1
)


@given(
    qrels=st.fixed_dictionaries({"q0": judgments, "q1": judgments}),
    run=st.dictionaries(st.sampled_from(["q0", "q1"]), lists, min_size=1).filter(
        lambda run: any(run.values())
    ),
    measure=st.sampled_from(
        [
            nDCG @ 3,
            nDCG,
            nDCG(gain="exp2", discount="reciprocal") @ 2,
            nDCG(gain="binary") @ 4,
            nDCG(ideal="retrieved") @ 3,
            nDCG(ideal="whole") @ 2,
            nDCG(judged_only=True) @ 3,
            DCG @ 4,
            rs.CG @ 3,
        ]
    ),
    policy=st.sampled_from(
        [
            "",
            "ties=average",
            "ties=average,unjudged=remove",
            "unjudged=0.5",
            "negative=gain",
            "empty=skip,missing=skip",
            "empty=one,unretrieved=ignore",
        ]
    ),
)
def test_regrets_add_up_to_the_losses(
    qrels: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    measure: Measure,
    policy: str,
) -> None:
    ties = "average" if "average" in policy else "doc_id"
    made = Rankings.from_run(qrels, run, ties=ties)  # type: ignore[arg-type]  # one of two
    losses = made.losses(measure, policy=policy)
    regrets = made.regrets(measure, policy=policy)
    lacking = sum(losses.array(name) for name in LOSSES)
    if measure.row.name != "nDCG":
        lacking = lacking + losses.array("undefined")
    for query, expected in zip(made.query_ids, lacking.tolist(), strict=True):
        found = math.fsum(by_document(regrets, query).values())
        assert found == pytest.approx(0 if math.isnan(expected) else expected, abs=1e-12)
    mean = math.fsum(np.nan_to_num(lacking)) / losses.queries if losses.queries else 0
    assert regrets.by_rank.array("regret").sum() == pytest.approx(mean, abs=1e-12)
    brands = {"a": "x", "b": "x", "c": "y", "d": "y"}
    if losses.queries:
        grouped = made.regrets(measure, policy=policy, by=brands)
        assert sum(grouped.array("regret")) == pytest.approx(mean, abs=1e-12)
        assert set(grouped.column("attribute")) <= {"x", "y", "<missing>"}
        assert sum(grouped.array("documents")) == len(regrets)
        assert sum(grouped.array("unretrieved")) == regrets.column("rank").count(None)


@given(
    qrels=st.fixed_dictionaries({"q0": judgments, "q1": judgments}),
    run=st.fixed_dictionaries({"q0": lists, "q1": lists}).filter(lambda run: any(run.values())),
    measure=st.sampled_from([nDCG @ 3, nDCG(gain="exp2") @ 2, nDCG(judged_only=True), DCG @ 4]),
    policy=st.sampled_from(["ties=doc_id", "ties=doc_id,negative=gain", "ties=average"]),
)
def test_the_best_swap_is_the_best_of_all(
    qrels: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    measure: Measure,
    policy: str,
) -> None:
    is_averaged = policy == "ties=average"
    made = Rankings.from_run(qrels, run, ties="average" if is_averaged else "doc_id")
    swaps = made.regrets(measure, policy=policy).swaps.to_dict()
    values = made.evaluate(measure, policy=policy).per_query_list(measure)
    for query, before in zip(made.query_ids, values, strict=True):
        docs = made.doc_ids(query)
        best = 0.0
        grades = qrels[query]
        has_rank = [not measure.judged_only or grades.get(doc, -1) >= 0 for doc in docs]
        for one, other in combinations(compress(range(len(docs)), has_rank), 2):
            order = [*docs]
            order[one], order[other] = docs[other], docs[one]
            scores = [run[query][doc] if is_averaged else -rank for rank, doc in enumerate(docs)]
            ranked = {query: dict(zip(order, scores, strict=True))}
            value = rs.evaluate({query: grades}, ranked, measure, policy=policy)[measure]
            best = max(best, value - before)
        found = swaps.get(query)
        assert (float(found["gained"] or 0) if found else 0.0) == pytest.approx(best, abs=1e-12)


def test_the_documents_of_a_swap_are_named() -> None:
    swaps = Rankings.from_run(QRELS, RUN).regrets(nDCG @ 3).swaps
    assert swaps.column("query_id") == ("q1",)
    row = swaps.to_dict()["q1"]
    assert (row["rank"], row["doc_id"], row["other_rank"], row["other_doc_id"]) == (1, "b", 3, "a")
    best = 3 + 2 / math.log2(3) + 1 / 2
    assert row["gained"] == pytest.approx((3 - 1) * (1 - 1 / 2) / best, abs=1e-15)


def test_rows_without_ids_have_regrets_too() -> None:
    regrets = Rankings.from_lists([[0, 2, 1]], ideal=[[3, 2, 1, 0]]).regrets(nDCG @ 2)
    assert regrets.column("doc_id") == (None, None, None)
    assert regrets.column("rank") == (2, 3, None)
    assert sum(regrets.array("regret")) == pytest.approx(regrets.loss, abs=1e-15)
    swap = regrets.swaps.rows()[0]
    assert (swap[1], swap[2], swap[3]) == (1, None, 3)


@pytest.mark.parametrize(
    ("measure", "policy", "code"),
    [
        ("AP", None, "losses_unavailable"),
        (nDCG @ 3, "negative=minmax", "losses_unavailable"),
        (nDCG @ 3, "missing_gain=-1", "regrets_unavailable"),
        (nDCG @ 3, "aggregate=ratio_of_sums", "aggregate_unavailable"),
    ],
)
def test_what_is_no_sum_over_documents_is_refused(
    measure: Measure | str, policy: str | None, code: str
) -> None:
    refused(lambda: Rankings.from_run(QRELS, RUN).regrets(measure, policy=policy), code)


def test_an_attribute_is_a_mapping() -> None:
    with pytest.raises(rs.UsageError, match="a mapping of document to value, found str"):
        Rankings.from_run(QRELS, RUN).regrets(nDCG, by="brand")  # type: ignore[arg-type]


def test_a_mapping_has_every_document() -> None:
    regrets = Rankings.from_run(QRELS, RUN).regrets(nDCG @ 3)
    found = [
        (query, row["doc_id"], row["regret"])
        for query, rows in regrets.to_dict().items()
        for row in rows
    ]
    columns = [regrets.column(name) for name in ("query_id", "doc_id", "regret")]
    assert found == list(zip(*columns, strict=True))


def test_a_notebook_shows_as_many_documents_as_a_terminal() -> None:
    qrels = {"q": {f"<d{number}>": 1 for number in range(30)}}
    regrets = Rankings.from_run(qrels, {"q": {"<d1>": 1.0}}).regrets(nDCG)
    html = regrets._repr_html_()
    assert html.count("<tr>") == str(regrets).count("\n") - 1
    assert "&lt;d" in html
    assert "<d1>" not in html


def test_many_documents_are_printed_by_the_worst() -> None:
    qrels = {"q": {f"d{number}": 1 for number in range(30)}}
    text = str(Rankings.from_run(qrels, {"q": {"d1": 1.0}}).regrets(nDCG))
    assert "and 20 more rows" in text
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, 31))
    assert text.endswith(f"loss of nDCG: {1 - 1 / ideal:.4f}")

"""A policy without ties takes those of the rankings; one with other ties is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope.settings.policy import CHOICES, FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = {"qid": [1, 1, 2], "doc": ["a", "b", "a"], "rel": [2, 0, 1], "score": [1.0, 1.0, 2.0]}
QRELS = {"1": {"a": 2, "b": 0}, "2": {"a": 1}}
RUN = {"1": {"a": 1.0, "b": 1.0}, "2": {"a": 2.0}}


def from_run(ties: str) -> rs.Rankings:
    return rs.Rankings.from_run(QRELS, RUN, ties=ties)  # type: ignore[arg-type]  # a parameter


def from_table(ties: str) -> rs.Rankings:
    return rs.Rankings.from_table(TABLE, ties=ties)  # type: ignore[arg-type]  # likewise


def from_arrays(ties: str) -> rs.Rankings:
    return rs.Rankings.from_arrays([[2, 0]], [[1.0, 1.0]], ties=ties)  # type: ignore[arg-type]  # likewise


def from_groups(ties: str) -> rs.Rankings:
    return rs.Rankings.from_groups([2, 0, 1], [1.0, 1.0, 2.0], [2, 1], ties=ties)  # type: ignore[arg-type]  # likewise


def from_lists(_ties: str) -> rs.Rankings:
    return rs.Rankings.from_lists([[2, 0], [1]])


BY_ID = ("doc_id", "doc_id_asc")
WAYS = [
    *((from_run, ties) for ties in CHOICES["ties"]),
    *((from_table, ties) for ties in CHOICES["ties"]),
    *((from_arrays, ties) for ties in CHOICES["ties"] if ties not in BY_ID),
    *((from_groups, ties) for ties in CHOICES["ties"] if ties not in BY_ID),
    (from_lists, "input"),
]
OTHERS: list[dict[str, object]] = [
    *(
        {field: word}
        for field in FIELDS
        if field not in {"ties", "missing_gain"}
        for word in CHOICES[field]
    ),
    {"missing_gain": -1.0},
    {"unjudged": 0.5},
    {"aggregate": "quantile(0.5)"},
]


@pytest.mark.parametrize(("make", "ties"), WAYS)
@pytest.mark.parametrize("given", OTHERS, ids=str)
def test_a_field_that_is_not_set_is_that_of_the_rankings(
    make: Callable[[str], rs.Rankings], ties: str, given: dict[str, object]
) -> None:
    policy = rs.Policy(**given)  # type: ignore[arg-type]  # a parameter
    found = make(ties).evaluate("nDCG", policy=policy)
    assert found.policy == rs.Policy(ties=ties, **given)  # type: ignore[arg-type]  # likewise
    assert found.policy.to_dict()["ties"] == ties
    assert str(found.policy).startswith(f"ties={ties},")
    text = ",".join(f"{field}={value}" for field, value in given.items())
    same = make(ties).evaluate("nDCG", policy=text)
    assert same.policy == found.policy
    assert same["nDCG"] == found["nDCG"]


@pytest.mark.parametrize(("make", "ties"), WAYS)
def test_other_ties_than_those_of_the_rankings_are_an_error(
    make: Callable[[str], rs.Rankings], ties: str
) -> None:
    rankings = make(ties)
    for other in CHOICES["ties"]:
        policy = rs.Policy(ties=other)  # type: ignore[arg-type]  # a parameter
        if other == ties:
            assert rankings.evaluate("nDCG", policy=policy).policy.ties == ties
            continue
        with pytest.raises(rs.PolicyError) as raised:
            rankings.evaluate("nDCG", policy=policy)
        assert raised.value.code == "ties_fixed"


def test_every_question_about_rankings_takes_their_ties() -> None:
    rankings = rs.Rankings.from_lists([[2, 0, 3], [1, 1]])
    policy = rs.Policy(empty="skip")
    assert rankings.bounds("nDCG", policy=policy).policy.ties == "input"
    assert rankings.ties("nDCG", policy=policy).policy.ties == "input"
    assert rankings.losses("nDCG", policy=policy)
    explained = rankings.explain(0, "nDCG", policy=policy)
    assert explained.policy.ties == "input"


def test_ties_go_by_ids_where_there_are_any() -> None:
    policy = rs.Policy(empty="skip")
    without = {name: column for name, column in TABLE.items() if name != "doc"}
    assert rs.evaluate(QRELS, RUN, "RR", policy=policy).policy.ties == "doc_id"
    assert rs.evaluate(TABLE, "RR", policy=policy).policy.ties == "doc_id"
    assert rs.evaluate(without, "RR", policy=policy).policy.ties == "average"
    assert rs.evaluate(TABLE, "RR", policy=rs.Policy(ties="best")).policy.ties == "best"
    assert rs.evaluate(TABLE, "RR", policy="empty=skip") == rs.evaluate(TABLE, "RR", policy=policy)


def test_a_policy_without_ties_takes_those_of_the_convention() -> None:
    policy = rs.Policy(empty="one", missing="skip", unretrieved="ignore", negative="error")
    found = rs.evaluate(QRELS, RUN, "nDCG", policy=policy, convention="lightgbm")
    assert found.policy == rs.evaluate(QRELS, RUN, "nDCG", convention="lightgbm").policy


def test_a_policy_on_its_own_prints_what_was_set() -> None:
    assert str(rs.Policy()) == "empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant"
    assert rs.Policy().to_dict()["ties"] is None
    assert rs.Policy.parse(str(rs.Policy())) == rs.Policy()
    assert rs.Policy().resolve() == rs.Policy(ties="doc_id")
    assert rs.Policy(ties="best").resolve("input").ties == "best"

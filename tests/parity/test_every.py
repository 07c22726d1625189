"""User models and measures of diversity have the values of ir_measures, alone and all in one call.

cwl_eval and pyndeval compute them for ir_measures. They add up sums in another order and take the
logarithms of the C library, so values are equal up to rounding.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import rankscope
from rankscope.measures import parse

from dev.parity import every

if TYPE_CHECKING:
    from rankscope.evaluation.evaluation import Evaluation

GOLDEN = Path(__file__).parent / "golden" / "every"
CASES = every.generate()
PEERS = ("cwl_eval", "pyndeval")
ANSWERS = {
    peer: json.loads((GOLDEN / f"{peer}.json").read_text(encoding="utf-8"))["cases"]
    for peer in PEERS
}
ASCENDING = {"Compat", "alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA"}
ASCENDING |= {"P_IA", "StRecall"}
"""Their providers rank the smaller ID first among equal scores; the others keep the input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """Measures for which ir_measures has another value, and why.

    Args:
        names: The measures.
        factor: What their value is multiplied by, in terms of the number of subtopics.
        why: The reason.
    """

    names: tuple[str, ...]
    factor: int
    why: str


OTHERS = (
    Other(
        names=("alpha_DCG@1", "ERR_IA@1"),
        factor=1,
        why="ndeval doesn't divide the value at rank 1, so that it is the number of subtopics of "
        "the first document, which can exceed 1.",
    ),
)
USER = " ; "
"""What separates a user of cwl_eval that ir_measures doesn't have from what is reported of it."""
UNDEFINED = {
    "Accuracy": "It has no value for a query of which no relevant document is retrieved.",
    "nNRBP": "It is 0/0 for a query without relevant documents.",
}


def ties_of(name: str) -> str:
    return "doc_id_asc" if parse(name).row.name in ASCENDING else "input"


def evaluate(peer: str, case: str, names: list[str], ties: str) -> Evaluation:
    rows, run = CASES[case]
    return rankscope.evaluate(
        rows if peer == "pyndeval" else every.highest_grades(rows),
        run,
        names,
        policy=f"ties={ties},empty=nan",
        subtopics=peer == "pyndeval",
    )


def count_subtopics(case: str, query: str) -> int:
    rows, _ = CASES[case]
    return len({subtopic for q, subtopic, _, grade in rows if q == query and grade >= 1})


def check(peer: str, case: str, name: str, found: Evaluation) -> None:
    """Compare the values of all queries."""
    theirs = ANSWERS[peer][case][name]
    other = next((one for one in OTHERS if name in one.names), None)
    ours = dict(zip(found.query_texts, found.per_query_list(name), strict=True))
    for query, value in ours.items():
        expected = theirs.get(query, math.nan)
        if other is not None:
            expected /= count_subtopics(case, query) or 1
        if math.isnan(value):
            is_undefined = parse(name).row.name in UNDEFINED
            assert expected == 0 or (math.isnan(expected) and is_undefined), (name, query)
        else:
            assert value == pytest.approx(expected, rel=1e-11, abs=1e-13), (name, query)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("peer", PEERS)
def test_values_are_those_of_ir_measures_all_in_one_call(peer: str, case: str) -> None:
    names = [name for name in ANSWERS[peer][case] if USER not in name]
    for ties in ("input", "doc_id_asc"):
        chosen = [name for name in names if ties_of(name) == ties]
        if chosen:
            found = evaluate(peer, case, chosen, ties)
            for name in chosen:
                check(peer, case, name, found)


@pytest.mark.parametrize("peer", PEERS)
def test_values_are_those_of_ir_measures_one_by_one(peer: str) -> None:
    for name in ANSWERS[peer]["shallow"]:
        if USER in name:
            continue
        check(peer, "shallow", name, evaluate(peer, "shallow", [name], ties_of(name)))


@pytest.mark.parametrize("case", CASES)
def test_users_that_ir_measures_lacks_have_the_values_of_cwl_eval(case: str) -> None:
    theirs = {name: values for name, values in ANSWERS["cwl_eval"][case].items() if USER in name}
    ours = {name: name_user(name) for name in theirs}
    found = evaluate("cwl_eval", case, list(ours.values()), "input")
    for name, values in theirs.items():
        got = dict(zip(found.query_texts, found.per_query_list(ours[name]), strict=True))
        for query, expected in values.items():
            value = got[query]
            if math.isnan(value):
                assert expected == 0, (name, query)
            else:
                assert value == pytest.approx(expected, rel=1e-11, abs=1e-12), (name, query)


def name_user(name: str) -> str:
    """The measure of what is reported of a user of cwl_eval."""
    user, quantity, residual = name.split(USER)
    call, _, cutoff = user.partition(")")
    return f"{call}, value='{quantity}'{', residual=True' if residual else ''}){cutoff}"


@pytest.mark.parametrize("other", OTHERS, ids=lambda other: other.names[0])
def test_a_difference_shows_in_their_values(other: Other) -> None:
    for name in other.names:
        theirs = ANSWERS["pyndeval"]["shallow"][name]
        assert max(theirs.values()) > 1, name
        found = evaluate("pyndeval", "shallow", [name], ties_of(name))
        assert max(found.per_query_list(name)) <= 1, name

"""Where a peer's number is not ours although the measure is the same, and why.

Every other value of a shared measure is the same to the last bit, as the other tests here hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tests.parity.peers import Lists, Qrels, Rows

ABSENT = "absent"
"""The query has no value."""

MEAN = "mean"
"""What stands in place of a query where the mean is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """One case in which a peer and we differ.

    Args:
        tool: The peer, in the version that is pinned.
        measure: Our name for the measure.
        condition: When it happens.
        qrels: Judgments that show it.
        run: A run that shows it; rows where a dict could not say it.
        of: Of which query the values are, or `MEAN`.
        ours: Our value, or the name of our error.
        theirs: Their value, the name of their error, or `ABSENT`.
        why: What each does.
    """

    tool: Literal["pytrec_eval", "ir_measures"]
    measure: str
    condition: str
    qrels: Qrels
    run: Lists | Rows
    of: str = "q"
    ours: float | str
    theirs: float | str
    why: str


TENTHS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1, "b": 1, "c": 1}}
"""Three queries whose P@10 are 0.1, 0.2 and 0.3, if all is retrieved."""

DIVERGENCES = (
    Divergence(
        tool="pytrec_eval",
        measure="RR",
        condition="scores that single precision cannot tell apart",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 1.00000001, "b": 1.0}},
        ours=1.0,
        theirs=1 / 2,
        why="It keeps scores in single precision, so they tie, and b comes before a. "
        'score_type="float32" gives its value.',
    ),
    Divergence(
        tool="pytrec_eval",
        measure="RR",
        condition="scores beyond single precision",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 2e300, "b": 1e300}},
        ours=1.0,
        theirs=1 / 2,
        why='Both are infinite in single precision, and tie. score_type="float32" gives its value.',
    ),
    Divergence(
        tool="ir_measures",
        measure="nDCG",
        condition="scores that single precision cannot tell apart",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 1.00000001, "b": 1.0}},
        ours=1.0,
        theirs=1 / math.log2(3),
        why="It hands nDCG to pytrec_eval, which keeps scores in single precision.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="nDCG",
        condition="a judged query that is not in the run",
        qrels={"q": {"a": 1}, "other": {"a": 1}},
        run={"other": {"a": 1.0}},
        ours=0.0,
        theirs=ABSENT,
        why='It leaves the query out; missing="skip" does the same.',
    ),
    Divergence(
        tool="pytrec_eval",
        measure="AP",
        condition="a query with no judgments at all",
        qrels={"q": {}, "other": {"a": 1}},
        run={"q": {"a": 1.0}, "other": {"a": 1.0}},
        ours=0.0,
        theirs=ABSENT,
        why="It drops the query; here it is a query without relevant documents, as empty= says.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="nDCG",
        condition="a grade that is no integer",
        qrels={"q": {"a": 0.5, "b": 1}},  # type: ignore[dict-item]  # which is the point
        run={"q": {"a": 2.0, "b": 1.0}},
        ours=(0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3)),
        theirs="TypeError",
        why="It takes integers only.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="P(rel=0)@2",
        condition="grade 0 asked for as relevant",
        qrels={"q": {"a": 0}},
        run={"q": {"a": 1.0}},
        ours=1 / 2,
        theirs="TypeError",
        why="It takes levels from 1.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="IPrec(judged_only=True)@0.0",
        condition="no retrieved document is judged",
        qrels={"q": {"a": 1}},
        run={"q": {"b": 1.0}},
        ours=0.0,
        theirs=math.nan,
        why="The condensed list is empty, and it divides 0 by its length.",
    ),
    Divergence(
        tool="ir_measures",
        measure="IPrec(judged_only=True)@0.0",
        condition="no retrieved document is judged",
        qrels={"q": {"a": 1}},
        run={"q": {"b": 1.0}},
        ours=0.0,
        theirs=math.nan,
        why="It hands the measure to pytrec_eval, which divides 0 by the length of the list.",
    ),
    Divergence(
        tool="ir_measures",
        measure="IPrec@0.125",
        condition="a level of recall with more than two decimals",
        qrels={"q": {f"d{number}": 1 for number in range(9)}},
        run={"q": {"d0": 3.0, "x": 2.0, "d1": 1.0}},
        ours=2 / 3,
        theirs=1.0,
        why="It writes the level with two decimals, so 0.12 of nine documents is one document, "
        "where 0.125 of them is two.",
    ),
    Divergence(
        tool="ir_measures",
        measure="RR@2",
        condition="equal scores, with a cutoff",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 1.0, "b": 1.0}},
        ours=1 / 2,
        theirs=1.0,
        why="With a cutoff another provider computes it, which puts the smaller id first; "
        "without one it is 1/2 there too.",
    ),
    Divergence(
        tool="ir_measures",
        measure="Judged@1",
        condition="equal scores",
        qrels={"q": {"a": 0}},
        run={"q": {"a": 1.0, "b": 1.0}},
        ours=0.0,
        theirs=1.0,
        why='Its provider puts the smaller id first; ties="doc_id_asc" gives its value.',
    ),
    Divergence(
        tool="ir_measures",
        measure="Judged",
        condition="an empty list",
        qrels={"q": {"a": 1}, "other": {"a": 1}},
        run={"q": {}, "other": {"a": 1.0}},
        ours=0.0,
        theirs="ZeroDivisionError",
        why="It divides by the length of the list.",
    ),
    Divergence(
        tool="ir_measures",
        measure="SetF(beta=2.0)",
        condition="a beta other than 1",
        qrels={"q": dict.fromkeys("abcd", 1)},
        run={"q": {"a": 2.0, "x": 1.0}},
        ours=(1 + 2**2) * (1 / 2) * (1 / 4) / (2**2 * (1 / 2) + 1 / 4),
        theirs=(1 + 2) * (1 / 2) * (1 / 4) / (2 * (1 / 2) + 1 / 4),
        why="It hands beta to trec_eval, whose parameter is the square of beta.",
    ),
    Divergence(
        tool="ir_measures",
        measure="NumRel",
        condition="a judged query that is not in the run",
        qrels={"q": {"a": 1}, "other": {"a": 1}},
        run={"other": {"a": 1.0}},
        ours=1.0,
        theirs=0.0,
        why="Every measure is 0 there for such a query, even the number of its relevant documents.",
    ),
    Divergence(
        tool="ir_measures",
        measure="NumQ",
        condition="a judged query that is not in the run",
        qrels={"q": {"a": 1}, "other": {"a": 1}},
        run={"other": {"a": 1.0}},
        ours=1.0,
        theirs=0.0,
        why="Every measure is 0 there for such a query, even the number of queries.",
    ),
    Divergence(
        tool="ir_measures",
        measure="NumRel(rel=2)",
        condition="a level above 1",
        qrels={"q": {"a": 1, "b": 2}},
        run={"q": {"a": 1.0}},
        ours=1.0,
        theirs="ValueError",
        why="None of its providers has it.",
    ),
    Divergence(
        tool="ir_measures",
        measure="nDCG(gains={1: 3})",
        condition="a grade without a gain",
        qrels={"q": {"a": 1, "b": 2}},
        run={"q": {"b": 2.0, "a": 1.0}},
        ours="MeasureError",
        theirs=(2 + 3 / math.log2(3)) / (3 + 2 / math.log2(3)),
        why="It leaves the grades alone that the table does not name.",
    ),
    Divergence(
        tool="ir_measures",
        measure="ERR",
        condition="no cutoff",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 1.0}},
        ours=(2**1 - 1) / 2**4,
        theirs="ValueError",
        why="None of its providers has it.",
    ),
    Divergence(
        tool="ir_measures",
        measure="RR",
        condition="a document retrieved twice",
        qrels={"q": {"a": 1}},
        run=[("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0)],
        ours="DuplicateError",
        theirs=1 / 2,
        why='The last row wins without a word; duplicates= resolves it here, "first" or "max".',
    ),
    Divergence(
        tool="ir_measures",
        measure="P@10",
        condition="a mean whose sum is rounded on the way",
        qrels=TENTHS,
        run={query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in TENTHS},
        of=MEAN,
        ours=math.fsum([0.1, 0.2, 0.3]) / 3,
        theirs=((0.1 + 0.2) + 0.3) / 3,
        why="It adds up from left to right; our sum is exact and rounded once.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="P@10",
        condition="a mean whose sum is rounded on the way",
        qrels=TENTHS,
        run={query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in TENTHS},
        of=MEAN,
        ours=math.fsum([0.1, 0.2, 0.3]) / 3,
        theirs=((0.1 + 0.2) + 0.3) / 3,
        why="It adds up as NumPy does, rounding each step; our sum is exact and rounded once.",
    ),
)

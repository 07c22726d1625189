"""The cases in which a peer computes another value for the same measure, and why.

All other values of shared measures agree to the last bit, as the other tests in this folder check.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tests.parity.peers import Lists, Qrels, Rows

ABSENT = "absent"
"""The query has no value."""

MEAN = "mean"
"""In place of a query: the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """One case in which a peer and rankscope differ.

    Args:
        tool: The peer, in the pinned version.
        measure: Our name for the measure.
        condition: When they differ.
        qrels: Judgments that show the difference.
        run: A run that shows the difference; rows if a dict can't represent it.
        of: The query of the values, or `MEAN`.
        ours: The value of rankscope, or the name of its error.
        theirs: The value of the peer, the name of its error, or `ABSENT`.
        why: The reason.
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
"""Three queries whose P@10 is 0.1, 0.2 and 0.3 if everything is retrieved."""

DIVERGENCES = (
    Divergence(
        tool="pytrec_eval",
        measure="RR",
        condition="scores that are equal in single precision",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 1.00000001, "b": 1.0}},
        ours=1.0,
        theirs=1 / 2,
        why="It stores scores in single precision, so they tie, and b comes before a. "
        'Use score_type="float32" to get its value.',
    ),
    Divergence(
        tool="pytrec_eval",
        measure="RR",
        condition="scores too large for single precision",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 2e300, "b": 1e300}},
        ours=1.0,
        theirs=1 / 2,
        why="Both are infinite in single precision, so they tie. "
        'Use score_type="float32" to get its value.',
    ),
    Divergence(
        tool="ir_measures",
        measure="nDCG",
        condition="scores that are equal in single precision",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 1.00000001, "b": 1.0}},
        ours=1.0,
        theirs=1 / math.log2(3),
        why="It computes nDCG with pytrec_eval, which stores scores in single precision.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="nDCG",
        condition="a judged query that is not in the run",
        qrels={"q": {"a": 1}, "other": {"a": 1}},
        run={"other": {"a": 1.0}},
        ours=0.0,
        theirs=ABSENT,
        why='It leaves the query out, like missing="skip".',
    ),
    Divergence(
        tool="pytrec_eval",
        measure="AP",
        condition="a query without any judgments",
        qrels={"q": {}, "other": {"a": 1}},
        run={"q": {"a": 1.0}, "other": {"a": 1.0}},
        ours=0.0,
        theirs=ABSENT,
        why="It drops the query. rankscope treats it as a query without relevant documents.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="nDCG",
        condition="a grade that is not an integer",
        qrels={"q": {"a": 0.5, "b": 1}},
        run={"q": {"a": 2.0, "b": 1.0}},
        ours=(0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3)),
        theirs="TypeError",
        why="It only accepts integers.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="P(rel=0)@2",
        condition="grade 0 as relevant",
        qrels={"q": {"a": 0}},
        run={"q": {"a": 1.0}},
        ours=1 / 2,
        theirs="TypeError",
        why="It only accepts levels of 1 and above.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="IPrec(judged_only=True)@0.0",
        condition="no retrieved document is judged",
        qrels={"q": {"a": 1}},
        run={"q": {"b": 1.0}},
        ours=0.0,
        theirs=math.nan,
        why="The condensed list is empty, and it divides 0 by the length of the list.",
    ),
    Divergence(
        tool="ir_measures",
        measure="IPrec(judged_only=True)@0.0",
        condition="no retrieved document is judged",
        qrels={"q": {"a": 1}},
        run={"q": {"b": 1.0}},
        ours=0.0,
        theirs=math.nan,
        why="It uses pytrec_eval, which divides 0 by the length of the list.",
    ),
    Divergence(
        tool="ir_measures",
        measure="IPrec@0.125",
        condition="a recall level with more than two decimals",
        qrels={"q": {f"d{number}": 1 for number in range(9)}},
        run={"q": {"d0": 3.0, "x": 2.0, "d1": 1.0}},
        ours=2 / 3,
        theirs=1.0,
        why="It rounds the level to two decimals. 0.12 of nine documents is one document, 0.125 is "
        "two.",
    ),
    Divergence(
        tool="ir_measures",
        measure="RR@2",
        condition="equal scores, with a cutoff",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 1.0, "b": 1.0}},
        ours=1 / 2,
        theirs=1.0,
        why="With a cutoff, it uses another provider, which ranks the smaller ID first. Without a "
        "cutoff, its value is 1/2, too.",
    ),
    Divergence(
        tool="ir_measures",
        measure="Judged@1",
        condition="equal scores",
        qrels={"q": {"a": 0}},
        run={"q": {"a": 1.0, "b": 1.0}},
        ours=0.0,
        theirs=1.0,
        why='Its provider ranks the smaller ID first. Use ties="doc_id_asc" to get its value.',
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
        why="It passes beta to trec_eval, which reads it as beta squared.",
    ),
    Divergence(
        tool="ir_measures",
        measure="NumRel",
        condition="a judged query that is not in the run",
        qrels={"q": {"a": 1}, "other": {"a": 1}},
        run={"other": {"a": 1.0}},
        ours=1.0,
        theirs=0.0,
        why="It counts every measure as 0 for such a query, even the number of relevant documents.",
    ),
    Divergence(
        tool="ir_measures",
        measure="NumQ",
        condition="a judged query that is not in the run",
        qrels={"q": {"a": 1}, "other": {"a": 1}},
        run={"other": {"a": 1.0}},
        ours=1.0,
        theirs=0.0,
        why="It counts every measure as 0 for such a query, even the number of queries.",
    ),
    Divergence(
        tool="ir_measures",
        measure="NumRel(rel=2)",
        condition="a level above 1",
        qrels={"q": {"a": 1, "b": 2}},
        run={"q": {"a": 1.0}},
        ours=1.0,
        theirs="ValueError",
        why="None of its providers supports it.",
    ),
    Divergence(
        tool="ir_measures",
        measure="nDCG(gains={1: 3})",
        condition="a grade above all that have a gain",
        qrels={"q": {"a": 1, "b": 2}},
        run={"q": {"b": 2.0, "a": 1.0}},
        ours="MeasureError",
        theirs=(2 + 3 / math.log2(3)) / (3 + 2 / math.log2(3)),
        why="It keeps grades that the table doesn't contain.",
    ),
    Divergence(
        tool="ir_measures",
        measure="ERR",
        condition="no cutoff",
        qrels={"q": {"a": 1}},
        run={"q": {"a": 1.0}},
        ours=(2**1 - 1) / 2**4,
        theirs="ValueError",
        why="None of its providers supports it.",
    ),
    Divergence(
        tool="ir_measures",
        measure="RR",
        condition="a document retrieved twice",
        qrels={"q": {"a": 1}},
        run=[("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0)],
        ours="DuplicateError",
        theirs=1 / 2,
        why='It uses the last row. In rankscope, choose with duplicates="first" or "max".',
    ),
    Divergence(
        tool="ir_measures",
        measure="P@10",
        condition="a mean whose sum needs rounding",
        qrels=TENTHS,
        run={query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in TENTHS},
        of=MEAN,
        ours=math.fsum([0.1, 0.2, 0.3]) / 3,
        theirs=((0.1 + 0.2) + 0.3) / 3,
        why="It rounds after each addition. The sum in rankscope is exact and rounded once.",
    ),
    Divergence(
        tool="pytrec_eval",
        measure="P@10",
        condition="a mean whose sum needs rounding",
        qrels=TENTHS,
        run={query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in TENTHS},
        of=MEAN,
        ours=math.fsum([0.1, 0.2, 0.3]) / 3,
        theirs=((0.1 + 0.2) + 0.3) / 3,
        why="It sums up with NumPy, which rounds at each step. The sum in rankscope is exact and "
        "rounded once.",
    ),
)

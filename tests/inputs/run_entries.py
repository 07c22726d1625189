"""The catalogue of bad runs: R1 to R26."""

from __future__ import annotations

import math
import re

from tests.inputs.entry import RUN, RUN_ROWS, Entry, lines

NEXT = math.nextafter(0.1, 1)


def ranked(ranks: tuple[object, ...]) -> bytes:
    """Write other ranks into the run."""
    given = iter(ranks)
    return re.sub(rb"(d\d) \d", lambda found: found[1] + f" {next(given)}".encode(), RUN)


ENTRIES = (
    Entry("R1", RUN + lines("q2 Q0 d5 3 0.1"), "field_count", 7, hint="tag", role="run"),
    Entry("R2", lines("q1\td2\t1", "q1\td1\t2"), "field_count", 1, hint="MS MARCO", role="run"),
    Entry("R3", RUN + lines("q2 Q0 d5 3 0.1 t extra"), "field_count", 7, role="run"),
    Entry("R4", RUN + lines("q2 Q0 d 5 3 0.1 t"), "field_count", 7, hint="blank in it", role="run"),
    Entry(
        "R4 without tag",
        RUN + lines("q2 Q0 d x 3rd 0.1"),
        "score_not_number",
        7,
        11,
        hint="blank in it",
        role="run",
    ),
    Entry(
        "R5",
        RUN + lines("q2 Q0 d5 3 nan t"),
        "score_nan",
        7,
        12,
        hint="NaN",
        role="run",
        rows=(*RUN_ROWS, ("q2", "d5", math.nan)),
    ),
    Entry(
        "R6 inf",
        RUN + lines("q2 Q0 d5 3 inf t"),
        "score_overflow",
        7,
        12,
        role="run",
        rows=(*RUN_ROWS, ("q2", "d5", math.inf)),
    ),
    Entry(
        "R6 -inf",
        RUN + lines("q2 Q0 d5 3 -Infinity t"),
        "score_overflow",
        7,
        12,
        role="run",
        rows=(*RUN_ROWS, ("q2", "d5", -math.inf)),
    ),
    Entry(
        "R6 1e999",
        RUN + lines("q2 Q0 d5 3 1e999 t"),
        "score_overflow",
        7,
        12,
        role="run",
        rows=(*RUN_ROWS, ("q2", "d5", 10**999)),
    ),
    *(
        Entry(
            f"R7 {text}",
            RUN + lines(f"q2 Q0 d5 3 {text} t"),
            "score_not_number",
            7,
            12,
            role="run",
            rows=(*RUN_ROWS, ("q2", "d5", text)),
        )
        for text in ("abc", "0x1p3", "1_0", "1.2.3", "--1", "١")
    ),
    Entry("R7 empty", RUN + lines("q2 Q0 d5 3  t"), "field_count", 7, role="run"),
    Entry(
        "R8",
        RUN + lines("q2 Q0 d5 3 2,5 t"),
        "score_not_number",
        7,
        12,
        hint="decimal point",
        role="run",
    ),
    Entry(
        "R9",
        RUN + lines("q2 Q0 d5 3 0.0 t", "q2 Q0 d6 4 -0.0 t"),
        role="run",
        rows=(*RUN_ROWS, ("q2", "d5", 0.0), ("q2", "d6", -0.0)),
    ),
    Entry(
        "R10 denormal",
        lines("q1 Q0 d1 1 2e-320 t", "q1 Q0 d2 2 1e-320 t", "q2 Q0 d1 1 1 t"),
        role="run",
        rows=(("q1", "d1", 2e-320), ("q1", "d2", 1e-320), ("q2", "d1", 1)),
    ),
    Entry(
        "R10 one ulp",
        lines(f"q1 Q0 d1 1 {NEXT!r} t", "q1 Q0 d2 2 0.1 t", "q2 Q0 d1 1 1 t"),
        role="run",
        rows=(("q1", "d1", NEXT), ("q1", "d2", 0.1), ("q2", "d1", 1)),
    ),
    Entry(
        "R10 many digits",
        lines(
            "q1 Q0 d2 1 0.10000000000000001387778780781445675529539585113525390626 t",
            "q1 Q0 d1 2 0.1000000000000000055511151231257827021181583404541015625 t",
            "q2 Q0 d1 1 1 t",
        ),
        role="run",
        rows=(("q1", "d2", NEXT), ("q1", "d1", 0.1), ("q2", "d1", 1)),
    ),
    Entry(
        "R11",
        lines("q1 Q0 d2 1 1 t", "q1 Q0 d1 2 1 t", "q2 Q0 d1 1 0 t", "q2 Q0 d4 2 0 t"),
        notes=("tied_scores",),
        role="run",
        rows=(("q1", "d2", 1), ("q1", "d1", 1), ("q2", "d1", 0), ("q2", "d4", 0)),
    ),
    Entry(
        "R12", ranked((2, 1, 3, 4, 1, 2)), notes=("rank_score_disagree",), role="run", rows=RUN_ROWS
    ),
    Entry(
        "R13 from 0",
        ranked((0, 1, 2, 3, 0, 1)),
        notes=("rank_irregular",),
        role="run",
        rows=RUN_ROWS,
    ),
    Entry(
        "R13 again",
        ranked((1, 2, 2, 3, 1, 1)),
        notes=("rank_irregular",),
        role="run",
        rows=RUN_ROWS,
    ),
    Entry(
        "R13 no number",
        ranked(("-", "NA", "x", "1.5", "1e3", "9" * 30)),
        notes=("rank_irregular",),
        role="run",
        rows=RUN_ROWS,
    ),
    Entry(
        "R14",
        RUN + lines("q2 Q0 d4 3 0.1 t"),
        "duplicate_doc",
        7,
        hint="keep one",
        role="run",
        rows=(*RUN_ROWS, ("q2", "d4", 0.1)),
    ),
    Entry(
        "R14 same score",
        RUN + lines("q2 Q0 d1 3 0.4 t"),
        "duplicate_doc",
        7,
        role="run",
        rows=(*RUN_ROWS, ("q2", "d1", 0.4)),
    ),
    Entry(
        "R14 far apart",
        RUN + lines("q1 Q0 d2 5 0.1 t"),
        "duplicate_doc",
        7,
        role="run",
        rows=(*RUN_ROWS, ("q1", "d2", 0.1)),
    ),
    Entry(
        "R14 unjudged query",
        RUN + lines("q9 Q0 d1 1 2 t", "q9 Q0 d1 2 1 t"),
        "duplicate_doc",
        8,
        role="run",
        rows=(*RUN_ROWS, ("q9", "d1", 2), ("q9", "d1", 1)),
    ),
    Entry(
        "R15",
        RUN + lines("q9 Q0 d1 1 2 t"),
        notes=("n_run_only",),
        role="run",
        rows=(*RUN_ROWS, ("q9", "d1", 2)),
    ),
    Entry(
        "R16",
        lines("q2 Q0 d1 1 0.4 t"),
        notes=("n_missing",),
        role="run",
        rows=(("q2", "d1", 0.4),),
    ),
    Entry(
        "R17",
        lines("x1 Q0 d1 1 2 t", "x2 Q0 d1 1 2 t"),
        "no_common_queries",
        hint="collection",
        role="run",
        rows=(("x1", "d1", 2), ("x2", "d1", 2)),
        place="alone",
    ),
    Entry(
        "R18",
        lines("00q1 Q0 d1 1 2 t"),
        "no_common_queries",
        hint="zeros",
        role="run",
        rows=(("00q1", "d1", 2),),
        place="alone",
    ),
    Entry(
        "R19",
        lines("q2 Q0 d1 1 0.4 t"),
        notes=("n_missing",),
        role="run",
        rows=(("q2", "d1", 0.4),),
    ),
    Entry(
        "R21",
        RUN + lines("q2 Q0 d5 3 0.1 other"),
        notes=("multiple_tags",),
        role="run",
        rows=(*RUN_ROWS, ("q2", "d5", 0.1)),
    ),
    Entry(
        "R23",
        lines("q1 Q0 d1 1 2 t", "q2 Q0 d1 1 1 t"),
        role="run",
        rows=(("q1", "d1", 2), ("q2", "d1", 1)),
    ),
    Entry(
        "R24",
        lines("q1 Q0 d8 1 2 t", "q2 Q0 d9 1 1 t"),
        notes=("all_unjudged",),
        role="run",
        rows=(("q1", "d8", 2), ("q2", "d9", 1)),
    ),
    Entry("R26", b"", "empty_input", role="run", rows=(), place="alone"),
    Entry("R26 blank", b"\n# nothing\n", "empty_input", role="run", place="alone"),
)

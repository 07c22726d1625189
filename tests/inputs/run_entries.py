"""The catalogue of bad runs: R1 to R26."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from tests.inputs.entry import RUN, RUN_ROWS, Entry, lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.inputs.entry import Row

NEXT = math.nextafter(0.1, 1)


def ranked(ranks: tuple[object, ...]) -> bytes:
    """Write other ranks into the run."""
    given = iter(ranks)
    return re.sub(rb"(d\d) \d", lambda found: found[1] + f" {next(given)}".encode(), RUN)


def retrieved(
    id: str,  # noqa: A002 - as in the catalogue
    *rows: Row,
    texts: Sequence[str],
    code: str = "",
    column: int | None = None,
    **others: object,
) -> Entry:
    """A good run with other lines after it."""
    return Entry(
        id,
        RUN + lines(*texts),
        code,
        len(RUN_ROWS) + 1 if code else None,
        column,
        role="run",
        rows=(*RUN_ROWS, *rows) if rows else None,
        **others,  # type: ignore[arg-type]
    )


ENTRIES = (
    retrieved("R1", texts=("q2 Q0 d5 3 0.1",), code="field_count", hint="tag"),
    Entry("R2", lines("q1\td2\t1", "q1\td1\t2"), "field_count", 1, hint="MS MARCO", role="run"),
    retrieved("R3", texts=("q2 Q0 d5 3 0.1 t extra",), code="field_count"),
    retrieved("R4", texts=("q2 Q0 d 5 3 0.1 t",), code="field_count", hint="blank in it"),
    retrieved(
        "R4 without tag",
        texts=("q2 Q0 d x 3rd 0.1",),
        code="score_not_number",
        column=11,
        hint="blank in it",
    ),
    retrieved(
        "R5",
        ("q2", "d5", math.nan),
        texts=("q2 Q0 d5 3 nan t",),
        code="score_nan",
        column=12,
        hint="NaN",
    ),
    retrieved(
        "R6 inf",
        ("q2", "d5", math.inf),
        texts=("q2 Q0 d5 3 inf t",),
        code="score_overflow",
        column=12,
    ),
    retrieved(
        "R6 -inf",
        ("q2", "d5", -math.inf),
        texts=("q2 Q0 d5 3 -Infinity t",),
        code="score_overflow",
        column=12,
    ),
    retrieved(
        "R6 1e999",
        ("q2", "d5", 10**999),
        texts=("q2 Q0 d5 3 1e999 t",),
        code="score_overflow",
        column=12,
    ),
    *(
        retrieved(
            f"R7 {text}",
            ("q2", "d5", text),
            texts=(f"q2 Q0 d5 3 {text} t",),
            code="score_not_number",
            column=12,
        )
        for text in ("abc", "0x1p3", "1_0", "1.2.3", "--1", "١")
    ),
    retrieved("R7 empty", texts=("q2 Q0 d5 3  t",), code="field_count"),
    retrieved(
        "R8", texts=("q2 Q0 d5 3 2,5 t",), code="score_not_number", column=12, hint="decimal point"
    ),
    retrieved(
        "R9", ("q2", "d5", 0.0), ("q2", "d6", -0.0), texts=("q2 Q0 d5 3 0.0 t", "q2 Q0 d6 4 -0.0 t")
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
    retrieved(
        "R14", ("q2", "d4", 0.1), texts=("q2 Q0 d4 3 0.1 t",), code="duplicate_doc", hint="keep one"
    ),
    retrieved(
        "R14 same score", ("q2", "d1", 0.4), texts=("q2 Q0 d1 3 0.4 t",), code="duplicate_doc"
    ),
    retrieved(
        "R14 far apart", ("q1", "d2", 0.1), texts=("q1 Q0 d2 5 0.1 t",), code="duplicate_doc"
    ),
    Entry(
        "R14 unjudged query",
        RUN + lines("q9 Q0 d1 1 2 t", "q9 Q0 d1 2 1 t"),
        "duplicate_doc",
        8,
        role="run",
        rows=(*RUN_ROWS, ("q9", "d1", 2), ("q9", "d1", 1)),
    ),
    retrieved("R15", ("q9", "d1", 2), texts=("q9 Q0 d1 1 2 t",), notes=("n_run_only",)),
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
    retrieved("R21", ("q2", "d5", 0.1), texts=("q2 Q0 d5 3 0.1 other",), notes=("multiple_tags",)),
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

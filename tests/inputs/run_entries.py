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
    texts: Sequence[str] = (),
    code: str = "",
    **others: object,
) -> Entry:
    """A good run with other lines after it, written plainly unless other texts are given."""
    given = texts or [f"{query} Q0 {doc} {at} {x} t" for at, (query, doc, x) in enumerate(rows, 3)]
    line = len(RUN_ROWS) + 1 if code else None
    all_rows = (*RUN_ROWS, *rows) if rows else None
    return Entry(id, RUN + lines(*given), code, line, role="run", rows=all_rows, **others)  # type: ignore[arg-type]


def run(id: str, *rows: Row, text: bytes = b"", **others: object) -> Entry:  # noqa: A002 - as above
    """A run, written plainly unless another text is given."""
    ranks: dict[object, int] = {}
    for query, doc, score in rows if not text else ():
        ranks[query] = ranks.get(query, 0) + 1
        text += lines(f"{query} Q0 {doc} {ranks[query]} {score!r} t")
    return Entry(id, text, role="run", rows=rows, **others)  # type: ignore[arg-type]


SCORE = {"code": "score_not_number", "column": 12}
ENTRIES = (
    retrieved("R1", texts=("q2 Q0 d5 3 0.1",), code="field_count", hint="tag"),
    Entry("R2", lines("q1\td2\t1", "q1\td1\t2"), "field_count", 1, hint="MS MARCO", role="run"),
    retrieved("R3", texts=("q2 Q0 d5 3 0.1 t extra",), code="field_count"),
    retrieved("R4", texts=("q2 Q0 d 5 3 0.1 t",), code="field_count", hint="blank in it"),
    retrieved(
        "R4 no tag", texts=("q2 Q0 d x 3rd 0.1",), **SCORE | {"column": 11}, hint="blank in it"
    ),
    retrieved(
        "R6 1e999", ("q2", "d5", 10**999), texts=("q2 Q0 d5 3 1e999 t",), code="score_overflow"
    ),
    *(
        retrieved(f"R7 {text}", ("q2", "d5", text), **SCORE)
        for text in ("0x1p3", "1_0", "1.2.3", "--1", "١")
    ),
    retrieved("R7 empty", texts=("q2 Q0 d5 3  t",), code="field_count"),
    retrieved("R8", texts=("q2 Q0 d5 3 2,5 t",), **SCORE, hint="decimal point"),
    retrieved("R9", ("q2", "d5", 0.0), ("q2", "d6", -0.0)),
    run("R10 denormal", ("q1", "d1", 2e-320), ("q1", "d2", 1e-320), ("q2", "d1", 1)),
    run("R10 one ulp", ("q1", "d1", NEXT), ("q1", "d2", 0.1), ("q2", "d1", 1)),
    run(
        "R10 many digits",
        *(("q1", "d2", NEXT), ("q1", "d1", 0.1), ("q2", "d1", 1)),
        text=lines(
            "q1 Q0 d2 1 0.10000000000000001387778780781445675529539585113525390626 t",
            "q1 Q0 d1 2 0.1000000000000000055511151231257827021181583404541015625 t",
            "q2 Q0 d1 1 1 t",
        ),
    ),
    run(
        "R11",
        *(("q1", "d2", 1), ("q1", "d1", 1), ("q2", "d1", 0), ("q2", "d4", 0)),
        notes=("tied_scores",),
    ),
    run("R12", *RUN_ROWS, text=ranked((2, 1, 3, 4, 1, 2)), notes=("rank_score_disagree",)),
    *(
        run(f"R13 {kind}", *RUN_ROWS, text=ranked(ranks), notes=("rank_irregular",))
        for kind, ranks in {
            "from 0": (0, 1, 2, 3, 0, 1),
            "again": (1, 2, 2, 3, 1, 1),
            "no number": ("-", "NA", "x", "1.5", "1e3", "9" * 30),
        }.items()
    ),
    retrieved("R14 same score", ("q2", "d1", 0.4), code="duplicate_doc", hint="keep one"),
    retrieved("R14 far apart", ("q1", "d2", 0.1), code="duplicate_doc"),
    Entry(
        "R14 unjudged query",
        RUN + lines("q9 Q0 d1 1 2 t", "q9 Q0 d1 2 1 t"),
        "duplicate_doc",
        8,
        role="run",
        rows=(*RUN_ROWS, ("q9", "d1", 2), ("q9", "d1", 1)),
    ),
    retrieved("R15", ("q9", "d1", 2), texts=("q9 Q0 d1 1 2 t",), notes=("n_run_only",)),
    run("R16", ("q2", "d1", 0.4), notes=("n_missing",)),
    *(
        run(name, *rows, code="no_common_queries", hint=hint, place="alone")
        for name, rows, hint in (
            ("R17", (("x1", "d1", 2), ("x2", "d1", 2)), "collection"),
            ("R18", (("00q1", "d1", 2),), "zeros"),
        )
    ),
    retrieved("R21", ("q2", "d5", 0.1), texts=("q2 Q0 d5 3 0.1 other",), notes=("multiple_tags",)),
    run("R24", ("q1", "d8", 2), ("q2", "d9", 1), notes=("all_unjudged",)),
    Entry("R26 blank", b"\n# nothing\n", "empty_input", role="run", place="alone"),
)

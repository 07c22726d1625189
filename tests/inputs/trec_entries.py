"""The catalogue of bad judgments, T1 to T47, and of bad runs, R1 to R26."""

from __future__ import annotations

import math
import re

from tests.inputs.entry import QRELS, QRELS_ROWS, RUN, RUN_ROWS, Entry, lines

LONG_ID = "x" * 1_000_000
HUGE = "9" * 40
OLD_MAC_LINES = 100_000

ODD_BLANKS = ("no\u00a0break", "line\u2028separator", "vertical\vtab", "file\u001cseparator")
ODD_SIGNS = (
    "right\u202eto-left",
    "zero\u200bwidth",
    "bell\u0007",
    "escape\u001b[31m",
    "\ufeffmark",
)
BIG_ENDIAN = b"\xfe\xff" + QRELS.decode().encode("utf-16-be")
PREFERENCES = lines("q1 0 0 d1 1", "q1 0 0 d2 2")
NFC, NFD = "caf\u00e9", "cafe\u0301"


def foreign(name, text, code, **others):
    """Something else that begins a file of judgments."""
    return Entry(name, text, code, 1, place="first", **others)


def judged(name, *rows, texts=(), code="", **others):
    """Good judgments with others after them, written plainly unless other texts are given."""
    texts = texts or [f"{query} 0 {doc} {grade}" for query, doc, grade in rows]
    line = len(QRELS_ROWS) + 1 if code else None
    all_rows = (*QRELS_ROWS, *rows) if rows else None
    return Entry(name, QRELS + lines(*texts), code, line, rows=all_rows, **others)


JUDGMENTS = (
    Entry("T2", b"\n  \n# nothing\n\t\n#\n", "empty_input", place="alone"),
    Entry("T3", QRELS[:-1], rows=QRELS_ROWS, place="last"),
    Entry("T4", QRELS.replace(b"\n", b"\r\n"), rows=QRELS_ROWS),
    Entry("T4 in one line", QRELS.replace(b"\n", b"\r\n", 1), rows=QRELS_ROWS),
    Entry("T5", QRELS.replace(b"\n", b"\r"), "line_ending", 1, 10, hint="tr"),
    Entry("T5 above the longest line", b"q1 0 d 1\r" * OLD_MAC_LINES * 2, "line_ending", 1, 9),
    foreign("T7 little", QRELS.decode().encode("utf-16"), "encoding", hint="iconv"),
    foreign("T7 big", BIG_ENDIAN, "encoding", hint="iconv"),
    Entry("T8", QRELS + b"q2 0 d\xff5 1\n", "encoding", 6, 7, hint="latin-1"),
    Entry("T8 cut character", QRELS + b"q2 0 d\xc3 1\n", "encoding", 6, 7),
    judged("T9", ("q2", "d\x005", 1), code="nul_byte", column=7),
    Entry("T9 above the longest line", QRELS + b"\0" * 1_500_000, "nul_byte", 6, 1, place="last"),
    judged("T10", texts=("q2 0 d5",), code="field_count", hint="blanks or tabs"),
    judged("T11", texts=("q2 0 d5 1 x",), code="field_count", hint="blank in it"),
    Entry("T13", QRELS.replace(b" ", b"\t  \t"), rows=QRELS_ROWS),
    Entry("T14", QRELS.replace(b"q1 ", b" \tq1 ").replace(b"\n", b" \t\n"), rows=QRELS_ROWS),
    judged("T15", ("q2", "d5", 1), texts=("", "", "q2 0 d5 1"), notes=("blank_lines",)),
    Entry("T16 first", b"# comment\n" + QRELS, notes=("comments",), rows=QRELS_ROWS),
    Entry("T16 last", QRELS + b"# comment", notes=("comments",), rows=QRELS_ROWS, place="last"),
    Entry("T16 two", QRELS + b"# one\n#\ttwo 3 4\n", notes=("comments",), rows=QRELS_ROWS),
    Entry("T16 of four fields", QRELS + lines("# 0 d1 1"), notes=("comments",), rows=QRELS_ROWS),
    judged("T17", ("#q1", "d1", 1), notes=("n_missing",)),
    judged("T18", ("q2", "msmarco_doc_00_0#1", 1)),
    judged("T20", ("q1", "d9", 1.9)),
    judged("T21", ("q1", "d9", 1.0)),
    judged(
        "T22",
        *(("q1", "d9", 1), ("q2", "d5", 1), ("q2", "d6", -0.0)),
        texts=("q1 0 d9 +1", "q2 0 d5 01", "q2 0 d6 -0"),
    ),
    judged("T23 underscore", ("q2", "d5", "1_000"), code="rel_not_number", column=9),
    judged("T23 Arabic", ("q2", "d5", "١"), code="rel_not_number", column=9),
    judged("T24", ("q1", "d9", -1), ("q2", "d5", -2), notes=("negative_rel",)),
    judged(
        "T25",
        *(("q3", "d1", -1), ("q3", "d2", -2)),
        notes=("negative_rel", "n_missing", "n_no_relevant"),
    ),
    judged("from 0 to 1", ("q1", "d9", 0.5), ("q2", "d5", 1e-9), notes=("fractional_rel",)),
    judged("T26 64 bits", ("q1", "d9", 2**63)),
    judged("T26 40 digits", ("q1", "d9", float(HUGE)), texts=(f"q1 0 d9 {HUGE}",)),
    judged("T26 too large", ("q2", "d5", 10**400), code="rel_out_of_range", column=9),
    judged("T27", ("q1", "d1", 2), notes=("duplicate_identical",)),
    Entry("T30", lines(*QRELS.decode().splitlines()[::-1]), rows=QRELS_ROWS[::-1]),
    judged("T31", ("q3", "d1", 0), notes=("n_missing", "n_no_relevant")),
    judged("T32", ("q2", LONG_ID, 1), code="id_length", hint="shorter"),
    judged("T32 of a query", (LONG_ID, "d1", 1), code="id_length"),
    judged("T36 case", ("q1", "D1", 1), notes=("ids_equal_after_normalisation",)),
    judged("T36 form", ("q1", NFC, 1), ("q1", NFD, 0), notes=("ids_equal_after_normalisation",)),
    judged("T37", *(("q1", doc, 1) for doc in ODD_BLANKS)),
    judged("T38", *(("q1", doc, 1) for doc in ODD_SIGNS)),
    foreign("T39", QRELS, "looks_like_qrels", hint="swapped", role="run"),
    foreign("T39 the other way", RUN, "looks_like_run", hint="swapped"),
    foreign("T40 page", b"<!DOCTYPE html>\n<html></html>\n", "looks_like_html", hint="download"),
    foreign("T40 page after a mark", b"\xef\xbb\xbf\n <html lang=en>\n", "looks_like_html"),
    foreign("T40 PDF", b"%PDF-1.7\n%\xe2\xe3\n", "not_text", hint="download"),
    foreign("T40 program", b"\x7fELF\x02\x01\x01\0\0", "not_text"),
    foreign("T41 xz", b"\xfd7zXZ\0\0\x04", "not_text", hint="unpack"),
    foreign("T41 zip", b"PK\x03\x04\x14\0", "not_text", hint="unpack"),
    Entry("T47", PREFERENCES, "unsupported_format", 1, hint="keep query"),
)


NEXT = math.nextafter(0.1, 1)


def ranked(ranks):
    """Write other ranks into the run."""
    given = iter(ranks)
    return re.sub(rb"(d\d) \d", lambda found: found[1] + f" {next(given)}".encode(), RUN)


def retrieved(name, *rows, texts=(), code="", **others):
    """A good run with other lines after it, written plainly unless other texts are given."""
    texts = texts or [f"{query} Q0 {doc} {at} {x} t" for at, (query, doc, x) in enumerate(rows, 3)]
    line = len(RUN_ROWS) + 1 if code else None
    all_rows = (*RUN_ROWS, *rows) if rows else None
    return Entry(name, RUN + lines(*texts), code, line, role="run", rows=all_rows, **others)


def run(name, *rows, text=b"", **others):
    """A run, written plainly unless another text is given."""
    ranks = {}
    for query, doc, score in rows if not text else ():
        ranks[query] = ranks.get(query, 0) + 1
        text += lines(f"{query} Q0 {doc} {ranks[query]} {score!r} t")
    return Entry(name, text, role="run", rows=rows, **others)


SCORE = {"code": "score_not_number", "column": 12}
RUNS = (
    retrieved("R1", texts=("q2 Q0 d5 3 0.1",), code="field_count", hint="tag"),
    Entry("R2", lines("q1\td2\t1", "q1\td1\t2"), "field_count", 1, hint="MS MARCO", role="run"),
    retrieved("R3", texts=("q2 Q0 d5 3 0.1 t extra",), code="field_count"),
    retrieved("R4", texts=("q2 Q0 d 5 3 0.1 t",), code="field_count", hint="blank in it"),
    retrieved(
        "R4 no tag", texts=("q2 Q0 d x 3rd 0.1",), **SCORE | {"column": 11}, hint="blank in it"
    ),
    retrieved("R6", ("q2", "d5", 10**999), texts=("q2 Q0 d5 3 1e999 t",), code="score_overflow"),
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

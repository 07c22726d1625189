"""The catalogue of bad tables in files: C1 to C20, J1 to J20, P1 to P16."""

from __future__ import annotations

import json
from functools import partial

import pyarrow as pa

from tests.inputs.entry import QRELS_ROWS, RUN_ROWS, Entry, lines, nested
from tests.inputs.tabled import parquet_of

HEADERS = {"qrels": ("query_id", "doc_id", "relevance"), "run": ("query_id", "doc_id", "score")}
COUNT = len(RUN_ROWS)
CSV = lines("query_id,doc_id,score", *(",".join(map(str, row)) for row in RUN_ROWS))
CSV_QRELS = lines("query_id,doc_id,relevance", *(",".join(map(str, row)) for row in QRELS_ROWS))
TSV = CSV.replace(b",", b"\t")
TWO_LINES = CSV.replace(b"doc_id", b'"doc_id\n"', 1)
NEXT_CSV = COUNT + 2
LONG = "x" * 1_100_000


def jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


JSON = jsonl([dict(zip(HEADERS["run"], row, strict=True)) for row in RUN_ROWS])
JSON_QRELS = jsonl([dict(zip(HEADERS["qrels"], row, strict=True)) for row in QRELS_ROWS])
GOOD_TEXTS = {
    "csv": {"qrels": CSV_QRELS, "run": CSV},
    "jsonl": {"qrels": JSON_QRELS, "run": JSON},
}
csv_file = partial(Entry, form="csv", role="run")
json_file = partial(Entry, form="jsonl", role="run")
parquet_file = partial(Entry, form="parquet", role="run")


def with_line(form, name, last, code="", *, added=(), role="run", start=None, **others):
    """An entry of a good text with a line after it."""
    start = GOOD_TEXTS[form][role] if start is None else start
    text = start + (last if isinstance(last, bytes) else lines(last))
    if code and "line" not in others:
        others["line"] = start.count(b"\n") + 1
    given = None if code else (*(RUN_ROWS if role == "run" else QRELS_ROWS), *added)
    return Entry(name, text, code, rows=given, role=role, form=form, **others)


csv = partial(with_line, "csv")
json_line = partial(with_line, "jsonl")


def ids(*names):
    return tuple(("q2", name, -number - 1.0) for number, name in enumerate(names))


def rows_of(names):
    return "\n".join(f"q2,{name},{-number - 1}" for number, name in enumerate(names))


TEXT_IDS = ("007", "1e5", "true", "NA", "null", "nan", "None", "9007199254740993")
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)")

DELIMITED = (
    csv_file("C1", CSV.partition(b"\n")[2], "columns", hint="name your columns"),
    csv_file("C1 blank", b"\n\n\r\n", "empty_input"),
    csv_file("C1 only", lines("query_id,doc_id,score"), "empty_input"),
    csv_file("C2", CSV.replace(b"doc_id", b"  doc_id ", 1), rows=RUN_ROWS),
    csv_file("C2 two lines", TWO_LINES, rows=RUN_ROWS),
    csv_file("C2 and a mistake", TWO_LINES + b"q2,d5,x", "score_not_number", NEXT_CSV + 1),
    csv_file("C2 case", CSV.replace(b"doc_id", b"Doc_ID", 1), rows=RUN_ROWS),
    csv_file("C2 misspelt", CSV.replace(b"score", b"scoer", 1), "columns", hint="'scoer'"),
    csv_file("C3", lines("query_id,doc_id,score,score", "q1,d1,1,2"), "columns", hint="rename"),
    csv("C4 short", "q2,d5", "field_count"),
    csv("C4 long", "q2,d5,1,2", "field_count"),
    csv("C4 cut off", b"q2,d5", "field_count", hint="cut off"),
    csv("C5", 'q2,"d5\n,""x""\r\n",-1\nq2,d6,-2', "unterminated_quote"),
    csv("C5 quote", 'q2,"d,5""",-1\nq2,d6,-2', added=(("q2", 'd,5"', -1.0), ("q2", "d6", -2.0))),
    csv("C5 later", '\nq2,d6,-2\n"q\r2",d5,-1', "unterminated_quote", line=NEXT_CSV + 2),
    csv("C5 quote within", 'q2,5" disk,-1\nq2,7" disk,-2', added=ids('5" disk', '7" disk')),
    csv("C6", 'q2,"d5,-1\nq2,d6,-2', "unterminated_quote"),
    csv("C6 at the end", b'q2,d5,"', "unterminated_quote"),
    csv("C6 far from its end", f'q2,"d5,-1\n{"q2,d6,-2" * 200_000}', "unterminated_quote"),
    csv_file("C7", CSV.replace(b",", b";"), "columns", 1, hint="semicolons"),
    csv_file("C7 tabs", TSV, "columns", 1, hint="tsv"),
    Entry("C7 commas", CSV, "columns", 1, hint="commas", form="tsv", is_named=True, role="run"),
    csv("C8 C9", rows_of(TEXT_IDS), added=ids(*TEXT_IDS)),
    csv("C8 empty quoted", 'q2,"",1', "missing_id"),
    csv("C10", "q2,1.2E+12,-1", added=ids("1.2E+12"), notes=("id_looks_scientific",)),
    csv("C11 thousands", 'q2,d5,"1,234.5"', "score_not_number"),
    csv("C11 comma", 'q2,d5,"2,5"', "score_not_number", hint="decimal point"),
    csv("C11 percent", "q2,d5,12%", "score_not_number", hint="digits"),
    csv("C11 blanks", "q2,d5, -1", added=(("q2", "d5", -1.0),)),
    csv("C11 overflow", "q2,d5,1e999", "score_overflow"),
    csv("C11 hexadecimal", "q2,d5,0x10", "score_not_number"),
    csv("C11 underscore", "q2,d5,1_0", "score_not_number"),
    csv("C12 quoted", 'q2,d5,""', "missing_score"),
    csv("C12 quoted later", 'q2,d5,0.5\nq2,d6,""', "missing_score", line=NEXT_CSV + 1),
    *(
        csv(f"C13 {text}", f"q2,d5,{text}", "rel_not_number", role="qrels")
        for text in ("true", "false", "yes", "NA", "nan")
    ),
    csv("C13 decimal", "q2,d5,1.0", added=(("q2", "d5", 1.0),), role="qrels"),
    csv_file(
        "C14",
        lines(",".join(f"c{number}" for number in range(1025)), "1" + ",1" * 1024),
        "columns",
        1,
        hint="keep",
    ),
    csv("C15 T9", b"q2,d\x005,1\n", "nul_byte"),
    csv_file("C15 T7", CSV.decode().encode("utf-16"), "encoding", 1, hint="iconv"),
    csv("C15 T8", b"q2,d\xff5,1\n", "encoding", column=5, hint="latin-1"),
    csv("C15 T8 cut off", b"q2,d5\xc3", "encoding", column=6),
    csv_file("C15 T5", CSV.replace(b"\n", b"\r"), "line_ending", 1, hint="tr"),
    csv_file("C15 T4", CSV.replace(b"\n", b"\r\n"), rows=RUN_ROWS),
    csv_file("C15 T3", CSV[:-1], rows=RUN_ROWS),
    csv("C15 T15", "\n\nq2,d5,-1", added=(("q2", "d5", -1.0),), notes=("blank_lines",)),
    csv("C15 T32", f"q2,{'x' * 5000},1", "id_length"),
    csv("C15 T33", f"q2,{LONG},1", "id_length"),
    csv("C16", rows_of(FORMULAS), added=ids(*FORMULAS)),
    csv("C18", "q1,d7,-1", added=(("q1", "d7", -1.0),)),
    csv("C19 judged", "q1,d1,2", added=(), role="qrels", notes=("duplicate_identical",)),
    csv_file(
        "C20",
        lines(
            "query_id,doc_id,score,time",
            *(f"{query},{doc},{score},2026-02-30T25:00" for query, doc, score in RUN_ROWS),
        ),
        rows=RUN_ROWS,
    ),
)


BY_QUERY = nested(RUN_ROWS)
LISTS = jsonl(
    {"query_id": query, "doc_id": [*docs], "score": [*docs.values()]}
    for query, docs in BY_QUERY.items()
)
OBJECTS = jsonl(
    {"query_id": query, "items": [{"doc_id": doc, "score": docs[doc]} for doc in docs]}
    for query, docs in BY_QUERY.items()
)
IN_ORDER = tuple(
    (query, doc, -rank) for query, docs in BY_QUERY.items() for rank, doc in enumerate(docs)
)
IN_RANK_ORDER = jsonl(
    {"query_id": query, "items": [{"doc_id": doc} for doc in docs]}
    for query, docs in BY_QUERY.items()
)


def with_score(number):
    return f'{{"query_id": "q2", "doc_id": "d5", "score": {number}}}'


def with_grade(number):
    return f'{{"query_id": "q2", "doc_id": "d5", "relevance": {number}}}'


def with_doc(text):
    return f'{{"query_id": "q2", "doc_id": {text}, "score": -1}}'


def with_items(text):
    return f'{{"query_id": "q3", "items": {text}}}'


def with_list(docs, scores):
    return json.dumps({"query_id": "q3", "doc_id": docs, "score": scores})


ONE = (("q2", "d5", -1.0),)

JSON_LINES = (
    json_file("J1", b"[" + JSON.replace(b"\n", b",") + b"{}]", "json_syntax", 1, hint="'.[]'"),
    json_file("J2", JSON.replace(b", ", b",\n"), "json_syntax", 1, hint="jq -c ."),
    json_line("J2 later", with_score("-1").replace(", ", ",\n"), "json_syntax", hint="jq -c ."),
    json_line("J2 two on a line", with_score("-1") + with_score("-2"), "json_syntax"),
    json_line("J3 trailing comma", with_score("-1,"), "json_syntax"),
    json_line("J3 comma between", with_score("-1") + ",", "json_syntax"),
    json_line("J3 comment", "// said\n" + with_score("-1"), "json_syntax"),
    json_line("J3 comment within", with_score("-1 /* said */"), "json_syntax"),
    json_line("J3 single quotes", with_score("-1").replace('"', "'"), "json_syntax"),
    json_line("J3 a number", "7", "json_syntax"),
    json_line("J3 a null", "null", "json_syntax"),
    json_line("J3 a null beside", with_score("-1") + " null", "json_syntax"),
    json_line("J3 a plus", with_score("+1"), "json_syntax"),
    json_line("J3 a zero first", with_score("01"), "json_syntax"),
    json_line("J5", with_score("1e400"), "score_overflow"),
    json_line("J5 grade", with_grade("-1e400"), "rel_out_of_range", role="qrels"),
    json_line("J6 id", with_doc("18446744073709551616"), "id_type"),
    *(
        json_line(f"J6 {digits}", with_grade(digits), added=(("q2", "d5", grade),), role="qrels")
        for digits, grade in (("9007199254740993", 2**53), ("18446744073709551616", 2.0**64))
    ),
    json_line("J7", with_score("-1").replace("}", ', "score": -1}'), "json_syntax"),
    json_line("J8", with_doc(r'"\ud800"'), "id_type"),
    json_line("J8 pair", with_doc(r'"\ud83d\ude00"'), added=(("q2", "\U0001f600", -1.0),)),
    json_line("J9 deeper", with_score(f'-1, "z": {"[" * 10**5}{"]" * 10**5}'), added=ONE),
    json_line("J10 mixed", with_doc("7"), "id_type"),
    json_line("J11 missing", '{"query_id": "q2", "score": 1}', "missing_id"),
    json_line("J11 empty", with_doc('""'), "missing_id"),
    json_line("J11 list", with_doc('["d5"]'), "id_type"),
    json_line("J11 object", with_doc('{"id": "d5"}'), "id_type"),
    json_line("J11 truth value for a score", with_score("true"), "score_not_number"),
    json_file("J12 lists", LISTS, rows=RUN_ROWS),
    json_file("J12 objects", OBJECTS, rows=RUN_ROWS),
    json_file("J12 in rank order", IN_RANK_ORDER, rows=IN_ORDER),
    json_line("J12 missing", '{"query_id": "q3"}', "missing_list", start=OBJECTS),
    json_line("J12 null", with_items("null"), "missing_list", start=OBJECTS),
    json_line("J12 empty", with_items("[]"), start=OBJECTS, notes=("empty_lists",)),
    json_line("J12 no list", with_items("7"), "json_type", start=OBJECTS),
    json_line("J12 lengths", with_list(["d1", "d2"], [1]), "length_mismatch", start=LISTS),
    json_line("J14 in a list", with_list(["d1", "d1"], [1, 2]), "duplicate_doc", start=LISTS),
    json_line("J16", with_score('-1, "unknown": 7'), added=ONE),
    json_line("J17 id", with_doc(f'"{"x" * 5000}"'), "id_length"),
    json_line("J17", with_score(f'-1, "z": "{"x" * 2_000_000}"'), added=ONE),
    json_file("J18 CRLF", JSON.replace(b"\n", b"\r\n"), rows=RUN_ROWS),
    json_line("J18 blank", f"\n  \n{with_score('-1')}", added=ONE, notes=("blank_lines",)),
    json_line("J18 indented", f"  {with_score('-1')}  ", added=ONE),
    json_file("J18 no end", JSON[:-1], rows=RUN_ROWS),
    json_file("J18 nothing but blanks", b"\n \n", "empty_input"),
    *(
        json_line(f"J19 {cut}", with_score("-1").encode()[:cut], "truncated_last_line")
        for cut in (1, 5, 12, 20, 40, 45)
    ),
    json_line("J20", with_doc(r'"\u0064\u0034"'), "duplicate_doc"),
    json_line("J20 key", with_score("-1").replace("doc_id", r"\u0064oc_id"), added=ONE),
    json_line("J20 T9", b'{"query_id": "q2", "doc_id": "d\x00"}\n', "nul_byte"),
    json_line("J20 T9 escaped", with_doc(r'"d\u0000"'), "nul_byte"),
)


def columns(rows=RUN_ROWS, role="run"):
    return {name: [row[number] for row in rows] for number, name in enumerate(HEADERS[role])}


def parquet(name, changes, code="", **others):
    """An entry of a good table with some columns changed."""
    others.setdefault("role", "run")
    if not code:
        others.setdefault("rows", RUN_ROWS)
    made = parquet_of(pa.table(columns() | dict(changes)))
    return Entry(name, made, code, form="parquet", **others)


CODED = pa.dictionary(pa.int32(), pa.string())
EIGHTHS = (3.0, 2.5, 2.0, 1.0, 0.5, 0.25)
IN_EIGHTHS = tuple((*row[:2], score) for row, score in zip(RUN_ROWS, EIGHTHS, strict=True))
DOCS = [row[1] for row in RUN_ROWS]
SCORES = [row[2] for row in RUN_ROWS]
GOOD = parquet_of(pa.table(columns()))
LARGE = parquet_of(
    pa.table(
        {"query_id": [f"q{n}" for n in range(9999)], "doc_id": ["d"] * 9999, "score": range(9999)}
    ),
    compression="zstd",
    write_page_checksum=True,
)
UNEQUAL = pa.table([["q1", "q2"], [["d1"], ["d2"]], [[1.0], [1.0, 2.0]]], names=HEADERS["run"])
TWICE = pa.table([*columns().values(), SCORES], names=[*columns(), "score"])
ODD = {"pandas": "cbuiltins\neval\n(S'1/0'\ntR.", "ARROW:x": "y"}
PARQUET = (
    parquet_file("P1 magic", b"PAR1", "parquet_invalid"),
    parquet_file("P1 a CSV", CSV, "parquet_invalid"),
    csv_file("P1 under another name", GOOD, "not_text", 1, hint="--format parquet"),
    Entry("P1 as TREC", GOOD, "not_text", 1, hint="--format parquet", role="run", place="alone"),
    parquet_file("P2", LARGE[:2000] + bytes([LARGE[2000] ^ 255]) + LARGE[2001:], "parquet_invalid"),
    *(
        parquet(f"P7 {kind}", {"doc_id": pa.array(DOCS).cast(kind)})
        for kind in (pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), CODED)
    ),
    parquet("P7 bytes", {"doc_id": [b"a", b"b", b"\xff", *[b"c"] * 3]}, "encoding", line=3),
    *(
        parquet(f"P8 {kind}", {"score": pa.array(EIGHTHS).cast(kind)}, rows=IN_EIGHTHS)
        for kind in (pa.float16(), pa.float32(), pa.decimal128(9, 3))
    ),
    parquet("P8 inexact", {"score": [2**53 + 1, 5, 4, 3, 2, 1]}, "inexact_number", line=1),
    parquet_file("P10", parquet_of(UNEQUAL), "length_mismatch", 2),
    parquet("P13", {"__index_level_0__": list(range(COUNT))}),
    parquet_file("P13 twice", parquet_of(TWICE), "columns", hint="rename"),
    parquet_file(
        "P16", parquet_of(pa.table(columns()).replace_schema_metadata(ODD)), rows=RUN_ROWS
    ),
)

ENTRIES = (*DELIMITED, *JSON_LINES, *PARQUET)

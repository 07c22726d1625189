"""The same odd value has the same verdict in a dict, in rows, in columns and in frames: G6."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import struct

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope import Rankings

from tests.inputs.entry import nested
from tests.inputs.tabled import columns_of
from tests.tabular import write_table

PLAIN = {
    "qrels": [("q", "a", 1), ("q", "b", 2)],
    "run": [("q", "a", 2.5), ("q", "b", 1.5)],
}


def pandas_of(rows, role):
    """Return a frame that holds the objects as they are."""
    columns = columns_of(rows, role)
    return pd.DataFrame({name: pd.Series(columns[name], dtype=object) for name in columns})


def polars_of(rows, role):
    """Return a frame that holds the objects as they are."""
    return pl.DataFrame(
        [
            pl.Series(name, column, dtype=pl.Object)
            for name, column in columns_of(rows, role).items()
        ]
    )


FORMS = {
    "dict": lambda rows, _: nested(rows),
    "rows": lambda rows, _: rows,
    "iterator": lambda rows, _: iter(rows),
    "columns": columns_of,
    "pandas": pandas_of,
    "polars": polars_of,
}


def verdict(call):
    """Return the code of the refusal and its row, or the values."""
    try:
        return call().to_dict()
    except rs.errors.RankscopeError as error:
        is_said = error.message.startswith("expected") and error.hint
        return error.code if is_said else "says too little", error.line


def of_pairs(form, role, rows):
    """Evaluate with rows in one role, as judgments and run, which all ways must take alike."""
    given = {
        each: FORMS[form](rows if each == role else PLAIN[each], each) for each in ("qrels", "run")
    }
    found = verdict(lambda: rs.evaluate(given["qrels"], given["run"], "nDCG"))
    if form != "iterator":
        ranked = verdict(lambda: Rankings.from_run(given["qrels"], given["run"]).evaluate("nDCG"))
        assert ranked == found
    return found


KINDS = {
    "text": ["x", "1", b"1", 1j, fractions.Fraction(1, 3),
             np.datetime64("2026"), np.timedelta64(1, "s"), dt.date(2026, 1, 1)],
    "missing": [None, pd.NA, pd.NaT],
    "nan": [float("nan"), np.float32("nan"), decimal.Decimal("nan"), decimal.Decimal("snan")],
    "infinite": [float("inf"), np.float32("-inf"), 10**400, -(10**400), np.longdouble("1e4000"),
                 decimal.Decimal("inf"), decimal.Decimal("-1e400")],
    "rounded": [2**53 + 1, np.uint64(2**64 - 1), np.longdouble(1) / 3,
                decimal.Decimal(2**53 + 1), decimal.Decimal("0.12345678901234567890"),
                decimal.Decimal("1e-400")],
    "good": [2**70, -0.0, np.int8(3), np.float16(0.25), np.longdouble(0.5),
             decimal.Decimal("0.1"), decimal.Decimal(2**70), decimal.Decimal("1E+2")],
}  # fmt: skip
NUMBERS = [(number, kind) for kind, numbers in KINDS.items() for number in numbers]
CODES = {
    "qrels": {
        "text": "rel_not_number",
        "missing": "missing_relevance",
        "nan": "rel_not_number",
        "infinite": "rel_out_of_range",
        "rounded": "inexact_number",
    },
    "run": {
        "text": "score_not_number",
        "missing": "missing_score",
        "nan": "score_nan",
        "infinite": "score_overflow",
        "rounded": "inexact_number",
    },
}


def show(value):
    is_long = isinstance(value, int) and abs(value) > 2**100
    return "long" if is_long else f"{type(value).__name__}-{value!r:.20}"


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize(("number", "kind"), NUMBERS, ids=show)
def test_a_number_has_one_verdict(number, kind, role):
    rows = [PLAIN[role][0], ("q", "b", number)]
    found = {form: of_pairs(form, role, rows) for form in FORMS}
    code = CODES[role].get(kind)
    assert isinstance(found["dict"], dict if code is None else tuple)
    for form, outcome in found.items():
        line = None if form == "dict" else 2
        assert outcome == (found["dict"] if code is None else (code, line))


@pytest.mark.parametrize(("number", "kind"), NUMBERS, ids=show)
def test_a_score_has_the_same_verdict_in_a_table_of_both(number, kind):
    rows = [PLAIN["run"][0], ("q", "b", number)]
    table = columns_of(rows, "run") | {"relevance": [1, 2]}
    expected = of_pairs("rows", "run", rows)
    assert isinstance(expected, dict if kind == "good" else tuple)
    for given in (table, pandas_of(rows, "run").assign(relevance=[1, 2])):
        made = verdict(
            lambda given=given: Rankings.from_table(given, ties="doc_id").evaluate("nDCG")
        )
        assert made == expected


CODES_OF_IDS = {
    "id_type": [1.5, True, np.True_, ("b",), np.float64(7)],
    "missing_id": [None, pd.NA, pd.NaT, "", np.str_("")],
    "surrogate": ["\ud800", "b\udfff"],
    "nul_byte": ["b\0", "\0"],
    "id_length": ["x" * 4097, "é" * 2049],
    "": ["b", "a b", "é", np.str_("b"), "007", "NA", "nan", "None"],
}
IDS = [(odd, code) for code, ids in CODES_OF_IDS.items() for odd in ids]


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("odd", "code"), IDS, ids=lambda value: ascii(value)[:30])
def test_an_id_has_one_verdict(odd, code, place, role):
    changed = list(PLAIN[role][1])
    changed[place] = odd
    rows = [PLAIN[role][0], tuple(changed)]
    found = {form: of_pairs(form, role, rows) for form in FORMS}
    for form, outcome in found.items():
        line = None if form == "dict" else 2
        assert outcome == ((code, line) if code else found["dict"])


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("odd", [b"b", np.datetime64("2026-01-01")], ids=ascii)
def test_an_id_of_another_type_is_its_text_in_objects_and_refused_in_columns(odd, role):
    rows = [PLAIN[role][0], ("q", odd, 2)]
    as_text = [PLAIN[role][0], ("q", odd.decode() if isinstance(odd, bytes) else str(odd), 2)]
    for form in FORMS:
        is_column = form in {"columns", "pandas", "polars"}
        expected = ("id_type", 2) if is_column else of_pairs(form, role, as_text)
        assert of_pairs(form, role, rows) == expected


@pytest.mark.parametrize(("number", "kind"), NUMBERS, ids=show)
def test_a_score_has_the_same_verdict_beside_integers_as_ids(number, kind):
    qrels, run = {"q": {7: 1, 8: 0}}, {"q": {8: 1.5, 7: number}}
    found = verdict(lambda: rs.evaluate(qrels, run, "AP"))
    assert isinstance(found, dict) if kind == "good" else found == (CODES["run"][kind], None)


@pytest.mark.parametrize(
    ("odd", "code"), [*(pair for pair in IDS if pair[1]), ({"id": "b"}, "id_type")], ids=ascii
)
def test_an_id_in_a_list_has_that_verdict(odd, code):
    plain, changed = {"q": ["a"]}, {"q": ["a", odd]}
    for qrels, run in ((changed, plain), (plain, changed)):
        assert verdict(lambda given=(qrels, run): rs.evaluate(*given, "AP")) == (code, None)


@pytest.mark.parametrize("role", ["qrels", "run"])
def test_integers_are_the_same_ids_everywhere(role):
    rows = [(7, 10, 1), (7, 9, 1), (8, 9, 0)]
    text = [(str(query), str(doc), number) for query, doc, number in rows]
    other = "run" if role == "qrels" else "qrels"
    for make in FORMS.values():
        for make_other in FORMS.values():
            given = {role: make(rows, role), other: make_other(text, other)}
            found = rs.evaluate(given["qrels"], given["run"], ["nDCG", "RR"])
            values = {str(query): value for query, value in found.to_dict().items()}
            assert values == rs.evaluate(text, text, ["nDCG", "RR"]).to_dict()


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_an_error_says_which_of_two_tables_is_meant(form):
    make = FORMS[form]
    for role, other in (("qrels", "run"), ("run", "qrels")):
        rows = [("q", "b", "x")]
        lacking = {"qrels": ["query_id", "relevance"], "run": ["query_id", "doc_id"]}[role]
        for given in (make(rows, role), make(PLAIN[role], role)[lacking]):
            both = {role: given, other: make(PLAIN[other], other)}
            with pytest.raises(rs.InputError) as caught:
                rs.evaluate(both["qrels"], both["run"], "RR")
            assert caught.value.file == role


PLAIN_ROWS = pa.table(
    {
        "query_id": ["q0", "q0", "q1"],
        "doc_id": ["a", "b", "c"],
        "relevance": [1, 0, 2],
        "score": [1.0, 2.0, 3.0],
    }
)


def replace(column, values):
    """The plain table with another column."""
    return PLAIN_ROWS.set_column(PLAIN_ROWS.schema.get_field_index(column), column, values)


TIMED = {
    "PyArrow": lambda _, table: table,
    "batches": lambda _, table: table.to_reader(),
    "mapping": lambda _, table: dict(zip(table.column_names, table.columns, strict=True)),
    "pandas": lambda _, table: table.to_pandas(),
    "pandas of Arrow": lambda _, table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda _, table: pl.from_arrow(table),
    "lazy Polars": lambda _, table: pl.from_arrow(table).lazy(),
    "Parquet": lambda folder, table: write_table(table, folder / "table.parquet"),
    "Arrow": lambda folder, table: write_table(table, folder / "table.arrow"),
}
FAR = 10**17
TIMES = {
    "timestamp": pa.array([FAR, 0, None], pa.timestamp("ms")),
    "timestamp with a zone": pa.array([FAR, 0, -FAR], pa.timestamp("ms", "UTC")),
    "timestamp near": pa.array([0, 1, 2], pa.timestamp("us")),
    "nanoseconds": pa.array([0, 1, 2], pa.timestamp("ns")),
    "date": pa.array([2**31 - 1, 0, 1], pa.int32()).cast(pa.date32()),
    "duration": pa.array([FAR, 0, 1], pa.duration("ms")),
}
NAMED = {"date": "date|object", "duration": "duration|timedelta"}


@pytest.mark.parametrize("form", TIMED)
@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize(
    ("column", "code"), [("score", "score_not_number"), ("relevance", "rel_not_number")]
)
def test_times_are_no_numbers(tmp_path, column, code, kind, form):
    if kind == "date" and form == "pandas":
        pytest.skip("pandas has no column of such dates")
    table = TIMED[form](tmp_path, replace(column, TIMES[kind]))
    said = NAMED.get(kind, "timestamp|datetime64")
    with pytest.raises(
        rs.errors.FormatError, match=f"{column} as numbers, found ({said})"
    ) as raised:
        rs.evaluate(table, ["nDCG@10"])
    assert raised.value.code == code
    assert raised.value.file == (str(table) if form in {"Parquet", "Arrow"} else "table")


@pytest.mark.parametrize("form", TIMED)
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_times_are_ids_however_far_they_are(tmp_path, column, form):
    for unit in ("s", "ms"):
        if unit == "s" and form in {"Polars", "lazy Polars", "Parquet"}:
            continue  # these have no seconds
        ids = pa.array([FAR, 0, -FAR], pa.timestamp(unit))
        table = TIMED[form](tmp_path, replace(column, ids))
        found, expected = (
            rs.evaluate(one, "nDCG@10").per_query("nDCG@10").tolist()
            for one in (table, replace(column, pa.array(["x", "y", "z"])))
        )
        assert found == expected


def spoil(texts):
    """Texts that PyArrow takes for UTF-8."""
    ends = [sum(map(len, texts[:count])) for count in range(len(texts) + 1)]
    offsets = pa.py_buffer(struct.pack(f"<{len(ends)}i", *ends))
    return pa.StringArray.from_buffers(len(texts), offsets, pa.py_buffer(b"".join(texts)))


BAD = spoil([b"x", b"x\xff", b"y"])


@pytest.mark.parametrize("form", ["PyArrow", "batches", "mapping", "Parquet", "Arrow"])
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
@pytest.mark.parametrize(
    "values",
    [
        BAD,
        BAD.cast(pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), BAD),
    ],
    ids=["text", "large text", "dictionary"],
)
def test_text_that_is_no_utf_8_is_refused_with_its_column(tmp_path, column, values, form):
    table = TIMED[form](tmp_path, replace(column, values))
    with pytest.raises(
        rs.errors.FormatError, match=rf"column (in )?{column}\b.*UTF8.*index 1"
    ) as raised:
        rs.evaluate(table, ["nDCG@10"])
    if form in {"Parquet", "Arrow"}:
        assert raised.value.file == str(table)


@pytest.mark.parametrize("is_scattered", [False, True])
def test_a_gain_that_overflows_is_an_error_of_the_file_in_whatever_order_its_rows_are(
    tmp_path, *, is_scattered
):
    rows = 1 << 17  # the core is given half of them at once
    queries = [f"q{row % 2 if is_scattered else row // (rows // 2)}" for row in range(rows)]
    grades = [0.0] * (rows - 1) + [2000.0]
    columns = {"query_id": queries, "relevance": grades, "score": [*map(float, range(rows))]}
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(columns), path)
    overflows = "nDCG(gain='exp2')@5"
    for evaluate in (
        lambda: rs.evaluate(path, overflows),
        lambda: rs.Rankings.from_table(path).evaluate(overflows),
    ):
        with pytest.raises(rs.errors.MeasureError) as raised:
            evaluate()
        assert (raised.value.code, raised.value.file) == ("gain_overflow", str(path))

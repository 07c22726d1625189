"""Python objects as judgments and runs: D1 to D12 of the catalogue."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import os
import types
import uuid
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st

from tests.generated import examples
from tests.inputs.entry import QRELS_ROWS, RUN_ROWS, nested
from tests.inputs.outcome import MEASURES, Outcome, expected_values, outcome_of
from tests.inputs.tabled import columns_of
from tests.refusals import refused
from tests.tabular import enter

JUDGED = nested(QRELS_ROWS)
LISTS = nested(RUN_ROWS)
ROLES = ("qrels", "run")
PLAIN = {"qrels": JUDGED, "run": LISTS}
ROWS = {"qrels": QRELS_ROWS, "run": RUN_ROWS}
EXPECTED = expected_values(QRELS_ROWS, RUN_ROWS)


def evaluate(role, odd):
    """Evaluate with something odd in one role; lists in memory must have the same verdict."""
    qrels, run = (odd, LISTS) if role == "qrels" else (JUDGED, odd)
    found = outcome_of(lambda: rs.evaluate(qrels, run, MEASURES))
    if not isinstance(odd, collections.abc.Iterator):
        ranked = outcome_of(lambda: rs.Rankings.from_run(qrels, run).evaluate(MEASURES))
        assert ranked == found
    return found


def check_refused(found, code, place, said=""):
    """Hold an error against what it must say."""
    assert found.code == code, found
    assert place in found.location
    assert found.message.startswith("expected")
    assert said in found.message
    assert found.hint
    assert not found.by_query


def test_judgments_without_a_document_are_refused():
    check_refused(evaluate("qrels", {"q1": {}}), "empty_input", "qrels")


class Loud(int):
    """An integer that prints as something else."""

    def __str__(self):
        return "loud"

    __repr__ = __str__


def test_an_integer_id_is_its_digits_whatever_its_class_prints():
    assert rs.read_qrels([(Loud(7), "d", 1)]).query_ids == ["7"]
    assert rs.read_qrels([(-(10**30), "d", 1)]).query_ids == [str(-(10**30))]


@pytest.mark.parametrize("role", ROLES)
def test_an_integer_and_its_text_are_one_id(role):
    for odd in ({7: {"d1": 1}, "7": {"d2": 1}}, {7: {}, "7": {}, "q1": {"d1": 1}}):
        check_refused(evaluate(role, odd), "duplicate_query", role, "`7` again")
    code = {"qrels": "duplicate_conflict", "run": "duplicate_doc"}[role]
    check_refused(evaluate(role, {"q1": {7: 1, "7": 2}}), code, role, "`7`")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("odd", [10**4096, 10**10_000], ids=["4097 digits", "10001 digits"])
def test_an_integer_of_too_many_digits_is_refused(role, odd):
    """Other ids have the same verdict in all forms; columns have no such integers."""
    check_refused(evaluate(role, {**PLAIN[role], odd: {"d1": 1.0}}), "id_length", role)
    check_refused(evaluate(role, [*ROWS[role], ("q3", odd, 1)]), "id_length", role)


def test_the_longest_id_is_read():
    for longest in ("x" * 4096, "é" * 2048, 10**4095):
        lists = {longest: {longest: 1}}
        assert rs.evaluate(lists, lists, "RR")["RR"] == 1


class Text(str):
    """A text that prints as something else."""

    __slots__ = ()

    def __str__(self):
        return "other"


@pytest.mark.parametrize("kind", [Text, np.str_])
def test_kinds_of_text_are_their_text(kind):
    for role in ROLES:
        odd = nested((kind(query), kind(doc), number) for query, doc, number in ROWS[role])
        assert evaluate(role, odd) == Outcome(EXPECTED)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("odd", [{}, np.array([1, 2]), np.str_("1"), np.complex128(1), object()])
def test_an_object_is_no_grade_and_no_score(role, odd):
    """Other values have the same verdict in all forms."""
    code = {"qrels": "rel_not_number", "run": "score_not_number"}[role]
    check_refused(evaluate(role, {"q1": {"d1": 1.0, "d2": odd}}), code, role)


@pytest.mark.parametrize("truth", [True, False, np.True_, np.False_, np.array(True)], ids=repr)
def test_a_truth_value_is_a_grade_of_1_or_0_and_no_score(truth):
    plain = {"q1": {"d1": 1.0, "d2": float(bool(truth))}}
    expected = evaluate("qrels", plain)
    assert evaluate("qrels", {"q1": {"d1": 1.0, "d2": truth}}) == expected
    assert evaluate("qrels", [("q1", "d1", 1.0), ("q1", "d2", truth)]) == expected
    check_refused(evaluate("run", {"q1": {"d1": 1.0, "d2": truth}}), "score_not_number", "run")


class Indexed(NamedTuple):
    """A row as a data frame gives it with its index."""

    row: int
    query_id: int
    doc_id: int
    relevance: int


def test_rows_of_many_kinds_are_read():
    rows = RUN_ROWS
    many = [
        list(rows),
        tuple(rows),
        [list(row) for row in rows],
        [collections.deque(row) for row in rows],
        dict.fromkeys(rows).keys(),
        collections.deque(rows),
        pd.DataFrame(list(rows)).itertuples(index=False),
        zip(*zip(*rows, strict=True), strict=True),
        (row for row in rows),
    ]
    for each in many:
        assert evaluate("run", each) == Outcome(EXPECTED)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("row", "found"),
    [
        (("q1", "d1"), "tuple of 2"),
        (("q1", "0", "d1", 1), "tuple of 4"),
        (("q1", "Q0", "d1", 1, 1.0, "t"), "tuple of 6"),
        (Indexed(0, 1, 2, 1), "Indexed of 4"),
        ((), "tuple of 0"),
        ("q1d", "str of 3"),
        (b"q1d", "bytes of 3"),
        (bytearray(b"q1d"), "bytearray of 3"),
        ({"query": "q1", "doc": "d1", "grade": 1}, "dict of 3"),
        ({"q1", "d1", 1}, "set of 3"),
        (np.array([1, 2, 3]), "ndarray of 3"),
        (7, "int"),
        (None, "NoneType"),
    ],
)
def test_a_row_of_another_shape_is_refused(role, row, found):
    refused = evaluate(role, [("q1", "d1", 1), row])
    check_refused(refused, "row_shape", role, f"found {found}")
    assert refused.line == 2


@pytest.mark.parametrize("role", ROLES)
def test_what_is_neither_file_nor_mapping_nor_rows_is_refused(role):
    for odd in (
        {("q1", "d1", 1)},
        frozenset({("q1", "d1", 1)}),
        7,
        1.5,
        object(),
        bytearray(b"q1 0 d1 1"),
        memoryview(b"q1 0 d1 1"),
        pd.DataFrame(list(ROWS[role])).to_numpy(),
        open(__file__, encoding="utf-8"),  # noqa: PTH123, SIM115 - closed below
        len,
    ):
        check_refused(evaluate(role, odd), "input_type", role, type(odd).__name__)
        getattr(odd, "close", lambda: None)()


@pytest.mark.parametrize(
    "kind",
    [
        collections.OrderedDict,
        lambda of: collections.defaultdict(dict, of),
        collections.UserDict,
        collections.ChainMap,
        types.MappingProxyType,
        pd.Series,
    ],
)
def test_mappings_of_every_kind_are_read(kind):
    for role in ROLES:
        odd = kind({query: kind(docs) for query, docs in PLAIN[role].items()})
        assert evaluate(role, odd) == Outcome(EXPECTED)
    assert rs.evaluate(kind({"q": {"b"}}), kind({"q": ["a", "b"]}), "RR")["RR"] == 0.5


class EvilError(Exception):
    """What must come out as it went in."""


def evil(*_):
    raise EvilError


EVIL = {
    "items": type("Items", (dict,), {"items": evil}),
    "iterator of items": type("Iterator", (dict,), {"items": lambda _: map(evil, [1])}),
    "keys": type("Keys", (), {"items": dict, "keys": property(evil)}),
    "rows": type("Rows", (), {"__iter__": evil}),
    "next row": type("NextRow", (), {"__iter__": lambda _: map(evil, [1])}),
    "length of a row": lambda: [type("Length", (list,), {"__len__": evil})()],
    "field of a row": lambda: [type("Field", (list,), {"__getitem__": evil})([1, 2, 3])],
    "index of an id": lambda: [(type("Index", (), {"__index__": evil})(), "d1", 1)],
    "index of a number": lambda: [("q1", "d1", type("Index", (), {"__index__": evil})())],
    "path": type("Path", (os.PathLike,), {"__fspath__": evil}),
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("where", EVIL)
def test_an_error_of_the_callers_code_comes_out_unchanged(role, where):
    odd = EVIL[where]()
    qrels, run = (odd, LISTS) if role == "qrels" else (JUDGED, odd)
    with pytest.raises(EvilError):
        rs.evaluate(qrels, run, "AP")


def test_a_mapping_that_changes_while_it_is_read_is_refused_by_itself():

    class Growing(dict):
        def items(self):
            for entry in super().items():
                self[len(self)] = {}
                yield entry

    with pytest.raises(RuntimeError, match="changed size during iteration"):
        rs.evaluate(Growing({"q1": {"d1": 1}}), {"q1": {"d1": 1.0}}, "AP")


def test_a_mapping_may_be_changed_by_what_it_holds():
    """What stood there when it was read is what counts."""
    run = {}

    class Emptying(dict):
        def items(self):
            run.clear()
            return super().items()

    run.update({"q1": Emptying(d1=1.0), "q2": {"d1": 1.0}})
    found = rs.evaluate({"q1": {"d1": 1}, "q2": {"d1": 1}}, run, "RR")
    assert found["RR"] == 1
    assert run == {}


def test_items_that_are_no_pairs_are_refused():
    class Odd(dict):
        def items(self):
            return ["q1"]

    check_refused(evaluate("run", Odd()), "not_a_mapping", "run", "whose items are pairs")


def test_reading_leaves_an_input_as_it_was():
    qrels, run = nested(QRELS_ROWS), nested(RUN_ROWS)
    rs.evaluate(qrels, run, MEASURES)
    assert (qrels, run) == (nested(QRELS_ROWS), nested(RUN_ROWS))


BERLIN = dt.timezone(dt.timedelta(hours=1))
TEXTS = {
    "dates": {dt.date(2026, 1, 2): "2026-01-02", dt.date(999, 12, 31): "0999-12-31"},
    "times": {
        dt.datetime(2026, 1, 2, 3, 4, 5): "2026-01-02T03:04:05",  # noqa: DTZ001 - without a zone
        dt.datetime(2026, 1, 2, 3, 4, 0): "2026-01-02T03:04:00",  # noqa: DTZ001 - as above
        dt.datetime(2026, 1, 2, 3, 4, 5, 60_000): "2026-01-02T03:04:05.06",  # noqa: DTZ001 - as above
    },
    "times with a zone": {
        dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC): "2026-01-02T03:04:05Z",
        dt.datetime(2026, 1, 2, 0, 4, 5, 1, tzinfo=BERLIN): "2026-01-01T23:04:05.000001Z",
    },
    "UUIDs": {
        uuid.UUID(int=1): "00000000-0000-0000-0000-000000000001",
        uuid.UUID(int=2**127): "80000000-0000-0000-0000-000000000000",
    },
    "decimals": {
        decimal.Decimal("1E-7"): "0.0000001",
        decimal.Decimal("1.50"): "1.5",
        decimal.Decimal("2.00"): "2",
        decimal.Decimal(100): "100",
        decimal.Decimal("-0.25"): "-0.25",
        decimal.Decimal("0E-9"): "0",
        decimal.Decimal("0.00"): "0",
    },
    "integers beyond 63 bits": {2**63 + 1: str(2**63 + 1), 2**64 - 1: str(2**64 - 1)},
    "integers beyond 64 bits": {2**64: str(2**64), -(2**63) - 1: str(-(2**63) - 1)},
    "bytes": {b"d1": "d1", "é".encode(): "é"},
    "integers of NumPy": {np.int64(-1): "-1", np.int64(2**63 - 1): "9223372036854775807"},
}


def list_texts(column):
    """Return the texts of the queries of a table."""
    rows = range(len(column))
    table = {"query_id": column, "relevance": [1 for _ in rows], "score": [1.0 for _ in rows]}
    return list(rs.Rankings.from_table(table).query_texts)


def spell(value):
    """Return the text of a query of a dictionary."""
    [text] = rs.Rankings.from_run({value: ["d"]}, {value: ["d"]}).query_texts
    return text


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_time_has_one_text_in_every_unit_and_keeps_nanoseconds(unit):
    texts = ["2026-01-02T03:04:00", "2026-01-02T03:04:10"]
    values = np.array(texts, f"datetime64[{unit}]")
    for column in (values, pd.Series(values), pa.array(values), list(values)):
        assert list_texts(column) == texts
    zoned = pa.array(values).cast(pa.timestamp(unit, "Europe/Berlin"))
    assert list_texts(zoned) == [f"{text}Z" for text in texts]
    assert list_texts(np.array(["2026-01-02"], "datetime64[D]")) == ["2026-01-02"]
    moment = pd.Timestamp("2026-01-02T03:04:05.123456789")
    for column in (pd.Series([moment]), [moment], pa.array([moment.value], pa.timestamp("ns"))):
        assert list_texts(column) == ["2026-01-02T03:04:05.123456789"]


BILLION = 10**9


@given(
    st.decimals(-BILLION, BILLION, places=4),
    st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 1, 1)),  # noqa: DTZ001 - without a zone
)
@examples(50)
def test_values_have_the_same_text_alone_and_in_a_column(number, time):
    zoned = time.replace(tzinfo=dt.UTC)
    assert decimal.Decimal(spell(number)) == number
    for value, kind in (
        (number, pa.decimal128(20, 4)),
        (time, pa.timestamp("us")),
        (zoned, pa.timestamp("us", "UTC")),
    ):
        assert list_texts(pa.array([value], kind)) == [spell(value)]


@pytest.mark.parametrize("kind", TEXTS)
def test_every_kind_of_input_joins_with_its_text(kind, tmp_path):
    ids = list(TEXTS[kind])
    first, last = ids[0], ids[-1]
    assert {value: spell(value) for value in ids} == TEXTS[kind]
    rows = [(first, last, 1.0), (first, b"x" if kind == "bytes" else first, 2.0)]
    columns = columns_of(rows, "run")
    runs = [
        {first: {doc: score for _, doc, score in rows}},
        {first: [doc for _, doc, _ in reversed(rows)]},
        {first: [(doc, score) for _, doc, score in rows]},
        rows,
        iter(rows),
        columns,
        {name: np.array(cells) for name, cells in columns.items()},
        pd.DataFrame(columns),
        [dict(zip(columns, row, strict=True)) for row in rows],
    ]
    if not kind.startswith("integers beyond"):  # which Arrow doesn't have
        runs += [enter(form, columns, tmp_path) for form in ("polars", "table", "parquet")]
    text = {TEXTS[kind][first]: {TEXTS[kind][last]: 1}}
    for run in runs:
        assert rs.evaluate(text, run, "RR")["RR"] == 0.5
    by_type = {first: {last: 1}}
    shown = {TEXTS[kind][first]: ["other", TEXTS[kind][last]]}
    for judged in (by_type, {first: {last}}, [(first, last, 1)]):
        assert rs.evaluate(judged, shown, "RR")["RR"] == 0.5


@pytest.mark.parametrize("value", [1.0, True, dt.time(1), None, [], decimal.Decimal("NaN"), pd.NaT])
def test_other_values_are_no_ids(value):
    for run in ([("q", value, 1.0)], {"query_id": ["q"], "doc_id": [value], "score": [1]}):
        with pytest.raises(rs.InputError):
            rs.evaluate({"q": {"d": 1}}, run, "RR")


def test_missing_times_are_refused_with_their_row(tmp_path):
    table = pa.table({"query_id": pa.array([0, None], pa.timestamp("us")), "relevance": [1, 0]})
    pq.write_table(table.append_column("score", [[1, 0]]), tmp_path / "table.parquet")
    assert refused(lambda: rs.evaluate(tmp_path / "table.parquet", "AP"), "missing_id").line == 2
    for column in (
        pd.Series(pd.to_datetime(["2026-01-01", None])),
        pa.array([dt.date(2026, 1, 1), None]),
        [dt.date(2026, 1, 1), None],
    ):
        error = refused(lambda column=column: list_texts(column), "missing_id")
        assert error.line == 2


def test_ids_that_become_one_text_are_refused():
    judged, shown = {"q": {"a": 1}}, {"q": {b"a": 1.0, "a": 2.0}}
    refused(lambda: rs.evaluate(judged, shown, "RR"), "duplicate_doc")
    refused(lambda: rs.evaluate({"q": {b"a": 1, "a": 2}}, judged, "RR"), "duplicate_conflict")
    refused(lambda: rs.evaluate({b"q": {"a": 1}, "q": {"a": 1}}, judged, "RR"), "duplicate_query")
    refused(lambda: rs.evaluate({b"\xff": {"a": 1}}, {"q": ["a"]}, "RR"), "encoding")
    huge = decimal.Decimal("1E+5000")
    refused(lambda: rs.evaluate({huge: {"a": 1}}, {"q": ["a"]}, "RR"), "id_length")

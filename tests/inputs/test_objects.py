"""Python objects as judgments and runs: D1 to D12 of the catalogue."""

from __future__ import annotations

import collections
import os
import types
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pytest
import rankscope as rs

from tests.inputs.entry import QRELS_ROWS, RUN_ROWS, nested
from tests.inputs.outcome import MEASURES, Outcome, expected_values, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JUDGED = nested(QRELS_ROWS)
LISTS = nested(RUN_ROWS)
assert JUDGED is not None
assert LISTS is not None
ROLES = ("qrels", "run")
PLAIN = {"qrels": JUDGED, "run": LISTS}
ROWS = {"qrels": QRELS_ROWS, "run": RUN_ROWS}
EXPECTED = expected_values(QRELS_ROWS, RUN_ROWS)


def evaluate(role: str, odd: object) -> Outcome:
    """Evaluate with something odd in one role; lists in memory must have the same verdict."""
    qrels, run = (odd, LISTS) if role == "qrels" else (JUDGED, odd)
    found = outcome_of(lambda: rs.evaluate(qrels, run, MEASURES))  # type: ignore[arg-type]
    if not isinstance(odd, collections.abc.Iterator):
        ranked = outcome_of(lambda: rs.Rankings.from_run(qrels, run).evaluate(MEASURES))  # type: ignore[arg-type]
        assert ranked == found
    return found


def check_refused(found: Outcome, code: str, place: str, said: str = "") -> None:
    """Hold an error against what it must say."""
    assert found.code == code, found
    assert place in found.location
    assert found.message.startswith("expected")
    assert said in found.message
    assert found.hint
    assert not found.by_query


def test_a_query_without_judgments_leaves_the_others_alone() -> None:
    found = evaluate("qrels", {"q0": {}, **PLAIN["qrels"]})
    assert {query: found.by_query[query] for query in EXPECTED} == EXPECTED
    assert set(found.by_query["q0"].values()) == {0.0}
    assert found.notes == {"n_missing", "n_no_relevant"}


def test_judgments_without_a_document_are_refused() -> None:
    check_refused(evaluate("qrels", {"q1": {}}), "empty_input", "qrels")


def test_an_empty_list_is_a_list_of_value_0() -> None:
    found = evaluate("run", {**PLAIN["run"], "q1": {}})
    assert found.by_query["q2"] == EXPECTED["q2"]
    assert set(found.by_query["q1"].values()) == {0.0}
    assert "n_missing" not in found.notes


class Loud(int):
    """An integer that prints as something else."""

    def __str__(self) -> str:
        return "loud"

    __repr__ = __str__


def test_an_integer_id_is_its_digits_whatever_its_class_prints() -> None:
    assert rs.read_qrels([(Loud(7), "d", 1)]).query_ids == ["7"]  # type: ignore[list-item]
    assert rs.read_qrels([(-(10**30), "d", 1)]).query_ids == [str(-(10**30))]  # type: ignore[list-item]


@pytest.mark.parametrize("role", ROLES)
def test_an_integer_and_its_text_are_one_query(role: str) -> None:
    for odd in ({7: {"d1": 1}, "7": {"d2": 1}}, {7: {}, "7": {}, "q1": {"d1": 1}}):
        check_refused(evaluate(role, odd), "duplicate_query", role, "`7` again")


@pytest.mark.parametrize("role", ROLES)
def test_an_integer_and_its_text_are_one_document(role: str) -> None:
    code = {"qrels": "duplicate_conflict", "run": "duplicate_doc"}[role]
    check_refused(evaluate(role, {"q1": {7: 1, "7": 2}}), code, role, "`7`")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("odd", [10**4096, 10**10_000], ids=["4097 digits", "10001 digits"])
def test_an_integer_of_too_many_digits_is_refused(role: str, odd: int) -> None:
    """Other ids have the same verdict in all forms; columns have no such integers."""
    check_refused(evaluate(role, {**PLAIN[role], odd: {"d1": 1.0}}), "id_length", role)
    check_refused(evaluate(role, [*ROWS[role], ("q3", odd, 1)]), "id_length", role)


def test_the_longest_id_is_read() -> None:
    for longest in ("x" * 4096, "é" * 2048, 10**4095):
        lists: dict[object, object] = {longest: {longest: 1}}
        assert rs.evaluate(lists, lists, "RR")["RR"] == 1  # type: ignore[arg-type]


class Text(str):
    """A text that prints as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "other"


@pytest.mark.parametrize("kind", [Text, np.str_])
def test_kinds_of_text_are_their_text(kind: Callable[[str], str]) -> None:
    for role in ROLES:
        odd = {
            kind(str(query)): {kind(str(doc)): number for doc, number in docs.items()}
            for query, docs in PLAIN[role].items()
        }
        assert evaluate(role, odd) == Outcome(EXPECTED)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("odd", [{}, np.array([1, 2]), np.str_("1"), np.complex128(1), object()])
def test_an_object_is_no_grade_and_no_score(role: str, odd: object) -> None:
    """Other values have the same verdict in all forms."""
    code = {"qrels": "rel_not_number", "run": "score_not_number"}[role]
    check_refused(evaluate(role, {"q1": {"d1": 1.0, "d2": odd}}), code, role)


@pytest.mark.parametrize("truth", [True, False, np.True_, np.False_, np.array(True)], ids=repr)
def test_a_truth_value_is_a_grade_of_1_or_0_and_no_score(truth: object) -> None:
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


def test_rows_of_many_kinds_are_read() -> None:
    rows = RUN_ROWS
    many: list[object] = [
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
    for given in many:
        assert evaluate("run", given) == Outcome(EXPECTED)


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
def test_a_row_of_another_shape_is_refused(role: str, row: object, found: str) -> None:
    refused = evaluate(role, [("q1", "d1", 1), row])
    check_refused(refused, "row_shape", role, f"found {found}")
    assert refused.line == 2


@pytest.mark.parametrize("role", ROLES)
def test_what_is_neither_file_nor_mapping_nor_rows_is_refused(role: str) -> None:
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


class Mapped(collections.abc.Mapping):  # type: ignore[type-arg]
    """A mapping that is no dict."""

    def __init__(self, of: dict[object, object]) -> None:
        self._of = of

    def __getitem__(self, key: object) -> object:
        return self._of[key]

    def __iter__(self) -> Iterator[object]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)


@pytest.mark.parametrize(
    "kind",
    [
        collections.OrderedDict,
        lambda of: collections.defaultdict(dict, of),
        collections.UserDict,
        collections.ChainMap,
        types.MappingProxyType,
        Mapped,
        pd.Series,
    ],
)
def test_mappings_of_every_kind_are_read(kind: Callable[[object], object]) -> None:
    for role in ROLES:
        odd = kind({query: kind(docs) for query, docs in PLAIN[role].items()})
        assert evaluate(role, odd) == Outcome(EXPECTED)
    assert rs.evaluate(kind({"q": {"b"}}), kind({"q": ["a", "b"]}), "RR")["RR"] == 0.5  # type: ignore[call-overload]


class EvilError(Exception):
    """What must come out as it went in."""


def evil(*_: object) -> object:
    raise EvilError


EVIL: dict[str, Callable[[], object]] = {
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
def test_an_error_of_the_callers_code_comes_out_unchanged(role: str, where: str) -> None:
    odd = EVIL[where]()
    qrels, run = (odd, LISTS) if role == "qrels" else (JUDGED, odd)
    with pytest.raises(EvilError):
        rs.evaluate(qrels, run, "AP")  # type: ignore[arg-type]


def test_a_mapping_that_changes_while_it_is_read_is_refused_by_itself() -> None:

    class Growing(dict):  # type: ignore[type-arg]
        def items(self) -> Iterator[tuple[object, object]]:  # type: ignore[override]
            for entry in super().items():
                self[len(self)] = {}
                yield entry

    with pytest.raises(RuntimeError, match="changed size during iteration"):
        rs.evaluate(Growing({"q1": {"d1": 1}}), {"q1": {"d1": 1.0}}, "AP")


def test_a_mapping_may_be_changed_by_what_it_holds() -> None:
    """What stood there when it was read is what counts."""
    run: dict[str, object] = {}

    class Emptying(dict):  # type: ignore[type-arg]
        def items(self) -> object:  # type: ignore[override]
            run.clear()
            return super().items()

    run.update({"q1": Emptying(d1=1.0), "q2": {"d1": 1.0}})
    found = rs.evaluate({"q1": {"d1": 1}, "q2": {"d1": 1}}, run, "RR")  # type: ignore[arg-type]
    assert found["RR"] == 1
    assert run == {}


def test_items_that_are_no_pairs_are_refused() -> None:
    class Odd(dict):  # type: ignore[type-arg]
        def items(self) -> object:  # type: ignore[override]
            return ["q1"]

    check_refused(evaluate("run", Odd()), "not_a_mapping", "run", "whose items are pairs")


def test_reading_leaves_an_input_as_it_was() -> None:
    qrels, run = nested(QRELS_ROWS), nested(RUN_ROWS)
    rs.evaluate(qrels, run, MEASURES)  # type: ignore[arg-type]
    assert (qrels, run) == (nested(QRELS_ROWS), nested(RUN_ROWS))

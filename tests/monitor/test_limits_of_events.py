"""Events at the limits of what is read, shown and refused."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from rankscope import LimitError
from rankscope.monitor.events import tables
from rankscope.monitor.events.columns import _read_ranks
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.mismatch import Expected, NameCounts, find_alike
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.events.times import read_time, to_datetime
from rankscope.monitor.intake import files
from rankscope.monitor.intake.files import EventFile, _split_lines
from rankscope.monitor.intake.sets import SetSink

MIB = 1 << 20


class Text:
    """Text that comes in pieces of a mebibyte."""

    def __init__(self, size: int, letter: bytes = b"x") -> None:
        self._left = size
        self._letter = letter

    def read(self, most: int) -> bytes:
        size = min(self._left, most)
        self._left -= size
        return self._letter * size


def test_a_line_has_at_most_8_mib() -> None:
    for more in (-1, 0, 1):
        ((line, found),) = _split_lines(Text(8 * MIB + more))
        assert (line, isinstance(found, RefusedError)) == (1, more > 0)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_json_text_has_at_most_64_mib(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "TextSource", lambda *_, **__: Text(64 * MIB + more))
    file = EventFile("/dev/null", format="json")
    if more <= 0:
        assert len(file.read_body()) == 64 * MIB + more
        return
    with pytest.raises(LimitError, match="at most 67108864 bytes"):
        file.read_body()


def test_a_set_has_at_most_100_000_rankings() -> None:
    ranking = Ranking("new", "new", 0, Items(("a",), (1,)), environment="validation")
    sink: Any = SetSink("validation", None)
    for before in (99_998, 99_999):
        sink._digests = dict.fromkeys(map(str, range(before)), b"")
        assert sink._collect(0, (ranking,)) == "accepted"
    sink._digests = dict.fromkeys(map(str, range(100_000)), b"")
    found = sink._collect(0, (ranking,))
    assert (found.code, found.expected) == ("set_size", "at most 100000 rankings in a set")


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_at_most_512_mib_of_rows_are_sorted(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SimpleNamespace(to_batches=lambda **_: ())
    arrow = SimpleNamespace(
        table=lambda _: SimpleNamespace(nbytes=256 * MIB),
        array=lambda rows: rows,
        concat_tables=lambda _: SimpleNamespace(sort_by=lambda _: whole),
    )
    monkeypatch.setattr(tables, "pa", arrow)
    sizes = iter([256 * MIB, 256 * MIB + more])
    arrow.table = lambda _: SimpleNamespace(nbytes=next(sizes))
    parts: Any = [SimpleNamespace(columns={}, places=None)] * 2
    if more <= 0:
        assert list(tables.sort_rows(parts, "ranking_id", "x.csv")) == []
        return
    with pytest.raises(LimitError, match="at most 536870912 bytes"):
        list(tables.sort_rows(parts, "ranking_id", "x.csv"))


def test_a_rank_in_a_column_of_doubles_is_below_ten_to_the_15() -> None:
    column = pa.array([1e15 - 1, 1e15, 1e15 + 1, -1e15, 1.5])
    assert _read_ranks(column).tolist() == [10**15 - 1, -1, -1, -1, -1]


def test_100_names_are_counted_on_their_own() -> None:
    for count in (99, 100, 101):
        objects = [{"ranking_id": "r", str(number): 1} for number in range(count)]
        counts = NameCounts()
        for number in range(count):
            counts.add_labels([str(number)], 1)
        known = dict.fromkeys(map(str, range(min(count, 100))), 1)
        known |= {"<other>": 1} if count > 100 else {}
        assert counts.labels == known
        shown = [one | {"time": 0, "items": []} for one in objects]
        assert EventReader().read_rankings(shown, now=0).unknown == known


def test_half_of_the_labels_for_other_documents_are_a_mismatch() -> None:
    for unmatched in (4999, 5000, 5001):
        counts = NameCounts()
        counts.add_labels(["click"], 10_000)
        counts.add_placed(10_000, unmatched)
        assert bool(counts.compare(Expected(("click",), ()))) == (unmatched >= 5000)


def test_names_are_alike_if_three_quarters_of_their_letters_are() -> None:
    for common, others in ((13, 9), (12, 8), (13, 8)):
        letters = "abcdefghijklm"[:common]
        found = find_alike(letters + "01234"[: others - 4], [letters + "nopq"])
        assert bool(found) == (2 * common / (2 * common + others) >= 0.75)


def test_a_value_in_a_message_has_at_most_120_characters() -> None:
    for length in (117, 118, 119):
        whole = "'" + "x" * length + "'"
        assert show("x" * length) == (whole if length + 2 <= 120 else whole[:120] + "...")


def test_an_integer_in_a_message_has_at_most_256_bits() -> None:
    for bits in (255, 256, 257):
        number = 1 << (bits - 1)
        assert show(number) == (str(number) if bits <= 256 else f"an integer of {bits} bits")


def test_a_time_is_from_the_year_1000_to_8999() -> None:
    for text in (
        "1000-01-01T00:00:00Z",
        "1000-01-01T00:00:00.000001Z",
        "8999-12-31T23:59:59.999998Z",
        "8999-12-31T23:59:59.999999Z",
    ):
        assert to_datetime(read_time(text, "time")[0]) == datetime.fromisoformat(text)
    for text in ("0999-12-31T23:59:59.999999Z", "9000-01-01T00:00:00Z"):
        with pytest.raises(RefusedError):
            read_time(text, "time")

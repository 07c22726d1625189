"""Events at the limits of what is read, shown and refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from rankscope import LimitError
from rankscope.monitor.events import tables
from rankscope.monitor.events.columns import _read_ranks
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.mismatch import Expected, NameCounts, find_alike
from rankscope.monitor.events.rejection import Batch, RefusedError, Rejection, show
from rankscope.monitor.events.times import read_time
from rankscope.monitor.intake import files
from rankscope.monitor.intake.files import EventFile, _split_lines
from rankscope.monitor.intake.ingestion import Ingestion, Refused
from rankscope.monitor.intake.sets import SetSink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MIB = 1 << 20


class Text:
    """Text that comes in pieces of a mebibyte."""

    def __init__(self, size: int, letter: bytes = b"x") -> None:
        self._left = size
        self._letter = letter

    def read(self, most: int) -> bytes:
        """The next piece."""
        size = min(self._left, most)
        self._left -= size
        return self._letter * size


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_line_has_at_most_8_mib(more: int) -> None:
    text: Any = Text(8 * MIB + more)
    ((line, found),) = _split_lines(text)
    assert line == 1
    assert isinstance(found, RefusedError) == (more > 0)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_json_text_has_at_most_64_mib(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "TextSource", lambda *_, **__: Text(64 * MIB + more))
    file = EventFile("/dev/null", format="json")
    if more <= 0:
        assert len(file.read_body()) == 64 * MIB + more
        return
    with pytest.raises(LimitError, match="at most 67108864 bytes"):
        file.read_body()


@pytest.mark.parametrize("count", [19, 20, 21])
def test_20_rejections_are_shown(count: int) -> None:
    sink: Any = None
    ingestion = Ingestion(sink, "labels", now=lambda: 0)
    for place in range(count):
        ingestion._refuse(Refused("", place, "bad", ""))
    assert [one.place for one in ingestion.ingested.refused] == [*range(min(count, 20))]
    assert ingestion.ingested.reasons == {"bad": count}


@pytest.mark.parametrize("before", [99_998, 99_999, 100_000])
def test_a_set_has_at_most_100_000_rankings(before: int) -> None:
    target: Any = None
    sink = SetSink("validation", target)
    sink._digests = dict.fromkeys(map(str, range(before)), b"")
    ranking = Ranking("new", "new", 0, Items(("a",), (1,)), environment="validation")
    found = sink._collect(0, (ranking,))
    assert (found == "accepted") == (before + 1 <= 100_000)
    if isinstance(found, Rejection):
        assert (found.code, found.expected) == ("set_size", "at most 100000 rankings in a set")


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_at_most_512_mib_of_rows_are_sorted(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SimpleNamespace(to_batches=lambda **_: ())
    arrow = SimpleNamespace(
        table=lambda _: SimpleNamespace(nbytes=256 * MIB),
        array=lambda rows: rows,
        concat_tables=lambda _: SimpleNamespace(sort_by=lambda _: whole),
    )
    monkeypatch.setattr(tables, "load_arrow", lambda: arrow)
    sizes = iter([256 * MIB, 256 * MIB + more])
    arrow.table = lambda _: SimpleNamespace(nbytes=next(sizes))
    parts: Any = [SimpleNamespace(columns={}, places=None)] * 2
    if more <= 0:
        assert list(tables.sort_rows(parts, "ranking_id", "x.csv")) == []
        return
    with pytest.raises(LimitError, match="at most 536870912 bytes"):
        list(tables.sort_rows(parts, "ranking_id", "x.csv"))


def test_a_rank_in_a_column_of_doubles_is_below_ten_to_the_15() -> None:
    arrow = pytest.importorskip("pyarrow", reason="columns are of Arrow")
    column: Any = arrow.array([1e15 - 1, 1e15, 1e15 + 1, -1e15, 1.5])
    assert _read_ranks(column).tolist() == [10**15 - 1, -1, -1, -1, -1]


@pytest.mark.parametrize("length", [79, 80, 81])
def test_names_that_do_not_match_are_cut_to_80_characters(length: int) -> None:
    counts = NameCounts()
    counts.add_labels(["x" * length], 1)
    (found,) = counts.compare(Expected(("click",), ()))
    assert found.name == "x" * min(length, 80)


@pytest.mark.parametrize("count", [19, 20, 21])
def test_20_mismatches_are_reported(count: int) -> None:
    counts = NameCounts()
    for number in range(count):
        counts.add_labels([str(number)], 1)
    assert len(counts.compare(Expected(("click",), ()))) == min(count, 20)


@pytest.mark.parametrize("count", [99, 100, 101])
def test_100_names_are_counted_on_their_own(count: int) -> None:
    names = [str(number) for number in range(count)]
    counts, batch = NameCounts(), Batch()

    def read(fields: Mapping[str, Any]) -> tuple[()]:
        batch.unknown(next(iter(fields)))
        return ()

    for name in names:
        counts.add_labels([name], 1)
        batch.add({name: 1}, read)
    known = dict.fromkeys(names[:100], 1) | ({"<other>": 1} if count > 100 else {})
    assert counts.labels == known
    assert batch.finish().unknown == known


@pytest.mark.parametrize(("unmatched", "is_told"), [(4999, False), (5000, True), (5001, True)])
def test_half_of_the_labels_for_other_documents_are_a_mismatch(
    unmatched: int, *, is_told: bool
) -> None:
    counts = NameCounts()
    counts.add_labels(["click"], 10_000)
    counts.add_placed(10_000, unmatched)
    found = counts.compare(Expected(("click",), ()))
    assert bool(found) == is_told


@pytest.mark.parametrize(("common", "others"), [(13, 9), (12, 8), (13, 8)])
def test_names_are_alike_if_three_quarters_of_their_letters_are(common: int, others: int) -> None:
    letters = "abcdefghijklm"[:common]
    found = find_alike(letters + "01234"[: others - 4], [letters + "nopq"])
    assert bool(found) == (2 * common / (2 * common + others) >= 0.75)


@pytest.mark.parametrize("length", [117, 118, 119])
def test_a_value_in_a_message_has_at_most_120_characters(length: int) -> None:
    whole = "'" + "x" * length + "'"
    assert show("x" * length) == (whole if length + 2 <= 120 else whole[:120] + "...")


@pytest.mark.parametrize("bits", [255, 256, 257])
def test_an_integer_in_a_message_has_at_most_256_bits(bits: int) -> None:
    number = 1 << (bits - 1)
    shown = str(number) if bits <= 256 else f"an integer of {bits} bits"
    assert show(number) == shown


@pytest.mark.parametrize(
    ("text", "is_time"),
    [
        ("0999-12-31T23:59:59.999999Z", False),
        ("1000-01-01T00:00:00Z", True),
        ("1000-01-01T00:00:00.000001Z", True),
        ("8999-12-31T23:59:59.999998Z", True),
        ("8999-12-31T23:59:59.999999Z", True),
        ("9000-01-01T00:00:00Z", False),
    ],
)
def test_a_time_is_from_the_year_1000_to_8999(text: str, *, is_time: bool) -> None:
    if is_time:
        found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
            microseconds=read_time(text, "time")[0]
        )
        assert found == datetime.fromisoformat(text)
    else:
        with pytest.raises(RefusedError):
            read_time(text, "time")

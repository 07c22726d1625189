from __future__ import annotations

import math
import shutil
from datetime import datetime, timedelta
from itertools import product
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from rankscope import InputError, UsageError
from rankscope.errors import LimitError
from rankscope.monitor import doctor
from rankscope.monitor.ask import cause, comparison
from rankscope.monitor.ask.cause import CauseFinder, _halve, find_baseline_span, shorten
from rankscope.monitor.ask.compared_rankings import ComparedRankings, RankingSource
from rankscope.monitor.ask.comparison import VersionComparison, _count_days
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.document import read_configuration, write_configuration
from rankscope.monitor.evaluate.baseline import plan_baseline
from rankscope.monitor.evaluate.refresh import find_later
from rankscope.monitor.events import tables
from rankscope.monitor.events.columns import UnusualColumnError, _read_ranks, read_numbers
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.mismatch import Expected, NameCounts, find_alike
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.events.times import read_duration, read_time, to_datetime, to_micros
from rankscope.monitor.intake import files
from rankscope.monitor.intake.files import EventFile, _split_lines
from rankscope.monitor.intake.sets import SetSink
from rankscope.monitor.store.folding import choose_versions
from rankscope.monitor.store.records import Context, OpenHour, Version
from rankscope.monitor.store.tables.versions import RankingSpan, _fold

from tests.refusals import refuses_if

NOW = 20_000 * DAY
CLICKS = define(measures=["nDCG@5"], positive="click", window="1h")
BY_VERSION = BaselineChoice(kind="version")


def test_100_versions_are_kept_apart_and_others_summed_by_20_models():
    for count in (99, 100, 101):
        folded = max(count - 100, 0)
        found = choose_versions({("m", str(number)): 1 + number for number in range(count)})
        assert found.pairs == {("m", str(number)) for number in range(folded, count)}
        assert found.folded == folded
    for count in (19, 20, 21):
        found = choose_versions({(str(number), "1"): 1 + number for number in range(count)})
        assert found.models == {str(number) for number in range(max(count - 20, 0), count)}


def test_a_version_is_in_use_for_28_days_after_its_last_ranking():
    spans = {("m", str(number)): RankingSpan(10 + number, NOW, NOW) for number in range(100)}
    for after in (-1, 0, 1):
        last = NOW - 28 * DAY + after
        spans["m", "old"] = RankingSpan(1000, last, last)
        found = {one.version for one in _fold("production", spans)}
        # Of those in use, the one with the fewest rankings is too much.
        assert ("old" in found, "0" in found) == (after >= 0, after < 0)


def test_columns_of_integers_beyond_two_to_the_53_are_read_row_by_row():
    for sign in (1, -1):
        largest = sign * 2**53
        assert read_numbers(pa.array([largest])).tolist() == [float(largest)]
        # It is no double, and would become the one before.
        with pytest.raises(UnusualColumnError):
            read_numbers(pa.array([largest + sign]))


def test_open_hours_with_50_000_rankings_wait_for_an_eighth_of_their_age():
    for rankings in (49_999, 50_000, 50_001):
        hour = OpenHour(0, as_of=100 * HOUR, rankings=rankings, is_behind=False)
        assert bool(find_later([hour], {0}, -1, 101 * HOUR)) == (rankings >= 50_000)
    hour = OpenHour(0, as_of=70 * HOUR, rankings=100_000, is_behind=False)
    # 80 hours old, 10 hours after it was summed.
    found = [bool(find_later([hour], {0}, -1, 80 * HOUR + after)) for after in (-1, 0, 1)]
    assert found == [True, False, False]


def test_the_version_before_is_a_baseline_over_28_days():
    versions = [
        Version("m", "1", "production", NOW - 40 * DAY, NOW, 10),
        Version("m", "2", "production", NOW, NOW + DAY, 10),
    ]
    row = SimpleNamespace(environment="production", model="m", version="1")
    for hour in (-1, 0, 1):
        row.start = NOW - 28 * DAY + hour * HOUR
        found = plan_baseline(BY_VERSION, CLICKS, versions, [row], now=NOW + 9 * DAY)
        assert (found is not None) == (hour >= 0)


def find_since(version, first, rankings):
    """How long before now what a fall of a version is compared with begins."""
    versions = [
        Version("m", "1", "production", NOW - first, NOW - 1, rankings),
        Version("m", "2", "production", NOW, NOW, 1),
    ]
    found = find_baseline_span(BY_VERSION, versions, "m", version, NOW)
    return NOW - to_micros(found.since)


def test_a_fall_is_compared_with_28_days_and_about_250_000_rankings_of_the_version_before():
    for days in (27, 28, 29):
        assert find_since("2", days * DAY, 250_000) == min(days, 28) * DAY
        assert find_since("", days * DAY, 250_000) == 28 * DAY
    for rankings in (249_999, 250_000, 250_001):
        assert find_since("2", DAY, rankings) == DAY * 250_000 // rankings


def test_a_span_with_more_than_two_million_rankings_is_halved_down_to_a_day():
    span = Span(to_datetime(NOW - 10 * DAY), to_datetime(NOW), "m", None)
    for rankings in (1_999_999, 2_000_000, 2_000_001):
        version = Version("m", "1", "production", NOW - 10 * DAY, NOW - 1, rankings)
        days = 5 if rankings > 2_000_000 else 10
        assert shorten(span, [version]).since == to_datetime(NOW - days * DAY)
    for more in (-2, 0, 2):
        span = Span(to_datetime(NOW - 2 * DAY - more), to_datetime(NOW), "m", None)
        assert (_halve(span) != span) == (more >= 0)


def test_a_cause_is_found_in_a_sample_with_five_queries_and_slices_of_ten(monkeypatch):
    asked = {}
    monkeypatch.setattr(cause, "trace_spans", lambda *_, **said: asked.update(said))
    finder = object.__new__(CauseFinder)
    finder._store = finder._threads = None
    finder._project = "music"
    span = None
    finder._trace(CLICKS, "nDCG@5", span, span, now=NOW)
    choices = asked["choices"]
    assert (asked["sample"], choices.most_queries, choices.support) == (250_000, 5, 10)


def test_12_cells_are_compared_apart():
    for count in (11, 12, 13, 14):
        numbers = np.repeat(np.arange(count), np.arange(count, 0, -1))
        devices = [(("device", f"{number:02}"),) for number in range(count)]
        contexts = dict(enumerate(Context("m", "1", "production", one) for one in devices))
        zero = np.zeros(len(numbers), dtype=np.int64)
        rows = ComparedRankings(zero.astype(float), zero, zero, numbers, zero, ())
        # The first are the most frequent; the others are one.
        assert rows.place(contexts, ["device"]).tolist() == np.minimum(numbers, 12).tolist()


def test_queries_are_known_from_the_two_weeks_before(monkeypatch):
    asked = []
    monkeypatch.setattr(RankingSource, "read", lambda _, __, *span: asked.append(span))
    store = None
    source = RankingSource(store, "music", CLICKS, NOW, 10, None)
    assert source.read_queries({}, NOW) == {}
    assert asked == [(NOW - 14 * DAY, NOW - HOUR)]


def test_a_difference_is_small_below_two_points():
    compared = SimpleNamespace(new="2", old="1", measure="nDCG@5", days_to_target=None)
    compared.verdict = "no difference yet"
    for end in (0.0199, 0.02, 0.0201):
        for ends in ((-end, 0.001), (-0.001, end)):
            said = dict(zip(("lower", "upper"), ends, strict=True))
            compared.difference = SimpleNamespace(value=0.0, has_interval=True, **said)
            assert ("it is below 0.02" in VersionComparison._say(compared)) == (end < 0.02)


@pytest.mark.parametrize("needed", [998, 999, 1000])
def test_the_days_to_a_target_of_two_points_are_told_below_1_000(needed, monkeypatch):
    monkeypatch.setattr(comparison, "find_factor", lambda *_: 1.0)
    # Each day adds half of what there is, so that the interval shrinks by the root of 1 + days / 2;
    # it is small enough in the middle of a day.
    error = 0.02 * math.sqrt(1 + (needed - 0.5) / 2)
    days = [
        SimpleNamespace(
            day=to_datetime(NOW + day * DAY),
            difference=SimpleNamespace(error=error / root, effective_users=1e9, level=0.95),
        )
        for day, root in enumerate((math.sqrt(0.5), 1.0))
    ]
    assert _count_days(days) == (needed if needed < 1000 else None)


def test_three_incidents_are_named_by_the_doctor():
    told = [f"volume of {at} (open)" for at in range(3)]
    for count in (2, 3, 4):
        found = [SimpleNamespace(kind="volume", name=str(at), state="open") for at in range(count)]
        monitor = SimpleNamespace(incidents=lambda found=found: found)
        more = ["and 1 more"] if count == 4 else []
        assert doctor._check_incidents(monitor).told == "; ".join([*told[:count], *more])


def test_the_doctor_bears_some_rejected_late_unshown_and_waiting_events():
    for rejected in (999, 1000, 1001):
        found = doctor._check_rejected({"bad_rank": rejected}, 100_000 - rejected)
        assert found.is_good == (rejected <= 1000)
    quality = SimpleNamespace(curve=SimpleNamespace(counts=(4000, 6000)))
    for count in (499, 500, 501):
        quality.late = quality.unshown = count
        for check in (doctor._check_late_labels, doctor._check_unshown_labels):
            assert check(quality, 0).is_good == (count <= 500)
    for behind, after in product((0, 1), (-1, 0, 1)):
        quality = SimpleNamespace(as_of=to_datetime(NOW), behind=behind)
        found = doctor._check_evaluation(quality, NOW + 15 * MINUTE + after)
        assert found.is_good == (behind == 0 or after <= 0)
    quality = SimpleNamespace(newest=to_datetime(NOW))
    for after in (-1, 0, 1):
        found = doctor._check_flow([], quality, NOW + HOUR + 2 * DAY + after)
        assert found.is_good == (after < 0)


def test_a_twentieth_of_the_disk_is_free_and_a_log_has_at_most_128_mib(tmp_path, monkeypatch):
    for free in (499, 500, 501):
        disk = SimpleNamespace(free=free, total=10_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, disk=disk: disk)
        assert doctor._check_disk(tmp_path / "music.db").is_good == (free >= 500)
    disk = SimpleNamespace(free=1000, total=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk)
    log = tmp_path / "music.db-wal"
    for size in ((128 << 20) - 1, 128 << 20, (128 << 20) + 1):
        with log.open("wb") as file:
            file.truncate(size)
        assert doctor._check_disk(tmp_path / "music.db").is_good == (size <= 128 << 20)


def configure(**said):
    return Configuration(**{"definition": CLICKS} | said)


@pytest.mark.parametrize(
    ("field", "at", "beyond"),
    [
        ("attributes", tuple("abcdef"), tuple("abcdefg")),
        ("attributes", ("x" * 128,), ("x" * 129,)),
        ("most", 250, 251),
        ("most", 1, 0),
        ("grace", timedelta(days=30), timedelta(days=30, microseconds=1)),
        ("grace", timedelta(), timedelta(microseconds=-1)),
    ],
)
def test_a_configuration_has_limits(field, at, beyond):
    assert configure(**{field: at})
    with pytest.raises(UsageError):
        configure(**{field: beyond})


def test_a_duration_is_at_most_a_thousand_years():
    for days in (365_250, 365_251):
        with refuses_if(days > 365_250, UsageError, match="at most 1,000 years"):
            assert read_duration(f"{days}d") == days * DAY


def test_a_window_is_from_a_second_to_ten_years():
    said = write_configuration(Configuration(definition=CLICKS))
    for window in ("0s", "1s", "3660d", "3661d"):
        made = said | {"definition": said["definition"] | {"window": window}}
        beyond = window in {"0s", "3661d"}
        with refuses_if(beyond, UsageError, match="from 1 second to 3,660 days"):
            assert read_configuration(made).definition.window == read_duration(window) // SECOND


def test_a_time_is_a_text_of_64_characters_from_the_year_1000_to_8999():
    start = "2026-11-08T00:00:00."
    for length in (63, 64):
        read_time(f"{start:0<{length - 1}}Z", "time")
    with pytest.raises(InputError, match="time"):
        read_time(f"{start:0<64}Z", "time")
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


MIB = 1 << 20


class Text:
    def __init__(self, size, letter=b"x"):
        self._left = size
        self._letter = letter

    def read(self, most):
        size = min(self._left, most)
        self._left -= size
        return self._letter * size


def test_a_line_has_at_most_8_mib():
    for more in (-1, 0, 1):
        ((line, found),) = _split_lines(Text(8 * MIB + more))
        assert (line, isinstance(found, RefusedError)) == (1, more > 0)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_json_text_has_at_most_64_mib(more, monkeypatch):
    monkeypatch.setattr(files, "TextSource", lambda *_, **__: Text(64 * MIB + more))
    file = EventFile("/dev/null", format="json")
    with refuses_if(more > 0, LimitError, match="at most 67108864 bytes"):
        assert len(file.read_body()) == 64 * MIB + more


def test_a_set_has_at_most_100_000_rankings():
    ranking = Ranking("new", "new", 0, Items(("a",), (1,)), environment="validation")
    sink = SetSink("validation", None)
    for before in (99_998, 99_999):
        sink._digests = dict.fromkeys(map(str, range(before)), b"")
        assert sink._collect(0, (ranking,)) == "accepted"
    sink._digests = dict.fromkeys(map(str, range(100_000)), b"")
    found = sink._collect(0, (ranking,))
    assert (found.code, found.expected) == ("set_size", "at most 100000 rankings in a set")


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_at_most_512_mib_of_rows_are_sorted(more, monkeypatch):
    whole = SimpleNamespace(to_batches=lambda **_: ())
    arrow = SimpleNamespace(
        table=lambda _: SimpleNamespace(nbytes=256 * MIB),
        array=lambda rows: rows,
        concat_tables=lambda _: SimpleNamespace(sort_by=lambda _: whole),
    )
    monkeypatch.setattr(tables, "pa", arrow)
    sizes = iter([256 * MIB, 256 * MIB + more])
    arrow.table = lambda _: SimpleNamespace(nbytes=next(sizes))
    parts = [SimpleNamespace(columns={}, places=None)] * 2
    with refuses_if(more > 0, LimitError, match="at most 536870912 bytes"):
        assert list(tables.sort_rows(parts, "ranking_id", "x.csv")) == []


def test_a_rank_in_a_column_of_doubles_is_below_ten_to_the_15():
    column = pa.array([1e15 - 1, 1e15, 1e15 + 1, -1e15, 1.5])
    assert _read_ranks(column).tolist() == [10**15 - 1, -1, -1, -1, -1]


def test_100_names_are_counted_on_their_own():
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


def test_half_of_the_labels_for_other_documents_are_a_mismatch():
    for unmatched in (4999, 5000, 5001):
        counts = NameCounts()
        counts.add_labels(["click"], 10_000)
        counts.add_placed(10_000, unmatched)
        assert bool(counts.compare(Expected(("click",), ()))) == (unmatched >= 5000)


def test_names_are_alike_if_three_quarters_of_their_letters_are():
    for common, others in ((13, 9), (12, 8), (13, 8)):
        letters = "abcdefghijklm"[:common]
        found = find_alike(letters + "01234"[: others - 4], [letters + "nopq"])
        assert bool(found) == (2 * common / (2 * common + others) >= 0.75)


def test_a_value_in_a_message_has_at_most_120_characters_and_an_integer_256_bits():
    for length in (117, 118, 119):
        whole = "'" + "x" * length + "'"
        assert show("x" * length) == (whole if length + 2 <= 120 else whole[:120] + "...")
    for bits in (255, 256, 257):
        number = 1 << (bits - 1)
        assert show(number) == (str(number) if bits <= 256 else f"an integer of {bits} bits")

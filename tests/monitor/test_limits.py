"""The monitor at its limits: what it takes and reports just below, at and just above them."""

from __future__ import annotations

import shutil
from datetime import timedelta
from itertools import product
from types import SimpleNamespace

import pytest
from rankscope import InputError, UsageError
from rankscope.monitor import doctor
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.document import read_configuration, write_configuration
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import read_duration, read_time, to_datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

START = 20_000 * DAY
CLICKS = define(measures=["nDCG@5"], positive="click", window="1h")


def test_one_event_in_100_may_be_rejected() -> None:
    for rejected in (999, 1000, 1001):
        found = doctor._check_rejected({"bad_rank": rejected}, 100_000 - rejected)
        assert found.is_good == (rejected <= 1000)


def test_one_label_in_20_may_be_late_or_unshown() -> None:
    quality: Any = SimpleNamespace(curve=SimpleNamespace(counts=(4000, 6000)))
    for count in (499, 500, 501):
        quality.late = quality.unshown = count
        for check in (doctor._check_late_labels, doctor._check_unshown_labels):
            assert check(quality, 0).is_good == (count <= 500)


def test_events_may_wait_15_minutes_for_their_evaluation() -> None:
    for behind, after in product((0, 1), (-1, 0, 1)):
        quality: Any = SimpleNamespace(as_of=to_datetime(START), behind=behind)
        found = doctor._check_evaluation(quality, START + 15 * MINUTE + after)
        assert found.is_good == (behind == 0 or after <= 0)


def test_rankings_have_stopped_two_days_after_their_last_hour() -> None:
    quality: Any = SimpleNamespace(newest=to_datetime(START))
    for after in (-1, 0, 1):
        found = doctor._check_flow([], quality, START + HOUR + 2 * DAY + after)
        assert found.is_good == (after < 0)


def test_a_twentieth_of_the_disk_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free in (499, 500, 501):
        disk = SimpleNamespace(free=free, total=10_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, disk=disk: disk)
        assert doctor._check_disk(tmp_path / "music.db").is_good == (free >= 500)


def test_a_log_has_at_most_128_mib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SimpleNamespace(free=1000, total=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk)
    log = tmp_path / "music.db-wal"
    for size in ((128 << 20) - 1, 128 << 20, (128 << 20) + 1):
        with log.open("wb") as file:
            file.truncate(size)
        assert doctor._check_disk(tmp_path / "music.db").is_good == (size <= 128 << 20)


def is_configuration(**said: object) -> bool:
    """Whether a project can be configured so."""
    try:
        Configuration(**{"definition": CLICKS} | said)  # type: ignore[arg-type]
    except UsageError:
        return False
    return True


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
def test_a_configuration_has_limits(field: str, at: object, beyond: object) -> None:
    assert is_configuration(**{field: at})
    assert not is_configuration(**{field: beyond})


def test_a_duration_is_at_most_a_thousand_years() -> None:
    assert read_duration("365250d") == 365_250 * DAY
    with pytest.raises(UsageError, match="at most 1,000 years"):
        read_duration("365251d")


def test_a_window_is_from_a_second_to_ten_years() -> None:
    said = write_configuration(Configuration(definition=CLICKS))
    for window in ("1s", "3660d"):
        made = said | {"definition": said["definition"] | {"window": window}}
        assert read_configuration(made).definition.window == read_duration(window) // SECOND
    for window in ("0s", "3661d"):
        made = said | {"definition": said["definition"] | {"window": window}}
        with pytest.raises(UsageError, match="from 1 second to 3,660 days"):
            read_configuration(made)


def test_a_time_is_a_text_of_at_most_64_characters() -> None:
    start = "2026-11-08T00:00:00."
    for length in (63, 64):
        read_time(f"{start:0<{length - 1}}Z", "time")
    with pytest.raises(InputError, match="time"):
        read_time(f"{start:0<64}Z", "time")

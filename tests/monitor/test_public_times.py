"""The Python API of the monitor takes no times but those of `datetime` and their text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from rankscope import UsageError
from rankscope.monitor import BaselineChoice, Configuration, Monitor, Span, define
from rankscope.monitor.events.times import to_datetime

NAIVE = datetime(2026, 11, 21, 18)  # noqa: DTZ001 - that is the point
WRONG = [NAIVE, "2026-11-21T18:00:00", 1_795_284_000_000_000, 0.0, "yesterday"]


@pytest.mark.parametrize("time", WRONG)
def test_a_time_without_a_zone_and_a_number_are_refused(tmp_path: Path, time: object) -> None:
    music = Configuration(definition=define(positive="click", window="1h"), baseline=None)
    other = "2026-11-22T00:00:00Z"
    with Monitor.open(f"{tmp_path}/x.db") as monitor:
        monitor.configure(music)
        calls: list[Callable[..., object]] = [
            lambda: monitor.series("nDCG@5", since=time),  # type: ignore[arg-type]  # refused here
            lambda: monitor.quality(until=time),  # type: ignore[arg-type]  # likewise
            lambda: monitor.delete_before(time),  # type: ignore[arg-type]  # likewise
            lambda: monitor.silence("quality", time),  # type: ignore[arg-type]  # likewise
            lambda: Span(time, other),  # type: ignore[arg-type]  # likewise
            lambda: BaselineChoice(kind="period", since=time, until=other),  # type: ignore[arg-type]
        ]
        for call in calls:
            with pytest.raises(UsageError) as refused:
                call()
            assert refused.value.code in {"time_zone", "time_format"}
            assert "2026-11-21T18:00:00Z" in refused.value.hint


def test_a_naive_clock_is_refused(tmp_path: Path) -> None:
    with Monitor.open(f"{tmp_path}/x.db", now=lambda: NAIVE) as monitor:
        with pytest.raises(UsageError, match="now: expected a time with its zone") as refused:
            monitor.clock()
        assert refused.value.hint.startswith("add a time zone")


def test_a_time_is_the_same_in_every_zone_and_as_text() -> None:
    vienna = datetime(2026, 11, 21, 19, tzinfo=timezone(timedelta(hours=1)))
    text, utc = "2026-11-21T18:00:00Z", datetime(2026, 11, 21, 18, tzinfo=UTC)
    assert Span(vienna) == Span(text) == Span(utc)
    assert str(Span(vienna).since) == "2026-11-21 18:00:00+00:00"
    assert to_datetime(1_795_284_000_000_000) == utc


def test_a_time_of_pandas_is_a_time() -> None:
    pandas = pytest.importorskip("pandas")
    span = Span(pandas.Timestamp("2026-11-21 18:00", tz="UTC"))
    assert type(span.since) is datetime
    assert span == Span("2026-11-21T18:00:00Z")


@pytest.mark.parametrize("window", ["24h", "1d", timedelta(days=1), 86_400])
def test_a_window_is_a_duration_or_seconds(window: str | timedelta | int) -> None:
    assert define(positive="click", window=window).window == 86_400


@pytest.mark.parametrize("window", ["", "1y", "0s", timedelta(seconds=1.5), -1, 1.5, None])
def test_a_window_that_cannot_be_is_refused(window: object) -> None:
    with pytest.raises(UsageError):
        define(positive="click", window=window)  # type: ignore[arg-type]  # refused here

"""The Python API of the monitor has no times but those of `datetime`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from rankscope import UsageError
from rankscope.monitor import BaselineChoice, Configuration, Monitor, Span, define
from rankscope.monitor.events.times import to_datetime

FOLDERS = ("definition", "evaluate", "ask", "incidents")
STORED = {"ProjectReader", "Ranking", "Label", "Items", "Item", "Store", "Calendar", "Period"}
"""Events as the store keeps them are what `LoggedExplanation` is made of, not a part of the API.
Rules ask calendars about moments as the store counts them."""
TIMES = re.compile(
    r"since|until|times?|starts?|moments?|newest|as_of|now|closes|first|last|created|due|finished"
    r"|evaluated|following|silenced_until|grace|ages|absent|at"
)


def find_classes() -> dict[str, type]:
    """The classes of the folders whose records the monitor returns, by name."""
    names = [
        f"rankscope.monitor.{name}"
        for name in ("monitor", "reader", "early_reader", "round", "rules.rule", "rules.state")
    ]
    for folder in FOLDERS:
        package = importlib.import_module(f"rankscope.monitor.{folder}")
        found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        names += [one.name for one in found]
    return {
        name: each
        for module in map(importlib.import_module, names)
        for name, each in inspect.getmembers(module, inspect.isclass)
        if each.__module__ == module.__name__
    }


def list_functions(cls: type) -> Iterator[Callable[..., object]]:
    for name, member in inspect.getmembers(cls):
        if not name.startswith("_") and name != "cells":
            found = getattr(member, "fget", None) or getattr(member, "func", None) or member
            if inspect.isroutine(found):
                yield found


def list_annotations() -> dict[str, str]:
    """What parameters, answers and fields of the API are, by where they stand."""
    classes = find_classes()
    found: dict[str, str] = {}
    waiting = ["Monitor", "Span", "Rule", "Configuration", "BaselineChoice"]
    seen: set[str] = set()
    define_ = inspect.get_annotations(define)
    found |= {f"define.{name}": text for name, text in define_.items()}
    while waiting:
        name = waiting.pop()
        if name in seen or name in STORED:
            continue
        seen.add(name)
        cls = classes[name]
        own = {f"{name}.{field}": text for field, text in cls.__annotations__.items()}
        for function in list_functions(cls):
            for parameter, text in inspect.get_annotations(function).items():
                own[f"{name}.{function.__name__}.{parameter}"] = text
        found |= own
        for text in own.values():
            waiting += [word for word in re.findall(r"\w+", str(text)) if word in classes]
    assert {"Series", "Incident", "RuleState", "Quality", "LoggedExplanation", "Round"} <= seen
    return found


def test_no_time_of_the_api_is_a_number() -> None:
    wrong = [
        f"{where}: {text}"
        for where, text in list_annotations().items()
        if TIMES.fullmatch(where.rpartition(".")[2])
        and re.search(r"\b(int|float)\b", text)
        and not re.search(r"datetime|timedelta", text)
    ]
    assert wrong == []


def test_no_docstring_of_the_api_counts_since_1970() -> None:
    classes = find_classes()
    places = {where.split(".")[0] for where in list_annotations()} - {"define"}
    for name in sorted(places):
        told = [inspect.getdoc(classes[name]) or ""]
        told += [inspect.getdoc(each) or "" for each in list_functions(classes[name])]
        for text in told:
            assert "since 1970" not in text, name
            assert "microsecond" not in text, name


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

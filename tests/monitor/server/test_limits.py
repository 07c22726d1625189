"""The service at its limits: what it takes, keeps and shows."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from httptools import HttpParserError
from rankscope import FormatError, UsageError
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.server import metrics
from rankscope.monitor.server.access.rates import RateLimiter
from rankscope.monitor.server.access_log import trace_places
from rankscope.monitor.server.api import causes, values
from rankscope.monitor.server.api.fields import check_span
from rankscope.monitor.server.http.body import gunzip
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.query import parse_pairs
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.metrics import find_windows
from rankscope.monitor.server.run.connections import BoundedProtocol, Connections
from rankscope.monitor.shapes import _check_texts

MIB = 1 << 20
NOW = 20_000 * DAY


def is_refused(call: Callable[..., object], *said: object, **named: object) -> bool:
    """Whether a request is refused."""
    try:
        call(*said, **named)
    except (RefusedRequestError, FormatError, UsageError):
        return True
    return False


@pytest.mark.parametrize("count", [99_999, 100_000, 100_001])
def test_the_rates_of_100_000_names_are_known(count: int) -> None:
    rates = RateLimiter(1.0, 1, lambda: 0.0)
    assert rates.take("first") == 0
    rates._buckets |= {str(number): (0.0, 0.0) for number in range(count - 2)}
    rates.take("last")
    # What is forgotten begins with a full bucket.
    assert rates.take("first") == (1 if count <= 100_000 else 0)


@pytest.mark.parametrize("count", [499, 500, 501])
def test_a_form_has_at_most_500_fields(count: int) -> None:
    assert is_refused(parse_pairs, "&".join(["a=1"] * count)) == (count > 500)


@pytest.mark.parametrize("length", [(1 << 18) - 1, 1 << 18, (1 << 18) + 1])
def test_a_text_in_a_body_has_at_most_256_kib(length: int) -> None:
    text = "x" * length
    for value in (text, [text], {"a": text}, {text: 1}):
        assert is_refused(_check_texts, value) == (length > 1 << 18)


@pytest.mark.parametrize("size", [MIB - 1, MIB, MIB + 1])
def test_a_body_may_be_packed_as_well_as_can_be_up_to_a_mebibyte(size: int) -> None:
    # 250 times its size is less than that.
    assert is_refused(gunzip, gzip.compress(bytes(size)), Settings()) == (size > MIB)


@pytest.mark.parametrize("windows", [4999, 5000, 5001])
def test_an_answer_has_at_most_5_000_windows(windows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for every, length in (("hour", HOUR), ("day", DAY)):
        query = {"since": NOW - windows * length}
        assert is_refused(check_span, query, NOW, every) == (windows > 5000)
    monkeypatch.setattr(values, "check_span", lambda *_: None)
    monkeypatch.setattr(values, "order_slice", lambda parts, _: parts)
    rows = [(number,) for number in range(windows)]
    table = SimpleNamespace(names=["rank"], rows=lambda: rows)

    class Series(list[int]):
        every = "hour"

        def to_dict(self) -> dict[str, object]:
            return {}

    monitor: Any = SimpleNamespace(
        clock=lambda: NOW,
        configuration=None,
        series=lambda *_, **__: Series(range(windows)),
        slices=lambda *_, **__: table,
    )
    call: Any = SimpleNamespace(query={"measure": "nDCG@5"})
    assert is_refused(values.get_series, monitor, call) == (windows > 5000)
    found = values.get_slices(monitor, call)
    assert (len(found["slices"]), found["left_out"]) == (min(windows, 5000), max(windows - 5000, 0))


def test_a_trace_and_a_comparison_read_a_million_rankings() -> None:
    asked = []

    class Asked(Exception):  # noqa: N818 - no error
        pass

    def ask(*_: object, **said: Any) -> None:  # noqa: ANN401 - what it is called with
        asked.append(said.get("sample") or said["most_rankings"])
        raise Asked

    monitor: Any = SimpleNamespace(
        clock=lambda: NOW, trace=ask, compare=ask, suggest_spans=lambda: ("before", "after")
    )
    for get in (causes.get_trace, causes.get_comparison):
        call: Any = SimpleNamespace(query={})
        with pytest.raises(Asked):
            get(monitor, call)
    assert asked == [1_000_000] * 2


@pytest.mark.parametrize("depth", [19, 20, 21])
def test_the_last_20_frames_of_an_error_are_logged(depth: int) -> None:
    def fail(left: int) -> None:
        if left == 1:
            raise ValueError("deep")
        fail(left - 1)

    with pytest.raises(ValueError, match="deep") as raised:
        fail(depth - 1)
    found = trace_places(raised.value)
    assert len(found) == min(depth, 20)
    assert found[-1].endswith(" fail")


@pytest.mark.parametrize(("every", "days"), [("hour", 15), ("day", 28)])
def test_metrics_are_of_versions_that_ranked_in_the_last_two_weeks(
    every: Any,  # noqa: ANN401 - a length
    days: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def find(*said: Any) -> list[object]:  # noqa: ANN401 - what it is called with
        asked.append(said[4])
        return []

    monkeypatch.setattr(metrics, "find_newest_cells", find)
    definition = SimpleNamespace(window=3600)
    monitor: Any = SimpleNamespace(
        clock=lambda: NOW + HOUR + {"hour": HOUR, "day": DAY}[every],
        configuration=SimpleNamespace(definition=definition, digest=b""),
        store=None,
        project="music",
    )
    find_windows(monitor, every)
    # The newest window of a version may begin a day or two weeks before its last ranking.
    assert asked == [NOW - days * DAY]


def make_protocol() -> Any:  # noqa: ANN401 - a protocol that was not connected
    """A connection without a socket, which notes whether it is cut off."""
    protocol: Any = object.__new__(BoundedProtocol)
    protocol.aborted = 0

    def abort() -> None:
        protocol.aborted += 1

    protocol.transport = SimpleNamespace(abort=abort)
    return protocol


@pytest.mark.parametrize(
    ("chunks", "size", "is_small"),
    [
        (999, 999, False),
        (1000, 1000, False),
        (1001, 1001, True),
        (1001, 64 * 1001 - 1, True),
        (1001, 64 * 1001, False),
        (1001, 64 * 1001 + 1, False),
    ],
)
def test_a_body_of_more_than_1_000_pieces_has_64_bytes_in_each(
    chunks: int, size: int, monkeypatch: pytest.MonkeyPatch, *, is_small: bool
) -> None:
    taken = []
    monkeypatch.setattr(BoundedProtocol.__base__, "on_body", lambda _, body: taken.append(body))
    protocol = make_protocol()
    protocol._chunks, protocol._body_bytes = chunks - 1, size - 1
    if is_small:
        with pytest.raises(HttpParserError, match="too small"):
            protocol.on_body(b"x")
    else:
        protocol.on_body(b"x")
    assert taken == [b"x"] * (not is_small)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_mebibyte_is_read_after_a_request_was_refused(more: int) -> None:
    protocol = make_protocol()
    protocol._discarded = MIB - 1
    protocol.data_received(b"x" * (1 + more))
    assert protocol.aborted == (more > 0)


@pytest.mark.parametrize(("seconds", "reports"), [(59.999, 1), (60.0, 2), (60.001, 2)])
def test_malformed_requests_are_reported_once_a_minute(seconds: float, reports: int) -> None:
    told = []
    connections = Connections(Settings(), lambda event, fields: told.append((event, dict(fields))))
    for now in (0.0, seconds):
        connections.report_malformed(now)
    assert told == [("request.malformed", {"requests": 1})] * reports

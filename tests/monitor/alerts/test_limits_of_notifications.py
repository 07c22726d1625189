"""Notifications at their limits: what is read, sent and given up."""

from __future__ import annotations

import base64
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from rankscope import FormatError, UsageError
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.notify import http
from rankscope.monitor.notify.channels import is_service, read_channels, read_public_url
from rankscope.monitor.notify.delivery import Deliverer, LogChannel
from rankscope.monitor.notify.http import Poster, _read_wait
from rankscope.monitor.notify.sender import AppriseSender, Attempt
from rankscope.monitor.notify.sending import judge_reply
from rankscope.monitor.notify.webhook import check_secret
from rankscope.monitor.server.run import charts
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.records import OutboxRow
from rankscope.records import replace

from tests.monitor.alerts.notices import make_incident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.notify.channels import Channels

NOW = 20_000 * DAY


def read(folder: Path, text: str) -> Channels:
    """Read a file with this text."""
    path = folder / "rankscope.toml"
    path.write_text(text, encoding="utf-8")
    return read_channels(path, {})


@pytest.mark.parametrize("count", [99, 100, 101])
def test_a_file_defines_at_most_100_channels(tmp_path: Path, count: int) -> None:
    text = "".join(f'[channels.c{number}]\nurl = "x://y"\n' for number in range(count))
    if count <= 100:
        assert len(read(tmp_path, text).channels) == count
        return
    with pytest.raises(FormatError, match="at most 100 tables"):
        read(tmp_path, text)


@pytest.mark.parametrize("length", [4095, 4096, 4097])
def test_an_address_has_at_most_4_096_characters(tmp_path: Path, length: int) -> None:
    may = length <= 4096
    for start, is_read in (("x://", is_service), ("https://example.com/", read_public_url)):
        assert bool(is_read(start + "y" * (length - len(start)))) == may
    text = f'[channels.c]\nurl = "{"x://":y<{length}}"'
    if may:
        assert read(tmp_path, text).channels[0].url.reveal() == f"{'x://':y<{length}}"
        return
    with pytest.raises(FormatError, match="at most 4096 characters"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("digest", "length"),
    [
        ("59s", None),
        ("1m", MINUTE),
        ("61s", MINUTE + SECOND),
        ("86399s", DAY - SECOND),
        ("24h", DAY),
        ("86401s", None),
    ],
)
def test_messages_are_collected_for_a_minute_to_a_day(
    tmp_path: Path, digest: str, length: int | None
) -> None:
    text = f'[channels.c]\nurl = "x://y"\ndigest = "{digest}"'
    if length is not None:
        assert read(tmp_path, text).channels[0].digest == length
        return
    with pytest.raises(FormatError, match='from "1m" to "24h"'):
        read(tmp_path, text)


@pytest.mark.parametrize("size", [23, 24, 25, 63, 64, 65])
def test_a_secret_has_24_to_64_bytes(size: int) -> None:
    secret = Secret(f"whsec_{base64.b64encode(bytes(size)).decode()}")
    if size in range(24, 65):
        assert check_secret(secret) is secret
        return
    with pytest.raises(UsageError, match="24 to 64 bytes"):
        check_secret(secret)


@pytest.mark.parametrize(("status", "is_gone"), [(409, False), (410, True), (411, False)])
def test_status_410_says_that_a_webhook_is_gone(status: int, *, is_gone: bool) -> None:
    assert judge_reply(status, 0.0).is_gone == is_gone


@pytest.mark.parametrize("seconds", [86_399, 86_400, 86_401])
def test_a_webhook_may_ask_for_a_day_of_rest(seconds: int) -> None:
    assert _read_wait(str(seconds)) == min(seconds, 86_400)


def test_a_webhook_has_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(http, "Deadline", lambda _, seconds: asked.append(seconds))
    monkeypatch.setattr(Poster, "_find", lambda *_: [])
    Poster().check(http.read_url("https://example.com/"))
    assert asked == [5.0]


def test_a_process_that_sends_ends_after_30_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def run(*_: object, **said: Any) -> SimpleNamespace:  # noqa: ANN401 - what it is called with
        asked.update(said)
        return SimpleNamespace(stdout=b"{}")

    monkeypatch.setattr("subprocess.run", run)
    AppriseSender()._ask({})
    assert asked["timeout"] == 30.0
    assert b'"seconds": 15.0' in asked["input"]


class Pieces:
    """An answer that comes in pieces of a kilobyte."""

    def __init__(self) -> None:
        self.read = 0

    def iter_stream(self) -> Any:  # noqa: ANN401 - pieces
        """All pieces."""
        while True:
            self.read += 1024
            yield bytes(1024)


def test_64_kib_of_an_answer_are_read() -> None:
    answer: Any = Pieces()
    http._discard(answer)
    assert answer.read == 64 << 10


def make_letter(**said: Any) -> OutboxRow:  # noqa: ANN401 - whatever a letter has
    """A notification that was created now and not tried yet."""
    letter = OutboxRow(
        project="music",
        number=1,
        channel="webhook",
        notification_id="a",
        created=NOW,
        body="{}",
        status="waiting",
        attempts=0,
        due=NOW,
        finished=None,
        problem="",
    )
    return replace(letter, **said)


class Outbox:
    """A store that notes what became of notifications."""

    def __init__(self) -> None:
        self.rows: list[OutboxRow] = []

    def update_notification(self, row: OutboxRow, _: object) -> None:
        """Note it."""
        self.rows.append(row)


def make_deliverer(now: int, chance: float = 0.0) -> tuple[Deliverer, Outbox]:
    """What delivers at a time, and its store."""
    store, nothing = Outbox(), None
    taken: Any = store
    poster: Any = nothing
    deliverer = Deliverer(
        taken,
        log=LogChannel(lambda *_: None),
        poster=poster,
        now=lambda: now,
        chance=lambda: chance,
    )
    return deliverer, store


@pytest.mark.parametrize(("after", "is_dead"), [(-1, False), (0, True), (1, True)])
def test_a_notification_is_given_up_after_three_days(after: int, *, is_dead: bool) -> None:
    deliverer, outbox = make_deliverer(NOW + 3 * DAY + after)
    assert deliverer._give_up(make_letter()) == is_dead
    assert [one.status for one in outbox.rows] == ["dead"] * is_dead


@pytest.mark.parametrize(("after", "is_dead"), [(-1, False), (0, True), (1, True)])
def test_a_notification_is_given_up_if_it_would_be_too_old_at_the_next_attempt(
    after: int, *, is_dead: bool
) -> None:
    # The first wait is five seconds.
    now = NOW + 3 * DAY - 5 * SECOND + after
    deliverer, _ = make_deliverer(now)
    found = deliverer._conclude(make_letter(), Attempt("status 500"), now)
    assert (found.status == "dead") == is_dead


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_a_notification_is_tried_again_after_longer_and_longer_waits(chance: float) -> None:
    deliverer, _ = make_deliverer(NOW, chance)
    for attempts, wait in enumerate([5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24]):
        letter = make_letter(attempts=attempts)
        found = deliverer._conclude(letter, Attempt("status 500"), NOW)
        assert found.status == "waiting"
        # A fifth more by chance, so that not all come back at once.
        assert found.due == NOW + round(wait * HOUR * (1 + 0.2 * chance))
    last = deliverer._conclude(make_letter(attempts=9), Attempt("status 500"), NOW)
    assert last.status == "dead"


@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_a_chart_has_the_newest_1_000_days_from_two_weeks_before_on(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    class Series:
        times = tuple(to_datetime(NOW + day * DAY) for day in range(count))
        values = lower = upper = np.arange(count)

        def __len__(self) -> int:
            return count

    def read_series(*_: object, **said: Any) -> Series:  # noqa: ANN401 - what it is called with
        asked.update(said)
        return Series()

    monkeypatch.setattr(
        charts, "ProjectReader", lambda *_, **__: SimpleNamespace(series=read_series)
    )
    store: Any = None
    incident = make_incident(began=to_datetime(NOW), slice=(("device", "x" * 200),))
    chart = charts._read_chart(store, "music", incident)
    assert chart is not None
    assert chart.values == tuple(map(float, range(max(count - 1000, 0), count)))
    assert asked["since"] == to_datetime(NOW) - timedelta(days=14)
    assert len(chart.title) == 100

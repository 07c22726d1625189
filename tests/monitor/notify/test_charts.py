"""The picture of a message shows the values around the incident, where it can be drawn."""

from __future__ import annotations

import base64
import json
import math
import sys

import pytest

pytest.importorskip("matplotlib", reason="pictures are drawn by matplotlib")

from datetime import timedelta
from types import SimpleNamespace

import numpy as np
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.channels import Channel
from rankscope.monitor.notify.chart import Chart, draw_chart
from rankscope.monitor.notify.message import write_test
from rankscope.monitor.notify.sending import AppriseSender
from rankscope.monitor.server.run import charts
from rankscope.monitor.server.run.charts import find_chart
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.records import OutboxRow

from tests.monitor.notify.listener import listening
from tests.monitor.notify.notices import make, make_incident
from tests.monitor.rules.world import BAD, CONFIGURATION, GOOD, PROJECT, START, known_at, make_day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.store.sqlite.store import SQLiteStore

PNG = b"\x89PNG\r\n\x1a\n"
CHART = Chart(
    title="nDCG@5 of $tv$ <b>",
    times=(0.0, 86_400.0, 172_800.0),
    values=(0.8, math.nan, 0.7),
    lower=(0.7, math.nan, 0.6),
    upper=(0.9, math.nan, 0.8),
    floor=0.75,
    began=100_000.0,
)


def make_letter(body: str) -> OutboxRow:
    """A notification."""
    return OutboxRow(
        number=1,
        project=PROJECT,
        notification_id="x",
        channel="chat",
        body=body,
        created=START,
        status="waiting",
        attempts=0,
        due=START,
        finished=None,
        problem="",
    )


def write(**said: Any) -> str:  # noqa: ANN401 - whatever an incident has
    """The notification of an incident."""
    incident = make_incident(
        **{"measure": "RR@3", "model": "m", "version": "1", "began": to_datetime(START + DAY)}
        | said
    )
    return make(("opened", incident)).to_json()


def test_a_chart_is_a_png_also_after_it_was_json() -> None:
    drawn = draw_chart(CHART)
    assert draw_chart(Chart(**json.loads(json.dumps(CHART.to_dict())))) == drawn
    assert drawn is not None
    assert drawn.startswith(PNG)


def test_without_matplotlib_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert draw_chart(CHART) is None


def test_a_chart_shows_the_stored_values_of_the_incident(store: SQLiteStore) -> None:
    for day, ranks in enumerate([GOOD, BAD, BAD]):
        store.append(PROJECT, make_day(day, ranks, device="tv"))
        store.append(PROJECT, make_day(day, GOOD, device="phone"))
    monitor = Monitor(store, PROJECT, clock=lambda: known_at(2), threads=1)
    monitor.configure(CONFIGURATION)
    monitor.evaluate()
    chart = find_chart(store, make_letter(write(evidence={"floor": 0.8})))
    assert chart is not None
    assert chart.title == "RR@3 by day: m, 1, device = tv"
    assert chart.times == tuple((START + day * DAY) / 1e6 for day in range(3))
    assert chart.values == (0.875, 0.375, 0.375)
    assert (chart.floor, chart.began) == (0.8, (START + DAY) / 1e6)
    assert find_chart(store, make_letter(write(kind="volume"))) is None
    assert find_chart(store, make_letter(write(measure="nDCG@7"))) is None
    later = to_datetime(START + 100 * DAY + HOUR)
    assert find_chart(store, make_letter(write(began=later))) is None
    assert find_chart(store, make_letter('{"type": "notifications.lost"}')) is None


def test_a_picture_is_attached() -> None:
    pytest.importorskip("apprise", reason="channels need Apprise")
    with listening() as listener:
        url = f"json://127.0.0.1:{listener.port}/"
        channel = Channel(name="x", url=Secret(url), allows_private=True)
        assert AppriseSender().send(channel, write_test("x"), CHART).problem == ""
    (request,) = listener.requests
    (attached,) = json.loads(request.partition(b"\r\n\r\n")[2])["attachments"]
    assert attached["filename"] == "chart.png"
    assert base64.b64decode(attached["base64"]).startswith(PNG)


NOW = 20_000 * DAY


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

"""Reads the charts of incidents from a store, for the messages about them."""

from __future__ import annotations

from datetime import timedelta

from rankscope.errors import RankscopeError
from rankscope.monitor.incidents.incident import CHANGED, Notice
from rankscope.monitor.notify.chart import MOST_POINTS, Chart
from rankscope.monitor.notify.markup import clean
from rankscope.monitor.reader import ProjectReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.incidents.incident import Incident
    from rankscope.monitor.store.records import OutboxRow
    from rankscope.monitor.store.store import StoreReader

MOST_TITLE = 100
BEFORE = timedelta(days=14)
"""How much is shown of the time before a problem began."""


def find_chart(store: StoreReader, letter: OutboxRow) -> Chart | None:
    """Return the chart of the first incident about quality in a notification, if there is one."""
    if f'"{CHANGED}"' not in letter.body:
        return None
    notice = Notice.from_json(letter.body)
    incidents = (each for _, each in notice.parts if each.kind == "quality" and each.measure)
    incident = next(incidents, None)
    if incident is None:
        return None
    try:
        return _read_chart(store, letter.project, incident)
    except RankscopeError:
        # The message goes without it, for example as the measure isn't configured any more.
        return None


def _read_chart(store: StoreReader, project: str, incident: Incident) -> Chart | None:
    began = incident.began
    series = ProjectReader(store, project, threads=1).series(
        incident.measure,
        every="day",
        since=began - BEFORE,
        model=incident.model or None,
        version=incident.version or None,
        slice=incident.slice,
    )
    if not len(series):
        return None
    shown = slice(-MOST_POINTS, None)
    floor = incident.evidence.get("floor") if incident.has_final_evidence else None
    names = [f"{name} = {value}" for name, value in incident.slice]
    stream = ", ".join(filter(None, (incident.model, incident.version, *names)))
    return Chart(
        title=clean(f"{incident.measure} by day: {stream or 'all rankings'}", MOST_TITLE),
        times=tuple(moment.timestamp() for moment in series.times[shown]),
        values=tuple(map(float, series.values[shown])),
        lower=tuple(map(float, series.lower[shown])),
        upper=tuple(map(float, series.upper[shown])),
        floor=float(floor) if isinstance(floor, int | float) else None,
        began=began.timestamp(),
    )

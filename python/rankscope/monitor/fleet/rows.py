"""How each model of some projects stands, as their last rounds have left it."""

from __future__ import annotations

import json
import math
from functools import lru_cache, partial
from typing import NamedTuple, cast

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.evaluate.stored_windows import name_place, unpack_cells
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import describe_length, format_time
from rankscope.monitor.incidents.incident import ACTIVE, Incident
from rankscope.monitor.plain import make_plain, write_record
from rankscope.monitor.rules.stream import ALL
from rankscope.monitor.store.tables.fleet import read_days, read_projects
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import Any

    from sqlalchemy import Connection

    from rankscope.monitor.evaluate.stored_windows import StoredCell
    from rankscope.monitor.rules.state import State
    from rankscope.monitor.store.store import StoreReader
    from rankscope.monitor.store.tables.fleet import FleetProject

DAYS = 90
WEEK = 7 * DAY
WHOLE = name_place(())
WORST: tuple[State, ...] = ("ALERT", "NO_DATA", "STALE", "INSUFFICIENT", "OK")


@record(frozen=True, slots=True, kw_only=True)
class FleetRow:
    """How a model stands.

    Args:
        project: Its project.
        model: Its name; empty where rankings name none, or there are none yet.
        owner: The team that looks after the project; empty for none.
        state: `ALERT` with active incidents; otherwise the worst state of a rule that watches it.
        reason: Why, where it isn't `OK`.
        incidents: Its active incidents, those that lose most first.
        measure: The measure of `value` and `days`; empty where there is none.
        value: The mean of the newest final day; NaN where there is none.
        days: The means of the last 90 days; NaN for those that aren't final, or have no values.
        traffic: Rankings a day: the mean of those of the last 7 whole days that have some.
        loss: The confirmed loss a day, 0 without incidents of quality; `None` if none of them says
            by how much the measure fell.
        newest: When the newest ranking was shown, in microseconds since 1970; `None` for never.
    """

    project: str
    model: str
    owner: str
    state: State
    reason: str
    incidents: tuple[Incident, ...]
    measure: str
    value: float
    days: tuple[float, ...]
    traffic: float
    loss: float | None
    newest: int | None

    @property
    def has_fallen(self) -> bool:
        """Whether an active incident is about quality."""
        return any(each.kind == "quality" for each in self.incidents)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            **write_record(self, ("project", "model", "owner", "state", "reason", "measure")),
            "incidents": [each.incident_id for each in self.incidents],
            "value": make_plain(self.value),
            "days": make_plain(self.days),
            "rankings_per_day": self.traffic,
            "confirmed_loss_per_day": self.loss,
            "newest": None if self.newest is None else format_time(self.newest),
        }


def _by_loss(row: FleetRow) -> tuple[int, float]:
    # A loss of unknown size comes after those that are known, and before none.
    return (1, 0.0) if row.loss is None else (0 if row.loss else 2, -row.loss)


ORDERS: Mapping[str, Callable[[FleetRow], Any]] = {
    "loss": _by_loss,
    "incidents": lambda row: -len(row.incidents),
    "traffic": lambda row: -row.traffic,
    "newest": lambda row: row.newest or 0,
    "owner": lambda row: (row.owner == "", row.owner.casefold()),
    "name": lambda _row: 0,
}


def order_rows(rows: Iterable[FleetRow], by: str = "loss") -> list[FleetRow]:
    """Order rows, the worst first; equal ones by their state, and then by name."""
    first = ORDERS[by]

    def key(row: FleetRow) -> tuple[Any, ...]:
        state = 0 if by == "name" else WORST.index(row.state)
        return first(row), state, row.project.casefold(), row.project, row.model

    return sorted(rows, key=key)


def read_fleet(store: StoreReader, projects: Collection[str], now: int) -> list[FleetRow]:
    """Return how each model of some projects stands, the worst first."""
    return order_rows(store.query(partial(_read_rows, projects=projects, now=now)))


def _read_rows(connection: Connection, projects: Collection[str], now: int) -> list[FleetRow]:
    """Read all that is shown, as of one moment."""
    found = read_projects(connection, projects, ACTIVE)
    setups = {name: _read_setup(one.configuration) for name, one in found.items()}
    incidents = {name: list(map(Incident.from_json, one.incidents)) for name, one in found.items()}
    today = now // DAY * DAY
    digests = {name: setup.digest for name, setup in setups.items() if setup is not None}
    fallen = {name_place(one.slice) for each in incidents.values() for one in each if _sizes(one)}
    whole = read_days(connection, digests, {WHOLE}, today - DAYS * DAY)
    parts = read_days(connection, digests, fallen - {WHOLE}, today - WEEK)
    rows: list[FleetRow] = []
    for name, project in found.items():
        cells = unpack_cells([*whole.get(name, ()), *parts.get(name, ())])
        days = _Days(cells, setups[name], today)
        rows += _make_rows(name, project, setups[name], incidents[name], days, now=now)
    return rows


class _Setup(NamedTuple):
    """What is needed of a configuration."""

    owner: str
    digest: bytes
    measures: tuple[str, ...]
    columns: tuple[str, ...]


@lru_cache(1000)
def _read_setup(text: str | None) -> _Setup | None:
    """Read a configuration, which seldom changes."""
    if text is None:
        return None
    made = Configuration.from_json(text)
    measures = tuple(measure.name for measure in made.definition.measures)
    return _Setup(made.owner, made.digest, measures, name_columns(made.definition))


def _make_rows(
    name: str,
    project: FleetProject,
    setup: _Setup | None,
    incidents: list[Incident],
    days: _Days,
    *,
    now: int,
) -> Iterator[FleetRow]:
    rules = [
        (json.loads(rule.rule).get("model"), cast("State", rule.state), rule)
        for rule in project.rules
    ]
    served = {model for model, last in project.models.items() if last >= now - DAYS * DAY}
    models = served | {one.model for one in incidents if one.model} | days.models
    for model in sorted(models) or sorted(project.models)[:1] or [""]:
        theirs = [each for each in incidents if each.model in {"", model}]
        lost = {each.incident_id: days.find_loss(each, model) for each in theirs}
        theirs.sort(key=lambda each: (-(lost[each.incident_id] or 0.0), each.opened))
        sized = [loss for loss in lost.values() if loss is not None]
        is_unsized = not sized and any(each.kind == "quality" for each in theirs)
        newest = project.models.get(model, days.find_last(model, now))
        watched = [
            (state, f"{rule.name}: {rule.reason}")
            for of, state, rule in rules
            if of in {None, "", model}
        ]
        state, reason = _judge(setup, theirs, watched, newest, now)
        measure = next((each.measure for each in theirs if each.measure in days.measures), "")
        measure = measure or (days.measures[-1] if days.measures else "")
        means = days.read_means(model, measure)
        yield FleetRow(
            project=name,
            model=model,
            owner="" if setup is None else setup.owner,
            state=state,
            reason=reason,
            incidents=tuple(theirs),
            measure=measure,
            value=next((mean for mean in reversed(means) if not math.isnan(mean)), math.nan),
            days=means,
            traffic=days.count_rankings(model),
            loss=None if is_unsized else max(sized, default=0.0),
            newest=newest,
        )


def _judge(
    setup: _Setup | None,
    incidents: list[Incident],
    rules: list[tuple[State, str]],
    newest: int | None,
    now: int,
) -> tuple[State, str]:
    if incidents:
        return "ALERT", incidents[0].reason
    if setup is None:
        return "INSUFFICIENT", "not set up yet"
    # What is usual, the rules know. Where they can't judge yet, a whole day is too long.
    if newest is not None and now - newest >= DAY:
        return "NO_DATA", f"no rankings for {describe_length(now - newest)}"
    if not rules:
        return "INSUFFICIENT", "there are no rules"
    state, reason = min(rules, key=lambda each: WORST.index(each[0]))
    return state, "" if state == "OK" else reason


class _Days:
    """The windows of days of a project: those of whole models, and of slices that fell."""

    def __init__(self, cells: Iterable[StoredCell], setup: _Setup | None, today: int) -> None:
        self.measures = () if setup is None else setup.measures
        self._columns = () if setup is None else setup.columns
        self._today = today
        self._cells: dict[tuple[str, str], dict[int, list[StoredCell]]] = {}
        for cell in cells:
            key = cell.key
            of = self._cells.setdefault((name_place(key.slice), key.model), {})
            of.setdefault(key.start, []).append(cell)

    @property
    def models(self) -> set[str]:
        """The models that there are windows of."""
        return {model for _, model in self._cells}

    def find_last(self, model: str, now: int) -> int | None:
        """Return when the last ranking of a model of which there are only windows can be."""
        days = self._cells.get((WHOLE, model))
        return None if days is None else min(max(days) + DAY, now)

    def read_means(self, model: str, measure: str) -> tuple[float, ...]:
        """Return the mean of a measure for each day."""
        days = self._cells.get((WHOLE, model), {})
        if not measure:
            return ()
        column = self._columns.index(measure)
        return tuple(
            _find_mean(days.get(self._today - back * DAY, []), column)
            for back in reversed(range(DAYS))
        )

    def count_rankings(self, model: str, place: str = WHOLE, version: str = ALL) -> float:
        """Return how many rankings a day a model, or one of its slices and versions, has."""
        counts = [
            sum(
                one.cell.tally("rankings") for one in cells if version in {"", ALL, one.key.version}
            )
            for start, cells in self._cells.get((place, model), {}).items()
            if self._today - WEEK <= start < self._today
        ]
        shown = [count for count in counts if count]
        return sum(shown) / len(shown) if shown else 0.0

    def find_loss(self, incident: Incident, model: str) -> float | None:
        """Return what an incident loses a day; `None` where it says of no measure how far it fell.

        Where labels are lost, the discount by rank is judged in place of the measure.
        """
        if not _sizes(incident):
            return None
        rankings = self.count_rankings(model, name_place(incident.slice), incident.version)
        return max(float(incident.evidence["fall"]), 0.0) * rankings


def _sizes(incident: Incident) -> bool:
    """Whether an incident says how far a measure fell."""
    is_of_measure = incident.evidence.get("judged", "value") == "value"
    has_size = isinstance(incident.evidence.get("fall"), int | float)
    return incident.kind == "quality" and is_of_measure and has_size


def _find_mean(cells: list[StoredCell], column: int) -> float:
    """Return the mean of a day, NaN unless all of it is final."""
    if not cells or not all(each.key.is_mature for each in cells):
        return math.nan
    first, *others = (each.cell for each in cells)
    return (first.merge(*others) if others else first).means()[column]

"""Stores with many projects: one is evaluated, and the others are copies of its windows."""

from __future__ import annotations

import random
from dataclasses import replace

from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.incidents.incident import write_incident
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule

from tests.monitor.notify.notices import make_incident
from tests.monitor.server.service import NOW

TODAY = NOW // DAY * DAY
SEARCH = Configuration(
    definition=define(measures=("nDCG@5", "nDCG@10"), positive={"click": 1}, window=3600),
    attributes=("device",),
    baseline=BaselineChoice(kind="version"),
)


def log_days(store, project, *, days, values, models=1):
    """Log rankings of each model for each value of an attribute, twice a day, with clicks."""
    chance = random.Random(7)
    events = []
    for day in range(days):
        for number in range(2 * values * models):
            name = f"{day}-{number}"
            time = TODAY - (days - day) * DAY + 1 + number % 24 * HOUR
            items = Items(("a", "b", "c", "d"), (1, 2, 3, 4))
            told = f"q{number % 5}", f"u{number}", f"m{number % models}", "1"
            device = ("device", f"d{number // models % values}")
            shown = Ranking(f"e{name}", f"r{name}", time, items, *told, attributes=(device,))
            clicked = chance.choice("abcd")
            events += [shown, Label(f"l{name}", f"r{name}", clicked, time + 60, ("click",))]
    store.append(project, events)


def evaluate(store, project, configuration=SEARCH):
    monitor = Monitor(store, project, clock=lambda: NOW)
    monitor.configure(configuration)
    monitor.set_rule(Rule(name="quality", measure="nDCG@5", slices=("device",)))
    monitor.evaluate(is_replay=True)
    return monitor


def copy_project(store, source, project):
    """Make a project with the windows, the rules and one ranking of another one."""
    log_days(store, project, days=1, values=1)
    Monitor(store, project, clock=lambda: NOW).configure(SEARCH)
    digest = SEARCH.digest
    progress = store.progress(source, digest)
    hours = store.hours(source, digest)
    cells = [cell for length in (HOUR, DAY) for cell in store.cells(source, digest, length=length)]
    assert store.put_windows(
        project, digest, replaced={}, cells=cells, hours=hours, open_hours=(), progress=progress
    )
    rows = [replace(row, revision=1) for row in store.list_rules(source)]
    assert not store.save_rules(project, rows)


def put_incidents(store, project, *incidents):
    rows = [write_incident(replace(each, project=project)) for each in incidents]
    store.save_rules(project, (), incidents=rows)


def make_fall(number):
    return make_incident(incident_id=f"incident_{number:020x}", model="m0", version="1", slice=())

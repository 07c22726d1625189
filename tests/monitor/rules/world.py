"""A small world for alerts: users who click at a rank, day by day."""

from __future__ import annotations

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.incidents.advance import advance_rules
from rankscope.monitor.incidents.incident import Notice
from rankscope.monitor.incidents.management import list_notifications, list_states, set_rule
from rankscope.monitor.incidents.response import find_incident, list_incidents
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.monitor.rules.run import Scene

PROJECT = "music"
CLICKS = define(measures=["RR@3", "nDCG@3"], positive="click", window=3599)
"""Of windows of less than an hour, only final values are checked."""
CONFIGURATION = Configuration(definition=CLICKS, attributes=("device",), grace="3601s")
"""Values are final two hours later."""
SLICING = Slicing(values=(("device", ("phone", "tv")),))
START = 20_000 * DAY
GOOD, BAD = (1, 1, 2, 1), (3, 2, 3, 3)
"""The rank of the click of one user after another: reciprocal ranks of 0.875 and 0.375."""


def known_at(day):
    """When a day is known for good: its last window is closed, and the grace is over."""
    return START + (day + 1) * DAY + 2 * HOUR


def show(
    name, time, rank, *, user="", version="1", model="m", environment="production", **attributes
):
    """A ranking, and a click at a rank; none for rank 0."""
    shown = Ranking(
        name,
        name,
        time,
        Items(("a", "b", "c"), (1, 2, 3)),
        user_id=user,
        model=model,
        version=version,
        environment=environment,
        attributes=tuple(sorted(attributes.items())),
    )
    click = Label(f"{name} click", name, " abc"[rank], time + 1, ("click",))
    return [shown, click] if rank else [shown]


def make_day(
    day, ranks=GOOD, *, users=40, device="phone", version="1", environment="production", model="m"
):
    events = []
    for number in range(users):
        events += show(
            f"{environment} {day} {model} {version} {device} {number}",
            START + day * DAY + number * 60_000_000,
            ranks[number % len(ranks)],
            user=f"user {device} {number}",
            version=version,
            model=model,
            environment=environment,
            device=device,
        )
    return events


VALIDATION = [
    *make_day(-30, environment="validation", device="phone"),
    *make_day(-30, environment="validation", device="tv"),
]


def make_rule(**said):
    """A rule about the reciprocal rank, one final day after another, without reminders."""
    return DropRule(
        **{"name": "quality", "measure": "RR@3", "false_alarms": 0.9, "remind": 0.0} | said
    )


def make_scene(store=None, **said):
    return Scene(
        **{
            "store": store,
            "project": PROJECT,
            "configuration": CONFIGURATION,
            "slicing": SLICING,
            "rules": (),
            "versions": (),
            "now": START,
            "seq": 0,
            "is_replay": False,
            "threads": 1,
            "made": {},
        }
        | said
    )


class World:
    def __init__(self, store):
        self.store = store

    def log(self, events):
        self.store.append(PROJECT, events)

    def put(self, rule, now=START, configuration=CONFIGURATION):
        set_rule(self.store, PROJECT, configuration, rule, now=now, actor="ada")

    def advance(self, now, configuration=CONFIGURATION, slicing=SLICING):
        return advance_rules(self.store, PROJECT, configuration, slicing, now=now, threads=1)

    def pass_day(self, day, events=None, *configuration):
        self.log(make_day(day) if events is None else events)
        self.advance(known_at(day), *configuration)

    def watch(self, *days, **said):
        """Make a rule, let days pass one after another, and return how the rule stands."""
        self.put(make_rule(**said))
        for day, events in enumerate(days):
            self.pass_day(day, events)
        return self.state_of(said.get("name", "quality"))

    def list_turns(self):
        ids = [one.incident_id for one in list_incidents(self.store, PROJECT, "all")]
        found = [find_incident(self.store, PROJECT, name)[1] for name in ids]
        turns = sorted((one.time, one.action) for history in found for one in history)
        return [action for _, action in turns]

    def list_told(self):
        rows = [row for row in list_notifications(self.store, PROJECT) if row.channel == "log"]
        return [Notice.from_json(row.body) for row in reversed(rows)]

    def state_of(self, name="quality"):
        states = list_states(self.store, PROJECT)
        return next(state for state in states if state.rule.name == name)

"""The page about how rankings are used."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.rules.data.counts import HOURS

from dev.environments import ROOT
from dev.simulate.case import Case, Row
from dev.simulate.record import Page
from dev.simulate.usage.labels import HISTORY, QUARTER, LabelWorld, watch_labels
from dev.simulate.usage.searches import DrawnSearches, SearchWorld, watch_searches
from dev.simulate.volumes import START

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED = 5000
MOST_FALSE, LEAST_SAID, ERRORS = 0.05, 0.9, 3.0
CHANGE = HISTORY + 3
"""The day of a change."""
AFTER = 5
"""How many days of a change are watched."""

HEAD = """Labels and searches are drawn, and checked by the functions that the monitor calls. The
constants were chosen with other seeds, and other sizes of changes, than those of the record.
"""
QUIET = f"""## Quarters without a change

The number of quarters of {QUARTER} days with an alarm, for each watch. At most 5 % are allowed.

| case | quarters | label delay | ranks of labels |
|---|--:|--:|--:|
"""
DELAYS = """## Time to detection

Hours after the change until half, and nine of ten, runs had found it; “–” where it takes more than
two weeks.

| change | runs | half | nine of ten |
|---|--:|--:|--:|
"""
EXAMINATION = f"""## Do people look less far down?

Searches with clicks by position, 2,000 a day unless said otherwise. The number of runs with an
alarm about the ranks of labels within {AFTER} days; those in which it *ever* said that people
look less far down or further; and what was said on the last day: the right one of these, that
people look as far as before, or that it isn't known. The last columns are the mean nDCG of the
changed days with the examination of before, its estimate, and how often its interval has it.

| case | runs | alarms | ever | last: right | as before | unknown | nDCG | est. | covers |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""

QUIET_WORLDS: dict[str, dict[str, Any]] = {
    "labels, 200 a day, days are alike": {"a_day": 200},
    "labels, 2,000 a day, AR(0.8): ages by 15 %, 3 % one rank lower": {
        "a_day": 2000,
        "speed": 0.15,
        "depth": 0.03,
    },
    "labels, 2,000 a day, AR(0.8): ages by 30 %, 6 % one rank lower": {
        "a_day": 2000,
        "speed": 0.3,
        "depth": 0.06,
    },
}
QUIET_SEARCHES: dict[str, dict[str, Any]] = {
    "searches, 500 a day": {"a_day": 500},
    "searches, 2,000 a day, lists and documents change daily": {"daily": 0.05, "renewed": 0.005},
}
CHANGES: dict[str, dict[str, Any]] = {
    "labels take 4.5 times as long, 200 a day": {"a_day": 200, "slower": 4.5},
    "labels take 4.5 times as long, 2,000 a day, ages by 15 %": {
        "a_day": 2000,
        "slower": 4.5,
        "speed": 0.15,
    },
    "a fifth of the labels moves to the first rank, 200 a day": {"a_day": 200, "moved": 0.2},
    "a fifth of the labels moves to the first rank, 2,000 a day, 3 % one rank lower": {
        "a_day": 2000,
        "moved": 0.2,
        "depth": 0.03,
    },
    "a quarter of the labels moves one rank down, 2,000 a day, 3 % one rank lower": {
        "a_day": 2000,
        "moved": -0.25,
        "depth": 0.03,
    },
}
"""Changes of labels on the 31st day."""
BIAS: dict[str, dict[str, Any]] = {
    "people look less far: r^-0.8 → r^-1.2, same lists": {"steep": 0.8, "steep_after": 1.2},
    "people look less far: r^-0.5 → r^-0.9, 5 % of lists anew each day": {
        "steep": 0.5,
        "steep_after": 0.9,
        "daily": 0.05,
    },
    "people look further: r^-1.1 → r^-0.7, same lists": {"steep": 1.1, "steep_after": 0.7},
    "people look less far, and half of them stop after a click": {
        "steep": 0.6,
        "steep_after": 1.1,
        "stop": 0.5,
    },
    "people look less far, and the order gets better": {
        "steep": 0.6,
        "steep_after": 1.1,
        "noise": 0.25,
        "noise_after": 0.1,
    },
}
ORDER: dict[str, dict[str, Any]] = {
    "the order gets better": {"noise": 0.35, "noise_after": 0.1},
    "the order gets better, 1 % of documents are new each day": {
        "noise": 0.35,
        "noise_after": 0.1,
        "renewed": 0.01,
    },
    "the order gets worse": {"noise": 0.1, "noise_after": 0.3},
    "a better order is learned from the clicks of before, 2,000 queries": {
        "noise": 0.35,
        "is_trained": True,
        "queries": 2000,
    },
    "a better order follows the taste of each person": {
        "noise": 0.15,
        "noise_after": 0.15,
        "tastes": 0.6,
        "is_personal": True,
    },
    "the order gets better, and half of the people stop after a click": {
        "noise": 0.35,
        "noise_after": 0.1,
        "stop": 0.5,
    },
    "the order gets better, and nine of ten stop after a click": {
        "noise": 0.4,
        "noise_after": 0.05,
        "stop": 0.9,
        "steep": 0.3,
        "relevance": 0.25,
    },
    "the order gets better, and people differ in how readily they click": {
        "noise": 0.35,
        "noise_after": 0.05,
        "moods": 0.5,
    },
    "the most frequent queries are searched for 5 times as often": {"head": 5.0},
}


def list_cases() -> Iterable[Case]:
    """Return the cases, in the order of the page."""
    for worlds in (BIAS, ORDER):
        for at, (name, said) in enumerate(worlds.items()):
            yield Case(name, 40, 0 if at else 1, partial(_ask, name, said))
    for name, said in QUIET_SEARCHES.items():
        yield Case(name, 40, 0, partial(_search_quarters, name, said))
    for name, said in CHANGES.items():
        yield Case(name, 20, 0, partial(_time, name, said))
    for name, said in QUIET_WORLDS.items():
        yield Case(name, 40, 0, partial(_watch_quarters, name, said))


def _allow(count: int, runs: int, name: str) -> str:
    """Return what is wrong if more of the runs have a false alarm than promised."""
    most = MOST_FALSE + ERRORS * math.sqrt(MOST_FALSE * (1 - MOST_FALSE) / runs)
    return f"{name} in {count / runs:.0%}" if count / runs > most else ""


def _watch_quarters(name: str, said: dict[str, Any], runs: int) -> list[Row]:
    alarms = {"label_delay": 0, "label_ranks": 0}
    for run in range(runs):
        world = LabelWorld(seed=SEED + run, days=HISTORY + QUARTER, **said)
        found = watch_labels(world, HISTORY * HOURS, (HISTORY + QUARTER) * HOURS)
        for kind in {one.kind for _, one in found if one.verdict == "bad"} & {*alarms}:
            alarms[kind] += 1
    problem = "; ".join(filter(None, (_allow(count, runs, kind) for kind, count in alarms.items())))
    return [Row("quiet", (name, str(runs), *map(str, alarms.values())), problem)]


def _search_quarters(name: str, said: dict[str, Any], runs: int) -> list[Row]:
    count = 0
    for run in range(runs):
        world = SearchWorld(seed=SEED + run, days=HISTORY + QUARTER, **said)
        found = watch_searches(DrawnSearches(world), HISTORY, HISTORY + QUARTER)
        count += any(one.verdict == "bad" for _, one in found)
    return [Row("quiet", (name, str(runs), "–", str(count)), _allow(count, runs, "an alarm"))]


def _time(name: str, said: dict[str, Any], runs: int) -> list[Row]:
    kind = "label_delay" if "slower" in said else "label_ranks"
    delays = []
    for run in range(runs):
        days = CHANGE + 14
        world = LabelWorld(seed=SEED + run, days=days, change=CHANGE, **said)
        found = watch_labels(world, (CHANGE - 3) * HOURS, days * HOURS)
        late = [hour for hour, one in found if one.kind == kind and one.verdict == "bad"]
        delays.append(min((hour - CHANGE * HOURS for hour in late), default=math.inf))
    quantiles = np.quantile(delays, (0.5, 0.9), method="higher").tolist()
    told = [f"{each:.0f}" if math.isfinite(each) else "–" for each in quantiles]
    return [Row("delays", (name, str(runs), *told))]


def _ask(name: str, said: dict[str, Any], runs: int) -> list[Row]:
    """Count what is said of how far down people look."""
    ever, last, values = 0, [], []
    for run in range(runs):
        world = SearchWorld(seed=SEED + run, days=CHANGE + AFTER, change=CHANGE, **said)
        drawn = DrawnSearches(world)
        found = [
            one
            for _, one in watch_searches(drawn, CHANGE - 3, CHANGE + AFTER)
            if one.verdict == "bad" and one.began is not None
        ]
        told = [cast("dict[str, Any]", one.evidence["examination"]) for one in found]
        ever += any(one["verdict"] in {"less far", "further"} for one in told)
        if told:
            last.append(told[-1]["verdict"])
        if told and "value_with_former" in told[-1] and found[-1].began is not None:
            began = (to_micros(found[-1].began) - START) // DAY
            truth = drawn.find_truth(began, began + told[-1]["days"])
            value, low, high = told[-1]["value_with_former"]
            values.append((truth, value, low <= truth <= high))
    is_bias = name in BIAS
    right = "less far" if said.get("steep_after", 0) > said.get("steep", 0) else "further"
    counts = [
        last.count(right) if is_bias else 0,
        last.count("as before"),
        last.count("unknown"),
    ]
    if is_bias:
        error = math.sqrt(LEAST_SAID * (1 - LEAST_SAID) / runs)
        is_wrong = counts[0] / runs < LEAST_SAID - ERRORS * error
        problem = f"said in {counts[0] / runs:.0%}" if is_wrong else ""
    else:
        problem = f"claimed in {ever} runs" if ever else ""
    of_values = [f"{each:.3f}" for each in np.mean(values, axis=0)[:2]] if values else ["–", "–"]
    covered = f"{np.mean([each[2] for each in values]):.0%}" if values else "–"
    cells = (name, str(runs), str(len(last)), str(ever), *map(str, counts), *of_values, covered)
    return [Row("examination", cells, problem)]


USAGE = Page(
    about="usage",
    title="Label delay and the ranks of labels",
    folder=ROOT / "dev" / "simulate" / "usage" / "records",
    head=HEAD,
    tables={"quiet": QUIET, "delays": DELAYS, "examination": EXAMINATION},
    list_cases=list_cases,
)

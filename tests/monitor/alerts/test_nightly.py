"""A slice that no rule watches is found by the trace of the night."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.errors import UsageError
from rankscope.monitor.alerts.detect.nightly import CLEAN_NIGHTS, NightlyTrace
from rankscope.monitor.alerts.rule import Rule, check_rule
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.stories import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.monitor.alerts.incidents.finding import Finding

DEFINITION = define(measures=["nDCG@5"], positive={"click": 1}, window=3600)
RULE = Rule(name="night", measure="nDCG@5", kind="trace")
COUNT = 1200
START = 28 * DAY
EVENTS = [
    *search(1, COUNT, start=START - COUNT * MINUTE, versions={"3": 1}),
    *search(2, COUNT, start=START, versions={"4": 1}),
    *search(3, COUNT, start=START + 9 * DAY, versions={"5": 1}),
    *search(4, COUNT, start=START + 18 * DAY, versions={"5": 1}),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStore]:
    """Version 4 harms televisions; version 5 does not."""
    with SQLiteStore(tmp_path_factory.mktemp("night") / "events.db") as opened:
        opened.append("music", EVENTS)
        yield opened


def check(
    store: SQLiteStore, moment: int, progress: str = "", baseline: str = "version"
) -> tuple[list[Finding], str]:
    """What a night finds."""
    choice = (
        BaselineChoice(kind="version")
        if baseline == "version"
        else BaselineChoice(kind="period", since=to_datetime(0), until=to_datetime(START))
    )
    configuration = Configuration(definition=DEFINITION, baseline=choice)
    return NightlyTrace(store, "music", configuration, threads=1).check(RULE, progress, moment)


@pytest.mark.parametrize("baseline", ["version", "period"])
def test_the_slice_that_a_release_harmed_is_found(store: SQLiteStore, baseline: str) -> None:
    findings, _ = check(store, START + DAY, baseline=baseline)
    (found,) = findings
    assert (found.kind, found.model, found.version) == ("quality", "ranker", "4")
    assert found.slice == (("device", "tv"),)
    assert found.verdict == "bad"
    assert found.reason.startswith("device=tv")
    assert found.evidence["level"] == 1 / RULE.run_length
    p_value = found.evidence["p_value"]
    assert isinstance(p_value, float)
    assert p_value <= 1 / RULE.run_length


def test_a_slice_recovers_after_some_nights_without_it(store: SQLiteStore) -> None:
    found, progress = check(store, START + DAY, baseline="period")
    verdicts = [[each.verdict for each in found]]
    for night in range(19, 19 + CLEAN_NIGHTS + 1):
        found, progress = check(store, START + night * DAY, progress, baseline="period")
        verdicts.append([each.verdict for each in found])
    assert verdicts == [["bad"], *[[]] * (CLEAN_NIGHTS - 1), ["good"], []]


def test_a_night_without_rankings_says_nothing(store: SQLiteStore) -> None:
    _, progress = check(store, START + DAY)
    assert check(store, START + 100 * DAY, progress) == ([], progress)


def test_a_rule_that_no_check_would_run_is_refused() -> None:
    configuration = Configuration(definition=DEFINITION)
    with pytest.raises(UsageError, match="expected drop, threshold or data, found 'trace'"):
        check_rule(RULE, configuration)

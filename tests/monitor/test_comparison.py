from __future__ import annotations

import math
from dataclasses import replace

import pytest
import rankscope
from rankscope.errors import EmptyError, LimitError, UsageError
from rankscope.monitor.ask import compared_lists
from rankscope.monitor.ask.compared_lists import ListDistance, compare_lists
from rankscope.monitor.ask.shared_fall import add_comparison, compare_fall
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import make_plain
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.served import DAYS, FALL, RELEASE, START, make_served, open_served
from tests.refusals import refuses

# What a swap of two documents loses, of which the first is relevant.
LOSS = 1 - 1 / math.log2(3)
BLAMED = {"sentence": "version=4 fell.", "slice": {"version": "4"}, "new_version": "version=4"}


@pytest.fixture(scope="module")
def worse(tmp_path_factory):
    with open_served(tmp_path_factory.mktemp("worse"), fall=0.3) as monitor:
        yield monitor


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with open_served(tmp_path_factory.mktemp("shared"), both=0.3) as monitor:
        yield monitor


def test_a_version_that_is_worse_is_found_beside_the_one_that_serves(worse):
    found = worse.compare()
    assert (found.model, found.old, found.new) == ("m", "3", "4")
    assert [one.day for one in found.days] == [
        to_datetime(START + day * DAY) for day in range(RELEASE, DAYS)
    ]
    assert found.is_final
    assert found.verdict == "worse"
    difference = found.difference
    # Of the days with both versions, the fall lasts on those from day 11 on.
    true = -0.3 * LOSS * (DAYS - FALL) / (DAYS - RELEASE)
    assert difference.lower < true < difference.upper
    # Half of the variance is between the two kinds of queries, which were seen before.
    assert difference.explained > 0.25
    assert found.sentence.startswith("Version 4 is worse than version 3: nDCG@5 differs by −0.0")


def test_versions_that_fall_alike_are_no_different(shared):
    found = shared.compare("nDCG@5", model="m", old="3", new="4")
    assert found.verdict == "no difference yet"
    assert found.difference.lower < 0 < found.difference.upper
    assert found.days_to_target == 0
    assert found.sentence.endswith(" If there is one, it is below 0.02.")


def test_the_days_are_foreseen_until_a_difference_of_002_could_be_found(shared):
    now = START + (FALL + 1) * DAY
    early = Monitor(shared.store, clock=lambda: now).compare(until=to_datetime(now - DAY))
    days = early.days_to_target
    assert 0 < days < 30
    assert early.sentence.endswith(
        f"A difference of 0.02 could be found in about {days} more days."
    )
    later = shared.compare(until=to_datetime(now + (days - 1) * DAY)).difference
    assert later.upper - later.lower == pytest.approx(2 * 0.02, rel=0.25)


def test_the_old_version_can_be_the_later_one(worse):
    there, back = worse.compare(old="3", new="4"), worse.compare(old="4", new="3")
    assert back.difference.value == pytest.approx(-there.difference.value)
    assert back.verdict == "better"


@pytest.mark.slow
def test_a_slice_and_a_span_are_compared_alone(worse):
    whole = worse.compare()
    slice_ = worse.compare(slice=(("device", "phone"),))
    late = worse.compare(since=to_datetime(START + FALL * DAY))
    assert slice_.difference.rankings[1] < 0.3 * whole.difference.rankings[1]
    assert late.days[0].day == to_datetime(START + FALL * DAY)
    assert late.difference.lower < -0.3 * LOSS < late.difference.upper


def test_days_whose_labels_may_still_come_are_provisional(worse):
    now = START + (RELEASE + 3) * DAY
    early = Monitor(worse.store, clock=lambda: now).compare()
    assert [one.is_final for one in early.days] == [True, True, False]
    assert early.newest == early.days[1]
    assert early.is_final
    now = START + (RELEASE + 1) * DAY
    first = Monitor(worse.store, clock=lambda: now).compare()
    assert not first.is_final
    assert first.sentence.startswith("Provisional: ")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        *(({name: "x"}, UsageError) for name in ("model", "new", "old")),
        ({"slice": (("app", "x"),)}, UsageError),
        # They did not serve at once.
        ({"until": to_datetime(START + RELEASE * DAY)}, EmptyError),
        ({"new": "3"}, EmptyError),
    ],
)
def test_what_is_not_there_is_refused(asked, error, worse):
    with pytest.raises(error):
        worse.compare(**asked)


def test_too_many_rankings_are_refused(worse):
    with refuses(LimitError, "comparison_rankings") as caught:
        worse.compare(most_rankings=100)
    assert "up to 10,000,000" in caught.value.hint


def judge(monitor, **said):
    asked = {"version": "4", "began": START + FALL * DAY, "fall": 0.3 * LOSS}
    asked |= {"measure": "nDCG@5", "model": "m", "place": (), "now": monitor.clock()}
    return compare_fall(monitor.store, "default", monitor.configuration, **asked | said)


def test_a_fall_of_both_versions_is_not_blamed_on_the_release(shared):
    found = judge(shared)
    assert found.conclusion == "alike"
    assert found.found.since == to_datetime(START + FALL * DAY)
    cause = add_comparison(BLAMED, found)
    told = "ersion 3 fell like version 4, so the cause isn't the release"
    assert cause["sentence"] == f"V{told}."
    assert (cause["new_version"], cause["slice"]) == (None, {})
    within = add_comparison({"sentence": "device=tv fell.", "slice": {"device": "tv"}}, found)
    assert within["sentence"] == f"V{told}; device=tv fell."
    assert add_comparison(None, found)["comparison"]["conclusion"] == "alike"


def test_a_fall_of_one_version_is_its_own_beside_another(worse):
    found = judge(worse)
    assert found.conclusion == "alone"
    cause = add_comparison(BLAMED, found)
    assert cause["sentence"] == "Only version 4 fell, and not version 3 beside it; version=4 fell."
    assert cause["new_version"] == "version=4"
    alone = START + RELEASE * DAY
    assert judge(worse, version="3", began=START, now=alone) is None


def test_a_fall_that_is_smaller_than_the_interval_is_left_open(shared):
    # It fell alike if the versions differ by less than half of it.
    limit = -2 * judge(shared).found.difference.lower
    falls = math.nextafter(limit, 0), limit, math.nextafter(limit, 1)
    assert [judge(shared, fall=fall).conclusion for fall in falls] == ["unknown"] * 2 + ["alike"]
    found = judge(shared, fall=limit)
    cause = add_comparison({"sentence": "Everything fell.", "slice": {}}, found)
    left_open = "it isn't known yet whether version 3 beside it fell alike"
    assert cause["sentence"] == f"Everything fell; {left_open}."


@pytest.mark.slow
def test_the_incident_says_that_both_versions_fell_alike(shared):
    shared.set_rule(Rule(name="quality", measure="nDCG@5"))
    # Two days after the fall its first days are final, and there is no need to trace it again.
    now = START + (FALL + 3) * DAY + 3 * HOUR
    Monitor(shared.writer, clock=lambda: now).evaluate(is_replay=True)
    found = [one for one in shared.incidents() if one.version == "4" and not one.slice]
    assert [one.kind for one in found] == ["quality"]
    assert found[0].cause["comparison"]["conclusion"] == "alike"
    assert str(found[0].cause["sentence"]).startswith("Version 3 fell like version 4")


def list_by_query(version, since):
    shown = {}
    for each in make_served(fall=0.3):
        if isinstance(each, Ranking) and each.version == version and each.time >= since:
            shown.setdefault(each.query_key, []).append(each.items.doc_ids)
    return shown


@pytest.mark.slow
def test_lists_are_compared_query_by_query(worse):
    found = worse.compare()
    since = to_micros(found.since)
    old, new = list_by_query("3", since), list_by_query("4", since)
    apart = [(new[query][-1], lists[-1]) for query, lists in old.items() if query in new]
    assert found.lists.queries == len(apart) == 50
    overlaps = [rankscope.correlation.rbo([*one], [*other], p=0.9) for one, other in apart]
    assert found.lists.overlap == pytest.approx(sum(overlaps) / 50)
    assert found.lists.reordered == pytest.approx(sum(one != other for one, other in apart) / 50)
    assert found.lists.missing == 0.0
    alone = [lists[-2:] for lists in old.values() if len(lists) > 1]
    mine = [rankscope.correlation.rbo([*one], [*other], p=0.9) for one, other in alone]
    assert found.old_lists.overlap == pytest.approx(sum(mine) / len(mine))
    assert found.lists_sentence == (
        f"For the same 50 queries, lists of version 4 overlap {found.lists.overlap:.0%} with those "
        f"of version 3; those of version 3 overlap {found.old_lists.overlap:.0%} with its own "
        "earlier ones."
    )
    said = found.to_dict()
    assert said["lists"]["queries"] == 50
    assert said["lists_sentence"] == found.lists_sentence


def test_documents_gone_and_versions_without_a_name_are_told(worse):
    apart = ListDistance(queries=1, overlap=0.5, reordered=0.0, missing=0.3)
    found = replace(worse.compare(), old="", lists=apart, old_lists=None)
    assert found.lists_sentence == (
        "For the same 1 query, lists of version 4 overlap 50% with those of the version without a "
        "name. Of the first 10 documents of the version without a name, 30% are missing."
    )
    assert found.sentence.startswith("Version 4 is worse than the version without a name: ")
    assert replace(found, lists=None).lists_sentence == ""


def test_only_the_newest_lists_are_read(worse, monkeypatch):
    monkeypatch.setattr(compared_lists, "MOST", 1)
    found = worse.compare().lists
    # 16 or 17 rankings of both versions are in the last hour.
    assert 1 <= found.queries <= 8


def compare(folder, *shown):
    """How far lists differ, each of a version for a query key, one after the other."""
    rankings = []
    for at, (version, key, docs) in enumerate(shown):
        items = Items(tuple(docs), tuple(range(1, len(docs) + 1)))
        rankings.append(Ranking(f"r{at}", f"r{at}", at, items, key, version=version))
    with SQLiteStore(folder / "events.db", group_seconds=0) as store:
        store.append("music", rankings)
        contexts = store.contexts("music")
        return compare_lists(store, "music", contexts, ("1", "2"), since=0, until=HOUR)


def test_lists_without_a_query_in_common_are_not_compared(tmp_path):
    shown = [("1", "", "abc"), ("2", "", "abc"), ("1", "a", "abc"), ("2", "b", "abc")]
    assert compare(tmp_path, *shown) == (None, None)


def test_an_empty_list_overlaps_with_nothing_and_a_span_may_have_no_lists(tmp_path, worse):
    found, alone = compare(tmp_path, ("1", "a", "abcd"), ("2", "a", ""))
    assert (found.queries, found.overlap, found.missing) == (1, 0.0, 1.0)
    assert math.isnan(found.reordered)
    assert make_plain(found)["reordered"] is None
    assert alone is None
    contexts = worse.store.contexts(worse.project)
    span = {"since": START - 9 * DAY, "until": START}
    assert compare_lists(worse.store, worse.project, contexts, ("3", "4"), **span) == (None, None)


def test_the_last_list_of_each_version_counts(tmp_path):
    shown = [("1", "a", "dcba"), ("2", "a", "dcba"), ("1", "a", "abcd"), ("2", "a", "abcd")]
    found, alone = compare(tmp_path, *shown)
    assert (found.overlap, found.reordered) == (pytest.approx(1), 0.0)
    assert alone.reordered == 1.0

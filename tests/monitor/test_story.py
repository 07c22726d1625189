from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
import rankscope as rs
from rankscope._demo.generator import DEEDS, make_story
from rankscope._demo.story import (
    DEVICE,
    EXAMPLE,
    EXAMPLE_GRADES,
    POSITIVE,
    WINDOW,
    Clock,
    list_spans,
    prepare,
)
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.rejection import Rejection
from rankscope.monitor.monitor import Monitor

from tests.monitor.story import check_monitor, judge, list_final, mean, split

END = 20_778 * DAY


@pytest.fixture(scope="module")
def story():
    return make_story(3, end=END, daily=120)


@pytest.fixture(scope="module")
def searches(story):
    return judge(story)


@pytest.mark.slow
def test_equal_seeds_make_equal_stories(story):
    assert make_story(3, end=END, daily=120) == story
    assert make_story(5, end=END, daily=120) != story


def test_another_end_moves_all_times_and_changes_nothing_else(story):
    later = make_story(3, end=END + 3 * DAY, daily=120)
    moved = [each.arrives + 3 * DAY for each in story.deliveries]
    assert [each.arrives for each in later.deliveries] == moved
    for mine, theirs in zip(judge(later), judge(story), strict=True):
        assert mine.time == theirs.time + 3 * DAY
        assert mine.grades == theirs.grades


def test_events_come_in_the_order_of_their_arrival_before_the_end(story):
    times = [each.arrives for each in story.deliveries]
    assert times == sorted(times)
    assert story.start <= times[0] < times[-1] < story.end


def test_deeds_are_worth_their_grade_and_production_is_as_good_as_validation(searches):
    worth = [sum(POSITIVE[label] for label in deeds) for deeds in DEEDS]
    assert worth == list(range(len(DEEDS)))
    judged = [each for each in searches if each.environment == "validation"]
    assert mean(judged, "nDCG@5") == pytest.approx(
        mean(list_final(searches, "3"), "nDCG@5"), abs=0.02
    )


def test_the_example_has_its_grades_each_time_and_the_release_turns_them_round(searches):
    first, *middle, last = EXAMPLE_GRADES
    swapped = (last, *middle, first)
    for version, grades in (("3", EXAMPLE_GRADES), ("4", swapped)):
        found = [each for each in list_final(searches, version) if each.query == EXAMPLE]
        assert found
        assert {each.grades for each in found} == {grades}
        assert {each.attributes["device"] for each in found} == {DEVICE}
        for each in found:
            assert each.value("nDCG@5") == rs.ndcg(list(grades), 5)
    before, after = (rs.ndcg(list(grades), 5) for grades in (EXAMPLE_GRADES, swapped))
    assert (f"{before:.5f}", f"{after:.5f}") == ("0.99345", "0.64591")


def test_the_release_harms_one_device_by_the_order_of_its_lists(searches):
    before, after = list_final(searches, "3"), list_final(searches, "4")
    parts = split(before, after, "nDCG@5", lambda each: each.attributes["device"])
    change = mean(after, "nDCG@5") - mean(before, "nDCG@5")
    assert math.fsum(part.mix + part.within for part in parts.values()) == pytest.approx(
        change, abs=1e-12
    )
    harmed = parts[DEVICE]
    assert harmed.losses["truncation"] == 0
    assert harmed.losses["ordering"] == pytest.approx(harmed.within, abs=1e-12)
    assert min(parts, key=lambda name: parts[name].within) == DEVICE
    assert harmed.means[1] < harmed.means[0] - 0.1


def test_what_is_read_is_what_was_meant_and_what_is_refused_was_meant_to_be(story):
    reader = EventReader()
    found = Counter()
    for each in story.deliveries:
        read = reader.read_rankings if each.route == "rankings" else reader.read_labels
        (answer,) = read([each.event], now=each.arrives).answers
        code = answer.code if isinstance(answer, Rejection) else ""
        assert code == each.code
        found[each.fault] += 1
    assert not reader.read_rankings(story.validation, now=story.start).rejections
    assert min(found[fault] for fault in ("duplicate", "conflict", "late", "orphan")) > 0
    assert min(found[fault] for fault in ("rejected", "unshown")) > 0
    assert found[""] > 0.9 * len(story.deliveries)


def test_labels_count_until_the_window_of_their_search_closes(story):
    """Judged earlier, what is final is the same, and nothing is known that has not arrived."""
    now = story.release + DAY
    then = {each.name: each for each in judge(story, now)}
    behind = {each.event["ranking_id"] for each in story.deliveries if each.arrives >= now}
    last = {each.name: each for each in judge(story)}
    assert then.keys() <= last.keys()
    for name, each in then.items():
        if each.environment == "production":
            assert each.is_final == (each.time + WINDOW <= now)
        if each.is_final and name not in behind:
            assert each.grades == last[name].grades


@pytest.fixture(scope="module")
def monitor(story, tmp_path_factory):
    clock = Clock(story.start)
    with Monitor.open(str(tmp_path_factory.mktemp("story") / "story.db"), now=clock) as opened:
        assert prepare(story, opened).accepted == len(story.validation)
        clock.time = story.end
        for route, log in (("rankings", opened.log_rankings), ("labels", opened.log_labels)):
            log([each.event for each in story.deliveries if each.route == route])
        opened.evaluate()
        yield opened


@pytest.mark.slow
def test_every_number_is_that_of_the_reference(story, monitor):
    checked = check_monitor(story, monitor, monitor.trace(*list_spans(story), "nDCG@5"))
    assert checked.differing == ()
    assert checked.numbers > 100


@pytest.mark.slow
def test_a_number_that_differs_is_told(story, monitor):
    """Held against the story of another seed, all that can differ does."""
    trace = monitor.trace(*list_spans(story), "nDCG@5")
    other = replace(make_story(4, end=END, daily=120), deliveries=story.deliveries)
    differing = check_monitor(other, monitor, trace).differing
    assert {each.split(":")[0] for each in differing} == {
        f"baseline {measure}" for measure in monitor.measures
    }

"""Watches on label delay and on the ranks of labels: slower isn't lost, and fewer isn't lower."""

from __future__ import annotations

import numpy as np
import pytest
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import HOURS
from rankscope.stats.day_shift import find_needed, find_shifts

from dev.simulate.usage.labels import HISTORY, LabelWorld, watch_labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.rules.state import Finding

CHANGE = HISTORY + 3
"""The day from which on something is different."""
WINDOW = DAY


def watch(seed: int = 1, days: int = CHANGE + 4, **said: Any) -> list[tuple[int, Finding]]:  # noqa: ANN401
    """What the watches report of a world with 2,000 rankings a day: by hour, and the finding."""
    world = LabelWorld(seed=seed, days=days, a_day=2_000, window=WINDOW, change=CHANGE, **said)
    return watch_labels(world, HISTORY * HOURS, days * HOURS)


def test_labels_that_come_as_usual_are_not_reported() -> None:
    assert watch() == []


def test_slower_labels_are_found_before_they_are_final_and_say_how_slow() -> None:
    [(hour, bad)] = watch(slower=4.5)
    assert bad.kind == "label_delay"
    assert CHANGE * HOURS < hour < CHANGE * HOURS + WINDOW // HOUR
    evidence = bad.evidence
    assert evidence["age"] in {HOUR, 4 * HOUR, 12 * HOUR}
    assert evidence["median_hours"] > 1.2 * evidence["usual_median_hours"]
    assert "Labels come more slowly than usual since" in bad.reason


def test_slower_labels_are_as_usual_again_within_two_days() -> None:
    found = watch(slower=4.5, days=CHANGE + 9, until=CHANGE + 5)
    (_, bad), (end, good) = [each for each in found if each[1].kind == "label_delay"]
    # Of the purchases, a third comes after the attribution window: these are lost, too.
    [lost, _] = [one for _, one in found if one.kind == "labels"]
    assert "buy labels" in lost.reason
    assert lost.reason.endswith("Labels come more slowly, too, some of them after the window.")
    assert (bad.verdict, good.verdict) == ("bad", "good")
    assert (CHANGE + 5) * HOURS < end <= (CHANGE + 7) * HOURS


@pytest.mark.parametrize("lost", [{"kept": 0.5}, {"kept": 0.5, "kinds": 1}])
def test_lost_labels_are_not_slower_and_not_at_other_ranks(lost: dict[str, float]) -> None:
    # Where only clicks are lost, most of what is left are purchases, which come later.
    assert {one.kind for _, one in watch(**lost)} == {"labels"}


@pytest.mark.parametrize(("moved", "where"), [(0.5, "higher"), (-0.5, "lower")])
def test_labels_that_move_are_found_in_both_directions(moved: float, where: str) -> None:
    [(_, bad)] = watch(moved=moved)
    assert bad.kind == "label_ranks"
    assert f"are {where} in their lists than usual" in bad.reason
    assert (bad.evidence["shift"] > 0) == (moved > 0)


def test_a_shift_is_the_difference_of_means_in_its_standard_errors() -> None:
    values, errors = np.append(np.tile([1.0, 3.0], 14), 2.0), np.full(29, 0.25)
    [shift] = find_shifts(values, errors, spans=(1,))
    assert (shift.usual, shift.value, shift.score) == (2.0, 2.0, 0.0)
    values[-1] = 9.0
    [shift] = find_shifts(values, errors, spans=(1,))
    # Variance between days, at the high end, without that of samples; neighbors are alike.
    days = np.arange(28)
    alike = 0.8 ** abs(days[:, None] - days[None, :])
    effects = (28 / 27 * (1 + (2 / 27) ** 0.5) - 0.25) / (1 - alike.mean())
    drift = 1 + alike.mean() - 2 * (0.8 ** (28 - days)).mean()
    assert shift.score == pytest.approx(7 / (effects * drift + 0.25 * (1 + 1 / 28)) ** 0.5)


@pytest.mark.parametrize(("known", "is_known"), [(13, False), (14, True)])
def test_a_shift_needs_14_days_before_it(known: int, *, is_known: bool) -> None:
    values = np.full(28, np.nan)
    values[-known - 1 :] = 0.5
    assert bool(find_shifts(values, np.full(28, 0.1), spans=(1,))) == is_known


def test_a_weekday_that_always_differs_is_usual() -> None:
    values = np.tile([0.0, 0, 0, 0, 0, 4, 4], 4) + 0.01 * np.arange(28) % 0.03
    shifts = find_shifts(values, np.full(28, 1e-4))
    assert all(abs(one.score) < 1 for one in shifts)
    values[-1] = 0.0
    assert find_shifts(values, np.full(28, 1e-4))[0].score < -5.5


def test_more_is_needed_of_more_streams_and_of_rarer_alarms() -> None:
    assert find_needed(1800.0, 1) == 5.5
    assert find_needed(1800.0, 9) ** 2 - 5.5**2 == pytest.approx(2 * np.log(9))
    assert find_needed(18_000.0, 1) > find_needed(1800.0, 1) > find_needed(180.0, 1)

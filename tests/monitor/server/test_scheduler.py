"""Projects are evaluated in turn, whatever becomes of one of them, or of a webhook."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

from rankscope import FileError, UsageError
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.server.run.schedule import Repeater, Scheduler
from rankscope.monitor.server.telemetry import Telemetry


class World:
    """Projects, of which some fail, and a clock."""

    def __init__(self, *projects: str, **failing: Exception) -> None:
        self.failing = failing
        self.counts: Counter[str] = Counter()
        self.order: list[str] = []
        self.told: list[tuple[str, dict[str, object]]] = []
        self.now = 0
        self.seconds = 0
        self.telemetry = Telemetry()
        self.scheduler = Scheduler(
            lambda: projects,
            self.evaluate,
            now=lambda: self.now,
            report=self.report,
            telemetry=self.telemetry,
        )

    def evaluate(self, project: str) -> None:
        """Evaluate a project, or fail."""
        self.counts[project] += 1
        self.order.append(project)
        self.now += self.seconds * SECOND
        if project in self.failing:
            raise self.failing[project]

    def report(self, event: str, fields: Mapping[str, object]) -> None:
        """Note what is told."""
        self.told.append((event, dict(fields)))


def test_each_project_has_its_turn() -> None:
    world = World("a", "b", "c")
    world.scheduler.run_round()
    world.scheduler.run_round()
    assert world.order == ["a", "b", "c"] * 2


def test_a_project_that_fails_stops_no_other_and_is_told_of_once() -> None:
    world = World("a", "b", "c", a=FileError("secret", code="store_busy"), b=KeyError("secret"))
    for _ in range(3):
        world.scheduler.run_round()
    assert world.counts == {"a": 3, "b": 3, "c": 3}
    assert world.told == [
        ("evaluation.failed", {"project": "a", "problem": "store_busy"}),
        ("evaluation.failed", {"project": "b", "problem": "KeyError"}),
    ]
    assert world.scheduler.failing == {"a": "store_busy", "b": "KeyError"}
    world.failing = {"b": ValueError()}
    world.scheduler.run_round()
    assert world.told[2:] == [("evaluation.failed", {"project": "b", "problem": "ValueError"})]
    assert world.scheduler.failing == {"b": "ValueError"}


def test_what_is_not_configured_is_not_wrong() -> None:
    world = World("a", a=UsageError("none", code="not_configured"))
    world.scheduler.run_round()
    assert (world.told, world.scheduler.failing) == ([], {})
    assert world.telemetry.collect("a") == []


def test_rounds_are_timed_and_failures_counted_by_project() -> None:
    world = World("a", "b", b=FileError("secret", code="store_busy"))
    world.seconds = 2
    for _ in range(3):
        world.scheduler.run_round()
    for project, failures in (("a", 0), ("b", 3)):
        samples = {
            (sample.name, sample.labels.get("le")): sample.value
            for metric in world.telemetry.collect(project)
            for sample in metric.samples
        }
        assert samples["rankscope_round_failures_total", None] == failures
        assert samples["rankscope_round_duration_seconds_sum", None] == 2 * 3
        assert samples["rankscope_round_duration_seconds_bucket", "1.0"] == 0
        assert samples["rankscope_round_duration_seconds_bucket", "3.0"] == 3


def test_a_round_that_takes_too_long_is_known() -> None:
    world = World("a")
    world.scheduler.run_round()
    world.now = 31 * SECOND
    assert (world.scheduler.lag, world.scheduler.is_late) == (31.0, True)
    world.scheduler.run_round()
    assert (world.scheduler.finished, world.scheduler.is_late) == (31 * SECOND, False)
    world.now = 0  # a clock may be put back
    assert world.scheduler.lag == 0


def test_threads_begin_and_end() -> None:
    goes, ends = threading.Event(), threading.Event()

    class Slow:
        """A webhook that hangs."""

        def step(self) -> int:
            """Hang."""
            ends.wait(300)
            return 0

    world = World("a", "b")
    scheduler = Scheduler(
        lambda: ["a", "b"],
        lambda project: goes.set() if project == "b" else None,
        deliverer=Slow(),
        seconds=0.001,
        now=lambda: 0,
        report=world.report,
    )
    scheduler.start()
    # That the webhook hangs keeps no project from its turn.
    for _ in range(3):
        goes.clear()
        assert goes.wait(300)
    assert not scheduler.stop(0.01)
    ends.set()
    assert scheduler.stop()


def test_what_is_raised_is_told_and_the_next_time_comes() -> None:
    seen = threading.Semaphore(0)
    told: list[Exception] = []

    def fail() -> None:
        seen.release()
        raise OSError

    repeater = Repeater(fail, seconds=0, name="test", complain=told.append)
    repeater.start()
    assert all(seen.acquire(timeout=300) for _ in range(3))
    assert repeater.stop()
    assert len(told) >= 3


def test_the_cores_are_left_to_others_for_longer_than_a_round_took() -> None:
    repeater = Repeater(int, seconds=10, name="test", complain=print, rest=3)
    assert [repeater.choose_rest(took) for took in (0, 2, 5)] == [10, 10, 15]


def test_a_round_is_late_by_how_long_rounds_take() -> None:
    world = World("a")
    assert not world.scheduler.is_late

    def take_a_minute(_project: str) -> None:
        world.now += 60 * SECOND

    world.scheduler = Scheduler(
        lambda: "a", take_a_minute, now=lambda: world.now, report=world.report
    )
    world.scheduler.run_round()
    world.now += 5 * 60 * SECOND
    assert not world.scheduler.is_late
    world.now += 15 * 60 * SECOND
    assert world.scheduler.is_late

"""Evaluates projects and delivers notifications on schedule, each in its own thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence

from rankscope.errors import RankscopeError
from rankscope.monitor.backups import BackupSchedule
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.notify.delivery import Deliverer
from rankscope.monitor.server.telemetry import Telemetry

SECONDS = 10.0
DELIVERY_SECONDS = 1.0
BACKUP_SECONDS = 10.0
ROUNDS = 3
REST = 1.0
"""The shortest pause after a round, as a multiple of its duration: others need the cores, too."""


class Scheduler:
    """Evaluates projects in turn, and delivers notifications meanwhile.

    A failure of a project is reported once, until it fails in another way or succeeds, and the
    other projects go on. A webhook that hangs doesn't delay evaluation.

    Args:
        projects: Lists the projects.
        evaluate: Evaluates one of them.
        takes: Takes the lease of the one process that evaluates and delivers, and returns whether
            this one has it (default: no other process does so).
        delivers: Returns whether this process has the lease, and takes nothing: windows that were
            computed under a lease that was lost are not to be written (default: it has).
        deliverer: Delivers notifications (default: nothing does).
        seconds: How long to wait after a round.
        now: Returns the time, in microseconds since 1970 in UTC.
        report: Takes problems, such as `AccessLog.write`.
        telemetry: Counts and times evaluations (default: a new one).
        backups: Makes backups when they are due (default: none are made).

    Attributes:
        finished: When the last round ended, in microseconds since 1970 in UTC; at first, when the
            scheduler was created.
        failing: By project, the problems of the last round.
    """

    def __init__(
        self,
        projects: Callable[[], Sequence[str]],
        evaluate: Callable[[str], object],
        *,
        takes: Callable[[], bool] = lambda: True,
        delivers: Callable[[], bool] = lambda: True,
        deliverer: Deliverer | None = None,
        seconds: float = SECONDS,
        now: Callable[[], int],
        report: Callable[[str, Mapping[str, object]], object],
        telemetry: Telemetry | None = None,
        backups: BackupSchedule | None = None,
    ) -> None:
        if telemetry is None:
            from rankscope.monitor.server.telemetry import (
                Telemetry,
            )

            telemetry = Telemetry()
        self._telemetry = telemetry
        self._projects = projects
        self._evaluate = evaluate
        self._takes = takes
        self._seconds = seconds
        self._now = now
        self._report = report
        self.finished = now()
        self._took = 0.0
        self.failing: dict[str, str] = {}
        self._evaluating = Repeater(
            self.run_round,
            seconds=seconds,
            name="rankscope-evaluation",
            complain=self._complain("evaluation.failed"),
            rest=REST,
        )
        self._others: list[Repeater] = []
        if deliverer is not None:
            self._repeat(lambda: delivers() and deliverer.step(), DELIVERY_SECONDS, "delivery")
        if backups is not None:

            def back_up() -> None:
                try:
                    backups.step()
                finally:
                    self._telemetry.backups = backups

            self._repeat(back_up, BACKUP_SECONDS, "backup")

    def start(self) -> None:
        """Start."""
        for each in (self._evaluating, *self._others):
            each.start()

    def _repeat(self, do: Callable[[], object], seconds: float, name: str) -> None:
        complain = self._complain(f"{name}.failed")
        made = Repeater(do, seconds=seconds, name=f"rankscope-{name}", complain=complain)
        self._others.append(made)

    def stop(self, seconds: float | None = None) -> bool:
        """Stop after what is being done, and return whether that has ended."""
        until = None if seconds is None else time.monotonic() + seconds
        ended = True
        for each in (self._evaluating, *self._others):
            left = None if until is None else max(until - time.monotonic(), 0.0)
            ended = each.stop(left) and ended
        return ended

    @property
    def lag(self) -> float:
        """Seconds since the last round ended."""
        return max(self._now() - self.finished, 0) / SECOND

    @property
    def is_late(self) -> bool:
        """Whether a round is overdue, compared with how long the last one took."""
        usual = max(self._seconds, SECONDS) + (1 + REST) * self._took
        return self.lag > ROUNDS * usual

    def run_round(self) -> None:
        """Evaluate each project once, unless another process does."""
        since = self._now()
        failing = {}
        for project in self._projects() if self._takes() else ():
            if self._evaluating.is_ending:
                break
            began = self._now()
            try:
                self._evaluate(project)
            except RankscopeError as error:
                if error.code == "not_configured":
                    continue  # no failure
                failing[project] = error.code
            except Exception as error:  # noqa: BLE001 - the other projects are evaluated
                failing[project] = type(error).__name__
            if not self._evaluating.is_ending:
                took = max(self._now() - began, 0) / SECOND
                self._telemetry.note_round(project, took, has_failed=project in failing)
        if self._evaluating.is_ending:
            # A shutdown may have ended the process that evaluates.
            return
        for project, problem in failing.items():
            if self.failing.get(project) != problem:
                self._report("evaluation.failed", {"project": project, "problem": problem})
        self.failing = failing
        self.finished = self._now()
        self._took = max(self.finished - since, 0) / SECOND

    def _complain(self, event: str) -> Callable[[Exception], None]:
        told = ""

        def complain(error: Exception) -> None:
            nonlocal told
            problem = error.code if isinstance(error, RankscopeError) else type(error).__name__
            if problem != told:
                self._report(event, {"problem": problem})
                told = problem

        return complain


class Repeater:
    """Calls a function every few seconds in a thread; calls never overlap.

    Args:
        do: The function. After an exception it is called again as usual.
        seconds: How long to wait in between.
        name: The name of the thread.
        complain: Takes the exceptions.
        rest: The shortest pause, as a multiple of how long the call took.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        do: Callable[[], object],
        *,
        seconds: float,
        name: str,
        complain: Callable[[Exception], object],
        rest: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._do = do
        self._seconds = seconds
        self._complain = complain
        self._rest = rest
        self._clock = clock
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start."""
        self._thread.start()

    def stop(self, seconds: float | None = None) -> bool:
        """Stop after the current call, and return whether it has ended."""
        self._ends.set()
        if self._thread.is_alive():
            self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def is_ending(self) -> bool:
        """Whether it was stopped."""
        return self._ends.is_set()

    def choose_rest(self, took: float) -> float:
        """Return how many seconds to wait after a run of so many seconds."""
        return max(self._seconds, self._rest * took)

    def _run(self) -> None:
        while not self._ends.is_set():
            since = self._clock()
            try:
                self._do()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next time may be better
                self._complain(error)
            self._ends.wait(self.choose_rest(self._clock() - since))

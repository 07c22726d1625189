"""The floors of speed and memory, as `make bench-small` measures them."""

from __future__ import annotations

import resource
import sys
from typing import TYPE_CHECKING

import pytest

from dev.benchmarks.process import run_process
from dev.benchmarks.verdicts import judge
from dev.benchmarks.workloads import Target, keep_floors, read_workloads

if TYPE_CHECKING:
    from pathlib import Path

WORKLOADS = read_workloads()
MEDIANS = {"ours": {"wall": 3.0, "peak": 330.0}, "peer": {"wall": 7.0}, "bare": {"wall": 1.0}}


@pytest.mark.parametrize(
    ("target", "found", "outcome"),
    [
        (Target("peer", "wall", over="ours", at_least=2.3), 2.33, "met"),
        (Target("peer", "wall", over="ours", at_least=7 / 3), 2.33, "met"),
        (Target("peer", "wall", over="ours", at_least=2.34), 2.33, "missed"),
        (Target("ours", "wall", over="peer", less="bare", at_most=0.34), 0.333, "met"),
        (Target("ours", "wall", over="peer", less="bare", at_most=2 / 6), 0.333, "met"),
        (Target("ours", "wall", over="peer", less="bare", at_most=0.33), 0.333, "missed"),
        (Target("ours", "peak", at_most=330.0), 330.0, "met"),
        (Target("ours", "peak", at_most=329.0), 330.0, "missed"),
    ],
)
def test_a_target_is_met_at_its_limit_and_missed_beyond(
    target: Target, found: float, outcome: str
) -> None:
    verdict = judge(target, MEDIANS, {})
    assert (verdict.found, verdict.outcome) == (found, outcome)


@pytest.mark.parametrize("role", ["of", "over", "less"])
def test_a_target_is_not_measured_without_one_of_its_contenders(role: str) -> None:
    names = {"of": "ours", "over": "peer", "less": "bare"} | {role: "trec_eval"}
    absent = {"trec_eval": "set TREC_EVAL to the program"}
    target = Target(figure="wall", at_least=25.0, **names)  # type: ignore[arg-type]
    verdict = judge(target, MEDIANS, absent)
    assert (verdict.found, verdict.outcome) == (
        None,
        "not measured: set TREC_EVAL to the program",
    )


def test_targets_name_contenders_of_their_workload() -> None:
    for workload in WORKLOADS:
        names = {contender.name for contender in workload.contenders} | {None}
        for target in workload.targets:
            assert {target.of, target.over, target.less} <= names, workload.name


def test_a_small_run_has_the_contenders_that_floors_name_and_no_others() -> None:
    small = {workload.name: keep_floors(workload) for workload in WORKLOADS}
    marco, robust = small["marco"], small["robust"]
    assert [contender.name for contender in marco.contenders] == ["ours", "trec_eval"]
    assert all(target.floor for target in marco.targets)
    assert not robust.contenders
    assert not robust.targets


def test_the_cpu_time_of_a_process_is_what_the_system_adds_to_that_of_all_children(
    tmp_path: Path,
) -> None:
    def count() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = count()
    finished = run_process([sys.executable, "-c", "sum(range(1_000_000))"], tmp_path)
    # Each of the sums has two times, which the system cuts to microseconds.
    assert finished.cpu > 0
    assert finished.cpu == pytest.approx(count() - before, abs=4e-6)

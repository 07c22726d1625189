"""Running out of memory is an error of Python, and no input makes work grow with its square."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SWEEP = Path(__file__).with_name("short_of_memory.py")
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="needs /proc, which says how much memory is held"
)


EVERY_POWER = pytest.param(
    1, marks=pytest.mark.thorough(reason="three times the limits, each tried in every way")
)


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("step", [3, EVERY_POWER])
def test_every_way_in_reports_that_memory_has_run_out(step: int, tmp_path: Path) -> None:
    """Whatever the limit, there is the right value or a `MemoryError`: no signal, nothing else."""
    swept = subprocess.run(
        [sys.executable, SWEEP, tmp_path, str(step)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    outcomes = dict(map(json.loads, swept.stdout.splitlines()))
    assert {one for of_way in outcomes.values() for one in of_way} == {"memory", "same"}
    assert {(of_way[0], of_way[-1]) for of_way in outcomes.values()} == {("memory", "same")}


@needs_proc
def test_a_command_under_ulimit_ends_with_status_4(tmp_path: Path) -> None:
    lines = [(f"q{row // 100}", f"document-{row}", row % 4) for row in range(300_000)]
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in lines))
    run.write_text("".join(f"{query} Q0 {doc} 1 0.5 tag\n" for query, doc, _ in lines))
    loaded = "import rankscope.evaluation.command; print(open('/proc/self/status').read())"
    facts = subprocess.run([sys.executable, "-c", loaded], stdout=subprocess.PIPE, check=True)
    peak = int(facts.stdout.partition(b"VmPeak:")[2].split()[0])
    statuses = set()
    for more in (8_000, 16_000, 32_000, 1_000_000):
        command = f"ulimit -v {peak + more}; exec {sys.executable} -m rankscope"
        ended = subprocess.run(
            ["/bin/sh", "-c", f"{command} eval {qrels} {run} -m nDCG@10"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode in {0, 4}, ended.stderr
        assert ended.returncode == 0 or "[memory]" in ended.stderr
        assert (ended.stdout == "") == (ended.returncode == 4)
        statuses.add(ended.returncode)
    assert statuses == {0, 4}


def test_the_error_is_a_memory_error_of_python() -> None:
    assert issubclass(rs.OutOfMemoryError, MemoryError)
    assert issubclass(rs.OutOfMemoryError, rs.RankscopeError)
    assert rs.OutOfMemoryError.exit_status == 4


def test_a_memory_error_of_another_library_ends_a_command_with_status_4(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run_out(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("rankscope.cli.read_options", run_out)
    monkeypatch.setattr("rankscope.cli.drop_output", lambda: None)
    assert main(["measures"]) == 4
    assert "[memory]" in capfd.readouterr().err


def test_the_work_does_not_grow_with_the_cutoffs() -> None:
    grades = np.arange(300_000) % 4  # squared, this would take long
    for measure in (rs.ndcg, rs.dcg, rs.idcg, rs.cg):
        assert measure(grades, k="all")[-1] == measure(grades)


GRADES = st.sampled_from([0, 1, 2, 3, 0.5, -1, 10, float("nan")])
GAINS = ["linear", "exp2", "binary", {-1: -2, 0: 0, 0.5: 0.25, 1: 1, 2: 5, 3: 2, 10: 3}]
DISCOUNTS = [
    {"discount": "log2"},
    {"discount": "log", "base": 2.5},
    {"discount": "jk", "base": 3},
    {"discount": "reciprocal"},
    {"discount": "linear"},
    {"discount": "zipf", "s": 1.3},
    {"discount": [1 / rank**0.5 for rank in range(1, 61)]},
]


@given(
    lists=st.lists(st.lists(GRADES, min_size=1, max_size=40), min_size=1, max_size=3),
    cutoffs=st.lists(st.integers(1, 60), min_size=2, max_size=6),
    measure=st.sampled_from([rs.ndcg, rs.dcg, rs.idcg, rs.cg]),
    gain=st.sampled_from(GAINS),
    discount=st.sampled_from(DISCOUNTS),
    negative=st.sampled_from(["nonrelevant", "gain", "minmax", "error"]),
    missing_gain=st.sampled_from([None, 0.5, -1]),
    empty=st.sampled_from(["zero", "one", "skip", "nan", "error"]),
    has_ideal=st.booleans(),
)
def test_many_cutoffs_give_the_bits_that_each_gives(
    *,
    lists: list[list[float]],
    cutoffs: list[int],
    measure: Callable[..., Any],
    gain: object,
    discount: dict[str, object],
    negative: str,
    missing_gain: float | None,
    empty: str,
    has_ideal: bool,
) -> None:
    settings: dict[str, object] = {
        "gain": gain,
        "negative": negative,
        "missing_gain": missing_gain,
    }
    settings |= {} if measure is rs.cg else discount
    settings |= {"empty": empty} if measure is rs.ndcg else {}
    if has_ideal and measure in {rs.ndcg, rs.idcg}:
        settings["ideal"] = [[*of_list[1:], 3, 1] for of_list in lists]

    def find(k: int | list[int]) -> bytes | tuple[object, ...]:
        try:
            values = measure(lists, k=k, **settings)
        except rs.RankscopeError as error:
            return type(error), error.code
        return values.tobytes()

    one_by_one = [find(k) for k in cutoffs]
    together = find(cutoffs)
    refused = [one for one in one_by_one if isinstance(one, tuple)]
    if refused:
        assert together in refused
    else:
        columns = [np.frombuffer(one) for one in one_by_one if isinstance(one, bytes)]
        assert together == np.stack(columns, axis=-1).tobytes()

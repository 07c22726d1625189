"""Let the contenders of a workload take turns. Every rule of the timing is in this file.

Each run is a process of its own. A first round, which is not counted, brings files and programs
into the page cache and checks the means. After it the contenders alternate: five counted runs
each, three where the first took more than ten seconds. Medians are compared. What is too short to
be timed once is repeated inside the process, see `Stopwatch.repeat`.
"""

from __future__ import annotations

import json
import shlex
import statistics
import sys
from typing import TYPE_CHECKING

from dev.benchmarks.agreement import check_means, read_table, read_trec_eval
from dev.benchmarks.environments import OURS, interpreter
from dev.benchmarks.process import run_process
from dev.benchmarks.workloads import environments, placeholders
from dev.environments import ROOT

if TYPE_CHECKING:
    from dev.benchmarks.corpora.files import CorpusFiles
    from dev.benchmarks.workloads import Contender, Workload

RUNS = 5
RUNS_OF_LONG = 3
LONG_SECONDS = 10.0

Sample = dict[str, float]


def race(workload: Workload, files: CorpusFiles | None, *, small: bool) -> dict[str, list[Sample]]:
    """Measure the contenders of a workload.

    Args:
        workload: What to measure.
        files: The files they read, or nothing.
        small: Whether one counted run is enough.

    Returns:
        The counted samples of each contender: seconds `wall`, `inside` and of each step, and
        `peak` in MB.
    """
    commands = {
        contender.name: fill_command(contender.command, files) for contender in workload.contenders
    }
    if files is not None:
        files.read_once()
    wanted: dict[str, int] = {}
    for contender in workload.contenders:
        wall = run_once(contender, commands[contender.name], files)["wall"]
        wanted[contender.name] = RUNS_OF_LONG if wall > LONG_SECONDS else RUNS
        if small:
            wanted[contender.name] = 1
    samples: dict[str, list[Sample]] = {name: [] for name in commands}
    for turn in range(max(wanted.values())):
        for contender in workload.contenders:
            if turn < wanted[contender.name]:
                sample = run_once(contender, commands[contender.name], files)
                samples[contender.name].append(sample)
                print(f"{workload.name}: {contender.name} {sample['wall']:.3f} s", file=sys.stderr)
    return samples


def run_once(contender: Contender, command: list[str], files: CorpusFiles | None) -> Sample:
    """Run a contender once, and check its means.

    Args:
        contender: What runs.
        command: Its command without placeholders.
        files: The files it reads, or nothing.

    Returns:
        The figures of this run.
    """
    finished = run_process(command, ROOT)
    seconds: dict[str, float] = {}
    if files is not None and contender.prints != "nothing":
        if contender.prints == "report":
            report = json.loads(finished.output)
            seconds, means = report["seconds"], report["means"]
            seconds["inside"] = sum(seconds.values())
        elif contender.prints == "table":
            means = read_table(finished.output)
        else:
            means = read_trec_eval(finished.output)
        check_means(contender, means, files.expected)
    return {"wall": finished.wall, "peak": finished.peak, **seconds}


def medians(samples: list[Sample]) -> Sample:
    """Take the median of each figure.

    Args:
        samples: The counted samples of one contender.

    Returns:
        Medians by figure.
    """
    return {
        figure: statistics.median(sample[figure] for sample in samples) for figure in samples[0]
    }


def fill_command(command: str, files: CorpusFiles | None) -> list[str]:
    """Replace the placeholders of a command.

    Args:
        command: As declared.
        files: The files it reads, or nothing.

    Returns:
        The program and its arguments.
    """
    values: dict[str, str] = {}
    for name in placeholders(command):
        if name in environments(command):
            values[name] = str(interpreter(name))
        elif name == "bin":
            values[name] = str(interpreter(OURS).parent)
        elif files is not None and name in files.paths:
            values[name] = str(files.paths[name])
        else:
            raise ValueError(f"Expected a corpus with {name!r} for {command!r}.")
    return [word.format_map(values) for word in shlex.split(command)]

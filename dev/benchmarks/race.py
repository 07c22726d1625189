"""Let the contenders of a workload take turns. Every rule of the timing is in this file.

Each run is a process of its own. A first round, which is not counted, brings files and programs
into the page cache. After it the contenders alternate: five counted runs each. Medians are
compared. What is too short to be timed once is repeated inside the process, see `Stopwatch.repeat`.
"""

from __future__ import annotations

import json
import shlex
import statistics
import sys
from typing import TYPE_CHECKING

from dev.benchmarks.agreement import check_means, read_table, read_trec_eval
from dev.benchmarks.environments import OURS, TREC_EVAL, interpreter
from dev.benchmarks.process import run_process
from dev.benchmarks.workloads import environments, placeholders
from dev.environments import ROOT

if TYPE_CHECKING:
    from dev.benchmarks.corpora.files import CorpusFiles
    from dev.benchmarks.workloads import Contender, Workload

RUNS = 5

Sample = dict[str, float]


def race(workload: Workload, files: CorpusFiles | None) -> dict[str, list[Sample]]:
    """Measure the contenders of a workload.

    Args:
        workload: What to measure.
        files: The files they read, or nothing.

    Returns:
        The counted samples of each contender: seconds `wall`, `cpu`, `inside` and of each step,
        and `peak` in MB.
    """
    commands = {
        contender.name: fill_command(contender.command, files) for contender in workload.contenders
    }
    if files is not None:
        files.read_once()
    samples: dict[str, list[Sample]] = {name: [] for name in commands}
    for turn in range(1 + RUNS):
        for contender in workload.contenders:
            sample = run_once(contender, commands[contender.name], files)
            if turn > 0:
                samples[contender.name].append(sample)
                print(f"{workload.name}: {contender.name} {sample['wall']:.3f} s", file=sys.stderr)
    return samples


def run_once(contender: Contender, command: list[str], files: CorpusFiles | None) -> Sample:
    """Run a contender once, and check its means."""
    finished = run_process(command, ROOT)
    seconds: dict[str, float] = {}
    if files is not None and contender.prints != "nothing":
        if contender.prints == "report":
            report = json.loads(finished.output)
            seconds, means = report["seconds"], report["means"]
            seconds |= {"inside": sum(seconds.values()), **report["cpu"]}
        elif contender.prints == "table":
            means = read_table(finished.output)
        else:
            means = read_trec_eval(finished.output)
        check_means(contender, means, files.expected)
    return {"wall": finished.wall, "cpu": finished.cpu, "peak": finished.peak, **seconds}


def medians(samples: list[Sample]) -> Sample:
    """Take the median of each figure."""
    return {
        figure: statistics.median(sample[figure] for sample in samples) for figure in samples[0]
    }


def fill_command(command: str, files: CorpusFiles | None) -> list[str]:
    """Replace the placeholders of a command."""
    values: dict[str, str] = {}
    for name in placeholders(command):
        if name in environments(command):
            values[name] = str(interpreter(name))
        elif name == "bin":
            values[name] = str(interpreter(OURS).parent)
        elif name == "trec_eval" and TREC_EVAL is not None:
            values[name] = TREC_EVAL
        elif files is not None and name in files.paths:
            values[name] = str(files.paths[name])
        else:
            raise ValueError(f"Expected a corpus with {name!r} for {command!r}.")
    return [word.format_map(values) for word in shlex.split(command)]

"""Measure ours and the peers side by side: `python -m dev.benchmarks [--small] [--only NAME]`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from dev.benchmarks.agreement import WrongMeanError
from dev.benchmarks.corpora.files import write_corpus
from dev.benchmarks.environments import WORK, interpreter
from dev.benchmarks.race import medians, race
from dev.benchmarks.record import (
    RECORDS,
    Measured,
    Record,
    publish_record,
    render_record,
    write_record,
)
from dev.benchmarks.verdicts import judge
from dev.benchmarks.workloads import Workload, environments, read_workloads
from dev.environments import installed_packages
from dev.machine import describe_machine
from dev.record import today


def main() -> int:
    """Run the benchmark.

    Returns:
        Exit status: 0 where every mean is right, 1 where one is not.
    """
    names = [workload.name for workload in read_workloads(small=False)]
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a hundredth of the size, one run")
    parser.add_argument("--only", action="append", choices=names, help="this workload; repeatable")
    parser.add_argument(
        "--without", action="append", default=[], help="leave out this contender; repeatable"
    )
    parser.add_argument(
        "--with",
        dest="also",
        action="append",
        default=[],
        help="take in this contender, which is optional; repeatable",
    )
    options = parser.parse_args()
    workloads = [
        leave_out(workload, absent(workload, options.also) | set(options.without))
        for workload in read_workloads(small=options.small)
        if not options.only or workload.name in options.only
    ]
    try:
        record = measure(workloads, small=options.small)
    except WrongMeanError as error:
        print(error, file=sys.stderr)
        return 1
    whole = not (options.small or options.only or options.without)
    path = write_record(record, RECORDS if whole else WORK / "partial")
    if whole:
        publish_record(record)
    print(render_record(record))
    print(f"Written to {path}", file=sys.stderr)
    return 0


def measure(workloads: list[Workload], *, small: bool) -> Record:
    """Measure some workloads.

    Args:
        workloads: What to measure.
        small: Whether the corpora are cut, and one counted run is enough.

    Returns:
        What was found.
    """
    machine = describe_machine()
    corpora, measured = {}, []
    for workload in workloads:
        files = None
        if workload.corpus is not None:
            files = write_corpus(workload.corpus, WORK / "small" if small else WORK)
            corpora[workload.corpus.name] = files.sha256
        samples = race(workload, files, small=small)
        found = {name: medians(runs) for name, runs in samples.items()}
        verdicts = [judge(target, found) for target in workload.targets]
        measured.append(Measured(workload.name, workload.about, samples, found, verdicts))
    used = {
        name
        for workload in workloads
        for contender in workload.contenders
        for name in environments(contender.command)
    }
    packages = {name: installed_packages(interpreter(name)) for name in sorted(used)}
    return Record(today(), machine, packages, corpora, measured)


def absent(workload: Workload, also: list[str]) -> set[str]:
    """Find the contenders that take part only where they are asked for, and are not.

    Args:
        workload: What was declared.
        also: Contenders that were asked for.

    Returns:
        Their names.
    """
    optional = {contender.name for contender in workload.contenders if contender.optional}
    return optional - set(also)


def leave_out(workload: Workload, names: set[str]) -> Workload:
    """Drop contenders from a workload, with the targets that speak of them.

    Args:
        workload: What was declared.
        names: Contenders that do not run.

    Returns:
        The workload without them.
    """
    return replace(
        workload,
        contenders=[contender for contender in workload.contenders if contender.name not in names],
        targets=[
            target
            for target in workload.targets
            if not names & {target.of, target.over, target.less}
        ],
    )


if __name__ == "__main__":
    sys.exit(main())

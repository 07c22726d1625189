"""Measure ours and the peers side by side: `python -m dev.benchmarks [--small] [--only NAME]`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from dev.benchmarks.agreement import WrongMeanError
from dev.benchmarks.corpora.files import write_corpus
from dev.benchmarks.environments import TREC_EVAL, WORK, interpreter
from dev.benchmarks.race import medians, race
from dev.benchmarks.record import (
    RECORDS,
    Measured,
    Record,
    render_floors,
    render_record,
    write_record,
)
from dev.benchmarks.verdicts import judge
from dev.benchmarks.workloads import (
    Workload,
    environments,
    keep_floors,
    placeholders,
    read_workloads,
)
from dev.environments import installed_packages
from dev.machine import describe_machine
from dev.record import today


def main() -> int:
    """Run the benchmark.

    Returns:
        Exit status: 0 where every mean is right, 1 where one is not.
    """
    workloads = read_workloads()
    names = [workload.name for workload in workloads]
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks", description=__doc__)
    parser.add_argument("--small", action="store_true", help="the floors only, as one table")
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
    if options.only:
        workloads = [workload for workload in workloads if workload.name in options.only]
    if options.small:
        workloads = [floors for each in workloads if (floors := keep_floors(each)).targets]
        if not workloads:
            parser.error(f"no floors in {', '.join(options.only)}; leave out --small")
    try:
        record = measure(workloads, options.also, options.without)
    except WrongMeanError as error:
        print(error, file=sys.stderr)
        return 1
    whole = not (options.small or options.only or options.without)
    path = write_record(record, RECORDS if whole else WORK / "partial")
    print(render_floors(record) if options.small else render_record(record))
    print(f"Written to {path}", file=sys.stderr)
    return 0


def measure(workloads: list[Workload], also: list[str], without: list[str]) -> Record:
    """Measure some workloads."""
    machine = describe_machine()
    corpora, measured, used = {}, [], set()
    for declared in workloads:
        absent = find_absent(declared, also, without)
        present = [each for each in declared.contenders if each.name not in absent]
        workload = replace(declared, contenders=present)
        files = None
        if workload.corpus is not None:
            files = write_corpus(workload.corpus, WORK)
            corpora[workload.corpus.name] = files.sha256
        samples = race(workload, files)
        found = {name: medians(runs) for name, runs in samples.items()}
        verdicts = [judge(target, found, absent) for target in workload.targets]
        measured.append(Measured(workload.name, workload.about, samples, found, verdicts))
        for contender in present:
            used |= environments(contender.command)
    packages = {name: installed_packages(interpreter(name)) for name in sorted(used)}
    return Record(today(), machine, packages, corpora, measured)


def find_absent(workload: Workload, also: list[str], without: list[str]) -> dict[str, str]:
    """Return the contenders that don't run, and what to do about it."""
    absent = {name: f"remove --without {name!r}" for name in without}
    for contender in workload.contenders:
        if contender.optional and contender.name not in also:
            absent[contender.name] = f"add --with {contender.name!r}"
        elif "trec_eval" in placeholders(contender.command) and TREC_EVAL is None:
            absent[contender.name] = "set TREC_EVAL to the program"
    return absent


if __name__ == "__main__":
    sys.exit(main())

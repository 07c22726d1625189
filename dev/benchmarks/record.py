"""Write what was measured, for machines and for readers."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from dev.benchmarks.race import RUNS
from dev.environments import ROOT
from dev.record import write_page

if TYPE_CHECKING:
    from pathlib import Path

    from dev.benchmarks.race import Sample
    from dev.benchmarks.verdicts import Verdict

RECORDS = ROOT / "dev" / "benchmarks" / "records"
# What rankscope is called in the list of workloads and in the JSON of a record.
OURS = re.compile(r"\bours\b")
# Seconds below this have four places.
SHORT = 0.1
FIGURES = {
    "wall": "process, s",
    "cpu": "process CPU, s",
    "inside": "without imports, s",
    "load": "load, s",
    "evaluate": "evaluate, s",
    "evaluate_cpu": "evaluate CPU, s",
    "peak": "peak, MB",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """One workload with its figures.

    Args:
        name: Name of the workload.
        about: What it is.
        samples: Counted runs of each contender.
        medians: Medians by contender and figure.
        verdicts: The targets and what was found.
    """

    name: str
    about: str
    samples: dict[str, list[Sample]]
    medians: dict[str, Sample]
    verdicts: list[Verdict]


@dataclass(frozen=True, slots=True)
class Record:
    """All that one run of the benchmark found.

    Args:
        date: Day of the run, UTC.
        machine: Facts of the machine and of the checkout.
        packages: Versions of the packages of each environment.
        corpora: Checksums of the files of each corpus, by their placeholders.
        workloads: What was measured.
    """

    date: str
    machine: dict[str, str | int | float | bool]
    packages: dict[str, dict[str, str]]
    corpora: dict[str, dict[str, str]]
    workloads: list[Measured]


def write_record(record: Record, folder: Path) -> Path:
    """Write a record as JSON and as a page."""
    page = write_page("Benchmarks", render_record(record), folder, record.date)
    path = page.with_suffix(".json")
    path.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")
    return path


def render_record(record: Record) -> str:
    """Set a record as Markdown."""
    return "\n".join(
        [_render_head(record), *(_render_workload(measured) for measured in record.workloads)]
    )


def render_floors(record: Record) -> str:
    """Set the floors of a record as lines of text."""
    rows = [
        (OURS.sub("rankscope", f"{measured.name}: {verdict.what}"), verdict)
        for measured in record.workloads
        for verdict in measured.verdicts
    ]
    width = max(len(what) for what, _ in rows)
    lines = [
        f"{what:{width}}  {verdict.asked:16}  {_result(verdict):>6}  {verdict.outcome}"
        for what, verdict in rows
    ]
    heading = f"{'floor':{width}}  {'required':16}  result"
    note = "\nA busy machine misses floors, so a missed floor isn't an error. Repeat it when idle."
    return "\n".join([_render_head(record), heading, *lines, note])


def _render_head(record: Record) -> str:
    machine = record.machine
    tree = "commit with changes" if machine["dirty"] else "commit"
    return (
        f"Measured on {record.date}: {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['system']}, Python {machine['python']}, "
        f"load {machine['load_before']} before, {tree} `{str(machine['commit'])[:12]}`.\n"
    )


def _render_workload(measured: Measured) -> str:
    present = {figure for median in measured.medians.values() for figure in median}
    figures = [figure for figure in FIGURES if figure in present]
    lines = [
        f"### {measured.name}",
        "",
        f"{measured.about}. Medians of {RUNS} runs.",
        "",
        f"| | {' | '.join(FIGURES[figure] for figure in figures)} |",
        f"|---|{'--:|' * len(figures)}",
    ]
    for name, median in measured.medians.items():
        cells = [_number(median.get(figure), figure) for figure in figures]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    if measured.verdicts:
        lines += ["", "| comparison | target | result | |", "|---|---|--:|---|"]
        lines += [
            f"| {verdict.what} | {verdict.asked} | {_result(verdict)} | {verdict.outcome} |"
            for verdict in measured.verdicts
        ]
    return OURS.sub("rankscope", "\n".join([*lines, ""]))


def _result(verdict: Verdict) -> str:
    return "" if verdict.found is None else f"{verdict.found:g}"


def _number(value: float | None, figure: str) -> str:
    if value is None:
        return ""
    if figure == "peak":
        return f"{value:.0f}"
    return f"{value:.4f}" if value < SHORT else f"{value:.3f}"

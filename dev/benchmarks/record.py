"""Write what was measured, for machines and for readers."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from dev.environments import ROOT
from dev.record import write_page

if TYPE_CHECKING:
    from pathlib import Path

    from dev.benchmarks.race import Sample
    from dev.benchmarks.verdicts import Verdict

RECORDS = ROOT / "dev" / "benchmarks" / "records"
PAGE = ROOT / "docs" / "benchmarks.md"
FENCE = re.compile(r"(?<=<!-- newest record -->\n).*?(?=<!-- end of it -->)", flags=re.DOTALL)
# What rankscope is called in the list of workloads and in the JSON of a record.
OURS = re.compile(r"\bours\b")
# Seconds below this have four places.
SHORT = 0.1
FIGURES = {"wall": "process, s", "inside": "without imports, s", "load": "load, s"} | {
    "evaluate": "evaluate, s",
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
    """Write a record as JSON and as a page.

    Args:
        record: What was found.
        folder: Where the two files go.

    Returns:
        Path of the JSON file.
    """
    page = write_page("Benchmarks", render_record(record), folder, record.date)
    path = page.with_suffix(".json")
    path.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")
    return path


def publish_record(record: Record) -> None:
    """Show a record in the documentation.

    Args:
        record: The newest one.
    """
    page = PAGE.read_text(encoding="utf-8")
    shown = f"\n{render_record(record)}\n"
    PAGE.write_text(FENCE.sub(lambda _: shown, page, count=1), encoding="utf-8")


def render_record(record: Record) -> str:
    """Set a record as Markdown.

    Args:
        record: What was found.

    Returns:
        A table of medians a workload, each with its targets.
    """
    machine = record.machine
    tree = "commit with changes" if machine["dirty"] else "commit"
    head = (
        f"Measured on {record.date}: {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['system']}, Python {machine['python']}, "
        f"load {machine['load_before']} before, {tree} `{str(machine['commit'])[:12]}`.\n"
    )
    return "\n".join([head, *(_render_workload(measured) for measured in record.workloads)])


def _render_workload(measured: Measured) -> str:
    present = {figure for median in measured.medians.values() for figure in median}
    figures = [figure for figure in FIGURES if figure in present]
    lines = [
        f"### {measured.name}",
        "",
        f"{measured.about}. Medians.",
        "",
        f"| | runs | {' | '.join(FIGURES[figure] for figure in figures)} |",
        f"|---|--:|{'--:|' * len(figures)}",
    ]
    for name, median in measured.medians.items():
        cells = [_number(median.get(figure), figure) for figure in figures]
        lines.append(f"| {name} | {len(measured.samples[name])} | {' | '.join(cells)} |")
    if measured.verdicts:
        lines += ["", "| comparison | target | result | |", "|---|---|--:|---|"]
        lines += [
            f"| {verdict.what} | {verdict.asked} | {verdict.found:g} | {_outcome(verdict)} |"
            for verdict in measured.verdicts
        ]
    return OURS.sub("rankscope", "\n".join([*lines, ""]))


def _number(value: float | None, figure: str) -> str:
    if value is None:
        return ""
    if figure == "peak":
        return f"{value:.0f}"
    return f"{value:.4f}" if value < SHORT else f"{value:.3f}"


def _outcome(verdict: Verdict) -> str:
    outcome = "met" if verdict.met else "**missed**"
    if verdict.aim_met is None or not verdict.met:
        return outcome
    return "aim met" if verdict.aim_met else f"{outcome}, aim missed"

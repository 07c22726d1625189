"""Read what is measured, and what is asked of it, from workloads.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from dev.benchmarks.corpora.corpus import Corpus
from dev.benchmarks.environments import OURS, PREFIX

DECLARATIONS = Path(__file__).with_name("workloads.toml")

Figure = Literal["wall", "cpu", "load", "evaluate", "evaluate_cpu", "inside", "peak"]


@dataclass(frozen=True, slots=True)
class Contender:
    """One process that is measured.

    Args:
        name: Its name in the record, `ours` for ours.
        command: The command line, with placeholders in braces.
        prints: What its standard output is, `nothing` where there is nothing to check.
        ties: Whether it orders documents with equal scores by id, or anyhow.
        within: How far its means may be from the right ones, if not as far as those of others.
        measures: The measures it computes, if not all of the corpus.
        optional: Whether it takes part only where it is asked for by name.
    """

    name: str
    command: str
    prints: Literal["report", "table", "trec_eval", "nothing"] = "nothing"
    ties: Literal["doc_id", "any"] = "doc_id"
    within: float | None = None
    measures: list[str] | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked of a figure, or of the quotient of two.

    Args:
        of: The contender.
        figure: Its figure.
        over: The contender whose figure divides, or nothing.
        over_figure: The figure that divides, where it is another one.
        less: A contender whose figure is subtracted from both first, or nothing.
        at_least: Smallest number that meets the target.
        at_most: Largest number that meets the target.
        floor: Whether it also counts in a small run, which checks nothing else.
    """

    of: str
    figure: Figure
    over: str | None = None
    over_figure: Figure | None = None
    less: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    floor: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """Contenders that do the same work, side by side.

    Args:
        name: Its name in the record and on the command line.
        about: One line for the reader of the record.
        contenders: The processes, in the order in which they take turns.
        targets: What is asked of the figures.
        corpus: The files they read, or nothing.
    """

    name: str
    about: str
    contenders: list[Contender]
    targets: list[Target] = field(default_factory=list)
    corpus: Corpus | None = None


def read_workloads() -> list[Workload]:
    """Read the declarations."""
    declared = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))
    corpora = {name: Corpus(name=name, **row) for name, row in declared["corpora"].items()}
    return [
        Workload(
            name=row["name"],
            about=row["about"],
            contenders=[Contender(**contender) for contender in row["contenders"]],
            targets=[Target(**target) for target in row.get("targets", [])],
            corpus=corpora[row["corpus"]] if "corpus" in row else None,
        )
        for row in declared["workloads"]
    ]


def keep_floors(workload: Workload) -> Workload:
    """Drop all targets but the floors, and the contenders that no floor names."""
    floors = [target for target in workload.targets if target.floor]
    names = {name for floor in floors for name in (floor.of, floor.over, floor.less)}
    contenders = [contender for contender in workload.contenders if contender.name in names]
    return replace(workload, contenders=contenders, targets=floors)


def environments(command: str) -> set[str]:
    """Find the environments whose interpreters a command names."""
    return {name for name in placeholders(command) if name == OURS or name.startswith(PREFIX)}


def placeholders(command: str) -> set[str]:
    """Find what stands in braces in a command."""
    return {part.partition("}")[0] for part in command.split("{")[1:]}

"""Read what is measured, and what is asked of it, from workloads.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from dev.benchmarks.corpora.corpus import Corpus
from dev.benchmarks.environments import OURS, PREFIX

DECLARATIONS = Path(__file__).with_name("workloads.toml")
SMALL_DIVISOR = 100
SMALL_ENVIRONMENTS = {OURS, f"{PREFIX}pytrec_eval"}
FEWEST_QUERIES = 2

Figure = Literal["wall", "load", "evaluate", "inside", "peak"]


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
        aim: What is hoped for beyond the target.
    """

    of: str
    figure: Figure
    over: str | None = None
    over_figure: Figure | None = None
    less: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    aim: float | None = None


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


def read_workloads(*, small: bool) -> list[Workload]:
    """Read the declarations.

    Args:
        small: Whether to cut the corpora, and to leave out what takes long to install.

    Returns:
        The workloads in their order.
    """
    declared = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))
    corpora = {name: Corpus(name=name, **row) for name, row in declared["corpora"].items()}
    workloads = [
        Workload(
            name=row["name"],
            about=row["about"],
            contenders=[Contender(**contender) for contender in row["contenders"]],
            targets=[Target(**target) for target in row.get("targets", [])],
            corpus=corpora[row["corpus"]] if "corpus" in row else None,
        )
        for row in declared["workloads"]
    ]
    return [_cut(workload) for workload in workloads] if small else workloads


def _cut(workload: Workload) -> Workload:
    about, corpus = workload.about, workload.corpus
    if corpus is not None:
        queries = max(FEWEST_QUERIES, corpus.queries // SMALL_DIVISOR)
        judgments = corpus.judgments * queries // corpus.queries
        corpus = replace(corpus, queries=queries, judgments=judgments)
        about += f"; cut to {queries} queries"
    kept = [
        contender
        for contender in workload.contenders
        if environments(contender.command) <= SMALL_ENVIRONMENTS
    ]
    # Targets hold for the full size only.
    return replace(workload, about=about, corpus=corpus, contenders=kept, targets=[])


def environments(command: str) -> set[str]:
    """Find the environments whose interpreters a command names.

    Args:
        command: A command of a contender.

    Returns:
        Their names.
    """
    return {name for name in placeholders(command) if name == OURS or name.startswith(PREFIX)}


def placeholders(command: str) -> set[str]:
    """Find what stands in braces in a command.

    Args:
        command: A command of a contender.

    Returns:
        The names without the braces.
    """
    return {part.partition("}")[0] for part in command.split("{")[1:]}

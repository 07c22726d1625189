"""Write what was measured, for readers, and hold it against what is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dev.environments import ROOT
from dev.load.searches import BATCH, DOCUMENTS
from dev.load.sending import CLIENTS, LABEL_RATE, LABELLED

if TYPE_CHECKING:
    from dev.load.processes import Evaluation, Service
    from dev.load.sending import Sent
    from dev.load.stored import Asked

RECORDS = ROOT / "dev" / "load" / "records"
MB = 1e6
MOST_DELAY = 0.250
MOST_MEMORY = 600 * MB
MOST_PAGE = 0.300
MOST_EVALUATION = 30.0


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was found while rankings came.

    Args:
        rate: How many a second were sent.
        shown: What became of them.
        told: What became of their labels.
        service: What the service used.
        size: How large the store is, in bytes.
        compared: How many values were compared.
        wrong: What is not as it has to be.
        are_together: Whether labels were sent with the rankings, and not after them.
    """

    rate: float
    shown: Sent
    told: Sent
    service: Service
    size: int
    compared: int
    wrong: list[str]
    are_together: bool


@dataclass(frozen=True, slots=True)
class Stored:
    """What was found of a store that is full.

    Args:
        rankings: How many rankings it has.
        seconds: How long it took to fill it.
        size: How large it is, in bytes.
        evaluation: What it took to evaluate all of it.
        asked: How soon pages were there.
        peak: The most memory that the service had meanwhile, in bytes.
    """

    rankings: int
    seconds: float
    size: int
    evaluation: Evaluation
    asked: list[Asked]
    peak: int


def find_misses(loaded: Loaded, stored: Stored) -> list[str]:
    """Say which figures are not what is asked.

    Args:
        loaded: What was found while rankings came.
        stored: What was found of a full store.
    """
    shown = loaded.shown
    rate = shown.events / shown.seconds
    figures = [
        ("rankings a second", -rate, -0.99 * loaded.rate),
        ("p99 of answers to rankings, s", _rank(shown.delays, 99), MOST_DELAY),
        ("memory of the service, bytes", loaded.service.peak, MOST_MEMORY),
        ("evaluation of all that is stored, s", stored.evaluation.seconds, MOST_EVALUATION),
        *((f"p95 of {one.path}, s", _rank(one.delays, 95), MOST_PAGE) for one in stored.asked),
        *((f"status of {one.path}", one.status, 200) for one in stored.asked),
    ]
    return [
        f"{what}: expected {abs(most):g}, found {abs(found):g}"
        for what, found, most in figures
        if found > most
    ]


def render_record(
    machine: dict[str, str | int | float | bool], loaded: Loaded, stored: Stored
) -> str:
    """Set what was measured as Markdown.

    Args:
        machine: Facts of the machine and of the checkout.
        loaded: What was found while rankings came.
        stored: What was found of a full store.
    """
    shown, told, service = loaded.shown, loaded.told, loaded.service
    tree = "commit with changes" if machine["dirty"] else "commit"
    if loaded.are_together:
        labels, seconds = "meanwhile the labels of all of them", max(shown.seconds, told.seconds)
    else:
        labels, seconds = (
            f"then the labels of one batch in {LABELLED}",
            shown.seconds + told.seconds,
        )
    busy = service.seconds / seconds
    head = (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['system']}, Python {machine['python']}, load {machine['load_before']} before, "
        f"{tree} `{str(machine['commit'])[:12]}`."
    )
    about = (
        f"{CLIENTS} clients on one core send {loaded.rate:,.0f} rankings a second to the service "
        f"on another, {BATCH} a request, {DOCUMENTS} documents each with ids of 12 bytes and with "
        f"scores; {labels}, three a ranking, of "
        f"{LABEL_RATE * loaded.rate:,.0f} rankings a second. The rate is kept however soon "
        "answers come; delays are from when a request was due. Ids of rankings "
        "and labels are random. All is on the disk when it is acknowledged. Meanwhile the service "
        "evaluates what came."
    )
    lines = [
        head,
        "",
        "## While rankings come",
        "",
        about,
        "",
        "| | |",
        "|---|--:|",
        *_list_sent("rankings", shown),
        *_list_sent("labels", told),
        f"| memory of the service and its evaluation, at most | {service.peak / MB:,.0f} MB |",
        f"| their core was busy for | {busy:.0%} of the time |",
        f"| its log, at most | {service.log / MB:,.0f} MB |",
        f"| bytes on the disk a ranking | {loaded.size / shown.events:,.0f} |",
        f"| values compared, to the last bit | {loaded.compared:,} |",
        f"| of them wrong | {len(loaded.wrong):,} |",
        "",
        f"## With {stored.rankings:,} rankings stored",
        "",
        "| | |",
        "|---|--:|",
        f"| filled, without the service | {stored.seconds:,.0f} s |",
        f"| size of the store | {stored.size / MB:,.0f} MB |",
        f"| all of it evaluated, with slices | {stored.evaluation.seconds:.1f} s |",
        f"| opened before, with a check of all pages | {stored.evaluation.opening:.1f} s |",
        f"| memory for that, at most | {stored.evaluation.peak / MB:,.0f} MB |",
        *(
            f"| `{one.path}`, ms: half, 95 of 100, the last | {_show(one.delays, 50, 95)} |"
            for one in stored.asked
            if one.status == 200
        ),
        f"| memory of the service, at most | {stored.peak / MB:,.0f} MB |",
        "",
    ]
    return "\n".join(lines)


def _list_sent(what: str, sent: Sent) -> list[str]:
    """List what became of what was sent."""
    times = _show(sent.delays, 50, 99)
    return [
        f"| {what} acknowledged | {sent.events:,} |",
        f"| {what} a second | {sent.events / sent.seconds:,.0f} |",
        f"| answer to {what}, ms: half, 99 of 100, the last | {times} |",
        f"| requests for which there was no room at once | {sent.refused:,} |",
        f"| other answers | {sum(sent.errors.values()):,} |",
    ]


def _rank(values: list[float], percent: int) -> float:
    """Return the smallest value below which there are so many of a hundred, or as many."""
    return float(np.percentile(values, percent, method="inverted_cdf")) if values else 0.0


def _show(delays: list[float], *percents: int) -> str:
    """Show milliseconds: how many some of a hundred took at most, and how many the last."""
    shown = [*(_rank(delays, percent) for percent in percents), max(delays, default=0.0)]
    return ", ".join(f"{delay * 1e3:.0f}" for delay in shown)

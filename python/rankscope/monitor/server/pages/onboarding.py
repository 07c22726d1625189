"""What is left to do until a project is monitored: a list that gets shorter, and then is gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope.monitor.evaluate.stored_windows import count_labels
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import DEFAULTS
from rankscope.monitor.store.chunks import list_texts
from rankscope.monitor.store.keys import TESTED

if TYPE_CHECKING:
    from rankscope.monitor.server.pages.overview import Overview


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A line of the list.

    Args:
        title: What it is about.
        is_done: Whether it is done.
        text: Why it is needed, or what it waits for.
        command: The command that does it, and what follows the store; empty where none does.
        link: The address of the page on which it is done, and what is done there; empty where there
            is none.
        is_needed: Whether the list stays until it is done.
    """

    title: str
    is_done: bool
    text: str
    command: tuple[str, str] = ("", "")
    link: tuple[str, str] = ("", "")
    is_needed: bool = True


def list_tasks(monitor: Monitor, view: Overview) -> tuple[Task, ...]:
    """List what is done and what is left, or nothing once all that is needed is done."""
    first, *others = _list_needed(monitor, view)
    if all(task.is_done for task in (first, *others)):
        return ()
    return (first, *_list_recommended(monitor, view), *others)


def _list_needed(monitor: Monitor, view: Overview) -> Iterator[Task]:
    configuration = monitor.configuration
    yield Task(
        title="Rankings",
        is_done=bool(view.versions),
        text="Log each list when you show it.",
        command=("ingest", "rankings.parquet"),
    )
    yield Task(
        title="Labels that count",
        is_done=view.has_labels and _has_weight(monitor, view),
        text=f"Log labels: {', '.join(configuration.definition.attribution.weights)}.",
        command=("label", "labels.parquet"),
    )
    yield Task(
        title="First final hour",
        is_done=view.has_rankings and any(view.measures[0].series[0].is_final),
        text="An hour is final once the attribution windows of its rankings are closed.",
    )
    yield Task(
        title="Baseline",
        is_done=configuration.baseline is None or view.baseline is not None,
        text="Log the set or the version that values are compared with.",
        link=("/settings", "Choose a baseline"),
    )
    yield Task(
        title="Rule",
        is_done=any(state.rule.name not in DEFAULTS for state in view.rules),
        text="A rule notifies you when quality drops.",
        command=("rule add", f"quality --measure {monitor.measures[-1]}"),
        link=("/rules/new", "Create a rule"),
    )
    yield Task(
        title="Channel",
        is_done=monitor.store.has_audit(monitor.project, TESTED),
        text="A test message shows that notifications arrive.",
        command=("channel test", "NAME"),
        link=("/channels", "Test a channel"),
    )


def _list_recommended(monitor: Monitor, view: Overview) -> Iterator[Task]:
    chosen = set(monitor.configuration.attributes)
    contexts = monitor.store.contexts(monitor.project).values()
    yield Task(
        title="Versions",
        is_done=any(version.version for version in view.versions),
        text="Log the version of the model with each ranking, so that you can compare releases.",
        is_needed=False,
    )
    yield Task(
        title="Users",
        is_done=_has_users(monitor, view),
        text="Log user_id with each ranking, so that intervals allow for people who search often.",
        is_needed=False,
    )
    yield Task(
        title="Attributes",
        is_done=any(name in chosen for context in contexts for name, _ in context.attributes),
        text="Log attributes, such as device and country, and slice by them.",
        link=("/settings", "Choose attributes"),
        is_needed=False,
    )


def _has_weight(monitor: Monitor, view: Overview) -> bool:
    """Return whether labels are grades, or some of their names count."""
    configuration, extent = monitor.configuration, view.extent
    hours = monitor.store.hours(monitor.project, configuration.digest, extent.since, extent.until)
    kinds = [kind for kind in count_labels(hours) if kind.labels]
    weights = configuration.definition.attribution.weights.keys()
    return not kinds or any(kind.is_grade or weights & set(kind.labels) for kind in kinds)


def _has_users(monitor: Monitor, view: Overview) -> bool:
    """Return whether the newest ranking has a user."""
    if view.newest is None:
        return False
    chunks = monitor.store.read(monitor.project, view.newest, view.newest + 1)
    return any(user for chunk in chunks for user in list_texts(chunk.user_ids))

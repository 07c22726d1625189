"""Baselines: what values are held against, each mean with its interval."""

from __future__ import annotations

from rankscope import engine
from rankscope.data.interval import Interval
from rankscope.errors import EmptyError
from rankscope.monitor.definition import check_comparable
from rankscope.monitor.grading import grade_chunk
from rankscope.monitor.times import format_time
from rankscope.monitor.values import evaluate_chunk
from rankscope.records import record
from rankscope.stats.means import estimate_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Literal, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.definition import Definition
    from rankscope.monitor.store.chunks import Chunk, Context
    from rankscope.monitor.store.protocol import Store, Version
    from rankscope.stats.means import Mean

    Kind: TypeAlias = Literal["set", "period", "version"]

INTERVAL = Interval(method="t")


@record(frozen=True, slots=True)
class Baseline:
    """What values are held against.

    Args:
        kind: A `set` that was uploaded, a `period`, or the `version` before.
        of: Which one, such as `validation` or `m 3`.
        definition: What the values are values of.
        means: By measure, the mean over rankings, with an interval over users, or over queries
            where users are unknown.
        rankings: How many rankings it has, those without relevant documents among them.
    """

    kind: Kind
    of: str
    definition: Definition
    means: Mapping[str, Mean]
    rankings: int

    def find(self, measure: str, definition: Definition) -> Mean:
        """Give the mean that values of a measure may be held against.

        Raises:
            UsageError: The values are of another definition, or there is no such measure.
        """
        check_comparable(self.definition.only(measure), definition.only(measure))
        return self.means[measure]


def measure_set(
    store: Store,
    project: str,
    definition: Definition,
    *,
    environment: Literal["validation", "training"] = "validation",
    model: str | None = None,
    version: str | None = None,
    interval: Interval = INTERVAL,
    threads: int | None = None,
) -> Baseline:
    """Measure a set that was uploaded: all of its labels count, and nothing is pending.

    Args:
        store: Where the events are.
        project: Whose they are.
        definition: What to measure.
        environment: Which set.
        model: The model that ranked it; any if left out.
        version: Its version; any if left out.
        interval: How intervals are made.
        threads: How many threads may work.

    Raises:
        EmptyError: There is no such ranking.
    """
    contexts = store.contexts(project)
    wanted = _find_contexts(contexts, environment, model, version)
    sample = _Sample(definition, wanted, None, threads)
    sample.take(store.read(project))
    name = _name(environment, model, version)
    return sample.average("set", name, interval)


def measure_period(
    store: Store,
    project: str,
    definition: Definition,
    *,
    since: int,
    until: int,
    now: int,
    model: str | None = None,
    version: str | None = None,
    interval: Interval = INTERVAL,
    threads: int | None = None,
) -> Baseline:
    """Measure the rankings of a period in production whose attribution windows are closed.

    Args:
        store: Where the events are.
        project: Whose they are.
        definition: What to measure.
        since: When the period begins, in microseconds since 1970 in UTC.
        until: When it is over.
        now: The moment as of which labels count.
        model: The model that ranked; any if left out.
        version: Its version; any if left out.
        interval: How intervals are made.
        threads: How many threads may work.

    Raises:
        EmptyError: There is no such ranking.
    """
    contexts = store.contexts(project)
    wanted = _find_contexts(contexts, "production", model, version)
    sample = _Sample(definition, wanted, now, threads)
    sample.take(store.read(project, since, until))
    name = _name(f"{format_time(since)} to {format_time(until)}", model, version)
    return sample.average("period", name, interval)


def measure_previous(
    store: Store,
    project: str,
    definition: Definition,
    *,
    model: str,
    version: str,
    now: int,
    since: int | None = None,
    interval: Interval = INTERVAL,
    threads: int | None = None,
) -> Baseline:
    """Measure the version of a model before another, as far as its rankings are mature.

    The version before is the one that was first shown last before the other was first shown.

    Args:
        store: Where the events are.
        project: Whose they are.
        definition: What to measure.
        model: The model.
        version: The version whose predecessor is wanted.
        now: The moment as of which labels count.
        since: From when on rankings count, in microseconds since 1970 in UTC.
        interval: How intervals are made.
        threads: How many threads may work.

    Raises:
        EmptyError: There is no version before, or it has no mature ranking.
    """
    contexts = store.contexts(project)
    found = find_previous(store.versions(project), model=model, version=version)
    if found is None:
        raise _empty(f"a version of {model} before {version}")
    wanted = _find_contexts(contexts, "production", model, found)
    sample = _Sample(definition, wanted, now, threads)
    sample.take(store.read(project, since))
    return sample.average("version", _name("", model, found), interval)


def find_previous(versions: Iterable[Version], *, model: str, version: str) -> str | None:
    """Find the version that was first shown last before another was; of two at once, by name.

    Args:
        versions: The versions that were shown, whichever models they are of.
        model: The model.
        version: The version whose predecessor is wanted.

    Returns:
        The version; `None` where there is none before, or the other was not shown.
    """
    first = {
        one.version: one.first
        for one in versions
        if (one.environment, one.model) == ("production", model)
    }
    if version not in first:
        return None
    here = (first[version], version)
    before = [(time, name) for name, time in first.items() if (time, name) < here]
    return max(before)[1] if before else None


class _Sample:
    """Values of some rankings, and whose they are.

    Args:
        definition: What to measure.
        contexts: The contexts of the rankings.
        now: As of when; without it, as of a set that was uploaded.
        threads: How many threads may work.
    """

    def __init__(
        self, definition: Definition, contexts: list[int], now: int | None, threads: int | None
    ) -> None:
        self._definition = definition
        self._contexts = contexts
        self._now = now
        self._threads = threads
        self._values: list[list[NDArray[np.float64]]] = []
        self._clusters: list[bytes] = []

    def take(self, chunks: Iterable[Chunk]) -> None:
        """Take the rankings of chunks."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        for chunk in chunks:
            is_wanted = np.isin(chunk.contexts, self._contexts)
            if not is_wanted.any():
                continue
            graded = grade_chunk(chunk, self._definition, self._now)
            values = evaluate_chunk(chunk, graded, self._definition, self._threads)
            kept = np.flatnonzero(is_wanted & graded.is_mature)
            self._values.append([measured.value[kept] for measured in values.measures])
            self._clusters.extend(_name_clusters(chunk, kept.tolist()))

    def average(self, kind: Kind, of: str, interval: Interval) -> Baseline:
        """Average what was taken.

        Raises:
            EmptyError: There is nothing.
        """
        import numpy as np  # noqa: PLC0415 - loads with the first array

        if not self._clusters:
            raise _empty(f"mature rankings of {of}")
        # Numbered in the order of their names, so that no order of events matters.
        numbers = {name: number for number, name in enumerate(sorted(set(self._clusters)))}
        clusters = np.array([numbers[name] for name in self._clusters], dtype=np.int64)
        columns = map(np.concatenate, zip(*self._values, strict=True))
        threads = engine.count_threads(self._threads)
        means = {
            measure.name: estimate_mean(values, clusters, interval, threads)
            for measure, values in zip(self._definition.measures, columns, strict=True)
        }
        return Baseline(kind, of, self._definition, means, len(clusters))


def _name_clusters(chunk: Chunk, places: list[int]) -> Iterator[bytes]:
    """Name whose ranking each is: the user, else the query, else nobody's but its own."""
    columns = [
        (kind, offsets.tolist(), text.tobytes())
        for kind, (offsets, text) in (
            (b"u", chunk.user_ids),
            (b"q", chunk.query_keys),
            (b"r", chunk.ranking_ids),
        )
    ]
    for place in places:
        for kind, offsets, text in columns:
            start, end = offsets[place], offsets[place + 1]
            if start < end:
                yield kind + text[start:end]
                break


def _find_contexts(
    contexts: Mapping[int, Context], environment: str, model: str | None, version: str | None
) -> list[int]:
    return [
        number
        for number, context in contexts.items()
        if context.environment == environment
        and (model is None or context.model == model)
        and (version is None or context.version == version)
    ]


def _name(what: str, model: str | None, version: str | None) -> str:
    return " ".join(filter(None, (what, model, version)))


def _empty(wanted: str) -> EmptyError:
    return EmptyError(
        f"expected {wanted}, found none",
        hint="send the events, or wait until attribution windows are closed",
        code="no_baseline",
    )

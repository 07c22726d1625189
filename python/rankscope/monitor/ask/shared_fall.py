"""Whether a version fell alone, or together with another one that serves at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rankscope.errors import InputError, UsageError
from rankscope.monitor.ask.comparison import VersionComparison, compare_served
from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.why.arrivals import RANKERS

Conclusion: TypeAlias = Literal["alike", "alone", "unknown"]


MOST_RANKINGS = 250_000
"""Incidents wait for this, so that it has to take seconds."""
LARGEST_SHARE = 0.5
"""Versions fell alike if more than this part of the fall can't be their difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallComparison:
    """A version that fell, and another one that served at the same time.

    Args:
        conclusion: `alike` if the other version fell, too, `alone` if it is better now, `unknown`
            if neither is known yet.
        fall: By how much the value is below what was expected.
        found: The comparison since the fall began; its `new` version is the one that fell.
    """

    conclusion: Conclusion
    fall: float
    found: VersionComparison

    @property
    def sentence(self) -> str:
        """What follows for people, without a full stop."""
        new, old = f"version {self.found.new}", f"version {self.found.old}"
        age = "" if self.found.is_final else ", by provisional values"
        if self.conclusion == "alike":
            return f"{old} fell like {new}{age}, so the cause isn't the release"
        if self.conclusion == "alone":
            return f"only {new} fell, and not {old} beside it{age}"
        if not self.found.difference.has_interval:
            return f"too few users have seen {new} to say whether {old} fell alike{age}"
        return f"it isn't known yet whether {old} beside it fell alike{age}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        said = self.found.to_dict()
        del said["days"]
        return {"conclusion": self.conclusion, "fall": self.fall, **said}


def compare_fall(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    *,
    measure: str,
    model: str,
    version: str,
    place: Slice,
    began: int,
    fall: float,
    now: int,
    threads: int | None = None,
) -> FallComparison | None:
    """Compare a version that fell with the one before it that still serves.

    Only rankings since the fall began count. That time was chosen by the version's own low values,
    which makes it look worse than the other: a fall is rather called its own than shared.
    """
    since = began - began % DAY
    served = [one for one in list_versions(store, project) if one.model == model]
    others = [
        one
        for one in served
        if one.version not in {version, OTHER}
        and one.first <= now - configuration.definition.window * SECOND
        and one.last >= began
    ]
    if not others or fall <= 0:
        return None
    came = min((one.first for one in served if one.version == version), default=0)
    # The one that it replaces, or else one that came later; a replay of the log chooses the same.
    beside = max(others, key=lambda one: (one.first <= came, one.first, one.version))
    try:
        found = compare_served(
            store,
            project,
            configuration,
            now=now,
            measure=measure,
            model=model,
            old=beside.version,
            new=version,
            place=place,
            since=since,
            most=MOST_RANKINGS,
            threads=threads,
        )
    except (UsageError, InputError):
        return None
    difference = found.difference
    conclusion: Conclusion = "unknown"
    if difference.lower > -LARGEST_SHARE * fall:
        conclusion = "alike"
    elif difference.is_worse:
        conclusion = "alone"
    return FallComparison(conclusion=conclusion, fall=fall, found=found)


def add_comparison(cause: Mapping[str, Any] | None, beside: FallComparison) -> dict[str, Any]:
    """Return the cause of an incident with what a version that served beside it tells.

    If both fell alike, the release is not named as the cause. What the trace has found comes second
    where the other version tells something.
    """
    traced = "" if cause is None else str(cause.get("sentence") or "").removesuffix(".")
    is_alike = beside.conclusion == "alike"
    is_of_release = cause is not None and any(name in RANKERS for name in cause.get("slice") or ())
    said = [beside.sentence, "" if is_alike and is_of_release else traced]
    if beside.conclusion == "unknown":
        said.reverse()
    first, *rest = filter(None, said)
    # Names of attributes stay as they are.
    first = first if first == traced else first[:1].upper() + first[1:]
    made: dict[str, Any] = {
        "slice": {},
        "by": "within",
        "contribution": beside.found.difference.value,
        "new_version": None,
        **(cause or {}),
        "sentence": "; ".join([first, *rest]) + ".",
        "comparison": beside.to_dict(),
    }
    if not is_alike:
        return made
    within = {name: value for name, value in made["slice"].items() if name not in RANKERS}
    return made | {"slice": within, "new_version": None}

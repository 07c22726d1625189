"""The versions of models that ranked in production."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.store.records import Version
from rankscope.monitor.store.store import StoreReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion:
    """A version of a model that ranked in production.

    Args:
        model: The model; empty where unknown, `<other>` for models that are not listed.
        version: Its version; empty where unknown, `<other>` for versions that are not listed.
        first: When its first stored ranking was shown, in UTC.
        last: When its last ranking was shown, in UTC.
        rankings: How many rankings it has.
        folded: How many versions an `<other>` stands for; otherwise 0.
    """

    model: str
    version: str
    first: datetime
    last: datetime
    rankings: int
    folded: int = 0


def list_versions(store: StoreReader, project: str) -> tuple[Version, ...]:
    """List the versions in production in the order in which they were first shown."""
    shown = [version for version in store.versions(project) if version.environment == "production"]
    return tuple(sorted(shown, key=lambda version: (version.first, version.model, version.version)))


def describe_version(stored: Version) -> ModelVersion:
    """Return a version of the store as the Python API shows it."""
    return ModelVersion(
        model=stored.model,
        version=stored.version,
        first=to_datetime(stored.first),
        last=to_datetime(stored.last),
        rankings=stored.rankings,
        folded=stored.folded,
    )

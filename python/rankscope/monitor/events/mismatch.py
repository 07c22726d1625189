"""Names of labels and attributes that don't match what the project counts and slices by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rankscope._names import as_dict, find_closest
from rankscope.monitor.events.bins import Bins
from rankscope.monitor.events.rejection import MOST_UNKNOWN, OTHER, show

Kind: TypeAlias = Literal[
    "unknown_label", "unmatched_label", "missing_attribute", "unknown_attribute"
]

if TYPE_CHECKING:
    from rankscope import _core


PRODUCTION = "production"
LONGEST = 80
"""Names are cut to so many characters: senders can make them up."""
MOST = 20
"""How many mismatches are reported at a time."""
ALIKE = 0.75
"""How alike names are that look like each other."""
MOST_UNMATCHED = 0.5
"""The share of labels for documents that weren't shown from which on that is a mismatch."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The names that a project is configured with.

    Args:
        labels: The labels that count.
        attributes: The attributes that it slices by.
        bins: The edges of bins of those that are numbers.
    """

    labels: tuple[str, ...]
    attributes: tuple[str, ...]
    bins: Bins = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A name that is not what the project is configured with.

    Args:
        kind: `unknown_label`, `unmatched_label` (its document isn't in its ranking),
            `missing_attribute` (no ranking has it) or `unknown_attribute`.
        name: The name, at most 80 characters; empty for labels that match no document.
        count: How many labels or rankings it is about.
        of: How many there are, or of labels that match no document, how many were looked up.
        like: The name that it looks like; empty if there is none.

    Examples:
        >>> print(Mismatch(kind="unknown_label", name="Click", count=3, of=3, like="click"))
        label 'Click' isn't configured, so it doesn't count (3 of 3 labels); it looks like 'click'
    """

    kind: Kind
    name: str
    count: int
    of: int
    like: str = ""

    def __str__(self) -> str:
        name, share = show(self.name), f"{self.count:,} of {self.of:,}"
        if self.kind == "unmatched_label":
            return f"{share} labels looked up are for documents that their rankings don't have"
        if self.kind == "unknown_label":
            message = f"label {name} isn't configured, so it doesn't count ({share} labels)"
        elif self.kind == "missing_attribute":
            where = f"all {self.of:,} rankings" if self.of > 1 else "the only ranking"
            message = f"attribute {name} is missing in {where}"
        else:
            message = f"attribute {name} isn't configured, so nothing is sliced by it"
            message += f" ({share} rankings)"
        if not self.like:
            return message
        if self.kind == "missing_attribute":
            return f"{message}; {show(self.like)} looks like it"
        return f"{message}; it looks like {show(self.like)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, with a message."""
        return as_dict(self) | {"message": str(self)}


class NameCounts:
    """Counts the names of labels and attributes, of a bounded number of names."""

    def __init__(self) -> None:
        self.labels: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.rankings = 0
        self.named = 0
        self.placed = 0
        self.unshown = 0

    def add_batch(self, batch: _core.EventBatch) -> None:
        """Count the names of events."""
        for names, count in batch.count_labels():
            self.add_labels(json.loads(names), count)
        for pairs, count in batch.count_attributes():
            self.add_rankings((name for name, _ in pairs), count)

    def add_labels(self, names: Sequence[str], count: int) -> None:
        """Count labels of one kind, if they have names."""
        if names:
            self.named += count
            _add(self.labels, names, count)

    def add_rankings(self, names: Iterable[str], count: int) -> None:
        """Count rankings with some attributes."""
        self.rankings += count
        _add(self.attributes, names, count)

    def add_placed(self, count: int, unshown: int) -> None:
        """Count labels whose rankings are known, and those for documents that weren't shown."""
        self.placed += count
        self.unshown += unshown

    def compare(self, expected: Expected) -> tuple[Mismatch, ...]:
        """Compare the names with those that are configured.

        Examples:
            >>> counts = NameCounts()
            >>> counts.add_labels(["Click"], 2)
            >>> counts.add_rankings(["Device"], 3)
            >>> for mismatch in counts.compare(Expected(("click",), ("device",))):
            ...     print(mismatch.kind, mismatch.name, mismatch.count, mismatch.like)
            missing_attribute device 3 Device
            unknown_label Click 2 click
        """
        mismatches = []
        for name, count in self.labels.items():
            if name not in expected.labels:
                like = find_alike(name, expected.labels)
                mismatches.append(
                    Mismatch(kind="unknown_label", name=name, count=count, of=self.named, like=like)
                )
        if self.unshown and self.unshown >= MOST_UNMATCHED * self.placed:
            mismatches.append(
                Mismatch(kind="unmatched_label", name="", count=self.unshown, of=self.placed)
            )
        others = [name for name in self.attributes if name not in expected.attributes]
        mismatches += [
            Mismatch(
                kind="missing_attribute",
                name=name,
                count=self.rankings,
                of=self.rankings,
                like=find_alike(name, others),
            )
            for name in expected.attributes
            if self.rankings and not self.attributes[name]
        ]
        named = {mismatch.like for mismatch in mismatches if mismatch.kind == "missing_attribute"}
        for name in sorted({*others} - named):
            like = find_alike(name, expected.attributes)
            mismatches.append(
                Mismatch(
                    kind="unknown_attribute",
                    name=name,
                    count=self.attributes[name],
                    of=self.rankings,
                    like=like,
                )
            )
        mismatches.sort(
            key=lambda mismatch: (
                not mismatch.like,
                mismatch.kind == "unknown_attribute",
                -mismatch.count,
            )
        )
        return tuple(mismatches[:MOST])


def find_alike(name: str, names: Iterable[str]) -> str:
    """Find the name that another one looks like, empty if there is none.

    Examples:
        >>> find_alike("Click", ["view", "click"]), find_alike("user-agent", ["user_agent"])
        ('click', 'user_agent')
        >>> find_alike("view", ["click"])
        ''
    """
    return _find_alike(name, tuple(names))


# Each request has the names of the one before.
@lru_cache(1000)
def _find_alike(name: str, names: tuple[str, ...]) -> str:
    plain = {_simplify(known): known for known in names}
    closest = find_closest(_simplify(name), plain, likeness=ALIKE)
    return "" if closest is None else plain[closest]


def _simplify(name: str) -> str:
    return "".join(each for each in name.casefold() if each.isalnum()) or name


def _add(counts: Counter[str], names: Iterable[str], count: int) -> None:
    for name in {each[:LONGEST] for each in names}:
        counts[name if name in counts or len(counts) < MOST_UNKNOWN else OTHER] += count

"""The configuration of a project: its definition and its baseline."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from rankscope._names import as_dict
from rankscope.errors import UsageError
from rankscope.monitor.definition.calendar import Calendar
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.definition.slices import MOST
from rankscope.monitor.events.bins import Bins, Edges
from rankscope.monitor.events.fields import can_be_stored
from rankscope.monitor.events.limits import DAY, SECOND, Limits
from rankscope.monitor.events.mismatch import Expected
from rankscope.monitor.events.times import (
    Duration,
    Time,
    count_micros,
    describe_time,
    format_time,
    read_length,
    read_span,
    set_times,
    to_datetime,
    write_duration,
)
from rankscope.monitor.store.store import StoreReader

Kind: TypeAlias = Literal["set", "period", "version"]


MOST_ATTRIBUTES = 6
MOST_VALUES = 250
MOST_EDGES = 19
LARGEST = sys.float_info.max
MOST_GRACE = 30 * DAY
GRACES = "a grace from 0 to 30 days"
LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineChoice:
    """The baseline that values are compared with.

    Args:
        kind: A `set` that was logged with its environment, a `period` of production, or the
            `version` before the newest.
        environment: Which set.
        model: The model that ranked (default: any).
        version: Its version (default: any).
        since: When the period begins: a `datetime` with a time zone, or ISO text. It is kept as a
            `datetime` in UTC.
        until: When the period ends.

    Raises:
        UsageError: The parts do not fit each other.

    Examples:
        >>> BaselineChoice().environment
        'validation'
    """

    kind: Kind = "set"
    environment: Literal["validation", "training"] = "validation"
    model: str | None = None
    version: str | None = None
    since: Time | None = None
    until: Time | None = None

    def __post_init__(self) -> None:
        if self.kind not in {"set", "period", "version"}:
            raise _bad("a set, a period or a version", self.kind, "write BaselineChoice()")
        if self.environment not in {"validation", "training"}:
            raise _bad("validation or training", self.environment, "choose the set that was logged")
        set_times(self, "since", "until")
        since, until = read_span(self.since, self.until)
        if self.kind == "period":
            if since is None or until is None or since >= until:
                found = None if since is None else format_time(since)
                raise _bad("since before until", found, "name both ends of the period")
        elif (self.since, self.until) != (None, None):
            raise _bad("a period with since and until", self.kind, 'say kind="period"')
        for ranker in (self.model, self.version):
            if not (ranker is None or can_be_stored(ranker, LIMITS.id_bytes)):
                raise _bad("the name of a model and a version", ranker, "omit it for any")
        if self.kind == "version" and self.version is not None:
            raise _bad(
                "no version", self.version, "the version is always the one before the newest"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as it is stored."""
        since, until = read_span(self.since, self.until)
        return as_dict(self) | {"since": since, "until": until}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> BaselineChoice:
        """Read what `to_dict` has written."""
        parts = dict(given)
        for name in ("since", "until"):
            if parts.get(name) is not None:
                parts[name] = to_datetime(parts[name])
        return cls(**parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The configuration of a project.

    Args:
        definition: The definition that values are computed with.
        attributes: The attributes that rankings are sliced by, at most 6.
        pairs: The pairs of attributes that are sliced together (default: all).
        most: The number of values of an attribute that have slices, at most 250; the rest is
            `<other>`.
        baseline: The baseline that values are compared with.
        grace: How long alerts wait for late events after the attribution windows of a period have
            closed: a `timedelta`, or text such as `1h`. It is kept as a `timedelta`.
        bins: By attribute that is a number, such as a price, the ascending edges of its bins, at
            most 19: `{"price": (10, 25)}` makes the values `below 10`, `10 to below 25` and `25 or
            more`.
        retention: How long a service keeps events; values stay (default: for ever).
        calendar: The periods that alerts and baselines leave out, or compare with others like them.

    Raises:
        UsageError: A part is none, or they do not fit each other.

    Examples:
        >>> from rankscope.monitor.definition.definition import define
        >>> music = define(positive={"click": 1, "buy": 5}, window="24h")
        >>> configuration = Configuration(definition=music, attributes=("device", "country"))
        >>> configuration.all_pairs
        (('device', 'country'),)
        >>> Configuration.from_json(configuration.to_json()) == configuration
        True
    """

    definition: Definition
    attributes: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] | None = None
    most: int = MOST
    baseline: BaselineChoice | None = BaselineChoice()
    grace: Duration = timedelta(hours=1)
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    retention: Duration | None = None
    calendar: Calendar = field(default_factory=Calendar)

    def __post_init__(self) -> None:
        names = self.attributes
        are_names = all(name and can_be_stored(name, LIMITS.name_bytes) for name in names)
        if not are_names or len(set(names)) != len(names) or len(names) > MOST_ATTRIBUTES:
            raise _bad(
                f"different attributes, {MOST_ATTRIBUTES} at most",
                names,
                "choose the ones that matter, such as device and country",
            )
        for one, other in self.pairs or ():
            if one == other or one not in names or other not in names:
                raise _bad(
                    "pairs of two of the attributes", (one, other), "add it to the attributes"
                )
        object.__setattr__(self, "bins", _read_bins(self.bins, names))
        if type(self.most) is not int or not 1 <= self.most <= MOST_VALUES:
            raise _bad(f"from 1 to {MOST_VALUES} values", self.most, "omit it for the default")
        grace = read_length(self.grace, "grace")
        if not 0 <= count_micros(grace) <= MOST_GRACE:
            raise _bad(GRACES, str(grace), "omit it for one hour")
        object.__setattr__(self, "grace", grace)
        if self.retention is not None:
            shortest, length = (
                self.definition.window * SECOND,
                read_length(self.retention, "retention"),
            )
            if count_micros(length) < shortest:
                raise UsageError(
                    f"retention: expected {write_duration(shortest)} or more, found "
                    f"{write_duration(length)}",
                    hint="events are needed for as long as the attribution window",
                    code="bad_configuration",
                )
            object.__setattr__(self, "retention", length)

    @property
    def all_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of attributes that are sliced together."""
        if self.pairs is not None:
            return self.pairs
        names = self.attributes
        return tuple((one, other) for at, one in enumerate(names) for other in names[at + 1 :])

    @property
    def expected(self) -> Expected:
        """The names of labels and attributes that count."""
        weights = self.definition.attribution.weights
        return Expected(tuple(weights), self.attributes, self.edges)

    @property
    def edges(self) -> Bins:
        """By attribute that is a number, the edges of its bins."""
        return {name: tuple(edges) for name, edges in self.bins.items()}

    @property
    def digest(self) -> bytes:
        """The 16 bytes that identify the stored windows of this definition and slicing."""
        said = {
            "definition": self.definition.to_dict(),
            "attributes": self.attributes,
            "bins": self.bins,
            "pairs": self.all_pairs,
            "most": self.most,
        }
        return sha256(json.dumps(said, sort_keys=True).encode()).digest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        chosen = self.baseline
        return {
            "definition": self.definition.to_dict(),
            "attributes": list(self.attributes),
            "pairs": None if self.pairs is None else [list(pair) for pair in self.pairs],
            "most": self.most,
            "baseline": None if chosen is None else chosen.to_dict(),
            "grace": count_micros(self.grace),
            "bins": dict(self.bins),
            "retention": _count(self.retention),
            "calendar": self.calendar.to_list(),
        }

    def to_json(self) -> str:
        """Write it in the one way in which equal configurations are equal texts."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Configuration:
        """Read what `to_json` has written.

        Raises:
            UsageError: It is no configuration, or one of another version of the rule.
        """
        try:
            given = json.loads(text)
            definition = json.dumps(given["definition"])
            chosen, pairs = given["baseline"], given["pairs"]
            parts = {
                "attributes": tuple(given["attributes"]),
                "pairs": None if pairs is None else tuple((one, other) for one, other in pairs),
                "most": given["most"],
                "baseline": None if chosen is None else BaselineChoice.from_dict(chosen),
                "grace": _read_grace(given["grace"]),
                "bins": given.get("bins", {}),
                "retention": _read_length(given["retention"]),
                "calendar": Calendar.from_list(given.get("calendar", ())),
            }
        except UsageError:
            raise
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise _bad("a configuration as JSON", f"{text[:80]!r}", str(error)) from None
        return cls(definition=Definition.from_json(definition), **parts)


def _read_bins(bins: Mapping[str, Any], attributes: tuple[str, ...]) -> dict[str, Edges]:
    read: dict[str, Edges] = {}
    for name, given in bins.items():
        if name not in attributes:
            raise _bad("bins of the attributes", name, "add it to the attributes, too")
        are_numbers = not isinstance(given, str) and all(map(_is_number, given))
        edges = tuple(float(edge) + 0.0 for edge in given) if are_numbers else ()
        if not 0 < len(edges) <= MOST_EDGES or any(one >= two for one, two in pairwise(edges)):
            raise UsageError(
                f"bins.{name}: expected from 1 to {MOST_EDGES} ascending numbers, found {given!r}",
                hint="write the numbers that separate the bins, such as 10 and 25",
                code="bad_configuration",
            )
        read[name] = edges
    return read


def _is_number(given: object) -> bool:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return abs(given) <= LARGEST


def _read_grace(stored: object) -> timedelta:
    if type(stored) is not int or not 0 <= stored <= MOST_GRACE:
        raise _bad(GRACES, stored, "omit it for one hour")
    return timedelta(microseconds=stored)


def _count(length: Duration | None) -> int | None:
    return None if length is None else count_micros(read_length(length, ""))


def _read_length(stored: int | None) -> timedelta | None:
    return None if stored is None else timedelta(microseconds=stored)


def _bad(expected: str, found: object, hint: str) -> UsageError:
    return UsageError(f"expected {expected}, found {found!r}", hint=hint, code="bad_configuration")


def find_expected(store: StoreReader, project: str) -> Expected | None:
    """Return the names that a project is configured with, `None` if it isn't configured."""
    text = store.configuration(project)
    return None if text is None else Configuration.from_json(text).expected


def find_configuration(store: StoreReader, project: str) -> Configuration:
    """Return the configuration of a project."""
    text = store.configuration(project)
    if text is None:
        raise UsageError(
            f"project {project!r} is not configured",
            hint="set up measurement: rankscope monitor configure STORE --positive "
            "click=1 --window 24h, or the Settings page of rankscope serve",
            code="not_configured",
        )
    return Configuration.from_json(text)


BASELINES: Mapping[str, BaselineChoice | None] = {
    "validation": BaselineChoice(),
    "training": BaselineChoice(environment="training"),
    "version": BaselineChoice(kind="version"),
    "none": None,
}
"""Those that need no more than a word; others name a period, a model or a version."""


def describe_baseline(choice: BaselineChoice | None) -> str:
    """Describe a baseline in a few words.

    Examples:
        >>> describe_baseline(BASELINES["validation"]), describe_baseline(None)
        ('validation set', 'none')
        >>> describe_baseline(BaselineChoice(model="search", version="3"))
        'validation set of search 3'
    """
    if choice is None:
        return "none"
    if choice.kind == "version":
        what = "the version before the newest"
    elif choice.kind == "period":
        what = " to ".join(
            describe_time(end) for end in read_span(choice.since, choice.until) if end is not None
        )
    else:
        what = f"{choice.environment} set"
    who = " ".join(filter(None, (choice.model, choice.version)))
    return f"{what} of {who}" if who else what

"""The configuration of a project: its definition and its baseline."""

from __future__ import annotations

import json
from hashlib import sha256

from rankscope.errors import UsageError
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.definition.slices import MOST
from rankscope.monitor.events.fields import can_be_stored
from rankscope.monitor.events.limits import DAY, HOUR, Limits
from rankscope.monitor.events.times import describe_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from rankscope.monitor.store.store import Store

    Kind = Literal["set", "period", "version"]
    from collections.abc import Mapping

MOST_ATTRIBUTES = 6
MOST_VALUES = 250
MOST_GRACE = 30 * DAY
LIMITS = Limits()


@record(frozen=True, slots=True, kw_only=True)
class BaselineChoice:
    """What values are held against.

    Args:
        kind: A `set` that was logged with its environment, a `period` of production, or the
            `version` before the newest.
        environment: Which set.
        model: The model that ranked; any if left out.
        version: Its version; any if left out.
        since: When the period begins, in microseconds since 1970 in UTC.
        until: When it is over.

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
    since: int | None = None
    until: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in {"set", "period", "version"}:
            raise _bad("a set, a period or a version", self.kind, "write BaselineChoice()")
        if self.environment not in {"validation", "training"}:
            raise _bad("validation or training", self.environment, "name the set that was logged")
        if self.kind == "period":
            if self.since is None or self.until is None or self.since >= self.until:
                raise _bad("since before until", self.since, "give both ends of the period")
        elif (self.since, self.until) != (None, None):
            raise _bad("a period with since and until", self.kind, 'say kind="period"')
        for name in (self.model, self.version):
            if not (name is None or can_be_stored(name, LIMITS.id_bytes)):
                raise _bad("the name of a model and a version", name, "leave it out for any")
        if self.kind == "version" and self.version is not None:
            raise _bad("no version", self.version, "it is the one before the newest")


@record(frozen=True, slots=True, kw_only=True)
class Configuration:
    """How a project is measured.

    Args:
        definition: What values are values of.
        attributes: By which attributes rankings are sliced, 6 at most.
        pairs: Which two of them make slices together; all pairs if left out.
        most: How many values of an attribute have a slice of their own, to 250; the rest is
            `<other>`.
        baseline: What values are held against.
        grace: How long alerts wait for events that come late, in microseconds, after the
            attribution windows of a period are closed.

    Raises:
        UsageError: A part is none, or they do not fit each other.

    Examples:
        >>> from rankscope.monitor.definition.definition import define
        >>> music = define(positive={"click": 1, "buy": 5}, window=86_400)
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
    grace: int = HOUR

    def __post_init__(self) -> None:
        names = self.attributes
        are_names = all(name and can_be_stored(name, LIMITS.name_bytes) for name in names)
        if not are_names or len(set(names)) != len(names) or len(names) > MOST_ATTRIBUTES:
            raise _bad(
                f"different attributes, {MOST_ATTRIBUTES} at most",
                names,
                "name those that matter, such as device and country",
            )
        for one, other in self.pairs or ():
            if one == other or one not in names or other not in names:
                raise _bad(
                    "pairs of two of the attributes", (one, other), "name it among the attributes"
                )
        if type(self.most) is not int or not 1 <= self.most <= MOST_VALUES:
            raise _bad(f"from 1 to {MOST_VALUES} values", self.most, "leave it out")
        if type(self.grace) is not int or not 0 <= self.grace <= MOST_GRACE:
            raise _bad("a grace from 0 to 30 days", self.grace, "leave it out for an hour")

    @property
    def all_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of attributes whose values make slices together."""
        if self.pairs is not None:
            return self.pairs
        names = self.attributes
        return tuple((one, other) for at, one in enumerate(names) for other in names[at + 1 :])

    @property
    def digest(self) -> bytes:
        """What stored windows are known by: 16 bytes that say what their values are values of."""
        said = {
            "definition": self.definition.to_dict(),
            "attributes": self.attributes,
            "pairs": self.all_pairs,
            "most": self.most,
        }
        return sha256(json.dumps(said, sort_keys=True).encode()).digest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as numbers and texts."""
        chosen = self.baseline
        return {
            "definition": self.definition.to_dict(),
            "attributes": list(self.attributes),
            "pairs": None if self.pairs is None else [list(pair) for pair in self.pairs],
            "most": self.most,
            "baseline": None
            if chosen is None
            else {name: getattr(chosen, name) for name in BASELINE_FIELDS},
            "grace": self.grace,
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
                "baseline": None if chosen is None else BaselineChoice(**chosen),
                "grace": given["grace"],
            }
        except UsageError:
            raise
        except (ValueError, TypeError, KeyError) as error:
            raise _bad("a configuration as JSON", f"{text[:80]!r}", str(error)) from None
        return cls(definition=Definition.from_json(definition), **parts)


BASELINE_FIELDS = ("kind", "environment", "model", "version", "since", "until")


def _bad(expected: str, found: object, hint: str) -> UsageError:
    return UsageError(f"expected {expected}, found {found!r}", hint=hint, code="bad_configuration")


def find_configuration(store: Store, project: str) -> Configuration:
    """Find how a project is measured.

    Args:
        store: Where that is.
        project: The name of the project.

    Raises:
        UsageError: It was not said yet.
    """
    text = store.configuration(project)
    if text is None:
        raise UsageError(
            f"expected project {project!r} to be configured, found nothing about it",
            hint="say what labels are worth: rankscope monitor configure STORE --positive "
            "click=1 --window 24h, or the page Settings of rankscope serve",
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
    """Return what values are compared with, in words.

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
    elif choice.since is not None and choice.until is not None:
        what = f"{describe_time(choice.since)} to {describe_time(choice.until)}"
    else:
        what = f"{choice.environment} set"
    who = " ".join(filter(None, (choice.model, choice.version)))
    return f"{what} of {who}" if who else what

"""Alert rules: conditions on the values of production."""

from __future__ import annotations

import json
import math
from hashlib import sha256

from rankscope import engine
from rankscope.errors import MeasureError, UsageError
from rankscope.monitor.events.fields import can_be_stored
from rankscope.monitor.events.limits import DAY, HOUR, Limits
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.events.times import format_time, read_time, set_times, to_datetime, to_micros
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, TypeAlias

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.events.times import Time

    Kind: TypeAlias = Literal["drop", "threshold"]
    Period: TypeAlias = Literal["hour", "day"]
    Needs: TypeAlias = Literal["interval", "value"]

LENGTHS: Mapping[str, int] = {"hour": HOUR, "day": DAY}
LIMITS = Limits()
NAME_BYTES = 100
TAKEN = frozenset({"new", ".", ".."})
"""Words that stand for something else where the name of a rule stands in a URL."""
END = ".json"
"""The end of the URLs of rules as JSON."""


@record(frozen=True, slots=True, kw_only=True)
class Rule:
    """A condition on the values of one measure in production.

    Each version of a model is watched on its own, as a whole and by the values of some attributes.
    A `drop` collects evidence, period by period, that the mean has fallen below its floor, which is
    the lower end of the baseline's interval, less the tolerance; a `threshold` looks at the newest
    period alone.

    Args:
        name: What it is known by; one in a project.
        measure: The measure, one of those of the configuration.
        kind: `drop` or `threshold`.
        model: The model (default: each of them).
        slices: Attributes whose values are watched one by one, besides all rankings together.
        period: How much is looked at together: an `hour` or a `day` of UTC.
        tolerance: How far the mean may be below the baseline: a difference, or a share of it.
        is_relative: Whether the tolerance is a share.
        run_length: For a drop: how many periods pass on average before a false alarm, at least.
        fewest: How many users or queries a baseline has to have, and a period for a threshold.
        needs: For a threshold: what has to lie below it, the whole `interval` or the `value`.
        since: When the first period that is checked begins (default: the newest period when the
            rule is created). A `datetime` with a time zone, or ISO text; kept as a `datetime` in
            UTC.
        webhook: Whether changes of its state go to the webhook; they go to the log in any case.

    Raises:
        UsageError: A part is none of these.

    Examples:
        >>> rule = Rule(name="quality on tv", measure="nDCG@5", slices=("device",))
        >>> Rule.from_json(rule.to_json()) == rule
        True
    """

    name: str
    measure: str
    kind: Kind = "drop"
    model: str | None = None
    slices: tuple[str, ...] = ()
    period: Period = "day"
    tolerance: float = 0.02
    is_relative: bool = False
    run_length: float = 1800.0
    fewest: int = 30
    needs: Needs = "interval"
    since: Time | None = None
    webhook: bool = True

    def __post_init__(self) -> None:
        _check_name(self.name)
        if not can_be_stored(self.measure, LIMITS.id_bytes) or not self.measure:
            raise _bad("measure", "the name of a measure", self.measure)
        _check_choice("kind", self.kind, ("drop", "threshold"))
        _check_choice("period", self.period, tuple(LENGTHS))
        _check_choice("needs", self.needs, ("interval", "value"))
        if not (self.model is None or can_be_stored(self.model, LIMITS.id_bytes)):
            raise _bad("model", "a name", self.model)
        are_names = all(name and can_be_stored(name, LIMITS.name_bytes) for name in self.slices)
        if not are_names or len(set(self.slices)) != len(self.slices):
            raise _bad("slices", "different attribute names", self.slices)
        most = 1.0 if self.is_relative else math.inf
        if not (_is_number(self.tolerance) and 0 <= self.tolerance < most):
            raise _bad("tolerance", "0 or more, and below 1 where it is a share", self.tolerance)
        if not (_is_number(self.run_length) and 2 <= self.run_length < math.inf):
            raise _bad("run_length", "2 periods or more", self.run_length)
        if type(self.fewest) is not int or self.fewest < 2:
            raise _bad("fewest", "2 or more", self.fewest)
        _read_since(self)
        for name in ("is_relative", "webhook"):
            if type(getattr(self, name)) is not bool:
                raise _bad(name, "true or false", getattr(self, name))

    @property
    def digest(self) -> str:
        """The hash of what the rule measures; evidence collected with another one is void."""
        said = self.to_dict()
        for name in ("name", "webhook"):
            del said[name]
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        said = {name: getattr(self, name) for name in FIELDS}
        since = None if self.since is None else format_time(to_micros(self.since))
        return said | {"slices": list(self.slices), "since": since}

    def to_json(self) -> str:
        """Write it in the one way in which equal rules are equal texts."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Rule:
        """Read a rule from a mapping, such as one that `to_dict` returned.

        Raises:
            UsageError: It is no rule.

        Examples:
            >>> Rule.from_dict({"name": "q", "measure": "nDCG@5", "kind": "fall"})
            Traceback (most recent call last):
              ...
            rankscope.errors.UsageError: kind: expected drop or threshold, found 'fall'
            <BLANKLINE>
            Hint: see rankscope monitor rule add --help
        """
        if not isinstance(given, dict):
            raise _bad("rule", "an object", given)
        unknown = sorted(set(given).difference(FIELDS), key=str)
        if unknown:
            raise _bad(show(unknown[0])[1:-1], f"a field among {', '.join(FIELDS)}", unknown[0])
        for name in ("name", "measure"):
            if name not in given:
                raise _bad(name, "a text", "nothing")
        said = {name: value for name, value in given.items() if value is not None}
        slices = said.get("slices", ())
        if not isinstance(slices, list | tuple):
            raise _bad("slices", "a list of names of attributes", slices)
        said["slices"] = tuple(slices)
        if "since" in said:
            try:
                said["since"] = to_datetime(read_time(said["since"], "since")[0])
            except RefusedError as error:
                raise _bad("since", error.expected, said["since"]) from None
        return cls(**said)

    @classmethod
    def from_json(cls, text: str) -> Rule:
        """Read what `to_json` has written.

        Raises:
            UsageError: It is no rule.
        """
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            raise _bad("rule", "JSON", text[:80]) from None
        return cls.from_dict(given)


def check_rule(rule: Rule, configuration: Configuration) -> Rule:
    """Check that the project measures what a rule needs.

    Args:
        rule: The rule.
        configuration: The configuration of the project.

    Returns:
        The rule, its measure called by its own name.

    Raises:
        UsageError: The measure or an attribute is not in the configuration, or the values of the
            measure are no numbers from 0 to 1, which a drop has to have.
    """
    try:
        measure = engine.read_measure(rule.measure)
    except MeasureError as error:
        raise _bad("measure", "a measure", rule.measure) from error
    names = [one.name for one in configuration.definition.measures]
    if measure.name not in names:
        raise _bad("measure", f"one of {', '.join(names)}, which are measured", rule.measure)
    lowest, highest = measure.row.value_range
    if rule.kind == "drop" and not 0 <= lowest <= highest <= 1:
        raise _bad("measure", "one whose values are from 0 to 1, or a threshold", rule.measure)
    unknown = [name for name in rule.slices if name not in configuration.attributes]
    if unknown:
        known = ", ".join(configuration.attributes) or "nothing"
        raise _bad("slices", f"attributes by which the project is sliced: {known}", unknown[0])
    return replace(rule, measure=measure.name)


FIELDS: tuple[str, ...] = Rule.__match_args__


def _check_name(name: object) -> None:
    """Check that a name can stand on one line and in a URL."""
    is_text = isinstance(name, str) and 0 < len(name.encode(errors="replace")) <= NAME_BYTES
    if not (is_text and isinstance(name, str) and name.isprintable() and name == name.strip()):
        raise _bad("name", f"a line of text of at most {NAME_BYTES} bytes", name)
    if "/" in name or "\\" in name or name in TAKEN or name.endswith(END):
        raise _bad("name", f"a name without slashes, other than new, that ends without {END}", name)


def _check_choice(field: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise _bad(field, " or ".join(choices), value)


def _read_since(rule: Rule) -> None:
    try:
        set_times(rule, "since")
    except UsageError:
        raise _bad("since", "a time with its zone", rule.since) from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bad(field: str, expected: str, found: object) -> UsageError:
    return UsageError(
        f"{field}: expected {expected}, found {show(found)}",
        hint="see rankscope monitor rule add --help",
        code="bad_rule",
        value=show(found),
    )

"""Alert rules: conditions on the values of production."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from hashlib import sha256

from rankscope.engine.requests import read_measure
from rankscope.errors import MeasureError, UsageError
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.fields import can_be_stored
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND, Limits
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.events.times import (
    count_micros,
    format_time,
    read_length,
    read_time,
    set_times,
    to_datetime,
    to_micros,
    write_duration,
)
from rankscope.monitor.store.records import LOG, WEBHOOK
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any, Literal, TypeAlias

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.events.times import Duration, Time

    Kind: TypeAlias = Literal["drop", "threshold", "data", "trace"]
    Period: TypeAlias = Literal["hour", "day"]
    Needs: TypeAlias = Literal["interval", "value"]
    Severity: TypeAlias = Literal["warning", "critical"]
    Watch: TypeAlias = Literal[
        "volume",
        "freshness",
        "files",
        "labels",
        "label_freshness",
        "relevance",
        "attributes",
        "versions",
        "names",
    ]

KINDS: tuple[Kind, ...] = ("drop", "threshold", "data", "trace")
SEVERITIES: tuple[Severity, ...] = ("warning", "critical")
WATCHES: tuple[Watch, ...] = (
    "volume",
    "freshness",
    "files",
    "labels",
    "label_freshness",
    "relevance",
    "attributes",
    "versions",
    "names",
)
"""What a rule of kind `data` can watch."""
LENGTHS: Mapping[str, int] = {"hour": HOUR, "day": DAY}
CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS,
    "period": tuple(LENGTHS),
    "needs": ("interval", "value"),
    "severity": SEVERITIES,
}
COMPARING: tuple[Kind, ...] = ("drop", "threshold")
USED_BY: Mapping[str, tuple[Kind, ...]] = {
    "measure": (*COMPARING, "trace"),
    "slices": COMPARING,
    "period": COMPARING,
    "tolerance": COMPARING,
    "is_relative": COMPARING,
    "run_length": ("drop", "data", "trace"),
    "fewest": ("threshold",),
    "needs": ("threshold",),
    "lanes": ("drop",),
    "anchor": ("drop",),
    "watches": ("data",),
}
"""The kinds of rules that use a field; fields that are not here are used by all."""
FEWEST = 30
LIMITS = Limits()
NAME_BYTES = 100
EMPTY = "empty"
"""The share of rankings without a relevant document, of which more is worse."""
BETWEEN = ":"
"""What stands between two attributes whose values are watched together."""
AGES = (15 * MINUTE, HOUR, 4 * HOUR)
"""The ages at which early values are checked by default: the last two that the window allows."""
MOST_AGES = 2
LEAST_WINDOW = 4
"""The default ages are at most the attribution window divided by this."""
MOST_LANES = 4
MOST_CHANNELS = 20
MOST_REMIND = 24.0 * 365
MOST_NIGHTS = 2500
"""The longest run length of a trace: the p-value that it asks for needs twice as many reassignments
for each of at most 20 models, and a trace draws 100,000."""
TAKEN = frozenset({"new", ".", ".."})
"""Words that stand for something else where the name of a rule stands in a URL."""
END = ".json"
"""The end of the URLs of rules as JSON."""


@record(frozen=True, slots=True, kw_only=True)
class Rule:
    """A condition on the values of one measure in production, or on its data.

    Each version of a model is watched on its own, as a whole and by the values of some attributes.
    A `drop` collects evidence, period by period, that the mean has fallen below its floor, which is
    the baseline less the tolerance, or less what the baseline leaves uncertain if that is more; a
    `threshold` looks at the newest period alone. The rule of kind `data` watches whether rankings
    and labels arrive as usual, and needs no measure. A `trace` searches the slices of all
    attributes of each model every night for one that fell more than everything did, also those
    that no rule watches.

    Args:
        name: What it is known by; one in a project.
        measure: The measure, one of those of the configuration, or `empty`: the share of rankings
            without a relevant document, which is bad if it rises.
        kind: `drop`, `threshold`, `data` or `trace`.
        model: The model (default: each of them).
        slices: Attributes whose values are watched one by one, besides all rankings together, and
            pairs of attributes, such as `device:country`, whose values are watched together.
        period: How much is looked at together: an `hour` or a `day` of UTC.
        tolerance: How far the mean may be below the baseline: a difference, or a share of it.
        is_relative: Whether the tolerance is a share.
        run_length: For a drop: how many periods pass on average before a
            false alarm, at least. For a trace: how many nights, up to 2500.
        fewest: For a threshold: how many users or queries a period and its baseline have to have.
        needs: For a threshold: what has to lie below it, the whole `interval` or the `value`.
        since: When the first period that is checked begins (default: the newest period when the
            rule is created). A `datetime` with a time zone, or ISO text; kept as a `datetime` in
            UTC.
        severity: How bad an incident of this rule is: `warning` or `critical`.
        channels: Where its incidents are notified: names of channels, `webhook` or `log`. By
            default, every channel there is.
        remind: After how many hours an incident that nobody has acknowledged is notified again; 0
            for never.
        lanes: For a drop: the ages at which early values are checked besides the final ones, each
            shorter than the attribution window: a `timedelta`, or text such as `15m`; kept as a
            `timedelta`. By default, the last two of 15 minutes, 1 hour and 4 hours that are at
            most a quarter of the window.
        anchor: For a drop, where the baseline is the previous version: whether each model is also
            compared with its baseline of long ago, which releases do not renew.
        watches: For the kind `data`: what is watched, among `volume`, `freshness`, `labels`,
            `label_freshness`, `relevance`, `attributes`, `versions` and `files` (default: all of
            it).

    Raises:
        UsageError: A part is none of these.

    Examples:
        >>> rule = Rule(name="quality on tv", measure="nDCG@5", slices=("device",))
        >>> Rule.from_json(rule.to_json()) == rule
        True
    """

    name: str
    measure: str = ""
    kind: Kind = "drop"
    model: str | None = None
    slices: tuple[str, ...] = ()
    period: Period = "day"
    tolerance: float = 0.02
    is_relative: bool = False
    run_length: float = 1800.0
    fewest: int = FEWEST
    needs: Needs = "interval"
    since: Time | None = None
    severity: Severity = "warning"
    channels: tuple[str, ...] | None = None
    remind: float = 24.0
    lanes: tuple[Duration, ...] | None = None
    anchor: bool = True
    watches: tuple[Watch, ...] = ()

    def __post_init__(self) -> None:
        _check_name(self.name)
        for name, choices in CHOICES.items():
            _check_choice(name, getattr(self, name), choices)
        is_named = bool(self.measure) or self.kind == "data"
        if not (can_be_stored(self.measure, LIMITS.id_bytes) and is_named):
            raise _bad("measure", "the name of a measure", self.measure)
        if not (self.model is None or can_be_stored(self.model, LIMITS.id_bytes)):
            raise _bad("model", "a name", self.model)
        if not _are_names(self.slices, 2 * LIMITS.name_bytes + len(BETWEEN)):
            raise _bad("slices", "different attribute names", self.slices)
        _check_numbers(self)
        channels = self.channels or ()
        if len(channels) > MOST_CHANNELS or not _are_names(channels, NAME_BYTES):
            raise _bad("channels", f"at most {MOST_CHANNELS} different names", channels)
        if len(set(self.watches)) != len(self.watches):
            raise _bad("watches", "different words", self.watches)
        for watch in self.watches:
            _check_choice("watches", watch, WATCHES)
        object.__setattr__(self, "lanes", _read_lanes(self.lanes))
        _read_since(self)
        for name in ("is_relative", "anchor"):
            if type(getattr(self, name)) is not bool:
                raise _bad(name, "true or false", getattr(self, name))

    @property
    def is_rise_bad(self) -> bool:
        """Whether a larger value of the measure is a worse one."""
        return self.measure == EMPTY

    @property
    def digest(self) -> str:
        """The hash of what the rule measures; evidence collected with another one is void."""
        said = self.to_dict()
        for name in NOT_MEASURED:
            del said[name]
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        said = {name: getattr(self, name) for name in FIELDS}
        return said | {
            "slices": list(self.slices),
            "since": None if self.since is None else format_time(to_micros(self.since)),
            "channels": None if self.channels is None else list(self.channels),
            "lanes": None if self.lanes is None else [write_duration(one) for one in self.lanes],
            "watches": list(self.watches),
        }

    def to_json(self) -> str:
        """Write it in the one way in which equal rules are equal texts."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Rule:
        """Read a rule from a mapping, such as one that `to_dict` returned.

        Raises:
            UsageError: It is no rule.

        Examples:
            >>> Rule.from_dict({"name": "q", "measure": "nDCG@5", "period": "week"})
            Traceback (most recent call last):
              ...
            rankscope.errors.UsageError: period: expected hour or day, found 'week'
            <BLANKLINE>
            Hint: see rankscope monitor rule add --help
        """
        if not isinstance(given, dict):
            raise _bad("rule", "an object", given)
        unknown = sorted(set(given).difference(FIELDS, {WEBHOOK}), key=str)
        if unknown:
            raise _bad(show(unknown[0])[1:-1], f"a field among {', '.join(FIELDS)}", unknown[0])
        said = _read_webhook({name: value for name, value in given.items() if value is not None})
        if "name" not in said:
            raise _bad("name", "a text", "nothing")
        for name, what in LISTS.items():
            if name in said:
                if not isinstance(said[name], list | tuple):
                    raise _bad(name, f"a list of {what}", said[name])
                said[name] = tuple(said[name])
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
    """Check that the project measures what a rule needs."""
    if rule.kind == "trace":
        _check_nights(rule)
    slices = tuple(_check_slice(name, configuration) for name in rule.slices)
    window = configuration.definition.window * SECOND
    for lane in rule.lanes or ():
        if count_micros(lane) >= window:
            shown = write_duration(window)
            raise _bad("lanes", f"ages below the attribution window of {shown}", str(lane))
    return replace(rule, measure=_check_measure(rule, configuration), slices=slices)


def check_fewest(rule: Rule) -> None:
    """Refuse a minimum of users where it has no effect."""
    if rule.fewest != FEWEST and rule.kind not in USED_BY["fewest"]:
        raise _bad(
            "fewest",
            "a minimum of users only with the kind threshold",
            rule.fewest,
            "leave it out: the floor of a drop takes into account how small its baseline is",
        )


def _check_nights(rule: Rule) -> None:
    """Check what is special about a trace of every night."""
    if rule.slices:
        raise _bad("slices", "none for a trace, which searches all attributes", rule.slices)
    if rule.period != "day":
        raise _bad("period", "day for a trace, which runs once a day", rule.period)
    if rule.run_length > MOST_NIGHTS:
        raise _bad("run_length", f"at most {MOST_NIGHTS} nights for a trace", rule.run_length)


def _check_measure(rule: Rule, configuration: Configuration) -> str:
    """Return the name of the measure of a rule."""
    if rule.kind == "data" or (rule.measure == EMPTY and rule.kind != "trace"):
        return rule.measure
    try:
        measure = read_measure(rule.measure)
    except MeasureError as error:
        raise UsageError(f"measure: {error.message}", hint=error.hint, code="bad_rule") from error
    names = [one.name for one in configuration.definition.measures]
    if measure.name not in names:
        known = ", ".join([*names, EMPTY])
        raise _bad("measure", f"one of {known}, which are measured", rule.measure)
    if rule.kind == "trace" and len(name_columns(configuration.definition.only(measure))) < 2:
        raise _bad("measure", "one whose losses add up to 1, such as nDCG@10", rule.measure)
    lowest, highest = measure.row.value_range
    if rule.kind == "drop" and not 0 <= lowest <= highest <= 1:
        raise _bad("measure", "one whose values are from 0 to 1, or a threshold", rule.measure)
    return measure.name


def _check_slice(name: str, configuration: Configuration) -> str:
    """Return the name of an attribute, or of a pair in the order of the configuration."""
    attributes, pairs = configuration.attributes, configuration.all_pairs
    found = find_dimension(name, attributes)
    if len(found) == 2:
        one, other = found
        for pair in ((one, other), (other, one)):
            if pair in pairs:
                return BETWEEN.join(pair)
        known = ", ".join(BETWEEN.join(pair) for pair in pairs) or "none"
        raise _bad(
            "slices",
            f"a pair of attributes that the project slices together: {known}",
            name,
            "add the pair to the configuration of the project, or leave its pairs out for all",
        )
    if not found:
        known = ", ".join(attributes) or "none"
        example = f", or two of them as in {BETWEEN.join(attributes[:2])}" if attributes[1:] else ""
        raise _bad(
            "slices",
            f"attributes of the project ({known}){example}",
            name,
            "add the attribute with rankscope monitor configure STORE --slice, or correct its name",
        )
    return name


def find_dimension(name: str, attributes: Collection[str]) -> tuple[str, ...]:
    """Return the attributes that a rule's slice names: one, two, or none if there are none such.

    Examples:
        >>> find_dimension("device:country", ("country", "device"))
        ('device', 'country')
        >>> find_dimension("client:app", ("client:app", "device")), find_dimension("os", ())
        (('client:app',), ())
    """
    if name in attributes:
        return (name,)
    for at, letter in enumerate(name):
        one, other = name[:at], name[at + 1 :]
        if letter == BETWEEN and one != other and one in attributes and other in attributes:
            return one, other
    return ()


def choose_lanes(rule: Rule, window: int) -> tuple[int, ...]:
    """Return the ages at which early values are checked, in microseconds, the youngest first.

    Examples:
        >>> rule = Rule(name="quality", measure="nDCG@5")
        >>> [age // HOUR for age in choose_lanes(rule, 24 * HOUR)]
        [1, 4]
        >>> choose_lanes(Rule(name="final only", measure="nDCG@5", lanes=()), 24 * HOUR)
        ()
    """
    if rule.kind != "drop":
        return ()
    if rule.lanes is None:
        return tuple(age for age in AGES if LEAST_WINDOW * age <= window)[-MOST_AGES:]
    return tuple(sorted(map(count_micros, rule.lanes)))


NOT_MEASURED = ("name", "severity", "channels", "remind")
LISTS = {
    "slices": "names of attributes",
    "channels": "names of channels",
    "lanes": "durations, such as 15m",
    "watches": "what is watched, such as volume",
}
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


def _check_numbers(rule: Rule) -> None:
    most = 1.0 if rule.is_relative else math.inf
    if not (_is_number(rule.tolerance) and 0 <= rule.tolerance < most):
        raise _bad("tolerance", "0 or more, and below 1 where it is a share", rule.tolerance)
    if not (_is_number(rule.run_length) and 2 <= rule.run_length < math.inf):
        raise _bad("run_length", "2 periods or more", rule.run_length)
    if type(rule.fewest) is not int or rule.fewest < 2:
        raise _bad("fewest", "2 or more", rule.fewest)
    if not (_is_number(rule.remind) and 0 <= rule.remind <= MOST_REMIND):
        raise _bad("remind", f"0 to {MOST_REMIND:g} hours", rule.remind)


def _read_since(rule: Rule) -> None:
    try:
        set_times(rule, "since")
    except UsageError:
        raise _bad("since", "a time with its zone", rule.since) from None


def _read_webhook(given: dict[str, Any]) -> dict[str, Any]:
    """Read the field that rules were stored with before they named their channels."""
    if type(given.get(WEBHOOK, True)) is not bool:
        raise _bad(WEBHOOK, "true or false", given[WEBHOOK])
    said = dict(given)
    if said.pop(WEBHOOK, True):
        return said
    return {"channels": [LOG]} | said


def _read_lanes(lanes: Iterable[Duration] | None) -> tuple[timedelta, ...] | None:
    if lanes is None:
        return None
    try:
        read = tuple(read_length(one, "lanes") for one in lanes)
    except (UsageError, TypeError):
        raise _bad("lanes", "durations, such as 15m or 4h", lanes) from None
    is_whole = all(one >= timedelta(seconds=1) and not one.microseconds for one in read)
    if not is_whole or len(set(read)) != len(read) or len(read) > MOST_LANES:
        raise _bad("lanes", f"at most {MOST_LANES} different durations of whole seconds", lanes)
    return read


def _are_names(names: tuple[str, ...], most: int) -> bool:
    are = all(name and can_be_stored(name, most) for name in names)
    return are and len(set(names)) == len(names)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bad(field: str, expected: str, found: object, hint: str = "") -> UsageError:
    return UsageError(
        f"{field}: expected {expected}, found {show(found)}",
        hint=hint or "see rankscope monitor rule add --help",
        code="bad_rule",
        value=show(found),
    )

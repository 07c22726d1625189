"""What all alert rules have in common. The kinds are in `rankscope.monitor.rules.kinds`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rankscope.errors import MeasureError, UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import read_measure
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.rejection import show
from rankscope.monitor.rules.settings import Channels, Model, Name, Remind, Severity
from rankscope.monitor.sequential.noise import QUARTER

NOT_MEASURED = frozenset({"name", "severity", "channels", "remind"})
DROP = "drop"
"""The kind of a rule that names none."""


class Rule(BaseModel):
    """A condition on the values of production, or on its data.

    The kind decides what it does. A `drop`, the default, collects evidence, period by period, that
    the mean of a measure has fallen below its floor, which is the baseline less the tolerance, or
    less what the baseline leaves uncertain if that is more. A `limit` compares a measure, a share
    or a count with a fixed value. The page about alerts describes all kinds, and has a table of
    their fields.

    Args:
        name: What it is known by; one in a project.
        kind: What it does.
        fields: What else a rule of its kind has. All kinds have `model`, `severity`, `channels` and
            `remind`.

    Raises:
        UsageError: A field is unknown to the kind, or its value is none of those it takes.

    Examples:
        >>> from rankscope.monitor import Rule
        >>> rule = Rule(name="quality on tv", measure="nDCG@5", slices=("device",))
        >>> rule.kind, rule.period, Rule.from_json(rule.to_json()) == rule
        ('drop', 'day', True)
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    records: ClassVar[dict[str, type[Rule]]] = {}

    name: Annotated[Name, Field(default_factory=str, validate_default=True)]
    kind: str
    model: Model = None
    severity: Severity = "warning"
    channels: Channels = None
    remind: Remind = 24.0

    def __new__(cls, *_: object, **fields: object) -> Self:
        """Make a rule of its kind."""
        return super().__new__(cls.find_record(fields.get("kind", DROP)) if cls is Rule else cls)

    def __init__(self, *, name: str, kind: str = DROP, **fields: Any) -> None:  # noqa: ANN401 - by kind
        try:
            super().__init__(name=name, kind=kind, **fields)
        except ValidationError as error:
            raise _refuse(error, type(self)) from None

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - by kind
            """Return a field of the kind, which the type doesn't know."""

    @classmethod
    def find_record(cls, kind: object) -> type[Any]:
        """Return the class of the rules of a kind."""
        if not isinstance(kind, str) or kind not in cls.records:
            raise bad("kind", " or ".join(cls.records), kind)
        return cls.records[kind]

    @property
    def length(self) -> int:
        """How much it looks at together, as the store counts time."""
        return DAY

    @property
    def run_length(self) -> float:
        """The days that pass between false alarms on average, at least, of a kind that has any."""
        return float(QUARTER / self.false_alarms)

    @property
    def step(self) -> int:
        """How long the periods are that it looks at one after another."""
        return HOUR

    @property
    def subject(self) -> str:
        """The measure that its incidents are about; empty for none."""
        return ""

    @property
    def digest(self) -> str:
        """The hash of what the rule measures; evidence collected with another one is void."""
        said = {name: each for name, each in self.to_dict().items() if name not in NOT_MEASURED}
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]

    def find_basis(self, configuration: Configuration) -> str:
        """Return a hash of what it measures; evidence collected with another one is void."""
        chosen, measured = configuration.baseline, configuration.definition.to_dict()
        measured["measures"] = [name for name in measured["measures"] if name == self.subject]
        baseline = None if chosen is None else chosen.to_dict()
        said = json.dumps([self.digest, measured, baseline], sort_keys=True)
        return sha256(said.encode()).hexdigest()[:32]

    def check(self, configuration: Configuration) -> Self:  # noqa: ARG002 - of some kinds
        """Check that the project measures what the rule needs, and return it with full names."""
        return self

    def describe(self) -> str:
        """Describe the rule in a sentence."""
        return f"a rule of the kind {self.kind}"

    def replace(self, **changes: object) -> Self:
        """Return the rule with other values for some fields."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**fields | changes)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """Write it in the one way in which equal rules are equal texts."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Rule:
        """Read a rule from a mapping, such as one that `to_dict` returned.

        Raises:
            UsageError: It is no rule.

        Examples:
            >>> from rankscope.monitor import Rule
            >>> Rule.from_dict({"name": "q", "measure": "nDCG@5", "period": "week"})
            Traceback (most recent call last):
              ...
            rankscope.errors.UsageError: period: expected day or hour, found 'week'
            <BLANKLINE>
            Hint: see rankscope monitor rule add --help
        """
        if not isinstance(given, dict):
            raise bad("rule", "an object", given)
        record = cls.find_record(given.get("kind", DROP))
        for name in given:
            if name not in record.model_fields:
                raise _refuse_unknown(name, record)
        made: Rule = record(**{"name": "", **given})
        return made

    @classmethod
    def from_json(cls, text: str) -> Rule:
        """Read what `to_json` has written.

        Raises:
            UsageError: It is no rule.
        """
        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            raise bad("rule", "JSON", text[:80]) from None
        return cls.from_dict(given)


def register(record: type[Rule]) -> str:
    """Make rules of a kind known, and return the kind."""
    kind = name_kind(record)
    Rule.records[kind] = record
    return kind


def name_kind(record: type[Rule]) -> str:
    """Return the kind of the rules of a class, the only value of its field."""
    return str(get_args(record.model_fields["kind"].annotation)[0])


def bad(field: str, expected: str, found: object, hint: str = "") -> UsageError:
    """Return the error about a field of a rule."""
    return UsageError(
        f"{field}: expected {expected}, found {show(found)}",
        hint=hint or "see rankscope monitor rule add --help",
        code="bad_rule",
        value=show(found),
    )


def _refuse(error: ValidationError, record: type[Rule]) -> UsageError:
    """Return the first problem of a rule by its field."""
    problem = error.errors(include_url=False)[0]
    raised = problem.get("ctx", {}).get("error")
    if isinstance(raised, UsageError):
        return raised
    field = str(problem["loc"][0]) if problem["loc"] else "rule"
    if problem["type"] == "extra_forbidden":
        return _refuse_unknown(field, record)
    is_missing = problem["type"] == "missing"
    expected = "a value" if is_missing else problem["msg"]
    return bad(field, expected, None if is_missing else problem["input"])


def _refuse_unknown(name: object, record: type[Rule]) -> UsageError:
    field = show(name)[1:-1]
    others = [kind for kind, other in Rule.records.items() if name in other.model_fields]
    found = f"one of the kind {' or '.join(others)}" if others else "one that no kind has"
    hint = f"its fields are {', '.join(record.model_fields)}"
    return UsageError(
        f"{field}: expected a field of the kind {name_kind(record)}, found {found}",
        hint=f"omit {field}, or choose the kind {' or '.join(others)}" if others else hint,
        code="bad_rule",
        value=show(name),
    )


def check_measure(name: str, configuration: Configuration, *, more: Iterable[str] = ()) -> Measure:
    """Return the measure with a name, which the project has to measure."""
    try:
        measure = read_measure(name)
    except MeasureError as error:
        raise UsageError(f"measure: {error.message}", hint=error.hint, code="bad_rule") from error
    names = [each.name for each in configuration.definition.measures]
    if measure.name not in names:
        raise bad("measure", f"one of {', '.join([*names, *more])}, which are measured", name)
    return measure

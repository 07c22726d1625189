"""The fields of rules: what values they take, and their words wherever people see them.

The type of a field has a `Setting`. The dashboard's form, the options of `rankscope monitor rule
add`, the OpenAPI description, error messages and the table in the documentation come from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import CoreSchema, core_schema

from rankscope.monitor.events.fields import NAME_BYTES, can_be_stored, is_label
from rankscope.monitor.events.limits import DAY, HOUR, Limits

LIMITS = Limits()
LENGTHS = {"hour": HOUR, "day": DAY}
EMPTY = "empty"
"""The share of rankings without a relevant document, of which more is worse."""
BETWEEN = ":"
"""What stands between two attributes whose values are watched together."""
MOST_CHANNELS = 20
MOST_REMIND = 24.0 * 365


@dataclass(frozen=True, slots=True)
class Setting:
    """How people set a field of a rule.

    Args:
        text: What it does, in a phrase.
        expected: What a value has to be; by default, one of the choices, or true or false.
        label: Its label in a form, if that isn't its name.
        unit: What its number counts.
        unset: What no value means.
        words: What the form calls each choice, if not by its own name.
        option: Its option on the command line, if that has another name.
        metavar: What stands for its value in the help of that option.
        source: Where the choices come from that depend on the project.
    """

    text: str
    expected: str = ""
    label: str = ""
    unit: str = ""
    unset: str = ""
    words: tuple[tuple[str, str], ...] = ()
    option: str = ""
    metavar: str = ""
    source: Literal["", "measures", "dimensions", "models"] = ""

    @property
    def sentence(self) -> str:
        """What it does, in a sentence."""
        default = f" (default: {self.unset})" if self.unset else ""
        return f"{self.text[:1].upper()}{self.text[1:]}{default}."

    def __get_pydantic_core_schema__(
        self, source: object, handler: Callable[[object], CoreSchema]
    ) -> CoreSchema:
        """Refuse any other value by what was expected."""
        schema: Any = handler(source)
        choices = schema.get("expected", ("true", "false"))
        return core_schema.custom_error_schema(
            schema,
            custom_error_type="expected",
            custom_error_message=self.expected or " or ".join(choices),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: Callable[[CoreSchema], dict[str, Any]]
    ) -> dict[str, Any]:
        """Describe it in OpenAPI."""
        return {**handler(schema), "description": self.sentence}


def keep_if(is_good: Callable[[Any], bool]) -> AfterValidator:
    """Refuse values for which a function is false."""

    def check(value: object) -> object:
        if not is_good(value):
            raise ValueError
        return value

    return AfterValidator(check)


def described(**keywords: Any) -> Any:  # noqa: ANN401 - as `Annotated` takes it
    """Return keywords of JSON Schema for a type; what reads the value checks them."""
    return Field(json_schema_extra=keywords)


def are_names(names: tuple[str, ...] | None, most: int) -> bool:
    """Whether texts are different names."""
    are = all(name and can_be_stored(name, most) for name in names or ())
    return are and len(set(names or ())) == len(names or ())


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


PRINTABLE = "\\u0000-\\u0020\\u007f-\\u00a0\\u00ad\\u2028\\u2029"
"""What a name may not begin or end with, and, but for the space, not have at all. Unicode has more
characters that can't be printed than a pattern can list; a name with one of those is refused, too.
"""
NO_NUL = "^[^\\u0000]*$"
NAMED = "^[^\\u0000]+$"
LISTED = BeforeValidator(_as_tuple)

RULE_NAME: dict[str, Any] = {
    "minLength": 1,
    "maxLength": NAME_BYTES,
    "pattern": f"^(?!(?:new|\\.\\.?)$)[^{PRINTABLE}/\\\\]"
    f"(?:(?:[^{PRINTABLE}/\\\\]| )*[^{PRINTABLE}/\\\\])?$",
}
NAME_SCHEMA = described(**RULE_NAME)
TimeText = Annotated[str, described(format="date-time", pattern="^[1-8][0-9]{3}-.{1,59}$")]

Name = Annotated[
    str,
    keep_if(is_label),
    NAME_SCHEMA,
    Setting(
        "the name of the rule, one in a project",
        f"a line of text of at most {NAME_BYTES} bytes without slashes, other than new",
    ),
]
Measure = Annotated[
    str,
    keep_if(lambda name: bool(name) and can_be_stored(name, LIMITS.id_bytes)),
    described(minLength=1, maxLength=LIMITS.id_bytes, pattern=NO_NUL),
    Setting(
        "a measure of the project, or `empty` for the share of rankings without a relevant "
        "document",
        "the name of a measure",
        source="measures",
        words=((EMPTY, "share of rankings without relevant documents"),),
    ),
]
Model = Annotated[
    str | None,
    keep_if(lambda name: name is None or can_be_stored(name, LIMITS.id_bytes)),
    described(maxLength=LIMITS.id_bytes, pattern=NO_NUL),
    Setting("check only this model", "a name", unset="all models", source="models"),
]
Slices = Annotated[
    tuple[
        Annotated[
            str,
            described(minLength=1, maxLength=2 * LIMITS.name_bytes + len(BETWEEN), pattern=NAMED),
        ],
        ...,
    ],
    keep_if(lambda names: are_names(names, 2 * LIMITS.name_bytes + len(BETWEEN))),
    LISTED,
    described(uniqueItems=True),
    Setting(
        "attributes whose values are also checked one by one, such as `device`, and pairs of "
        "attributes whose values are checked together, such as `device:country`",
        "different attribute names, in a list",
        option="--slice",
        source="dimensions",
    ),
]
Period = Annotated[
    Literal["day", "hour"], Setting("how much is checked together, an hour or a day of UTC")
]
FalseAlarms = Annotated[
    float,
    Field(gt=0, lt=1, allow_inf_nan=False),
    Setting(
        "the chance of any false alarm of the rule in a quarter (90 days), at most",
        "above 0 and below 1",
        label="Chance of a false alarm in a quarter",
    ),
]
Severity = Annotated[
    Literal["info", "warning", "critical"], Setting("how bad the incidents of this rule are")
]
Channels = Annotated[
    tuple[Annotated[str, described(minLength=1, maxLength=NAME_BYTES, pattern=NAMED)], ...] | None,
    keep_if(lambda names: are_names(names, NAME_BYTES) and len(names or ()) <= MOST_CHANNELS),
    LISTED,
    described(uniqueItems=True, maxItems=MOST_CHANNELS),
    Setting(
        "the channels that are notified, such as `log` or `webhook`",
        f"at most {MOST_CHANNELS} different names, in a list",
        unset="all",
    ),
]
Remind = Annotated[
    float,
    Field(ge=0, le=MOST_REMIND, allow_inf_nan=False),
    Setting(
        "the hours after which an incident that nobody acknowledged is notified again; 0 for never",
        f"0 to {MOST_REMIND:g} hours",
        label="Remind after (hours)",
        unit="hours",
        metavar="HOURS",
    ),
]

"""What people write about a project: its configuration and its rules, as JSON and TOML have them.

Requests, files, the OpenAPI description and the schema for editors have these types.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Union

from pydantic import Discriminator, Field, Tag, WrapValidator
from typing_extensions import TypedDict

from rankscope.monitor.definition.configuration import (
    MOST_ATTRIBUTES,
    MOST_GRACE,
    MOST_VALUES,
)
from rankscope.monitor.definition.definition import DEEPEST, EMPTY, POLICY
from rankscope.monitor.definition.definition import RULE as RULE_VERSION
from rankscope.monitor.definition.document import LONGEST_WINDOW
from rankscope.monitor.events.limits import SECOND, Limits
from rankscope.monitor.events.times import DURATION
from rankscope.monitor.rules.kinds import KINDS
from rankscope.monitor.rules.settings import NAME_SCHEMA, NO_NUL, TimeText, described
from rankscope.monitor.shapes import WHOLE, Number, OneOf

LIMITS = Limits()
Time = TimeText
Id = Annotated[str, described(minLength=1, maxLength=LIMITS.id_bytes, pattern="^[^\\u0000]+$")]
Part = Annotated[str, described(maxLength=LIMITS.id_bytes, pattern=NO_NUL)]
Attribute = Annotated[
    str, described(minLength=1, maxLength=LIMITS.name_bytes, pattern="^[^\\u0000]+$")
]
Pair = Annotated[list[Attribute], Field(min_length=2, max_length=2)]
RuleName = Annotated[
    str, NAME_SCHEMA, Field(description="A line of text that can stand in an address.")
]
DurationText = Annotated[
    str,
    described(pattern=f"^{DURATION.pattern}$", maxLength=8),
    Field(description="A whole number and its unit, such as 90s, 30m, 24h, 7d or 2w."),
]
ReferenceSet = Literal["validation", "training"]


class _Baseline(TypedDict, total=False):
    environment: ReferenceSet
    model: Part | None


class SetBaseline(_Baseline):
    """The baseline is a validation or training set."""

    kind: NotRequired[Literal["set"]]
    version: NotRequired[Part | None]
    since: NotRequired[None]
    until: NotRequired[None]


class PeriodBaseline(_Baseline):
    """The baseline is a period in production."""

    kind: Literal["period"]
    version: NotRequired[Part | None]
    since: Time
    until: Time


class VersionBaseline(_Baseline):
    """The baseline is the version before."""

    kind: Literal["version"]
    version: NotRequired[None]
    since: NotRequired[None]
    until: NotRequired[None]


def _tag_baseline(value: Any) -> str:  # noqa: ANN401 - JSON
    return f"({value.get('kind', 'set')})" if isinstance(value, dict) else ""


BaselineChoice = Annotated[
    Annotated[SetBaseline, Tag("(set)")]
    | Annotated[PeriodBaseline, Tag("(period)")]
    | Annotated[VersionBaseline, Tag("(version)")],
    Discriminator(
        _tag_baseline,
        custom_error_type="baseline_kind",
        custom_error_message="an object with the kind set, period or version",
    ),
]


class Attribution(TypedDict):
    """Which labels count, and how much."""

    positive: Annotated[
        dict[str, Number],
        Field(min_length=1),
        described(propertyNames={"type": "string", "minLength": 1, "maxLength": LIMITS.name_bytes}),
    ]
    combine: NotRequired[Literal["sum", "max"]]
    repeats: NotRequired[Literal["each", "once"]]
    unlabelled: NotRequired[Number | None]


class PolicyFields(TypedDict, total=False):
    """The conventions of a definition; those that are left out have their defaults."""

    ties: Annotated[str, OneOf(POLICY.ties)]
    empty: Annotated[str, OneOf(*EMPTY)]
    missing: Literal["zero", "skip", "error"]
    unjudged: Literal["nonrelevant"]
    unretrieved: Literal["count", "ignore"]
    negative: Literal["nonrelevant", "gain", "minmax"]
    missing_gain: None
    aggregate: Literal["mean"]


class DefinitionFields(TypedDict):
    """How values are computed."""

    attribution: Attribution
    window: Annotated[
        DurationText | Annotated[int, Field(ge=1, le=LONGEST_WINDOW // SECOND), WHOLE],
        Field(description="How long after a ranking its labels count; a number is in seconds."),
    ]
    rule: NotRequired[Annotated[int, Field(ge=RULE_VERSION, le=RULE_VERSION), WHOLE]]
    measures: NotRequired[
        Annotated[
            list[
                Annotated[
                    Id,
                    Field(description=f"A measure with a cutoff up to {DEEPEST}, such as nDCG@10."),
                ]
            ],
            Field(min_length=1),
        ]
    ]
    max_grade: NotRequired[Annotated[Number, described(exclusiveMinimum=0)]]
    policy: NotRequired[PolicyFields]


class ConfigurationFields(TypedDict):
    """How a project is measured. Only the labels that count and the window are required."""

    definition: DefinitionFields
    attributes: NotRequired[
        Annotated[list[Attribute], Field(max_length=MOST_ATTRIBUTES), described(uniqueItems=True)]
    ]
    pairs: NotRequired[list[Pair] | None]
    most: NotRequired[Annotated[int, Field(ge=1, le=MOST_VALUES), WHOLE]]
    baseline: NotRequired[BaselineChoice | None]
    grace: NotRequired[
        Annotated[
            DurationText | Annotated[Number, described(minimum=0, maximum=MOST_GRACE // SECOND)],
            Field(description="How long alerts wait for late events; a number is in seconds."),
        ]
    ]


def _keep(value: object, _read: object) -> object:
    """Keep an object as it is: `Rule.from_dict` reads it, and says what is wrong."""
    if not isinstance(value, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - which Pydantic reports
    return value


RuleFields: Any = Union[*(kind.record for kind in KINDS.values())]
NewRule = Annotated[
    RuleFields,
    WrapValidator(_keep),
    Field(examples=[{"measure": "nDCG@10", "period": "hour", "tolerance": 0.02}]),
]

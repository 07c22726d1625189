"""What people write about a project: its configuration and its rules, as JSON and TOML have them.

Requests, files, the OpenAPI description and the schema for editors have these types.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Union

from pydantic import Discriminator, Field, Tag, WrapValidator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from rankscope.monitor.definition.calendar import MOST_PERIODS, PERIOD_BASELINES
from rankscope.monitor.definition.configuration import (
    BASELINES,
    MOST_ATTRIBUTES,
    MOST_EDGES,
    MOST_GRACE,
    MOST_VALUES,
)
from rankscope.monitor.definition.definition import DEEPEST, EMPTY, MOST_LEFT_OUT, POLICY
from rankscope.monitor.definition.definition import RULE as RULE_VERSION
from rankscope.monitor.definition.document import LONGEST_WINDOW
from rankscope.monitor.events.limits import SECOND, Limits
from rankscope.monitor.events.times import DURATION
from rankscope.monitor.incidents.management import MOST_RULES
from rankscope.monitor.rules.kinds import KINDS
from rankscope.monitor.rules.settings import (
    NAME_SCHEMA,
    NO_NUL,
    RULE_NAME,
    Setting,
    TimeText,
    described,
)
from rankscope.monitor.shapes import WHOLE, Number, OneOf, Schemas, find_adapter
from rankscope.monitor.store.people import LONGEST

LIMITS = Limits()
Time = TimeText
Id = Annotated[str, described(minLength=1, maxLength=LIMITS.id_bytes, pattern="^[^\\u0000]+$")]
Part = Annotated[str, described(maxLength=LIMITS.id_bytes, pattern=NO_NUL)]
Attribute = Annotated[
    str, described(minLength=1, maxLength=LIMITS.name_bytes, pattern="^[^\\u0000]+$")
]
Value = Annotated[str, described(maxLength=LIMITS.value_bytes, pattern=NO_NUL)]
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
    if isinstance(value, str):
        return "(word)"
    return f"({value.get('kind', 'set')})" if isinstance(value, dict) else ""


BaselineChoice = Annotated[
    Annotated[SetBaseline, Tag("(set)")]
    | Annotated[PeriodBaseline, Tag("(period)")]
    | Annotated[VersionBaseline, Tag("(version)")]
    | Annotated[str, OneOf(*BASELINES), Tag("(word)")],
    Discriminator(
        _tag_baseline,
        custom_error_type="baseline_kind",
        custom_error_message=f"{', '.join(BASELINES)}, or an object with the kind set, period or "
        "version",
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


Length = DurationText | Annotated[Number, described(minimum=0)]


class DefinitionFields(TypedDict):
    """How values are computed."""

    attribution: Attribution
    window: Annotated[
        DurationText | Annotated[int, Field(ge=1, le=LONGEST_WINDOW // SECOND), WHOLE],
        Setting(
            "how long after a ranking its labels count; a number is in seconds",
            "a duration such as 24h, or a whole number of seconds",
        ),
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
    left_out: NotRequired[
        Annotated[
            list[Id],
            Field(max_length=MOST_LEFT_OUT, description="Users whose rankings don't count."),
        ]
    ]


Day = Annotated[
    str, described(format="date"), Field(description="A day in UTC, such as 2026-12-24.")
]
OwnBaseline = Annotated[
    str,
    OneOf(*PERIOD_BASELINES),
    Field(description="What its values are compared with (default: none, it is left out)."),
]


class CalendarPeriod(TypedDict):
    """Days that differ from others, such as a holiday, a campaign or an outage."""

    name: Attribute
    first: Day
    last: NotRequired[Day]
    baseline: NotRequired[OwnBaseline]


class ConfigurationFields(TypedDict):
    """How a project is measured. Only the labels that count and the window are required."""

    definition: DefinitionFields
    attributes: NotRequired[
        Annotated[list[Attribute], Field(max_length=MOST_ATTRIBUTES), described(uniqueItems=True)]
    ]
    bins: NotRequired[
        Annotated[
            dict[
                Attribute,
                Annotated[list[Number], Field(min_length=1, max_length=MOST_EDGES)],
            ],
            Field(
                max_length=MOST_ATTRIBUTES,
                description="By attribute that is a number, the ascending edges of its bins.",
            ),
        ]
    ]
    pairs: NotRequired[list[Pair] | None]
    most: NotRequired[Annotated[int, Field(ge=1, le=MOST_VALUES), WHOLE]]
    baseline: NotRequired[BaselineChoice | None]
    grace: NotRequired[
        Annotated[
            DurationText | Annotated[Number, described(minimum=0, maximum=MOST_GRACE // SECOND)],
            Setting(
                "how long alerts wait for late events; a number is in seconds",
                "a duration such as 1h, or a number of seconds",
            ),
        ]
    ]
    retention: NotRequired[
        Annotated[
            Length | None,
            Setting(
                "how long a service keeps events; values stay. A number is in seconds",
                "a duration such as 90d, or a number of seconds",
            ),
        ]
    ]
    calendar: NotRequired[
        Annotated[
            list[CalendarPeriod],
            Field(
                max_length=MOST_PERIODS,
                description="Periods that baselines and alerts leave out, or compare with others.",
            ),
        ]
    ]


def _keep(value: object, _read: object) -> object:
    """Keep an object as it is: `Rule.from_dict` reads it, and says what is wrong."""
    if not isinstance(value, dict):
        raise PydanticCustomError("object", "an object")
    return value


RuleFields: Any = Union[*(kind.record for kind in KINDS.values())]
NewRule = Annotated[
    RuleFields,
    WrapValidator(_keep),
    Field(examples=[{"measure": "nDCG@10", "period": "hour", "tolerance": 0.02}]),
]


def _keep_or_leave(value: object, _read: object) -> object:
    """Keep an object, or `false`, which leaves the rule out that every project has."""
    return value if value is False else _keep(value, _read)


FileRule = Annotated[RuleFields | Literal[False], WrapValidator(_keep_or_leave)]
MOST_PROJECTS = 1000


Members = Annotated[
    list[Annotated[str, described(maxLength=LONGEST)]],
    Field(description="Email addresses, and groups such as group:search."),
]


class RolesFields(TypedDict, total=False):
    """Who may see and change a project."""

    viewer: Members
    editor: Members
    admin: Members


class ProjectFields(ConfigurationFields):
    """How a project is measured and watched: its configuration and its rules by name.

    The rule `data`, which every project has, needs no entry; `false` leaves it out. Without the
    table of roles, roles stay as they are.
    """

    roles: NotRequired[RolesFields]

    rules: NotRequired[
        Annotated[
            dict[str, FileRule],
            Field(max_length=MOST_RULES),
            described(propertyNames={"type": "string", **RULE_NAME}),
        ]
    ]
    webhook: NotRequired[
        Annotated[
            str | Literal[False],
            Setting(
                "the https:// address of the webhook, or false for none; left out, it stays as it "
                "is. Its secret is in no file: `rankscope monitor webhook set` makes one",
                "an address such as https://hooks.example.com/rankscope, or false",
            ),
        ]
    ]


PROJECT_NAME = {"minLength": 1, "maxLength": LIMITS.name_bytes, "pattern": "^[^\\u0000]+$"}
ProjectName = Annotated[str, described(**PROJECT_NAME)]


class ChannelFields(TypedDict, total=False):
    """A channel of notifications: `url` for a service, or `webhook` with its `secret`."""

    url: Annotated[
        str, Field(description="An address of Apprise, such as `${SLACK_URL}` or mailto://…")
    ]
    webhook: Annotated[str, Field(description="An https:// address that gets signed JSON.")]
    secret: Annotated[str, Field(description="What a webhook is signed with: `${HOOK_SECRET}`.")]
    allow_http: bool
    allow_private: bool
    severity: Literal["info", "warning", "critical"]
    digest: Annotated[str, Field(description="Collect what isn't critical so long, such as 1h.")]


class ProviderFields(TypedDict):
    """A provider of sign-ins by OpenID Connect; its secret is in the environment."""

    issuer: Annotated[str, Field(description="Its address, as it calls itself.", max_length=1000)]
    client_id: Annotated[str, Field(description="What it calls this service.", max_length=1000)]
    groups: NotRequired[Annotated[str, Field(description="The claim with the groups of a person.")]]
    scopes: NotRequired[Annotated[str, Field(description="What is asked for, with openid.")]]
    name: NotRequired[Annotated[str, Field(description="What the button calls it.")]]


SetupFields = TypedDict(
    "SetupFields",
    {
        "public_url": Annotated[str, Field(description="The address of the dashboard.")],
        "channels": dict[str, ChannelFields],
        "sign-in": dict[Literal["oidc"], ProviderFields],
        "projects": Annotated[
            dict[str, ProjectFields],
            Field(max_length=MOST_PROJECTS),
            described(propertyNames={"type": "string", **PROJECT_NAME}),
        ],
    },
    total=False,
)
"""What a file says: projects, and what a service is started with."""


def describe_setup() -> dict[str, Any]:
    """Return the JSON Schema of a file, for editors."""
    described = find_adapter(SetupFields).json_schema(schema_generator=Schemas)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **described,
        "title": "rankscope.toml",
    }

"""What bodies and answers look like, in JSON Schema."""

from __future__ import annotations

from rankscope.monitor.alerts.notify.http import MOST_URL
from rankscope.monitor.alerts.rule import NAME_BYTES
from rankscope.monitor.definition.configuration import (
    MOST_ATTRIBUTES,
    MOST_GRACE,
    MOST_VALUES,
    Configuration,
)
from rankscope.monitor.definition.definition import DEEPEST, EMPTY, POLICY, define
from rankscope.monitor.definition.definition import RULE as RULE_VERSION
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.server.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Schema: TypeAlias = dict[str, Any]

LIMITS = Limits()
SETTINGS = Settings()


def text_of(most: int, *, least: int = 0, pattern: str = "^[^\\u0000]*$", **more: object) -> Schema:
    """Make the schema of a text.

    Args:
        most: The largest number of bytes in UTF-8. JSON Schema counts characters, so that a text
            of other than ASCII characters may be refused although it fits the schema.
        least: The smallest number of characters.
        pattern: What it looks like.
        more: Other keywords of JSON Schema.
    """
    return {"type": "string", "minLength": least, "maxLength": most, "pattern": pattern, **more}


def or_none(schema: Schema) -> Schema:
    """Make the schema of a value that may also be null."""
    return {**schema, "type": [schema["type"], "null"]}


PRINTABLE = "\\u0000-\\u0020\\u007f-\\u00a0\\u00ad\\u2028\\u2029"
"""What a name may not begin or end with, and, but for the space, not have at all. Unicode has more
characters that can't be printed than a pattern can list; a name with one of those is refused, too.
"""

TEXT: Schema = {"type": "string"}
TEXT_OR_NONE = or_none(TEXT)
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
NUMBER_OR_NONE = or_none(NUMBER)
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {
    "type": "string",
    "format": "date-time",
    "maxLength": 64,
    "pattern": "^[1-8][0-9]{3}-",
}
TIME_OR_NONE = or_none(TIME)
ANYTHING: Schema = {"type": "object"}
ID = text_of(LIMITS.id_bytes, least=1, pattern="^[^\\u0000]+$")
PART = text_of(LIMITS.id_bytes)
PART_OR_NONE = or_none(PART)
ATTRIBUTE = text_of(LIMITS.name_bytes, least=1, pattern="^[^\\u0000]+$")
LINE = text_of(LIMITS.name_bytes, least=1, pattern=f"^([^{PRINTABLE}]| )+$")


def list_of(items: Schema, **more: object) -> Schema:
    """Make the schema of a list, with other keywords of JSON Schema."""
    return {"type": "array", "items": items, **more}


def map_of(values: Schema, **more: object) -> Schema:
    """Make the schema of an object with any names, with other keywords of JSON Schema."""
    return {"type": "object", "additionalProperties": values, **more}


def object_of(
    *, free: bool = False, required: tuple[str, ...] | None = None, **fields: Schema
) -> Schema:
    """Make the schema of an object.

    Args:
        free: Whether it may have other fields.
        required: The fields that it has at least; all of them if left out.
        fields: Their schemas.
    """
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields if required is None else required),
        "additionalProperties": free,
    }


PROBLEM = object_of(
    error=object_of(required=("code", "message"), code=TEXT, message=TEXT, hint=TEXT),
    request_id=TEXT,
)
STATUS = object_of(
    required=("status",),
    status={"enum": ["ok", "ready", "not ready", "failed"]},
    evaluation={"enum": ["late", "on time"]},
)


def form_of(*names: str, **fields: Schema) -> Schema:
    """Make the schema of a form.

    Args:
        names: Fields that hold any text.
        fields: The schemas of others.
    """
    # A field that the page doesn't know is ignored, and one that is missing is empty.
    known = dict.fromkeys(names, TEXT) | fields
    return object_of(free=True, required=(), **known)


def batch_of(example: Schema) -> Schema:
    """Make the schema of a batch of events: one, or a list of them.

    What is wrong with an event is said in the answer, for that event alone, so that the schema
    takes any object, and anything within a list.
    """
    event = {
        "type": "object",
        "description": "An event. The documentation lists its fields and their other names.",
        "examples": [example],
    }
    return {"oneOf": [event, {"type": "array", "minItems": 1, "maxItems": SETTINGS.batch}]}


RANKINGS = batch_of(
    {
        "ranking_id": "s1",
        "time": "2026-11-20T10:00:00Z",
        "version": "3",
        "items": [{"doc_id": "a", "rank": 1}, {"doc_id": "b", "rank": 2}],
    }
)
LABELS = batch_of(
    {"ranking_id": "s1", "doc_id": "b", "time": "2026-11-20T10:01:00Z", "labels": ["click"]}
)
BATCH_ANSWER = object_of(
    accepted=COUNT,
    duplicate=COUNT,
    conflict=COUNT,
    rejected=COUNT,
    notes=map_of(COUNT),
    unknown_fields=map_of(COUNT),
    items=list_of(
        object_of(
            required=("status",),
            status={"enum": ["accepted", "duplicate", "conflict", "rejected"]},
            code=TEXT,
            message=TEXT,
            field=TEXT,
            hint=TEXT,
        )
    ),
    request_id=TEXT,
)

PAIR: Schema = {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}
SERIES = object_of(
    measure=TEXT,
    every={"enum": ["hour", "day"]},
    model=TEXT_OR_NONE,
    version=TEXT_OR_NONE,
    slice=list_of(PAIR),
    level=NUMBER,
    starts=list_of(TIME),
    values=list_of(NUMBER_OR_NONE),
    lower=list_of(NUMBER_OR_NONE),
    upper=list_of(NUMBER_OR_NONE),
    defined=list_of(COUNT),
    rankings=list_of(COUNT),
    labelled=list_of(COUNT),
    empty=list_of(COUNT),
    missing=list_of(COUNT),
    tied=list_of(COUNT),
    gaps=list_of(COUNT),
    documents=list_of(COUNT),
    unjudged=list_of(COUNT),
    is_final=list_of(FLAG),
)
SLICES = object_of(
    measure=TEXT,
    left_out=COUNT,
    slices=list_of(
        object_of(
            slice=TEXT,
            value=NUMBER_OR_NONE,
            rankings=COUNT,
            labelled=COUNT,
            empty=COUNT,
            baseline=NUMBER_OR_NONE,
            difference=NUMBER_OR_NONE,
        )
    ),
)
MATURITY = object_of(ages_seconds=list_of(COUNT), counts=list_of(COUNT), shares=list_of(NUMBER))
QUALITY = object_of(
    events=map_of(COUNT),
    pending_labels=COUNT,
    late=COUNT,
    unshown=COUNT,
    folded=map_of(COUNT),
    folded_versions=COUNT,
    folded_rankings=COUNT,
    shown=map_of(COUNT),
    curve=MATURITY,
    newest=TIME_OR_NONE,
    as_of=TIME_OR_NONE,
    behind=COUNT,
    lost=COUNT,
)
VERSIONS = object_of(
    versions=list_of(
        object_of(model=TEXT, version=TEXT, first=TIME, last=TIME, rankings=COUNT, folded=COUNT)
    )
)
MEANS = map_of(object_of(value=NUMBER_OR_NONE, lower=NUMBER_OR_NONE, upper=NUMBER_OR_NONE))
BASELINE = object_of(
    baseline={
        "oneOf": [
            {"type": "null"},
            object_of(kind=TEXT, of=TEXT, rankings=COUNT, means=MEANS),
        ]
    }
)

RANKING = object_of(
    free=True,
    ranking_id=TEXT,
    time=TIME,
    measure=TEXT,
    value=NUMBER_OR_NONE,
    is_final=FLAG,
    documents=list_of(ANYTHING),
    labels=list_of(ANYTHING),
)
TRACE = object_of(free=True)

RULE_NAME = text_of(
    NAME_BYTES,
    least=1,
    pattern=f"^(?!(?:new|\\.\\.?)$)(?!.*\\.json$)[^{PRINTABLE}/\\\\]"
    f"(?:(?:[^{PRINTABLE}/\\\\]| )*[^{PRINTABLE}/\\\\])?$",
    description="A line of text that can stand in an address.",
)
RULE = object_of(
    required=("measure",),
    name={**RULE_NAME, "description": "The name that is in the address."},
    measure={**ID, "description": "One of the measures of the project."},
    kind={"enum": ["drop", "threshold"]},
    model=PART_OR_NONE,
    slices=list_of(ATTRIBUTE, uniqueItems=True),
    period={"enum": ["hour", "day"]},
    tolerance={**NUMBER, "minimum": 0, "description": "Below 1 if `is_relative`."},
    is_relative=FLAG,
    run_length={**NUMBER, "minimum": 2},
    fewest={**COUNT, "minimum": 2},
    needs={"enum": ["interval", "value"]},
    since=TIME_OR_NONE,
    webhook=FLAG,
)
NEW_RULE = {**RULE, "examples": [{"measure": "nDCG@10", "period": "hour", "tolerance": 0.02}]}
STATE = {"enum": ["OK", "ALERT", "NO_DATA", "INSUFFICIENT"]}
MEAN = {"oneOf": [{"type": "null"}, ANYTHING]}
STREAM = object_of(
    free=True,
    model=TEXT,
    version=TEXT,
    slice=map_of(TEXT),
    state=STATE,
    reason=TEXT,
    floor=NUMBER_OR_NONE,
    baseline=MEAN,
    value=MEAN,
    log_evidence=NUMBER_OR_NONE,
    needed=NUMBER_OR_NONE,
    is_named=FLAG,
    since=TIME_OR_NONE,
)
RULE_STATE = object_of(
    free=True,
    rule=RULE,
    state=STATE,
    since=TIME,
    reason=TEXT,
    streams=list_of(STREAM),
    evaluated=TIME,
    silenced_until=TIME_OR_NONE,
    late_rankings=COUNT,
)
RULES = object_of(rules=list_of(RULE_STATE))
SILENCE = object_of(until=TIME_OR_NONE) | {"examples": [{"until": "2026-11-21T18:00:00Z"}]}
ALERTS = object_of(
    alerts=list_of(
        object_of(
            free=True,
            id=TEXT,
            rule=TEXT,
            measure=TEXT,
            before=STATE,
            after=STATE,
            time=TIME,
            reason=TEXT,
            link=TEXT,
            streams=list_of(ANYTHING),
        )
    )
)

WEBHOOK_FIELDS = {
    "oneOf": [
        {"type": "null"},
        object_of(
            host=TEXT,
            allows_http=FLAG,
            created=TIME,
            disabled=TIME_OR_NONE,
            needs_secret=FLAG,
        ),
    ]
}
WEBHOOK = object_of(webhook=WEBHOOK_FIELDS)
NEW_WEBHOOK = object_of(
    required=("url",),
    url=text_of(
        MOST_URL,
        least=1,
        pattern=r"^https?://(?:\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_.-]+)(?::[0-9]{1,5})?"
        r"(?:[/?][!-\x22$-\[\]-~]*)?$",
        description="A public address. With http, `allows_http` has to be true.",
    ),
    secret={
        "type": ["string", "null"],
        # Base64 of 24 to 64 bytes.
        "pattern": "^whsec_(?:(?:B{4}){8,20}(?:B{4}|B{3}=|BB==)?|(?:B{4}){21}(?:BB==)?)$".replace(
            "B", "[A-Za-z0-9+/]"
        ),
        "description": "What notifications are signed with; one is made by default.",
    },
    allows_http=FLAG,
) | {"examples": [{"url": "https://example.com/hook"}]}
SET_WEBHOOK = object_of(webhook=WEBHOOK_FIELDS, secret=TEXT_OR_NONE)
TRIED = object_of(is_delivered=FLAG, told=TEXT)
NOTIFICATIONS = object_of(
    notifications=list_of(
        object_of(
            id=TEXT,
            channel={"enum": ["log", "webhook"]},
            status={"enum": ["waiting", "delivered", "dead", "summed"]},
            attempts=COUNT,
            problem=TEXT,
            created=TIME,
            due=TIME,
            finished=TIME_OR_NONE,
            notification=ANYTHING,
        )
    )
)

NOTHING: Schema = {"type": "null"}
SET = {"enum": ["validation", "training"]}
MOMENT: Schema = {"type": "integer", "description": "In microseconds since 1970 in UTC."}


def _baseline_of(kind: str, version: Schema, moment: Schema) -> Schema:
    needed = ("kind", "since", "until") if moment is MOMENT else ("kind",)
    return object_of(
        required=needed,
        kind={"const": kind},
        environment=SET,
        model=PART_OR_NONE,
        version=version,
        since=moment,
        until=moment,
    )


BASELINE_CHOICE: Schema = {
    "oneOf": [
        NOTHING,
        _baseline_of("set", PART_OR_NONE, NOTHING),
        _baseline_of("period", PART_OR_NONE, MOMENT),
        _baseline_of("version", NOTHING, NOTHING),
    ]
}
POLICY_CHOICE = object_of(
    required=("ties",),
    ties={"const": POLICY.ties},
    empty={"enum": list(EMPTY)},
    missing={"enum": ["zero", "skip", "error"]},
    unjudged={"const": "nonrelevant"},
    unretrieved={"enum": ["count", "ignore"]},
    negative={"enum": ["nonrelevant", "gain", "minmax"]},
    missing_gain=NOTHING,
    aggregate={"const": "mean"},
)
CONFIGURATION = object_of(
    definition=object_of(
        rule={"type": "integer", "const": RULE_VERSION},
        measures=list_of(
            {**ID, "description": f"A measure with a cutoff up to {DEEPEST}, such as nDCG@10."},
            minItems=1,
        ),
        attribution=object_of(
            positive=map_of(NUMBER, minProperties=1, propertyNames=ATTRIBUTE),
            combine={"enum": ["sum", "max"]},
            repeats={"enum": ["each", "once"]},
            unlabelled=NUMBER_OR_NONE,
        ),
        window_seconds={"type": "integer", "minimum": 1, "maximum": 10 * 366 * 86_400},
        max_grade={**NUMBER, "exclusiveMinimum": 0},
        policy=POLICY_CHOICE,
    ),
    attributes=list_of(ATTRIBUTE, uniqueItems=True, maxItems=MOST_ATTRIBUTES),
    pairs={"oneOf": [NOTHING, list_of(PAIR)]},
    most={"type": "integer", "minimum": 1, "maximum": MOST_VALUES},
    baseline=BASELINE_CHOICE,
    grace={**COUNT, "maximum": MOST_GRACE, "description": "In microseconds."},
)
NEW_CONFIGURATION = CONFIGURATION | {
    "examples": [
        Configuration(
            definition=define(positive={"click": 1, "buy": 5}, window=86_400),
            attributes=("device",),
        ).to_dict()
    ]
}
SCOPES = list_of({"enum": ["ingest", "read", "admin"]})
NEW_KEY = object_of(name=LINE, scopes={**SCOPES, "minItems": 1}) | {
    "examples": [{"name": "search service", "scopes": ["ingest"]}]
}
KEY_FIELDS: Schema = {
    "key_id": TEXT,
    "name": TEXT,
    "scopes": SCOPES,
    "created": TIME,
    "revoked": TIME_OR_NONE,
}
KEYS = object_of(keys=list_of(object_of(**KEY_FIELDS)))
SHOWN_KEY = object_of(**KEY_FIELDS, key=TEXT)
AUDIT = object_of(entries=list_of(object_of(time=TIME, actor=TEXT, action=TEXT, subject=TEXT)))
IN_PATHS = {
    "key_id": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
    "name": RULE_NAME,
    "ranking_id": ID,
}
"""What stands in paths, by its name in braces."""

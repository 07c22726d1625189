"""What bodies and answers look like, in JSON Schema."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Schema: TypeAlias = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
NUMBER_OR_NONE: Schema = {"type": ["number", "null"]}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "format": "date-time"}
TIME_OR_NONE: Schema = {"type": ["string", "null"], "format": "date-time"}
ANYTHING: Schema = {"type": "object"}


def list_of(items: Schema) -> Schema:
    """Make the schema of a list."""
    return {"type": "array", "items": items}


def map_of(values: Schema) -> Schema:
    """Make the schema of an object with any names."""
    return {"type": "object", "additionalProperties": values}


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
STATUS = object_of(required=("status",), free=True, status=TEXT)

EVENT: Schema = {
    "type": "object",
    "description": "An event; the fields and their other names are in the documentation.",
}
BATCH: Schema = {"oneOf": [EVENT, list_of(EVENT)]}
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

RULE = object_of(
    required=("measure",),
    name=TEXT,
    measure=TEXT,
    kind={"enum": ["drop", "threshold"]},
    model=TEXT_OR_NONE,
    slices=list_of(TEXT),
    period={"enum": ["hour", "day"]},
    tolerance=NUMBER,
    is_relative=FLAG,
    run_length=NUMBER,
    fewest=COUNT,
    needs={"enum": ["interval", "value"]},
    since=TIME_OR_NONE,
    webhook=FLAG,
)
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
SILENCE = object_of(until=TIME_OR_NONE)
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
        object_of(host=TEXT, allows_http=FLAG, created=TIME, disabled=TIME_OR_NONE),
    ]
}
WEBHOOK = object_of(webhook=WEBHOOK_FIELDS)
NEW_WEBHOOK = object_of(required=("url",), url=TEXT, secret=TEXT_OR_NONE, allows_http=FLAG)
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

BASELINE_CHOICE = object_of(
    required=("kind",),
    kind={"enum": ["set", "period", "version"]},
    environment={"enum": ["validation", "training"]},
    model=TEXT_OR_NONE,
    version=TEXT_OR_NONE,
    since={"type": ["integer", "null"]},
    until={"type": ["integer", "null"]},
)
CONFIGURATION = object_of(
    definition=object_of(
        rule={"type": "integer"},
        measures=list_of(TEXT),
        attribution=object_of(
            positive=map_of(NUMBER), combine=TEXT, repeats=TEXT, unlabelled=NUMBER
        ),
        window_seconds={"type": "integer", "minimum": 1, "maximum": 10 * 366 * 86_400},
        max_grade=NUMBER,
        policy=ANYTHING,
    ),
    attributes=list_of(TEXT),
    pairs={"oneOf": [{"type": "null"}, list_of(PAIR)]},
    most={"type": "integer", "minimum": 1},
    baseline={"oneOf": [{"type": "null"}, BASELINE_CHOICE]},
    grace={**COUNT, "description": "In microseconds."},
)
SCOPES = list_of({"enum": ["ingest", "read", "admin"]})
NEW_KEY = object_of(name=TEXT, scopes=SCOPES)
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

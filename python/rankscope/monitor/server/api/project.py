"""The configuration of a project, and its keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.monitor.definition.configuration import (
    Configuration,
)
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.document import (
    read_configuration,
    write_configuration,
)
from rankscope.monitor.events.rejection import CODES
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import write_record
from rankscope.monitor.rules.settings import PRINTABLE, described
from rankscope.monitor.server.access.accounts import replace_key
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.setup.fields import (
    LIMITS,
    Attribute,
    ConfigurationFields,
    DurationText,
    Time,
)
from rankscope.monitor.shapes import (
    WHOLE,
    OneOf,
)
from rankscope.monitor.store.keys import KEEP, KEY_TIMES, ApiKey, make_key, read_life

NO_KEY = "there is no such key that opens something"
KeyName = Annotated[
    str,
    described(minLength=1, maxLength=LIMITS.name_bytes, pattern=f"^([^{PRINTABLE}]| )+$"),
]
KeyScope = Literal["ingest", "read", "edit", "admin"]
RejectionCode = Annotated[str, OneOf(*sorted(CODES), "other")]
SmallCount = Annotated[int, Field(ge=0, le=10**9), WHOLE]
NewConfiguration = Annotated[
    ConfigurationFields,
    Field(
        examples=[
            write_configuration(
                Configuration(
                    definition=define(positive={"click": 1, "buy": 5}, window="24h"),
                    attributes=("device",),
                )
            ),
            {"definition": {"attribution": {"positive": {"click": 1}}, "window": "24h"}},
        ]
    ),
]


class NewKeyFields(TypedDict):
    """A key that is to be made."""

    name: KeyName
    scopes: Annotated[list[KeyScope], Field(min_length=1)]
    expires: NotRequired[
        Annotated[DurationText, Field(description="After how long it expires, such as 90d.")]
    ]


class RotationFields(TypedDict, total=False):
    """How a key is replaced."""

    keep: Annotated[
        DurationText,
        Field(description="How long the old key goes on (default: 24h)."),
    ]
    expires: Annotated[
        DurationText,
        Field(description="After how long the new key expires (default: as the old one)."),
    ]


Rotation = Annotated[RotationFields, Field(examples=[{"keep": "7d", "expires": "90d"}])]
NewKey = Annotated[NewKeyFields, Field(examples=[{"name": "search service", "scopes": ["ingest"]}])]


class Key(TypedDict):
    """A key, without its secret."""

    key_id: str
    name: str
    scopes: list[KeyScope]
    created: Time
    creator: str
    expires: Time | None
    used: Time | None
    revoked: Time | None


class ShownKey(Key):
    """A key that was just made, with its secret."""

    key: str


class Keys(TypedDict):
    """The keys of a project."""

    keys: list[Key]


class Attributes(TypedDict):
    """The attributes that a project slices by."""

    attributes: list[Attribute]


class Discarded(TypedDict):
    """What a sender discarded before it sent the rest."""

    rejected: NotRequired[dict[RejectionCode, SmallCount]]
    unknown_fields: NotRequired[SmallCount]


NewDiscarded = Annotated[
    Discarded, Field(examples=[{"rejected": {"missing_field": 2}, "unknown_fields": 6000}])
]


def get_configuration(monitor: Monitor, _call: Call) -> ConfigurationFields:
    """Return the configuration of the project."""
    return cast("ConfigurationFields", write_configuration(monitor.configuration))


def put_configuration(monitor: Monitor, call: Call) -> ConfigurationFields:
    """Change the configuration of the project."""
    monitor.configure(read_configuration(call.body), actor=call.principal.actor)
    return get_configuration(monitor, call)


def list_attributes(monitor: Monitor, _call: Call) -> Attributes:
    """Return the attributes that the project slices by, for senders of tables."""
    names = monitor.configuration.attributes if monitor.is_configured else ()
    return {"attributes": list(names)}


def count_discarded(monitor: Monitor, call: Call) -> None:
    """Count what a sender rejected or ignored before it sent the rest."""
    counts = dict(call.body.get("rejected", {}))
    counts["unknown_field"] = call.body.get("unknown_fields", 0)
    monitor.writer.append(monitor.project, [], {code: n for code, n in counts.items() if n})


def list_keys(monitor: Monitor, _call: Call) -> Keys:
    """Return the keys of the project, without their secrets."""
    return {"keys": [_write_key(key) for key in monitor.store.keys(monitor.project)]}


def create_key(monitor: Monitor, call: Call) -> ShownKey:
    """Create a key. Its secret is shown only in this answer. The first needs the scope admin."""
    body: NewKeyFields = call.body
    now, actor = monitor.clock(), call.principal.actor
    life = body.get("expires")
    expires = None if life is None else now + read_life(life)
    scopes = tuple(body["scopes"])
    key, shown = make_key(monitor.project, scopes, name=body["name"], now=now, expires=expires)
    monitor.writer.add_key(key, actor, keeps_admin=True)
    return {**_write_key(replace(key, creator=actor)), "key": shown.reveal()}


def rotate_key(monitor: Monitor, call: Call) -> ShownKey:
    """Make the successor of a key, which goes on for a while. The secret is shown only here."""
    body, actor = call.body, call.principal.actor
    made = replace_key(
        monitor.writer,
        monitor.project,
        call.part("key_id"),
        keep=read_life(body.get("keep", KEEP)),
        life=read_life(body["expires"]) if "expires" in body else None,
        now=monitor.clock(),
        actor=actor,
    )
    if made is None:
        raise RefusedRequestError(404, NO_KEY, code="no_key")
    key, shown = made
    return {**_write_key(replace(key, creator=actor)), "key": shown.reveal()}


def revoke_key(monitor: Monitor, call: Call) -> None:
    """Revoke a key, unless it is the last one with the scope admin."""
    key_id, actor = call.part("key_id"), call.principal.actor
    now = monitor.clock()
    if not monitor.writer.revoke_key(monitor.project, key_id, now, actor, keeps_admin=True):
        raise RefusedRequestError(404, NO_KEY, code="no_key")


def _write_key(key: ApiKey) -> Key:
    return cast("Key", write_record(key, Key.__annotations__, KEY_TIMES))


ROUTES = (
    Route("GET", "/v1/configuration", get_configuration, result=ConfigurationFields),
    Route(
        "PUT",
        "/v1/configuration",
        put_configuration,
        body=NewConfiguration,
        result=ConfigurationFields,
    ),
    Route("GET", "/v1/attributes", list_attributes, "ingest", result=Attributes),
    Route("POST", "/v1/discarded", count_discarded, "ingest", body=NewDiscarded),
    Route("GET", "/v1/keys", list_keys, "admin", result=Keys),
    Route("POST", "/v1/keys", create_key, body=NewKey, result=ShownKey, status=201),
    Route(
        "POST",
        "/v1/keys/{key_id}/rotate",
        rotate_key,
        body=Rotation,
        result=ShownKey,
        status=201,
        refuses=(404,),
    ),
    Route("DELETE", "/v1/keys/{key_id}", revoke_key),
)

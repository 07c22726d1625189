"""The schemas of rankings and labels, with every name that the reader of events knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, with_config

from rankscope.monitor.events.names import COLUMN_NAMES, ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.rules.settings import described
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.setup.fields import LIMITS, Id, Part
from rankscope.monitor.shapes import make_record

Whole = Annotated[int, described(minimum=-(2**63), maximum=2**63 - 1)]
AnyId = Id | Whole
AnyPart = Part | Whole | None
Word = Annotated[str, described(minLength=1, maxLength=LIMITS.name_bytes, pattern="^[^\\u0000]+$")]
Moment = Annotated[str, described(format="date-time")] | float
Value = Annotated[str, described(maxLength=LIMITS.value_bytes)] | float | bool | None
Attributes = dict[Word, Value] | None
Words = Word | Annotated[list[Word], described(maxItems=LIMITS.labels)] | None
Rank = Annotated[int, described(minimum=0, maximum=LIMITS.rank)]

ROLES: Mapping[str, tuple[Any, str]] = {
    "event_id": (AnyId | None, "The id under which the event is sent again (default: made)."),
    "ranking_id": (AnyId, "The ranking, which labels name."),
    "time": (Moment, "When it happened: RFC 3339 with a time zone, or milliseconds since 1970."),
    "query_key": (
        Annotated[str, described(maxLength=LIMITS.value_bytes)] | Whole | None,
        "What repeats, such as the text of the query.",
    ),
    "user_id": (AnyPart, "Who saw it. Intervals are over users."),
    "model": (AnyPart, "The model that ranked."),
    "version": (AnyPart, "The version of the model."),
    "environment": (
        Literal["production", "validation", "training"] | None,
        "Where it was ranked (default: production).",
    ),
    "attributes": (Attributes, "What belongs to the ranking, such as its device or country."),
    "features": (Attributes, "More attributes."),
    "tags": (Attributes, "More attributes."),
    "doc_id": (AnyId, "The document."),
    "rank": (Rank | None, "Its rank, from 1 (default: the order of the documents)."),
    "score": (float | None, "What the ranker gave it."),
    "relevance": (float | None, "Its grade, if it was known when the ranking was logged."),
    "labels": (Words, "What happened, such as click or buy: a label, or a list of them."),
    "value": (float | None, "A grade, in place of labels."),
    "kind": (
        Literal["label", "correction", "retraction"] | None,
        "A label adds to those before it, a correction replaces them, a retraction removes them.",
    ),
}
"""By role, the type of the field and what it means."""


def _name_fields(
    names: Mapping[str, Iterable[str]], roles: Mapping[str, tuple[Any, str]] = ROLES
) -> dict[str, Any]:
    """Return a field for each name of each role."""
    fields = {}
    for role, synonyms in names.items():
        kind, meaning = roles[role]
        for name in synonyms:
            said = meaning if name == role else f"Another name of `{role}`."
            fields[name] = Annotated[kind, Field(description=said)]
    return fields


def _make_record(name: str, doc: str, fields: Mapping[str, Any], *required: Iterable[str]) -> Any:  # noqa: ANN401 - a type
    """Return an extensible `TypedDict` that has one of each of some groups of names."""
    made = make_record(name, fields)
    made.__doc__ = doc
    groups: Any = [{"anyOf": [{"required": [one]} for one in group]} for group in required]
    return with_config(ConfigDict(extra="allow", json_schema_extra={"allOf": groups}))(made)


Item = _make_record(
    "Item",
    "A document of a ranking, with its rank, score or grade.",
    _name_fields(ITEM_NAMES),
    ITEM_NAMES["doc_id"],
)

COLUMNS = {role: COLUMN_NAMES[role] for role in ITEM_NAMES}
_ITEMS = (
    Annotated[list[Item | AnyId], described(maxItems=LIMITS.items)],  # type: ignore[valid-type]  # a record
    "The documents: objects, or only their ids, in the order of the ranking.",
)
_ranking_fields = _name_fields(RANKING_NAMES, {**ROLES, "items": _ITEMS})
for _role, _names in COLUMNS.items():
    for _name in _names:
        _ranking_fields[_name] = Annotated[
            list[ROLES[_role][0]],  # type: ignore[misc]  # a type
            described(maxItems=LIMITS.items),
            Field(description=f"In place of `items`: the `{_role}` of each document."),
        ]
Ranking = _make_record(
    "Ranking",
    "A ranking: one list that was shown. A field has one of its names, not several. Other fields "
    "are stored nowhere, and counted.",
    _ranking_fields,
    RANKING_NAMES["ranking_id"],
    RANKING_NAMES["time"],
    (*RANKING_NAMES["items"], *COLUMNS["doc_id"]),
)
Label = _make_record(
    "Label",
    "Feedback on one document of a ranking: labels or a value, unless it is a retraction. A field "
    "has one of its names, not several. Other fields are stored nowhere, and counted.",
    _name_fields(LABEL_NAMES),
    LABEL_NAMES["ranking_id"],
    LABEL_NAMES["doc_id"],
    LABEL_NAMES["time"],
)

RANKING_EXAMPLES: list[dict[str, Any]] = [
    {
        "ranking_id": "s1",
        "time": "2026-11-20T10:00:00Z",
        "user_id": "u7",
        "model": "search",
        "version": "3",
        "attributes": {"device": "tv", "country": "de"},
        "items": [
            {"doc_id": "a", "rank": 1, "score": 0.9},
            {"doc_id": "b", "rank": 2, "score": 0.4},
        ],
    },
    {"ranking_id": "s2", "time": 1795169400000, "version": "3", "doc_ids": ["b", "a", "c"]},
]
SET_EXAMPLES = [
    {"environment": "training", "ranking_id": f"t{number}"}
    | {name: value for name, value in each.items() if name != "ranking_id"}
    for number, each in enumerate(RANKING_EXAMPLES, 1)
]
LABEL_EXAMPLES = [
    {"ranking_id": "s1", "doc_id": "b", "time": "2026-11-20T10:01:00Z", "labels": ["click"]},
    {"ranking_id": "s2", "doc_id": "c", "time": "2026-11-20T10:09:00Z", "value": 2},
]

_SOME = Field(min_length=1, max_length=Settings().batch)
# What is wrong with one event is said in the answer for that event, and the others are stored.
Rankings = Annotated[
    Ranking | Annotated[list[Ranking], _SOME],  # type: ignore[valid-type]  # a record
    Field(examples=[RANKING_EXAMPLES[0], RANKING_EXAMPLES]),
]
SetRankings = Annotated[
    Ranking | Annotated[list[Ranking], _SOME],  # type: ignore[valid-type]  # likewise
    Field(examples=[SET_EXAMPLES[0], SET_EXAMPLES]),
]
Labels = Annotated[
    Label | Annotated[list[Label], _SOME],  # type: ignore[valid-type]  # likewise
    Field(examples=[LABEL_EXAMPLES[0], LABEL_EXAMPLES]),
]

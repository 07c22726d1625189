"""The names of event fields: rankscope's own, and those of common log formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rankscope.monitor.events.rejection import RefusedError, show

# A name stands in one row of a table only, so that a field has one meaning. Names are from: Arize
# (`prediction_group_id`, `relevance_score`, `relevance_labels`), logs of search groups
# (`search_group_id`, `item_id`, `gains`), Evidently (`item_id`, `target`, `prediction`), Fiddler
# (lists in one object), and User Behavior Insights (`query_id`, `client_id`, `user_query`,
# `query_response_hit_ids`, `action_name`).

RANKING_NAMES: dict[str, tuple[str, ...]] = {
    "event_id": ("event_id", "prediction_id"),
    "ranking_id": (
        "ranking_id",
        "prediction_group_id",
        "search_group_id",
        "group_id",
        "query_id",
        "qid",
        "search_id",
    ),
    "time": ("time", "timestamp", "ts", "event_time", "prediction_timestamp"),
    "query_key": ("query_key", "user_query", "query_text", "query", "search_query"),
    "user_id": ("user_id", "client_id"),
    "model": ("model", "model_id", "model_name"),
    "version": ("version", "model_version"),
    "environment": ("environment", "env"),
    "attributes": ("attributes", "query_attributes"),
    "features": ("features",),
    "tags": ("tags",),
    "items": ("items", "documents", "results", "hits"),
}
"""By role, the names of the fields of a ranking."""

DOCUMENT_NAMES = (
    "doc_id",
    "item_id",
    "document_id",
    "product_id",
    "object_id",
    "docno",
    "docid",
    "prediction_id",
)
"""The names of a document in a ranking or a label."""

ITEM_NAMES: dict[str, tuple[str, ...]] = {
    "doc_id": (*DOCUMENT_NAMES, "query_response_hit_ids", "doc_ids", "item_ids"),
    "rank": ("rank", "ranks", "position"),
    "score": ("score", "scores", "prediction_score", "prediction", "similarity"),
    "relevance": (
        "relevance",
        "relevance_score",
        "gains",
        "gain",
        "grade",
        "grades",
        "rel",
        "target",
    ),
    "labels": ("labels", "relevance_labels", "relevance_label"),
}
"""By role, the names of the fields of a document in a ranking."""

LABEL_NAMES: dict[str, tuple[str, ...]] = {
    "event_id": ("event_id",),
    "ranking_id": RANKING_NAMES["ranking_id"],
    "doc_id": DOCUMENT_NAMES,
    "time": ("time", "timestamp", "ts", "event_time", "label_time", "actual_timestamp"),
    "labels": ("labels", "label", "relevance_labels", "relevance_label", "action_name"),
    "value": ("value", "relevance", "relevance_score", "gains", "gain", "grade", "rel", "target"),
    "kind": ("kind",),
}
"""By role, the names of the fields of a label."""

# In one object that holds a whole ranking, its event has the name `prediction_id`, not a document.
COLUMN_NAMES: dict[str, tuple[str, ...]] = RANKING_NAMES | {
    role: tuple(name for name in names if name != "prediction_id")
    for role, names in ITEM_NAMES.items()
}
"""By role, the names of the fields of a ranking whose documents are lists in it."""

# A row of a table is one document of a ranking, and `prediction_id` is a name of that document.
ROW_NAMES: dict[str, tuple[str, ...]] = {
    role: tuple(name for name in names if role != "event_id" or name != "prediction_id")
    for role, names in (RANKING_NAMES | ITEM_NAMES).items()
    if role not in {"items", "attributes", "features", "tags", "labels"}
}
"""By role, the names of the columns of a table with one document a row."""

MOST_SHAPES = 1000


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one object, by role.

    Args:
        roles: By role, the name of the field.
        unknown: The names that hold nothing we know.
    """

    roles: Mapping[str, str]
    unknown: tuple[str, ...]


class Aliases:
    """Finds the fields of objects by name. Two names for one role are an error.

    Args:
        names: By role, the names it may have.
        chosen: By role, the one name that it has; its other names are unknown then.

    Examples:
        >>> aliases = Aliases(LABEL_NAMES)
        >>> aliases.find(["search_group_id", "item_id", "gains", "color"]).roles["value"]
        'gains'
        >>> aliases.find(["gains", "grade"])
        Traceback (most recent call last):
          ...
        rankscope.monitor.events.rejection.RefusedError: expected one field of value, found 'gains', 'grade'
        <BLANKLINE>
        Hint: say which: names={'value': 'gains'}
    """  # noqa: E501 - an error names its module

    def __init__(
        self, names: Mapping[str, tuple[str, ...]], chosen: Mapping[str, str] | None = None
    ) -> None:
        chosen = chosen or {}
        taken = set(chosen.values())
        # Chosen names come last, so that they win over what they would mean else.
        self.role_of: Mapping[str, str] = {
            name: role
            for role, synonyms in names.items()
            if role not in chosen
            for name in synonyms
            if name not in taken
        } | {name: role for role, name in chosen.items() if role in names}
        """The roles by name."""
        self._known: dict[tuple[str, ...], Fields] = {}

    def find(self, keys: Iterable[str]) -> Fields:
        """Find the fields of an object."""
        shape = tuple(keys)
        fields = self._known.get(shape)
        if fields is None:
            fields = self._find(shape)
            if len(self._known) < MOST_SHAPES:
                self._known[shape] = fields
        return fields

    def _find(self, keys: tuple[str, ...]) -> Fields:
        roles: dict[str, str] = {}
        unknown = []
        for key in keys:
            role = self.role_of.get(key)
            if role is None:
                unknown.append(key)
            elif role in roles:
                raise RefusedError(
                    "",
                    f"one field of {role}",
                    f"{show(roles[role])}, {show(key)}",
                    code="ambiguous_field",
                    hint=f"say which: names={{{role!r}: {roles[role]!r}}}",
                )
            else:
                roles[role] = key
        return Fields(roles, tuple(unknown))

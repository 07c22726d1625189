"""Reads JSON objects as events. Each becomes records or a rejection with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from rankscope.monitor.events.bins import Bins
from rankscope.monitor.events.event import (
    ENVIRONMENTS,
    LABEL_KINDS,
    Event,
    Label,
    LabelKind,
    Ranking,
)
from rankscope.monitor.events.fields import (
    check_depth,
    read_attributes,
    read_id,
    read_labels,
    read_number,
    read_text,
)
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.names import (
    COLUMN_NAMES,
    ITEM_NAMES,
    LABEL_NAMES,
    RANKING_NAMES,
    ROW_NAMES,
    Aliases,
    Fields,
)
from rankscope.monitor.events.rejection import Batch, Reading, RefusedError, show
from rankscope.monitor.events.table_reader import group_rows, list_rows, read_items, see_ranking
from rankscope.monitor.events.times import format_time, read_time


class EventReader:
    """Reads objects of JSON as events.

    An event without `event_id` has one made from what it says, so that it is known again when it
    is sent again: a ranking that of its `ranking_id`, a label one of all its fields.

    Args:
        names: By role, the name of a field that has another name than ours, such as
            `{"ranking_id": "search"}`; the usual ones are found (`rankscope.monitor.events.names`).
        limits: How much an event may hold.
        bins: The edges of bins of attributes that are numbers. Other texts are rejected there.

    Examples:
        >>> reader = EventReader()
        >>> shown = {
        ...     "search_group_id": "g1",
        ...     "timestamp": "2026-11-21T18:00:00Z",
        ...     "items": [
        ...         {"item_id": "b", "rank": 2},
        ...         {"item_id": "a", "rank": 1},
        ...     ],
        ... }
        >>> now = 1_795_284_000_000_000
        >>> reading = reader.read_rankings([shown, {"search_group_id": "g2"}], now=now)
        >>> reading.events[0].items.doc_ids
        ('a', 'b')
        >>> print(reading.rejections[0])
        1.time: expected a time, found none [missing_field]
    """

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        bins: Bins | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.bins = bins or {}
        self._rankings = Aliases(RANKING_NAMES, names)
        self._lists = [name for name, role in self._rankings.role_of.items() if role == "items"]
        self._columns = Aliases(COLUMN_NAMES, names)
        self._items = Aliases(ITEM_NAMES, names)
        self._labels = Aliases(LABEL_NAMES, names)
        self._rows = Aliases(ROW_NAMES, names)
        self._roles = Aliases({role: (role,) for role in COLUMN_NAMES})

    @property
    def names(self) -> tuple[Mapping[str, str], ...]:
        """The roles of fields by their names.

        Those of rankings whose documents are one list, of rankings whose documents are several, of
        documents, and of labels.
        """
        tables = (self._rankings, self._columns, self._items, self._labels)
        return tuple(aliases.role_of for aliases in tables)

    def find_roles(
        self, names: Sequence[str], kind: str, attributes: Sequence[str] = ()
    ) -> Mapping[str, str]:
        """Find the columns by role in a table with one document or label per row."""
        aliases = self._labels if kind == "labels" else self._rows
        return aliases.find([name for name in names if name not in attributes]).roles

    def read_rankings(self, objects: Iterable[object], *, now: int) -> Reading:
        """Read rankings."""
        batch = Batch()
        for value in objects:
            batch.add(value, lambda value: self._read_ranking(value, now, batch))
        return batch.finish()

    def read_labels(self, objects: Iterable[object], *, now: int) -> Reading:
        """Read labels."""
        batch = Batch()
        for value in objects:
            batch.add(value, lambda value: (self._read_label(value, now, batch),))
        return batch.finish()

    def read_ranking_rows(
        self, table: object, *, now: int, attributes: Sequence[str] = ()
    ) -> Reading:
        """Read rankings from a table with one document a row."""
        batch = Batch()
        for group in group_rows(table, self._rows, attributes):
            batch.add(
                group,
                lambda values: self._read_ranking(see_ranking(values), now, batch, self._roles),
            )
        return batch.finish()

    def read_label_rows(self, table: object, *, now: int) -> Reading:
        """Read labels from a table with one label a row."""
        return self.read_labels(list_rows(table), now=now)

    def _read_ranking(
        self, values: Mapping[str, Any], now: int, batch: Batch, aliases: Aliases | None = None
    ) -> tuple[Event, ...]:
        limits = self.limits
        has_items = aliases is None and any(name in values for name in self._lists)
        fields = (aliases or (self._rankings if has_items else self._columns)).find(values)
        self._note_unknown(values, fields, batch)
        roles = fields.roles
        ranking_id = self._read_id(values, fields, "ranking_id")
        time = self._read_time(values, fields, now, batch)
        if has_items:
            columns = self._split_items(values[roles["items"]], batch)
        else:
            columns = _find_columns(values, fields)
        items, notes = read_items(
            columns["doc_id"],
            columns.get("rank"),
            columns.get("score"),
            columns.get("relevance"),
            limits,
        )
        batch.note(notes)
        event_id = (
            self._read_id(values, fields, "event_id") if _has(values, roles, "event_id") else None
        )
        if event_id is None:
            batch.note(["made_event_ids"])
            event_id = ranking_id
        environment = self._read_text(values, fields, "environment").lower() or ENVIRONMENTS[0]
        if environment not in ENVIRONMENTS:
            raise RefusedError(
                roles["environment"],
                " or ".join(ENVIRONMENTS),
                show(environment),
                code="environment",
            )
        ranking = Ranking(
            event_id,
            ranking_id,
            time,
            items,
            self._read_text(values, fields, "query_key", limits.value_bytes),
            self._read_text(values, fields, "user_id"),
            self._read_text(values, fields, "model"),
            self._read_text(values, fields, "version"),
            environment,  # type: ignore[arg-type]  # as was just seen
            read_attributes(
                [
                    (roles[role], values[roles[role]])
                    for role in ("attributes", "features", "tags")
                    if _has(values, roles, role)
                ],
                limits,
                self.bins,
            ),
        )
        return ranking, *self._read_own_labels(ranking, columns)

    def _split_items(self, items: object, batch: Batch) -> dict[str, Sequence[object]]:
        """Convert a list of objects or ids to columns."""
        if not isinstance(items, list | tuple):
            raise RefusedError("items", "a list of documents", show(items), code="json_type")
        kinds = set(map(type, items))
        if not any(issubclass(kind, Mapping) for kind in kinds):
            return {"doc_id": items}
        for at, item in enumerate(items if kinds != {dict} else ()):
            if not isinstance(item, Mapping):
                raise RefusedError(f"items[{at}]", "an object", show(item), code="json_type")
        # Most lists have the same fields in the same order; that is seen soonest by their tuples.
        is_even = len(set(map(tuple, items))) == 1
        fields = self._items.find(
            items[0] if is_even else dict.fromkeys(name for item in items for name in item)
        )
        for name in fields.unknown:
            batch.unknown(name)
            for at, item in enumerate(items):
                if isinstance(item.get(name), Mapping | list | tuple):
                    # The event, the list of documents and the document lie around it.
                    check_depth(
                        item[name], f"items[{at}].{show(name)[1:-1]}", self.limits.depth - 3
                    )
        if "doc_id" not in fields.roles:
            raise _missing("items[0].doc_id", "an id")
        return {
            role: list(map(itemgetter(name), items))
            if is_even
            else [item.get(name) for item in items]
            for role, name in fields.roles.items()
        }

    def _read_own_labels(
        self, ranking: Ranking, columns: Mapping[str, Sequence[object]]
    ) -> list[Label]:
        """Read the labels that were logged with the documents of a ranking."""
        events = []
        for at, (doc_id, logged) in enumerate(
            zip(columns["doc_id"], columns.get("labels", ()), strict=False)
        ):
            labels = (
                () if logged is None else read_labels(logged, f"items[{at}].labels", self.limits)
            )
            if labels:
                event_id = _make_id("logged", ranking.event_id, str(doc_id))
                events.append(
                    Label(event_id, ranking.ranking_id, str(doc_id), ranking.time, labels)
                )
        return events

    def _read_label(self, values: Mapping[str, Any], now: int, batch: Batch) -> Label:
        values = _lift_ubi(values)
        fields = self._labels.find(values)
        self._note_unknown(values, fields, batch)
        roles = fields.roles
        ranking_id = self._read_id(values, fields, "ranking_id")
        doc_id = self._read_id(values, fields, "doc_id")
        time = self._read_time(values, fields, now, batch)
        kind = _read_kind(values, roles)
        labels: tuple[str, ...] | None = None
        value: float | None = None
        if _has(values, roles, "labels"):
            where = roles["labels"]
            labels = read_labels(values[where], where, self.limits)
        if _has(values, roles, "value"):
            where = roles["value"]
            value = read_number(values[where], where, "rel_not_number")
        _check_said(kind, has_labels=labels is not None, has_value=value is not None)
        labels = labels or ()
        if _has(values, roles, "event_id"):
            event_id = self._read_id(values, fields, "event_id")
        else:
            batch.note(["made_event_ids"])
            event_id = make_label_id(Label("", ranking_id, doc_id, time, labels, value, kind))
        return Label(event_id, ranking_id, doc_id, time, labels, value, kind)

    def _note_unknown(self, values: Mapping[str, Any], fields: Fields, batch: Batch) -> None:
        for name in fields.unknown:
            batch.unknown(name)
            if isinstance(values[name], Mapping | list | tuple):
                check_depth(values[name], show(name)[1:-1], self.limits.depth - 1)

    def _read_id(self, values: Mapping[str, Any], fields: Fields, role: str) -> str:
        if not _has(values, fields.roles, role):
            raise _missing(fields.roles.get(role, role), "an id")
        where = fields.roles[role]
        return read_id(values[where], where, self.limits.id_bytes)

    def _read_text(
        self, values: Mapping[str, Any], fields: Fields, role: str, most: int | None = None
    ) -> str:
        if not _has(values, fields.roles, role):
            return ""
        where = fields.roles[role]
        return read_text(values[where], where, self.limits.id_bytes if most is None else most)

    def _read_time(self, values: Mapping[str, Any], fields: Fields, now: int, batch: Batch) -> int:
        if not _has(values, fields.roles, "time"):
            raise _missing(fields.roles.get("time", "time"), "a time")
        where = fields.roles["time"]
        time, is_leap = read_time(values[where], where)
        if is_leap:
            batch.note(["leap_second"])
        check_time(time, where, now, self.limits)
        return time


def check_time(time: int, where: str, now: int, limits: Limits) -> None:
    """Raise an error for a time that is too far from now."""
    if time > now + limits.ahead:
        raise RefusedError(
            where,
            f"a time up to {format_time(now + limits.ahead)}",
            format_time(time),
            code="future_time",
        )
    if time < now - limits.age:
        raise RefusedError(
            where,
            f"a time from {format_time(now - limits.age)} on",
            format_time(time),
            code="too_old",
        )


def _find_columns(values: Mapping[str, Any], fields: Fields) -> dict[str, Sequence[object]]:
    """Find the list fields that hold the documents of a ranking."""
    roles = {role: fields.roles[role] for role in ITEM_NAMES if _has(values, fields.roles, role)}
    if "doc_id" not in roles:
        raise _missing("items", "a list of documents")
    for name in roles.values():
        if not isinstance(values[name], list | tuple):
            raise RefusedError(
                name, "a list, a value a document", show(values[name]), code="json_type"
            )
    count = len(values[roles["doc_id"]])
    for name in roles.values():
        if len(values[name]) != count:
            raise RefusedError(
                name,
                f"{count} values, one a document",
                str(len(values[name])),
                code="length_mismatch",
            )
    return {role: values[name] for role, name in roles.items()}


def _has(values: Mapping[str, Any], roles: Mapping[str, str], role: str) -> bool:
    """Check whether an object has a non-null value for a role."""
    return role in roles and values[roles[role]] is not None


def _read_kind(values: Mapping[str, Any], roles: Mapping[str, str]) -> LabelKind:
    kind: LabelKind = values[roles["kind"]] if _has(values, roles, "kind") else "label"
    if kind not in LABEL_KINDS:
        raise RefusedError(roles["kind"], " or ".join(LABEL_KINDS), show(kind), code="label_kind")
    return kind


def _check_said(kind: str, *, has_labels: bool, has_value: bool) -> None:
    """Raise an error for a label with no value or conflicting ones. An empty list is a value."""
    if kind == "retraction":
        if has_labels or has_value:
            raise RefusedError(
                "kind",
                "a retraction without labels and value",
                "some",
                code="label_kind",
                hint="a correction takes the place of what was said before",
            )
    elif has_labels == has_value:
        found = "both" if has_value else "none"
        raise RefusedError("", "labels, or a value", found, code="missing_field")


def _missing(where: str, expected: str) -> RefusedError:
    return RefusedError(where, expected, "none", code="missing_field")


def _lift_ubi(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Extract the document from a User Behavior Insights event."""
    inside = values.get("event_attributes")
    shown = inside.get("object") if isinstance(inside, Mapping) else None
    if not isinstance(shown, Mapping) or "object_id" not in shown:
        return values
    rest = {name: value for name, value in values.items() if name != "event_attributes"}
    return {**rest, "object_id": shown["object_id"]}


def make_label_id(label: Label) -> str:
    """Derive the event id of a label that has none from everything that it says."""
    parts = (label.ranking_id, label.doc_id, str(label.time), label.kind, *label.labels)
    return _make_id("label", *parts, "=", repr(label.value))


def _make_id(*parts: str) -> str:
    """Derive an id from text, the same for the same text."""
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()

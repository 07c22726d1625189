"""The records that a store takes and returns, whatever database is behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.arrays import Texts
from rankscope.monitor.events.event import Environment
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.keys import AuditEntry, Secret

T = TypeVar("T")


Delivery: TypeAlias = Literal["waiting", "delivered", "dead", "summed"]
DELIVERIES: tuple[Delivery, ...] = get_args(Delivery)
"""What becomes of notifications."""

LOG, WEBHOOK = "log", "webhook"
"""The channels of notifications."""

OPERATOR = "*"
"""Stands for the channels that the operator of a service defines, until they are known."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many events were deleted.

    Args:
        rankings: The number of rankings.
        labels: The number of labels.
    """

    rankings: int
    labels: int

    def add(self, other: Deleted) -> Deleted:
        """Return the sum of this and other events."""
        return Deleted(self.rankings + other.rankings, self.labels + other.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which rankings to delete: those that have all that is given.

    Args:
        user_id: The user who saw them.
        ranking_ids: Their ids.
        since: The earliest time, in microseconds since 1970.
        until: The first time that is not deleted.
    """

    user_id: str | None = None
    ranking_ids: tuple[str, ...] | None = None
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """How many events were written to files.

    Args:
        rankings: The number of rankings.
        labels: The number of labels.
    """

    rankings: int
    labels: int


@dataclass(frozen=True, slots=True)
class Changes:
    """The times whose windows have new events.

    Args:
        seq: The number of the last event that was looked at; continue from there next time.
        times: The times of new rankings and of rankings with new labels, ascending. With a window
            length, the starts of their windows.
    """

    seq: int
    times: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a model that has rankings, or the sum of all versions that are not listed.

    Args:
        model: The model; empty where unknown, `<other>` for models that are not listed.
        version: The version; empty where unknown, `<other>` for versions that are not listed.
        environment: Where it ranked.
        first: The time of its first stored ranking, in microseconds since 1970.
        last: The time of its last one.
        rankings: The number of its rankings.
        folded: The number of versions that `<other>` stands for, otherwise 0.
    """

    model: str
    version: str
    environment: Environment
    first: int
    last: int
    rankings: int
    folded: int = 0

    def may_be(self, model: str | None, version: str | None) -> bool:
        """Return whether it may include rankings of a model and a version; `None` means any.

        Examples:
            >>> Version("search", "<other>", "production", 0, 9, 3, folded=2).may_be("search", "7")
            True
        """
        return (model in {None, self.model} or (self.folded > 0 and self.model == OTHER)) and (
            version in {None, self.version} or self.folded > 0
        )


@dataclass(frozen=True, slots=True)
class Context:
    """What many rankings have in common, stored once.

    Args:
        model: The model that ranked.
        version: Its version.
        environment: Where it ranked.
        attributes: Names and values, by name.
    """

    model: str
    version: str
    environment: Environment
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ItemColumns:
    """The documents of many rankings, in rank order, one ranking after another.

    Args:
        offsets: The documents of ranking `q` are rows `offsets[q]:offsets[q + 1]`.
        doc_ids: The offsets of their ids, and the ids in UTF-8, end to end.
        ranks: Their ranks as logged.
        scores: Their scores, NaN where there is none.
        relevance: Their grades, NaN where there is none.
    """

    offsets: NDArray[np.int64]
    doc_ids: Texts
    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    relevance: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """The labels of many rankings, ranking by ranking, in the order in which they count.

    Args:
        rankings: The position in the chunk of the ranking of each label.
        doc_ids: The offsets of the ids of their documents, and the ids in UTF-8, end to end.
        times: Microseconds since 1970 in UTC.
        kinds: Positions in `LABEL_KINDS`.
        names: Every different list of labels once.
        codes: The position of each label's list in `names`.
        values: Grades, NaN where there is none.
        event_ids: The offsets of their event ids, and the ids, where they were requested.
        seqs: The numbers under which they are stored, where event ids were requested.
    """

    rankings: NDArray[np.int64]
    doc_ids: Texts
    times: NDArray[np.int64]
    kinds: NDArray[np.int8]
    names: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]
    event_ids: Texts | None = None
    seqs: NDArray[np.int64] | None = None


def require_ids(column: T | None) -> T:
    """Return a column of the ids or numbers of events, which is read only if it is asked for."""
    if column is None:
        raise TypeError("the ids of events were not asked for")
    return column


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rankings as columns, with all their labels.

    Args:
        seqs: The numbers under which they are stored.
        times: When they were shown, in microseconds since 1970 in UTC.
        contexts: The numbers of their contexts, as in `Store.contexts`.
        ranking_ids: The offsets of their ids, and the ids in UTF-8, end to end.
        query_keys: Their query keys, likewise.
        user_ids: The ids of their users, likewise.
        items: Their documents.
        labels: Their labels.
        event_ids: Their event ids, where they were requested.
    """

    seqs: NDArray[np.int64]
    times: NDArray[np.int64]
    contexts: NDArray[np.int64]
    ranking_ids: Texts
    query_keys: Texts
    user_ids: Texts
    items: ItemColumns
    labels: LabelColumns
    event_ids: Texts | None = None


# There are many: named tuples are made five times as fast as records.
class CellRow(NamedTuple):
    """One cell of a window, as it is stored.

    Args:
        length: The length of the window, in microseconds.
        start: Its start, in microseconds since 1970 in UTC.
        slice: Attributes and values, as JSON.
        environment: Where the rankings were made.
        model: The model that ranked.
        version: Its version.
        is_mature: Whether the attribution windows of its rankings are closed.
        counts: Counts, packed.
        defined: The number of values in each sum, packed.
        sums: The exact sums, packed.
        spread: How much clusters differ, packed; empty where that is not kept.
    """

    length: int
    start: int
    slice: str
    environment: str
    model: str
    version: str
    is_mature: bool
    counts: bytes
    defined: bytes
    sums: bytes
    spread: bytes


@dataclass(frozen=True, slots=True)
class HourRow:
    """The counts of labels of one hour, over all its cells.

    Args:
        start: The start of the hour, in microseconds since 1970 in UTC.
        ages: The number of labels by age, packed.
        late: The number of labels that came after the attribution window of their ranking.
        unshown: The number of labels of documents that were not shown.
        labels: How many labels of each kind the rankings of production have, packed.
    """

    start: int
    ages: bytes
    late: int
    unshown: int
    labels: str


class OpenHour(NamedTuple):
    """An hour that was not final when it was last summed.

    Args:
        start: The start of the hour, in microseconds since 1970 in UTC.
        as_of: When it was summed.
        rankings: The number of its rankings at that time.
        is_behind: Whether events have come since then that still have to be summed.
    """

    start: int
    as_of: int
    rankings: int
    is_behind: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the windows of a configuration are up to date.

    Args:
        seq: The number of the last event they include, except in hours that are behind.
        as_of: The time they were computed for, in microseconds since 1970 in UTC.
        slicing: The values that have slices of their own, as JSON.
        baseline: The baseline, as JSON; empty where there is none.
    """

    seq: int
    as_of: int
    slicing: str
    baseline: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """A rule and its state, as they are stored.

    Args:
        name: The name of the rule in its project.
        rule: The rule, as JSON.
        progress: What was concluded so far, as JSON.
        state: Its state.
        reason: The reason for the state.
        since: When it entered the state, in microseconds since 1970 in UTC.
        evaluated: When it was evaluated last.
        silenced_until: When notifications resume, `None` where it is not silenced.
        revision: 1 for a new rule; each change adds 1.
    """

    name: str
    rule: str
    progress: str
    state: str
    reason: str
    since: int
    evaluated: int
    silenced_until: int | None
    revision: int


@dataclass(frozen=True, slots=True)
class NoticeRow:
    """A notice that is sent as a notification to some channels.

    Args:
        notice_id: An id that is unique everywhere.
        time: When it was written, in microseconds since 1970 in UTC.
        body: The notice, as JSON.
        channels: The channels it is sent to, such as `log` and `webhook`.
    """

    notice_id: str
    time: int
    body: str
    channels: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRow:
    """An incident, as it is stored.

    Args:
        incident_id: Its id.
        rule: The name of the rule that found it.
        kind: What it is about.
        state: Its state.
        opened: When it was opened, in microseconds since 1970 in UTC.
        updated: When it was changed last.
        body: The incident, as JSON.
    """

    incident_id: str
    rule: str
    kind: str
    state: str
    opened: int
    updated: int
    body: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A row of the history of an incident.

    Args:
        incident_id: The incident.
        time: When it was changed, in microseconds since 1970 in UTC.
        action: How it was changed.
        actor: Who changed it.
        note: What the actor wrote, or the reason.
    """

    incident_id: str
    time: int
    action: str
    actor: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectChange:
    """A change of a project that files describe.

    Args:
        project: The name of the project.
        before: Its configuration as JSON, as it was; `None` where there was none.
        known: The revisions of the rules that it had, by name.
        time: When it is changed, in microseconds since 1970 in UTC.
        actor: Who changes it.
        configuration: The new configuration as JSON; `None` where it stays.
        rows: The rules that are new or change.
        removed: The names of the rules that are removed.
        had_roles: Who had which role before.
        roles: The roles that change by member, `None` for those that are taken away.
        incidents: The incidents that change.
        changes: Their history.
        notices: Notices to send.
        audit: Who changed the rules; the removals by the names of their rules.
        webhook: The new webhook, with its secret; `None` where it stays, `False` for none.
    """

    project: str
    before: str | None
    known: Mapping[str, int]
    time: int
    actor: str
    configuration: str | None
    rows: Sequence[RuleRow]
    removed: Sequence[str]
    incidents: Sequence[IncidentRow]
    changes: Sequence[ChangeRow]
    notices: Sequence[NoticeRow]
    audit: Sequence[AuditEntry]
    had_roles: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str | None] = field(default_factory=dict)
    webhook: Webhook | Literal[False] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """A notification for one channel.

    Args:
        number: Its position in the outbox.
        project: The name of its project.
        notification_id: Its id, the same for every attempt.
        channel: `log` or `webhook`.
        body: The notification, as JSON.
        created: When it was written, in microseconds since 1970 in UTC.
        status: `waiting`, `delivered`, `dead` if it was given up, or `summed` if it was given up
            and a later notification has reported that.
        attempts: The number of attempts.
        due: The time of the next attempt.
        finished: When it was delivered or given up.
        problem: What went wrong in the last attempt.
    """

    number: int
    project: str
    notification_id: str
    channel: str
    body: str
    created: int
    status: Delivery
    attempts: int
    due: int
    finished: int | None
    problem: str


@dataclass(frozen=True, slots=True)
class ChannelDeliveries:
    """How the last deliveries of a project to a channel went.

    Args:
        channel: The name of the channel.
        delivered: When a notification was delivered last, in microseconds since 1970, or `None`.
        problem: What was wrong with the newest notification that had a problem.
        waiting: How many notifications wait.
    """

    channel: str
    delivered: int | None
    problem: str
    waiting: int


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where the notifications of a project are sent.

    Args:
        url: The address.
        secret: The secret that signs them, as `whsec_` and base64; `None` where it is missing, as
            after a restore: then the webhook has to be set again.
        allows_http: Whether the address may be without TLS.
        created: When it was set, in microseconds since 1970 in UTC.
        disabled: When the receiver answered that it is gone, or `None`.
        secret_id: The id by which `Store.find_secret` finds the secret.
    """

    url: str
    secret: Secret | None
    allows_http: bool
    created: int
    disabled: int | None = None
    secret_id: str = ""

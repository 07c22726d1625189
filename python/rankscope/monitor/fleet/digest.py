"""The weekly digest of a team: what changed, what is open, and what was confirmed."""

from __future__ import annotations

import json
from functools import partial
from hashlib import blake2b

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import format_time, read_time, to_datetime, to_micros
from rankscope.monitor.incidents.incident import ACTIVE, Incident
from rankscope.monitor.notify.message import WEEK
from rankscope.monitor.rules.run import ACTOR
from rankscope.monitor.setup.plan import CHANGING
from rankscope.monitor.store.records import NoticeRow
from rankscope.monitor.store.tables.fleet import read_projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    from rankscope.monitor.notify.channels import Channels
    from rankscope.monitor.store.store import Store, StoreReader

LATEST = DAY
"""A digest that was not sent by so long after its time, as no service ran, is left out."""


def read_week(
    store: StoreReader,
    projects: Collection[str],
    *,
    since: int,
    until: int,
    owner: str | None = None,
) -> dict[str, Any]:
    """Return what happened in some projects in a span of time, as JSON holds it.

    Args:
        store: Where they are.
        projects: Their names.
        since: The beginning of the span, in microseconds since 1970 in UTC.
        until: The end of it.
        owner: Only the projects of this team (default: all).
    """
    found = store.query(partial(read_projects, projects=projects, states=ACTIVE, since=since))
    told = []
    for name, project in sorted(found.items()):
        text = project.configuration
        team = "" if text is None else Configuration.from_json(text).owner
        if owner not in {None, team}:
            continue
        incidents = list(map(Incident.from_json, project.incidents))

        def is_in(moment: Any) -> bool:  # noqa: ANN401 - a time, or none
            return moment is not None and since <= to_micros(moment) < until

        told.append(
            {
                "project": name,
                "owner": team,
                "open": [_tell(one) for one in incidents if one.is_active],
                "confirmed": [_tell(one) for one in incidents if is_in(one.opened)],
                "over": [
                    _tell(one)
                    for one in incidents
                    if not one.is_active and is_in(one.recovered or one.resolved)
                ],
                "versions": [
                    {"model": one.model, "version": one.version, "first": format_time(one.first)}
                    for one in store.versions(name)
                    if one.environment == "production" and since <= one.first < until
                ],
                "changes": [
                    {
                        "time": format_time(one.time),
                        "actor": one.actor,
                        "action": one.action,
                        "subject": one.subject,
                    }
                    for one in store.audit(name)
                    if since <= one.time < until and one.action in CHANGING and one.actor != ACTOR
                ],
            }
        )
    return {
        "type": WEEK,
        "owner": owner,
        "since": format_time(since),
        "until": format_time(until),
        "projects": told,
    }


def _tell(incident: Incident) -> dict[str, Any]:
    fields = incident.to_dict()
    del fields["notified"], fields["evidence"]
    return fields


def fill_digest(store: StoreReader, body: str) -> str:
    """Return a notification with what it is about; of a digest it is read when it is sent.

    The outbox of a project has none of it: people who may see the notifications of one project may
    not see the other projects.
    """
    said = json.loads(body)
    if said["type"] != WEEK:
        return body
    since, until = (read_time(said[name], name)[0] for name in ("since", "until"))
    owner = said["owner"]
    week = read_week(store, store.projects(), since=since, until=until, owner=owner)
    return json.dumps(said | week)


class DigestSchedule:
    """Puts the digests that are due into the outbox, each of them once.

    Args:
        store: The store of the projects.
        channels: The channels of the operator, with when they get a digest.
        now: Returns the time, in microseconds since 1970 in UTC.
    """

    def __init__(self, store: Store, channels: Channels, now: Callable[[], int]) -> None:
        self._store = store
        self._channels = [one for one in channels.channels if one.weekly is not None]
        self._now = now
        self._done: dict[str, int] = {}

    def step(self) -> None:
        """Put what is due into the outbox."""
        now = self._now()
        for channel in self._channels:
            if channel.weekly is None:
                continue
            until, since = channel.weekly.find_last(now)
            if self._done.get(channel.name) == until or now - until >= LATEST:
                continue
            week = read_week(
                self._store, self._store.projects(), since=since, until=until, owner=channel.owner
            )
            if week["projects"]:
                # It waits in the outbox of one of them.
                first = week["projects"][0]["project"]
                self._store.put_once(first, _write_notice(channel.name, first, week, now))
            self._done[channel.name] = until


def _write_notice(channel: str, project: str, week: dict[str, Any], now: int) -> NoticeRow:
    said = {name: week[name] for name in ("type", "owner", "since", "until")}
    digest = blake2b(json.dumps([channel, said]).encode(), digest_size=16).hexdigest()
    body = {"id": f"week_{digest}", "project": project, "time": format_time(to_datetime(now))}
    return NoticeRow(body["id"], now, json.dumps({**said, **body}), (channel,))

"""Alerts: changes of the state of a rule."""

from __future__ import annotations

import json
from hashlib import blake2b
from urllib.parse import quote

from rankscope.monitor.alerts.detect.stream import write_mean
from rankscope.monitor.events.times import format_time, read_time, to_datetime
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.alerts.detect.state import State
    from rankscope.monitor.alerts.detect.stream import Stream
    from rankscope.monitor.alerts.rule import Rule

CHANGED = "rule.state_changed"
"""The type of the notification in its JSON."""


@record(frozen=True, slots=True, kw_only=True)
class Fallen:
    """A version and slice whose values have fallen.

    Args:
        model: The model.
        version: Its version.
        slice: Names of attributes and values; empty for all of its rankings.
        value: The mean of the newest period.
        lower: The lower end of its interval.
        upper: The upper end.
        baseline: The mean of the baseline.
        floor: What the mean is held against.
        log_evidence: The logarithm of the evidence of a drop, or `None`.
        needed: The logarithm of the evidence that was needed, or `None`.
        since: When the drop seems to have begun, in UTC, or `None`.
    """

    model: str
    version: str
    slice: tuple[tuple[str, str], ...]
    value: float | None
    lower: float | None
    upper: float | None
    baseline: float | None
    floor: float | None
    log_evidence: float | None
    needed: float | None
    since: datetime | None


@record(frozen=True, slots=True, kw_only=True)
class Alert:
    """A change of the state of a rule.

    Its JSON is what the webhook and the log are told: `type` is `rule.state_changed`; `id`,
    `project`, `rule`, `measure`, `before`, `after`, `reason`; `time`, in RFC 3339; `link`, the path
    of its page; and `streams`, those that have fallen, with the fields of `Fallen`, where `slice`
    is an object of names and values and `since` a time in RFC 3339.

    Args:
        alert_id: What it is known by, however often it is sent.
        project: The name of the project.
        rule: The name of the rule.
        measure: What it is about.
        time: When the state changed, in UTC.
        before: The state before.
        after: The state from then on.
        reason: Why.
        streams: What has fallen.
    """

    alert_id: str
    project: str
    rule: str
    measure: str
    time: datetime
    before: State
    after: State
    reason: str
    streams: tuple[Fallen, ...] = ()

    @property
    def link(self) -> str:
        """The path of the page of the rule."""
        return f"/rules/{quote(self.rule, safe='')}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "type": CHANGED,
            "id": self.alert_id,
            "project": self.project,
            "rule": self.rule,
            "measure": self.measure,
            "before": self.before,
            "after": self.after,
            "time": format_time(self.time),
            "reason": self.reason,
            "link": self.link,
            "streams": [_write(fallen) for fallen in self.streams],
        }

    def to_json(self) -> str:
        """Return the JSON that is sent."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Alert:
        """Read what `to_json` has written."""
        said = json.loads(text)
        return Alert(
            alert_id=said["id"],
            project=said["project"],
            rule=said["rule"],
            measure=said["measure"],
            time=to_datetime(read_time(said["time"], "time")[0]),
            before=said["before"],
            after=said["after"],
            reason=said["reason"],
            streams=tuple(map(_read, said["streams"])),
        )


def announce(
    project: str,
    rule: Rule,
    revision: int,
    *,
    time: int,
    before: State,
    after: State,
    reason: str,
    streams: Iterable[Stream],
) -> Alert:
    """Return the alert of a change; the same change gives the same alert.

    Args:
        project: The name of the project.
        rule: The rule.
        revision: How often the rule was changed, with this.
        time: When it was concluded.
        before: The state before.
        after: The state from then on.
        reason: Why.
        streams: The streams of the rule.
    """
    said = json.dumps([project, rule.name, revision, time, before, after]).encode()
    ordered = sorted(streams, key=lambda one: (-one.log_evidence, one.key))
    fallen = [one for one in ordered if one.state == "ALERT"] if after == "ALERT" else []
    return Alert(
        alert_id=f"alert_{blake2b(said, digest_size=16).hexdigest()}",
        project=project,
        rule=rule.name,
        measure=rule.measure,
        time=to_datetime(time),
        before=before,
        after=after,
        reason=reason,
        streams=tuple(map(_describe, fallen)),
    )


FALLEN: tuple[str, ...] = Fallen.__match_args__


def _describe(stream: Stream) -> Fallen:
    value = write_mean(stream.value) or {}
    evidence = None if stream.detector is None else stream.log_evidence
    return Fallen(
        model=stream.model,
        version=stream.version,
        slice=stream.slice,
        value=value.get("value"),
        lower=value.get("lower"),
        upper=value.get("upper"),
        baseline=(write_mean(stream.baseline) or {}).get("value"),
        floor=stream.floor,
        log_evidence=evidence,
        needed=stream.needed,
        since=stream.since,
    )


def _write(fallen: Fallen) -> dict[str, Any]:
    said = {name: getattr(fallen, name) for name in FALLEN}
    since = None if fallen.since is None else format_time(fallen.since)
    return said | {"slice": dict(fallen.slice), "since": since}


def _read(said: dict[str, Any]) -> Fallen:
    since = None if said["since"] is None else to_datetime(read_time(said["since"], "since")[0])
    return Fallen(**{**said, "slice": tuple(said["slice"].items()), "since": since})

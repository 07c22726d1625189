"""The rule that watches the data of a project, during a check."""

from __future__ import annotations

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import count_micros
from rankscope.monitor.rules.data.check import (
    check_data,
    default_rule,
    restart_stream,
    summarize,
)
from rankscope.monitor.rules.data.counts import DataReader
from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.rules.kind import Kind, Problem
from rankscope.monitor.rules.run import ACTOR, RuleRun, find_first
from rankscope.monitor.rules.state import RuleVerdict
from rankscope.monitor.rules.stored import Stored
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import RuleRow
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope.monitor.rules.finding import Finding, StreamKey
    from rankscope.monitor.rules.run import Scene
    from rankscope.monitor.store.store import Store, StoreReader

WAITS = "no hour has been checked yet"


@record(frozen=True, slots=True, kw_only=True)
class DataProgress(Stored):
    """The hours that a rule about data has checked.

    Args:
        first: When the first hour begins, in microseconds since 1970 in UTC.
        following: When the hour begins that is looked at next.
        watched: What the watches remember.
    """

    first: int
    following: int
    watched: str = ""

    @property
    def basis(self) -> str:
        """What is measured: always the same, so that nothing voids it."""
        return ""


def begin_data(rule: DataRule, _configuration: object, now: int, _seq: int = 0) -> str:
    """Return the stored progress of a rule about data before its first hour."""
    first = find_first(rule, now, HOUR)
    return DataProgress(first=first, following=first).to_json()


def find_default_row(store: StoreReader, project: str, now: int) -> RuleRow | None:
    """Return the row of the rule about data if a project lacks it and nobody has removed it."""
    name = default_rule().name
    if store.find_rule(project, name) is not None:
        return None
    known = {"rule.create", "rule.remove"}
    if any(entry.subject == name and entry.action in known for entry in store.audit(project)):
        return None
    return make_default_row(now)


def add_data_rule(store: Store, project: str, now: int) -> None:
    """Create the rule about data if a project lacks it and nobody has removed it."""
    row = find_default_row(store, project, now)
    if row is not None:
        # If somebody else has created one meanwhile, it stays.
        store.save_rules(project, [row], audit=[AuditEntry(now, ACTOR, "rule.create", row.name)])


def restart_data(
    row: RuleRow,
    keys: Iterable[StreamKey],
    now: int,
    *,
    is_all: bool = False,  # noqa: ARG001 - what has no incident is usual already
) -> RuleRow:
    """Take what comes from now on for usual in some streams, as a person has resolved them."""
    progress = DataProgress.from_json(row.progress)
    watched = progress.watched
    for key in keys:
        watched = restart_stream(watched, key, now)
    return replace(row, progress=replace(progress, watched=watched).to_json())


def make_default_row(now: int) -> RuleRow:
    """Return the row of the rule about data that a project has unless somebody changes it."""
    rule = default_rule()
    return RuleRow(
        name=rule.name,
        rule=rule.to_json(),
        progress=begin_data(rule, None, now),
        state="INSUFFICIENT",
        reason=WAITS,
        since=now,
        evaluated=now,
        silenced_until=None,
        revision=1,
    )


class DataRun(RuleRun):
    """A rule about the data of a project."""

    rule: DataRule

    def __init__(self, scene: Scene, row: RuleRow) -> None:
        super().__init__(scene, row)
        self.progress = DataProgress.from_json(row.progress)
        self._has_rankings = bool(scene.shown)
        if not self.progress.watched and scene.shown:
            start = scene.find_start(self.rule, self.progress.following, HOUR)
            self.progress = replace(self.progress, first=start, following=start)

    def find_due(self) -> int | None:
        """Return the moment at which the next hour is checked, `None` if that is not yet."""
        due = self.progress.following + HOUR + count_micros(self._scene.configuration.grace)
        return due if self._has_rankings and due <= self._scene.now else None

    def take(self, moment: int) -> tuple[Finding, ...]:  # noqa: ARG002 - follows from the progress
        """Look at the next hour, and return what was found."""
        end = self.progress.following + HOUR
        reader = self._scene.share(share_counts)
        findings, watched = check_data(reader, self.rule, self.progress.watched, end)
        self.progress = replace(self.progress, following=end, watched=watched)
        self.periods += 1
        self.is_new = True
        return tuple(findings)

    def write_progress(self) -> str:
        """Return what it has looked at and concluded, as it is stored."""
        return self.progress.to_json()

    def decide(self, moment: int) -> RuleVerdict:  # noqa: ARG002 - hours alone change the state
        """Return the state of the rule, apart from its incidents."""
        return RuleVerdict(*summarize(self.progress.watched))


def share_counts(scene: Scene) -> DataReader:
    """Return what reads how many rankings and labels there are, once for all rules about data."""
    return DataReader(
        scene.store, scene.project, scene.configuration, scene.slicing, threads=scene.threads
    )


KIND = Kind(
    record=DataRule,
    words="missing rankings or labels",
    text="checks that rankings and labels arrive as usual",
    problems={
        "volume": Problem(
            name="traffic changed",
            step="Check that the service which shows the rankings runs, and that it sends all "
            "of them. Quality isn't judged on missing data.",
            is_hourly=True,
        ),
        "labels": Problem(
            name="label rate changed",
            step="Check that clicks and other labels are still logged and sent. Until they "
            "are, values of quality may be wrong.",
            drawn="labelled",
        ),
        "label_freshness": Problem(
            name="no new labels",
            step="Check that clicks and other labels are still logged and sent. Until they "
            "are, quality isn't judged.",
            drawn="labelled",
        ),
        "relevance": Problem(
            name="share without relevant documents changed",
            step="Check the index and the retrieval: more or fewer rankings than usual have no "
            "relevant document.",
            drawn="empty",
        ),
        "freshness": Problem(
            name="no new data",
            step="Check the job or the service that sends events. Values don't change until "
            "data arrive again.",
            is_hourly=True,
        ),
        "files": Problem(
            name="files of the data lake can't be read",
            step="Write the files again, or remove them. Until then, their rankings and labels "
            "are missing from all values.",
        ),
        "attributes": Problem(
            name="attribute values changed",
            step="Check whether the attribute was renamed where it is logged. Rename it back, "
            "or change the configuration and the rules that name it.",
        ),
        "versions": Problem(
            name="a model or version stopped",
            step="Check whether it was switched off on purpose. If so, resolve the incident.",
            is_hourly=True,
        ),
        "names": Problem(
            name="labels or attributes don't match",
            step="Rename it where it is logged, or change the configuration. If it's intended, "
            "resolve the incident.",
        ),
    },
    begin=begin_data,
    read_progress=DataProgress.from_json,
    restart=restart_data,
    make_run=DataRun,
    find_basis=lambda _rule, _configuration: "",
)

"""The rule that watches the data of a project, during a check."""

from __future__ import annotations

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.rules.data.check import check_data, summarize
from rankscope.monitor.rules.data.counts import DataReader
from rankscope.monitor.rules.data.progress import DataProgress
from rankscope.monitor.rules.data.rule import DataRule
from rankscope.monitor.rules.run import Kind, Problem, RuleRun, Scene
from rankscope.monitor.rules.state import Finding, RuleVerdict
from rankscope.monitor.store.records import RuleRow


class DataRun(RuleRun):
    """A rule about the data of a project."""

    progress_type = DataProgress
    rule: DataRule
    progress: DataProgress

    def __init__(self, scene: Scene, row: RuleRow) -> None:
        super().__init__(scene, row)
        self.wait = scene.grace

    def take(self) -> tuple[Finding, ...]:
        """Look at the next hour, and return what was found."""
        end = self.progress.following + HOUR
        reader = self._scene.share(DataReader)
        findings, self.progress = check_data(reader, self.rule, self.progress, end)
        self.pass_period()
        return tuple(findings)

    def decide(self, moment: int) -> RuleVerdict:  # noqa: ARG002 - hours alone change the state
        """Return the state of the rule, apart from its incidents."""
        return summarize(self.progress)


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
    run=DataRun,
)

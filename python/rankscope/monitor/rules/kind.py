"""What a kind of rule consists of besides its record."""

from __future__ import annotations

from rankscope.monitor.rules.run import RESOLVED, find_first
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Literal, TypeAlias

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.rules.finding import StreamKey
    from rankscope.monitor.rules.rule import Rule
    from rankscope.monitor.rules.run import Progress, RuleRun
    from rankscope.monitor.store.records import RuleRow

    # What is drawn: the measure of the rule, a share of rankings, or how many there are.
    Drawn: TypeAlias = Literal["measure", "labelled", "empty", "rankings"]


@record(frozen=True, slots=True, kw_only=True)
class Problem:
    """A kind of incidents.

    Args:
        name: What is wrong, in a few words that begin a message.
        verb: What the measure of an incident did, as in `nDCG@5 fell`; empty where it names none.
        step: What to do, in a sentence or two.
        drawn: What its chart shows.
        is_hourly: Whether that is drawn by hour where it is short.
    """

    name: str
    step: str
    verb: str = ""
    drawn: Drawn = "rankings"
    is_hourly: bool = False


@record(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of rules.

    Args:
        record: What a rule of the kind says.
        words: When it alerts, for the choice in a form.
        text: What it does, in a phrase.
        problems: The kinds of its incidents.
        run: Looks at what is due, and names what it remembers.
    """

    record: type[Rule]
    words: str
    text: str
    problems: Mapping[str, Problem]
    run: type[RuleRun]

    def begin(self, rule: Rule, configuration: Configuration, now: int, seq: int) -> str:
        """Return the stored progress of a rule that has looked at nothing yet."""
        first = find_first(rule, now, self.run.find_length(rule))
        basis = self.run.find_basis(rule, configuration)
        return self.run.progress_type.begin(basis, first, seq).to_text()

    def read_progress(self, text: str) -> Progress:
        """Read what `begin`, or a check, has returned."""
        return self.run.progress_type.from_text(text)

    def restart(
        self, row: RuleRow, keys: Collection[StreamKey], now: int, *, is_all: bool
    ) -> RuleRow:
        """Return a row without the evidence about some streams, or all, as they were resolved."""
        progress = self.read_progress(row.progress).restart(keys, now, is_all=is_all)
        changed = replace(row, progress=progress.to_text())
        if row.state == "ALERT" and not progress.is_alert:
            return replace(changed, state="OK", reason=RESOLVED, since=now, evaluated=now)
        return changed

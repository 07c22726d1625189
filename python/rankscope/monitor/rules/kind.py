"""What a kind of rule consists of besides its record."""

from __future__ import annotations

from rankscope.monitor.rules.run import name_basis
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any, Literal, Protocol, TypeAlias

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.rules.finding import StreamKey
    from rankscope.monitor.rules.rule import Rule
    from rankscope.monitor.rules.run import RuleRun, Scene
    from rankscope.monitor.store.records import RuleRow

    # What is drawn: the measure of the rule, a share of rankings, or how many there are.
    Drawn: TypeAlias = Literal["measure", "labelled", "empty", "rankings"]

    class Progress(Protocol):
        """What every rule remembers: what it measures, and what it looks at next."""

        @property
        def basis(self) -> str:
            """A hash of what is measured."""

        @property
        def following(self) -> int:
            """When the period begins that is looked at next."""

    class Restart(Protocol):
        """Discards evidence."""

        def __call__(
            self, row: RuleRow, keys: Collection[StreamKey], now: int, *, is_all: bool
        ) -> RuleRow:
            """Return the row without it."""


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
        begin: Returns the stored progress of a rule that has looked at nothing yet, given the rule,
            the configuration, the time and the number of the last event.
        read_progress: Reads the stored progress.
        restart: Discards the evidence of a stored rule as of a time, as a person has resolved
            incidents of some streams, or all of them.
        make_run: Makes a rule ready for a check.
        find_basis: Returns a hash of what a rule measures.
        summarize: Returns fields of the rule's state from its progress.
    """

    record: type[Rule]
    words: str
    text: str
    problems: Mapping[str, Problem]
    begin: Callable[[Any, Configuration, int, int], str]
    read_progress: Callable[[str], Progress]
    restart: Restart
    make_run: Callable[[Scene, RuleRow], RuleRun]
    find_basis: Callable[[Rule, Configuration], str] = name_basis
    summarize: Callable[[Any], dict[str, Any]] = lambda _: {}

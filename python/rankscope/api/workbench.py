"""One input, evaluated by many sets of rules."""

from __future__ import annotations

import sys

from rankscope.adapters import recognise
from rankscope.api.rankings import Rankings
from rankscope.errors import MeasureError, PolicyError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.conventions.rules import Rules
    from rankscope.data.policy import Policy
    from rankscope.data.qrels import Qrels
    from rankscope.errors import RankscopeError
    from rankscope.results import Evaluation
    from rankscope.typing import InputLike


class Workbench:
    """Judgments and a run, and what rules have made of them so far.

    Args:
        qrels: The judgments.
        run: The run; what can be read once only is kept.
        duplicates: What becomes of a document given twice.
        encoding: How files are encoded.
    """

    def __init__(
        self,
        qrels: Qrels,
        run: InputLike,
        *,
        duplicates: Literal["error", "first", "max"],
        encoding: Literal["utf-8", "latin-1"],
    ) -> None:
        found = recognise(run, "run")
        if found.is_stdin:
            run = sys.stdin.buffer.read()
        elif found.kind == "rows":
            run = [*found.value]  # type: ignore[misc]  # rows are iterable
        self.qrels = qrels
        self._run = run
        self._duplicates = duplicates
        self._encoding = encoding
        self._outcomes: dict[Rules, Outcome | RankscopeError] = {}

    def rank(self, rules: Rules) -> Rankings:
        """Rank the run as rules say."""
        return Rankings.from_run(
            self.qrels,
            self._run,
            ties=rules.policy.ties,
            score_type=rules.score_type,
            duplicates=self._duplicates,
            encoding=self._encoding,
        )

    def evaluate(self, wanted: Iterable[Rules]) -> None:
        """Evaluate by each of these rules, so that `outcome` has them at hand.

        Raises:
            InputError: The input is not of the format.
        """
        by_order: dict[tuple[str, str], dict[Policy, list[Rules]]] = {}
        for rules in dict.fromkeys(wanted):
            if rules not in self._outcomes:
                policies = by_order.setdefault((rules.policy.ties, rules.score_type), {})
                policies.setdefault(rules.policy, []).append(rules)
        for policies in by_order.values():
            # One order at a time is held in memory.
            rankings = self.rank(next(iter(policies.values()))[0])
            for alike in policies.values():
                self._outcomes |= _evaluate(rankings, alike)

    def outcome(self, rules: Rules) -> Outcome | RankscopeError:
        """Give what rules come to, or why there is nothing."""
        if rules not in self._outcomes:
            self.evaluate([rules])
        return self._outcomes[rules]


@record(frozen=True, slots=True)
class Outcome:
    """What rules come to.

    Args:
        evaluation: An evaluation under their policy.
        measure: The name of their measure in it.
    """

    evaluation: Evaluation
    measure: str

    @property
    def value(self) -> float:
        """The mean."""
        return self.evaluation[self.measure]

    @property
    def queries(self) -> int:
        """How many queries the mean is over."""
        return self.evaluation.denominators[self.measure]

    @property
    def values(self) -> NDArray[np.float64]:
        """The value of each query."""
        return self.evaluation.per_query(self.measure)


def _evaluate(
    rankings: Rankings, alike: Sequence[Rules]
) -> Mapping[Rules, Outcome | RankscopeError]:
    """Evaluate the measures of rules with one policy, in one pass if none of them is refused."""
    try:
        evaluation = rankings.evaluate([each.measure for each in alike], policy=alike[0].policy)
    except (MeasureError, PolicyError) as error:
        if len(alike) == 1:
            return {alike[0]: error}
        alone = [_evaluate(rankings, [each]) for each in alike]
        return {rules: found for one in alone for rules, found in one.items()}
    return {rules: Outcome(evaluation, rules.measure.name) for rules in alike}

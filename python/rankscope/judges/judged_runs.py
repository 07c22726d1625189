"""A run, and perhaps a baseline, that are evaluated by the judgments of several sources."""

from __future__ import annotations

from collections.abc import Iterator

from rankscope.errors import UsageError
from rankscope.evaluation.evaluating import evaluate_run
from rankscope.evaluation.rankings import Rankings, rank_run
from rankscope.file import File
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.engine.requests import Measures
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.inputs.qrels import Qrels
    from rankscope.settings.policy import Policy, Ties
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike


@record(frozen=True, slots=True)
class JudgedRuns:
    """A run, and perhaps a baseline, that can be read several times."""

    runs: list[InputLike]
    reading: Reading

    @classmethod
    def hold(cls, run: InputLike, baseline: InputLike | None, reading: Reading) -> JudgedRuns:
        """Hold a run and a baseline, if there is one.

        Raises:
            UsageError: One of them is standard input.
        """
        return cls([_hold(each) for each in (run, baseline) if each is not None], reading)

    @property
    def is_difference(self) -> bool:
        """Whether values are those of the run minus those of the baseline."""
        return len(self.runs) > 1

    def evaluate(
        self, qrels: Qrels, measures: Measures, policy: Policy | str | None
    ) -> list[Evaluation]:
        """Evaluate the runs, of which only means are estimated."""
        found = [
            evaluate_run(qrels, run, measures, self.reading, policy=policy) for run in self.runs
        ]
        refuse_aggregate(found[0].policy)
        return found

    def rank(self, qrels: Qrels, ties: Ties) -> list[Rankings]:
        """Rank the runs."""
        return [rank_run(Rankings, qrels, run, ties, self.reading) for run in self.runs]


def _hold(run: InputLike) -> InputLike:
    path = run.path if isinstance(run, File) else run
    if isinstance(path, str) and path == "-":
        raise UsageError(
            "the run is read twice, so it cannot be standard input",
            hint="write it to a file first",
            code="stdin_twice",
        )
    return list(run) if isinstance(run, Iterator) else run


def refuse_aggregate(policy: Policy) -> None:
    """Raise an error for a policy that aggregates in another way than by the mean."""
    if policy.aggregate != "mean":
        raise UsageError(
            f"a model's judgments help to estimate means, found aggregate={policy.aggregate!r}",
            hint="use aggregate='mean'",
            code="aggregate_unavailable",
        )

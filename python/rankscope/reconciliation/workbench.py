"""One input, evaluated by many sets of rules."""

from __future__ import annotations

import os
import sys
from shlex import quote

from rankscope._evaluate.judgments import load_qrels, refuse_one_stdin_for_both
from rankscope._evaluate.question import refuse_single_precision
from rankscope._evaluate.rankings import Rankings, rank_rows, rank_run
from rankscope._evaluate.refusals import check_order
from rankscope._inputs.qrels import JoinedColumns, Qrels
from rankscope._inputs.recognition import recognise, recognise_table
from rankscope.deferred import np
from rankscope.errors import MeasureError, PolicyError
from rankscope.file import File
from rankscope.records import record, replace
from rankscope.settings.policy import Policy, ties_of
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._inputs.recognition import Input
    from rankscope.conventions.rules import Rules
    from rankscope.errors import RankscopeError
    from rankscope.settings.policy import Ties
    from rankscope.typing import InputLike

    Rank = Callable[[Rules], Rankings]
    Judged = Callable[[Rankings, int], dict[str, float]]
    Regrade = Callable[[float], float]


class Workbench:
    """An input, and the outcomes of the rules evaluated so far.

    Args:
        rank: Ranks the input as rules say.
        judged: Gives the grade of each judged document of a query, by its place in rankings.
        grades: The different grades.
        policy: What is done where nothing else is said.
        files: The arguments of a command that reads this input.
        vary: Makes a workbench for the same documents with other grades and the scores multiplied
            by a number.
        cut: Makes a workbench for the run cut at a depth; none for a table.
    """

    def __init__(
        self,
        rank: Rank,
        judged: Judged,
        grades: list[float],
        policy: Policy,
        *,
        files: str,
        vary: Callable[[Regrade, int], Workbench],
        cut: Callable[[int], Workbench] | None = None,
    ) -> None:
        self.rank = rank
        self.judged = judged
        self.grades = grades
        self.policy = policy
        self.files = files
        self.vary = vary
        self.cut = cut
        self._outcomes: dict[Rules, RuleOutcome | RankscopeError] = {}

    @classmethod
    def of_run(cls, qrels: InputLike | Qrels, run: InputLike, reading: Reading) -> Workbench:
        """Make a workbench for judgments and a run."""
        given = qrels
        if not isinstance(qrels, Qrels):
            refuse_one_stdin_for_both(qrels, run)
        held = load_qrels(qrels, reading)
        judgments = held.judgments
        kept: InputLike = _keep(recognise(run, "run", reading.columns), run)  # type: ignore[assignment]  # it stays one
        policy = Policy().resolve()

        def rank(rules: Rules) -> Rankings:
            own = replace(reading, score_type=rules.score_type)
            return rank_run(Rankings, held, kept, ties_of(rules.policy), own)

        def rank_whole() -> Rankings:
            return rank_run(Rankings, held, kept, ties_of(policy), reading)

        def vary(regrade: Regrade, sign: int) -> Workbench:
            judged = {
                query: {doc: regrade(grade) for doc, grade in judgments.documents(number)}
                for number, query in enumerate(held.query_texts)
            }
            return cls.of_run(judged, _copy_run(rank_whole(), sign=sign), Reading.read())

        def cut(depth: int) -> Workbench:
            return cls.of_run(held, _copy_run(rank_whole(), depth=depth), Reading.read())

        return cls(
            rank,
            lambda _, number: dict(judgments.documents(number)),
            judgments.grades(),
            policy,
            files=f"{_name(given, 'QRELS')} {_name(run, 'RUN')}",
            vary=vary,
            cut=cut,
        )

    @classmethod
    def of_table(cls, table: object, reading: Reading) -> Workbench:
        """Make a workbench for a table whose rows hold both scores and grades."""
        kept = _keep(recognise_table(table), table)
        refuse_single_precision(reading)
        wanted = JoinedColumns(reading.columns)

        def rank(ties: Ties | None) -> Rankings:
            return rank_rows(Rankings, recognise_table(kept), wanted, ties, reading)

        def rank_as(rules: Rules) -> Rankings:
            rankings = rank(ties_of(rules.policy))
            check_order(rankings, ties_of(rules.policy), rules.score_type)
            return rankings

        usual = rank(None)

        def vary(regrade: Regrade, sign: int) -> Workbench:
            return cls.of_table(_copy_table(usual, regrade, sign), Reading.read())

        default = Policy(ties=usual.tie_policy)
        files = _name(table, "TABLE")
        return cls(rank_as, _judged_rows, usual.grades, default, files=files, vary=vary)

    def evaluate(self, wanted: Iterable[Rules]) -> None:
        """Evaluate under each of these rules, for `outcome` to return."""
        by_order: dict[tuple[str, str], dict[Policy, list[Rules]]] = {}
        for rules in dict.fromkeys(wanted):
            if rules not in self._outcomes:
                policies = by_order.setdefault((ties_of(rules.policy), rules.score_type), {})
                policies.setdefault(rules.policy, []).append(rules)
        for policies in by_order.values():
            try:
                # One order at a time is held in memory.
                rankings = self.rank(next(iter(policies.values()))[0])
            except PolicyError as error:  # there is no such order
                self._outcomes |= {rules: error for alike in policies.values() for rules in alike}
                continue
            for alike in policies.values():
                self._outcomes |= _evaluate(rankings, alike)

    def outcome(self, rules: Rules) -> RuleOutcome | RankscopeError:
        """Return the outcome of rules, or the error they raised."""
        if rules not in self._outcomes:
            self.evaluate([rules])
        return self._outcomes[rules]


@record(frozen=True, slots=True)
class RuleOutcome:
    """The outcome of a set of rules.

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


def _keep(found: Input, given: object) -> object:
    """Read an input into memory if it can be read only once."""
    if found.is_stdin:
        text = sys.stdin.buffer.read()
        return File(text, found.format, found.columns) if found.format else text  # type: ignore[arg-type]  # one that is known
    if found.kind == "rows":
        return [*found.value]
    if isinstance(found.value, dict):  # of records, which may come one by one
        return found.value
    # A reader of Arrow batches.
    return given.read_all() if hasattr(given, "read_all") else given


def _copy_run(
    rankings: Rankings, *, sign: int = 1, depth: int | None = None
) -> dict[str, dict[str, float]]:
    """Return lists as a run: their scores with this sign, and their first documents."""
    offsets, scores = rankings.offsets.tolist(), (sign * rankings.scores).tolist()
    run = {}
    for number, query_id in enumerate(rankings.query_texts):
        start, stop = offsets[number : number + 2]
        if stop > start:
            docs = rankings.doc_texts(query_id)[:depth]
            run[query_id] = dict(zip(docs, scores[start:stop], strict=False))
    return run


def _copy_table(rankings: Rankings, regrade: Regrade, sign: int) -> dict[str, list[Any]]:
    """Return rankings as a table with other grades, and scores with this sign."""
    queries, sizes = rankings.query_texts, np.diff(rankings.offsets)
    columns: dict[str, list[Any]] = {
        "query_id": np.repeat(queries, sizes).tolist(),
        "relevance": [*map(regrade, rankings.relevance.tolist())],
        "score": (sign * rankings.scores).tolist(),
    }
    if rankings.has_doc_ids:
        columns["doc_id"] = [doc for query in queries for doc in rankings.doc_texts(query)]
    return columns


def _name(given: object, otherwise: str) -> str:
    """Return what names an input on the command line."""
    path = given.path if isinstance(given, File) else given
    if isinstance(path, str | os.PathLike):
        return quote(os.fspath(path))
    return otherwise


def _judged_rows(rankings: Rankings, number: int) -> dict[str, float]:
    start, stop = rankings.offsets[number : number + 2].tolist()
    docs = rankings.doc_texts(rankings.query_texts[number])
    pairs = zip(docs, rankings.relevance[start:stop].tolist(), strict=False)  # or no ids at all
    return {doc: grade for doc, grade in pairs if grade == grade}  # noqa: PLR0124 - NaN alone differs


def _evaluate(
    rankings: Rankings, alike: Sequence[Rules]
) -> Mapping[Rules, RuleOutcome | RankscopeError]:
    """Evaluate the measures of rules with one policy, in one pass if all are accepted."""
    try:
        evaluation = rankings.evaluate([each.measure for each in alike], policy=alike[0].policy)
    except (MeasureError, PolicyError) as error:
        if len(alike) == 1:
            return {alike[0]: error}
        alone = [_evaluate(rankings, [each]) for each in alike]
        return {rules: found for one in alone for rules, found in one.items()}
    return {rules: RuleOutcome(evaluation, rules.measure.name) for rules in alike}

"""Finds the conventions that produce a number."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Unpack

from rankscope._conventions import TABLE, Convention, adapt, find
from rankscope._conventions.spec import Rules
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.settings import split_question
from rankscope._file import File
from rankscope._reconcile.causes import find_causes
from rankscope._reconcile.explanations import differ
from rankscope._reconcile.result import Reckoning, Reconciliation
from rankscope._reconcile.target import Number, Target
from rankscope._reconcile.workbench import Outcome, Workbench
from rankscope._settings import FIELDS, Reading
from rankscope.errors import RankscopeError, UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import read_measure

Candidate: TypeAlias = tuple[str, Convention | None, str, Rules | RankscopeError]
"""A name, its convention and option if any, and the resulting rules or why there are none."""

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions


OURS = "rankscope"
"""The name of the measure as it was requested, with the defaults of rankscope."""


def reconcile(
    judgments: object,
    run: object = None,
    measure: Measure | str | Mapping[Measure | str, Number] | None = None,
    *,
    got: Number | None = None,
    conventions: Iterable[Convention | str] | None = None,
    **options: Unpack[ReadingOptions],
) -> Reconciliation:
    """Evaluate a measure under every convention, and find those that produce a number.

    Args:
        judgments: The judgments, or a table whose rows have both scores and grades, as in
            `evaluate`. A table without documents skips conventions that order ties by id.
        run: As in `evaluate`. It is read into memory.
        measure: The measure, or its name. A mapping of it to a number is both `measure` and `got`:
            `{"nDCG@10": 0.4860}`.
        got: The number from another tool. Text keeps its digits: `"0.4860"` matches 0.48595 to
            0.48605, and `"48.60"` is in percent. A mapping of query to number compares the value of
            each of these queries. If no convention produces it, other causes are tried: another
            relevance level, cutoff, set of queries or depth of the run, reversed scores, grades
            that are shifted by 1 or binary, one changed rule of a convention, and two of the former
            together.
        conventions: The conventions to try (default: all).
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        The values, grouped if equal, and the conventions that produce `got`. `differ` returns the
        rules, queries and documents that cause the difference between two of them.

    Raises:
        UsageError: An argument is invalid.
        InputError: The input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}}
        >>> run = {"q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5}}
        >>> found = reconcile(qrels, run, "nDCG@3", got="0.4863")
        >>> found.matches[0], round(found["lightgbm"], 4)
        ('sklearn', 0.4791)
        >>> [rule.rule for rule in found.differ("trec_eval@10.0", "sklearn").rules]
        ['ties', 'missing', 'unretrieved', 'negative', 'ideal']
        >>> log = {"qid": [1, 1, 1, 2], "label": [0, 3, 1, 0], "score": [3, 2, 2, 1]}
        >>> found = reconcile(log, "nDCG@3")
        >>> round(found["sklearn"], 4), round(found["lightgbm"], 4)
        (0.3115, 0.8221)
    """
    if measure is None and _is_reported(run):
        run, measure = None, run
    if isinstance(measure, Mapping):
        measure, got = _split_reported(measure, got)
    qrels, rankings, question = split_question("reconcile", judgments, run, measure)
    rows = TABLE if conventions is None else tuple(map(find, conventions))
    requested = read_measure(question)
    target = None if got is None else Target.read(got, float(requested.row.value_range[1]))
    reading = Reading.of("reconcile", options)
    if qrels is None:
        bench = Workbench.of_table(rankings, reading, _name(rankings, "TABLE"))
    else:
        files = f"{_name(qrels, 'QRELS')} {_name(rankings, 'RUN')}"
        bench = Workbench.of_run(qrels, rankings, reading, files)
    candidates = [*_list_candidates(rows, requested, bench)]
    rules_of = {name: rules for name, _, _, rules in candidates}
    names: dict[Rules, list[str]] = {}
    for name, rules in rules_of.items():
        if isinstance(rules, Rules):
            names.setdefault(rules, []).append(name)
    bench.evaluate(names)
    reckonings = [_reckon(candidate, bench, requested, target) for candidate in candidates]
    is_open = not any(reckoning.is_match for reckoning in reckonings)
    reasons = find_causes(bench, requested, target, names) if target and is_open else ((), ())
    return Reconciliation(
        measure=requested,
        got=None if target is None else target.text,
        reckonings=tuple(sorted(reckonings, key=lambda reckoning: bool(reckoning.refusal))),
        deviations=reasons[0],
        causes=reasons[1],
        compare=lambda one, other, limit: differ(
            bench, _pick(rules_of, one), _pick(rules_of, other), limit=limit
        ),
    )


def _name(value: object, otherwise: str) -> str:
    """Return what names an input on the command line."""
    path = value.path if isinstance(value, File) else value
    return shlex.quote(os.fspath(path)) if isinstance(path, str | os.PathLike) else otherwise


def _is_reported(value: object) -> TypeGuard[Mapping[Any, Number]]:
    """Check whether a mapping has the number of a measure, and not documents or columns."""
    if not isinstance(value, Mapping) or isinstance(value, Evaluation):
        return False
    return bool(value) and all(isinstance(number, Real | str) for number in value.values())


def _split_reported(
    reported: Mapping[Measure | str, Number], got: Number | None
) -> tuple[Measure | str, Number]:
    """Return the measure and its number."""
    if got is not None or len(reported) != 1:
        raise UsageError(
            f"expected the number of one measure, found {len(reported)} measures"
            f"{'' if got is None else ' and got'}",
            hint="write reconcile(judgments, run, {'nDCG@10': 0.4863}), once for each measure",
            code="bad_parameter",
        )
    return next(iter(reported.items()))


def _list_candidates(
    rows: Iterable[Convention], measure: Measure, bench: Workbench
) -> Iterator[Candidate]:
    yield OURS, None, "", Rules(measure, bench.policy)
    for row in rows:
        choices = [("", "")]
        for setting in row.options:
            words = [word for word in setting.values if word != "error" and setting.field in FIELDS]
            choices += [(setting.name, f"{setting.field}={word}") for word in words]
        for option, policy in choices:
            name = f"{_call(row)} {policy}".rstrip()
            try:
                adapted = adapt(row, [measure], policy=policy or None, grades=bench.grades)
            except RankscopeError as error:
                if not option:
                    yield name, row, option, error
                break
            rules = Rules(adapted.measures[0], adapted.policy, adapted.score_type)
            yield name, row, option, rules


def _call(row: Convention) -> str:
    """Return the name of a convention, with its version if the bare name means another one."""
    return row.name if find(row.name) is row else row.address


def _reckon(
    candidate: Candidate, bench: Workbench, requested: Measure, target: Target | None
) -> Reckoning:
    name, row, option, rules = candidate
    if isinstance(rules, Rules):
        outcome, measure, policy = bench.outcome(rules), rules.measure, str(rules.policy)
    else:
        outcome, measure, policy = Outcome(error=rules), requested, ""
    refusal = outcome.error.message if outcome.error else ""
    if outcome.error and outcome.error.code == "convention_measure":
        refusal = f"no {requested} there, as far as we know"
    return Reckoning(
        name=name,
        version=row.version if row else "",
        verified=row.verified if row else "run",
        option=option,
        measure=measure.name,
        policy=policy,
        value=outcome.value,
        queries=outcome.queries,
        refusal=refusal,
        is_match=bool(target and target.is_met(outcome, row.computes_in if row else "float64")),
    )


def _pick(rules_of: Mapping[str, Rules | RankscopeError], name: str) -> tuple[str, Rules]:
    stem, _, choice = name.partition(" ")
    called = f"{stem if stem == OURS else _call(find(stem))} {choice}".rstrip()
    if called not in rules_of:
        raise UsageError(
            f"expected a convention that was evaluated, found {name!r}",
            hint=f"there are {', '.join(rules_of)}",
            code="not_evaluated",
        )
    rules = rules_of[called]
    if isinstance(rules, RankscopeError):
        raise rules
    return called, rules

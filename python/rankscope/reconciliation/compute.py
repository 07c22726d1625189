"""Finds the conventions that produce a number, and why others differ."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Real
from shlex import quote

from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.question import split_question
from rankscope.conventions import TABLE, adapt, find
from rankscope.conventions.rules import Rules
from rankscope.errors import RankscopeError, UsageError
from rankscope.file import File
from rankscope.measures.reading import read_measure
from rankscope.reconciliation.causes import find_causes
from rankscope.reconciliation.explanations import differ
from rankscope.reconciliation.result import Reckoning, Reconciliation
from rankscope.reconciliation.target import Target
from rankscope.reconciliation.workbench import Outcome, Workbench
from rankscope.settings.policy import FIELDS
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeAlias, TypeGuard, Unpack

    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.reconciliation.target import Given
    from rankscope.settings.reading import ReadingOptions

    Candidate: TypeAlias = tuple[str, Convention | None, str, Rules | RankscopeError]
    """A name, its convention and option if any, and the resulting rules or why there are none."""

OURS = "rankscope"
"""The name under which the measure stands as it was asked for, with our defaults."""


def reconcile(
    judgments: object,
    run: object = None,
    measure: Measure | str | Mapping[Measure | str, Given] | None = None,
    *,
    got: Given | None = None,
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
    judged, given, question = split_question("reconcile", judgments, run, measure)
    rows = TABLE if conventions is None else tuple(map(find, conventions))
    asked = read_measure(question)
    wanted = None if got is None else Target.read(got, float(asked.row.value_range[1]))
    reading = Reading.of("reconcile", options)
    if judged is None:
        bench = Workbench.of_table(given, reading, _name(given, "TABLE"))
    else:
        files = f"{_name(judged, 'QRELS')} {_name(given, 'RUN')}"
        bench = Workbench.of_run(judged, given, reading, files)
    candidates = [*_list_candidates(rows, asked, bench)]
    known = {name: rules for name, _, _, rules in candidates}
    names: dict[Rules, list[str]] = {}
    for name, rules in known.items():
        if isinstance(rules, Rules):
            names.setdefault(rules, []).append(name)
    bench.evaluate(names)
    reckonings = [_reckon(each, bench, asked, wanted) for each in candidates]
    is_open = not any(each.is_match for each in reckonings)
    reasons = find_causes(bench, asked, wanted, names) if wanted and is_open else ((), ())
    return Reconciliation(
        measure=asked,
        got=None if wanted is None else wanted.text,
        reckonings=tuple(sorted(reckonings, key=lambda each: bool(each.refusal))),
        deviations=reasons[0],
        causes=reasons[1],
        compare=lambda one, other, limit: differ(
            bench, _pick(known, one), _pick(known, other), limit=limit
        ),
    )


def _name(given: object, otherwise: str) -> str:
    """Return what names an input on the command line."""
    path = given.path if isinstance(given, File) else given
    return quote(os.fspath(path)) if isinstance(path, str | os.PathLike) else otherwise


def _is_reported(given: object) -> TypeGuard[Mapping[Any, Given]]:
    """Check whether a mapping has the number of a measure, and not documents or columns."""
    if not isinstance(given, Mapping) or isinstance(given, Evaluation):
        return False
    return bool(given) and all(isinstance(each, Real | str) for each in given.values())


def _split_reported(
    reported: Mapping[Measure | str, Given], got: Given | None
) -> tuple[Measure | str, Given]:
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
    rows: Iterable[Convention], asked: Measure, bench: Workbench
) -> Iterator[Candidate]:
    yield OURS, None, "", Rules(asked, bench.policy)
    for row in rows:
        choices = [("", "")]
        for setting in row.options:
            words = [word for word in setting.values if word != "error" and setting.field in FIELDS]
            choices += [(setting.name, f"{setting.field}={word}") for word in words]
        for option, policy in choices:
            name = f"{_call(row)} {policy}".rstrip()
            try:
                adapted = adapt(row, [asked], policy=policy or None, grades=bench.grades)
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
    candidate: Candidate, bench: Workbench, asked: Measure, wanted: Target | None
) -> Reckoning:
    name, row, option, rules = candidate
    if isinstance(rules, Rules):
        outcome, measure, policy = bench.outcome(rules), rules.measure, str(rules.policy)
    else:
        outcome, measure, policy = Outcome(error=rules), asked, ""
    refusal = outcome.error.message if outcome.error else ""
    if outcome.error and outcome.error.code == "convention_measure":
        refusal = f"no {asked} there, as far as we know"
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
        is_match=bool(wanted and wanted.is_met(outcome, row.computes_in if row else "float64")),
    )


def _pick(known: Mapping[str, Rules | RankscopeError], name: str) -> tuple[str, Rules]:
    stem, _, choice = name.partition(" ")
    called = f"{stem if stem == OURS else _call(find(stem))} {choice}".rstrip()
    if called not in known:
        raise UsageError(
            f"expected a convention that was evaluated, found {name!r}",
            hint=f"there are {', '.join(known)}",
            code="not_evaluated",
        )
    rules = known[called]
    if isinstance(rules, RankscopeError):
        raise rules
    return called, rules

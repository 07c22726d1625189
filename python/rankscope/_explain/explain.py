"""Explains the value of one query with the derivation a person would write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isinf, isnan, nan
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from rankscope._conventions import Convention
from rankscope._evaluate.ranked_runs import read_rankings
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.refusals import check_order
from rankscope._evaluate.settings import Settings
from rankscope._explain.derive import derive, derive_relevance
from rankscope._explain.explanation import LIMIT
from rankscope._explain.gains import Explanation
from rankscope._explain.query import RankedQuery
from rankscope._explain.relevance import RelevanceExplanation
from rankscope._inputs.numbers import no_judgments, to_numbers
from rankscope._names import quote
from rankscope._settings import Empty, Policy, Unjudged, count_threads
from rankscope.errors import FormatError, MeasureError, UsageError
from rankscope.measures import Measure, P, nDCG, parse
from rankscope.measures.parse import Measures, read_measure

Explained: TypeAlias = Explanation | RelevanceExplanation

if TYPE_CHECKING:
    from rankscope._evaluate.grades import Discounts
    from rankscope._evaluate.settings import TableOptions

    class ExplainOptions(Discounts, TableOptions, total=False):
        """Settings of the measure and the policy for grades, and how inputs are read."""


EXPLAINED = ("nDCG", "DCG", "IDCG", "CG")
"""The measures of cumulated gain that have an explanation."""
OF_RELEVANCE = ("AP", "RR", "P", "R")
"""The measures of relevant documents that have one."""
POLICIES = ("negative", "missing_gain")


def explain(
    grades: object,
    k: object = None,
    measure: Measure | str | None = None,
    *,
    query_id: object = None,
    names: Sequence[str] | None = None,
    ideal: Sequence[float] | None = None,
    empty: Empty = "zero",
    unjudged: Unjudged | float = "nonrelevant",
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    limit: int = LIMIT,
    **settings: Unpack[ExplainOptions],
) -> Explained:
    """Explain a value: every term, the ideal order, what would raise it.

    `explain(grades, k)` explains the nDCG of grades in rank order. With `query_id`, what
    `evaluate` takes comes first: `explain(judgments, run, "nDCG@10", query_id="q1")` or
    `explain(table, "nDCG@10", query_id="q1")`.

    Args:
        grades: Grades, best rank first, or a mapping of document to grade. NaN means unjudged. With
            `query_id`, the judgments or the table.
        k: The cutoff, or `None` for the whole list. With `query_id`, the run.
        measure: The measure (default: nDCG), one of: nDCG, DCG, IDCG, CG, AP, RR, P, R.
        query_id: The query to explain, of judgments and a run or of a table. The argument `query`
            is not a query: it names the column with their ids.
        names: The names of the documents, one per grade. A string names each by one letter.
        ideal: All judged grades, in any order (default: those of the list).
        empty: The value if the ideal is 0, as in `Policy`.
        unjudged: How unjudged documents count, as in `Policy`.
        policy: As in `evaluate`, with `query_id`.
        convention: As in `evaluate`, with `query_id`.
        limit: The maximum number of ranks to show.
        **settings: `gain`, `discount`, `base` and `s` as in `nDCG`, and `negative` and
            `missing_gain` as in `Policy`. With `query_id`: how the inputs are read, as in
            `evaluate`.

    Returns:
        The derivation. `print` writes it as text, and notebooks display it.

    Raises:
        UsageError: A setting is invalid, or the measure can't be explained.
        InputError: A grade is not a number, or the list beats its ideal.

    Examples:
        >>> explanation = explain([4, 2, 5, 3, 5], k=3, names="ABCDE")
        >>> explanation.formula
        '(4/log2(2) + 2/log2(3) + 5/log2(4)) / (5/log2(2) + 5/log2(3) + 4/log2(4))'
        >>> round(explanation.value, 3)
        0.764
        >>> qrels, run = {"q1": {"a": 3, "b": 1}}, {"q1": {"b": 2, "x": 1}}
        >>> explain(qrels, run, "nDCG@10", query_id="q1").formula
        '(1/log2(2)) / (3/log2(2) + 1/log2(3))'
    """
    if query_id is not None:
        if names is not None or ideal is not None or (empty, unjudged) != ("zero", "nonrelevant"):
            raise UsageError(
                "names, ideal, empty and unjudged are for grades, found one beside query_id",
                hint="write explain(judgments, run, 'nDCG@10', query_id='q1', policy='empty=skip')",
                code="bad_parameter",
            )
        choices = Settings(measures=(), policy=policy, convention=convention)
        rankings, choices, _ = read_rankings(
            "explain", grades, k, measure, settings, settings=choices
        )
        return explain_query(
            rankings, query_id, choices.measures, policy=policy, convention=convention, limit=limit
        )
    _refuse_query(settings.get("query"), policy, convention)
    if k is not None and not isinstance(k, int):
        raise UsageError(
            f"expected the cutoff k as an integer, found {type(k).__name__}",
            hint="write k=3; for a query of a run, "
            "explain(judgments, run, 'nDCG@10', query_id='q1')",
            code="bad_parameter",
        )
    if isinstance(grades, Mapping):
        names, grades = list(grades), list(grades.values())
    numbers = _read(grades, "grades")
    judged = numbers if ideal is None else _read(ideal, "ideal")
    judged = sorted((grade for grade in judged if not isnan(grade)), reverse=True)
    if not judged:
        raise no_judgments("grades" if ideal is None else "ideal")
    of_measure: dict[str, Any] = {**settings}
    policies = {name: of_measure.pop(name) for name in POLICIES if name in of_measure}
    of_grades = Policy(ties="input", empty=empty, unjudged=unjudged, **policies)
    parsed = parse(nDCG if measure is None else measure)
    parsed = _cut(parsed(**of_measure) if of_measure else parsed, k)
    if ideal is not None:  # the evaluation refuses an ideal that lacks what the list has
        Rankings.from_lists([numbers], ideal=[judged]).evaluate(parsed, policy=of_grades)
    query = RankedQuery(
        query_id=None,
        docs=_read_names(names, len(numbers)),
        grades=numbers,
        scores=range(0, -len(numbers), -1),
        ties="input",
        judged=judged,
        judged_docs=None,
        sees_all=ideal is not None,
    )
    return derive_value(query, parsed, of_grades, limit)


def explain_query(
    rankings: Rankings,
    query_id: object,
    measure: Measures,
    *,
    policy: Policy | str | None,
    convention: Convention | str | None,
    limit: int,
) -> Explained:
    """Explain the value of a query of rankings. `Rankings.explain` documents the arguments."""
    settings = Settings(measures=read_measure(measure), policy=policy, convention=convention)
    request = settings.request(ties=rankings.tie_policy, grades=rankings.grades)
    if request.ties != rankings.tie_policy:
        check_order(rankings, request.ties, request.score_type)
    cut = _cut(request.measures[0], None)
    number = find_query(rankings, query_id)
    return derive_value(take_query(rankings, number, query_id), cut, request.policy, limit)


def derive_value(query: RankedQuery, measure: Measure, policy: Policy, limit: object) -> Explained:
    """Derive the value of one of the measures that have an explanation."""
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 2:
        raise UsageError(
            f"expected limit to be 2 or more, found {limit!r}",
            hint="it says how many ranks are shown",
            code="bad_parameter",
        )
    make = derive_relevance if measure.row.name in OF_RELEVANCE else derive
    return make(query, measure, policy, limit)


def find_query(rankings: Rankings, query_id: object) -> int:
    """Return the index of a query."""
    try:
        number = rankings._core.find(str(query_id))  # noqa: SLF001 - a part of it
    except ValueError:  # a lone surrogate, or an integer of thousands of digits, which no id is
        number = None
    if number is None:
        names = ", ".join(map(repr, rankings.query_texts[:5]))
        raise UsageError(
            f"expected a judged query, found {quote(query_id)}",
            hint=f"the first ones are {names}",
            code="unknown_query",
        )
    return number


def take_query(rankings: Rankings, number: int, query_id: object = None) -> RankedQuery:
    """Extract one query from rankings."""
    start, stop = rankings.offsets[number : number + 2].tolist()
    first, last = rankings.ideal_offsets[number : number + 2].tolist()
    docs = rankings._core.doc_ids(number)  # noqa: SLF001 - a part of it
    judgments = rankings._judgments  # noqa: SLF001 - a part of it
    judged = None if judgments is None else judgments.documents(number)
    size = stop - start
    ideal: list[float] = rankings.ideal[first:last].tolist()
    return RankedQuery(
        query_id=rankings.query_texts[number] if query_id is None else str(query_id),
        docs=docs if len(docs) == size else None,
        grades=rankings.relevance[start:stop].tolist(),
        scores=rankings.scores[start:stop].tolist(),
        ties=rankings.tie_policy,
        judged=ideal if judged is None else [grade for _, grade in judged],
        judged_docs=None if judged is None else [doc for doc, _ in judged],
        is_missing=size == 0 and not _is_present(rankings, number),
        sees_all=rankings.knows_unretrieved,
    )


def _is_present(rankings: Rankings, number: int) -> bool:
    """Check whether a query is in the run, even with an empty list."""
    plan = Settings(measures=P @ 1).request(ties=rankings.tie_policy).plan()
    core = rankings._core  # noqa: SLF001 - a part of it
    return bool(core.evaluate(plan, count_threads(None)).is_present()[number])


def _refuse_query(query: object, policy: object, convention: object) -> None:
    """Refuse what only makes sense with a query, if there is none."""
    if query is not None:
        raise UsageError(
            f"query={quote(query)} names the column with the ids of queries, and not the query to "
            "explain",
            hint=f"write query_id={quote(query)}",
            code="bad_parameter",
        )
    if policy is not None or convention is not None:
        raise UsageError(
            "policy and convention are for a query of judgments and a run, found one for grades",
            hint="write empty=, unjudged=, negative= or missing_gain=, or add query_id='q1'",
            code="bad_parameter",
        )


def _cut(measure: Measure, k: int | None) -> Measure:
    """Apply the cutoff to a measure, and raise an error if it can't be explained."""
    if measure.row.name not in {*EXPLAINED, *OF_RELEVANCE}:
        raise MeasureError(
            f"expected a measure that has an explanation, found {measure}",
            hint=f"those are {', '.join((*EXPLAINED, *OF_RELEVANCE))}",
            code="not_explained",
        )
    if k is None:
        return measure
    if measure.k not in {None, k}:
        raise MeasureError(
            f"expected one cutoff, found {measure} and k={k!r}",
            hint="leave k out",
            code="bad_parameter",
        )
    return measure @ k


def _read(values: Any, name: str) -> list[float]:  # noqa: ANN401 - any column of numbers
    """Read grades; `None` in a list is unjudged."""
    if isinstance(values, list | tuple):
        values = [nan if value is None else value for value in values]
    try:
        numbers: list[float] = to_numbers(values, name, dimensions=(1,), are_grades=True).tolist()
    except FormatError as error:
        error.file = error.file or name
        raise
    at = next((at for at, number in enumerate(numbers) if isinf(number)), None)
    if at is not None:
        raise FormatError(
            f"expected finite grades, found {numbers[at]}",
            hint="a grade is a number; NaN is unjudged",
            code="rel_out_of_range",
            file=name,
            line=at + 1,
        )
    return numbers


def _read_names(names: Sequence[str] | None, size: int) -> list[str] | None:
    if names is not None and len(names) != size:
        raise FormatError(
            f"expected a name per grade, found {len(names)} names for {size} grades",
            hint="name each document, or leave names out",
            code="length_mismatch",
            file="names",
        )
    return None if names is None else [*map(str, names)]

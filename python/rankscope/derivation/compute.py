"""Explains the value of one query with the derivation a person would write."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isnan, nan

from rankscope._evaluate.refusals import check_order
from rankscope._evaluate.settings import Settings
from rankscope._inputs.doubles import EXACT_UP_TO
from rankscope._inputs.numbers import no_judgments, to_numbers
from rankscope.derivation.derive.gain import derive
from rankscope.derivation.derive.query import RankedQuery
from rankscope.derivation.derive.relevance import derive_relevance
from rankscope.derivation.explanation import LIMIT
from rankscope.errors import FormatError, MeasureError, UsageError
from rankscope.measures import P, nDCG, parse
from rankscope.measures.reading import read_measure
from rankscope.names import quote
from rankscope.settings.policy import Policy
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias, Unpack, overload

    from rankscope._core import Column
    from rankscope._evaluate.grades import Discounts
    from rankscope._evaluate.question import TableOptions
    from rankscope._evaluate.rankings import Rankings
    from rankscope.conventions import Convention
    from rankscope.derivation.explanation import Explanation, RelevanceExplanation
    from rankscope.measures import Measure
    from rankscope.settings.policy import Empty, Unjudged

    Explained: TypeAlias = Explanation | RelevanceExplanation

EXPLAINED = ("nDCG", "DCG", "IDCG", "CG")
"""The measures of cumulated gain that have an explanation."""

OF_RELEVANCE = ("AP", "RR", "P", "R")
"""Those of relevant documents."""

POLICIES = ("empty", "negative", "missing_gain", "unjudged")


if TYPE_CHECKING:

    @overload
    def explain(
        grades: Sequence[float] | Mapping[str, float],
        k: int | None = None,
        measure: Measure | str | None = None,
        *,
        names: Sequence[str] | None = None,
        ideal: Sequence[float] | None = None,
        empty: Empty = "zero",
        unjudged: Unjudged | float = "nonrelevant",
        limit: int = LIMIT,
        **settings: Unpack[Discounts],
    ) -> Explained: ...
    @overload
    def explain(
        grades: object,
        k: object,
        measure: Measure | str | None = None,
        *,
        query_id: object,
        policy: Policy | str | None = None,
        convention: Convention | str | None = None,
        limit: int = LIMIT,
        **settings: Unpack[TableOptions],
    ) -> Explained: ...


def explain(
    grades: object,
    k: Any = None,
    measure: Measure | str | None = None,
    *,
    query_id: object = None,
    names: Sequence[str] | None = None,
    ideal: Sequence[float] | None = None,
    empty: Empty = "zero",
    unjudged: Unjudged | float = "nonrelevant",
    limit: int = LIMIT,
    **settings: Any,
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
        query_id: The query of judgments and a run, or of a table.
        names: The names of the documents, one per grade. A string names each by one letter.
        ideal: All judged grades, in any order (default: those of the list).
        empty: The value if the ideal is 0, as in `Policy`.
        unjudged: How unjudged documents count, as in `Policy`.
        limit: The maximum number of ranks to show.
        **settings: `gain`, `discount`, `base` and `s` as in `nDCG`, and `negative` and
            `missing_gain` as in `Policy`. With `query_id`: `policy` and `convention`, and how the
            inputs are read, as in `evaluate`.

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
        policy, convention = settings.pop("policy", None), settings.pop("convention", None)
        from rankscope._evaluate.ranked_runs import read_rankings  # noqa: PLC0415 - loads NumPy

        wanted = Settings(measures=(), policy=policy, convention=convention)
        rankings, asked, _ = read_rankings("explain", grades, k, measure, settings, settings=wanted)
        chosen = read_measure(asked.measures)
        return explain_query(
            rankings, query_id, chosen, policy=policy, convention=convention, limit=limit
        )
    if k is not None and not isinstance(k, int):
        raise UsageError(
            f"expected the cutoff k as an integer, found {type(k).__name__}",
            hint="write k=3; for a query of a run, "
            "explain(judgments, run, 'nDCG@10', query_id='q1')",
            code="bad_parameter",
        )
    if isinstance(grades, Mapping):
        names, grades = list(grades), list(grades.values())
    numbers = _read(grades, "grades")  # type: ignore[arg-type]  # refused there
    docs = _read_names(names, len(numbers))
    judged = numbers if ideal is None else _read(ideal, "ideal")
    judged = sorted((grade for grade in judged if not isnan(grade)), reverse=True)
    if not judged:
        raise no_judgments("grades" if ideal is None else "ideal")
    given = dict(settings)
    policies = {name: given.pop(name) for name in POLICIES if name in given}
    policy = Policy(ties="input", empty=empty, unjudged=unjudged, **policies)
    chosen = parse(nDCG if measure is None else measure)
    chosen = _choose(chosen(**given) if given else chosen, k)
    if ideal is not None:
        # The evaluation refuses an ideal that lacks what the list has.
        from rankscope._evaluate.rankings import Rankings  # noqa: PLC0415 - loads NumPy

        Rankings.from_lists([numbers], ideal=[judged]).evaluate(chosen, policy=policy)

    query = RankedQuery(
        query_id=None,
        docs=docs,
        grades=numbers,
        scores=[-float(rank) for rank in range(len(numbers))],
        ties="input",
        judged=judged,
        judged_docs=None,
        sees_all=ideal is not None,
    )
    return derive_value(query, chosen, policy, limit)


def explain_query(
    rankings: Rankings,
    query_id: object,
    measure: Measure | str,
    *,
    policy: Policy | str | None,
    convention: Convention | str | None,
    limit: int,
) -> Explained:
    """Explain the value of a query of rankings. `Rankings.explain` documents the arguments."""
    request = Settings(measures=measure, policy=policy, convention=convention).request(
        ties=rankings.tie_policy, grades=rankings.grades
    )
    if request.ties != rankings.tie_policy:
        check_order(rankings, request.ties, request.score_type)
    if len(request.measures) > 1:
        raise UsageError(
            f"expected one measure, found {len(request.measures)}",
            hint="explain one after another",
            code="bad_parameter",
        )
    chosen = _choose(request.measures[0], None)
    number = find_query(rankings, query_id)
    return derive_value(take_query(rankings, number, query_id), chosen, request.policy, limit)


def derive_value(query: RankedQuery, measure: Measure, policy: Policy, limit: int) -> Explained:
    """Derive the value of one of the measures that have an explanation."""
    make = derive_relevance if measure.row.name in OF_RELEVANCE else derive
    return make(query, measure, policy, limit=_read_limit(limit))


def find_query(rankings: Rankings, query_id: object) -> int:
    """Return the index of a query."""
    try:
        number = rankings._core.find(str(query_id))  # noqa: SLF001 - a part of it
    except ValueError:  # a lone surrogate, or an integer of thousands of digits, which no id is
        number = None
    if number is None:
        known = ", ".join(map(repr, rankings.query_texts[:5]))
        raise UsageError(
            f"expected a judged query, found {quote(query_id)}",
            hint=f"the first ones are {known}",
            code="unknown_query",
        )
    return number


def take_query(rankings: Rankings, number: int, query_id: object = None) -> RankedQuery:
    """Extract one query from rankings."""
    core = rankings._core  # noqa: SLF001 - a part of it
    start, stop = _ends(core.column("offsets"), number)
    first, last = _ends(core.column("ideal_offsets"), number)
    docs = core.doc_ids(number)
    judgments = rankings._judgments  # noqa: SLF001 - a part of it
    judged = None if judgments is None else judgments.documents(number)
    size = stop - start
    return RankedQuery(
        query_id=rankings.query_texts[number] if query_id is None else str(query_id),
        docs=docs if len(docs) == size else None,
        grades=_slice(core.column("relevance"), start, stop),
        scores=_slice(core.column("scores"), start, stop),
        ties=rankings.tie_policy,
        judged=(
            _slice(core.column("ideal"), first, last)
            if judged is None
            else [grade for _, grade in judged]
        ),
        judged_docs=None if judged is None else [doc for doc, _ in judged],
        is_missing=size == 0 and not _is_present(rankings, number),
        sees_all=rankings.knows_unretrieved,
    )


def _is_present(rankings: Rankings, number: int) -> bool:
    """Check whether a query is in the run, even with an empty list."""
    plan = Settings(measures=P @ 1).request(ties=rankings.tie_policy).plan()
    core = rankings._core  # noqa: SLF001 - a part of it
    return bool(core.evaluate(plan, count_threads(None)).is_present()[number])


def _ends(offsets: Column, number: int) -> tuple[int, int]:
    """Return where the rows of a query begin and end, without NumPy."""
    numbers = memoryview(offsets).cast("q")
    return numbers[number], numbers[number + 1]


def _slice(column: Column, start: int, stop: int) -> list[float]:
    return [*memoryview(column).cast("d")[start:stop]]


def _choose(measure: Measure, k: int | None) -> Measure:
    """Apply the cutoff to a measure, and raise an error if it can't be explained."""
    if measure.row.name not in {*EXPLAINED, *OF_RELEVANCE}:
        raise MeasureError(
            f"expected a measure that has an explanation, found {measure}",
            hint=f"those are {', '.join((*EXPLAINED, *OF_RELEVANCE))}",
            code="not_explained",
        )
    if k is None:
        return measure
    if measure.k is not None and measure.k != k:
        raise MeasureError(
            f"expected one cutoff, found {measure} and k={k!r}",
            hint="leave k out",
            code="bad_parameter",
        )
    return measure @ k


def _read(values: Iterable[float], name: str) -> list[float]:
    """Read grades, without NumPy if they are plain numbers."""
    if isinstance(values, list | tuple) and all(map(_is_plain, values)):
        return [nan if value is None else float(value) for value in values]
    try:
        numbers: list[float] = to_numbers(values, name, dimensions=(1,), are_grades=True).tolist()
    except FormatError as error:
        error.file = error.file or name
        raise
    if inf in numbers or -inf in numbers:
        at = next(at for at, number in enumerate(numbers) if abs(number) == inf)
        raise FormatError(
            f"expected finite grades, found {numbers[at]}",
            hint="a grade is a number; NaN is unjudged",
            code="rel_out_of_range",
            file=name,
            line=at + 1,
        )
    return numbers


def _is_plain(value: object) -> bool:
    """Check whether a value is a plain grade. `None` is unjudged."""
    if value is None:
        return True
    if type(value) is float:
        return value not in {inf, -inf}
    return type(value) is int and abs(value) <= EXACT_UP_TO


def _read_names(names: Sequence[str] | None, size: int) -> list[str] | None:
    if names is None:
        return None
    given = [str(name) for name in names]
    if len(given) != size:
        raise FormatError(
            f"expected a name a grade, found {len(given)} names for {size} grades",
            hint="name each document, or leave names out",
            code="length_mismatch",
            file="names",
        )
    return given


def _read_limit(limit: object) -> int:
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 2:
        raise UsageError(
            f"expected limit to be 2 or more, found {limit!r}",
            hint="it says how many ranks are shown",
            code="bad_parameter",
        )
    return limit

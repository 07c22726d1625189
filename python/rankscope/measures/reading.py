"""Reads what names measures: one or several, as measures or as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rankscope.errors import MeasureError
from rankscope.measures.parse import LONGEST_TEXT, parse, split_measures
from rankscope.measures.spec import Measure
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from rankscope.typing import Second

    Measures: TypeAlias = Measure | str | Iterable[Measure | str]


def read_measures(given: Measures) -> tuple[list[Measure], int]:
    """Read measures, and return each once, with the number of duplicates.

    A text may name several: `nDCG@1,5,10` or `nDCG@10, AP`.
    """
    is_single = getattr(given, "ndim", 1) == 0  # an array of no dimension can't be iterated
    if isinstance(given, Measure | str) or is_single or not isinstance(given, Iterable):
        given = [given]  # type: ignore[list-item]  # checked below
    if isinstance(given, Mapping):
        raise MeasureError(
            f"expected measures, found {quote(given)}",
            hint="measures come last: evaluate(judgments, run, ['nDCG@10'])",
            code="unknown_measure",
        )
    measures: list[Measure] = []
    for one in map(adopt, given):
        measures += map(parse, split_text(one)) if isinstance(one, str) else [one]
    for one in measures:
        if not isinstance(one, Measure):
            raise MeasureError(
                f"expected a measure or its name, found {type(one).__name__}",
                hint="write nDCG @ 10 or 'nDCG@10'",
                code="unknown_measure",
            )
    once = list(dict.fromkeys(measures))
    if not once:
        raise MeasureError(
            "expected at least one measure", hint="give [nDCG @ 10]", code="no_measures"
        )
    names = {measure.name for measure in once}
    if len(names) < len(once):
        raise MeasureError(
            "expected measures with different names, found two with one",
            hint="give the functions that they are made of different names",
            code="same_name",
        )
    return once, len(measures) - len(once)


def adopt(given: object) -> Any:  # noqa: ANN401 - of another library, or as it is
    """Return a measure of ir_measures as ours, and anything else as it is."""
    is_theirs = type(given).__module__.partition(".")[0] == "ir_measures"
    return parse(given.NAME)(**given.params) if is_theirs else given  # type: ignore[attr-defined]  # it has


def read_measure(given: Measures) -> Measure:
    """Read one measure."""
    measures, _ = read_measures(given)
    if len(measures) > 1:
        raise MeasureError(
            f"expected one measure, found {len(measures)}",
            hint="ask for them one after the other",
            code="bad_parameter",
        )
    return measures[0]


def hold_measures(given: Measures) -> Measures:
    """Return measures that can be read more than once."""
    return [*given] if isinstance(given, Iterator) else given


def split_text(given: str) -> Sequence[str]:
    """Return the measures that a text names, which may be several."""
    if "," not in given or len(given) > LONGEST_TEXT:
        return [given]
    return split_measures([given], separators=",") or [given]


def find_second(given: Measures, *, subtopics: bool | None = None) -> Second:
    """Return what judgments need to have beside query, document and grade."""
    measures = read_measures(given)[0]
    by_subtopic = next((measure for measure in measures if measure.row.subtopics), None)
    by_stratum = next((measure for measure in measures if measure.row.strata), None)
    if by_stratum is not None and (by_subtopic is not None or subtopics):
        other = "subtopics=True" if by_subtopic is None else str(by_subtopic)
        raise MeasureError(
            f"{by_stratum} needs judgments by stratum, found {other} beside it, which is for "
            "judgments by subtopic",
            hint="evaluate them in calls of their own",
            code="subtopics_unavailable",
        )
    if by_stratum is not None:
        return "stratum"
    needs = by_subtopic is not None if subtopics is None else subtopics
    return "subtopic" if needs else ""

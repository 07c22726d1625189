"""What one library says under one convention, and what it refuses."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from dev.parity.cases import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dev.parity.cases import Case

LONGEST_MESSAGE = 160
PLACE = re.compile(r"^\[[\d:]+\] \S+: ")
"""The time, and the line of a source file, before the text of an error."""

WHOLE = {"P": "SetP", "R": "SetR", "F": "SetF"}
"""Measures that have another name where there is no cutoff."""

ByQuery = Mapping[str, float | None]
"""Values by query; those that the library leaves out are not there."""

Found = dict[str, tuple[float | None, ByQuery]]
"""The mean and the values of each measure."""


class Answer(TypedDict):
    """A measure on a case: the mean, and the values in the order of the judged queries."""

    mean: float | None
    per_query: list[float | None] | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a library raised.

    Args:
        case: On which case.
        error: The type of the exception.
        message: Its text, cut.
        measures: For which measures.
        queries: For which queries; empty where it refused the whole case.
    """

    case: str
    error: str
    message: str
    measures: list[str]
    queries: list[str]


@dataclass(slots=True)
class Answers:
    """The answers of one library under one convention.

    Args:
        library: Its name in the package registry.
        convention: Our name for what it does.
        way: How it was asked, in the words of its interface.
        variant: Which of several answers under the convention, where `options` tell them apart.
        precision: In which floating-point format it computes.
        arbitrary_above: By measure, the number of documents above which equal scores are in no
            order that it defines, such as that of an unstable sort.
        options: By case, what it was asked for beside its defaults, as a policy of ours.
        mean_over: Of which queries it takes the mean: of those that are judged, as we do, or of
            those in the run, where one that is not judged counts 0.
        notes: What a reader of the numbers has to know.
        cases: The answers, by case and by measure as rankscope spells it, without the parameters
            that the convention implies.
        refusals: What it raised instead of an answer.
    """

    library: str
    convention: str
    way: str
    variant: str = ""
    precision: Literal["float64", "float32"] = "float64"
    arbitrary_above: dict[str, int] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    mean_over: Literal["judged", "run"] = "judged"
    notes: list[str] = field(default_factory=list)
    cases: dict[str, dict[str, Answer]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)

    def ask(
        self,
        case: Case,
        measure: str,
        of: Callable[[list[str]], float | None],
        *,
        singly: bool = True,
    ) -> None:
        """Ask a library that answers for groups of queries: once for all, then for each.

        Args:
            case: The input.
            measure: The measure as rankscope spells it.
            of: What the library says of some queries.
            singly: Whether each query is asked about.
        """
        mean = self._call(case, measure, case.queries(), of)
        queries = case.qrels if singly else ()
        values = {query: self._call(case, measure, [query], of) for query in queries}
        self.keep(case, measure, mean, values)

    def ask_for_groups(
        self,
        case: Case,
        metrics: Mapping[str, str],
        evaluate: Callable[[list[str]], Mapping[str, float]],
    ) -> None:
        """Ask a library that answers for several metrics of groups of queries.

        Args:
            case: The input.
            metrics: By our name, what the library calls it.
            evaluate: What the library says of some queries, by its names.
        """
        once = cache(lambda *queries: evaluate(list(queries)))
        for measure, metric in metrics.items():
            self.ask(case, measure, partial(_pick, once, metric))

    def ask_at_once(
        self, case: Case, measures: Iterable[str], evaluate: Callable[[], Found]
    ) -> None:
        """Ask a library that answers for several measures and all queries at once.

        Args:
            case: The input.
            measures: The measures as rankscope spells them.
            evaluate: What the library says.
        """
        try:
            found = evaluate()
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is to be kept
            for measure in measures:
                self.refuse(case, measure, [], error)
        else:
            for measure, (mean, values) in found.items():
                self.keep(case, measure, mean, values)

    def keep(self, case: Case, measure: str, mean: float | None, values: ByQuery) -> None:
        """Keep an answer that the library gave."""
        rows = [_number(values.get(query)) for query in case.qrels]
        known = any(row is not None for row in rows)
        if _number(mean) is not None or known:
            answer: Answer = {"mean": _number(mean), "per_query": rows if known else None}
            self.cases.setdefault(case.name, {})[measure] = answer

    def refuse(self, case: Case, measure: str, queries: list[str], error: Exception) -> None:
        """Keep what the library raised, for some queries or for the whole case."""
        kind = type(error).__name__
        message = PLACE.sub("", str(error).partition("\n")[0])[:LONGEST_MESSAGE]
        for refusal in self.refusals:
            if (refusal.case, refusal.error, refusal.message) == (case.name, kind, message):
                break
        else:
            refusal = Refusal(case.name, kind, message, [], [])
            self.refusals.append(refusal)
        if measure not in refusal.measures:
            refusal.measures.append(measure)
        refusal.queries.extend(query for query in queries if query not in refusal.queries)

    def _call(
        self,
        case: Case,
        measure: str,
        queries: list[str],
        of: Callable[[list[str]], float | None],
    ) -> float | None:
        try:
            return of(queries)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is to be kept
            self.refuse(case, measure, queries if len(queries) == 1 else [], error)
            return None


def at(name: str, k: int | None) -> str:
    """Name a measure of ours at a cutoff, or of the whole list."""
    return WHOLE.get(name, name) if k is None else f"{name}@{k}"


def _pick(evaluate: Callable[..., Mapping[str, float]], metric: str, queries: list[str]) -> float:
    return evaluate(*queries)[metric]


def publish(measure: Callable[[list[Case]], Iterable[Answers]]) -> None:
    """Ask a library about all cases, and write what it says to the file that the caller names.

    Args:
        measure: The answers of the library to the cases.
    """
    found = collect(measure, read())
    Path(sys.argv[1]).write_text(json.dumps(found, allow_nan=False), encoding="utf-8")


def collect(
    measure: Callable[[list[Case]], Iterable[Answers]], cases: list[Case]
) -> list[dict[str, Any]]:
    """Ask a library about some cases.

    Args:
        measure: The answers of the library to the cases.
        cases: The cases.

    Returns:
        The fields of its answers, with its version.
    """
    said = (asdict(answers) for answers in measure(cases))
    return [{"version": version(fields["library"]), **fields} for fields in said]


def _number(value: float | None) -> float | None:
    """A plain number that is one; NaN is none."""
    return None if value is None or math.isnan(value) else float(value)

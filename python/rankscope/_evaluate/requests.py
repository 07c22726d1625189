"""Reads what to evaluate: measures, policy, convention, threads."""

from __future__ import annotations

from math import floor

from rankscope.errors import PolicyError, UsageError
from rankscope.file import File
from rankscope.measures.reading import read_measures, split_text
from rankscope.measures.spec import ROWS
from rankscope.names import check_choice
from rankscope.output.diagnostics import describe
from rankscope.records import record
from rankscope.settings.policy import CHOICES, Policy, ties_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from rankscope._inputs.numbers import Scale
    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.policy import ScoreType, Ties
    from rankscope.typing import InputLike

    Measures: TypeAlias = Measure | str | Iterable[Measure | str]

FEWEST_GRADES = 3
"""A scale that ends below may only tell the relevant from the highly relevant."""


def read_policy(given: Policy | str | None, default: Policy | None = None) -> Policy:
    """Read a policy: a `Policy`, text such as `empty=skip`, or `None` for the default.

    A policy without ties gets those of the default, or else those of a run.
    """
    chosen = _check_policy(given)
    if not isinstance(chosen, Policy):
        chosen = Policy.parse(chosen or "", default)
    return chosen.resolve(None if default is None else default.ties)


def _check_policy(given: Policy | str | None) -> Policy | str | None:
    if given is None or isinstance(given, Policy | str):
        return given
    raise PolicyError(
        f"expected a Policy or text, found {type(given).__name__}",
        hint="write Policy(empty='skip') or 'empty=skip'",
        code="bad_policy",
    )


@record(frozen=True, slots=True, kw_only=True)
class Request:
    """What to evaluate, and how.

    Args:
        measures: The measures to compute, each once.
        policy: The policy.
        score_type: How scores are compared.
        repeated: How many measures were asked for again.
        convention: The convention that it follows, if any.
        names: Under a convention, what the measures that were asked for are called here.
        clipped: How many measures have a scale that ends below the highest grade.
        differences: Names of other tools that mean something else there: name, tool and reason.
        scale: The lowest and the highest grade of the judgments, if there are any.
    """

    measures: list[Measure]
    policy: Policy
    score_type: ScoreType
    repeated: int
    convention: Convention | None
    names: Mapping[str, str]
    clipped: int = 0
    differences: Sequence[tuple[str, str, str]] = ()
    scale: Scale | None = None

    @property
    def ties(self) -> Ties:
        """The ties of the policy."""
        return ties_of(self.policy)


def read_request(
    measures: Measures,
    policy: Policy | str | None,
    *,
    default: Policy | None = None,
    convention: Convention | str | None,
    score_type: ScoreType | None,
    grades: list[float],
) -> Request:
    """Read what to evaluate, under a convention or not."""
    asked, repeated = read_measures(measures)
    if score_type is not None:
        check_choice("score_type", score_type, CHOICES["score_type"])
    scale = (min(grades), max(grades)) if grades else None
    if convention is None:
        return Request(
            measures=asked,
            policy=read_policy(policy, default),
            score_type=score_type or "float64",
            repeated=repeated,
            convention=None,
            names={},
            clipped=_count_clipped(asked, grades),
            differences=_find_differences(measures),
            scale=scale,
        )
    from rankscope.conventions import adapt  # noqa: PLC0415 - only where one is asked for

    chosen = _check_policy(policy)
    adapted = adapt(convention, asked, policy=chosen, score_type=score_type, grades=grades)
    return Request(
        measures=list(adapted.measures),
        policy=adapted.policy,
        score_type=adapted.score_type,
        repeated=repeated,
        convention=adapted.convention,
        names=adapted.names,
        scale=scale,
    )


def note_scale(request: Request) -> list[Diagnostic]:
    """Note measures for which every judged document is relevant, such as ratings from 1 to 5."""
    if request.scale is None:
        return []
    lowest, highest = request.scale
    found = [
        measure
        for measure in request.measures
        if "rel" not in measure.settings
        and isinstance(rel := measure.value_of("rel"), float)
        and rel <= lowest
        and _uses_rel(measure)
    ]
    if not found or highest < FEWEST_GRADES:
        return []
    names = ", ".join(measure.name for measure in found)
    upper = floor((lowest + highest) / 2) + 1
    choices = {
        "lowest": lowest,
        "highest": highest,
        "names": names,
        "example": found[0](rel=upper).name,
    }
    return [describe("all_relevant", len(found), choices)]


def _uses_rel(measure: Measure) -> bool:
    """Return whether a measure has a lowest relevant grade; graded RBP has none."""
    company = measure.row.parameter("rel").only_with
    return company is None or measure.value_of(company[0]) in company[1]


def _count_clipped(measures: Sequence[Measure], grades: Sequence[float]) -> int:
    highest = max(grades, default=0.0)
    scales = (measure.value_of("max_rel") for measure in measures)
    return sum(isinstance(top, float) and top < highest for top in scales)


def _find_differences(given: Measures) -> list[tuple[str, str, str]]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple):
        return []
    texts = dict.fromkeys(
        each for name in names if isinstance(name, str) for each in split_text(name)
    )
    written = [name for name in texts if name not in ROWS]
    if not written:
        return []
    from rankscope.measures.compat import find_difference  # noqa: PLC0415 - few names need it

    found = [(name, find_difference(name)) for name in written]
    return [(name, *difference) for name, difference in found if difference is not None]


def refuse_one_stdin_for_both(qrels: InputLike, run: InputLike) -> None:
    """Raise an error if judgments and run both come from standard input."""
    paths = [given.path if isinstance(given, File) else given for given in (qrels, run)]
    if all(isinstance(path, str) and path == "-" for path in paths):
        raise UsageError(
            "expected '-' for one input, found it for both",
            hint="name a file for the other",
            code="stdin_twice",
        )

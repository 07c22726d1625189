"""What an evaluation computes: what the caller asks for, and what that is once grades are known."""

from __future__ import annotations

from math import floor

from rankscope._core import Plan
from rankscope._evaluate.query_values import (
    cluster_queries,
    join_groups,
    list_names,
    read_attributes,
    read_by,
    slice_queries,
    weigh_queries,
)
from rankscope.errors import PolicyError, UsageError
from rankscope.measures.kernel import LONGEST_LIST
from rankscope.measures.reading import read_measures, split_text
from rankscope.measures.spec import ROWS
from rankscope.names import check_choice
from rankscope.output.diagnostics import describe
from rankscope.records import record, replace
from rankscope.settings.policy import CHOICES, Policy, split_aggregate, ties_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankscope._core import Judgments
    from rankscope._evaluate.query_values import By, Clusters, Find, Groups, Weights
    from rankscope._inputs.items import Items
    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.interval import Interval
    from rankscope.settings.policy import ScoreType, Ties
    from rankscope.settings.reading import Reading

FEWEST_GRADES = 3
"""A scale that ends below may only tell the relevant from the highly relevant."""


@record(frozen=True, slots=True, kw_only=True)
class Request:
    """The measures and the policy of an evaluation, as its convention and its grades make them.

    Args:
        measures: The measures to compute, each once.
        policy: The policy.
        score_type: How scores are compared.
        convention: The convention that it follows, if any.
        names: Under a convention, what the measures that were asked for are called here.
        grades: The grades of the judgments, as far as they are known.
        repeated: How many measures were asked for again.
        differences: Names of other tools that mean something else there: name, tool and reason.
    """

    measures: list[Measure]
    policy: Policy
    score_type: ScoreType = "float64"
    convention: Convention | None = None
    names: Mapping[str, str] = {}
    grades: Sequence[float] = ()
    repeated: int = 0
    differences: Sequence[tuple[str, str, str]] = ()

    @property
    def ties(self) -> Ties:
        """The ties of the policy."""
        return ties_of(self.policy)

    @property
    def cutoffs(self) -> list[int | None]:
        """The cutoffs of the measures, ascending. `None`, the whole list, comes last."""
        cutoffs = {measure.k for measure in self.measures}
        return [*sorted(k for k in cutoffs if k is not None), *([None] if None in cutoffs else [])]

    @property
    def clipped(self) -> int:
        """How many measures have a scale that ends below the highest grade."""
        if self.convention is not None or not self.grades:
            return 0
        tops = (measure.value_of("max_rel") for measure in self.measures)
        return sum(isinstance(top, float) and top < max(self.grades) for top in tops)

    def plan(
        self,
        ties: str | None = None,
        duplicates: str = "error",
        *,
        weights: list[float] | None = None,
        items: Items | None = None,
        judgments: Judgments | None = None,
    ) -> Plan:
        """Return the plan that the core evaluates, on lists with ties that can be others."""
        if weights is not None:
            refuse_whole_run(self.measures, "weights")
        grades = list(self.grades)
        if self.policy.negative not in {"gain", "minmax"}:
            grades = [grade for grade in grades if grade >= 0]
        aggregate = split_aggregate(self.policy.aggregate)
        rows: list[tuple[str, str, Mapping[str, object], bool, tuple[str, float | None]]] = []
        for measure in self.measures:
            if measure.row.of_rows and (self.policy.unjudged == "remove" or measure.judged_only):
                raise PolicyError(
                    f"expected lists with all documents, as {measure} needs, found condensed ones",
                    hint="evaluate it without judged_only and unjudged='remove'",
                    code="function_unavailable",
                )
            kernel, params = measure.kernel_spec(grades=grades)
            own = aggregate if measure.row.mean == "mean" else (measure.row.mean, None)
            if measure.row.level == "run":
                own = ("mean", None)
            rows.append((measure.name, kernel, params, measure.judged_only, own))
        return Plan(
            rows,
            self.policy.to_dict() | {"ties": ties or self.ties},
            duplicates,
            self.score_type,
            [k if k is None else min(k, LONGEST_LIST) for k in self.cutoffs],
            weights,
            items=None if items is None else items.known,
            judged=None if items is None else judgments,
        )

    def note_scale(self) -> list[Diagnostic]:
        """Note grades that may be scores, or make every judged document relevant (1 to 5)."""
        lowest, highest = min(self.grades, default=0.0), max(self.grades, default=0.0)
        if lowest < highest and not (float(lowest).is_integer() or float(highest).is_integer()):
            return [describe("grades_like_scores", 1, {"lowest": lowest, "highest": highest})]
        found = [
            measure
            for measure in self.measures
            if "rel" not in measure.settings
            and isinstance(rel := measure.value_of("rel"), float)
            and rel <= lowest
            and _uses_rel(measure)
        ]
        if not found or highest < FEWEST_GRADES:
            return []
        choices = {
            "lowest": lowest,
            "highest": highest,
            "names": ", ".join(measure.name for measure in found),
            "example": found[0](rel=floor((lowest + highest) / 2) + 1).name,
        }
        return [describe("all_relevant", len(found), choices)]


def _uses_rel(measure: Measure) -> bool:
    """Return whether a measure has a lowest relevant grade; graded RBP has none."""
    company = measure.row.parameter("rel").only_with
    return company is None or measure.value_of(company[0]) in company[1]


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


def refuse_whole_run(measures: Sequence[Measure], argument: str) -> None:
    """Raise an error for a measure that has no value for each query."""
    for measure in measures:
        if measure.row.level == "run":
            raise UsageError(
                f"{argument} has no effect on {measure}, which is one value of all lists together",
                hint=f"evaluate {measure} in a call of its own",
                code="bad_parameter",
            )


def choose_ties(*, has_documents: bool) -> Ties:
    """Return how equal scores are ordered by default.

    With ids, as in trec_eval, so that the same lists have the same values whether they come as one
    table or as judgments and a run. Without ids there is nothing to go by.
    """
    return "doc_id" if has_documents else "average"


@record(frozen=True, slots=True)
class Known:
    """What is known of each query: its slices, its cluster and its weight, if any."""

    slices: list[Groups]
    clusters: list[int] | None
    weights: list[float] | None


@record(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is asked of a run or a table, besides how it is read.

    Args:
        measures: The measures.
        policy: The policy, or its text.
        convention: The convention, if any.
        interval: The intervals of means, if any.
        by: The slices, as the caller gives them; so are the next three.
        cluster: The clusters of queries.
        weights: The weights of queries.
        attributes: The table of the attributes that these name.
        items: What is known of items, if anything.
        strict: Whether to raise an error for suspicious input.
    """

    measures: Measures
    policy: Policy | str | None = None
    convention: Convention | str | None = None
    interval: Interval | None = None
    by: By | None = None
    cluster: str | Clusters | None = None
    weights: str | Weights | None = None
    attributes: object = None
    items: Items | None = None
    strict: bool = False

    def list_attributes(self) -> list[str]:
        """Return the attributes of queries that are named, each once."""
        return list_names(read_by(self.by), self.cluster, self.weights)

    def request(
        self,
        *,
        ties: Ties | None = None,
        grades: Sequence[float] = (),
        score_type: ScoreType | None = None,
    ) -> Request:
        """Read the measures and the policy, which has these ties unless it says otherwise."""
        measures, repeated = read_measures(self.measures)
        if score_type is not None:
            check_choice("score_type", score_type, CHOICES["score_type"])
        if self.convention is None:
            return Request(
                measures=measures,
                policy=read_policy(self.policy, None if ties is None else Policy(ties=ties)),
                score_type=score_type or "float64",
                grades=grades,
                repeated=repeated,
                differences=_find_differences(self.measures),
            )
        from rankscope.conventions import adapt  # noqa: PLC0415 - only where one is asked for

        adapted = adapt(
            self.convention,
            measures,
            policy=_check_policy(self.policy),
            score_type=score_type,
            grades=[*grades],
        )
        return Request(
            measures=list(adapted.measures),
            policy=adapted.policy,
            score_type=adapted.score_type,
            convention=adapted.convention,
            names=adapted.names,
            grades=grades,
            repeated=repeated,
        )

    def resolve(self, queries: Sequence[str], reading: Reading) -> Settings:
        """Return the same with the values of queries in place of names of attributes."""
        names = self.list_attributes()
        if not names:
            return self
        held = read_attributes(self.attributes, names, queries, reading)
        known = self.look_up(lambda: [*queries], held.find)
        by, groups = self.by, join_groups(known.slices)
        if groups is not None:
            _, values, codes = groups
            by = dict(zip(queries, (values[code] for code in codes), strict=True))
        return replace(self, by=by, cluster=known.clusters, weights=known.weights, attributes=None)

    def look_up(self, read_ids: Callable[[], list[str]], find: Find) -> Known:
        """Return the slices, the clusters and the weights of queries, by what names them."""
        return Known(
            slice_queries(self.by, read_ids, find),
            cluster_queries(self.cluster, read_ids, find),
            weigh_queries(self.weights, read_ids, find),
        )

    def choose_ties(self) -> Ties | None:
        """Return the ties of the policy, `None` if they depend on whether there are documents."""
        chosen = {self.request(ties=choose_ties(has_documents=each)).ties for each in (True, False)}
        return chosen.pop() if len(chosen) == 1 else None

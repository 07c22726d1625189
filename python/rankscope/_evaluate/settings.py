"""The settings of an evaluation, and the measures and the policy that they stand for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from rankscope._core import Judgments, Plan
from rankscope._evaluate.query_values import (
    By,
    Clusters,
    Find,
    Groups,
    Weights,
    bad_parameter,
    cluster_queries,
    join_groups,
    list_names,
    read_attributes,
    read_by,
    slice_queries,
    weigh_queries,
)
from rankscope._inputs.reading import LABELS, SETTINGS, Attributed, JoinedColumns, LabelOptions
from rankscope._inputs.recognition import is_table
from rankscope._names import check_choice, refuse_argument
from rankscope._settings import (
    CHOICES,
    OPTIONS,
    Interval,
    Policy,
    Reading,
    ScoreType,
    Ties,
    split_aggregate,
    ties_of,
)
from rankscope._show.diagnostics import Diagnostic, describe
from rankscope.errors import MeasureError, PolicyError, UsageError
from rankscope.measures import Measure
from rankscope.measures.kernel import LONGEST_LIST
from rankscope.measures.parse import Measures, adopt, hold_measures, read_measures, split_text
from rankscope.measures.spec import ROWS

Named = TypeVar("Named")

if TYPE_CHECKING:
    from rankscope._conventions import Convention
    from rankscope._inputs.items import Items
    from rankscope._settings import ReadingOptions

    class TableOptions(ReadingOptions, LabelOptions, total=False):
        """How a table whose rows hold scores and grades or labels is read."""


FEWEST_GRADES = 3
"""A scale that ends below may only tell the relevant from the highly relevant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The measures and the policy of an evaluation, as its convention and its grades make them."""

    measures: list[Measure]
    policy: Policy
    score_type: ScoreType = "float64"
    convention: Convention | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """Under a convention, the names of the measures by the requested ones."""
    grades: Sequence[float] = ()
    """The grades of the judgments, as far as they are known."""
    repeated: int = 0
    """How many measures were requested again."""
    differences: Sequence[tuple[str, str, str]] = ()
    """Names of other tools that mean something else there: name, tool and difference."""
    slices: Sequence[Groups] = ()
    clusters: list[int] | None = None
    weights: list[float] | None = None

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
        items: Items | None = None,
        judgments: Judgments | None = None,
    ) -> Plan:
        """Return the plan that the core evaluates, on lists whose ties can be others."""
        if self.weights is not None:
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
            of_query = measure.row.level == "query" and measure.row.mean == "mean"
            mean = "mean" if measure.row.level == "run" else measure.row.mean
            own = aggregate if of_query else (mean, None)
            rows.append((measure.name, kernel, params, measure.judged_only, own))
        return Plan(
            rows,
            self.policy.to_dict() | {"ties": ties or self.ties},
            duplicates,
            self.score_type,
            [k if k is None else min(k, LONGEST_LIST) for k in self.cutoffs],
            self.weights,
            items=None if items is None else items.core,
            judged=None if items is None else judgments,
        )

    def note_scale(self) -> list[Diagnostic]:
        """Note grades that may be scores, or make every judged document relevant (1 to 5)."""
        lowest, highest = min(self.grades, default=0.0), max(self.grades, default=0.0)
        if lowest < highest and not (float(lowest).is_integer() or float(highest).is_integer()):
            return [describe("grades_like_scores", 1, {"lowest": lowest, "highest": highest})]
        binary = [
            measure
            for measure in self.measures
            if "rel" not in measure.settings
            and isinstance(rel := measure.value_of("rel"), float)
            and rel <= lowest
            and _uses_rel(measure)
        ]
        if not binary or highest < FEWEST_GRADES:
            return []
        choices = {
            "lowest": lowest,
            "highest": highest,
            "names": ", ".join(measure.name for measure in binary),
            "example": binary[0](rel=floor((lowest + highest) / 2) + 1).name,
        }
        return [describe("all_relevant", len(binary), choices)]


def _uses_rel(measure: Measure) -> bool:
    """Return whether a measure has a lowest relevant grade; graded RBP has none."""
    company = measure.row.parameter("rel").only_with
    return company is None or measure.value_of(company[0]) in company[1]


def read_policy(policy: Policy | str | None, default: Policy | None = None) -> Policy:
    """Read a policy: a `Policy`, text such as `empty=skip`, or `None` for the default.

    A policy without ties gets those of the default, or else those of a run.
    """
    _check_policy(policy)
    if not isinstance(policy, Policy):
        policy = Policy.parse(policy or "", default)
    return policy.resolve(None if default is None else default.ties)


def _check_policy(policy: object) -> None:
    if not isinstance(policy, Policy | str | None):
        raise PolicyError(
            f"expected a Policy or text, found {type(policy).__name__}",
            hint="write Policy(empty='skip') or 'empty=skip'",
            code="bad_policy",
        )


def _find_differences(measures: Measures) -> list[tuple[str, str, str]]:
    names = [measures] if isinstance(measures, str) else measures
    if not isinstance(names, list | tuple):
        return []
    parts = (part for name in names if isinstance(name, str) for part in split_text(name))
    # Names of the table differ in no tool, and need not load the names in other tools.
    heads = {name: name.partition("@")[0].partition("(")[0].strip() for name in parts}
    others = [name for name, head in heads.items() if head not in ROWS]
    if not others:
        return []
    from rankscope.measures.compat import find_difference

    differences = {name: find_difference(name) for name in others}
    return [(name, *difference) for name, difference in differences.items() if difference]


def refuse_whole_run(measures: Sequence[Measure], argument: str) -> None:
    """Raise an error for a measure that has no value for each query."""
    for measure in measures:
        if measure.row.level == "run":
            raise bad_parameter(
                f"{argument} has no effect on {measure}, which is one value of all lists together",
                f"evaluate {measure} in a call of its own",
            )


def choose_ties(*, has_documents: bool) -> Ties:
    """Return how equal scores are ordered by default.

    With ids, as in trec_eval, so that the same lists have the same values whether they come as one
    table or as judgments and a run. Without ids there is nothing to go by.
    """
    return "doc_id" if has_documents else "average"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The arguments of an evaluation that don't say how its inputs are read."""

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
        from rankscope._conventions import adapt

        _check_policy(self.policy)
        adapted = adapt(
            self.convention,
            measures,
            policy=self.policy,
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
        find = read_attributes(self.attributes, names, queries, reading).find
        by, groups = self.by, join_groups(slice_queries(self.by, lambda: [*queries], find))
        if groups is not None:
            _, values, codes = groups
            by = dict(zip(queries, (values[code] for code in codes), strict=True))
        return replace(
            self,
            by=by,
            cluster=cluster_queries(self.cluster, lambda: [*queries], find),
            weights=weigh_queries(self.weights, lambda: [*queries], find),
            attributes=None,
        )

    def look_up(self, request: Request, read_ids: Callable[[], list[str]], find: Find) -> Request:
        """Return a request with the slices, the clusters and the weights of its queries."""
        return replace(
            request,
            slices=slice_queries(self.by, read_ids, find),
            clusters=cluster_queries(self.cluster, read_ids, find),
            weights=weigh_queries(self.weights, read_ids, find),
        )

    def choose_ties(self) -> Ties | None:
        """Return the ties of the policy, `None` if they depend on whether there are documents."""
        ties = {self.request(ties=default).ties for default in ("doc_id", "average")}
        return ties.pop() if len(ties) == 1 else None


def split_question(
    function: str,
    judgments: object,
    run: object,
    measures: Measures | None,
    *,
    default: Measures | None = None,
) -> tuple[Any, Any, Any]:
    """Return judgments, what was retrieved, and measures; no judgments for one table.

    Two inputs and measures are judgments and runs; one input and measures are a table. Where
    measures have a default, the second argument is what it reads as.
    """
    if measures is not None:
        measures = hold_measures(measures)
    elif run is not None and (listed := _read_as_measures(run)) is not None:
        run, measures = None, listed
    else:
        measures = default
    if measures is not None:
        return (None, judgments, measures) if run is None else (judgments, run, measures)
    raise UsageError(
        f"expected measures, found {'one input' if run is None else 'judgments and a run'} alone",
        hint=f"write {function}(judgments, run, ['nDCG@10', 'AP']), or {function}(table, "
        "['nDCG@10', 'AP']) if the rows have both grades and scores or ranks",
        code="no_measures",
    )


def holds(value: object, kind: type[Named]) -> TypeGuard[Mapping[str, Named]]:
    """Return whether a value is a mapping of names to objects of a class."""
    if not isinstance(value, Mapping) or not value:
        return False
    return all(isinstance(item, kind) for item in value.values())


def _read_as_measures(value: object) -> list[Any] | None:
    """Return an argument as measures, `None` if it can't be any.

    Raises:
        MeasureError: They are names, but not all of measures, and no file has such a name.
    """
    value = adopt(value)
    # An iterator can hold the rows of a run, which would be used up.
    is_input = isinstance(value, bytes | os.PathLike | Mapping | Iterator) or is_table(value)
    if is_input or not isinstance(value, Iterable | Measure):
        return None
    measures = [value] if isinstance(value, str | Measure) else [*map(adopt, value)]
    if not all(isinstance(measure, str | Measure) for measure in measures):
        return None
    try:
        read_measures(measures)
    except MeasureError:
        if any(isinstance(measure, str) and _may_be_file(measure) for measure in measures):
            return None
        raise
    return measures


def _may_be_file(name: str) -> bool:
    return name == "-" or os.path.exists(name) or not {".", "/", os.sep}.isdisjoint(name)  # noqa: PTH110 - pathlib loads slowly


def read_table_options(
    function: str, options: Mapping[str, Any], *, holds_all: str = "a table"
) -> tuple[Reading, JoinedColumns]:
    """Return how a table whose rows hold scores and grades is read, and which columns it has."""
    reading, others = Reading.take(options, holds_all=holds_all)
    for name in others:
        if name not in LABELS:
            raise refuse_argument(function, name, (*OPTIONS, *LABELS))
    return reading, JoinedColumns(reading.columns, (), _read_attribution(reading, others))


def _read_attribution(reading: Reading, options: Mapping[str, Any]) -> Attributed | None:
    """Read how labels are converted to grades, and raise an error for arguments that conflict."""
    labels, relevance = options.get("labels"), reading.columns.get("relevance")
    if labels is None:
        for name, value in options.items():
            if name in SETTINGS or value is not None:
                raise bad_parameter(
                    f"expected labels beside {name}, found none",
                    "name the column of labels: labels='events'",
                )
        return None
    if relevance is not None:
        raise bad_parameter(
            f"expected relevance or labels, found {relevance!r} and {labels!r}",
            "labels become the grades",
        )
    settings = {name: value for name, value in options.items() if name in SETTINGS}
    return Attributed(labels, options.get("predicted"), options.get("positive"), settings)  # type: ignore[arg-type]  # see `LabelOptions`


def refuse_unused(arguments: Mapping[str, object], what: str) -> None:
    """Raise an error for the first argument that is set, and would have no effect."""
    for name, value in arguments.items():
        if value is not None:
            raise bad_parameter(f"{name} has no effect on {what}", f"remove {name}")


def refuse_reading(options: Mapping[str, Any], what: str, *used: str) -> None:
    """Refuse options of reading for what is read already."""
    others = {"threads", "progress", *used}
    refuse_unused({name: value for name, value in options.items() if name not in others}, what)


def refuse_table_options(columns: JoinedColumns, *, assume_grouped: bool = False) -> None:
    """Refuse arguments about one table for judgments and runs."""
    labels = None if columns.attributed is None else columns.attributed.labels
    beside = {"labels": labels, "assume_grouped": assume_grouped or None}
    refuse_unused(beside, "judgments and runs: it is for one table that has both")


READ = "Rankings, which are read already"


def refuse_single_precision(reading: Reading) -> None:
    """Refuse to compare the scores of a table in single precision."""
    if reading.score_type == "float32":
        raise bad_parameter(
            "score_type='float32' has no effect on a table whose rows hold scores and grades",
            "round the scores of the table, or pass judgments and a run",
        )


def are_matrices(*values: object) -> bool:
    """Check whether all values are arrays of two dimensions, and not frames."""
    return all(getattr(value, "ndim", 0) == 2 and hasattr(value, "dtype") for value in values)


def refuse_attributes(settings: Settings) -> None:
    """Refuse a table of attributes beside a table that has them itself."""
    refuse_unused(
        {"attributes": settings.attributes}, "a table: join it to the table, and name its columns"
    )

"""The methods that fuse runs, the scales of scores, and the choices of a fusion."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping

from rankscope.errors import UsageError
from rankscope.names import check_choice, find_closest, quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal, TypeAlias

    Settings: TypeAlias = tuple[tuple[str, float], str, Sequence[float], str, int | None]
    Scale: TypeAlias = Literal["none", "min_max", "max", "sum", "zmuv", "rank", "borda"]

FOX = "Fox and Shaw, *Combination of multiple searches*, TREC-2, 1994"


MOURAO = (
    "Mourão, Martins and Magalhães, *Multimodal medical information retrieval with unsupervised "
    "rank fusion*, 2015"
)


MONTAGUE = "Montague and Aslam, *Condorcet fusion for improved retrieval*, CIKM 2002"


@record(frozen=True, slots=True, kw_only=True)
class FusionMethod:
    """A method that fuses runs.

    Args:
        name: Its name.
        definition: The score of a document, in one sentence.
        reference: Where it is defined.
        is_of_ranks: Whether it goes by ranks alone. The others add up scores, and scale them first.
        takes_weights: Whether runs can have weights.
        parameter: The name of its parameter; empty if it has none.
        default: The default value of the parameter.
        aliases: Other names, such as that of ranx.
    """

    name: str
    definition: str
    reference: str
    is_of_ranks: bool = False
    takes_weights: bool = True
    parameter: str = ""
    default: float = 0.0
    aliases: tuple[str, ...] = ()


METHODS: Mapping[str, FusionMethod] = {
    method.name: method
    for method in (
        FusionMethod(
            name="rrf",
            definition="The sum of 1 / (k + rank) over the runs that have the document.",
            reference="Cormack, Clarke and Büttcher, *Reciprocal rank fusion outperforms Condorcet "
            "and individual rank learning methods*, SIGIR 2009",
            is_of_ranks=True,
            parameter="k",
            default=60.0,
            aliases=("reciprocal_rank_fusion", "reciprocal_rank", "reciprocal", "ranked_fusion"),
        ),
        FusionMethod(
            name="combsum",
            definition="The sum of its scores; with weights, the weighted sum.",
            reference=FOX,
            aliases=(
                "sum",
                "wsum",
                "weighted_sum",
                "linear",
                "linear_combination",
                "relative_score_fusion",
            ),
        ),
        FusionMethod(
            name="combmnz",
            definition="The sum of its scores, times the number of runs that have it.",
            reference=FOX,
            aliases=("mnz",),
        ),
        FusionMethod(
            name="combanz",
            definition="The mean of its scores over the runs that have it.",
            reference=FOX,
            takes_weights=False,
            aliases=("anz",),
        ),
        FusionMethod(
            name="combmed",
            definition="The median of its scores over the runs that have it.",
            reference=FOX,
            takes_weights=False,
            aliases=("med", "median"),
        ),
        FusionMethod(
            name="combmax",
            definition="The largest of its scores.",
            reference=FOX,
            takes_weights=False,
            aliases=("max",),
        ),
        FusionMethod(
            name="combmin",
            definition="The smallest of its scores over the runs that have it.",
            reference=FOX,
            takes_weights=False,
            aliases=("min",),
        ),
        FusionMethod(
            name="isr",
            definition="The sum of 1 / rank², times the number of runs that have the document.",
            reference=MOURAO,
            is_of_ranks=True,
        ),
        FusionMethod(
            name="log_isr",
            definition="The sum of 1 / rank², times the natural logarithm of the number of runs "
            "that have the document plus sigma. With the default of 0, documents of a single run "
            "score 0.",
            reference=MOURAO,
            is_of_ranks=True,
            parameter="sigma",
            aliases=("logn_isr",),
        ),
        FusionMethod(
            name="rbc",
            definition="The rank-biased centroid: the sum of (1 - p) p^(rank - 1).",
            reference="Bailey, Moffat, Scholer and Thomas, *Retrieval consistency in the presence "
            "of query variations*, SIGIR 2017",
            is_of_ranks=True,
            parameter="p",
            default=0.8,
            aliases=("rank_biased_centroid", "rank_biased_precision_fusion"),
        ),
        FusionMethod(
            name="borda",
            definition="The sum of points: with n documents in all runs, the first one of a run "
            "gets n points, the second n - 1 and so on, and those that the run doesn't have share "
            "what is left equally.",
            reference="Aslam and Montague, *Models for metasearch*, SIGIR 2001",
            is_of_ranks=True,
            aliases=("bordafuse", "borda_count", "weighted_bordafuse", "w_bordafuse"),
        ),
        FusionMethod(
            name="condorcet",
            definition="An order in which no document loses to the next one by a majority of runs; "
            "a run ranks the documents that it doesn't have last. Borda points order the documents "
            "that no majority separates.",
            reference=MONTAGUE,
            is_of_ranks=True,
            aliases=("condorcet_fuse", "weighted_condorcet", "w_condorcet"),
        ),
    )
}


LEARNED = ("bayesfuse", "mapfuse", "posfuse", "probfuse", "segfuse", "slidefuse")


FIT = (
    "it learns from judgments; find weights with rs.fit_fusion or --fit instead, for combsum or rrf"
)


REFUSED: Mapping[str, str] = {
    "wmnz": "combmnz takes weights, and multiplies each score by that of its run, while wmnz of "
    "ranx multiplies the sum of the scores by the sum of the weights",
    "gmnz": "combmnz is gmnz of ranx with gamma=1",
    "mixed": "for a mix of two runs, use combsum with weights",
    "dbsf": "combsum with normalize zmuv adds up scores in standard deviations, too, but doesn't "
    "cut them off at three",
    **dict.fromkeys(LEARNED, FIT),
}
"""What to use for the methods of other tools that rankscope doesn't have."""


SCALES: Mapping[str, str] = {
    "none": "Scores are added as they are.",
    "min_max": "From 0 for the smallest score of a query to 1 for the largest; 1 if all are equal.",
    "max": "Scores divided by the largest one, which has to be positive.",
    "sum": "The distance to the smallest score, divided by the sum of these distances.",
    "zmuv": "The distance to the mean in standard deviations (zero mean, unit variance).",
    "rank": "1 - (rank - 1) / n, where n is the number of documents in the list.",
    "borda": "1 - (rank - 1) / n, where n is the number of documents in all runs; documents that a "
    "run doesn't have share the mean of what is left.",
}
"""What each scale does with the scores of a query in one run."""


DEFAULT_SCALE = "min_max"


SCALE_ALIASES: Mapping[str, str] = {"z_score": "zmuv", "z_norm": "zmuv", "standard": "zmuv"}
"""Other names of scales."""


def find_method(given: object) -> FusionMethod:
    """Return a method by its name, as rankscope, the literature or ranx write it.

    Examples:
        >>> find_method("CombMNZ").name, find_method("bordafuse").name
        ('combmnz', 'borda')
    """
    names = {name: method for method in METHODS.values() for name in (method.name, *method.aliases)}
    squeezed = {_squeeze(name): method for name, method in names.items()}
    found = squeezed.get(_squeeze(given)) if isinstance(given, str) else None
    if found is None:
        closest = find_closest(given, list(names)) if isinstance(given, str) else None
        hint = f"did you mean {closest}?" if closest else f"one of: {', '.join(METHODS)}"
        if isinstance(given, str):
            hint = REFUSED.get(_squeeze(given), hint)
        raise UsageError(
            f"expected a method of fusion, found {quote(given)}",
            hint=hint,
            code="unknown_fusion",
        )
    return found


def find_scale(given: object) -> str:
    """Return a scale by its name, as rankscope or another tool writes it.

    Examples:
        >>> find_scale("min-max"), find_scale("zscore")
        ('min_max', 'zmuv')
    """
    names = {_squeeze(name): name for name in SCALES}
    names |= {_squeeze(alias): name for alias, name in SCALE_ALIASES.items()}
    found = names.get(_squeeze(given)) if isinstance(given, str) else None
    if found is None:
        closest = find_closest(given, list(SCALES)) if isinstance(given, str) else None
        raise UsageError(
            f"expected normalize as a scale of scores, found {quote(given)}",
            hint=f"did you mean {closest}?" if closest else f"one of: {', '.join(SCALES)}",
            code="unknown_fusion",
        )
    return found


def _squeeze(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


TIES = ("doc_id", "doc_id_asc", "input")


@record(frozen=True, slots=True, kw_only=True)
class FusionChoices:
    """How runs are fused, all but their weights.

    Args:
        method: The method.
        parameter: The value of its parameter, if it has one.
        scale: How scores are scaled; empty for a method that goes by ranks.
        ties: The order of documents with equal scores.
        depth: The number of documents to keep for each query, `None` for all.
    """

    method: FusionMethod
    parameter: float
    scale: str
    ties: str
    depth: int | None

    @property
    def parameters(self) -> dict[str, float]:
        """The parameter by its name, if there is one."""
        return {self.method.parameter: self.parameter} if self.method.parameter else {}

    def settings(self, weights: Sequence[float]) -> Settings:
        """Return what the core takes."""
        method = (self.method.name, self.parameter)
        return method, self.scale or "none", weights, self.ties, self.depth

    def describe(
        self, names: Iterable[str], weights: Sequence[float], missing: Iterable[int]
    ) -> dict[str, Any]:
        """Return the fields that every fused run has."""
        return {
            "names": tuple(names),
            "method": self.method.name,
            "parameters": self.parameters,
            "scale": self.scale,
            "weights": tuple(weights),
            "missing": tuple(missing),
        }


def read_choices(
    method: object,
    normalize: object,
    parameters: Mapping[str, object],
    ties: object,
    depth: object,
) -> FusionChoices:
    """Read how runs are fused, as the arguments of `rankscope.fuse` say."""
    chosen = find_method(method)
    check_choice("ties", ties, TIES)
    return FusionChoices(
        method=chosen,
        parameter=_read_parameter(chosen, parameters),
        scale=_read_scale(chosen, normalize),
        ties=str(ties),
        depth=_read_depth(depth),
    )


def _read_scale(method: FusionMethod, given: object) -> str:
    if given is None:
        return "" if method.is_of_ranks else DEFAULT_SCALE
    scale = find_scale(given)
    if method.is_of_ranks:
        raise UsageError(
            f"{method.name} goes by ranks, so scores can't be normalized",
            hint="remove normalize, or fuse scores with combsum or combmnz",
            code="bad_parameter",
        )
    return scale


def _read_parameter(method: FusionMethod, given: Mapping[str, object]) -> float:
    for name, value in given.items():
        if value is None or name == method.parameter:
            continue
        owner = {"k": "rrf", "p": "rbc", "sigma": "log_isr"}[name]
        raise UsageError(
            f"{name} is a parameter of {owner}, found it with {method.name}",
            hint=f"remove {name}" + ("; to keep the first documents, set depth" * (name == "k")),
            code="bad_parameter",
        )
    value = given.get(method.parameter) if method.parameter else None
    if value is None:
        return method.default
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {"k": lambda x: x >= 0, "p": lambda x: 0 < x < 1, "sigma": lambda x: x >= 0}
    if not is_number or not math.isfinite(value) or not fits[method.parameter](value):  # type: ignore[arg-type]  # it is a number
        range_of = "between 0 and 1, both excluded" if method.parameter == "p" else "of 0 or more"
        raise UsageError(
            f"expected {method.parameter} as a number {range_of}, found {quote(value)}",
            hint=f"the default is {method.default:g}",
            code="bad_parameter",
        )
    return float(value)  # type: ignore[arg-type]  # as above


def read_weights(method: FusionMethod, given: object, names: Sequence[str]) -> list[float]:
    """Return the weight of each run."""
    if given is None:
        return [1.0] * len(names)
    if not method.takes_weights:
        raise no_weights(method)
    weights: list[object]
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        missing = [name for name in names if name not in given]
        if unknown or missing:
            wrong = (
                f"no run is called {quote(unknown[0])}"
                if unknown
                else (f"there is none for {quote(missing[0])}")
            )
            raise UsageError(
                f"expected a weight for each run, but {wrong}",
                hint=f"the runs are {', '.join(map(quote, names))}",
                code="bad_parameter",
            )
        weights = [given[name] for name in names]
    else:
        weights = list(given) if hasattr(given, "__iter__") and not isinstance(given, str) else []
    if len(weights) != len(names):
        raise UsageError(
            f"expected {len(names)} weights, one for each run, found {len(weights)}",
            hint="write weights=[0.3, 0.7]",
            code="bad_parameter",
        )
    for weight in weights:
        is_number = hasattr(weight, "__float__") and not isinstance(weight, bool | str)
        if not is_number or not 0 <= float(weight) < math.inf:  # type: ignore[arg-type]  # it is a number
            raise UsageError(
                f"expected weights of 0 or more, found {quote(weight)}",
                hint="weights don't have to add up to 1",
                code="bad_parameter",
            )
    numbers = [float(weight) for weight in weights]  # type: ignore[arg-type]  # as above
    if not any(numbers):
        raise UsageError(
            "expected a weight above 0, found none",
            hint="give at least one run a weight",
            code="bad_parameter",
        )
    return numbers


def no_weights(method: FusionMethod) -> UsageError:
    """Return the error for weights of a method that takes none."""
    return UsageError(
        f"{method.name} doesn't take weights",
        hint="weights need a method that adds up, such as combsum, combmnz, rrf or borda",
        code="bad_parameter",
    )


def _read_depth(given: object) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise UsageError(
            f"expected depth as an integer of 1 or more, found {quote(given)}",
            hint="write depth=1000",
            code="bad_parameter",
        )
    return min(given, sys.maxsize)

"""The methods that fuse runs, the scales of scores, and the choices of a fusion."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rankscope._evaluate.query_values import bad_parameter
from rankscope._names import check_choice, find_closest, fold, is_real, quote
from rankscope.errors import UsageError

Settings: TypeAlias = tuple[tuple[str, float], str, Sequence[float], str, int | None]
Scale: TypeAlias = Literal["none", "min_max", "max", "sum", "zmuv", "rank", "borda"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionMethod:
    """A method that fuses runs: by ranks alone, or by scores, which are scaled first."""

    name: str
    is_of_ranks: bool = False
    takes_weights: bool = True
    parameter: str = ""  # the name of its parameter; empty if it has none
    default: float = 0.0  # the default value of the parameter


METHODS: Mapping[str, FusionMethod] = {
    method.name: method
    for method in (
        FusionMethod(name="rrf", is_of_ranks=True, parameter="k", default=60.0),
        FusionMethod(name="combsum"),
        FusionMethod(name="combmnz"),
        FusionMethod(name="combanz", takes_weights=False),
        FusionMethod(name="combmed", takes_weights=False),
        FusionMethod(name="combmax", takes_weights=False),
        FusionMethod(name="combmin", takes_weights=False),
        FusionMethod(name="isr", is_of_ranks=True),
        FusionMethod(name="log_isr", is_of_ranks=True, parameter="sigma"),
        FusionMethod(name="rbc", is_of_ranks=True, parameter="p", default=0.8),
        FusionMethod(name="borda", is_of_ranks=True),
        FusionMethod(name="condorcet", is_of_ranks=True),
    )
}


ALIASES = {
    alias: method
    for method, aliases in {
        "rrf": ("reciprocal_rank_fusion", "reciprocal_rank", "reciprocal", "ranked_fusion"),
        "combsum": (
            *("sum", "wsum", "weighted_sum", "linear", "linear_combination"),
            "relative_score_fusion",
        ),
        "combmnz": ("mnz",),
        "combanz": ("anz",),
        "combmed": ("med", "median"),
        "combmax": ("max",),
        "combmin": ("min",),
        "log_isr": ("logn_isr",),
        "rbc": ("rank_biased_centroid", "rank_biased_precision_fusion"),
        "borda": ("bordafuse", "borda_count", "weighted_bordafuse", "w_bordafuse"),
        "condorcet": ("condorcet_fuse", "weighted_condorcet", "w_condorcet"),
    }.items()
    for alias in aliases
}
"""Other names of methods, such as those of ranx."""


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

SCALES = ("none", "min_max", "max", "sum", "zmuv", "rank", "borda")
DEFAULT_SCALE = "min_max"
SCALE_ALIASES = {"z_score": "zmuv", "z_norm": "zmuv", "standard": "zmuv"}
"""Other names of scales."""
TIES = ("doc_id", "doc_id_asc", "input")


def find_method(name: object) -> FusionMethod:
    """Return a method by its name, as rankscope, the literature or ranx write it.

    Examples:
        >>> find_method("CombMNZ").name, find_method("bordafuse").name
        ('combmnz', 'borda')
    """
    return METHODS[_find("a method of fusion", name, {name: name for name in METHODS} | ALIASES)]


def find_scale(name: object) -> str:
    """Return a scale by its name, as rankscope or another tool writes it.

    Examples:
        >>> find_scale("min-max"), find_scale("zscore")
        ('min_max', 'zmuv')
    """
    return _find(
        "normalize as a scale of scores", name, {name: name for name in SCALES} | SCALE_ALIASES
    )


def _find(what: str, name: object, names: Mapping[str, str]) -> str:
    """Return what a name stands for, in any spelling."""
    folded = fold(name) if isinstance(name, str) else ""
    for spelling, stands_for in names.items():
        if fold(spelling) == folded:
            return stands_for
    closest = find_closest(name, names)
    hint = (
        f"did you mean {closest}?"
        if closest
        else f"one of: {', '.join(dict.fromkeys(names.values()))}"
    )
    raise UsageError(
        f"expected {what}, found {quote(name)}",
        hint=REFUSED.get(folded, hint),
        code="unknown_fusion",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionChoices:
    """How runs are fused, all but their weights."""

    method: FusionMethod
    parameter: float
    scale: str  # empty for a method that goes by ranks
    ties: str
    depth: int | None  # the number of documents to keep for each query, `None` for all

    def settings(self, weights: Sequence[float]) -> Settings:
        """Return what the core takes."""
        method = (self.method.name, self.parameter)
        return method, self.scale or "none", weights, self.ties, self.depth


def read_choices(
    method: str,
    normalize: str | None,
    parameters: Mapping[str, float | None],
    ties: str,
    depth: object,
) -> FusionChoices:
    """Read how runs are fused, as the arguments of `rankscope.fuse` say."""
    chosen = find_method(method)
    check_choice("ties", ties, TIES)
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 1):
        raise bad_parameter(
            f"expected depth as an integer of 1 or more, found {quote(depth)}", "write depth=1000"
        )
    return FusionChoices(
        method=chosen,
        parameter=_read_parameter(chosen, parameters),
        scale=_read_scale(chosen, normalize),
        ties=ties,
        depth=None if depth is None else min(depth, sys.maxsize),
    )


def _read_scale(method: FusionMethod, name: str | None) -> str:
    if name is None:
        return "" if method.is_of_ranks else DEFAULT_SCALE
    scale = find_scale(name)
    if method.is_of_ranks:
        raise bad_parameter(
            f"{method.name} goes by ranks, so scores can't be normalized",
            "remove normalize, or fuse scores with combsum or combmnz",
        )
    return scale


def _read_parameter(method: FusionMethod, parameters: Mapping[str, float | None]) -> float:
    for name, value in parameters.items():
        if value is not None and name != method.parameter:
            owner = next(other.name for other in METHODS.values() if other.parameter == name)
            only_first = "; to keep the first documents, set depth" if name == "k" else ""
            raise bad_parameter(
                f"{name} is a parameter of {owner}, found it with {method.name}",
                f"remove {name}{only_first}",
            )
    value = parameters.get(method.parameter)
    if value is None:
        return method.default
    is_share = method.parameter == "p"
    if not is_real(value) or not (0 < value < 1 if is_share else 0 <= value < math.inf):
        allowed = "between 0 and 1, both excluded" if is_share else "of 0 or more"
        raise bad_parameter(
            f"expected {method.parameter} as a number {allowed}, found {quote(value)}",
            f"the default is {method.default:g}",
        )
    return float(value)


def read_weights(
    method: FusionMethod,
    weights: Sequence[float] | Mapping[str, float] | None,
    names: Sequence[str],
) -> list[float]:
    """Return the weight of each run."""
    if weights is None:
        return [1.0] * len(names)
    check_weighted(method)
    if isinstance(weights, Mapping):
        wrong = [f"no run is called {quote(name)}" for name in weights if name not in names]
        wrong += [f"there is none for {quote(name)}" for name in names if name not in weights]
        if wrong:
            raise bad_parameter(
                f"expected a weight for each run, but {wrong[0]}",
                f"the runs are {', '.join(map(quote, names))}",
            )
        weights = [weights[name] for name in names]
    is_list = hasattr(weights, "__iter__") and not isinstance(weights, str)
    listed = list(weights) if is_list else []
    if len(listed) != len(names):
        raise bad_parameter(
            f"expected {len(names)} weights, one for each run, found {len(listed)}",
            "write weights=[0.3, 0.7], or --weights 0.3,0.7",
        )
    for weight in listed:
        is_number = hasattr(weight, "__float__") and not isinstance(weight, bool)
        if not is_number or not 0 <= float(weight) < math.inf:
            raise bad_parameter(
                f"expected weights of 0 or more, found {quote(weight)}",
                "weights don't have to add up to 1",
            )
    if not any(listed):
        raise bad_parameter(
            "expected a weight above 0, found none", "give at least one run a weight"
        )
    return [float(weight) for weight in listed]


def check_weighted(method: FusionMethod) -> None:
    """Raise an error unless runs can have weights."""
    if not method.takes_weights:
        raise bad_parameter(
            f"{method.name} doesn't take weights",
            "weights need a method that adds up, such as combsum, combmnz, rrf or borda",
        )

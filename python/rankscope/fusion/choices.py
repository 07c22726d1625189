"""The choices of a fusion: the method with its parameter, the scale, weights, ties and depth."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankscope.errors import UsageError
from rankscope.fusion.settings import DEFAULT_SCALE, find_method, find_scale
from rankscope.names import quote
from rankscope.records import record
from rankscope.settings.policy import check_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.engine.fusing import Settings
    from rankscope.fusion.settings import FusionMethod

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
    return given

"""The measures of pytrec_eval and its nicknames for them, and means of their values."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankscope.deferred import np
from rankscope.errors import InputTypeError, MeasureError
from rankscope.measures import parse
from rankscope.measures.compat import name_in
from rankscope.names import find_closest, quote
from rankscope.trec_eval.catalog import NICKNAMES, entries_of
from rankscope.trec_eval.requests import read_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.trec_eval.requests import Requested

_ENTRIES = entries_of("9")

supported_nicknames = {
    nickname: {name for name in names if name in _ENTRIES} for nickname, names in NICKNAMES.items()
}
"""The measures that each nickname stands for."""

supported_measures = set(supported_nicknames["all_trec"])
"""The measures, without the nicknames."""

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_WRITTEN = re.compile(
    rf"({'|'.join(map(re.escape, sorted(supported_measures)))})[._]({_NUMBER}(?:,{_NUMBER})*)"
)
"""A measure with parameters: `P_5`, `P.5` or `P_5,10`."""


def read_names(measures: Iterable[str]) -> list[Requested]:
    """Return measures by their names, in the order in which trec_eval prints them."""
    given = [measures] if isinstance(measures, str) else measures
    if not isinstance(given, Iterable):
        raise _no_name(measures)
    # Parameters of all spellings count together, and replace the default ones.
    parameters: dict[str, set[str]] = {}
    for measure in given:
        if not isinstance(measure, str):
            raise _no_name(measure)
        for name in sorted(supported_nicknames.get(measure, {measure})):
            base, written = _split(name)
            parameters.setdefault(base, set()).update(written)
    return [
        read_parameters(entry, ",".join(sorted(parameters[name])))
        for name, entry in _ENTRIES.items()
        if name in parameters
    ]


def _split(name: str) -> tuple[str, list[str]]:
    """Return the name of a measure, and its parameters."""
    if name in supported_measures:
        return name, []
    found = _WRITTEN.fullmatch(name)
    if found is None:
        raise MeasureError(
            f"unsupported measure {quote(name)}", hint=_find_hint(name), code="unknown_measure"
        )
    # pytrec_eval sorts the four numbers of utility.
    if _ENTRIES[found[1]].takes == "pairs" or found[1] == "utility":
        raise MeasureError(
            f"{found[1]} takes no parameters, found {quote(name)}",
            hint=f"write {'ndcg_cut_' + found[2] if found[1] == 'ndcg' else found[1]}",
            code="bad_parameter",
        )
    return found[1], found[2].split(",")


def _find_hint(name: str) -> str:
    try:
        theirs = name_in(parse(name), "trec_eval") or ""
    except MeasureError:
        closest = find_closest(name, [*supported_measures, *supported_nicknames])
        listed = "supported_measures and supported_nicknames list the names"
        return f"did you mean {closest}?" if closest else listed
    if theirs in supported_measures or _WRITTEN.fullmatch(theirs):
        return f"write {theirs}"
    return "pytrec_eval doesn't have it, but rankscope.evaluate does"


def _no_name(found: object) -> InputTypeError:
    return InputTypeError(
        f"expected the names of measures, found {type(found).__name__}",
        hint='write {"map", "ndcg_cut_10"}',
        code="input_type",
        file="measures",
    )


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Return the value of all queries: a sum for counts, otherwise a mean.

    Args:
        measure: The name. Values of `num_` measures are added up; those of `gm_` measures are
            logarithms, so that their geometric mean is computed.
        values: The values of the queries.

    Examples:
        >>> compute_aggregated_measure("map", [0.5, 1.0])
        0.75
        >>> compute_aggregated_measure("num_ret", [10.0, 20.0])
        30.0
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))

"""The measures of pytrec_eval and its nicknames for them, and means of their values."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankscope.deferred import np
from rankscope.errors import MeasureError
from rankscope.names import quote
from rankscope.pytrec_eval.checks import wrong_type
from rankscope.trec_eval.catalog import NICKNAMES, entries_of
from rankscope.trec_eval.requests import find_hint, read_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.trec_eval.requests import Requested

HINT = 'write {"map", "ndcg_cut_10"}'
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
        raise wrong_type("measures", "the names of measures", measures, HINT)
    # Parameters of all spellings count together, and replace the default ones.
    parameters: dict[str, set[str]] = {}
    for measure in given:
        if not isinstance(measure, str):
            raise wrong_type("measures", "the names of measures", measure, HINT)
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
        hint = find_hint(
            name,
            [*supported_measures, *supported_nicknames],
            listed="supported_measures and supported_nicknames list the names",
            lacking="pytrec_eval doesn't have it, but rankscope.evaluate does",
        )
        raise MeasureError(f"unsupported measure {quote(name)}", hint=hint, code="unknown_measure")
    # pytrec_eval sorts the four numbers of utility.
    if _ENTRIES[found[1]].takes == "pairs" or found[1] == "utility":
        raise MeasureError(
            f"{found[1]} takes no parameters, found {quote(name)}",
            hint=f"write {'ndcg_cut_' + found[2] if found[1] == 'ndcg' else found[1]}",
            code="bad_parameter",
        )
    return found[1], found[2].split(",")


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

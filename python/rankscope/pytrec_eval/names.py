"""Refuses what pytrec_eval refuses: other types than it takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import index

import numpy as np

from rankscope._names import quote
from rankscope._trec_eval.requests import (
    NICKNAMES,
    Requested,
    entries_of,
    find_hint,
    read_parameters,
)
from rankscope.errors import InputTypeError, MeasureError


def check_grades(grades: object) -> None:
    """Raise an error unless these are dictionaries of whole numbers by query and document."""
    hint = "rankscope.evaluate also takes decimal grades, and numbers of NumPy"
    _check(grades, "query_relevance", int, "a whole number", hint)


def check_scores(scores: object) -> None:
    """Raise an error unless these are dictionaries of numbers by query and document."""
    _check(scores, "scores", (float, int), "a float or an int", "float() makes one of a number")


def _check(
    queries: object, name: str, numbers: type | tuple[type, ...], expected: str, hint: str
) -> None:
    if not isinstance(queries, Mapping):
        raise wrong_type(name, "a dictionary of dictionaries by query", queries)
    _check_ids(queries, name, "queries")
    for query, documents in queries.items():
        place = f"{name}[{query!r}]"
        if not isinstance(documents, dict):
            raise wrong_type(place, "a dictionary by document", documents)
        _check_ids(documents, place, "documents")
        if not _are(documents.values(), numbers):
            for document, number in documents.items():
                if not isinstance(number, numbers):
                    raise wrong_type(f"{place}[{document!r}]", expected, number, hint)


def _check_ids(ids: Iterable[object], place: str, what: str) -> None:
    if not _are(ids, str):
        [wrong, *_] = (id_ for id_ in ids if not isinstance(id_, str))
        raise wrong_type(place, f"IDs of {what} as text", wrong, "str() makes text of an ID")


def _are(values: Iterable[object], kinds: type | tuple[type, ...]) -> bool:
    """Check whether all values are of these types, of which there are few."""
    return all(issubclass(kind, kinds) for kind in set(map(type, values)))


def read_whole(number: object, name: str) -> int:
    """Return a whole number, which can be of another library."""
    try:
        return index(number)  # type: ignore[arg-type]  # others are errors
    except TypeError:
        raise wrong_type(name, "a whole number", number, "remove the decimal point") from None


def read_level(relevance_level: object) -> int:
    """Return the lowest relevant grade."""
    level = read_whole(relevance_level, "relevance_level")
    if level < 1:
        raise InputTypeError(
            f"expected 1 or more, found {level}",
            hint="grade 0 means that a document isn't relevant",
            code="bad_parameter",
            file="relevance_level",
        )
    return level


def wrong_type(
    place: str, expected: str, found: object, hint: str = 'write {"q1": {"d1": 1}}'
) -> InputTypeError:
    """Return the error for an argument of another type."""
    return InputTypeError(
        f"expected {expected}, found {type(found).__name__}",
        hint=hint,
        code="input_type",
        file=place,
    )


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


def read_names(measures: object) -> list[Requested]:
    """Return measures by their names, in the order in which trec_eval prints them."""
    names = [measures] if isinstance(measures, str) else measures
    listed = [*names] if isinstance(names, Iterable) else [names]
    # Parameters of all spellings count together, and replace the default ones.
    parameters: dict[str, set[str]] = {}
    for measure in listed:
        if not isinstance(measure, str):
            hint = 'write {"map", "ndcg_cut_10"}'
            raise wrong_type("measures", "the names of measures", measure, hint)
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
    parts = _WRITTEN.fullmatch(name)
    if parts is None:
        hint = find_hint(
            name,
            [*supported_measures, *supported_nicknames],
            listed="supported_measures and supported_nicknames list the names",
            lacking="pytrec_eval doesn't have it, but rankscope.evaluate does",
        )
        raise MeasureError(f"unsupported measure {quote(name)}", hint=hint, code="unknown_measure")
    # pytrec_eval sorts the four numbers of utility.
    base, parameters = parts.groups()
    if _ENTRIES[base].takes == "pairs" or base == "utility":
        raise MeasureError(
            f"{base} takes no parameters, found {quote(name)}",
            hint=f"write {'ndcg_cut_' + parameters if base == 'ndcg' else base}",
            code="bad_parameter",
        )
    return base, parameters.split(",")


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

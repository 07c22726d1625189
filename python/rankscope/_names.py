"""What a user wrote: how errors quote it, and which known name was meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields
from functools import wraps
from itertools import islice
from reprlib import Repr
from typing import Any, TypeVar

from rankscope.errors import ArgumentError, PolicyError

Named = TypeVar("Named", bound=Callable[..., object])

LONGEST_QUOTE = 120
LONGEST_NAME = 100
"""Longer text is no misspelled name. The time to compare two names grows with the product of their
lengths."""
MOST_NAMES = 1000
"""How many known names a misspelled one is compared with."""

_SHORTENED = Repr()
_SHORTENED.maxdict = _SHORTENED.maxlist = _SHORTENED.maxtuple = LONGEST_QUOTE
_SHORTENED.maxset = _SHORTENED.maxfrozenset = _SHORTENED.maxdeque = LONGEST_QUOTE
_SHORTENED.maxarray = _SHORTENED.maxlong = LONGEST_QUOTE
_SHORTENED.maxother = _SHORTENED.maxstring = 2 * LONGEST_QUOTE


def quote(value: object) -> str:
    """Write a value for an error message, shortened if it is long.

    Examples:
        >>> quote("nDGC"), quote([[1]])
        ("'nDGC'", '[[1]]')
        >>> len(quote("x" * 1_000_000))
        121
    """
    try:
        is_text = isinstance(value, str)
        text = repr(value[: LONGEST_QUOTE + 1]) if is_text else _SHORTENED.repr(value)  # type: ignore[index]  # a str
    except ValueError:  # Python refuses to print integers of thousands of digits
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def fold(name: str) -> str:
    """Return what the spellings of one name share: case, underscores, hyphens and blanks differ.

    Examples:
        >>> fold("Query-ID") == fold("query_id"), fold("-1") == fold("1")
        (True, False)
    """
    text = name.strip().casefold()
    return text[:1] + text[1:].replace("_", "").replace("-", "").replace(" ", "")


def find_closest(name: object, names: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """Find the name that a misspelled one was probably meant to be.

    Examples:
        >>> find_closest("lightgmb", ["catboost", "lightgbm"])
        'lightgbm'
        >>> find_closest("x" * 60_000, ["x"]) is None
        True
    """
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        return None
    from difflib import get_close_matches

    short = [other for other in islice(names, MOST_NAMES) if len(other) <= LONGEST_NAME]
    return next(iter(get_close_matches(name, short, n=1, cutoff=likeness)), None)


def check_choice(
    name: str, value: object, choices: Collection[str], others: str = "", hint: str = ""
) -> None:
    """Raise an error unless a value is one of the choices.

    The hint names the first of them as the default, unless another hint is given.
    """
    if isinstance(value, str) and value in choices:
        return
    if closest := find_closest(value, choices):
        hint = f"did you mean {closest}?"
    listed = ", ".join([*choices, *([others] if others else [])])
    raise PolicyError(
        f"expected {name} to be one of {listed}; found {quote(value)}",
        hint=hint or f"{next(iter(choices))} is the default",
        code="bad_policy",
    )


def is_real(value: object) -> bool:
    """Whether a value is a number; `True` and `False` are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_dict(record: object) -> dict[str, Any]:
    """Return the fields of a dataclass by name; `dataclasses.asdict` would copy what they hold."""
    return {field.name: getattr(record, field.name) for field in fields(record)}  # type: ignore[arg-type]  # a dataclass


MEANT = {
    "alpha": "interval",
    "ci": "interval",
    "gold": "judgments",
    "k": "measures",
    "metric": "measures",
    "metrics": "measures",
    "qid": "query",
    "qrels": "judgments",
    "references": "judgments",
    "rel": "measures",
    "relevance_level": "measures",
    "sample_weight": "weights",
}
"""What other libraries call an argument."""
IN_MEASURES = {
    "k": "write the cutoff in the measure: 'nDCG@10'",
    "rel": "write the relevance level in the measure: 'AP(rel=2)'",
    "relevance_level": "write the relevance level in the measure: 'AP(rel=2)'",
}
"""What stands in the name of a measure."""
POLICIES = ("ties", "empty", "missing", "unjudged", "unretrieved", "negative", "aggregate")
POSITIONAL = r"takes .*positional arguments? but \d+ (was|were) given$"
UNEXPECTED = r"got an unexpected keyword argument '(\w+)'$"


def refuse_argument(function: str, name: str, names: Iterable[str]) -> ArgumentError:
    """Return the error for an argument that a function does not have."""
    names = tuple(dict.fromkeys(names))
    meant = MEANT.get(name)
    meant = meant if meant in names else find_closest(name, names, likeness=0.7)
    hint = f"did you mean {meant!r}?" if meant else f"its arguments are {', '.join(names)}"
    if name in POLICIES and "policy" in names:
        hint = f"write policy='{name}=…'"
    elif name in IN_MEASURES and meant == "measures":
        hint = IN_MEASURES[name]
    message = f"{function}() got an unexpected keyword argument {name!r}"
    error = ArgumentError(message, hint=hint, code="unknown_argument")
    error.argument, error.names = name, names
    return error


def hint_arguments(function: Named) -> Named:
    """Return a function whose error for an unknown argument names the nearest one."""

    @wraps(function)
    def call(*args: object, **keywords: object) -> object:
        if len(args) == 2 and "runs" in keywords and "measures" not in keywords:
            # `compare(table, "nDCG@10", runs="model")`, as `evaluate` takes it.
            table, measures = args
            args, keywords = (table,), keywords | {"measures": measures}
        try:
            return function(*args, **keywords)
        except TypeError as error:
            refusal = _refuse_call(function, keywords, error)
            if refusal is None:
                raise
            raise refusal from None

    return call  # type: ignore[return-value]  # it has the signature of the function


def _refuse_call(
    function: Callable[..., object], keywords: Collection[str], error: TypeError
) -> ArgumentError | None:
    """Return an error that says what to write; `None` if the error isn't about the call itself."""
    from inspect import Parameter, signature

    parameters = signature(function).parameters.values()
    names = [of.name for of in parameters if of.kind != Parameter.VAR_KEYWORD]
    message, others = str(error), tuple[str, ...]()
    # An error of the call itself has no frame of the function.
    is_of_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
    if is_of_call and re.search(POSITIONAL, message):
        kinds = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        written = ", ".join(f"{of.name}=" for of in parameters if of.kind in kinds)
        hint = f"write the names of arguments: {written}"
        return ArgumentError(message, hint=hint, code="unknown_argument")
    unexpected = re.search(UNEXPECTED, message)
    if isinstance(error, ArgumentError):
        name, others = error.argument, tuple(error.names)
    elif unexpected is not None and is_of_call:
        name = unexpected[1]
    else:
        return None
    if name not in keywords or name in names:
        return None
    return refuse_argument(function.__qualname__, name, (*names, *others))

"""Name the nearest argument to one that a function doesn't have."""

from __future__ import annotations

import re

from rankscope.errors import ArgumentError
from rankscope.names import find_closest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Named = TypeVar("Named", bound=Callable[..., object])

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
POSITIONAL = re.compile(r"takes .*positional arguments? but \d+ (was|were) given$")
UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'$")


def refuse_argument(function: str, name: str, names: Iterable[str]) -> ArgumentError:
    """Return the error for an argument that a function does not have."""
    known = tuple(dict.fromkeys(names))
    meant = MEANT.get(name)
    meant = meant if meant in known else find_closest(name, known, likeness=0.7)
    hint = f"did you mean {meant!r}?" if meant else f"its arguments are {', '.join(known)}"
    if name in POLICIES and "policy" in known:
        hint = f"write policy='{name}=…'"
    elif name in IN_MEASURES and meant == "measures":
        hint = IN_MEASURES[name]
    message = f"{function}() got an unexpected keyword argument {name!r}"
    error = ArgumentError(message, hint=hint, code="unknown_argument")
    error.argument, error.names = name, known
    return error


def hint_arguments(function: Named) -> Named:
    """Return a function whose error for an unknown argument names the nearest one."""
    from functools import wraps  # noqa: PLC0415 - loads with the first function

    @wraps(function)
    def call(*args: object, **given: object) -> object:
        if len(args) == 2 and "runs" in given and "measures" not in given:
            # `compare(table, "nDCG@10", runs="model")`, as `evaluate` takes it.
            table, measures = args
            args, given = (table,), given | {"measures": measures}
        try:
            return function(*args, **given)
        except TypeError as error:
            said = UNEXPECTED.search(str(error))
            # An error of the call itself has no frame of the function.
            is_of_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
            from inspect import Parameter, signature  # noqa: PLC0415 - only errors need it

            own = signature(function).parameters.values()
            if is_of_call and POSITIONAL.search(str(error)):
                kinds = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
                written = ", ".join(f"{each.name}=" for each in own if each.kind in kinds)
                hint = f"write the names of arguments: {written}"
                raise ArgumentError(str(error), hint=hint, code="unknown_argument") from None
            if isinstance(error, ArgumentError):
                name, others = error.argument, error.names
            elif said is not None and is_of_call:
                name, others = said[1], ()
            else:
                raise
            names = [each.name for each in own if each.kind != Parameter.VAR_KEYWORD]
            if name not in given or name in names:
                raise
            raise refuse_argument(function.__qualname__, name, (*names, *others)) from None

    return call  # type: ignore[return-value]  # it has the signature of the function

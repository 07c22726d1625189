"""Name the nearest argument to one that a function doesn't have."""

from __future__ import annotations

import re

from rankscope.errors import ArgumentError
from rankscope.names import find_closest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'$")


def refuse_argument(function: str, name: str, names: Iterable[str]) -> ArgumentError:
    """Return the error for an argument that a function does not have."""
    known = tuple(dict.fromkeys(names))
    meant = find_closest(name, known)
    hint = f"did you mean {meant!r}?" if meant else f"its arguments are {', '.join(known)}"
    message = f"{function}() got an unexpected keyword argument {name!r}"
    error = ArgumentError(message, hint=hint, code="unknown_argument")
    error.argument, error.names = name, known
    return error


def hint_arguments(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function whose error for an unknown argument names the nearest one."""
    from functools import wraps  # noqa: PLC0415 - loads with the first function

    @wraps(function)
    def call(*args: object, **given: object) -> object:
        try:
            return function(*args, **given)
        except TypeError as error:
            said = UNEXPECTED.search(str(error))
            # An error of the call itself has no frame of the function.
            is_of_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
            if isinstance(error, ArgumentError):
                name, others = error.argument, error.names
            elif said is not None and is_of_call:
                name, others = said[1], ()
            else:
                raise
            from inspect import Parameter, signature  # noqa: PLC0415 - only errors need it

            own = signature(function).parameters.values()
            names = [each.name for each in own if each.kind != Parameter.VAR_KEYWORD]
            if name not in given or name in names:
                raise
            raise refuse_argument(function.__qualname__, name, (*names, *others)) from None

    return call

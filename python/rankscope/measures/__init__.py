"""Measures: their table, the object of each, their names as text, and measures of one's own."""

from __future__ import annotations

from rankscope._lazy import attach_stub
from rankscope.measures import objects
from rankscope.measures.objects import *  # noqa: F403 - every public name is a measure
from rankscope.measures.parse import parse as parse
from rankscope.measures.spec import Example as Example
from rankscope.measures.spec import Measure as Measure
from rankscope.measures.spec import Name as Name
from rankscope.measures.spec import Parameter as Parameter
from rankscope.measures.spec import Row as Row
from rankscope.measures.table import TABLE as TABLE

OBJECTS = {name: value for name, value in vars(objects).items() if isinstance(value, Measure)}
"""The object of each measure, by its name."""

# What the stub has besides needs NumPy, which the evaluation of files does not.
__getattr__, _, _names = attach_stub(__name__, __file__)
__all__ = [*_names, *OBJECTS, "OBJECTS"]  # noqa: PLE0604 - all are text


def __dir__() -> list[str]:
    return __all__

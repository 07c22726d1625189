"""Measures: their table, and the objects and names derived from it."""

from __future__ import annotations

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

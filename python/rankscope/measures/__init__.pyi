"""Measures: their table, the object of each, their names as text, and measures of one's own."""

from rankscope._discounts import tabulate_discounts as tabulate_discounts
from rankscope.measures.function import RankedLists as RankedLists
from rankscope.measures.function import measure as measure
from rankscope.measures.objects import *  # noqa: F403 - the measures
from rankscope.measures.parse import parse as parse
from rankscope.measures.spec import Example as Example
from rankscope.measures.spec import Measure as Measure
from rankscope.measures.spec import Name as Name
from rankscope.measures.spec import Parameter as Parameter
from rankscope.measures.spec import Row as Row
from rankscope.measures.table import TABLE as TABLE

OBJECTS: dict[str, Measure]
__all__: list[str]  # noqa: PYI035 - the names above, and those of the measures

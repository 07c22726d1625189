"""The comparison of runs, and its tables for terminals, reviews and papers."""

from __future__ import annotations

from rankscope.results.comparison.comparison import Compared as Compared
from rankscope.results.comparison.comparison import Comparison as Comparison
from rankscope.results.comparison.comparison import Settings as Settings
from rankscope.results.comparison.comparison import SliceAttribute as SliceAttribute

"""Conventions: how each library computes its numbers, and how to reproduce them."""

from __future__ import annotations

from rankscope.conventions.adapt import Adapted as Adapted
from rankscope.conventions.adapt import adapt as adapt
from rankscope.conventions.find import find as find
from rankscope.conventions.spec import Convention as Convention
from rankscope.conventions.spec import Form as Form
from rankscope.conventions.spec import Limit as Limit
from rankscope.conventions.spec import Option as Option
from rankscope.conventions.table import TABLE as TABLE

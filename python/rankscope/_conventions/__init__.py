"""Conventions: how each library computes its numbers, and how to reproduce them."""

from __future__ import annotations

from rankscope._conventions.adapt import Adapted as Adapted
from rankscope._conventions.adapt import adapt as adapt
from rankscope._conventions.spec import Convention as Convention
from rankscope._conventions.spec import Form as Form
from rankscope._conventions.spec import Limit as Limit
from rankscope._conventions.spec import Option as Option
from rankscope._conventions.table import TABLE as TABLE
from rankscope._conventions.table import find as find

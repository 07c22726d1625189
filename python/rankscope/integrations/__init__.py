"""Rankscope inside other libraries, one module for each.

Each module is imported by its own name and loads its library only when it is used, so that
`import rankscope.integrations` needs none of them.
"""

from __future__ import annotations

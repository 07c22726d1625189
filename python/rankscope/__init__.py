"""Rankscope: how good are ranked lists, and why.

Examples:
    >>> import rankscope as rs
    >>> from rankscope import AP, nDCG
    >>> qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}}
    >>> run = {"q1": {"d2": 0.9, "d1": 0.8, "d3": 0.7}}
    >>> rs.evaluate(qrels, run, [nDCG @ 10, AP])["nDCG@10"]
    0.6696...
"""

from __future__ import annotations

from rankscope._core import __version__ as __version__
from rankscope._lazy import attach_stub

_HOMES = ("errors", "measures", "correlation", "judges", "clicks", "sql")
"""The modules in which a name is looked for that isn't at the top."""

_get, __dir__, __all__ = attach_stub(__name__, __file__, _HOMES)


def __getattr__(name: str) -> object:
    """Return what a name stands for: a measure, or one of the stub."""
    if name[:1] != "_" and name not in __all__:
        from rankscope.measures import OBJECTS

        if name in OBJECTS:
            globals()[name] = OBJECTS[name]
            return OBJECTS[name]
    return _get(name)

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
from rankscope.deferred import defer
from rankscope.measures import OBJECTS as _MEASURES
from rankscope.measures.objects import *  # noqa: F403 - the measures

__getattr__, _list_names, _names = defer(
    __name__,
    __file__,
    functions=("agreement", "bounds", "losses"),
    hints={
        "read_run": "pass the path of the run, such as evaluate(qrels, 'bm25.run', 'nDCG@10'), or "
        "hold it with Rankings.from_run(qrels, 'bm25.run')"
    },
)
__all__ = [*_names, *_MEASURES]  # noqa: PLE0604 - they are strings


_MADE = {"Budget", "File", "Interval", "Measure", "Policy", "Rankings"}
"""The classes that a caller makes; the others are those of results."""


def __dir__() -> list[str]:
    """List what completion shows: functions, what they take, and modules.

    Measures and errors have modules of their own, and classes of results are for annotations.
    """
    names = [name for name in _list_names() if name not in _MEASURES]
    return [name for name in names if not name[:1].isupper() or name in _MADE]

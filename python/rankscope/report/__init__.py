"""The report: values of runs on one page, what they are made of, and how to reproduce them."""

from __future__ import annotations

TYPE_CHECKING: bool = False  # jedi would not look into a branch that is never taken
if TYPE_CHECKING:
    from rankscope.report.report import Report as Report
else:
    from rankscope.deferred import defer as _defer

    __getattr__, __dir__ = _defer(
        __name__,
        {
            "Report": "rankscope.report.report",
        },
    )

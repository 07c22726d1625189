"""What an evaluation is asked for and what it reports, besides numbers."""

from __future__ import annotations

from rankscope.data.diagnostics import Diagnostic as Diagnostic
from rankscope.data.interval import Interval as Interval
from rankscope.data.policy import Policy as Policy

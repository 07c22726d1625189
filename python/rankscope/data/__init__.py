"""The settings of an evaluation, and the notes it reports."""

from __future__ import annotations

from rankscope.data.diagnostics import Diagnostic as Diagnostic
from rankscope.data.interval import Interval as Interval
from rankscope.data.policy import Policy as Policy

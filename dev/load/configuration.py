"""The configuration of the generated log, for the service and for the check of its values."""

from __future__ import annotations

from rankscope.measures import nDCG
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import SECOND

from dev.load.searches import WEIGHTS, WINDOW

PROJECT = "default"
MEASURES = (nDCG @ 1, nDCG @ 5, nDCG @ 10)
CONFIGURATION = Configuration(
    definition=define(measures=MEASURES, positive=WEIGHTS, window=WINDOW // SECOND),
    attributes=("country", "device"),
    baseline=None,
)

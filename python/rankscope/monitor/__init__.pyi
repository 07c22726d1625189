"""The names of the monitor. Each is imported when it is first used."""

from rankscope.monitor.ask.trace import Span as Span
from rankscope.monitor.client.client import Client as Client
from rankscope.monitor.definition.calendar import Calendar as Calendar
from rankscope.monitor.definition.calendar import Period as Period
from rankscope.monitor.definition.configuration import BaselineChoice as BaselineChoice
from rankscope.monitor.definition.configuration import Configuration as Configuration
from rankscope.monitor.definition.definition import define as define
from rankscope.monitor.monitor import Monitor as Monitor
from rankscope.monitor.rules.kinds import Rule as Rule

__all__: list[str]  # noqa: PYI035 - the names above

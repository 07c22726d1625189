"""Tells the log of alerts: one line each, in ASCII, without anything that moves a cursor."""

from __future__ import annotations

import json

from rankscope.monitor.alerts.delivery import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class LogChannel:
    """Tells the log.

    Args:
        write: Takes what happened and its fields, such as `Journal.write`, which escapes all that
            is not printable.
    """

    def __init__(self, write: Callable[[str, Mapping[str, object]], object]) -> None:
        self._write = write

    def deliver(self, body: str) -> Outcome:
        """Write a notification.

        Args:
            body: What is told, as JSON.
        """
        fields = json.loads(body)
        event = str(fields.pop("type"))
        # The line has a time of its own: that of when it was written.
        fields["concluded"] = fields.pop("time")
        try:
            self._write(event, fields)
        except OSError:
            return Outcome("the log takes nothing")
        return Outcome()

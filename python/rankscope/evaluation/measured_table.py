"""Tables with what one measure says of the queries of rankings."""

from __future__ import annotations

from rankscope.output.ids import TEXT
from rankscope.output.printed import Printed
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.measures import Measure
    from rankscope.output.ids import SourceIds
    from rankscope.output.table import Column
    from rankscope.settings.policy import Policy


class MeasuredTable(Printed, Table):
    """A table about one measure under one policy, which prints with what belongs to it."""

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        measure: Measure,
        policy: Policy,
        source: SourceIds = TEXT,
    ) -> None:
        super().__init__(columns, source=source)
        self._measure = measure
        self._policy = policy

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self._measure

    @property
    def policy(self) -> Policy:
        """The policy."""
        return self._policy

    __repr__ = Printed.__str__

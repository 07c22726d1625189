"""Why one ranking has its value: the list as it was shown, rank by rank."""

from __future__ import annotations

import math

from rankscope.monitor.label_status import REASONS
from rankscope.monitor.logged_explanation import SOURCES
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope.monitor.logged_explanation import LoggedDocument, LoggedExplanation
    from rankscope.monitor.monitor import Monitor


@record(frozen=True, slots=True)
class Bar:
    """Where 1 goes: the value and the losses of a ranking.

    Args:
        value: The value.
        losses: The losses that can be observed.
    """

    value: float
    losses: Mapping[str, float]


@record(frozen=True, slots=True, kw_only=True)
class RankingView:
    """The explanation of a ranking.

    Args:
        explained: The explanation; `None` where no ranking was asked for.
        measures: The measures that can be explained.
    """

    explained: LoggedExplanation | None
    measures: tuple[str, ...]

    @property
    def bar(self) -> Bar | None:
        """Where 1 goes, where losses are known."""
        explained = self.explained
        if explained is None or explained.losses is None or math.isnan(explained.value):
            return None
        losses = {name: loss for name, loss in explained.losses.items() if loss is not None}
        return Bar(explained.value, losses)

    @property
    def ideal(self) -> list[LoggedDocument]:
        """The documents that the ideal order has, in that order."""
        if self.explained is None:
            return []
        placed = [each for each in self.explained.documents if each.ideal_rank is not None]
        return sorted(placed, key=lambda each: each.ideal_rank or 0)

    @property
    def most(self) -> float:
        """The largest contribution, which the longest bar stands for."""
        documents = () if self.explained is None else self.explained.documents
        return max((each.contribution or 0.0 for each in documents), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Give what JSON can hold."""
        return {
            "measures": list(self.measures),
            "ranking": None if self.explained is None else self.explained.to_dict(),
        }


WORDS = {"sources": SOURCES, "reasons": REASONS}
"""What the explanation says in short, in words."""


def view_ranking(monitor: Monitor, ranking_id: str | None, measure: str | None) -> RankingView:
    """Explain a ranking.

    Args:
        monitor: The monitor of the project.
        ranking_id: The ranking; nothing is explained without one.
        measure: One of the measures; that which is traced if left out.

    Raises:
        UsageError: There is no such ranking, no such measure, or nothing is measured.
    """
    measures = monitor.measures
    explained = None if ranking_id is None else monitor.explain(ranking_id, measure)
    return RankingView(explained=explained, measures=measures)

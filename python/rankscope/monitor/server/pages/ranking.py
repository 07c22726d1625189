"""The page of one ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._explain import html
from rankscope._explain.explanation import DIGITS
from rankscope._explain.terms import Heading
from rankscope.monitor.ask.logged_explanation import SOURCES, LoggedDocument, LoggedExplanation
from rankscope.monitor.evaluate.grades import REASONS
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.api.fields import make_query
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.routing.endpoint import Call

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Bar:
    """The value and the losses of a ranking, which add up to 1.

    Args:
        value: The value.
        losses: The losses that can be observed.
    """

    value: float
    losses: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
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
        """The value and the losses, if the losses are known."""
        explained = self.explained
        if explained is None or explained.losses is None or math.isnan(explained.value):
            return None
        losses = {name: loss for name, loss in explained.losses.items() if loss is not None}
        return Bar(explained.value, losses)

    @property
    def derived(self) -> Markup | str:
        """How the value is computed, step by step; empty where there is no value."""
        from markupsafe import Markup

        derivation = None if self.explained is None else self.explained.derivation
        if derivation is None:
            return ""
        blocks = [each for each in derivation.lay_out(DIGITS) if not isinstance(each, Heading)]
        return Markup(html.write(blocks))  # noqa: S704 - it escapes what it writes

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


WORDS = {"sources": SOURCES, "reasons": REASONS}
"""What the explanation says in short, in words."""


def _view(monitor: Monitor, call: Call) -> RankingView:
    ranking_id, measure = call.query.get("id"), call.query.get("measure")
    explained = None if ranking_id is None else monitor.explain(ranking_id, measure)
    return RankingView(explained=explained, measures=monitor.measures)


RANKING = Page(
    path="/rankings",
    here="Trace",
    template="ranking.html.j2",
    summary="How the value of one ranking is computed, rank by rank.",
    view=_view,
    query=make_query(
        "RankingPageQuery", {"id": "The id of the ranking.", "measure": "The measure."}
    ),
    refuses=(404,),
)
PAGES = (RANKING,)

"""The page of a ranking.

Its id is a parameter, not part of the path: ids are any text, and browsers take `..` in a path for
a way up.
"""

from __future__ import annotations

from rankscope.explain import html
from rankscope.explain.blocks import Heading
from rankscope.explain.derivation import DIGITS
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.view_ranking import WORDS, view_ranking
from rankscope.monitor.server.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.endpoint import Asked
    from rankscope.monitor.server.pages.view_ranking import RankingView


def _view(monitor: Monitor, asked: Asked) -> RankingView:
    return view_ranking(monitor, asked.query.get("id"), asked.query.get("measure"))


def _extras(view: RankingView) -> dict[str, object]:
    from markupsafe import Markup  # noqa: PLC0415 - Jinja brings it

    derivation = None if view.explained is None else view.explained.derivation
    if derivation is None:
        return {"derived": "", **WORDS}
    blocks = [each for each in derivation.lay_out(DIGITS) if not isinstance(each, Heading)]
    return {"derived": Markup(html.write(blocks)), **WORDS}  # noqa: S704 - it escapes what it writes


RANKING = Page(
    path="/rankings",
    twin="/rankings.json",
    here="Trace",
    template="ranking.html.j2",
    summary="Why one ranking has its value, rank by rank.",
    view=_view,
    parameters=(Parameter("id", "The ranking."), Parameter("measure", "The measure.")),
    extras=_extras,
    refuses=(404,),
)

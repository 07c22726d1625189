"""Why values fell, and what became of a single ranking, for programs."""

from __future__ import annotations

from starlette.responses import JSONResponse

from rankscope.monitor.ask.trace import Span
from rankscope.monitor.events.times import to_datetimes
from rankscope.monitor.server.api import schemas
from rankscope.monitor.server.api.parameters import (
    MEASURE,
    name_choice,
    name_text,
    name_time,
)
from rankscope.monitor.server.http.endpoint import Endpoint
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.render import make_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.responses import Response

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.pool import Desk

SPAN_FIELDS = ("since", "until", "model", "version", "environment")


def _name_span(side: str) -> tuple[Any, ...]:
    return (
        name_time(f"{side}_since", f"When the span {side} begins, in RFC 3339."),
        name_time(f"{side}_until", "When it is over."),
        name_text(f"{side}_model", "The model that ranked there; any if left out."),
        name_text(f"{side}_version", "Its version; any if left out."),
        name_choice(
            f"{side}_environment",
            "Where it ranked; production if left out.",
            "production",
            "validation",
            "training",
        ),
    )


class Causes:
    """Answers why.

    Args:
        desk: Asks monitors.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.endpoints = (
            Endpoint(
                "GET",
                "/v1/trace",
                "read",
                self.get_trace,
                summary="Why a measure changed between two spans of time, in parts that add up.",
                parameters=(MEASURE, *_name_span("before"), *_name_span("after")),
                result=schemas.TRACE,
            ),
            Endpoint(
                "GET",
                "/v1/rankings/{ranking_id:id}",
                "read",
                self.get_ranking,
                summary="A ranking as it was logged, its labels, and its value rank by rank.",
                parameters=(MEASURE,),
                result=schemas.RANKING,
            ),
        )

    async def get_trace(self, asked: Asked) -> Response:
        """Give why a measure changed."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            before, after = (read_span(side, asked.query) for side in ("before", "after"))
            if before is None and after is None:
                before, after = monitor.suggest_spans() or (None, None)
            if before is None or after is None:
                raise RefusedRequestError(
                    422,
                    "expected two spans, found nothing to be compared",
                    code="parameter",
                    hint="say before_since, before_until, after_since and after_until",
                )
            measure = asked.query.get("measure")
            return make_plain(monitor.trace(before, after, measure))

        return JSONResponse(await self._desk.look(asked, read, is_trace=True))

    async def get_ranking(self, asked: Asked) -> Response:
        """Give what became of a ranking."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            measure = asked.query.get("measure")
            return make_plain(monitor.explain(asked.part("ranking_id"), measure))

        return JSONResponse(await self._desk.look(asked, read))


def read_span(side: str, query: Mapping[str, Any]) -> Span | None:
    """Read one of the two spans of a trace, `None` where nothing is said of it.

    Args:
        side: `before` or `after`.
        query: The parameters that were given.

    Raises:
        UsageError: It ends before it begins.
    """
    given = {name: query[f"{side}_{name}"] for name in SPAN_FIELDS if f"{side}_{name}" in query}
    return Span(**to_datetimes(given)) if given else None

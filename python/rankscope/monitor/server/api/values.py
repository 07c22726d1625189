"""Values over time, slices, versions, and how good the data is, for programs."""

from __future__ import annotations

import math

from starlette.responses import JSONResponse

from rankscope.errors import UsageError
from rankscope.monitor.events.times import format_time, to_datetimes
from rankscope.monitor.server.api import schemas
from rankscope.monitor.server.api.parameters import (
    EVERY,
    MEASURE,
    MODEL,
    MOST_POINTS,
    SINCE,
    SLICE,
    UNTIL,
    VERSION,
    check_span,
    refuse_long,
)
from rankscope.monitor.server.http.endpoint import Endpoint
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from starlette.responses import Response

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.baseline import Baseline
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.pool import Desk

NEEDED = replace(MEASURE, is_needed=True)
SPAN = ("since", "until", "model", "version")


class Values:
    """Answers what values there are.

    Args:
        desk: Asks monitors.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.endpoints = (
            Endpoint(
                "GET",
                "/v1/series",
                "read",
                self.get_series,
                summary="The values of a measure over time, with intervals and denominators.",
                parameters=(NEEDED, EVERY, SINCE, UNTIL, MODEL, VERSION, SLICE),
                result=schemas.SERIES,
            ),
            Endpoint(
                "GET",
                "/v1/slices",
                "read",
                self.get_slices,
                summary="The slices of a span of time, the lowest against the baseline first.",
                parameters=(NEEDED, SINCE, UNTIL, MODEL, VERSION),
                result=schemas.SLICES,
            ),
            Endpoint(
                "GET",
                "/v1/quality",
                "read",
                self.get_quality,
                summary="What was discarded, what is late, what is open.",
                parameters=(SINCE, UNTIL),
                result=schemas.QUALITY,
            ),
            Endpoint(
                "GET",
                "/v1/maturity",
                "read",
                self.get_maturity,
                summary="The share of labels that is there, by the age of a ranking.",
                result=schemas.MATURITY,
            ),
            Endpoint(
                "GET",
                "/v1/versions",
                "read",
                self.get_versions,
                summary="The versions of models in production, the first shown first.",
                result=schemas.VERSIONS,
            ),
            Endpoint(
                "GET",
                "/v1/baseline",
                "read",
                self.get_baseline,
                summary="What values are held against.",
                result=schemas.BASELINE,
            ),
        )

    async def get_series(self, asked: Asked) -> Response:
        """Give the values of a measure over time."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            given = {"every": "hour"} | dict(asked.query)
            check_span(given, monitor.clock(), given["every"])
            parts = tuple(sorted(given.pop("slice", ())))
            _check_slice(parts, monitor.configuration)
            series = monitor.series(given.pop("measure"), slice=parts, **to_datetimes(given))
            if len(series) > MOST_POINTS:
                raise refuse_long(series.every)
            return series.to_dict()

        return JSONResponse(await self._desk.look(asked, read))

    async def get_slices(self, asked: Asked) -> Response:
        """Give the slices of a span of time."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            check_span(asked.query, monitor.clock())
            given = dict(asked.query)
            measure = given.pop("measure")
            table = monitor.slices(measure, **to_datetimes(given))
            rows = [dict(zip(table.names, row, strict=True)) for row in table.rows()]
            left_out = max(len(rows) - MOST_POINTS, 0)
            return {"measure": measure, "slices": rows[:MOST_POINTS], "left_out": left_out}

        return JSONResponse(await self._desk.look(asked, read))

    async def get_quality(self, asked: Asked) -> Response:
        """Give how good the data is."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            check_span(asked.query, monitor.clock())
            return monitor.quality(**to_datetimes(asked.query)).to_dict()

        return JSONResponse(await self._desk.look(asked, read))

    async def get_maturity(self, asked: Asked) -> Response:
        """Give how soon labels come."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return monitor.quality().to_dict()["curve"]

        return JSONResponse(await self._desk.look(asked, read))

    async def get_versions(self, asked: Asked) -> Response:
        """Give the versions of models."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return {
                "versions": [
                    {
                        "model": one.model,
                        "version": one.version,
                        "first": format_time(one.first),
                        "last": format_time(one.last),
                        "rankings": one.rankings,
                        "folded": one.folded,
                    }
                    for one in monitor.versions()
                ]
            }

        return JSONResponse(await self._desk.look(asked, read))

    async def get_baseline(self, asked: Asked) -> Response:
        """Give what values are held against."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            baseline = monitor.baseline()
            return {"baseline": None if baseline is None else _write_baseline(baseline)}

        return JSONResponse(await self._desk.look(asked, read))


def _check_slice(parts: Slice, configuration: Configuration) -> None:
    """Refuse a slice that is not kept, for that is another thing than one without rankings."""
    names = {name for name, _ in parts}
    pairs = [{*pair} for pair in configuration.all_pairs]
    is_kept = len(names) == len(parts) and (
        not names or (len(names) == 1 and names <= {*configuration.attributes}) or names in pairs
    )
    if not is_kept:
        known = ", ".join(configuration.attributes) or "none"
        raise UsageError(
            f"expected a slice by an attribute, or a pair, of those configured: {known}",
            hint="name it in the configuration first",
            code="unknown_slice",
        )


def _write_baseline(baseline: Baseline) -> dict[str, Any]:
    return {
        "kind": baseline.kind,
        "of": baseline.of,
        "rankings": baseline.rankings,
        "means": {
            name: {field: _or_none(getattr(mean, field)) for field in ("value", "lower", "upper")}
            for name, mean in baseline.means.items()
        },
    }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value

"""The chart of an incident, as the picture of a message.

What it shows is read by the service; it is drawn by matplotlib in the process that sends the
message, so that the service itself never loads it. Where matplotlib isn't installed, messages go
without a picture.
"""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO

from rankscope.drawing.palette import LIGHT
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_POINTS = 1000
WIDTH, HEIGHT, DOTS = 8.0, 3.2, 120


@record(frozen=True, slots=True, kw_only=True)
class Chart:
    """The values around an incident.

    Args:
        title: What they are the values of.
        times: When the periods begin, in seconds since 1970 in UTC.
        values: The values; NaN where there is none.
        lower: The lower ends of their intervals.
        upper: The upper ends.
        floor: What the values are held against, or `None`.
        began: When the problem seems to have begun, in seconds since 1970 in UTC, or `None`.
    """

    title: str
    times: tuple[float, ...]
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    floor: float | None = None
    began: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what it is made of; Python's JSON has NaN, too."""
        names: tuple[str, ...] = Chart.__match_args__
        return {name: getattr(self, name) for name in names}


def draw_chart(chart: Chart) -> bytes | None:
    """Draw a chart as PNG; `None` if matplotlib isn't installed."""
    try:
        from matplotlib.backends.backend_agg import (  # noqa: PLC0415 - loads slowly
            FigureCanvasAgg,
        )
        from matplotlib.dates import (  # noqa: PLC0415 - likewise
            AutoDateLocator,
            ConciseDateFormatter,
        )
        from matplotlib.figure import Figure  # noqa: PLC0415 - likewise
    except ImportError:
        return None
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DOTS, layout="constrained")
    axes = figure.add_subplot()
    times: Any = [datetime.fromtimestamp(time, UTC) for time in chart.times]
    axes.fill_between(times, chart.lower, chart.upper, color=LIGHT.accent, alpha=0.18, linewidth=0)
    axes.plot(times, chart.values, color=LIGHT.accent, linewidth=1.8, marker="o", markersize=3)
    if chart.floor is not None:
        axes.axhline(chart.floor, color=LIGHT.alert, linewidth=1.2, linestyle="--")
        axes.annotate(
            "floor",
            (0.0, chart.floor),
            xycoords=("axes fraction", "data"),
            xytext=(4, 3),
            textcoords="offset points",
            color=LIGHT.alert,
            fontsize=9,
        )
    if chart.began is not None and times:
        began: Any = datetime.fromtimestamp(chart.began, UTC)
        axes.axvspan(began, max(times[-1], began), color=LIGHT.alert, alpha=0.08, linewidth=0)
    # A dollar sign in a name begins no formula.
    axes.set_title(chart.title, loc="left", fontsize=10, parse_math=False)
    locator = AutoDateLocator(tz=UTC)  # type: ignore[no-untyped-call]  # of matplotlib
    axes.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator, tz=UTC)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(formatter)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    written = BytesIO()
    FigureCanvasAgg(figure).print_png(written)  # type: ignore[no-untyped-call]
    return written.getvalue()

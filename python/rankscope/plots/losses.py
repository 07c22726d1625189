"""The plot of losses: stacked bars by run, by slice or over time."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from rankscope.drawing.axes import (
    ABOVE,
    TEXT,
    add_legend,
    fit_names,
    name_axes,
    name_rows,
    open_axes,
)
from rankscope.drawing.palette import HATCHES
from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from matplotlib.axes import Axes

    from rankscope.drawing.palette import ThemeName
    from rankscope.losses.result import Losses

UNDEFINED = "undefined"
"""The part of queries without relevant documents."""
PARTS = ("retrieval", "truncation", "ordering", UNDEFINED)
COLUMNS = 4


def draw_losses(
    losses: Losses | Mapping[str, Losses],
    *,
    by: str | None = None,
    is_over_time: bool = False,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw losses as stacked bars, horizontal by run or slice, and vertical over time.

    Args:
        losses: The result of `Rankings.losses` for several runs, or that of one run `by` slices.
        by: What a bar is (default: `run`, or the name of the attribute of slices).
        is_over_time: Whether the bars are time spans, which are then sorted by name.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: The results are for different measures or stages, the losses have no slices,
            Matplotlib isn't installed, or the theme doesn't exist.

    Examples:
        >>> import rankscope as rs
        >>> rankings = rs.Rankings.from_run({"q": {"a": 1, "b": 1}}, {"q": {"c": 2, "a": 1}})
        >>> ax = draw_losses({"mine": rankings.losses("nDCG@10")})
        >>> [text.get_text() for text in ax.texts]
        ['0.613']
    """
    if isinstance(losses, Mapping):
        runs = [*losses.values()]
        parts = _check_alike(runs)
        names, by = [*losses], by or "run"
        sizes = {part: [each.means[part] for each in runs] for part in parts}
    elif losses.slices is not None:
        runs, slices = [losses], losses.slices
        names, by = [*slices.labels], by or ", ".join(slices.attributes)
        sizes = {part: slices.array(part).tolist() for part in _check_alike(runs)}
    else:
        raise UsageError(
            "the losses have no slices",
            hint="write rankings.losses(nDCG @ 10, by='country'), or pass {'my run': losses}",
            code="no_slices",
        )
    measure = runs[0].measure
    count = len(names)
    order = sorted(range(count), key=names.__getitem__) if is_over_time else range(count)
    names = fit_names([names[at] for at in order])
    size = (7.2, 4.2) if is_over_time else (7.2, 1.6 + 0.42 * count)
    ax, colors = open_axes(ax, theme, size, grid="y" if is_over_time else "x")
    draw = ax.bar if is_over_time else ax.barh
    entries = []
    base = [0.0] * count
    for at, (part, column) in enumerate(sizes.items()):
        is_undefined = part == UNDEFINED
        lost = [column[place] for place in order]
        bars = draw(
            range(count),
            lost,
            0.7,
            base,
            color=getattr(colors, part) if part in PARTS else colors.stage[at % len(colors.stage)],
            edgecolor=colors.edge,
            hatch=HATCHES[-1] if is_undefined else HATCHES[at % (len(HATCHES) - 1)],
            linewidth=0.6,
        )
        if any(lost):
            entries.append((bars, "no relevant documents" if is_undefined else part))
        base = [before + size for before, size in zip(base, lost, strict=True)]
    totals = [f"{total:.3f}" for total in base]
    last: Any = ax.containers[-1]
    ax.bar_label(last, totals, padding=3, color=colors.ink, fontsize=TEXT)
    longest = max(base, default=1.0) or 1.0
    if is_over_time:
        rotation = 45 if count > 8 else 0
        ax.set_xticks(range(count), names, rotation=rotation, parse_math=False)
        ax.set_ylim(0, longest * 1.12)
    else:
        name_rows(ax, names)
        ax.set_xlim(0, longest * 1.1)
    # Matplotlib fills columns; a legend is read in rows.
    shown = [entry for column in range(COLUMNS) for entry in entries[column::COLUMNS]]
    add_legend(ax, colors, shown, ncols=COLUMNS, handlelength=2.2, handleheight=1.2, **ABOVE)
    is_seen = "retrieval" not in sizes or any(each.observes_retrieval for each in runs)
    title = f"Loss of {measure} by {by}{'' if is_seen else '; retrieval not observable'}"
    axis = f"{measure} lost relative to the ideal order"
    x, y = (by, axis) if is_over_time else (axis, "")
    name_axes(ax, colors, title=title, x=x, y=y, legend=17 * ceil(len(shown) / COLUMNS))
    return ax


def _check_alike(losses: list[Losses]) -> list[str]:
    """Return the parts of losses, from the start of the pipeline to its end."""
    parts = [[name for name in each.means if name != "value"] for each in losses]
    for each, own in zip(losses, parts, strict=True):
        if (each.measure, own) != (losses[0].measure, parts[0]):
            raise UsageError(
                f"expected losses of {losses[0].measure} by {', '.join(parts[0])}, found losses of "
                f"{each.measure} by {', '.join(own)}",
                hint="draw them in separate plots",
                code="not_alike",
            )
    return parts[0]

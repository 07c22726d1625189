"""What stands on the Axes is what the records hold."""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise

import pytest
import rankscope as rs
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from rankscope.drawing.palette import LIGHT, PALETTES, write_properties
from rankscope.errors import hint_extra
from rankscope.plots import matplotlib as drawing
from rankscope.plots.data import (
    BoundsChart,
    CriticalDifferences,
    CutoffCurve,
    CutoffLine,
    DiscountCurves,
    DiscountLine,
    Effect,
    Forest,
    LossBar,
    LossBars,
    PlacedRun,
    PrecisionLine,
    PrecisionRecall,
    QueryDifferences,
    QueryScatter,
    Range,
    Standings,
)
from rankscope.plots.matplotlib import draw_standings, to_svg

from tests.interpreter import run_python
from tests.refusals import refuses

DISCOUNTS = DiscountCurves(
    3,
    (DiscountLine(("log2", "log(base=e)"), (1, 0.63, 0.5)), DiscountLine(("mine",), (1, 0.5))),
    ((1, 1), (2, 0.6)),
)
CUTOFFS = CutoffCurve(
    "nDCG",
    (1, 10),
    (
        CutoffLine("one", (0.25, 0.5), (0.125, 0.375), (0.5, 0.625)),
        CutoffLine("other", (0.26, 0.51)),
    ),
    0.9,
)
RECALL = PrecisionRecall(
    (0, 0.5, 1), (PrecisionLine("one", (1, 0.5, 0)), PrecisionLine("other", (0.9, 0.4, 0.1)))
)
DIFFERENCES = QueryDifferences("AP", "old", "new", ("q1", "q2", "q3"), (0.5, 0.0, -0.25), 1, 1)
HUNDREDTHS = tuple(n / 100 for n in range(30, -30, -1))
MANY = QueryDifferences("AP", "old", "new", tuple(f"q{n}" for n in range(60)), HUNDREDTHS, 30, 29)
LOSSES = LossBars(
    "nDCG@10",
    "run",
    (LossBar("one", (0.25, 0.125, 0.0625, 0)), LossBar("other", (0.5, 0.0, 0.25, 0.125))),
)
WEEKS = LossBars("nDCG@10", "week", LOSSES.bars, is_over_time=True)
UNSEEN = LossBars("nDCG@10", "country", (LossBar("de", (None, 0.125, 0.0625, 0)),))
STAGES = ("dense", "sparse", "fusion", "reranker", "final", "truncation", "ordering", "undefined")
STAGED = LossBars("nDCG@10", "run", (LossBar("one", (0.1,) * 8),), STAGES)
BOUNDS = BoundsChart("nDCG@10", "run", (Range("one", 0.5, 0.25, 0.75), Range("two", 1, 1, 1)))
QUERIES = BoundsChart(
    "nDCG@10", "query", tuple(Range(f"q{n}", n / 40, n / 80, n / 40) for n in range(40))
)
LONG = "a_run_with_a_name_that_goes_on_and_on_and_costs_$100_or_$200"
FOREST = Forest(
    "AP",
    (
        Effect("new", "old", 0.125, 0.0625, 0.1875, 0.0004, is_significant=True, queries=10),
        Effect("newer", "old", -0.25, -0.5, 0.25, 0.25, is_significant=False, queries=10),
        Effect("newer", "new", -0.375, math.nan, math.nan, math.nan, False, 1),
    ),
    "Differences of AP",
    0.95,
    "permutation",
    "holm",
    0.0625,
)
LONG_FOREST = Forest(
    "AP",
    tuple(Effect(LONG, f"{LONG}{n}", 0.1, -0.1, 0.3, 0.5, False, 10) for n in range(4)),
    "Differences of AP",
    0.9,
    "t",
    "none",
)
PLACED = (PlacedRun("low", 0.25), PlacedRun("middle", 0.375), PlacedRun("high", 0.5))
CRITICAL = CriticalDifferences(
    "AP", "mean", PLACED, ((0, 1), (1, 2)), "permutation", "holm", 0.05, 1200
)
MANY_RUNS = CriticalDifferences(
    "AP",
    "rank",
    tuple(PlacedRun(f"{LONG}{n}", 20 - n) for n in range(20)),
    tuple((n, n + 1, n + 4) for n in range(16)),
    "t",
    "bh",
    0.1,
    50,
)
SCATTER = QueryScatter(
    "AP", "old", "new", ("q1", "q2", "q3", "q4"), (0.0, 0.5, 0.5, 1.0), (0.0, 1.0, 1.0, 0.5), 0, 1
)
DENSE = QueryScatter(
    "DCG@10",
    LONG,
    "new",
    tuple(map(str, range(3000))),
    tuple(n / 500 for n in range(3000)),
    tuple((7 * n % 3000) / 500 for n in range(3000)),
    0,
    6,
)

DRAWN = {
    "discounts": (drawing.draw_discounts, DISCOUNTS),
    "cutoffs": (drawing.draw_cutoffs, CUTOFFS),
    "recall": (drawing.draw_precision_recall, RECALL),
    "differences": (drawing.draw_differences, DIFFERENCES),
    "many differences": (drawing.draw_differences, MANY),
    "no differences": (drawing.draw_differences, QueryDifferences("AP", "a", "b", (), (), 0, 0)),
    "losses": (drawing.draw_losses, LOSSES),
    "losses over time": (drawing.draw_losses, WEEKS),
    "losses of stages": (drawing.draw_losses, STAGED),
    "losses not seen": (drawing.draw_losses, UNSEEN),
    "bounds": (drawing.draw_bounds, BOUNDS),
    "bounds of queries": (drawing.draw_bounds, QUERIES),
    "forest": (drawing.draw_forest, FOREST),
    "forest of long names": (drawing.draw_forest, LONG_FOREST),
    "critical differences": (drawing.draw_critical_differences, CRITICAL),
    "critical differences of many": (drawing.draw_critical_differences, MANY_RUNS),
    "scatter": (drawing.draw_scatter, SCATTER),
    "dense scatter": (drawing.draw_scatter, DENSE),
    "no scatter": (drawing.draw_scatter, QueryScatter("AP", "a", "b", (), (), (), 0, 1)),
}


def texts(ax):
    return [text.get_text() for text in ax.texts]


def points(line):
    return [(float(x), float(y)) for x, y in line.get_xydata()]


def is_inside(ax):
    """Whether all that is drawn is on the paper."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    paper, drawn = figure.bbox, ax.get_tightbbox()
    assert drawn is not None
    return (
        paper.x0 <= drawn.x0
        and drawn.x1 <= paper.x1
        and paper.y0 <= drawn.y0 <= drawn.y1 <= paper.y1
    )


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_is_dressed_in_its_theme(name, theme):
    draw, data = DRAWN[name]
    ax = draw(data, theme=theme)
    colors = PALETTES[theme]
    assert to_hex(ax.get_facecolor()) == colors.paper
    assert to_hex(ax.get_figure().get_facecolor()) == colors.paper
    for label in (ax.title, ax.xaxis.label, ax.yaxis.label):
        assert to_hex(label.get_color()) == colors.ink or not label.get_text()
    assert ax.get_title(loc="left")
    assert is_inside(ax)


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_is_drawn_where_the_caller_says(name):
    draw, data = DRAWN[name]
    one, other = Figure(figsize=(9, 4)).subplots(1, 2)
    assert draw(data, other) is other
    assert other.get_title(loc="left")
    assert not one.get_title(loc="left")
    assert [*one.lines, *one.patches, *one.texts, *one.collections] == []


@pytest.mark.parametrize("name", ["cutoffs", "losses", "forest of long names", "dense scatter"])
def test_a_notebook_shows_a_plot_as_a_picture_once(name):
    draw, data = DRAWN[name]
    ax = draw(data)
    content, sizes = ax._repr_png_()
    assert content.startswith(b"\x89PNG\r\n")
    # The header has the size in dots, of which a pixel of the page has two by two.
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    assert (width, height) == pytest.approx((2 * sizes["width"], 2 * sizes["height"]), abs=1)
    # Those of the caller are shown by the caller.
    assert not hasattr(draw(data, Figure().add_subplot()), "_repr_png_")
    assert plt.get_fignums() == []


def test_a_picture_has_what_was_drawn_later():
    ax = drawing.draw_losses(LOSSES)
    before = ax._repr_png_()
    ax.set_xlabel("what is lost")
    assert ax._repr_png_() != before


@pytest.mark.parametrize("palette", PALETTES.values(), ids=PALETTES)
def test_kinds_of_loss_have_the_colors_of_the_report(palette):
    theme = next(name for name, each in PALETTES.items() if each is palette)
    bars = drawing.draw_losses(LOSSES, theme=theme).containers
    fills = {bar.get_label(): to_hex(bar.patches[0].get_facecolor()) for bar in bars}
    assert fills == {
        "retrieval": palette.retrieval,
        "truncation": palette.truncation,
        "ordering": palette.ordering,
        "no ideal": palette.undefined,
    }
    for name in ("retrieval", "truncation", "ordering"):
        assert f"--{name}: {fills[name]};" in write_properties()


def test_stages_of_a_pipeline_are_shades_of_retrieval_loss():
    bars = drawing.draw_losses(STAGED).containers
    fills = [to_hex(bar.patches[0].get_facecolor()) for bar in bars]
    shades = [LIGHT.stage[at % 3] for at in range(5)]
    assert fills == [*shades, LIGHT.truncation, LIGHT.ordering, LIGHT.undefined]


def test_discounts_are_lines_named_at_their_ends():
    ax = drawing.draw_discounts(DISCOUNTS)
    log2, mine, stars, *_ = ax.lines
    assert points(log2) == [(1, 1), (2, 0.63), (3, 0.5)]
    assert points(mine) == [(1, 1), (2, 0.5)]
    assert points(stars) == [(1, 1), (2, 0.6)]
    assert stars.get_marker() == "*"
    assert {"log2 = log(base=e)", "mine"} <= set(texts(ax))
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["attention, as textbooks have it"]


def test_discounts_alone_have_no_legend():
    ax = drawing.draw_discounts(DiscountCurves(3, DISCOUNTS.lines))
    assert ax.get_legend() is None
    assert len(ax.lines) == 2


def test_cutoffs_are_lines_with_intervals():
    ax = drawing.draw_cutoffs(CUTOFFS)
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.25, 0.5], [0.26, 0.51]]
    (stems,) = ax.collections
    assert [segment[:, 1].tolist() for segment in stems.get_segments()] == [
        [0.125, 0.5],
        [0.375, 0.625],
    ]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10"]
    assert ax.get_title(loc="left") == "nDCG by cutoff, with 90 % intervals"
    assert ax.get_ylabel() == "nDCG@k"
    plain = CutoffCurve("nDCG", (1, 10), CUTOFFS.lines[1:])
    assert drawing.draw_cutoffs(plain).get_title(loc="left") == "nDCG by cutoff"


def test_names_at_ends_do_not_stand_on_each_other():
    lines = tuple(CutoffLine(f"run {n}", (0.2, 0.5 + n / 10_000)) for n in range(8))
    ax = drawing.draw_cutoffs(CutoffCurve("nDCG", (1, 10), (*lines, CutoffLine("low", (0, 0.1)))))
    ax.get_figure().draw_without_rendering()
    # Without the lines that lead to them.
    boxes = sorted((Text.get_window_extent(text) for text in ax.texts), key=lambda box: box.y0)
    assert len(boxes) == 9
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
    assert [text.get_text() for text in sorted(ax.texts, key=lambda text: text.xyann[1])] == [
        "low", *(f"run {n}" for n in range(8))
    ]  # fmt: skip


def test_lines_differ_in_marker_and_dash():
    lines = tuple(PrecisionLine(f"run {n}", (1, 0)) for n in range(12))
    ax = drawing.draw_precision_recall(PrecisionRecall((0, 1), lines))
    looks = [
        (line.get_marker(), to_hex(line.get_markerfacecolor()), to_hex(line.get_color()))
        for line in ax.lines
    ]
    assert len(set(looks)) == 12
    assert len({(line.get_marker(), str(line._dash_pattern)) for line in ax.lines[:6]}) == 6


def test_precision_by_recall_is_lines_with_a_legend():
    ax = drawing.draw_precision_recall(RECALL)
    assert [points(line) for line in ax.lines] == [
        [(0, 1), (0.5, 0.5), (1, 0)],
        [(0, 0.9), (0.5, 0.4), (1, 0.1)],
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "other"]


def test_differences_are_bars_with_their_mean_and_counts():
    ax = drawing.draw_differences(DIFFERENCES)
    (bars,) = ax.containers
    assert [bar.get_height() for bar in bars] == [0.5, 0.0, -0.25]
    assert texts(ax) == ["new better: 1", "old better: 1", f"mean {0.25 / 3:+.4f}"]
    assert ax.get_xlabel() == "3 queries, 1 of them equal, sorted"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["q1", "q2", "q3"]
    assert drawing.draw_differences(MANY).get_xticklabels() == []


@pytest.mark.parametrize("data", [LOSSES, WEEKS], ids=["run", "week"])
def test_losses_are_stacked_to_their_total(data):
    ax = drawing.draw_losses(data)
    upright = data.is_over_time
    ends = [
        [
            (bar.get_y(), bar.get_y() + bar.get_height())
            if upright
            else (bar.get_x(), bar.get_x() + bar.get_width())
            for bar in part
        ]
        for part in ax.containers
    ]
    assert ends == [
        [(0, 0.25), (0, 0.5)],
        [(0.25, 0.375), (0.5, 0.5)],
        [(0.375, 0.4375), (0.5, 0.75)],
        [(0.4375, 0.4375), (0.75, 0.875)],
    ]
    assert texts(ax) == ["0.438", "0.875"]
    assert [part[0].get_hatch() or "" for part in ax.containers] == ["", "///", "...", "xxx"]
    names = ax.get_xticklabels() if upright else ax.get_yticklabels()
    assert [name.get_text() for name in names] == ["one", "other"]


@pytest.mark.parametrize("data", [LOSSES, WEEKS, UNSEEN, STAGED])
def test_the_legend_of_losses_is_between_the_title_and_the_bars(data):
    ax = drawing.draw_losses(data)
    ax.get_figure().draw_without_rendering()
    legend, title = ax.get_legend().get_window_extent(), ax._left_title.get_window_extent()
    assert ax.get_window_extent().y1 <= legend.y0
    assert legend.y1 <= title.y0 + 1


def test_parts_next_to_each_other_look_different():
    ax = drawing.draw_losses(STAGED)
    looks = [(part[0].get_hatch(), to_hex(part[0].get_facecolor())) for part in ax.containers]
    assert len(set(looks)) == 8
    assert all(one[0] != other[0] and one[1] != other[1] for one, other in pairwise(looks))


def test_losses_that_cannot_be_seen_are_said_to_be_so():
    ax = drawing.draw_losses(UNSEEN)
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["truncation", "ordering"]
    assert "retrieval not observable" in ax.get_title(loc="left")
    assert "observable" not in drawing.draw_losses(LOSSES).get_title(loc="left")


def test_bounds_are_ranges_with_a_value():
    ax = drawing.draw_bounds(BOUNDS)
    (ranges,) = ax.collections
    assert [segment[:, 0].tolist() for segment in ranges.get_segments()] == [[0.25, 0.75], [1, 1]]
    assert points(ax.lines[0]) == [(0.5, 0), (1, 1)]
    assert texts(ax) == ["0.250 to 0.750", "1.000 to 1.000"]
    many = drawing.draw_bounds(QUERIES)
    assert len(many.collections[0].get_segments()) == 40
    assert many.collections[0].get_segments()[39][:, 1].tolist() == [39 / 80, 39 / 40]
    assert many.get_ylim()[0] == 0
    assert many.get_xlabel() == "40 values, one a query, sorted"


@pytest.mark.parametrize("count", [2, 40])
def test_bounds_of_differences_have_a_line_at_zero(count):
    ranges = tuple(Range(f"q{n}", 0.5 - n / 40, -0.75, 0.75) for n in range(count))
    ax = drawing.draw_bounds(BoundsChart("difference of AP", "query", ranges))
    zero = ax.lines[-1]
    across = zero.get_xdata() if count == 2 else zero.get_ydata()
    assert [*across] == [0, 0]
    low, high = ax.get_xlim() if count == 2 else ax.get_ylim()
    assert low < -0.75 < 0.75 < high


def test_a_forest_has_a_row_for_each_difference():
    ax = drawing.draw_forest(FOREST)
    band, *_ = ax.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == (-0.0625, 0.0625)
    intervals = [lines.get_segments()[0][:, 0].tolist() for lines in ax.collections]
    assert intervals == [[0.0625, 0.1875], [-0.5, 0.25]]
    zero, *circles = ax.lines
    assert [*zero.get_xdata()] == [0, 0]
    assert [points(circle) for circle in circles] == [[(0.125, 0)], [(-0.25, 1)], [(-0.375, 2)]]
    paper = LIGHT.paper
    is_filled = [to_hex(each.get_markerfacecolor()) != paper for each in circles]
    assert is_filled == [True, False, False]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["new minus old", "newer minus old", "newer minus new"]
    assert (
        ax.get_xlabel()
        == "difference of AP; filled: p < 0.05 after correction (Holm); band: ±0.0625"
    )


def test_a_forest_has_the_numbers_beside_it():
    shown = [text for text in texts(drawing.draw_forest(FOREST)) if text]
    assert shown == [
        "95 % interval", "p",
        "+0.1250", "+0.0625 to +0.1875", "<0.001",
        "-0.2500", "-0.5000 to +0.2500", "0.250",
        "-0.3750", "–", "–",
    ]  # fmt: skip


def test_long_names_that_differ_stay_different():
    ax = drawing.draw_forest(LONG_FOREST)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(names)) == 4
    assert all("…" in name and "\nminus " in name for name in names)
    assert "not corrected" in ax.get_xlabel()


def test_a_bar_joins_the_runs_of_a_group_with_dots():
    ax = drawing.draw_critical_differences(CRITICAL)
    stems, bars = ax.lines[:3], ax.lines[3:]
    assert [line.get_xdata()[0] for line in stems] == [0.25, 0.375, 0.5]
    assert [[*bar.get_xdata()] for bar in bars] == [[0.25, 0.375], [0.375, 0.5]]
    # They share a run, so they are not at one height.
    assert bars[0].get_ydata()[0] < bars[1].get_ydata()[0]
    assert texts(ax) == ["low  0.2500", "middle  0.3750", "high  0.5000"]
    caption = " ".join(ax.get_xlabel().split())
    assert "paired permutation test (sign flips), Holm, p < 0.05, 1,200 queries" in caption


def test_bars_that_do_not_touch_share_a_height():
    runs = tuple(PlacedRun(str(n), n) for n in range(5))
    apart = CriticalDifferences("AP", "mean", runs, ((0, 1), (2, 4)), "t", "none", 0.05, 9)
    *_, one, other = drawing.draw_critical_differences(apart).lines
    assert one.get_ydata()[0] == other.get_ydata()[0]


def test_the_best_run_is_at_the_right():
    low, high = drawing.draw_critical_differences(CRITICAL).get_xlim()
    assert low < 0.25
    assert high > 0.5
    low, high = drawing.draw_critical_differences(MANY_RUNS).get_xlim()
    assert low > 20
    assert high < 1


def test_names_of_many_runs_do_not_stand_on_each_other():
    ax = drawing.draw_critical_differences(MANY_RUNS)
    ax.get_figure().draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_without_groups_all_runs_differ():
    apart = CriticalDifferences("AP", "mean", PLACED, (), "t", "none", 0.05, 9)
    assert drawing.draw_critical_differences(apart).get_xlabel().startswith("All pairs of runs")


def test_queries_with_the_same_values_share_a_larger_point():
    ax = drawing.draw_scatter(SCATTER)
    better, worse, equal = ax.collections
    assert better.get_offsets().tolist() == [[0.5, 1.0]]
    assert worse.get_offsets().tolist() == [[1.0, 0.5]]
    assert equal.get_offsets().tolist() == [[0.0, 0.0]]
    assert better.get_sizes()[0] == 2 * worse.get_sizes()[0]
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["new better: 2", "old better: 1", "equal: 1"]
    assert ax.get_xlabel() == "old, mean 0.5000"
    assert ax.get_ylabel() == "new, mean 0.6250"


def test_thousands_of_queries_are_counted_in_cells():
    ax = drawing.draw_scatter(DENSE)
    assert sum(each.get_array().sum() for each in ax.collections) == 3000
    assert len({each.get_clim() for each in ax.collections}) == 1
    assert sum(len(each.get_offsets()) for each in ax.collections) < 3000


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_plots_are_saved_without_a_date(tmp_path, suffix):
    path = tmp_path / f"plot.{suffix}"
    drawing.save(drawing.draw_losses(LOSSES), path)
    content = path.read_bytes()
    assert content.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])
    assert b"CreationDate" not in content
    assert b"<dc:date>" not in content


def test_a_plot_is_an_element_of_a_page():
    text = drawing.to_svg(drawing.draw_bounds(BOUNDS))
    assert text.startswith("<svg")
    assert text.endswith("</svg>")
    # Names of namespaces are no addresses to be fetched.
    assert set(re.findall(r"\w+://[\w.]+", text)) == {"http://www.w3.org"}


@pytest.mark.parametrize("name", ["plot", "plot.doc"])
def test_a_file_of_no_known_format_is_refused(tmp_path, name):
    with refuses(rs.UsageError, "bad_format"):
        drawing.save(drawing.draw_bounds(BOUNDS), tmp_path / name)
    assert [*tmp_path.iterdir()] == []


def test_a_folder_that_is_not_there_is_an_error_of_files(tmp_path):
    with refuses(rs.FileError, "io"):
        drawing.save(drawing.draw_bounds(BOUNDS), tmp_path / "none" / "plot.svg")


def test_axes_that_were_removed_are_refused(tmp_path):
    ax = drawing.draw_bounds(BOUNDS)
    ax.remove()
    with pytest.raises(rs.UsageError):
        drawing.save(ax, tmp_path / "plot.svg")


def test_drawing_leaves_the_state_of_matplotlib_alone():
    program = (
        "import sys, matplotlib; before = matplotlib.rcParams.copy()\n"
        "from rankscope.plots import data, matplotlib as drawing\n"
        "ranges = (data.Range('a', 0.5, 0.2, 0.7),)\n"
        "drawing.to_svg(drawing.draw_bounds(data.BoundsChart('AP', 'run', ranges), theme='dark'))\n"
        "print('matplotlib.pyplot' in sys.modules, before == matplotlib.rcParams.copy())"
    )
    assert run_python(program) == "False True\n"


def test_records_need_no_matplotlib():
    program = (
        "import sys; import rankscope.plots.data, rankscope.plots.matplotlib\n"
        "print('matplotlib' in sys.modules)\n"
        "sys.modules['matplotlib'] = None\n"
        "from rankscope.plots import data, matplotlib as drawing\n"
        "try:\n"
        "    drawing.draw_bounds(data.BoundsChart('AP', 'run', ()))\n"
        "except Exception as error:\n"
        "    print(error.code, error.hint)"
    )
    assert run_python(program).splitlines() == [
        "False",
        f"missing_extra {hint_extra('plot')}",
    ]


QRELS = {f"q{number}": {"a": 2, "b": 1, "c": 0} for number in range(12)}
ORDERS = {"x$y$": "abc", "good": "acb", "poor": "cba"}
RUNS = {name: {query: [*order] for query in QRELS} for name, order in ORDERS.items()}
BOARD = rs.leaderboard(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"], baseline="good")


def test_runs_have_the_order_groups_and_baselines_of_the_board():
    found = Standings.of(BOARD)
    assert (found.measure, found.grouped_by) == ("nDCG@2", "nDCG@2")
    assert [(each.run, each.group, each.is_baseline) for each in found.runs] == [
        ("x$y$", "A", False),
        ("good", "B", True),
        ("poor", "C", False),
    ]
    other = Standings.of(BOARD, "RR(rel=2)")
    assert [each.value for each in other.runs] == [1.0, 1.0, 1 / 3]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_run_is_a_mark_at_its_value_and_a_line_is_at_each_baseline(theme):
    ax = draw_standings(Standings.of(BOARD), theme=theme)
    drawn = {}
    lines = []
    for line in ax.lines:
        if line.get_linestyle() == "None":
            drawn |= dict(zip(line.get_ydata(), line.get_xdata(), strict=True))
        else:
            lines.append(line.get_xdata()[0])
    values = [entry.values["nDCG@2"] for entry in BOARD]
    assert drawn == dict(enumerate(values))
    assert lines == [BOARD["good"].values["nDCG@2"]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x$y$", "good", "poor"]
    assert "1.0000  A" in [text.get_text() for text in ax.texts]
    assert to_svg(BOARD.plot("nDCG@2", theme=theme)).startswith("<svg")


def test_runs_without_a_value_are_left_out_and_none_at_all_is_an_error():
    none = {query: {"a": 0} for query in QRELS}
    board = rs.leaderboard(none, RUNS, "RR", policy="empty=skip")
    with pytest.raises(rs.EmptyError, match="no run has a value of RR"):
        board.plot()
    with pytest.raises(rs.UsageError, match="the leaderboard has no measure AP"):
        board.plot("AP")

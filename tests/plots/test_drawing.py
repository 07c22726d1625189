"""What stands on the axes is what the results hold."""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest
import rankscope as rs
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from rankscope import AP, RR, IPrec, Policy, R, nDCG, plots
from rankscope._compare.result import Comparison, Settings
from rankscope._drawing import LIGHT, PALETTES, write_properties
from rankscope._explain.bounds import BoundedMean, Bounds, Openness
from rankscope._explain.ledger import Losses
from rankscope.errors import hint_extra
from scipy.stats import rankdata

from tests.comparison import pairs
from tests.interpreter import run_python
from tests.refusals import refuses

LONG = "_a_run_with_a_name_that_goes_on_and_on_and_costs_$100_or_$200"
QRELS = {f"q{n}": {"a": 1} for n in range(1, 5)}


def rank(*ranks):
    """A run that has the relevant document of each query at a rank."""
    return {f"q{n}": [*"xyzw"[: at - 1], "a"] for n, at in enumerate(ranks, 1)}


OLD, NEW = rank(2, 1, 1, 4), rank(1, 1, 2, 4)
RUNS = {"old": OLD, "new": NEW}


def evaluate(*measures, runs=RUNS, qrels=QRELS, **options):
    return rs.evaluate(qrels, runs, list(measures), **options)


def make_pair(baseline, run, difference, *, p=0.5, where=None, counts=(5, 3, 2), **others):
    """A pair with an interval of 0.0625 on both sides of the difference."""
    wins, ties, losses = counts
    tally = {"wins": wins, "ties": ties, "losses": losses, "n": sum(counts)}
    usual = {"reach": 0.0625, "measure": "AP", "slice": where}
    return pairs.make_pair(baseline, run, difference, p=p, **tally, **usual | others)


def make_comparison(means, compared, *, baseline=None, by=""):
    return Comparison(
        runs=tuple(means),
        measures=("AP",),
        means={run: {"AP": mean} for run, mean in means.items()},
        comparisons=tuple(compared),
        baseline=baseline,
        by=by,
        settings=Settings(permutations=9999),
        policy=None,
    )


def compare_all(means, different=(), **others):
    """A comparison of all pairs, of which some differ significantly."""
    return make_comparison(
        means,
        [
            make_pair(one, other, means[other] - means[one], p=0.01 if is_apart else 0.5, **others)
            for one, other in combinations(means, 2)
            for is_apart in [frozenset((one, other)) in different]
        ],
    )


def apart(*named):
    return {frozenset(names) for names in named}


def make_losses(*sizes, value=0.0, stages=("retrieval",), **others):
    parts = (*stages, "truncation", "ordering", "undefined")
    means = {"value": value, **dict(zip(parts, sizes, strict=True))}
    measure = others.pop("measure", nDCG @ 10)
    columns = {"query_id": ["q"], **{part: [size] for part, size in means.items()}}
    return Losses(columns, measure=measure, policy=Policy(), means=means, queries=(1, 1), **others)


def make_bounds(*rows, is_difference=False, measure=nDCG @ 10):
    values, lower, upper = zip(*rows, strict=True)
    names = [f"q{n}" for n in range(len(rows))]
    columns = {"query_id": names, "value": [*values], "lower": [*lower], "upper": [*upper]}
    return Bounds(
        columns,
        measure=measure,
        policy=Policy(),
        scale=[0, 1],
        mean=BoundedMean(*rows[0], queries=len(rows)),
        openness=Openness(queries=len(rows), open=0, certain=0, unjudged=0),
        is_difference=is_difference,
    )


THREE = {"bm25": 0.25, "dense": 0.375, "both": 0.5}
FOREST = make_comparison(
    {"old": 0.5, "new": 0.625, "newer": 0.25},
    [
        make_pair("old", "new", 0.125, p=0.0004, margin=0.03125),
        make_pair("old", "newer", -0.25, reach=0.375, p=0.25),
        make_pair("new", "newer", -0.375, reach=math.nan, p=math.nan),
    ],
)
LONG_FOREST = compare_all({f"{LONG}{n}": n / 4 for n in range(4)}, correction="none", level=0.9)
SLICED = make_comparison(
    {"old": 0.25, "new": 0.5},
    [
        make_pair("old", "new", 0.25, margin=0.01),
        make_pair("old", "new", 0.5, where="de"),
        make_pair("old", "new", 0.125, where="at"),
    ],
    by="country",
)
CRITICAL = compare_all(THREE, apart(("bm25", "both")))
MANY_RUNS = compare_all(
    names := {f"{LONG}{n}": n / 20 for n in range(20)},
    apart(*(pair for pair in combinations(names, 2) if abs(names[pair[0]] - names[pair[1]]) > 0.2)),
)
STAGES = ("dense", "sparse", "fusion", "reranker", "final")
LOSSES = {"one": make_losses(0.25, 0.125, 0.0625, 0), "other": make_losses(0.5, 0, 0.25, 0.125)}
STAGED = {"one": make_losses(*[0.125] * 8, stages=STAGES)}
BOUNDS = {"one": make_bounds((0.5, 0.25, 0.75)), LONG: make_bounds((1, 1, 1))}
QUERIES = make_bounds(*((n / 40, n / 80, n / 40) for n in range(40)))
CUTOFFS = evaluate(R @ 4, RR, R @ 1, R @ 2, interval=0.9)
MANY = {f"q{n}": {f"d{at}": at % 4 for at in range(12)} for n in range(1500)}
DENSE = evaluate(
    "DCG@10",
    qrels=MANY,
    runs={
        name: {query: [f"d{at}" for at in draw.sample(range(12), 12)] for query in MANY}
        for name, draw in ((LONG, Random(1)), ("new", Random(2)))
    },
)
NO_VALUES = {
    name: rs.evaluate({"q": {"a": 0}}, {"q": ["a"]}, AP, policy="empty=skip") for name in "ab"
}
WEEKS = {
    "qid": [1, 1, 2, 2, 3, 3],
    "label": [1, 0, 1, 2, 0, 0],
    "score": [1, 2, 3, 4, 5, 6],
    "week": ["30", "30", "28", "28", "29", "29"],
}
UNSEEN = rs.Rankings.from_table(WEEKS, attributes=["week"]).losses(nDCG @ 1, by="week")
SIXTY = {f"q{n}": {"a": 1} for n in range(60)}
SECOND = {query: ["x", "a"] for query in SIXTY}
MIXED = {query: ["x", "y", "a"][at % 3 :] for at, query in enumerate(SIXTY)}
ORDERS = {"x$y$": "abc", "good": "acb", "poor": "cba"}
GRADES = {f"q{number}": {"a": 2, "b": 1, "c": 0} for number in range(12)}
BOARD = rs.leaderboard(
    GRADES,
    {name: {query: [*order] for query in GRADES} for name, order in ORDERS.items()},
    ["nDCG@2", "RR(rel=2)"],
    baseline="good",
)

DRAWN = {
    "discounts": (plots.draw_discounts, rs.measures.tabulate_discounts(3), {}),
    "cutoffs": (plots.draw_cutoffs, CUTOFFS, {}),
    "recall": (plots.draw_precision_recall, evaluate(IPrec @ 0, IPrec @ 0.5), {}),
    "differences": (plots.draw_differences, rs.diff(QRELS, OLD, NEW, RR), {}),
    "many differences": (plots.draw_differences, rs.diff(SIXTY, SECOND, MIXED, RR), {}),
    "losses": (plots.draw_losses, LOSSES, {}),
    "nothing lost": (plots.draw_losses, {"one": make_losses(0, 0, 0, 0)}, {}),
    "losses over time": (plots.draw_losses, UNSEEN, {"is_over_time": True}),
    "losses of stages": (plots.draw_losses, STAGED, {}),
    "losses of slices": (plots.draw_losses, UNSEEN, {"by": "calendar week"}),
    "bounds": (plots.draw_bounds, BOUNDS, {}),
    "bounds of queries": (plots.draw_bounds, QUERIES, {}),
    "leaderboard": (plots.draw_leaderboard, BOARD, {}),
    "forest": (plots.draw_forest, FOREST, {}),
    "forest of long names": (plots.draw_forest, LONG_FOREST, {}),
    "forest of one run": (plots.draw_forest, LONG_FOREST, {"against": f"{LONG}0"}),
    "slices": (plots.draw_slices, SLICED, {}),
    "critical differences": (plots.draw_critical_differences, CRITICAL, {}),
    "critical differences of many": (plots.draw_critical_differences, MANY_RUNS, {"axis": "rank"}),
    "scatter": (plots.draw_scatter, evaluate(RR), {}),
    "dense scatter": (plots.draw_scatter, DENSE, {}),
    "no scatter": (plots.draw_scatter, NO_VALUES, {}),
}


def draw(name, **options):
    function, result, others = DRAWN[name]
    return function(result, **others, **options)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def points(line):
    return [(float(x), float(y)) for x, y in line.get_xydata()]


def is_inside(ax):
    """Whether all that is drawn is on the paper."""
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    paper, drawn = figure.bbox, ax.get_tightbbox()
    return (
        paper.x0 <= drawn.x0
        and drawn.x1 <= paper.x1
        and paper.y0 <= drawn.y0 <= drawn.y1 <= paper.y1
    )


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_is_dressed_in_its_theme(name, theme):
    ax = draw(name, theme=theme)
    colors = PALETTES[theme]
    assert to_hex(ax.get_facecolor()) == colors.paper
    assert to_hex(ax.get_figure().get_facecolor()) == colors.paper
    for label in (ax.title, ax.xaxis.label, ax.yaxis.label):
        assert to_hex(label.get_color()) == colors.ink or not label.get_text()
    assert ax.get_title(loc="left")
    assert is_inside(ax)


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_is_drawn_where_the_caller_says(name):
    one, other = Figure(figsize=(9, 4)).subplots(1, 2)
    other.plot([0, 1], [0, 1])
    other.bar([0], [1])
    assert draw(name, ax=other) is other
    assert other.get_title(loc="left")
    assert not one.get_title(loc="left")
    assert [*one.lines, *one.patches, *one.texts, *one.collections] == []


@pytest.mark.parametrize("name", ["cutoffs", "losses", "forest of long names", "dense scatter"])
def test_a_notebook_shows_a_plot_as_a_picture_once(name):
    ax = draw(name)
    content, sizes = ax._repr_png_()
    assert content.startswith(b"\x89PNG\r\n")
    # The header has the size in dots, of which a pixel of the page has two by two.
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    assert (width, height) == pytest.approx((2 * sizes["width"], 2 * sizes["height"]), abs=1)
    ax.set_xlabel("what is drawn later is on the picture, too")
    assert ax._repr_png_()[0] != content
    # Those of the caller are shown by the caller.
    assert not hasattr(draw(name, ax=Figure().add_subplot()), "_repr_png_")
    assert plt.get_fignums() == []


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_plots_are_saved_without_a_date(tmp_path, suffix):
    path = tmp_path / f"plot.{suffix}"
    plots.save(draw("losses"), path)
    content = path.read_bytes()
    assert content.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])
    assert b"CreationDate" not in content
    assert b"<dc:date>" not in content


def test_a_plot_is_an_element_of_a_page():
    text = plots.to_svg(draw("bounds"))
    assert text.startswith("<svg")
    assert text.endswith("</svg>")
    # Names of namespaces are no addresses to be fetched.
    assert set(re.findall(r"\w+://[\w.]+", text)) == {"http://www.w3.org"}


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        ("plot", rs.UsageError, "bad_format"),
        ("plot.doc", rs.UsageError, "bad_format"),
        ("none/plot.svg", rs.FileError, "io"),
    ],
)
def test_a_file_of_no_known_format_or_folder_is_refused(tmp_path, name, kind, code):
    with refuses(kind, code):
        plots.save(draw("bounds"), tmp_path / name)
    assert [*tmp_path.iterdir()] == []


def test_axes_that_were_removed_are_refused(tmp_path):
    ax = draw("bounds")
    ax.remove()
    with pytest.raises(rs.UsageError):
        plots.save(ax, tmp_path / "plot.svg")


DISCOUNTS = "from rankscope import measures, plots\nshown = measures.tabulate_discounts(3)\n"


def test_drawing_leaves_the_state_of_matplotlib_alone():
    program = (
        "import sys, matplotlib; before = matplotlib.rcParams.copy()\n"
        f"{DISCOUNTS}plots.to_svg(plots.draw_discounts(shown, theme='dark'))\n"
        "print('matplotlib.pyplot' in sys.modules, before == matplotlib.rcParams.copy())"
    )
    assert run_python(program) == "False True\n"


def test_without_matplotlib_the_error_names_the_extra():
    program = (
        f"import sys\n{DISCOUNTS}print('matplotlib' in sys.modules)\n"
        "sys.modules['matplotlib'] = None\n"
        "try:\n"
        "    plots.draw_discounts(shown)\n"
        "except Exception as error:\n"
        "    print(error.code, error.hint)"
    )
    expected = ["False", f"missing_extra {hint_extra('plot')}"]
    assert run_python(program).splitlines() == expected


def test_discounts_of_one_curve_are_one_line():
    ax = plots.draw_discounts(rs.measures.tabulate_discounts(4, tables={"short": [1, 0.5]}))
    (stars,) = ax.collections
    assert stars.get_offsets().tolist() == [[1, 1], [2, 0.6], [3, 0.4], [4, 0.3]]
    assert points(ax.lines[2]) == [(1, 1), (2, 1 / 2), (3, 1 / 3), (4, 1 / 4)]
    assert points(ax.lines[-1]) == [(1, 1), (2, 0.5)]
    # In the order in which they end.
    assert legend(ax) == [
        "jk(base=2)", "zipf(s=0.5)", "short", "log2 = log(base=e)", "linear", "reciprocal",
        "attention (from textbooks)",
    ]  # fmt: skip


def test_a_measure_is_drawn_at_its_cutoffs_with_intervals():
    ax = plots.draw_cutoffs(CUTOFFS)
    for line, stems, evaluation in zip(ax.lines, ax.collections, CUTOFFS.values(), strict=True):
        names = [f"R@{k}" for k in (1, 2, 4)]
        assert line.get_ydata().tolist() == [evaluation[name] for name in names]
        ends = [tuple(segment[:, 1]) for segment in stems.get_segments()]
        assert ends == [evaluation.intervals[name] for name in names]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "4"]
    assert ax.get_title(loc="left") == "R by cutoff, with 90% intervals"
    assert (ax.get_ylabel(), legend(ax)) == ("R@k", ["old", "new"])
    (line,) = plots.draw_cutoffs(CUTOFFS["old"]).lines
    assert line.get_ydata().tolist() == ax.lines[0].get_ydata().tolist()


@pytest.mark.parametrize("measure", [nDCG @ 5, "nDCG"])
def test_the_measure_of_a_curve_can_be_chosen(measure):
    found = evaluate(*(nDCG(gain="exp2") @ k for k in (1, 2)), *(nDCG @ k for k in (2, 1)))
    ax = plots.draw_cutoffs(found, measure)
    assert ax.lines[0].get_ydata().tolist() == [found["old"]["nDCG@1"], found["old"]["nDCG@2"]]
    assert [*ax.collections] == []
    assert ax.get_title(loc="left") == "nDCG by cutoff"
    assert plots.draw_cutoffs(found).get_ylabel() == "nDCG(dcg='exp-log2')@k"


def test_lines_differ_in_marker_and_dash():
    names = [f"run {n}" for n in range(12)]
    ax = plots.draw_precision_recall(evaluate(IPrec @ 0, IPrec @ 1, runs=dict.fromkeys(names, OLD)))
    looks = [
        (line.get_marker(), to_hex(line.get_markerfacecolor()), to_hex(line.get_color()))
        for line in ax.lines
    ]
    assert len(set(looks)) == 12
    assert len({(line.get_marker(), str(line._dash_pattern)) for line in ax.lines[:6]}) == 6
    assert legend(ax) == names


def test_precision_is_drawn_by_recall():
    found = evaluate(IPrec @ 1, AP, IPrec @ 0, IPrec @ 0.5)
    assert [points(line) for line in plots.draw_precision_recall(found).lines] == [
        [(level, evaluation[IPrec @ level]) for level in (0, 0.5, 1)]
        for evaluation in found.values()
    ]


@pytest.mark.parametrize("draw_one", [plots.draw_cutoffs, plots.draw_precision_recall])
@pytest.mark.parametrize("measures", [[AP], [nDCG @ 3, AP], [IPrec @ 1, AP]])
def test_one_point_is_no_curve(draw_one, measures):
    with refuses(rs.errors.MeasureError, "not_evaluated"):
        draw_one(evaluate(*measures))


def test_differences_are_bars_with_their_mean_and_counts():
    difference = rs.diff(QRELS, OLD, NEW, RR, names=("old", "new"))
    ax = plots.draw_differences(difference)
    (bars,) = ax.containers
    assert [bar.get_height() for bar in bars] == [0.5, 0, 0, -0.5]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["q1", "q2", "q4", "q3"]
    assert texts(ax) == ["mean +0.0000"]
    assert legend(ax) == ["new better: 1", "old better: 1", "equal: 2"]
    assert ax.get_xlabel() == "4 queries, sorted"
    many = draw("many differences")
    assert len(many.containers[0]) == 60
    assert many.get_xticklabels() == []


def test_queries_without_a_difference_are_left_out():
    qrels, run = QRELS | {"none": {"a": 0}}, OLD | {"none": ["a"]}
    difference = rs.diff(qrels, run, rank(1, 1, 2, 1) | run, AP, policy="empty=skip")
    ax = plots.draw_differences(difference)
    assert len(ax.containers[0]) == 4
    assert legend(ax) == ["equal: 4"]


@pytest.mark.parametrize("is_over_time", [False, True])
def test_losses_are_stacked_to_their_total(is_over_time):
    ax = plots.draw_losses(LOSSES, is_over_time=is_over_time)
    boxes = [[bar.get_bbox() for bar in part] for part in ax.containers]
    if is_over_time:
        ends = [[(box.y0, box.y1) for box in part] for part in boxes]
    else:
        ends = [[(box.x0, box.x1) for box in part] for part in boxes]
    assert ends == [
        [(0, 0.25), (0, 0.5)],
        [(0.25, 0.375), (0.5, 0.5)],
        [(0.375, 0.4375), (0.5, 0.75)],
        [(0.4375, 0.4375), (0.75, 0.875)],
    ]
    assert texts(ax) == ["0.438", "0.875"]
    assert [part[0].get_hatch() or "" for part in ax.containers] == ["", "///", "...", "xxx"]
    names = ax.get_xticklabels() if is_over_time else ax.get_yticklabels()
    assert [name.get_text() for name in names] == ["one", "other"]
    assert legend(ax) == ["retrieval", "truncation", "ordering", "no relevant documents"]


@pytest.mark.parametrize("theme", PALETTES)
def test_kinds_of_loss_have_the_colors_of_the_report(theme):
    fills = [to_hex(bar[0].get_facecolor()) for bar in draw("losses", theme=theme).containers]
    palette = PALETTES[theme]
    assert fills == [palette.retrieval, palette.truncation, palette.ordering, palette.undefined]
    assert f"--retrieval: {fills[0]};" in write_properties()


def test_stages_of_a_pipeline_are_shades_of_retrieval_loss():
    bars = draw("losses of stages").containers
    looks = [(bar[0].get_hatch(), to_hex(bar[0].get_facecolor())) for bar in bars]
    shades = [LIGHT.stage[at % 3] for at in range(5)]
    assert [fill for _, fill in looks] == [
        *shades, LIGHT.truncation, LIGHT.ordering, LIGHT.undefined
    ]  # fmt: skip
    assert len(set(looks)) == 8
    assert all(one[0] != other[0] and one[1] != other[1] for one, other in pairwise(looks))


def test_losses_of_slices_are_their_means():
    ax = plots.draw_losses(UNSEEN, is_over_time=True)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["28", "29", "30"]
    assert [[bar.get_height() for bar in part] for part in ax.containers] == [
        [0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0],
    ]  # fmt: skip
    # What was not shown is not known, so its loss is none at all, and not 0.
    assert ax.get_title(loc="left") == "Loss of nDCG@1 by week; retrieval not observable"
    assert legend(ax) == ["truncation", "no relevant documents"]
    assert "by calendar week;" in draw("losses of slices").get_title(loc="left")
    assert "observable" not in draw("losses").get_title(loc="left")


@pytest.mark.parametrize(
    "name", [name for name in DRAWN if "losses" in name or name in ("scatter", "differences")]
)
def test_a_legend_is_between_the_title_and_the_plot(name):
    ax = draw(name)
    ax.get_figure().draw_without_rendering()
    box, title = ax.get_legend().get_window_extent(), ax._left_title.get_window_extent()
    assert ax.get_window_extent().y1 <= box.y0
    assert box.y1 <= title.y0 + 1


def test_bounds_of_runs_are_ranges_with_a_value():
    ax = draw("bounds")
    (ranges,) = ax.collections
    assert [segment[:, 0].tolist() for segment in ranges.get_segments()] == [[0.25, 0.75], [1, 1]]
    assert points(ax.lines[0]) == [(0.5, 0), (1, 1)]
    assert texts(ax) == ["0.250 to 0.750", "1.000 to 1.000"]


def test_bounds_of_queries_are_sorted_by_value():
    ax = plots.draw_bounds(make_bounds((0.25, 0, 0.5), (math.nan,) * 3, (0.5, 0.25, 1)))
    assert rows(ax) == ["q2", "q0"]
    assert texts(ax) == ["0.250 to 1.000", "0.000 to 0.500"]
    many = draw("bounds of queries")
    segments = many.collections[0].get_segments()
    assert [segment[:, 1].tolist() for segment in segments] == [
        [n / 80, n / 40] for n in reversed(range(40))
    ]
    assert many.get_ylim()[0] == 0
    assert many.get_xlabel() == "40 queries, sorted"


@pytest.mark.parametrize("count", [2, 40])
def test_bounds_of_differences_have_a_line_at_zero(count):
    ranges = ((0.5 - n / 40, -0.75, 0.75) for n in range(count))
    ax = plots.draw_bounds(make_bounds(*ranges, is_difference=True))
    zero = ax.lines[-1]
    across = zero.get_xdata() if count == 2 else zero.get_ydata()
    assert [*across] == [0, 0]
    low, high = ax.get_xlim() if count == 2 else ax.get_ylim()
    assert low < -0.75 < 0.75 < high
    assert ax.get_title(loc="left").startswith("difference of nDCG@10 ")


@pytest.mark.parametrize("theme", PALETTES)
def test_each_run_is_a_mark_at_its_value_and_a_line_is_at_each_baseline(theme):
    ax = plots.draw_leaderboard(BOARD, theme=theme)
    marks = [line for line in ax.lines if line.get_linestyle() == "None"]
    (baseline,) = [line for line in ax.lines if line not in marks]
    drawn = {y: x for line in marks for x, y in points(line)}
    values = [entry.values["nDCG@2"] for entry in BOARD]
    assert drawn == dict(enumerate(values))
    assert baseline.get_xdata()[0] == BOARD["good"].values["nDCG@2"]
    assert rows(ax) == ["x$y$", "good", "poor"]
    assert texts(ax) == [f"{x:.4f}  {group}" for x, group in zip(values, "ABC", strict=True)]
    assert texts(plots.draw_leaderboard(BOARD, "mrr(rel=2)"))[1:] == ["1.0000  B", "0.3333  C"]
    assert plots.to_svg(BOARD.plot("nDCG@2", theme=theme)).startswith("<svg")


def test_runs_without_a_value_are_left_out_and_none_at_all_is_an_error():
    none = {query: {"a": 0} for query in QRELS}
    board = rs.leaderboard(none, RUNS, "RR", policy="empty=skip")
    with pytest.raises(rs.errors.EmptyError, match="no run has a value of RR"):
        board.plot()
    with pytest.raises(rs.UsageError, match="the leaderboard has no measure AP"):
        board.plot("AP")


def test_a_forest_has_a_row_for_each_difference():
    ax = plots.draw_forest(FOREST)
    band, *_ = ax.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == (-0.03125, 0.03125)
    intervals = [lines.get_segments()[0][:, 0].tolist() for lines in ax.collections]
    assert intervals == [[0.0625, 0.1875], [-0.625, 0.125]]
    zero, *circles = ax.lines
    assert [*zero.get_xdata()] == [0, 0]
    assert [points(circle) for circle in circles] == [[(0.125, 0)], [(-0.25, 1)], [(-0.375, 2)]]
    is_filled = [to_hex(each.get_markerfacecolor()) != LIGHT.paper for each in circles]
    assert is_filled == [True, False, False]
    assert rows(ax) == ["new minus old", "newer minus old", "newer minus new"]
    assert ax.get_title(loc="left") == "Differences of AP"
    assert (
        ax.get_xlabel()
        == "difference of AP; filled: p < 0.05 after correction (Holm); band: ±0.03125"
    )
    assert [text for text in texts(ax) if text] == [
        "95% interval", "p",
        "+0.1250", "+0.0625 to +0.1875", "<0.001",
        "-0.2500", "-0.6250 to +0.1250", "0.250",
        "-0.3750", "none", "–",
    ]  # fmt: skip


def test_long_names_that_differ_stay_different():
    ax = draw("forest of long names")
    assert len(set(rows(ax))) == 6
    assert all("…" in name and "\nminus " in name for name in rows(ax))
    assert "not corrected" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("comparison", "against", "expected"),
    [
        (CRITICAL, "dense", {"bm25": (-0.125, -0.1875), "both": (0.125, 0.0625)}),
        (
            make_comparison(
                THREE, [make_pair("bm25", run, 0.25) for run in ("dense", "both")], baseline="bm25"
            ),
            None,
            {"dense": (0.25, 0.1875), "both": (0.25, 0.1875)},
        ),
    ],
)
def test_a_forest_can_have_the_pairs_of_one_run(comparison, against, expected):
    ax = plots.draw_forest(comparison, "AP", against=against)
    differences = [circle.get_xdata()[0] for circle in ax.lines[1:]]
    lower = [lines.get_segments()[0][0, 0] for lines in ax.collections]
    assert dict(zip(rows(ax), zip(differences, lower, strict=True), strict=True)) == expected
    assert ax.get_title(loc="left") == f"AP: difference from {against or 'bm25'}"


def test_a_forest_of_slices_starts_with_all_queries():
    ax = plots.draw_slices(SLICED)
    assert rows(ax) == ["all queries", "de", "at"]
    assert [circle.get_xdata()[0] for circle in ax.lines[1:]] == [0.25, 0.5, 0.125]
    assert ax.get_title(loc="left") == "AP: new minus old, by country"
    assert rows(plots.draw_slices(SLICED, run="new", baseline="old")) == rows(ax)
    assert rows(plots.draw_forest(SLICED)) == ["new minus old"]


BASELINE = make_comparison(THREE, [make_pair("bm25", "both", 0.5)], baseline="bm25", by="country")


@pytest.mark.parametrize(
    ("draw_one", "comparison", "options", "code"),
    [
        (plots.draw_forest, CRITICAL, {"measure": "nDCG@10"}, "not_compared"),
        (plots.draw_forest, CRITICAL, {"against": "splade"}, "not_compared"),
        (plots.draw_slices, BASELINE, {"run": "bm25"}, "not_compared"),
        (plots.draw_slices, BASELINE, {"measure": "nDCG@10"}, "not_compared"),
        (plots.draw_slices, CRITICAL, {}, "no_slices"),
        (plots.draw_critical_differences, BASELINE, {}, "not_compared"),
        (plots.draw_critical_differences, CRITICAL, {"measure": "nDCG@10"}, "not_compared"),
        (plots.draw_critical_differences, CRITICAL, {"axis": "median"}, "bad_parameter"),
    ],
)
def test_what_is_not_compared_is_not_drawn(draw_one, comparison, options, code):
    with refuses(rs.UsageError, code):
        draw_one(comparison, **options)


def read_critical(ax, runs):
    """The runs with their values, worst first, and the groups that bars join, with their height."""
    stems, bars = ax.lines[: len(runs)], ax.lines[len(runs) :]
    names = [text.rsplit("  ", 1)[0] for text in texts(ax)]
    values = [line.get_xdata()[0] for line in stems]
    places = {value: at for at, value in enumerate(values)}
    groups = {tuple(places[x] for x in bar.get_xdata()): bar.get_ydata()[0] for bar in bars}
    return dict(zip(names, values, strict=True)), groups


def test_a_bar_joins_the_runs_of_a_group_with_dots():
    ax = plots.draw_critical_differences(CRITICAL)
    placed, groups = read_critical(ax, THREE)
    assert placed == THREE
    assert texts(ax) == ["bm25  0.2500", "dense  0.3750", "both  0.5000"]
    # They share a run, so they are not at one height.
    assert groups.keys() == {(0, 1), (1, 2)}
    assert groups[0, 1] < groups[1, 2]
    caption = " ".join(ax.get_xlabel().split())
    assert caption.endswith("Holm, p < 0.05, 10 queries.")
    pair = compare_all(THREE, apart(*combinations(THREE, 2)))
    assert plots.draw_critical_differences(pair).get_xlabel().startswith("All pairs of runs differ")


def test_bars_that_do_not_touch_share_a_height():
    means = {str(n): n for n in range(4)}
    alike = [("0", "1"), ("2", "3")]
    comparison = compare_all(means, apart(*combinations(means, 2)) - apart(*alike))
    _, groups = read_critical(plots.draw_critical_differences(comparison), means)
    assert groups[0, 1] == groups[2, 3]


@pytest.mark.parametrize(
    ("options", "direction", "is_falling"),
    [({}, "higher", False), ({}, "lower", True), ({"axis": "rank"}, "higher", True)],
)
def test_the_best_run_is_at_the_right(options, direction, is_falling):
    comparison = compare_all(THREE, direction=direction)
    left, right = plots.draw_critical_differences(comparison, **options).get_xlim()
    assert (left > right) == is_falling


def test_groups_are_the_largest_sets_without_a_significant_difference():
    chance = Random(5)
    for count in (2, 5, 8):
        means = {f"run {n}": chance.random() for n in range(count)}
        different = {frozenset(two) for two in combinations(means, 2) if chance.random() < 0.4}
        ax = plots.draw_critical_differences(compare_all(means, different))
        placed, groups = read_critical(ax, means)
        names = [*placed]
        assert names == sorted(means, key=lambda name: means[name])
        alike = [
            set(chosen)
            for size in range(2, count + 1)
            for chosen in combinations(range(count), size)
            if not different & apart(*combinations((names[at] for at in chosen), 2))
        ]
        largest = [tuple(sorted(one)) for one in alike if not any(one < other for other in alike)]
        assert list(groups) == sorted(largest)


def test_average_ranks_are_those_of_the_values_of_queries():
    chance = Random(7)
    values = {run: [chance.choice([0, 1, 2, 3]) / 3 for _ in range(20)] for run in "abcd"}
    compared = []
    for one, other in combinations(values, 2):
        signs = [(y > x) - (y < x) for x, y in zip(values[one], values[other], strict=True)]
        counts = (signs.count(1), signs.count(0), signs.count(-1))
        compared.append(make_pair(one, other, 0.0, counts=counts))
    comparison = make_comparison(dict.fromkeys(values, 0.5), compared)
    ax = plots.draw_critical_differences(comparison, axis="rank")
    placed, _ = read_critical(ax, values)
    ranks = rankdata([[-value for value in each] for each in values.values()], axis=0).mean(axis=1)
    assert placed == pytest.approx(dict(zip(values, ranks.tolist(), strict=True)))
    # The worst has the highest rank and comes first.
    assert [*placed.values()] == sorted(placed.values(), reverse=True)


def test_names_of_many_runs_do_not_stand_on_each_other():
    ax = draw("critical differences of many")
    ax.get_figure().draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_queries_with_the_same_values_share_a_larger_point():
    runs = {"old": rank(2, 2, 1, 4), "new": rank(1, 1, 2, 4)}
    ax = plots.draw_scatter(evaluate(RR, runs=runs))
    better, worse, equal = [points for points in ax.collections if len(points.get_offsets())]
    assert better.get_offsets().tolist() == [[0.5, 1.0]]
    assert worse.get_offsets().tolist() == [[1.0, 0.5]]
    assert equal.get_offsets().tolist() == [[0.25, 0.25]]
    assert better.get_sizes()[0] == 2 * worse.get_sizes()[0]
    assert legend(ax) == ["new better: 2", "old better: 1", "equal: 1"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("old, mean 0.5625", "new, mean 0.6875")


def test_a_scatter_has_the_queries_with_both_values():
    qrels = QRELS | {"none": {"a": 0}}
    found = evaluate(AP, R @ 1, qrels=qrels, policy="empty=skip")
    ax = plots.draw_scatter(found, R @ 1)
    assert ax.get_title(loc="left") == "R@1 of 4 queries"
    difference = rs.diff(qrels, OLD, NEW, R @ 1, names=("old", "new"), policy="empty=skip")
    assert legend(ax) == [
        f"new better: {difference.wins}",
        f"old better: {difference.losses}",
        f"equal: {difference.ties}",
    ]
    assert ax.get_xlim() == pytest.approx((-0.03, 1.03))


@pytest.mark.parametrize(
    ("measure", "runs", "expected"),
    [
        ("OrderingLoss@3", {"good": "abc", "poor": "cba"}, (LIGHT.worse, "good better: 12")),
        ("NumRet", {"short": "a", "long": "abc"}, (LIGHT.better, "long higher: 12")),
    ],
)
def test_queries_have_the_color_of_the_run_that_is_better(measure, runs, expected):
    (one, old), (other, new) = (
        (name, {query: [*order] for query in GRADES}) for name, order in runs.items()
    )
    difference = rs.diff(GRADES, old, new, measure, names=(one, other))
    bars = plots.draw_differences(difference)
    scatter = plots.draw_scatter(evaluate(measure, qrels=GRADES, runs={one: old, other: new}))
    color, text = expected
    assert {to_hex(bar.get_facecolor()) for bar in bars.containers[0]} == {color}
    drawn = [each for each in scatter.collections if len(each.get_offsets())]
    assert {to_hex(each.get_facecolor()[0]) for each in drawn} == {color}
    assert legend(bars) == legend(scatter) == [text]


def test_a_scatter_of_a_measure_without_a_bound_ends_at_the_highest_value():
    found = evaluate("DCG@2", qrels={query: {"a": 3} for query in QRELS})
    highest = max(found["old"].per_query("DCG@2"))
    assert plots.draw_scatter(found).get_xlim() == pytest.approx((-0.03 * highest, 1.03 * highest))


def test_thousands_of_queries_are_counted_in_cells():
    cells = [each for each in draw("dense scatter").collections if each.get_array() is not None]
    assert sum(np.sum(each.get_array()) for each in cells) == len(MANY)
    assert len({each.get_clim() for each in cells}) == 1
    assert sum(len(each.get_offsets()) for each in cells) < len(MANY)


ONE = rs.evaluate(QRELS, OLD, AP)
ELSEWHERE = rs.evaluate({"q0": {"a": 1}}, {"q0": ["a"]}, AP)
NOT_ALIKE = {
    plots.draw_scatter: {"a": ONE, "b": ELSEWHERE},
    plots.draw_losses: {**LOSSES, "third": make_losses(0, 0, 0, 0, measure=nDCG @ 1)},
    plots.draw_bounds: {**BOUNDS, "third": make_bounds((0, 0, 0), measure=nDCG @ 1)},
}


@pytest.mark.parametrize("draw_one", NOT_ALIKE)
def test_results_that_are_not_alike_are_not_drawn_together(draw_one):
    with refuses(rs.UsageError, "not_alike"):
        draw_one(NOT_ALIKE[draw_one])


def test_results_without_what_is_drawn_are_refused():
    with refuses(rs.UsageError, "not_alike"):
        plots.draw_losses({**LOSSES, "staged": STAGED["one"]})
    with refuses(rs.UsageError, "no_slices"):
        plots.draw_losses(LOSSES["one"])
    with refuses(rs.UsageError, "bad_parameter"):
        plots.draw_scatter({"a": ONE})
    with refuses(rs.errors.MeasureError, "not_evaluated"):
        plots.draw_scatter(evaluate(AP), "P@5")


MEASURES = [nDCG @ 1, nDCG @ 2]
PLOTTED = {
    "Evaluation": (evaluate(*MEASURES)["old"], plots.draw_cutoffs),
    "Evaluations": (evaluate(*MEASURES), plots.draw_cutoffs),
    "Comparison": (rs.compare(QRELS, RUNS, RR, bounds=False), plots.draw_forest),
    "Leaderboard": (rs.leaderboard(QRELS, RUNS, RR), plots.draw_leaderboard),
    "Losses": (
        rs.losses(QRELS, OLD, nDCG @ 2, by=dict(zip(QRELS, "abab", strict=True))),
        plots.draw_losses,
    ),
    "Bounds": (rs.bounds(QRELS, OLD, nDCG @ 2), plots.draw_bounds),
    "RunDifference": (rs.diff(QRELS, OLD, NEW, nDCG @ 2), plots.draw_differences),
    "Discounts": (rs.measures.tabulate_discounts(), plots.draw_discounts),
}


@pytest.mark.parametrize("name", PLOTTED)
def test_a_result_draws_the_picture_that_its_function_draws(name):
    result, draw = PLOTTED[name]
    assert type(result).__name__ == name
    pictures = (result.plot(theme="dark"), draw(result, theme="dark"))
    # Clips have random names.
    own, expected = (re.sub("[mph][0-9a-f]{10}", "", plots.to_svg(axes)) for axes in pictures)
    assert own == expected


def test_every_public_class_with_a_picture_is_among_them():
    drawn = {name for name in rs.__all__ if hasattr(getattr(rs, name), "plot")}
    assert drawn | {"Discounts"} == PLOTTED.keys()

"""The columns that measures print: computations of the core, and what trec_eval makes of them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rankscope._names import quote
from rankscope._trec_eval.requests import UNQUERIED, Entry, Options, Requested, refuse
from rankscope.errors import MeasureError
from rankscope.measures import Measure
from rankscope.measures.parse import parse

Kernel: TypeAlias = tuple[str, Mapping[str, object]]

if TYPE_CHECKING:
    Doubles: TypeAlias = memoryview[float] | array[float]


UNJUDGED: Kernel = parse("Unjudged(denominator='retrieved')@1000000000").kernel_spec()
RETRIEVED: Kernel = parse("NumRet").kernel_spec()
DIVIDED = math.copysign(math.nan, -1)
"""What 0 divided by 0 is on x86-64; printed, it is -nan."""
INTERPOLATED = {"iprec_at_recall", "11pt_avg"}
CHARACTERS = 6
"""How many characters of relstring a value of the core holds."""

UNJUDGED_GRADE = -1
NEGATIVE_GRADE = -2
"""What trec_eval calls documents without a judgment, and those with a grade below 0."""
DEFAULT_P = 0.9
LARGEST_P = 0.9999
NEGLIGIBLE = 1e-18
"""How little a rank has to weigh for RBP to leave it and those below it out."""


class Column(NamedTuple):
    """A name that is printed, with the computations of the core that it needs."""

    request: Requested
    name: str
    kernels: tuple[Kernel, ...]
    finish: Callable[..., Sequence[Doubles]] = lambda *columns: columns
    """Makes what is printed of their values by query: one column, or as many as a text needs."""

    def compute(self, by_kernel: Mapping[str, Doubles]) -> Sequence[Doubles]:
        """Return what is printed, from the values of kernels by the text of the kernel."""
        return self.finish(*(by_kernel[repr(kernel)] for kernel in self.kernels))


def plan_columns(request: Requested, grades: Sequence[float], options: Options) -> Iterator[Column]:
    """Yield the names that a measure prints for each query."""
    name, values = request.entry.name, request.values
    if name in UNQUERIED:
        return
    if name == "relstring":
        starts = range(1, int(max(values[0], 1)) + 1, CHARACTERS)
        texts = tuple(("relstring", {"k": start}) for start in starts)
        yield Column(request, request.name, texts, partial(_cut_text, values[0]))
        return
    relevant = count_relevant(options.level)
    if name == "set_F":
        # The square of a square root may have another last bit than the weight.
        parts = (parse(part)(rel=options.level).kernel_spec() for part in ("set_P", "set_recall"))
        yield Column(request, request.name, tuple(parts), partial(_weigh, values[0]))
        return
    if name == "rbp" and request.has_gains:
        yield Column(request, request.name, (rbp_kernel(request, grades),))
        return
    measures = make_measures(request, options)
    for place, (printed, measure) in enumerate(zip(request.names, measures, strict=True)):
        kernel, params = measure.kernel_spec(grades=grades)
        has_gains = request.pairs and "gain" in params
        gains = gain_parameters(request.pairs, grades) if has_gains else {}
        computed: Kernel = kernel, {**params, **gains}
        column = partial(Column, request, printed)
        if name == "rbp_resid":
            yield column((computed, UNJUDGED), _clear_judged)
        elif name == "Rndcg":
            yield column((computed, relevant, _gains(request, grades)), _check_gains)
        elif name in INTERPOLATED:
            level = min(values) if name == "11pt_avg" else values[place]
            rounding = 0.9 if options.dialect == "9" else 0.5
            finish = partial(_check_lengths, level, rounding)
            yield column((computed, RETRIEVED, relevant), finish)
        else:
            yield column((computed,))


@lru_cache(maxsize=256)
def make_measures(request: Requested, options: Options) -> list[Measure]:
    """Return the measures of rankscope that have these values."""
    try:
        measures = _make_measures(request, options)
    except MeasureError as error:
        raise refuse(f"{request.name}: {error.message}", error.hint) from None
    parameters = measures[0].parameters
    settings: dict[str, object] = {}
    if options.dialect == "10" and request.entry.name in INTERPOLATED:
        settings["rounding"] = "nearest"
    if parameters.get("rel") is not None and not parameters.get("graded"):
        settings["rel"] = options.level
    return [measure(**settings) for measure in measures]


def _make_measures(request: Requested, options: Options) -> list[Measure]:
    name, values = request.entry.name, request.values
    if request.entry.takes in {"cutoffs", "levels"}:
        is_cut = request.entry.takes == "cutoffs"
        return [parse(f"{name}_{int(value) if is_cut else repr(value)}") for value in values]
    measure = parse(name)
    if name == "utility":
        worth = dict(zip(("hit", "false_alarm", "miss", "rejection"), values, strict=True))
        return [measure(**worth, documents=options.documents)]
    if name == "11pt_avg":
        return [measure(levels=list(values))]
    if name == "set_F":
        # Its weight is the square of beta. Without a weight, F is precision.
        return [measure(beta=math.sqrt(values[0])) if values[0] else parse("set_P")]
    return [measure(p=p) for key, p in request.pairs if key == "p"] or [measure]


def find_gains(pairs: Sequence[tuple[str, float]], grades: Sequence[float]) -> dict[float, float]:
    """Return the gains of grades, which are the grades, except where pairs set others."""
    special = {float(name): gain for name, gain in pairs}
    gains = {grade: max(grade, 0.0) for grade in grades}
    gains |= {grade: gain for grade, gain in special.items() if grade >= 0}
    if NEGATIVE_GRADE in special:
        gains |= {grade: special[NEGATIVE_GRADE] for grade in grades if grade < 0}
    return gains


def gain_parameters(
    pairs: Sequence[tuple[str, float]], grades: Sequence[float], scale: float = 1.0
) -> dict[str, object]:
    """Return the parameters of a kernel for gains of grades, divided by a scale."""
    special = {float(name): gain for name, gain in pairs}
    gains = sorted(find_gains(pairs, grades).items())
    return {
        "gain": [[grade, gain / scale] for grade, gain in gains],
        "unjudged_gain": special.get(UNJUDGED_GRADE, 0.0) / scale,
        "negative_gain": NEGATIVE_GRADE in special,
    }


def rbp_scale(request: Requested, grades: Sequence[float]) -> float:
    """Return what the gains of RBP are divided by, so that none is above 1."""
    gains = {float(name): gain for name, gain in request.pairs if name != "p"}
    if min(gains.values()) < 0:
        raise refuse(f"expected gains of 0 or more after rbp, found {quote(request.text)}")
    scale = max(1.0, *gains.values())
    left = max((grade for grade in grades if grade not in gains), default=0.0)
    if left > scale:
        text = f"expected a gain for grade {left:g} after rbp, found {quote(request.text)}"
        raise refuse(text, f"write -m rbp.{request.text},{left:g}={left:g}")
    return scale


def rbp_kernel(request: Requested, grades: Sequence[float]) -> Kernel:
    """Return the computation of RBP with gains of grades: discounted gain, ranks weigh by p."""
    scale = rbp_scale(request, grades)
    p = dict(request.pairs).get("p", DEFAULT_P)
    if not 0 <= p <= LARGEST_P:
        raise refuse(f"expected p from 0 to {LARGEST_P} after rbp, found {quote(request.text)}")
    ranks = math.ceil(math.log(NEGLIGIBLE) / math.log(p)) if p else 1
    weights = {"kind": "table", "weights": [(1 - p) * p**rank for rank in range(ranks)]}
    pairs = [pair for pair in request.pairs if pair[0] != "p"]
    return "dcg", {"k": ranks, "discount": weights, **gain_parameters(pairs, grades, scale)}


def count_relevant(level: int) -> Kernel:
    """Return the computation of how many documents have this grade or a higher one."""
    return parse("NumRel")(rel=level).kernel_spec()


def _gains(request: Requested, grades: Sequence[float]) -> Kernel:
    """Return a computation that is above 0 if a judged document of a query has a gain."""
    kernel, params = parse("IDCG").kernel_spec(grades=grades)
    pairs = [(name, gain) for name, gain in request.pairs if float(name) >= 0]
    return kernel, {**params, **gain_parameters(pairs, grades)}


def _cut_text(length: float, *columns: Doubles) -> Sequence[Doubles]:
    """Cut what the last column of a text has beyond its length."""
    mask = (1 << 8 * (int(max(length, 0)) - CHARACTERS * (len(columns) - 1))) - 1
    return [*columns[:-1], array("d", (float(int(value) & mask) for value in columns[-1]))]


def _weigh(weight: float, *columns: Doubles) -> Sequence[Doubles]:
    """Return F whose weight is the square of beta, by the operations of trec_eval."""
    parts = ((p, r, r + weight * p) for p, r in zip(*columns, strict=True))
    return [array("d", [(weight + 1) * p * r / both if both > 0 else 0.0 for p, r, both in parts])]


def _clear_judged(*columns: Doubles) -> Sequence[Doubles]:
    """Return a residual of RBP of 0 where all retrieved documents are judged."""
    pairs = zip(*columns, strict=True)
    return [array("d", [value if unjudged else 0.0 for value, unjudged in pairs])]


def _check_gains(*columns: Doubles) -> Sequence[Doubles]:
    """Return 0 where no document is relevant; without gains, trec_eval divides by 0."""
    rows = zip(*columns, strict=True)
    return [array("d", [(v if ideal > 0 else DIVIDED) if n else 0.0 for v, n, ideal in rows])]


def _check_lengths(level: float, rounding: float, *columns: Doubles) -> Sequence[Doubles]:
    """Divide by the length of an empty list where no relevant document is needed."""
    rows = zip(*columns, strict=True)
    return [array("d", [DIVIDED if not n and level * r + rounding < 1 else v for v, n, r in rows])]


def describe_differences(
    requests: Sequence[Requested],
    evaluated: Sequence[Evaluated],
    grades: Sequence[float],
    by_kernel: Mapping[str, Doubles],
    present: Sequence[int],
    *,
    options: Options,
) -> Iterator[str]:
    """Return what to tell about this evaluation."""
    names = {request.entry.name for request in requests}
    retrieved = [query for query, is_present in enumerate(present) if is_present]
    missing = len(present) - len(retrieved)
    if options.dialect == "10" and missing and not options.is_complete:
        yield f"trec_eval 10 stops at a judged query that isn't in the run; there are {missing}"
    for request in requests:
        if request.entry.name == "rbp":
            yield from _describe_rbp(request, [grade for grade in grades if grade >= 0])
    if "rbp_resid" in names:
        yield from _describe_residuals(by_kernel[repr(UNJUDGED)], retrieved)
    for name in names:
        columns = [shown.columns[0] for shown in evaluated if shown.entry.name == name]
        if empty := _count_empty(columns, retrieved):
            yield f"{name} is -nan, as in trec_eval, for queries without a value: {empty}"
    if "num_rel" in names and options.is_complete and options.level != 1:
        yield "with -c, num_rel of all queries counts grades of 1 or more, as in trec_eval: not -l"
    for request in requests:
        if request.pairs and not request.entry.name.startswith("rbp"):
            yield from _describe_gains(request, grades)


def _describe_residuals(unjudged: Doubles, queries: Sequence[int]) -> Iterator[str]:
    """Return what to tell about lists of which all documents are judged."""
    if whole := sum(unjudged[query] == 0 for query in queries):
        yield (
            "rbp_resid is 0, as in trec_eval 10, for queries of which all retrieved documents "
            f"are judged: {whole}; RBPResidual of rankscope eval includes the ranks below the "
            "end of the list"
        )


def _count_empty(columns: Sequence[Doubles], queries: Sequence[int]) -> int:
    """Return how many queries lack a value in some column."""
    # Most columns are all numbers, which their sum tells faster than a look at each.
    lacking = [column for column in columns if math.isnan(sum(column))]
    return sum(any(math.isnan(column[query]) for column in lacking) for query in queries)


def _describe_rbp(request: Requested, grades: Sequence[float]) -> Iterator[str]:
    """Return what to tell about the scale of RBP."""
    by = "grades by the highest one of each query" if max(grades, default=0) > 1 else ""
    if request.has_gains:
        scale = rbp_scale(request, grades)
        by = f"gains by the highest one, {scale:g}" if scale > 1 else ""
    if by:
        yield f"rbp divides {by}; trec_eval 10 scales them by variables that are never set"


def _describe_gains(request: Requested, grades: Sequence[float]) -> Iterator[str]:
    """Return what to tell about gains of grades, for all grades that the judgments have."""
    gains = find_gains(request.pairs, [grade for grade in grades if grade >= 0])
    if any(0 < high - low < 1 for low, high in pairwise(sorted(gains.values()))):
        yield f"{request.name} has gains less than 1 apart, which trec_eval sorts wrongly"
    if min(grades, default=0) < 0 and any(
        float(name) == NEGATIVE_GRADE and gain > 0 for name, gain in request.pairs
    ):
        yield (
            f"{request.name} includes documents with a negative grade in the ideal list; trec_eval "
            "doesn't, so its values can be larger than 1"
        )


class Evaluated(NamedTuple):
    """A measure with the name that is printed, and its values."""

    entry: Entry
    name: str
    columns: Sequence[Doubles]
    """The values by query: one column, or as many as a text needs."""
    complete: Doubles | None = None
    """The values that are added up over all judged queries, if they are others: with `-c`,
    trec_eval counts relevant documents in the judgments, without regard to `-l`."""

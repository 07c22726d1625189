"""What trec_eval prints where a measure has no value, or another one than by its definition."""

from __future__ import annotations

import math
from array import array
from functools import cache, partial

from rankscope.measures import parse
from rankscope.records import record
from rankscope.trec_eval.requests import gain_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rankscope.trec_eval.requests import Options, Requested
    from rankscope.trec_eval.values import Doubles, Kernel, QueryValues

DIVIDED = math.copysign(math.nan, -1)
"""What 0 divided by 0 is on x86-64; printed, it is -nan."""

UNJUDGED: Kernel = parse("Unjudged(denominator='retrieved')@1000000000").kernel_spec()
RETRIEVED: Kernel = parse("NumRet").kernel_spec()
INTERPOLATED = {"iprec_at_recall", "11pt_avg"}
CORRECTED = {*INTERPOLATED, "Rndcg", "rbp_resid", "set_F"}
"""The measures that `correct` may change."""
CLEARED = {"num_ret", "utility", "rbp_resid", "relstring"}
"""The names of version 10 that it sets to 0 for a query that isn't in the run, in this spelling."""


@cache
def num_rel(level: int) -> Kernel:
    """Return the computation of how many documents have this grade or a higher one."""
    return parse("NumRel")(rel=level).kernel_spec()


def _gains(requested: Requested, grades: Sequence[float], options: Options) -> Kernel:
    """Return a computation that is above 0 if a judged document of a query has a gain."""
    if options.level > 0 and not requested.pairs:
        return num_rel(options.level)
    kernel, params = parse("IDCG").kernel_spec(grades=grades)
    own = [(name, gain) for name, gain in requested.pairs if float(name) >= 0]
    table = gain_table(type(requested)(requested.entry, "", (), tuple(own)), grades)
    return kernel, {**params, **table.parameters()}


@record(frozen=True, slots=True)
class Known:
    """What decides whether a value is defined.

    Args:
        options: The arguments of the command.
        grades: The distinct grades of the judgments.
        found: The queries.
        columns: The values of kernels, by the text of the kernel.
    """

    options: Options
    grades: Sequence[float]
    found: QueryValues
    columns: Mapping[str, Doubles]

    def column(self, kernel: Kernel) -> Doubles:
        """Return the values of a kernel."""
        return self.columns[repr(kernel)]


def kernels_needed(
    requests: Iterable[Requested], grades: Sequence[float], options: Options
) -> Iterable[Kernel]:
    """Return the computations that `correct` needs."""
    for request in requests:
        name = request.entry.name
        if name == "rbp_resid":
            yield UNJUDGED
        elif name in INTERPOLATED:
            yield from (RETRIEVED, num_rel(options.level))
        elif name == "Rndcg":
            yield from (num_rel(options.level), _gains(request, grades, options))


def correct(
    requested: Requested, name: str, columns: list[Doubles], place: int, known: Known
) -> list[Doubles]:
    """Return what trec_eval prints of a measure."""
    values, options, entry = columns[0], known.options, requested.entry.name
    if entry == "set_F" and requested.text:
        return [array("d", map(partial(_weigh, requested.values[0]), *columns))]
    if entry == "rbp_resid":
        unjudged = known.column(UNJUDGED)
        values = _map(values, lambda query: 0.0 if unjudged[query] == 0 else None)
    elif entry in INTERPOLATED:
        level = min(requested.values) if entry == "11pt_avg" else requested.values[place]
        rounding = 0.9 if options.dialect == "9" else 0.5
        retrieved, relevant = known.column(RETRIEVED), known.column(num_rel(options.level))
        # The precision of no documents counts where no relevant one is needed.
        divided = [
            query
            for query, count in enumerate(retrieved)
            if count == 0 and level * relevant[query] + rounding < 1
        ]
        if divided:
            values = array("d", values)
            for query in divided:
                values[query] = DIVIDED
    elif entry == "Rndcg":
        relevant = known.column(num_rel(options.level))
        ideal = known.column(_gains(requested, known.grades, options))

        def average(query: int) -> float | None:
            if relevant[query] == 0:
                return 0.0
            return None if ideal[query] > 0 else DIVIDED

        values = _map(values, average)
    columns = [values, *columns[1:]]
    if options.dialect == "10" and (name in CLEARED or entry == "unj"):
        absent = set(known.found.judged) - set(known.found.retrieved)
        columns = [
            _map(column, lambda query: 0.0 if query in absent else None) for column in columns
        ]
    return columns


def _weigh(weight: float, precision: float, recall: float) -> float:
    """Return F whose weight is the square of beta, by the operations of trec_eval."""
    below = recall + weight * precision
    return (weight + 1) * precision * recall / below if below > 0 else 0.0


def _map(values: Doubles, change: Callable[[int], float | None]) -> array[float]:
    """Return values with those changed for which a function returns another one."""
    found = ((value, change(query)) for query, value in enumerate(values))
    return array("d", (value if other is None else other for value, other in found))

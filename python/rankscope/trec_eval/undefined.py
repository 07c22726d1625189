"""What trec_eval prints where a measure has no value, or another one than by its definition."""

from __future__ import annotations

import math
from array import array

from rankscope.measures import parse
from rankscope.records import record
from rankscope.trec_eval.requests import gain_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Mapping

    from rankscope.engine.trec_values import Doubles, Kernel, QueryValues
    from rankscope.inputs.qrels import Qrels
    from rankscope.trec_eval.requests import Requested

DIVIDED = math.copysign(math.nan, -1)
"""What 0 divided by 0 is on x86-64; printed, it is -nan."""

UNJUDGED: Kernel = parse("Unjudged(denominator='retrieved')@1000000000").kernel_spec()
RETRIEVED: Kernel = parse("NumRet").kernel_spec()
INTERPOLATED = {"iprec_at_recall", "11pt_avg"}
CLEARED = {"num_ret", "utility", "rbp_resid", "relstring"}
"""The names of version 10 that it sets to 0 for a query that isn't in the run, in this spelling."""


def num_rel(options: Namespace) -> Kernel:
    """Return the computation of how many documents are relevant at the level of `-l`."""
    return parse("NumRel")(rel=options.level).kernel_spec()


def _gains(requested: Requested, qrels: Qrels, options: Namespace) -> Kernel:
    """Return a computation that is above 0 if a judged document of a query has a gain."""
    if options.level > 0 and not requested.pairs:
        return num_rel(options)
    grades = qrels.judgments.grades()
    kernel, params = parse("IDCG").kernel_spec(grades=grades)
    own = [(name, gain) for name, gain in requested.pairs if float(name) >= 0]
    table = gain_table(type(requested)(requested.entry, "", (), tuple(own)), grades)
    return kernel, {**params, **table.parameters()}


@record(frozen=True, slots=True)
class Known:
    """What decides whether a value is defined.

    Args:
        options: The arguments of the command.
        qrels: The judgments.
        found: The queries.
        columns: The values of kernels, by the text of the kernel.
    """

    options: Namespace
    qrels: Qrels
    found: QueryValues
    columns: Mapping[str, Doubles]

    def column(self, kernel: Kernel) -> Doubles:
        """Return the values of a kernel."""
        return self.columns[repr(kernel)]


def kernels_needed(
    requests: Iterable[Requested], qrels: Qrels, options: Namespace
) -> Iterable[Kernel]:
    """Return the computations that `correct` needs."""
    for request in requests:
        name = request.entry.name
        if name == "rbp_resid":
            yield UNJUDGED
        elif name in INTERPOLATED and _can_be_empty(options):
            yield from (RETRIEVED, num_rel(options))
        elif name == "Rndcg":
            yield from (num_rel(options), _gains(request, qrels, options))


def correct(
    requested: Requested, name: str, columns: list[Doubles], place: int, known: Known
) -> list[Doubles]:
    """Return what trec_eval prints of a measure."""
    values, options, entry = columns[0], known.options, requested.entry.name
    if entry == "rbp_resid":
        unjudged = known.column(UNJUDGED)
        values = _map(values, lambda query: 0.0 if unjudged[query] == 0 else None)
    elif entry in INTERPOLATED and _can_be_empty(options):
        levels = requested.values if entry == "11pt_avg" else (requested.values[place],)
        rounding = 0.9 if options.dialect == "9" else 0.5
        retrieved, relevant = known.column(RETRIEVED), known.column(num_rel(options))

        def divide(query: int) -> float | None:
            # The precision of no documents counts where no relevant one is needed.
            needs_none = min(levels) * relevant[query] + rounding < 1
            return DIVIDED if needs_none and retrieved[query] == 0 else None

        values = _map(values, divide)
    elif entry == "Rndcg":
        relevant = known.column(num_rel(options))
        ideal = known.column(_gains(requested, known.qrels, options))

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


def _can_be_empty(options: Namespace) -> bool:
    """Whether a list can be empty after `-J` or `-M`."""
    return bool(options.Judged_docs_only) or options.depth == 0


def _map(values: Doubles, change: Callable[[int], float | None]) -> array[float]:
    """Return values with those changed for which a function returns another one."""
    found = ((value, change(query)) for query, value in enumerate(values))
    return array("d", (value if other is None else other for value, other in found))

"""How far two orders of the same systems agree."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope._core import Run
from rankscope._evaluate.evaluation import Evaluation
from rankscope.agreement.measures import check_settings, compare
from rankscope.agreement.result import OrderAgreement
from rankscope.errors import UsageError
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.agreement.measures import TieForm
    from rankscope.measures import Measure

MEASURES = ("tau", "tau_ap", "RBO")


def agreement_of_orders(
    a: Mapping[str, float] | Mapping[str, Evaluation],
    b: Mapping[str, float] | Mapping[str, Evaluation] | None = None,
    *,
    measures: tuple[Measure | str, Measure | str] | Measure | str | None = None,
    p: float = 0.9,
    ties: TieForm = "b",
) -> OrderAgreement:
    """Measure how far two orders of systems agree, such as those of two measures.

    Args:
        a: The mean of each system by its name, or its evaluation. The largest mean ranks first.
            This order is the reference of `tau_ap`.
        b: The same for the other order. If it is left out, `a` holds evaluations, and two measures
            make the two orders.
        measures: The measure of each order, or one for both, if there are evaluations.
        p: As in `agreement`.
        ties: As in `agreement`; systems with the same mean are tied.

    Raises:
        UsageError: The names differ, there are fewer than two systems, or an argument is invalid.

    Examples:
        >>> by_ndcg = {"bm25": 0.41, "dense": 0.47, "hybrid": 0.49}
        >>> by_rr = {"bm25": 0.60, "dense": 0.71, "hybrid": 0.68}
        >>> found = agreement_of_orders(by_ndcg, by_rr)
        >>> round(found.tau, 4), found.swapped
        (0.3333, (('hybrid', 'dense'),))
    """
    persistence = check_settings(p, ties)
    first, second = (measures, measures) if not isinstance(measures, tuple) else measures
    if b is None and not isinstance(measures, tuple):
        raise UsageError(
            "expected two orders, found one",
            hint="pass the other means as b, or two measures: measures=('nDCG@10', 'AP')",
            code="bad_parameter",
        )
    one = _read_means(a, first)
    other = _read_means(a if b is None else b, second)
    if one.keys() != other.keys():
        alone = sorted(one.keys() ^ other.keys())
        raise UsageError(
            f"expected the same systems in both orders, found {quote(alone[0])} in one only",
            hint="leave out the systems that have one mean only",
            code="bad_parameter",
        )
    if len(one) < 2:
        raise UsageError(
            f"expected at least 2 systems, found {len(one)}",
            hint="pass the mean of each system by its name",
            code="bad_parameter",
        )
    runs = [Run.from_dict({"systems": means}, "float64") for means in (one, other)]
    compared = compare(runs[0], runs[1], MEASURES, p=persistence, ties=ties, threads=1)
    tau, tau_ap, rbo = (float(compared.values[name][0]) for name in MEASURES)
    ranked = sorted(one, key=lambda name: (-one[name], name))
    return OrderAgreement(
        systems=len(one),
        tau=tau,
        tau_ap=tau_ap,
        rbo=rbo,
        p=persistence,
        ties=ties,
        swapped=tuple(
            (better, worse)
            for place, better in enumerate(ranked)
            for worse in ranked[place + 1 :]
            if one[better] > one[worse] and other[better] < other[worse]
        ),
    )


def _read_means(
    given: Mapping[str, float] | Mapping[str, Evaluation], measure: Measure | str | None
) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise UsageError(
            f"expected a mapping of name to mean, found {quote(given)}",
            hint="write {'bm25': 0.41, 'dense': 0.47}",
            code="bad_parameter",
        )
    means: dict[str, float] = {}
    for name, value in given.items():
        if isinstance(value, Evaluation):
            if measure is None and len(value) > 1:
                raise UsageError(
                    f"the evaluation of {quote(name)} has {len(value)} measures",
                    hint="choose one: measures='nDCG@10'",
                    code="bad_parameter",
                )
            means[name] = value[next(iter(value)) if measure is None else measure]
        else:
            means[name] = float(value)
        if means[name] != means[name]:
            raise UsageError(
                f"the mean of {quote(name)} is undefined",
                hint="leave this system out",
                code="bad_parameter",
            )
    return means

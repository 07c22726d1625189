"""Compares discounts: their weights by rank, and their effect on runs."""

from __future__ import annotations

from rankscope.engine.judgments import load_qrels
from rankscope.engine.requests import read_measures
from rankscope.errors import UsageError
from rankscope.evaluation.evaluating import Asked, evaluate_run, refuse_diagnostics
from rankscope.evaluation.rankings import Rankings
from rankscope.measures import nDCG
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from rankscope.discounts.comparison import DiscountComparison
    from rankscope.discounts.result import Discounts
    from rankscope.inputs.qrels import Qrels
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike

POWERS = (0.5,)
NDCG_AT_10 = nDCG @ 10


def tabulate_discounts(
    ranks: int = 10,
    *,
    bases: Sequence[float] | None = None,
    powers: Sequence[float] = POWERS,
    tables: Mapping[str, Sequence[float]] | None = None,
) -> Discounts:
    """Return the weight of each rank under every discount, relative to rank 1.

    Each discount is compared with the attention table of textbooks: of the users who look at rank
    1, 60% look at rank 2, 40% at rank 3, 30% at rank 4 and 10% at rank 10.

    Args:
        ranks: The number of ranks, from 1 to 10,000.
        bases: The bases of the discounts `log` (default: e) and `jk` (default: 2).
        powers: The powers of the discount `zipf`.
        tables: Named lists of weights, best rank first, such as an examination curve.

    Raises:
        UsageError: A base, a power or a table is invalid, or two discounts have the same name.

    Examples:
        >>> print(tabulate_discounts(bases=[10], powers=[0.85]).errors)
        discount      weight of rank 1    rmse  largest  at rank  ranks
        zipf(s=0.85)            1.0000  0.0278  -0.0452        2      5
        reciprocal              1.0000  0.0582  -0.1000        2      5
        linear                  0.5000  0.0789   0.1000        3      5
        log2                    1.0000  0.1129   0.1891       10      5
        log(base=10)            3.3219  0.1129   0.1891       10      5
        jk(base=10)             1.0000  0.6033   0.9000       10      5
    """
    from rankscope.discounts.exchanges import name_discounts, tabulate  # noqa: PLC0415 - loads late

    return tabulate(ranks, name_discounts(bases, powers, tables or {}))


def compare_discounts(
    judgments: InputLike | Qrels | None,
    runs: Mapping[str, InputLike | Rankings],
    measure: Measure | str = NDCG_AT_10,
    *,
    bases: Sequence[float] | None = None,
    powers: Sequence[float] = POWERS,
    tables: Mapping[str, Sequence[float]] | None = None,
    policy: Policy | str | None = None,
    strict: bool = False,
    **options: Unpack[ReadingOptions],
) -> DiscountComparison:
    """Evaluate runs under every discount: values, orders, and which runs change places.

    The base of a logarithm and constant factors cancel in nDCG, so `log` with any base equals
    `log2`. The base of `jk` doesn't cancel, because it also sets how many ranks count in full. DCG
    is shown beside nDCG because the two can disagree on the best run: DCG with a discount that
    estimates how often users look at each rank estimates what users get, and dividing each query by
    its ideal can reverse the order of systems (Jeunen, Potapov and Ustimenko, KDD 2024).

    Args:
        judgments: As in `evaluate`, or `None` if all runs are Rankings.
        runs: A mapping of name to a run as in `evaluate`, or to Rankings, which include their
            judgments.
        measure: nDCG with a cutoff and any settings except a discount.
        bases: As in `tabulate_discounts`.
        powers: As in `tabulate_discounts`.
        tables: As in `tabulate_discounts`, with a weight for every rank down to the cutoff.
        policy: As in `evaluate`.
        strict: As in `evaluate`.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: The measure isn't nDCG, there is no run, or an argument is invalid.
        InputError: The input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {"q1": {"a": 1, "b": 1, "c": 1}}
        >>> one = {"q1": {"a": 4, "x": 3, "y": 2, "z": 1}}
        >>> other = {"q1": {"x": 4, "b": 3, "c": 2, "y": 1}}
        >>> found = compare_discounts(qrels, {"one": one, "other": other})
        >>> found.exchanges[0].discount, found.exchanges[0].better
        ('reciprocal', 'one')
    """
    from rankscope.discounts.exchanges import compare, name_discounts, pair_measures  # noqa: PLC0415 - loads late

    discounts = name_discounts(bases, powers, tables or {})
    (asked,), _ = read_measures([measure])
    pairs = pair_measures(asked, discounts)
    if not runs:
        raise UsageError("expected runs, found none", hint="give {name: run}", code="usage")
    reading = Reading.of("compare_discounts", options)
    if judgments is not None:
        judgments = load_qrels(judgments, reading)
    wanted = [each for pair in pairs.values() for each in pair]
    asked_of_runs = Asked(measures=wanted, policy=policy, strict=strict)
    evaluations = {}
    for name, run in runs.items():
        if isinstance(run, Rankings):
            evaluations[name] = run.evaluate(wanted, policy=policy, threads=reading.threads)
            if strict:
                refuse_diagnostics(evaluations[name].notes)
            continue
        if judgments is None:
            raise UsageError(
                f"expected judgments for the run {name}, found none",
                hint="give judgments, or Rankings",
                code="usage",
            )
        evaluations[name] = evaluate_run(judgments, run, asked_of_runs, reading)
    return compare(asked, pairs, evaluations)

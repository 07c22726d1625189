"""The definitions of all kernels, slow and readable.

The core computes the same numbers, to the last bit; the tests compare the two.
"""

from __future__ import annotations

from rankscope.reference import binary, cascade, count, gain, judged, loss, sets
from rankscope.reference.means import mean as mean
from rankscope.reference.order import Retrieved as Retrieved
from rankscope.reference.order import rank as rank
from rankscope.reference.query import Query as Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KERNELS: dict[str, Callable[..., float]] = {
    "ndcg": gain.ndcg,
    "dcg": gain.dcg,
    "idcg": gain.idcg,
    "cg": gain.cg,
    "retrieval_loss": loss.retrieval_loss,
    "truncation_loss": loss.truncation_loss,
    "ordering_loss": loss.ordering_loss,
    "ap": binary.ap,
    "rr": binary.rr,
    "precision": binary.precision,
    "recall": binary.recall,
    "rprec": binary.rprec,
    "success": binary.success,
    "f": binary.f,
    "iprec": binary.iprec,
    "set_precision": sets.set_precision,
    "set_recall": sets.set_recall,
    "set_f": sets.set_f,
    "set_ap": sets.set_ap,
    "bpref": judged.bpref,
    "infap": judged.infap,
    "judged": judged.judged,
    "err": cascade.err,
    "rbp": cascade.rbp,
    "rbp_residual": cascade.rbp_residual,
    "num_ret": count.num_ret,
    "num_rel": count.num_rel,
    "num_q": count.num_q,
}


def value(
    kernel: str,
    params: Mapping[str, object],
    ranking: Sequence[float | None],
    judged: Sequence[float],
    *,
    negative: str = "nonrelevant",
    judged_only: bool = False,
) -> float:
    """Compute a measure for one query.

    Args:
        kernel: The name of the kernel, as `Measure.kernel_spec` gives it.
        params: Its parameters, likewise.
        ranking: The grades of the retrieved documents in rank order, `None` where unjudged.
        judged: The grades of all judged documents of the query, retrieved or not.
        negative: `gain` where negative grades have a gain; else their gain is 0.
        judged_only: Whether documents that are unjudged or of a negative grade are taken out of
            the list first.

    Returns:
        The value; NaN where it is undefined.

    Examples:
        >>> value("rr", {"k": None, "rel": 1}, ranking=[0, 2, None, 1], judged=[2, 1, 1, 0])
        0.5
    """
    query = Query(ranking, judged, negative_gain=negative == "gain")
    return KERNELS[kernel](query.condensed() if judged_only else query, **params)

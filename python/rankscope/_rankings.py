"""What can be asked of rankings: values, their terms, and what they lack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rankscope._conventions import Convention
from rankscope._evaluate import rankings
from rankscope._explain.bounds import Bounds
from rankscope._explain.explanation import LIMIT
from rankscope._explain.gains import Explanation
from rankscope._explain.ledger import Losses
from rankscope._explain.relevance import RelevanceExplanation
from rankscope._explain.ties import TieAudit
from rankscope._names import hint_arguments
from rankscope._settings import Interval, Policy
from rankscope.measures import Measure
from rankscope.typing import InputLike


class Rankings(rankings.Rankings):
    """Ranked lists joined with their judgments, immutable.

    The rows of query `q` are `offsets[q]:offsets[q + 1]`, in rank order. Columns are read-only
    views of the core's memory.

    Examples:
        >>> r = Rankings.from_run({"q1": {"d1": 2, "d3": 1}}, {"q1": {"d1": 0.5, "d2": 0.9}})
        >>> r.relevance
        array([nan,  2.])
        >>> r.doc_ids("q1")
        ['d2', 'd1']
        >>> r.evaluate("RR")["RR"]
        0.5
    """

    @hint_arguments
    def explain(
        self,
        query_id: str | int,
        measure: Measure | str,
        *,
        policy: Policy | str | None = None,
        convention: Convention | str | None = None,
        limit: int = LIMIT,
    ) -> Explanation | RelevanceExplanation:
        """Explain the value of a query: every term, the ideal order, what would raise it.

        Args:
            query_id: The query.
            measure: nDCG, DCG, IDCG, CG, AP, RR, P or R, with any settings.
            policy: As in `evaluate`.
            convention: As in `evaluate`.
            limit: The maximum number of ranks to show.

        Raises:
            UsageError: The query isn't judged, the measure can't be explained, or the policy is
                invalid.

        Examples:
            >>> rankings = Rankings.from_run({"q": {"a": 3, "b": 1}}, {"q": {"b": 2, "x": 1}})
            >>> rankings.explain("q", "nDCG@10").formula
            '(1/log2(2)) / (3/log2(2) + 1/log2(3))'
        """
        from rankscope._explain.explain import explain_query

        return explain_query(
            self, query_id, measure, policy=policy, convention=convention, limit=limit
        )

    def losses(
        self,
        measure: Measure | str,
        *,
        policy: Policy | str | None = None,
        by: str | Sequence[str] | Mapping[str, object] | None = None,
        stages: Mapping[str, InputLike | Rankings] | None = None,
        interval: float | Interval | None = None,
        cluster: str | Mapping[str, object] | Sequence[object] | None = None,
        weights: str | Mapping[str, float] | Sequence[float] | None = None,
        threads: int | None = None,
    ) -> Losses:
        """Split what a measure lacks into retrieval, truncation and ordering loss.

        1 - nDCG is the sum of three losses: retrieval (relevant documents that weren't retrieved),
        truncation (retrieved below the cutoff) and ordering (the wrong order above it). For DCG and
        CG the losses are in units of the measure, and add up to the ideal together with the value.
        They add up exactly, for each query and each mean.

        Args:
            measure: nDCG, DCG or CG, with any settings.
            policy: As in `evaluate`. `aggregate` must be `"mean"` or `"ratio_of_sums"`.
            by: As in `evaluate`.
            stages: The earlier stages of the pipeline, in order: a mapping of name to run or
                Rankings, such as `{"retriever": run, "reranker": run}`. Each stage has its own loss
                in place of `retrieval`: the relevant documents that it lost from the stage before.
                `final` is what the lists lost from the last stage.
            interval: As in `evaluate`.
            cluster: As in `evaluate`.
            weights: As in `evaluate`.
            threads: As in `evaluate`.

        Raises:
            UsageError: The measure has no losses that add up, the policy is invalid, or a stage has
                different judgments.
            InputError: A query violates the policy, or a stage doesn't have the expected format.
            FileError: The file of a stage can't be read.

        Examples:
            >>> rankings = Rankings.from_run({"q": {"a": 1, "b": 1}}, {"q": {"a": 2, "c": 1}})
            >>> losses = rankings.losses("nDCG@10")
            >>> round(losses.means["value"], 4), round(losses.means["retrieval"], 4)
            (0.6131, 0.3869)
            >>> staged = rankings.losses("nDCG@10", stages={"retriever": {"q": {"a": 1, "b": 1}}})
            >>> round(staged.means["retriever"], 4), round(staged.means["final"], 4)
            (0.0, 0.3869)
        """
        from rankscope._explain.losses import measure_losses

        return measure_losses(
            self,
            measure,
            policy=policy,
            by=by,
            stages=stages,
            interval=interval,
            cluster=cluster,
            weights=weights,
            threads=threads,
        )

    def bounds(
        self,
        measure: Measure | str,
        *,
        scale: Iterable[float] | None = None,
        against: Rankings | None = None,
        policy: Policy | str | None = None,
        threads: int | None = None,
    ) -> Bounds:
        """Return the lowest and highest values that unjudged documents allow.

        The bounds are exact, for each query and for the mean, over all grades of the scale that the
        unjudged documents can have, which also change the ideal order. Evaluating with no gain and
        with the highest grade for all of them doesn't bound nDCG.

        Only retrieved documents are considered. Documents that are neither retrieved nor judged
        don't count as relevant. For the exception to exactness, see `Bounds.is_exact`.

        Args:
            measure: nDCG, DCG, CG and ERR with any settings, and binary measures such as AP, P, R,
                RR and RBP.
            scale: The grades that an unjudged document can have (default: the integers from 0 to
                the highest grade).
            against: Other rankings with the same judgments. The values are then differences, with
                the same unknown grade for a document in both. For nDCG, DCG, AP, P, R, RR, RBP and
                Success.
            policy: As in `evaluate`. `aggregate` must be `"mean"`. With `empty="skip"`, the bounds
                account for queries that could turn out to have no relevant documents.
            threads: As in `evaluate`.

        Raises:
            UsageError: Bounds of the measure aren't known, the scale is invalid, or the other
                rankings have different judgments or no ids.
            InputError: A query violates the policy.

        Examples:
            >>> qrels = {"q": {"a": 1, "b": 0}}
            >>> one = Rankings.from_run(qrels, {"q": {"a": 3, "x": 2, "b": 1}})
            >>> other = Rankings.from_run(qrels, {"q": {"y": 3, "b": 2, "a": 1}})
            >>> one.bounds("nDCG@3").mean
            BoundedMean(value=1.0, lower=1.0, upper=1.0, queries=1)
            >>> one.bounds("nDCG@3", against=other).verdict
            'open'
        """
        from rankscope._explain.bounds import bound

        return bound(self, measure, scale=scale, against=against, policy=policy, threads=threads)

    def ties(
        self,
        measure: Measure | str,
        *,
        policy: Policy | str | None = None,
        threads: int | None = None,
    ) -> TieAudit:
        """Return how much values depend on the order of tied documents.

        Args:
            measure: Any measure. The variance is known for nDCG and DCG, and the expected value for
                measures that support averaging over ties.
            policy: As in `evaluate`.
            threads: As in `evaluate`.

        Raises:
            UsageError: A measure or the policy is invalid.
            InputError: A query violates the policy.

        Examples:
            >>> tied = Rankings.from_arrays([[0, 1, 0]], [[0.5, 0.5, 0.1]], ties="input")
            >>> audit = tied.ties("RR")
            >>> audit.to_dict()["0"]["expected"], audit.summary.lower, audit.summary.upper
            (0.75, 0.5, 1.0)
        """
        from rankscope._explain.ties import audit_ties

        return audit_ties(self, measure, policy=policy, threads=threads)

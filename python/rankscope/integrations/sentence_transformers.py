"""Evaluate the retrieval of an embedding model with sentence-transformers, also while it trains."""

from __future__ import annotations

import csv
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import rankscope as rs
from rankscope.integrations._frames import list_measures, require

Judgments: TypeAlias = Mapping[str, Mapping[str, float] | Iterable[str]]

logger = logging.getLogger(__name__)

DEPTH = 100
"""How many documents are retrieved for each query, if no cutoff is larger."""


def make_evaluator(
    queries: Mapping[str, Any],
    corpus: Mapping[str, Any],
    judgments: Judgments,
    measures: str | rs.Measure | Iterable[str | rs.Measure] = "nDCG@10",
    *,
    name: str = "",
    depth: int | None = None,
    policy: rs.Policy | str | None = None,
    **settings: Any,
) -> Any:
    """Return an evaluator that retrieves from a corpus, and computes measures of rankscope.

    It is an `InformationRetrievalEvaluator` with other measures: grades count, every measure and
    policy is available, and the first measure selects the best model. Where the definitions agree,
    so do the values.

    Args:
        queries: The text of each query, by id.
        corpus: The text of each document or chunk, by id.
        judgments: For each query, the grades of documents, or the relevant documents. Queries
            without judgments are left out.
        measures: One or more measures, or their names. The first one is the primary metric.
        name: A name, which all metrics begin with.
        depth: The number of documents to retrieve for each query (default: the largest cutoff, but
            at least 100). Measures without a cutoff stop there, too.
        policy: As in `rankscope.evaluate` (default: documents with equal scores are ordered by
            ascending id, as in sentence-transformers).
        **settings: Other arguments of `InformationRetrievalEvaluator`, such as `batch_size`,
            `corpus_chunk_size`, `query_prompt`, `truncate_dim`, `score_functions` and
            `write_csv`.

    Returns:
        An evaluator. `evaluator(model)` returns metrics such as `cosine_ndcg_at_10`, and appends
        them to a CSV file in `output_path`, if it is given.

    Raises:
        UsageError: sentence-transformers is not installed, or the first measure doesn't say which
            of two rankings is better.
        InputError: No query has a judgment, or judgments are invalid.

    Examples:
        >>> evaluator = make_evaluator(  # doctest: +SKIP
        ...     queries={"q1": "How do I reset my password?"},
        ...     corpus={"c1": "Choose Forgot password on the sign-in page.", "c2": "Invoices …"},
        ...     judgments={"q1": {"c1": 2}},
        ...     measures=["nDCG@10", "R@5"],
        ... )
        >>> evaluator(model)  # doctest: +SKIP
        {'cosine_ndcg_at_10': 1.0, 'cosine_r_at_5': 1.0}
    """
    library = require("sentence_transformers.sentence_transformer.evaluation")
    listed = list_measures(measures)
    _check(listed, judgments)
    judged: dict[str, Any] = {query: judgments[query] for query in queries if query in judgments}
    if not isinstance(policy, rs.Policy):
        policy = rs.Policy.parse(policy or "", rs.Policy(ties="doc_id_asc"))
    cutoffs = [max(DEPTH, *(measure.k or 0 for measure in listed)) if depth is None else depth]
    base = library.InformationRetrievalEvaluator
    kind = type("RankscopeInformationRetrievalEvaluator", (_Evaluator, base), {})
    # Its own measures are replaced; their cutoffs say how many documents are retrieved.
    evaluator = kind(
        queries=dict(queries),
        corpus=dict(corpus),
        relevant_docs={query: set(docs) for query, docs in judged.items()},
        name=name,
        **dict.fromkeys(CUTOFFS, cutoffs),
        **settings,
    )
    evaluator.prepare(rs.read_qrels(judged), listed, policy)
    return evaluator


CUTOFFS = ("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k")


class _Evaluator:
    """What replaces the measures of `InformationRetrievalEvaluator`."""

    name: str
    queries_ids: list[str]
    score_functions: dict[str, Callable[..., Any]] | None
    main_score_function: Any
    compute_all_metrics: Callable[..., dict[str, dict[str, float]]]
    prefix_name_to_metrics: Callable[..., dict[str, float]]
    store_metrics_in_model_card_data: Callable[..., None]
    write_csv: bool

    def prepare(self, qrels: rs.Qrels, measures: list[rs.Measure], policy: rs.Policy) -> None:
        """Set what the base class doesn't know."""
        self._qrels = qrels
        self._measures = measures
        self._policy = policy
        self._has_functions = self.score_functions is not None
        self.greater_is_better = measures[0].better == "higher"

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
        **settings: Any,
    ) -> dict[str, float]:
        """Return the mean of each measure, by names such as `cosine_ndcg_at_10`."""
        if not self._has_functions:
            self.score_functions = {model.similarity_fn_name: model.similarity}
        means = self.compute_all_metrics(model, output_path=output_path, **settings)
        metrics = {
            f"{function}_{name}": value
            for function, values in means.items()
            for name, value in values.items()
        }
        if output_path is not None and self.write_csv:
            self._append(Path(output_path), {"epoch": epoch, "steps": steps, **metrics})
        first = self._measures[0].plain_name
        best = max if self.greater_is_better else min
        function = best(means, key=lambda function: means[function][first])
        if self.main_score_function is not None:
            function = self.main_score_function.value
        self.primary_metric = f"{function}_{first}"
        metrics = self.prefix_name_to_metrics(metrics, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def compute_metrics(self, queries_result_list: list[list[dict[str, Any]]]) -> dict[str, float]:
        """Return the mean of each measure for the documents that one score function retrieved."""
        run = {
            query: {hit["corpus_id"]: hit["score"] for hit in hits}
            for query, hits in zip(self.queries_ids, queries_result_list, strict=True)
        }
        evaluation = rs.evaluate(self._qrels, run, self._measures, policy=self._policy)
        return {**evaluation.means("plain")}

    def output_scores(self, scores: dict[str, float]) -> None:
        """Log the means."""
        for name, value in scores.items():
            logger.info("%s: %.4f", name, value)

    def _append(self, folder: Path, row: dict[str, float]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        middle = f"_{self.name}" if self.name else ""
        path = folder / f"Information-Retrieval_evaluation{middle}_results.csv"
        is_new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            if is_new:
                writer.writerow(row)
            writer.writerow(row.values())


def _check(measures: list[rs.Measure], judgments: object) -> None:
    if not measures or measures[0].better == "neither":
        first = measures[0] if measures else "none"
        problem = f"expected a first measure that says which of two models is better, found {first}"
        hint = 'put a measure such as "nDCG@10" first'
        raise rs.UsageError(problem, hint=hint, code="no_direction")
    if not isinstance(judgments, Mapping):
        problem = f"expected judgments by query, found {type(judgments).__name__}"
        hint = "write {'q1': {'d1': 2}} or {'q1': ['d1', 'd2']}"
        raise rs.UsageError(problem, hint=hint, code="bad_parameter")

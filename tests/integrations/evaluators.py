"""A program that evaluates with BEIR or MTEB, with the pytrec_eval of rankscope or the real one.

It prints what they return as JSON: `python evaluators.py beir rankscope`.
"""

from __future__ import annotations

import json
import sys
from random import Random

from rankscope import install_as_pytrec_eval

QUERIES = [f"q{number}" for number in range(20)]
DOCUMENTS = [f"d{number}" for number in range(60)]


def make_case():
    """Judgments and a run with equal scores, negative grades and documents without a judgment."""
    random = Random(7)
    qrels = {
        query: {doc: random.choice([-1, 0, 0, 1, 2]) for doc in random.sample(DOCUMENTS, 12)}
        | {random.choice(DOCUMENTS): 1}
        for query in QUERIES
    }
    run = {
        query: {doc: random.randrange(20) / 16 for doc in random.sample(DOCUMENTS, 25)}
        for query in QUERIES
    }
    return qrels, run


def evaluate_with_beir():
    """Return the values of BEIR, and of its own measures."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    qrels, run = make_case()
    run["q3"]["q3"] = 9.0  # BEIR removes documents whose ID is that of the query
    custom = [
        EvaluateRetrieval.evaluate_custom(qrels, run, [1, 10], metric)
        for metric in ("mrr", "recall_cap", "hole", "top_k_accuracy")
    ]
    return [*EvaluateRetrieval.evaluate(qrels, run, [1, 3, 5, 10, 100, 1000]), *custom]


def evaluate_with_mteb():
    """Return the values of a task of MTEB, for a model that finds what the run has."""
    import mteb
    from datasets import Dataset
    from mteb.abstasks import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models import ModelMeta

    qrels, run = make_case()

    class Task(AbsTaskRetrieval):
        """Short texts and the judgments of them."""

        metadata = TaskMetadata(
            name="RankscopeTask",
            description="Documents with made-up judgments.",
            reference="https://example.org",
            dataset={"path": "none", "revision": "none"},
            type="Retrieval",
            category="t2t",
            modalities=["text"],
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
            date=("2026-01-01", "2026-01-02"),
            domains=[],
            task_subtypes=[],
            license="cc0-1.0",
            annotations_creators="derived",
            dialect=[],
            sample_creation="created",
            bibtex_citation="",
        )

        def load_data(self, **_):
            texts = [{"id": doc, "title": "", "text": f"text {doc}"} for doc in DOCUMENTS]
            queries = [{"id": query, "text": f"query {query}"} for query in QUERIES]
            split = {
                "corpus": Dataset.from_list(texts),
                "queries": Dataset.from_list(queries),
                "relevant_docs": qrels,
                "top_ranked": None,
            }
            self.dataset = {"default": {"test": split}}
            self.data_loaded = True

    class Model:
        """A model that finds what the run has."""

        mteb_model_meta = ModelMeta.create_empty({"name": "rankscope/run", "revision": "1"})

        def index(self, corpus, **_):
            assert corpus["id"] == DOCUMENTS

        def search(self, queries, **_):
            return {query: dict(run[query]) for query in queries["id"]}

    result = mteb.evaluate(Model(), Task(), cache=None, show_progress_bar=False)
    return result.task_results[0].scores


if __name__ == "__main__":
    library, implementation = sys.argv[1:]
    if implementation == "rankscope":
        install_as_pytrec_eval()
    answer = {"beir": evaluate_with_beir, "mteb": evaluate_with_mteb}[library]()
    sys.stdout.write(json.dumps([sys.modules["pytrec_eval"].RelevanceEvaluator.__module__, answer]))

"""An embedding model is evaluated with measures of rankscope, also while it trains.

The model is a table of one random vector per word, so that nothing is downloaded.
"""

from __future__ import annotations

import csv
import math
import random

import pytest
import rankscope as rs
from rankscope.errors import EmptyError, UsageError
from rankscope.integrations.sentence_transformers import make_evaluator

library = pytest.importorskip("sentence_transformers")

import torch  # noqa: E402 - comes with sentence-transformers
from sentence_transformers.sentence_transformer import modules  # noqa: E402
from sentence_transformers.sentence_transformer.evaluation import (  # noqa: E402
    InformationRetrievalEvaluator,
)
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402

# PyTorch, Transformers and datasets warn about each other.
pytestmark = pytest.mark.filterwarnings("ignore")

WORDS = [f"word{number}" for number in range(60)]
draw = random.Random(3)
CORPUS = {f"c{number}": " ".join(draw.sample(WORDS, 6)) for number in range(200)}
QUERIES = {f"q{number}": " ".join(draw.sample(WORDS, 3)) for number in range(30)}
RELEVANT = {
    query: {
        doc: shared
        for doc, content in CORPUS.items()
        if (shared := len({*text.split()} & {*content.split()}))
    }
    for query, text in QUERIES.items()
}


def make_model(seed=1):
    torch.manual_seed(seed)
    numbers = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(numbers))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    embedding = modules.StaticEmbedding(tokenizer, embedding_dim=16)
    return library.SentenceTransformer(modules=[embedding], device="cpu")


def test_values_are_those_of_their_evaluator_where_the_definitions_agree():
    model = make_model()
    sets = {query: {*docs} for query, docs in RELEVANT.items()}
    cutoffs = {name: [1, 10] for name in ("accuracy_at_k", "precision_recall_at_k")}
    theirs = InformationRetrievalEvaluator(
        QUERIES, CORPUS, sets, ndcg_at_k=[10], mrr_at_k=[10], map_at_k=[5], **cutoffs
    )(model)
    names = {
        "ndcg@10": "nDCG@10",
        "mrr@10": "RR@10",
        "precision@1": "P@1",
        "precision@10": "P@10",
        "recall@1": "R@1",
        "recall@10": "R@10",
        "accuracy@1": "Success@1",
        "accuracy@10": "Success@10",
        "map@5": "AP(denominator='reachable')@5",
    }
    ours = make_evaluator(QUERIES, CORPUS, sets, names.values())(model)
    for theirs_name, name in names.items():
        mean = ours[f"cosine_{rs.parse(name).plain_name}"]
        assert mean == pytest.approx(theirs[f"cosine_{theirs_name}"], abs=1e-12)


def test_grades_count():
    model = make_model()
    found = make_evaluator(QUERIES, CORPUS, RELEVANT, ["nDCG@10", "AP(rel=2)@50"])(model)
    scores = model.similarity(model.encode([*QUERIES.values()]), model.encode([*CORPUS.values()]))
    run = {
        query: dict(zip(CORPUS, row, strict=True))
        for query, row in zip(QUERIES, scores.tolist(), strict=True)
    }
    expected = rs.evaluate(RELEVANT, run, ["nDCG@10", "AP(rel=2)@50"], policy="ties=doc_id_asc")
    assert [*found.values()] == pytest.approx([*expected.values()], abs=1e-12)


def test_documents_with_equal_scores_are_ordered_as_in_their_evaluator():
    def same(a, b):
        return torch.zeros(len(a), len(b))

    sets = {query: {*docs} for query, docs in RELEVANT.items()}
    settings = {"score_functions": {"same": same}}
    theirs = InformationRetrievalEvaluator(QUERIES, CORPUS, sets, **settings)(make_model())
    ours = make_evaluator(QUERIES, CORPUS, sets, "nDCG@10", **settings)(make_model())
    assert ours["same_ndcg_at_10"] == pytest.approx(theirs["same_ndcg@10"], abs=1e-12)
    averaged = make_evaluator(
        QUERIES, CORPUS, sets, "P@10", depth=200, policy="ties=average", **settings
    )
    shares = [len(docs) / len(CORPUS) for docs in sets.values()]
    assert averaged(make_model())["same_p_at_10"] == pytest.approx(math.fsum(shares) / len(shares))


def test_the_first_measure_is_the_primary_metric_and_names_have_the_prefix(tmp_path):
    evaluator = make_evaluator(QUERIES, CORPUS, RELEVANT, ["AP@10", "nDCG@10"], name="docs")
    model = make_model()
    found = evaluator(model, output_path=str(tmp_path), epoch=1, steps=20)
    again = evaluator(model, str(tmp_path), 2, 40)
    assert found == again
    assert [*found] == ["docs_cosine_ap_at_10", "docs_cosine_ndcg_at_10"]
    assert evaluator.primary_metric == "docs_cosine_ap_at_10"
    assert evaluator.greater_is_better
    with (tmp_path / "Information-Retrieval_evaluation_docs_results.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["epoch", "steps", "cosine_ap_at_10", "cosine_ndcg_at_10"]
    assert [row[:2] for row in rows[1:]] == [["1", "20"], ["2", "40"]]
    assert [float(each) for each in rows[2][2:]] == [*found.values()]


def test_of_a_loss_the_lowest_is_the_best():
    assert not make_evaluator(QUERIES, CORPUS, RELEVANT, "OrderingLoss@10").greater_is_better


def test_the_best_score_function_is_the_primary_one():
    def reverse(a, b):
        return -library.util.cos_sim(a, b)

    functions = {"away": reverse, "near": library.util.cos_sim}
    evaluator = make_evaluator(QUERIES, CORPUS, RELEVANT, score_functions=functions)
    found = evaluator(make_model())
    assert evaluator.primary_metric == "near_ndcg_at_10"
    assert found["near_ndcg_at_10"] > found["away_ndcg_at_10"]


def test_queries_without_judgments_are_left_out():
    some = {query: RELEVANT[query] for query in [*QUERIES][:5]}
    chosen = {query: QUERIES[query] for query in some}
    model = make_model()
    expected = make_evaluator(chosen, CORPUS, RELEVANT)(model)
    assert make_evaluator(QUERIES, CORPUS, some)(model) == expected


def test_mistakes_are_found_before_anything_is_encoded():
    with pytest.raises(UsageError, match="nDGC"):
        make_evaluator(QUERIES, CORPUS, RELEVANT, "nDGC@10")
    with pytest.raises(UsageError, match="which of two models is better, found NumRet"):
        make_evaluator(QUERIES, CORPUS, RELEVANT, "NumRet")
    with pytest.raises(UsageError, match="judgments by query, found list"):
        make_evaluator(QUERIES, CORPUS, [("q1", "c1", 1)])
    with pytest.raises(EmptyError):
        make_evaluator(QUERIES, CORPUS, {"other": {"c1": 1}})


def test_the_trainer_keeps_the_best_model(tmp_path):
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("accelerate")
    model = make_model()
    evaluator = make_evaluator(QUERIES, CORPUS, RELEVANT, ["nDCG@10", "R@10"], name="valid")
    before = evaluator(model)["valid_cosine_ndcg_at_10"]
    pairs = {
        "anchor": [QUERIES[query] for query in QUERIES],
        "positive": [CORPUS[max(docs, key=docs.__getitem__)] for docs in RELEVANT.values()],
    }
    arguments = library.SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path),
        num_train_epochs=3,
        per_device_train_batch_size=10,
        learning_rate=0.05,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="eval_valid_cosine_ndcg_at_10",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        seed=1,
    )
    trainer = library.SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=datasets.Dataset.from_dict(pairs),
        loss=library.sentence_transformer.losses.MultipleNegativesRankingLoss(model),
        evaluator=evaluator,
    )
    trainer.train()
    key = "eval_valid_cosine_ndcg_at_10"
    history = [each[key] for each in trainer.state.log_history if key in each]
    assert len(history) == 3
    assert trainer.state.best_metric == max(history) > before
    assert evaluator(model)["valid_cosine_ndcg_at_10"] == pytest.approx(max(history), abs=1e-6)

"""Tensors, the metric for torchmetrics, and several processes."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
import rankscope as rs
from rankscope.array import RunningMeans, evaluate_batch, ndcg, values
from rankscope.errors import EmptyError, FormatError, UsageError

from tests.array.oracle import MEASURES, check, large

torch = pytest.importorskip("torch", reason="PyTorch is in `make test-integrations`")
pytest.importorskip("torchmetrics", reason="torchmetrics is in `make test-integrations`")

from rankscope.torch import RankingMetric, synchronize  # noqa: E402
from torchmetrics import MetricCollection, retrieval  # noqa: E402 - after looking whether it is there
from torchmetrics.retrieval import RetrievalNormalizedDCG  # noqa: E402

TIES = ("average", "input", "best", "worst")


@pytest.mark.parametrize("is_on_host", [True, False])
@pytest.mark.parametrize("ties", TIES)
def test_tensors_have_the_values_of_the_core(ties, is_on_host, monkeypatch):
    if not is_on_host:  # as if the tensors were on another device
        monkeypatch.setattr(values, "is_in_memory", lambda _: False)
    for seed in range(5):
        check(large(8, 11, levels=4, seed=seed), torch.from_numpy, ties=ties)
    check(large(8, 300, levels=50, seed=5), torch.from_numpy, ties=ties)


def test_nothing_is_read_from_another_device():
    # Tensors of the device "meta" have a shape, and no numbers that anybody could read.
    shape = {"size": (4, 9), "device": "meta"}
    arrays = {"grades": torch.empty(**shape), "scores": torch.empty(**shape)}
    mask = torch.empty(**shape, dtype=torch.bool)
    lengths = torch.empty(4, dtype=torch.int64, device="meta")
    flat = {name: tensor.reshape(-1) for name, tensor in arrays.items()}
    for ties in TIES:
        for found in (
            evaluate_batch(MEASURES, **arrays, mask=mask, ties=ties),
            evaluate_batch(MEASURES, **arrays, lengths=lengths, ties=ties),
            evaluate_batch(MEASURES, **flat, lengths=lengths, max_length=9, ties=ties),
        ):
            for tensor in found.values():
                assert tensor.device.type == "meta"
                assert tensor.shape == (4,)
    means = RunningMeans(MEASURES)
    means.update(**arrays)
    assert means.state()["sums"].device.type == "meta"


def test_the_functions_of_torch_map_over_lists():
    lists = large(6, 9, levels=3, seed=12)
    grades, scores = torch.from_numpy(lists.grades), torch.from_numpy(lists.scores)
    mapped = torch.func.vmap(lambda g, s: ndcg(grades=g[None], scores=s[None], k=3)[0])
    expected = ndcg(grades=grades, scores=scores, k=3)
    np.testing.assert_allclose(mapped(grades, scores), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_taken_as_it_is(dtype):
    lists = large(20, 30, levels=200, seed=13)
    scores = torch.from_numpy(lists.scores).to(dtype)
    grades = torch.from_numpy(lists.grades).to(dtype)
    same = ndcg(grades=grades.double(), scores=scores.double(), k=10)
    assert ndcg(grades=grades, scores=scores, k=10).tolist() == same.tolist()


def test_tensors_that_need_gradients_are_taken_and_values_have_none():
    scores = torch.tensor([[0.2, 0.1]], requires_grad=True)
    values = ndcg(grades=torch.tensor([[0, 1]]), scores=scores)
    assert not values.requires_grad


def test_views_of_tensors_are_read_as_they_look():
    lists = large(6, 8, levels=10**6, seed=14)
    grades, scores = torch.from_numpy(lists.grades), torch.from_numpy(lists.scores)
    turned = {"grades": grades.T.contiguous().T, "scores": scores.T.contiguous().T}
    assert ndcg(**turned).tolist() == ndcg(grades=grades, scores=scores).tolist()


def rows(count, queries):
    generator = torch.Generator().manual_seed(15)
    preds = torch.rand(count, generator=generator)
    target = torch.randint(0, 4, (count,), generator=generator)
    return preds, target, torch.randint(0, queries, (count,), generator=generator)


def test_the_metric_replaces_ndcg_of_torchmetrics_with_indexes_over_batches():
    preds, target, indexes = rows(500, 40)
    theirs, ours = RetrievalNormalizedDCG(top_k=10), RankingMetric("nDCG@10")
    for start in range(0, 500, 70):
        part = slice(start, start + 70)
        theirs.update(preds[part], target[part], indexes=indexes[part])
        ours.update(preds[part], target[part], indexes=indexes[part])
    # They add in single precision.
    assert ours.compute().item() == pytest.approx(theirs.compute().item(), rel=1e-6)
    rankings = {int(query): indexes == query for query in indexes.unique()}
    values = [
        ndcg(grades=target[at][None], scores=preds[at][None], k=10) for at in rankings.values()
    ]
    assert ours.compute().item() == float(sum(map(Fraction, map(float, values))) / len(values))


@pytest.mark.parametrize(
    ("theirs", "settings", "ours"),
    [
        ("RetrievalMAP", {}, "AP"),
        ("RetrievalMRR", {"top_k": 3}, "RR@3"),
        ("RetrievalPrecision", {"top_k": 3}, "P@3"),
        ("RetrievalRecall", {"top_k": 3}, "R@3"),
        ("RetrievalHitRate", {"top_k": 3}, "Success@3"),
    ],
)
@pytest.mark.parametrize(("action", "empty"), [("neg", "zero"), ("pos", "one"), ("skip", "skip")])
def test_other_metrics_of_torchmetrics_have_equivalents(theirs, settings, ours, action, empty):
    preds, target, indexes = rows(200, 40)
    given = (preds, target > 2, indexes)
    peer = getattr(retrieval, theirs)(empty_target_action=action, **settings)
    metric = RankingMetric(ours, empty=empty)
    assert metric(*given).item() == pytest.approx(peer(*given).item(), rel=1e-6)


def test_padded_batches_keep_only_sums():
    metric = RankingMetric(["nDCG@3", "RR"])
    lists = large(40, 9, levels=4, seed=16)
    expected = RunningMeans(["nDCG@3", "RR"])
    expected.update(grades=lists.grades, scores=lists.scores, mask=lists.mask)
    for start in range(0, 40, 10):
        part = slice(start, start + 10)
        arrays = lists.scores[part], lists.grades[part], lists.mask[part]
        preds, target, mask = map(torch.from_numpy, arrays)
        metric.update(preds, target, mask=mask)
    found = {name: value.item() for name, value in metric.compute().items()}
    assert found == expected.compute()
    assert sum(part.numel() for part in metric.preds) == 0


def test_a_metric_pickles_merges_resets_and_returns_the_value_of_each_batch():
    preds, target = torch.tensor([[2.0, 1.0]]), torch.tensor([[0, 1]])
    metric = RankingMetric("RR")
    assert metric(preds, target).item() == 0.5
    assert metric(-preds, target).item() == 1
    assert metric.compute().item() == 0.75
    same = pickle.loads(pickle.dumps(metric))  # noqa: S301 - made here
    same.merge_state(metric)
    assert same.compute().item() == 0.75
    metric.reset()
    metric.update(preds, target)
    assert metric.compute().item() == 0.5


def test_a_state_dict_brings_a_metric_back():
    metric, other = RankingMetric("RR"), RankingMetric("RR")
    metric.persistent(mode=True)
    metric.update(torch.tensor([[2.0, 1.0]]), torch.tensor([[0, 1]]))
    other.load_state_dict(metric.state_dict())
    other.update(-torch.tensor([[2.0, 1.0]]), torch.tensor([[0, 1]]))
    assert other.compute().item() == 0.75


def test_metrics_in_a_collection_do_not_share_what_they_keep():
    collection = MetricCollection({"a": RankingMetric("P@1"), "b": RankingMetric("RR")})
    # After the first batch, the sums of both are equal.
    collection.update(torch.tensor([[2.0, 1.0]]), torch.tensor([[1, 0]]))
    collection.update(torch.tensor([[2.0, 1.0]]), torch.tensor([[0, 1]]))
    assert {name: value.item() for name, value in collection.compute().items()} == {
        "a": 0.5,
        "b": 0.75,
    }


def test_swapped_arguments_are_an_error_where_types_show_it():
    preds, target, indexes = rows(20, 3)
    metric = RankingMetric()
    with pytest.raises(UsageError, match="looks swapped"):
        metric.update(target, preds, indexes=indexes)
    with pytest.raises(UsageError, match="as a tensor"):
        metric.update(preds.numpy(), target, indexes=indexes)
    with pytest.raises(UsageError, match="indexes alone"):
        metric.update(preds, target, indexes=indexes, lengths=indexes)
    with pytest.raises(FormatError, match="one shape"):
        metric.update(preds, target, indexes=indexes[:3])
    with pytest.raises(FormatError, match="integers"):
        metric.update(preds, target, indexes=indexes.float())
    with pytest.raises(FormatError, match="divides flat grades"):
        metric.update(preds, target)


@pytest.mark.filterwarnings("ignore:.*nested tensors")
def test_sparse_and_nested_tensors_are_errors():
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    for tensor in (nested, torch.ones(2, 3).to_sparse()):
        with pytest.raises(FormatError, match="dense tensor"):
            ndcg(grades=tensor, scores=tensor)


def test_a_metric_without_lists_is_an_error():
    metric = RankingMetric()
    with pytest.warns(UserWarning, match="before the"), pytest.raises(EmptyError):
        metric.compute()


def work(rank, folder):
    """Evaluate this process's half of the rows, and store what both processes found."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    preds, target, indexes = rows(300, 20)
    kept = RankingMetric(["nDCG@10", "RR"])
    kept.update(preds[rank::2], target[rank::2], indexes=indexes[rank::2])
    alone = RankingMetric(["nDCG@10", "RR"])
    if rank == 1:  # the other process has no rows
        alone.update(preds, target, indexes=indexes)
    summed, means = RankingMetric(["nDCG@10", "RR"]), RunningMeans(["nDCG@10", "RR"])
    matrices = [tensor.reshape(30, 10)[rank * 7 : 7 + rank * 23] for tensor in (preds, target)]
    summed.update(*matrices)
    means.update(scores=matrices[0], grades=matrices[1])
    warnings.simplefilter("ignore", UserWarning)  # that there was no update here
    found = [kept.compute(), alone.compute(), summed.compute(), synchronize(means).compute()]
    torch.save(
        [{name: float(value) for name, value in each.items()} for each in found],
        f"{folder}/{rank}.pt",
    )
    torch.distributed.destroy_process_group()


def test_two_processes_find_the_values_of_one(tmp_path):
    torch.multiprocessing.spawn(work, (str(tmp_path),), nprocs=2)
    preds, target, indexes = rows(300, 20)
    kept, summed = (RankingMetric(["nDCG@10", "RR"]) for _ in range(2))
    kept.update(preds, target, indexes=indexes)
    summed.update(preds.reshape(30, 10), target.reshape(30, 10))
    kept_means, sums = (
        {name: value.item() for name, value in metric.compute().items()}
        for metric in (kept, summed)
    )
    for rank in range(2):
        assert torch.load(tmp_path / f"{rank}.pt") == [kept_means, kept_means, sums, sums]


@pytest.mark.parametrize(
    ("argument", "instead"),
    [("top_k", "nDCG@10"), ("empty_target_action", "empty="), ("ignore_index", "mask=")],
)
def test_arguments_of_torchmetrics_are_errors_that_name_ours(argument, instead):
    with pytest.raises(rs.UsageError, match=argument) as error:
        RankingMetric("nDCG", **{argument: 1})
    assert instead in error.value.hint

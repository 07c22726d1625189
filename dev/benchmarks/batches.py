"""Times nDCG@10 of a batch against torchmetrics and a script with torch.topk, on each device.

    .venv-integrations/bin/python dev/benchmarks/batches.py

Prints the median of interleaved runs, and how many times as long the others take.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from rankscope.array import ndcg
from torchmetrics.retrieval import RetrievalNormalizedDCG

if TYPE_CHECKING:
    from collections.abc import Callable

LISTS, DOCUMENTS, K, RUNS = 20_000, 100, 10, 11


def by_topk(grades: Any, scores: Any) -> Any:  # noqa: ANN401 - tensors
    """Compute nDCG as one would by hand, which takes ties as they come."""
    discounts = 1 / torch.log2(torch.arange(2, K + 2, dtype=torch.float64, device=scores.device))
    found = grades.gather(1, torch.topk(scores, K).indices)
    best = torch.topk(grades, K).values
    dcg, ideal = ((gains.double() * discounts).sum(dim=1) for gains in (found, best))
    return torch.where(ideal > 0, dcg / ideal, 0.0)


def by_torchmetrics(grades: Any, scores: Any, indexes: Any) -> Any:  # noqa: ANN401 - tensors
    """Compute the mean as torchmetrics does."""
    return RetrievalNormalizedDCG(top_k=K)(scores.flatten(), grades.flatten(), indexes=indexes)


def measure(functions: dict[str, Callable[[], Any]], device: str) -> dict[str, float]:
    """Return the median seconds of each function, run in turn."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for run in range(RUNS + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            if device == "cuda":
                torch.cuda.synchronize()
            if run > 0:  # the first run loads and compiles
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each) for name, each in times.items()}


def main() -> None:
    """Measure every device that there is."""
    generator = torch.Generator().manual_seed(1)
    for device in ("cpu", *(["cuda"] if torch.cuda.is_available() else [])):
        scores = torch.randn(LISTS, DOCUMENTS, generator=generator).to(device)
        grades = torch.randint(0, 5, (LISTS, DOCUMENTS), generator=generator).float().to(device)
        tied = (scores * 10).round()
        mask = torch.ones_like(scores, dtype=torch.bool)
        assert torch.allclose(ndcg(grades=grades, scores=scores, k=K), by_topk(grades, scores))
        ours = partial(ndcg, grades=grades, k=K)
        medians = measure(
            {
                "rankscope": partial(ours, scores=scores),
                "rankscope, with a mask": partial(ours, scores=scores, mask=mask),
                "rankscope, tied scores": partial(ours, scores=tied),
                "rankscope, ties as they come": partial(ours, scores=tied, ties="input"),
                "torch.topk": partial(by_topk, grades, scores),
            },
            device,
        )
        indexes = torch.arange(LISTS, device=device).repeat_interleave(DOCUMENTS)
        start = time.perf_counter()
        by_torchmetrics(grades, scores, indexes)
        medians["torchmetrics (once)"] = time.perf_counter() - start
        print(f"{device}: {LISTS} lists of {DOCUMENTS} documents, nDCG@{K}")
        for name, median in medians.items():
            ratio = median / medians["rankscope"]
            print(f"  {name:30} {1000 * median:9.1f} ms  {ratio:7.1f}x")


if __name__ == "__main__":
    main()

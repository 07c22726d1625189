"""Measures of rankscope as a metric of torchmetrics, and means over the processes of PyTorch.

Importing this module imports torchmetrics if it is installed.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rankscope._settings import Empty, Negative, Ties
from rankscope.array import RunningMeans
from rankscope.errors import FormatError, UsageError
from rankscope.integrations._frames import require
from rankscope.measures.parse import Measures

Tensor: TypeAlias = Any

__all__ = ["RankingMetric", "synchronize"]

if TYPE_CHECKING:
    Base: TypeAlias = Any
else:
    try:
        from torchmetrics import Metric as Base
    except ImportError:  # making a metric says what to install
        Base = object

KEPT = ("preds", "target", "indexes")
"""What is kept of each row until `compute` if there are indexes."""
TORCHMETRICS = {
    "top_k": "write the cutoff in the name of the measure: RankingMetric('nDCG@10')",
    "empty_target_action": "pass empty='zero' for 'neg', 'one' for 'pos', or 'skip' or 'error'",
    "ignore_index": "pass mask= to update, which is False where there is no document",
    "aggregation": "use rankscope.array.evaluate_batch for the value of each list",
}
"""What replaces arguments of the retrieval metrics of torchmetrics."""


class RankingMetric(Base):  # type: ignore[misc]  # a class that need not be installed
    """Measures of rankings as a metric of torchmetrics, also for Lightning and several processes.

    With padded batches (`mask` or `lengths`), only sums and counts are kept, which are exact: the
    means don't depend on the sizes of batches or the number of processes. With `indexes`, the rows
    are kept until `compute`, as the retrieval metrics of torchmetrics do it, because a query can
    continue in another batch or process.

    Args:
        measures: One or more measures or their names: nDCG, DCG, AP, RR, P, R and Success.
        ties: As in `rankscope.array.evaluate_batch`.
        empty: As in `rankscope.array.evaluate_batch`. torchmetrics calls `"zero"` `"neg"`, and
            `"one"` `"pos"`.
        negative: As in `rankscope.array.evaluate_batch`.
        dtype: As in `rankscope.array.evaluate_batch`.
        check: As in `rankscope.array.evaluate_batch`.
        **settings: Settings of every metric of torchmetrics, such as `sync_on_compute`.

    Raises:
        UsageError: torchmetrics is not installed; or a measure or a setting is invalid.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    def __init__(
        self,
        measures: Measures = "nDCG@10",
        *,
        ties: Ties = "average",
        empty: Empty = "zero",
        negative: Negative = "nonrelevant",
        dtype: Literal["float64", "float32"] | None = None,
        check: bool | None = None,
        **settings: Any,
    ) -> None:
        require("torchmetrics")
        torch = require("torch")
        for name in settings.keys() & TORCHMETRICS.keys():
            raise UsageError(
                f"RankingMetric has no argument {name!r}",
                hint=TORCHMETRICS[name],
                code="bad_parameter",
            )
        super().__init__(**settings)
        self._means = RunningMeans(
            measures, ties=ties, empty=empty, negative=negative, dtype=dtype, check=check
        )
        for name, array in self._means.state().items():
            self.add_state(name, torch.from_numpy(array), dist_reduce_fx="sum")
        for name in KEPT:
            self.add_state(name, [], dist_reduce_fx="cat")
        # A MetricCollection lets metrics share what they keep if it is equal after the first batch.
        definition = repr((self._means, ties, empty, negative, dtype)).encode()
        self.add_state("definition", torch.tensor(zlib.crc32(definition)), dist_reduce_fx="max")

    def update(
        self,
        preds: Tensor,
        target: Tensor,
        indexes: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        lengths: Tensor | None = None,
        offsets: Tensor | None = None,
        groups: Tensor | None = None,
        max_length: int | None = None,
    ) -> None:
        """Add a batch.

        Args:
            preds: Scores, shape (..., lists, documents), or flat with `indexes`, `lengths`,
                `offsets` or `groups`.
            target: Grades of the same shape. NaN means unjudged.
            indexes: The query of each document, as in torchmetrics, of the same shape. A query can
                have rows in several batches.
            mask: As in `rankscope.array.evaluate_batch`; with `indexes`, too.
            lengths: As in `rankscope.array.evaluate_batch`.
            offsets: As in `rankscope.array.evaluate_batch`.
            groups: As in `rankscope.array.evaluate_batch`: unlike with `indexes`, each list is in
                one batch, and no rows are kept.
            max_length: As in `rankscope.array.evaluate_batch`.

        Raises:
            UsageError: Scores and grades are swapped, as far as their types show it, or there are
                other arguments beside `indexes`.
            InputError: The tensors don't fit together, or contain what has no value.
        """
        _check_tensors(preds, target)
        dividers = {"lengths": lengths, "offsets": offsets, "groups": groups}
        if indexes is not None:
            others = [name for name, value in dividers.items() if value is not None]
            if others:
                raise UsageError(
                    f"expected indexes alone, found {' and '.join(others)}, too",
                    hint="indexes already says which documents a list has",
                    code="bad_parameter",
                )
            self._keep(preds, target, indexes, mask)
            return
        self._load()
        self._means.update(
            grades=target, scores=preds, mask=mask, max_length=max_length, **dividers
        )
        for name, array in self._means.state().items():
            setattr(self, name, array.to(getattr(self, name).device))

    def compute(self) -> Tensor | dict[str, Tensor]:
        """Return the mean over all lists so far: one tensor, or one for each of several measures.

        Raises:
            EmptyError: There was no list.
            InputError: A list has no value.
        """
        torch = require("torch")
        self._load()
        means = self._means
        preds, target, indexes = (_join(torch, getattr(self, name)) for name in KEPT)
        if preds is not None:
            of_queries = means + means
            of_queries.reset()
            of_queries.update(grades=target, scores=preds, groups=indexes)
            means = means + of_queries
        device = self.sums.device
        dtype = torch.float32 if device.type == "mps" else torch.float64
        values = {
            name: torch.tensor(mean, dtype=dtype, device=device)
            for name, mean in means.compute().items()
        }
        return values if len(values) > 1 else next(iter(values.values()))

    def sync(self, *arguments: Any, **settings: Any) -> None:
        """Bring the states of all processes together, as in every metric of torchmetrics."""
        torch = require("torch")
        for name in KEPT:
            # Processes that have kept nothing send nothing, in the type of those that have.
            if isinstance(getattr(self, name), list) and not getattr(self, name):
                dtype = _kept_type(name, self.device)
                setattr(self, name, [torch.empty(0, dtype=dtype, device=self.device)])
        super().sync(*arguments, **settings)

    def _keep(self, preds: Tensor, target: Tensor, indexes: Tensor, mask: Tensor | None) -> None:
        shapes = {tuple(tensor.shape) for tensor in (preds, target, indexes)}
        if len(shapes) > 1 or (mask is not None and tuple(mask.shape) not in shapes):
            problem = "expected preds, target, indexes and mask of one shape, found "
            problem += ", ".join(str(tuple(tensor.shape)) for tensor in (preds, target, indexes))
            hint = "each document has a score, a grade and the index of its query"
            raise FormatError(problem, hint=hint, code="length_mismatch", file="indexes")
        if indexes.dtype.is_floating_point:
            problem = f"expected indexes as a tensor of integers, found {indexes.dtype}"
            hint = "call .long() on whole numbers"
            raise FormatError(problem, hint=hint, code="not_numeric", file="indexes")
        for name, tensor in (("preds", preds), ("target", target), ("indexes", indexes)):
            chosen = tensor.detach() if mask is None else tensor.detach()[mask.bool()]
            getattr(self, name).append(chosen.flatten().to(_kept_type(name, chosen.device)))

    def __repr__(self) -> str:
        return repr(self._means).replace("RunningMeans", "RankingMetric")

    def _load(self) -> None:
        self._means.load_state({name: getattr(self, name) for name in self._means.state()})


def synchronize(means: RunningMeans, group: Any = None) -> RunningMeans:
    """Return the means over the lists of all processes, from the means of each.

    Every process has to call it. The means that are passed stay as they are.

    Args:
        means: The means of this process.
        group: A process group of `torch.distributed` (default: all processes).

    Raises:
        UsageError: PyTorch is not installed.
    """
    torch, distributed = require("torch"), require("torch.distributed")
    is_nccl = distributed.get_backend(group) == "nccl"
    device = f"cuda:{torch.cuda.current_device()}" if is_nccl else "cpu"
    state = {}
    for name, array in means.state().items():
        state[name] = torch.as_tensor(array, device=device).clone()
        distributed.all_reduce(state[name], group=group)
    merged = means + means
    merged.load_state(state)
    return merged


def _check_tensors(preds: Tensor, target: Tensor) -> None:
    for name, tensor in (("preds", preds), ("target", target)):
        if not isinstance(tensor, require("torch").Tensor):
            raise UsageError(
                f"expected {name} as a tensor, found {type(tensor).__name__}",
                hint="rankscope.array.RunningMeans takes arrays of other libraries",
                code="bad_parameter",
            )
    if target.dtype.is_floating_point and not preds.dtype.is_floating_point:
        raise UsageError(
            f"expected scores in preds and grades in target, found {preds.dtype} in preds and "
            f"{target.dtype} in target, which looks swapped",
            hint="call update(preds, target); if the scores are whole numbers, pass preds.float()",
            code="bad_parameter",
        )


def _kept_type(name: str, device: Any) -> Any:
    """Return the type in which rows are kept, which is the same in all processes."""
    torch = require("torch")
    if name == "indexes":
        return torch.int64
    return torch.float32 if device.type == "mps" else torch.float64


def _join(torch: Any, kept: Tensor | list[Tensor]) -> Tensor | None:
    """Return kept rows as one tensor, which they already are after `sync`, or `None`."""
    rows = kept if isinstance(kept, torch.Tensor) else torch.cat(kept) if kept else None
    return rows if rows is not None and len(rows) else None

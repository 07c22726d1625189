"""The losses of values."""

from __future__ import annotations

from rankscope.records import as_dict, record
from rankscope.report.audit import split_refusals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rankscope.losses.result import Losses
    from rankscope.measures import Measure
    from rankscope.output.table import Table


@record(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The losses of a value. They add up to 1 with the value.

    Args:
        value: The value.
        ordering: What is lost by the order down to the cutoff.
        truncation: What is lost by relevant documents that were retrieved below the cutoff.
        retrieval: What is lost by relevant documents that were not retrieved; `None` where it is
            not observable.
        undefined: What is lost by queries without an ideal, which have the value that the policy
            gives them.
    """

    value: float
    ordering: float
    truncation: float
    retrieval: float | None
    undefined: float

    @property
    def losses(self) -> dict[str, float]:
        """The observable losses by name."""
        named = as_dict(self).items()
        return {name: loss for name, loss in named if name != "value" and loss is not None}

    @property
    def largest_loss(self) -> str:
        """The name of the largest loss, empty if there is none."""
        name, loss = max(self.losses.items(), key=lambda pair: pair[1])
        return name if loss > 0 else ""


NAMES: tuple[str, ...] = Ledger.__match_args__


@record(frozen=True, slots=True, kw_only=True)
class LossTable:
    """The losses of a measure.

    Args:
        measure: Its name.
        k: Its cutoff; `None` for whole lists.
        ledgers: That of each run; none where `refusal` says why.
        parts: By the value of an attribute, those of the first run.
        refusal: Why there are none; empty where there are.
    """

    measure: str
    k: int | None
    ledgers: tuple[Ledger, ...]
    parts: tuple[tuple[str, Ledger], ...]
    refusal: str

    @property
    def observes_retrieval(self) -> bool:
        """Whether it is known which relevant documents weren't retrieved."""
        return all(ledger.retrieval is not None for ledger in self.ledgers)

    @property
    def has_undefined(self) -> bool:
        """Whether queries without an ideal cause any loss."""
        rows = [*self.ledgers, *(ledger for _, ledger in self.parts)]
        return any(ledger.undefined != 0 for ledger in rows)


def read_losses(measure: Measure, outcomes: Sequence[Losses | str], *, most: int) -> LossTable:
    """Return the losses of a measure from those of each run, or why a run has none."""
    refusal, held = split_refusals(outcomes)
    slices = held[0].slices if held else None
    parts = [] if slices is None else read_ledgers(held[0], slices)
    names = () if slices is None else slices.labels[:most]
    return LossTable(
        measure=measure.name,
        k=measure.k,
        ledgers=tuple(_make_ledger(each, each.means) for each in held),
        parts=tuple(zip(map(str, names), parts, strict=False)),
        refusal=refusal,
    )


def read_ledgers(losses: Losses, table: Table) -> list[Ledger]:
    """Return the losses in each row of a table."""
    columns = [table.array(name).tolist() for name in NAMES]
    rows = (dict(zip(NAMES, row, strict=True)) for row in zip(*columns, strict=True))
    return [_make_ledger(losses, row) for row in rows]


def _make_ledger(losses: Losses, amounts: Mapping[str, float]) -> Ledger:
    shown: dict[str, Any] = {name: amounts[name] for name in NAMES}
    return Ledger(**shown | ({} if losses.observes_retrieval else {"retrieval": None}))

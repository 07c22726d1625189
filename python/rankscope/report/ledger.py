"""The losses of values."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
        named = {
            "ordering": self.ordering,
            "truncation": self.truncation,
            "retrieval": self.retrieval,
            "undefined": self.undefined,
        }
        return {name: loss for name, loss in named.items() if loss is not None}

    @property
    def largest_loss(self) -> str:
        """The name of the largest loss, empty if there is none."""
        name, loss = max(self.losses.items(), key=lambda pair: pair[1])
        return name if loss > 0 else ""


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


def read_losses(measure: Measure, found: Sequence[Losses | str], *, most: int) -> LossTable:
    """Return the losses of a measure."""
    refusals = [each for each in found if isinstance(each, str)]
    held = [each for each in found if not isinstance(each, str)]
    slices = None if refusals else held[0].slices
    names = () if slices is None else slices.labels[:most]
    parts = [] if slices is None else read_ledgers(held[0], slices)
    return LossTable(
        measure=measure.name,
        k=measure.k,
        ledgers=() if refusals else tuple(map(_read_ledger, held)),
        parts=tuple(zip(map(str, names), parts, strict=False)),
        refusal=refusals[0] if refusals else "",
    )


def _read_ledger(losses: Losses) -> Ledger:
    means = losses.means
    return Ledger(
        value=means["value"],
        ordering=means["ordering"],
        truncation=means["truncation"],
        retrieval=means["retrieval"] if losses.observes_retrieval else None,
        undefined=means["undefined"],
    )


def read_ledgers(losses: Losses, table: Table) -> list[Ledger]:
    """Return the losses of each row of a table: of each query, or of each slice."""
    names = ("value", "ordering", "truncation", "retrieval", "undefined")
    rows = zip(*(table.array(name).tolist() for name in names), strict=True)
    return [
        Ledger(
            value=value,
            ordering=ordering,
            truncation=truncation,
            retrieval=retrieval if losses.observes_retrieval else None,
            undefined=undefined,
        )
        for value, ordering, truncation, retrieval, undefined in rows
    ]

"""Ask cwl_eval through ir_measures: `… -m dev.parity.peers.cwl_eval.measure ANSWERS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dev.parity.answers import publish
from dev.parity.peers.ir_measures.measure import ask

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.answers import Answers
    from dev.parity.cases import Case

SDCG = {f"nDCG@{k}": f"SDCG(max_rel=4)@{k}" for k in (1, 3, 5, 10)}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for scaled DCG, which it calls nDCG."""
    yield ask(cases, "cwl-eval", "sdcg", SDCG)


if __name__ == "__main__":
    publish(measure)

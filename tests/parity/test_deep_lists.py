"""Lists as deep as the C library's logarithm agrees with the nearest number."""

from __future__ import annotations

from random import Random

import pytest

from tests.parity import peers
from tests.parity.shared import SHARED

DEPTH = 1619
"""At rank 1,620 the logarithm of 1,621 is taken, where glibc is one bit off the nearest number."""


@pytest.mark.parametrize("scale", [(0, 1), (1, 2, 3), (-1, 0, 0, 0, 4)], ids=str)
def test_every_rank_is_discounted_as_by_pytrec_eval(scale: tuple[int, ...]) -> None:
    random = Random(len(scale))
    documents = [f"d{number}" for number in range(DEPTH)]
    qrels = {"q": {document: random.choice(scale) for document in documents}}
    run = {"q": {document: random.random() for document in documents}}
    theirs = peers.of_pytrec_eval(qrels, run, [one.pytrec_eval for one in SHARED])
    ours = peers.of_rankscope(qrels, run, [one.measure for one in SHARED])
    for one in SHARED:
        assert ours[one.measure.name] == theirs[one.pytrec_eval], one.measure

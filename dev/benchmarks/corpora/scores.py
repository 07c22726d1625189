"""Scores as a lexical ranker prints them: single precision, six decimals, some ties."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

TIE_SHARE = 0.03
GAP_OF_THE_FIRST = 2.4


def draw_scores(rng: Random, depth: int) -> list[float]:
    """Draw one list of falling scores.

    Gaps shrink as 1/rank and a few are zero. Going through single precision keeps the order
    the same for tools that compare in single and in double precision.

    Args:
        rng: Source of chance.
        depth: Number of scores.

    Returns:
        Scores in file order, each equal to its own text with six decimals.
    """
    score = rng.uniform(20.0, 34.0)
    drawn = array("f")
    draw = rng.random
    for rank in range(1, depth + 1):
        drawn.append(score)
        chance = draw()
        if chance >= TIE_SHARE:
            score += GAP_OF_THE_FIRST / rank * math.log(chance)
    return [round(value, 6) for value in drawn]

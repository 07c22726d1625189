"""Each measure as a function of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from rankscope.array.space import Array
from rankscope.array.values import Choices, evaluate_batch
from rankscope.measures import AP, DCG, RR, Measure, P, R, Success, nDCG


def ndcg(
    *,
    grades: Array,
    scores: Array,
    k: int | None = None,
    gain: str | Mapping[float, float] | Sequence[float] = "linear",
    discount: str | Sequence[float] = "log2",
    base: float | None = None,
    s: float | None = None,
    ideal: str = "judged",
    **choices: Unpack[Choices],
) -> Array:
    """Return the nDCG of each list of a batch, on the device of the arrays.

    Args:
        grades: As in `evaluate_batch`.
        scores: As in `evaluate_batch`.
        k: The cutoff, which can be larger than the lists are long.
        gain: As in `nDCG`: `"linear"`, `"exp2"`, `"binary"` or a table.
        discount: As in `nDCG`: `"log2"`, `"log"`, `"jk"`, `"reciprocal"`, `"linear"`, `"zipf"`, a
            table or a function of the rank.
        base: The base of the discounts `"log"` and `"jk"`.
        s: The exponent of the discount `"zipf"`.
        ideal: As in `nDCG`.
        **choices: `mask`, `lengths`, `offsets`, `groups`, `max_length`, `ties`, `empty`,
            `negative`, `dtype` and `check`, as in `evaluate_batch`.

    Raises:
        UsageError: A setting is invalid.
        InputError: The arrays don't fit together, or contain what has no value.

    Examples:
        >>> import numpy as np
        >>> grades = np.array([[3, 0, 1], [0, 2, 0]])
        >>> scores = np.array([[0.9, 0.5, 0.1], [0.2, 0.2, 0.1]], dtype=np.float32)
        >>> ndcg(grades=grades, scores=scores, k=2).round(4).tolist()
        [0.8262, 0.8155]
        >>> flat = {"grades": [0, 1, 0, 1], "scores": [0.2, 0.1, 0.4, 0.9]}
        >>> ndcg(**flat, groups=[7, 7, 9, 9]).round(4).tolist()
        [0.6309, 1.0]
    """
    settings = {"gain": gain, "discount": discount, "base": base, "s": s, "ideal": ideal}
    return _value(nDCG, grades, scores, choices, k=k, **settings)


def dcg(
    *,
    grades: Array,
    scores: Array,
    k: int | None = None,
    gain: str | Mapping[float, float] | Sequence[float] = "linear",
    discount: str | Sequence[float] = "log2",
    base: float | None = None,
    s: float | None = None,
    **choices: Unpack[Choices],
) -> Array:
    """Return the DCG of each list of a batch, on the device of the arrays.

    Args:
        grades: As in `ndcg`.
        scores: As in `ndcg`.
        k: As in `ndcg`.
        gain: As in `ndcg`.
        discount: As in `ndcg`.
        base: As in `ndcg`.
        s: As in `ndcg`.
        **choices: As in `ndcg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: The arrays don't fit together, or contain what has no value.

    Examples:
        >>> import numpy as np
        >>> dcg(grades=np.array([[1, 3]]), scores=np.array([[0.1, 0.2]]), gain="exp2").round(4)
        array([7.6309])
    """
    return _value(DCG, grades, scores, choices, k=k, gain=gain, discount=discount, base=base, s=s)


def average_precision(
    *,
    grades: Array,
    scores: Array,
    k: int | None = None,
    rel: float = 1.0,
    denominator: str | None = None,
    **choices: Unpack[Choices],
) -> Array:
    """Return the average precision of each list of a batch, on the device of the arrays.

    Args:
        grades: As in `ndcg`.
        scores: As in `ndcg`.
        k: The cutoff (default: none).
        rel: The lowest grade that counts as relevant.
        denominator: As in `AP`, except `"found"`.
        **choices: As in `ndcg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: The arrays don't fit together, or contain what has no value.

    Examples:
        >>> average_precision(grades=[[0, 1, 1]], scores=[[0.9, 0.5, 0.1]])
        array([0.58333333])
    """
    return _value(AP, grades, scores, choices, k=k, rel=rel, denominator=denominator)


def reciprocal_rank(
    *,
    grades: Array,
    scores: Array,
    k: int | None = None,
    rel: float = 1.0,
    **choices: Unpack[Choices],
) -> Array:
    """Return the reciprocal rank of each list of a batch, on the device of the arrays.

    Args:
        grades: As in `ndcg`.
        scores: As in `ndcg`.
        k: As in `average_precision`.
        rel: The lowest grade that counts as relevant.
        **choices: As in `ndcg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: The arrays don't fit together, or contain what has no value.

    Examples:
        >>> reciprocal_rank(grades=[[0, 1, 1]], scores=[[0.9, 0.5, 0.5]])
        array([0.5])
    """
    return _value(RR, grades, scores, choices, k=k, rel=rel)


def precision(
    *,
    grades: Array,
    scores: Array,
    k: int,
    rel: float = 1.0,
    denominator: str | None = None,
    **choices: Unpack[Choices],
) -> Array:
    """Return the precision of each list of a batch, on the device of the arrays.

    Args:
        grades: As in `ndcg`.
        scores: As in `ndcg`.
        k: The cutoff.
        rel: The lowest grade that counts as relevant.
        denominator: As in `P`, except `"found"`.
        **choices: As in `ndcg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: The arrays don't fit together, or contain what has no value.

    Examples:
        >>> precision(grades=[[0, 1, 1]], scores=[[0.9, 0.5, 0.1]], k=2)
        array([0.5])
    """
    return _value(P, grades, scores, choices, k=k, rel=rel, denominator=denominator)


def recall(
    *,
    grades: Array,
    scores: Array,
    k: int,
    rel: float = 1.0,
    denominator: str | None = None,
    **choices: Unpack[Choices],
) -> Array:
    """Return the recall of each list of a batch, on the device of the arrays.

    Args:
        grades: As in `ndcg`.
        scores: As in `ndcg`.
        k: The cutoff.
        rel: The lowest grade that counts as relevant.
        denominator: As in `R`, except `"found"`.
        **choices: As in `ndcg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: The arrays don't fit together, or contain what has no value.

    Examples:
        >>> recall(grades=[[0, 1, 1]], scores=[[0.9, 0.5, 0.1]], k=2)
        array([0.5])
    """
    return _value(R, grades, scores, choices, k=k, rel=rel, denominator=denominator)


def hit_rate(
    *, grades: Array, scores: Array, k: int, rel: float = 1.0, **choices: Unpack[Choices]
) -> Array:
    """Return the hit rate of each list of a batch, on the device of the arrays.

    A hit is a relevant document in the first `k`. For tied scores, the value is the chance of one.

    Args:
        grades: As in `ndcg`.
        scores: As in `ndcg`.
        k: The cutoff.
        rel: The lowest grade that counts as relevant.
        **choices: As in `ndcg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: The arrays don't fit together, or contain what has no value.

    Examples:
        >>> hit_rate(grades=[[0, 1, 1], [0, 0, 1]], scores=[[3, 2, 1], [3, 2, 1]], k=2)
        array([1., 0.])
    """
    return _value(Success, grades, scores, choices, k=k, rel=rel)


def _value(
    measure: Measure, grades: Array, scores: Array, choices: Choices, **settings: object
) -> Array:
    measure = measure(**{name: value for name, value in settings.items() if value is not None})
    return evaluate_batch(measure, grades=grades, scores=scores, **choices)[measure.name]

"""Attribution: the weights of labels, and the grades that documents get from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from rankscope._names import check_choice, fold, is_real, quote
from rankscope.errors import FormatError, UsageError

Positive: TypeAlias = str | Collection[str] | Mapping[str, float]
Combine: TypeAlias = Literal["sum", "max"]
Repeats: TypeAlias = Literal["each", "once"]
Unknown: TypeAlias = Literal["zero", "error"]


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# The values of each field, default first.
CHOICES: dict[str, tuple[str, ...]] = {
    "combine": get_args(Combine),
    "repeats": get_args(Repeats),
    "unknown": get_args(Unknown),
}

# What can stand between several labels in one text.
SIGNS = "|,;"


class Labels(NamedTuple):
    """The labels of documents: the text and the codes of labels, and how many each document has.

    The same text can have several codes. Labels are in the order of the documents.
    """

    names: list[str]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Attribution:
    """The rules that turn labels into grades, as `attribute` takes them.

    `weights` has the weight of each positive class. `unlabelled` is NaN where it means unjudged.
    """

    weights: Mapping[str, float]
    combine: Combine = "sum"
    repeats: Repeats = "each"
    unlabelled: float = 0.0
    unknown: Unknown = "zero"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        if not is_real(self.unlabelled) or math.isinf(self.unlabelled):
            raise UsageError(
                f"unlabelled must be a grade, NaN or None, found {self.unlabelled!r}",
                hint="None makes documents without labels unjudged",
                code="bad_parameter",
            )


def read_positive(positive: Positive | None) -> dict[str, float]:
    """Return the weight of each positive class; classes without a weight have the weight 1."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(positive, str):
        pairs = [(positive, 1)]
    elif isinstance(positive, Mapping):
        pairs = list(positive.items())
    elif isinstance(positive, Collection):
        pairs = [(label, 1) for label in positive]
    if not pairs:
        raise _bad_positive(f"found {positive!r}")
    for label, weight in pairs:
        if not isinstance(label, str) or not label:
            raise _bad_positive(f"found {label!r}")
        if not is_real(weight) or not math.isfinite(weight):
            raise _bad_positive(f"found the weight {weight!r} of {label!r}")
    return {label: float(weight) for label, weight in pairs}


def grade_labels(
    labels: Labels, attribution: Attribution, predicted: Labels | None = None
) -> NDArray[np.float64]:
    """Return the grade of each document.

    Weights are added in the order of the positive classes. The order of a document's labels
    therefore doesn't change the grade, not even in the last bit.
    """
    import numpy as np

    classes = list(attribution.weights)
    other = len(classes)
    weights = np.array([*attribution.weights.values(), 0.0])
    places = _place_labels(labels, classes)
    documents = np.repeat(np.arange(len(labels.counts)), labels.counts)
    if attribution.unknown == "error" and (places == other).any():
        at = int(np.argmax(places == other))
        raise FormatError(
            f"label {labels.names[labels.codes[at]]!r} is not one of {', '.join(classes)}",
            hint="set a weight for it, which can be 0, or remove unknown='error'",
            code="unknown_label",
            file="labels",
            line=int(documents[at]) + 1,
        )
    rows, spellings = np.flatnonzero(places == other), {fold(label): label for label in classes}
    firsts = np.unique(labels.codes[rows], return_index=True)[1]
    for at in rows[np.sort(firsts)].tolist():
        _refuse_alike(labels.names[labels.codes[at]], int(documents[at]) + 1, spellings)
    if predicted is not None:
        expected = np.full(len(labels.counts), other)
        expected[predicted.counts > 0] = _place_labels(predicted, classes)
        places = np.where(places == expected[documents], places, other)
    keys = np.sort(documents * (other + 1) + places)
    if attribution.repeats == "once" and len(keys):
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    documents, places = np.divmod(keys, other + 1)
    grades = np.full(len(labels.counts), attribution.unlabelled, dtype=np.float64)
    is_labelled = labels.counts > 0
    if attribution.combine == "sum":
        sums = np.bincount(documents, weights[places], minlength=len(grades))
        grades[is_labelled] = sums[is_labelled]
    elif len(keys):
        starts = np.flatnonzero(np.diff(documents, prepend=-1))
        grades[is_labelled] = np.maximum.reduceat(weights[places], starts)
    return grades


def _refuse_alike(label: str, line: int, spellings: Mapping[str, str]) -> None:
    """Refuse a label that is a positive class but for its spelling, or that names several."""
    parts = {sign: map(fold, label.split(sign)) for sign in SIGNS if sign in label}
    sign = next((sign for sign, of in parts.items() if not spellings.keys().isdisjoint(of)), "")
    if not sign and fold(label) not in spellings:
        return
    like = "several labels" if sign else repr(spellings[fold(label)])
    way = f"write separator={sign!r}" if sign else f"write {like} in the data"
    names = ", ".join(spellings.values())
    raise FormatError(
        f"label {quote(label)} is not one of {names}, but looks like {like}",
        hint=f"{way}; otherwise, give it a weight of its own: positive={{…, {quote(label)}: 0}}",
        code="unknown_label",
        file="labels",
        line=line,
    )


def _place_labels(labels: Labels, classes: list[str]) -> NDArray[np.int64]:
    """Return the index of the class of each label, or the number of classes if it has none."""
    import numpy as np

    place = {label: at for at, label in enumerate(classes)}
    of_name = np.array([place.get(name, len(classes)) for name in labels.names], dtype=np.int64)
    return of_name[labels.codes]


def _bad_positive(problem: str) -> UsageError:
    return UsageError(
        f"positive must be a label, several labels, or labels with finite weights, {problem}",
        hint="write positive='click' or positive={'click': 1, 'buy': 5}",
        code="bad_positive",
    )

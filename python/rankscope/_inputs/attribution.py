"""Attribution: the weights of labels, and the grades that documents get from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.names import check_choice, fold, is_real, quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias, TypedDict

    from numpy.typing import NDArray

    Positive: TypeAlias = str | Collection[str] | Mapping[str, float]
    Combine: TypeAlias = Literal["sum", "max"]
    Repeats: TypeAlias = Literal["each", "once"]
    Unknown: TypeAlias = Literal["zero", "error"]

    class Settings(TypedDict, total=False):
        """The keyword arguments of `attribute` other than the positive classes and predictions."""

        combine: Combine
        repeats: Repeats
        unlabelled: float | None
        unknown: Unknown
        separator: str | None

    class LabelOptions(Settings, total=False):
        """The labels of a table that has them in place of grades, as keyword arguments."""

        labels: str | None
        predicted: str | None
        positive: Positive | None


CHOICES: dict[str, tuple[str, ...]] = {
    "combine": ("sum", "max"),
    "repeats": ("each", "once"),
    "unknown": ("zero", "error"),
}
"""The values of each field, default first."""

SIGNS = "|,;"
"""What can stand between several labels in one text."""

SETTINGS = ("combine", "repeats", "unlabelled", "unknown", "separator")
"""The keys of `Settings`."""
LABELS = ("labels", "predicted", "positive", *SETTINGS)
"""The keys of `LabelOptions`."""


@record(frozen=True, slots=True)
class Labels:
    """The labels of documents, in the order of the documents.

    Args:
        names: The text of each code. The same text can occur more than once.
        codes: The code of each label.
        counts: The number of labels of each document.
    """

    names: list[str]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]


@record(frozen=True, slots=True)
class Attribution:
    """The rules that turn labels into grades.

    Args:
        weights: The weight of each positive class. Other labels have the weight 0.
        combine: `"sum"` adds the weights of a document's labels, `"max"` takes the largest.
        repeats: Whether a repeated label of a document counts `"each"` time or `"once"`.
        unlabelled: The grade of documents without labels; NaN makes them unjudged.
        unknown: Whether labels that are not a positive class count as `"zero"` or are an
            `"error"`.

    Raises:
        UsageError: A value is not one of these.
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
    rows, known = np.flatnonzero(places == other), {fold(label): label for label in classes}
    firsts = np.unique(labels.codes[rows], return_index=True)[1]
    for at in rows[np.sort(firsts)].tolist():
        _refuse_alike(labels.names[labels.codes[at]], int(documents[at]) + 1, known)
    if predicted is not None:
        wanted = np.full(len(labels.counts), other)
        wanted[predicted.counts > 0] = _place_labels(predicted, classes)
        places = np.where(places == wanted[documents], places, other)
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


def _refuse_alike(label: str, line: int, known: Mapping[str, str]) -> None:
    """Refuse a label that is a positive class but for its spelling, or that names several."""
    parts = {sign: map(fold, label.split(sign)) for sign in SIGNS if sign in label}
    sign = next((sign for sign, of in parts.items() if not known.keys().isdisjoint(of)), "")
    if not sign and fold(label) not in known:
        return
    like = "several labels" if sign else repr(known[fold(label)])
    way = f"write separator={sign!r}" if sign else f"write {like} in the data"
    raise FormatError(
        f"label {quote(label)} is not one of {', '.join(known.values())}, but looks like {like}",
        hint=f"{way}; otherwise, give it a weight of its own: positive={{…, {quote(label)}: 0}}",
        code="unknown_label",
        file="labels",
        line=line,
    )


def _place_labels(labels: Labels, classes: list[str]) -> NDArray[np.int64]:
    """Return the index of the class of each label, or the number of classes if it has none."""
    place = {label: at for at, label in enumerate(classes)}
    of_name = np.array([place.get(name, len(classes)) for name in labels.names], dtype=np.int64)
    return of_name[labels.codes]


def _bad_positive(found: str) -> UsageError:
    return UsageError(
        f"positive must be a label, several labels, or labels with finite weights, {found}",
        hint="write positive='click' or positive={'click': 1, 'buy': 5}",
        code="bad_positive",
    )

"""The choices that change values, as one frozen record."""

from __future__ import annotations

from rankscope.errors import PolicyError
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Literal

CHOICES: dict[str, tuple[str, ...]] = {
    "ties": ("doc_id", "doc_id_asc", "input", "best", "worst"),
    "empty": ("zero", "skip", "one", "nan", "error"),
    "missing": ("zero", "skip", "error"),
    "unjudged": ("nonrelevant", "remove"),
    "negative": ("nonrelevant", "gain", "error"),
}


@record(frozen=True, slots=True)
class Policy:
    """What is done where tools differ; every result prints the one it was made under.

    Args:
        ties: What decides between equal scores: `"doc_id"` (larger id first, by bytes, as
            trec_eval), `"doc_id_asc"` (smaller id first), `"input"` (the order given), `"best"` or
            `"worst"` (larger or smaller grade first).
        empty: The value of a query for which a measure is undefined, mostly for want of relevant
            documents: `"zero"`, `"one"`, `"nan"`, `"skip"` (it is left out of the mean) or
            `"error"`.
        missing: A judged query that is not in the run: `"zero"` (an empty list), `"skip"` or
            `"error"`.
        unjudged: A retrieved document without a judgment: `"nonrelevant"`, or `"remove"` (the list
            is condensed: Sakai, *Alternatives to bpref*, 2007).
        negative: A negative grade: `"nonrelevant"` (no gain, as trec_eval), `"gain"` (what the gain
            function makes of it) or `"error"`.

    Raises:
        PolicyError: A value is not one of these.

    Examples:
        >>> Policy(empty="skip")
        Policy(ties='doc_id', empty='skip', missing='zero', unjudged='nonrelevant', \
negative='nonrelevant')
        >>> print(Policy.parse("ties=input,missing=skip"))
        ties=input,empty=zero,missing=skip,unjudged=nonrelevant,negative=nonrelevant
    """

    ties: Literal["doc_id", "doc_id_asc", "input", "best", "worst"] = "doc_id"
    empty: Literal["zero", "skip", "one", "nan", "error"] = "zero"
    missing: Literal["zero", "skip", "error"] = "zero"
    unjudged: Literal["nonrelevant", "remove"] = "nonrelevant"
    negative: Literal["nonrelevant", "gain", "error"] = "nonrelevant"

    def __post_init__(self) -> None:
        for name, value in self.to_dict().items():
            check_choice(name, value, CHOICES[name])

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.to_dict().items())

    def to_dict(self) -> dict[str, str]:
        """Give the fields by name."""
        return {name: getattr(self, name) for name in CHOICES}

    @classmethod
    def parse(cls, text: str, default: Policy | None = None) -> Policy:
        """Read `field=value,field=value`; fields that are not named are as in `default`.

        Raises:
            PolicyError: A field or a value is unknown, or a field is named twice.
        """
        given: dict[str, str] = {}
        for part in filter(None, text.split(",")):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals:
                raise PolicyError(
                    f"expected field=value, found {part!r}",
                    hint="write ties=input,empty=skip",
                    code="bad_policy",
                )
            check_choice("the field", name, tuple(CHOICES))
            if name in given:
                raise PolicyError(
                    f"expected {name} once, found it twice", hint="keep one", code="bad_policy"
                )
            check_choice(name, value, CHOICES[name])
            given[name] = value
        return replace(default or cls(), **given)  # type: ignore[arg-type]  # checked above


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuse a value that is not one of the choices.

    Raises:
        PolicyError: It is not.
    """
    if isinstance(value, str) and value in choices:
        return
    from difflib import get_close_matches  # noqa: PLC0415 - slow to load; only errors need it

    close = get_close_matches(str(value), choices, n=1)
    raise PolicyError(
        f"expected {name} to be one of {', '.join(choices)}; found {value!r}",
        hint=f"did you mean {close[0]}?" if close else f"{next(iter(choices))} is the default",
        code="bad_policy",
    )

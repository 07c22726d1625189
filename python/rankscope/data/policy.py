"""The choices that change values, as one frozen record."""

from __future__ import annotations

import math

from rankscope.errors import PolicyError
from rankscope.names import find_closest, quote
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Literal, TypeAlias

    Ties: TypeAlias = Literal["doc_id", "doc_id_asc", "input", "best", "worst", "average"]

CHOICES: dict[str, tuple[str, ...]] = {
    "ties": ("doc_id", "doc_id_asc", "input", "best", "worst", "average"),
    "empty": ("zero", "skip", "one", "nan", "error"),
    "missing": ("zero", "skip", "error"),
    "unjudged": ("nonrelevant", "remove"),
    "unretrieved": ("count", "ignore"),
    "negative": ("nonrelevant", "gain", "minmax", "error"),
    "aggregate": ("mean", "ratio_of_sums", "geometric", "harmonic", "median"),
}
"""The words of each field, the default first."""

FIELDS = (
    "ties",
    "empty",
    "missing",
    "unjudged",
    "unretrieved",
    "negative",
    "missing_gain",
    "aggregate",
)
"""The fields, in the order in which they are printed."""

SHARES = ("quantile", "tail_mean")
"""Aggregates that are written with a share: `quantile(0.1)`."""


@record(frozen=True, slots=True)
class Policy:
    """What is done where tools differ; every result prints the one it was made under.

    Args:
        ties: What decides between equal scores: `"doc_id"` (larger id first, by bytes, as
            trec_eval), `"doc_id_asc"` (smaller id first), `"input"` (the order given), `"best"` or
            `"worst"` (larger or smaller grade first), `"average"` (the expected value over all
            orders, exactly: McSherry and Najork, *Computing information retrieval performance
            measures efficiently in the presence of tied scores*, 2008).
        empty: The value of a query for which a measure is undefined, mostly for want of relevant
            documents: `"zero"`, `"one"`, `"nan"`, `"skip"` (it is left out of the mean) or
            `"error"`.
        missing: A judged query that is not in the run: `"zero"` (an empty list), `"skip"` or
            `"error"`.
        unjudged: A retrieved document without a judgment: `"nonrelevant"`, `"remove"` (the list
            is condensed: Sakai, *Alternatives to bpref*, 2007), or a number, which is its gain.
        unretrieved: A judged document that is not in the list: `"count"` (it is one of the relevant
            documents, and of the ideal list) or `"ignore"` (it is unknown, as to libraries that
            see lists of labels only).
        negative: A negative grade: `"nonrelevant"` (no gain, as trec_eval), `"gain"` (what the gain
            function makes of it), `"minmax"` (as `"gain"`, and nDCG is taken between the worst and
            the best order of what is judged: Gienapp et al., *The impact of negative relevance
            judgments on NDCG*, 2020) or `"error"`.
        missing_gain: The gain at each rank up to the cutoff at which a shorter list has no
            document; `None` is 0.
        aggregate: How the values of queries become one: `"mean"`, `"ratio_of_sums"` (of
            numerators and denominators, such as DCG and IDCG), `"geometric"`, `"harmonic"`,
            `"median"`, `"quantile(0.1)"`, or `"tail_mean(0.1)"` (the mean of the worst tenth).
            Counts are summed whatever it says.

    Raises:
        PolicyError: A value is not one of these.

    Examples:
        >>> Policy(empty="skip").empty
        'skip'
        >>> print(Policy.parse("ties=average,missing=skip"))
        ties=average,empty=zero,missing=skip,unjudged=nonrelevant,negative=nonrelevant
        >>> print(Policy(aggregate="tail_mean(0.1)", missing_gain=-1))
        ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant,\
missing_gain=-1,aggregate=tail_mean(0.1)
    """

    ties: Ties = "doc_id"
    empty: Literal["zero", "skip", "one", "nan", "error"] = "zero"
    missing: Literal["zero", "skip", "error"] = "zero"
    unjudged: Literal["nonrelevant", "remove"] | float = "nonrelevant"
    unretrieved: Literal["count", "ignore"] = "count"
    negative: Literal["nonrelevant", "gain", "minmax", "error"] = "nonrelevant"
    missing_gain: float | None = None
    aggregate: str = "mean"

    def __post_init__(self) -> None:
        for name in ("ties", "empty", "missing", "unretrieved", "negative"):
            check_choice(name, getattr(self, name), CHOICES[name])
        if not _is_number(self.unjudged):
            check_choice("unjudged", self.unjudged, CHOICES["unjudged"], "or a number")
        if self.missing_gain is not None and not _is_number(self.missing_gain):
            raise PolicyError(
                f"expected missing_gain to be a finite number, found {quote(self.missing_gain)}",
                hint="leave it out for a gain of 0",
                code="bad_policy",
            )
        split_aggregate(self.aggregate)

    def __str__(self) -> str:
        given = self.to_dict()
        for name, default in (
            ("unretrieved", "count"),
            ("missing_gain", None),
            ("aggregate", "mean"),
        ):
            if given[name] == default:
                del given[name]
        return ",".join(f"{name}={value}" for name, value in given.items())

    def to_dict(self) -> dict[str, str | float | None]:
        """Give the fields by name."""
        return {name: getattr(self, name) for name in FIELDS}

    @classmethod
    def parse(cls, text: str, default: Policy | None = None) -> Policy:
        """Read `field=value,field=value`; fields that are not named are as in `default`.

        Raises:
            PolicyError: A field or a value is unknown, or a field is named twice.
        """
        given: dict[str, str | float] = {}
        for part in filter(None, text.split(",")):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals:
                raise PolicyError(
                    f"expected field=value, found {quote(part)}",
                    hint="write ties=input,empty=skip",
                    code="bad_policy",
                )
            check_choice("the field", name, FIELDS)
            if name in given:
                raise PolicyError(
                    f"expected {name} once, found it twice", hint="keep one", code="bad_policy"
                )
            given[name] = _read(value) if name in {"unjudged", "missing_gain"} else value
        return replace(default or cls(), **given)  # type: ignore[arg-type]  # checked when made


def split_aggregate(text: object) -> tuple[str, float | None]:
    """Split `quantile(0.1)` into its name and its share; other aggregates have none.

    Raises:
        PolicyError: It is no aggregate.
    """
    name, _, rest = text.partition("(") if isinstance(text, str) else ("", "", "")
    if name in SHARES:
        share = _read(rest.removesuffix(")"))
        if rest.endswith(")") and isinstance(share, float) and 0 < share <= 1:
            return name, share
        raise PolicyError(
            f"expected {name} with a share above 0 and up to 1, found {quote(text)}",
            hint=f"write {name}(0.1)",
            code="bad_policy",
        )
    check_choice("aggregate", text, CHOICES["aggregate"], "quantile(0.1), tail_mean(0.1)")
    return name, None


def check_choice(name: str, value: object, choices: Collection[str], others: str = "") -> None:
    """Refuse a value that is not one of the choices.

    Raises:
        PolicyError: It is not.
    """
    if isinstance(value, str) and value in choices:
        return
    closest = find_closest(value, choices)
    wanted = ", ".join([*choices, *([others] if others else [])])
    raise PolicyError(
        f"expected {name} to be one of {wanted}; found {quote(value)}",
        hint=f"did you mean {closest}?" if closest else f"{next(iter(choices))} is the default",
        code="bad_policy",
    )


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that is larger than every float
        return False


def _read(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text

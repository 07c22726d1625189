"""The choices that change values, as one frozen record."""

from __future__ import annotations

import math

from rankscope._core import POLICY, SHARES
from rankscope.errors import PolicyError
from rankscope.names import check_choice, is_real, quote
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    Ties: TypeAlias = Literal["doc_id", "doc_id_asc", "input", "best", "worst", "average"]
    Empty: TypeAlias = Literal["zero", "skip", "one", "nan", "error"]
    Missing: TypeAlias = Literal["zero", "skip", "error"]
    Unjudged: TypeAlias = Literal["nonrelevant", "remove"]
    Unretrieved: TypeAlias = Literal["count", "ignore"]
    Negative: TypeAlias = Literal["nonrelevant", "gain", "minmax", "error"]
    Duplicates: TypeAlias = Literal["error", "first", "max"]
    ScoreType: TypeAlias = Literal["float64", "float32"]

CHOICES = {
    field: tuple(word for word in words if word not in SHARES) for field, words in POLICY.items()
}
"""The words of each field, the default first, as the core lists them. Those that need a share of
the queries, such as `quantile(0.1)`, are left out."""

DEFAULT_TIES: Ties = "doc_id"
"""The ties of a run under a policy that has none."""


@record(frozen=True, slots=True)
class Policy:
    """The choices that change values, where tools differ. Every result prints its policy.

    Args:
        ties: The order of documents with equal scores: `"doc_id"` (larger ID first, by bytes, as in
            trec_eval), `"doc_id_asc"` (smaller ID first), `"input"` (the order given), `"best"` or
            `"worst"` (higher or lower grade first), or `"average"` (the expected value over all
            orders, computed exactly: McSherry and Najork, *Computing information retrieval
            performance measures efficiently in the presence of tied scores*, 2008). By default,
            the ties of the rankings or of the table that is evaluated, and `"doc_id"` for a run.
        empty: The value of a query for which a measure is undefined, usually because it has no
            relevant documents: `"zero"`, `"one"`, `"nan"`, `"skip"` (the mean leaves it out), or
            `"error"`.
        missing: A judged query that is not in the run: `"zero"` (an empty list), `"skip"` or
            `"error"`.
        unjudged: A retrieved document without a judgment: `"nonrelevant"`, `"remove"` (from the
            list: Sakai, *Alternatives to bpref*, 2007), or a number, which is its gain.
        unretrieved: A judged document that is not in the list: `"count"` (it is one of the relevant
            documents, and part of the ideal list), or `"ignore"` (as libraries do that only see
            lists of labels).
        negative: A negative grade: `"nonrelevant"` (no gain, as in trec_eval), `"gain"` (the result
            of the gain function), `"minmax"` (like `"gain"`, and nDCG is scaled between the worst
            and the best order of the judged documents: Gienapp et al., *The impact of negative
            relevance judgments on NDCG*, 2020), or `"error"`.
        missing_gain: The gain at each rank up to the cutoff where a shorter list has no document
            (default: 0).
        aggregate: How the values of queries become one: `"mean"`, `"ratio_of_sums"` (of
            numerators and denominators, such as DCG and IDCG), `"geometric"`, `"harmonic"`,
            `"median"`, `"quantile(0.1)"`, or `"tail_mean(0.1)"` (the mean of the lowest tenth).
            Counts are always summed.

    Raises:
        PolicyError: A value is not one of these.

    Examples:
        >>> Policy(empty="skip").empty
        'skip'
        >>> print(Policy.parse("ties=average,missing=skip"))
        ties=average,empty=zero,missing=skip,unjudged=nonrelevant,negative=nonrelevant
        >>> print(Policy(aggregate="tail_mean(0.1)", missing_gain=-1))
        empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant,missing_gain=-1,\
aggregate=tail_mean(0.1)
    """

    ties: Ties | None = None
    empty: Empty = "zero"
    missing: Missing = "zero"
    unjudged: Unjudged | float = "nonrelevant"
    unretrieved: Unretrieved = "count"
    negative: Negative = "nonrelevant"
    missing_gain: float | None = None
    aggregate: str = "mean"

    def __post_init__(self) -> None:
        for name in ("empty", "missing", "unretrieved", "negative"):
            check_choice(name, getattr(self, name), CHOICES[name])
        if isinstance(self.ties, str) and "=" in self.ties:
            raise PolicyError(
                f"expected ties, found the text {quote(self.ties)}",
                hint=f"write Policy.parse({quote(self.ties)})",
                code="bad_policy",
            )
        if self.ties is not None:
            check_choice("ties", self.ties, CHOICES["ties"])
        if not _is_finite(self.unjudged):
            check_choice("unjudged", self.unjudged, CHOICES["unjudged"], "or a number")
        if self.missing_gain is not None and not _is_finite(self.missing_gain):
            raise PolicyError(
                f"expected missing_gain to be a finite number, found {quote(self.missing_gain)}",
                hint="leave it out for a gain of 0",
                code="bad_policy",
            )
        split_aggregate(self.aggregate)

    def __str__(self) -> str:
        fields = self.to_dict()
        for name, default in (
            ("ties", None),
            ("unretrieved", "count"),
            ("missing_gain", None),
            ("aggregate", "mean"),
        ):
            if fields[name] == default:
                del fields[name]
        return ",".join(f"{name}={value}" for name, value in fields.items())

    def to_dict(self) -> dict[str, str | float | None]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in FIELDS}

    def resolve(self, ties: Ties | None = None) -> Policy:
        """Return the policy with these ties, or else those of a run, unless it has its own."""
        return self if self.ties is not None else replace(self, ties=ties or DEFAULT_TIES)

    @classmethod
    def parse(cls, text: str, default: Policy | None = None) -> Policy:
        """Read `field=value,field=value`. Fields that are not named are as in `default`.

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


FIELDS: tuple[str, ...] = Policy.__match_args__
"""The fields, in the order in which they are printed."""


def ties_of(policy: Policy) -> Ties:
    """Return the ties of a policy, or those of a run if it has none."""
    return policy.ties or DEFAULT_TIES


def split_aggregate(text: object) -> tuple[str, float | None]:
    """Split `quantile(0.1)` into its name and its share, which other aggregates don't have."""
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
    with_share = ", ".join(f"{name}(0.1)" for name in SHARES)
    check_choice("aggregate", text, CHOICES["aggregate"], with_share)
    return name, None


def _is_finite(value: object) -> bool:
    if not is_real(value):
        return False
    try:
        return math.isfinite(value)  # type: ignore[arg-type]  # a number
    except OverflowError:  # an integer that is larger than every float
        return False


def _read(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text

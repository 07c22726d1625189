"""Conventions: the settings with which one version of a library computes its numbers."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, TypeAlias

    from rankscope.settings.policy import ScoreType

    Setting: TypeAlias = object
    """A value of a parameter of a measure, as its domain reads it."""


def every(_grade: float) -> float:
    """Return 1 for every grade."""
    return 1.0


def truncated(grade: float) -> float:
    """Return the grade, truncated to an integer.

    Examples:
        >>> truncated(1.9), truncated(-0.5)
        (1.0, 0.0)
    """
    return float(int(grade))


def truncated_exp2(grade: float) -> float:
    """Return 2^grade - 1 of the truncated grade.

    Examples:
        >>> truncated_exp2(2.7)
        3.0
    """
    return 2.0 ** int(grade) - 1.0


def quarters(grade: float) -> float:
    """Return the grade divided by 4, at most 1.

    Examples:
        >>> quarters(3.0), quarters(5.0)
        (0.75, 1.0)
    """
    return min(grade, 4.0) / 4


TRUNCATED = {"linear": truncated, "exp2": truncated_exp2}
"""The gains of libraries that truncate grades, by the corresponding gain."""


NOTHING: Mapping[str, Setting] = {}


NO_POLICY: Mapping[str, str] = {}


@record(frozen=True, slots=True)
class Limit:
    """The grades that a library accepts.

    Args:
        says: What the library does with other grades, to follow its name in a sentence.
        least: The lowest grade.
        most: The highest grade.
        integers: Whether grades must be integers.
    """

    says: str
    least: float | None = None
    most: float | None = None
    integers: bool = False

    def allows(self, grade: float) -> bool:
        """Return whether the library accepts a grade."""
        is_within = (self.least is None or grade >= self.least) and (
            self.most is None or grade <= self.most
        )
        return is_within and not (self.integers and grade != int(grade))


@record(frozen=True, slots=True, kw_only=True)
class Form:
    """A measure as a library computes it.

    Args:
        measure: The name of the measure in rankscope.
        settings: The parameter values that correspond to the definition of the library.
        takes: The parameters that the caller can set.
        cut: `True` if the library only has the measure with a cutoff, `False` if only without.
        policy: The policy fields in which this measure differs from the rest of the convention.
        score_type: How scores are compared, if this differs from the rest of the convention.
        limit: The grades accepted for this measure, if fewer than for the convention.
    """

    measure: str
    settings: Mapping[str, Setting] = NOTHING
    takes: tuple[str, ...] = ("k",)
    cut: bool | None = None
    policy: Mapping[str, str] = NO_POLICY
    score_type: Literal["", "float64", "float32"] = ""
    limit: Limit | None = None


def alike(*measures: str, **shared: Any) -> tuple[Form, ...]:  # noqa: ANN401 - fields of a form
    """Return the forms of measures that a library computes alike."""
    return tuple(Form(measure=each, **shared) for each in measures)


@record(frozen=True, slots=True)
class Option:
    """A setting that a library leaves to its user, and that can be combined with its convention.

    Args:
        name: The name of the setting in the library, such as `-c`.
        field: The policy field or measure parameter that corresponds to it.
        values: The values it can have; empty means any.
    """

    name: str
    field: str
    values: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Bug:
    """A bug of a library that its convention doesn't reproduce.

    Args:
        name: A short identifier.
        says: What happens, in one sentence.
    """

    name: str
    says: str


@record(frozen=True, slots=True, kw_only=True)
class Convention:
    """The settings with which one version of a library computes its numbers.

    Args:
        name: The name to pass as `convention=`.
        version: The version of the library.
        tool: The library or program, as its authors write it.
        summary: A description in one sentence.
        verified: `run` if the tests compare rankscope with numbers that the library computed, else
            `read from source`.
        policy: The policy fields that the convention sets.
        forms: The measures that the library has.
        limit: The grades that the library accepts.
        truncates: Whether the library truncates grades to integers.
        score_type: The precision in which the library compares scores.
        places: The number of decimal places to which the library rounds values of queries, or
            `None`. rankscope doesn't round.
        computes_in: The precision in which the library computes; rankscope uses double precision.
        adds_in_order: Whether means are sums that are rounded after each query, in the order of
            their IDs. Other sums are exact.
        options: The settings that the library leaves to its user.
        notes: Further notes, as sentences.
        bugs: Bugs of the library that the convention doesn't reproduce.
        sources: The sources of this information.
    """

    name: str
    version: str
    tool: str
    summary: str
    verified: Literal["run", "read from source"] = "run"
    policy: Mapping[str, str]
    forms: tuple[Form, ...]
    limit: Limit | None = None
    truncates: bool = False
    score_type: ScoreType = "float64"
    places: int | None = None
    computes_in: ScoreType = "float64"
    adds_in_order: bool = False
    options: tuple[Option, ...] = ()
    notes: tuple[str, ...] = ()
    bugs: tuple[Bug, ...] = ()
    sources: tuple[str, ...]

    @property
    def address(self) -> str:
        """The name with the version, such as `lightgbm@4.7.0`."""
        return f"{self.name}@{self.version}"

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures that the library has."""
        return tuple(dict.fromkeys(form.measure for form in self.forms))

    def __repr__(self) -> str:
        return f"Convention({self.address!r})"


LISTS_ONLY = "It only sees the retrieved documents. Documents without a judgment have grade 0."


UNKNOWN = {"unretrieved": "ignore"}
"""The policy of libraries that only see lists of labels."""


LOG_CANCELS = "Its discount is 1/ln(rank + 1). The base cancels."


NO_NEGATIVE = Limit(
    "adds the gains of negative grades to its ideal, which rankscope doesn't reproduce", least=0
)

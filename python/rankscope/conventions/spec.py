"""A convention is one row: what a library, in one version, means by its numbers."""

from __future__ import annotations

from types import MappingProxyType

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    from rankscope.data.policy import ScoreType

    Setting: TypeAlias = object
    """A value for a parameter of a measure, as its domain reads it."""

NOTHING: Mapping[str, Setting] = MappingProxyType({})


@record(frozen=True, slots=True)
class Limit:
    """Grades that the library takes; others it refuses, or reads as something else.

    Args:
        says: What it does with the others, in words that follow its name.
        least: The smallest grade.
        most: The largest grade.
        integers: Whether grades have to be integers.
    """

    says: str
    least: float | None = None
    most: float | None = None
    integers: bool = False

    def allows(self, grade: float) -> bool:
        """Whether a grade is one of these."""
        is_within = (self.least is None or grade >= self.least) and (
            self.most is None or grade <= self.most
        )
        return is_within and not (self.integers and grade != int(grade))


@record(frozen=True, slots=True, kw_only=True)
class Form:
    """A measure as the library computes it.

    Args:
        measure: Our name of the measure.
        settings: The parameter values that its definition comes to.
        takes: The parameters that it leaves to the caller.
        cut: Whether it has the measure with a cutoff only (`True`), without one only (`False`),
            or both.
        policy: Fields of the policy in which this measure differs from the others of the row.
        score_type: How scores are compared for it, where that differs likewise.
        limit: The grades that it takes, where that is less than the row says.
    """

    measure: str
    settings: Mapping[str, Setting] = NOTHING
    takes: tuple[str, ...] = ("k",)
    cut: bool | None = None
    policy: Mapping[str, str] = MappingProxyType({})
    score_type: Literal["", "float64", "float32"] = ""
    limit: Limit | None = None


@record(frozen=True, slots=True)
class Option:
    """A choice that the library leaves to its user, who may make it beside the convention.

    Args:
        name: How the library calls it, such as `-c`.
        field: A field of the policy, or a parameter of its measures.
        values: The values that it may be given; none of them named means any.
    """

    name: str
    field: str
    values: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Bug:
    """A defect of the library that its convention does not repeat.

    Args:
        name: A word for it.
        says: What happens, in one sentence.
    """

    name: str
    says: str


@record(frozen=True, slots=True, kw_only=True)
class Convention:
    """What a library means by its numbers.

    Args:
        name: The word by which it is asked for.
        version: The version of the library that was run or read.
        tool: The library or program, as its authors write it.
        summary: What the numbers are, in one sentence.
        verified: `run` where numbers that the library itself gave are kept, and ours are compared
            with them; else `read from source`.
        policy: The fields of the policy that it implies.
        forms: The measures that it has.
        limit: The grades that it takes.
        truncates: Whether it drops the fraction of a grade.
        score_type: How it compares scores.
        places: To how many decimals it rounds the value of each query, where it does; ours are
            not rounded.
        computes_in: The precision of its arithmetic; ours is double.
        options: The choices that it leaves to its user.
        notes: What else to know, in sentences.
        bugs: Its defects that are not repeated here.
        sources: Where the facts come from.
    """

    name: str
    version: str
    tool: str
    summary: str
    verified: Literal["run", "read from source"] = "read from source"
    policy: Mapping[str, str]
    forms: tuple[Form, ...]
    limit: Limit | None = None
    truncates: bool = False
    score_type: ScoreType = "float64"
    places: int | None = None
    computes_in: ScoreType = "float64"
    options: tuple[Option, ...] = ()
    notes: tuple[str, ...] = ()
    bugs: tuple[Bug, ...] = ()
    sources: tuple[str, ...]

    @property
    def address(self) -> str:
        """Name and version, such as `lightgbm@4.7.0`."""
        return f"{self.name}@{self.version}"

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures that it has, each once."""
        return tuple(dict.fromkeys(form.measure for form in self.forms))

    def __repr__(self) -> str:
        return f"Convention({self.address!r})"

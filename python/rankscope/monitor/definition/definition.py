"""The definition that values are computed with: measures, policy, label weights and window."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any, TypeAlias

from rankscope._core import EMPTY_VALUES
from rankscope._evaluate.settings import read_policy
from rankscope._inputs.attribution import Attribution, Positive, read_positive
from rankscope._settings import Policy
from rankscope.errors import UsageError
from rankscope.measures import Measure, nDCG
from rankscope.measures.parse import LONGEST_TEXT, Measures, read_measure, read_measures
from rankscope.monitor.events.fields import can_be_stored
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.events.times import Duration, read_length

Json: TypeAlias = dict[str, Any]


LIMITS = Limits()
RULE = 1
"""The version of the rules that turn events into values; a change of any value raises it."""

MOST_LEFT_OUT = 1000
DEEPEST = 1000
"""The largest cutoff."""

POLICY = Policy(ties="input", empty="skip")
"""Lists are ranked as they were logged, and means are over what has a relevant document."""

EMPTY = ("skip", *(word for word, value in EMPTY_VALUES.items() if math.isfinite(value)))
GAINS = ("linear", "exp2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """The definition that values are computed with; `define` creates one.

    Args:
        measures: The measures, each with a cutoff.
        attribution: The weights of labels, and the grade of a document without a label when its
            window closes.
        window: The number of seconds after a ranking during which its labels count.
        max_grade: The largest grade, without its sign; a ranking with a larger one has no values,
            and is counted.
        policy: The policy.
        left_out: The IDs of users whose rankings don't count, such as bots.

    Raises:
        UsageError: There could be no window of such values, or a measure lacks a parameter.
    """

    measures: tuple[Measure, ...]
    attribution: Attribution
    window: int
    max_grade: float = 100.0
    policy: Policy = POLICY
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        users = tuple(sorted(set(self.left_out)))
        if len(users) > MOST_LEFT_OUT:
            expected = f"at most {MOST_LEFT_OUT:,} users that are left out"
            raise _bad(expected, f"{len(users):,}", "stop logging what bots see")
        for user in users:
            if not (user and can_be_stored(user, LIMITS.id_bytes)):
                raise _bad("the IDs of users", repr(user), "write them as they are logged")
        object.__setattr__(self, "left_out", users)
        if type(self.window) is not int or self.window < 1:
            raise _bad("a window of whole seconds, 1 or more", self.window, 'write window="24h"')
        if not (_is_number(self.max_grade) and 0 < self.max_grade < math.inf):
            raise _bad("a max_grade above 0", self.max_grade, "omit it for 100")
        if self.attribution.unknown != "zero":
            raise _bad(
                "labels that are no positive class to count 0",
                f"unknown={self.attribution.unknown!r}",
                "an unknown label must not stop the evaluation",
            )
        for label in self.attribution.weights:
            if not can_be_stored(label, LIMITS.name_bytes):
                raise _bad("labels as events have them", label, "write them as they are logged")
        for measure in self.measures:
            _check_measure(measure, self.max_grade)
        _check_policy(self.policy)

    @property
    def depth(self) -> int:
        """The largest cutoff."""
        return max(measure.k or 0 for measure in self.measures)

    @property
    def hash(self) -> str:
        """The SHA-256 of the definition as JSON, in hexadecimal."""
        return sha256(self.to_json().encode()).hexdigest()

    def only(self, measure: Measure | str) -> Definition:
        """Return the definition with one of its measures only.

        Values of one measure may be compared although others were measured beside it.

        Raises:
            UsageError: The measure is not one of them.
        """
        wanted = read_measure(measure)
        if wanted not in self.measures:
            names = ", ".join(map(str, self.measures))
            raise _bad(
                f"one of {names}", str(wanted), "choose one of the measures of the definition"
            )
        return replace(self, measures=(wanted,))

    def to_dict(self) -> Json:
        """Return it as JSON holds it."""
        attribution = self.attribution
        unlabelled = attribution.unlabelled
        return {
            "rule": RULE,
            "measures": [measure.name for measure in self.measures],
            "attribution": {
                "positive": dict(attribution.weights),
                "combine": attribution.combine,
                "repeats": attribution.repeats,
                "unlabelled": None if math.isnan(unlabelled) else unlabelled,
            },
            "window_seconds": self.window,
            "max_grade": self.max_grade,
            "policy": self.policy.to_dict(),
            **({"left_out": list(self.left_out)} if self.left_out else {}),
        }

    def to_json(self) -> str:
        """Write it in the one way in which equal definitions are equal texts."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Definition:
        """Read what `to_json` has written.

        Raises:
            UsageError: It is no definition, or one of another version of the rule.
        """
        try:
            given = json.loads(text)
            rule = given["rule"]
            attribution = given["attribution"]
            parts = {
                "measures": given["measures"],
                "positive": attribution["positive"],
                "combine": attribution["combine"],
                "repeats": attribution["repeats"],
                "unlabelled": attribution["unlabelled"],
                "window": given["window_seconds"],
                "max_grade": given["max_grade"],
                "policy": Policy(**given["policy"]),
                "left_out": given.get("left_out", ()),
            }
        except (ValueError, TypeError, KeyError) as error:
            raise _bad("a definition as JSON", f"{text[:80]!r}", str(error)) from None
        if rule != RULE:
            raise UsageError(
                f"expected version {RULE} of the rule, found {rule!r}",
                hint="use the version of rankscope that stored the definition",
                code="other_definition",
            )
        return define(**parts)


def define(
    *,
    measures: Measures = (nDCG @ 1, nDCG @ 5, nDCG @ 10),
    positive: Positive,
    window: Duration | int,
    combine: Any = "sum",  # noqa: ANN401 - checked where the record is made
    repeats: Any = "each",  # noqa: ANN401 - likewise
    unlabelled: float | None = 0.0,
    max_grade: float = 100.0,
    policy: Policy | str | None = None,
    left_out: Iterable[str] = (),
) -> Definition:
    """Define what values of production are values of.

    Args:
        measures: Measures with cutoffs, or their names.
        positive: The positive class, several of them, or a mapping of class to weight, as in
            `rankscope.attribute`.
        window: How long after a ranking its labels count: text such as `24h`, a `timedelta`, or a
            number of seconds.
        combine: As in `rankscope.attribute`; it also combines grades that were sent.
        repeats: As in `rankscope.attribute`.
        unlabelled: The grade of a document that has no label when its window closes; `None` leaves
            it unjudged.
        max_grade: The largest grade, without its sign.
        policy: The policy, or the fields of it that differ from the default.
        left_out: The IDs of users whose rankings don't count, such as bots.

    Raises:
        UsageError: A part is none, or there could be no window of such values.

    Examples:
        >>> music = define(positive={"click": 1, "buy": 5}, window="24h")
        >>> music.hash == define(positive={"buy": 5.0, "click": 1.0}, window="1d").hash
        True
        >>> music.hash == define(positive={"click": 1, "buy": 4}, window="1d").hash
        False
        >>> type(music).from_json(music.to_json()) == music
        True
    """
    # Weights are added in one order, so that one definition gives the same bits however it is said.
    weights = dict(sorted(read_positive(positive).items()))
    read, _ = read_measures(measures)
    return Definition(
        measures=tuple(read),
        attribution=Attribution(
            weights,
            combine=combine,
            repeats=repeats,
            unlabelled=math.nan if unlabelled is None else float(unlabelled),
        ),
        window=_read_window(window),
        max_grade=float(max_grade),
        policy=read_policy(policy, POLICY),
        left_out=tuple(left_out),
    )


def _read_window(window: Duration | int) -> Any:  # noqa: ANN401 - checked where the record is made
    """Read the attribution window, in seconds."""
    if not isinstance(window, timedelta | str):
        return window
    seconds = read_length(window, "window") / timedelta(seconds=1)
    return int(seconds) if seconds.is_integer() else seconds


def check_comparable(one: Definition, other: Definition) -> None:
    """Refuse to hold values of different definitions against each other."""
    mine, theirs = one.to_dict(), other.to_dict()
    if mine == theirs:
        return
    name = next(name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name))
    raise UsageError(
        f"expected values of one definition, found two, whose {name} differ: "
        f"{mine.get(name)} and {theirs.get(name)}",
        hint="evaluate both with one definition",
        code="other_definition",
    )


def _check_measure(measure: Measure, max_grade: float) -> None:
    k, parameters = measure.k, measure.parameters
    if len(measure.name) > LONGEST_TEXT:
        raise _bad(
            f"measures whose names have at most {LONGEST_TEXT:,} characters",
            f"one of {len(measure.name):,}",
            "shorten its table: a definition is stored as text and read again",
        )
    if measure.row.of_items:
        raise _bad(
            "measures of the grades of one list",
            f"{measure.name}, which depends on what is known of items",
            "events have no history, attributes or catalogue: use rankscope.evaluate",
        )
    second = "subtopic" if measure.row.subtopics else "stratum" if measure.row.strata else ""
    if second or measure.row.function is not None:
        why = f"which needs judgments by {second}" if second else "a Python function"
        raise _bad(
            "measures of grades with a formula",
            f"{measure.name}, {why}",
            "a definition is stored as text, and labels have no subtopics or strata",
        )
    # What no grade can fix is refused here, such as a table of discounts that is too short.
    measure.kernel_spec(grades=(0.0,), depth=k)
    if k is None or k > DEEPEST:
        raise _bad(
            f"measures with a cutoff up to {DEEPEST}",
            measure.name,
            f"write {measure.row.name}@10: how much of a list is logged is not part of its quality",
        )
    if measure.row.mean != "mean":
        raise _bad("measures whose values are averaged", measure.name, "write nDCG@10")
    if measure.judged_only:
        raise _bad(
            "measures of all documents",
            measure.name,
            "remove judged_only: documents without a label were shown, too",
        )
    if parameters.get("gain", "linear") not in GAINS or callable(parameters.get("discount")):
        raise _bad(
            f"a gain of {' or '.join(GAINS)}, and a discount with a name",
            measure.name,
            "a definition is stored as text and must work for any grade",
        )
    top = parameters.get("max_grade")
    if isinstance(top, int | float) and top < max_grade:
        raise _bad(
            f"max_grade to be {top} at most, as in {measure.name}",
            max_grade,
            f"write max_grade={top}",
        )


def _check_policy(policy: Policy) -> None:
    wanted = {
        "ties": ("input",),
        "empty": EMPTY,
        "unjudged": ("nonrelevant",),
        "negative": ("nonrelevant", "gain", "minmax"),
        "missing_gain": (None,),
        "aggregate": ("mean",),
    }
    for name, allowed in wanted.items():
        found = getattr(policy, name)
        if found not in allowed:
            raise _bad(
                f"{name} to be {' or '.join(map(str, allowed))}",
                repr(found),
                "production values need this setting",
            )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bad(expected: str, found: object, hint: str) -> UsageError:
    return UsageError(f"expected {expected}, found {found}", hint=hint, code="bad_definition")

"""Translate measures and a policy under a convention into measures and a policy of rankscope."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankscope._conventions.spec import TRUNCATED, Convention, Form, Rules
from rankscope._conventions.table import find
from rankscope._settings import Policy, ScoreType
from rankscope.errors import FormatError, MeasureError, PolicyError
from rankscope.measures import Measure
from rankscope.measures.domains import literal


@dataclass(frozen=True, slots=True)
class Adapted:
    """The measures and the policy that give the numbers of a convention.

    Args:
        convention: The convention.
        measures: The measures without duplicates, in the requested order.
        names: The names of these measures, by the name of the requested measure.
        policy: The policy.
        score_type: The precision in which scores are compared.
    """

    convention: Convention
    measures: tuple[Measure, ...]
    names: Mapping[str, str]
    policy: Policy
    score_type: ScoreType


def adapt(
    convention: Convention | str,
    measures: Sequence[Measure],
    *,
    policy: Policy | str | None = None,
    score_type: ScoreType | None = None,
    grades: Collection[float] = (),
) -> Adapted:
    """Return the measures and the policy that give the numbers of a convention.

    Args:
        convention: The convention, or its name.
        measures: The requested measures.
        policy: Additional policy settings, which must not contradict the convention.
        score_type: The precision in which scores are compared, which must not contradict it either.
        grades: The distinct grades of the judgments.

    Raises:
        MeasureError: The library does not have a measure, or only with other parameters.
        PolicyError: The policy contradicts the convention, or the measures need different ones.
        FormatError: The library does not accept these grades.

    Examples:
        >>> from rankscope.measures import nDCG
        >>> adapted = adapt("lightgbm", [nDCG @ 10])
        >>> adapted.measures, adapted.policy.empty
        ((nDCG(gain='exp2', ideal='retrieved')@10,), 'one')
    """
    row = find(convention)
    rules = [_apply(row, measure, grades) for measure in measures]
    theirs = rules[0].settings
    for measure, other in zip(measures, rules, strict=True):
        for field, value in other.settings.items():
            if value != theirs[field]:
                raise PolicyError(
                    f"{row.address} computes {measures[0]} with {field}={theirs[field]}, but "
                    f"{measure} with {field}={value}",
                    hint="evaluate them in separate calls",
                    code="convention_conflict",
                )
    chosen = rules[0].policy
    if policy is not None:
        policy = Policy.parse(policy, chosen) if isinstance(policy, str) else policy
        chosen = policy.resolve(chosen.ties)
    settings = chosen.to_dict() | {"score_type": score_type or theirs["score_type"]}
    for field, value in settings.items():
        if value != theirs[field] and not _may_choose(row, field, value):
            message, hint = _conflict(row, field, theirs[field], value)
            raise PolicyError(message, hint=hint, code="convention_conflict")
    return Adapted(
        row,
        tuple(dict.fromkeys(rule.measure for rule in rules)),
        {measure.name: rule.measure.name for measure, rule in zip(measures, rules, strict=True)},
        chosen,
        rules[0].score_type,
    )


def _apply(row: Convention, measure: Measure, grades: Collection[float]) -> Rules:
    """Return the rules by which a library computes a measure."""
    form = _choose_form(row, measure)
    for limit in filter(None, (form.limit, row.limit)):
        for grade in grades:
            if not limit.allows(grade):
                raise FormatError(
                    f"{row.address} doesn't support the grade {grade:g}: {row.tool} {limit.says}",
                    hint="map the grades first, or use another convention",
                    code="convention_grades",
                    value=f"{grade:g}",
                )
    chosen = measure.settings
    for name, value in chosen.items():
        is_theirs = name in form.settings and form.settings[name] == value
        if name not in form.takes and not is_theirs and not _may_choose(row, name, value):
            theirs = form.settings.get(name, measure.row.parameter(name).default)
            message, hint = _conflict(row, name, theirs, value)
            raise MeasureError(f"{measure}: {message}", hint=hint, code="convention_conflict")
    settings = {name: value for name, value in form.settings.items() if name not in chosen}
    has_fractions = any(grade != int(grade) for grade in grades)
    if row.truncates and has_fractions and "gain" in measure.parameters:
        gain = settings.get("gain", measure.parameters["gain"])
        if gain in TRUNCATED:
            settings["gain"] = TRUNCATED[str(gain)]
    policy = Policy.parse(form.policy, row.policy)
    return Rules(measure(**settings), policy, form.score_type or row.score_type)


def _choose_form(row: Convention, measure: Measure) -> Form:
    forms = [form for form in row.forms if measure.row.name in form.measures]
    if not forms:
        raise MeasureError(
            f"{row.address} has no measure {measure}, as far as we know",
            hint=f"its measures are {', '.join(row.measures)}",
            code="convention_measure",
        )
    is_cut = measure.k is not None
    for form in forms:
        if form.cut in {None, is_cut}:
            return form
    raise MeasureError(
        f"{row.address} only has {measure.row.name} {'without' if is_cut else 'with'} a cutoff, "
        f"found {measure}",
        hint=f"write {measure.row.name}" + ("" if is_cut else "@10"),
        code="convention_measure",
    )


def _may_choose(row: Convention, field: str, value: object) -> bool:
    option = row.option(field)
    return option is not None and (not option.values or value in option.values)


def _conflict(row: Convention, field: str, theirs: Any, value: Any) -> tuple[str, str]:  # noqa: ANN401 - values of measures and policies
    """Return the message and the hint about a setting that contradicts the convention."""
    option = row.option(field)
    hint = f"remove {field} or the convention"
    if option is not None:
        choices = ", ".join(f"{field}={word}" for word in option.values or ("…",))
        hint = f"set {choices}, or remove {field}"
    required, found = literal(theirs), literal(value)
    return f"{row.address} requires {field}={required}, found {field}={found}", hint

"""Translate measures and a policy under a convention into measures and a policy of rankscope."""

from __future__ import annotations

from rankscope.conventions.find import find
from rankscope.conventions.spec import TRUNCATED
from rankscope.errors import FormatError, MeasureError, PolicyError
from rankscope.records import record
from rankscope.settings.policy import FIELDS, Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rankscope.conventions.spec import Convention, Form, Option
    from rankscope.measures import Measure
    from rankscope.settings.policy import ScoreType


@record(frozen=True, slots=True)
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
    asked: Sequence[Measure],
    *,
    policy: Policy | str | None = None,
    score_type: ScoreType | None = None,
    grades: Collection[float] = (),
) -> Adapted:
    """Return the measures and the policy that give the numbers of a convention.

    Args:
        convention: The convention, or its name.
        asked: The requested measures.
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
    forms = [_choose_form(row, measure) for measure in asked]
    for form in forms:
        _check_grades(row, form, grades)
    truncates = row.truncates and any(grade != int(grade) for grade in grades)
    ours = [
        _set_parameters(row, form, measure, truncates=truncates)
        for form, measure in zip(forms, asked, strict=True)
    ]
    chosen = _choose_policy(row, asked, forms, policy)
    compared = forms[0].score_type or row.score_type
    if score_type not in {None, compared}:
        raise _conflict(row, "score_type", compared, score_type)
    return Adapted(
        convention=row,
        measures=tuple(dict.fromkeys(ours)),
        names={theirs.name: mine.name for theirs, mine in zip(asked, ours, strict=True)},
        policy=chosen,
        score_type=compared,
    )


def _choose_form(row: Convention, measure: Measure) -> Form:
    forms = [form for form in row.forms if form.measure == measure.row.name]
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


def _check_grades(row: Convention, form: Form, grades: Collection[float]) -> None:
    for limit in filter(None, (form.limit, row.limit)):
        refused = [grade for grade in grades if not limit.allows(grade)]
        if refused:
            raise FormatError(
                f"{row.address} doesn't support the grade {refused[0]:g}: {row.tool} {limit.says}",
                hint="map the grades first, or use another convention",
                code="convention_grades",
                value=f"{refused[0]:g}",
            )


def _set_parameters(row: Convention, form: Form, measure: Measure, *, truncates: bool) -> Measure:
    chosen = measure.settings
    for name, value in chosen.items():
        is_theirs = name in form.settings and form.settings[name] == value
        if name not in form.takes and not is_theirs and not _may_choose(row, name, value):
            wanted = form.settings.get(name, measure.row.parameter(name).default)
            raise _conflict(row, name, wanted, value, measure=measure.name)
    settings = {name: value for name, value in form.settings.items() if name not in chosen}
    if truncates and any(parameter.name == "gain" for parameter in measure.row.parameters):
        gain = settings.get("gain", measure.parameters["gain"])
        if gain in TRUNCATED:
            settings["gain"] = TRUNCATED[str(gain)]
    return measure(**settings)


def _choose_policy(
    row: Convention,
    asked: Sequence[Measure],
    forms: Sequence[Form],
    given: Policy | str | None,
) -> Policy:
    policies = [
        Policy(**{**row.policy, **form.policy}).resolve()  # type: ignore[arg-type]  # checked when made
        for form in forms
    ]
    for measure, form, policy in zip(asked, forms, policies, strict=True):
        apart = [
            (field, getattr(policies[0], field), getattr(policy, field))
            for field in _differing(policy, policies[0])
        ]
        if form.score_type != forms[0].score_type:
            apart.append(("score_type", forms[0].score_type, form.score_type))
        for field, first, other in apart:
            raise PolicyError(
                f"{row.address} computes {asked[0]} with {field}={first or row.score_type}, but "
                f"{measure} with {field}={other or row.score_type}",
                hint="evaluate them in separate calls",
                code="convention_conflict",
            )
    theirs = policies[0]
    if given is None:
        return theirs
    chosen = (Policy.parse(given, theirs) if isinstance(given, str) else given).resolve(theirs.ties)
    for field in _differing(chosen, theirs):
        value = getattr(chosen, field)
        if not _may_choose(row, field, value):
            raise _conflict(row, field, getattr(theirs, field), value)
    return chosen


def _differing(one: Policy, other: Policy) -> list[str]:
    return [field for field in FIELDS if getattr(one, field) != getattr(other, field)]


def _may_choose(row: Convention, field: str, value: object) -> bool:
    return any(
        option.field == field and (not option.values or value in option.values)
        for option in row.options
    )


def _conflict(
    row: Convention, field: str, wanted: object, found: object, *, measure: str = ""
) -> MeasureError | PolicyError:
    message = f"{row.address} requires {field}={wanted!r}, found {field}={found!r}"
    options = [option for option in row.options if option.field == field]
    hint = f"remove {field} or the convention"
    if options:
        hint = f"set {_say(options)}, or remove {field}"
    if measure:
        return MeasureError(f"{measure}: {message}", hint=hint, code="convention_conflict")
    return PolicyError(message, hint=hint, code="convention_conflict")


def _say(options: Sequence[Option]) -> str:
    return ", ".join(
        f"{option.field}={value}" for option in options for value in option.values or ("…",)
    )

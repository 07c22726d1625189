"""Find conventions by their names, and describe them in words."""

from __future__ import annotations

from rankscope.conventions.spec import Convention
from rankscope.conventions.table import TABLE
from rankscope.errors import UsageError
from rankscope.measures.table import measure
from rankscope.names import find_closest, quote
from rankscope.settings.policy import FIELDS, Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.conventions.spec import Form, Option


def find(name: Convention | str) -> Convention:
    """Return the convention with a name, or with a name and version.

    Args:
        name: A name such as `lightgbm` or `trec_eval@10.0`. Without a version, this is the newest
            version that was run, or the newest one if none was.

    Raises:
        UsageError: There is no such convention.

    Examples:
        >>> find("trec_eval"), find("trec_eval@10.0")
        (Convention('trec_eval@9.0.8'), Convention('trec_eval@10.0'))
    """
    if isinstance(name, Convention):
        return name
    if not isinstance(name, str):
        raise UsageError(
            f"expected a convention or its name, found {type(name).__name__}",
            hint="write 'trec_eval' or 'lightgbm@4.7.0'",
            code="unknown_convention",
        )
    stem, _, version = name.partition("@")
    versions = [row for row in TABLE if row.name == stem]
    if not versions:
        raise _unknown(name)
    if not version:
        return max(versions, key=_standing)
    for row in versions:
        if row.version == version:
            return row
    known = " and ".join(row.address for row in versions)
    raise UsageError(
        f"unknown version of {stem}: {quote(name)}",
        hint=f"the known versions are {known}",
        code="unknown_convention",
    )


def _standing(row: Convention) -> tuple[bool, list[int]]:
    digits = [part for part in row.version.split(".") if part.isdigit()]
    return row.verified == "run", [int(part) for part in digits]


def _unknown(name: str) -> UsageError:
    names = list(dict.fromkeys(row.name for row in TABLE))
    closest = find_closest(name, names)
    return UsageError(
        f"unknown convention {quote(name)}",
        hint=f"did you mean {closest}?" if closest else f"the conventions are {', '.join(names)}",
        code="unknown_convention",
    )


def describe_policy(row: Convention) -> str:
    """Return the policy of a convention, as results print it."""
    return str(Policy(**row.policy).resolve())  # type: ignore[arg-type]  # checked when made


def describe_forms(row: Convention) -> list[str]:
    """Return the measures of a convention, with the policy fields in which each differs."""
    return [_describe_form(form) for form in row.forms]


def _describe_form(form: Form) -> str:
    text = measure(form.measure)(**form.settings).name
    if form.cut is not None:
        text += " with a cutoff" if form.cut else " without a cutoff"
    own = ",".join(f"{field}={form.policy[field]}" for field in FIELDS if field in form.policy)
    return f"{text} ({own})" if own else text


def describe_option(option: Option) -> str:
    """Return a setting that the library leaves to its user, with its values."""
    values = " or ".join(option.values) if option.values else "any"
    return f"{option.name}: {option.field} can be {values}"


def describe_rest(row: Convention) -> list[str]:
    """Return notes, limits and precision of a convention as sentences."""
    sentences = list(row.notes)
    if row.limit is not None:
        sentences.append(f"It {row.limit.says}.")
    if row.truncates:
        sentences.append("It truncates grades to integers.")
    if row.computes_in == "float32":
        sentences.append("It computes in single precision; rankscope uses double precision.")
    if row.places is not None:
        sentences.append(
            f"It rounds the value of each query to {row.places} places; rankscope doesn't."
        )
    return sentences

"""Describe conventions in words."""

from __future__ import annotations

from rankscope.measures.table import measure
from rankscope.settings.policy import FIELDS, Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.conventions.spec import Convention, Form, Option


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

"""The settings page: the configuration of a project, and the form that changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankscope._show.table import show
from rankscope.errors import MeasureError, UsageError
from rankscope.measures.parse import split_measures
from rankscope.monitor.definition.calendar import Calendar, read_period, write_period
from rankscope.monitor.definition.configuration import BASELINES, Configuration, describe_baseline
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.document import (
    read_bins,
    read_weight,
    split_words,
    write_bins,
    write_weight,
    write_word,
)
from rankscope.monitor.events.bins import name_bins
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.events.times import read_duration, to_micros, write_duration
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.pages.page import Form, FormState, Page, read_configuration
from rankscope.monitor.server.routing.endpoint import Call
from rankscope.monitor.shapes import make_record


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsView:
    """How a project is measured.

    Args:
        configuration: How; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        deleted_before: Before which time events were deleted, so that no values can be made of
            them any more; `None` if none ever were.
        known: From when on events are known; `None` for none.
        form: The form.
    """

    configuration: Configuration | None
    now: int
    deleted_before: int | None
    known: int | None
    form: FormState

    @property
    def baselines(self) -> list[tuple[str, str]]:
        """The baselines that can be chosen, and what they are called."""
        configuration, choices = self.configuration, dict(BASELINES)
        if configuration is not None and configuration.baseline not in choices.values():
            choices[KEPT] = configuration.baseline
        return [(name, describe_baseline(each)) for name, each in choices.items()]


def view_settings(monitor: Monitor, form: FormState | None = None) -> SettingsView:
    """Look at how a project is measured."""
    configuration = read_configuration(monitor)
    if form is None:
        form = new_form() if configuration is None else fill_form(configuration)
    deleted = monitor.store.deleted_before(monitor.project)
    first = min((to_micros(one.first) for one in monitor.versions()), default=None)
    return SettingsView(
        configuration=configuration,
        now=monitor.clock(),
        deleted_before=deleted,
        known=first if first is None or deleted is None else max(first, deleted),
        form=form,
    )


SETTINGS = Page(
    path="/settings",
    place=7,
    here="Settings",
    template="settings.html.j2",
    summary="The configuration of the project, and the form that changes it.",
    view=lambda monitor, _call: view_settings(monitor),
)
PAGES = (SETTINGS,)
WORDS = {
    "describe_baseline": describe_baseline,
    "name_bins": name_bins,
    "write_weight": write_weight,
    "second": SECOND,
}


KEPT = "kept"
"""What stands for a baseline that has a period, a model or a version, which no field holds."""

START = Configuration(definition=define(positive="click", window=DAY // SECOND))
"""What the form of a new project begins with, but for the labels: only its people know those."""


def fill_form(configuration: Configuration) -> FormState:
    """Fill the form with what is configured.

    Examples:
        >>> music = define(positive={"click": 1, "add to basket": 2.5}, window=86_400)
        >>> form = fill_form(Configuration(definition=music, attributes=("device",)))
        >>> print(form["positive"], form["window"], form["slices"], form["baseline"], sep=" | ")
        "add to basket"=2.5 click=1 | 24h | device | validation
    """
    definition, chosen = configuration.definition, configuration.baseline
    attribution = definition.attribution
    weights = attribution.weights.items()
    texts = {
        "positive": " ".join(f"{write_word(name)}={write_weight(each)}" for name, each in weights),
        "window": write_duration(definition.window * SECOND),
        "measures": " ".join(measure.name for measure in definition.measures),
        "combine": attribution.combine,
        "repeats": attribution.repeats,
        "slices": " ".join(map(write_word, configuration.attributes)),
        "bins": " ".join(write_word(write_bins(*item)) for item in configuration.bins.items()),
        "baseline": next((name for name, one in BASELINES.items() if one == chosen), KEPT),
        "grace": write_duration(configuration.grace),
        "calendar": "\n".join(map(write_period, configuration.calendar.periods)),
    }
    return FormState(values={name: (text,) for name, text in texts.items()})


def new_form() -> FormState:
    """Return the form of a project that is not set up yet."""
    form = fill_form(START)
    return replace(form, values={**form.values, "positive": ("",)})


def read_form(
    fields: Mapping[str, tuple[str, ...]], present: Configuration | None
) -> tuple[Configuration | None, FormState]:
    """Make a configuration of what stands in the fields; none, and why, where they make none."""
    form = FormState(values={name: (fields.get(name, ("",))[0].strip(),) for name in CHANGES})
    # Not every value of a configuration can be written by hand; what was left alone stays.
    before = None if present is None else fill_form(present)
    made = START if present is None else present
    wrong = {}
    for name, change in CHANGES.items():
        if before is not None and form[name] == before[name]:
            continue
        try:
            made = change(made, form[name])
        except UsageError as error:
            # What is meant by a name that is nearly one is said; other hints are for programs.
            hint = f": {error.hint}" if isinstance(error, MeasureError) else ""
            wrong[name] = show(error.message + hint)
    return None if wrong else made, replace(form, wrong=wrong)


def _redefine(configuration: Configuration, **changed: Any) -> Configuration:  # noqa: ANN401 - as `define` takes them
    definition = configuration.definition
    attribution = definition.attribution
    said: dict[str, Any] = {
        "measures": definition.measures,
        "positive": attribution.weights,
        "window": definition.window,
        "combine": attribution.combine,
        "repeats": attribution.repeats,
        "unlabelled": attribution.unlabelled,
        "max_grade": definition.max_grade,
        "policy": definition.policy,
        "left_out": definition.left_out,
    }
    return replace(configuration, definition=define(**said | changed))


def _change_positive(configuration: Configuration, text: str) -> Configuration:
    weights: dict[str, float] = {}
    for label, weight in map(read_weight, split_words(text)):
        if label in weights:
            raise _bad(f"The label {label} is listed twice.")
        weights[label] = weight
    if not weights:
        raise _bad("List at least one label with its weight, such as click=1 buy=5.")
    return _redefine(configuration, positive=weights)


def _change_baseline(configuration: Configuration, text: str) -> Configuration:
    if text not in BASELINES:
        raise _bad(f"Choose one of {', '.join(BASELINES)}.")
    return replace(configuration, baseline=BASELINES[text])


def _change_calendar(configuration: Configuration, text: str) -> Configuration:
    periods = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                periods.append(read_period(line))
            except UsageError as error:
                raise _bad(f"Line {number}: {error.message}.") from None
    return replace(configuration, calendar=Calendar(tuple(periods)))


def _change_slices(configuration: Configuration, text: str) -> Configuration:
    names = tuple(split_words(text))
    kept = {name: edges for name, edges in configuration.bins.items() if name in names}
    return replace(configuration, attributes=names, bins=kept)


CHANGES: Mapping[str, Callable[[Configuration, str], Configuration]] = {
    "positive": _change_positive,
    "window": lambda made, text: _redefine(made, window=read_duration(text) // SECOND),
    "measures": lambda made, text: _redefine(made, measures=split_measures([text])),
    "combine": lambda made, text: _redefine(made, combine=text),
    "repeats": lambda made, text: _redefine(made, repeats=text),
    "slices": _change_slices,
    "bins": lambda made, text: replace(made, bins=dict(map(read_bins, split_words(text)))),
    "baseline": _change_baseline,
    "grace": lambda made, text: replace(made, grace=text),
    "calendar": _change_calendar,
}
"""By field, what its text makes of a configuration; what is wrong is so said beside its field."""


def _bad(message: str) -> UsageError:
    return UsageError(message, code="bad_configuration")


def _save(monitor: Monitor, call: Call) -> str | tuple[Page, object, int]:
    """Save the configuration, or show the form again with its errors."""
    configuration, form = read_form(call.form, read_configuration(monitor))
    if configuration is not None:
        monitor.configure(configuration, actor=call.principal.actor)
        return SETTINGS.path
    return SETTINGS, view_settings(monitor, form), 422


FORMS = (
    Form(
        path=SETTINGS.path,
        summary="Change the configuration of the project.",
        work=_save,
        body=make_record("SettingsForm", dict.fromkeys(CHANGES, str)),
    ),
)

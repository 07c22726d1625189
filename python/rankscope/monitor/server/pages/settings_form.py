"""The form of the settings: its fields as texts, and the configuration that they make."""

from __future__ import annotations

from rankscope.errors import MeasureError, UsageError
from rankscope.measures.splitting import split_measures
from rankscope.monitor.baseline_names import BASELINES
from rankscope.monitor.configuration import Configuration
from rankscope.monitor.definition import define
from rankscope.monitor.durations import read_duration, write_duration
from rankscope.monitor.label_weights import read_weight, write_weight
from rankscope.monitor.limits import DAY, SECOND
from rankscope.monitor.words import split_words, write_word
from rankscope.records import record, replace
from rankscope.results.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

KEPT = "kept"
"""What stands for a baseline that has a period, a model or a version, which no field holds."""

START = Configuration(definition=define(positive="click", window=DAY // SECOND))
"""What the form of a new project begins with, but for the labels: only its people know those."""


@record(frozen=True, slots=True, kw_only=True)
class SettingsForm:
    """The fields of the form.

    Args:
        texts: What stands in the fields, by name.
        wrong: By field, what is wrong with it.
    """

    texts: Mapping[str, str]
    wrong: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        """Give the text of a field."""
        return self.texts[name]


def fill_form(configuration: Configuration) -> SettingsForm:
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
        "baseline": next((name for name, one in BASELINES.items() if one == chosen), KEPT),
        "grace": write_duration(configuration.grace),
    }
    return SettingsForm(texts=texts, wrong={})


def new_form() -> SettingsForm:
    """Give the form of a project that is not configured yet."""
    form = fill_form(START)
    return replace(form, texts={**form.texts, "positive": ""})


def read_form(
    fields: Mapping[str, tuple[str, ...]], present: Configuration | None
) -> tuple[Configuration | None, SettingsForm]:
    """Make a configuration of what stands in the fields; none, and why, where they make none.

    Args:
        fields: The fields, by name, each as often as it was given.
        present: What is configured: whatever the form does not say is kept.
    """
    texts = {name: fields.get(name, ("",))[0].strip() for name in CHANGES}
    # Not every value of a configuration can be written by hand; what was left alone stays.
    before = {} if present is None else fill_form(present).texts
    made = START if present is None else present
    wrong = {}
    for name, change in CHANGES.items():
        if texts[name] == before.get(name):
            continue
        try:
            made = change(made, texts[name])
        except UsageError as error:
            # What is meant by a name that is nearly one is said; other hints are for programs.
            hint = f": {error.hint}" if isinstance(error, MeasureError) else ""
            wrong[name] = show(error.message + hint)
    return None if wrong else made, SettingsForm(texts=texts, wrong=wrong)


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
    }
    return replace(configuration, definition=define(**said | changed))


def _change_positive(configuration: Configuration, text: str) -> Configuration:
    weights: dict[str, float] = {}
    for label, weight in map(read_weight, split_words(text)):
        if label in weights:
            raise _bad("each label once", f"{label!r} again")
        weights[label] = weight
    if not weights:
        raise _bad("labels and what they are worth, such as click=1 buy=5", "none")
    return _redefine(configuration, positive=weights)


def _change_window(configuration: Configuration, text: str) -> Configuration:
    return _redefine(configuration, window=read_duration(text) // SECOND)


def _change_measures(configuration: Configuration, text: str) -> Configuration:
    return _redefine(configuration, measures=split_measures([text]))


def _change_combine(configuration: Configuration, text: str) -> Configuration:
    return _redefine(configuration, combine=text)


def _change_repeats(configuration: Configuration, text: str) -> Configuration:
    return _redefine(configuration, repeats=text)


def _change_slices(configuration: Configuration, text: str) -> Configuration:
    return replace(configuration, attributes=tuple(split_words(text)))


def _change_baseline(configuration: Configuration, text: str) -> Configuration:
    if text not in BASELINES:
        raise _bad(f"one of {', '.join(BASELINES)}", repr(text))
    return replace(configuration, baseline=BASELINES[text])


def _change_grace(configuration: Configuration, text: str) -> Configuration:
    return replace(configuration, grace=read_duration(text))


CHANGES: Mapping[str, Callable[[Configuration, str], Configuration]] = {
    "positive": _change_positive,
    "window": _change_window,
    "measures": _change_measures,
    "combine": _change_combine,
    "repeats": _change_repeats,
    "slices": _change_slices,
    "baseline": _change_baseline,
    "grace": _change_grace,
}
"""By field, what its text makes of a configuration; what is wrong is so said beside its field."""


def _bad(expected: str, found: str) -> UsageError:
    return UsageError(f"expected {expected}, found {found}", code="bad_configuration")

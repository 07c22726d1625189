"""Values that rankings are expected to have, and how good the forecasts were."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.monitor.ask.series import make_series, read_length
from rankscope.monitor.evaluate.stored_windows import name_place, unpack_cells
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.expect.calibrate import compare_days
from rankscope.monitor.expect.kinds import DOUBTS, REFUSALS, State, digest, read_marks
from rankscope.monitor.expect.lists import list_measures
from rankscope.monitor.expect.stored import read_forecasts
from rankscope.monitor.plain import write_record
from rankscope.output.table import Table
from rankscope.records import record
from rankscope.stats.expected.calibration import FEWEST, FEWEST_DAYS, FEWEST_IN_GROUP
from rankscope.stats.expected.forecast import FEWEST_LISTS, LEVEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.ask.series import Every
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.expect.kinds import CalibratedVersion
    from rankscope.monitor.expect.stored import StoredForecast
    from rankscope.monitor.store.store import StoreReader

COLUMNS = (
    *("model", "version", "slice", "days", "coverage", "bias", "error", "half_width"),
    *("doubtful", "missed", "missed_doubtful"),
)
LEAST_SHARE = 0.95
"""A forecast of several versions needs forecasts of those that have this share of the rankings."""


@record(frozen=True, slots=True)
class Expected:
    """The values that rankings were expected to have before their labels arrived.

    Forecasts are stored when they are made and are never recomputed.

    Args:
        measure: The measure.
        every: The length of the windows.
        model: The model that ranked; all together where it is `None`.
        version: Its version; likewise.
        slice: The attribute and its value; empty for all rankings.
        level: The probability with which intervals cover the final value, where the relation of
            grades to scores and ranks is that of the calibration.
        times: When the windows begin, in UTC, ascending.
        values: The means that were expected; NaN where there is no forecast.
        lower: The lower ends of the intervals.
        upper: The upper ends.
        finals: The final values; NaN until all labels could arrive.
        rankings: How many rankings the forecasts are of.
        reasons: Why a forecast is doubtful or missing: names of `DOUBTS` and `REFUSALS`.
        problem: Why the newest window has no forecast, and what that takes; empty where it has one.
    """

    measure: str
    every: Every
    model: str | None
    version: str | None
    slice: Slice
    level: float
    times: tuple[datetime, ...]
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    finals: tuple[float, ...]
    rankings: tuple[int, ...]
    reasons: tuple[tuple[str, ...], ...]
    problem: str

    def __len__(self) -> int:
        return len(self.times)

    @property
    def is_doubtful(self) -> tuple[bool, ...]:
        """Whether each forecast is doubtful."""
        return tuple(any(name in DOUBTS for name in names) for names in self.reasons)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the newest forecast is doubtful, in sentences."""
        newest = self.reasons[-1] if self.reasons else ()
        return tuple(DOUBTS[name] for name in newest if name in DOUBTS)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it; a missing value is `None`."""
        said = write_record(self)
        starts = {"starts" if name == "times" else name: value for name, value in said.items()}
        return starts | {"is_doubtful": list(self.is_doubtful)}


def make_expected(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    measure: str,
    *,
    every: Every,
    since: int | None,
    until: int | None,
    model: str | None,
    version: str | None,
    place: Slice,
) -> Expected:
    """Return the forecasts of a measure from what is stored."""
    [wanted] = configuration.definition.only(measure).measures
    name = wanted.name
    if wanted not in list_measures(configuration.definition):
        raise UsageError(
            f"expected an nDCG measure, found {name}",
            hint="only values of nDCG are forecast",
            code="not_forecast",
        )
    length = read_length(every)
    span = since, until
    found: dict[int, list[tuple[int, StoredForecast]]] = {}
    slice_name = name_place(place)
    stored = read_forecasts(store, project, configuration, *span, length=length, slice=slice_name)
    for key, count, forecasts in stored:
        if model in {None, key.model} and version in {None, key.version}:
            found.setdefault(key.start, []).append((count, forecasts[name]))
    rows = store.cells(project, configuration.digest, *span, length=length, slice=slice_name)
    finals = make_series(
        unpack_cells(rows),
        configuration.definition,
        name,
        every=every,
        model=model,
        version=version,
        slice=place,
    )
    final = {
        to_micros(time): value
        for time, value, is_final in zip(finals.times, finals.values, finals.is_final, strict=True)
        if is_final
    }
    made = [_join(found[start]) for start in sorted(found)]
    problem = ""
    if not made or math.isnan(made[-1][0]):
        names = made[-1][4] if made else ()
        state = read_state(store, project, configuration)
        versions = () if state is None else state.versions
        shown = [
            one for one in versions if model in {None, one.model} and version in {None, one.version}
        ]
        problem = _explain(names, shown, is_pair=len(place) > 1)
    return Expected(
        measure=name,
        every=every,
        model=model,
        version=version,
        slice=place,
        level=LEVEL,
        times=tuple(map(to_datetime, sorted(found))),
        values=tuple(one[0] for one in made),
        lower=tuple(one[1] for one in made),
        upper=tuple(one[2] for one in made),
        finals=tuple(final.get(start, math.nan) for start in sorted(found)),
        rankings=tuple(one[3] for one in made),
        reasons=tuple(one[4] for one in made),
        problem=problem,
    )


def _join(
    parts: Sequence[tuple[int, StoredForecast]],
) -> tuple[float, float, float, int, tuple[str, ...]]:
    """Join the forecasts of versions: the mean of all, whose errors may be the same."""
    rankings = sum(count for count, _ in parts)
    made = [one for _, one in parts if one.is_made]
    marks = 0
    for _, one in parts:
        marks |= one.marks
    known = sum(count for count, one in parts if one.is_made)
    if not made or known < LEAST_SHARE * rankings:
        refused = tuple(name for name in read_marks(marks) if name in REFUSALS)
        return math.nan, math.nan, math.nan, rankings, refused
    defined = math.fsum(one.defined for one in made)

    def mean(name: str) -> float:
        return math.fsum(getattr(one, name) * one.defined for one in made) / defined

    doubts = tuple(name for name in read_marks(marks) if name in DOUBTS)
    return mean("expected"), mean("lower"), mean("upper"), rankings, doubts


def _explain(names: Sequence[str], versions: Sequence[CalibratedVersion], *, is_pair: bool) -> str:
    """Say why there is no forecast, and what it takes."""
    if is_pair:
        return "Slices by two attributes have no forecasts."
    if "few" in names:
        return f"A forecast needs at least {FEWEST_LISTS} rankings in the window."
    if "slice" in names:
        return f"A slice needs {FEWEST_IN_GROUP} final rankings of the version to have forecasts."
    needs = f"A version needs {FEWEST} final rankings with a value, on {FEWEST_DAYS} days or more."
    lacking = [
        f"version {one.version or 'without a name'} has {one.rankings:,} on {one.days}"
        for one in versions
        if not one.fits
    ]
    if not lacking:
        return f"There is no forecast yet. {needs}"
    return f"{needs} So far, {', '.join(lacking[:3])}."


def read_state(store: StoreReader, project: str, configuration: Configuration) -> State | None:
    """Return what the newest forecasts were made from; `None` if there are none yet."""
    progress = store.progress(project, digest(configuration))
    return None if progress is None else State.from_json(progress.baseline)


def tabulate_forecasts(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    measure: str,
    *,
    since: int | None,
    until: int | None,
) -> Table:
    """Tabulate how good the forecasts of days were, by model, version and slice."""
    name = configuration.definition.only(measure).measures[0].name
    compared = compare_days(store, project, configuration, since, until)
    rows = []
    for (model, version, place, of), looks in sorted(compared.items()):
        if of != name:
            continue
        gaps = [look.expected - look.final for look in looks]
        covered = [look.lower <= look.final <= look.upper for look in looks]
        doubted = [bool(set(read_marks(look.marks)) & {*DOUBTS}) for look in looks]
        missed = [
            doubt for doubt, is_covered in zip(doubted, covered, strict=True) if not is_covered
        ]
        rows.append(
            (
                model,
                version,
                ", ".join(f"{attribute}={text}" for attribute, text in place),
                len(looks),
                sum(covered) / len(looks),
                math.fsum(gaps) / len(looks),
                math.fsum(map(abs, gaps)) / len(looks),
                math.fsum(look.upper - look.lower for look in looks) / 2 / len(looks),
                sum(doubted),
                len(missed),
                sum(missed),
            )
        )
    return Table({name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)})

"""Saved views: what of a project is shown together, under a name."""

from __future__ import annotations

import json

from rankscope.errors import UsageError
from rankscope.monitor.ask.series import LENGTHS
from rankscope.monitor.events.fields import NAME_BYTES, can_be_stored, is_label
from rankscope.monitor.events.limits import Limits
from rankscope.monitor.signals.kinds import SIGNALS
from rankscope.monitor.store.keys import AuditEntry
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope.monitor.ask.series import Every
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.store.store import Store, StoreReader

MEDIAN, QUANTILES = "score_50", "Quantiles of scores"
RANGES: Mapping[str, tuple[int | None, str]] = {
    "1d": (1, "1 day"),
    "7d": (7, "7 days"),
    "30d": (30, "30 days"),
    "90d": (90, "90 days"),
    "1y": (366, "1 year"),
    "all": (None, "all"),
}
"""How many days a range of time has, and what it is called."""
CHARTS: Mapping[str, str] = {
    signal.name: QUANTILES if signal.unit == "score" else signal.label
    for signal in SIGNALS
    if signal.unit != "score" or signal.name == MEDIAN
}
"""What charts of signals are called, by signal; quantiles of scores are one chart."""
MOST_HOURS = 90
"""Hours are shown over so many days at most."""
SAVED, REMOVED = "view.save", "view.remove"
"""Entries of the audit log."""
MOST_VIEWS = 100
MOST_SHOWN = 12
"""Slices of a view, each of which is read by itself."""


@record(frozen=True, slots=True, kw_only=True)
class View:
    """What of a project is shown together.

    Args:
        name: Its name, a line of text.
        measures: The measures (default: all of the project, unless signals are chosen).
        signals: The signals, known before labels arrive (default: none).
        slices: The slices, each shown by itself; an empty one is all rankings (default: that one).
        range: The range of time: `1d`, `7d`, `30d`, `90d`, `1y` or `all` (default: chosen from the
            data, as on the overview).
        every: The length of the windows: `hour` or `day` (default: chosen from the data).
        model: Only this model (default: all).
        version: Only this version (default: all).

    Examples:
        >>> View(name="tv", measures=("nDCG@5",), slices=((("device", "tv"),),)).to_dict()
        {'measures': ['nDCG@5'], 'slices': [{'device': 'tv'}]}
    """

    name: str
    measures: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    slices: tuple[Slice, ...] = ()
    range: str | None = None
    every: Every | None = None
    model: str | None = None
    version: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what it has besides its name, without defaults, as JSON holds it."""
        said = {name: getattr(self, name) for name in ("range", "every", "model", "version")}
        return {
            **({"measures": list(self.measures)} if self.measures else {}),
            **({"signals": list(self.signals)} if self.signals else {}),
            **({"slices": [dict(each) for each in self.slices]} if self.slices else {}),
            **{name: value for name, value in said.items() if value is not None},
        }

    @staticmethod
    def from_dict(name: str, given: Mapping[str, Any]) -> View:
        """Read what `to_dict` returned."""
        slices = tuple(tuple(each.items()) for each in given.get("slices", ()))
        series = {each: tuple(given.get(each, ())) for each in ("measures", "signals")}
        return View(**{**given, **series, "name": name, "slices": slices})

    def check(self, configuration: Configuration) -> View:
        """Return the view, with its slices as the project has them, if the project can show it.

        Raises:
            UsageError: The project doesn't measure or slice by what it shows, it shows too much, or
                its name can't stand in an address.
        """
        known = [each.name for each in configuration.definition.measures]
        sliced = ", ".join(configuration.attributes) or "nothing"
        slices = [find_dimension(each, configuration) for each in self.slices]
        rankers = self.model or "", self.version or ""
        days = RANGES.get(self.range or "", (0, ""))[0]
        is_long = days is None or days > MOST_HOURS
        label = f"a line of at most {NAME_BYTES} bytes without slashes, other than new"
        expected = (
            ("name", not self.name or is_label(self.name), label),
            ("measures", {*self.measures} <= {*known}, f"some of {', '.join(known)}"),
            ("signals", {*self.signals} <= {*CHARTS}, f"some of {', '.join(CHARTS)}"),
            ("slices", len(slices) <= MOST_SHOWN, f"at most {MOST_SHOWN}"),
            ("slices", None not in slices, f"slices by what the project is sliced by: {sliced}"),
            ("range", self.range in {None, *RANGES}, f"one of {', '.join(RANGES)}"),
            ("every", self.every in {None, *LENGTHS}, "hour or day"),
            ("every", self.every != "hour" or not is_long, f"day for more than {MOST_HOURS} days"),
            ("model", can_be_stored(rankers[0], Limits().id_bytes), "the name of a model"),
            ("version", can_be_stored(rankers[1], Limits().id_bytes), "the name of a version"),
        )
        for field, is_good, what in expected:
            if not is_good:
                found = json.dumps({"name": self.name, **self.to_dict()}.get(field))
                raise UsageError(
                    f"{field}: expected {what}, found {found:.200}",
                    hint="see the measures and slices of the project under Settings",
                    code="bad_view",
                )
        return replace(self, slices=tuple(each for each in slices if each is not None))

    def fit(self, configuration: Configuration) -> View:
        """Return what a project can show of the view: it may not measure all of it any more."""
        known = [each.name for each in configuration.definition.measures]
        ordered = [find_dimension(each, configuration) for each in self.slices]
        return replace(
            self,
            measures=tuple(each for each in self.measures if each in known),
            slices=tuple(each for each in ordered if each is not None),
        )


def find_dimension(slice_: Slice, configuration: Configuration) -> Slice | None:
    """Return a slice with its attributes in order; `None` if the project isn't sliced by them."""
    names = tuple(name for name, _ in slice_)
    singles = tuple((name,) for name in configuration.attributes)
    for known in ((), *singles, *configuration.all_pairs):
        if sorted(names) == sorted(known):
            values = dict(slice_)
            return tuple((name, values[name]) for name in known)
    return None


def list_views(store: StoreReader, project: str) -> tuple[View, ...]:
    """Return the saved views of a project, by name."""
    stored = store.list_views(project)
    return tuple(View.from_dict(name, json.loads(body)) for name, body in stored.items())


def write_view(view: View) -> str:
    """Return the JSON of a view that the store keeps."""
    return json.dumps(view.to_dict(), separators=(",", ":"))


def save_view(store: Store, project: str, view: View, *, now: int, actor: str) -> None:
    """Save a view, in place of one with its name."""
    known = store.list_views(project)
    if view.name not in known and len(known) >= MOST_VIEWS:
        raise UsageError(
            f"a project can have at most {MOST_VIEWS} views, found {len(known)}",
            hint="delete views that are no longer needed",
            code="too_many_views",
        )
    store.put_view(project, view.name, write_view(view), AuditEntry(now, actor, SAVED, view.name))


def remove_view(store: Store, project: str, name: str, *, now: int, actor: str) -> None:
    """Remove a view."""
    if not store.put_view(project, name, None, AuditEntry(now, actor, REMOVED, name)):
        raise missing_view(name)


def missing_view(name: str) -> UsageError:
    """Return the error that there is no view with a name."""
    return UsageError(
        f"there is no view {name[:100]!a}",
        hint="list the views to see their names",
        code="no_view",
    )

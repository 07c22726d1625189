"""Views: measures of some slices over time, from an address or saved under a name."""

from __future__ import annotations

from typing import Annotated, Literal, cast
from urllib.parse import quote

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.errors import UsageError
from rankscope.monitor.ask.views import CHARTS, View, missing_view
from rankscope.monitor.events.times import format_time
from rankscope.monitor.links import add_query
from rankscope.monitor.server.api.fields import Measure, Object, SliceParts, make_query
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.choices import list_rankers, read_choice, write_choice
from rankscope.monitor.server.pages.groups import Group, group_incidents
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.measure_view import OverTime, draw_counts, view_measures
from rankscope.monitor.server.pages.overview_range import CHOSEN, Choice, read_extent
from rankscope.monitor.server.pages.page import EditForm, FormState, Page, list_states
from rankscope.monitor.server.pages.signal_view import view_signals
from rankscope.monitor.server.pages.slices import read_slice
from rankscope.monitor.server.routing.endpoint import Route
from rankscope.monitor.setup.fields import RuleName, ViewFields
from rankscope.monitor.shapes import OneOf, make_record
from rankscope.output.text import show
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.charts.lines import LineChart
    from rankscope.monitor.server.pages.measure_view import MeasureView
    from rankscope.monitor.server.pages.overview_range import Extent
    from rankscope.monitor.server.pages.signal_view import SignalView
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.store.records import Version

MOST_NAMED = 12
"""Views in the navigation."""
EVERYTHING = "all rankings"
"""What a line of the form says for all rankings together."""
SpanQuery = make_query("SpanQuery", CHOSEN)


class ViewQuery(SpanQuery, total=False):  # type: ignore[call-arg, misc, valid-type]  # it is made
    """What is shown without saving it."""

    measure: Annotated[
        tuple[Measure, ...], Field(description="Show only these measures (default: all).")
    ]
    signal: Annotated[
        tuple[Annotated[str, OneOf(*CHARTS)], ...],
        Field(description="Show these signals (default: none)."),
    ]
    slice: SliceParts


@record(frozen=True, slots=True, kw_only=True)
class ViewPart:
    """A slice of a view.

    Args:
        slice: The slice; empty for all rankings.
        measures: Its measures over time.
        signals: Its signals over time.
        groups: The incidents that concern it, by cause.
    """

    slice: Slice
    measures: tuple[MeasureView, ...]
    signals: tuple[SignalView, ...]
    groups: tuple[Group, ...]

    @property
    def has_rankings(self) -> bool:
        """Whether the slice has rankings in the range."""
        rankings = [len(each.series[0]) for each in self.measures]
        return any([*rankings, *(len(each.series[0]) for each in self.signals)])


@record(frozen=True, slots=True, kw_only=True)
class ViewPage(OverTime):
    """A view, and what it shows.

    Args:
        view: The view, with what the address says in place of what was saved.
        is_saved: Whether it was saved under its name.
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        extent: The range of time, and what is shown of it.
        versions: The versions in production.
        parts: The slices; none where the page only lists what was saved.
        measures: The measures of all slices.
        signals: The signals of all slices.
        saved: The saved views.
        missing: Measures of the view that the project doesn't have any more.
        form: The form that saves it.
    """

    view: View
    is_saved: bool
    configuration: Configuration | None
    now: int
    extent: Extent
    versions: tuple[Version, ...]
    parts: tuple[ViewPart, ...]
    measures: tuple[MeasureView, ...]
    signals: tuple[SignalView, ...]
    saved: tuple[View, ...]
    missing: tuple[str, ...]
    form: FormState

    @property
    def counts(self) -> Mapping[str, LineChart]:
        """What the values of a single slice stand on."""
        return draw_counts(self.parts[0].measures, self.extent) if len(self.parts) == 1 else {}

    @property
    def rankers(self) -> list[tuple[str, str]]:
        """The models and versions that can be picked; the saved one, too, if it isn't served."""
        listed, value = list_rankers(self.versions), self.form["ranker"]
        other = {} if value in listed else {value: " ".join(read_choice(value).values())}
        return list((other | listed).items())

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The measures that can be picked."""
        measures = () if self.configuration is None else self.configuration.definition.measures
        return [(each.name, each.name) for each in measures]

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        extent = self.extent
        return {
            "name": self.view.name,
            "view": self.view.to_dict(),
            "now": format_time(self.now),
            "range": extent.range,
            "every": extent.every,
            "since": format_time(extent.since),
            "until": format_time(extent.until),
            "missing": list(self.missing),
            "slices": [
                {
                    "slice": dict(part.slice),
                    "incidents": [group.to_dict() for group in part.groups],
                    "measures": [measure.to_dict() for measure in part.measures],
                    "signals": [signal.to_dict() for signal in part.signals],
                }
                for part in self.parts
            ],
        }


def show_view(monitor: Monitor, view: View, form: FormState | None = None) -> ViewPage:
    """Show a view; one without a name and anything else only lists what was saved."""
    now, choice = monitor.clock(), Choice(view.range, view.every, view.model, view.version)
    configuration, versions, extent = read_extent(monitor, choice, now)
    parts: tuple[ViewPart, ...] = ()
    missing: tuple[str, ...] = ()
    if configuration is not None and view != View(name=""):
        # What was saved may not be measured any more.
        fitting = view.fit(configuration) if view.name else view.check(configuration)
        missing = tuple(each for each in name_parts(view) if each not in name_parts(fitting))
        parts = _show_parts(monitor, view, fitting, extent)
    saved = monitor.views()
    return ViewPage(
        view=view,
        is_saved=any(each.name == view.name for each in saved),
        configuration=configuration,
        now=now,
        extent=extent,
        versions=versions,
        parts=parts,
        measures=tuple(measure for part in parts for measure in part.measures),
        signals=tuple(signal for part in parts for signal in part.signals),
        saved=saved,
        missing=missing,
        form=form or fill_form(view),
    )


def _show_parts(
    monitor: Monitor, view: View, fitting: View, extent: Extent
) -> tuple[ViewPart, ...]:
    """Show what fits of a view; nothing else in place of what doesn't fit any more."""
    wanted = fitting.measures if view.measures or view.signals else monitor.measures
    groups, rules = group_incidents(read_incidents(monitor)), list_states(monitor)
    baseline, parts = monitor.baseline(), []
    for place in fitting.slices if view.slices else ((),):
        concerned = keep_slice(groups, place)
        measures: tuple[MeasureView, ...] = ()
        signals: tuple[SignalView, ...] = ()
        if wanted:
            measures = view_measures(
                monitor, extent, baseline=baseline, groups=concerned, rules=rules, slice=place
            )
        if view.signals:
            signals = view_signals(monitor, extent, groups=concerned, slice=place)
        parts.append(
            ViewPart(
                slice=place,
                measures=tuple(each for each in measures if each.measure in wanted),
                signals=tuple(each for each in signals if each.signal.name in view.signals),
                groups=concerned,
            )
        )
    return tuple(parts)


def name_slice(slice_: Slice) -> str:
    """Name a slice, as `read_slice` reads it.

    Examples:
        >>> name_slice((("device", "tv"), ("country", "jp"))), name_slice(())
        ('device=tv, country=jp', 'all rankings')
    """
    return ", ".join(f"{name}={value}" for name, value in slice_) or EVERYTHING


def name_parts(view: View) -> list[str]:
    """Name the measures and slices of a view."""
    return [*view.measures, *map(name_slice, view.slices)]


def keep_slice(groups: Sequence[Group], slice_: Slice) -> tuple[Group, ...]:
    """Keep the incidents that concern a slice: its own, and those of what it is part of."""
    wanted = set(slice_)
    kept = (
        tuple(each for each in group.parts if wanted.issuperset(each.slice)) for group in groups
    )
    return tuple(Group(parts) for parts in kept if parts)


def fill_form(view: View) -> FormState:
    """Fill the form with a view."""
    return FormState(
        values={
            "name": (view.name,),
            "measures": view.measures,
            "signals": view.signals,
            "slices": ("\n".join(_write_lines(view)),),
            "range": (view.range or "",),
            "every": (view.every or "",),
            "ranker": (write_choice(model=view.model, version=view.version),),
        }
    )


def _write_lines(view: View) -> list[str]:
    """Return the slices of a view as the form has them, one on a line."""
    return [show(name_slice(each)) for each in view.slices]


def read_form(
    fields: Mapping[str, tuple[str, ...]],
    configuration: Configuration,
    present: View,
    taken: Collection[str] = ("",),
) -> View:
    """Read a view from the fields of a form; the slices of the present one where they stay.

    Raises:
        UsageError: The project can't show it, or its name is taken. The message begins with the
            field.
    """
    form = FormState(values=fields)
    if form["name"].strip() in taken:
        raise UsageError("name: expected a name that no other view has", code="bad_view")
    ranker = read_choice(form["ranker"])
    lines = [line.strip() for line in form["slices"].splitlines() if line.strip()]
    # Not every slice can be written on a line; what was left alone stays.
    if lines == _write_lines(present):
        slices = present.slices
    else:
        slices = tuple(
            () if line == EVERYTHING else read_slice(line, configuration) for line in lines
        )
    return View.from_dict(
        form["name"].strip(),
        {
            "measures": fields.get("measures", ()),
            "signals": fields.get("signals", ()),
            "slices": [dict(each) for each in slices],
            **{name: form[name] for name in ("range", "every") if form[name]},
            **{name: ranker[name] for name in ("model", "version") if name in ranker},
        },
    ).check(configuration)


def find_view(monitor: Monitor, name: str) -> View:
    """Return a saved view."""
    for view in monitor.views():
        if view.name == name:
            return view
    raise missing_view(name)


def _view_saved(monitor: Monitor, call: Call) -> ViewPage:
    return show_view(monitor, replace(find_view(monitor, call.part("name")), **call.query))


def _view_asked(monitor: Monitor, call: Call) -> ViewPage:
    query = dict(call.query)
    slice_, measures, signals = (
        tuple(query.pop(name, ())) for name in ("slice", "measure", "signal")
    )
    slices = (slice_,) if slice_ else ()
    view = View(name="", measures=measures, signals=signals, slices=slices, **query)
    return show_view(monitor, view)


def address_slice(slice_: Slice, extent: Extent) -> str:
    """Return the path of a slice over time."""
    pairs = [f"{name}={value}" for name, value in slice_]
    return add_query(
        "/views", range=extent.range, model=extent.model, version=extent.version, slice=pairs
    )


VIEWS = Page(
    path="/views",
    place=4,
    here="Views",
    template="view.html.j2",
    summary="The saved views, the form that saves one, and slices over time.",
    view=_view_asked,
    query=ViewQuery,
)
VIEW = Page(
    path="/views/{name}",
    here="Views",
    template="view.html.j2",
    summary="A saved view: its measures and slices over time, and the form that changes it.",
    view=_view_saved,
    query=SpanQuery,
    refresh=60,
)
PAGES = (VIEWS, VIEW)
WORDS = {
    "name_slice": name_slice,
    "address_slice": address_slice,
    "most_named_views": MOST_NAMED,
    "signal_charts": CHARTS,
}


def _address(name: str) -> str:
    return f"/views/{quote(name, safe='')}"


def _save(monitor: Monitor, call: Call, name: str | None = None) -> str | tuple[Page, object, int]:
    """Save a view, or show the form again with what is wrong."""
    present = View(name="") if name is None else find_view(monitor, name)
    fields = {**call.form, **({} if name is None else {"name": (name,)})}
    taken = {"", *(each.name for each in monitor.views())} - {name}
    try:
        view = read_form(fields, monitor.configuration, present, taken)
        monitor.save_view(view, actor=call.principal.actor)
    except UsageError as error:
        field, _, message = error.message.partition(": ")
        wrong = {field: show(message)} if field in SENT else {"name": show(error.message)}
        form = FormState(values={each: fields.get(each, ()) for each in SENT}, wrong=wrong)
        return VIEWS if name is None else VIEW, show_view(monitor, present, form), 422
    return _address(view.name)


def _remove(monitor: Monitor, call: Call) -> str:
    """Delete a view, if the box is ticked."""
    if call.field("sure") != "yes":
        raise RefusedRequestError(
            422, "tick the box to confirm that the view is deleted", code="bad_form"
        )
    monitor.remove_view(call.part("name"), actor=call.principal.actor)
    return VIEWS.path


SENT = {"name": str, "measures": list[str], "signals": list[str], "slices": str, "range": str,
          "every": str, "ranker": str}  # fmt: skip
FORM = make_record("ViewForm", SENT)
FORMS = (
    EditForm("/views", _save, body=FORM, summary="Save a new view."),
    EditForm(
        "/views/{name}/change",
        lambda monitor, call: _save(monitor, call, call.part("name")),
        body=FORM,
        summary="Change a view.",
    ),
    EditForm(
        "/views/{name}/remove",
        _remove,
        body=make_record("RemoveViewForm", {"sure": Literal["yes"]}),
        summary="Delete a view.",
    ),
)


class NamedView(ViewFields):
    """A view with its name."""

    name: RuleName


class Views(TypedDict):
    """The saved views, by name."""

    views: list[NamedView]


NewView = Annotated[
    ViewFields,
    Field(examples=[{"measures": ["nDCG@10"], "range": "30d", "every": "day"}]),
]


def list_views(monitor: Monitor, _call: Call) -> Views:
    """Return the saved views, by name."""
    return {"views": [_write(each) for each in monitor.views()]}


def get_view(monitor: Monitor, call: Call) -> dict[str, Any]:
    """Return what a view shows: its measures over time, for each of its slices."""
    return _view_saved(monitor, call).to_dict()


def put_view(monitor: Monitor, call: Call) -> NamedView:
    """Save a view, in place of one with its name."""
    view = View.from_dict(call.part("name"), call.body)
    monitor.save_view(view, actor=call.principal.actor)
    return _write(find_view(monitor, view.name))


def remove_view(monitor: Monitor, call: Call) -> None:
    """Delete a saved view."""
    monitor.remove_view(call.part("name"), actor=call.principal.actor)


def _write(view: View) -> NamedView:
    return cast("NamedView", {"name": view.name, **view.to_dict()})


SAVED = "/v1/views/{name}"
ROUTES = (
    Route("GET", "/v1/views", list_views, result=Views),
    Route("GET", SAVED, get_view, query=SpanQuery, result=Object),
    Route("PUT", SAVED, put_view, "edit", body=NewView, result=NamedView),
    Route("DELETE", SAVED, remove_view, "edit"),
)

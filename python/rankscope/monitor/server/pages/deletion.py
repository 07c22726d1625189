"""The page that deletes rankings: of a user who asked for it, or logged by mistake."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from rankscope._show.table import show
from rankscope.errors import UsageError
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.pages.page import Form, FormState, Page
from rankscope.monitor.server.routing.endpoint import Call
from rankscope.monitor.shapes import make_record
from rankscope.monitor.store.records import Deleted

CHOOSING = ("user", "rankings", "since", "until")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
EMPTY = FormState(values={})


@dataclass(frozen=True, slots=True)
class DeletionView:
    """Which rankings are to be deleted, or were.

    Args:
        form: The form.
        deleted: What was just deleted; `None` before.
    """

    form: FormState = EMPTY
    deleted: Deleted | None = None


DELETION = Page(
    path="/deletion",
    here="Settings",
    template="deletion.html.j2",
    summary="The form that deletes rankings with their labels.",
    view=lambda _monitor, _call: DeletionView(),
    scope="admin",
)
PAGES = (DELETION,)


def _delete(monitor: Monitor, call: Call) -> tuple[Page, object, int]:
    """Delete rankings and say how many, or show the form again with what is wrong."""
    texts = {name: call.field(name).strip() for name in (*CHOOSING, "confirm")}
    form = FormState(values={name: (text,) for name, text in texts.items()})
    if texts["confirm"] != monitor.project:
        wrong = {"confirm": "Type the name of the project."}
        return DELETION, DeletionView(replace(form, wrong=wrong)), 422
    chosen: dict[str, Any] = {name: texts[name] for name in CHOOSING if texts[name]}
    for name in ("since", "until"):
        if DAY.fullmatch(texts[name]):
            chosen[name] = f"{texts[name]}T00:00:00Z"
    if "rankings" in chosen:
        chosen["rankings"] = chosen["rankings"].split()
    try:
        done = monitor.delete(**chosen, actor=call.principal.actor)
    except UsageError as error:
        wrong = {"": show(error.message)}
        return DELETION, DeletionView(replace(form, wrong=wrong)), 422
    return DELETION, DeletionView(deleted=done), 200


FORMS = (
    Form(
        path=DELETION.path,
        summary="Delete the rankings of a user, or others, with their labels.",
        work=_delete,
        body=make_record("DeletionForm", dict.fromkeys((*CHOOSING, "confirm"), str)),
        is_trace=True,
    ),
)

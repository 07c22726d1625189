"""The digest of an event, which tells one that is sent again from another one with its id."""

from __future__ import annotations

from rankscope import _core
from rankscope.monitor.events.batch import add_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.event import Event


def digest(event: Event) -> bytes:
    """Return the digest of the content of an event, without its id.

    Examples:
        >>> from rankscope.monitor.events.event import Label
        >>> click = Label("e", "r", "d", 0, ("click",))
        >>> digest(click) == digest(Label("other", "r", "d", 0, ("click",)))
        True
        >>> digest(click) == digest(Label("e", "r", "d", 1, ("click",)))
        False
    """
    builder = _core.BatchBuilder()
    add_event(builder, event)
    return builder.finish().digest(0)

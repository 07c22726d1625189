"""Who asks: the project that is opened, and what may be done there."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.store.keys import ApiKey, Scope


@record(frozen=True, slots=True)
class Visitor:
    """Who asks.

    Args:
        project: The project that is opened, and no other.
        scopes: What may be done there.
        actor: Who is written down beside a change: the id of a key, or `local`.
        name: What people call the key; empty where there is none.
        csrf: What forms have to say, in the field `csrf`; empty for whoever has no forms.
    """

    project: str
    scopes: tuple[Scope, ...]
    actor: str
    name: str = ""
    csrf: str = ""


NOBODY = Visitor("", (), "")
"""Who asks where nobody is asked for a key."""


def visitor_of(key: ApiKey) -> Visitor:
    """Give who has a key."""
    return Visitor(key.project, key.scopes, key.key_id, key.name)

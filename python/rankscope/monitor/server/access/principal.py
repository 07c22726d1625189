"""The authenticated caller: a project, and what may be done there."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.store.keys import ApiKey, Scope


@record(frozen=True, slots=True)
class Principal:
    """The caller of a request.

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


ANONYMOUS = Principal("", (), "")
"""The caller of a route that needs no key."""


def principal_of(key: ApiKey) -> Principal:
    """Return the principal of a key."""
    return Principal(key.project, key.scopes, key.key_id, key.name)

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
        project: The project of the key.
        scopes: What the caller may do there.
        actor: The name in the audit log: the id of the key, or `local`.
        name: The name of the key; empty if there is none.
        csrf: The token that forms must send; empty for callers without a session.
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

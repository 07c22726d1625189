"""Reads what a server says about how safe a store is in it, for `rankscope monitor doctor`."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection


@record(frozen=True, slots=True)
class ServerHealth:
    """A server and the database of a store.

    Args:
        version: The version of the server.
        size: The size of the database, in bytes.
        unsafe: A setting without which a power loss can lose what was acknowledged, if it is off;
            otherwise empty.
    """

    version: str
    size: int
    unsafe: str


def read_health(connection: Connection) -> ServerHealth:
    """Read the settings of the server on which the promises of a store rest."""
    version, size, *settings = connection.exec_driver_sql(
        "SELECT current_setting('server_version'), pg_database_size(current_database()), "
        "current_setting('fsync'), current_setting('full_page_writes')"
    ).one()
    names = ("fsync", "full_page_writes")
    off = [name for name, value in zip(names, settings, strict=True) if value != "on"]
    return ServerHealth(str(version), int(size), off[0] if off else "")

"""The slices that a rule names."""

from __future__ import annotations

from rankscope.monitor.rules.settings import BETWEEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


def find_dimension(name: str, attributes: Collection[str]) -> tuple[str, ...]:
    """Return the attributes that a rule's slice names: one, two, or none if there are none such.

    Examples:
        >>> find_dimension("device:country", ("country", "device"))
        ('device', 'country')
        >>> find_dimension("client:app", ("client:app", "device")), find_dimension("os", ())
        (('client:app',), ())
    """
    if name in attributes:
        return (name,)
    for at, letter in enumerate(name):
        first, second = name[:at], name[at + 1 :]
        if letter == BETWEEN and first != second and first in attributes and second in attributes:
            return first, second
    return ()

"""What is read of a table whose rows hold a score, or a rank, and a grade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.settings.attribution import Positive, Settings


@record(frozen=True, slots=True)
class Attributed:
    """The columns of a table that hold labels in place of grades, and what they are worth.

    Args:
        labels: The column of labels.
        predicted: The column of predicted labels, if there is one.
        positive: The positive classes.
        settings: What `attribute` takes besides.
    """

    labels: str
    predicted: str | None
    positive: Positive | None
    settings: Settings


@record(frozen=True, slots=True)
class JoinedColumns:
    """The columns that are read of such a table.

    Args:
        names: By role, the names of columns that are given.
        attributes: The columns of what belongs to the query.
        attributed: The labels in place of grades, if any.
    """

    names: Mapping[str, str | None]
    attributes: Sequence[str] = ()
    attributed: Attributed | None = None

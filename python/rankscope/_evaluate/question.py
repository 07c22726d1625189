"""What a call asks about: judgments and a run, or one table whose rows hold both."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from rankscope._evaluate.evaluation import Evaluation
from rankscope._inputs.attribution import LABELS, SETTINGS
from rankscope._inputs.qrels import Attributed, JoinedColumns
from rankscope._inputs.recognition import is_table
from rankscope.errors import MeasureError, UsageError
from rankscope.hints import refuse_argument
from rankscope.measures import Measure
from rankscope.measures.reading import adopt, hold_measures, read_measures
from rankscope.settings.reading import OPTIONS, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard, TypeVar

    from rankscope._evaluate.settings import Settings
    from rankscope._inputs.attribution import LabelOptions
    from rankscope.measures.reading import Measures
    from rankscope.settings.reading import ReadingOptions

    Named = TypeVar("Named")

    class TableOptions(ReadingOptions, LabelOptions, total=False):
        """How a table whose rows hold scores and grades or labels is read."""


def split_question(
    function: str,
    judgments: object,
    run: object,
    measures: Measures | None,
    *,
    default: Measures | None = None,
) -> tuple[Any, Any, Any]:
    """Return judgments, what was retrieved, and measures; no judgments for one table.

    Two inputs and measures are judgments and runs; one input and measures are a table. Where
    measures have a default, what comes second is what it reads as.

    Args:
        function: The name of the function, for messages.
        judgments: The first argument.
        run: The second one, which holds the measures if the first is a table.
        measures: The third one.
        default: The measures if none are given.
    """
    if measures is not None:
        measures = hold_measures(measures)
        return (None, judgments, measures) if run is None else (judgments, run, measures)
    if run is None and default is not None:
        return None, judgments, default
    asked = None if run is None else _read_as_measures(run)
    if asked is not None:
        return None, judgments, asked
    if run is not None and default is not None:
        return judgments, run, default
    found = "one input" if run is None else "judgments and a run"
    raise UsageError(
        f"expected measures, found {found} alone",
        hint=f"write {function}(judgments, run, ['nDCG@10', 'AP']), or {function}(table, "
        "['nDCG@10', 'AP']) if the rows have both grades and scores or ranks",
        code="no_measures",
    )


def holds(given: object, kind: type[Named]) -> TypeGuard[Mapping[str, Named]]:
    """Return whether something is a mapping of names to objects of a class."""
    if not isinstance(given, Mapping) or isinstance(given, Evaluation) or not given:
        return False
    return all(isinstance(each, kind) for each in given.values())


def _read_as_measures(given: object) -> list[object] | None:
    """Return an argument as measures, `None` if it can't be any.

    Raises:
        MeasureError: They are names, but not all of measures, and no file has such a name.
    """
    given = adopt(given)
    is_other = isinstance(given, bytes | os.PathLike | Mapping | Evaluation)
    # An iterator can hold the rows of a run, which would be used up.
    is_other = is_other or isinstance(given, Iterator) or is_table(given)
    if is_other or not isinstance(given, Iterable | Measure):
        return None
    items = [given] if isinstance(given, str | Measure) else [*map(adopt, given)]
    if not all(isinstance(each, str | Measure) for each in items):
        return None
    try:
        read_measures(items)
    except MeasureError:
        if any(isinstance(each, str) and _may_be_file(each) for each in items):
            return None
        raise
    return items


def _may_be_file(name: str) -> bool:
    return name == "-" or os.path.exists(name) or not {".", "/", os.sep}.isdisjoint(name)  # noqa: PTH110 - pathlib loads slowly


def read_table_options(
    function: str, options: Mapping[str, Any], *, holds_all: str = "a table"
) -> tuple[Reading, JoinedColumns]:
    """Return how a table whose rows hold scores and grades is read, and which columns it has."""
    reading, others = Reading.take(options, holds_all=holds_all)
    odd = [name for name in others if name not in LABELS]
    if odd:
        raise refuse_argument(function, odd[0], (*OPTIONS, *LABELS))
    return reading, JoinedColumns(reading.columns, (), _read_attribution(reading, others))


def _read_attribution(reading: Reading, given: Mapping[str, Any]) -> Attributed | None:
    """Read how labels are converted to grades, and raise an error for arguments that conflict."""
    labels, relevance = given.get("labels"), reading.columns.get("relevance")
    beside = {name: value for name, value in given.items() if name != "labels"}
    settings = {name: value for name, value in beside.items() if name in SETTINGS}
    if labels is None:
        named = [name for name, value in beside.items() if name in settings or value is not None]
        if named:
            raise UsageError(
                f"expected labels beside {named[0]}, found none",
                hint="name the column of labels: labels='events'",
                code="bad_parameter",
            )
        return None
    if relevance is not None:
        raise UsageError(
            f"expected relevance or labels, found {relevance!r} and {labels!r}",
            hint="labels become the grades",
            code="bad_parameter",
        )
    return Attributed(labels, beside.get("predicted"), beside.get("positive"), settings)  # type: ignore[arg-type]  # see `LabelOptions`


def refuse_unused(given: Mapping[str, object], what: str) -> None:
    """Raise an error for the first argument that is set, and would have no effect."""
    name = next((name for name, value in given.items() if value is not None), None)
    if name is not None:
        raise UsageError(
            f"{name} has no effect on {what}",
            hint=f"remove {name}",
            code="bad_parameter",
        )


def refuse_reading(options: Mapping[str, Any], what: str, *used: str) -> None:
    """Refuse options of reading for what is read already."""
    others = {"threads", "progress", *used}
    refuse_unused({name: value for name, value in options.items() if name not in others}, what)


def refuse_table_options(columns: JoinedColumns, *, assume_grouped: bool = False) -> None:
    """Refuse arguments about one table for judgments and runs."""
    labels = None if columns.attributed is None else columns.attributed.labels
    given = {"labels": labels, "assume_grouped": assume_grouped or None}
    refuse_unused(given, "judgments and runs: it is for one table that has both")


READ = "Rankings, which are read already"


def refuse_single_precision(reading: Reading) -> None:
    """Refuse to compare the scores of a table in single precision."""
    if reading.score_type == "float32":
        raise UsageError(
            "score_type='float32' has no effect on a table whose rows hold scores and grades",
            hint="round the scores of the table, or pass judgments and a run",
            code="bad_parameter",
        )


def are_matrices(*given: object) -> bool:
    """Check whether all arguments are arrays of two dimensions, and not frames."""
    return all(getattr(each, "ndim", 0) == 2 and hasattr(each, "dtype") for each in given)


def refuse_attributes(asked: Settings) -> None:
    """Refuse a table of attributes beside a table that has them itself."""
    refuse_unused(
        {"attributes": asked.attributes}, "a table: join it to the table, and name its columns"
    )

"""What an evaluation is as a JSON document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.slices import Slices
    from rankscope.output.estimate import Estimate


def describe_evaluation(evaluation: Evaluation, *, by_query: bool) -> dict[str, object]:
    """Return the means with all that belongs to them, and the values of queries if asked for."""
    document: dict[str, object] = {
        "measures": dict(evaluation),
        "denominators": evaluation.denominators,
        **({"intervals": evaluation.intervals} if evaluation.intervals else {}),
        **({"estimates": _describe(evaluation.estimates)} if evaluation.estimates else {}),
        "counts": evaluation.counts.to_dict(),
        "policy": evaluation.policy.to_dict(),
        **({"convention": evaluation.convention.address} if evaluation.convention else {}),
        "diagnostics": evaluation.diagnostics,
    }
    if evaluation.slices is not None:
        document["slices"] = _list_slices(evaluation.slices)
    if by_query:
        values = evaluation.to_dict().values()
        document["per_query"] = dict(zip(evaluation.query_texts, values, strict=True))
    return document


def _list_slices(slices: Slices) -> object:
    """Return slices by their value; as a list of rows if there are several attributes."""
    if len(slices.attributes) == 1:
        return slices.to_dict()
    return [dict(zip(slices.names, row, strict=True)) for row in write_slices(slices)]


def write_slices(slices: Slices) -> list[tuple[str | int | float | None, ...]]:
    """Return the rows of slices with their values as text, the same from all formats of files."""
    first = len(slices.attributes)
    pairs = zip(slices.texts(), slices.rows(), strict=True)
    return [(*texts, *row[first:]) for texts, row in pairs]


def _describe(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, object]]:
    """Return how each interval was made, or why there is none."""
    fields = ("method", "level", "n", "clusters", "effective", "reason")
    return {
        name: {field: getattr(each, field) for field in fields} for name, each in estimates.items()
    }

"""Makes the job that all tasks evaluate, and refuses choices that depend on the order of rows."""

from __future__ import annotations

from rankscope.engine.requests import DUPLICATES, read_measures, read_request
from rankscope.errors import PolicyError
from rankscope.evaluation.streaming import can_stream
from rankscope.settings.policy import CHOICES, Policy, check_choice
from rankscope.spark.tasks import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.settings.policy import Duplicates, ScoreType, Ties
    from rankscope.spark.packing import Rows


def make_job(
    rows: Sequence[Rows],
    list_grades: Callable[[], list[float]],
    measures: Measures,
    policy: Policy | str | None,
    duplicates: Duplicates,
    *,
    ties: Ties | None = None,
    convention: Convention | str | None = None,
    score_type: ScoreType | None = None,
    library: str = "Spark",
) -> Job:
    """Read what all tasks evaluate.

    Args:
        rows: What the rows of each data frame hold.
        list_grades: Returns the different grades, ascending; called where they are needed.
        measures: As in `evaluate`.
        policy: As in `evaluate`.
        duplicates: As in `evaluate`.
        ties: As in `evaluate_table`.
        convention: As in `evaluate`.
        score_type: As in `evaluate`.
        library: What has the data frames.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        PolicyError: A choice depends on the order of rows.
    """
    check_order(ties, duplicates, library)
    asked, _ = read_measures(measures)
    needs_grades = convention is not None or not can_stream(asked)
    grades = list_grades() if needs_grades else []
    default = Policy(ties=ties or "average") if rows[0].side == "joined" else None
    request = read_request(
        measures,
        policy,
        default=default,
        convention=convention,
        score_type=score_type,
        grades=grades,
    )
    check_order(request.ties, duplicates, library)
    return Job(
        request=request,
        rows={each.side: each for each in rows},
        duplicates=duplicates,
        grades=tuple(grades),
    )


def check_order(ties: str | None, duplicates: str, library: str = "Spark") -> None:
    """Raise an error for choices that depend on the order of rows, which a library doesn't keep."""
    check_choice("duplicates", duplicates, DUPLICATES)
    if ties is not None:
        check_choice("ties", ties, CHOICES["ties"])
    for name, value, refused, hint in (
        ("ties", ties, "input", "order by ids with ties='doc_id', or take ties='average'"),
        ("duplicates", duplicates, "first", "keep the larger number with duplicates='max'"),
    ):
        if value == refused:
            raise PolicyError(
                f"{name}='{refused}' depends on the order of rows, which {library} doesn't keep",
                hint=hint,
                code="row_order",
            )

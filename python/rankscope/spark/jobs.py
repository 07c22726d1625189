"""Makes the job that all tasks evaluate, and refuses choices that depend on the order of rows."""

from __future__ import annotations

from rankscope._evaluate.evaluate_table import can_stream
from rankscope._evaluate.question import refuse_single_precision
from rankscope._evaluate.settings import choose_ties
from rankscope.errors import PolicyError
from rankscope.measures.reading import read_measures
from rankscope.names import check_choice
from rankscope.settings.policy import CHOICES
from rankscope.settings.reading import ROLES
from rankscope.spark.tasks import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankscope._evaluate.settings import Settings
    from rankscope.settings.reading import Reading
    from rankscope.spark.packing import Rows

OPTIONS = (*ROLES, "duplicates", "score_type")
"""How data frames can be read."""


def make_job(
    rows: Sequence[Rows],
    list_grades: Callable[[], list[float]],
    asked: Settings,
    reading: Reading,
) -> Job:
    """Read what all tasks evaluate.

    Args:
        rows: What the rows of each data frame hold.
        list_grades: Returns the different grades, ascending; called where they are needed.
        asked: The measures, the policy and the convention.
        reading: How the rows are read.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        PolicyError: A choice depends on the order of rows.
    """
    check_order(None, reading.duplicates)
    measures, _ = read_measures(asked.measures)
    needs_grades = asked.convention is not None or not can_stream(measures)
    grades = list_grades() if needs_grades else []
    ties = None
    if rows[0].side == "joined":
        refuse_single_precision(reading)
        ties = choose_ties(has_documents="doc" in rows[0].names)
    request = asked.request(ties=ties, grades=grades, score_type=reading.score_type)
    check_order(request.ties, reading.duplicates)
    return Job(
        request=request,
        rows={each.side: each for each in rows},
        duplicates=reading.duplicates,
        grades=tuple(grades),
    )


def check_order(ties: str | None, duplicates: str) -> None:
    """Raise an error for choices that depend on the order of rows, which Spark doesn't keep."""
    check_choice("duplicates", duplicates, CHOICES["duplicates"])
    if ties is not None:
        check_choice("ties", ties, CHOICES["ties"])
    for name, value, refused, hint in (
        ("ties", ties, "input", "order by ids with ties='doc_id', or take ties='average'"),
        ("duplicates", duplicates, "first", "keep the larger number with duplicates='max'"),
    ):
        if value == refused:
            raise PolicyError(
                f"{name}='{refused}' depends on the order of rows, which Spark doesn't keep",
                hint=hint,
                code="row_order",
            )

"""What was suspicious but legal, counted by code and said in a sentence."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SENTENCES = {
    "bom": "a byte-order mark at the start, dropped: {count}",
    "blank_lines": "blank lines, passed over: {count}",
    "comments": "comment lines, which begin with '# ', passed over: {count}",
    "negative_rel": "judgments below 0: {count} (negative={negative})",
    "duplicate_identical": "judgments given again with the same grade, counted once: {count}",
    "duplicates_resolved": "documents given twice: {count} (duplicates={duplicates})",
    "ids_equal_after_normalisation": "ids that equal another but for case or Unicode form, kept "
    "apart: {count}",
    "int_ids": "ids that are integers, read as their decimal text: {count}",
    "id_looks_scientific": "ids such as 1.23457E+12, kept as they are, though a spreadsheet may "
    "have written them: {count}",
    "empty_lists": "rows whose list of documents is empty: {count}",
    "rank_score_disagree": "queries whose rank column contradicts the scores, which win: {count}",
    "rank_irregular": "queries whose rank column is not 1, 2, 3, …; it orders nothing: {count}",
    "rank_gap": "queries whose ranks are not 1, 2, 3, …; only their order counts: {count}",
    "multiple_tags": "different run tags in one run: {count}",
    "duplicate_measures": "measures asked for again, evaluated once: {count}",
    "n_missing": "judged queries that are not in the run: {count} (missing={missing})",
    "n_run_only": "queries of the run that are not judged, and enter no mean: {count}",
    "n_no_relevant": "judged queries without a relevant document: {count} (empty={empty})",
    "tied_scores": "queries whose documents all have one score: {count} (ties={ties})",
    "all_unjudged": "retrieved documents of judged queries, of which none is judged: {count}",
    "unpaired_queries": "queries for which only one of the runs has a value, left out of both: "
    "{count}",
    "stage_gains": "queries in which {stage} has better documents than the stage before it, whose "
    "loss is below 0: {count}",
    "identical_runs": "runs that are the same as one before: {count}",
}
"""What each code says; the fields are the count and the choices of the evaluation."""


@record(frozen=True, slots=True)
class Diagnostic:
    """Something suspicious but legal.

    Args:
        code: Its stable code.
        count: How often it was seen.
        sentence: What it says.
        file: In which input, where that is known.
        line: At which line first; 0 where lines mean nothing.
    """

    code: str
    count: int
    sentence: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}: " if self.file else ""
        first = f", first in line {self.line}" if self.line else ""
        return f"{place}{self.sentence}{first} [{self.code}]"


def describe(
    code: str, count: int, choices: Mapping[str, object], *, file: str = "", line: int = 0
) -> Diagnostic:
    """Make the diagnostic of a code.

    Args:
        code: A key of `SENTENCES`.
        count: How often it was seen.
        choices: The fields of the policy, and `duplicates`.
        file: In which input.
        line: At which line first; 0 where lines mean nothing.
    """
    sentence = SENTENCES[code].format(count=count, **choices)
    return Diagnostic(code, count, sentence, file, line)

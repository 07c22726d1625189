"""What was suspicious but legal, counted by code and said in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

SENTENCES = {
    "bom": "the text begins with a byte-order mark, which was dropped",
    "blank_lines": "{count} blank {lines} passed over",
    "comments": "{count} {lines} beginning with '# ' passed over as comments",
    "negative_rel": "{count} judgments below 0 (negative={negative})",
    "duplicate_identical": "{count} judgments given again with the same grade, counted once",
    "duplicates_resolved": "{count} documents given twice, resolved by duplicates={duplicates!r}",
    "ids_equal_after_normalisation": "{count} ids equal others but for case or Unicode form; "
    "they are kept apart",
    "int_ids": "{count} ids were integers and are read as their decimal text",
    "rank_score_disagree": "in {count} queries the rank column contradicts the scores; scores win",
    "rank_irregular": "in {count} queries the rank column is not 1, 2, 3, …; it orders nothing",
    "multiple_tags": "{count} different run tags in one run",
    "duplicate_measures": "{count} measures asked for twice, evaluated once",
    "n_missing": "{count} judged queries are not in the run (missing={missing})",
    "n_run_only": "{count} queries of the run are not judged and enter no mean",
    "n_no_relevant": "{count} judged queries have no relevant document (empty={empty})",
    "tied_scores": "in {count} queries all documents have one score, so only ties={ties} orders "
    "them",
    "all_unjudged": "none of the {count} documents retrieved for judged queries is judged",
    "identical_runs": "{count} runs are the same file as another",
}
"""What each code says; the fields are the count and the choices of the evaluation."""


@dataclass(frozen=True, slots=True)
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
    code: str, count: int, choices: dict[str, str], *, file: str = "", line: int = 0
) -> Diagnostic:
    """Make the diagnostic of a code.

    Args:
        code: A key of `SENTENCES`.
        count: How often it was seen.
        choices: The fields of the policy, and `duplicates`.
        file: In which input.
        line: At which line first; 0 where lines mean nothing.
    """
    lines = "line" if count == 1 else "lines"
    sentence = SENTENCES[code].format(count=count, lines=lines, **choices)
    return Diagnostic(code, count, sentence, file, line)

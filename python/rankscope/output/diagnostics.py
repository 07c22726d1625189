"""Diagnostics: notes about input that is valid but looks wrong, with a code and a count."""

from __future__ import annotations

from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SENTENCES = {
    "bom": "byte-order marks at the start of a file, ignored: {count}",
    "blank_lines": "blank lines, skipped: {count}",
    "comments": "comment lines (starting with '# '), skipped: {count}",
    "negative_rel": "judgments with a grade below 0: {count} (negative={negative})",
    "fractional_rel": "judgments with a grade between 0 and 1, not relevant where rel is 1: "
    "{count}; set rel, as in AP(rel=0.5)",
    "missing_grades": "rows without a grade, which count as unjudged: {count} "
    "(unjudged={unjudged})",
    "duplicate_identical": "duplicate judgments with the same grade, counted once: {count}",
    "duplicates_resolved": "duplicate documents: {count} (duplicates={duplicates})",
    "ids_equal_after_normalisation": "IDs that differ only in case or Unicode normalization, "
    "treated as different: {count}",
    "implicit_grades": "rows without a grade, each counted as relevant with grade 1: {count}",
    "int_ids": "queries with tied documents whose integer IDs are ordered as text, where 9 is "
    "greater than 10, and not as numbers: {count} (ties={ties})",
    "id_looks_scientific": "IDs such as 1.23457E+12, possibly changed by a spreadsheet: {count}",
    "query_split": "queries whose rows have different values of {column}: {count}; if each value "
    "is a list of its own, pass query='{column}' in place of '{query}'",
    "empty_lists": "rows with an empty list of documents: {count}",
    "rank_score_disagree": "queries whose ranks contradict their scores, ordered by score: {count}",
    "rank_irregular": "queries whose ranks are not 1, 2, 3, …, ordered by score: {count}",
    "rank_gap": "queries whose ranks are not 1, 2, 3, …, ordered by rank: {count}",
    "items_outside_catalogue": "recommended items that are not in the catalogue, which don't count "
    "for measures of the catalogue: {count}",
    "items_without_history": "recommended items that no user had before: {count}",
    "items_without_attributes": "recommended items without attributes, left out where these are "
    "needed: {count}",
    "item_names": "the column {column} has a different text for nearly every item, as names do, so "
    "it isn't used as categories",
    "item_names_alone": "nearly every item has a category of its own in {column}, so that no two "
    "items are alike: {count} categories",
    "categories_split": "texts of {column} that name several categories, separated by |: {count}",
    "uneven_samples": "queries that only some of the rankings have, averaged over those: {count}",
    "items_undefined": "queries for which {name} is undefined, left out of its mean: {count}",
    "multiple_tags": "different run names in one run, which has one list for each query: {count}; "
    "if they are several runs, pass each one by itself",
    "other_definition": "{name} is a name of {tool}, whose measure differs: {difference}",
    "all_relevant": "grades are from {lowest:g} to {highest:g}, so every judged document is "
    "relevant for {names}; set rel, as in {example}",
    "grades_like_scores": "grades are from {lowest:g} to {highest:g}, like scores; are judgments "
    "and run swapped, or the columns relevance and score?",
    "grades_clipped": "measures whose max_rel is below the highest grade, which counts as max_rel: "
    "{count}",
    "duplicate_measures": "duplicate measures, evaluated once: {count}",
    "n_missing": "judged queries that are not in the run: {count} (missing={missing})",
    "n_run_only": "queries of the run without judgments, not evaluated: {count}",
    "n_no_relevant": "judged queries without a relevant document: {count} (empty={empty})",
    "subtopics_joined": "judgments by subtopic: {count}; measures that know no subtopics take the "
    "highest grade of each document",
    "one_subtopic": "queries with a single subtopic, as in judgments without subtopics: {count}; "
    "measures of diversity then count each further relevant document less",
    "tied_scores": "queries whose documents all have the same score: {count} (ties={ties})",
    "all_unjudged": "retrieved documents of judged queries, none of which is judged: {count}",
    "lists_unjudged": "queries of the run none of whose retrieved documents is judged: {count}",
    "subtopics_unjudged": "retrieved documents of judged queries, none of which is judged: "
    "{count}; judgments by subtopic map a query to subtopics, and these to documents",
    "sampled_candidates": "queries with {candidates} documents, one of them relevant: {count}; if "
    "these are sampled candidates, values are not those of ranking all items: to decide between "
    "systems, rank all items",
    "unpaired_queries": "queries with a value in only one of the runs, left out of both: {count}",
    "stage_gains": "queries in which {stage} adds relevant documents, so its loss is negative: "
    "{count}",
    "identical_runs": "runs that are identical to an earlier one: {count}",
}
"""The message of each code. Its fields are the count and settings of the evaluation."""

GRAVE = ("all_relevant", "n_missing", "all_unjudged", "lists_unjudged", "subtopics_unjudged")
"""Notes with which a value hardly means anything, which are always printed in full."""

MOST_NAMED = 3
"""A note of more runs says how many they are."""


@record(frozen=True, slots=True)
class Diagnostic:
    """A note about input that is valid but looks wrong.

    Args:
        code: The stable code.
        count: How often it occurred.
        sentence: The message.
        file: The name of the input, if known.
        line: The line where it occurred first, or 0 if the input has no lines.
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
    """Return the diagnostic for a code."""
    sentence = SENTENCES[code].format(count=count, **choices)
    return Diagnostic(code, count, sentence, file, line)


def describe_note(
    note: Diagnostic | tuple[str, int, int], choices: Mapping[str, object], file: str = ""
) -> Diagnostic:
    """Return the diagnostic for a code with its count and its first line."""
    if isinstance(note, Diagnostic):
        return note
    code, count, line = note
    return describe(code, count, choices, file=file, line=line)


def count_codes(notes: Iterable[Diagnostic]) -> dict[str, int]:
    """Return the count of each code of notes."""
    counted: dict[str, int] = {}
    for note in notes:
        counted[note.code] = counted.get(note.code, 0) + note.count
    return counted


def gather(notes: Mapping[str, Sequence[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Return the notes of several runs, those of one kind as one; what not all have names its runs.

    Examples:
        >>> both, one = Diagnostic("a", 1, "both"), Diagnostic("b", 2, "one run alone")
        >>> for note in gather({"old": [both], "new": [both, one]}):
        ...     print(note)
        both [a]
        new: one run alone [b]
        >>> missing = [describe("n_missing", count, {"missing": "zero"}) for count in (3, 1, 3, 2)]
        >>> print(*gather({f"run{at}": [note] for at, note in enumerate(missing)}))
        4 runs: judged queries that are not in the run: 1 to 3 (missing=zero) [n_missing]
    """
    gathered = []
    for note, runs in merge(notes):
        if not runs or (note.file and len(runs) == 1):
            gathered.append(note)
            continue
        named = len(runs) <= MOST_NAMED
        count = (
            f"{len(runs)} runs" if len(runs) == len(notes) else f"{len(runs)} of {len(notes)} runs"
        )
        gathered.append(replace(note, file=", ".join(runs) if named else count))
    return tuple(gathered)


def merge(
    notes: Mapping[str, Sequence[Diagnostic]],
) -> list[tuple[Diagnostic, tuple[str, ...]]]:
    """Return the notes of several runs, those of one kind as one, each with the runs that have it.

    A note that is the same in all runs has no runs, and one of several has no file.
    """
    alike: dict[tuple[str, str], dict[str, Diagnostic]] = {}
    for run, own in notes.items():
        for note in own:
            is_shared = all(note in others for others in notes.values())
            # Two of a run, such as those of two columns, are not of one kind.
            kind = str(note) if is_shared else _count_as(note, "…")
            alike.setdefault((note.code, kind), {}).setdefault(run, note)
    merged: list[tuple[Diagnostic, tuple[str, ...]]] = []
    for of_runs in alike.values():
        first, *others = of_runs.values()
        if len(of_runs) == len(notes) and all(note == first for note in others):
            merged.append((first, ()))
        elif not others:
            merged.append((first, tuple(of_runs)))
        else:
            counts = [note.count for note in of_runs.values()]
            low, high = min(counts), max(counts)
            sentence = _count_as(first, f"{low} to {high}" if low < high else str(low))
            merged.append((Diagnostic(first.code, sum(counts), sentence), tuple(of_runs)))
    return merged


def _count_as(note: Diagnostic, text: str) -> str:
    """Return the message with another text in place of the count."""
    before, counted, _ = SENTENCES.get(note.code, "").partition("{count}")
    before = before.rpartition("}")[2]
    if not counted:
        return note.sentence
    return note.sentence.replace(f"{before}{note.count}", f"{before}{text}", 1)
